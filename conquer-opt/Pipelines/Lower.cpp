//===- Lower.cpp - from fused ops to what IREE compiles ---------------------------------------===//

#include "conquer-opt/Pipelines/Lower.h"

#include "conquer-opt/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void conquer::buildLowerPipeline(OpPassManager &manager, const LowerPipelineOptions &options) {
  // conquer ops --> dispatches
  manager.addPass(createLowerKernels({options.profile, options.profileDir}));
  // the unpacked weights go
  manager.addPass(createCSEPass());
  // conversions to f32 are dispatches of their own where their readers would repeat them
  manager.addPass(createSeparateConversions());
  // every bf16 result is rounded
  manager.addPass(createKeepRounding());
  // annotations and source locations mean nothing to IREE
  manager.addPass(createStripAnnotations());
  manager.addPass(createStripDebugInfoPass());
  manager.addPass(createVerifyLowered());
}

void conquer::registerLowerPipeline() {
  PassPipelineRegistration<LowerPipelineOptions>(
      "conquer-lower-pipeline", "Turn fused ops into the form that iree-compile reads",
      buildLowerPipeline);
}
