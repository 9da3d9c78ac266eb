//===- Fuse.h - from quantised TOSA to fused ops ----------------------------------------------===//
#ifndef CONQUER_OPT_PIPELINES_FUSE_H
#define CONQUER_OPT_PIPELINES_FUSE_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace conquer {

struct FusePipelineOptions : mlir::PassPipelineOptions<FusePipelineOptions> {
  Option<std::string> profile{*this, "profile",
                              llvm::cl::desc("target profile: a name, 'host' or a .json file"),
                              llvm::cl::init("host")};
  Option<std::string> profileDir{
      *this, "profile-dir", llvm::cl::desc("folder of the profiles (default: beside the program)")};
  Option<bool> probe{*this, "probe",
                     llvm::cl::desc("main also returns every activation, for conquer-eval's check"),
                     llvm::cl::init(false)};
};

/// Quantised TOSA --> conquer ops where the profile has a kernel, TOSA elsewhere. Runs on a module.
void buildFusePipeline(mlir::OpPassManager &manager, const FusePipelineOptions &options);

/// Makes `--conquer-fuse-pipeline` known.
void registerFusePipeline();

} // namespace conquer

#endif // CONQUER_OPT_PIPELINES_FUSE_H
