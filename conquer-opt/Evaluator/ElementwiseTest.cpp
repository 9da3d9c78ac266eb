//===- ElementwiseTest.cpp - elementwise operations against TOSA's text -----------------------===//

#include "conquer-opt/Evaluator/TestGraph.h"

#include <cmath>

using namespace conquer;
using testing::Test;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr int32_t intMin = std::numeric_limits<int32_t>::min();
constexpr int32_t intMax = std::numeric_limits<int32_t>::max();

/// One binary operation on equal shapes.
template <typename In, typename Out>
std::vector<Out>
binary(const std::string &op, ElementType type, const std::vector<In> &a, const std::vector<In> &b,
       const std::map<std::string, NodeAttribute> &attributes = {}, int shift = -1) {
  TestGraph g;
  Shape shape = {static_cast<int64_t>(a.size())};
  std::vector<int> inputs = {g.input<In>(shape, a), g.input<In>(shape, b)};
  if (shift >= 0)
    inputs.push_back(g.scalar<int8_t>(shift));
  return g.run<Out>(g.node(op, inputs, type, shape, attributes));
}

TEST(Elementwise, AddBroadcastsEveryPattern) {
  Shape out = {2, 3, 1, 5};
  for (const Shape &second :
       {Shape{2, 3, 1, 5}, Shape{1, 1, 1, 1}, Shape{1, 1, 1, 5}, Shape{2, 1, 1, 1},
        Shape{1, 3, 1, 1}, Shape{2, 1, 1, 5}, Shape{1, 3, 1, 5}}) {
    TestGraph g;
    std::vector<int32_t> a = randomIntegers<int32_t>(30, -1000, 1000, 1);
    int64_t count = second[0] * second[1] * second[2] * second[3];
    std::vector<int32_t> b = randomIntegers<int32_t>(count, -1000, 1000, 2);
    std::vector<int32_t> expected;
    for (int64_t i = 0; i < 30; ++i) {
      int64_t n = i / 15, h = i / 5 % 3, c = i % 5;
      int64_t at = ((second[0] == 1 ? 0 : n) * second[1] + (second[1] == 1 ? 0 : h)) * second[3] +
                   (second[3] == 1 ? 0 : c);
      expected.push_back(a[i] - b[at]);
    }
    int first = g.input<int32_t>(out, a), other = g.input<int32_t>(second, b);
    EXPECT_EQ(g.run<int32_t>(g.node("tosa.sub", {first, other}, ElementType::I32, out)), expected);
    TestGraph swapped;
    first = swapped.input<int32_t>(second, b), other = swapped.input<int32_t>(out, a);
    for (int32_t &value : expected)
      value = -value;
    EXPECT_EQ(swapped.run<int32_t>(swapped.node("tosa.sub", {first, other}, ElementType::I32, out)),
              expected);
  }
}

TEST(Elementwise, BroadcastRefusesOtherShapes) {
  TestGraph g;
  int a = g.input<float>({3}, {1, 2, 3}), b = g.input<float>({2}, {1, 2});
  EXPECT_NE(g.refusal(g.node("tosa.add", {a, b}, ElementType::F32, {3})).find("2xf32"),
            std::string::npos);
}

TEST(Elementwise, IntegersWrap) {
  EXPECT_EQ((binary<int32_t, int32_t>("tosa.add", ElementType::I32, {intMax, -5}, {1, 3})),
            (std::vector<int32_t>{intMin, -2}));
  EXPECT_EQ((binary<int32_t, int32_t>("tosa.sub", ElementType::I32, {intMin}, {1})),
            (std::vector<int32_t>{intMax}));
}

TEST(Elementwise, MulShiftsHalfUp) {
  EXPECT_EQ(
      (binary<int32_t, int32_t>("tosa.mul", ElementType::I32, {7, -7, 3, -3}, {1, 1, 1, 1}, {}, 1)),
      (std::vector<int32_t>{4, -3, 2, -1}));
  EXPECT_EQ((binary<int32_t, int32_t>("tosa.mul", ElementType::I32, {1 << 30}, {1 << 30}, {}, 31)),
            (std::vector<int32_t>{1 << 29}));
  EXPECT_EQ(
      (binary<int8_t, int32_t>("tosa.mul", ElementType::I32, {-128, 127}, {-128, -128}, {}, 0)),
      (std::vector<int32_t>{16384, -16256}));
}

TEST(Elementwise, MaximumAndMinimumTreatNan) {
  std::map<std::string, NodeAttribute> propagate = {{"nan_mode", std::string("PROPAGATE")}};
  std::map<std::string, NodeAttribute> ignore = {{"nan_mode", std::string("IGNORE")}};
  std::vector<float> a = {nan, 1, 2, nan}, b = {1, nan, 3, nan};
  for (const char *op : {"tosa.maximum", "tosa.minimum"}) {
    auto kept = binary<float, float>(op, ElementType::F32, a, b, propagate);
    EXPECT_TRUE(std::isnan(kept[0]) && std::isnan(kept[1]) && std::isnan(kept[3]));
    auto dropped = binary<float, float>(op, ElementType::F32, a, b, ignore);
    EXPECT_EQ(dropped[0], 1);
    EXPECT_EQ(dropped[1], 1);
    EXPECT_EQ(dropped[2], std::string(op) == "tosa.maximum" ? 3 : 2);
    EXPECT_TRUE(std::isnan(dropped[3]));
  }
}

TEST(Elementwise, ShiftsAndDivision) {
  std::vector<int32_t> a = {-5, 5, intMin, 6}, b = {1, 1, 31, 2};
  std::map<std::string, NodeAttribute> round = {{"round", int64_t(1)}};
  EXPECT_EQ((binary<int32_t, int32_t>("tosa.arithmetic_right_shift", ElementType::I32, a, b)),
            (std::vector<int32_t>{-3, 2, -1, 1}));
  EXPECT_EQ(
      (binary<int32_t, int32_t>("tosa.arithmetic_right_shift", ElementType::I32, a, b, round)),
      (std::vector<int32_t>{-2, 3, -1, 2}));
  EXPECT_EQ((binary<int32_t, int32_t>("tosa.logical_right_shift", ElementType::I32, a, b)),
            (std::vector<int32_t>{0x7ffffffd, 2, 1, 1}));
  EXPECT_EQ(
      (binary<int8_t, int8_t>("tosa.logical_left_shift", ElementType::I8, {0x17, -1}, {4, 7})),
      (std::vector<int8_t>{0x70, -128}));
  EXPECT_EQ((binary<int32_t, int32_t>("tosa.intdiv", ElementType::I32, {-7, 7, 1, intMin},
                                      {2, -2, 0, -1})),
            (std::vector<int32_t>{-3, -3, 0, intMin}));
}

TEST(Elementwise, ComparisonsAndSelect) {
  std::vector<float> a = {1, 2, nan, 3}, b = {1, 3, nan, 2};
  EXPECT_EQ((binary<float, int8_t>("tosa.equal", ElementType::Bool, a, b)),
            (std::vector<int8_t>{1, 0, 0, 0}));
  EXPECT_EQ((binary<float, int8_t>("tosa.greater", ElementType::Bool, a, b)),
            (std::vector<int8_t>{0, 0, 0, 1}));
  EXPECT_EQ((binary<float, int8_t>("tosa.greater_equal", ElementType::Bool, a, b)),
            (std::vector<int8_t>{1, 0, 0, 1}));
  TestGraph g;
  int x = g.input<float>({2, 2}, {1, 5, 3, 0}), y = g.constant<float>({1, 2}, {2, 4});
  int condition = g.node("tosa.greater", {x, y}, ElementType::Bool, {2, 2});
  EXPECT_EQ(g.run<float>(g.node("tosa.select", {condition, x, y}, ElementType::F32, {2, 2})),
            (std::vector<float>{2, 5, 3, 4}));
}

template <typename In, typename Out>
std::vector<Out> cast(ElementType type, const std::vector<In> &elements) {
  TestGraph g;
  Shape shape = {static_cast<int64_t>(elements.size())};
  return g.run<Out>(g.node("tosa.cast", {g.input<In>(shape, elements)}, type, shape));
}

TEST(Elementwise, CastRoundsToEvenAndSaturates) {
  EXPECT_EQ((cast<float, int8_t>(ElementType::I8, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 126.5f, 127.5f,
                                                   1e9f, -128.5f, -129, nan, inf, -inf})),
            (std::vector<int8_t>{0, 2, 2, 0, -2, 126, 127, 127, -128, -128, 0, 127, -128}));
  EXPECT_EQ((cast<float, int32_t>(ElementType::I32, {2147483520.0f, 2147483648.0f, 3e9f,
                                                     -2147483648.0f, -3e9f, 8388609.0f, nan})),
            (std::vector<int32_t>{2147483520, intMax, intMax, intMin, intMin, 8388609, 0}));
  EXPECT_EQ((cast<float, int16_t>(ElementType::I16, {32767.5f, -32768.5f, 1e30f})),
            (std::vector<int16_t>{32767, -32768, 32767}));
}

TEST(Elementwise, CastTruncatesAndExtendsIntegers) {
  EXPECT_EQ((cast<int32_t, int8_t>(ElementType::I8, {300, -129, 5})),
            (std::vector<int8_t>{44, 127, 5}));
  EXPECT_EQ((cast<int8_t, int32_t>(ElementType::I32, {-128, 127})),
            (std::vector<int32_t>{-128, 127}));
  EXPECT_EQ((cast<int32_t, float>(ElementType::F32, {16777217, -3})),
            (std::vector<float>{16777216, -3}));
  EXPECT_EQ((cast<int8_t, int8_t>(ElementType::Bool, {0, 5, -1})), (std::vector<int8_t>{0, 1, 1}));
}

TEST(Elementwise, ClampTreatsNan) {
  for (const char *mode : {"PROPAGATE", "IGNORE"}) {
    TestGraph g;
    int x = g.input<float>({4}, {-1, 0.5f, 7, nan});
    auto out =
        g.run<float>(g.node("tosa.clamp", {x}, ElementType::F32, {4},
                            {{"min_val", 0.0}, {"max_val", 6.0}, {"nan_mode", std::string(mode)}}));
    EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 3), (std::vector<float>{0, 0.5f, 6}));
    EXPECT_EQ(std::isnan(out[3]), std::string(mode) == "PROPAGATE");
  }
}

TEST(Elementwise, NegateUsesZeroPoints) {
  TestGraph g;
  int x = g.input<int8_t>({3}, {-128, 0, 127});
  int out =
      g.node("tosa.negate", {x, g.scalar<int8_t>(3), g.scalar<int8_t>(-2)}, ElementType::I8, {3});
  EXPECT_EQ(g.run<int8_t>(out), (std::vector<int8_t>{127, 1, -126}));
}

TEST(Elementwise, TablesOfBothWidths) {
  std::vector<int8_t> table(256);
  for (int i = 0; i < 256; ++i)
    table[i] = static_cast<int8_t>(255 - i);
  TestGraph g;
  int x = g.input<int8_t>({3}, {-128, 0, 127});
  EXPECT_EQ(g.run<int8_t>(
                g.node("tosa.table", {x, g.constant<int8_t>({256}, table)}, ElementType::I8, {3})),
            (std::vector<int8_t>{-1, 127, 0}));
  std::vector<int16_t> wide(513);
  for (int i = 0; i < 513; ++i)
    wide[i] = static_cast<int16_t>(i * 3);
  TestGraph h;
  int y = h.input<int16_t>({3}, {-32768, 0, 32767});
  // Slope 3 per step of 128: 128 * 3 * index + 3 * fraction.
  EXPECT_EQ(h.run<int32_t>(
                h.node("tosa.table", {y, h.constant<int16_t>({513}, wide)}, ElementType::I32, {3})),
            (std::vector<int32_t>{0, 98304, 196605}));
}

/// TOSA's apply_scale_32 by its text, in 128 bits.
int64_t scaleReference(int64_t value, int64_t multiplier, int64_t shift, bool doubleRound) {
  __int128 round = __int128(1) << (shift - 1);
  if (doubleRound && shift > 31)
    round += value >= 0 ? 1 << 30 : -(1 << 30);
  return static_cast<int64_t>((__int128(value) * multiplier + round) >> shift);
}

TEST(Elementwise, RescaleMatchesTheText) {
  for (bool doubleRound : {false, true})
    for (int channels : {1, 5}) {
      TestGraph g;
      Shape shape = {7, 5};
      std::vector<int32_t> values = randomIntegers<int32_t>(35, -(1 << 29), 1 << 29, 3);
      std::vector<int32_t> multiplier = randomIntegers<int32_t>(channels, 1 << 30, intMax, 4);
      std::vector<int8_t> shift = randomIntegers<int8_t>(channels, 31, 45, 5);
      std::vector<int8_t> expected;
      for (int i = 0; i < 35; ++i) {
        int c = channels == 1 ? 0 : i % 5;
        int64_t scaled = scaleReference(values[i], multiplier[c], shift[c], doubleRound) - 7;
        expected.push_back(
            static_cast<int8_t>(std::min<int64_t>(127, std::max<int64_t>(-128, scaled))));
      }
      int out = g.node(
          "tosa.rescale",
          {g.input<int32_t>(shape, values), g.constant<int32_t>({channels}, multiplier),
           g.constant<int8_t>({channels}, shift), g.scalar<int32_t>(0), g.scalar<int8_t>(-7)},
          ElementType::I8, shape,
          {{"scale32", int64_t(1)},
           {"per_channel", int64_t(channels > 1)},
           {"rounding_mode", std::string(doubleRound ? "DOUBLE_ROUND" : "SINGLE_ROUND")}});
      EXPECT_EQ(g.run<int8_t>(out), expected);
    }
}

TEST(Elementwise, RescaleOfUnsignedInput) {
  TestGraph g;
  int x = g.input<int8_t>({3}, {0, -128, -1}); // 0, 128, 255 as u8
  int out = g.node(
      "tosa.rescale",
      {x, g.constant<int32_t>({1}, {1 << 30}), g.constant<int8_t>({1}, {30}),
       g.scalar<int8_t>(-128), g.scalar<int8_t>(0)},
      ElementType::I8, {3},
      {{"scale32", int64_t(1)}, {"input_unsigned", int64_t(1)}, {"per_channel", int64_t(0)}});
  EXPECT_EQ(g.run<int8_t>(out), (std::vector<int8_t>{-128, 0, 127}));
}

TEST(Elementwise, RescaleRefusesBadShifts) {
  TestGraph g;
  int x = g.input<int32_t>({1}, {1});
  int out = g.node(
      "tosa.rescale",
      {x, g.scalar<int32_t>(1), g.scalar<int8_t>(63), g.scalar<int32_t>(0), g.scalar<int8_t>(0)},
      ElementType::I8, {1}, {{"scale32", int64_t(1)}});
  EXPECT_NE(g.refusal(out).find("shift is 63"), std::string::npos);
}

} // namespace
