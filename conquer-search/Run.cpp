//===- Run.cpp - a search that lives in an archive --------------------------------------------===//

#include "conquer-search/Run.h"

#include "support/Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace conquer {

namespace {

/// 64-bit FNV-1a of a JSON file's contents in hexadecimal, whatever its white space. It tells files
/// apart; it is no protection against forgery.
Result<std::string> hashOf(const std::string &path) {
  auto json = readJsonFile(path);
  if (!json)
    return json.error();
  uint64_t hash = 0xcbf29ce484222325;
  using Json = nlohmann::ordered_json;
  for (unsigned char c : json->dump(-1, ' ', false, Json::error_handler_t::replace))
    hash = (hash ^ c) * 0x100000001b3;
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4)
    text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

/// See Run::open.
Result<Archive::Identity> identityOf(const RunFiles &files, const SearchOptions &options) {
  Archive::Identity identity;
  for (const auto &[name, path] :
       {std::pair{"layers file", files.layers}, std::pair{"sensitivity file", files.sensitivity},
        std::pair{"latency table", files.latencyTable}}) {
    auto hash = hashOf(path);
    if (!hash)
      return hash.error();
    identity.push_back({name, *hash});
  }
  nlohmann::ordered_json objectives = nlohmann::ordered_json::array(), constraints;
  for (Objective objective : options.objectives)
    objectives.push_back(objectiveName(objective));
  for (size_t k = 0; k < numObjectives; ++k)
    if (options.limits[k])
      constraints[std::string(objectiveName(static_cast<Objective>(k)))] = *options.limits[k];
  for (const auto &[layer, precision] : options.pinned)
    constraints["pinned"][layer] = precisionName(precision);
  using Json = nlohmann::ordered_json;
  identity.push_back({"seed", std::to_string(options.engine.seed)});
  identity.push_back({"population", std::to_string(options.engine.population)});
  identity.push_back({"offspring_factor", std::to_string(options.engine.offspringFactor)});
  identity.push_back({"objectives", objectives.dump()});
  identity.push_back(
      {"constraints", constraints.dump(-1, ' ', false, Json::error_handler_t::replace)});
  return identity;
}

} // namespace

Result<Run> Run::open(const std::string &archivePath, const RunFiles &files,
                      const SearchOptions &options) {
  auto network = Network::read(files.layers);
  if (!network)
    return network.error();
  auto sensitivity = SensitivityTable::read(files.sensitivity, *network);
  if (!sensitivity)
    return sensitivity.error();
  auto latency = LatencyTable::read(files.latencyTable);
  if (!latency)
    return latency.error();
  auto identity = identityOf(files, options);
  if (!identity)
    return identity.error();
  auto fresh = Search::create(*network, *sensitivity, *latency, options);
  if (!fresh)
    return fresh.error();
  auto opened = Archive::open(archivePath);
  if (!opened)
    return opened.error();
  auto resumed = opened->bind(*identity);
  if (!resumed)
    return resumed.error();
  Run run(std::move(*opened), std::move(*fresh));
  run.wasResumed = *resumed;
  if (Status replayed = run.replay(); !replayed)
    return Error{replayed.error().what, archivePath, replayed.error().expected,
                 replayed.error().fix};
  return run;
}

/// Brings the search to the state that the archive tells of.
Status Run::replay() {
  auto stored = archive.load();
  if (!stored)
    return stored.error();
  Error foreign{"archive holds candidates that this program would not have asked", "",
                "an archive of the same release", "continue it with the release that created it"};
  while (numStored < stored->size()) {
    std::vector<size_t> asked = state->ask();
    if (asked.empty() || numStored + asked.size() > stored->size())
      return foreign;
    for (size_t index : asked) {
      const Candidate &mine = state->candidates()[index];
      const Candidate &theirs = (*stored)[numStored++];
      if (mine.key != theirs.key || mine.generation != theirs.generation)
        return foreign;
    }
    for (size_t index : asked)
      if (Candidate &theirs = (*stored)[index]; theirs.outcome)
        if (Status told = state->tell(theirs.key, std::move(*theirs.outcome)); !told)
          return told;
  }
  return success();
}

size_t Run::numTold() const {
  const std::vector<Candidate> &all = state->candidates();
  return std::count_if(all.begin(), all.end(),
                       [](const Candidate &candidate) { return candidate.outcome.has_value(); });
}

Result<std::vector<size_t>> Run::ask() {
  std::vector<size_t> current = state->ask();
  if (!current.empty() && current.back() >= numStored) {
    std::vector<const Candidate *> candidates;
    candidates.reserve(current.size());
    for (size_t index : current)
      candidates.push_back(&state->candidates()[index]);
    if (Status stored = archive.addGeneration(candidates); !stored)
      return stored.error();
    numStored += current.size();
  }
  std::vector<size_t> open;
  for (size_t index : current)
    if (!state->candidates()[index].outcome)
      open.push_back(index);
  return open;
}

Status Run::tell(const std::string &key, const Outcome &outcome) {
  if (Status status = state->check(key, outcome); !status)
    return status;
  if (Status status = archive.setOutcome(key, outcome); !status)
    return status;
  return state->tell(key, outcome);
}

} // namespace conquer
