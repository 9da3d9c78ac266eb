//===- QuantizeInteger.cpp - rewrites ops of an integer form as integer TOSA ------------------===//

#include "conquer-opt/Analysis/PrecisionRules.h"
#include "conquer-opt/Transforms/Quantizer.h"

using namespace mlir;

namespace conquer {

namespace {

/// The largest code of the layer's weights; their codes are symmetric.
int32_t largestWeightCode(Operation *layer) {
  return getPrecision(layer) == Precision::W4A8 ? 7 : 127;
}

/// The bounds of the op's codes, from its fused clamp.
CodeBounds boundsOf(Operation *op, AffineParams output) {
  tosa::ClampOp clamp = getFusedClamp(op);
  if (!clamp)
    return CodeBounds();
  return clampToCodes(cast<FloatAttr>(clamp.getMinVal()).getValueAsDouble(),
                      cast<FloatAttr>(clamp.getMaxVal()).getValueAsDouble(), output);
}

InFlightDiagnostic fail(Operation *op, const Error &error) {
  return mlir::emitError(op->getLoc(), "'") << getId(op) << "': " << error.message();
}

} // namespace

FailureOr<Value> Quantizer::layerToCodes(Operation *op, Value accumulator,
                                         const QuantizedLayer &layer, AffineParams input,
                                         AffineParams output) {
  QuantizeEmitter emitter = emitterAt(op);
  CodeBounds bounds = boundsOf(op, output);
  SmallVector<float> multipliers;
  SmallVector<Rescale> rescales;
  for (auto [scale, bound] : llvm::zip_equal(layer.scales, layer.bound)) {
    double factor = static_cast<double>(input.scale) * scale / output.scale;
    if (inputs.profile.requant == Requant::Float32) {
      multipliers.push_back(toMultiplier(factor));
      continue;
    }
    Result<Rescale> rescale = chooseRescale(factor, bound);
    if (!rescale)
      return fail(op, rescale.error());
    rescales.push_back(*rescale);
  }
  if (inputs.profile.requant == Requant::Float32)
    return emitter.requantize(accumulator, multipliers, bounds, output.zeroPoint);
  return emitter.requantize(accumulator, rescales, bounds, output.zeroPoint);
}

Value Quantizer::layerToReal(Operation *op, Value accumulator, const QuantizedLayer &layer,
                             AffineParams input) {
  QuantizeEmitter emitter = emitterAt(op);
  SmallVector<float> multipliers;
  for (float scale : layer.scales)
    multipliers.push_back(toMultiplier(static_cast<double>(input.scale) * scale));
  Value real = emitter.toReal(accumulator, multipliers);
  if (tosa::ClampOp clamp = getFusedClamp(op))
    real = emitter.clampFloat(real, cast<FloatAttr>(clamp.getMinVal()).getValue().convertToFloat(),
                              cast<FloatAttr>(clamp.getMaxVal()).getValue().convertToFloat());
  ++conversions.direct;
  return real;
}

Value Quantizer::emitConvolution(Operation *op, const Codes &input, const QuantizedLayer &layer) {
  QuantizeEmitter emitter = emitterAt(op);
  auto outputType = cast<RankedTensorType>(op->getResult(0).getType());
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getOperand(1).getType()).getShape();
  bool narrow = getPrecision(op) == Precision::W4A8;
  Value weights =
      narrow ? emitter.constantI4(shape, layer.weights) : emitter.constantI8(shape, layer.weights);
  Value weightZeroPoint = narrow ? emitter.constantI4({1}, {0}) : emitter.zeroPointI8(0);
  Value bias = emitter.constantI32({outputType.getShape().back()}, layer.bias);
  Operation *integer = op->clone();
  builder.insert(integer);
  integer->setOperands(
      {input.value, weights, bias, emitter.zeroPointI8(input.params.zeroPoint), weightZeroPoint});
  integer->setAttr("acc_type", TypeAttr::get(builder.getI32Type()));
  integer->setAttr(layerAttrName, builder.getStringAttr(getId(op)));
  integer->removeAttr(idAttrName);
  integer->getResult(0).setType(outputType.clone(builder.getI32Type()));
  return integer->getResult(0);
}

LogicalResult Quantizer::rewriteLayer(Operation *op) {
  FailureOr<Codes> input = forms.getCodes(op->getOperand(0));
  if (failed(input))
    return failure();
  auto outputType = cast<RankedTensorType>(op->getResult(0).getType());
  size_t channels = static_cast<size_t>(outputType.getShape().back());
  std::vector<float> weights = *readConstant(op->getOperand(1));
  std::vector<float> bias = *readConstant(op->getOperand(2));
  bias.resize(channels, bias.empty() ? 0 : bias[0]); // TOSA lets one bias serve all channels
  size_t inner = isa<tosa::DepthwiseConv2DOp>(op) ? 1 : weights.size() / channels;
  Result<QuantizedLayer> layer =
      quantizeLayer(weights, bias, channels, inner, input->params, largestWeightCode(op));
  if (!layer)
    return fail(op, layer.error());
  Value accumulator = emitConvolution(op, *input, *layer);

  Value output = getOutput(op);
  if (llvm::none_of(output.getUsers(),
                    [](Operation *user) { return getForm(user) == Precision::I8; })) {
    forms.define(output, layerToReal(op, accumulator, *layer, input->params));
    return mlir::success();
  }
  FailureOr<AffineParams> params = forms.getParams(output);
  if (failed(params))
    return failure();
  FailureOr<Value> codes = layerToCodes(op, accumulator, *layer, input->params, *params);
  if (failed(codes))
    return failure();
  forms.define(output, *codes, *params);
  return mlir::success();
}

FailureOr<Value> Quantizer::emitAddInteger(tosa::AddOp op, const Codes &a, const Codes &b,
                                           AffineParams output) {
  Result<AddInteger> add = chooseAddInteger(a.params, b.params, output);
  if (!add)
    return fail(op, add.error());
  QuantizeEmitter emitter = emitterAt(op);
  Type i32 = builder.getI32Type();
  Value left = emitter.rescale(a.value, {add->a}, a.params.zeroPoint, 0, i32);
  Value right = emitter.rescale(b.value, {add->b}, b.params.zeroPoint, 0, i32);
  return emitter.requantize(emitter.add(left, right), ArrayRef<Rescale>(add->output),
                            boundsOf(op, output), output.zeroPoint);
}

Value Quantizer::emitAddFloat32(tosa::AddOp op, const Codes &a, const Codes &b,
                                AffineParams output) {
  QuantizeEmitter emitter = emitterAt(op);
  AddFloat32 add = chooseAddFloat32(a.params, b.params, output);
  SmallVector<int64_t> ones(cast<RankedTensorType>(op.getType()).getRank(), 1);
  auto times = [&](Value codes, int32_t factor) {
    return emitter.mul(emitter.cast(codes, builder.getI32Type()),
                       emitter.constantI32(ones, {factor}));
  };
  Value left = times(a.value, add.multiplierA);
  Value right = times(b.value, add.multiplierB);
  Value sum = emitter.add(left, right);
  Value accumulator = emitter.add(sum, emitter.constantI32(ones, {add.constant}));
  return emitter.requantize(accumulator, ArrayRef<float>(add.multiplier), boundsOf(op, output),
                            output.zeroPoint);
}

LogicalResult Quantizer::rewriteAdd(tosa::AddOp op) {
  Value output = getOutput(op);
  FailureOr<Codes> a = forms.getCodes(op.getInput1()), b = forms.getCodes(op.getInput2());
  FailureOr<AffineParams> params = forms.getParams(output);
  if (failed(a) || failed(b) || failed(params))
    return failure();
  FailureOr<Value> codes = inputs.profile.requant == Requant::Integer
                               ? emitAddInteger(op, *a, *b, *params)
                               : emitAddFloat32(op, *a, *b, *params);
  if (failed(codes))
    return failure();
  forms.define(output, *codes, *params);
  return mlir::success();
}

LogicalResult Quantizer::rewriteConcat(tosa::ConcatOp op) {
  FailureOr<AffineParams> params = forms.getParams(op.getOutput());
  if (failed(params))
    return failure();
  QuantizeEmitter emitter = emitterAt(op);
  SmallVector<Value> operands;
  for (Value operand : op.getInput1()) {
    FailureOr<Codes> input = forms.getCodes(operand);
    if (failed(input))
      return failure();
    if (input->params == *params) {
      operands.push_back(input->value);
      continue;
    }
    Result<Rescale> rescale =
        chooseRescale(static_cast<double>(input->params.scale) / params->scale,
                      largestDistance(input->params.zeroPoint));
    if (!rescale)
      return fail(op, rescale.error());
    operands.push_back(emitter.rescale(input->value, {*rescale}, input->params.zeroPoint,
                                       params->zeroPoint, builder.getI8Type()));
  }
  auto type = cast<RankedTensorType>(op.getType()).clone(builder.getI8Type());
  Value codes = tosa::ConcatOp::create(builder, op.getLoc(), type, operands, op.getAxisAttr());
  forms.define(op.getOutput(), codes, *params);
  return mlir::success();
}

/// Pooling, clamp and ops that only move elements: codes in, codes of the same meaning out.
LogicalResult Quantizer::rewritePassThrough(Operation *op) {
  FailureOr<Codes> input = forms.getCodes(op->getOperand(0));
  if (failed(input))
    return failure();
  QuantizeEmitter emitter = emitterAt(op);
  int32_t zeroPoint = input->params.zeroPoint;
  SmallVector<Value> operands(op->getOperands());
  operands[0] = input->value;
  if (auto pad = dyn_cast<tosa::PadOp>(op))
    operands[2] =
        emitter.zeroPointI8(toCode(readConstant(pad.getPadConst())->at(0), input->params));
  if (isa<tosa::AvgPool2dOp>(op))
    operands[1] = operands[2] = emitter.zeroPointI8(zeroPoint);
  Operation *integer = op->clone();
  builder.insert(integer);
  integer->setOperands(operands);
  integer->getResult(0).setType(
      cast<RankedTensorType>(op->getResult(0).getType()).clone(builder.getI8Type()));
  if (auto pool = dyn_cast<tosa::AvgPool2dOp>(integer))
    pool.setAccType(builder.getI32Type());
  if (auto clamp = dyn_cast<tosa::ClampOp>(integer)) {
    CodeBounds bounds =
        clampToCodes(cast<FloatAttr>(clamp.getMinVal()).getValueAsDouble(),
                     cast<FloatAttr>(clamp.getMaxVal()).getValueAsDouble(), input->params);
    clamp.setMinValAttr(builder.getI8IntegerAttr(static_cast<int8_t>(bounds.min)));
    clamp.setMaxValAttr(builder.getI8IntegerAttr(static_cast<int8_t>(bounds.max)));
  }
  forms.define(op->getResult(0), integer->getResult(0), input->params);
  return mlir::success();
}

LogicalResult Quantizer::rewriteInteger(Operation *op) {
  if (isLayer(op))
    return rewriteLayer(op);
  if (auto add = dyn_cast<tosa::AddOp>(op))
    return rewriteAdd(add);
  if (auto concat = dyn_cast<tosa::ConcatOp>(op))
    return rewriteConcat(concat);
  return isFusedClamp(op) ? mlir::success() : rewritePassThrough(op);
}

} // namespace conquer
