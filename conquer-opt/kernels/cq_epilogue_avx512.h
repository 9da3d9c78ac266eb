//===- cq_epilogue_avx512.h - from i32 sums to i8 or f32 outputs, AVX-512 ---------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_EPILOGUE_AVX512_H
#define CONQUER_OPT_KERNELS_CQ_EPILOGUE_AVX512_H

#include "conquer-opt/kernels/cq_common.h"

#include <immintrin.h>

/// Of 0..64 channels, a mask with as many low bits.
CQ_INLINE uint64_t cq_channel_mask(size_t channels) { return _bzhi_u64(~0ull, (unsigned)channels); }

/// The part of a mask of 64 channels that concerns vector j of 16.
CQ_INLINE __mmask16 cq_vector_mask(uint64_t channel_mask, int j) {
  return (__mmask16)(channel_mask >> (16 * j));
}

/// Scales 16 sums and rounds them, clamped only above. A conversion turns 2^31 and more into
/// INT_MIN, hence the clamp before it; a value below -2^31 becomes INT_MIN, too, as it should.
CQ_INLINE __m512i cq_scale_round(__m512i acc, __m512 multiplier, const cq_conv2d_params *p) {
  const __m512 high = _mm512_set1_ps((float)(p->clamp_max - p->output_zp));
  const __m512 value = _mm512_min_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(acc), multiplier), high);
  return _mm512_cvt_roundps_epi32(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/// Adds the zero point to 64 results of cq_scale_round, clamps below, and packs them to bytes,
/// within lanes of 128 bits: word 4 * i + j of the result holds words 4 * i to 4 * i + 3 of
/// value[j].
///
/// Rounding is monotone and leaves the integer bounds alone, so that clamping below after it gives
/// the same: the saturating packs keep -32768, then -128, for everything too small, and the
/// byte-wise maximum does the rest. Nothing else saturates: the values are at most 127 - zp.
CQ_INLINE __m512i cq_pack_i8(const __m512i value[4], const cq_conv2d_params *p) {
  const __m512i zp = _mm512_set1_epi16((int16_t)p->output_zp);
  const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(value[0], value[1]), zp);
  const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(value[2], value[3]), zp);
  return _mm512_max_epi8(_mm512_packs_epi16(low, high), _mm512_set1_epi8((int8_t)p->clamp_min));
}

CQ_INLINE void cq_store_bytes(int8_t *output, uint64_t channel_mask, __m512i bytes) {
  if (channel_mask == ~0ull)
    _mm512_storeu_si512(output, bytes);
  else
    _mm512_mask_storeu_epi8(output, channel_mask, bytes);
}

/// Scales, clamps and stores 16 sums as f32.
CQ_INLINE void cq_store_f32(float *output, __mmask16 mask, __m512i acc, __m512 multiplier,
                            const cq_conv2d_params *p) {
  const __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), multiplier);
  _mm512_mask_storeu_ps(output, mask,
                        _mm512_min_ps(_mm512_max_ps(value, _mm512_set1_ps(p->clamp_min_f32)),
                                      _mm512_set1_ps(p->clamp_max_f32)));
}

#endif // CONQUER_OPT_KERNELS_CQ_EPILOGUE_AVX512_H
