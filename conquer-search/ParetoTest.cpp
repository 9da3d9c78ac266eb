//===- ParetoTest.cpp - fronts worked out by hand ---------------------------------------------===//

#include "conquer-search/Pareto.h"
#include "conquer-search/Operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace conquer;
using testing::ElementsAre;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Pareto, Dominates) {
  EXPECT_TRUE(dominates({1, 2}, {1, 3}));
  EXPECT_TRUE(dominates({1, 2}, {2, 3}));
  EXPECT_FALSE(dominates({1, 2}, {1, 2}));
  EXPECT_FALSE(dominates({1, 3}, {2, 2}));
  EXPECT_FALSE(dominates({1, 3}, {1, 2}));
}

TEST(Pareto, FeasibleFirstThenViolationThenDominance) {
  Fitness good{{1, 1}, 0}, bad{{2, 2}, 0}, little{{0, 0}, 0.5}, much{{-1, -1}, 0.6};
  Fitness littleWorse{{1, 0}, 0.5};
  EXPECT_TRUE(constraintDominates(good, bad));
  EXPECT_TRUE(constraintDominates(bad, little));
  EXPECT_TRUE(constraintDominates(little, much));
  EXPECT_TRUE(constraintDominates(little, littleWorse));
  EXPECT_FALSE(constraintDominates(much, bad));
  EXPECT_FALSE(constraintDominates(littleWorse, little));
}

TEST(Pareto, SortsHandWorkedFronts) {
  std::vector<Fitness> points = {{{1, 5}, 0}, {{2, 3}, 0}, {{4, 1}, 0}, {{3, 4}, 0},
                                 {{5, 5}, 0}, {{1, 5}, 0}, {{0, 0}, 1}};
  EXPECT_THAT(nonDominatedSort(points),
              ElementsAre(ElementsAre(0, 1, 2, 5), ElementsAre(3), ElementsAre(4), ElementsAre(6)));
  EXPECT_TRUE(nonDominatedSort({}).empty());
}

TEST(Pareto, SortAgreesWithTheDefinition) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    std::vector<Fitness> points;
    for (int i = 0; i < 40; ++i) {
      Fitness point{{}, random.below(4) == 0 ? double(random.below(3)) : 0};
      for (int k = 0; k < 3; ++k)
        point.objectives.push_back(double(random.below(5)));
      points.push_back(point);
    }
    // A front is what nothing that is left dominates.
    std::vector<bool> gone(points.size(), false);
    for (const auto &front : nonDominatedSort(points)) {
      std::vector<size_t> expected;
      for (size_t i = 0; i < points.size(); ++i) {
        bool beaten = gone[i];
        for (size_t j = 0; j < points.size(); ++j)
          beaten |= !gone[j] && constraintDominates(points[j], points[i]);
        if (!beaten)
          expected.push_back(i);
      }
      EXPECT_EQ(front, expected);
      for (size_t i : front)
        gone[i] = true;
    }
    EXPECT_EQ(std::count(gone.begin(), gone.end(), false), 0);
  }
}

TEST(Pareto, CrowdingOfAFlatObjective) {
  EXPECT_THAT(crowdingDistances({{1, 4, 7}, {2, 3, 7}, {3, 2, 7}, {4, 1, 7}}),
              ElementsAre(inf, 4.0 / 3, 4.0 / 3, inf));
}

TEST(Pareto, CrowdingOfEqualPoints) {
  EXPECT_THAT(crowdingDistances({{1, 5}, {1, 5}, {1, 5}, {1, 5}}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(crowdingDistances({{1, 4}, {1, 4}, {2, 3}, {4, 1}, {4, 1}}),
              ElementsAre(inf, inf, 2, inf, inf));
  // Three copies of a boundary point: the middle one of the sorted order is a boundary point too.
  EXPECT_THAT(crowdingDistances({{1, 4}, {1, 4}, {1, 4}, {2, 3}, {4, 1}}),
              ElementsAre(inf, inf, inf, 2, inf));
}

TEST(Pareto, CrowdingOfTinyFrontsAndHugeValues) {
  EXPECT_TRUE(crowdingDistances({}).empty());
  EXPECT_THAT(crowdingDistances({{3, 3}}), ElementsAre(0));
  EXPECT_THAT(crowdingDistances({{1, 2}, {2, 1}}), ElementsAre(inf, inf));
  double huge = std::numeric_limits<double>::max();
  EXPECT_THAT(crowdingDistances({{-huge}, {0}, {huge}}), ElementsAre(inf, 1, inf));
  double tiny = std::numeric_limits<double>::denorm_min();
  for (double distance : crowdingDistances({{0, 2 * tiny}, {tiny, tiny}, {2 * tiny, 0}}))
    EXPECT_FALSE(std::isnan(distance));
}

TEST(Pareto, SelectBestKeepsWholeFrontsAndTheSpreadOfTheLast) {
  std::vector<Fitness> points = {{{9, 9}, 0},     {{0, 10}, 0}, {{5, 5}, 0},
                                 {{5.1, 4.9}, 0}, {{10, 0}, 0}, {{8, 1}, 0}};
  // Distances: 1 and 4 infinite, 2 1.02, 5 0.98, 3 0.7; 0 is dominated.
  EXPECT_THAT(selectBest(points, 4), ElementsAre(1, 4, 2, 5));
  EXPECT_EQ(selectBest(points, 100).size(), 6u);
  EXPECT_EQ(selectBest(points, 6).back(), 0u);
  EXPECT_TRUE(selectBest(points, 0).empty());
}

TEST(Pareto, HypervolumeByHand) {
  EXPECT_EQ(hypervolume({{1, 4}, {2, 2}, {4, 1}}, {5, 5}), 4 * 1 + 3 * 2 + 1 * 1);
  EXPECT_EQ(hypervolume({{0, 0, 0}}, {2, 3, 4}), 24);
  EXPECT_EQ(hypervolume({{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}, {2, 2, 2}), 2 + 2 + 2 - 1 - 1 - 1 + 1);
  EXPECT_EQ(hypervolume({{3}, {1}, {2}}, {4}), 3);
  EXPECT_EQ(hypervolume({}, {1, 1}), 0);
  EXPECT_EQ(hypervolume({{1, 0}, {0, 1}, {7, 7}}, {1, 1}), 0); // on the border and outside
  EXPECT_EQ(hypervolume({{1, 1}, {1, 1}, {2, 2}}, {3, 3}), 4);
}

TEST(Pareto, HypervolumeCountsCells) {
  // Integer points: the volume is the number of unit cells that some point dominates.
  Random random(11);
  for (size_t dimensions = 1; dimensions <= 4; ++dimensions)
    for (int round = 0; round < 10; ++round) {
      constexpr int side = 5;
      std::vector<Point> points;
      for (uint64_t i = 0; i < 1 + random.below(12); ++i) {
        Point point;
        for (size_t k = 0; k < dimensions; ++k)
          point.push_back(double(random.below(side + 1)));
        points.push_back(point);
      }
      int cells = 0, all = int(std::pow(side, dimensions));
      for (int cell = 0; cell < all; ++cell)
        cells += std::any_of(points.begin(), points.end(), [&](const Point &point) {
          int rest = cell;
          bool inside = true;
          for (size_t k = 0; k < dimensions; ++k, rest /= side)
            inside &= point[k] <= rest % side;
          return inside;
        });
      EXPECT_EQ(hypervolume(points, Point(dimensions, side)), cells);
    }
}

} // namespace
