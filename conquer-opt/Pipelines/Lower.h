//===- Lower.h - from fused ops to what IREE compiles -----------------------------------------===//
#ifndef CONQUER_OPT_PIPELINES_LOWER_H
#define CONQUER_OPT_PIPELINES_LOWER_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace conquer {

struct LowerPipelineOptions : mlir::PassPipelineOptions<LowerPipelineOptions> {
  Option<std::string> profile{*this, "profile",
                              llvm::cl::desc("target profile: a name, 'host' or a .json file"),
                              llvm::cl::init("host")};
  Option<std::string> profileDir{
      *this, "profile-dir", llvm::cl::desc("folder of the profiles (default: beside the program)")};
};

/// Fused IR --> func, tosa and dispatches of external kernels. Runs on a module. Write the result
/// as bytecode or in the generic form; iree-compile does not read MLIR 22's pretty form.
void buildLowerPipeline(mlir::OpPassManager &manager, const LowerPipelineOptions &options);

/// Makes `--conquer-lower-pipeline` known.
void registerLowerPipeline();

} // namespace conquer

#endif // CONQUER_OPT_PIPELINES_LOWER_H
