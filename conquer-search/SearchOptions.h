//===- SearchOptions.h - objectives, limits and pins of a search ------------------------------===//
#ifndef CONQUER_SEARCH_SEARCHOPTIONS_H
#define CONQUER_SEARCH_SEARCHOPTIONS_H

#include "conquer-search/NSGA2.h"
#include "conquer-search/Problem.h"

#include <array>
#include <map>
#include <optional>

namespace conquer {

/// What is minimised or limited; the index into all arrays of three below.
enum class Objective : uint8_t { Latency, Accuracy, Size };
constexpr size_t numObjectives = 3;

/// "latency_ms", "accuracy_drop", "size_bytes".
std::string_view objectiveName(Objective objective);
std::optional<Objective> parseObjective(std::string_view name);

struct SearchOptions {
  NSGA2Options engine;
  std::vector<Objective> objectives = {Objective::Latency, Objective::Accuracy, Objective::Size};
  std::array<std::optional<double>, numObjectives> limits; ///< largest value allowed
  std::map<std::string, Precision> pinned;                 ///< layer id to its only precision
};

/// One value per objective: milliseconds, fraction of 1, bytes.
using Values = std::array<double, numObjectives>;

/// Refuses no or repeated objectives and a latency or size limit that is not positive.
/// NSGA2::create checks the engine's options, makeSpace the pins.
Status checkOptions(const SearchOptions &options);

/// The values that are minimised, in the order of `options.objectives`.
Point select(const SearchOptions &options, const Values &values);

/// The sum of excess / scale over the limited values, the scale being the limit, for accuracy_drop
/// at least 0.01; 0 if the values are feasible.
double violationOf(const SearchOptions &options, const Values &values);

/// The alphabets of the network with pinned layers reduced to one precision. On an op without
/// weights w4a8 is the same as i8, so only one of the two is kept. Errors: a pinned layer or
/// precision that does not exist.
Result<GenomeSpace> makeSpace(const Network &network, std::map<std::string, Precision> pinned);

} // namespace conquer

#endif // CONQUER_SEARCH_SEARCHOPTIONS_H
