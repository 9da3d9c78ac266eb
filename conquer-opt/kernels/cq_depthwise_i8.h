//===- cq_depthwise_i8.h - i8 depthwise convolution in plain C, for inlining ------------------===//
//
// Used as it is by the levels in plain C, and by the others where out_c is not in_c.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_DEPTHWISE_I8_H
#define CONQUER_OPT_KERNELS_CQ_DEPTHWISE_I8_H

#include "conquer-opt/kernels/cq_common.h"

enum { CQ_DEPTHWISE_VECTORS = 4, CQ_DEPTHWISE_BLOCK = 64 }; // output channels summed at once

CQ_INLINE size_t cq_depthwise_plain_size(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (size_t)p->kernel_w * (size_t)p->out_c;
}

CQ_INLINE void cq_depthwise_i8_plain_pack(const int8_t *weights, const int32_t *bias,
                                          const cq_conv2d_params *p, int8_t *packed_weights,
                                          int32_t *packed_bias) {
  for (size_t i = 0; i < cq_depthwise_plain_size(p); ++i)
    packed_weights[i] = weights[i];
  for (size_t c = 0; c < (size_t)p->out_c; ++c)
    packed_bias[c] = bias[c];
}

/// acc[j] = sum over the taps inside the image of (input - input_zp) * weight, for 16 * vectors
/// output channels from c0, where out_c is in_c. The padding is the zero point: it adds nothing.
/// The products are in -32640..32640, so that 16 bits hold them. `vectors` is a constant wherever
/// this is inlined.
CQ_INLINE void cq_depthwise_i8_block_sum(const int8_t *input, const int8_t *weights,
                                         const cq_conv2d_params *p, const cq_window *window,
                                         size_t c0, size_t vectors, int32_t *acc) {
  cq_i32x16 sum[CQ_DEPTHWISE_VECTORS] = {{0}};
  for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
    for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx) {
      const ptrdiff_t tap = cq_tap_index(p, window, ky, kx);
      if (tap < 0)
        continue;
      const int8_t *from = input + (size_t)tap + c0;
      const int8_t *weight = weights + (size_t)((ky * p->kernel_w + kx) * p->out_c) + c0;
      for (size_t v = 0; v < vectors; ++v) {
        cq_i8x16 x, w;
        __builtin_memcpy(&x, from + 16 * v, sizeof(x));
        __builtin_memcpy(&w, weight + 16 * v, sizeof(w));
        const cq_i16x16 difference = __builtin_convertvector(x, cq_i16x16) - (int16_t)p->input_zp;
        sum[v] +=
            __builtin_convertvector(difference * __builtin_convertvector(w, cq_i16x16), cq_i32x16);
      }
    }
  for (size_t v = 0; v < vectors; ++v)
    __builtin_memcpy(acc + 16 * v, &sum[v], sizeof(sum[v]));
}

/// The same sum for output channel c of any layer.
static inline int32_t cq_depthwise_i8_channel_sum(const int8_t *input, const int8_t *weights,
                                                  const cq_conv2d_params *p,
                                                  const cq_window *window, size_t c) {
  const size_t input_c = c / (size_t)(p->out_c / p->in_c);
  int32_t sum = 0;
  for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
    for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx) {
      const ptrdiff_t tap = cq_tap_index(p, window, ky, kx);
      if (tap >= 0)
        sum += (input[(size_t)tap + input_c] - p->input_zp) *
               weights[(size_t)((ky * p->kernel_w + kx) * p->out_c) + c];
    }
  return sum;
}

/// Exactly one of the outputs is given. A unit of work is one output pixel.
CQ_INLINE void cq_depthwise_i8_plain(const int8_t *input, const int8_t *weights,
                                     const int32_t *bias, const float *multiplier,
                                     const cq_conv2d_params *p, int8_t *output_i8,
                                     float *output_f32, size_t workgroup, size_t workgroup_count) {
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
        cq_depthwise_i8_block_sum(input, weights, p, &window, c0, CQ_DEPTHWISE_VECTORS, acc);
        done = count;
      } else if (p->in_c == p->out_c) {
        for (; done + 16 <= count; done += 16)
          cq_depthwise_i8_block_sum(input, weights, p, &window, c0 + done, 1, acc + done);
      }
      for (; done < count; ++done)
        acc[done] = cq_depthwise_i8_channel_sum(input, weights, p, &window, c0 + done);
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

#endif // CONQUER_OPT_KERNELS_CQ_DEPTHWISE_I8_H
