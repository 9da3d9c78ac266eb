//===- ServerTest.cpp - the whole evaluator on a small network --------------------------------===//

#include "conquer-opt/Evaluator/Server.h"

#include "support/Json.h"
#include "support/TestFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

using namespace conquer;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

namespace {

/// "dense<[...]>" of pseudo-random weights in -0.5..0.5, nested as the shape says.
std::string dense(const std::vector<int> &shape, std::mt19937 &engine, size_t depth = 0) {
  std::string text = "[";
  for (int i = 0; i < shape[depth]; ++i) {
    text += i ? ", " : "";
    text += depth + 1 < shape.size()
                ? dense(shape, engine, depth + 1)
                : std::to_string(static_cast<int>(engine() % 1001) / 1000.0 - 0.5);
  }
  return text + "]";
}

/// Prepared IR: conv, ReLU, conv with a residual addition, mean over pixels, fully connected.
std::string networkText() {
  std::mt19937 engine(7);
  auto constant = [&](const std::string &name, const std::vector<int> &shape) {
    std::string type;
    for (int size : shape)
      type += std::to_string(size) + "x";
    return "    %" + name + " = \"tosa.const\"() <{values = dense<" + dense(shape, engine) +
           "> : tensor<" + type + "f32>}> : () -> tensor<" + type + "f32>\n";
  };
  auto conv = [](const std::string &name, const std::string &input, const std::string &pad,
                 const std::string &types) {
    return "    %" + name + " = tosa.conv2d " + input + ", %w" + name + ", %b" + name +
           ", %z, %z {acc_type = f32, pad = array<i64: " + pad +
           ">, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, conquer.id = \"" + name +
           "\"} : " + types + "\n";
  };
  return "module {\n  func.func @main(%image: tensor<1x5x5x3xf32> {conquer.id = \"image\"}) -> "
         "(tensor<1x4xf32> {conquer.id = \"logits\"}) {\n"
         "    %z = \"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>\n"
         "    %s = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () -> "
         "!tosa.shape<2>\n" +
         constant("wfirst", {6, 3, 3, 3}) + constant("bfirst", {6}) +
         constant("wsecond", {6, 3, 3, 6}) + constant("bsecond", {6}) +
         constant("wfc", {4, 1, 1, 6}) + constant("bfc", {4}) +
         conv("first", "%image", "1, 1, 1, 1",
              "(tensor<1x5x5x3xf32>, tensor<6x3x3x3xf32>, tensor<6xf32>, tensor<1xf32>, "
              "tensor<1xf32>) -> tensor<1x5x5x6xf32>") +
         "    %relu = tosa.clamp %first {min_val = 0.0 : f32, max_val = 3.4028235E+38 : f32, "
         "conquer.id = \"relu\"} : (tensor<1x5x5x6xf32>) -> tensor<1x5x5x6xf32>\n" +
         conv("second", "%relu", "1, 1, 1, 1",
              "(tensor<1x5x5x6xf32>, tensor<6x3x3x6xf32>, tensor<6xf32>, tensor<1xf32>, "
              "tensor<1xf32>) -> tensor<1x5x5x6xf32>") +
         "    %sum = tosa.add %relu, %second {conquer.id = \"sum\"} : (tensor<1x5x5x6xf32>, "
         "tensor<1x5x5x6xf32>) -> tensor<1x5x5x6xf32>\n"
         "    %mean = tosa.avg_pool2d %sum, %z, %z {acc_type = f32, kernel = array<i64: 5, 5>, pad "
         "= "
         "array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, conquer.id = \"mean\"} : "
         "(tensor<1x5x5x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x6xf32>\n" +
         conv("fc", "%mean", "0, 0, 0, 0",
              "(tensor<1x1x1x6xf32>, tensor<4x1x1x6xf32>, tensor<4xf32>, tensor<1xf32>, "
              "tensor<1xf32>) -> tensor<1x1x1x4xf32>") +
         "    %out = tosa.reshape %fc, %s {conquer.id = \"flat\"} : (tensor<1x1x1x4xf32>, "
         "!tosa.shape<2>) -> tensor<1x4xf32>\n"
         "    return %out : tensor<1x4xf32>\n  }\n}\n";
}

class Evaluator : public testing::Test {
protected:
  static constexpr int images = 23;

  void SetUp() override {
    write("net.mlir", networkText());
    std::mt19937 engine(3);
    std::vector<float> samples(images * 75);
    for (float &value : samples)
      value = static_cast<float>(engine() % 2001) / 1000 - 1;
    samples[0] = -1;
    std::vector<int64_t> labels(images);
    for (int64_t &label : labels)
      label = engine() % 4;
    ASSERT_TRUE(writeNpy(path("x.npy"), NpyType::F32, {images, 5, 5, 3}, samples.data()));
    ASSERT_TRUE(writeNpy(path("y.npy"), NpyType::I64, {images}, labels.data()));
    start(1);
  }
  void write(const std::string &name, const std::string &text) {
    std::ofstream(path(name)) << text;
  }
  std::string read(const std::string &name) {
    std::ifstream stream(path(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void start(int threads) {
    SessionOptions options;
    options.prepared = path("net.mlir");
    options.profile = "x86-64";
    options.profileDir = CONQUER_PROFILES;
    options.threads = threads;
    auto made = Session::create(options);
    ASSERT_TRUE(made) << made.error().message();
    session = std::move(*made);
    server = std::make_unique<Server>(*session, [](const std::string &) {});
  }
  Json ask(const std::string &line) { return Json::parse(server->answer(line)); }
  Json call(const std::string &method, const Json &params) {
    return ask(Json{{"id", 1}, {"method", method}, {"params", params}}.dump());
  }
  /// The result of a call that must succeed.
  Json result(const std::string &method, const Json &params) {
    Json answer = call(method, params);
    EXPECT_EQ(answer["ok"], true) << answer.dump();
    return answer["result"];
  }
  /// The error of a call that must fail, in one line.
  std::string error(const std::string &method, const Json &params) {
    Json answer = call(method, params);
    EXPECT_EQ(answer["ok"], false) << answer.dump();
    Json e = answer["error"];
    return Error{e["what"], e["where"], e["expected"], e["fix"]}.message();
  }
  Json policy(const std::string &first, const std::string &second, const std::string &fc) {
    return {{"first", first}, {"second", second}, {"fc", fc}};
  }
  void calibrate(const std::string &method = "minmax") {
    result("calibrate",
           {{"samples", path("x.npy")}, {"method", method}, {"output", path("c.json")}});
  }

  std::string path(const std::string &file) const { return folder.path(file); }

  TestFolder folder;
  std::unique_ptr<Session> session;
  std::unique_ptr<Server> server;
};

TEST_F(Evaluator, Info) {
  Json info = result("info", Json::object());
  EXPECT_EQ(info["layers"], 3);
  EXPECT_EQ(info["inputs"][0]["id"], "image");
  EXPECT_EQ(info["outputs"][0]["shape"], (std::vector<int>{1, 4}));
  EXPECT_EQ(info["kernel_level"], "portable");
}

TEST_F(Evaluator, MalformedRequestsAreAnswered) {
  for (const char *line :
       {"", "{", "[]", "3", "\"x\"", "{}", "{\"id\": 1}", "{\"id\": 1, \"method\": 3}",
        "{\"id\": {}, \"method\": \"info\"}", "{\"id\": 1, \"method\": \"info\", \"params\": []}",
        "{\"id\": 1, \"method\": \"info\", \"extra\": 1}",
        "{\"id\": 1, \"method\": \"info\", \"params\": {\"extra\": 1}}", "\xff\xfe",
        "{\"id\": 1e999}"}) {
    Json answer = ask(line);
    EXPECT_EQ(answer["ok"], false) << line;
    EXPECT_FALSE(answer["error"]["what"].get<std::string>().empty());
  }
  EXPECT_EQ(ask(std::string(100000, '['))["ok"], false);
  EXPECT_THAT(error("fly", Json::object()), HasSubstr("unknown method 'fly'"));
  EXPECT_EQ(result("info", Json::object())["layers"], 3) << "still answering";
}

TEST_F(Evaluator, BadFilesAreAnswered) {
  Json params = {{"samples", path("none.npy")}, {"method", "minmax"}, {"output", path("c.json")}};
  EXPECT_THAT(error("calibrate", params), HasSubstr("none.npy"));
  params["samples"] = path("y.npy");
  EXPECT_THAT(error("calibrate", params), HasSubstr("f32 of shape (n, 5, 5, 3)"));
  params["samples"] = path("x.npy");
  params["output"] = "/nowhere/c.json";
  EXPECT_THAT(error("calibrate", params), HasSubstr("/nowhere/c.json"));
  params["method"] = "magic";
  EXPECT_THAT(error("calibrate", params), HasSubstr("minmax, percentile or mse"));
  params["method"] = "percentile";
  params["percentile"] = 20;
  EXPECT_THAT(error("calibrate", params), HasSubstr("percentile"));
}

TEST_F(Evaluator, PoliciesAreChecked) {
  Json params = {{"policy", policy("i8", "i8", "i8")}, {"samples", path("x.npy")}};
  EXPECT_THAT(error("accuracy", params), HasSubstr("not calibrated"));
  params["policy"] = {{"first", "i8"}, {"second", "i8"}};
  EXPECT_THAT(error("accuracy", params), HasSubstr("fc"));
  params["policy"] = policy("i8", "i8", "i3");
  EXPECT_THAT(error("accuracy", params), HasSubstr("i3"));
  params["policy"] = 3;
  EXPECT_THAT(error("accuracy", params), HasSubstr("policy"));
}

TEST_F(Evaluator, AllFloatIsTheReference) {
  Json answer = result("accuracy", {{"policy", policy("f32", "f32", "f32")},
                                    {"samples", path("x.npy")},
                                    {"labels", path("y.npy")}});
  EXPECT_EQ(answer["images"], images);
  EXPECT_EQ(answer["agreement"], 1);
  EXPECT_EQ(answer["sqnr_db"], 200);
  EXPECT_EQ(answer["accuracy_drop"], 0);
  EXPECT_EQ(answer["correct"], answer["correct_f32"]);
  EXPECT_EQ(answer["correct"].get<std::string>().size(), size_t(images));
}

TEST_F(Evaluator, QuantisedIsClose) {
  for (const char *method : {"minmax", "percentile", "mse"}) {
    calibrate(method);
    Json answer =
        result("accuracy", {{"policy", policy("i8", "i8", "i8")}, {"samples", path("x.npy")}});
    EXPECT_GT(answer["sqnr_db"], 20) << method;
    EXPECT_LT(answer["sqnr_db"], 80) << method;
    EXPECT_GT(answer["agreement"], 0.8) << method;
  }
}

TEST_F(Evaluator, CalibrationCoversEveryId) {
  calibrate();
  Json file = Json::parse(read("c.json"));
  EXPECT_EQ(file["samples"], images);
  for (const char *id : {"image", "first", "relu", "second", "sum", "mean", "fc", "flat"})
    EXPECT_TRUE(file["ranges"].contains(id)) << id;
  EXPECT_EQ(file["ranges"]["relu"]["min"], 0);
  EXPECT_LT(file["ranges"]["first"]["min"], 0) << "the convolution's own value, before the clamp";
  EXPECT_EQ(file["ranges"]["image"]["observed_min"], -1);
}

TEST_F(Evaluator, RunWritesOutputsAndValues) {
  Json params = {{"policy", nullptr},
                 {"samples", path("x.npy")},
                 {"output", path("o.npy")},
                 {"values", path("values")}};
  EXPECT_EQ(result("run", params)["images"], images);
  auto output = readNpy(path("o.npy")), flat = readNpy(path("values/flat.npy")),
       relu = readNpy(path("values/relu.npy"));
  ASSERT_TRUE(output && flat && relu);
  EXPECT_EQ(output->shape, (std::vector<int64_t>{images, 4}));
  EXPECT_EQ(output->bytes, flat->bytes);
  EXPECT_EQ(relu->shape, (std::vector<int64_t>{images, 5, 5, 6}));
}

TEST_F(Evaluator, SensitivityIsTheAccuracyOfOneLayerChanged) {
  calibrate("mse");
  result("sensitivity",
         {{"samples", path("x.npy")}, {"labels", path("y.npy")}, {"output", path("s.json")}});
  Json layers = Json::parse(read("s.json"))["layers"];
  ASSERT_EQ(layers.size(), 3u);
  for (const char *layer : {"first", "second", "fc"}) {
    Json one = policy("f32", "f32", "f32");
    one[layer] = "i8";
    Json whole = result("accuracy",
                        {{"policy", one}, {"samples", path("x.npy")}, {"labels", path("y.npy")}});
    for (const char *figure : {"sqnr_db", "kl", "agreement"})
      EXPECT_EQ(layers[layer]["i8"][figure], whole[figure]) << layer << " " << figure;
    EXPECT_NEAR(layers[layer]["i8"]["accuracy_drop"], whole["accuracy_drop"], 1e-12);
  }
}

TEST_F(Evaluator, ThreadsChangeNothing) {
  std::vector<std::string> calibrations, sensitivities, outputs;
  for (int threads : {1, 2, 5}) {
    start(threads);
    calibrate("mse");
    calibrations.push_back(read("c.json"));
    result("sensitivity", {{"samples", path("x.npy")}, {"output", path("s.json")}});
    sensitivities.push_back(read("s.json"));
    result("run", {{"policy", policy("i8", "f32", "i8")},
                   {"samples", path("x.npy")},
                   {"output", path("o.npy")}});
    outputs.push_back(read("o.npy"));
  }
  EXPECT_EQ(calibrations[0], calibrations[1]);
  EXPECT_EQ(calibrations[0], calibrations[2]);
  EXPECT_EQ(sensitivities[0], sensitivities[1]);
  EXPECT_EQ(sensitivities[0], sensitivities[2]);
  EXPECT_EQ(outputs[0], outputs[1]);
  EXPECT_EQ(outputs[0], outputs[2]);
}

TEST_F(Evaluator, SaysWhetherModulesMustBeIdentical) {
  calibrate();
  auto exact = [&](const std::string &first, const std::string &fc) {
    Json params = {
        {"policy", policy(first, "i8", fc)}, {"samples", path("x.npy")}, {"output", path("o.npy")}};
    return result("run", params)["exact"].get<bool>();
  };
  EXPECT_TRUE(exact("i8", "i8"));
  EXPECT_FALSE(exact("f32", "i8"));
  EXPECT_FALSE(exact("i8", "bf16"));
}

TEST_F(Evaluator, ChangedSampleFilesAreReadAgain) {
  Json params = {{"policy", nullptr}, {"samples", path("x.npy")}, {"output", path("o.npy")}};
  result("run", params);
  std::vector<float> one(75, 0.5f);
  ASSERT_TRUE(writeNpy(path("x.npy"), NpyType::F32, {1, 5, 5, 3}, one.data()));
  EXPECT_EQ(result("run", params)["images"], 1);
}

TEST_F(Evaluator, CheckNamesTheOperationThatDiffers) {
  calibrate();
  Policy mixed{{{"first", Precision::I8}, {"second", Precision::I8}, {"fc", Precision::F32}}};
  auto network = Network::load(path("net.mlir"), session->profile());
  ASSERT_TRUE(network);
  Target target{session->profile(), "x86-64", CONQUER_PROFILES};
  auto graph = (*network)->quantized(mixed, session->calibration(), target, true);
  ASSERT_TRUE(graph) << graph.error().message();
  PackCache packs;
  auto plan = Plan::create(*graph, session->level(), packs, {});
  ASSERT_TRUE(plan) << plan.error().message();
  Workspace workspace(*plan);
  auto samples = readNpy(path("x.npy"));
  plan->run({samples->bytes.data()}, workspace);
  int secondIndex = -1;
  for (size_t i = 0; i < (*graph)->outputs.size(); ++i) {
    int index = (*graph)->outputs[i];
    const Value &value = (*graph)->values[index];
    NpyType type = value.type == ElementType::F32 ? NpyType::F32 : NpyType::I8;
    ASSERT_TRUE(
        writeNpy(path(std::to_string(i) + ".npy"), type, value.shape, workspace.value(index)));
    if (value.id == "second")
      secondIndex = static_cast<int>(i);
  }
  ASSERT_GE(secondIndex, 0);
  Json params = {{"policy", policy("i8", "i8", "f32")}, {"folder", path("")}};
  Json ops = result("check", params)["ops"];
  EXPECT_GE(ops.size(), 4u);
  for (const Json &op : ops)
    EXPECT_EQ(op["differing"], 0) << op.dump();

  std::string file = std::to_string(secondIndex) + ".npy";
  std::string text = read(file);
  text[text.size() - 1] = static_cast<char>(text[text.size() - 1] ^ 1);
  write(file, text);
  for (const Json &op : result("check", params)["ops"]) {
    if (op["id"] == "second")
      EXPECT_EQ(op["differing"], 1) << op.dump();
    if (op["id"] == "first" || op["id"] == "relu")
      EXPECT_EQ(op["differing"], 0) << op.dump();
  }
  std::remove(path(file).c_str());
  EXPECT_THAT(error("check", params), HasSubstr(file));
}

TEST_F(Evaluator, ShutdownEnds) {
  EXPECT_FALSE(server->isShutDown());
  result("shutdown", Json::object());
  EXPECT_TRUE(server->isShutDown());
}

TEST_F(Evaluator, BadModulesAreErrors) {
  auto failure = [&](const std::string &text) {
    write("bad.mlir", text);
    SessionOptions options;
    options.prepared = path("bad.mlir");
    options.profileDir = CONQUER_PROFILES;
    auto made = Session::create(options);
    return made ? "" : made.error().message();
  };
  EXPECT_THAT(failure("func.func @main("), HasSubstr("bad.mlir"));
  EXPECT_THAT(failure("module {}"), HasSubstr("no function main"));
  EXPECT_THAT(failure("func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> { return %x : "
                      "tensor<?x3xf32> }"),
              HasSubstr("static"));
  EXPECT_THAT(failure("func.func @main(%x: tensor<1x3xf64>) -> tensor<1x3xf64> { return %x : "
                      "tensor<1x3xf64> }"),
              HasSubstr("f64"));
  EXPECT_THAT(failure("func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> { return %x : "
                      "tensor<2x3xf32> }"),
              HasSubstr("batch size 1"));
  EXPECT_THAT(failure("func.func @main() { return }"), HasSubstr("0 inputs"));
  EXPECT_THAT(failure("func.func private @main(%x: tensor<1xf32>) -> tensor<1xf32>"),
              HasSubstr("no body"));
}

TEST(ValueFileName, EscapesWhatIsNoLetter) {
  EXPECT_EQ(valueFileName("/blocks/0/conv1"), "%2Fblocks%2F0%2Fconv1.npy");
  EXPECT_EQ(valueFileName("..a"), "%2E.a.npy");
}

} // namespace
