//===- Pareto.cpp - dominance, fronts, crowding and hypervolume -------------------------------===//

#include "conquer-search/Pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace conquer {

bool dominates(const Point &a, const Point &b) {
  bool better = false;
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k] > b[k])
      return false;
    better |= a[k] < b[k];
  }
  return better;
}

bool constraintDominates(const Fitness &a, const Fitness &b) {
  if (a.violation != b.violation)
    return a.violation < b.violation; // a feasible one has 0, the least there is
  return dominates(a.objectives, b.objectives);
}

std::vector<std::vector<size_t>> nonDominatedSort(const std::vector<Fitness> &candidates) {
  size_t n = candidates.size();
  std::vector<std::vector<size_t>> beaten(n); // whom each one dominates
  std::vector<size_t> rivals(n, 0);           // how many dominate each one
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j) {
      if (constraintDominates(candidates[i], candidates[j])) {
        beaten[i].push_back(j);
        ++rivals[j];
      } else if (constraintDominates(candidates[j], candidates[i])) {
        beaten[j].push_back(i);
        ++rivals[i];
      }
    }
  std::vector<std::vector<size_t>> fronts;
  std::vector<size_t> front;
  for (size_t i = 0; i < n; ++i)
    if (rivals[i] == 0)
      front.push_back(i);
  while (!front.empty()) {
    std::vector<size_t> next;
    for (size_t i : front)
      for (size_t j : beaten[i])
        if (--rivals[j] == 0)
          next.push_back(j);
    std::sort(next.begin(), next.end());
    fronts.push_back(std::move(front));
    front = std::move(next);
  }
  return fronts;
}

std::vector<size_t> nonDominated(const std::vector<Point> &points) {
  std::vector<size_t> result;
  for (size_t i = 0; i < points.size(); ++i)
    if (std::none_of(points.begin(), points.end(),
                     [&](const Point &other) { return dominates(other, points[i]); }))
      result.push_back(i);
  return result;
}

std::vector<double> crowdingDistances(const std::vector<Point> &front) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  size_t n = front.size();
  std::vector<double> distances(n, 0);
  if (n == 0)
    return distances;
  std::vector<size_t> order(n);
  for (size_t k = 0; k < front[0].size(); ++k) {
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return front[a][k] != front[b][k] ? front[a][k] < front[b][k] : a < b;
    });
    auto value = [&](size_t i) { return front[order[i]][k]; };
    // A span beyond the largest double is computed in halves.
    double scale = std::isfinite(value(n - 1) - value(0)) ? 1 : 0.5;
    double span = scale * value(n - 1) - scale * value(0);
    if (span == 0)
      continue;
    for (size_t i = 1; i + 1 < n; ++i)
      distances[order[i]] += (scale * value(i + 1) - scale * value(i - 1)) / span;
    distances[order[0]] = distances[order[n - 1]] = infinity;
  }
  std::set<Point> ends;
  for (size_t i = 0; i < n; ++i)
    if (distances[i] == infinity)
      ends.insert(front[i]);
  for (size_t i = 0; i < n; ++i)
    if (ends.count(front[i]))
      distances[i] = infinity;
  return distances;
}

std::vector<size_t> selectBest(const std::vector<Fitness> &candidates, size_t count) {
  std::vector<size_t> result;
  for (const std::vector<size_t> &front : nonDominatedSort(candidates)) {
    if (result.size() >= count)
      break;
    std::vector<Point> points;
    points.reserve(front.size());
    for (size_t i : front)
      points.push_back(candidates[i].objectives);
    std::vector<double> distances = crowdingDistances(points);
    std::vector<size_t> order(front.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return distances[a] != distances[b] ? distances[a] > distances[b] : a < b;
    });
    for (size_t i : order)
      if (result.size() < count)
        result.push_back(front[i]);
  }
  return result;
}

namespace {

/// The first `dimensions` objectives of `points` against those of `reference`; every point is
/// better than the reference in each of them.
double sliceVolume(std::vector<Point> points, const Point &reference, size_t dimensions) {
  size_t last = dimensions - 1;
  std::sort(points.begin(), points.end(),
            [&](const Point &a, const Point &b) { return a[last] < b[last]; });
  if (dimensions == 1)
    return points.empty() ? 0 : reference[0] - points[0][0];
  double volume = 0;
  if (dimensions == 2) {
    double best = reference[0];
    for (size_t i = 0; i < points.size(); ++i) {
      best = std::min(best, points[i][0]);
      double end = i + 1 < points.size() ? points[i + 1][1] : reference[1];
      volume += (reference[0] - best) * (end - points[i][1]);
    }
    return volume;
  }
  for (size_t i = 0; i < points.size(); ++i) {
    double end = i + 1 < points.size() ? points[i + 1][last] : reference[last];
    if (end > points[i][last])
      volume += (end - points[i][last]) *
                sliceVolume({points.begin(), points.begin() + i + 1}, reference, last);
  }
  return volume;
}

} // namespace

double hypervolume(const std::vector<Point> &points, const Point &reference) {
  std::vector<Point> inside;
  for (size_t i : nonDominated(points)) {
    bool better = true;
    for (size_t k = 0; k < reference.size(); ++k)
      better &= points[i][k] < reference[k];
    if (better)
      inside.push_back(points[i]);
  }
  return reference.empty() ? 0 : sliceVolume(std::move(inside), reference, reference.size());
}

} // namespace conquer
