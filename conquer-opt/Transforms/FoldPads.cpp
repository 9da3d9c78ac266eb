//===- FoldPads.cpp - explicit padding into the ops that can pad ------------------------------===//

#include "conquer-opt/Transforms/Constants.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/Support.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_FOLDPADSPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

/// top, bottom, left, right of a pad of an image; none if it pads batch or channels, or crops.
std::optional<SmallVector<int64_t>> getSpatialPad(tosa::PadOp pad) {
  auto amounts = getShape(pad.getPadding());
  if (!amounts || amounts->size() != 8 ||
      llvm::any_of(*amounts, [](int64_t amount) { return amount < 0; }))
    return std::nullopt;
  auto [n0, n1, top, bottom, left, right, c0, c1] =
      std::tie((*amounts)[0], (*amounts)[1], (*amounts)[2], (*amounts)[3], (*amounts)[4],
               (*amounts)[5], (*amounts)[6], (*amounts)[7]);
  if (n0 || n1 || c0 || c1)
    return std::nullopt;
  return SmallVector<int64_t>{top, bottom, left, right};
}

SmallVector<int64_t> sum(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> result;
  for (auto [x, y] : llvm::zip_equal(a, b))
    result.push_back(x + y);
  return result;
}

/// Convolutions pad with zero.
template <typename Conv> struct PadIntoConv : OpRewritePattern<Conv> {
  using OpRewritePattern<Conv>::OpRewritePattern;

  LogicalResult matchAndRewrite(Conv op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput().template getDefiningOp<tosa::PadOp>();
    if (!pad)
      return rewriter.notifyMatchFailure(op, "the input is not padded");
    auto amounts = getSpatialPad(pad);
    if (!amounts || getSplat(pad.getPadConst()) != 0.0f)
      return rewriter.notifyMatchFailure(op, "not a padding of height and width with zero");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(pad.getInput1());
      op.setPad(sum(op.getPad(), *amounts));
    });
    return mlir::success();
  }
};

/// Whether no element can be negative: then zero is as good as minus infinity for a maximum.
bool isNotNegative(Value value) {
  auto clamp = value.getDefiningOp<tosa::ClampOp>();
  return clamp && isa<FloatAttr>(clamp.getMinVal()) &&
         cast<FloatAttr>(clamp.getMinVal()).getValueAsDouble() >= 0;
}

/// max_pool ignores its padding, as if it were minus infinity. Each window has to keep at least one
/// element of the image, which TOSA asks for by pad < kernel.
struct PadIntoMaxPool : OpRewritePattern<tosa::MaxPool2dOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::MaxPool2dOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput().getDefiningOp<tosa::PadOp>();
    if (!pad)
      return rewriter.notifyMatchFailure(op, "the input is not padded");
    auto amounts = getSpatialPad(pad);
    std::optional<float> value = getSplat(pad.getPadConst());
    bool ignored = value && (*value <= std::numeric_limits<float>::lowest() ||
                             (*value <= 0 && isNotNegative(pad.getInput1())));
    if (!amounts || !ignored)
      return rewriter.notifyMatchFailure(op, "the padding can be the largest element of a window");
    SmallVector<int64_t> total = sum(op.getPad(), *amounts);
    for (int side = 0; side < 4; ++side)
      if (total[side] >= op.getKernel()[side / 2])
        return rewriter.notifyMatchFailure(op, "the padding is as large as the kernel");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(pad.getInput1());
      op.setPad(total);
    });
    return mlir::success();
  }
};

/// A slice that only takes away padding at the ends -> less padding.
struct SliceOfPad : OpRewritePattern<tosa::SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::SliceOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput1().getDefiningOp<tosa::PadOp>();
    if (!pad)
      return rewriter.notifyMatchFailure(op, "the input is not padded");
    auto amounts = getShape(pad.getPadding()), start = getShape(op.getStart());
    if (!amounts || !start)
      return rewriter.notifyMatchFailure(op, "padding or start is computed");
    ArrayRef<int64_t> before = shapeOf(pad.getOutput()), after = shapeOf(op.getOutput());
    for (size_t dim = 0; dim < after.size(); ++dim) {
      int64_t begin = (*start)[dim], end = before[dim] - begin - after[dim];
      if (begin > (*amounts)[2 * dim] || end > (*amounts)[2 * dim + 1])
        return rewriter.notifyMatchFailure(op, "the slice crops more than padding");
      (*amounts)[2 * dim] -= begin;
      (*amounts)[2 * dim + 1] -= end;
    }
    rewriter.replaceOpWithNewOp<tosa::PadOp>(op, op.getType(), pad.getInput1(),
                                             createShape(rewriter, op.getLoc(), *amounts),
                                             pad.getPadConst());
    return mlir::success();
  }
};

/// slice of slice -> one slice.
struct SliceOfSlice : OpRewritePattern<tosa::SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput1().getDefiningOp<tosa::SliceOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "the input is no slice");
    auto start = getShape(op.getStart()), innerStart = getShape(inner.getStart());
    if (!start || !innerStart)
      return rewriter.notifyMatchFailure(op, "a start is computed");
    rewriter.replaceOpWithNewOp<tosa::SliceOp>(
        op, op.getType(), inner.getInput1(),
        createShape(rewriter, op.getLoc(), sum(*start, *innerStart)), op.getSize());
    return mlir::success();
  }
};

struct FoldPadsPass : impl::FoldPadsPassBase<FoldPadsPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<PadIntoConv<tosa::Conv2DOp>, PadIntoConv<tosa::DepthwiseConv2DOp>, PadIntoMaxPool,
            SliceOfPad, SliceOfSlice>(context);
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
