//===- PlanTest.cpp - plans: reuse, folding, fusing, starting in the middle -------------------===//

#include "conquer-opt/Evaluator/TestGraph.h"

using namespace conquer;

namespace {

/// x -> +1 -> *2 -> reshape -> +10, in f32.
struct Chain : TestGraph {
  int x = input<float>({4}, {1, 2, 3, 4});
  int one = scalar<float>(1), two = scalar<float>(2), shift = scalar<int8_t>(0);
  int a = node("tosa.add", {x, one}, ElementType::F32, {4});
  int b = node("tosa.mul", {a, two, shift}, ElementType::F32, {4});
  int target = shapeConstant({2, 2});
  int c = node("tosa.reshape", {b, target}, ElementType::F32, {2, 2});
  int ten = constant<float>({1, 1}, {10});
  int d = node("tosa.add", {c, ten}, ElementType::F32, {2, 2});
};

TEST(Plan, RunsInOrderThroughRenames) {
  Chain g;
  EXPECT_EQ(g.run<float>(g.d), (std::vector<float>{14, 16, 18, 20}));
  EXPECT_EQ(g.run<float>(g.c), (std::vector<float>{4, 6, 8, 10}));
}

TEST(Plan, StartsFromGivenValues) {
  Chain g;
  PlanOptions options;
  options.given = {g.b};
  options.wanted = {g.d};
  Result<Plan> plan = g.plan(g.d, options);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->steps(), 1u);
  Workspace workspace(*plan);
  std::vector<float> b = {1, 1, 2, 2};
  plan->run({b.data()}, workspace);
  EXPECT_EQ(workspace.as<float>(g.d)[3], 12);
}

TEST(Plan, AGivenValueMayBeWanted) {
  Chain g;
  PlanOptions options;
  options.given = {g.d};
  options.wanted = {g.d};
  Result<Plan> plan = g.plan(g.d, options);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->steps(), 0u);
  Workspace workspace(*plan);
  float value = 7;
  plan->run({&value}, workspace);
  EXPECT_EQ(workspace.as<float>(g.d)[0], 7);
}

TEST(Plan, KeepAllKeepsAndReuseReuses) {
  Chain g;
  PlanOptions options;
  options.keepAll = true;
  Result<Plan> kept = g.plan(g.d, options);
  ASSERT_TRUE(kept);
  Workspace workspace(*kept);
  kept->run({g.data[0].data()}, workspace);
  EXPECT_EQ(workspace.as<float>(g.a)[0], 2);
  EXPECT_EQ(workspace.as<float>(g.b)[0], 4);
  EXPECT_EQ(workspace.as<float>(g.c)[3], 10);
  Result<Plan> reusing = g.plan(g.d);
  ASSERT_TRUE(reusing);
  EXPECT_LT(reusing->arenaBytes(), kept->arenaBytes());
}

TEST(Plan, ObserversSeeEveryValueOnce) {
  Chain g;
  PlanOptions options;
  options.observable = true;
  Result<Plan> plan = g.plan(g.d, options);
  ASSERT_TRUE(plan);
  Workspace workspace(*plan);
  std::map<int, float> seen;
  plan->run({g.data[0].data()}, workspace, [&](int value, const void *data) {
    EXPECT_EQ(seen.count(value), 0u);
    seen[value] = *static_cast<const float *>(data);
  });
  EXPECT_EQ(seen, (std::map<int, float>{{g.x, 1}, {g.a, 2}, {g.b, 4}, {g.c, 4}, {g.d, 14}}));
}

TEST(Plan, FoldsConstants) {
  TestGraph g;
  int x = g.input<int8_t>({2}, {1, 2});
  int packed = g.constant<int8_t>({2}, {0x21, -0x10});
  int low = g.node("tosa.logical_left_shift", {packed, g.scalar<int8_t>(4)}, ElementType::I8, {2});
  int nibble =
      g.node("tosa.arithmetic_right_shift", {low, g.scalar<int8_t>(4)}, ElementType::I8, {2});
  int product = g.node("tosa.mul", {x, nibble, g.scalar<int8_t>(0)}, ElementType::I32, {2});
  Result<Plan> plan = g.plan(product);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->steps(), 1u);
  EXPECT_EQ(g.run<int32_t>(product), (std::vector<int32_t>{1, 0}));
}

/// A convolution and a clamp; `both` also returns the convolution's own result.
std::vector<float> convAndClamp(size_t &steps, bool secondReader) {
  TestGraph g;
  int x = g.input<float>({1, 1, 2, 1}, {-3, 5});
  int conv =
      g.node("tosa.conv2d",
             {x, g.constant<float>({1, 1, 1, 1}, {2}), g.constant<float>({1}, {1}),
              g.scalar<float>(0), g.scalar<float>(0)},
             ElementType::F32, {1, 1, 2, 1},
             {{"pad", Shape{0, 0, 0, 0}}, {"stride", Shape{1, 1}}, {"dilation", Shape{1, 1}}});
  int clamp = g.node("tosa.clamp", {conv}, ElementType::F32, {1, 1, 2, 1},
                     {{"min_val", 0.0}, {"max_val", 6.0}});
  int out =
      secondReader ? g.node("tosa.add", {clamp, conv}, ElementType::F32, {1, 1, 2, 1}) : clamp;
  Result<Plan> plan = g.plan(out);
  steps = plan ? plan->steps() : 0;
  return g.run<float>(out);
}

TEST(Plan, FoldsAClampIntoItsConvolution) {
  size_t steps;
  EXPECT_EQ(convAndClamp(steps, false), (std::vector<float>{0, 6}));
  EXPECT_EQ(steps, 1u);
  EXPECT_EQ(convAndClamp(steps, true), (std::vector<float>{-5, 17}));
  EXPECT_EQ(steps, 3u);
}

TEST(Plan, RefusesUnknownOperations) {
  TestGraph g;
  int out = g.node("tosa.fft2d", {g.input<float>({1}, {1})}, ElementType::F32, {1});
  EXPECT_NE(g.refusal(out).find("tosa.fft2d"), std::string::npos);
}

TEST(Plan, HashesTellComputationsApart) {
  Chain g, same;
  hashValues(*g.graph);
  hashValues(*same.graph);
  EXPECT_EQ(g.graph->values[g.d].hash, same.graph->values[same.d].hash);
  Chain other;
  other.graph->nodes[1].op = "tosa.add";
  hashValues(*other.graph);
  EXPECT_EQ(g.graph->values[g.a].hash, other.graph->values[other.a].hash);
  EXPECT_NE(g.graph->values[g.b].hash, other.graph->values[other.b].hash);
  EXPECT_NE(g.graph->values[g.d].hash, other.graph->values[other.d].hash);
}

} // namespace
