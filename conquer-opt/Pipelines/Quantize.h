//===- Quantize.h - the quantize pipeline: f32 TOSA to mixed-precision TOSA -------------------===//
#ifndef CONQUER_OPT_PIPELINES_QUANTIZE_H
#define CONQUER_OPT_PIPELINES_QUANTIZE_H

#include "conquer-opt/Transforms/QuantizeInputs.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace conquer {

/// Adds the stage: assign precisions, rewrite, drop what is dead, check the contract, validate
/// against TOSA 1.0. Expects prepared IR in a ModuleOp.
void buildQuantizePipeline(mlir::OpPassManager &manager, const SharedQuantizeInputs &inputs);

/// Quantises prepared IR in place with inputs in memory: the pipeline without the validation
/// against TOSA 1.0, which takes as long as all the rest and says the same for every policy of a
/// network. On failure the reason has been emitted as a diagnostic and the module is unusable.
mlir::LogicalResult quantize(mlir::ModuleOp module, const Policy &policy,
                             const Calibration &calibration, const Profile &profile);

/// Registers --conquer-quantize-pipeline="calibration= policy= profile= profile-dir=".
void registerQuantizePipeline();

} // namespace conquer

#endif // CONQUER_OPT_PIPELINES_QUANTIZE_H
