//===- Quantization.h - the arithmetic of scales, codes and multipliers -----------------------===//
//
// Everything that quantisation computes, as pure functions of numbers: no MLIR, no files. The
// numbers are defined in docs/precision-of-other-ops.md; all intermediate arithmetic is f64, every
// number that ends in the IR is rounded once.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_ANALYSIS_QUANTIZATION_H
#define CONQUER_OPT_ANALYSIS_QUANTIZATION_H

#include "support/Error.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace conquer {

/// An i8 activation tensor: real = scale * (code - zeroPoint).
struct AffineParams {
  float scale = 1;       ///< at least 2^-100, finite
  int32_t zeroPoint = 0; ///< -128 to 127
};
inline bool operator==(const AffineParams &a, const AffineParams &b) {
  return a.scale == b.scale && a.zeroPoint == b.zeroPoint;
}

/// Bounds of an i8 code, both included; -128 <= min <= max <= 127.
struct CodeBounds {
  int32_t min = -128, max = 127;
};

/// The parameters whose 256 codes span [min, max]: scale = (max - min) / 255 as f32, real zero has
/// a code of its own. Expects finite min <= 0 <= max. An empty range (a tensor that was always
/// zero) gets scale 1.
AffineParams affineFromRange(double min, double max);

/// The code nearest to a real value, ties to even, saturated. Infinities saturate; NaN is the code
/// of zero.
int32_t toCode(double real, AffineParams params);

/// The codes of a clamp's bounds [low, high], low <= high, infinities allowed.
CodeBounds clampToCodes(double low, double high, AffineParams params);

/// The largest distance of an i8 code from the zero point, 128 to 255.
int32_t largestDistance(int32_t zeroPoint);

/// A convolution's constants in i8.
struct QuantizedLayer {
  std::vector<int8_t> weights; ///< -largestCode to largestCode, in the order of the real weights
  std::vector<float> scales;   ///< of the weights, one per output channel
  std::vector<int32_t> bias;   ///< at scale inputScale * scales[c]
  /// Per channel, the largest |accumulator| that any input can cause, bias included; below 2^31.
  std::vector<int64_t> bound;
};

/// Quantises the weights of one layer symmetrically per output channel to
/// -largestCode..largestCode (127 for i8, 7 for w4a8), and its bias to i32.
///
/// `weights[i]` belongs to output channel (i / inner) % channels: inner is KH*KW*IC for conv2d
/// [OC, KH, KW, IC] and 1 for depthwise [KH, KW, C, M], whose output channels are C*M. `bias` has
/// `channels` values.
///
/// A channel's scale is max|w| / largestCode, made wider where the bias or the accumulator would
/// leave i32 (the bias is never clipped), at least 2^-100. A channel of zeros gets the scale that
/// puts its bias at 2^30, so that it outputs the bias to f32 precision; with no bias, scale 1.
///
/// Error: a weight or a bias is not finite, or a bias is so large that no f32 scale carries it.
Result<QuantizedLayer> quantizeLayer(const std::vector<float> &weights,
                                     const std::vector<float> &bias, size_t channels, size_t inner,
                                     AffineParams input, int32_t largestCode = 127);

/// A multiplier as the IR holds it: rounded to f32, where what would be denormal is 0 (an i32 times
/// it rounds to code 0 anyway) and what would be infinite is the largest f32.
float toMultiplier(double multiplier);

/// TOSA RESCALE, scale32, SINGLE_ROUND: (value * multiplier + 2^(shift-1)) >> shift.
struct Rescale {
  int32_t multiplier = 0; ///< >= 0; in [2^30, 2^31) unless the factor is below 2^-32
  int32_t shift = 2;      ///< 2 to 62
};

/// The RESCALE nearest to `factor` >= 0 for values of at most `bound` in magnitude.
/// Error: TOSA demands |value| < 2^(shift-1), which the factor's shift does not give; the result
/// would span more than 2^30 codes.
Result<Rescale> chooseRescale(double factor, int64_t bound);

/// The residual addition with one f32 requantisation:
///   acc = a * multiplierA + b * multiplierB + constant        (i32, |acc| < 2^24: exact in f32)
///   out = zp + rne(clamp(f32(acc) * multiplier, ...))
struct AddFloat32 {
  int32_t multiplierA = 0, multiplierB = 0; ///< 0 to 2^14, the larger of the two is 2^14
  int32_t constant = 0;                     ///< takes the zero points out
  float multiplier = 0;
};
AddFloat32 chooseAddFloat32(AffineParams a, AffineParams b, AffineParams output);

/// The residual addition in RESCALEs: both operands to a shared i32 scale with 19 fraction bits
/// (zero point 0), i32 addition, back to i8.
struct AddInteger {
  Rescale a, b, output;
};
Result<AddInteger> chooseAddInteger(AffineParams a, AffineParams b, AffineParams output);

} // namespace conquer

#endif // CONQUER_OPT_ANALYSIS_QUANTIZATION_H
