//===- Conquer.h - the conquer dialect and the notion of a layer ------------------------------===//
#ifndef CONQUER_OPT_IR_CONQUER_H
#define CONQUER_OPT_IR_CONQUER_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "hardware/Precision.h"

#include <limits>
#include <optional>

#include "conquer-opt/IR/ConquerDialect.h.inc"
#define GET_OP_CLASSES
#include "conquer-opt/IR/ConquerOps.h.inc"

namespace conquer {

/// The names of the discardable attributes (see ConquerOps.td).
inline constexpr llvm::StringLiteral idAttrName = "conquer.id";
inline constexpr llvm::StringLiteral layerAttrName = "conquer.layer";
inline constexpr llvm::StringLiteral precisionAttrName = "conquer.precision";
inline constexpr llvm::StringLiteral scaleAttrName = "conquer.scale";
inline constexpr llvm::StringLiteral zeroPointAttrName = "conquer.zero_point";
inline constexpr llvm::StringLiteral conversionsAttrName = "conquer.conversions";

/// The op's `conquer.id`, empty if it has none.
llvm::StringRef getId(mlir::Operation *op);

/// The kind of a quantisable op as profiles spell it ("conv2d", "depthwise_conv2d",
/// "transpose_conv2d", "matmul"), for TOSA and fused ops alike; empty for every other op.
llvm::StringRef getLayerKind(mlir::Operation *op);

/// Whether the op is a layer, i.e. has a precision of its own in a policy.
inline bool isLayer(mlir::Operation *op) { return !getLayerKind(op).empty(); }

/// The precision that the element types of a layer's input and weights show; none if they are of no
/// precision.
std::optional<Precision> getTypedPrecision(mlir::Operation *layer);

} // namespace conquer

#endif // CONQUER_OPT_IR_CONQUER_H
