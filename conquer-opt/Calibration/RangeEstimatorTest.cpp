//===- RangeEstimatorTest.cpp - ranges worked by hand -----------------------------------------===//

#include "conquer-opt/Calibration/RangeEstimator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

using namespace conquer;

namespace {

struct Seen {
  Extremes extremes;
  Histogram histogram;
};

Seen see(const std::vector<float> &values) {
  Seen seen;
  seen.extremes.add(values.data(), values.size());
  seen.histogram = Histogram(seen.extremes);
  seen.histogram.add(values.data(), values.size());
  return seen;
}

/// -1 to 1 in equal steps.
std::vector<float> ramp(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i)
    values[i] = static_cast<float>(-1 + 2.0 * i / (count - 1));
  return values;
}

TEST(RangeEstimator, MethodsAreNamed) {
  EXPECT_EQ(parseRangeMethod("minmax"), RangeMethod::MinMax);
  EXPECT_EQ(parseRangeMethod("percentile"), RangeMethod::Percentile);
  EXPECT_EQ(parseRangeMethod("mse"), RangeMethod::Mse);
  EXPECT_EQ(parseRangeMethod("entropy"), std::nullopt);
}

TEST(RangeEstimator, ExtremesOfOddLengths) {
  for (int count : {1, 15, 16, 17, 31, 33}) {
    std::vector<float> values(count, 0.5f);
    values[count - 1] = -3;
    values[count / 2] = values[count / 2] == -3 ? -3 : 7;
    Extremes extremes;
    extremes.add(values.data(), count);
    EXPECT_EQ(extremes.min, -3);
    EXPECT_EQ(extremes.max, count == 1 ? -3 : 7);
    EXPECT_TRUE(extremes.finite);
  }
}

TEST(RangeEstimator, ExtremesNoticeWhatIsNotFinite) {
  for (float bad : {NAN, INFINITY, -INFINITY})
    for (int at : {0, 16, 20}) {
      std::vector<float> values(21, 1.0f);
      values[at] = bad;
      Extremes extremes;
      extremes.add(values.data(), values.size());
      EXPECT_FALSE(extremes.finite);
    }
}

TEST(RangeEstimator, MergingInAnyOrderIsTheSame) {
  std::vector<float> values = ramp(1000);
  Seen whole = see(values);
  Histogram first(whole.extremes), second(whole.extremes);
  first.add(values.data(), 333);
  second.add(values.data() + 333, 667);
  Histogram backwards = second;
  backwards.merge(first);
  first.merge(second);
  EXPECT_EQ(first.counts(), whole.histogram.counts());
  EXPECT_EQ(backwards.counts(), whole.histogram.counts());
}

TEST(RangeEstimator, MinMaxHoldsZero) {
  Range positive = minMaxRange(see({2, 5}).extremes);
  EXPECT_EQ(positive.min, 0);
  EXPECT_EQ(positive.max, 5);
  EXPECT_EQ(positive.observedMin, 2);
  Range negative = minMaxRange(see({-2, -5}).extremes);
  EXPECT_EQ(negative.min, -5);
  EXPECT_EQ(negative.max, 0);
}

TEST(RangeEstimator, ConstantsAreDefined) {
  for (float value : {0.0f, 3.0f, -2.0f, 1e-40f, std::numeric_limits<float>::max()}) {
    Seen seen = see(std::vector<float>(40, value));
    for (const Range &range :
         {minMaxRange(seen.extremes), percentileRange(seen.extremes, seen.histogram, 99),
          mseRange(seen.extremes, seen.histogram)}) {
      EXPECT_EQ(range.min, std::min<double>(value, 0));
      EXPECT_EQ(range.max, std::max<double>(value, 0));
    }
  }
}

TEST(RangeEstimator, TinySpreadsDoNotDivideByZero) {
  Seen seen = see({0.0f, 1e-45f, 1e-44f});
  Range range = mseRange(seen.extremes, seen.histogram);
  EXPECT_TRUE(std::isfinite(range.max));
  EXPECT_LE(range.max, 1e-44);
}

TEST(RangeEstimator, PercentileCutsBothEnds) {
  // 10,001 values at distance 0.0002: 98 % leaves 1 % at each end, -0.98 to 0.98.
  Seen seen = see(ramp(10001));
  Range range = percentileRange(seen.extremes, seen.histogram, 98);
  EXPECT_NEAR(range.min, -0.98, 0.001);
  EXPECT_NEAR(range.max, 0.98, 0.001);
  EXPECT_EQ(range.observedMax, 1);
  Range all = percentileRange(seen.extremes, seen.histogram, 100);
  EXPECT_EQ(all.min, -1);
  EXPECT_EQ(all.max, 1);
}

TEST(RangeEstimator, PercentileIgnoresOneOutlier) {
  std::vector<float> values = ramp(100000);
  values.push_back(1000);
  Seen seen = see(values);
  Range range = percentileRange(seen.extremes, seen.histogram, 99.99);
  // All others share the first bins of width 1001 / 2048.
  EXPECT_LT(range.max, 2);
  EXPECT_NEAR(range.min, -1, 0.001);
}

TEST(RangeEstimator, MseKeepsAUniformRange) {
  Seen seen = see(ramp(100001));
  Range range = mseRange(seen.extremes, seen.histogram);
  EXPECT_NEAR(range.min, -1, 0.03);
  EXPECT_NEAR(range.max, 1, 0.03);
}

TEST(RangeEstimator, MseClipsARareOutlierButNotAFrequentOne) {
  // n values on 0..1 and one at 4. Unclipped the error is about n * (4/255)^2 / 12, clipped at 1 it
  // is 3^2 + n * (1/255)^2 / 12: clipping pays from n = 9 * 12 * 255^2 / 15 = 468,180 on.
  auto range = [](int count) {
    std::vector<float> values(count);
    for (int i = 0; i < count; ++i)
      values[i] = static_cast<float>(i) / (count - 1);
    values.push_back(4);
    Seen seen = see(values);
    return mseRange(seen.extremes, seen.histogram);
  };
  EXPECT_GT(range(20000).max, 3.5);
  Range clipped = range(3000000);
  EXPECT_LT(clipped.max, 2.5);
  EXPECT_EQ(clipped.min, 0) << "after ReLU the lower end stays at zero";
  EXPECT_EQ(clipped.observedMax, 4);
}

} // namespace
