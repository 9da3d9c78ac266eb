//===- QuantizationTest.cpp - extremes of scales, codes and multipliers -----------------------===//

#include "conquer-opt/Analysis/Quantization.h"

#include <gmock/gmock.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <random>

namespace conquer {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// TOSA's apply_scale_32 with SINGLE_ROUND.
int64_t applyRescale(int64_t value, Rescale rescale) {
  __int128 product = static_cast<__int128>(value) * rescale.multiplier;
  return static_cast<int64_t>((product + (__int128{1} << (rescale.shift - 1))) >> rescale.shift);
}

TEST(Affine, ZeroHasACodeAndTheEndsAreReached) {
  for (auto [min, max] : std::vector<std::pair<double, double>>{
           {-1, 1}, {0, 6}, {-6, 0}, {-0.001, 1000}, {-1e30, 3}, {-1e-20, 1e-20}}) {
    AffineParams params = affineFromRange(min, max);
    EXPECT_EQ(toCode(0, params), params.zeroPoint);
    EXPECT_LE(toCode(min, params), -127);
    EXPECT_GE(toCode(max, params), 126);
  }
}

TEST(Affine, DegenerateRangesStayUsable) {
  AffineParams zero = affineFromRange(0, 0);
  EXPECT_EQ(zero.scale, 1);
  EXPECT_EQ(toCode(0, zero), zero.zeroPoint);
  AffineParams tiny = affineFromRange(-1e-300, 1e-300);
  EXPECT_GE(tiny.scale, 0x1p-100f);
  EXPECT_TRUE(std::isnormal(1 / tiny.scale));
  AffineParams huge = affineFromRange(-FLT_MAX, FLT_MAX);
  EXPECT_TRUE(std::isfinite(huge.scale));
  EXPECT_EQ(toCode(FLT_MAX, huge), 127);
}

TEST(Affine, ClampBoundsBecomeCodes) {
  AffineParams params{0.5, -28}; // codes -128..127 are -50..77.5
  CodeBounds relu = clampToCodes(0, infinity, params);
  EXPECT_EQ(relu.min, -28);
  EXPECT_EQ(relu.max, 127);
  CodeBounds relu6 = clampToCodes(0, 6, params);
  EXPECT_EQ(relu6.max, -16);
  CodeBounds open = clampToCodes(-FLT_MAX, FLT_MAX, params);
  EXPECT_EQ(open.min, -128);
  EXPECT_EQ(open.max, 127);
  CodeBounds outside = clampToCodes(100, 200, params);
  EXPECT_EQ(outside.min, 127);
  EXPECT_EQ(outside.max, 127);
  EXPECT_EQ(toCode(std::nan(""), params), -28);
  EXPECT_EQ(toCode(0.25, {0.5, 0}), 0) << "ties go to even";
  EXPECT_EQ(toCode(0.75, {0.5, 0}), 2);
}

/// A conv2d layer of one input channel and one tap per weight.
QuantizedLayer quantizeRows(const std::vector<std::vector<float>> &rows,
                            const std::vector<float> &bias, AffineParams input) {
  std::vector<float> flat;
  for (const std::vector<float> &row : rows)
    flat.insert(flat.end(), row.begin(), row.end());
  Result<QuantizedLayer> layer = quantizeLayer(flat, bias, rows.size(), rows[0].size(), input);
  EXPECT_TRUE(layer) << layer.error().message();
  return layer ? *layer : QuantizedLayer();
}

/// What the channel outputs for an input of zeros.
double realBias(const QuantizedLayer &layer, size_t channel, AffineParams input) {
  return static_cast<double>(layer.bias[channel]) * input.scale * layer.scales[channel];
}

TEST(Layer, PerChannelSymmetric) {
  QuantizedLayer layer = quantizeRows({{0.5, -1, 0.25}, {127, 64, -3}}, {1, -10}, {0.5, 3});
  EXPECT_THAT(layer.weights, testing::ElementsAre(64, -127, 32, 127, 64, -3));
  EXPECT_EQ(layer.scales[1], 1);
  EXPECT_EQ(layer.bias[1], -20);
  EXPECT_EQ(layer.bound[1], (127 + 64 + 3) * 131 + 20) << "the zero point is 131 from -128";
}

TEST(Layer, FourBitCodes) {
  Result<QuantizedLayer> layer =
      quantizeLayer({0.5f, -1, 0.1f, 7, 3.5f, -3}, {1, -10}, 2, 3, {0.5, 3}, /*largestCode=*/7);
  ASSERT_TRUE(layer);
  EXPECT_THAT(layer->weights, testing::ElementsAre(3, -7, 1, 7, 4, -3)) << "ties go to even";
  EXPECT_EQ(layer->scales[1], 1);
  EXPECT_EQ(layer->bound[1], (7 + 4 + 3) * 131 + 20);
}

TEST(Layer, DepthwiseWeightsInterleaveTheirChannels) {
  // [KH=1, KW=2, C=3, M=1]
  Result<QuantizedLayer> layer = quantizeLayer({1, 10, 0, -2, 5, 0}, {0, 0, 0}, 3, 1, {1, 0});
  ASSERT_TRUE(layer);
  EXPECT_THAT(layer->weights, testing::ElementsAre(64, 127, 0, -127, 64, 0));
  EXPECT_EQ(layer->scales[2], 1);
}

TEST(Layer, ABiasThatDoesNotFitWidensTheScale) {
  AffineParams input{0.5, 0};
  const float weight = 127 * 7.843e-10f; // first scale 7.843e-10: the bias would need 1.3e10
  QuantizedLayer layer = quantizeRows({{weight, -weight}, {weight, weight}}, {5, -4.5}, input);
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_GE(layer.scales[c], 4.5 / 2147483647.0 / 0.5 * 0.999);
    EXPECT_LE(layer.bound[c], INT32_MAX);
  }
  EXPECT_NEAR(realBias(layer, 0, input), 5, 1e-6);
  EXPECT_NEAR(realBias(layer, 1, input), -4.5, 1e-6);
}

TEST(Layer, DeadChannelsOutputTheirBias) {
  AffineParams input{0.02f, -128};
  QuantizedLayer layer =
      quantizeRows({{0, 0, 0}, {1e-6f, -1e-6f, 5e-7f}, {0.5, -1, 0.25}, {0, 0, 0}, {1e-42f, 0, 0}},
                   {-1.2157f, 0.5, 0.5, 0, 0}, input);
  for (size_t c = 0; c < 5; ++c) {
    EXPECT_TRUE(std::isnormal(layer.scales[c]));
    EXPECT_LE(layer.bound[c], INT32_MAX);
  }
  EXPECT_THAT(std::vector<int8_t>(layer.weights.begin(), layer.weights.begin() + 3),
              testing::Each(0));
  EXPECT_NEAR(realBias(layer, 0, input), -1.2157, 1e-7);
  EXPECT_NEAR(realBias(layer, 1, input), 0.5, 1e-7);
  EXPECT_EQ(layer.bias[3], 0);
  EXPECT_EQ(layer.scales[3], 1);
  EXPECT_FLOAT_EQ(layer.scales[2], 1 / 127.0f) << "other channels are not touched";
}

TEST(Layer, AccumulatorsNeverLeaveI32) {
  // 100,000 taps of the largest code over the largest distance exceed i32 unless the scale grows.
  std::vector<float> row(100000, 1);
  AffineParams input{1, -128};
  QuantizedLayer layer = quantizeRows({row}, {1e6f}, input);
  int64_t sum = 0;
  for (int8_t code : layer.weights)
    sum += code;
  EXPECT_LE(sum * 255 + layer.bias[0], INT32_MAX);
  EXPECT_GT(layer.scales[0], 1 / 127.0f);
}

TEST(Layer, RefusesWhatIsNotFinite) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  Result<QuantizedLayer> weight = quantizeLayer({1, 2, 3, nan}, {0, 0}, 2, 2, {1, 0});
  ASSERT_FALSE(weight);
  EXPECT_THAT(weight.error().message(), testing::HasSubstr("a weight of output channel 1"));
  Result<QuantizedLayer> bias = quantizeLayer({1, 2}, {inf}, 1, 2, {1, 0});
  ASSERT_FALSE(bias);
  EXPECT_THAT(bias.error().message(), testing::HasSubstr("the bias of output channel 0"));
  EXPECT_FALSE(quantizeLayer({0}, {FLT_MAX}, 1, 1, {0x1p-100f, 0}));
}

TEST(Layer, PaddingIsRealZero) {
  // A 3x3 conv of ones over a constant 1.0 gives 4 at the corner, whatever the zero point.
  for (int32_t zeroPoint : {-128, -1, 0, 17, 127}) {
    AffineParams input{1 / 64.0f, zeroPoint};
    QuantizedLayer layer = quantizeRows({std::vector<float>(9, 1)}, {0}, input);
    int64_t corner = 0;
    for (int tap = 0; tap < 4; ++tap)
      corner += static_cast<int64_t>(layer.weights[0]) * 64; // (code - zp) of the real 1.0
    EXPECT_NEAR(static_cast<double>(corner) * input.scale * layer.scales[0], 4, 1e-6);
    EXPECT_EQ(layer.bound[0], 9 * 127 * largestDistance(zeroPoint));
  }
}

TEST(Multiplier, IsNormalOrZeroAndFinite) {
  EXPECT_EQ(toMultiplier(0), 0);
  EXPECT_EQ(toMultiplier(1e-40), 0);
  EXPECT_EQ(toMultiplier(1e300), FLT_MAX);
  EXPECT_EQ(toMultiplier(0.1), 0.1f);
}

TEST(RescaleFactor, KnownValues) {
  Result<Rescale> quarter = chooseRescale(0.25, 1000);
  ASSERT_TRUE(quarter);
  EXPECT_EQ(quarter->multiplier, 1 << 30);
  EXPECT_EQ(quarter->shift, 32);
  std::vector<int64_t> results;
  for (int value : {2, -2, 6, -6, 10, -10})
    results.push_back(applyRescale(value, *quarter));
  EXPECT_THAT(results, testing::ElementsAre(1, 0, 2, -1, 3, -2)) << "half up, not to even";
  Result<Rescale> third = chooseRescale(0.3, 3000);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->multiplier, 1288490189);
  EXPECT_EQ(applyRescale(-2998, *third), -899);
}

TEST(RescaleFactor, ExtremesAreLegalOrRefused) {
  Result<Rescale> zero = chooseRescale(0, INT32_MAX);
  ASSERT_TRUE(zero);
  EXPECT_EQ(zero->multiplier, 0);
  Result<Rescale> tiny = chooseRescale(1e-15, INT32_MAX);
  ASSERT_TRUE(tiny);
  EXPECT_EQ(tiny->shift, 62);
  EXPECT_EQ(applyRescale(INT32_MAX, *tiny), 0);
  Result<Rescale> almostOne = chooseRescale(1 - 1e-12, 1 << 20);
  ASSERT_TRUE(almostOne);
  EXPECT_EQ(almostOne->multiplier, 1 << 30) << "the rounding carried into the exponent";
  EXPECT_EQ(almostOne->shift, 30);
  EXPECT_FALSE(chooseRescale(0.9, INT32_MAX)) << "shift 31 needs |value| < 2^30";
  EXPECT_FALSE(chooseRescale(1e12, 1));
  EXPECT_TRUE(chooseRescale(0.45, INT32_MAX)) << "shift 32 takes all of i32";
}

TEST(RescaleFactor, IsWithinOneOfTheExactProduct) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> logarithm(-30, -1.1);
  std::uniform_int_distribution<int64_t> value(-INT32_MAX, INT32_MAX);
  for (int i = 0; i < 20000; ++i) {
    double factor = std::exp2(logarithm(generator));
    int64_t input = value(generator);
    Result<Rescale> rescale = chooseRescale(factor, INT32_MAX);
    ASSERT_TRUE(rescale);
    ASSERT_GE(rescale->multiplier, 1 << 30);
    ASSERT_LE(std::fabs(static_cast<double>(applyRescale(input, *rescale)) -
                        static_cast<double>(input) * factor),
              1.0);
  }
}

/// The real sum of two codes, to compare with.
double realSum(int a, AffineParams pa, int b, AffineParams pb) {
  return static_cast<double>(pa.scale) * (a - pa.zeroPoint) +
         static_cast<double>(pb.scale) * (b - pb.zeroPoint);
}

class AddTest : public testing::TestWithParam<std::pair<AffineParams, AffineParams>> {};

TEST_P(AddTest, IsWithinHalfAStepEverywhereAndExactInF32) {
  auto [a, b] = GetParam();
  AffineParams output{std::max(a.scale, b.scale) * 2, 5};
  AddFloat32 add = chooseAddFloat32(a, b, output);
  Result<AddInteger> integer = chooseAddInteger(a, b, output);
  ASSERT_TRUE(integer) << integer.error().message();
  EXPECT_EQ(std::max(add.multiplierA, add.multiplierB), 1 << 14);
  for (int x = -128; x <= 127; ++x)
    for (int y = -128; y <= 127; ++y) {
      int32_t accumulator = x * add.multiplierA + y * add.multiplierB + add.constant;
      ASSERT_LT(std::abs(accumulator), 1 << 24);
      double expected = realSum(x, a, y, b) / output.scale;
      ASSERT_NEAR(std::nearbyint(static_cast<float>(accumulator) * add.multiplier), expected, 0.51);
      int64_t shared =
          applyRescale(x - a.zeroPoint, integer->a) + applyRescale(y - b.zeroPoint, integer->b);
      ASSERT_LE(std::abs(shared), INT32_MAX);
      ASSERT_NEAR(static_cast<double>(applyRescale(shared, integer->output)), expected, 0.501);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Scales, AddTest,
    testing::Values(std::make_pair(AffineParams{0.1f, 0}, AffineParams{0.01f, 0}),
                    std::make_pair(AffineParams{0.1f, 20}, AffineParams{0.01f, -20}),
                    std::make_pair(AffineParams{0.037f, -128}, AffineParams{0.037f, 127}),
                    std::make_pair(AffineParams{1e-20f, -128}, AffineParams{3.0f, -128}),
                    std::make_pair(AffineParams{0x1p-100f, 3}, AffineParams{0x1p-100f, 3})));

} // namespace
} // namespace conquer
