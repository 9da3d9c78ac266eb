//===- cq_conv2d_integer_portable.h - convolution of i8 values in plain C ---------------------===//
//
// The judge of the other levels, and the fallback, for weights of CQ_WEIGHT_BITS bits. They are
// packed [out_c / 32][kernel_h][kernel_w][in_c][32], the last block filled with zeros: the compiler
// vectorises over output channels. w4a8: channels c and c + 16 of a block share a byte.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_CONV2D_INTEGER_PORTABLE_H
#define CONQUER_OPT_KERNELS_CQ_CONV2D_INTEGER_PORTABLE_H

#include "conquer-opt/kernels/cq_integer.h"

enum {
  BLOCK = 32,                               // output channels summed at once
  BLOCK_BYTES = BLOCK * CQ_WEIGHT_BITS / 8, // of their weights for one input value
};

static size_t filter_size(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (size_t)p->kernel_w * (size_t)p->in_c;
}

size_t CQ_INTEGER_SYMBOL(conv2d, _size)(const cq_conv2d_params *p) {
  return cq_round_up((size_t)p->out_c, BLOCK) / BLOCK * BLOCK_BYTES * filter_size(p);
}

void CQ_INTEGER_SYMBOL(conv2d, _pack)(const int8_t *weights, const int32_t *bias,
                                      const cq_conv2d_params *p, int8_t *packed_weights,
                                      int32_t *packed_bias) {
  const size_t out_c = (size_t)p->out_c, size = filter_size(p);
  for (size_t block = 0; block < out_c; block += BLOCK)
    for (size_t k = 0; k < size; ++k)
      for (size_t i = 0; i < BLOCK_BYTES; ++i) {
        const size_t c = block + i, other = c + BLOCK / 2;
        const int8_t weight = c < out_c ? weights[c * size + k] : 0;
#if CQ_WEIGHT_BITS == 4
        *packed_weights++ = cq_two_weights(weight, other < out_c ? weights[other * size + k] : 0);
#else
        (void)other;
        *packed_weights++ = weight;
#endif
      }
  for (size_t c = 0; c < out_c; ++c)
    packed_bias[c] = bias[c];
}

/// The 16 weights of output channels 0..15, or 16..31, of one input value of a block.
CQ_INLINE void load_weights(const int8_t *w, int is_upper_half, cq_i16x16 *out) {
  cq_i8x16 bytes;
#if CQ_WEIGHT_BITS == 4
  __builtin_memcpy(&bytes, w, sizeof(bytes));
  const cq_i16x16 both = __builtin_convertvector(bytes, cq_i16x16);
  *out = is_upper_half ? both >> 4 : (both << 12) >> 12;
#else
  __builtin_memcpy(&bytes, w + 16 * is_upper_half, sizeof(bytes));
  *out = __builtin_convertvector(bytes, cq_i16x16);
#endif
}

/// acc[j] = sum over the taps inside the image of (input - input_zp) * weight, for the BLOCK output
/// channels of `w`; padding adds nothing, because its value is the zero point. The difference is in
/// -255..255 and the product in -32640..32640, so that 16 bits hold it.
static void block_sum(const int8_t *input, const int8_t *w, const cq_conv2d_params *p,
                      const cq_window *window, int32_t acc[BLOCK]) {
  const size_t in_c = (size_t)p->in_c;
  cq_i32x16 low = {0}, high = {0};
  for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
    for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx, w += in_c * BLOCK_BYTES) {
      const ptrdiff_t tap = cq_tap_index(p, window, ky, kx);
      if (tap < 0)
        continue;
      for (size_t c = 0; c < in_c; ++c) {
        const int16_t x = (int16_t)(input[tap + (ptrdiff_t)c] - p->input_zp);
        cq_i16x16 w_low, w_high;
        load_weights(w + c * BLOCK_BYTES, 0, &w_low);
        load_weights(w + c * BLOCK_BYTES, 1, &w_high);
        low += __builtin_convertvector(w_low * x, cq_i32x16);
        high += __builtin_convertvector(w_high * x, cq_i32x16);
      }
    }
  __builtin_memcpy(acc, &low, sizeof(low));
  __builtin_memcpy(acc + 16, &high, sizeof(high));
}

/// Exactly one of the outputs is given. A unit of work is one output pixel of one block of
/// channels.
CQ_INLINE void conv2d(const int8_t *input, const int8_t *weights, const int32_t *bias,
                      const float *multiplier, const cq_conv2d_params *p, int8_t *output_i8,
                      float *output_f32, size_t workgroup, size_t workgroup_count) {
  const size_t out_c = (size_t)p->out_c, blocks = cq_round_up(out_c, BLOCK) / BLOCK;
  size_t begin, end;
  cq_share(cq_output_pixels(p) * blocks, workgroup, workgroup_count, &begin, &end);
  for (size_t unit = begin; unit < end; ++unit) {
    const size_t pixel = unit / blocks, block = unit % blocks, c0 = block * BLOCK;
    const cq_window window = cq_window_of(p, pixel);
    int32_t acc[BLOCK];
    block_sum(input, weights + block * BLOCK_BYTES * filter_size(p), p, &window, acc);
    for (size_t c = c0; c < cq_min(out_c, c0 + BLOCK); ++c) {
      if (output_i8)
        output_i8[pixel * out_c + c] = cq_requantize(acc[c - c0] + bias[c], multiplier[c], p);
      else
        output_f32[pixel * out_c + c] = cq_dequantize(acc[c - c0] + bias[c], multiplier[c], p);
    }
  }
}

void CQ_INTEGER_SYMBOL(conv2d, _i8)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                    const float *multiplier, const cq_conv2d_params *p,
                                    int8_t *output, size_t workgroup, size_t workgroup_count) {
  conv2d(input, weights, bias, multiplier, p, output, NULL, workgroup, workgroup_count);
}

void CQ_INTEGER_SYMBOL(conv2d, _f32)(const int8_t *input, const int8_t *weights,
                                     const int32_t *bias, const float *multiplier,
                                     const cq_conv2d_params *p, float *output, size_t workgroup,
                                     size_t workgroup_count) {
  conv2d(input, weights, bias, multiplier, p, NULL, output, workgroup, workgroup_count);
}

#endif // CONQUER_OPT_KERNELS_CQ_CONV2D_INTEGER_PORTABLE_H
