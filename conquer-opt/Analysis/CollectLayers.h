//===- CollectLayers.h - what flows where in prepared IR --------------------------------------===//
//
// Pure functions over one function of TOSA ops; they change nothing.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_ANALYSIS_COLLECTLAYERS_H
#define CONQUER_OPT_ANALYSIS_COLLECTLAYERS_H

#include "conquer-opt/Analysis/Layers.h"
#include "hardware/Profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace conquer {

/// The ops whose result depends on an argument of the function, in execution order. All others
/// are constants, shapes, or computed from those; the terminator is not among them.
std::vector<mlir::Operation *> activationOps(mlir::func::FuncOp func);

/// How many of a layer's leading operands are activations: 2 for a matmul, 1 for convolutions
/// (whose other operands are constants in prepared IR).
unsigned activationOperands(mlir::Operation *layer);

/// The layers and edges of a prepared function (docs/formats.md). The alphabet of each layer comes
/// from the profile. An Error if a layer, an argument or a result has no conquer.id.
Result<LayerList> collectLayers(mlir::func::FuncOp func, const Profile &profile);

} // namespace conquer

#endif // CONQUER_OPT_ANALYSIS_COLLECTLAYERS_H
