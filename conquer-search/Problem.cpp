//===- Problem.cpp - the files a search starts from -------------------------------------------===//

#include "conquer-search/Problem.h"

#include "support/Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace conquer {

namespace {

/// The precision called `name`; a mistake at `field` otherwise.
Precision readPrecision(JsonReader &reader, const std::string &field, const std::string &name) {
  std::optional<Precision> precision = parsePrecision(name);
  if (!precision)
    reader.fail(field, "unknown precision '" + name + "'",
                "one of " + precisionNames(allPrecisions));
  return precision.value_or(Precision::F32);
}

/// A number that is at least 0.
double readTime(JsonReader &reader, const std::string &field) {
  double value = reader.number(field);
  if (value < 0)
    reader.fail(field, "is " + std::to_string(value), "at least 0");
  return value;
}

/// The ids of "inputs" or "outputs".
std::vector<std::string> readEndpoints(JsonReader &file, const std::string &field) {
  std::vector<std::string> ids;
  for (JsonReader &entry : file.objects(field)) {
    ids.push_back(entry.string("id"));
    entry.integers("shape");
    entry.finish();
  }
  return ids;
}

Layer readLayer(JsonReader &entry) {
  Layer layer;
  layer.id = entry.string("id");
  layer.signature = entry.string("signature");
  layer.weights = entry.integer("weights");
  if (layer.weights < 0)
    entry.fail("weights", "is " + std::to_string(layer.weights), "at least 0");
  for (const std::string &name : entry.strings("precisions")) {
    Precision precision = readPrecision(entry, "precisions", name);
    if (std::count(layer.precisions.begin(), layer.precisions.end(), precision))
      entry.fail("precisions", "has '" + name + "' twice", "each precision once");
    layer.precisions.push_back(precision);
  }
  if (layer.precisions.empty())
    entry.fail("precisions", "is empty", "at least one precision");
  // The rest describes the work to people and to other programs.
  entry.string("op");
  entry.integer("macs");
  for (const char *field : {"input_shape", "output_shape"})
    entry.integers(field);
  for (const char *field : {"weight_shape", "stride", "dilation", "pad"})
    if (entry.has(field))
      entry.integers(field);
  entry.finish();
  return layer;
}

/// The place of `id` in `ids`, or -1.
int indexOf(const std::vector<std::string> &ids, const std::string &id) {
  auto found = std::find(ids.begin(), ids.end(), id);
  return found == ids.end() ? -1 : static_cast<int>(found - ids.begin());
}

/// Layer ids, input ids and output ids by which edges name their ends.
struct Names {
  std::map<std::string, int> layers;
  std::vector<std::string> inputs, outputs;
};

Edge readEdge(JsonReader &entry, const Names &names) {
  Edge edge{0, -1, -1, entry.integer("elements")};
  if (edge.elements < 1)
    entry.fail("elements", "is " + std::to_string(edge.elements), "at least 1");
  std::string from = entry.string("from"), to = entry.string("to");
  if (auto layer = names.layers.find(from); layer != names.layers.end()) {
    edge.from = layer->second;
    edge.source = edge.from;
  } else if (int input = indexOf(names.inputs, from); input >= 0) {
    edge.source = names.layers.size() + input;
  } else {
    entry.fail("from", "'" + from + "' is no layer and no input", "the id of one");
  }
  auto layer = names.layers.find(to);
  if (layer != names.layers.end() && layer->second > edge.from)
    edge.to = layer->second;
  else if (indexOf(names.outputs, to) < 0)
    entry.fail("to", "'" + to + "' is no later layer and no output", "the id of one");
  entry.finish();
  return edge;
}

} // namespace

Result<Network> Network::read(const std::string &path) {
  auto json = readJsonFile(path);
  if (!json)
    return json.error();
  JsonReader file(*json, path);
  file.header("conquer.layers");
  Names names;
  names.inputs = readEndpoints(file, "inputs");
  names.outputs = readEndpoints(file, "outputs");
  Network network;
  for (JsonReader &entry : file.objects("layers")) {
    network.layers.push_back(readLayer(entry));
    const std::string &id = network.layers.back().id;
    if (!names.layers.emplace(id, static_cast<int>(names.layers.size())).second)
      entry.fail("id", "'" + id + "' is used twice", "unique layer ids");
  }
  if (network.layers.empty())
    file.fail("layers", "is empty", "at least one layer to choose a precision for");
  for (JsonReader &entry : file.objects("edges"))
    network.edges.push_back(readEdge(entry, names));
  file.finish();
  if (Status status = file.status(); !status)
    return status.error();
  return network;
}

Result<SensitivityTable> SensitivityTable::read(const std::string &path, const Network &network) {
  auto json = readJsonFile(path);
  if (!json)
    return json.error();
  JsonReader file(*json, path);
  file.header("conquer.sensitivity");
  file.integer("samples");
  JsonReader layers = file.object("layers");
  SensitivityTable table;
  for (const Layer &layer : network.layers) {
    auto &row = table.layers.emplace_back();
    row[precisionIndex(Precision::F32)] = Sensitivity{};
    // A layer that is f32 whatever happens needs no entry.
    if (layer.precisions == std::vector<Precision>{Precision::F32} && !layers.has(layer.id))
      continue;
    JsonReader entry = layers.object(layer.id);
    for (const std::string &name : entry.keys()) {
      Precision precision = readPrecision(entry, name, name);
      JsonReader values = entry.object(name);
      Sensitivity sensitivity;
      sensitivity.noise = std::pow(10, -std::clamp(values.number("sqnr_db"), -100.0, 200.0) / 10);
      sensitivity.kl = values.number("kl");
      if (sensitivity.kl < -1e-6)
        values.fail("kl", "is " + std::to_string(sensitivity.kl), "at least 0");
      values.number("agreement");
      if (values.has("accuracy_drop"))
        sensitivity.accuracyDrop = values.number("accuracy_drop");
      values.finish();
      row[precisionIndex(precision)] = sensitivity;
    }
    for (Precision precision : layer.precisions)
      if (!row[precisionIndex(precision)])
        entry.fail(std::string(precisionName(precision)), "missing field",
                   "the sensitivity of every precision that layers.json allows",
                   "run the sensitivity analysis again");
  }
  layers.finish();
  file.finish();
  if (Status status = file.status(); !status)
    return status.error();
  return table;
}

namespace {

void readConversion(JsonReader &entry, LatencyTable &table) {
  Precision from = readPrecision(entry, "from", entry.string("from"));
  Precision to = readPrecision(entry, "to", entry.string("to"));
  if (entry.ok() && activationForm(from) == activationForm(to))
    entry.fail("to", "converts to the form that the value has already", "another form");
  int64_t elements = entry.integer("elements");
  if (elements < 1)
    entry.fail("elements", "is " + std::to_string(elements), "at least 1");
  double milliseconds = readTime(entry, "measured_ms");
  readTime(entry, "spread_ms");
  entry.finish();
  table.conversions[{activationForm(from), activationForm(to)}].push_back({elements, milliseconds});
}

/// Sorts by size and replaces entries of one size by their mean.
void tidy(std::vector<LatencyTable::Conversion> &entries) {
  std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
    return std::pair(a.elements, a.milliseconds) < std::pair(b.elements, b.milliseconds);
  });
  std::vector<LatencyTable::Conversion> merged;
  for (size_t i = 0; i < entries.size();) {
    double sum = 0;
    size_t end = i;
    for (; end < entries.size() && entries[end].elements == entries[i].elements; ++end)
      sum += entries[end].milliseconds;
    merged.push_back({entries[i].elements, sum / static_cast<double>(end - i)});
    i = end;
  }
  entries = std::move(merged);
}

} // namespace

Result<LatencyTable> LatencyTable::read(const std::string &path) {
  auto json = readJsonFile(path);
  if (!json)
    return json.error();
  JsonReader file(*json, path);
  file.header("conquer.latency_table");
  file.string("device");
  file.string("profile");
  file.integer("threads");
  file.integer("repetitions");
  LatencyTable table;
  JsonReader layers = file.object("layers");
  for (const std::string &signature : layers.keys()) {
    JsonReader entry = layers.object(signature);
    for (const std::string &name : entry.keys()) {
      Precision precision = readPrecision(entry, name, name);
      JsonReader values = entry.object(name);
      table.layers[signature][precisionIndex(precision)] = readTime(values, "measured_ms");
      readTime(values, "spread_ms");
      values.finish();
    }
  }
  for (JsonReader &entry : file.objects("conversions"))
    readConversion(entry, table);
  file.finish();
  if (Status status = file.status(); !status)
    return status.error();
  for (auto &[pair, entries] : table.conversions)
    tidy(entries);
  return table;
}

} // namespace conquer
