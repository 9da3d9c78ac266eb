//===- RidgeTest.cpp - fits known lines -------------------------------------------------------===//

#include "conquer-search/Ridge.h"
#include "conquer-search/Operators.h"
#include "conquer-search/Statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace conquer;

namespace {

/// measured = 1.3 prior + 0.2 a + 5 + noise
std::vector<RidgeSample> samples(size_t count, double noise) {
  Random random(1);
  std::vector<RidgeSample> result;
  for (size_t i = 0; i < count; ++i) {
    double prior = 10 + 5 * random.unit(), a = double(random.below(20));
    result.push_back(
        {{prior, a}, prior, 1.3 * prior + 0.2 * a + 5 + noise * (random.unit() - 0.5)});
  }
  return result;
}

TEST(Ridge, WithoutEnoughDataThePriorStands) {
  RidgeCorrection ridge;
  EXPECT_EQ(ridge.predict({3, 4}, 3, 0.7).mean, 3);
  ridge.fit(samples(4, 0));
  EXPECT_EQ(ridge.predict({3, 4}, 3, 0.7).deviation, 0.7);
  ridge.fit(samples(5, 0));
  EXPECT_NE(ridge.predict({3, 4}, 3, 0.7).deviation, 0.7);
  ridge.fit({});
  EXPECT_EQ(ridge.predict({3, 4}, 3, 0.7).mean, 3);
}

TEST(Ridge, NumbersWhoseSquaresOverflowLeaveThePrior) {
  std::vector<RidgeSample> huge = samples(8, 0);
  for (RidgeSample &sample : huge)
    sample.measured *= 1e200;
  RidgeCorrection ridge;
  ridge.fit(huge);
  EXPECT_EQ(ridge.predict({3, 4}, 3, 0.7).mean, 3);
}

TEST(Ridge, LearnsALinearCorrection) {
  RidgeCorrection ridge;
  ridge.fit(samples(40, 0));
  EXPECT_NEAR(ridge.predict({12, 7}, 12, 1).mean, 1.3 * 12 + 0.2 * 7 + 5, 0.02);
  EXPECT_LT(ridge.predict({12, 7}, 12, 1).deviation, 0.02);
}

TEST(Ridge, DeviationIsTheNoiseAndGrowsAwayFromTheData) {
  RidgeCorrection ridge;
  ridge.fit(samples(200, 1)); // uniform in [-0.5, 0.5]: deviation 0.2887
  double inside = ridge.predict({12, 10}, 12, 1).deviation;
  EXPECT_NEAR(inside, std::sqrt(1.0 / 12), 0.04);
  EXPECT_GT(ridge.predict({100, 10}, 100, 1).deviation, 3 * inside);
}

TEST(Ridge, ConstantAndCollinearFeaturesDoNoHarm) {
  std::vector<RidgeSample> data;
  for (int i = 0; i < 8; ++i)
    data.push_back({{double(i), 2.0 * i, 7}, double(i), 2.0 * i});
  RidgeCorrection ridge;
  ridge.fit(data);
  EXPECT_NEAR(ridge.predict({3, 6, 7}, 3, 1).mean, 6, 0.05);
  for (RidgeSample &sample : data) {
    sample.features = {7, 7, 7};
    sample.prior = 1;
  }
  ridge.fit(data);
  Estimate estimate = ridge.predict({7, 7, 7}, 1, 1);
  EXPECT_NEAR(estimate.mean, 7, 1e-9);
  EXPECT_TRUE(std::isfinite(estimate.deviation));
}

TEST(Statistics, RankCorrelation) {
  EXPECT_EQ(*rankCorrelation({1, 2, 3}, {10, 20, 90}), 1);
  EXPECT_EQ(*rankCorrelation({1, 2, 3}, {3, 2, 1}), -1);
  // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3: 4.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(*rankCorrelation({1, 2, 2, 3}, {1, 2, 3, 4}), 4.5 / std::sqrt(22.5), 1e-15);
  EXPECT_FALSE(rankCorrelation({}, {}));
  EXPECT_FALSE(rankCorrelation({1}, {1}));
  EXPECT_FALSE(rankCorrelation({1, 1, 1}, {1, 2, 3}));
}

TEST(Statistics, MeanAbsoluteError) {
  EXPECT_EQ(*meanAbsoluteError({1, 5}, {2, 3}), 1.5);
  EXPECT_FALSE(meanAbsoluteError({}, {}));
}

} // namespace
