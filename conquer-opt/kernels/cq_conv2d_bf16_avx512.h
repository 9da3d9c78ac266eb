//===- cq_conv2d_bf16_avx512.h - bf16 convolution, AVX-512 ------------------------------------===//
//
// The steps of cq_conv2d_words_avx512.h for bf16: a word is a pair of input channels. Where the CPU
// has vdpbf16ps (CQ_HAVE_DOT_BF16) that is one instruction for 32 products; it sums the odd, then
// the even products, and takes denormals as 0. Elsewhere each half of a word becomes an f32 and
// goes through FMA, in the order ky, kx, ic (for up to 2048 input channels): the products are
// exact, so that the sums are those of the portable kernel.
//
// A word never ends in the values of another pixel: zero weights would not silence a NaN there.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_CONV2D_BF16_AVX512_H
#define CONQUER_OPT_KERNELS_CQ_CONV2D_BF16_AVX512_H

#include "conquer-opt/kernels/cq_common.h"

#include <immintrin.h>

typedef __m512 cq_acc;
typedef float cq_bias;

#define CQ_VALUE_BYTES 2
#define CQ_WEIGHT_BITS 8
#define CQ_READS_BEYOND 0
#define CQ_CHUNK_BYTES 4096
#define CQ_PIECE_BYTES SIZE_MAX

/// A step's weights are packed vector after vector.
CQ_INLINE void cq_put_weight(int8_t *step, size_t vectors, size_t j, size_t i, int8_t byte) {
  (void)vectors;
  step[64 * j + i] = byte;
}

#ifdef CQ_HAVE_DOT_BF16
#define CQ_DOT_CONSTANTS (void)0
#define CQ_DOT_STEP(load_word)                                                                     \
  do {                                                                                             \
    __m512bh b[CQ_TILE_VECTORS];                                                                   \
    for (int j = 0; j < vectors; ++j)                                                              \
      b[j] = (__m512bh)_mm512_loadu_si512(w + 64 * j);                                             \
    w += 64 * vectors;                                                                             \
    _Pragma("clang loop unroll(full)") for (int r = 0; r < rows; ++r) {                            \
      const __m512bh a = (__m512bh)_mm512_set1_epi32(load_word);                                   \
      _Pragma("clang loop unroll(full)") for (int j = 0; j < vectors; ++j) acc[r][j] =             \
          _mm512_dpbf16_ps(acc[r][j], a, b[j]);                                                    \
    }                                                                                              \
  } while (0)
#else
/// The first value of each pair as f32.
CQ_INLINE __m512 even_values(__m512i pairs) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
}
/// The second one, with a mask of the upper halves.
CQ_INLINE __m512 odd_values(__m512i pairs, __m512i upper) {
  return _mm512_castsi512_ps(_mm512_and_si512(pairs, upper));
}

#define CQ_HALF_STEP(load_word, half)                                                              \
  do {                                                                                             \
    __m512 b[CQ_TILE_VECTORS];                                                                     \
    for (int j = 0; j < vectors; ++j)                                                              \
      b[j] = half(_mm512_loadu_si512(w + 64 * j));                                                 \
    _Pragma("clang loop unroll(full)") for (int r = 0; r < rows; ++r) {                            \
      const __m512 a = half(_mm512_set1_epi32(load_word));                                         \
      _Pragma("clang loop unroll(full)") for (int j = 0; j < vectors; ++j) acc[r][j] =             \
          _mm512_fmadd_ps(a, b[j], acc[r][j]);                                                     \
    }                                                                                              \
  } while (0)
#define CQ_EVEN(pairs) even_values(pairs)
#define CQ_ODD(pairs) odd_values(pairs, upper)

// Hides that `upper` is a splat, as in cq_conv2d_integer_avx512vnni.h.
#define CQ_DOT_CONSTANTS                                                                           \
  __m512i upper = _mm512_set1_epi32((int32_t)0xffff0000);                                          \
  __asm__("" : "+v"(upper))
#define CQ_DOT_STEP(load_word)                                                                     \
  do {                                                                                             \
    CQ_HALF_STEP(load_word, CQ_EVEN);                                                              \
    /* Both halves load for themselves: no registers are left to keep the words. */                \
    __asm__ volatile("" ::: "memory");                                                             \
    CQ_HALF_STEP(load_word, CQ_ODD);                                                               \
    w += 64 * vectors;                                                                             \
  } while (0)
#endif

#include "conquer-opt/kernels/cq_conv2d_words_avx512.h"

CQ_INLINE void begin_row(const tile_job *job, int r, cq_acc *acc, int vectors) {
  for (int j = 0; j < vectors; ++j)
    acc[j] = job->first ? _mm512_setzero_ps() : job->partial[r][j];
}

/// cq_f32_to_bf16 of 16 values, in the lower halves.
CQ_INLINE __m512i round_to_bf16(__m512 value) {
  const __m512i bits = _mm512_castps_si512(value), upper = _mm512_srli_epi32(bits, 16);
  const __m512i half =
      _mm512_add_epi32(_mm512_and_si512(upper, _mm512_set1_epi32(1)), _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
  const __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(rounded, is_nan, upper, _mm512_set1_epi32(0x40));
}

/// max and min give their second operand if one is a NaN, so that a NaN passes.
CQ_INLINE void finish_row(tile_job *job, int r, cq_acc *acc, void *output, int vectors) {
  const __m512 low = _mm512_set1_ps(job->params->clamp_min_f32);
  const __m512 high = _mm512_set1_ps(job->params->clamp_max_f32);
  for (int j = 0; j < vectors; ++j) {
    if (!job->last) {
      job->partial[r][j] = acc[j];
      continue;
    }
    const __mmask16 mask = cq_vector_mask(job->channel_mask, j);
    const __m512 sum = _mm512_add_ps(acc[j], _mm512_maskz_loadu_ps(mask, job->bias + 16 * j));
    const __m512 value = _mm512_min_ps(high, _mm512_max_ps(low, sum));
    _mm512_mask_cvtepi32_storeu_epi16((uint16_t *)output + 16 * j, mask, round_to_bf16(value));
  }
}

size_t CQ_SYMBOL(cq_conv2d_bf16_size)(const cq_conv2d_params *p) {
  return cq_vector_count(p) * 16 * packed_filter_size(p) / CQ_VALUE_BYTES;
}

void CQ_SYMBOL(cq_conv2d_bf16_pack)(const uint16_t *weights, const cq_conv2d_params *p,
                                    uint16_t *packed_weights) {
  pack_words((const int8_t *)weights, p, (int8_t *)packed_weights);
}

void CQ_SYMBOL(cq_conv2d_bf16)(const uint16_t *input, const uint16_t *weights, const float *bias,
                               const cq_conv2d_params *p, uint16_t *output, size_t workgroup,
                               size_t workgroup_count) {
  conv2d((const char *)input, (const int8_t *)weights, bias, NULL, p, 0, (char *)output,
         CQ_VALUE_BYTES, workgroup, workgroup_count);
}

#endif // CONQUER_OPT_KERNELS_CQ_CONV2D_BF16_AVX512_H
