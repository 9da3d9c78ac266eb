//===- cq_integer.h - what the kernels on i8 and on w4a8 weights share ------------------------===//
//
// The integer kernels are written once, for weights of CQ_WEIGHT_BITS bits: a source defines it as
// 8 or 4 and includes the headers with the code. w4a8 weights lie two in a byte, the first in the
// low half; what they unpack to goes through the same arithmetic, so that all proofs for i8 hold.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_INTEGER_H
#define CONQUER_OPT_KERNELS_CQ_INTEGER_H

#include "conquer-opt/kernels/cq_common.h"

#ifndef CQ_WEIGHT_BITS
#error "define CQ_WEIGHT_BITS as 8 or 4"
#endif

/// The symbol cq_<op>_<type of the weights><suffix>_<level>.
#if CQ_WEIGHT_BITS == 4
#define CQ_INTEGER_SYMBOL(op, suffix) CQ_SYMBOL(cq_##op##_w4a8##suffix)
#else
#define CQ_INTEGER_SYMBOL(op, suffix) CQ_SYMBOL(cq_##op##_i8##suffix)
#endif

/// Two weights of -8..7 in one byte.
CQ_INLINE int8_t cq_two_weights(int low, int high) {
  return (int8_t)(uint8_t)((unsigned)(low & 15) | (unsigned)(high & 15) << 4);
}

/// The signed value of the half of a byte that holds weight `index` of a run that starts at
/// `weights`, and whose weights i and i + half share a byte.
CQ_INLINE int cq_weight_of_two(const int8_t *weights, size_t index, size_t half) {
  return index < half ? (int8_t)((uint8_t)weights[index] << 4) >> 4 : weights[index - half] >> 4;
}

#endif // CONQUER_OPT_KERNELS_CQ_INTEGER_H
