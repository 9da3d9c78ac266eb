//===- Policy.h - which precision every layer has ---------------------------------------------===//
//
// The policy of one network and its file, policy.json of docs/formats.md. Plain C++ without MLIR:
// the layers of a network come in as a list.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_POLICY_POLICY_H
#define CONQUER_OPT_POLICY_POLICY_H

#include "hardware/Precision.h"
#include "hardware/Profile.h"
#include "support/Error.h"
#include "support/Json.h"

#include <map>
#include <string>
#include <vector>

namespace conquer {

/// A precision for every layer id of a network.
struct Policy {
  std::map<std::string, Precision> layers;
};

/// A layer as far as a policy is concerned.
struct PolicyLayer {
  std::string id;                    ///< its conquer.id
  std::string kind;                  ///< as profiles spell it: "conv2d", "depthwise_conv2d", ...
  std::vector<Precision> precisions; ///< those that it can have on the target, f32 first
};

/// Reads an object of layer id to precision name, for example the `policy` of a request. Mistakes
/// stay in the reader.
Policy readPolicyLayers(JsonReader layers);

/// Reads a policy.json.
Result<Policy> readPolicy(const std::string &path);

/// success(), or an Error naming the first id of the policy that is none of the layers.
Status checkKnownLayers(const Policy &policy, const std::vector<PolicyLayer> &layers,
                        const std::string &where);

/// success(), or the Error that the policy lacks the layer or gives it a precision that it cannot
/// have on the profile of that name.
Status checkLayer(const Policy &policy, const PolicyLayer &layer, const std::string &profile,
                  const std::string &where);

/// success() if the policy names exactly the given layers, each with a precision that it can have
/// on the profile of that name; otherwise one Error naming the first offending layer: unknown ids
/// before missing ones before illegal precisions. `where` (a file name) begins the message.
Status checkPolicy(const Policy &policy, const std::vector<PolicyLayer> &layers,
                   const std::string &profile, const std::string &where = "policy");

} // namespace conquer

#endif // CONQUER_OPT_POLICY_POLICY_H
