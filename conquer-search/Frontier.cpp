//===- Frontier.cpp - policies that the surrogates believe in before anything is measured -----===//

#include "conquer-search/Frontier.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace conquer {

namespace {

/// Objectives divided by their span over the starts; one that does not vary there stays as it is.
class Scaled {
public:
  Scaled(const Objectives &objectives, const std::vector<Genome> &starts) : objectives(objectives) {
    std::vector<Point> points;
    points.reserve(starts.size());
    for (const Genome &start : starts)
      points.push_back(objectives(start));
    for (size_t k = 0; k < points[0].size(); ++k) {
      auto [low, high] =
          std::minmax_element(points.begin(), points.end(),
                              [&](const Point &a, const Point &b) { return a[k] < b[k]; });
      double span = (*high)[k] - (*low)[k];
      factors.push_back(span > 0 ? 1 / span : 1);
    }
  }
  size_t size() const { return factors.size(); }
  Point operator()(const Genome &genome) const {
    Point point = objectives(genome);
    for (size_t k = 0; k < point.size(); ++k)
      point[k] *= factors[k];
    return point;
  }

private:
  const Objectives &objectives;
  std::vector<double> factors;
};

/// All genomes on the way from `a` to `b` when genes change in the order of loss over gain.
void addGreedyPath(const Genome &a, const Genome &b, const Scaled &scaled,
                   std::set<Genome> &genomes) {
  Point base = scaled(a);
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i])
      continue;
    Genome changed = a;
    changed[i] = b[i];
    Point point = scaled(changed);
    double loss = 0, gain = 1e-12;
    for (size_t k = 0; k < base.size(); ++k)
      (point[k] > base[k] ? loss : gain) += std::abs(point[k] - base[k]);
    order.push_back({loss / gain, i});
  }
  std::sort(order.begin(), order.end());
  Genome genome = a;
  for (const auto &[ratio, i] : order) {
    genome[i] = b[i];
    genomes.insert(genome);
  }
}

/// Changes single genes while that lowers the weighted sum, at most ten times around.
void addDescent(Genome genome, const std::vector<int> &alphabetSizes,
                const std::vector<double> &weights, const Scaled &scaled,
                std::set<Genome> &genomes) {
  auto cost = [&](const Genome &candidate) {
    Point point = scaled(candidate);
    return std::inner_product(point.begin(), point.end(), weights.begin(), 0.0);
  };
  double best = cost(genome);
  bool improved = true;
  for (int round = 0; improved && round < 10; ++round) {
    improved = false;
    for (size_t i = 0; i < genome.size(); ++i)
      for (int value = 0; value < alphabetSizes[i]; ++value) {
        uint8_t old = genome[i];
        genome[i] = static_cast<uint8_t>(value);
        double now = cost(genome);
        if (now < best) {
          best = now;
          improved = true;
        } else {
          genome[i] = old;
        }
      }
  }
  genomes.insert(genome);
}

/// Multipliers: each objective in turn weighs 2^-8 to 2^8 times what the others do.
std::vector<std::vector<double>> multipliers(size_t objectives, int steps) {
  std::vector<std::vector<double>> result;
  for (size_t k = 0; k < objectives; ++k)
    for (int step = 0; step < steps; ++step) {
      std::vector<double> weights(objectives, 1);
      weights[k] = std::exp2(16.0 * (step + 0.5) / steps - 8);
      result.push_back(weights);
    }
  return result;
}

} // namespace

std::vector<Genome> surrogateFrontier(const std::vector<int> &alphabetSizes,
                                      const std::vector<Genome> &starts,
                                      const Objectives &objectives, size_t count) {
  Scaled scaled(objectives, starts);
  std::set<Genome> genomes(starts.begin(), starts.end());
  for (const Genome &a : starts)
    for (const Genome &b : starts)
      addGreedyPath(a, b, scaled, genomes);
  double values = std::accumulate(alphabetSizes.begin(), alphabetSizes.end(), 0.0);
  double descents = 3e4 / (values * static_cast<double>(starts.size() * scaled.size()));
  int steps = static_cast<int>(std::clamp(descents, 2.0, 16.0));
  for (const std::vector<double> &weights : multipliers(scaled.size(), steps))
    for (const Genome &start : starts)
      addDescent(start, alphabetSizes, weights, scaled, genomes);

  std::vector<Genome> all(genomes.begin(), genomes.end());
  std::vector<Point> points;
  points.reserve(all.size());
  for (const Genome &genome : all)
    points.push_back(scaled(genome));
  std::vector<size_t> best = nonDominated(points);
  // Of equal predictions one is enough.
  std::set<Point> distinct;
  std::vector<Fitness> fitness;
  std::vector<Genome> candidates;
  for (size_t i : best)
    if (distinct.insert(points[i]).second) {
      fitness.push_back({points[i], 0});
      candidates.push_back(all[i]);
    }
  std::vector<Genome> result;
  for (size_t i : selectBest(fitness, count))
    result.push_back(candidates[i]);
  return result;
}

} // namespace conquer
