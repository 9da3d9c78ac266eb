//===- KeepRounding.cpp - keep IREE from dropping bf16 roundings ------------------------------===//
//
// Within a dispatch IREE computes bf16 arithmetic in f32 and rounds once at the end. TOSA, the
// reference model and the evaluator round every result.
//
//===----------------------------------------------------------------------------------------===//

#include "conquer-opt/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_KEEPROUNDING
#include "conquer-opt/Transforms/Passes.h.inc"
} // namespace conquer

namespace {

bool isTosa(Operation *op) { return isa<tosa::TosaDialect>(op->getDialect()); }

/// Does `op` make elements that it may have to round? Those below only choose among the elements of
/// their operands.
bool rounds(Operation *op) {
  return !isa<tosa::ConstOp, tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::ConcatOp,
              tosa::PadOp, tosa::ReverseOp, tosa::TileOp, tosa::GatherOp, tosa::ClampOp,
              tosa::MaximumOp, tosa::MinimumOp, tosa::MaxPool2dOp, tosa::SelectOp,
              tosa::IdentityOp>(op);
}

struct KeepRounding : conquer::impl::KeepRoundingBase<KeepRounding> {
  using KeepRoundingBase::KeepRoundingBase;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isTosa(op) || op->getNumResults() != 1 || !rounds(op))
        return;
      Value result = op->getResult(0);
      // Dispatches and results of the function read memory: what they read has been rounded.
      if (!getElementTypeOrSelf(result).isBF16() || llvm::none_of(result.getUsers(), isTosa))
        return;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      OperationState state(op->getLoc(), "util.optimization_barrier", result, result.getType());
      Operation *barrier = builder.create(state);
      result.replaceUsesWithIf(barrier->getResult(0),
                               [](OpOperand &use) { return isTosa(use.getOwner()); });
    });
  }
};

} // namespace
