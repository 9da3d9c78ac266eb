//===- QuantizeEmitter.cpp - the spelling of the numeric contract in TOSA ---------------------===//

#include "conquer-opt/Transforms/QuantizeEmitter.h"

using namespace mlir;

namespace conquer {

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

RankedTensorType broadcastType(Value a, Value b) {
  SmallVector<int64_t> shape(shapeOf(a));
  for (auto [size, other] : llvm::zip_equal(shape, shapeOf(b)))
    size = std::max(size, other);
  return RankedTensorType::get(shape, getElementTypeOrSelf(a));
}

RankedTensorType withElement(Value value, Type element) {
  return cast<RankedTensorType>(value.getType()).clone(element);
}

/// To nearest even; beyond the range of the element type, infinity.
APFloat roundTo(Type element, APFloat value) {
  bool lossy = false;
  value.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
  return value;
}

} // namespace

Value QuantizeEmitter::constant(RankedTensorType type, DenseElementsAttr values) {
  Value &known = pool[values];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(builder.getInsertionBlock());
    known = tosa::ConstOp::create(builder, loc, type, values);
  }
  return known;
}

Value QuantizeEmitter::constantI8(ArrayRef<int64_t> shape, ArrayRef<int8_t> values) {
  auto type = RankedTensorType::get(shape, builder.getI8Type());
  return constant(type, DenseElementsAttr::get(type, values));
}

Value QuantizeEmitter::constantI32(ArrayRef<int64_t> shape, ArrayRef<int32_t> values) {
  auto type = RankedTensorType::get(shape, builder.getI32Type());
  return constant(type, DenseElementsAttr::get(type, values));
}

Value QuantizeEmitter::constantF32(ArrayRef<int64_t> shape, ArrayRef<float> values) {
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  return constant(type, DenseElementsAttr::get(type, values));
}

Value QuantizeEmitter::constantI4(ArrayRef<int64_t> shape, ArrayRef<int8_t> values) {
  auto type = RankedTensorType::get(shape, builder.getIntegerType(4));
  auto codes = llvm::map_to_vector(
      values, [](int8_t value) { return APInt(4, static_cast<uint64_t>(value), true); });
  return constant(type, DenseElementsAttr::get(type, codes));
}

FailureOr<Value> QuantizeEmitter::constantHalf(RankedTensorType type, ArrayRef<float> values) {
  SmallVector<APFloat> rounded;
  for (float value : values) {
    rounded.push_back(roundTo(type.getElementType(), APFloat(value)));
    if (!rounded.back().isFinite())
      return failure();
  }
  return constant(type, DenseElementsAttr::get(type, rounded));
}

Type QuantizeEmitter::elementOf(Precision form) {
  switch (form) {
  case Precision::BF16:
    return builder.getBF16Type();
  case Precision::F16:
    return builder.getF16Type();
  case Precision::I8:
  case Precision::W4A8:
    return builder.getI8Type();
  case Precision::W8A16:
    return builder.getI16Type();
  case Precision::F32:
    break;
  }
  return builder.getF32Type();
}

FloatAttr QuantizeEmitter::boundOf(Attribute bound, Type element) {
  return FloatAttr::get(element, roundTo(element, mlir::cast<FloatAttr>(bound).getValue()));
}

Value QuantizeEmitter::zeroPointI8(int32_t value) {
  return constantI8({1}, {static_cast<int8_t>(value)});
}

SmallVector<int64_t> QuantizeEmitter::alongLastAxis(Value like, size_t size) {
  SmallVector<int64_t> shape(shapeOf(like).size(), 1);
  if (!shape.empty())
    shape.back() = static_cast<int64_t>(size);
  return shape;
}

Value QuantizeEmitter::cast(Value input, Type element) {
  return tosa::CastOp::create(builder, loc, withElement(input, element), input);
}

Value QuantizeEmitter::add(Value a, Value b) {
  return tosa::AddOp::create(builder, loc, broadcastType(a, b), a, b);
}

Value QuantizeEmitter::mul(Value a, Value b) {
  return tosa::MulOp::create(builder, loc, broadcastType(a, b), a, b, zeroPointI8(0));
}

Value QuantizeEmitter::clampFloat(Value input, float low, float high) {
  return tosa::ClampOp::create(builder, loc, input.getType(), input, builder.getF32FloatAttr(low),
                               builder.getF32FloatAttr(high));
}

Value QuantizeEmitter::rescale(Value input, ArrayRef<Rescale> factors, int32_t inputZeroPoint,
                               int32_t outputZeroPoint, Type element) {
  SmallVector<int32_t> multipliers;
  SmallVector<int8_t> shifts;
  for (const Rescale &factor : factors) {
    multipliers.push_back(factor.multiplier);
    shifts.push_back(static_cast<int8_t>(factor.shift));
  }
  auto zeroPoint = [&](Type type, int32_t value) {
    return type.isInteger(8) ? zeroPointI8(value) : constantI32({1}, {value});
  };
  int64_t count = static_cast<int64_t>(factors.size());
  return tosa::RescaleOp::create(
      builder, loc, withElement(input, element), input, constantI32({count}, multipliers),
      constantI8({count}, shifts), zeroPoint(getElementTypeOrSelf(input), inputZeroPoint),
      zeroPoint(element, outputZeroPoint), /*scale32=*/true, tosa::RoundingMode::SINGLE_ROUND,
      /*per_channel=*/count > 1, /*input_unsigned=*/false, /*output_unsigned=*/false);
}

Value QuantizeEmitter::roundToCodes(Value scaled, CodeBounds bounds, int32_t zeroPoint) {
  // The clamp comes first, so that nothing overflows the conversion.
  Value clamped = clampFloat(scaled, static_cast<float>(bounds.min - zeroPoint),
                             static_cast<float>(bounds.max - zeroPoint));
  Value rounded = cast(clamped, builder.getI32Type());
  Value shifted = add(rounded, constantI32(alongLastAxis(scaled, 1), {zeroPoint}));
  return cast(shifted, builder.getI8Type());
}

Value QuantizeEmitter::toReal(Value accumulator, ArrayRef<float> multipliers) {
  Value real = cast(accumulator, builder.getF32Type());
  return mul(real, constantF32(alongLastAxis(accumulator, multipliers.size()), multipliers));
}

Value QuantizeEmitter::requantize(Value accumulator, ArrayRef<float> multipliers, CodeBounds bounds,
                                  int32_t zeroPoint) {
  return roundToCodes(toReal(accumulator, multipliers), bounds, zeroPoint);
}

Value QuantizeEmitter::requantize(Value accumulator, ArrayRef<Rescale> factors, CodeBounds bounds,
                                  int32_t zeroPoint) {
  Value codes = rescale(accumulator, factors, 0, zeroPoint, builder.getI8Type());
  if (bounds.min == -128 && bounds.max == 127)
    return codes;
  return tosa::ClampOp::create(builder, loc, codes.getType(), codes,
                               builder.getI8IntegerAttr(static_cast<int8_t>(bounds.min)),
                               builder.getI8IntegerAttr(static_cast<int8_t>(bounds.max)));
}

Value QuantizeEmitter::quantize(Value real, AffineParams params) {
  float reciprocal = static_cast<float>(1.0 / params.scale);
  Value scaled = mul(real, constantF32(alongLastAxis(real, 1), {reciprocal}));
  return roundToCodes(scaled, CodeBounds(), params.zeroPoint);
}

Value QuantizeEmitter::dequantize(Value codes, AffineParams params) {
  Value wide = cast(codes, builder.getI32Type());
  Value zeroPoint = constantI32(alongLastAxis(codes, 1), {params.zeroPoint});
  Value distance = tosa::SubOp::create(builder, loc, wide.getType(), wide, zeroPoint);
  Value real = cast(distance, builder.getF32Type());
  return mul(real, constantF32(alongLastAxis(codes, 1), {params.scale}));
}

Value QuantizeEmitter::convert(Value value, Precision from, Precision to, AffineParams params) {
  if (from == Precision::I8)
    value = dequantize(value, params);
  else if (from != Precision::F32)
    value = cast(value, builder.getF32Type());
  if (to == Precision::I8)
    return quantize(value, params);
  return to == Precision::F32 ? value : cast(value, elementOf(to));
}

} // namespace conquer
