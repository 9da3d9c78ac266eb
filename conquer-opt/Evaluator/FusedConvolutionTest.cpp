//===- FusedConvolutionTest.cpp - fused operations against their definition -------------------===//

#include "conquer-opt/Evaluator/TestConvolution.h"

#include <cmath>

using namespace conquer;

namespace {

std::string fusedName(const Case &c) {
  return c.depthwise ? "conquer.depthwise_conv2d" : "conquer.conv2d";
}

constexpr int32_t inputZp = -128, outputZp = 17, low = -100, high = 90;
constexpr float lowest = -20.5f, highest = 60.25f;

Attributes epilogue(const Case &c) {
  Attributes attributes = c.attributes();
  attributes.insert({{"input_zp", int64_t(inputZp)},
                     {"output_zp", int64_t(outputZp)},
                     {"clamp_min", int64_t(low)},
                     {"clamp_max", int64_t(high)},
                     {"clamp_min_f32", lowest},
                     {"clamp_max_f32", highest}});
  return attributes;
}

/// i8 inputs and weights of that type, of which an element takes a byte; results i8 and f32.
void checkInteger(const Case &c, const cq_level *level, ElementType weightType) {
  int64_t largest = weightType == ElementType::I4 ? 7 : 127;
  auto in = randomIntegers<int8_t>(count(c.in), -128, 127, 1);
  auto weights = randomIntegers<int8_t>(count(c.weights), -largest, largest, 2);
  auto bias = randomIntegers<int32_t>(c.outC(), -9999, 9999, 3);
  auto multiplier = randomFloats(c.outC(), 0.25f / static_cast<float>(largest), 4);
  for (float &m : multiplier)
    m = std::fabs(m) + 1e-5f;
  auto acc = reference<int8_t, int8_t, int32_t>(c, in, weights, bias, inputZp, 0);
  std::vector<float> floats;
  std::vector<int8_t> codes;
  for (size_t i = 0; i < acc.size(); ++i) {
    float scaled = static_cast<float>(acc[i]) * multiplier[i % c.outC()];
    floats.push_back(std::min(std::max(scaled, lowest), highest));
    float clamped = std::min(std::max(scaled, float(low - outputZp)), float(high - outputZp));
    codes.push_back(static_cast<int8_t>(outputZp + static_cast<int>(std::nearbyint(clamped))));
  }
  for (ElementType result : {ElementType::I8, ElementType::F32}) {
    TestGraph g;
    int constant = g.constant(c.weights, weights);
    g.graph->values[constant].type = weightType;
    int out = g.node(fusedName(c),
                     {g.input(c.in, in), constant, g.constant({c.outC()}, bias),
                      g.constant({c.outC()}, multiplier)},
                     result, c.out(), epilogue(c));
    if (result == ElementType::F32)
      EXPECT_EQ(g.run<float>(out, level), floats) << level->name;
    else
      EXPECT_EQ(g.run<int8_t>(out, level), codes) << level->name;
  }
}

TEST(FusedConvolution, IntegersFollowTheContract) {
  for (const Case &c : cases())
    for (const cq_level *level : levels())
      for (ElementType weights : {ElementType::I8, ElementType::I4})
        checkInteger(c, level, weights);
}

float fromBF16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// The nearest bf16, ties to even, of a normal number: 8 significant bits.
float toBF16(float value) {
  int exponent;
  float fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

/// bf16 numbers, as bits.
std::vector<uint16_t> randomBF16(size_t size, float scale, uint32_t seed) {
  std::vector<uint16_t> bits;
  for (float value : randomFloats(size, scale, seed)) {
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof wide);
    bits.push_back(static_cast<uint16_t>(wide >> 16));
  }
  return bits;
}

std::vector<float> widen(const std::vector<uint16_t> &bits) {
  std::vector<float> values;
  for (uint16_t element : bits)
    values.push_back(fromBF16(element));
  return values;
}

TEST(FusedConvolution, BF16FollowsTheContract) {
  for (const Case &c : cases())
    for (const cq_level *level : levels()) {
      TestGraph g;
      auto in = randomBF16(count(c.in), 2, 1), weights = randomBF16(count(c.weights), 1, 2);
      auto bias = randomFloats(c.outC(), 1, 3);
      // The sum in f32, in the order that the contract names.
      auto sum = reference<float, float, float>(c, widen(in), widen(weights), bias, 0, 0);
      Attributes attributes = c.attributes();
      attributes.insert({{"clamp_min_f32", -1.0}, {"clamp_max_f32", 6.0}});
      int out =
          g.node(fusedName(c),
                 {g.input(c.in, in), g.constant(c.weights, weights), g.constant({c.outC()}, bias)},
                 ElementType::BF16, c.out(), attributes);
      auto got = widen(g.run<uint16_t>(out, level));
      ASSERT_EQ(got.size(), sum.size());
      for (size_t i = 0; i < got.size(); ++i) {
        float expected = toBF16(std::min(std::max(sum[i], -1.0f), 6.0f));
        // The dot product of pairs sums in another order.
        if (std::string(level->name) == "avx512bf16")
          EXPECT_NEAR(got[i], expected, std::fabs(expected) / 128 + 1e-4);
        else
          EXPECT_EQ(got[i], expected) << level->name;
      }
    }
}

TEST(FusedConvolution, RefusesWeightsThatAreNoConstant) {
  Case c = cases()[0];
  TestGraph g;
  int out =
      g.node("conquer.conv2d",
             {g.input(c.in, std::vector<int8_t>(count(c.in))),
              g.input(c.weights, std::vector<int8_t>(count(c.weights))),
              g.constant({4}, std::vector<int32_t>(4)), g.constant({4}, std::vector<float>(4))},
             ElementType::I8, c.out(), c.attributes());
  EXPECT_NE(g.refusal(out).find("not a constant"), std::string::npos);
}

TEST(FusedConvolution, RefusesMixturesOfPrecisions) {
  Case c = cases()[0];
  TestGraph g;
  int out = g.node("conquer.conv2d",
                   {g.input(c.in, std::vector<uint16_t>(count(c.in))),
                    g.constant(c.weights, std::vector<int8_t>(count(c.weights))),
                    g.constant({4}, std::vector<float>(4))},
                   ElementType::BF16, c.out(), c.attributes());
  EXPECT_NE(g.refusal(out).find("no form of this operation"), std::string::npos);
}

} // namespace
