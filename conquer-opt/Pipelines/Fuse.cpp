//===- Fuse.cpp - from quantised TOSA to fused ops --------------------------------------------===//

#include "conquer-opt/Pipelines/Fuse.h"

#include "conquer-opt/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void conquer::buildFusePipeline(OpPassManager &manager, const FusePipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  // convolution and its epilogue --> one op
  functions.addPass(createFuseKernels({options.profile, options.profileDir}));
  functions.addPass(createVerifyFused({options.profile, options.profileDir}));
  // Last: more results would end the chains that fusion looks for.
  if (options.probe)
    functions.addPass(createProbeValues());
}

void conquer::registerFusePipeline() {
  PassPipelineRegistration<FusePipelineOptions>(
      "conquer-fuse-pipeline", "Turn quantised TOSA into fused ops, one per kernel call",
      buildFusePipeline);
}
