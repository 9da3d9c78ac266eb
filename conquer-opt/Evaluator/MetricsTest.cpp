//===- MetricsTest.cpp - figures worked by hand -----------------------------------------------===//

#include "conquer-opt/Evaluator/Metrics.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace conquer;

namespace {

TEST(Metrics, EqualOutputsAreCapped) {
  float values[3] = {1, -2, 3};
  Comparison result = summarize({compareImage(values, values, 3)});
  EXPECT_EQ(result.sqnrDb, 200);
  EXPECT_EQ(result.kl, 0);
  EXPECT_EQ(result.agreement, 1);
  EXPECT_EQ(result.images, 1);
}

TEST(Metrics, RatioIsTakenOverAllImages) {
  float a[2] = {3, 4}, b[2] = {3, 4.5f}, c[2] = {0, 5}, d[2] = {0.5f, 5};
  // Signal 25 + 25, noise 0.25 + 0.25: a factor of 100 is 20 dB.
  Comparison result = summarize({compareImage(a, b, 2), compareImage(c, d, 2)});
  EXPECT_NEAR(result.sqnrDb, 20, 1e-12);
}

TEST(Metrics, DivergenceOfTwoClasses) {
  // softmax of (ln 3, 0) is (3/4, 1/4), of (0, 0) a half each.
  float p[2] = {std::log(3.0f), 0}, q[2] = {0, 0};
  ImageError error = compareImage(p, q, 2);
  EXPECT_NEAR(error.kl, 0.75 * std::log(1.5) + 0.25 * std::log(0.5), 1e-7);
  EXPECT_EQ(error.referenceTop, 0);
  EXPECT_EQ(error.top, 0) << "the first of equals";
}

TEST(Metrics, LargeLogitsDoNotOverflow) {
  float p[2] = {3e38f, 0}, q[2] = {0, 3e38f};
  Comparison result = summarize({compareImage(p, q, 2)});
  EXPECT_TRUE(std::isfinite(result.kl));
  EXPECT_EQ(result.agreement, 0);
}

TEST(Metrics, ValuesThatAreNotFiniteNeverAgree) {
  float p[2] = {1, 0}, q[2] = {INFINITY, 0}, r[2] = {NAN, 1};
  for (const float *other : {q, r}) {
    Comparison result = summarize({compareImage(p, other, 2)});
    EXPECT_EQ(result.agreement, 0);
    EXPECT_EQ(result.sqnrDb, -200);
    EXPECT_EQ(result.kl, 1000);
  }
}

TEST(Metrics, ZeroSignalIsDefined) {
  float p[2] = {0, 0}, q[2] = {0, 1};
  EXPECT_EQ(summarize({compareImage(p, p, 2)}).sqnrDb, 200);
  EXPECT_EQ(summarize({compareImage(p, q, 2)}).sqnrDb, -200);
}

TEST(Metrics, CorrectnessIsAString) {
  EXPECT_EQ(correctness({1, 2, 3}, {1, 0, 3}), "101");
  EXPECT_EQ(correctness({-1}, {0}), "0");
}

} // namespace
