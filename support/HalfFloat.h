//===- HalfFloat.h - bf16 and f16 as bits -----------------------------------------------------===//
//
// The two 16-bit floating-point formats, stored in uint16_t, to and from f32. Conversions to them
// round to nearest, ties to even, as TOSA 1.0 (section 1.10) and IEEE 754 ask; NaN stays NaN.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SUPPORT_HALFFLOAT_H
#define CONQUER_SUPPORT_HALFFLOAT_H

#include <cstdint>
#include <cstring>

namespace conquer {

/// The largest finite f16.
inline constexpr float maxF16 = 65504.0f;

namespace detail {
inline uint32_t bitsOf(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float fromBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
} // namespace detail

/// bf16 is the upper half of an f32.
inline float bf16ToFloat(uint16_t half) { return detail::fromBits(uint32_t(half) << 16); }

/// Beyond the largest finite bf16 the result is infinite.
inline uint16_t floatToBF16(float x) {
  uint32_t bits = detail::bitsOf(x);
  if (x != x)
    return static_cast<uint16_t>((bits >> 16) | 0x40); // quiet, and not turned into infinity
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float f16ToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = (half >> 10) & 31,
           fraction = half & 0x3ff;
  if (exponent == 31) // infinity, NaN
    return detail::fromBits(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) { // zero, subnormal: fraction * 2^-24, exact in f32
    float size = static_cast<float>(fraction) * 0x1p-24f;
    return detail::fromBits(sign | detail::bitsOf(size));
  }
  return detail::fromBits(sign | (exponent + 112) << 23 | fraction << 13);
}

/// From 65520 on, half-way to the next power of two, the result is infinite.
inline uint16_t floatToF16(float x) {
  uint32_t bits = detail::bitsOf(x);
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  uint32_t size = bits & 0x7fffffff;
  if (size > 0x7f800000)
    return sign | 0x7e00; // NaN
  if (size >= 0x477ff000)
    return sign | 0x7c00; // infinity
  if (size < 0x38800000) {
    // Below the smallest normal f16, 2^-14: adding 0.5 leaves 24 bits, of which the last is 2^-24.
    float shifted = detail::fromBits(size) + 0.5f;
    return static_cast<uint16_t>(sign | (detail::bitsOf(shifted) - 0x3f000000));
  }
  uint32_t rounded = size + 0xfff + ((size >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

} // namespace conquer

#endif // CONQUER_SUPPORT_HALFFLOAT_H
