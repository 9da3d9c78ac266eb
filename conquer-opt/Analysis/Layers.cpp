//===- Layers.cpp - reading and writing layers.json -------------------------------------------===//

#include "conquer-opt/Analysis/Layers.h"

#include "support/Json.h"

#include <nlohmann/json.hpp>

#include <set>

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

std::vector<int64_t> positiveIntegers(JsonReader &reader, const std::string &key, size_t least,
                                      size_t most) {
  std::vector<int64_t> values = reader.integers(key);
  if (!reader.ok())
    return values;
  if (values.size() < least || values.size() > most)
    reader.fail(key, "array has " + std::to_string(values.size()) + " elements",
                least == most ? std::to_string(least)
                              : std::to_string(least) + " to " + std::to_string(most));
  for (int64_t value : values)
    if (value < 1)
      reader.fail(key, "element is " + std::to_string(value), "at least 1");
  return values;
}

NetworkValue readValue(JsonReader &reader) {
  NetworkValue value{reader.string("id"), positiveIntegers(reader, "shape", 0, 64)};
  reader.finish();
  return value;
}

int64_t count(JsonReader &reader, const std::string &key) {
  int64_t value = reader.integer(key);
  if (value < 0)
    reader.fail(key, "value is " + std::to_string(value), "at least 0");
  return value;
}

std::vector<Precision> readPrecisions(JsonReader &reader) {
  std::vector<Precision> precisions;
  for (const std::string &name : reader.strings("precisions")) {
    if (auto precision = parsePrecision(name))
      precisions.push_back(*precision);
    else
      reader.fail("precisions", "unknown precision '" + name + "'");
  }
  if (reader.ok() && (precisions.empty() || precisions.front() != Precision::F32))
    reader.fail("precisions", "the first precision is not f32", "f32, then the others");
  return precisions;
}

Layer readLayer(JsonReader &reader) {
  Layer layer;
  layer.id = reader.string("id");
  layer.op = reader.string("op");
  layer.inputShape = positiveIntegers(reader, "input_shape", 3, 4);
  layer.outputShape = positiveIntegers(reader, "output_shape", 3, 4);
  layer.weightShape = positiveIntegers(reader, "weight_shape", 2, 4);
  layer.stride = positiveIntegers(reader, "stride", 2, 2);
  layer.dilation = positiveIntegers(reader, "dilation", 2, 2);
  layer.pad = reader.integers("pad");
  if (reader.ok() && layer.pad.size() != 4)
    reader.fail("pad", "array has " + std::to_string(layer.pad.size()) + " elements", "4");
  layer.macs = count(reader, "macs");
  layer.weights = count(reader, "weights");
  layer.signature = reader.string("signature");
  layer.precisions = readPrecisions(reader);
  reader.finish();
  return layer;
}

/// Ids are unique, and edges lead from inputs and layers to layers and outputs.
void checkIds(JsonReader &root, const LayerList &list) {
  std::set<std::string> sources, targets;
  auto add = [&](std::set<std::string> &ids, const char *key, const std::string &id) {
    if (!ids.insert(id).second)
      root.fail(key, "the id '" + id + "' occurs twice", "unique ids");
  };
  for (const NetworkValue &input : list.inputs)
    add(sources, "inputs", input.id);
  for (const Layer &layer : list.layers) {
    add(sources, "layers", layer.id);
    add(targets, "layers", layer.id);
  }
  for (const NetworkValue &output : list.outputs)
    add(targets, "outputs", output.id);
  for (const Edge &edge : list.edges) {
    if (!sources.count(edge.from))
      root.fail("edges", "unknown id '" + edge.from + "'", "an input or a layer");
    if (!targets.count(edge.to))
      root.fail("edges", "unknown id '" + edge.to + "'", "a layer or an output");
  }
}

Result<LayerList> fromJson(const Json &json, const std::string &where) {
  JsonReader root(json, where);
  root.header("conquer.layers");
  LayerList list;
  for (JsonReader &reader : root.objects("inputs"))
    list.inputs.push_back(readValue(reader));
  for (JsonReader &reader : root.objects("outputs"))
    list.outputs.push_back(readValue(reader));
  for (JsonReader &reader : root.objects("layers"))
    list.layers.push_back(readLayer(reader));
  for (JsonReader &reader : root.objects("edges")) {
    Edge edge{reader.string("from"), reader.string("to"), count(reader, "elements")};
    reader.finish();
    list.edges.push_back(std::move(edge));
  }
  root.finish();
  if (root.ok())
    checkIds(root, list);
  if (Status status = root.status(); !status)
    return status.error();
  return list;
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

Result<LayerList> conquer::parseLayers(std::string_view text, const std::string &where) {
  auto json = parseJson(text, where);
  if (!json)
    return json.error();
  return fromJson(*json, where);
}

Result<LayerList> conquer::readLayers(const std::string &path) {
  auto json = readJsonFile(path);
  if (!json)
    return json.error();
  return fromJson(*json, path);
}
