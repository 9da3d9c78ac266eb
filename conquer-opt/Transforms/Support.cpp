//===- Support.cpp - what several passes share ------------------------------------------------===//

#include "conquer-opt/Transforms/Support.h"

#include "mlir/IR/Diagnostics.h"

mlir::FailureOr<conquer::Profile>
conquer::requireProfile(mlir::Operation *op, const std::string &name, const std::string &folder) {
  Result<Profile> profile = loadProfile(name, folder.empty() ? defaultProfileFolder() : folder);
  if (!profile)
    return op->emitError(profile.error().message());
  return std::move(*profile);
}

mlir::LogicalResult conquer::rewriteGreedily(mlir::Operation *op,
                                             const mlir::FrozenRewritePatternSet &patterns,
                                             const mlir::GreedyRewriteConfig &config) {
  if (failed(mlir::applyPatternsGreedily(op, patterns, config)))
    return op->emitError("the rewrites of this pass did not come to an end");
  return mlir::success();
}
