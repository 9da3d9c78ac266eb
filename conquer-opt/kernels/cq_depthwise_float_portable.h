//===- cq_depthwise_float_portable.h - f32 and bf16 depthwise convolution in plain C ----------===//
//
// Weights stay [kernel_h][kernel_w][out_c]; every f32 sum keeps the order ky, kx, bias. All levels
// use this source: it is bound by memory, and the compiler vectorises it over channels.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_DEPTHWISE_FLOAT_PORTABLE_H
#define CONQUER_OPT_KERNELS_CQ_DEPTHWISE_FLOAT_PORTABLE_H

#include "conquer-opt/kernels/cq_float_portable.h"

enum { VECTORS = 4, BLOCK = 16 * VECTORS }; // output channels summed at once

size_t CQ_FLOAT_SYMBOL(depthwise, _size)(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (size_t)p->kernel_w * (size_t)p->out_c;
}

void CQ_FLOAT_SYMBOL(depthwise, _pack)(const cq_float *weights, const cq_conv2d_params *p,
                                       cq_float *packed_weights) {
  for (size_t i = 0; i < CQ_FLOAT_SYMBOL(depthwise, _size)(p); ++i)
    packed_weights[i] = weights[i];
}

/// sum[j] = sum over the taps inside the image, for 16 * vectors output channels from c0, where
/// out_c is in_c. `vectors` is a constant wherever this is inlined, so that the sums stay in
/// registers.
CQ_INLINE void block_sum(const cq_float *input, const cq_float *weights, const cq_conv2d_params *p,
                         const cq_window *window, size_t c0, size_t vectors, float *sum) {
  cq_f32x16 acc[VECTORS] = {{0}};
  for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
    for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx) {
      const ptrdiff_t tap = cq_tap_index(p, window, ky, kx);
      if (tap < 0)
        continue;
      const cq_float *from = input + (size_t)tap + c0;
      const cq_float *weight = weights + (size_t)((ky * p->kernel_w + kx) * p->out_c) + c0;
      for (size_t v = 0; v < vectors; ++v) {
        cq_f32x16 x, w;
        cq_float_load16(from + 16 * v, &x);
        cq_float_load16(weight + 16 * v, &w);
        acc[v] += x * w;
      }
    }
  for (size_t v = 0; v < vectors; ++v)
    __builtin_memcpy(sum + 16 * v, &acc[v], sizeof(acc[v]));
}

/// The same sum for output channel c of any layer.
static float channel_sum(const cq_float *input, const cq_float *weights, const cq_conv2d_params *p,
                         const cq_window *window, size_t c) {
  const size_t input_c = c / (size_t)(p->out_c / p->in_c);
  float sum = 0.0f;
  for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
    for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx) {
      const ptrdiff_t tap = cq_tap_index(p, window, ky, kx);
      if (tap >= 0)
        sum += cq_float_load(input[(size_t)tap + input_c]) *
               cq_float_load(weights[(size_t)((ky * p->kernel_w + kx) * p->out_c) + c]);
    }
  return sum;
}

/// A unit of work is one output pixel.
void CQ_FLOAT_SYMBOL(depthwise, )(const cq_float *input, const cq_float *weights, const float *bias,
                                  const cq_conv2d_params *p, cq_float *output, size_t workgroup,
                                  size_t workgroup_count) {
  const size_t out_c = (size_t)p->out_c;
  size_t begin, end;
  cq_share(cq_output_pixels(p), workgroup, workgroup_count, &begin, &end);
  for (size_t pixel = begin; pixel < end; ++pixel) {
    const cq_window window = cq_window_of(p, pixel);
    for (size_t c0 = 0; c0 < out_c; c0 += BLOCK) {
      float sum[BLOCK];
      const size_t count = cq_min(out_c - c0, BLOCK);
      size_t done = 0;
      if (p->in_c == p->out_c && count == BLOCK) {
        block_sum(input, weights, p, &window, c0, VECTORS, sum);
        done = BLOCK;
      } else if (p->in_c == p->out_c) {
        for (; done + 16 <= count; done += 16)
          block_sum(input, weights, p, &window, c0 + done, 1, sum + done);
      }
      for (; done < count; ++done)
        sum[done] = channel_sum(input, weights, p, &window, c0 + done);
      for (size_t j = 0; j < count; ++j)
        output[pixel * out_c + c0 + j] = cq_float_finish(sum[j] + bias[c0 + j], p);
    }
  }
}

#endif // CONQUER_OPT_KERNELS_CQ_DEPTHWISE_FLOAT_PORTABLE_H
