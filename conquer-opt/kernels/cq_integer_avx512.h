//===- cq_integer_avx512.h - packed weights of 8 or 4 bits for vpdpbusd -----------------------===//
//
// vpdpbusd wants 64 signed bytes, here called a vector. Weights are packed by steps: what 1 to 4
// vectors of one step multiply lies together. i8: vector after vector. w4a8: two vectors share 64
// bytes, the first in the low halves; a last one without partner takes 32 bytes, its first 32
// weights in the low halves. A shift and a mask unpack them to the high halves of bytes, i.e. to 16
// times their value (-128..112). So the sums are 16 times too large, until cq_unscale_sums shifts
// them back: exact as long as 16 * |sum| < 2^31. With |weight| <= 8 and unsigned inputs of at most
// 255 that holds for CQ_EXACT_PRODUCTS products: 16 * 65536 * 255 * 8 < 2^31.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_INTEGER_AVX512_H
#define CONQUER_OPT_KERNELS_CQ_INTEGER_AVX512_H

#include "conquer-opt/kernels/cq_integer.h"

#include <immintrin.h>

enum { CQ_EXACT_PRODUCTS = 65536 };

/// Writes byte i of vector j of a step; the vectors, and their bytes, come in order.
CQ_INLINE void cq_put_weight(int8_t *step, size_t vectors, size_t j, size_t i, int8_t weight) {
#if CQ_WEIGHT_BITS == 4
  const int is_alone = j + 1 == vectors && j % 2 == 0;
  const size_t half = is_alone ? i / 32 : j % 2;
  int8_t *byte = step + j / 2 * 64 + (is_alone ? i % 32 : i);
  *byte = half ? cq_two_weights(*byte, weight) : cq_two_weights(weight, 0);
#else
  (void)vectors;
  step[64 * j + i] = weight;
#endif
}

/// The vectors of a step, 1 to 4; w4a8: times 16.
CQ_INLINE void cq_load_weights(const int8_t *step, int vectors, __m512i *b) {
#if CQ_WEIGHT_BITS == 4
  const __m512i upper = _mm512_set1_epi8((char)0xf0);
  for (int j = 0; j + 1 < vectors; j += 2) {
    const __m512i both = _mm512_loadu_si512(step + 32 * j);
    b[j] = _mm512_and_si512(_mm512_slli_epi32(both, 4), upper);
    b[j + 1] = _mm512_and_si512(both, upper);
  }
  if (vectors % 2) {
    const void *last = step + (ptrdiff_t)(32 * (vectors - 1));
    const __m512i both = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)last));
    const __m512i shift = _mm512_setr_epi64(4, 4, 4, 4, 0, 0, 0, 0);
    b[vectors - 1] = _mm512_and_si512(_mm512_sllv_epi64(both, shift), upper);
  }
#else
  for (int j = 0; j < vectors; ++j)
    b[j] = _mm512_loadu_si512(step + 64 * j);
#endif
}

/// 16 sums of products with weights from cq_load_weights that started at 0: w4a8 only, where sums
/// cannot start at the bias.
CQ_INLINE __m512i cq_unscale_sums(__m512i acc) { return _mm512_srai_epi32(acc, 4); }

#endif // CONQUER_OPT_KERNELS_CQ_INTEGER_AVX512_H
