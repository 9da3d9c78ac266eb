//===- Screening.cpp - which of many proposals are worth an evaluation ------------------------===//

#include "conquer-search/Screening.h"

#include <algorithm>

namespace conquer {

namespace {

/// The best `count` proposals by their means, ranked together with what is known.
std::vector<size_t> promising(const std::vector<Forecast> &proposals,
                              const std::vector<Fitness> &known, size_t count) {
  std::vector<Fitness> all;
  all.reserve(proposals.size() + known.size());
  for (const Forecast &proposal : proposals)
    all.push_back(proposal.mean);
  all.insert(all.end(), known.begin(), known.end());
  std::vector<size_t> result;
  for (size_t i : selectBest(all, all.size()))
    if (i < proposals.size() && result.size() < count)
      result.push_back(i);
  return result;
}

/// Per proposal the sum of its deviations, each as a share of the objective's span over the means.
std::vector<double> uncertainties(const std::vector<Forecast> &proposals) {
  std::vector<double> result(proposals.size(), 0);
  for (size_t k = 0; k < proposals.front().deviation.size(); ++k) {
    auto [low, high] = std::minmax_element(proposals.begin(), proposals.end(),
                                           [&](const Forecast &a, const Forecast &b) {
                                             return a.mean.objectives[k] < b.mean.objectives[k];
                                           });
    double span = high->mean.objectives[k] - low->mean.objectives[k];
    if (span > 0)
      for (size_t i = 0; i < proposals.size(); ++i)
        result[i] += proposals[i].deviation[k] / span;
  }
  return result;
}

/// Whether something known beats the proposal even if it turns out one deviation better than
/// expected.
bool hopeless(const Forecast &proposal, const std::vector<Fitness> &known) {
  Fitness optimistic = proposal.mean;
  for (size_t k = 0; k < proposal.deviation.size(); ++k)
    optimistic.objectives[k] -= proposal.deviation[k];
  optimistic.violation = proposal.leastViolation;
  return std::any_of(known.begin(), known.end(),
                     [&](const Fitness &other) { return constraintDominates(other, optimistic); });
}

} // namespace

std::vector<Pick> screen(const std::vector<Forecast> &proposals, const std::vector<Fitness> &known,
                         size_t count, double exploration) {
  count = std::min(count, proposals.size());
  std::vector<Pick> picks;
  if (count == 0)
    return picks;
  auto explorers = static_cast<size_t>(exploration * static_cast<double>(count));
  std::vector<bool> taken(proposals.size(), false);
  for (size_t i : promising(proposals, known, count - explorers)) {
    taken[i] = true;
    picks.push_back({i, false});
  }
  std::vector<double> uncertainty = uncertainties(proposals);
  std::vector<bool> beaten(proposals.size());
  std::vector<size_t> rest;
  for (size_t i = 0; i < proposals.size(); ++i)
    if (!taken[i]) {
      beaten[i] = hopeless(proposals[i], known);
      rest.push_back(i);
    }
  std::sort(rest.begin(), rest.end(), [&](size_t a, size_t b) {
    if (beaten[a] != beaten[b])
      return !beaten[a];
    return uncertainty[a] != uncertainty[b] ? uncertainty[a] > uncertainty[b] : a < b;
  });
  for (size_t i : rest)
    if (picks.size() < count)
      picks.push_back({i, true});
  return picks;
}

} // namespace conquer
