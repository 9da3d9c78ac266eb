//===- cq_conv2d_float_portable.h - f32 and bf16 convolution in plain C -----------------------===//
//
// The judge of the other levels. Weights are packed [out_c / 32][kernel_h][kernel_w][in_c][32], the
// last block filled with zeros: the compiler vectorises over output channels, and every f32 sum
// keeps the order ky, kx, ic, bias.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_CONV2D_FLOAT_PORTABLE_H
#define CONQUER_OPT_KERNELS_CQ_CONV2D_FLOAT_PORTABLE_H

#include "conquer-opt/kernels/cq_float_portable.h"

enum { BLOCK = 32 }; // output channels summed at once

static size_t filter_size(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (size_t)p->kernel_w * (size_t)p->in_c;
}

size_t CQ_FLOAT_SYMBOL(conv2d, _size)(const cq_conv2d_params *p) {
  return cq_round_up((size_t)p->out_c, BLOCK) * filter_size(p);
}

void CQ_FLOAT_SYMBOL(conv2d, _pack)(const cq_float *weights, const cq_conv2d_params *p,
                                    cq_float *packed_weights) {
  const size_t out_c = (size_t)p->out_c, size = filter_size(p);
  for (size_t c = 0; c < cq_round_up(out_c, BLOCK); ++c)
    for (size_t k = 0; k < size; ++k)
      packed_weights[(c / BLOCK * size + k) * BLOCK + c % BLOCK] =
          c < out_c ? weights[c * size + k] : 0;
}

/// sum[j] = sum over the taps inside the image, for the BLOCK output channels of `w`.
static void block_sum(const cq_float *input, const cq_float *w, const cq_conv2d_params *p,
                      const cq_window *window, float sum[BLOCK]) {
  const size_t in_c = (size_t)p->in_c;
  cq_f32x16 low = {0}, high = {0};
  for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
    for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx, w += in_c * BLOCK) {
      const ptrdiff_t tap = cq_tap_index(p, window, ky, kx);
      if (tap < 0)
        continue;
      for (size_t c = 0; c < in_c; ++c) {
        const float x = cq_float_load(input[tap + (ptrdiff_t)c]);
        cq_f32x16 w_low, w_high;
        cq_float_load16(w + c * BLOCK, &w_low);
        cq_float_load16(w + c * BLOCK + 16, &w_high);
        low += x * w_low;
        high += x * w_high;
      }
    }
  __builtin_memcpy(sum, &low, sizeof(low));
  __builtin_memcpy(sum + 16, &high, sizeof(high));
}

/// A unit of work is one output pixel of one block of channels.
void CQ_FLOAT_SYMBOL(conv2d, )(const cq_float *input, const cq_float *weights, const float *bias,
                               const cq_conv2d_params *p, cq_float *output, size_t workgroup,
                               size_t workgroup_count) {
  const size_t out_c = (size_t)p->out_c, blocks = cq_round_up(out_c, BLOCK) / BLOCK;
  size_t begin, end;
  cq_share(cq_output_pixels(p) * blocks, workgroup, workgroup_count, &begin, &end);
  for (size_t unit = begin; unit < end; ++unit) {
    const size_t pixel = unit / blocks, c0 = unit % blocks * BLOCK;
    const cq_window window = cq_window_of(p, pixel);
    float sum[BLOCK];
    block_sum(input, weights + c0 * filter_size(p), p, &window, sum);
    for (size_t j = 0; j < BLOCK && c0 + j < out_c; ++j)
      output[pixel * out_c + c0 + j] = cq_float_finish(sum[j] + bias[c0 + j], p);
  }
}

#endif // CONQUER_OPT_KERNELS_CQ_CONV2D_FLOAT_PORTABLE_H
