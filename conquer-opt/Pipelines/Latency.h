//===- Latency.h - from a prepared network to functions worth timing --------------------------===//
#ifndef CONQUER_OPT_PIPELINES_LATENCY_H
#define CONQUER_OPT_PIPELINES_LATENCY_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace conquer {

struct LatencyPipelineOptions : mlir::PassPipelineOptions<LatencyPipelineOptions> {
  Option<std::string> calibration{*this, "calibration",
                                  llvm::cl::desc("calibration.json of the network")};
  Option<std::string> index{*this, "index",
                            llvm::cl::desc("file to write: what each function stands for")};
  Option<std::string> profile{*this, "profile",
                              llvm::cl::desc("target profile: a name, 'host' or a .json file"),
                              llvm::cl::init("host")};
  Option<std::string> profileDir{
      *this, "profile-dir", llvm::cl::desc("folder of the profiles (default: beside the program)")};
};

/// Prepared IR --> one function per (layer signature, legal precision) and per conversion between
/// precisions and its size, lowered for IREE; and the index of the functions
/// (`conquer.latency_index` of docs/formats.md). A layer's function computes the layer with its
/// clamp and requantisation, with its own weights: activations of the precision go in and come out.
void buildLatencyPipeline(mlir::OpPassManager &manager, const LatencyPipelineOptions &options);

/// Makes `--conquer-latency-pipeline` known.
void registerLatencyPipeline();

} // namespace conquer

#endif // CONQUER_OPT_PIPELINES_LATENCY_H
