//===- GraphReader.h - func @main as a Graph
//--------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_GRAPHREADER_H
#define CONQUER_OPT_EVALUATOR_GRAPHREADER_H

#include "conquer-opt/Evaluator/Graph.h"

#include "mlir/IR/BuiltinOps.h"

namespace conquer {

/// Reads the function `main` of a module (or its only function) and hashes the values. Errors: no
/// such function, dynamic shapes, element types or attributes that no step knows, more than one
/// block.
Result<Graph> readGraph(mlir::ModuleOp module);

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_GRAPHREADER_H
