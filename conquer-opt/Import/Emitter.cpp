//===- Emitter.cpp - TOSA ops over values that know their layout ------------------------------===//
#include "conquer-opt/Import/Emitter.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>

namespace conquer::importer {
namespace tosa = mlir::tosa;

const std::vector<int64_t> toChannelsLast = {0, 2, 3, 1}, toChannelsFirst = {0, 3, 1, 2};

Shape permuted(const Shape &shape, const std::vector<int64_t> &permutation) {
  Shape result;
  for (int64_t from : permutation)
    result.push_back(shape[from]);
  return result;
}

std::vector<float> permuted(const std::vector<float> &data, const Shape &shape,
                            const std::vector<int64_t> &permutation) {
  // The step in `data` for each dimension of the result, walked as an odometer.
  size_t rank = shape.size();
  std::vector<int64_t> strides(rank, 1), step, index(rank, 0);
  for (size_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  Shape outShape = permuted(shape, permutation);
  for (int64_t from : permutation)
    step.push_back(strides[from]);
  std::vector<float> result(data.size());
  int64_t source = 0;
  for (float &element : result) {
    element = data[source];
    for (size_t i = rank; i-- > 0;) {
      source += step[i];
      if (++index[i] < outShape[i])
        break;
      source -= step[i] * outShape[i];
      index[i] = 0;
    }
  }
  return result;
}

bool broadcast(const Shape &a, const Shape &b, Shape &result) {
  size_t rank = std::max(a.size(), b.size());
  result.assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return false;
    result[rank - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

Shape Value::heldShape() const {
  return layout == Layout::ChannelsLast ? permuted(shape, toChannelsLast) : shape;
}

//===------------------------------------------------------------------------------------------===//
// Types, locations, constants
//===------------------------------------------------------------------------------------------===//

mlir::Location Emitter::location(const std::string &part) const {
  std::string name = part.empty() ? nodeName : nodeName + ":" + part;
  mlir::MLIRContext *context = builder.getContext();
  return mlir::NameLoc::get(mlir::StringAttr::get(context, name));
}

mlir::RankedTensorType Emitter::typeOf(const Shape &held) const {
  return mlir::RankedTensorType::get(held, mlir::Float32Type::get(builder.getContext()));
}

Value Emitter::made(mlir::Value ssa, Shape shape, Layout layout) const {
  Value value;
  value.ssa = ssa;
  value.shape = std::move(shape);
  value.layout = layout;
  return value;
}

mlir::Value Emitter::floatConstant(const Shape &shape, const std::vector<float> &data) {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(data.data()),
                             data.size() * sizeof(float));
  auto values = mlir::DenseElementsAttr::getFromRawBuffer(typeOf(shape), bytes);
  mlir::Value &ssa = emittedConstants[values];
  if (!ssa)
    ssa = tosa::ConstOp::create(builder, location("constant"), typeOf(shape), values);
  return ssa;
}

mlir::Value Emitter::zeroPoint() { return floatConstant({1}, {0.0f}); }

mlir::Value Emitter::shapeConstant(const std::vector<int64_t> &dims) {
  auto values = builder.getIndexTensorAttr(dims);
  mlir::Value &ssa = emittedConstants[values];
  if (!ssa) {
    auto type = tosa::shapeType::get(builder.getContext(), static_cast<int>(dims.size()));
    ssa = tosa::ConstShapeOp::create(builder, location("constant"), type, values);
  }
  return ssa;
}

Value Emitter::constantValue(Shape shape, std::vector<float> data) {
  Value value;
  value.shape = shape;
  ownConstants.push_back({std::move(shape), true, std::move(data), {}});
  value.constant = &ownConstants.back();
  return value;
}

//===------------------------------------------------------------------------------------------===//
// Layout
//===------------------------------------------------------------------------------------------===//

mlir::Value Emitter::transposeHeld(mlir::Value x, const Shape &held,
                                   const std::vector<int64_t> &permutation,
                                   const std::string &part) {
  // Where only dimensions of size 1 change places, the elements stay where they are.
  std::vector<int64_t> moving;
  for (int64_t from : permutation)
    if (held[from] != 1)
      moving.push_back(from);
  Shape result = permuted(held, permutation);
  if (std::is_sorted(moving.begin(), moving.end()))
    return reshapeHeld(x, held, result, part);
  std::vector<int32_t> perms(permutation.begin(), permutation.end());
  return tosa::TransposeOp::create(builder, location(part), typeOf(result), x,
                                   llvm::ArrayRef<int32_t>(perms));
}

mlir::Value Emitter::reshapeHeld(mlir::Value x, const Shape &from, const Shape &to,
                                 const std::string &part) {
  if (from == to)
    return x;
  if (auto reshape = x.getDefiningOp<tosa::ReshapeOp>()) {
    x = reshape.getInput1();
    if (x.getType() == typeOf(to))
      return x;
  }
  return tosa::ReshapeOp::create(builder, location(part), typeOf(to), x, shapeConstant(to));
}

Value Emitter::held(const Value &x, Layout layout) {
  if (x.constant) {
    if (layout == Layout::Model || x.rank() != 4)
      return made(floatConstant(x.shape, x.constant->floats), x.shape, Layout::Model);
    auto data = permuted(x.constant->floats, x.shape, toChannelsLast);
    return made(floatConstant(permuted(x.shape, toChannelsLast), data), x.shape, layout);
  }
  if (x.layout == layout || (layout == Layout::ChannelsLast && x.rank() != 4))
    return x;
  auto key = [](mlir::Value value, Layout wanted) {
    return std::make_pair(value, static_cast<int>(wanted));
  };
  if (mlir::Value other = otherLayout.lookup(key(x.ssa, layout)))
    return made(other, x.shape, layout);
  mlir::Value ssa;
  if (x.layout == Layout::FlatChannelsLast) {
    Shape image = permuted(x.image, toChannelsLast);
    ssa = reshapeHeld(x.ssa, x.shape, image, "reshape");
    ssa = transposeHeld(ssa, image, toChannelsFirst, "transpose");
    ssa = reshapeHeld(ssa, x.image, x.shape, "reshape");
  } else {
    const auto &permutation = layout == Layout::ChannelsLast ? toChannelsLast : toChannelsFirst;
    ssa = transposeHeld(x.ssa, x.heldShape(), permutation, "transpose");
    otherLayout[key(ssa, x.layout)] = x.ssa;
  }
  otherLayout[key(x.ssa, layout)] = ssa;
  return made(ssa, x.shape, layout);
}

int64_t Emitter::heldAxis(const Value &x, int64_t axis) const {
  return x.layout == Layout::ChannelsLast ? toChannelsFirst[axis] : axis;
}

/// An operand of an op with broadcasting: of the given rank and layout.
Value Emitter::operand(const Value &x, int64_t rank, Layout layout) {
  Shape shape(rank - x.rank(), 1);
  shape.insert(shape.end(), x.shape.begin(), x.shape.end());
  return held(x.rank() == rank ? x : reshape(x, shape, "reshape"), layout);
}

//===------------------------------------------------------------------------------------------===//
// Elementwise
//===------------------------------------------------------------------------------------------===//

template <typename Op> Value Emitter::unary(const Value &x, const std::string &part) {
  Value result = anyLayout(x);
  result.ssa = Op::create(builder, location(part), result.ssa.getType(), result.ssa);
  return result;
}
template Value Emitter::unary<tosa::SigmoidOp>(const Value &, const std::string &);
template Value Emitter::unary<tosa::TanhOp>(const Value &, const std::string &);
template Value Emitter::unary<tosa::ExpOp>(const Value &, const std::string &);

Value Emitter::reciprocal(const Value &x, const std::string &part) {
  return unary<tosa::ReciprocalOp>(x, part);
}

Value Emitter::clamp(const Value &x, float low, float high, const std::string &part) {
  Value result = anyLayout(x);
  result.ssa = tosa::ClampOp::create(builder, location(part), result.ssa.getType(), result.ssa,
                                     builder.getF32FloatAttr(low), builder.getF32FloatAttr(high));
  return result;
}

template <typename Op>
Value Emitter::binary(const Value &a, const Value &b, const std::string &part) {
  int64_t rank = std::max(a.rank(), b.rank());
  bool last = rank == 4 && (a.layout == Layout::ChannelsLast || b.layout == Layout::ChannelsLast);
  Layout layout = last ? Layout::ChannelsLast : Layout::Model;
  Value x = operand(a, rank, layout), y = operand(b, rank, layout);
  Value result = made({}, {}, layout);
  broadcast(x.shape, y.shape, result.shape);
  mlir::Type type = typeOf(result.heldShape());
  if constexpr (std::is_same_v<Op, tosa::MulOp>) {
    auto zero = mlir::DenseElementsAttr::get(mlir::RankedTensorType::get({1}, builder.getI8Type()),
                                             int8_t(0));
    mlir::Value &shift = emittedConstants[zero];
    if (!shift)
      shift = tosa::ConstOp::create(builder, location("constant"), zero.getType(), zero);
    result.ssa = Op::create(builder, location(part), type, x.ssa, y.ssa, shift);
  } else {
    result.ssa = Op::create(builder, location(part), type, x.ssa, y.ssa);
  }
  return result;
}

Value Emitter::add(const Value &a, const Value &b, const std::string &part) {
  return binary<tosa::AddOp>(a, b, part);
}
Value Emitter::sub(const Value &a, const Value &b, const std::string &part) {
  return binary<tosa::SubOp>(a, b, part);
}
Value Emitter::mul(const Value &a, const Value &b, const std::string &part) {
  return binary<tosa::MulOp>(a, b, part);
}
Value Emitter::maximum(const Value &a, const Value &b, const std::string &part) {
  return binary<tosa::MaximumOp>(a, b, part);
}
Value Emitter::minimum(const Value &a, const Value &b, const std::string &part) {
  return binary<tosa::MinimumOp>(a, b, part);
}

//===------------------------------------------------------------------------------------------===//
// Moving data
//===------------------------------------------------------------------------------------------===//

Value Emitter::reshape(const Value &x, const Shape &shape, const std::string &part) {
  if (x.shape == shape)
    return x;
  if (x.constant)
    return constantValue(shape, x.constant->floats);
  bool flattens = x.layout == Layout::ChannelsLast && shape.size() == 2 && shape[0] == x.shape[0];
  if (flattens && x.shape[1] != 1 && x.shape[2] * x.shape[3] != 1) {
    Value flat =
        made(reshapeHeld(x.ssa, x.heldShape(), shape, part), shape, Layout::FlatChannelsLast);
    flat.image = x.shape;
    return flat;
  }
  if (x.layout == Layout::FlatChannelsLast && shape == x.image)
    return made(reshapeHeld(x.ssa, x.shape, permuted(shape, toChannelsLast), part), shape,
                Layout::ChannelsLast);
  return made(reshapeHeld(plain(x), x.shape, shape, part), shape, Layout::Model);
}

Value Emitter::transpose(const Value &x, const std::vector<int64_t> &permutation,
                         const std::string &part) {
  Shape shape = permuted(x.shape, permutation);
  if (x.constant)
    return constantValue(shape, permuted(x.constant->floats, x.shape, permutation));
  Value from = emitted(x);
  // A model that holds its images N, H, W, C and transposes before a convolution.
  if (from.layout == Layout::Model && permutation == toChannelsFirst)
    return made(from.ssa, shape, Layout::ChannelsLast);
  std::vector<int64_t> heldPermutation;
  heldPermutation.reserve(permutation.size());
  for (int64_t axis : permutation)
    heldPermutation.push_back(heldAxis(from, axis));
  return made(transposeHeld(from.ssa, from.heldShape(), heldPermutation, part), shape,
              Layout::Model);
}

Value Emitter::slice(const Value &x, const Shape &start, const Shape &size,
                     const std::string &part) {
  if (size == x.shape)
    return x;
  Value from = emitted(x), result = made({}, size, from.layout),
        begin = made({}, start, from.layout);
  result.ssa =
      tosa::SliceOp::create(builder, location(part), typeOf(result.heldShape()), from.ssa,
                            shapeConstant(begin.heldShape()), shapeConstant(result.heldShape()));
  return result;
}

Value Emitter::pad(const Value &x, const Shape &before, const Shape &behind, float fill,
                   const std::string &part) {
  Value from = emitted(x), result = made({}, x.shape, from.layout);
  std::vector<int64_t> padding(2 * x.rank());
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    result.shape[axis] += before[axis] + behind[axis];
    padding[2 * heldAxis(from, axis)] = before[axis];
    padding[2 * heldAxis(from, axis) + 1] = behind[axis];
  }
  if (result.shape == x.shape)
    return x;
  result.ssa = tosa::PadOp::create(builder, location(part), typeOf(result.heldShape()), from.ssa,
                                   shapeConstant(padding), floatConstant({1}, {fill}));
  return result;
}

Value Emitter::concat(const std::vector<Value> &xs, int64_t axis, const std::string &part) {
  if (xs.size() == 1)
    return xs.front();
  Layout layout = Layout::Model;
  for (const Value &x : xs)
    if (x.layout == Layout::ChannelsLast)
      layout = Layout::ChannelsLast;
  std::vector<mlir::Value> operands;
  Value result = made({}, xs.front().shape, layout);
  result.shape[axis] = 0;
  for (const Value &x : xs) {
    operands.push_back(held(x, layout).ssa);
    result.shape[axis] += x.shape[axis];
  }
  result.ssa =
      tosa::ConcatOp::create(builder, location(part), mlir::Type(typeOf(result.heldShape())),
                             operands, static_cast<uint32_t>(heldAxis(result, axis)));
  return result;
}

Value Emitter::tile(const Value &x, const Shape &multiples, const std::string &part) {
  Value result = made({}, x.shape, Layout::Model);
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    result.shape[axis] *= multiples[axis];
  if (result.shape == x.shape)
    return x;
  result.ssa = tosa::TileOp::create(builder, location(part), typeOf(result.shape), plain(x),
                                    shapeConstant(multiples));
  return result;
}

template <typename Reduce>
Value Emitter::reduce(const Value &x, int64_t axis, const std::string &part) {
  Value from = emitted(x), result = made({}, x.shape, from.layout);
  result.shape[axis] = 1;
  result.ssa = Reduce::create(builder, location(part), mlir::Type(typeOf(result.heldShape())),
                              from.ssa, static_cast<uint32_t>(heldAxis(from, axis)));
  return result;
}
Value Emitter::reduceSum(const Value &x, int64_t axis, const std::string &part) {
  return reduce<tosa::ReduceSumOp>(x, axis, part);
}
Value Emitter::reduceMax(const Value &x, int64_t axis, const std::string &part) {
  return reduce<tosa::ReduceMaxOp>(x, axis, part);
}

} // namespace conquer::importer
