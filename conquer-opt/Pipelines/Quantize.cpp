//===- Quantize.cpp - the quantize pipeline ---------------------------------------------------===//

#include "conquer-opt/Pipelines/Quantize.h"

#include "conquer-opt/Transforms/Passes.h"

#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace conquer {

namespace {

struct QuantizePipelineOptions : PassPipelineOptions<QuantizePipelineOptions> {
  Option<std::string> calibration{*this, "calibration", llvm::cl::desc("calibration.json")};
  Option<std::string> policy{*this, "policy", llvm::cl::desc("policy.json")};
  Option<std::string> profile{*this, "profile", llvm::cl::init("host"),
                              llvm::cl::desc("target profile: a name, a .json file, or 'host'")};
  Option<std::string> profileDir{
      *this, "profile-dir",
      llvm::cl::desc("folder of the profiles; default: data/profiles beside the program")};
};

// mixed TOSA, its contract checked, with a target -> legal TOSA 1.0
void addValidation(OpPassManager &manager) {
  tosa::TosaValidationOptions strict;
  strict.strictOpSpecAlignment = true;
  manager.addPass(tosa::createTosaValidation(strict));
}

void buildFromFiles(OpPassManager &manager, const QuantizePipelineOptions &options) {
  AssignPrecisionsPassOptions assign;
  assign.policy = options.policy;
  assign.profile = options.profile;
  assign.profileDir = options.profileDir;
  QuantizePassOptions quantize;
  quantize.calibration = options.calibration;
  quantize.profile = options.profile;
  quantize.profileDir = options.profileDir;
  VerifyQuantizedPassOptions verify;
  verify.profile = options.profile;
  verify.profileDir = options.profileDir;
  // prepared f32 TOSA -> with precisions -> mixed TOSA -> the same, with a target
  manager.addPass(createAssignPrecisionsPass(assign));
  manager.addPass(createQuantizePass(quantize));
  manager.addPass(createVerifyQuantizedPass(verify));
  addValidation(manager);
}

void addPasses(OpPassManager &manager, const SharedQuantizeInputs &inputs) {
  manager.addPass(createAssignPrecisionsPass(inputs));
  manager.addPass(createQuantizePass(inputs));
  manager.addPass(createVerifyQuantizedPass(inputs));
}

} // namespace

void buildQuantizePipeline(OpPassManager &manager, const SharedQuantizeInputs &inputs) {
  addPasses(manager, inputs);
  addValidation(manager);
}

LogicalResult quantize(ModuleOp module, const Policy &policy, const Calibration &calibration,
                       const Profile &profile) {
  auto inputs = std::make_shared<QuantizeInputs>();
  inputs->policy = policy;
  inputs->calibration = calibration;
  inputs->profile = profile;
  PassManager manager(module.getContext());
  addPasses(manager, inputs);
  return manager.run(module);
}

void registerQuantizePipeline() {
  PassPipelineRegistration<QuantizePipelineOptions>(
      "conquer-quantize-pipeline",
      "Quantise prepared TOSA as a policy says: mixed f32 and integer TOSA 1.0", buildFromFiles);
}

} // namespace conquer
