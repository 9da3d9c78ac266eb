//===- PrecisionRules.h - which ops quantise together, and into what --------------------------===//
//
// The notions that layers.json, assign-precisions and quantize share: constant values, clamps that
// belong to the op before them, and the forms that an op can be written in.
// docs/precision-of-other-ops.md is the table.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_ANALYSIS_PRECISIONRULES_H
#define CONQUER_OPT_ANALYSIS_PRECISIONRULES_H

#include "conquer-opt/IR/Conquer.h"
#include "hardware/Profile.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <optional>
#include <vector>

namespace conquer {

/// Whether the value is a constant: a tosa.const, a shape, or computed from such alone.
bool isConstant(mlir::Value value);

/// Whether the op computes an activation: a TOSA op with an operand that is not constant.
bool isActivationOp(mlir::Operation *op);

/// The clamp that is part of `op`: op is a layer or an add whose only user is this clamp. Null if
/// there is none.
mlir::tosa::ClampOp getFusedClamp(mlir::Operation *op);

/// Whether `op` is a clamp that is part of the op before it.
bool isFusedClamp(mlir::Operation *op);

/// The value that an op and its fused clamp compute together.
mlir::Value getOutput(mlir::Operation *op);

/// Whether quantize can write the op in i8.
bool hasIntegerForm(mlir::Operation *op);

/// Whether quantize can write the op in bf16 and f16.
bool hasHalfForm(mlir::Operation *op);

/// The precisions that a layer of an f32 network can have, f32 first: those of the profile in which
/// quantize can write it, its constants are finite, and there is a kernel where the profile asks
/// for one.
std::vector<Precision> legalPrecisions(mlir::Operation *layer, const Profile &profile);

/// The op's `conquer.precision`; nothing if it has none or an unknown one.
std::optional<Precision> getPrecision(mlir::Operation *op);

/// The form of the values that the op reads and makes; f32 for ops without a precision.
inline Precision getForm(mlir::Operation *op) {
  return activationForm(getPrecision(op).value_or(Precision::F32));
}

/// The f32 elements of a tosa.const (dense or resource); nothing for any other value.
std::optional<std::vector<float>> readConstant(mlir::Value value);

} // namespace conquer

#endif // CONQUER_OPT_ANALYSIS_PRECISIONRULES_H
