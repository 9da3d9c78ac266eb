//===- Layers.cpp - writing layers.json -------------------------------------------------------===//

#include "conquer-opt/Analysis/Layers.h"

#include <nlohmann/json.hpp>

using namespace conquer;
using Json = nlohmann::ordered_json;

namespace {

Json valueToJson(const NetworkValue &value) { return {{"id", value.id}, {"shape", value.shape}}; }

Json layerToJson(const Layer &layer) {
  Json precisions = Json::array();
  for (Precision precision : layer.precisions)
    precisions.push_back(precisionName(precision));
  return {{"id", layer.id},
          {"op", layer.op},
          {"input_shape", layer.inputShape},
          {"output_shape", layer.outputShape},
          {"weight_shape", layer.weightShape},
          {"stride", layer.stride},
          {"dilation", layer.dilation},
          {"pad", layer.pad},
          {"macs", layer.macs},
          {"weights", layer.weights},
          {"signature", layer.signature},
          {"precisions", std::move(precisions)}};
}

/// "key": [one item a line].
template <typename Items, typename ToJson>
void appendArray(std::string &text, const char *key, const Items &items, ToJson toJson) {
  text += std::string(",\n \"") + key + "\": [";
  const char *separator = "\n  ";
  for (const auto &item : items) {
    // Node names are bytes of a foreign file; what is not UTF-8 is replaced instead of thrown at.
    text += separator + toJson(item).dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n  ";
  }
  text += "]";
}

} // namespace

std::string conquer::layersToJson(const LayerList &list) {
  std::string text = "{\"format\": \"conquer.layers\", \"version\": 1";
  appendArray(text, "inputs", list.inputs, valueToJson);
  appendArray(text, "outputs", list.outputs, valueToJson);
  appendArray(text, "layers", list.layers, layerToJson);
  appendArray(text, "edges", list.edges, [](const Edge &edge) {
    return Json{{"from", edge.from}, {"to", edge.to}, {"elements", edge.elements}};
  });
  return text + "}\n";
}
