//===- PrecisionTest.cpp - the list of precisions ---------------------------------------------===//

#include "hardware/Precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace conquer;
using P = Precision;

namespace {

TEST(Precision, TheTableIsInTheOrderOfTheEnum) {
  std::string letters;
  for (size_t i = 0; i < numPrecisions; ++i) {
    EXPECT_EQ(precisionIndex(allPrecisions[i]), i);
    letters += precisionLetter(allPrecisions[i]);
  }
  EXPECT_EQ(precisionNames(allPrecisions), "f32, bf16, f16, i8, w4a8, w8a16");
  EXPECT_EQ(letters, "fbh846");
}

TEST(Precision, NamesAreReadBack) {
  for (P precision : allPrecisions)
    EXPECT_EQ(parsePrecision(precisionName(precision)), precision);
  for (const char *name : {"i3", "", "F32", "i8 "})
    EXPECT_FALSE(parsePrecision(name)) << name;
}

TEST(Precision, OnlyW4A8SharesItsActivations) {
  EXPECT_EQ(activationForm(P::W4A8), P::I8);
  for (P precision : {P::F32, P::BF16, P::F16, P::I8, P::W8A16})
    EXPECT_EQ(activationForm(precision), precision);
}

TEST(Precision, WeightsTakeTheirBits) {
  std::vector<double> bytes;
  for (P precision : allPrecisions)
    bytes.push_back(bytesPerWeight(precision));
  EXPECT_THAT(bytes, testing::ElementsAre(4, 2, 2, 1, 0.5, 1));
}

} // namespace
