//===- PropagateLayout.cpp - transposes of activations move to the border ---------------------===//
//
// Producers that keep images N, C, H, W put a transpose before and after every convolution. First
// each transpose sinks through the ops that do not care about the order of dimensions, until it
// meets its inverse; then what is left before the first convolutions rises to the inputs.
// Upstream's tosa-reduce-transposes does not pass concat, pad, slice and reductions.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Transforms/Constants.h"
#include "conquer-opt/Transforms/Layout.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/Support.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_PROPAGATELAYOUTPASS
#include "conquer-opt/Transforms/Passes.h.inc"

unsigned getPermutableOperands(Operation *op) {
  return llvm::TypeSwitch<Operation *, unsigned>(op)
      .Case<tosa::AbsOp, tosa::CastOp, tosa::CeilOp, tosa::ClampOp, tosa::CosOp, tosa::ErfOp,
            tosa::ExpOp, tosa::FloorOp, tosa::LogOp, tosa::LogicalNotOp, tosa::NegateOp,
            tosa::ReciprocalOp, tosa::RsqrtOp, tosa::SigmoidOp, tosa::SinOp, tosa::TanhOp>(
          [](auto) { return 1; })
      .Case<tosa::PadOp, tosa::ReduceMaxOp, tosa::ReduceMinOp, tosa::ReduceProductOp,
            tosa::ReduceSumOp, tosa::ReverseOp, tosa::SliceOp, tosa::TileOp>([](auto) { return 1; })
      .Case<tosa::AddOp, tosa::EqualOp, tosa::GreaterOp, tosa::GreaterEqualOp, tosa::LogicalAndOp,
            tosa::LogicalOrOp, tosa::MaximumOp, tosa::MinimumOp, tosa::MulOp, tosa::PowOp,
            tosa::SubOp>([](auto) { return 2; })
      .Case<tosa::SelectOp>([](auto) { return 3; })
      .Case<tosa::ConcatOp>([](auto concat) { return concat->getNumOperands(); })
      .Default([](Operation *) { return 0; });
}

bool isInput(Value value) {
  while (auto reshape = value.getDefiningOp<tosa::ReshapeOp>())
    value = reshape.getInput1();
  return isa<BlockArgument>(value);
}

namespace {

/// Whether the value is a constant, or a transpose that cancels the permutation.
bool isTransposed(Value value, ArrayRef<int32_t> permutation) {
  if (matchPattern(value, m_Constant()))
    return true;
  auto before = value.getDefiningOp<tosa::TransposeOp>();
  return before &&
         movesNothing(shapeOf(before.getInput1()), compose(before.getPerms(), permutation));
}

/// Whether transposing the value needs no new transpose of an activation.
bool isFree(Value value, ArrayRef<int32_t> permutation) {
  return isTransposed(value, permutation) || movesNothing(shapeOf(value), permutation);
}

/// values[i] goes to place order[i], in groups of `width` (2 for the begins and ends of a pad).
SmallVector<int64_t> scatter(ArrayRef<int64_t> values, ArrayRef<int32_t> order, size_t width = 1) {
  SmallVector<int64_t> result(values.size());
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t k = 0; k < width; ++k)
      result[order[i] * width + k] = values[i * width + k];
  return result;
}

/// Whether the shape operands behind the data (of pad, slice, tile) are known.
bool hasKnownParameters(Operation *op) {
  return llvm::all_of(op->getOperands().drop_front(getPermutableOperands(op)), [](Value operand) {
    return !isa<tosa::shapeType>(operand.getType()) || getShape(operand);
  });
}

/// Renames the axes of a permutable op: old axis i is axis order[i].
void renameAxes(Operation *op, ArrayRef<int32_t> order, OpBuilder &builder) {
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    op->setAttr("axis", builder.getI32IntegerAttr(order[axis.getInt()]));
  for (OpOperand &operand : op->getOpOperands())
    if (auto shape = getShape(operand.get()))
      operand.set(
          createShape(builder, op->getLoc(), scatter(*shape, order, shape->size() / order.size())));
}

/// The value transposed, by a reshape where that does the same.
Value createTransposeOrReshape(OpBuilder &builder, Location loc, Value value,
                               ArrayRef<int32_t> permutation) {
  Value transposed = createTranspose(builder, loc, value, permutation);
  auto transpose = transposed.getDefiningOp<tosa::TransposeOp>();
  if (transposed == value || !transpose ||
      !movesNothing(shapeOf(transpose.getInput1()), transpose.getPerms()))
    return transposed;
  return createReshape(builder, loc, transpose.getInput1(), shapeOf(transposed));
}

using CreateOperand = Value (*)(OpBuilder &, Location, Value, ArrayRef<int32_t>);

/// Computes a permutable op with dimension i at place order[i], and its old result by a transpose.
void reorder(Operation *op, ArrayRef<int32_t> order, CreateOperand createOperand,
             PatternRewriter &rewriter) {
  Location loc = op->getLoc();
  Permutation toNew = inverse(order);
  IRMapping mapping;
  for (Value operand : op->getOperands().take_front(getPermutableOperands(op)))
    mapping.map(operand, createOperand(rewriter, loc, operand, toNew));
  Operation *reordered = rewriter.clone(*op, mapping);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  reordered->getResult(0).setType(type.clone(scatter(type.getShape(), order)));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(reordered);
  renameAxes(reordered, order, rewriter);
  rewriter.setInsertionPointAfter(reordered);
  rewriter.replaceOp(op, createTranspose(rewriter, loc, reordered->getResult(0), order));
}

/// op(transpose(x)) -> transpose(op(x)), if all operands are transposes like x or free to move.
struct SinkTranspose : RewritePattern {
  explicit SinkTranspose(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto data = op->getOperands().take_front(getPermutableOperands(op));
    auto isMovable = [](Value operand) {
      auto transpose = operand.getDefiningOp<tosa::TransposeOp>();
      return transpose && !isInput(transpose.getInput1()) &&
             !matchPattern(transpose.getInput1(), m_Constant());
    };
    auto movable = llvm::find_if(data, isMovable);
    if (movable == data.end() || !hasKnownParameters(op))
      return rewriter.notifyMatchFailure(op, "no operand is a transpose that may sink");
    Permutation order((*movable).getDefiningOp<tosa::TransposeOp>().getPerms());
    Permutation toNew = inverse(order);
    if (!llvm::all_of(data, [&](Value operand) { return isFree(operand, toNew); }))
      return rewriter.notifyMatchFailure(op, "another operand would need a transpose");
    // Reshapes do not sink, so an op of several operands whose transposes move nothing is not
    // reordered for one of them and then for another.
    reorder(op, order, createTransposeOrReshape, rewriter);
    return mlir::success();
  }
};

/// Whether the op can be computed with permuted dimensions from the inputs on without a transpose
/// elsewhere. A reshape elsewhere is accepted only if it saves a transpose that moves elements.
bool canRise(Operation *op, ArrayRef<int32_t> permutation, bool acceptReshapes) {
  unsigned operands = getPermutableOperands(op);
  if (operands == 0 || !hasKnownParameters(op))
    return false;
  auto isSame = [&](Operation *reader) {
    auto transpose = dyn_cast<tosa::TransposeOp>(reader);
    return transpose && transpose.getPerms() == permutation;
  };
  if (!op->hasOneUse() && !llvm::all_of(op->getUsers(), isSame))
    return false;
  return llvm::all_of(op->getOperands().take_front(operands), [&](Value operand) {
    return isInput(operand) || isTransposed(operand, permutation) ||
           (acceptReshapes && movesNothing(shapeOf(operand), permutation)) ||
           canRise(operand.getDefiningOp(), permutation, acceptReshapes);
  });
}

/// transpose(op(input)) -> op(transpose(input)).
struct RaiseTranspose : OpRewritePattern<tosa::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::TransposeOp op, PatternRewriter &rewriter) const override {
    Operation *before = op.getInput1().getDefiningOp();
    bool movesElements = !movesNothing(shapeOf(op.getInput1()), op.getPerms());
    if (!before || !canRise(before, op.getPerms(), /*acceptReshapes=*/movesElements))
      return rewriter.notifyMatchFailure(op, "the transpose cannot rise to an input");
    rewriter.setInsertionPoint(before);
    reorder(before, inverse(op.getPerms()), createTranspose, rewriter);
    return mlir::success();
  }
};

/// Replaces an op by a value that stands for it, id included.
void replaceKeepingId(Operation *op, Value value, PatternRewriter &rewriter) {
  Operation *producer = value.getDefiningOp();
  if (producer && getId(producer).empty() && op->hasAttr(idAttrName))
    producer->setAttr(idAttrName, op->getAttr(idAttrName));
  rewriter.replaceOp(op, value);
}

/// A transpose that only moves dimensions of size 1 -> reshape. Last, because transposes cancel
/// where reshapes would stand in the way.
struct TransposeToReshape : OpRewritePattern<tosa::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::TransposeOp op, PatternRewriter &rewriter) const override {
    if (!movesNothing(shapeOf(op.getInput1()), op.getPerms()))
      return rewriter.notifyMatchFailure(op, "the transpose moves elements");
    replaceKeepingId(op,
                     createReshape(rewriter, op.getLoc(), op.getInput1(), shapeOf(op.getOutput())),
                     rewriter);
    return mlir::success();
  }
};

/// The opposite: [N, 1, 1, C] -> [N, C, 1, 1] and back are transposes between the layouts of
/// images, which producers and canonicalisers write as reshapes.
struct ReshapeToTranspose : OpRewritePattern<tosa::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::ReshapeOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> from = shapeOf(op.getInput1()), to = shapeOf(op.getOutput());
    if (from.size() != 4 || to.size() != 4 || from == to)
      return rewriter.notifyMatchFailure(op, "not from image to image");
    for (const Permutation &permutation : {Permutation{0, 3, 1, 2}, Permutation{0, 2, 3, 1}}) {
      if (ArrayRef<int64_t>(permuted(from, permutation)) != to || !movesNothing(from, permutation))
        continue;
      replaceKeepingId(op, createTranspose(rewriter, op.getLoc(), op.getInput1(), permutation),
                       rewriter);
      return mlir::success();
    }
    return rewriter.notifyMatchFailure(op, "not a change of layout");
  }
};

struct PropagateLayoutPass : impl::PropagateLayoutPassBase<PropagateLayoutPass> {
  using Populate = void (*)(RewritePatternSet &);

  template <typename Pattern> static void add(RewritePatternSet &patterns) {
    patterns.add<Pattern>(patterns.getContext());
  }

  LogicalResult initialize(MLIRContext *context) override {
    auto addStep = [&](std::initializer_list<Populate> parts) {
      RewritePatternSet patterns(context);
      for (Populate populate : parts)
        populate(patterns);
      steps.emplace_back(std::move(patterns));
    };
    steps.clear();
    addStep({add<ReshapeToTranspose>});
    addStep({add<SinkTranspose>, populateSimplifyTransposes, populateSinkThroughReshapes});
    addStep({add<RaiseTranspose>, populateSimplifyTransposes, populateMergeTransposes});
    addStep({add<TransposeToReshape>});
    return mlir::success();
  }

  void runOnOperation() override {
    // Far above what any network needs: each transpose passes each op a few times at most.
    GreedyRewriteConfig config;
    config.setMaxNumRewrites(1 << 20);
    for (const FrozenRewritePatternSet &patterns : steps)
      if (failed(rewriteGreedily(getOperation(), patterns, config)))
        return signalPassFailure();
  }

  std::vector<FrozenRewritePatternSet> steps;
};

} // namespace
} // namespace conquer
