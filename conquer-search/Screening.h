//===- Screening.h - which of many proposals are worth an evaluation --------------------------===//
//
// The surrogates forecast every proposal; this picks the few that are measured. Pure.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_SCREENING_H
#define CONQUER_SEARCH_SCREENING_H

#include "conquer-search/Pareto.h"

namespace conquer {

/// What the surrogates expect of a genome.
struct Forecast {
  Fitness mean;
  std::vector<double> deviation; ///< standard deviation per objective, in the objective's unit
  double leastViolation = 0;     ///< the violation at mean - deviation
};

/// One proposal that was picked.
struct Pick {
  size_t index;     ///< into the proposals
  bool exploration; ///< picked for its uncertainty rather than for its mean
};

/// Picks min(count, proposals) proposals. All but the share `exploration` (0 to 1) of them are the
/// best of the proposals by non-dominated sort and crowding of the means, sorted together with
/// `known` (fitness of what is already measured and kept), so that a proposal that a measured
/// candidate beats ranks behind. The rest are those with the largest uncertainty: the sum over the
/// objectives of deviation / span of the means; proposals that are not dominated by `known` at mean
/// - deviation come first. Ties: input order. O(m (n + k)^2).
std::vector<Pick> screen(const std::vector<Forecast> &proposals, const std::vector<Fitness> &known,
                         size_t count, double exploration);

} // namespace conquer

#endif // CONQUER_SEARCH_SCREENING_H
