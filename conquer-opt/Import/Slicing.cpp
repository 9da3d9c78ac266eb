//===- Slicing.cpp - operators that cut, join and pad -----------------------------------------===//
#include "conquer-opt/Import/NodeContext.h"

#include <algorithm>

namespace conquer::importer {
namespace {

using Integers = std::vector<int64_t>;

/// What Slice takes along one axis: start, start + step, ... (size elements).
struct Range {
  int64_t start, size, step;
};

/// Python's slice(start, end, step) for a step above 0, as start and number of elements.
Range clipped(int64_t start, int64_t end, int64_t step, int64_t length) {
  auto inside = [&](int64_t x) { return std::clamp<int64_t>(x < 0 ? x + length : x, 0, length); };
  int64_t begin = inside(start), stop = inside(end);
  return {begin, stop <= begin ? 0 : (stop - begin - 1) / step + 1, step};
}

Result<std::vector<Range>> readRanges(const NodeContext &at) {
  const Value &x = at.input(0);
  Integers lists[4];
  const char *attributes[] = {"starts", "ends", "axes", "steps"};
  for (size_t i = 0; i < 4; ++i) {
    Result<std::optional<Integers>> list = at.integers(1 + i, attributes[i]);
    if (!list)
      return list.error();
    if (i < 2 && !*list)
      return at.error(std::string(attributes[i]) + " is missing", "a list");
    Integers absent(lists[0].size(), 1);
    for (size_t k = 0; i == 2 && k < absent.size(); ++k)
      absent[k] = static_cast<int64_t>(k);
    lists[i] = list->value_or(absent);
    if (lists[i].size() != lists[0].size())
      return at.error(std::string(attributes[i]) + " has " + std::to_string(lists[i].size()) +
                          " entries",
                      std::to_string(lists[0].size()) + " as starts");
  }
  Result<Integers> axes = at.axes(lists[2], x.rank());
  if (!axes)
    return axes.error();
  std::vector<Range> ranges;
  for (int64_t dim : x.shape)
    ranges.push_back({0, dim, 1});
  for (size_t i = 0; i < axes->size(); ++i) {
    if (lists[3][i] < 1)
      return at.error("step " + std::to_string(lists[3][i]), "a step of at least 1");
    int64_t length = x.shape[(*axes)[i]];
    ranges[(*axes)[i]] = clipped(lists[0][i], lists[1][i], lists[3][i], length);
    if (ranges[(*axes)[i]].size == 0)
      return at.error("the slice along axis " + std::to_string((*axes)[i]) + " is empty",
                      "at least one element");
  }
  return ranges;
}

/// Every step-th element along one axis, by splitting the axis in two and keeping the first of each
/// group. The axis must be the one of the Value's own layout, hence plain tensors.
Value everyNth(Emitter &emit, Value x, int64_t axis, int64_t step) {
  Shape before(x.rank(), 0), behind(x.rank(), 0), shape = x.shape;
  behind[axis] = (step - shape[axis] % step) % step;
  x = emit.pad(x, before, behind, 0.0f, "pad");
  int64_t groups = x.shape[axis] / step;
  // The axes before and behind are joined, so that the rank stays small.
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < x.rank(); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  x = emit.reshape(x, {outer, groups, step, inner}, "reshape");
  x = emit.slice(x, {0, 0, 0, 0}, {outer, groups, 1, inner}, "stride");
  shape[axis] = groups;
  return emit.reshape(x, shape, "reshape");
}

Result<float> padValue(const NodeContext &at) {
  if (at.node.has("value"))
    return at.node.getFloat("value", 0.0f);
  Result<const Tensor *> fill = at.optionalConstant(2);
  if (!fill)
    return fill.error();
  if (!*fill)
    return 0.0f;
  if (elementCount((*fill)->shape) != 1)
    return at.error("fill value of shape " + toString((*fill)->shape), "one number");
  return (*fill)->floats.front();
}

} // namespace

Status convertSlice(const NodeContext &at) {
  Result<std::vector<Range>> ranges = readRanges(at);
  if (!ranges)
    return ranges.error();
  Value x = at.input(0);
  if (x.constant)
    x = at.emit.held(x, Layout::Model);
  Shape start, size;
  bool strided = false;
  for (const Range &range : *ranges) {
    start.push_back(range.start);
    size.push_back((range.size - 1) * range.step + 1);
    strided |= range.step > 1 && range.size > 1;
  }
  Value y = at.emit.slice(x, start, size);
  if (strided)
    y = at.emit.held(y, Layout::Model);
  for (int64_t axis = 0; axis < y.rank(); ++axis)
    if ((*ranges)[axis].step > 1 && (*ranges)[axis].size > 1)
      y = everyNth(at.emit, y, axis, (*ranges)[axis].step);
  return at.output(y);
}

Status convertSplit(const NodeContext &at) {
  const Value &x = at.input(0);
  Result<int64_t> axis = at.axis(at.node.getInt("axis", 0), x.rank());
  if (!axis)
    return axis.error();
  Result<std::optional<Integers>> given = at.integers(1, "split");
  if (!given)
    return given.error();
  int64_t count = static_cast<int64_t>(at.node.outputs.size()), length = x.shape[*axis];
  // Equal parts, the last one smaller if they do not divide the axis.
  int64_t part = (length + count - 1) / count;
  Integers equal(count, part);
  equal.back() = length - part * (count - 1);
  Integers sizes = given->value_or(equal);
  int64_t left = length;
  for (int64_t size : sizes)
    left = size < 1 || size > left ? -1 : left - size;
  if (left != 0 || sizes.size() != at.node.outputs.size())
    return at.error("parts of " + toString(sizes) + " for " + std::to_string(count) +
                        " outputs of an axis of " + std::to_string(length),
                    "one part of at least 1 per output, together the axis");
  Shape start(x.rank(), 0), size = x.shape;
  for (size_t i = 0; i < sizes.size(); ++i) {
    size[*axis] = sizes[i];
    if (!at.node.outputs[i].empty())
      if (Status done = at.output(i, at.emit.slice(x, start, size)); !done)
        return done;
    start[*axis] += sizes[i];
  }
  return success();
}

Status convertConcat(const NodeContext &at) {
  const Value &first = at.input(0);
  if (!at.node.has("axis"))
    return at.error("the node has no axis", "attribute 'axis'");
  Result<int64_t> axis = at.axis(at.node.getInt("axis", 0), first.rank());
  if (!axis)
    return axis.error();
  std::vector<Value> parts;
  for (size_t i = 0; i < at.node.inputs.size(); ++i) {
    if (!at.hasInput(i))
      return at.error("input " + std::to_string(i) + " is left out", "an input");
    Shape shape = at.input(i).shape;
    if (shape.size() == first.shape.size())
      shape[*axis] = first.shape[*axis];
    if (shape != first.shape)
      return at.error("shapes " + toString(first.shape) + " and " + toString(at.input(i).shape),
                      "shapes that differ along the axis only");
    parts.push_back(at.input(i));
  }
  return at.output(at.emit.concat(parts, *axis));
}

/// Padding by a constant; negative padding cuts.
Status convertPad(const NodeContext &at) {
  const Value &x = at.input(0);
  if (std::string mode = at.node.getString("mode", "constant"); mode != "constant")
    return at.error("mode '" + mode + "'", "constant");
  Result<std::optional<Integers>> pads = at.integers(1, "pads"), given = at.integers(3, "axes");
  Result<float> fill = padValue(at);
  if (!pads)
    return pads.error();
  if (!given)
    return given.error();
  if (!fill)
    return fill.error();
  Integers all;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    all.push_back(axis);
  Result<Integers> axes = at.axes(given->value_or(all), x.rank());
  if (!axes)
    return axes.error();
  if (!*pads || (*pads)->size() != 2 * axes->size())
    return at.error("the number of pads is not two per axis", std::to_string(2 * axes->size()));
  Shape before(x.rank(), 0), behind(x.rank(), 0), start(x.rank(), 0), size = x.shape;
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t axis = (*axes)[i], low = (**pads)[i], high = (**pads)[axes->size() + i];
    if (std::max(low, high) > maxElements || std::min(low, high) < -maxElements)
      return at.error("pads " + toString(**pads), "at most 2^31 in size");
    before[axis] = std::max<int64_t>(low, 0);
    behind[axis] = std::max<int64_t>(high, 0);
    start[axis] = std::max<int64_t>(-low, 0);
    size[axis] -= start[axis] + std::max<int64_t>(-high, 0);
    if (size[axis] < 1)
      return at.error("pads " + toString(**pads) + " leave nothing of " + toString(x.shape),
                      "at least one element");
  }
  Shape result = size;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    result[axis] += before[axis] + behind[axis];
  if (elementCount(result) < 1)
    return at.error("the result has the shape " + toString(result), "at most 2^31 elements");
  Value cut = at.emit.slice(x, start, size, result == size ? "" : "slice");
  return at.output(at.emit.pad(cut, before, behind, *fill));
}

} // namespace conquer::importer
