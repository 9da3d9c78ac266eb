//===- VerifyFused.cpp - the contract of the fuse stage ---------------------------------------===//

#include "conquer-opt/Transforms/ConvChain.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/Support.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_VERIFYFUSED
#include "conquer-opt/Transforms/Passes.h.inc"
} // namespace conquer

namespace {

struct VerifyFused : conquer::impl::VerifyFusedBase<VerifyFused> {
  using VerifyFusedBase::VerifyFusedBase;

  void runOnOperation() override {
    FailureOr<conquer::Profile> target =
        conquer::requireProfile(getOperation(), profile, profileDir);
    if (failed(target))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](Operation *op) { return check(op, *target); });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  static WalkResult check(Operation *op, const conquer::Profile &target) {
    std::string kind = conquer::getLayerKind(op).str();
    if (isa<conquer::ConquerDialect>(op->getDialect())) {
      conquer::Precision precision = *conquer::getTypedPrecision(op);
      if (!target.usesKernel(kind, precision))
        return op->emitError("profile '")
               << target.name << "' has no " << conquer::precisionName(precision) << " kernel for '"
               << kind
               << "', expected one for every fused op; fuse and lower with the same profile";
    }
    std::optional<conquer::Precision> precision = conquer::fusiblePrecision(op);
    if (precision && target.usesKernel(kind, *precision)) {
      std::string reason = "fusion has not run";
      (void)conquer::matchConvChain(op, reason);
      auto layer = op->getAttrOfType<StringAttr>(conquer::layerAttrName);
      op->emitRemark() << conquer::precisionName(*precision) << " layer '"
                       << (layer ? layer.getValue() : conquer::getId(op))
                       << "' stays without a kernel: " << reason;
    }
    return WalkResult::advance();
  }
};

} // namespace
