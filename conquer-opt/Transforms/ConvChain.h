//===- ConvChain.h - a convolution and its epilogue in TOSA -----------------------------------===//
//
// What `fuse` looks for and `verify-fused` explains. A chain starts at the convolution and follows
// the single use of each result as far as a fused op can express it:
//
//   conv (i32) -> cast (f32) -> mul [, clamp]                                   f32 result
//   conv (i32) -> cast (f32) -> mul -> clamp -> cast (i32) [-> add] -> cast (i8)  i8 result
//   conv (bf16) [-> clamp]                                                      bf16 result
//
// The first two have i8 inputs and i8 or i4 weights.
//
// A crop in front that takes away nothing but rows and columns that no window reaches is part of it
// too.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_CONVCHAIN_H
#define CONQUER_OPT_TRANSFORMS_CONVCHAIN_H

#include "hardware/Precision.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <limits>
#include <optional>
#include <string>

namespace conquer {

struct ConvChain {
  mlir::Operation *last = nullptr; ///< its result is the fused op's result, i8, f32 or bf16
  mlir::Value input, weights;
  mlir::DenseElementsAttr bias;       ///< one per output channel, i32 (bf16: f32)
  mlir::DenseElementsAttr multiplier; ///< one f32 per output channel, finite (bf16: null)
  llvm::SmallVector<int64_t> pad, stride, dilation;
  int32_t inputZp = 0;
  int32_t outputZp = 0, clampMin = -128, clampMax = 127; ///< i8 result: codes
  float clampMinF32 = -std::numeric_limits<float>::max();
  float clampMaxF32 = std::numeric_limits<float>::max(); ///< f32 and bf16 results: values
};

/// The precision of a convolution in TOSA whose kind and types have a fused form: i8, w4a8 or bf16;
/// none for every other op.
std::optional<Precision> fusiblePrecision(mlir::Operation *op);

/// The chain that starts at `conv`, which has a fusiblePrecision. Fails with the reason, a clause
/// such as "the weights are not constant".
mlir::FailureOr<ConvChain> matchConvChain(mlir::Operation *conv, std::string &reason);

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_CONVCHAIN_H
