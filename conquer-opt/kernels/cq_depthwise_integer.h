//===- cq_depthwise_integer.h - depthwise convolution of i8 values in plain C, for inlining ---===//
//
// Used as it is by the levels in plain C, and by the others where out_c is not in_c. Weights of
// CQ_WEIGHT_BITS bits: i8 stay [kernel_h][kernel_w][out_c]; w4a8 are
// [kernel_h][kernel_w][out_c / 16][8 bytes], channels c and c + 8 of 16 in one byte.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_DEPTHWISE_INTEGER_H
#define CONQUER_OPT_KERNELS_CQ_DEPTHWISE_INTEGER_H

#include "conquer-opt/kernels/cq_integer.h"

enum { CQ_DEPTHWISE_VECTORS = 4, CQ_DEPTHWISE_BLOCK = 64 }; // output channels summed at once

/// Bytes of the weights of one tap.
CQ_INLINE size_t cq_depthwise_tap_size(const cq_conv2d_params *p) {
#if CQ_WEIGHT_BITS == 4
  return cq_round_up((size_t)p->out_c, 16) / 2;
#else
  return (size_t)p->out_c;
#endif
}

CQ_INLINE size_t cq_depthwise_plain_size(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (size_t)p->kernel_w * cq_depthwise_tap_size(p);
}

CQ_INLINE void cq_depthwise_plain_pack(const int8_t *weights, const int32_t *bias,
                                       const cq_conv2d_params *p, int8_t *packed_weights,
                                       int32_t *packed_bias) {
  const size_t out_c = (size_t)p->out_c;
#if CQ_WEIGHT_BITS == 4
  for (size_t t = 0; t < (size_t)p->kernel_h * (size_t)p->kernel_w; ++t, weights += out_c)
    for (size_t i = 0; i < cq_depthwise_tap_size(p); ++i) {
      const size_t c = i / 8 * 16 + i % 8, other = c + 8;
      *packed_weights++ =
          cq_two_weights(c < out_c ? weights[c] : 0, other < out_c ? weights[other] : 0);
    }
#else
  for (size_t i = 0; i < cq_depthwise_plain_size(p); ++i)
    packed_weights[i] = weights[i];
#endif
  for (size_t c = 0; c < out_c; ++c)
    packed_bias[c] = bias[c];
}

/// The weights of 16 output channels of one tap, from channel c on.
CQ_INLINE void cq_depthwise_load_weights(const int8_t *tap_weights, size_t c, cq_i16x16 *out) {
#if CQ_WEIGHT_BITS == 4
  typedef int8_t i8x8 __attribute__((vector_size(8)));
  typedef int16_t i16x8 __attribute__((vector_size(16)));
  i8x8 bytes;
  __builtin_memcpy(&bytes, tap_weights + c / 2, sizeof(bytes));
  const i16x8 both = __builtin_convertvector(bytes, i16x8);
  *out = __builtin_shufflevector((both << 12) >> 12, both >> 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                 11, 12, 13, 14, 15);
#else
  cq_i8x16 bytes;
  __builtin_memcpy(&bytes, tap_weights + c, sizeof(bytes));
  *out = __builtin_convertvector(bytes, cq_i16x16);
#endif
}

CQ_INLINE int cq_depthwise_weight(const int8_t *tap_weights, size_t c) {
#if CQ_WEIGHT_BITS == 4
  return cq_weight_of_two(tap_weights + c / 16 * 8, c % 16, 8);
#else
  return tap_weights[c];
#endif
}

/// acc[j] = sum over the taps inside the image of (input - input_zp) * weight, for 16 * vectors
/// output channels from c0, a multiple of 16, where out_c is in_c. The padding is the zero point:
/// it adds nothing. The products are in -32640..32640, so that 16 bits hold them. `vectors` is a
/// constant wherever this is inlined.
CQ_INLINE void cq_depthwise_block_sum(const int8_t *input, const int8_t *weights,
                                      const cq_conv2d_params *p, const cq_window *window, size_t c0,
                                      size_t vectors, int32_t *acc) {
  cq_i32x16 sum[CQ_DEPTHWISE_VECTORS] = {{0}};
  for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
    for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx, weights += cq_depthwise_tap_size(p)) {
      const ptrdiff_t tap = cq_tap_index(p, window, ky, kx);
      if (tap < 0)
        continue;
      const int8_t *from = input + (size_t)tap + c0;
      for (size_t v = 0; v < vectors; ++v) {
        cq_i8x16 x;
        cq_i16x16 w;
        __builtin_memcpy(&x, from + 16 * v, sizeof(x));
        cq_depthwise_load_weights(weights, c0 + 16 * v, &w);
        const cq_i16x16 difference = __builtin_convertvector(x, cq_i16x16) - (int16_t)p->input_zp;
        sum[v] += __builtin_convertvector(difference * w, cq_i32x16);
      }
    }
  for (size_t v = 0; v < vectors; ++v)
    __builtin_memcpy(acc + 16 * v, &sum[v], sizeof(sum[v]));
}

/// The same sum for output channel c of any layer.
static inline int32_t cq_depthwise_channel_sum(const int8_t *input, const int8_t *weights,
                                               const cq_conv2d_params *p, const cq_window *window,
                                               size_t c) {
  const size_t input_c = c / (size_t)(p->out_c / p->in_c);
  int32_t sum = 0;
  for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
    for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx, weights += cq_depthwise_tap_size(p)) {
      const ptrdiff_t tap = cq_tap_index(p, window, ky, kx);
      if (tap >= 0)
        sum += (input[(size_t)tap + input_c] - p->input_zp) * cq_depthwise_weight(weights, c);
    }
  return sum;
}

/// Exactly one of the outputs is given. A unit of work is one output pixel.
CQ_INLINE void cq_depthwise_plain(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                  const float *multiplier, const cq_conv2d_params *p,
                                  int8_t *output_i8, float *output_f32, size_t workgroup,
                                  size_t workgroup_count) {
  const size_t out_c = (size_t)p->out_c;
  size_t begin, end;
  cq_share(cq_output_pixels(p), workgroup, workgroup_count, &begin, &end);
  for (size_t pixel = begin; pixel < end; ++pixel) {
    const cq_window window = cq_window_of(p, pixel);
    for (size_t c0 = 0; c0 < out_c; c0 += CQ_DEPTHWISE_BLOCK) {
      int32_t acc[CQ_DEPTHWISE_BLOCK];
      const size_t count = cq_min(out_c - c0, CQ_DEPTHWISE_BLOCK);
      size_t done = 0;
      if (p->in_c == p->out_c && count == CQ_DEPTHWISE_BLOCK) {
        cq_depthwise_block_sum(input, weights, p, &window, c0, CQ_DEPTHWISE_VECTORS, acc);
        done = count;
      } else if (p->in_c == p->out_c) {
        for (; done + 16 <= count; done += 16)
          cq_depthwise_block_sum(input, weights, p, &window, c0 + done, 1, acc + done);
      }
      for (; done < count; ++done)
        acc[done] = cq_depthwise_channel_sum(input, weights, p, &window, c0 + done);
      for (size_t c = c0; c < c0 + count; ++c) {
        const size_t at = pixel * out_c + c;
        if (output_i8)
          output_i8[at] = cq_requantize(acc[c - c0] + bias[c], multiplier[c], p);
        else
          output_f32[at] = cq_dequantize(acc[c - c0] + bias[c], multiplier[c], p);
      }
    }
  }
}

#endif // CONQUER_OPT_KERNELS_CQ_DEPTHWISE_INTEGER_H
