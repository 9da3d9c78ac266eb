//===- Server.cpp - requests and answers in JSON ----------------------------------------------===//

#include "conquer-opt/Evaluator/Server.h"

#include "support/JsonLines.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>

using namespace conquer;
using Json = nlohmann::ordered_json;

namespace {

/// What a method works with.
struct Call {
  Session &session;
  JsonRequest &request;
  JsonReader &params;
  const StageProgress &progress;

  std::string optionalString(const std::string &name) {
    return params.has(name) ? params.string(name) : "";
  }
  Status finish() { return request.finish(); }
};

Json comparisonJson(const Comparison &comparison) {
  return {{"images", comparison.images},
          {"agreement", comparison.agreement},
          {"sqnr_db", comparison.sqnrDb},
          {"kl", comparison.kl}};
}

/// One array per figure, one element per image.
Json perImageJson(const std::vector<ImageError> &images) {
  std::string agrees;
  Json signal = Json::array(), noise = Json::array(), kl = Json::array();
  for (const ImageError &image : images) {
    agrees += image.top == image.referenceTop ? '1' : '0';
    signal.push_back(image.signal);
    noise.push_back(std::min(image.noise, std::numeric_limits<double>::max())); // JSON: no infinity
    kl.push_back(image.kl);
  }
  return {{"agrees", agrees}, {"signal", signal}, {"noise", noise}, {"kl", kl}};
}

Result<Json> info(Call &call) {
  if (Status status = call.finish(); !status)
    return status.error();
  const Session &session = call.session;
  const Graph &graph = *session.network().prepared();
  Json inputs = Json::array(), outputs = Json::array();
  for (int input : graph.inputs)
    inputs.push_back({{"id", graph.values[input].id}, {"shape", graph.values[input].shape}});
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    outputs.push_back(
        {{"id", graph.outputIds[i]}, {"shape", graph.values[graph.outputs[i]].shape}});
  return Json{{"versions", {{"conquer", CONQUER_VERSION}}},
              {"threads", session.threads()},
              {"profile", session.profile().name},
              {"kernel_level", session.level().name},
              {"inputs", inputs},
              {"outputs", outputs},
              {"layers", session.network().layers().size()},
              {"calibrated", !session.calibration().ranges.empty()}};
}

Result<Json> calibrate(Call &call) {
  std::string samples = call.params.string("samples"), name = call.params.string("method"),
              output = call.params.string("output");
  double percentile = call.params.has("percentile") ? call.params.number("percentile") : 99.99;
  std::optional<RangeMethod> method = parseRangeMethod(name);
  if (!method)
    call.params.fail("method", "unknown method '" + name + "'", "minmax, percentile or mse");
  if (!(percentile > 50 && percentile <= 100))
    call.params.fail("percentile", "is " + std::to_string(percentile), "over 50, at most 100");
  if (Status status = call.finish(); !status)
    return status.error();
  Result<Calibration> calibration =
      call.session.calibrate(samples, *method, percentile, call.progress);
  if (!calibration)
    return calibration.error();
  if (Status status = writeCalibration(*calibration, output); !status)
    return status.error();
  return Json{{"ranges", calibration->ranges.size()}, {"file", output}};
}

Result<Json> accuracy(Call &call) {
  Policy policy = readPolicyLayers(call.params.object("policy"));
  std::string samples = call.params.string("samples"), labels = call.optionalString("labels");
  bool perImage = call.params.has("per_image") && call.params.boolean("per_image");
  if (Status status = call.finish(); !status)
    return status.error();
  Result<AccuracyResult> result = call.session.accuracy(policy, samples, labels, call.progress);
  if (!result)
    return result.error();
  Json answer = comparisonJson(result->comparison);
  if (perImage)
    answer["per_image"] = perImageJson(result->images);
  if (result->hasLabels) {
    answer["top1"] = result->top1;
    answer["top1_f32"] = result->top1F32;
    answer["accuracy_drop"] = result->top1F32 - result->top1;
    answer["correct"] = result->correct;
    answer["correct_f32"] = result->correctF32;
  }
  return answer;
}

Result<Json> run(Call &call) {
  std::optional<Policy> policy;
  if (call.params.has("policy") && !call.params.raw("policy").is_null())
    policy = readPolicyLayers(call.params.object("policy"));
  RunFiles files{call.params.string("samples"), call.params.string("output"),
                 call.optionalString("outputs"), call.optionalString("values")};
  if (Status status = call.finish(); !status)
    return status.error();
  Result<RunResult> ran = call.session.run(policy ? &*policy : nullptr, files, call.progress);
  if (!ran)
    return ran.error();
  return Json{{"images", ran->images}, {"file", files.output}, {"exact", ran->exact}};
}

Result<Json> sensitivity(Call &call) {
  std::string samples = call.params.string("samples"), labels = call.optionalString("labels"),
              output = call.params.string("output");
  if (Status status = call.finish(); !status)
    return status.error();
  Result<SensitivityTable> table = call.session.sensitivity(samples, labels, call.progress);
  if (!table)
    return table.error();
  Json layers = Json::object();
  int64_t images = 0;
  for (const auto &[layer, precisions] : *table) {
    layers[layer] = Json::object();
    for (const auto &[precision, entry] : precisions) {
      Json figures = comparisonJson(entry.comparison);
      figures.erase("images");
      if (entry.accuracyDrop)
        figures["accuracy_drop"] = *entry.accuracyDrop;
      layers[layer][std::string(precisionName(precision))] = figures;
      images = entry.comparison.images;
    }
  }
  Json file = {
      {"format", "conquer.sensitivity"}, {"version", 1}, {"samples", images}, {"layers", layers}};
  std::string text = file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (Status status = writeFileAtomically(output, text); !status)
    return status.error();
  return Json{{"layers", table->size()}, {"file", output}};
}

Result<Json> check(Call &call) {
  Policy policy = readPolicyLayers(call.params.object("policy"));
  std::string folder = call.params.string("folder");
  if (Status status = call.finish(); !status)
    return status.error();
  Result<std::vector<CheckEntry>> entries = call.session.check(policy, folder);
  if (!entries)
    return entries.error();
  Json list = Json::array();
  for (const CheckEntry &entry : *entries)
    list.push_back({{"id", entry.id},
                    {"op", entry.op},
                    {"elements", entry.elements},
                    {"type", entry.type},
                    {"differing", entry.differing},
                    {"max_abs_difference", entry.maxAbsDifference},
                    {"max_abs_value", entry.maxAbsValue}});
  return Json{{"ops", list}};
}

/// Sends at most three progress lines a second.
StageProgress progressLines(const Json &id, const std::function<void(const std::string &)> &write) {
  using Clock = std::chrono::steady_clock;
  auto last = std::make_shared<Clock::time_point>(Clock::now());
  return [=](const char *stage, int64_t done, int64_t total) {
    Clock::time_point now = Clock::now();
    if (now - *last < std::chrono::milliseconds(300))
      return;
    *last = now;
    Json line = {{"id", id}, {"progress", {{"stage", stage}, {"done", done}, {"total", total}}}};
    write(line.dump());
  };
}

} // namespace

Server::Server(Session &session, std::function<void(const std::string &)> write) {
  using Method = Result<Json> (*)(Call &);
  const std::pair<const char *, Method> all[] = {{"info", info},
                                                 {"calibrate", calibrate},
                                                 {"sensitivity", sensitivity},
                                                 {"accuracy", accuracy},
                                                 {"run", run},
                                                 {"check", check}};
  for (const auto &[name, method] : all)
    methods[name] = [&session, write, method = method](JsonRequest &request) {
      StageProgress progress = progressLines(request.id, write);
      Call call{session, request, request.params, progress};
      return method(call);
    };
  methods["shutdown"] = [this](JsonRequest &request) -> Result<Json> {
    if (Status status = request.finish(); !status)
      return status.error();
    shutDown = true;
    return Json::object();
  };
}
