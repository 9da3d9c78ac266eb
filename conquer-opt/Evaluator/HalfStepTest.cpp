//===- HalfStepTest.cpp - operations on bf16 and f16 ------------------------------------------===//

#include "conquer-opt/Evaluator/TestConvolution.h"
#include "support/HalfFloat.h"

#include <algorithm>

using namespace conquer;

namespace {

constexpr ElementType halfTypes[] = {ElementType::BF16, ElementType::F16};

uint16_t toHalf(ElementType type, float x) {
  return type == ElementType::BF16 ? floatToBF16(x) : floatToF16(x);
}
float fromHalf(ElementType type, uint16_t bits) {
  return type == ElementType::BF16 ? bf16ToFloat(bits) : f16ToFloat(bits);
}

std::vector<uint16_t> toHalf(ElementType type, const std::vector<float> &values) {
  std::vector<uint16_t> bits;
  for (float value : values)
    bits.push_back(toHalf(type, value));
  return bits;
}
std::vector<float> fromHalf(ElementType type, const std::vector<uint16_t> &bits) {
  std::vector<float> values;
  for (uint16_t element : bits)
    values.push_back(fromHalf(type, element));
  return values;
}

/// A graph whose uint16_t values are of one of the two types.
class HalfGraph : public TestGraph {
public:
  explicit HalfGraph(ElementType type) : type(type) {}
  int input(const Shape &shape, const std::vector<float> &values) {
    return as(TestGraph::input<uint16_t>(shape, toHalf(type, values)));
  }
  int constant(const Shape &shape, const std::vector<float> &values) {
    return as(TestGraph::constant<uint16_t>(shape, toHalf(type, values)));
  }
  /// The elements of a half value, widened.
  std::vector<float> widened(int output) {
    Result<Plan> made = plan(output);
    if (!made) {
      ADD_FAILURE() << made.error().message();
      return {};
    }
    Workspace workspace(*made);
    std::vector<const void *> given;
    for (const Buffer &buffer : data)
      given.push_back(buffer.data());
    made->run(given, workspace);
    const auto *bits = workspace.as<uint16_t>(output);
    return fromHalf(type, {bits, bits + graph->values[output].elements()});
  }
  const ElementType type;

private:
  int as(int value) {
    graph->values[value].type = type;
    return value;
  }
};

/// Each value as the nearest of the type.
std::vector<float> rounded(ElementType type, const std::vector<float> &values) {
  return fromHalf(type, toHalf(type, values));
}

TEST(HalfStep, ConvolutionIsOneRoundingOfTheF32Sum) {
  for (ElementType type : halfTypes)
    for (bool constant : {true, false})
      for (const Case &c : cases()) {
        auto in = rounded(type, randomFloats(count(c.in), 2, 1)),
             weights = rounded(type, randomFloats(count(c.weights), 1, 2)),
             bias = rounded(type, randomFloats(c.outC(), 1, 3));
        HalfGraph g(type);
        int data = g.input(c.in, in);
        int w = constant ? g.constant(c.weights, weights) : g.input(c.weights, weights);
        int b = g.constant({c.outC()}, bias), zp = g.constant({1}, {0});
        int out = g.node(tosaName(c), {data, w, b, zp, zp}, type, c.out(), c.attributes());
        EXPECT_EQ(g.widened(out),
                  rounded(type, reference<float, float, float>(c, in, weights, bias, 0, 0)));
      }
}

TEST(HalfStep, ElementwiseOperationsRoundOnce) {
  for (ElementType type : halfTypes) {
    std::vector<float> a = rounded(type, randomFloats(37, 3, 1)),
                       b = rounded(type, randomFloats(37, 0.01f, 2)), sum;
    std::transform(a.begin(), a.end(), b.begin(), std::back_inserter(sum), std::plus<>());
    HalfGraph g(type);
    int out = g.node("tosa.add", {g.input({37}, a), g.constant({37}, b)}, type, {37});
    EXPECT_EQ(g.widened(out), rounded(type, sum));
    HalfGraph clamped(type);
    out = clamped.node("tosa.clamp", {clamped.input({37}, a)}, type, {37},
                       {{"min_val", 0.0}, {"max_val", 1.5}});
    for (float &value : a)
      value = std::min(std::max(value, 0.0f), 1.5f);
    EXPECT_EQ(clamped.widened(out), a);
  }
}

TEST(HalfStep, CastsFromAndToEveryType) {
  std::vector<float> values = {0.1f, -2.5f, 3.5f, 1e6f, 127.6f, -200, 0};
  for (ElementType type : halfTypes) {
    TestGraph g;
    int x = g.input<float>({7}, values);
    int half = g.node("tosa.cast", {x}, type, {7});
    EXPECT_EQ(g.run<float>(g.node("tosa.cast", {half}, ElementType::F32, {7})),
              rounded(type, values));
    EXPECT_EQ(g.run<int8_t>(g.node("tosa.cast", {half}, ElementType::I8, {7})),
              (std::vector<int8_t>{0, -2, 4, 127, 127, -128, 0}));
    TestGraph integers;
    x = integers.input<int8_t>({3}, {-128, 0, 127});
    half = integers.node("tosa.cast", {x}, type, {3});
    EXPECT_EQ(integers.run<float>(integers.node("tosa.cast", {half}, ElementType::F32, {3})),
              (std::vector<float>{-128, 0, 127}));
  }
}

TEST(HalfStep, FoldsConstants) {
  TestGraph g;
  int x = g.constant<float>({2}, {1.00390625f, -3}); // half-way between two bf16
  int half = g.node("tosa.cast", {x}, ElementType::BF16, {2});
  EXPECT_EQ(g.run<float>(g.node("tosa.cast", {half}, ElementType::F32, {2})),
            (std::vector<float>{1, -3}));
}

TEST(HalfStep, MovesElementsAsTheyAre) {
  for (ElementType type : halfTypes) {
    HalfGraph g(type);
    int x = g.input({1, 2, 2, 1}, {1, 2, 3, 4});
    int pads = g.shapeConstant({0, 0, 0, 1, 0, 0, 0, 0});
    int padded = g.node("tosa.pad", {x, pads, g.constant({1}, {-1})}, type, {1, 3, 2, 1});
    int pooled = g.node("tosa.max_pool2d", {padded}, type, {1, 2, 1, 1},
                        {{"kernel", std::vector<int64_t>{2, 2}},
                         {"stride", std::vector<int64_t>{1, 2}},
                         {"pad", std::vector<int64_t>{0, 0, 0, 0}}});
    EXPECT_EQ(g.widened(padded), (std::vector<float>{1, 2, 3, 4, -1, -1}));
    EXPECT_EQ(g.widened(pooled), (std::vector<float>{4, 4}));
  }
}

TEST(HalfStep, UnknownOperationsAreNamed) {
  HalfGraph g(ElementType::BF16);
  int x = g.input({1}, {1});
  EXPECT_NE(g.refusal(g.node("tosa.fft2d", {x}, g.type, {1})).find("tosa.fft2d"),
            std::string::npos);
}

} // namespace
