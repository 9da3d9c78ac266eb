//===- Window.cpp - geometry of convolution and pooling windows -------------------------------===//
#include "conquer-opt/Import/Window.h"

#include <algorithm>

namespace conquer::importer {
namespace {

/// No network has a kernel or stride near this; it keeps products far from overflow.
constexpr int64_t maxExtent = int64_t(1) << 20;

/// Checks the length and the range of one list; "" if it is good.
std::string badList(const std::string &name, const std::vector<int64_t> &values, size_t length,
                    int64_t lowest) {
  bool good = values.size() == length;
  for (int64_t value : values)
    good &= value >= lowest && value <= maxExtent;
  return good ? "" : name + " " + toString(values);
}

/// Pads that make the output ceil(input / stride) long.
void padSame(Axis &axis, bool moreAtEnd) {
  axis.output = (axis.input + axis.stride - 1) / axis.stride;
  int64_t total =
      std::max<int64_t>(0, (axis.output - 1) * axis.stride + axis.extent() - axis.input);
  axis.padBegin = moreAtEnd ? total / 2 : total - total / 2;
  axis.padEnd = total - axis.padBegin;
}

/// Number of windows for given pads. With `ceil` a last window may hang over the end, but not start
/// behind the input.
void countWindows(Axis &axis, bool ceil) {
  int64_t room = axis.input + axis.padBegin + axis.padEnd - axis.extent();
  axis.output = room < 0 ? 0 : room / axis.stride + 1;
  if (ceil && room >= 0 && room % axis.stride != 0 &&
      axis.output * axis.stride < axis.input + axis.padBegin)
    ++axis.output;
}

} // namespace

Result<std::vector<Axis>> readWindow(const Node &node, const Shape &spatialInput,
                                     const Shape &kernel, const std::string &where) {
  size_t rank = spatialInput.size();
  std::vector<int64_t> strides = node.getInts("strides", std::vector<int64_t>(rank, 1));
  std::vector<int64_t> dilations = node.getInts("dilations", std::vector<int64_t>(rank, 1));
  std::vector<int64_t> pads = node.getInts("pads", std::vector<int64_t>(2 * rank, 0));
  std::string bad = badList("kernel shape", kernel, rank, 1);
  bad = bad.empty() ? badList("strides", strides, rank, 1) : bad;
  bad = bad.empty() ? badList("dilations", dilations, rank, 1) : bad;
  bad = bad.empty() ? badList("pads", pads, 2 * rank, 0) : bad;
  if (!bad.empty())
    return Error{bad, where,
                 "one value per spatial dimension of " + toString(spatialInput) +
                     " (two for pads), none negative, none above 2^20",
                 ""};
  std::string autoPad = node.getString("auto_pad", "NOTSET");
  if (autoPad != "NOTSET" && autoPad != "VALID" && autoPad != "SAME_UPPER" &&
      autoPad != "SAME_LOWER")
    return Error{"auto_pad '" + autoPad + "'", where, "NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                 ""};

  std::vector<Axis> window(rank);
  for (size_t i = 0; i < rank; ++i) {
    Axis &axis = window[i];
    axis.input = spatialInput[i];
    axis.kernel = kernel[i];
    axis.stride = strides[i];
    axis.dilation = dilations[i];
    if (autoPad == "NOTSET") {
      axis.padBegin = pads[i];
      axis.padEnd = pads[rank + i];
    }
    if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER")
      padSame(axis, autoPad == "SAME_UPPER");
    else
      countWindows(axis, node.getInt("ceil_mode", 0) != 0);
    if (axis.output < 1)
      return Error{"the window of " + std::to_string(axis.extent()) +
                       " elements is larger than its padded input of " +
                       std::to_string(axis.input + axis.padBegin + axis.padEnd),
                   where, "a smaller kernel or a larger input", ""};
  }
  return window;
}

} // namespace conquer::importer
