//===- FuseKernels.cpp - i8 convolutions and their epilogues become kernel calls --------------===//
//
// conv, cast, mul, clamp, cast, add, cast --> conquer.conv2d / conquer.depthwise_conv2d
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
  using OpRewritePattern<ConvOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp conv, PatternRewriter &rewriter) const override {
    if (!conquer::isFusibleConv(conv))
      return rewriter.notifyMatchFailure(conv, "not an i8 convolution");
    std::string reason;
    FailureOr<ConvChain> chain = conquer::matchConvChain(conv, reason);
    if (failed(chain))
      return rewriter.notifyMatchFailure(conv, reason);
    Operation *last = chain->last;
    rewriter.setInsertionPoint(last);
    int64_t channels = static_cast<int64_t>(chain->bias.size());
    auto biasType = RankedTensorType::get({channels}, rewriter.getI32Type());
    auto multiplierType = RankedTensorType::get({channels}, rewriter.getF32Type());
    auto constant = [&](DenseElementsAttr value) {
      return tosa::ConstOp::create(rewriter, conv.getLoc(), value.getType(), value);
    };
    Value bias = constant(DenseElementsAttr::get(biasType, ArrayRef<int32_t>(chain->bias)));
    Value multiplier =
        constant(DenseElementsAttr::get(multiplierType, ArrayRef<float>(chain->multiplier)));
    auto fused = FusedOp::create(
        rewriter, conv.getLoc(), last->getResult(0).getType(), chain->input, chain->weights, bias,
        multiplier, chain->pad, chain->stride, chain->dilation, chain->inputZp, chain->outputZp,
        chain->clampMin, chain->clampMax, llvm::APFloat(chain->clampMinF32),
        llvm::APFloat(chain->clampMaxF32));
    fused->setDiscardableAttrs(last->getDiscardableAttrDictionary());
    if (Attribute layer = conv->getAttr(conquer::layerAttrName))
      fused->setAttr(conquer::layerAttrName, layer);
    rewriter.replaceOp(last, fused->getResults());
    return success();
  }
};

struct FuseKernels : conquer::impl::FuseKernelsBase<FuseKernels> {
  using FuseKernelsBase::FuseKernelsBase;

  void runOnOperation() override {
    FailureOr<conquer::Profile> target =
        conquer::requireProfile(getOperation(), profile, profileDir);
    if (failed(target))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    if (target->usesKernel("conv2d", conquer::Precision::I8))
      patterns.add<FuseConv<tosa::Conv2DOp, conquer::Conv2DOp>>(&getContext());
    if (target->usesKernel("depthwise_conv2d", conquer::Precision::I8))
      patterns.add<FuseConv<tosa::DepthwiseConv2DOp, conquer::DepthwiseConv2DOp>>(&getContext());
    // Folding would turn constants into others and cost time; only dead ops go.
    GreedyRewriteConfig config;
    config.enableFolding(false);
    if (failed(conquer::rewriteGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
