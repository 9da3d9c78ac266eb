//===- ConvChain.cpp - a convolution and its epilogue in TOSA ---------------------------------===//

#include "conquer-opt/Transforms/ConvChain.h"

#include "conquer-opt/IR/Conquer.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using conquer::ConvChain;

namespace {

/// The largest magnitude of an accumulator, as f32.
constexpr float maxAccumulator = 2147483648.0f;

LogicalResult decline(std::string &reason, const char *text) {
  reason = text;
  return failure();
}

/// The elements of a constant, one per channel: a single element stands for all.
template <typename T>
std::optional<SmallVector<T>> constantPerChannel(Value value, int64_t channels) {
  DenseElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (attr.isSplat())
    return SmallVector<T>(channels, attr.getSplatValue<T>());
  auto type = cast<RankedTensorType>(attr.getType());
  // Anything but the innermost axis would be a factor per pixel.
  if (type.getNumElements() != channels || type.getShape().back() != channels)
    return std::nullopt;
  return llvm::to_vector(attr.getValues<T>());
}

template <typename T> std::optional<T> constantScalar(Value value) {
  DenseElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || !attr.isSplat())
    return std::nullopt;
  return attr.getSplatValue<T>();
}

/// The only user of the value if it is an OpT, else null.
template <typename OpT> OpT onlyUser(Value value) {
  return value.hasOneUse() ? dyn_cast<OpT>(*value.getUsers().begin()) : OpT();
}

tosa::CastOp onlyCast(Value value, bool (*toType)(Type)) {
  auto castOp = onlyUser<tosa::CastOp>(value);
  return castOp && toType(getElementTypeOrSelf(castOp.getOutput())) ? castOp : tosa::CastOp();
}
bool isF32(Type type) { return type.isF32(); }
bool isI32(Type type) { return type.isSignlessInteger(32); }
bool isI8(Type type) { return type.isSignlessInteger(8); }

/// The operand of a commutative op that is not `value`.
Value otherOperand(Operation *op, Value value) {
  return op->getOperand(op->getOperand(0) == value ? 1 : 0);
}

/// The zero point, 0 for floats; none if it is not constant.
std::optional<int32_t> constantZeroPoint(Value value) {
  DenseElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || !attr.isSplat())
    return std::nullopt;
  if (isa<FloatType>(attr.getElementType())) // which TOSA wants to be 0
    return 0;
  return static_cast<int32_t>(attr.getSplatValue<APInt>().getSExtValue());
}

/// One bias per channel: of integer convolutions i32, of bf16 ones f32, which holds them exactly.
DenseElementsAttr constantBias(Value value, int64_t channels) {
  auto vector = [&](Type type) { return RankedTensorType::get({channels}, type); };
  Builder builder(value.getContext());
  if (isI32(getElementTypeOrSelf(value))) {
    auto bias = constantPerChannel<int32_t>(value, channels);
    return bias ? DenseElementsAttr::get(vector(builder.getI32Type()), ArrayRef<int32_t>(*bias))
                : DenseElementsAttr();
  }
  auto bias = constantPerChannel<APFloat>(value, channels);
  if (!bias)
    return {};
  auto floats =
      llvm::map_to_vector(*bias, [](const APFloat &element) { return element.convertToFloat(); });
  return DenseElementsAttr::get(vector(builder.getF32Type()), ArrayRef<float>(floats));
}

template <typename ConvOp>
LogicalResult matchConv(ConvOp conv, int64_t channels, ConvChain &chain, std::string &reason) {
  chain.last = conv;
  chain.input = conv.getInput();
  chain.weights = conv.getWeight();
  if (!matchPattern(chain.weights, m_Constant()))
    return decline(reason, "the weights are not constant");
  chain.bias = constantBias(conv.getBias(), channels);
  if (!chain.bias)
    return decline(reason, "the bias is not constant");
  std::optional<int32_t> inputZp = constantZeroPoint(conv.getInputZp());
  std::optional<int32_t> weightZp = constantZeroPoint(conv.getWeightZp());
  if (!inputZp || !weightZp)
    return decline(reason, "a zero point is not constant");
  if (*weightZp != 0)
    return decline(reason, "the zero point of the weights is not 0");
  chain.inputZp = *inputZp;
  chain.pad = llvm::to_vector(conv.getPad());
  chain.stride = llvm::to_vector(conv.getStride());
  chain.dilation = llvm::to_vector(conv.getDilation());
  return success();
}

/// Whether a crop of one axis from `full` to `cropped` elements, which keeps the first ones,
/// changes nothing: no window reaches what it takes away, and as many windows fit without padding
/// at the end.
bool isIdleCrop(int64_t full, int64_t cropped, int64_t begin, int64_t extent, int64_t stride,
                int64_t outputs) {
  int64_t reach = (outputs - 1) * stride - begin + extent; // elements from the first on
  return reach <= cropped && (full + begin - extent) / stride + 1 == outputs;
}

/// Reads the tensor before the crop that makes TOSA's divisions exact, if there is one.
void skipCrop(ArrayRef<int64_t> outputs, int64_t kernelH, int64_t kernelW, ConvChain &chain) {
  auto slice = chain.input.getDefiningOp<tosa::SliceOp>();
  DenseIntElementsAttr start;
  if (!slice || !matchPattern(slice.getStart(), m_Constant(&start)) ||
      !llvm::all_of(start.getValues<APInt>(), [](const APInt &value) { return value.isZero(); }))
    return;
  auto full = dyn_cast<RankedTensorType>(slice.getInput1().getType());
  ArrayRef<int64_t> cropped = cast<RankedTensorType>(slice.getType()).getShape();
  if (!full || !full.hasStaticShape() || full.getDimSize(0) != cropped[0] ||
      full.getDimSize(3) != cropped[3])
    return;
  int64_t kernel[] = {kernelH, kernelW};
  SmallVector<int64_t> pad = chain.pad;
  for (int axis : {0, 1}) {
    int64_t size = full.getDimSize(axis + 1);
    if (size == cropped[axis + 1])
      continue;
    int64_t extent = (kernel[axis] - 1) * chain.dilation[axis] + 1;
    if (!isIdleCrop(size, cropped[axis + 1], chain.pad[2 * axis], extent, chain.stride[axis],
                    outputs[axis + 1]))
      return;
    pad[2 * axis + 1] = 0;
  }
  chain.input = slice.getInput1();
  chain.pad = pad;
}

/// Zero point and bounds of the codes from a clamp of [min - zp, max - zp]; false if they are not
/// codes.
bool setCodes(ConvChain &chain, int64_t zp, float low, float high) {
  if (std::nearbyint(low) != low || std::nearbyint(high) != high || !(low <= high) ||
      std::fabs(low) > 255 || std::fabs(high) > 255 || zp < -128 || zp > 127)
    return false;
  int64_t min = zp + static_cast<int64_t>(low), max = zp + static_cast<int64_t>(high);
  if (min < -128 || max > 127)
    return false;
  chain.outputZp = static_cast<int32_t>(zp);
  chain.clampMin = static_cast<int32_t>(min);
  chain.clampMax = static_cast<int32_t>(max);
  // Of no meaning from here on.
  chain.clampMinF32 = ConvChain().clampMinF32;
  chain.clampMaxF32 = ConvChain().clampMaxF32;
  return true;
}

/// Extends a chain that ends in `clamp` by the conversion to i8, if that follows.
void matchConversion(tosa::ClampOp clamp, ConvChain &chain) {
  float low = chain.clampMinF32, high = chain.clampMaxF32;
  if (auto direct = onlyCast(clamp.getOutput(), isI8)) {
    if (setCodes(chain, 0, low, high))
      chain.last = direct;
    return;
  }
  auto rounded = onlyCast(clamp.getOutput(), isI32);
  if (!rounded)
    return;
  Value sum = rounded.getOutput();
  int64_t zp = 0;
  if (auto add = onlyUser<tosa::AddOp>(sum)) {
    auto constant = constantScalar<int32_t>(otherOperand(add, sum));
    if (!constant || add.getType() != sum.getType())
      return;
    zp = *constant;
    sum = add.getOutput();
  }
  if (auto narrowed = onlyCast(sum, isI8))
    if (setCodes(chain, zp, low, high))
      chain.last = narrowed;
}

void setBounds(ConvChain &chain, tosa::ClampOp clamp) {
  chain.clampMinF32 =
      std::max(chain.clampMinF32, cast<FloatAttr>(clamp.getMinVal()).getValue().convertToFloat());
  chain.clampMaxF32 =
      std::min(chain.clampMaxF32, cast<FloatAttr>(clamp.getMaxVal()).getValue().convertToFloat());
}

/// Of an i32 accumulator.
LogicalResult matchIntegerEpilogue(Value accumulator, int64_t channels, ConvChain &chain,
                                   std::string &reason) {
  auto toF32 = onlyCast(accumulator, isF32);
  auto mul = toF32 ? onlyUser<tosa::MulOp>(toF32.getOutput()) : tosa::MulOp();
  if (!mul)
    return decline(reason, "the accumulator is not followed by a cast to f32 and a mul alone");
  auto multiplier = constantPerChannel<float>(otherOperand(mul, toF32.getOutput()), channels);
  if (!multiplier || mul.getType() != toF32.getType())
    return decline(reason, "the accumulator is not multiplied by a constant per channel");
  for (float factor : *multiplier)
    if (!std::isfinite(factor * maxAccumulator))
      return decline(reason, "a multiplier is not finite or too large");
  chain.multiplier = DenseElementsAttr::get(
      RankedTensorType::get({channels}, Builder(mul.getContext()).getF32Type()),
      ArrayRef<float>(*multiplier));
  chain.last = mul;

  auto clamp = onlyUser<tosa::ClampOp>(mul.getOutput());
  if (!clamp)
    return success();
  setBounds(chain, clamp);
  chain.last = clamp;
  matchConversion(clamp, chain);
  return success();
}

/// Of a bf16 convolution: its kernel clamps before it rounds, which is the same, since rounding is
/// monotonic and keeps the bounds, and lets NaN pass.
LogicalResult matchFloatEpilogue(Operation *conv, ConvChain &chain, std::string &reason) {
  if (!getElementTypeOrSelf(conv->getResult(0)).isBF16())
    return decline(reason, "its result is not bf16");
  auto accumulator = conv->getAttrOfType<TypeAttr>("acc_type");
  if (!accumulator || !isF32(accumulator.getValue()))
    return decline(reason, "its accumulator is not f32");
  auto clamp = onlyUser<tosa::ClampOp>(conv->getResult(0));
  if (clamp && clamp.getNanMode() == tosa::NanPropagationMode::PROPAGATE) {
    setBounds(chain, clamp);
    chain.last = clamp;
  }
  return success();
}

} // namespace

std::optional<conquer::Precision> conquer::fusiblePrecision(Operation *op) {
  if (!isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op))
    return std::nullopt;
  std::optional<Precision> precision = getTypedPrecision(op);
  bool fusible =
      precision == Precision::I8 || precision == Precision::W4A8 || precision == Precision::BF16;
  return fusible ? precision : std::nullopt;
}

FailureOr<ConvChain> conquer::matchConvChain(Operation *op, std::string &reason) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return decline(reason, "its shape is not static");
  int64_t channels = type.getDimSize(3);
  ConvChain chain;
  if (auto conv = dyn_cast<tosa::Conv2DOp>(op)) {
    if (failed(matchConv(conv, channels, chain, reason)))
      return failure();
    ArrayRef<int64_t> weights = conv.getWeight().getType().getShape();
    skipCrop(type.getShape(), weights[1], weights[2], chain);
  } else {
    auto depthwise = cast<tosa::DepthwiseConv2DOp>(op);
    if (depthwise.getWeight().getType().getDimSize(3) != 1)
      return decline(reason, "its depth multiplier is not 1");
    if (failed(matchConv(depthwise, channels, chain, reason)))
      return failure();
    ArrayRef<int64_t> weights = depthwise.getWeight().getType().getShape();
    skipCrop(type.getShape(), weights[0], weights[1], chain);
  }
  LogicalResult epilogue = getTypedPrecision(op) == Precision::BF16
                               ? matchFloatEpilogue(op, chain, reason)
                               : matchIntegerEpilogue(op->getResult(0), channels, chain, reason);
  if (failed(epilogue))
    return failure();
  return chain;
}
