//===- FuseKernels.cpp - convolutions and their epilogues become kernel calls -----------------===//
//
// conv, cast, mul, clamp, cast, add, cast --> conquer.conv2d / conquer.depthwise_conv2d
// conv, clamp (bf16)                      --> the same
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Transforms/ConvChain.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/Support.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_FUSEKERNELS
#include "conquer-opt/Transforms/Passes.h.inc"
} // namespace conquer

using conquer::ConvChain;

namespace {

template <typename ConvOp, typename FusedOp> struct FuseConv : OpRewritePattern<ConvOp> {
  FuseConv(MLIRContext *context, const conquer::Profile &target)
      : OpRewritePattern<ConvOp>(context), target(target) {}

  LogicalResult matchAndRewrite(ConvOp conv, PatternRewriter &rewriter) const override {
    std::optional<conquer::Precision> precision = conquer::fusiblePrecision(conv);
    if (!precision || !target.usesKernel(conquer::getLayerKind(conv).str(), *precision))
      return rewriter.notifyMatchFailure(conv, "not of a precision that has a kernel");
    std::string reason;
    FailureOr<ConvChain> chain = conquer::matchConvChain(conv, reason);
    if (failed(chain))
      return rewriter.notifyMatchFailure(conv, reason);
    Operation *last = chain->last;
    rewriter.setInsertionPoint(last);
    auto constant = [&](DenseElementsAttr value) -> Value {
      return value ? tosa::ConstOp::create(rewriter, conv.getLoc(), value.getType(), value)
                   : Value();
    };
    auto fused = FusedOp::create(
        rewriter, conv.getLoc(), last->getResult(0).getType(), chain->input, chain->weights,
        constant(chain->bias), constant(chain->multiplier), chain->pad, chain->stride,
        chain->dilation, chain->inputZp, chain->outputZp, chain->clampMin, chain->clampMax,
        llvm::APFloat(chain->clampMinF32), llvm::APFloat(chain->clampMaxF32));
    fused->setDiscardableAttrs(last->getDiscardableAttrDictionary());
    if (Attribute layer = conv->getAttr(conquer::layerAttrName))
      fused->setAttr(conquer::layerAttrName, layer);
    rewriter.replaceOp(last, fused->getResults());
    return success();
  }

  const conquer::Profile &target;
};

struct FuseKernels : conquer::impl::FuseKernelsBase<FuseKernels> {
  using FuseKernelsBase::FuseKernelsBase;

  void runOnOperation() override {
    FailureOr<conquer::Profile> target =
        conquer::requireProfile(getOperation(), profile, profileDir);
    if (failed(target))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseConv<tosa::Conv2DOp, conquer::Conv2DOp>,
                 FuseConv<tosa::DepthwiseConv2DOp, conquer::DepthwiseConv2DOp>>(&getContext(),
                                                                                *target);
    // Folding would turn constants into others and cost time; only dead ops go.
    GreedyRewriteConfig config;
    config.enableFolding(false);
    if (failed(conquer::rewriteGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
