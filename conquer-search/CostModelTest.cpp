//===- CostModelTest.cpp - sums and conversions by hand ---------------------------------------===//

#include "conquer-search/CostModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace conquer;
using testing::HasSubstr;

namespace {

using P = Precision;

/// One shared value: layer a feeds b and c (both after it), c feeds the output.
struct Example {
  Network network;
  LatencyTable table;

  Example() {
    std::vector<P> all = {P::F32, P::BF16, P::I8, P::W4A8};
    network.layers = {{"a", "s", 1000, all}, {"b", "s", 11, all}, {"c", "t", 0, all}};
    network.edges = {
        {3, -1, 0, 50}, {0, 0, 1, 100}, {0, 0, 2, 100}, {1, 1, 2, 100}, {2, 2, -1, 10}};
    table.layers["s"] = {8.0, 4.0, std::nullopt, 2.0, 3.0, std::nullopt};
    table.layers["t"] = {80.0, 40.0, std::nullopt, 20.0, 30.0, std::nullopt};
    table.conversions[{P::F32, P::I8}] = {{100, 0.5}, {300, 0.9}};
    table.conversions[{P::I8, P::F32}] = {{100, 0.25}};
    table.conversions[{P::F32, P::BF16}] = {{100, 0.125}};
    table.conversions[{P::BF16, P::F32}] = {{100, 0.0625}};
  }
  GenomeSpace space() const {
    return *GenomeSpace::create(
        {"a", "b", "c"},
        {network.layers[0].precisions, network.layers[1].precisions, network.layers[2].precisions});
  }
  LatencyModel model() const { return *LatencyModel::create(network, table, space()); }
};

TEST(CostModel, ConversionIsInterpolatedOrScaled) {
  LatencyTable table = Example().table;
  EXPECT_DOUBLE_EQ(*conversionMs(table, P::F32, P::I8, 100), 0.5);
  EXPECT_DOUBLE_EQ(*conversionMs(table, P::F32, P::I8, 200), 0.7);
  EXPECT_DOUBLE_EQ(*conversionMs(table, P::F32, P::I8, 300), 0.9);
  EXPECT_DOUBLE_EQ(*conversionMs(table, P::F32, P::I8, 600), 1.8);
  EXPECT_DOUBLE_EQ(*conversionMs(table, P::F32, P::I8, 50), 0.25);
  EXPECT_DOUBLE_EQ(*conversionMs(table, P::BF16, P::I8, 100), 0.0625 + 0.5); // by way of f32
  EXPECT_FALSE(conversionMs(table, P::F32, P::F16, 100));
  EXPECT_FALSE(conversionMs(table, P::W8A16, P::I8, 100));
}

TEST(CostModel, UniformF32HasNoConversions) {
  LatencyModel::TableCost cost = Example().model().tableCost({0, 0, 0});
  EXPECT_EQ(cost.milliseconds, 96);
  EXPECT_EQ(cost.conversions, 0);
}

TEST(CostModel, UniformI8ConvertsAtTheBorder) {
  LatencyModel::TableCost cost = Example().model().tableCost({2, 2, 2});
  // The last layer writes f32 itself.
  EXPECT_DOUBLE_EQ(cost.milliseconds, 2 + 2 + 20 + 0.25);
  EXPECT_EQ(cost.conversions, 1);
}

TEST(CostModel, ReadersOfOneFormShareAConversion) {
  // a f32, b and c i8: one conversion for both, none between them and to the output.
  LatencyModel::TableCost cost = Example().model().tableCost({0, 2, 2});
  EXPECT_DOUBLE_EQ(cost.milliseconds, 8 + 2 + 20 + 0.5);
  EXPECT_EQ(cost.conversions, 1);
  // a f32, b bf16, c i8: two of a's value, bf16 to i8 by way of f32 counts once.
  cost = Example().model().tableCost({0, 1, 2});
  EXPECT_DOUBLE_EQ(cost.milliseconds, 8 + 4 + 20 + 0.125 + 0.5 + 0.5625);
  EXPECT_EQ(cost.conversions, 3);
  // a bf16, b f32, c i8: i8 is made from the f32 that b reads.
  cost = Example().model().tableCost({1, 0, 2});
  EXPECT_DOUBLE_EQ(cost.milliseconds, 0.0625 + 4 + 8 + 20 + 0.0625 + 0.5 + 0.5);
  EXPECT_EQ(cost.conversions, 4);
}

TEST(CostModel, W4A8ReadsAndWritesI8) {
  LatencyModel::TableCost cost = Example().model().tableCost({2, 3, 2});
  EXPECT_DOUBLE_EQ(cost.milliseconds, 2 + 3 + 20 + 0.25);
  EXPECT_EQ(cost.conversions, 1);
}

TEST(CostModel, IntegerLayersWithoutIntegerReadersWriteF32) {
  // a i8 is read as f32 by b and as bf16 by c: one rounding; b and c feed c and the output.
  LatencyModel::TableCost cost = Example().model().tableCost({2, 0, 1});
  EXPECT_DOUBLE_EQ(cost.milliseconds, 0.25 + 2 + 8 + 40 + 0.125 + 0.125 + 0.00625);
  EXPECT_EQ(cost.conversions, 4);
}

TEST(CostModel, MissingTimesAreNamed) {
  Example example;
  example.table.layers["t"][1] = std::nullopt;
  auto result = LatencyModel::create(example.network, example.table, example.space());
  EXPECT_THAT(result.error().message(), HasSubstr("layers.t: has no time of layer 'c' in bf16"));
  example = {};
  example.table.layers.erase("s");
  result = LatencyModel::create(example.network, example.table, example.space());
  EXPECT_THAT(result.error().message(), HasSubstr("has no time of layer 'a' in f32"));
  example = {};
  example.table.conversions.erase({P::I8, P::F32});
  result = LatencyModel::create(example.network, example.table, example.space());
  EXPECT_THAT(result.error().message(), HasSubstr("has no conversion from i8 to f32"));
}

TEST(CostModel, LearnsTheOverheadOfADevice) {
  LatencyModel model = Example().model();
  EXPECT_EQ(model.predict({0, 0, 0}).mean, 96);
  EXPECT_DOUBLE_EQ(model.predict({0, 0, 0}).deviation, 9.6);
  std::vector<Observation> told;
  auto truth = [&](const Genome &genome) {
    LatencyModel::TableCost cost = model.tableCost(genome);
    return 1.2 * cost.milliseconds + 2 * cost.conversions + 1;
  };
  for (uint8_t a = 0; a < 3; ++a)
    for (uint8_t c = 0; c < 4; ++c)
      told.push_back({{a, 0, c}, truth({a, 0, c})});
  model.fit(told);
  EXPECT_NEAR(model.predict({0, 2, 3}).mean, truth({0, 2, 3}), 0.03 * truth({0, 2, 3}));
  model.fit({});
  EXPECT_EQ(model.predict({0, 0, 0}).mean, 96);
}

TEST(CostModel, SizeCountsWeightBytes) {
  Example example;
  SizeModel model(example.network, example.space());
  EXPECT_EQ(model.weightBytes({0, 0, 0}), 4044);
  EXPECT_EQ(model.weightBytes({1, 1, 1}), 2022);
  EXPECT_EQ(model.weightBytes({2, 2, 2}), 1011);
  EXPECT_EQ(model.weightBytes({3, 3, 3}), 506); // 5.5 bytes are 6
  std::vector<Observation> told;
  for (uint8_t a = 0; a < 4; ++a)
    for (uint8_t b = 0; b < 4; ++b)
      told.push_back({{a, b, 0}, model.weightBytes({a, b, 0}) + 70000});
  model.fit(told);
  EXPECT_NEAR(model.predict({2, 3, 0}).mean, model.weightBytes({2, 3, 0}) + 70000, 5);
}

} // namespace
