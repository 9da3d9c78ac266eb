//===- HalfFloatTest.cpp - bf16 and f16 against the definitions -------------------------------===//

#include "support/HalfFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace conquer;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

struct Format {
  float (*widen)(uint16_t);
  uint16_t (*round)(float);
  uint16_t infinity;
};
constexpr Format formats[] = {{bf16ToFloat, floatToBF16, 0x7f80}, {f16ToFloat, floatToF16, 0x7c00}};

TEST(HalfFloat, EveryValueSurvivesTheRoundTrip) {
  for (const Format &format : formats)
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      float x = format.widen(static_cast<uint16_t>(bits));
      if (std::isnan(x))
        EXPECT_TRUE(std::isnan(format.widen(format.round(x)))) << bits;
      else
        EXPECT_EQ(format.round(x), bits);
    }
}

/// Between two neighbours the nearer wins, half-way the even one; subnormals included.
TEST(HalfFloat, RoundsToNearestEven) {
  for (const Format &format : formats)
    for (uint16_t bits = 0; bits + 1 < format.infinity; ++bits) {
      double low = format.widen(bits), high = format.widen(bits + 1);
      auto middle = static_cast<float>((low + high) / 2);
      if (middle != (low + high) / 2)
        continue; // below what f32 holds
      uint16_t even = bits & 1 ? bits + 1 : bits;
      EXPECT_EQ(format.round(middle), even) << bits;
      EXPECT_EQ(format.round(-middle), even | 0x8000) << bits;
      EXPECT_EQ(format.round(std::nextafterf(middle, 0)), bits);
      EXPECT_EQ(format.round(std::nextafterf(middle, inf)), bits + 1);
    }
}

TEST(HalfFloat, OverflowsToInfinity) {
  EXPECT_EQ(f16ToFloat(floatToF16(maxF16)), 65504.0f);
  EXPECT_EQ(f16ToFloat(floatToF16(65519.996f)), 65504.0f);
  EXPECT_EQ(f16ToFloat(floatToF16(65520.0f)), inf);
  EXPECT_EQ(f16ToFloat(floatToF16(-1e30f)), -inf);
  EXPECT_EQ(bf16ToFloat(floatToBF16(std::numeric_limits<float>::max())), inf);
  EXPECT_EQ(bf16ToFloat(floatToBF16(-inf)), -inf);
}

} // namespace
