//===- Layers.h - the layers of a network and what flows between them -------------------------===//
//
// The content of layers.json (docs/formats.md): what the search reads of a network. Plain C++
// without MLIR; CollectLayers.h makes one from prepared IR.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_ANALYSIS_LAYERS_H
#define CONQUER_OPT_ANALYSIS_LAYERS_H

#include "hardware/Precision.h"

#include <cstdint>
#include <string>
#include <vector>

namespace conquer {

/// An input or output of the network.
struct NetworkValue {
  std::string id;
  std::vector<int64_t> shape;
};

/// One quantisable op. Shapes are as in TOSA (images N, H, W, C).
struct Layer {
  std::string id;
  std::string op; ///< as profiles spell it: "conv2d", "depthwise_conv2d", ...
  std::vector<int64_t> inputShape, outputShape;
  std::vector<int64_t> weightShape; ///< conv2d [OC, KH, KW, IC], depthwise [KH, KW, C, M], matmul
                                    ///< [K, N]
  std::vector<int64_t> stride, dilation; ///< y, x; 1, 1 for a matmul
  std::vector<int64_t> pad;              ///< top, bottom, left, right; out_pad of transpose_conv2d
  int64_t macs = 0;                      ///< multiply-accumulates, padding counted as work
  int64_t weights = 0;                   ///< constant weights without bias; 0 if both operands of
                                         ///< a matmul are activations
  std::string signature;             ///< layers of equal signature cost the same in one precision
  std::vector<Precision> precisions; ///< the alphabet of the layer's gene, f32 first
};

/// A tensor that leaves layer (or input) `from` and reaches layer (or output) `to` through ops
/// without a policy only.
struct Edge {
  std::string from, to;
  int64_t elements = 0; ///< size of the tensor at the reader
};

/// A network as the search sees it. Layers are in execution order.
struct LayerList {
  std::vector<NetworkValue> inputs, outputs;
  std::vector<Layer> layers;
  std::vector<Edge> edges;
};

/// The text of layers.json, one layer a line.
std::string layersToJson(const LayerList &list);

} // namespace conquer

#endif // CONQUER_OPT_ANALYSIS_LAYERS_H
