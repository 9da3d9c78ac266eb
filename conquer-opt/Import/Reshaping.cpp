//===- Reshaping.cpp - operators that give the same elements another shape --------------------===//
#include "conquer-opt/Import/NodeContext.h"

#include <algorithm>

namespace conquer::importer {
namespace {

Error otherCount(const NodeContext &at, const std::vector<int64_t> &target) {
  return at.error("the target shape " + toString(target) + " has not as many elements as " +
                      toString(at.input(0).shape),
                  "the same number of elements");
}

} // namespace

Status convertConstant(const NodeContext &at) {
  const Node &node = at.node;
  if (node.attributes.size() != 1)
    return at.error("a constant with " + std::to_string(node.attributes.size()) + " values",
                    "one attribute");
  const auto &[name, attribute] = *node.attributes.begin();
  Value value;
  if (name == "value" && !attribute.tensor.isFloat)
    value.constant = &attribute.tensor;
  else if (name == "value")
    value = at.emit.constantValue(attribute.tensor.shape, attribute.tensor.floats);
  else if (name == "value_float")
    value = at.emit.scalar(attribute.f);
  else if (name == "value_floats")
    value =
        at.emit.constantValue({static_cast<int64_t>(attribute.floats.size())}, attribute.floats);
  else
    return at.error("an integer constant by attribute '" + name + "'", "attribute 'value'",
                    "run `conquer import`, which folds it");
  value.shape = value.constant->shape;
  return at.output(std::move(value));
}

Status convertFlatten(const NodeContext &at) {
  const Value &x = at.input(0);
  int64_t given = at.node.getInt("axis", 1);
  Result<int64_t> axis = given == x.rank() ? Result<int64_t>(given) : at.axis(given, x.rank());
  if (!axis)
    return axis.error();
  int64_t rows = 1, columns = 1;
  for (int64_t i = 0; i < x.rank(); ++i)
    (i < *axis ? rows : columns) *= x.shape[i];
  return at.output(at.emit.reshape(x, {rows, columns}));
}

/// 0 keeps a dimension (unless allowzero), -1 takes what is left.
Status convertReshape(const NodeContext &at) {
  const Value &x = at.input(0);
  Result<std::optional<std::vector<int64_t>>> given = at.integers(1, "shape");
  if (!given)
    return given.error();
  if (!*given)
    return at.error("the shape is computed", "a constant");
  std::vector<int64_t> target = **given;
  int64_t unknown = -1, known = 1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] == 0 && at.node.getInt("allowzero", 0) == 0 && i < x.shape.size())
      target[i] = x.shape[i];
    if (target[i] == -1 && unknown < 0) {
      unknown = static_cast<int64_t>(i);
      continue;
    }
    if (target[i] < 1 || target[i] > maxElements || known > maxElements)
      return otherCount(at, **given);
    known *= target[i];
  }
  int64_t count = elementCount(x.shape);
  if (unknown >= 0 && known <= count)
    target[unknown] = count / known;
  if (elementCount(target) != count)
    return otherCount(at, **given);
  return at.output(at.emit.reshape(x, target));
}

Status convertSqueeze(const NodeContext &at) {
  const Value &x = at.input(0);
  Result<std::optional<std::vector<int64_t>>> given = at.integers(1, "axes");
  if (!given)
    return given.error();
  std::vector<int64_t> wanted = given->value_or(std::vector<int64_t>());
  if (!*given)
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      if (x.shape[axis] == 1)
        wanted.push_back(axis);
  Result<std::vector<int64_t>> axes = at.axes(wanted, x.rank());
  if (!axes)
    return axes.error();
  Shape shape;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    bool drop = std::find(axes->begin(), axes->end(), axis) != axes->end();
    if (drop && x.shape[axis] != 1)
      return at.error("axis " + std::to_string(axis) + " of " + toString(x.shape) + " is not 1",
                      "axes of size 1");
    if (!drop)
      shape.push_back(x.shape[axis]);
  }
  return at.output(at.emit.reshape(x, shape));
}

Status convertUnsqueeze(const NodeContext &at) {
  const Value &x = at.input(0);
  Result<std::optional<std::vector<int64_t>>> given = at.integers(1, "axes");
  if (!given)
    return given.error();
  if (!*given || (*given)->size() > 8)
    return at.error("the node has no axes, or more than 8", "axes");
  int64_t rank = x.rank() + static_cast<int64_t>((*given)->size());
  Result<std::vector<int64_t>> axes = at.axes(**given, rank);
  if (!axes)
    return axes.error();
  Shape shape;
  size_t next = 0;
  for (int64_t axis = 0; axis < rank; ++axis)
    shape.push_back(std::find(axes->begin(), axes->end(), axis) != axes->end() ? 1
                                                                               : x.shape[next++]);
  return at.output(at.emit.reshape(x, shape));
}

Status convertTranspose(const NodeContext &at) {
  const Value &x = at.input(0);
  std::vector<int64_t> reversed;
  for (int64_t axis = x.rank(); axis-- > 0;)
    reversed.push_back(axis);
  Result<std::vector<int64_t>> permutation = at.axes(at.node.getInts("perm", reversed), x.rank());
  if (!permutation)
    return permutation.error();
  if (permutation->size() != x.shape.size())
    return at.error("perm " + toString(at.node.getInts("perm", {})),
                    "one entry per dimension of " + toString(x.shape));
  return at.output(at.emit.transpose(x, *permutation));
}

} // namespace conquer::importer
