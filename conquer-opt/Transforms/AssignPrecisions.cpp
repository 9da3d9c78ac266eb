//===- AssignPrecisions.cpp - gives every op of prepared IR its precision ---------------------===//
//
// Layers get theirs from the policy, all other ops by the rule of docs/precision-of-other-ops.md,
// in execution order.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Analysis/PrecisionRules.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/QuantizeInputs.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_ASSIGNPRECISIONSPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

void setPrecision(Operation *op, Precision precision) {
  std::string_view name = precisionName(precision);
  op->setAttr(precisionAttrName, StringAttr::get(op->getContext(), StringRef(name)));
}

/// Checks the policy against the module's layers; errors are located at the layer.
LogicalResult checkLayers(ModuleOp module, ArrayRef<Operation *> layers,
                          const QuantizeInputs &inputs) {
  std::vector<PolicyLayer> known;
  for (Operation *layer : layers) {
    if (getId(layer).empty())
      return mlir::emitError(layer->getLoc(), "layer without a conquer.id, expected prepared IR");
    known.push_back(
        {getId(layer).str(), getLayerKind(layer).str(), legalPrecisions(layer, inputs.profile)});
  }
  if (Status status = checkKnownLayers(inputs.policy, known, inputs.policyName); !status)
    return mlir::emitError(module.getLoc(), status.error().message());
  for (auto [layer, entry] : llvm::zip_equal(layers, known)) {
    Status status = checkLayer(inputs.policy, entry, inputs.profile.name, inputs.policyName);
    if (!status)
      return mlir::emitError(layer->getLoc(), status.error().message());
  }
  return mlir::success();
}

/// Whether the op only moves elements, and only on their way to the function's results.
bool isOnlyReturned(Operation *op) {
  return isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<func::ReturnOp>(user) || isOnlyReturned(user);
         });
}

/// The form in which all operands that are not constant arrive; f32 where they differ.
Precision commonForm(Operation *op) {
  std::optional<Precision> common;
  for (Value operand : op->getOperands()) {
    if (isConstant(operand))
      continue;
    Operation *producer = operand.getDefiningOp();
    Precision form = producer ? getForm(producer) : Precision::F32;
    if (common && form != *common)
      return Precision::F32;
    common = form;
  }
  return common.value_or(Precision::F32);
}

/// The rule for ops without a policy.
Precision precisionOfOther(Operation *op) {
  Precision form = commonForm(op);
  bool written = form == Precision::I8 ? hasIntegerForm(op) : hasHalfForm(op);
  if (!written || isOnlyReturned(op))
    return Precision::F32;
  for (Operation *user : getOutput(op).getUsers())
    if (isLayer(user) && getForm(user) != form)
      return Precision::F32;
  return form;
}

struct AssignPrecisionsPass : impl::AssignPrecisionsPassBase<AssignPrecisionsPass> {
  using AssignPrecisionsPassBase::AssignPrecisionsPassBase;
  explicit AssignPrecisionsPass(SharedQuantizeInputs inputs) : inputs(std::move(inputs)) {}

  LogicalResult loadInputs() {
    auto loaded = std::make_shared<QuantizeInputs>();
    Result<Profile> target = loadPassProfile(profile, profileDir);
    if (!target)
      return mlir::emitError(getOperation().getLoc(), target.error().message());
    Result<Policy> read = readPolicy(policy);
    if (!read)
      return mlir::emitError(getOperation().getLoc(), read.error().message());
    loaded->profile = *target;
    loaded->policy = *read;
    loaded->policyName = policy;
    inputs = loaded;
    return mlir::success();
  }

  void runOnOperation() override {
    if (!inputs && failed(loadInputs()))
      return signalPassFailure();
    SmallVector<Operation *> layers, others;
    getOperation().walk([&](Operation *op) {
      if (isLayer(op))
        layers.push_back(op);
      else if (isActivationOp(op))
        others.push_back(op);
    });
    if (failed(checkLayers(getOperation(), layers, *inputs)))
      return signalPassFailure();
    for (Operation *layer : layers)
      setPrecision(layer, inputs->policy.layers.at(getId(layer).str()));
    for (Operation *op : others)
      setPrecision(op, isFusedClamp(op) ? *getPrecision(op->getOperand(0).getDefiningOp())
                                        : precisionOfOther(op));
  }

  SharedQuantizeInputs inputs;
};

} // namespace

std::unique_ptr<Pass> createAssignPrecisionsPass(SharedQuantizeInputs inputs) {
  return std::make_unique<AssignPrecisionsPass>(std::move(inputs));
}

Result<Profile> loadPassProfile(const std::string &name, const std::string &folder) {
  return loadProfile(name, folder.empty() ? defaultProfileFolder() : folder);
}

} // namespace conquer
