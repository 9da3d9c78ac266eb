//===- Quantizer.h - the rewriting of one function by precision -------------------------------===//
//
// One walk in execution order. Quantize.cpp has the walk and the float precisions,
// QuantizeInteger.cpp the integer ones.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_QUANTIZER_H
#define CONQUER_OPT_TRANSFORMS_QUANTIZER_H

#include "conquer-opt/Transforms/ValueForms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace conquer {

/// Rewrites one function of prepared IR whose ops have their conquer.precision.
class Quantizer {
public:
  Quantizer(mlir::func::FuncOp function, const QuantizeInputs &inputs, Conversions &conversions)
      : function(function), inputs(inputs), conversions(conversions), builder(function),
        forms(builder, constants, inputs, conversions) {}

  /// Fails with an error at the op that cannot be written.
  mlir::LogicalResult run();

private:
  mlir::LogicalResult rewrite(mlir::Operation *op);
  void keepInF32(mlir::Operation *op);
  mlir::LogicalResult rewriteHalf(mlir::Operation *op, Precision form);

  mlir::LogicalResult rewriteInteger(mlir::Operation *op);
  mlir::LogicalResult rewriteLayer(mlir::Operation *op);
  mlir::LogicalResult rewriteAdd(mlir::tosa::AddOp op);
  mlir::LogicalResult rewriteConcat(mlir::tosa::ConcatOp op);
  mlir::LogicalResult rewritePassThrough(mlir::Operation *op);
  mlir::Value emitAddFloat32(mlir::tosa::AddOp op, const Codes &a, const Codes &b,
                             AffineParams output);
  mlir::FailureOr<mlir::Value> emitAddInteger(mlir::tosa::AddOp op, const Codes &a, const Codes &b,
                                              AffineParams output);
  mlir::Value emitConvolution(mlir::Operation *op, const Codes &input, const QuantizedLayer &layer);
  mlir::FailureOr<mlir::Value> layerToCodes(mlir::Operation *op, mlir::Value accumulator,
                                            const QuantizedLayer &layer, AffineParams input,
                                            AffineParams output);
  mlir::Value layerToReal(mlir::Operation *op, mlir::Value accumulator, const QuantizedLayer &layer,
                          AffineParams input);
  QuantizeEmitter emitterAt(mlir::Operation *op) { return {builder, op->getLoc(), constants}; }

  mlir::func::FuncOp function;
  const QuantizeInputs &inputs;
  Conversions &conversions;
  mlir::OpBuilder builder;
  ConstantPool constants;
  ValueForms forms;
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_QUANTIZER_H
