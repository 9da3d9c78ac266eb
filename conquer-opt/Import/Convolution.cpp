//===- Convolution.cpp - ONNX's Conv ----------------------------------------------------------===//
#include "conquer-opt/Import/NodeContext.h"

namespace conquer::importer {
namespace {

struct Conv {
  Value x; ///< N, C, H, W
  Tensor weight;
  std::vector<float> bias;
  int64_t group;
};

Error badShapes(const NodeContext &at, const Shape &weight, int64_t group) {
  return at.error("weights of shape " + toString(weight) + " and " + std::to_string(group) +
                      " groups do not fit the input of shape " + toString(at.input(0).shape),
                  "weights [outputs, channels / groups, kernel...] with outputs and channels "
                  "multiples of the groups");
}

/// Checks the operands. A convolution along one axis becomes one along two, the first of size 1.
Result<Conv> readConv(const NodeContext &at) {
  const Tensor *weight = at.constant(1);
  if (!weight)
    return at.error("the weights are computed", "constant weights");
  Conv conv{at.input(0), *weight, {}, at.node.getInt("group", 1)};
  int64_t rank = conv.x.rank();
  if (rank != 3 && rank != 4)
    return at.error("input of rank " + std::to_string(rank), "rank 4 (images) or 3 (sequences)");
  const Shape &w = weight->shape;
  bool fits = static_cast<int64_t>(w.size()) == rank && conv.group >= 1 &&
              conv.x.shape[1] % conv.group == 0 && w[0] % conv.group == 0 &&
              w[1] == conv.x.shape[1] / conv.group;
  if (!fits)
    return badShapes(at, w, conv.group);
  Result<const Tensor *> bias = at.optionalConstant(2);
  if (!bias)
    return bias.error();
  if (*bias && (*bias)->shape != Shape{w[0]})
    return at.error("bias of shape " + toString((*bias)->shape), toString({w[0]}));
  conv.bias = *bias ? (*bias)->floats : std::vector<float>(w[0], 0.0f);
  return conv;
}

/// TOSA has no groups: one convolution per group, on slices.
Value convolveGroups(Emitter &emit, const Conv &conv, const std::vector<Axis> &window) {
  int64_t inputs = conv.x.shape[1] / conv.group, outputs = conv.weight.shape[0] / conv.group;
  int64_t perGroup = elementCount(conv.weight.shape) / conv.group;
  std::vector<Value> parts;
  for (int64_t group = 0; group < conv.group; ++group) {
    Shape size = conv.x.shape;
    size[1] = inputs;
    Value part = emit.slice(conv.x, {0, group * inputs, 0, 0}, size, "slice");
    Tensor weight;
    weight.shape = conv.weight.shape;
    weight.shape[0] = outputs;
    auto begin = conv.weight.floats.begin() + group * perGroup;
    weight.floats.assign(begin, begin + perGroup);
    auto bias = conv.bias.begin() + group * outputs;
    parts.push_back(emit.conv2d(part, weight, std::vector<float>(bias, bias + outputs), window));
  }
  return emit.concat(parts, 1, "concat");
}

} // namespace

Status convertConv(const NodeContext &at) {
  Result<Conv> read = readConv(at);
  if (!read)
    return read.error();
  Conv &conv = *read;
  Shape spatial(conv.x.shape.begin() + 2, conv.x.shape.end());
  Shape kernel(conv.weight.shape.begin() + 2, conv.weight.shape.end());
  if (at.node.getInts("kernel_shape", kernel) != kernel)
    return at.error("kernel_shape " + toString(at.node.getInts("kernel_shape", {})),
                    toString(kernel) + " as the weights are");
  Result<std::vector<Axis>> window = readWindow(at.node, spatial, kernel, at.where());
  if (!window)
    return window.error();
  bool sequence = window->size() == 1;
  if (sequence) {
    Axis one;
    one.input = one.output = 1;
    window->insert(window->begin(), one);
    conv.weight.shape.insert(conv.weight.shape.begin() + 2, 1);
    conv.x =
        at.emit.reshape(conv.x, {conv.x.shape[0], conv.x.shape[1], 1, conv.x.shape[2]}, "reshape");
  }
  // One size of all layouts keeps the slices of the groups in N, H, W, C.
  conv.x = at.emit.cropped(conv.x, *window);
  for (Axis &axis : *window)
    axis.input -= axis.crop();
  bool depthwise = conv.group > 1 && conv.group == conv.x.shape[1];
  Value y = conv.group == 1 ? at.emit.conv2d(conv.x, conv.weight, conv.bias, *window)
            : depthwise     ? at.emit.depthwise(conv.x, conv.weight, conv.bias, *window)
                            : convolveGroups(at.emit, conv, *window);
  if (sequence)
    y = at.emit.reshape(y, {y.shape[0], y.shape[1], y.shape[3]}, "reshape");
  return at.output(y);
}

} // namespace conquer::importer
