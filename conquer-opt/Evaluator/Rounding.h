//===- Rounding.h - TOSA's integer scaling ----------------------------------------------------===//
//
// apply_scale_32, apply_scale_16 and reciprocal_scale of the TOSA 1.0 specification.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_ROUNDING_H
#define CONQUER_OPT_EVALUATOR_ROUNDING_H

#include <cstdint>

namespace conquer {

/// value * multiplier / 2^shift rounded half up; with doubleRound first to 31 bits, away from zero.
/// shift is 2..62 and multiplier 0..2^31-1.
inline int64_t applyScale32(int64_t value, int64_t multiplier, int64_t shift, bool doubleRound) {
  int64_t round = int64_t(1) << (shift - 1);
  if (doubleRound && shift > 31)
    round += value >= 0 ? int64_t(1) << 30 : -(int64_t(1) << 30);
  // Unsigned: a value out of TOSA's range must wrap, not be undefined.
  auto product = static_cast<uint64_t>(value) * static_cast<uint64_t>(multiplier);
  return static_cast<int64_t>(product + static_cast<uint64_t>(round)) >> shift;
}

/// The same for values of 48 bits and multipliers of 15.
inline int64_t applyScale16(int64_t value, int64_t multiplier, int64_t shift) {
  return applyScale32(value, multiplier, shift, false);
}

/// multiplier and shift that stand for 1 / count, count >= 1.
struct ReciprocalScale {
  int64_t multiplier, shift;
  explicit ReciprocalScale(uint32_t count) {
    int k = count <= 1 ? 0 : 32 - __builtin_clz(count - 1);
    multiplier = (((int64_t(1) << 30) + 1) << k) / count;
    shift = 30 + k;
  }
};

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_ROUNDING_H
