//===- Activations.cpp - operators of one activation ------------------------------------------===//
#include "conquer-opt/Import/NodeContext.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <cmath>
#include <limits>

namespace conquer::importer {
namespace tosa = mlir::tosa;

namespace {

constexpr float largest = std::numeric_limits<float>::max();

/// One bound of Clip: an attribute before operator set 11, a constant scalar input after.
Result<float> bound(const NodeContext &at, size_t index, const char *attribute, float absent) {
  if (at.node.has(attribute))
    return at.node.getFloat(attribute, absent);
  Result<const Tensor *> tensor = at.optionalConstant(index);
  if (!tensor)
    return tensor.error();
  if (!*tensor)
    return absent;
  if (elementCount((*tensor)->shape) != 1)
    return at.error("bound '" + std::string(attribute) + "' of shape " + toString((*tensor)->shape),
                    "one number");
  return (*tensor)->floats.front();
}

Value hardSigmoid(const NodeContext &at, float alpha, float beta, const std::string &part) {
  Emitter &emit = at.emit;
  Value line = emit.mul(at.input(0), emit.scalar(alpha), "scale");
  line = emit.add(line, emit.scalar(beta), "shift");
  return emit.clamp(line, 0.0f, 1.0f, part);
}

} // namespace

Status convertRelu(const NodeContext &at) {
  return at.output(at.emit.clamp(at.input(0), 0.0f, largest));
}

Status convertClip(const NodeContext &at) {
  Result<float> low = bound(at, 1, "min", -largest), high = bound(at, 2, "max", largest);
  if (!low)
    return low.error();
  if (!high)
    return high.error();
  if (std::isnan(*low) || std::isnan(*high))
    return at.error("a bound is not a number", "finite bounds");
  // ONNX applies the upper bound last; TOSA wants the bounds in order.
  return at.output(at.emit.clamp(at.input(0), std::fmin(*low, *high), *high));
}

Status convertSigmoid(const NodeContext &at) {
  return at.output(at.emit.unary<tosa::SigmoidOp>(at.input(0)));
}

Status convertTanh(const NodeContext &at) {
  return at.output(at.emit.unary<tosa::TanhOp>(at.input(0)));
}

Status convertHardSigmoid(const NodeContext &at) {
  return at.output(
      hardSigmoid(at, at.node.getFloat("alpha", 0.2f), at.node.getFloat("beta", 0.5f), ""));
}

Status convertHardSwish(const NodeContext &at) {
  Value gate = hardSigmoid(at, 1.0f / 6.0f, 0.5f, "gate");
  return at.output(at.emit.mul(at.input(0), gate));
}

Status convertLeakyRelu(const NodeContext &at) {
  float alpha = at.node.getFloat("alpha", 0.01f);
  const Value &x = at.input(0);
  Value scaled = at.emit.mul(x, at.emit.scalar(alpha), "scale");
  // With a slope above 1 the scaled value is the smaller one where x is negative.
  return at.output(alpha <= 1.0f ? at.emit.maximum(x, scaled) : at.emit.minimum(x, scaled));
}

Status convertPRelu(const NodeContext &at) {
  Emitter &emit = at.emit;
  const Value &x = at.input(0), &slope = at.input(1);
  Shape result;
  if (!broadcast(x.shape, slope.shape, result) || result != x.shape)
    return at.error("slope of shape " + toString(slope.shape),
                    "one that broadcasts to " + toString(x.shape));
  Value positive = emit.clamp(x, 0.0f, largest, "positive");
  Value negative = emit.clamp(x, -largest, 0.0f, "negative");
  return at.output(emit.add(positive, emit.mul(negative, slope, "scale")));
}

Status convertIdentity(const NodeContext &at) {
  if (at.node.outputs.size() > 1 && !at.node.outputs[1].empty() &&
      at.uses.count(at.node.outputs[1]))
    return at.error("the mask of Dropout is used", "no reader of the second output");
  return at.output(at.input(0));
}

} // namespace conquer::importer
