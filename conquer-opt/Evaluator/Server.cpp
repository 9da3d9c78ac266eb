//===- Server.cpp - requests and answers in JSON ----------------------------------------------===//

#include "conquer-opt/Evaluator/Server.h"

#include "support/Json.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>

using namespace conquer;
using Json = nlohmann::ordered_json;

namespace {

/// What a method works with.
struct Call {
  Session &session;
  JsonReader params;
  const StageProgress &progress;

  std::string optionalString(const std::string &name) {
    return params.has(name) ? params.string(name) : "";
  }
  /// Reads the last field, then says whether all fields were right.
  Status finish() {
    params.finish();
    return params.status();
  }
};

Json comparisonJson(const Comparison &comparison) {
  return {{"images", comparison.images},
          {"agreement", comparison.agreement},
          {"sqnr_db", comparison.sqnrDb},
          {"kl", comparison.kl}};
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
  if (Status status = call.finish(); !status)
    return status.error();
  Result<AccuracyResult> result = call.session.accuracy(policy, samples, labels, call.progress);
  if (!result)
    return result.error();
  Json answer = comparisonJson(result->comparison);
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
  std::string samples = call.params.string("samples"), output = call.params.string("output"),
              values = call.optionalString("values");
  if (Status status = call.finish(); !status)
    return status.error();
  Result<int64_t> images =
      call.session.run(policy ? &*policy : nullptr, samples, output, values, call.progress);
  if (!images)
    return images.error();
  return Json{{"images", *images}, {"file", output}};
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
                    {"max_abs_difference", entry.maxAbsDifference}});
  return Json{{"ops", list}};
}

Result<Json> shutdown(Call &call) {
  if (Status status = call.finish(); !status)
    return status.error();
  return Json::object();
}

using Method = Result<Json> (*)(Call &);
const std::map<std::string, Method> &allMethods() {
  static const std::map<std::string, Method> methods = {
      {"info", info},
      {"calibrate", calibrate},
      {"sensitivity", sensitivity},
      {"accuracy", accuracy},
      {"run", run},
      {"check", check},
      {"shutdown", shutdown},
  };
  return methods;
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

Json errorJson(const Error &error) {
  return {{"what", error.what},
          {"where", error.where},
          {"expected", error.expected},
          {"fix", error.fix}};
}

std::string render(const Json &id, const Result<Json> &result) {
  Json line = {{"id", id}, {"ok", static_cast<bool>(result)}};
  if (result)
    line["result"] = *result;
  else
    line["error"] = errorJson(result.error());
  // Names from the network may hold bytes that are not UTF-8.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

std::string Server::answer(const std::string &line) {
  Json id;
  try {
    Result<Json> request = parseJson(line, "request");
    if (!request)
      return render(id, request.error());
    JsonReader reader(*request, "request");
    if (reader.has("id"))
      id = reader.raw("id");
    if (!id.is_null() && !id.is_number() && !id.is_string())
      reader.fail("id", std::string("is ") + id.type_name(), "a number or a string");
    std::string name = reader.string("method");
    Json params = Json::object();
    if (reader.has("params"))
      params = reader.raw("params");
    reader.finish();
    if (Status status = reader.status(); !status)
      return render(id, status.error());
    const std::map<std::string, Method> &methods = allMethods();
    auto method = methods.find(name);
    if (method == methods.end()) {
      std::string known;
      for (const auto &[key, function] : methods)
        known += (known.empty() ? "" : ", ") + key;
      return render(
          id, Error{"unknown method '" + name + "'", "request: method", "one of " + known, ""});
    }
    StageProgress progress = progressLines(id, write);
    Call call{session, JsonReader(params, "params"), progress};
    Result<Json> result = method->second(call);
    shutDown = name == "shutdown" && result;
    return render(id, result);
  } catch (const std::bad_alloc &) {
    return render(id, Error{"out of memory", "", "", "give fewer samples, or use fewer threads"});
  } catch (const std::exception &exception) {
    return render(id, Error{std::string("internal error: ") + exception.what(), "", "", ""});
  }
}
