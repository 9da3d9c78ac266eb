//===- Conquer.cpp - dialect registration and verifiers ---------------------------------------===//

#include "conquer-opt/IR/Conquer.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

#include "conquer-opt/IR/ConquerDialect.cpp.inc"
#define GET_OP_CLASSES
#include "conquer-opt/IR/ConquerOps.cpp.inc"

void conquer::ConquerDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "conquer-opt/IR/ConquerOps.cpp.inc"
      >();
}

namespace {

/// Output size of one axis of a convolution, rounded down (TOSA 1.0 asks for an exact division; the
/// kernels do not).
int64_t outputSize(int64_t input, int64_t kernel, int64_t begin, int64_t end, int64_t stride,
                   int64_t dilation) {
  return (input + begin + end - (kernel - 1) * dilation - 1) / stride + 1;
}

/// Attribute lengths and ranges, the part of the verifier that does not look at shapes.
template <typename ConvOp> LogicalResult verifyAttributes(ConvOp op) {
  if (op.getPad().size() != 4 || op.getStride().size() != 2 || op.getDilation().size() != 2)
    return op.emitOpError("expected 4 pads, 2 strides and 2 dilations");
  for (int64_t value : op.getPad())
    if (value < 0)
      return op.emitOpError("pad is ") << value << ", expected at least 0";
  for (ArrayRef<int64_t> values : {op.getStride(), op.getDilation()})
    for (int64_t value : values)
      if (value < 1)
        return op.emitOpError("stride or dilation is ") << value << ", expected at least 1";
  for (int64_t code : {op.getInputZp(), op.getOutputZp(), op.getClampMin(), op.getClampMax()})
    if (static_cast<int32_t>(code) < -128 || static_cast<int32_t>(code) > 127)
      return op.emitOpError("zero point or clamp is ")
             << static_cast<int32_t>(code) << ", expected -128 to 127";
  return success();
}

/// Element types: those of one row of the table in ConquerOps.td.
template <typename ConvOp> LogicalResult verifyTypes(ConvOp op) {
  auto element = [](Value value) { return getElementTypeOrSelf(value.getType()); };
  std::optional<conquer::Precision> precision = conquer::getTypedPrecision(op);
  bool isFloat = precision == conquer::Precision::BF16;
  bool isInteger = precision == conquer::Precision::I8 || precision == conquer::Precision::W4A8;
  Type bias = element(op.getBias()), output = element(op.getOutput());
  if (isInteger && bias.isInteger(32) && op.getMultiplier() && !output.isBF16())
    return success();
  if (isFloat && bias.isF32() && !op.getMultiplier() && output.isBF16() && op.getInputZp() == 0)
    return success();
  return op.emitOpError(
      "expected i8 input, i8 or i4 weights, i32 bias, multipliers and an i8 or f32 "
      "result, or bf16 input, weights and result, f32 bias and no multipliers");
}

/// Shapes of operands and result, given the kernel's height and width and the number of output
/// channels.
template <typename ConvOp>
LogicalResult verifyShapes(ConvOp op, int64_t kernelH, int64_t kernelW, int64_t channels) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto output = cast<RankedTensorType>(op.getOutput().getType());
  for (Value perChannel : {Value(op.getBias()), Value(op.getMultiplier())})
    if (perChannel && cast<RankedTensorType>(perChannel.getType()).getDimSize(0) != channels)
      return op.emitOpError("expected one bias and one multiplier for each of ")
             << channels << " output channels";
  SmallVector<int64_t> expected = {
      input.getDimSize(0),
      outputSize(input.getDimSize(1), kernelH, op.getPad()[0], op.getPad()[1], op.getStride()[0],
                 op.getDilation()[0]),
      outputSize(input.getDimSize(2), kernelW, op.getPad()[2], op.getPad()[3], op.getStride()[1],
                 op.getDilation()[1]),
      channels};
  if (ArrayRef<int64_t>(expected) != output.getShape())
    return op.emitOpError("result shape does not follow from the operands, expected ")
           << RankedTensorType::get(expected, output.getElementType());
  return success();
}

} // namespace

LogicalResult conquer::Conv2DOp::verify() {
  ArrayRef<int64_t> weights = getWeights().getType().getShape();
  if (failed(verifyAttributes(*this)) || failed(verifyTypes(*this)))
    return failure();
  if (weights[3] != getInput().getType().getDimSize(3))
    return emitOpError("input has ")
           << getInput().getType().getDimSize(3) << " channels, the weights expect " << weights[3];
  return verifyShapes(*this, weights[1], weights[2], weights[0]);
}

LogicalResult conquer::DepthwiseConv2DOp::verify() {
  ArrayRef<int64_t> weights = getWeights().getType().getShape();
  if (failed(verifyAttributes(*this)) || failed(verifyTypes(*this)))
    return failure();
  if (weights[2] != getInput().getType().getDimSize(3) || weights[3] != 1)
    return emitOpError("weights are ")
           << getWeights().getType()
           << ", expected [KH, KW, C, 1] with C = " << getInput().getType().getDimSize(3);
  return verifyShapes(*this, weights[0], weights[1], weights[2]);
}

llvm::StringRef conquer::getId(Operation *op) {
  auto id = op->getAttrOfType<StringAttr>(idAttrName);
  return id ? id.getValue() : StringRef();
}

llvm::StringRef conquer::getLayerKind(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Cases({"tosa.conv2d", "conquer.conv2d"}, "conv2d")
      .Cases({"tosa.depthwise_conv2d", "conquer.depthwise_conv2d"}, "depthwise_conv2d")
      .Case("tosa.transpose_conv2d", "transpose_conv2d")
      .Case("tosa.matmul", "matmul")
      .Default("");
}

std::optional<conquer::Precision> conquer::getTypedPrecision(Operation *layer) {
  Type input = getElementTypeOrSelf(layer->getOperand(0));
  Type weights = getElementTypeOrSelf(layer->getOperand(1));
  if (input.isSignlessInteger(8) && weights.isSignlessInteger(4))
    return Precision::W4A8;
  if (input.isSignlessInteger(16) && weights.isSignlessInteger(8))
    return Precision::W8A16;
  if (input != weights)
    return std::nullopt;
  if (input.isSignlessInteger(8))
    return Precision::I8;
  if (input.isF32())
    return Precision::F32;
  if (input.isBF16())
    return Precision::BF16;
  return input.isF16() ? std::optional(Precision::F16) : std::nullopt;
}
