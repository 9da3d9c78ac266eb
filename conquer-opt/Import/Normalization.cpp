//===- Normalization.cpp - batch normalisation, softmax and means -----------------------------===//
#include "conquer-opt/Import/NodeContext.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>
#include <cmath>

namespace conquer::importer {

/// y = x * scale / sqrt(variance + epsilon) + (bias - mean * ...), the factors computed in double.
Status convertBatchNormalization(const NodeContext &at) {
  const Value &x = at.input(0);
  if (at.node.getInt("training_mode", 0) != 0 || at.node.getInt("spatial", 1) != 1)
    return at.error("batch normalisation with statistics of the batch or per element",
                    "training_mode 0 and spatial 1", "export the model in evaluation mode");
  if (x.rank() < 2)
    return at.error("input of rank " + std::to_string(x.rank()), "at least 2");
  for (size_t i = 1; i < 5; ++i)
    if (!at.constant(i) || at.constant(i)->shape != Shape{x.shape[1]})
      return at.error("input '" + at.node.inputs[i] +
                          "' is not a constant of one number per channel",
                      toString({x.shape[1]}));
  const auto &scale = at.constant(1)->floats, &bias = at.constant(2)->floats;
  const auto &mean = at.constant(3)->floats, &variance = at.constant(4)->floats;
  double epsilon = at.node.getFloat("epsilon", 1e-5f);
  std::vector<float> factor, offset;
  for (size_t c = 0; c < scale.size(); ++c) {
    if (!(variance[c] + epsilon > 0))
      return at.error("the variance of channel " + std::to_string(c) + " is negative, zero or nan",
                      "variance + epsilon above 0");
    double f = scale[c] / std::sqrt(variance[c] + epsilon);
    factor.push_back(static_cast<float>(f));
    offset.push_back(static_cast<float>(bias[c] - mean[c] * f));
  }
  Shape shape(x.rank() - 1, 1);
  shape[0] = x.shape[1];
  Value scaled = at.emit.mul(x, at.emit.constantValue(shape, std::move(factor)), "scale");
  return at.output(at.emit.add(scaled, at.emit.constantValue(shape, std::move(offset))));
}

/// exp(x - max) / sum. Before operator set 13 over all axes from `axis` (default 1) on, then over
/// one axis (default the last).
Status convertSoftmax(const NodeContext &at) {
  Emitter &emit = at.emit;
  const Value &x = at.input(0);
  bool trailing = at.opset() < 13;
  int64_t given = at.node.getInt("axis", trailing ? 1 : -1);
  int64_t end = x.rank();
  Result<int64_t> first = trailing && given == end ? Result<int64_t>(end) : at.axis(given, end);
  if (!first)
    return first.error();
  if (!trailing)
    end = *first + 1;
  Value maximum = x;
  for (int64_t axis = *first; axis < end; ++axis)
    maximum = emit.reduceMax(maximum, axis, "max");
  Value exponentials = emit.unary<mlir::tosa::ExpOp>(emit.sub(x, maximum, "sub"), "exp");
  Value sum = exponentials;
  for (int64_t axis = *first; axis < end; ++axis)
    sum = emit.reduceSum(sum, axis, "sum");
  return at.output(emit.mul(exponentials, emit.reciprocal(sum, "reciprocal")));
}

Status convertReduceMean(const NodeContext &at) {
  const Value &x = at.input(0);
  Result<std::optional<std::vector<int64_t>>> given = at.integers(1, "axes");
  if (!given)
    return given.error();
  std::vector<int64_t> wanted = given->value_or(std::vector<int64_t>());
  if (wanted.empty() && at.node.getInt("noop_with_empty_axes", 0) != 0)
    return at.output(x);
  if (wanted.empty())
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      wanted.push_back(axis);
  Result<std::vector<int64_t>> axes = at.axes(wanted, x.rank());
  if (!axes)
    return axes.error();
  std::sort(axes->begin(), axes->end());

  Shape kept;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!std::binary_search(axes->begin(), axes->end(), axis))
      kept.push_back(x.shape[axis]);
  Value y = x;
  if (x.rank() == 4 && *axes == std::vector<int64_t>{2, 3}) {
    std::vector<Axis> window(2);
    for (size_t i = 0; i < 2; ++i) {
      window[i].input = window[i].kernel = x.shape[2 + i];
      window[i].output = 1;
    }
    y = at.emit.averagePool(x, window);
  } else {
    int64_t count = 1;
    for (int64_t axis : *axes) {
      count *= x.shape[axis];
      y = at.emit.reduceSum(y, axis, "sum");
    }
    y = at.emit.mul(y, at.emit.scalar(static_cast<float>(1.0 / count)));
  }
  return at.output(at.node.getInt("keepdims", 1) ? y : at.emit.reshape(y, kept, "reshape"));
}

} // namespace conquer::importer
