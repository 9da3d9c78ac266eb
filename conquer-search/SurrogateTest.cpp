//===- SurrogateTest.cpp - predictions follow what was told -----------------------------------===//

#include "conquer-search/Surrogate.h"
#include "conquer-search/Frontier.h"
#include "conquer-search/Screening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace conquer;
using testing::ElementsAre;

namespace {

SensitivityTable tableOf(bool labels) {
  SensitivityTable table;
  for (int i = 0; i < 6; ++i) {
    auto &row = table.layers.emplace_back();
    row[0] = Sensitivity{};
    row[3] = Sensitivity{0.001 * (i + 1), 0.01 * (i + 1),
                         labels ? std::optional<double>(0.002 * (i + 1)) : std::nullopt};
  }
  return table;
}

GenomeSpace spaceOf(size_t layers) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < layers; ++i)
    ids.push_back("layer" + std::to_string(i));
  return *GenomeSpace::create(
      ids, std::vector<std::vector<Precision>>(layers, {Precision::F32, Precision::I8}));
}

TEST(Surrogate, PriorIsTheSumOfDropsOrDivergences) {
  AccuracySurrogate labelled(tableOf(true), spaceOf(6)), unlabelled(tableOf(false), spaceOf(6));
  EXPECT_DOUBLE_EQ(labelled.predict({1, 0, 1, 0, 0, 0}).mean, 0.002 + 0.006);
  EXPECT_DOUBLE_EQ(unlabelled.predict({1, 0, 1, 0, 0, 0}).mean, 0.01 + 0.03);
  EXPECT_EQ(labelled.predict({0, 0, 0, 0, 0, 0}).mean, 0);
  EXPECT_GT(labelled.predict({0, 0, 0, 0, 0, 0}).deviation, 0);
}

TEST(Surrogate, LearnsErrorsThatAddInAnotherWay) {
  // The true drop goes with the square root of the noise: far from the sum of the drops.
  SensitivityTable table = tableOf(true);
  AccuracySurrogate surrogate(table, spaceOf(6));
  auto truth = [&](const Genome &genome) {
    double noise = 0;
    for (size_t i = 0; i < genome.size(); ++i)
      noise += genome[i] ? table.layers[i][3]->noise : 0;
    return 2 * std::sqrt(noise);
  };
  std::vector<Observation> told;
  double before = 0, after = 0;
  for (uint8_t bits = 0; bits < 64; bits += 3) {
    Genome genome;
    for (int i = 0; i < 6; ++i)
      genome.push_back(bits >> i & 1);
    told.push_back({genome, truth(genome)});
  }
  for (const Observation &observation : told)
    before += std::abs(surrogate.predict(observation.genome).mean - observation.measured);
  surrogate.fit(told);
  Genome unseen = {0, 1, 1, 0, 1, 0};
  for (const Observation &observation : told)
    after += std::abs(surrogate.predict(observation.genome).mean - observation.measured);
  EXPECT_LT(after, 0.05 * before);
  EXPECT_NEAR(surrogate.predict(unseen).mean, truth(unseen), 0.01);
}

TEST(Frontier, HoldsTheSupportedSolutionsOfAnAdditiveProblem) {
  Objectives objectives = [](const Genome &genome) {
    static const double gain[] = {5, 4, 3, 2, 1, 6}, loss[] = {1, 3, 2, 5, 9, 0.5};
    Point point = {0, 0};
    for (size_t i = 0; i < genome.size(); ++i)
      point[genome[i] ? 1 : 0] += genome[i] ? loss[i] : gain[i];
    return point;
  };
  std::vector<Genome> result =
      surrogateFrontier(std::vector<int>(6, 2), {Genome(6, 0), Genome(6, 1)}, objectives, 50);
  // The ratio rule gives every supported solution: genes change in the order 5, 0, 2, 1, 3, 4.
  std::set<Genome> found(result.begin(), result.end());
  Genome genome(6, 0);
  EXPECT_TRUE(found.count(genome));
  for (size_t gene : {5, 0, 2, 1, 3, 4}) {
    genome[gene] = 1;
    EXPECT_TRUE(found.count(genome)) << gene;
  }
  std::vector<Point> points;
  for (const Genome &each : result)
    points.push_back(objectives(each));
  EXPECT_EQ(nonDominated(points).size(), points.size());
  EXPECT_EQ(
      surrogateFrontier(std::vector<int>(6, 2), {Genome(6, 0), Genome(6, 1)}, objectives, 3).size(),
      3u);
}

TEST(Frontier, OneStartAndFlatObjectives) {
  Objectives flat = [](const Genome &) { return Point{1, 2, 3}; };
  EXPECT_EQ(surrogateFrontier({2, 2}, {Genome(2, 0)}, flat, 10).size(), 1u);
}

TEST(Screening, PicksTheFrontAndTheUncertain) {
  std::vector<Forecast> proposals = {
      {{{1, 9}, 0}, {0, 0}}, {{{5, 5}, 0}, {0, 0}}, {{{9, 1}, 0}, {0, 0}}, {{{6, 6}, 0}, {0, 0}},
      {{{8, 8}, 0}, {1, 1}}, {{{7, 7}, 0}, {4, 4}}, {{{0, 0}, 2}, {0, 0}}};
  std::vector<size_t> picked;
  std::vector<bool> exploration;
  for (const Pick &pick : screen(proposals, {}, 4, 0.25)) {
    picked.push_back(pick.index);
    exploration.push_back(pick.exploration);
  }
  EXPECT_THAT(picked, ElementsAre(0, 2, 1, 5));
  EXPECT_THAT(exploration, ElementsAre(false, false, false, true));
  EXPECT_EQ(screen(proposals, {}, 100, 0.5).size(), proposals.size());
  EXPECT_TRUE(screen({}, {}, 3, 0.5).empty());
}

TEST(Screening, WhatMayMeetTheLimitsIsNotBeatenByWhatDoes) {
  // Both exceed a limit by their means; the first one meets it one deviation below.
  std::vector<Forecast> proposals = {{{{1, 1}, 2}, {0, 1}, 0}, {{{2, 0}, 2}, {0, 4}, 1}};
  std::vector<Pick> picks = screen(proposals, {{{4, 4}, 0}}, 1, 1);
  ASSERT_EQ(picks.size(), 1u);
  EXPECT_EQ(picks[0].index, 0u);
}

TEST(Screening, WhatIsKnownToBeBeatenComesLast) {
  std::vector<Forecast> proposals = {
      {{{5, 5}, 0}, {9, 0}}, {{{4, 9}, 0}, {0, 0}}, {{{6, 6}, 0}, {0.1, 0}}};
  std::vector<Fitness> known = {{{4, 4}, 0}};
  // All three are dominated by the mean, the first one might still be better.
  std::vector<Pick> picks = screen(proposals, known, 1, 1);
  ASSERT_EQ(picks.size(), 1u);
  EXPECT_EQ(picks[0].index, 0u);
  // Non-dominated sort with the known: 0 and 1 are behind it, 2 behind 0.
  picks = screen(proposals, known, 2, 0);
  EXPECT_THAT((std::vector<size_t>{picks[0].index, picks[1].index}), ElementsAre(0, 1));
}

} // namespace
