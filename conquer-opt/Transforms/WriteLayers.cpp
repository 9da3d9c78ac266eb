//===- WriteLayers.cpp - writes layers.json ---------------------------------------------------===//

#include "conquer-opt/Analysis/CollectLayers.h"
#include "conquer-opt/Transforms/Checks.h"
#include "conquer-opt/Transforms/Passes.h"
#include "support/Json.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_WRITELAYERSPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

struct WriteLayersPass : impl::WriteLayersPassBase<WriteLayersPass> {
  using WriteLayersPassBase::WriteLayersPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (layers.empty())
      return;
    if (Status status = write(); !status) {
      emitError(getOperation().getLoc(), status.error().message());
      signalPassFailure();
    }
  }

  Status write() {
    auto target = loadProfile(profile, profileDir.empty() ? defaultProfileFolder() : profileDir);
    if (!target)
      return target.error();
    auto list = collectLayers(getNetwork(getOperation()), *target);
    if (!list)
      return list.error();
    return writeFileAtomically(layers, layersToJson(*list));
  }
};

} // namespace
} // namespace conquer
