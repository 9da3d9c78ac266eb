//===- ValueForms.h - the values of a network in the forms that its layers read ---------------===//
//
// Every value of the f32 network may exist as f32, bf16, f16 and i8. A form that is asked for and
// not there is made behind the value's producer, so at most once; between two forms other than f32
// by way of f32.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_VALUEFORMS_H
#define CONQUER_OPT_TRANSFORMS_VALUEFORMS_H

#include "conquer-opt/Transforms/QuantizeEmitter.h"
#include "conquer-opt/Transforms/QuantizeInputs.h"
#include "hardware/Precision.h"

#include <array>

namespace conquer {

/// How many conversions a module makes.
struct Conversions {
  int64_t quantize = 0;   ///< f32 -> i8
  int64_t dequantize = 0; ///< i8 -> f32
  int64_t direct = 0;     ///< layers whose i32 accumulators became f32
  int64_t round = 0;      ///< f32 -> bf16 or f16
  int64_t widen = 0;      ///< bf16 or f16 -> f32
};

/// A value as i8.
struct Codes {
  mlir::Value value;
  AffineParams params;
};

/// The forms of the values of one function.
class ValueForms {
public:
  ValueForms(mlir::OpBuilder &builder, ConstantPool &constants, const QuantizeInputs &inputs,
             Conversions &conversions)
      : builder(builder), constants(constants), inputs(inputs), conversions(conversions) {}

  /// Says that `replacement`, of element type f32, bf16, f16 or i8 (then with `params`), stands for
  /// the original value. Its op takes over the original's conquer.id and conquer.precision.
  void define(mlir::Value original, mlir::Value replacement, AffineParams params = {});

  /// The value in f32, bf16 or f16.
  mlir::Value get(mlir::Value original, Precision form);

  /// The value in i8. Fails, with an error at the value, where it has no calibrated range.
  mlir::FailureOr<Codes> getCodes(mlir::Value original);

  /// Scale and zero point of the calibrated range. Fails as getCodes does.
  mlir::FailureOr<AffineParams> getParams(mlir::Value original);

private:
  struct Entry {
    std::array<mlir::Value, numPrecisions> values; ///< by form; null where it does not exist
    AffineParams params;                           ///< of the codes
  };

  Entry &lookup(mlir::Value original);

  mlir::OpBuilder &builder;
  ConstantPool &constants;
  const QuantizeInputs &inputs;
  Conversions &conversions;
  llvm::DenseMap<mlir::Value, Entry> entries;
};

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_VALUEFORMS_H
