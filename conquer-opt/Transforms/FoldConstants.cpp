//===- FoldConstants.cpp - computes what depends on constants only ----------------------------===//
//
// Producers leave weights behind transposes and reshapes, and batch norms as arithmetic on vectors.
// What upstream's folders do for splats and scalars, this does for whole tensors: ops that move
// elements (any type) and f32 arithmetic, in double precision with one rounding per op.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Transforms/Constants.h"
#include "conquer-opt/Transforms/Passes.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

/// Broadcasts of constants up to this many elements are written out; larger ones stay ops.
constexpr int64_t broadcastLimit = 1 << 16;

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

/// Calls visit(source offset) for the elements of `shape` in row-major order, where the source is
/// addressed by `base` plus one stride per dimension (0 broadcasts, negative ones reverse).
template <typename Visit>
void forEachOffset(ArrayRef<int64_t> shape, int64_t base, ArrayRef<int64_t> strides, Visit visit) {
  if (shape.empty())
    return visit(base);
  for (int64_t i = 0; i < shape.front(); ++i)
    forEachOffset(shape.drop_front(), base + i * strides.front(), strides.drop_front(), visit);
}

/// The constant operand, null if it is none or of a type that is packed (i1, i4).
DenseElementsAttr getBytes(Value value) {
  DenseElementsAttr values;
  if (!matchPattern(value, m_Constant(&values)))
    return {};
  Type element = values.getElementType();
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  return width >= 8 && width % 8 == 0 ? values : DenseElementsAttr();
}

/// A tensor whose elements are elements of the source.
DenseElementsAttr move(DenseElementsAttr source, RankedTensorType type, int64_t base,
                       ArrayRef<int64_t> strides) {
  if (source.isSplat())
    return source.resizeSplat(type);
  size_t width = source.getElementType().getIntOrFloatBitWidth() / 8;
  const char *from = source.getRawData().data();
  std::vector<char> bytes(type.getNumElements() * width);
  char *to = bytes.data();
  forEachOffset(type.getShape(), base, strides, [&](int64_t offset) {
    std::memcpy(to, from + offset * width, width);
    to += width;
  });
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

DenseElementsAttr foldTranspose(tosa::TransposeOp op, DenseElementsAttr source) {
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(op.getInput1())), permuted;
  for (int32_t dim : op.getPerms())
    permuted.push_back(strides[dim]);
  return move(source, cast<RankedTensorType>(op.getType()), 0, permuted);
}

DenseElementsAttr foldSlice(tosa::SliceOp op, DenseElementsAttr source) {
  auto start = getShape(op.getStart());
  if (!start)
    return {};
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(op.getInput1()));
  int64_t base = 0;
  for (auto [offset, stride] : llvm::zip_equal(*start, strides))
    base += offset * stride;
  return move(source, cast<RankedTensorType>(op.getType()), base, strides);
}

DenseElementsAttr foldReverse(tosa::ReverseOp op, DenseElementsAttr source) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput1());
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  int64_t base = (shape[op.getAxis()] - 1) * strides[op.getAxis()];
  strides[op.getAxis()] *= -1;
  return move(source, cast<RankedTensorType>(op.getType()), base, strides);
}

/// Only repetitions of dimensions of size 1, and only small results.
DenseElementsAttr foldTile(tosa::TileOp op, DenseElementsAttr source) {
  auto type = cast<RankedTensorType>(op.getType());
  if (type.getNumElements() > broadcastLimit)
    return {};
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(op.getInput1()));
  for (auto [stride, from, to] :
       llvm::zip_equal(strides, shapeOf(op.getInput1()), type.getShape())) {
    if (from != to && from != 1)
      return {};
    if (from != to)
      stride = 0;
  }
  return move(source, type, 0, strides);
}

DenseElementsAttr foldConcat(tosa::ConcatOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  size_t width = type.getElementTypeBitWidth() / 8;
  std::vector<char> bytes(type.getNumElements() * width);
  SmallVector<int64_t> strides = rowMajorStrides(type.getShape());
  int64_t base = 0;
  for (Value operand : op.getInput1()) {
    DenseElementsAttr source = getBytes(operand);
    if (!source)
      return {};
    const char *from = source.getRawData().data();
    size_t step = source.isSplat() ? 0 : width;
    forEachOffset(shapeOf(operand), base, strides, [&](int64_t offset) {
      std::memcpy(bytes.data() + offset * width, from, width);
      from += step;
    });
    base += shapeOf(operand)[op.getAxis()] * strides[op.getAxis()];
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

DenseElementsAttr foldMove(Operation *op) {
  if (auto concat = dyn_cast<tosa::ConcatOp>(op))
    return foldConcat(concat);
  DenseElementsAttr source = getBytes(op->getOperand(0));
  if (!source)
    return {};
  return llvm::TypeSwitch<Operation *, DenseElementsAttr>(op)
      .Case<tosa::ReshapeOp>(
          [&](auto reshape) { return source.reshape(cast<RankedTensorType>(reshape.getType())); })
      .Case<tosa::IdentityOp>([&](auto) { return source; })
      .Case<tosa::TransposeOp>([&](auto transpose) { return foldTranspose(transpose, source); })
      .Case<tosa::SliceOp>([&](auto slice) { return foldSlice(slice, source); })
      .Case<tosa::ReverseOp>([&](auto reverse) { return foldReverse(reverse, source); })
      .Case<tosa::TileOp>([&](auto tile) { return foldTile(tile, source); })
      .Default([](Operation *) { return DenseElementsAttr(); });
}

using Unary = double (*)(double);
using Binary = double (*)(double, double);

Unary unaryFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case<tosa::AbsOp>([](auto) -> Unary { return [](double x) { return std::fabs(x); }; })
      .Case<tosa::NegateOp>([](auto) -> Unary { return [](double x) { return -x; }; })
      .Case<tosa::ReciprocalOp>([](auto) -> Unary { return [](double x) { return 1 / x; }; })
      .Case<tosa::RsqrtOp>([](auto) -> Unary { return [](double x) { return 1 / std::sqrt(x); }; })
      .Case<tosa::ExpOp>([](auto) -> Unary { return [](double x) { return std::exp(x); }; })
      .Case<tosa::LogOp>([](auto) -> Unary { return [](double x) { return std::log(x); }; })
      .Default([](Operation *) -> Unary { return nullptr; });
}

Binary binaryFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case<tosa::AddOp>([](auto) -> Binary { return [](double a, double b) { return a + b; }; })
      .Case<tosa::SubOp>([](auto) -> Binary { return [](double a, double b) { return a - b; }; })
      .Case<tosa::MulOp>([](auto) -> Binary { return [](double a, double b) { return a * b; }; })
      .Case<tosa::PowOp>(
          [](auto) -> Binary { return [](double a, double b) { return std::pow(a, b); }; })
      .Default([](Operation *) -> Binary { return nullptr; });
}

DenseElementsAttr foldUnary(Operation *op, Unary function) {
  DenseElementsAttr source = getFloats(op->getOperand(0));
  if (!source)
    return {};
  std::vector<float> values =
      source.isSplat() ? std::vector<float>{*source.value_begin<float>()} : toVector(source);
  for (float &value : values)
    value = static_cast<float>(function(value));
  return DenseElementsAttr::get(cast<ShapedType>(op->getResult(0).getType()),
                                ArrayRef<float>(values));
}

/// Offsets into an operand that is broadcast to the result.
std::vector<int64_t> broadcastOffsets(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> strides = rowMajorStrides(from);
  for (auto [stride, size] : llvm::zip_equal(strides, from))
    if (size == 1)
      stride = 0;
  std::vector<int64_t> offsets;
  forEachOffset(to, 0, strides, [&](int64_t offset) { offsets.push_back(offset); });
  return offsets;
}

DenseElementsAttr foldBinary(Operation *op, Binary function) {
  DenseElementsAttr a = getFloats(op->getOperand(0)), b = getFloats(op->getOperand(1));
  if (!a || !b)
    return {};
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getNumElements() > std::max({a.size(), b.size(), broadcastLimit}))
    return {};
  std::vector<float> left = toVector(a), right = toVector(b), values;
  std::vector<int64_t> leftAt = broadcastOffsets(a.getType().getShape(), type.getShape());
  std::vector<int64_t> rightAt = broadcastOffsets(b.getType().getShape(), type.getShape());
  for (size_t i = 0; i < leftAt.size(); ++i)
    values.push_back(static_cast<float>(function(left[leftAt[i]], right[rightAt[i]])));
  return DenseElementsAttr::get(type, ArrayRef<float>(values));
}

/// Constants that refer to a resource of the file, as torch-mlir writes large ones, become plain.
DenseElementsAttr foldResource(tosa::ConstOp op) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValuesAttr());
  if (!resource)
    return {};
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  bool isSplat = false;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(resource.getType(), blob->getData(), isSplat))
    return {};
  return DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
}

/// The value of an op of constants, null if it is not known.
DenseElementsAttr fold(Operation *op) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) ||
      !cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape())
    return {};
  if (auto constant = dyn_cast<tosa::ConstOp>(op))
    return foldResource(constant);
  if (op->getNumOperands() == 0)
    return {};
  if (Unary function = unaryFunction(op))
    return foldUnary(op, function);
  if (Binary function = binaryFunction(op))
    return foldBinary(op, function);
  return foldMove(op);
}

struct FoldConstantsPass : impl::FoldConstantsPassBase<FoldConstantsPass> {
  void runOnOperation() override {
    std::vector<Operation *> dead;
    getOperation().walk([&](Operation *op) {
      DenseElementsAttr value = fold(op);
      if (!value)
        return;
      OpBuilder builder(op);
      Value constant = tosa::ConstOp::create(builder, op->getLoc(), value.getType(), value);
      op->getResult(0).replaceAllUsesWith(constant);
      dead.push_back(op);
    });
    for (Operation *op : llvm::reverse(dead))
      op->erase();
  }
};

} // namespace
} // namespace conquer
