//===- MatMulToConv.cpp - fully connected layers become 1x1 convolutions ----------------------===//

#include "conquer-opt/Transforms/Constants.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/Support.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_MATMULTOCONVPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

/// The one matrix [K, N] of a constant [B, K, N], as convolution weights [N, 1, 1, K]; empty if the
/// matrices of the batch differ.
std::vector<float> asConvWeights(DenseElementsAttr matrix, ArrayRef<int64_t> shape) {
  std::vector<float> from = toVector(matrix);
  size_t k = shape[1], n = shape[2];
  for (size_t i = k * n; i < from.size(); ++i)
    if (from[i] != from[i - k * n])
      return {};
  std::vector<float> to(k * n);
  for (size_t row = 0; row < k; ++row)
    for (size_t column = 0; column < n; ++column)
      to[column * k + row] = from[row * n + column];
  return to;
}

/// matmul [B, M, K] x [B, K, N] -> reshape to [1, 1, B*M, K], conv2d, reshape to [B, M, N]: a
/// convolution has a bias and per-channel scales, a matmul has neither.
struct MatMulToConv : OpRewritePattern<tosa::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::MatMulOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr matrix = getFloats(op.getB());
    if (!matrix || getSplat(op.getAZp()) != 0.0f || getSplat(op.getBZp()) != 0.0f)
      return rewriter.notifyMatchFailure(op, "the right operand is no f32 constant");
    ArrayRef<int64_t> input = shapeOf(op.getA()), output = shapeOf(op.getOutput());
    int64_t rows = input[0] * input[1], k = input[2], n = output[2];
    std::vector<float> weights = asConvWeights(matrix, shapeOf(op.getB()));
    if (weights.empty())
      return rewriter.notifyMatchFailure(op, "each matrix of the batch has other weights");

    Location loc = op.getLoc();
    Value x = createReshape(rewriter, loc, op.getA(), {1, 1, rows, k});
    Value w = createFloats(rewriter, loc, {n, 1, 1, k}, weights);
    Value bias = createFloats(rewriter, loc, {n}, std::vector<float>(n, 0.0f));
    auto conv = tosa::Conv2DOp::create(
        rewriter, loc, RankedTensorType::get({1, 1, rows, n}, rewriter.getF32Type()), x, w, bias,
        op.getAZp(), op.getBZp(), rewriter.getDenseI64ArrayAttr({0, 0, 0, 0}),
        rewriter.getDenseI64ArrayAttr({1, 1}), rewriter.getDenseI64ArrayAttr({1, 1}),
        TypeAttr::get(rewriter.getF32Type()));
    conv->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, createReshape(rewriter, loc, conv, output));
    return mlir::success();
  }
};

struct MatMulToConvPass : impl::MatMulToConvPassBase<MatMulToConvPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<MatMulToConv>(context);
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
