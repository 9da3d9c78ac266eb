//===- Outline.h - one layer of a network as a function of its own ----------------------------===//
#ifndef CONQUER_OPT_PIPELINES_OUTLINE_H
#define CONQUER_OPT_PIPELINES_OUTLINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace conquer {

/// The op of `function` that computes the layer, before or after quantize; null if there is none.
mlir::Operation *findLayer(mlir::func::FuncOp function, llvm::StringRef layerId);

/// Appends to `module` a public function that computes the layer together with what belongs to it:
/// its requantisation or its clamp. Arguments are the activations it reads, constants are copied.
/// Fails, with an error at the layer, if it reads anything else that the network computes.
mlir::FailureOr<mlir::func::FuncOp> outlineLayer(mlir::ModuleOp module, mlir::Operation *layer,
                                                 llvm::StringRef name);

} // namespace conquer

#endif // CONQUER_OPT_PIPELINES_OUTLINE_H
