//===- Passes.h - every pass of the compiler --------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_PASSES_H
#define CONQUER_OPT_TRANSFORMS_PASSES_H

#include "conquer-opt/IR/Conquer.h"
#include "conquer-opt/Transforms/IreeDialects.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/Pass.h"

namespace conquer {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "conquer-opt/Transforms/Passes.h.inc"

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_PASSES_H
