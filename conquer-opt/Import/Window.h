//===- Window.h - geometry of convolution and pooling windows ---------------------------------===//
//
// ONNX states a sliding window by kernel, strides, dilations and either pads or auto_pad, and lets
// it leave a tail of the input unused; TOSA wants the window to fit exactly. The arithmetic between
// the two is here, without MLIR.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_IMPORT_WINDOW_H
#define CONQUER_OPT_IMPORT_WINDOW_H

#include "conquer-opt/Import/OnnxModel.h"

namespace conquer::importer {

/// A sliding window along one spatial axis; sizes in elements.
struct Axis {
  int64_t input = 0, kernel = 1, stride = 1, dilation = 1;
  int64_t padBegin = 0, padEnd = 0; ///< as the model says, after auto_pad
  int64_t output = 0;               ///< at least 1

  /// Elements that one window covers.
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  /// Elements that the windows need behind the input. Negative: that many elements at the end of
  /// the input (with its padding) are never read.
  int64_t needBehind() const { return (output - 1) * stride + extent() - input - padBegin; }
  /// Padding at the end and elements to cut off the input, so that the windows fit exactly.
  int64_t exactPadEnd() const { return needBehind() > 0 ? needBehind() : 0; }
  int64_t crop() const { return needBehind() < 0 ? -needBehind() : 0; }
};

/// Reads strides, dilations, pads, auto_pad and ceil_mode of a node, one Axis per spatial
/// dimension. `kernel` is the kernel's shape; errors are lists of another length, values out of
/// range, unknown auto_pad and windows larger than their padded input. `where` begins the message.
Result<std::vector<Axis>> readWindow(const Node &node, const Shape &spatialInput,
                                     const Shape &kernel, const std::string &where);

} // namespace conquer::importer

#endif // CONQUER_OPT_IMPORT_WINDOW_H
