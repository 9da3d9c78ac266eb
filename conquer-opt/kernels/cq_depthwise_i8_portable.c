//===- cq_depthwise_i8_portable.c - i8 depthwise convolution in plain C -----------------------===//
//
// The judge of the other levels, and the fallback. Weights stay [kernel_h][kernel_w][out_c]. The
// arithmetic is in cq_depthwise_i8.h, which other levels use for the shapes they do not speed up.
//
//===------------------------------------------------------------------------------------------===//
#include "conquer-opt/kernels/cq_depthwise_i8.h"

size_t CQ_SYMBOL(cq_depthwise_i8_size)(const cq_conv2d_params *p) {
  return cq_depthwise_plain_size(p);
}

void CQ_SYMBOL(cq_depthwise_i8_pack)(const int8_t *weights, const int32_t *bias,
                                     const cq_conv2d_params *p, int8_t *packed_weights,
                                     int32_t *packed_bias) {
  cq_depthwise_i8_plain_pack(weights, bias, p, packed_weights, packed_bias);
}

void CQ_SYMBOL(cq_depthwise_i8_i8)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                   const float *multiplier, const cq_conv2d_params *p,
                                   int8_t *output, size_t workgroup, size_t workgroup_count) {
  cq_depthwise_i8_plain(input, weights, bias, multiplier, p, output, NULL, workgroup,
                        workgroup_count);
}

void CQ_SYMBOL(cq_depthwise_i8_f32)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                    const float *multiplier, const cq_conv2d_params *p,
                                    float *output, size_t workgroup, size_t workgroup_count) {
  cq_depthwise_i8_plain(input, weights, bias, multiplier, p, NULL, output, workgroup,
                        workgroup_count);
}
