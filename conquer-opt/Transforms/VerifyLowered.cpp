//===- VerifyLowered.cpp - the contract of the lower stage ------------------------------------===//

#include "conquer-opt/Transforms/IreeDialects.h"
#include "conquer-opt/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinDialect.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_VERIFYLOWERED
#include "conquer-opt/Transforms/Passes.h.inc"
} // namespace conquer

namespace {

bool isAccepted(Dialect *dialect) {
  return isa_and_nonnull<BuiltinDialect, func::FuncDialect, tosa::TosaDialect, arith::ArithDialect,
                         conquer::FlowDialect, conquer::HalDialect, conquer::StreamDialect,
                         conquer::UtilDialect>(dialect);
}

struct VerifyLowered : conquer::impl::VerifyLoweredBase<VerifyLowered> {
  using VerifyLoweredBase::VerifyLoweredBase;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      if (!isAccepted(op->getDialect()))
        return op->emitError("IREE does not know '")
               << op->getName() << "', expected only func, tosa, arith and kernel dispatches";
      for (Type type : op->getResultTypes()) {
        Type element = getElementTypeOrSelf(type);
        if (element.isSignlessInteger(4) || element.isSignlessInteger(48))
          return op->emitError("value of type ")
                 << type
                 << ", expected no i4 and no i48: IREE computes them wrongly on some targets";
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
