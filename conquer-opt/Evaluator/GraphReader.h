//===- GraphReader.h - func @main as a Graph --------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_GRAPHREADER_H
#define CONQUER_OPT_EVALUATOR_GRAPHREADER_H

#include "conquer-opt/Evaluator/Graph.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace conquer {

/// Constants read before, by attribute: attributes are unique in a context, so that all graphs of
/// one network share the elements of unchanged constants.
struct ConstantCache {
  struct Entry {
    std::weak_ptr<const Buffer> buffer;
    uint64_t hash = 0;
  };
  llvm::DenseMap<mlir::Attribute, Entry> entries;
};

/// Reads the function `main` of a module (or its only function) and hashes the values. Errors: no
/// such function, dynamic shapes, element types or attributes that no step knows, more than one
/// block.
Result<Graph> readGraph(mlir::ModuleOp module, ConstantCache &constants);

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_GRAPHREADER_H
