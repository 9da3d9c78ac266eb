//===- cq_conv2d_i8_portable.c - i8 convolution in plain C ----------------------------------===//
//
// The judge of the other levels, and the fallback. Weights stay [out_c][kernel_h][kernel_w][in_c].
//
//===----------------------------------------------------------------------------------------===//
#include "conquer-opt/kernels/cq_common.h"

static size_t filter_size(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (size_t)p->kernel_w * (size_t)p->in_c;
}

size_t CQ_SYMBOL(cq_conv2d_i8_size)(const cq_conv2d_params *p) {
  return (size_t)p->out_c * filter_size(p);
}

void CQ_SYMBOL(cq_conv2d_i8_pack)(const int8_t *weights, const int32_t *bias,
                                  const cq_conv2d_params *p, int8_t *packed_weights,
                                  int32_t *packed_bias) {
  const size_t size = (size_t)p->out_c * filter_size(p);
  for (size_t i = 0; i < size; ++i)
    packed_weights[i] = weights[i];
  for (size_t c = 0; c < (size_t)p->out_c; ++c)
    packed_bias[c] = bias[c];
}

/// Sum over the taps inside the image of (input - input_zp) * weight; padding adds nothing, because
/// its value is the zero point. The difference fits 16 bits, which is the product the compiler has
/// a vector instruction for.
static int32_t filter_sum(const int8_t *input, const int8_t *filter, const cq_conv2d_params *p,
                          const cq_window *window) {
  const size_t in_c = (size_t)p->in_c;
  const int16_t zp = (int16_t)p->input_zp;
  int32_t sum = 0;
  for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
    for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx, filter += in_c) {
      const ptrdiff_t tap = cq_tap_index(p, window, ky, kx);
      if (tap < 0)
        continue;
      for (size_t c = 0; c < in_c; ++c)
        sum += (int16_t)(input[tap + (ptrdiff_t)c] - zp) * filter[c];
    }
  return sum;
}

/// Exactly one of the outputs is given. A unit of work is one output value.
CQ_INLINE void conv2d(const int8_t *input, const int8_t *weights, const int32_t *bias,
                      const float *multiplier, const cq_conv2d_params *p, int8_t *output_i8,
                      float *output_f32, size_t workgroup, size_t workgroup_count) {
  const size_t out_c = (size_t)p->out_c;
  size_t begin, end;
  cq_share(cq_output_pixels(p) * out_c, workgroup, workgroup_count, &begin, &end);
  while (begin < end) {
    const cq_window window = cq_window_of(p, begin / out_c);
    const size_t row_end = cq_min(end, (begin / out_c + 1) * out_c);
    for (; begin < row_end; ++begin) {
      const size_t c = begin % out_c;
      const int32_t acc = bias[c] + filter_sum(input, weights + c * filter_size(p), p, &window);
      if (output_i8)
        output_i8[begin] = cq_requantize(acc, multiplier[c], p);
      else
        output_f32[begin] = cq_dequantize(acc, multiplier[c], p);
    }
  }
}

void CQ_SYMBOL(cq_conv2d_i8_i8)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                const float *multiplier, const cq_conv2d_params *p, int8_t *output,
                                size_t workgroup, size_t workgroup_count) {
  conv2d(input, weights, bias, multiplier, p, output, NULL, workgroup, workgroup_count);
}

void CQ_SYMBOL(cq_conv2d_i8_f32)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                 const float *multiplier, const cq_conv2d_params *p, float *output,
                                 size_t workgroup, size_t workgroup_count) {
  conv2d(input, weights, bias, multiplier, p, NULL, output, workgroup, workgroup_count);
}
