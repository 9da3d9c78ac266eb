//===- CanonicalizeClamps.cpp - every activation function of the ReLU family is one clamp -----===//

#include "conquer-opt/Transforms/Constants.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/Support.h"

#include "mlir/IR/PatternMatch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_CANONICALIZECLAMPSPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

float getMin(tosa::ClampOp op) {
  return cast<FloatAttr>(op.getMinVal()).getValue().convertToFloat();
}
float getMax(tosa::ClampOp op) {
  return cast<FloatAttr>(op.getMaxVal()).getValue().convertToFloat();
}

/// maximum or minimum with one number -> clamp, open on the other side.
template <typename Op> struct ExtremumToClamp : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Value input = op.getInput1();
    std::optional<float> bound = getSplat(op.getInput2());
    if (!bound) {
      input = op.getInput2();
      bound = getSplat(op.getInput1());
    }
    if (!bound || !std::isfinite(*bound))
      return rewriter.notifyMatchFailure(op, "no operand is one finite number");
    if (input.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "the constant widens the tensor");
    constexpr float most = std::numeric_limits<float>::max();
    bool isMaximum = std::is_same_v<Op, tosa::MaximumOp>;
    auto clamp = tosa::ClampOp::create(rewriter, op.getLoc(), op.getType(), input,
                                       rewriter.getF32FloatAttr(isMaximum ? *bound : -most),
                                       rewriter.getF32FloatAttr(isMaximum ? most : *bound),
                                       op.getNanModeAttr());
    clamp->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, clamp);
    return mlir::success();
  }
};

/// clamp of clamp -> clamp, also where the ranges do not overlap (one number is left then).
struct MergeClamps : OpRewritePattern<tosa::ClampOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::ClampOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<tosa::ClampOp>();
    if (!inner || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the input is no clamp, or has other readers");
    if (inner.getNanMode() != op.getNanMode() || !isa<FloatAttr>(op.getMinVal()))
      return rewriter.notifyMatchFailure(op, "the clamps treat NaN differently or are not f32");
    float low = std::clamp(getMin(inner), getMin(op), getMax(op));
    float high = std::clamp(getMax(inner), getMin(op), getMax(op));
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(inner.getInput());
      op.setMinValAttr(rewriter.getF32FloatAttr(low));
      op.setMaxValAttr(rewriter.getF32FloatAttr(high));
    });
    return mlir::success();
  }
};

/// Whether `value`, seen through ops that a clamp commutes with, is a layer's result without other
/// readers.
bool comesFromLayer(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasOneUse())
      return false;
    if (isLayer(op))
      return true;
    if (!isa<tosa::ReshapeOp, tosa::MaxPool2dOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// layer -> reshape or max_pool -> clamp becomes layer -> clamp -> reshape or max_pool, where the
/// clamp costs nothing. A clamp is monotone, so the maximum of clamped values is the same.
struct MoveClampToLayer : OpRewritePattern<tosa::ClampOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::ClampOp op, PatternRewriter &rewriter) const override {
    Operation *between = op.getInput().getDefiningOp();
    if (!isa_and_nonnull<tosa::ReshapeOp, tosa::MaxPool2dOp>(between))
      return rewriter.notifyMatchFailure(op, "the input is neither reshape nor max_pool");
    if (!comesFromLayer(op.getInput()))
      return rewriter.notifyMatchFailure(op, "no layer before, or other readers between");
    rewriter.setInsertionPoint(between);
    Value input = between->getOperand(0);
    auto clamp = tosa::ClampOp::create(rewriter, op.getLoc(), input.getType(), input,
                                       op.getMinValAttr(), op.getMaxValAttr(), op.getNanModeAttr());
    clamp->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.modifyOpInPlace(between, [&] { between->setOperand(0, clamp); });
    rewriter.replaceOp(op, between->getResult(0));
    return mlir::success();
  }
};

struct CanonicalizeClampsPass : impl::CanonicalizeClampsPassBase<CanonicalizeClampsPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<ExtremumToClamp<tosa::MaximumOp>, ExtremumToClamp<tosa::MinimumOp>, MergeClamps,
            MoveClampToLayer>(context);
    patterns = std::move(set);
    return mlir::success();
  }

  void runOnOperation() override {
    if (failed(rewriteGreedily(getOperation(), patterns)))
      signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace conquer
