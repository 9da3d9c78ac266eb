//===- TestProblem.cpp - a small network and its truth for the tests --------------------------===//

#include "conquer-search/TestProblem.h"

#include "support/Json.h"

#include <cmath>

namespace conquer {

using Json = nlohmann::ordered_json;

namespace {

double speedOf(const std::string &precision) {
  return precision == "f32" ? 1 : precision == "bf16" ? 0.55 : precision == "i8" ? 0.3 : 0.35;
}

double bytesOf(const std::string &precision) {
  return precision == "f32" ? 4 : precision == "bf16" ? 2 : precision == "i8" ? 1 : 0.5;
}

} // namespace

TestProblem::TestProblem(int count, std::vector<std::string> precisions) {
  Json chain = Json::array(), edges = Json::array(), sensitivities, times,
       conversions = Json::array();
  edges.push_back({{"from", "image"}, {"to", "layer0"}, {"elements", 300}});
  for (int i = 0; i < count; ++i) {
    std::string id = "layer" + std::to_string(i), signature = "conv" + std::to_string(i);
    chain.push_back({{"id", id},
                     {"op", "conv2d"},
                     {"input_shape", {1, 10, 10, 4}},
                     {"output_shape", {1, 10, 10, 4}},
                     {"weight_shape", {4, 3, 3, 4}},
                     {"stride", {1, 1}},
                     {"dilation", {1, 1}},
                     {"pad", {1, 1, 1, 1}},
                     {"macs", 14400},
                     {"weights", 100 + 37 * i % 151},
                     {"signature", signature},
                     {"precisions", precisions}});
    edges.push_back({{"from", id},
                     {"to", i + 1 < count ? "layer" + std::to_string(i + 1) : "logits"},
                     {"elements", 400}});
    for (const std::string &precision : precisions) {
      bool exact = precision == "f32";
      double loss = precision == "i8" ? 1 : precision == "bf16" ? 0.2 : 9;
      sensitivities[id][precision] = {
          {"sqnr_db", exact ? 200 : 40 - (i * 7 % 13) - 10 * std::log10(loss)},
          {"kl", exact ? 0 : 0.001 * loss * (1 + i * 5 % 7)},
          {"agreement", 0.99},
          {"accuracy_drop", exact ? 0 : 0.0007 * loss * (1 + i * 5 % 7)}};
      times[signature][precision] = {
          {"measured_ms", speedOf(precision) * (0.2 + 0.1 * (i * 3 % 5))}, {"spread_ms", 0.001}};
    }
  }
  for (const char *from : {"f32", "bf16", "i8"})
    for (const char *to : {"f32", "bf16", "i8"})
      if (std::string(from) != to)
        conversions.push_back({{"from", from},
                               {"to", to},
                               {"elements", 400},
                               {"measured_ms", 0.03},
                               {"spread_ms", 0.001}});
  layers = {{"format", "conquer.layers"},
            {"version", 1},
            {"inputs", {{{"id", "image"}, {"shape", {1, 3, 10, 10}}}}},
            {"outputs", {{{"id", "logits"}, {"shape", {1, 10}}}}},
            {"layers", chain},
            {"edges", edges}};
  sensitivity = {{"format", "conquer.sensitivity"},
                 {"version", 1},
                 {"samples", 10},
                 {"layers", sensitivities}};
  latencyTable = {{"format", "conquer.latency_table"},
                  {"version", 1},
                  {"device", "local"},
                  {"profile", "host"},
                  {"threads", 1},
                  {"repetitions", 5},
                  {"layers", times},
                  {"conversions", conversions}};
  writeAll();
}

void TestProblem::write(const std::string &file, const Json &json) const {
  ASSERT_TRUE(writeFileAtomically(path(file), json.dump()));
}

void TestProblem::writeAll() const {
  write("layers.json", layers);
  write("sensitivity.json", sensitivity);
  write("latency_table.json", latencyTable);
}

Json TestProblem::openParams() const {
  return {{"layers", path("layers.json")},
          {"sensitivity", path("sensitivity.json")},
          {"latency_table", path("latency_table.json")}};
}

Json TestProblem::measure(const Json &policy) const {
  double milliseconds = 0.2, noise = 0, bytes = 3000;
  std::string previous = "f32";
  for (const Json &layer : layers["layers"]) {
    std::string precision = policy[layer["id"].get<std::string>()];
    milliseconds +=
        1.1 *
        latencyTable["layers"][layer["signature"].get<std::string>()][precision]["measured_ms"]
            .get<double>();
    milliseconds += precision == previous ? 0 : 0.05;
    noise += std::pow(
        10,
        -sensitivity["layers"][layer["id"].get<std::string>()][precision]["sqnr_db"].get<double>() /
            10);
    bytes += std::ceil(layer["weights"].get<double>() * bytesOf(precision));
    previous = precision;
  }
  return {{"latency_ms", milliseconds},
          {"latency_ms_spread", 0.01},
          {"accuracy_drop", 0.4 * std::pow(noise, 0.8)},
          {"size_bytes", static_cast<int64_t>(bytes)}};
}

} // namespace conquer
