//===- Network.h - the prepared module and its quantised forms --------------------------------===//
//
// The narrow door to MLIR: loads prepared IR, quantises and fuses clones of it, and hands out plain
// graphs. Nothing here throws or prints; diagnostics become Errors.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_NETWORK_H
#define CONQUER_OPT_EVALUATOR_NETWORK_H

#include "conquer-opt/Calibration/CalibrationFile.h"
#include "conquer-opt/Evaluator/Graph.h"
#include "conquer-opt/Policy/Policy.h"
#include "hardware/Profile.h"

namespace conquer {

/// A profile and how pipelines find it again.
struct Target {
  Profile profile;
  std::string name;   ///< as given on the command line
  std::string folder; ///< of the profiles
};

class Network {
public:
  /// Parses a module (text or bytecode) and reads its function.
  static Result<std::unique_ptr<Network>> load(const std::string &path, const Profile &profile);
  ~Network();

  /// The f32 network as prepared.
  const std::shared_ptr<const Graph> &prepared() const { return graph; }
  /// Its layers in execution order, with the precisions that they can have on the profile.
  const std::vector<PolicyLayer> &layers() const { return policyLayers; }

  /// The network quantised and fused for a policy, which must have passed checkPolicy. With `probe`
  /// the function also returns every activation, as conquer-opt's probe option makes it.
  Result<std::shared_ptr<const Graph>> quantized(const Policy &policy,
                                                 const Calibration &calibration,
                                                 const Target &target, bool probe = false) const;

private:
  struct Module;
  Network();
  std::unique_ptr<Module> module;
  std::shared_ptr<const Graph> graph;
  std::vector<PolicyLayer> policyLayers;
};

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_NETWORK_H
