//===- LatencyIndex.h - what the functions of a latency module stand for ----------------------===//
#ifndef CONQUER_OPT_PIPELINES_LATENCYINDEX_H
#define CONQUER_OPT_PIPELINES_LATENCYINDEX_H

#include "hardware/Precision.h"

#include <cstdint>
#include <string>
#include <vector>

namespace conquer {

/// One function of the module: a layer in a precision, or a conversion; the one from f32 to f32
/// does next to nothing, for the time of a call.
struct LatencyFunction {
  std::string function;            ///< its exported name
  std::string signature;           ///< of the layer; empty for a conversion
  Precision from = Precision::F32; ///< the precision of the layer; for a conversion, of its input
  Precision to = Precision::F32;   ///< conversions only
  int64_t elements = 0;            ///< conversions only
  std::vector<std::string> inputs; ///< as iree-benchmark-module takes them: "1x28x28x32xi8"
};

/// The text of a conquer.latency_index file.
std::string latencyIndexToJson(const std::vector<LatencyFunction> &functions);

} // namespace conquer

#endif // CONQUER_OPT_PIPELINES_LATENCYINDEX_H
