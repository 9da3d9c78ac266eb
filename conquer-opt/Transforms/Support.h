//===- Support.h - what several passes share --------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_SUPPORT_H
#define CONQUER_OPT_TRANSFORMS_SUPPORT_H

#include "hardware/Profile.h"

#include "mlir/IR/Operation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace conquer {

/// The profile that a pass option names, looked up in `folder` (beside the program if empty). A
/// mistake is an error at `op`.
mlir::FailureOr<Profile> requireProfile(mlir::Operation *op, const std::string &name,
                                        const std::string &folder);

/// Applies the patterns below `op` until none fits. If that comes to no end, it is an error at
/// `op`.
mlir::LogicalResult rewriteGreedily(mlir::Operation *op,
                                    const mlir::FrozenRewritePatternSet &patterns,
                                    const mlir::GreedyRewriteConfig &config = {});

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_SUPPORT_H
