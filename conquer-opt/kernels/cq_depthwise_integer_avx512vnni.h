//===- cq_depthwise_integer_avx512vnni.h - depthwise convolution of i8 values with vpdpbusd ---===//
//
// For weights of CQ_WEIGHT_BITS bits. 64 channels at once, four taps per vpdpbusd: the bytes of
// four taps are interleaved, so that each i32 lane sums four products of one channel. Interleaving
// within lanes of 128 bits leaves channels 16 * i + 4 * j to 16 * i + 4 * j + 3 in lane i of vector
// j ("lane order"); the packs of the epilogue put them back. Weights are packed in that order,
//   [channels / 64][taps / 4][j: 4][i: 4][channel: 4][tap: 4],
// with zeros beyond the last tap and channel. The signedness trick is the one proved in
// cq_conv2d_integer_avx512vnni.h. Layers with out_c != in_c or more than 128 taps take the plain
// code.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_DEPTHWISE_INTEGER_AVX512VNNI_H
#define CONQUER_OPT_KERNELS_CQ_DEPTHWISE_INTEGER_AVX512VNNI_H

#include "conquer-opt/kernels/cq_depthwise_integer.h"
#include "conquer-opt/kernels/cq_epilogue_avx512.h"
#include "conquer-opt/kernels/cq_integer_avx512.h"

enum { BLOCK = 64, MAX_TAPS = 128 };

static size_t tap_count(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (size_t)p->kernel_w;
}

static int is_plain(const cq_conv2d_params *p) {
  return p->in_c != p->out_c || tap_count(p) > MAX_TAPS;
}

/// Bytes of packed weights of so many taps of a block.
static size_t packed_block_size(size_t taps) { return taps * BLOCK * CQ_WEIGHT_BITS / 8; }

size_t CQ_INTEGER_SYMBOL(depthwise, _size)(const cq_conv2d_params *p) {
  if (is_plain(p))
    return cq_depthwise_plain_size(p);
  return cq_round_up((size_t)p->out_c, BLOCK) / BLOCK *
         packed_block_size(cq_round_up(tap_count(p), 4));
}

void CQ_INTEGER_SYMBOL(depthwise, _pack)(const int8_t *weights, const int32_t *bias,
                                         const cq_conv2d_params *p, int8_t *packed_weights,
                                         int32_t *packed_bias) {
  if (is_plain(p)) {
    cq_depthwise_plain_pack(weights, bias, p, packed_weights, packed_bias);
    return;
  }
  const size_t channels = (size_t)p->out_c, taps = tap_count(p);
  for (size_t block = 0; block < channels; block += BLOCK)
    for (size_t group = 0; group < taps; group += 4, packed_weights += packed_block_size(4))
      for (size_t i = 0; i < BLOCK * 4; ++i) {
        const size_t c = block + i / 64 * 4 + i / 16 % 4 * 16 + i / 4 % 4, t = group + i % 4;
        cq_put_weight(packed_weights, 4, i / 64, i % 64,
                      c < channels && t < taps ? weights[t * channels + c] : 0);
      }
  for (size_t c = 0; c < channels; ++c) {
    uint32_t sum = 0;
    for (size_t t = 0; t < taps; ++t)
      sum += (uint32_t)weights[t * channels + c];
    packed_bias[c] = (int32_t)((uint32_t)bias[c] - (uint32_t)(128 + p->input_zp) * sum);
  }
}

/// One row of outputs of one block of channels. Tap t of output column ox is read at
/// base[t] + ox * step[t]; a tap in the padding above or below has step 0 and points to zero
/// points.
typedef struct row_job {
  const cq_conv2d_params *params;
  const int8_t *weights;
  uint64_t channel_mask;
  __m512i bias[4];      ///< in lane order
  __m512 multiplier[4]; ///< in lane order for i8 outputs, else in order
  size_t taps;          ///< a multiple of 4
  const int8_t *base[MAX_TAPS];
  ptrdiff_t step[MAX_TAPS];
  _Alignas(64) int8_t padding[BLOCK];
} row_job;

/// Lane i of vector j becomes lane j of vector i: from channel order to lane order and back.
CQ_INLINE void transpose_lanes(__m512i v[4]) {
  const __m512i a = _mm512_shuffle_i32x4(v[0], v[1], 0x44);
  const __m512i b = _mm512_shuffle_i32x4(v[0], v[1], 0xee);
  const __m512i c = _mm512_shuffle_i32x4(v[2], v[3], 0x44);
  const __m512i d = _mm512_shuffle_i32x4(v[2], v[3], 0xee);
  v[0] = _mm512_shuffle_i32x4(a, c, 0x88);
  v[1] = _mm512_shuffle_i32x4(a, c, 0xdd);
  v[2] = _mm512_shuffle_i32x4(b, d, 0x88);
  v[3] = _mm512_shuffle_i32x4(b, d, 0xdd);
}

/// Adds taps whose 64 channels lie at tap[0..3], four products per sum.
CQ_INLINE void add_taps(const int8_t *const tap[4], const int8_t *weights, __mmask64 mask,
                        __m512i acc[4]) {
  const __m512i x80 = _mm512_set1_epi8((char)0x80);
  __m512i x[4];
  for (int i = 0; i < 4; ++i)
    x[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, tap[i]), x80);
  const __m512i low01 = _mm512_unpacklo_epi8(x[0], x[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(x[2], x[3]);
  const __m512i high01 = _mm512_unpackhi_epi8(x[0], x[1]);
  const __m512i high23 = _mm512_unpackhi_epi8(x[2], x[3]);
  const __m512i u[4] = {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                        _mm512_unpacklo_epi16(high01, high23),
                        _mm512_unpackhi_epi16(high01, high23)};
  __m512i b[4];
  cq_load_weights(weights, 4, b);
  for (int j = 0; j < 4; ++j)
    acc[j] = _mm512_dpbusd_epi32(acc[j], u[j], b[j]);
}

CQ_INLINE void begin_sums(const row_job *job, __m512i acc[4]) {
  for (int j = 0; j < 4; ++j)
    acc[j] = CQ_WEIGHT_BITS == 4 ? _mm512_setzero_si512() : job->bias[j];
}

CQ_INLINE void finish_sums(const row_job *job, __m512i acc[4]) {
  if (CQ_WEIGHT_BITS == 4)
    for (int j = 0; j < 4; ++j)
      acc[j] = _mm512_add_epi32(cq_unscale_sums(acc[j]), job->bias[j]);
}

CQ_INLINE void store(const row_job *job, __m512i acc[4], int8_t *output_i8, float *output_f32) {
  finish_sums(job, acc);
  if (output_i8) {
    __m512i value[4];
    for (int j = 0; j < 4; ++j)
      value[j] = cq_scale_round(acc[j], job->multiplier[j], job->params);
    cq_store_bytes(output_i8, job->channel_mask, cq_pack_i8(value, job->params));
    return;
  }
  transpose_lanes(acc);
  for (int j = 0; j < 4; ++j)
    cq_store_f32(output_f32 + 16 * j, cq_vector_mask(job->channel_mask, j), acc[j],
                 job->multiplier[j], job->params);
}

/// Output columns [begin, end), none of which has a tap left or right of the image. A full mask is
/// a constant where this is inlined, which makes the loads plain.
CQ_INLINE void inner_columns(const row_job *job, ptrdiff_t begin, ptrdiff_t end, __mmask64 mask,
                             int8_t *output_i8, float *output_f32) {
  for (ptrdiff_t ox = begin; ox < end; ++ox) {
    __m512i acc[4];
    begin_sums(job, acc);
    for (size_t t = 0; t < job->taps; t += 4) {
      const int8_t *tap[4];
      for (size_t i = 0; i < 4; ++i)
        tap[i] = job->base[t + i] + ox * job->step[t + i];
      add_taps(tap, job->weights + packed_block_size(t), mask, acc);
    }
    const ptrdiff_t at = ox * job->params->out_c;
    store(job, acc, output_i8 ? output_i8 + at : NULL, output_f32 ? output_f32 + at : NULL);
  }
}

/// Output column ox, where some taps lie left or right of the image.
CQ_INLINE void border_column(const row_job *job, ptrdiff_t ox, int8_t *output_i8,
                             float *output_f32) {
  const cq_conv2d_params *p = job->params;
  __m512i acc[4];
  begin_sums(job, acc);
  ptrdiff_t kx = 0;
  for (size_t t = 0; t < job->taps; t += 4) {
    const int8_t *tap[4];
    for (size_t i = 0; i < 4; ++i) {
      const ptrdiff_t x = ox * p->stride_w - p->pad_left + kx * p->dilation_w;
      const int inside = job->step[t + i] != 0 && x >= 0 && x < p->in_w;
      tap[i] = inside ? job->base[t + i] + ox * job->step[t + i] : job->padding;
      kx = kx + 1 == p->kernel_w ? 0 : kx + 1;
    }
    add_taps(tap, job->weights + packed_block_size(t), job->channel_mask, acc);
  }
  const ptrdiff_t at = ox * p->out_c;
  store(job, acc, output_i8 ? output_i8 + at : NULL, output_f32 ? output_f32 + at : NULL);
}

/// Points the taps of the job at output row `row` of the batch, channel c0.
static void set_row(row_job *job, const int8_t *input, size_t row, size_t c0) {
  const cq_conv2d_params *p = job->params;
  const ptrdiff_t image = (ptrdiff_t)row / p->out_h, oy = (ptrdiff_t)row % p->out_h;
  for (size_t t = 0; t < job->taps; ++t) {
    const ptrdiff_t ky = (ptrdiff_t)t / p->kernel_w, kx = (ptrdiff_t)t % p->kernel_w;
    const ptrdiff_t y = oy * p->stride_h - p->pad_top + ky * p->dilation_h;
    const int inside = ky < p->kernel_h && y >= 0 && y < p->in_h;
    const ptrdiff_t x = kx * p->dilation_w - p->pad_left;
    job->base[t] = inside ? input + ((image * p->in_h + y) * p->in_w + x) * p->in_c + (ptrdiff_t)c0
                          : job->padding;
    job->step[t] = inside ? (ptrdiff_t)p->stride_w * p->in_c : 0;
  }
}

static void set_block(row_job *job, size_t c0, const int8_t *weights, const int32_t *bias,
                      const float *multiplier, int lane_order) {
  job->weights = weights + c0 / BLOCK * packed_block_size(job->taps);
  job->channel_mask = cq_channel_mask(cq_min((size_t)job->params->out_c - c0, BLOCK));
  __m512i scale[4];
  for (int j = 0; j < 4; ++j) {
    const __mmask16 mask = cq_vector_mask(job->channel_mask, j);
    job->bias[j] = _mm512_maskz_loadu_epi32(mask, bias + c0 + 16 * j);
    scale[j] = _mm512_maskz_loadu_epi32(mask, multiplier + c0 + 16 * j);
  }
  transpose_lanes(job->bias);
  if (lane_order)
    transpose_lanes(scale);
  for (int j = 0; j < 4; ++j)
    job->multiplier[j] = _mm512_castsi512_ps(scale[j]);
}

/// Output columns [*begin, *end) see no tap left or right of the image.
static void find_inner_columns(const cq_conv2d_params *p, ptrdiff_t *begin, ptrdiff_t *end) {
  const ptrdiff_t span = (ptrdiff_t)(p->kernel_w - 1) * p->dilation_w;
  const ptrdiff_t last = (ptrdiff_t)p->in_w - 1 - span + p->pad_left; // of x0 + pad_left
  *begin = ((ptrdiff_t)p->pad_left + p->stride_w - 1) / p->stride_w;
  *end = last < 0 ? 0 : last / p->stride_w + 1;
  *end = *end < p->out_w ? *end : p->out_w;
  *begin = *begin < *end ? *begin : *end;
}

/// Exactly one of the outputs is given. A unit of work is one output row of one block of channels.
CQ_INLINE void depthwise(const int8_t *input, const int8_t *weights, const int32_t *bias,
                         const float *multiplier, const cq_conv2d_params *p, int8_t *output_i8,
                         float *output_f32, size_t workgroup, size_t workgroup_count) {
  const size_t blocks = cq_round_up((size_t)p->out_c, BLOCK) / BLOCK;
  const size_t row_size = (size_t)p->out_w * (size_t)p->out_c;
  row_job job;
  job.params = p;
  job.taps = cq_round_up(tap_count(p), 4);
  for (size_t i = 0; i < BLOCK; ++i)
    job.padding[i] = (int8_t)p->input_zp;
  ptrdiff_t inner_begin, inner_end;
  find_inner_columns(p, &inner_begin, &inner_end);
  size_t begin, end;
  cq_share((size_t)p->batch * (size_t)p->out_h * blocks, workgroup, workgroup_count, &begin, &end);
  for (size_t unit = begin; unit < end; ++unit) {
    const size_t row = unit / blocks, c0 = unit % blocks * BLOCK;
    set_row(&job, input, row, c0);
    set_block(&job, c0, weights, bias, multiplier, output_i8 != NULL);
    int8_t *to_i8 = output_i8 ? output_i8 + row * row_size + c0 : NULL;
    float *to_f32 = output_f32 ? output_f32 + row * row_size + c0 : NULL;
    for (ptrdiff_t ox = 0; ox < inner_begin; ++ox)
      border_column(&job, ox, to_i8, to_f32);
    if (job.channel_mask == ~0ull)
      inner_columns(&job, inner_begin, inner_end, ~0ull, to_i8, to_f32);
    else
      inner_columns(&job, inner_begin, inner_end, job.channel_mask, to_i8, to_f32);
    for (ptrdiff_t ox = inner_end; ox < p->out_w; ++ox)
      border_column(&job, ox, to_i8, to_f32);
  }
}

void CQ_INTEGER_SYMBOL(depthwise, _i8)(const int8_t *input, const int8_t *weights,
                                       const int32_t *bias, const float *multiplier,
                                       const cq_conv2d_params *p, int8_t *output, size_t workgroup,
                                       size_t workgroup_count) {
  if (is_plain(p))
    cq_depthwise_plain(input, weights, bias, multiplier, p, output, NULL, workgroup,
                       workgroup_count);
  else
    depthwise(input, weights, bias, multiplier, p, output, NULL, workgroup, workgroup_count);
}

void CQ_INTEGER_SYMBOL(depthwise, _f32)(const int8_t *input, const int8_t *weights,
                                        const int32_t *bias, const float *multiplier,
                                        const cq_conv2d_params *p, float *output, size_t workgroup,
                                        size_t workgroup_count) {
  if (is_plain(p))
    cq_depthwise_plain(input, weights, bias, multiplier, p, NULL, output, workgroup,
                       workgroup_count);
  else
    depthwise(input, weights, bias, multiplier, p, NULL, output, workgroup, workgroup_count);
}

#endif // CONQUER_OPT_KERNELS_CQ_DEPTHWISE_INTEGER_AVX512VNNI_H
