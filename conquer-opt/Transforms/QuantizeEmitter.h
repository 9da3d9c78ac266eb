//===- QuantizeEmitter.h - the spelling of the numeric contract in TOSA -----------------------===//
//
// Builds the chains of TOSA ops that quantize writes. Fuse matches exactly these, and Arm's
// reference model, IREE and the evaluator agree on them bit for bit.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_QUANTIZEEMITTER_H
#define CONQUER_OPT_TRANSFORMS_QUANTIZEEMITTER_H

#include "conquer-opt/Analysis/Quantization.h"
#include "hardware/Precision.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace conquer {

/// The constants of a function by value, each made once, at the beginning of its block.
using ConstantPool = llvm::DenseMap<mlir::Attribute, mlir::Value>;

/// Emits at the builder's insertion point with one location.
class QuantizeEmitter {
public:
  QuantizeEmitter(mlir::OpBuilder &builder, mlir::Location loc, ConstantPool &pool)
      : builder(builder), loc(loc), pool(pool) {}

  /// tensor<1xi8>, the form of zero points.
  mlir::Value zeroPointI8(int32_t value);
  /// A constant of the given shape and element type.
  mlir::Value constantI8(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int8_t> values);
  mlir::Value constantI32(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> values);
  mlir::Value constantF32(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values);
  /// A constant of 4-bit codes, -8 to 7.
  mlir::Value constantI4(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int8_t> values);
  /// A constant of bf16 or f16, rounded to nearest even. Fails if a value is not finite then.
  mlir::FailureOr<mlir::Value> constantHalf(mlir::RankedTensorType type,
                                            llvm::ArrayRef<float> values);

  /// The element type of activations of that form.
  mlir::Type elementOf(Precision form);
  /// The bound of a clamp in bf16 or f16, rounded to nearest even; beyond the range, infinity.
  mlir::FloatAttr boundOf(mlir::Attribute bound, mlir::Type element);

  mlir::Value cast(mlir::Value input, mlir::Type element);
  /// Elementwise, with broadcasting.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value clampFloat(mlir::Value input, float low, float high);
  /// RESCALE with one factor, or one per element of the last axis.
  mlir::Value rescale(mlir::Value input, llvm::ArrayRef<Rescale> factors, int32_t inputZeroPoint,
                      int32_t outputZeroPoint, mlir::Type element);

  /// i32 -> i8, requant "float32": cast, mul by one or by a multiplier per element of the last
  /// axis, clamp, cast to i32, add the zero point, cast to i8.
  mlir::Value requantize(mlir::Value accumulator, llvm::ArrayRef<float> multipliers,
                         CodeBounds bounds, int32_t zeroPoint);
  /// i32 -> i8, requant "integer": RESCALE, then a clamp where the bounds say more than i8 does.
  mlir::Value requantize(mlir::Value accumulator, llvm::ArrayRef<Rescale> factors,
                         CodeBounds bounds, int32_t zeroPoint);
  /// i32 -> f32: cast, mul by a multiplier per element of the last axis.
  mlir::Value toReal(mlir::Value accumulator, llvm::ArrayRef<float> multipliers);

  /// From one form to another, by way of f32; `params` are those of i8.
  mlir::Value convert(mlir::Value value, Precision from, Precision to, AffineParams params);

private:
  /// f32 -> i8: mul by 1/scale, then as the end of requantize.
  mlir::Value quantize(mlir::Value real, AffineParams params);
  /// i8 -> f32: cast to i32, subtract the zero point, cast to f32, mul by the scale.
  mlir::Value dequantize(mlir::Value codes, AffineParams params);
  mlir::Value constant(mlir::RankedTensorType type, mlir::DenseElementsAttr values);
  /// [1, ..., 1, size], of the rank of `like`.
  llvm::SmallVector<int64_t> alongLastAxis(mlir::Value like, size_t size);
  mlir::Value roundToCodes(mlir::Value scaled, CodeBounds bounds, int32_t zeroPoint);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  ConstantPool &pool;
};

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_QUANTIZEEMITTER_H
