//===- SearchOptions.cpp - objectives, limits and pins of a search ----------------------------===//

#include "conquer-search/SearchOptions.h"

#include <algorithm>
#include <cmath>

namespace conquer {

namespace {

constexpr std::array<std::string_view, numObjectives> names = {"latency_ms", "accuracy_drop",
                                                               "size_bytes"};

/// By what an excess over the limit is divided, so that violations of different units can be added.
double limitScale(Objective objective, double limit) {
  return objective == Objective::Accuracy ? std::max(std::abs(limit), 0.01) : limit;
}

} // namespace

std::string_view objectiveName(Objective objective) {
  return names[static_cast<size_t>(objective)];
}

std::optional<Objective> parseObjective(std::string_view name) {
  for (size_t k = 0; k < numObjectives; ++k)
    if (names[k] == name)
      return static_cast<Objective>(k);
  return std::nullopt;
}

double violationOf(const SearchOptions &options, const Values &values) {
  double sum = 0;
  for (size_t k = 0; k < numObjectives; ++k)
    if (const auto &limit = options.limits[k])
      sum += std::max(0.0, values[k] - *limit) / limitScale(static_cast<Objective>(k), *limit);
  return sum;
}

Point select(const SearchOptions &options, const Values &values) {
  Point point;
  for (Objective objective : options.objectives)
    point.push_back(values[static_cast<size_t>(objective)]);
  return point;
}

Status checkOptions(const SearchOptions &options) {
  if (options.objectives.empty())
    return Error{"is empty", "objectives", "one or more of latency_ms, accuracy_drop, size_bytes",
                 ""};
  for (Objective objective : options.objectives)
    if (std::count(options.objectives.begin(), options.objectives.end(), objective) > 1)
      return Error{"has '" + std::string(objectiveName(objective)) + "' twice", "objectives",
                   "each objective once", ""};
  for (Objective objective : {Objective::Latency, Objective::Size}) {
    const auto &limit = options.limits[static_cast<size_t>(objective)];
    if (limit && !(*limit > 0))
      return Error{"is " + std::to_string(*limit),
                   "constraints." + std::string(objectiveName(objective)), "more than 0", ""};
  }
  return success();
}

Result<GenomeSpace> makeSpace(const Network &network, std::map<std::string, Precision> pinned) {
  std::vector<std::string> ids;
  std::vector<std::vector<Precision>> alphabets;
  for (const Layer &layer : network.layers) {
    std::vector<Precision> alphabet = layer.precisions;
    auto has = [&](Precision p) { return std::count(alphabet.begin(), alphabet.end(), p) > 0; };
    if (auto pin = pinned.find(layer.id); pin != pinned.end()) {
      if (!has(pin->second))
        return Error{
            "layer cannot have precision '" + std::string(precisionName(pin->second)) + "'",
            "constraints.pinned." + layer.id, "one of the layer's precisions", "see layers.json"};
      alphabet = {pin->second};
      pinned.erase(pin);
    } else if (layer.weights == 0 && has(Precision::I8)) {
      alphabet.erase(std::remove(alphabet.begin(), alphabet.end(), Precision::W4A8),
                     alphabet.end());
    }
    ids.push_back(layer.id);
    alphabets.push_back(std::move(alphabet));
  }
  if (!pinned.empty())
    return Error{"unknown layer", "constraints.pinned." + pinned.begin()->first, "a layer id",
                 "see layers.json"};
  return GenomeSpace::create(std::move(ids), std::move(alphabets));
}

} // namespace conquer
