//===- Arithmetic.cpp - operators of two or more activations ----------------------------------===//
#include "conquer-opt/Import/NodeContext.h"

namespace conquer::importer {
namespace {

using Binary = Value (Emitter::*)(const Value &, const Value &, const std::string &);

/// Folds the inputs from the left; the last op is the node's principal one.
Status fold(const NodeContext &at, Binary op) {
  Value result = at.input(0);
  for (size_t i = 1; i < at.node.inputs.size(); ++i) {
    const Value &next = at.input(i);
    Shape shape;
    if (!broadcast(result.shape, next.shape, shape))
      return at.error("shapes " + toString(result.shape) + " and " + toString(next.shape) +
                          " do not go together",
                      "shapes that broadcast");
    if (elementCount(shape) < 1)
      return at.error("the result has the shape " + toString(shape), "at most 2^31 elements");
    bool last = i + 1 == at.node.inputs.size();
    result = (at.emit.*op)(result, next, last ? "" : "partial");
  }
  return at.output(result);
}

} // namespace

Status convertAdd(const NodeContext &at) { return fold(at, &Emitter::add); }
Status convertSub(const NodeContext &at) { return fold(at, &Emitter::sub); }
Status convertMul(const NodeContext &at) { return fold(at, &Emitter::mul); }
Status convertMax(const NodeContext &at) { return fold(at, &Emitter::maximum); }
Status convertMin(const NodeContext &at) { return fold(at, &Emitter::minimum); }

/// TOSA divides by multiplying with the reciprocal.
Status convertDiv(const NodeContext &at) {
  const Value &x = at.input(0), &divisor = at.input(1);
  Shape shape;
  if (!broadcast(x.shape, divisor.shape, shape))
    return at.error("shapes " + toString(x.shape) + " and " + toString(divisor.shape) +
                        " do not go together",
                    "shapes that broadcast");
  if (elementCount(shape) < 1)
    return at.error("the result has the shape " + toString(shape), "at most 2^31 elements");
  if (!divisor.constant)
    return at.output(at.emit.mul(x, at.emit.reciprocal(divisor, "reciprocal")));
  std::vector<float> inverse = divisor.constant->floats;
  for (float &element : inverse) {
    if (element == 0.0f)
      return at.error("the constant divisor contains 0", "numbers other than 0");
    element = static_cast<float>(1.0 / element);
  }
  return at.output(at.emit.mul(x, at.emit.constantValue(divisor.shape, std::move(inverse))));
}

} // namespace conquer::importer
