//===- Checks.h - what the stages expect of a module ------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_CHECKS_H
#define CONQUER_OPT_TRANSFORMS_CHECKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace conquer {

/// The network of a module that passed checkFloatNetwork.
mlir::func::FuncOp getNetwork(mlir::ModuleOp module);

/// Success if the module is one function of one block of TOSA ops that the evaluator can run, with
/// ranked static f32 inputs and outputs and ranked static activations; otherwise one error at the
/// offending place. The input check, and part of the contract of the prepare stage.
mlir::LogicalResult checkFloatNetwork(mlir::ModuleOp module);

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_CHECKS_H
