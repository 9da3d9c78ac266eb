//===- Policy.cpp - reading and checking policy.json ------------------------------------------===//

#include "conquer-opt/Policy/Policy.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace conquer {

using Json = nlohmann::ordered_json;

Policy readPolicyLayers(JsonReader layers) {
  Policy policy;
  for (const std::string &id : layers.keys()) {
    std::string name = layers.string(id);
    std::optional<Precision> precision = parsePrecision(name);
    if (!precision)
      layers.fail(id, "unknown precision '" + name + "'",
                  "one of " + precisionNames(allPrecisions));
    else
      policy.layers[id] = *precision;
  }
  return policy;
}

Result<Policy> readPolicy(const std::string &path) {
  Result<Json> json = readJsonFile(path);
  if (!json)
    return json.error();
  JsonReader reader(*json, path);
  reader.header("conquer.policy");
  Policy policy = readPolicyLayers(reader.object("layers"));
  reader.finish();
  if (Status status = reader.status(); !status)
    return status.error();
  return policy;
}

Status checkKnownLayers(const Policy &policy, const std::vector<PolicyLayer> &layers,
                        const std::string &where) {
  std::set<std::string> known;
  for (const PolicyLayer &layer : layers)
    known.insert(layer.id);
  for (const auto &entry : policy.layers)
    if (!known.count(entry.first))
      return Error{"unknown layer id", where + ": layers." + entry.first,
                   "one of the " + std::to_string(known.size()) + " layers of the network",
                   "layers.json, which prepare writes, lists them"};
  return success();
}

Status checkLayer(const Policy &policy, const PolicyLayer &layer, const std::string &profile,
                  const std::string &where) {
  auto entry = policy.layers.find(layer.id);
  if (entry == policy.layers.end())
    return Error{"missing layer '" + layer.id + "'", where + ": layers",
                 "a precision for every layer", "add the layer, for example as f32"};
  const std::vector<Precision> &legal = layer.precisions;
  if (std::find(legal.begin(), legal.end(), entry->second) == legal.end())
    return Error{"this " + layer.kind + " cannot run in " +
                     std::string(precisionName(entry->second)) + " on profile '" + profile + "'",
                 where + ": layers." + layer.id, "one of " + precisionNames(legal),
                 "edit the policy, or choose a profile that allows it"};
  return success();
}

Status checkPolicy(const Policy &policy, const std::vector<PolicyLayer> &layers,
                   const std::string &profile, const std::string &where) {
  if (Status status = checkKnownLayers(policy, layers, where); !status)
    return status;
  for (const PolicyLayer &layer : layers)
    if (Status status = checkLayer(policy, layer, profile, where); !status)
      return status;
  return success();
}

} // namespace conquer
