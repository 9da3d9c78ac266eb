//===- Frontier.h - policies that the surrogates believe in before anything is measured -------===//
//
// Greedy and Lagrangian solutions of a cheap prediction, for the first population. Pure.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_FRONTIER_H
#define CONQUER_SEARCH_FRONTIER_H

#include "conquer-search/Genome.h"
#include "conquer-search/Pareto.h"

#include <functional>

namespace conquer {

/// The objectives (minimised, finite) that a genome is expected to have.
using Objectives = std::function<Point(const Genome &)>;

/// At most `count` different genomes whose predicted objectives do not dominate each other, well
/// spread. Two sources:
/// greedy, where between any two of `starts` genes change one after the other in the order of
/// worsened over improved objectives of the single change; and Lagrangian (Everett, Operations
/// Research 11(3), 1963), where for a range of multipliers the weighted sum of the objectives is
/// descended gene by gene from each start. Objectives are scaled to their span over the starts.
/// `starts` must hold a genome; deterministic. The number of multipliers shrinks with the genome:
/// about 3 * 10^5 predictions at most for 30,000 choices (genes times alphabet, starts and
/// objectives), beyond that 20 for each of them.
std::vector<Genome> surrogateFrontier(const std::vector<int> &alphabetSizes,
                                      const std::vector<Genome> &starts,
                                      const Objectives &objectives, size_t count);

} // namespace conquer

#endif // CONQUER_SEARCH_FRONTIER_H
