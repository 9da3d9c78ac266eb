//===- Report.cpp - what a search has found, as JSON ------------------------------------------===//

#include "conquer-search/Report.h"

#include "conquer-search/Statistics.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace conquer {

using Json = nlohmann::ordered_json;

namespace {

constexpr auto latency = static_cast<size_t>(Objective::Latency);
constexpr auto accuracy = static_cast<size_t>(Objective::Accuracy);
constexpr auto size = static_cast<size_t>(Objective::Size);

/// Bytes as an integer.
Json bytesJson(double bytes) {
  return bytes < 9e15 ? Json(static_cast<int64_t>(std::llround(bytes))) : Json(bytes);
}

Json policyJson(const Search &search, const Candidate &candidate) {
  Json policy = Json::object();
  for (size_t i = 0; i < candidate.genome.size(); ++i)
    policy[search.space().id(i)] = precisionName(search.space().precision(candidate.genome, i));
  return policy;
}

Json predictedJson(const Candidate &candidate) {
  const auto &predicted = candidate.predicted;
  return {{"latency_ms", predicted[latency].mean},
          {"latency_ms_sd", predicted[latency].deviation},
          {"accuracy_drop", predicted[accuracy].mean},
          {"accuracy_drop_sd", predicted[accuracy].deviation},
          {"size_bytes", bytesJson(predicted[size].mean)}};
}

/// Values that were not told are left out.
Json measuredJson(const Outcome &outcome) {
  Json measured = Json::object();
  if (outcome.values[latency])
    measured["latency_ms"] = *outcome.values[latency];
  if (outcome.latencySpread)
    measured["latency_ms_spread"] = *outcome.latencySpread;
  if (outcome.values[accuracy])
    measured["accuracy_drop"] = *outcome.values[accuracy];
  if (outcome.values[size])
    measured["size_bytes"] = bytesJson(*outcome.values[size]);
  return measured;
}

Json pointJson(const Search &search, size_t index) {
  const Candidate &candidate = search.candidates()[index];
  return {{"key", candidate.key},
          {"policy", policyJson(search, candidate)},
          {"predicted", predictedJson(candidate)},
          {"measured", measuredJson(*candidate.outcome)}};
}

Json optionalJson(const std::optional<double> &value) { return value ? Json(*value) : Json(); }

/// How well one objective of one generation's measured candidates was predicted.
Json surrogateJson(const Search &search, int generation, size_t objective) {
  std::vector<double> predicted, measured;
  for (const Candidate &candidate : search.candidates())
    if (candidate.generation == generation && candidate.measured() &&
        candidate.outcome->values[objective]) {
      predicted.push_back(candidate.predicted[objective].mean);
      measured.push_back(*candidate.outcome->values[objective]);
    }
  return {{"rank_correlation", optionalJson(rankCorrelation(predicted, measured))},
          {"mean_absolute_error", optionalJson(meanAbsoluteError(predicted, measured))}};
}

} // namespace

Json candidateJson(const Search &search, const Candidate &candidate) {
  return {{"key", candidate.key},
          {"policy", policyJson(search, candidate)},
          {"origin", candidate.origin},
          {"predicted", predictedJson(candidate)}};
}

Json frontJson(const Search &search, int generation) {
  Json objectives = Json::array(), points = Json::array(), uniform = Json::object();
  for (Objective objective : search.objectives())
    objectives.push_back(objectiveName(objective));
  std::vector<size_t> front = search.front(generation), uniformIndices;
  for (size_t index : front)
    points.push_back(pointJson(search, index));
  for (const auto &[precision, index] : search.uniforms()) {
    uniform[std::string(precisionName(precision))] = pointJson(search, index);
    uniformIndices.push_back(index);
  }
  Json result = {{"format", "conquer.front"},
                 {"version", 1},
                 {"generation", generation},
                 {"objectives", objectives},
                 {"hypervolume", search.hypervolumeOf(front)},
                 {"hypervolume_uniform", search.hypervolumeOf(uniformIndices)},
                 {"reference_point", search.box().reference},
                 {"points", points},
                 {"uniform", uniform}};
  if (auto index = search.leastViolating(generation))
    result["least_violating"] = pointJson(search, *index);
  return result;
}

Json logJson(const Search &search) {
  Json generations = Json::array();
  for (int generation = 0; generation < search.generation(); ++generation) {
    size_t evaluated = 0, failures = 0;
    for (const Candidate &candidate : search.candidates())
      if (candidate.generation == generation) {
        ++evaluated;
        failures += !candidate.measured();
      }
    generations.push_back({{"generation", generation},
                           {"evaluated", evaluated},
                           {"failures", failures},
                           {"hypervolume", search.hypervolumeOf(search.front(generation))},
                           {"latency", surrogateJson(search, generation, latency)},
                           {"accuracy", surrogateJson(search, generation, accuracy)}});
  }
  return {{"generations", generations}};
}

} // namespace conquer
