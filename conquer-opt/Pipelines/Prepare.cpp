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
  OpPassManager &network = manager.nest<func::FuncOp>();
  // weights behind ops -> constants
  network.addPass(createFoldConstantsPass());
  // fully connected layers -> convolutions, before their weights take in the order of a flattening
  network.addPass(createMatMulToConvPass());
  // N, C, H, W around every convolution -> N, H, W, C between the borders; before canonicalisation,
  // which makes reshapes of some transposes, and reshapes do not cancel
  network.addPass(createPropagateLayoutPass());
  network.addPass(createCanonicalizerPass());
  network.addPass(createFoldConstantsPass());
  // batch norms, biases, scales beside layers -> weights and biases
  network.addPass(createFoldScalesPass());
  // paddings and ReLUs of any spelling -> attributes of layers, clamps next to layers
  network.addPass(createFoldPadsPass());
  network.addPass(createCanonicalizeClampsPass());
  // what became equal or unused -> once or not at all
  network.addPass(createCanonicalizerPass());
  network.addPass(createCSEPass());
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
