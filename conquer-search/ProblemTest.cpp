//===- ProblemTest.cpp - good and bad input files ---------------------------------------------===//

#include "conquer-search/Problem.h"
#include "conquer-search/TestProblem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace conquer;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

namespace {

class ProblemTest : public testing::Test {
protected:
  TestProblem problem{3, {"f32", "i8"}};

  /// The message that reading changed layers ends in.
  std::string layersError(const std::function<void(Json &)> &change) {
    Json json = problem.layers;
    change(json);
    problem.write("layers.json", json);
    auto result = Network::read(problem.path("layers.json"));
    return result ? "" : result.error().message();
  }
  std::string sensitivityError(const std::function<void(Json &)> &change) {
    Json json = problem.sensitivity;
    change(json);
    problem.write("sensitivity.json", json);
    auto result = SensitivityTable::read(problem.path("sensitivity.json"),
                                         *Network::read(problem.path("layers.json")));
    return result ? "" : result.error().message();
  }
  std::string latencyError(const std::function<void(Json &)> &change) {
    Json json = problem.latencyTable;
    change(json);
    problem.write("latency_table.json", json);
    auto result = LatencyTable::read(problem.path("latency_table.json"));
    return result ? "" : result.error().message();
  }
};

TEST_F(ProblemTest, ReadsANetwork) {
  Network network = *Network::read(problem.path("layers.json"));
  ASSERT_EQ(network.layers.size(), 3u);
  EXPECT_EQ(network.layers[1].id, "layer1");
  EXPECT_EQ(network.layers[1].signature, "conv1");
  EXPECT_EQ(network.layers[1].weights, 137);
  EXPECT_EQ(network.layers[1].precisions, (std::vector<Precision>{Precision::F32, Precision::I8}));
  ASSERT_EQ(network.edges.size(), 4u);
  EXPECT_EQ(network.edges[0].from, -1);
  EXPECT_EQ(network.edges[0].to, 0);
  EXPECT_EQ(network.edges[3].from, 2);
  EXPECT_EQ(network.edges[3].to, -1);
  EXPECT_EQ(network.edges[3].elements, 400);
}

TEST_F(ProblemTest, AnOutputMayBeCalledLikeItsLayer) {
  EXPECT_EQ(layersError([](Json &json) {
              json["outputs"][0]["id"] = "layer2";
              json["edges"][3]["to"] = "layer2";
            }),
            "");
  EXPECT_EQ(Network::read(problem.path("layers.json"))->edges[3].to, -1);
}

TEST_F(ProblemTest, NamesWhatIsWrongWithLayers) {
  EXPECT_THAT(layersError([](Json &json) { json["layers"] = Json::array(); }),
              HasSubstr("layers: is empty"));
  EXPECT_THAT(layersError([](Json &json) { json["layers"][1]["id"] = "layer0"; }),
              HasSubstr("layers[1].id: 'layer0' is used twice"));
  EXPECT_THAT(layersError([](Json &json) { json["layers"][2]["precisions"] = Json::array(); }),
              HasSubstr("layers[2].precisions: is empty"));
  EXPECT_THAT(layersError([](Json &json) { json["layers"][2]["precisions"] = {"f32", "i3"}; }),
              HasSubstr("unknown precision 'i3'"));
  EXPECT_THAT(layersError([](Json &json) { json["layers"][2]["precisions"] = {"i8", "i8"}; }),
              HasSubstr("has 'i8' twice"));
  EXPECT_THAT(layersError([](Json &json) { json["layers"][0]["weights"] = -1; }),
              HasSubstr("layers[0].weights: is -1"));
  EXPECT_THAT(layersError([](Json &json) { json["layers"][0]["colour"] = 1; }),
              HasSubstr("layers[0].colour: unknown field"));
  EXPECT_THAT(layersError([](Json &json) { json["edges"][1]["to"] = "nowhere"; }),
              HasSubstr("edges[1].to: 'nowhere' is no later layer and no output"));
  EXPECT_THAT(layersError([](Json &json) { json["edges"][2]["to"] = "layer0"; }),
              HasSubstr("edges[2].to"));
  EXPECT_THAT(layersError([](Json &json) { json["edges"][1]["from"] = "nowhere"; }),
              HasSubstr("edges[1].from"));
  EXPECT_THAT(layersError([](Json &json) { json["edges"][1]["elements"] = 0; }),
              HasSubstr("edges[1].elements: is 0"));
  EXPECT_THAT(layersError([](Json &json) { json.erase("edges"); }), HasSubstr("edges: missing"));
  EXPECT_THAT(Network::read(problem.path("absent.json")).error().message(),
              HasSubstr("cannot open"));
}

TEST_F(ProblemTest, ReadsSensitivities) {
  problem.sensitivity["layers"]["layer1"]["i8"] = {{"sqnr_db", 20}, {"kl", 0.5}, {"agreement", 1}};
  problem.sensitivity["layers"]["layer2"].erase("f32");
  problem.writeAll();
  Network network = *Network::read(problem.path("layers.json"));
  SensitivityTable table = *SensitivityTable::read(problem.path("sensitivity.json"), network);
  EXPECT_DOUBLE_EQ(table.layers[1][3]->noise, 0.01);
  EXPECT_EQ(table.layers[1][3]->kl, 0.5);
  EXPECT_FALSE(table.layers[1][3]->accuracyDrop);
  EXPECT_TRUE(table.layers[0][3]->accuracyDrop);
  EXPECT_EQ(table.layers[2][0]->noise, 0); // f32 need not be there
  EXPECT_FALSE(table.layers[0][1]);
}

TEST_F(ProblemTest, NamesWhatIsWrongWithSensitivities) {
  EXPECT_THAT(sensitivityError([](Json &json) { json["layers"].erase("layer1"); }),
              HasSubstr("layers.layer1: missing field"));
  EXPECT_THAT(sensitivityError([](Json &json) { json["layers"]["layer1"].erase("i8"); }),
              HasSubstr("layers.layer1.i8: missing field; expected the sensitivity"));
  EXPECT_THAT(sensitivityError([](Json &json) { json["layers"]["other"] = Json::object(); }),
              HasSubstr("layers.other: unknown field"));
  EXPECT_THAT(sensitivityError([](Json &json) { json["layers"]["layer1"]["i8"]["kl"] = -0.5; }),
              HasSubstr("layers.layer1.i8.kl"));
  EXPECT_THAT(sensitivityError([](Json &json) { json["layers"]["layer1"]["i8"].erase("sqnr_db"); }),
              HasSubstr("sqnr_db: missing field"));
  EXPECT_THAT(sensitivityError([](Json &json) { json["layers"]["layer1"]["i9"] = Json::object(); }),
              HasSubstr("unknown precision 'i9'"));
  EXPECT_EQ(sensitivityError([](Json &json) { json["layers"]["layer1"]["i8"]["sqnr_db"] = -1e9; }),
            "");
}

TEST_F(ProblemTest, ReadsALatencyTable) {
  Json entry = {
      {"from", "w4a8"}, {"to", "f32"}, {"elements", 400}, {"measured_ms", 0.05}, {"spread_ms", 0}};
  EXPECT_EQ(latencyError([&](Json &json) {
              json["conversions"].push_back(entry);
              entry["elements"] = 10;
              json["conversions"].push_back(entry);
            }),
            "");
  LatencyTable table = *LatencyTable::read(problem.path("latency_table.json"));
  const auto &entries = table.conversions.at({Precision::I8, Precision::F32});
  ASSERT_EQ(entries.size(), 2u); // w4a8 converts like i8; equal sizes are averaged
  EXPECT_EQ(entries[0].elements, 10);
  EXPECT_DOUBLE_EQ(entries[1].milliseconds, 0.04);
  EXPECT_DOUBLE_EQ(*table.layers.at("conv0")[0], 0.2);
}

TEST_F(ProblemTest, NamesWhatIsWrongWithALatencyTable) {
  EXPECT_THAT(latencyError([](Json &json) { json["layers"]["conv0"]["f32"]["measured_ms"] = -1; }),
              HasSubstr("layers.conv0.f32.measured_ms: is -1"));
  EXPECT_THAT(latencyError([](Json &json) { json["layers"]["conv0"]["f33"] = Json::object(); }),
              HasSubstr("unknown precision 'f33'"));
  EXPECT_THAT(latencyError([](Json &json) { json["conversions"][0]["to"] = "f32"; }),
              HasSubstr("conversions[0].to: converts to the form"));
  EXPECT_THAT(latencyError([](Json &json) { json["conversions"][0]["elements"] = 0; }),
              HasSubstr("conversions[0].elements"));
  EXPECT_THAT(latencyError([](Json &json) { json["format"] = "x"; }), HasSubstr("format"));
}

} // namespace
