//===- Quantize.cpp - rewrites ops by their precision -----------------------------------------===//

#include "conquer-opt/Analysis/PrecisionRules.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/Quantizer.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_QUANTIZEPASS
#include "conquer-opt/Transforms/Passes.h.inc"

/// An op that stays as it is, with f32 operands.
void Quantizer::keepInF32(Operation *op) {
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (!isConstant(operand.get()))
        operand.set(forms.get(operand.get(), Precision::F32));
  });
  if (isLayer(op))
    op->setAttr(layerAttrName, builder.getStringAttr(getId(op)));
}

/// The same op on bf16 or f16: its f32 constants are rounded, accumulators stay f32.
LogicalResult Quantizer::rewriteHalf(Operation *op, Precision form) {
  QuantizeEmitter emitter = emitterAt(op);
  Type element = emitter.elementOf(form);
  Operation *half = op->clone();
  builder.insert(half);
  for (OpOperand &operand : half->getOpOperands()) {
    Value value = operand.get();
    if (!isConstant(value)) {
      operand.set(forms.get(value, form));
    } else if (std::optional<std::vector<float>> reals = readConstant(value)) {
      FailureOr<Value> rounded =
          emitter.constantHalf(cast<RankedTensorType>(value.getType()).clone(element), *reals);
      if (failed(rounded))
        return mlir::emitError(op->getLoc(), "'")
               << getId(op) << "': a constant is not finite or leaves the range of " << element
               << "; expected values that it can hold; run the layer in f32";
      operand.set(*rounded);
    }
  }
  half->getResult(0).setType(cast<RankedTensorType>(op->getResult(0).getType()).clone(element));
  if (auto clamp = dyn_cast<tosa::ClampOp>(half)) {
    clamp.setMinValAttr(emitter.boundOf(clamp.getMinVal(), element));
    clamp.setMaxValAttr(emitter.boundOf(clamp.getMaxVal(), element));
  }
  if (isLayer(op))
    half->setAttr(layerAttrName, builder.getStringAttr(getId(op)));
  forms.define(op->getResult(0), half->getResult(0));
  return mlir::success();
}

LogicalResult Quantizer::rewrite(Operation *op) {
  Precision form = getForm(op);
  if (form == Precision::F32) {
    keepInF32(op);
    return mlir::success();
  }
  builder.setInsertionPoint(op);
  replaced.push_back(op);
  return form == Precision::I8 ? rewriteInteger(op) : rewriteHalf(op, form);
}

LogicalResult Quantizer::run() {
  if (!function.getBody().hasOneBlock())
    return mlir::emitError(function.getLoc(), "expected a function of one block");
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
    if (failed(rewrite(&op)))
      return failure();
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  // The f32 constants of rewritten ops have lost their readers.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isa<tosa::ConstOp, tosa::ConstShapeOp>(op) && op.use_empty())
      op.erase();
  return mlir::success();
}

namespace {

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
    auto count = [&](StringRef name, int64_t value) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
    };
    module->setAttr(conversionsAttrName,
                    builder.getDictionaryAttr({count("quantize", conversions.quantize),
                                               count("dequantize", conversions.dequantize),
                                               count("direct", conversions.direct),
                                               count("round", conversions.round),
                                               count("widen", conversions.widen)}));
  }

  SharedQuantizeInputs inputs;
};

} // namespace

std::unique_ptr<Pass> createQuantizePass(SharedQuantizeInputs inputs) {
  return std::make_unique<QuantizePass>(std::move(inputs));
}

} // namespace conquer
