//===- SimplifyTransposes.cpp - transposes that cancel, merge or move nothing -----------------===//

#include "conquer-opt/Transforms/Constants.h"
#include "conquer-opt/Transforms/Layout.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace conquer;

Permutation conquer::inverse(ArrayRef<int32_t> permutation) {
  Permutation result(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    result[from] = static_cast<int32_t>(to);
  return result;
}

Permutation conquer::compose(ArrayRef<int32_t> first, ArrayRef<int32_t> second) {
  Permutation result;
  for (int32_t dim : second)
    result.push_back(first[dim]);
  return result;
}

SmallVector<int64_t> conquer::permuted(ArrayRef<int64_t> shape, ArrayRef<int32_t> permutation) {
  SmallVector<int64_t> result;
  for (int32_t dim : permutation)
    result.push_back(shape[dim]);
  return result;
}

bool conquer::movesNothing(ArrayRef<int64_t> shape, ArrayRef<int32_t> permutation) {
  int32_t last = -1;
  for (int32_t dim : permutation) {
    if (shape[dim] == 1)
      continue;
    if (dim < last)
      return false;
    last = dim;
  }
  return true;
}

Value conquer::createTranspose(OpBuilder &builder, Location loc, Value value,
                               ArrayRef<int32_t> permutation) {
  Permutation total(permutation);
  while (auto before = value.getDefiningOp<tosa::TransposeOp>()) {
    total = compose(before.getPerms(), total);
    value = before.getInput1();
  }
  if (llvm::is_sorted(total))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  return tosa::TransposeOp::create(builder, loc, type.clone(permuted(type.getShape(), total)),
                                   value, total);
}

namespace {

/// transpose of transpose -> one or none.
struct ComposeTransposes : OpRewritePattern<tosa::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::TransposeOp op, PatternRewriter &rewriter) const override {
    if (!op.getInput1().getDefiningOp<tosa::TransposeOp>() && !llvm::is_sorted(op.getPerms()))
      return rewriter.notifyMatchFailure(op, "neither a second transpose nor the identity");
    rewriter.replaceOp(op, createTranspose(rewriter, op.getLoc(), op.getInput1(), op.getPerms()));
    return mlir::success();
  }
};

/// The highest rank of TOSA's level 8k.
constexpr size_t tosaMaxRank = 6;

/// Dimensions that both sides of a reshape can be split into: `sizes` in row-major order, and for
/// each of them the dimension of either side that it is part of.
struct Factors {
  SmallVector<int64_t> sizes;
  SmallVector<int32_t> left, right;
};

/// The coarsest such split; none if there is no split that suits both (2x3 to 3x2).
std::optional<Factors> factorise(ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  Factors factors;
  size_t i = 0, j = 0;
  int64_t restLeft = 1, restRight = 1;
  while (true) {
    while (restLeft == 1 && i < left.size())
      restLeft = left[i++];
    while (restRight == 1 && j < right.size())
      restRight = right[j++];
    if (restLeft == 1 || restRight == 1)
      return factors;
    int64_t size = std::min(restLeft, restRight);
    if (restLeft % size || restRight % size)
      return std::nullopt;
    factors.sizes.push_back(size);
    factors.left.push_back(static_cast<int32_t>(i) - 1);
    factors.right.push_back(static_cast<int32_t>(j) - 1);
    restLeft /= size;
    restRight /= size;
  }
}

/// The factors in the order that they have once their dimensions are permuted: the indices of the
/// factors whose owner is permutation[0], then of permutation[1], ...
Permutation orderOf(ArrayRef<int32_t> owners, ArrayRef<int32_t> permutation) {
  Permutation order;
  for (int32_t dim : permutation)
    for (auto [factor, owner] : llvm::enumerate(owners))
      if (owner == dim)
        order.push_back(static_cast<int32_t>(factor));
  return order;
}

/// The dimensions of a shape in the order in which their factors first occur in memory, where
/// factor f belongs to dimension owners[f] and is at place position[f]. Dimensions of size 1 stay
/// behind the one before them.
Permutation memoryOrder(ArrayRef<int64_t> shape, ArrayRef<int32_t> owners,
                        ArrayRef<int32_t> position) {
  SmallVector<std::pair<int32_t, int32_t>> order; // place in memory, dimension
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int32_t place = dim == 0 ? -1 : order.back().first;
    if (shape[dim] != 1)
      place = std::numeric_limits<int32_t>::max();
    for (size_t f = 0; f < owners.size(); ++f)
      if (owners[f] == static_cast<int32_t>(dim))
        place = std::min(place, position[f]);
    order.push_back({place, static_cast<int32_t>(dim)});
  }
  llvm::sort(order);
  return Permutation(llvm::make_second_range(order));
}

/// transpose, reshape, transpose -> reshape (splits dimensions), transpose, reshape (merges them):
/// one transpose less, and often none. Channel shuffles and patch embeddings look like this.
struct TransposesAroundReshape : OpRewritePattern<tosa::TransposeOp> {
  TransposesAroundReshape(MLIRContext *context, bool all)
      : OpRewritePattern(context), mergeAll(all) {}

  LogicalResult matchAndRewrite(tosa::TransposeOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getInput1().getDefiningOp<tosa::ReshapeOp>();
    auto first = reshape ? reshape.getInput1().getDefiningOp<tosa::TransposeOp>() : nullptr;
    if (!first)
      return rewriter.notifyMatchFailure(op, "no reshape of a transpose before");
    auto factors = factorise(shapeOf(first.getOutput()), shapeOf(reshape.getOutput()));
    if (!factors || factors->sizes.size() > tosaMaxRank)
      return rewriter.notifyMatchFailure(op, "the reshape mixes dimensions");
    // Order of the factors in the first operand and in the last result, both relative to the order
    // that they have between the transposes.
    Permutation before = orderOf(factors->left, inverse(first.getPerms()));
    Permutation after = orderOf(factors->right, op.getPerms());
    Permutation total = compose(inverse(before), after);
    SmallVector<int32_t> owners;
    for (int32_t dim : factors->right)
      owners.push_back(inverse(op.getPerms())[dim]);
    if (!mergeAll &&
        !llvm::is_sorted(memoryOrder(shapeOf(op.getOutput()), owners, inverse(before))))
      return rewriter.notifyMatchFailure(op, "whole dimensions change their places");
    Value split = createReshape(rewriter, op.getLoc(), first.getInput1(),
                                conquer::permuted(factors->sizes, before));
    Value moved = createTranspose(rewriter, op.getLoc(), split, total);
    rewriter.replaceOp(op, createReshape(rewriter, op.getLoc(), moved, shapeOf(op.getOutput())));
    return mlir::success();
  }

  bool mergeAll; ///< also if SplitTransposeBeforeMerge would take the result apart
};

/// transpose, reshape that merges dimensions -> transpose within the merged dimensions, reshape,
/// transpose of whole dimensions, which can sink further. The transpose of a channel shuffle does
/// both: it swaps the groups with the channels of a group, and it moves channels before the pixels.
struct SplitTransposeBeforeMerge : OpRewritePattern<tosa::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput1().getDefiningOp<tosa::TransposeOp>();
    if (!transpose || !transpose->hasOneUse() || isInput(transpose.getInput1()))
      return rewriter.notifyMatchFailure(op, "the input is no transpose of its own");
    if (!llvm::all_of(op->getUsers(), [](Operation *reader) {
          return getPermutableOperands(reader) || isa<tosa::TransposeOp>(reader);
        }))
      return rewriter.notifyMatchFailure(op, "a reader needs this order of dimensions");
    auto factors = factorise(shapeOf(transpose.getOutput()), shapeOf(op.getOutput()));
    if (!factors || factors->sizes.size() > tosaMaxRank)
      return rewriter.notifyMatchFailure(op, "the reshape mixes dimensions");
    Permutation before = orderOf(factors->left, inverse(transpose.getPerms()));
    Permutation dims = memoryOrder(shapeOf(op.getOutput()), factors->right, inverse(before));
    if (llvm::is_sorted(dims))
      return rewriter.notifyMatchFailure(op, "no whole dimension changes its place");

    Location loc = op.getLoc();
    Value split = createReshape(rewriter, loc, transpose.getInput1(),
                                conquer::permuted(factors->sizes, before));
    Value within = createTranspose(rewriter, loc, split,
                                   compose(inverse(before), orderOf(factors->right, dims)));
    Value merged =
        createReshape(rewriter, loc, within, conquer::permuted(shapeOf(op.getOutput()), dims));
    rewriter.replaceOp(op, createTranspose(rewriter, loc, merged, inverse(dims)));
    return mlir::success();
  }
};

/// A fully connected layer (1x1 convolution) of a flattened transpose -> the same layer of the
/// flattened image, its weights in the order of the image.
struct FlattenIntoWeights : OpRewritePattern<tosa::Conv2DOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::Conv2DOp op, PatternRewriter &rewriter) const override {
    Value flat = op.getInput();
    while (auto reshape = flat.getDefiningOp<tosa::ReshapeOp>())
      flat = reshape.getInput1();
    auto transpose = flat.getDefiningOp<tosa::TransposeOp>();
    if (!transpose || flat == op.getInput())
      return rewriter.notifyMatchFailure(op, "the input is no flattened transpose");
    ArrayRef<int64_t> weights = shapeOf(op.getWeight());
    ArrayRef<int64_t> shape = shapeOf(flat);
    int64_t rows = elementsOf(flat) / weights[3];
    if (weights[1] != 1 || weights[2] != 1 || shape.front() != rows ||
        transpose.getPerms().front() != 0 || !getFloats(op.getWeight()))
      return rewriter.notifyMatchFailure(op, "not one dot product of each image with constants");

    Location loc = op.getLoc();
    SmallVector<int64_t> split(shape);
    split.front() = weights.front();
    Value ordered = createReshape(rewriter, loc, op.getWeight(), split);
    ordered = createTranspose(rewriter, loc, ordered, inverse(transpose.getPerms()));
    Value input = createReshape(rewriter, loc, transpose.getInput1(), shapeOf(op.getInput()));
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(input);
      op.getWeightMutable().assign(createReshape(rewriter, loc, ordered, weights));
    });
    return mlir::success();
  }
};

} // namespace

void conquer::populateSimplifyTransposes(RewritePatternSet &patterns) {
  patterns.add<ComposeTransposes, FlattenIntoWeights>(patterns.getContext());
}

void conquer::populateMergeTransposes(RewritePatternSet &patterns) {
  patterns.add<TransposesAroundReshape>(patterns.getContext(), /*mergeAll=*/true);
}

void conquer::populateSinkThroughReshapes(RewritePatternSet &patterns) {
  patterns.add<TransposesAroundReshape>(patterns.getContext(), /*mergeAll=*/false);
  patterns.add<SplitTransposeBeforeMerge>(patterns.getContext());
}
