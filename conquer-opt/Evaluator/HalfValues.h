//===- HalfValues.h - bf16 and f16 arrays to and from f32
//---------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_HALFVALUES_H
#define CONQUER_OPT_EVALUATOR_HALFVALUES_H

#include "conquer-opt/Evaluator/Graph.h"
#include "support/HalfFloat.h"

#include <algorithm>

namespace conquer {

inline bool isHalf(ElementType type) {
  return type == ElementType::BF16 || type == ElementType::F16;
}

/// `count` elements of the half type `type` at `from` as f32 at `to`; exact.
inline void widenHalves(ElementType type, const void *from, void *to, int64_t count) {
  const auto *in = static_cast<const uint16_t *>(from);
  std::transform(in, in + count, static_cast<float *>(to),
                 type == ElementType::BF16 ? bf16ToFloat : f16ToFloat);
}

/// `count` f32 elements at `from` rounded to the half type `type` at `to`.
inline void roundToHalves(ElementType type, const void *from, void *to, int64_t count) {
  const auto *in = static_cast<const float *>(from);
  std::transform(in, in + count, static_cast<uint16_t *>(to),
                 type == ElementType::BF16 ? floatToBF16 : floatToF16);
}

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_HALFVALUES_H
