//===- VerifyQuantized.cpp - checks the contract of the quantize stage ------------------------===//

#include "conquer-opt/Analysis/PrecisionRules.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/QuantizeInputs.h"

#include "mlir/Dialect/Tosa/IR/TargetEnv.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_VERIFYQUANTIZEDPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

/// The names seen so far in one role, each with its first op.
using Names = llvm::StringMap<Operation *>;

LogicalResult checkUnique(Operation *op, StringRef attribute, StringRef name, Names &seen) {
  auto [entry, isNew] = seen.try_emplace(name, op);
  if (isNew)
    return mlir::success();
  InFlightDiagnostic error = mlir::emitError(op->getLoc(), attribute)
                             << " '" << name << "' occurs twice";
  error.attachNote(entry->second->getLoc()) << "the first is here";
  return error;
}

/// One layer: its id, its precision, and types that agree with it.
LogicalResult checkLayer(Operation *op, const Profile &profile, Names &layers) {
  auto name = op->getAttrOfType<StringAttr>(layerAttrName);
  if (!name)
    return mlir::emitError(op->getLoc(), "layer without ")
           << layerAttrName << ", expected quantised IR";
  if (failed(checkUnique(op, layerAttrName, name.getValue(), layers)))
    return failure();
  std::optional<Precision> precision = getPrecision(op);
  if (!precision)
    return mlir::emitError(op->getLoc(), "layer '")
           << name.getValue() << "' has no known " << precisionAttrName;
  if (!profile.allows(getLayerKind(op).str(), *precision))
    return mlir::emitError(op->getLoc(), "layer '")
           << name.getValue() << "': " << getLayerKind(op) << " cannot run in "
           << StringRef(precisionName(*precision)) << " on profile '" << profile.name << "'";
  Type result = getElementTypeOrSelf(op->getResult(0));
  bool accumulates = activationForm(*precision) == Precision::I8;
  if (getTypedPrecision(op) != precision ||
      (accumulates ? !result.isInteger(32) : result != getElementTypeOrSelf(op->getOperand(0))))
    return mlir::emitError(op->getLoc(), "layer '")
           << name.getValue() << "' is " << op->getName()
           << " on types that are not those of precision " << StringRef(precisionName(*precision));
  return mlir::success();
}

/// Any other op that stands for a value of the network.
LogicalResult checkValue(Operation *op, Names &ids) {
  if (StringRef id = getId(op); !id.empty() && failed(checkUnique(op, idAttrName, id, ids)))
    return failure();
  bool named = !getId(op).empty() && op->getNumResults() == 1;
  if (named && getElementTypeOrSelf(op->getResult(0)).isInteger(8) &&
      (!op->getAttrOfType<FloatAttr>(scaleAttrName) ||
       !op->getAttrOfType<IntegerAttr>(zeroPointAttrName)))
    return mlir::emitError(op->getLoc(), "'")
           << getId(op) << "' is i8 without " << scaleAttrName << " and " << zeroPointAttrName;
  return mlir::success();
}

LogicalResult checkSignature(func::FuncOp function) {
  for (ArrayRef<Type> types :
       {function.getFunctionType().getInputs(), function.getFunctionType().getResults()})
    for (Type type : types)
      if (Type element = getElementTypeOrSelf(type);
          element.isInteger(8) || element.isBF16() || element.isF16())
        return mlir::emitError(function.getLoc(), "function takes or gives ")
               << type << ", expected f32";
  return mlir::success();
}

struct VerifyQuantizedPass : impl::VerifyQuantizedPassBase<VerifyQuantizedPass> {
  using VerifyQuantizedPassBase::VerifyQuantizedPassBase;
  explicit VerifyQuantizedPass(SharedQuantizeInputs inputs) : inputs(std::move(inputs)) {}

  LogicalResult loadInputs() {
    auto loaded = std::make_shared<QuantizeInputs>();
    Result<Profile> target = loadPassProfile(profile, profileDir);
    if (!target)
      return mlir::emitError(getOperation().getLoc(), target.error().message());
    loaded->profile = *target;
    inputs = loaded;
    return mlir::success();
  }

  void attachTarget(bool hasPad) {
    auto level = hasPad ? tosa::Level::none : tosa::Level::eightK;
    auto target = tosa::TargetEnvAttr::get(&getContext(), tosa::SpecificationVersion::V_1_0, level,
                                           {tosa::Profile::pro_int, tosa::Profile::pro_fp},
                                           {tosa::Extension::int4, tosa::Extension::bf16});
    getOperation()->setAttr(tosa::TargetEnvAttr::name, target);
  }

  void runOnOperation() override {
    if (!inputs && failed(loadInputs()))
      return signalPassFailure();
    Names layers, ids;
    bool hasPad = false;
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      hasPad |= isa<tosa::PadOp>(op);
      if (auto function = dyn_cast<func::FuncOp>(op))
        return checkSignature(function);
      if (isLayer(op) && failed(checkLayer(op, inputs->profile, layers)))
        return WalkResult::interrupt();
      return checkValue(op, ids);
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    attachTarget(hasPad);
  }

  SharedQuantizeInputs inputs;
};

} // namespace

std::unique_ptr<Pass> createVerifyQuantizedPass(SharedQuantizeInputs inputs) {
  return std::make_unique<VerifyQuantizedPass>(std::move(inputs));
}

} // namespace conquer
