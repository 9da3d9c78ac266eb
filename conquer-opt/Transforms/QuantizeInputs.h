//===- QuantizeInputs.h - what the passes of the quantize stage are told ----------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_QUANTIZEINPUTS_H
#define CONQUER_OPT_TRANSFORMS_QUANTIZEINPUTS_H

#include "conquer-opt/Calibration/CalibrationFile.h"
#include "conquer-opt/Policy/Policy.h"
#include "hardware/Profile.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace conquer {

/// Policy, calibration and profile of one run of the quantize stage.
struct QuantizeInputs {
  Policy policy;
  Calibration calibration;
  Profile profile;
  std::string policyName = "policy";           ///< begins messages about the policy: a file name
  std::string calibrationName = "calibration"; ///< begins messages about the calibration
};
using SharedQuantizeInputs = std::shared_ptr<const QuantizeInputs>;

/// The passes of the stage with their inputs in memory; the constructors that TableGen declares
/// read files instead, when they run.
std::unique_ptr<mlir::Pass> createAssignPrecisionsPass(SharedQuantizeInputs inputs);
std::unique_ptr<mlir::Pass> createQuantizePass(SharedQuantizeInputs inputs);
std::unique_ptr<mlir::Pass> createVerifyQuantizedPass(SharedQuantizeInputs inputs);

/// The profile that `profile=` and `profile-dir=` of a pass name; an empty folder means the
/// profiles beside the program.
Result<Profile> loadPassProfile(const std::string &name, const std::string &folder);

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_QUANTIZEINPUTS_H
