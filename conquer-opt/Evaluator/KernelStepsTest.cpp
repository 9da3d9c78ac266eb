//===- KernelStepsTest.cpp - convolutions, pooling and layout against plain loops -------------===//

#include "conquer-opt/Evaluator/TestConvolution.h"

#include <algorithm>
#include <cmath>

using namespace conquer;

namespace {

TEST(KernelSteps, IntegerConvolutionsInTosaForm) {
  // With a weight zero point by loops; without on a kernel, unless accumulators exceed f32's whole
  // numbers.
  for (const cq_level *level : levels())
    for (const Case &c : cases())
      for (int weightZp : {5, 0})
        for (int32_t offset : {0, (1 << 24) + 1, -(1 << 30) - 1}) {
          TestGraph g;
          auto in = randomIntegers<int8_t>(count(c.in), -128, 127, 1);
          auto weights = randomIntegers<int8_t>(count(c.weights), -128, 127, 2);
          auto bias = randomIntegers<int32_t>(offset ? 1 : c.outC(), -9999, 9999, 3);
          bias[0] += offset;
          auto expected = reference<int8_t, int8_t, int32_t>(c, in, weights, bias, -128, weightZp);
          int out =
              g.node(tosaName(c),
                     {g.input(c.in, in), g.constant(c.weights, weights),
                      g.constant({static_cast<int64_t>(bias.size())}, bias), g.scalar<int8_t>(-128),
                      g.scalar<int8_t>(static_cast<int8_t>(weightZp))},
                     ElementType::I32, c.out(), c.attributes());
          EXPECT_EQ(g.run<int32_t>(out, level), expected) << level->name;
        }
}

TEST(KernelSteps, WideConvolutionsAccumulateIn48Bits) {
  Case c = cases()[1];
  TestGraph g;
  auto in = randomIntegers<int16_t>(count(c.in), -32768, 32767, 1);
  auto weights = randomIntegers<int8_t>(count(c.weights), -128, 127, 2);
  std::vector<int64_t> bias(c.outC(), -(int64_t(1) << 40));
  auto expected = reference<int16_t, int8_t, int64_t>(c, in, weights, bias, 0, 0);
  int out = g.node("tosa.conv2d",
                   {g.input(c.in, in), g.constant(c.weights, weights), g.constant({c.outC()}, bias),
                    g.scalar<int16_t>(0), g.scalar<int8_t>(0)},
                   ElementType::I48, c.out(), c.attributes());
  EXPECT_EQ(g.run<int64_t>(out), expected);
}

TEST(KernelSteps, FloatConvolutionsOnEveryLevel) {
  for (const Case &c : cases())
    for (const cq_level *level : levels()) {
      TestGraph g;
      auto in = randomFloats(count(c.in), 2, 1), weights = randomFloats(count(c.weights), 1, 2);
      auto bias = randomFloats(c.outC(), 1, 3);
      std::vector<double> wide(bias.begin(), bias.end());
      auto expected = reference<float, float, double>(c, in, weights, wide, 0, 0);
      int out = g.node(tosaName(c),
                       {g.input(c.in, in), g.constant(c.weights, weights),
                        g.constant({c.outC()}, bias), g.scalar<float>(0), g.scalar<float>(0)},
                       ElementType::F32, c.out(), c.attributes());
      auto got = g.run<float>(out, level);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], expected[i], 1e-4);
    }
}

TEST(KernelSteps, ConvolutionRefusesShapesThatDoNotFollow) {
  Case c = cases()[0];
  TestGraph g;
  Shape wrong = c.out();
  wrong[1] += 1;
  int out = g.node("tosa.conv2d",
                   {g.input(c.in, std::vector<float>(count(c.in))),
                    g.constant(c.weights, std::vector<float>(count(c.weights))),
                    g.constant({4}, std::vector<float>(4)), g.scalar<float>(0), g.scalar<float>(0)},
                   ElementType::F32, wrong, c.attributes());
  EXPECT_NE(g.refusal(out).find("do not lead to"), std::string::npos);
}

TEST(KernelSteps, TransposedConvolution) {
  // Output = input * stride + out_pad + tap, worked by scattering.
  Shape inShape = {1, 3, 2, 3}, weightShape = {4, 3, 2, 3}, outShape = {1, 7, 3, 4};
  Shape pad = {-1, 1, 0, -1}, stride = {2, 2};
  auto in = randomIntegers<int8_t>(18, -128, 127, 1);
  auto weights = randomIntegers<int8_t>(72, -128, 127, 2);
  auto bias = randomIntegers<int32_t>(4, -99, 99, 3);
  std::vector<int32_t> expected(84);
  for (int i = 0; i < 84; ++i)
    expected[i] = bias[i % 4];
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 2; ++x)
      for (int ky = 0; ky < 3; ++ky)
        for (int kx = 0; kx < 2; ++kx) {
          int oy = 2 * y - 1 + ky, ox = 2 * x + kx;
          if (oy < 0 || oy >= 7 || ox < 0 || ox >= 3)
            continue;
          for (int o = 0; o < 4; ++o)
            for (int c = 0; c < 3; ++c)
              expected[(oy * 3 + ox) * 4 + o] +=
                  (in[(y * 2 + x) * 3 + c] - 9) * weights[((o * 3 + ky) * 2 + kx) * 3 + c];
        }
  TestGraph g;
  int out = g.node("tosa.transpose_conv2d",
                   {g.input(inShape, in), g.constant(weightShape, weights), g.constant({4}, bias),
                    g.scalar<int8_t>(9), g.scalar<int8_t>(0)},
                   ElementType::I32, outShape, {{"out_pad", pad}, {"stride", stride}});
  EXPECT_EQ(g.run<int32_t>(out), expected);
}

TEST(KernelSteps, MatrixProduct) {
  auto a = randomIntegers<int8_t>(2 * 3 * 5, -128, 127, 1),
       b = randomIntegers<int8_t>(2 * 5 * 7, -128, 127, 2);
  std::vector<int32_t> expected;
  for (int n = 0; n < 2; ++n)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 7; ++c) {
        int32_t acc = 0;
        for (int k = 0; k < 5; ++k)
          acc += (a[(n * 3 + r) * 5 + k] - 3) * (b[(n * 5 + k) * 7 + c] + 4);
        expected.push_back(acc);
      }
  TestGraph g;
  int out = g.node(
      "tosa.matmul",
      {g.input({2, 3, 5}, a), g.input({2, 5, 7}, b), g.scalar<int8_t>(3), g.scalar<int8_t>(-4)},
      ElementType::I32, {2, 3, 7});
  EXPECT_EQ(g.run<int32_t>(out), expected);
}

TEST(KernelSteps, AveragePoolingCountsOnlyWhatIsInside) {
  // TOSA's 1/2 is (2^30 + 1) / 2^31, a little more than a half: 7 / 2 becomes 4 and -7 / 2 becomes
  // -4.
  TestGraph g;
  int x = g.input<int8_t>({1, 2, 3, 1}, {1, 6, 4, -1, -6, -4});
  Shape kernel = {1, 2}, stride = {1, 1}, pad = {0, 0, 1, 0};
  int out =
      g.node("tosa.avg_pool2d", {x, g.scalar<int8_t>(0), g.scalar<int8_t>(10)}, ElementType::I8,
             {1, 2, 3, 1}, {{"kernel", kernel}, {"stride", stride}, {"pad", pad}});
  EXPECT_EQ(g.run<int8_t>(out), (std::vector<int8_t>{11, 14, 15, 9, 6, 5}));
}

TEST(KernelSteps, MaxPoolingIgnoresPadding) {
  TestGraph g;
  int x = g.input<float>({1, 3, 3, 1}, {-1, -2, -3, -4, -5, -6, -7, -8, -9});
  Shape kernel = {2, 2}, stride = {2, 2}, pad = {1, 0, 1, 0};
  int out = g.node("tosa.max_pool2d", {x}, ElementType::F32, {1, 2, 2, 1},
                   {{"kernel", kernel}, {"stride", stride}, {"pad", pad}});
  EXPECT_EQ(g.run<float>(out), (std::vector<float>{-1, -2, -4, -5}));
}

TEST(KernelSteps, PoolingRefusesEmptyWindows) {
  TestGraph g;
  int x = g.input<float>({1, 2, 2, 1}, {1, 2, 3, 4});
  Shape kernel = {2, 2}, stride = {1, 1}, pad = {2, 0, 0, 0};
  int out = g.node("tosa.max_pool2d", {x}, ElementType::F32, {1, 3, 1, 1},
                   {{"kernel", kernel}, {"stride", stride}, {"pad", pad}});
  EXPECT_NE(g.refusal(out).find("padding"), std::string::npos);
}

TEST(KernelSteps, MovesOfElements) {
  std::vector<int8_t> x = randomIntegers<int8_t>(2 * 3 * 5, -128, 127, 1);
  auto at = [&](int n, int h, int c) { return x[(n * 3 + h) * 5 + c]; };
  auto check = [&](const std::string &op, const std::vector<Shape> &shapes, const Shape &out,
                   const Attributes &attributes, auto element) {
    TestGraph g;
    std::vector<int> inputs = {g.input<int8_t>({2, 3, 5}, x)};
    for (const Shape &shape : shapes)
      inputs.push_back(g.shapeConstant(shape));
    if (op == "tosa.pad")
      inputs.push_back(g.scalar<int8_t>(42));
    std::vector<int8_t> expected;
    for (int i = 0; i < out[0]; ++i)
      for (int j = 0; j < out[1]; ++j)
        for (int k = 0; k < out[2]; ++k)
          expected.push_back(element(i, j, k));
    EXPECT_EQ(g.run<int8_t>(g.node(op, inputs, ElementType::I8, out, attributes)), expected) << op;
  };
  check("tosa.transpose", {}, {5, 2, 3}, {{"perms", Shape{2, 0, 1}}},
        [&](int i, int j, int k) { return at(j, k, i); });
  check("tosa.slice", {{1, 0, 2}, {1, 3, 2}}, {1, 3, 2}, {},
        [&](int i, int j, int k) { return at(i + 1, j, k + 2); });
  check("tosa.reverse", {}, {2, 3, 5}, {{"axis", int64_t(1)}},
        [&](int i, int j, int k) { return at(i, 2 - j, k); });
  check("tosa.tile", {{2, 1, 3}}, {4, 3, 15}, {},
        [&](int i, int j, int k) { return at(i % 2, j, k % 5); });
  check("tosa.pad", {{0, 1, 2, 0, 1, 1}}, {3, 5, 7}, {}, [&](int i, int j, int k) {
    return i < 2 && j >= 2 && k >= 1 && k < 6 ? at(i, j - 2, k - 1) : int8_t(42);
  });
}

TEST(KernelSteps, ConcatAndGather) {
  TestGraph g;
  int a = g.input<float>({2, 1, 2}, {1, 2, 3, 4}),
      b = g.input<float>({2, 2, 2}, {5, 6, 7, 8, 9, 10, 11, 12});
  int joined = g.node("tosa.concat", {a, b}, ElementType::F32, {2, 3, 2}, {{"axis", int64_t(1)}});
  EXPECT_EQ(g.run<float>(joined), (std::vector<float>{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12}));
  int index = g.constant<int32_t>({2, 2}, {2, 0, 1, 99});
  int picked = g.node("tosa.gather", {joined, index}, ElementType::F32, {2, 2, 2});
  EXPECT_EQ(g.run<float>(picked), (std::vector<float>{7, 8, 1, 2, 9, 10, 11, 12}));
}

TEST(KernelSteps, Reductions) {
  auto reduce = [](const std::string &op, int64_t axis, const Shape &out) {
    TestGraph g;
    int x = g.input<int32_t>({2, 3}, {5, -1, 7, 2, 9, -4});
    return g.run<int32_t>(g.node(op, {x}, ElementType::I32, out, {{"axis", axis}}));
  };
  EXPECT_EQ(reduce("tosa.reduce_sum", 1, {2, 1}), (std::vector<int32_t>{11, 7}));
  EXPECT_EQ(reduce("tosa.reduce_sum", 0, {1, 3}), (std::vector<int32_t>{7, 8, 3}));
  EXPECT_EQ(reduce("tosa.reduce_max", 1, {2, 1}), (std::vector<int32_t>{7, 9}));
  EXPECT_EQ(reduce("tosa.reduce_min", 0, {1, 3}), (std::vector<int32_t>{2, -1, -4}));
  TestGraph g;
  int x = g.input<float>({2, 3}, {5, 7, 7, 2, -9, 2});
  EXPECT_EQ(
      g.run<int32_t>(g.node("tosa.argmax", {x}, ElementType::I32, {2}, {{"axis", int64_t(1)}})),
      (std::vector<int32_t>{1, 0}));
}

TEST(KernelSteps, ResizeNearestAndBilinear) {
  auto resize = [](const char *mode, ElementType type) {
    auto g = std::make_unique<TestGraph>();
    int x = g->input<int8_t>({1, 2, 2, 1}, {0, 10, 20, 30});
    std::vector<int> inputs = {x, g->shapeConstant({4, 2, 4, 2}), g->shapeConstant({-1, -1}),
                               g->shapeConstant({1, 1})};
    int out = g->node("tosa.resize", inputs, type, {1, 4, 4, 1}, {{"mode", std::string(mode)}});
    return std::make_pair(std::move(g), out);
  };
  auto nearest = resize("NEAREST_NEIGHBOR", ElementType::I8);
  EXPECT_EQ(nearest.first->run<int8_t>(nearest.second),
            (std::vector<int8_t>{0, 0, 10, 10, 0, 0, 10, 10, 20, 20, 30, 30, 20, 20, 30, 30}));
  // Positions -1/4, 1/4, 3/4, 5/4 of each axis, results times 16.
  auto bilinear = resize("BILINEAR", ElementType::I32);
  EXPECT_EQ(bilinear.first->run<int32_t>(bilinear.second),
            (std::vector<int32_t>{0, 40, 120, 160, 80, 120, 200, 240, 240, 280, 360, 400, 320, 360,
                                  440, 480}));
}

} // namespace
