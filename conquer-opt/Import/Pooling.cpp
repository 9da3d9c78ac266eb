//===- Pooling.cpp - pools over windows and whole images --------------------------------------===//
#include "conquer-opt/Import/NodeContext.h"

namespace conquer::importer {
namespace {

struct Pool {
  Value x; ///< N, C, H, W
  std::vector<Axis> window;
  bool sequence; ///< the model's input has one spatial axis

  /// The result in the model's rank.
  Value unwrapped(Emitter &emit, const Value &y) const {
    return sequence ? emit.reshape(y, {y.shape[0], y.shape[1], y.shape[3]}, "reshape") : y;
  }
};

Result<Pool> readPool(const NodeContext &at) {
  Pool pool{at.input(0), {}, at.input(0).rank() == 3};
  Shape &shape = pool.x.shape;
  if (shape.size() != 3 && shape.size() != 4)
    return at.error("input of rank " + std::to_string(shape.size()),
                    "rank 4 (images) or 3 (sequences)");
  Shape spatial(shape.begin() + 2, shape.end());
  Result<std::vector<Axis>> window =
      readWindow(at.node, spatial, at.node.getInts("kernel_shape", {}), at.where());
  if (!window)
    return window.error();
  for (const Axis &axis : *window) {
    if (axis.dilation != 1)
      return at.error("dilations " + toString(at.node.getInts("dilations", {})), "1");
    if (axis.padBegin >= axis.kernel || axis.padEnd >= axis.kernel)
      return at.error("pads " + toString(at.node.getInts("pads", {})),
                      "pads smaller than the kernel");
  }
  pool.window = std::move(*window);
  if (pool.sequence) {
    Axis one;
    one.input = one.output = 1;
    pool.window.insert(pool.window.begin(), one);
    pool.x = at.emit.reshape(pool.x, {shape[0], shape[1], 1, shape[2]}, "reshape");
  }
  return pool;
}

/// The window that covers a whole image.
std::vector<Axis> wholeImage(const Shape &shape) {
  std::vector<Axis> window(2);
  for (size_t i = 0; i < 2; ++i) {
    window[i].input = window[i].kernel = shape[2 + i];
    window[i].output = 1;
  }
  return window;
}

} // namespace

Status convertMaxPool(const NodeContext &at) {
  if (at.node.outputs.size() > 1 && at.uses.count(at.node.outputs[1]))
    return at.error("the indices of the maxima are used", "no reader of the second output");
  Result<Pool> pool = readPool(at);
  if (!pool)
    return pool.error();
  Value y = at.emit.maxPool(pool->x, pool->window);
  return at.output(pool->unwrapped(at.emit, y));
}

Status convertAveragePool(const NodeContext &at) {
  Result<Pool> pool = readPool(at);
  if (!pool)
    return pool.error();
  // TOSA never counts padding. Where ONNX does, it becomes part of the image; what a last window
  // has beyond the padding (ceil_mode) stays uncounted in both.
  if (at.node.getInt("count_include_pad", 0) != 0) {
    Shape before(4, 0), behind(4, 0);
    for (size_t i = 0; i < 2; ++i) {
      Axis &axis = pool->window[i];
      before[2 + i] = axis.padBegin;
      behind[2 + i] = axis.padEnd;
      axis.input += axis.padBegin + axis.padEnd;
      axis.padBegin = axis.padEnd = 0;
    }
    pool->x = at.emit.pad(at.emit.held(pool->x, Layout::ChannelsLast), before, behind, 0.0f, "pad");
  }
  Value y = at.emit.averagePool(pool->x, pool->window);
  return at.output(pool->unwrapped(at.emit, y));
}

Status convertGlobalAveragePool(const NodeContext &at) {
  const Value &x = at.input(0);
  if (x.rank() == 3) {
    Value image = at.emit.reshape(x, {x.shape[0], x.shape[1], 1, x.shape[2]}, "reshape");
    Value y = at.emit.averagePool(image, wholeImage(image.shape));
    return at.output(at.emit.reshape(y, {x.shape[0], x.shape[1], 1}, "reshape"));
  }
  if (x.rank() != 4)
    return at.error("input of rank " + std::to_string(x.rank()),
                    "rank 4 (images) or 3 (sequences)");
  return at.output(at.emit.averagePool(x, wholeImage(x.shape)));
}

Status convertGlobalMaxPool(const NodeContext &at) {
  Value x = at.input(0);
  if (x.rank() < 3)
    return at.error("input of rank " + std::to_string(x.rank()), "at least 3");
  for (int64_t axis = 2; axis < x.rank(); ++axis)
    x = at.emit.reduceMax(x, axis, axis + 1 == x.rank() ? "" : "partial");
  return at.output(x);
}

} // namespace conquer::importer
