//===- cq_conv2d_integer_avx512vnni.h - convolution of i8 values with vpdpbusd ----------------===//
//
// The steps of cq_conv2d_words_avx512.h for weights of CQ_WEIGHT_BITS bits.
//
// Signedness. vpdpbusd multiplies unsigned by signed bytes: acc += sum of 4 products u * w, exact
// in i32, without saturation. The input x is signed, so the kernel uses u = x XOR 0x80 = x + 128,
// which is in 0..255. Then
//   sum (x - zp) * w = sum u * w - (128 + zp) * sum w,
// and the last term depends on the weights alone: pack subtracts it from the bias. Padding is the
// byte zp, for which (x - zp) * w = 0, so that every window sums all its taps and the term is the
// same for all pixels. Sums may wrap on the way: i32 addition is exact modulo 2^32, and the true
// result fits.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_CONV2D_INTEGER_AVX512VNNI_H
#define CONQUER_OPT_KERNELS_CQ_CONV2D_INTEGER_AVX512VNNI_H

#include "conquer-opt/kernels/cq_integer_avx512.h"

typedef __m512i cq_acc;
typedef int32_t cq_bias;

#define CQ_VALUE_BYTES 1
#define CQ_READS_BEYOND 1
#if CQ_WEIGHT_BITS == 4
// A piece has at most 64 taps, and sums of a piece must be exact.
#define CQ_CHUNK_BYTES 1024
#define CQ_PIECE_BYTES CQ_EXACT_PRODUCTS
#else
#define CQ_CHUNK_BYTES 8192
#define CQ_PIECE_BYTES SIZE_MAX
#endif

// Hides that x80 is a splat: else the compiler does XOR before the broadcast, which then is a
// shuffle instead of a load.
#define CQ_DOT_CONSTANTS                                                                           \
  __m512i x80 = _mm512_set1_epi32((int32_t)0x80808080);                                            \
  __asm__("" : "+v"(x80))

#define CQ_DOT_STEP(load_word)                                                                     \
  do {                                                                                             \
    __m512i b[CQ_TILE_VECTORS];                                                                    \
    cq_load_weights(w, vectors, b);                                                                \
    w += packed_size(64 * (size_t)vectors);                                                        \
    _Pragma("clang loop unroll(full)") for (int r = 0; r < rows; ++r) {                            \
      const __m512i a = _mm512_xor_si512(_mm512_set1_epi32(load_word), x80);                       \
      _Pragma("clang loop unroll(full)") for (int j = 0; j < vectors; ++j) acc[r][j] =             \
          _mm512_dpbusd_epi32(acc[r][j], a, b[j]);                                                 \
    }                                                                                              \
  } while (0)

#include "conquer-opt/kernels/cq_conv2d_words_avx512.h"

/// What the sums of row r are before the piece, in a tile of i8 weights.
CQ_INLINE __m512i sum_before(const tile_job *job, int r, int j) {
  if (!job->first)
    return job->partial[r][j];
  return _mm512_maskz_loadu_epi32(cq_vector_mask(job->channel_mask, j), job->bias + 16 * j);
}

CQ_INLINE void begin_row(const tile_job *job, int r, cq_acc *acc, int vectors) {
  for (int j = 0; j < vectors; ++j)
    acc[j] = CQ_WEIGHT_BITS == 4 ? _mm512_setzero_si512() : sum_before(job, r, j);
}

/// Stores one row of 16 * vectors results as f32.
CQ_INLINE void store_f32(const tile_job *job, const __m512i *acc, float *output, int vectors) {
  for (int j = 0; j < vectors; ++j) {
    const __mmask16 mask = cq_vector_mask(job->channel_mask, j);
    cq_store_f32(output + 16 * j, mask, acc[j],
                 _mm512_maskz_loadu_ps(mask, job->multiplier + 16 * j), job->params);
  }
}

/// Stores one row of 16 * vectors results as i8.
CQ_INLINE void store_i8(const tile_job *job, const __m512i *acc, int8_t *output, int vectors) {
  __m512i value[CQ_TILE_VECTORS] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                                    _mm512_setzero_si512(), _mm512_setzero_si512()};
  for (int j = 0; j < vectors; ++j)
    value[j] = cq_scale_round(
        acc[j],
        _mm512_maskz_loadu_ps(cq_vector_mask(job->channel_mask, j), job->multiplier + 16 * j),
        job->params);
  // The packs work within lanes: word 4 * i + j belongs at 4 * j + i.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  cq_store_bytes(output, job->channel_mask,
                 _mm512_permutexvar_epi32(order, cq_pack_i8(value, job->params)));
}

CQ_INLINE void finish_row(tile_job *job, int r, cq_acc *acc, void *output, int vectors) {
  if (CQ_WEIGHT_BITS == 4)
    for (int j = 0; j < vectors; ++j)
      acc[j] = _mm512_add_epi32(cq_unscale_sums(acc[j]), sum_before(job, r, j));
  if (!job->last)
    for (int j = 0; j < vectors; ++j)
      job->partial[r][j] = acc[j];
  else if (job->output_bytes == 1)
    store_i8(job, acc, output, vectors);
  else
    store_f32(job, acc, output, vectors);
}

size_t CQ_INTEGER_SYMBOL(conv2d, _size)(const cq_conv2d_params *p) {
  return cq_vector_count(p) * 16 * packed_filter_size(p);
}

void CQ_INTEGER_SYMBOL(conv2d, _pack)(const int8_t *weights, const int32_t *bias,
                                      const cq_conv2d_params *p, int8_t *packed_weights,
                                      int32_t *packed_bias) {
  const size_t filter_size = tap_count(p) * tap_size(p);
  pack_words(weights, p, packed_weights);
  for (size_t c = 0; c < (size_t)p->out_c; ++c) {
    uint32_t sum = 0;
    for (size_t k = 0; k < filter_size; ++k)
      sum += (uint32_t)weights[c * filter_size + k];
    packed_bias[c] = (int32_t)((uint32_t)bias[c] - (uint32_t)(128 + p->input_zp) * sum);
  }
}

void CQ_INTEGER_SYMBOL(conv2d, _i8)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                    const float *multiplier, const cq_conv2d_params *p,
                                    int8_t *output, size_t workgroup, size_t workgroup_count) {
  conv2d((const char *)input, weights, bias, multiplier, p, p->input_zp, (char *)output, 1,
         workgroup, workgroup_count);
}

void CQ_INTEGER_SYMBOL(conv2d, _f32)(const int8_t *input, const int8_t *weights,
                                     const int32_t *bias, const float *multiplier,
                                     const cq_conv2d_params *p, float *output, size_t workgroup,
                                     size_t workgroup_count) {
  conv2d((const char *)input, weights, bias, multiplier, p, p->input_zp, (char *)output,
         sizeof(float), workgroup, workgroup_count);
}

#endif // CONQUER_OPT_KERNELS_CQ_CONV2D_INTEGER_AVX512VNNI_H
