//===- Quantize.cpp - rewrites ops of precision i8 as integer TOSA ----------------------------===//
//
// One walk in execution order. Every value of the f32 network may exist as f32, as i8, or both; the
// second form is made behind the first when somebody asks for it, so at most once.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/PrecisionRules.h"
#include "conquer-opt/Transforms/QuantizeEmitter.h"
#include "conquer-opt/Transforms/QuantizeInputs.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_QUANTIZEPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

/// How many conversions a module makes.
struct Conversions {
  int64_t quantize = 0;   ///< f32 -> i8
  int64_t dequantize = 0; ///< i8 -> f32
  int64_t direct = 0;     ///< layers whose accumulators became f32
};

/// The forms in which a value of the f32 network exists by now.
struct Forms {
  Value real;          ///< f32, or null
  Value codes;         ///< i8, or null
  AffineParams params; ///< of codes
};

/// Rewrites one function.
class Quantizer {
public:
  Quantizer(func::FuncOp function, const QuantizeInputs &inputs, Conversions &conversions)
      : function(function), inputs(inputs), conversions(conversions), builder(function) {}

  LogicalResult run();

private:
  LogicalResult rewrite(Operation *op);
  LogicalResult rewriteLayer(Operation *op);
  LogicalResult rewriteAdd(tosa::AddOp op);
  LogicalResult rewriteConcat(tosa::ConcatOp op);
  LogicalResult rewritePassThrough(Operation *op);
  void keepInF32(Operation *op);

  FailureOr<Value> layerToCodes(Operation *op, Value accumulator, const QuantizedLayer &layer,
                                AffineParams input, AffineParams output);
  Value layerToReal(Operation *op, Value accumulator, const QuantizedLayer &layer,
                    AffineParams input);

  FailureOr<AffineParams> paramsOf(Value value);
  FailureOr<Forms> asCodes(Value value);
  Value asReal(Value value);
  CodeBounds boundsOf(Operation *op, AffineParams output);
  void standsFor(Value original, Value replacement, AffineParams params);
  InFlightDiagnostic fail(Operation *op, const Error &error);

  func::FuncOp function;
  const QuantizeInputs &inputs;
  Conversions &conversions;
  OpBuilder builder;
  ConstantPool constants;
  DenseMap<Value, Forms> forms;
  SmallVector<Operation *> replaced;
};

/// The conquer.id of a value: its op's, or its function argument's.
StringRef idOf(Value value) {
  if (Operation *op = value.getDefiningOp())
    return getId(op);
  auto argument = cast<BlockArgument>(value);
  auto owner = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto id = owner ? owner.getArgAttrOfType<StringAttr>(argument.getArgNumber(), idAttrName)
                  : StringAttr();
  return id ? id.getValue() : StringRef();
}

InFlightDiagnostic Quantizer::fail(Operation *op, const Error &error) {
  return mlir::emitError(op->getLoc(), "'") << getId(op) << "': " << error.message();
}

FailureOr<AffineParams> Quantizer::paramsOf(Value value) {
  StringRef id = idOf(value);
  if (id.empty())
    return mlir::emitError(value.getLoc(), "activation without a conquer.id, expected prepared IR");
  auto range = inputs.calibration.ranges.find(id.str());
  if (range == inputs.calibration.ranges.end())
    return mlir::emitError(value.getLoc())
           << inputs.calibrationName << ": ranges: no range for '" << id
           << "'; expected one for every activation; calibrate this network";
  if (Status status = checkRange(id.str(), range->second, inputs.calibrationName); !status)
    return mlir::emitError(value.getLoc()) << status.error().message();
  return affineFromRange(range->second.min, range->second.max);
}

FailureOr<Forms> Quantizer::asCodes(Value value) {
  Forms &known = forms[value];
  if (!known.codes) {
    FailureOr<AffineParams> params = paramsOf(value);
    if (failed(params))
      return failure();
    Value real = known.real ? known.real : value;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(real);
    Value codes = QuantizeEmitter(builder, value.getLoc(), constants).quantize(real, *params);
    ++conversions.quantize;
    known = {real, codes, *params};
    Operation *last = codes.getDefiningOp();
    last->setAttr(scaleAttrName, builder.getF32FloatAttr(params->scale));
    last->setAttr(zeroPointAttrName, builder.getI32IntegerAttr(params->zeroPoint));
  }
  return known;
}

Value Quantizer::asReal(Value value) {
  auto found = forms.find(value);
  if (found == forms.end())
    return value;
  Forms &known = found->second;
  if (!known.real) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(known.codes);
    known.real =
        QuantizeEmitter(builder, value.getLoc(), constants).dequantize(known.codes, known.params);
    ++conversions.dequantize;
  }
  return known.real;
}

void Quantizer::standsFor(Value original, Value replacement, AffineParams params) {
  Operation *last = replacement.getDefiningOp();
  for (StringRef name : {StringRef(idAttrName), StringRef(precisionAttrName)})
    if (Attribute value = original.getDefiningOp()->getAttr(name))
      last->setAttr(name, value);
  if (getElementTypeOrSelf(replacement).isF32()) {
    forms[original] = {replacement, Value(), AffineParams()};
    return;
  }
  forms[original] = {Value(), replacement, params};
  last->setAttr(scaleAttrName, builder.getF32FloatAttr(params.scale));
  last->setAttr(zeroPointAttrName, builder.getI32IntegerAttr(params.zeroPoint));
}

CodeBounds Quantizer::boundsOf(Operation *op, AffineParams output) {
  tosa::ClampOp clamp = getFusedClamp(op);
  if (!clamp)
    return CodeBounds();
  return clampToCodes(cast<FloatAttr>(clamp.getMinVal()).getValueAsDouble(),
                      cast<FloatAttr>(clamp.getMaxVal()).getValueAsDouble(), output);
}

FailureOr<Value> Quantizer::layerToCodes(Operation *op, Value accumulator,
                                         const QuantizedLayer &layer, AffineParams input,
                                         AffineParams output) {
  QuantizeEmitter emitter(builder, op->getLoc(), constants);
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
  QuantizeEmitter emitter(builder, op->getLoc(), constants);
  SmallVector<float> multipliers;
  for (float scale : layer.scales)
    multipliers.push_back(toMultiplier(static_cast<double>(input.scale) * scale));
  Value real = emitter.toReal(accumulator, multipliers);
  if (tosa::ClampOp clamp = getFusedClamp(op))
    real = emitter.clampF32(real, cast<FloatAttr>(clamp.getMinVal()).getValue().convertToFloat(),
                            cast<FloatAttr>(clamp.getMaxVal()).getValue().convertToFloat());
  ++conversions.direct;
  return real;
}

LogicalResult Quantizer::rewriteLayer(Operation *op) {
  FailureOr<Forms> input = asCodes(op->getOperand(0));
  if (failed(input))
    return failure();
  auto outputType = cast<RankedTensorType>(op->getResult(0).getType());
  size_t channels = static_cast<size_t>(outputType.getShape().back());
  std::vector<float> weights = *readConstant(op->getOperand(1));
  std::vector<float> bias = *readConstant(op->getOperand(2));
  bias.resize(channels, bias.empty() ? 0 : bias[0]); // TOSA lets one bias serve all channels
  size_t inner = isa<tosa::DepthwiseConv2DOp>(op) ? 1 : weights.size() / channels;
  Result<QuantizedLayer> layer = quantizeLayer(weights, bias, channels, inner, input->params);
  if (!layer)
    return fail(op, layer.error());

  QuantizeEmitter emitter(builder, op->getLoc(), constants);
  Operation *integer = op->clone();
  builder.insert(integer);
  auto weightType = cast<RankedTensorType>(op->getOperand(1).getType());
  builder.setInsertionPoint(integer);
  integer->setOperands({input->codes, emitter.constantI8(weightType.getShape(), layer->weights),
                        emitter.constantI32({static_cast<int64_t>(channels)}, layer->bias),
                        emitter.zeroPointI8(input->params.zeroPoint), emitter.zeroPointI8(0)});
  builder.setInsertionPointAfter(integer);
  integer->setAttr("acc_type", TypeAttr::get(builder.getI32Type()));
  integer->setAttr(layerAttrName, builder.getStringAttr(getId(op)));
  integer->removeAttr(idAttrName);
  integer->getResult(0).setType(outputType.clone(builder.getI32Type()));

  Value output = getOutput(op);
  if (llvm::none_of(output.getUsers(), isInteger)) {
    Value real = layerToReal(op, integer->getResult(0), *layer, input->params);
    standsFor(output, real, AffineParams());
    return mlir::success();
  }
  FailureOr<AffineParams> params = paramsOf(output);
  if (failed(params))
    return failure();
  FailureOr<Value> codes = layerToCodes(op, integer->getResult(0), *layer, input->params, *params);
  if (failed(codes))
    return failure();
  standsFor(output, *codes, *params);
  return mlir::success();
}

LogicalResult Quantizer::rewriteAdd(tosa::AddOp op) {
  Value output = getOutput(op);
  FailureOr<Forms> a = asCodes(op.getInput1()), b = asCodes(op.getInput2());
  FailureOr<AffineParams> params = paramsOf(output);
  if (failed(a) || failed(b) || failed(params))
    return failure();
  QuantizeEmitter emitter(builder, op.getLoc(), constants);
  CodeBounds bounds = boundsOf(op, *params);
  Type i32 = builder.getI32Type();

  if (inputs.profile.requant == Requant::Integer) {
    Result<AddInteger> add = chooseAddInteger(a->params, b->params, *params);
    if (!add)
      return fail(op, add.error());
    Value left = emitter.rescale(a->codes, {add->a}, a->params.zeroPoint, 0, i32);
    Value right = emitter.rescale(b->codes, {add->b}, b->params.zeroPoint, 0, i32);
    Value codes = emitter.requantize(emitter.add(left, right), ArrayRef<Rescale>(add->output),
                                     bounds, params->zeroPoint);
    standsFor(output, codes, *params);
    return mlir::success();
  }

  AddFloat32 add = chooseAddFloat32(a->params, b->params, *params);
  SmallVector<int64_t> ones(cast<RankedTensorType>(output.getType()).getRank(), 1);
  auto times = [&](Value codes, int32_t factor) {
    return emitter.mul(emitter.cast(codes, i32), emitter.constantI32(ones, {factor}));
  };
  Value sum = emitter.add(times(a->codes, add.multiplierA), times(b->codes, add.multiplierB));
  Value accumulator = emitter.add(sum, emitter.constantI32(ones, {add.constant}));
  Value codes =
      emitter.requantize(accumulator, ArrayRef<float>(add.multiplier), bounds, params->zeroPoint);
  standsFor(output, codes, *params);
  return mlir::success();
}

LogicalResult Quantizer::rewriteConcat(tosa::ConcatOp op) {
  FailureOr<AffineParams> params = paramsOf(op.getOutput());
  if (failed(params))
    return failure();
  QuantizeEmitter emitter(builder, op.getLoc(), constants);
  SmallVector<Value> operands;
  for (Value operand : op.getInput1()) {
    FailureOr<Forms> input = asCodes(operand);
    if (failed(input))
      return failure();
    if (input->params == *params) {
      operands.push_back(input->codes);
      continue;
    }
    Result<Rescale> rescale =
        chooseRescale(static_cast<double>(input->params.scale) / params->scale,
                      largestDistance(input->params.zeroPoint));
    if (!rescale)
      return fail(op, rescale.error());
    operands.push_back(emitter.rescale(input->codes, {*rescale}, input->params.zeroPoint,
                                       params->zeroPoint, builder.getI8Type()));
  }
  auto type = cast<RankedTensorType>(op.getType()).clone(builder.getI8Type());
  Value codes = tosa::ConcatOp::create(builder, op.getLoc(), type, operands, op.getAxisAttr());
  standsFor(op.getOutput(), codes, *params);
  return mlir::success();
}

/// Pooling, clamp and ops that only move elements: codes in, codes of the same meaning out.
LogicalResult Quantizer::rewritePassThrough(Operation *op) {
  FailureOr<Forms> input = asCodes(op->getOperand(0));
  if (failed(input))
    return failure();
  QuantizeEmitter emitter(builder, op->getLoc(), constants);
  int32_t zeroPoint = input->params.zeroPoint;
  SmallVector<Value> operands(op->getOperands());
  operands[0] = input->codes;
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
  standsFor(op->getResult(0), integer->getResult(0), input->params);
  return mlir::success();
}

/// An op that stays as it is, with f32 operands.
void Quantizer::keepInF32(Operation *op) {
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      operand.set(asReal(operand.get()));
  });
  if (isLayer(op))
    op->setAttr(layerAttrName, builder.getStringAttr(getId(op)));
}

LogicalResult Quantizer::rewrite(Operation *op) {
  builder.setInsertionPoint(op);
  replaced.push_back(op);
  if (isLayer(op))
    return rewriteLayer(op);
  if (auto add = dyn_cast<tosa::AddOp>(op))
    return rewriteAdd(add);
  if (auto concat = dyn_cast<tosa::ConcatOp>(op))
    return rewriteConcat(concat);
  return isFusedClamp(op) ? mlir::success() : rewritePassThrough(op);
}

LogicalResult Quantizer::run() {
  if (!function.getBody().hasOneBlock())
    return mlir::emitError(function.getLoc(), "expected a function of one block");
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isInteger(&op))
      keepInF32(&op);
    else if (failed(rewrite(&op)))
      return failure();
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  // The f32 constants of i8 layers have lost their readers.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isa<tosa::ConstOp, tosa::ConstShapeOp>(op) && op.use_empty())
      op.erase();
  return mlir::success();
}

struct QuantizePass : impl::QuantizePassBase<QuantizePass> {
  using QuantizePassBase::QuantizePassBase;
  explicit QuantizePass(SharedQuantizeInputs inputs) : inputs(std::move(inputs)) {}

  LogicalResult loadInputs() {
    auto loaded = std::make_shared<QuantizeInputs>();
    Result<Profile> target = loadPassProfile(profile, profileDir);
    if (!target)
      return mlir::emitError(getOperation().getLoc(), target.error().message());
    Result<Calibration> read = readCalibration(calibration);
    if (!read)
      return mlir::emitError(getOperation().getLoc(), read.error().message());
    loaded->profile = *target;
    loaded->calibration = *read;
    loaded->calibrationName = calibration;
    inputs = loaded;
    return mlir::success();
  }

  void runOnOperation() override {
    if (!inputs && failed(loadInputs()))
      return signalPassFailure();
    ModuleOp module = getOperation();
    Conversions conversions;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(Quantizer(function, *inputs, conversions).run()))
        return signalPassFailure();
    Builder builder(module.getContext());
    module->setAttr(
        conversionsAttrName,
        builder.getDictionaryAttr(
            {builder.getNamedAttr("quantize", builder.getI64IntegerAttr(conversions.quantize)),
             builder.getNamedAttr("dequantize", builder.getI64IntegerAttr(conversions.dequantize)),
             builder.getNamedAttr("direct", builder.getI64IntegerAttr(conversions.direct))}));
  }

  SharedQuantizeInputs inputs;
};

} // namespace

std::unique_ptr<Pass> createQuantizePass(SharedQuantizeInputs inputs) {
  return std::make_unique<QuantizePass>(std::move(inputs));
}

} // namespace conquer
