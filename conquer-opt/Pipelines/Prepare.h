//===- Prepare.h - from a network in f32 TOSA to layers that can be quantised -----------------===//
#ifndef CONQUER_OPT_PIPELINES_PREPARE_H
#define CONQUER_OPT_PIPELINES_PREPARE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace conquer {

/// Options of --conquer-prepare-pipeline.
struct PrepareOptions : mlir::PassPipelineOptions<PrepareOptions> {
  Option<std::string> layers{*this, "layers", llvm::cl::desc("layers.json to write; empty: none"),
                             llvm::cl::init("")};
  Option<std::string> profile{*this, "profile",
                              llvm::cl::desc("target profile: a name, a .json file, or 'host'"),
                              llvm::cl::init("host")};
  Option<std::string> profileDir{
      *this, "profile-dir",
      llvm::cl::desc("folder of the profiles; default: data/profiles beside the program"),
      llvm::cl::init("")};
};

/// Appends the prepare stage (docs/formats.md: model.tosa.mlir to prepared.mlir and layers.json).
void buildPreparePipeline(mlir::OpPassManager &manager, const PrepareOptions &options);

/// Makes --conquer-prepare-pipeline known.
void registerPreparePipeline();

} // namespace conquer

#endif // CONQUER_OPT_PIPELINES_PREPARE_H
