//===- Pareto.h - dominance, fronts, crowding and hypervolume ---------------------------------===//
//
// Pure functions over points of objectives that are all minimised. Every value must be finite;
// every point of a call has the same number of objectives (at least one). Order of the input is the
// tie breaker everywhere, so that the results depend on nothing else.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_PARETO_H
#define CONQUER_SEARCH_PARETO_H

#include <cstddef>
#include <vector>

namespace conquer {

/// Objectives of one candidate, all minimised.
using Point = std::vector<double>;

/// A point together with how far it breaks the constraints: 0 if it meets them, else the sum of the
/// violations, each divided by the scale of its own constraint (no unit).
struct Fitness {
  Point objectives;
  double violation = 0;
};

/// Pareto dominance: `a` is nowhere worse than `b` and somewhere better. O(m).
bool dominates(const Point &a, const Point &b);

/// Constrained dominance (Deb et al. 2002, section VI): a feasible candidate beats an infeasible
/// one; of two infeasible ones the smaller violation wins; candidates of equal violation compare by
/// dominance.
bool constraintDominates(const Fitness &a, const Fitness &b);

/// Fast non-dominated sort (Deb, Pratap, Agarwal, Meyarivan: "A fast and elitist multiobjective
/// genetic algorithm: NSGA-II", IEEE TEC 6(2), 2002, section III.A) under constrained dominance.
/// Returns the fronts, best first, each a list of indices into `candidates` in increasing order.
/// O(m n^2) time, O(n^2) memory.
std::vector<std::vector<size_t>> nonDominatedSort(const std::vector<Fitness> &candidates);

/// The points that no other point dominates, as increasing indices. Equal points are all kept. O(m
/// n^2).
std::vector<size_t> nonDominated(const std::vector<Point> &points);

/// Crowding distance of each point of one front (Deb et al. 2002, section III.B): the sum over the
/// objectives of (next - previous) / (maximum - minimum), not divided by the number of objectives.
/// The ends of an objective are infinite, and so is every copy of such a point; an objective in
/// which all points agree contributes 0, ends included. Never NaN. O(m n log n).
std::vector<double> crowdingDistances(const std::vector<Point> &front);

/// Indices of the `count` best of `candidates` (all of them if there are fewer) by front, then by
/// larger crowding distance within the front, then by input order. Best first. O(m n^2).
std::vector<size_t> selectBest(const std::vector<Fitness> &candidates, size_t count);

/// Exact hypervolume: the measure of what `points` dominate within the box that ends at `reference`
/// (same length as each point). Points that are not better than the reference in every objective
/// add nothing. Any number m of objectives, by slicing along the last one (While et al., "A faster
/// algorithm for calculating hypervolume", IEEE TEC 10(1), 2006, section II): O(n log n) for m = 2,
/// O(n^(m-1) log n) beyond.
double hypervolume(const std::vector<Point> &points, const Point &reference);

} // namespace conquer

#endif // CONQUER_SEARCH_PARETO_H
