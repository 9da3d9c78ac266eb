//===- FoldScales.cpp - batch norms and other per-channel arithmetic into convolutions --------===//
//
// A batch norm arrives as sub, mul, mul, add with one constant per channel. Whatever follows a
// convolution in this way is one scale and one shift per output channel, and what precedes it is
// one per input channel; both are collected in double precision and rounded once, when weights and
// bias are rewritten.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Transforms/Constants.h"
#include "conquer-opt/Transforms/Passes.h"

#include <cmath>

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_FOLDSCALESPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

/// y = x * scale + shift, per channel.
struct Affine {
  explicit Affine(int64_t channels) : scale(channels, 1), shift(channels, 0) {}

  void scaleBy(ArrayRef<double> factor) {
    for (size_t i = 0; i < scale.size(); ++i) {
      scale[i] *= factor[i];
      shift[i] *= factor[i];
    }
  }
  void add(ArrayRef<double> summand, double sign) {
    for (size_t i = 0; i < scale.size(); ++i)
      shift[i] += sign * summand[i];
  }

  std::vector<double> scale, shift;
};

/// Whether `op` is elementwise arithmetic of an activation with constants that differ at most per
/// channel. If so, `affine` goes through it and the operand is the activation.
Value stepThrough(Operation *op, int64_t channels, Affine &affine) {
  if (!isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op))
    return {};
  Value left = op->getOperand(0), right = op->getOperand(1);
  auto constant = getPerChannel(right, channels);
  Value activation = left;
  bool swapped = !constant;
  if (swapped) {
    constant = getPerChannel(left, channels);
    activation = right;
  }
  // A constant that widens the tensor is more than a scale.
  if (!constant || activation.getType() != op->getResult(0).getType() ||
      shapeOf(activation).empty() || shapeOf(activation).back() != channels)
    return {};
  if (isa<tosa::MulOp>(op)) {
    affine.scaleBy(*constant);
  } else if (isa<tosa::AddOp>(op)) {
    affine.add(*constant, 1);
  } else if (!swapped) {
    affine.add(*constant, -1);
  } else {
    affine.scaleBy(std::vector<double>(channels, -1));
    affine.add(*constant, 1);
  }
  return activation;
}

bool isConv(Operation *op) {
  return isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(op);
}

/// The output channel that a weight belongs to. Depthwise weights are [KH, KW, C, M], the others
/// [OC, KH, KW, IC].
int64_t outputChannel(Operation *conv, int64_t index, int64_t weights, int64_t channels) {
  return isa<tosa::DepthwiseConv2DOp>(conv) ? index % channels : index / (weights / channels);
}

int64_t inputChannel(Operation *conv, int64_t index) {
  ArrayRef<int64_t> shape = shapeOf(conv->getOperand(1));
  return isa<tosa::DepthwiseConv2DOp>(conv) ? index / shape[3] % shape[2] : index % shape[3];
}

std::vector<float> narrow(ArrayRef<double> values) {
  return std::vector<float>(values.begin(), values.end());
}

bool isFinite(ArrayRef<float> values) {
  return llvm::all_of(values, [](float value) { return std::isfinite(value); });
}

/// Replaces weights and bias unless a value is not finite as f32; then nothing changes.
bool setWeights(Operation *conv, ArrayRef<double> weights, ArrayRef<double> bias) {
  std::vector<float> weights32 = narrow(weights), bias32 = narrow(bias);
  if (!isFinite(weights32) || !isFinite(bias32))
    return false;
  OpBuilder builder(conv);
  Value oldWeights = conv->getOperand(1), oldBias = conv->getOperand(2);
  conv->setOperand(1, createFloats(builder, oldWeights.getLoc(), shapeOf(oldWeights), weights32));
  conv->setOperand(
      2, createFloats(builder, oldBias.getLoc(), {static_cast<int64_t>(bias.size())}, bias32));
  return true;
}

/// The weights and the bias of a convolution, one bias for each output channel.
struct Weights {
  std::vector<double> weights, bias;
};

std::optional<Weights> getWeights(Operation *conv) {
  DenseElementsAttr weights = getFloats(conv->getOperand(1));
  int64_t channels = shapeOf(conv->getResult(0)).back();
  auto bias = getPerChannel(conv->getOperand(2), channels);
  if (!weights || !bias)
    return std::nullopt;
  std::vector<float> values = toVector(weights);
  return Weights{{values.begin(), values.end()}, *bias};
}

/// Folds what follows the convolution: each value on the way has one reader. Reshapes that keep the
/// channels last are looked through.
void foldFollowing(Operation *conv) {
  auto found = getWeights(conv);
  if (!found)
    return;
  int64_t channels = shapeOf(conv->getResult(0)).back();
  Affine affine(channels);
  std::vector<std::pair<Operation *, Value>> arithmetic;
  for (Value value = conv->getResult(0); value.hasOneUse();) {
    Operation *reader = *value.user_begin();
    if (Value activation = stepThrough(reader, channels, affine))
      arithmetic.push_back({reader, activation});
    else if (!isa<tosa::ReshapeOp>(reader) || shapeOf(reader->getResult(0)).empty() ||
             shapeOf(reader->getResult(0)).back() != channels)
      break;
    value = reader->getResult(0);
  }
  if (arithmetic.empty())
    return;
  auto [weights, bias] = *found;
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] *= affine.scale[outputChannel(conv, i, weights.size(), channels)];
  for (int64_t c = 0; c < channels; ++c)
    bias[c] = bias[c] * affine.scale[c] + affine.shift[c];
  if (!setWeights(conv, weights, bias))
    return;
  // Backwards, since the activation of each is the result of the one before.
  for (auto [op, activation] : llvm::reverse(arithmetic)) {
    op->getResult(0).replaceAllUsesWith(activation);
    op->erase();
  }
}

/// Padding is zero before the shift, so a shift can only move into a convolution without padding.
bool isUnpadded(Operation *conv) {
  return llvm::all_of(conv->getAttrOfType<DenseI64ArrayAttr>("pad").asArrayRef(),
                      [](int64_t pad) { return pad == 0; });
}

/// The op before the convolution; reshapes that keep the channels last are looked through. Null if
/// something else reads a value between.
Operation *precedingOp(Operation *conv) {
  int64_t channels = shapeOf(conv->getOperand(0)).back();
  Operation *op = conv->getOperand(0).getDefiningOp();
  while (op && op->hasOneUse() && isa<tosa::ReshapeOp>(op)) {
    ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
    if (from.empty() || from.back() != channels)
      return nullptr;
    op = op->getOperand(0).getDefiningOp();
  }
  return op && op->hasOneUse() ? op : nullptr;
}

/// Folds one op that precedes the convolution, if the convolution is its only reader. False if
/// there is none.
bool foldOnePreceding(Operation *conv) {
  Operation *op = precedingOp(conv);
  auto found = getWeights(conv);
  if (!op || !found)
    return false;
  int64_t channels = shapeOf(conv->getOperand(0)).back();
  Affine affine(channels);
  Value activation = stepThrough(op, channels, affine);
  bool shifts = llvm::any_of(affine.shift, [](double shift) { return shift != 0; });
  if (!activation || (shifts && !isUnpadded(conv)))
    return false;
  auto [weights, bias] = *found;
  for (size_t i = 0; i < weights.size(); ++i) {
    int64_t input = inputChannel(conv, i);
    bias[outputChannel(conv, i, weights.size(), bias.size())] += weights[i] * affine.shift[input];
    weights[i] *= affine.scale[input];
  }
  if (!setWeights(conv, weights, bias))
    return false;
  op->getResult(0).replaceAllUsesWith(activation);
  op->erase();
  return true;
}

/// The longest chain of per-channel arithmetic that ends in `last`, last op first; each value
/// between has one reader.
SmallVector<Operation *> chainBefore(Operation *last, int64_t channels) {
  SmallVector<Operation *> chain;
  Affine ignored(channels);
  for (Operation *op = last; op && (op == last || op->hasOneUse());) {
    Value activation = stepThrough(op, channels, ignored);
    if (!activation)
      break;
    chain.push_back(op);
    op = activation.getDefiningOp();
  }
  return chain;
}

/// What remains of a batch norm without a convolution beside it: a chain of at least three ops ->
/// one mul, one add. The ops that are gone are added to `erased`.
void mergeChain(Operation *last, llvm::SmallPtrSetImpl<Operation *> &erased) {
  auto type = cast<RankedTensorType>(last->getResult(0).getType());
  if (type.getRank() == 0)
    return;
  int64_t channels = type.getShape().back();
  SmallVector<Operation *> chain = chainBefore(last, channels);
  if (chain.size() < 3)
    return;
  Affine affine(channels);
  Value start;
  for (Operation *op : llvm::reverse(chain)) {
    Value activation = stepThrough(op, channels, affine);
    if (!start)
      start = activation;
  }
  std::vector<float> scale = narrow(affine.scale), shift = narrow(affine.shift);
  if (!isFinite(scale) || !isFinite(shift))
    return;

  OpBuilder builder(last);
  Location loc = last->getLoc();
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape.back() = channels;
  auto byte = RankedTensorType::get({1}, builder.getI8Type());
  Value noShift = tosa::ConstOp::create(builder, loc, byte,
                                        DenseElementsAttr::get(byte, builder.getI8IntegerAttr(0)));
  Value scaled = tosa::MulOp::create(builder, loc, type, start,
                                     createFloats(builder, loc, shape, scale), noShift);
  last->getResult(0).replaceAllUsesWith(
      tosa::AddOp::create(builder, loc, type, scaled, createFloats(builder, loc, shape, shift)));
  for (Operation *op : chain) {
    erased.insert(op);
    op->erase();
  }
}

struct FoldScalesPass : impl::FoldScalesPassBase<FoldScalesPass> {
  void runOnOperation() override {
    std::vector<Operation *> convs;
    getOperation().walk([&](Operation *op) {
      if (isConv(op))
        convs.push_back(op);
    });
    for (Operation *conv : convs) {
      foldFollowing(conv);
      // A transposed convolution has no padding of its input, but an output that its bias fills.
      if (!isa<tosa::TransposeConv2DOp>(conv))
        while (foldOnePreceding(conv)) {
        }
    }
    mergeChains();
  }

  void mergeChains() {
    std::vector<Operation *> arithmetic;
    getOperation().walk([&](Operation *op) {
      if (isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op))
        arithmetic.push_back(op);
    });
    // From the end, so that each chain is met at its last op first.
    llvm::SmallPtrSet<Operation *, 16> erased;
    for (Operation *op : llvm::reverse(arithmetic))
      if (!erased.contains(op))
        mergeChain(op, erased);
  }
};

} // namespace
} // namespace conquer
