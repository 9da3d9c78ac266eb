//===- Constants.cpp - reading and making constant tensors ------------------------------------===//

#include "conquer-opt/Transforms/Constants.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

DenseElementsAttr conquer::getFloats(Value value) {
  DenseElementsAttr values;
  if (!matchPattern(value, m_Constant(&values)) || !values.getElementType().isF32())
    return {};
  return values;
}

std::optional<float> conquer::getSplat(Value value) {
  DenseElementsAttr values = getFloats(value);
  if (!values || values.empty())
    return std::nullopt;
  float first = *values.value_begin<float>();
  // A tensor may hold one number often without being stored as a splat.
  if (!values.isSplat() &&
      !llvm::all_of(values.getValues<float>(), [&](float v) { return v == first; }))
    return std::nullopt;
  return first;
}

std::vector<float> conquer::toVector(DenseElementsAttr floats) {
  auto values = floats.getValues<float>();
  return std::vector<float>(values.begin(), values.end());
}

std::optional<SmallVector<int64_t>> conquer::getShape(Value value) {
  auto shape = value.getDefiningOp<tosa::ConstShapeOp>();
  if (!shape)
    return std::nullopt;
  auto values = shape.getValues().getValues<int64_t>();
  return SmallVector<int64_t>(values.begin(), values.end());
}

std::optional<std::vector<double>> conquer::getPerChannel(Value value, int64_t channels) {
  DenseElementsAttr values = getFloats(value);
  if (!values)
    return std::nullopt;
  if (auto splat = getSplat(value))
    return std::vector<double>(channels, *splat);
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getNumElements() != channels || type.getShape().back() != channels)
    return std::nullopt;
  auto range = values.getValues<float>();
  return std::vector<double>(range.begin(), range.end());
}

Value conquer::createFloats(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                            ArrayRef<float> values) {
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  return tosa::ConstOp::create(builder, loc, type, DenseElementsAttr::get(type, values));
}

Value conquer::createShape(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape) {
  auto type = tosa::shapeType::get(builder.getContext(), shape.size());
  return tosa::ConstShapeOp::create(builder, loc, type, builder.getIndexTensorAttr(shape));
}

Value conquer::createReshape(OpBuilder &builder, Location loc, Value value,
                             ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return tosa::ReshapeOp::create(builder, loc, type.clone(shape), value,
                                 createShape(builder, loc, shape));
}
