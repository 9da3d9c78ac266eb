//===- ServerTest.cpp - requests and answers --------------------------------------------------===//

#include "conquer-search/Server.h"
#include "conquer-search/TestProblem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace conquer;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

namespace {

class ServerTest : public testing::Test {
protected:
  TestProblem problem{6, {"f32", "i8"}};
  Server server{problem.path("run.sqlite")};

  Json call(Server &to, const std::string &method, const Json &params = Json::object()) {
    Json answer =
        Json::parse(to.answer(Json{{"id", 7}, {"method", method}, {"params", params}}.dump()));
    EXPECT_EQ(answer["id"], 7);
    return answer;
  }
  Json call(const std::string &method, const Json &params = Json::object()) {
    return call(server, method, params);
  }
  /// The result of a request that must go well.
  Json result(const std::string &method, const Json &params = Json::object()) {
    Json answer = call(method, params);
    EXPECT_TRUE(answer["ok"]) << answer;
    return answer["result"];
  }
  /// "where: what; expected" of a request that must fail.
  std::string errorOf(const Json &answer) {
    EXPECT_FALSE(answer["ok"]) << answer;
    const Json &error = answer["error"];
    return error["where"].get<std::string>() + ": " + error["what"].get<std::string>() + "; " +
           error["expected"].get<std::string>();
  }
  Json openParams(Json more = Json::object()) {
    Json params = problem.openParams();
    params.update(more);
    return params;
  }
  /// Tells every candidate of the current generation; false if there is none.
  bool tellAll() {
    Json asked = result("ask");
    for (const Json &candidate : asked["candidates"])
      result("tell",
             {{"key", candidate["key"]}, {"measured", problem.measure(candidate["policy"])}});
    return !asked["done"];
  }
};

TEST_F(ServerTest, RunsFromOpenToShutdown) {
  Json opened = result("open", openParams({{"population", 8}, {"generations", 4}, {"seed", 3}}));
  EXPECT_EQ(opened, (Json{{"resumed", false}, {"generation", 0}, {"evaluated", 0}}));

  Json asked = result("ask");
  EXPECT_EQ(asked["generation"], 0);
  EXPECT_EQ(asked["done"], false);
  ASSERT_EQ(asked["candidates"].size(), 8u);
  EXPECT_EQ(asked["candidates"][0]["key"], "ffffff");
  EXPECT_EQ(asked["candidates"][1]["key"], "888888");
  EXPECT_EQ(asked["candidates"][1]["origin"], "uniform");
  EXPECT_EQ(asked["candidates"][1]["policy"]["layer5"], "i8");
  EXPECT_EQ(asked["candidates"][2]["origin"], "frontier");
  for (const char *field :
       {"latency_ms", "latency_ms_sd", "accuracy_drop", "accuracy_drop_sd", "size_bytes"})
    EXPECT_TRUE(asked["candidates"][0]["predicted"][field].is_number()) << field;
  EXPECT_EQ(result("ask"), asked);

  Json first = asked["candidates"][0];
  EXPECT_EQ(result("tell", {{"key", first["key"]},
                            {"measured", problem.measure(first["policy"])}})["pending"],
            7);
  EXPECT_EQ(result("ask")["candidates"].size(), 7u); // what is told is not asked again
  EXPECT_EQ(result("tell", {{"key", "888888"}, {"failure", "compiler crashed"}})["pending"], 6);
  EXPECT_THAT(errorOf(call("front")), HasSubstr("no generation is complete"));
  std::set<std::string> keys = {"ffffff", "888888"};
  for (bool more = true; more;) {
    Json next = result("ask");
    for (const Json &candidate : next["candidates"])
      EXPECT_TRUE(keys.insert(candidate["key"]).second) << candidate["key"];
    more = tellAll();
  }
  Json done = result("ask");
  EXPECT_EQ(done["done"], true);
  EXPECT_EQ(done["reason"], "generations");
  EXPECT_EQ(done["generation"], 4);
  EXPECT_EQ(keys.size(), 32u);

  Json log = result("log")["generations"];
  ASSERT_EQ(log.size(), 4u);
  EXPECT_EQ(log[0]["evaluated"], 8);
  EXPECT_EQ(log[0]["failures"], 1);
  EXPECT_EQ(log[3]["failures"], 0);
  EXPECT_TRUE(log[1]["latency"]["rank_correlation"].is_number());
  EXPECT_LE(log[0]["hypervolume"], log[3]["hypervolume"]);

  EXPECT_EQ(result("shutdown"), Json::object());
  EXPECT_TRUE(server.isShutDown());
}

TEST_F(ServerTest, FrontHasTheDocumentedFields) {
  result("open", openParams({{"population", 10}, {"generations", 3}}));
  while (tellAll())
    ;
  Json front = result("front");
  EXPECT_EQ(front["format"], "conquer.front");
  EXPECT_EQ(front["version"], 1);
  EXPECT_EQ(front["generation"], 2);
  EXPECT_EQ(front["objectives"], (Json{"latency_ms", "accuracy_drop", "size_bytes"}));
  EXPECT_GT(front["hypervolume"], front["hypervolume_uniform"]);
  EXPECT_FALSE(front.contains("least_violating"));
  ASSERT_EQ(front["uniform"].size(), 2u);
  Json f32 = front["uniform"]["f32"]["measured"], i8 = front["uniform"]["i8"]["measured"];
  for (int k = 0; k < 3; ++k) {
    std::string name = front["objectives"][k];
    double a = f32[name], b = i8[name];
    EXPECT_DOUBLE_EQ(front["reference_point"][k], std::max(a, b) + 0.1 * std::abs(a - b)) << name;
  }
  // By the rule of the document, once more: only measured, non-dominated points.
  std::vector<Point> points;
  for (const Json &point : front["points"]) {
    EXPECT_EQ(point["measured"], problem.measure(point["policy"]));
    EXPECT_EQ(point["policy"].size(), 6u);
    points.push_back({point["measured"]["latency_ms"], point["measured"]["accuracy_drop"],
                      point["measured"]["size_bytes"]});
  }
  EXPECT_EQ(nonDominated(points).size(), points.size());
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
  Json first = result("front", {{"generation", 0}});
  EXPECT_EQ(first["generation"], 0);
  EXPECT_LE(first["hypervolume"], front["hypervolume"]);
  EXPECT_EQ(first["reference_point"], front["reference_point"]);
  EXPECT_THAT(errorOf(call("front", {{"generation", 3}})), HasSubstr("is 3; 0 to 2"));
  EXPECT_THAT(errorOf(call("front", {{"generation", -1}})), HasSubstr("is -1"));
  EXPECT_THAT(errorOf(call("front", {{"generation", "last"}})), HasSubstr("an integer"));
}

TEST_F(ServerTest, PredictionsStayAsTheyWereWhenProposed) {
  result("open", openParams({{"population", 8}, {"generations", 3}}));
  std::map<std::string, Json> predicted;
  for (;;) {
    Json asked = result("ask");
    for (const Json &candidate : asked["candidates"])
      predicted[candidate["key"]] = candidate["predicted"];
    if (!tellAll())
      break;
  }
  Json front = result("front");
  for (const Json &point : front["points"])
    EXPECT_EQ(point["predicted"], predicted.at(point["key"]));
}

TEST_F(ServerTest, NothingFeasibleNamesTheNearest) {
  result("open", openParams({{"population", 20},
                             {"generations", 20},
                             {"constraints", {{"size_bytes", 1000}, {"accuracy_drop", 1}}}}));
  while (tellAll())
    ;
  EXPECT_EQ(result("ask")["reason"], "space exhausted"); // 64 policies
  Json front = result("front");
  EXPECT_TRUE(front["points"].empty());
  EXPECT_EQ(front["hypervolume"], 0);
  EXPECT_EQ(front["least_violating"]["key"], "888888"); // the smallest there is
}

TEST_F(ServerTest, ConstraintsHoldInTheFront) {
  result("open", openParams({{"population", 12},
                             {"generations", 4},
                             {"constraints",
                              {{"accuracy_drop", 0.002}, {"pinned", {{"layer2", "f32"}}}}}}));
  while (tellAll())
    ;
  Json front = result("front");
  EXPECT_FALSE(front["points"].empty());
  for (const Json &point : front["points"]) {
    EXPECT_LE(point["measured"]["accuracy_drop"], 0.002);
    EXPECT_EQ(point["policy"]["layer2"], "f32");
  }
  EXPECT_EQ(front["uniform"]["i8"]["key"], "88f888");
}

TEST_F(ServerTest, OtherObjectivesNeedOnlyTheirValues) {
  result("open", openParams({{"population", 4}, {"objectives", {"accuracy_drop", "size_bytes"}}}));
  Json asked = result("ask");
  for (const Json &candidate : asked["candidates"]) {
    Json measured = problem.measure(candidate["policy"]);
    measured.erase("latency_ms");
    measured.erase("latency_ms_spread");
    result("tell", {{"key", candidate["key"]}, {"measured", measured}});
  }
  Json front = result("front");
  EXPECT_EQ(front["reference_point"].size(), 2u);
  EXPECT_FALSE(front["points"][0]["measured"].contains("latency_ms"));
  EXPECT_TRUE(result("log")["generations"][0]["latency"]["rank_correlation"].is_null());
}

TEST_F(ServerTest, AnyLineIsAnswered) {
  auto errorFor = [&](const std::string &line) {
    return errorOf(Json::parse(server.answer(line)));
  };
  EXPECT_THAT(errorFor("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(errorFor(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(errorFor("\xff\xfe{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(errorFor(std::string("\0\0", 2)), HasSubstr("not valid JSON"));
  EXPECT_THAT(errorFor(std::string(100000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(errorFor("[]"), HasSubstr("is array; an object"));
  EXPECT_THAT(errorFor("3"), HasSubstr("is number; an object"));
  EXPECT_THAT(errorFor("{}"), HasSubstr("method: missing field"));
  EXPECT_THAT(errorFor(R"({"method": 3})"), HasSubstr("method: is number"));
  EXPECT_THAT(errorFor(R"({"method": "evaluate"})"),
              HasSubstr("unknown method 'evaluate'; one of ask, front"));
  EXPECT_THAT(errorFor(R"({"method": "ask", "params": []})"), HasSubstr("params: is array"));
  EXPECT_THAT(errorFor(R"({"method": "ask", "id": {}})"), HasSubstr("id: is object"));
  EXPECT_THAT(errorFor(R"({"method": "ask", "extra": 1})"), HasSubstr("extra: unknown field"));
  EXPECT_THAT(errorFor(R"({"method": "ask", "params": {"n": 1}})"), HasSubstr("n: unknown field"));
  EXPECT_EQ(Json::parse(server.answer(R"({"id": "x", "method": "no"})"))["id"], "x");
  EXPECT_TRUE(Json::parse(server.answer("{}"))["id"].is_null());
}

TEST_F(ServerTest, NothingWorksBeforeOpen) {
  for (const char *method : {"ask", "front", "log"})
    EXPECT_THAT(errorOf(call(method)), HasSubstr("no run is open")) << method;
  EXPECT_THAT(errorOf(call("tell", {{"key", "f"}, {"failure", "x"}})), HasSubstr("no run is open"));
}

TEST_F(ServerTest, OpenRefusesWhatItCannotUse) {
  auto errorWith = [&](Json more) { return errorOf(call("open", openParams(std::move(more)))); };
  EXPECT_THAT(errorOf(call("open")), HasSubstr("layers: missing field"));
  EXPECT_THAT(errorWith({{"layers", "/nowhere.json"}}), HasSubstr("cannot open file"));
  EXPECT_THAT(errorWith({{"seed", -1}}), HasSubstr("seed: is -1"));
  EXPECT_THAT(errorWith({{"seed", 1.5}}), HasSubstr("seed: is 1.5"));
  EXPECT_THAT(errorWith({{"population", 1}}), HasSubstr("population: is 1"));
  EXPECT_THAT(errorWith({{"population", int64_t(1) << 40}}), HasSubstr("population"));
  EXPECT_THAT(errorWith({{"generations", 0}}), HasSubstr("generations"));
  EXPECT_THAT(errorWith({{"offspring_factor", 0}}), HasSubstr("offspring_factor"));
  EXPECT_THAT(errorWith({{"objectives", Json::array()}}), HasSubstr("objectives: is empty"));
  EXPECT_THAT(errorWith({{"objectives", {"speed"}}}), HasSubstr("unknown objective 'speed'"));
  EXPECT_THAT(errorWith({{"objectives", {"size_bytes", "size_bytes"}}}), HasSubstr("twice"));
  EXPECT_THAT(errorWith({{"constraints", {{"latency_ms", 0}}}}),
              HasSubstr("constraints.latency_ms"));
  EXPECT_THAT(errorWith({{"constraints", {{"energy", 1}}}}), HasSubstr("energy: unknown field"));
  EXPECT_THAT(errorWith({{"constraints", {{"pinned", {{"layer9", "i8"}}}}}}),
              HasSubstr("unknown layer"));
  EXPECT_THAT(errorWith({{"constraints", {{"pinned", {{"layer1", "bf16"}}}}}}),
              HasSubstr("cannot have precision 'bf16'"));
  EXPECT_THAT(errorWith({{"constraints", {{"pinned", {{"layer1", "x"}}}}}}),
              HasSubstr("unknown precision"));
  EXPECT_THAT(errorWith({{"colour", 1}}), HasSubstr("colour: unknown field"));
  Server elsewhere("/nonexistent-folder/run.sqlite");
  EXPECT_THAT(errorOf(call(elsewhere, "open", openParams())), HasSubstr("cannot open archive"));
  // None of this has harmed the server.
  result("open", openParams());
  EXPECT_THAT(errorOf(call("open", openParams())), HasSubstr("a run is open already"));
}

TEST_F(ServerTest, TellRefusesWhatItCannotUse) {
  result("open", openParams({{"population", 4}}));
  Json candidate = result("ask")["candidates"][0];
  Json good = problem.measure(candidate["policy"]);
  auto errorWith = [&](Json params) {
    params["key"] = candidate["key"];
    return errorOf(call("tell", params));
  };
  auto changed = [&](const std::string &field, const Json &value) {
    Json measured = good;
    measured[field] = value;
    return Json{{"measured", measured}};
  };
  EXPECT_THAT(errorOf(call("tell", {{"measured", good}})), HasSubstr("key: missing field"));
  EXPECT_THAT(errorOf(call("tell", {{"key", "nonsense"}, {"measured", good}})),
              HasSubstr("unknown key 'nonsense'"));
  EXPECT_THAT(errorOf(call("tell", {{"key", "f8f8f8"}, {"failure", "x"}})),
              HasSubstr("unknown key"));
  EXPECT_THAT(errorWith(Json::object()),
              HasSubstr("measured: missing field; 'measured' or 'failure'"));
  EXPECT_THAT(errorWith({{"measured", good}, {"failure", "x"}}), HasSubstr("together"));
  EXPECT_THAT(errorWith({{"failure", 3}}), HasSubstr("failure: is number"));
  EXPECT_THAT(errorWith({{"measured", Json::object()}}), HasSubstr("measured.latency_ms: missing"));
  EXPECT_THAT(errorWith(changed("latency_ms", -1)), HasSubstr("measured.latency_ms: is -1"));
  EXPECT_THAT(errorWith(changed("latency_ms", "fast")), HasSubstr("a finite number"));
  EXPECT_THAT(errorWith(changed("latency_ms_spread", -1)), HasSubstr("is negative"));
  EXPECT_THAT(errorWith(changed("accuracy_drop", nullptr)), HasSubstr("accuracy_drop: is null"));
  EXPECT_THAT(errorWith(changed("energy", 1)), HasSubstr("energy: unknown field"));
  result("tell", {{"key", candidate["key"]}, {"measured", good}});
  EXPECT_THAT(errorWith({{"measured", good}}), HasSubstr("was told already"));
}

TEST_F(ServerTest, TellRefusesAnExcessThatNoNumberHolds) {
  result("open", openParams({{"population", 4}, {"constraints", {{"latency_ms", 1e-310}}}}));
  Json candidate = result("ask")["candidates"][0];
  Json measured = problem.measure(candidate["policy"]);
  EXPECT_THAT(errorOf(call("tell", {{"key", candidate["key"]}, {"measured", measured}})),
              HasSubstr("exceeds a limit"));
  result("tell", {{"key", candidate["key"]}, {"failure", "it can still be given up"}});
}

} // namespace
