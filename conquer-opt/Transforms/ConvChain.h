//===- ConvChain.h - an i8 convolution and its epilogue in TOSA -------------------------------===//
//
// What `fuse` looks for and `verify-fused` explains. A chain starts at the convolution and follows
// the single use of each result as far as a fused op can express it:
//
//   conv (i32) -> cast (f32) -> mul [, clamp]                                   f32 result
//   conv (i32) -> cast (f32) -> mul -> clamp -> cast (i32) [-> add] -> cast (i8)  i8 result
//
// A crop in front that takes away nothing but rows and columns that no window reaches is part of it
// too.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_CONVCHAIN_H
#define CONQUER_OPT_TRANSFORMS_CONVCHAIN_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <limits>
#include <string>

namespace conquer {

struct ConvChain {
  mlir::Operation *last = nullptr; ///< its result is the fused op's result, f32 or i8
  mlir::Value input, weights;
  llvm::SmallVector<int32_t> bias;     ///< one per output channel
  llvm::SmallVector<float> multiplier; ///< one per output channel, finite
  llvm::SmallVector<int64_t> pad, stride, dilation;
  int32_t inputZp = 0;
  int32_t outputZp = 0, clampMin = -128, clampMax = 127; ///< i8 result: codes
  float clampMinF32 = -std::numeric_limits<float>::max();
  float clampMaxF32 = std::numeric_limits<float>::max(); ///< f32 result: values
};

/// Whether the op is an i8 convolution of a kind that has a fused form.
bool isFusibleConv(mlir::Operation *op);

/// The chain that starts at `conv`, for which isFusibleConv holds. Fails with the reason, a clause
/// such as "the weights are not constant".
mlir::FailureOr<ConvChain> matchConvChain(mlir::Operation *conv, std::string &reason);

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_CONVCHAIN_H
