//===- Server.cpp - the JSON-lines protocol of conquer-search ---------------------------------===//

#include "conquer-search/Server.h"

#include "conquer-search/Report.h"
#include <nlohmann/json.hpp>

namespace conquer {

using Json = nlohmann::ordered_json;

namespace {

/// An integer parameter within [low, high]; `value` keeps its default if the field is absent.
template <typename T>
void readInteger(JsonReader &params, const char *name, int64_t low, int64_t high, T &value) {
  if (!params.has(name))
    return;
  int64_t given = params.integer(name);
  if (params.ok() && (given < low || given > high))
    params.fail(name, "is " + std::to_string(given),
                std::to_string(low) + " to " + std::to_string(high));
  value = static_cast<T>(given);
}

void readConstraints(JsonReader params, SearchOptions &options) {
  for (size_t k = 0; k < numObjectives; ++k) {
    std::string name(objectiveName(static_cast<Objective>(k)));
    if (params.has(name))
      options.limits[k] = params.number(name);
  }
  if (params.has("pinned")) {
    JsonReader pinned = params.object("pinned");
    for (const std::string &layer : pinned.keys()) {
      std::string name = pinned.string(layer);
      std::optional<Precision> precision = parsePrecision(name);
      if (!precision)
        pinned.fail(layer, "unknown precision '" + name + "'",
                    "one of " + precisionNames(allPrecisions));
      options.pinned[layer] = precision.value_or(Precision::F32);
    }
  }
  params.finish();
}

SearchOptions readOptions(JsonReader &params) {
  SearchOptions options;
  readInteger(params, "seed", 0, INT64_MAX, options.engine.seed);
  readInteger(params, "population", 2, 10000, options.engine.population);
  readInteger(params, "generations", 1, 1000000, options.engine.generations);
  readInteger(params, "offspring_factor", 1, 1000, options.engine.offspringFactor);
  if (params.has("objectives")) {
    options.objectives.clear();
    for (const std::string &name : params.strings("objectives")) {
      std::optional<Objective> objective = parseObjective(name);
      if (!objective)
        params.fail("objectives", "unknown objective '" + name + "'",
                    "latency_ms, accuracy_drop or size_bytes");
      options.objectives.push_back(objective.value_or(Objective::Latency));
    }
  }
  if (params.has("constraints"))
    readConstraints(params.object("constraints"), options);
  return options;
}

Outcome readOutcome(JsonReader &params) {
  Outcome outcome;
  if (params.has("failure")) {
    outcome.failure = params.string("failure");
    if (params.has("measured"))
      params.fail("measured", "is given together with 'failure'", "one of the two");
    return outcome;
  }
  if (!params.has("measured")) {
    params.fail("measured", "missing field", "'measured' or 'failure'");
    return outcome;
  }
  JsonReader measured = params.object("measured");
  for (size_t k = 0; k < numObjectives; ++k) {
    std::string name(objectiveName(static_cast<Objective>(k)));
    if (measured.has(name))
      outcome.values[k] = measured.number(name);
  }
  if (measured.has("latency_ms_spread")) {
    outcome.latencySpread = measured.number("latency_ms_spread");
    if (*outcome.latencySpread < 0)
      measured.fail("latency_ms_spread", "is negative", "at least 0");
  }
  measured.finish();
  return outcome;
}

Error noRun() {
  return {"no run is open", "request", "'open' before anything else", "send 'open'"};
}

} // namespace

Server::Server(std::string archivePath) : archivePath(std::move(archivePath)) {
  using Method = Result<Json> (Server::*)(JsonRequest &);
  const std::pair<const char *, Method> all[] = {
      {"open", &Server::open},   {"ask", &Server::ask}, {"tell", &Server::tell},
      {"front", &Server::front}, {"log", &Server::log}, {"shutdown", &Server::shutdown}};
  for (const auto &[name, method] : all)
    methods[name] = [this, method = method](JsonRequest &request) {
      return (this->*method)(request);
    };
}

Result<Json> Server::open(JsonRequest &request) {
  JsonReader &params = request.params;
  RunFiles files{params.string("layers"), params.string("sensitivity"),
                 params.string("latency_table")};
  SearchOptions options = readOptions(params);
  if (Status status = request.finish(); !status)
    return status.error();
  if (run)
    return Error{"a run is open already", "request", "one 'open' per process",
                 "start another conquer-search"};
  auto opened = Run::open(archivePath, files, options);
  if (!opened)
    return opened.error();
  run.emplace(std::move(*opened));
  return Json{{"resumed", run->resumed()},
              {"generation", run->search().generation()},
              {"evaluated", run->numTold()}};
}

Result<Json> Server::ask(JsonRequest &request) {
  if (Status status = request.finish(); !status)
    return status.error();
  if (!run)
    return noRun();
  auto asked = run->ask();
  if (!asked)
    return asked.error();
  Json candidates = Json::array();
  for (size_t index : *asked)
    candidates.push_back(candidateJson(run->search(), run->search().candidates()[index]));
  std::string reason = run->search().stopReason();
  Json result = {{"generation", run->search().generation()},
                 {"candidates", candidates},
                 {"done", !reason.empty()}};
  if (!reason.empty())
    result["reason"] = reason;
  return result;
}

Result<Json> Server::tell(JsonRequest &request) {
  JsonReader &params = request.params;
  std::string key = params.string("key");
  Outcome outcome = readOutcome(params);
  if (Status status = request.finish(); !status)
    return status.error();
  if (!run)
    return noRun();
  if (Status status = run->tell(key, outcome); !status)
    return status.error();
  return Json{{"pending", run->search().pending()}};
}

Result<Json> Server::front(JsonRequest &request) {
  JsonReader &params = request.params;
  int last = run ? run->search().generation() - 1 : 0, generation = last;
  if (run && last >= 0)
    readInteger(params, "generation", 0, last, generation);
  else
    params.raw("generation");
  if (Status status = request.finish(); !status)
    return status.error();
  if (!run)
    return noRun();
  if (last < 0)
    return Error{"no generation is complete yet", "request",
                 "'front' after every candidate of generation 0 was told", "ask and tell first"};
  return frontJson(run->search(), generation);
}

Result<Json> Server::log(JsonRequest &request) {
  if (Status status = request.finish(); !status)
    return status.error();
  if (!run)
    return noRun();
  return logJson(run->search());
}

Result<Json> Server::shutdown(JsonRequest &request) {
  if (Status status = request.finish(); !status)
    return status.error();
  shutDown = true;
  return Json::object();
}

} // namespace conquer
