//===- Prepare.cpp - the order of the prepare stage -------------------------------------------===//

#include "conquer-opt/Pipelines/Prepare.h"

#include "conquer-opt/Transforms/Passes.h"

#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void conquer::buildPreparePipeline(OpPassManager &manager, const PrepareOptions &options) {
  // any module -> one static f32 function of TOSA ops
  manager.addPass(createCheckInputPass());
  // what the producer left -> canonical ops, each once
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // nameless ops -> layers with ids
  manager.addPass(createAssignIdsPass());
  manager.addPass(createVerifyPreparedPass());
  manager.addPass(createWriteLayersPass({options.layers, options.profile, options.profileDir}));
}

void conquer::registerPreparePipeline() {
  PassPipelineRegistration<PrepareOptions>("conquer-prepare-pipeline",
                                           "Make a network in f32 TOSA ready to be quantised",
                                           buildPreparePipeline);
}
