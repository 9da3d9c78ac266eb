//===- cq_depthwise_integer_portable.h - depthwise convolution of i8 values in plain C --------===//
//
// The judge of the other levels, and the fallback. The arithmetic is in cq_depthwise_integer.h,
// which other levels use for the shapes that they do not speed up.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_DEPTHWISE_INTEGER_PORTABLE_H
#define CONQUER_OPT_KERNELS_CQ_DEPTHWISE_INTEGER_PORTABLE_H

#include "conquer-opt/kernels/cq_depthwise_integer.h"

size_t CQ_INTEGER_SYMBOL(depthwise, _size)(const cq_conv2d_params *p) {
  return cq_depthwise_plain_size(p);
}

void CQ_INTEGER_SYMBOL(depthwise, _pack)(const int8_t *weights, const int32_t *bias,
                                         const cq_conv2d_params *p, int8_t *packed_weights,
                                         int32_t *packed_bias) {
  cq_depthwise_plain_pack(weights, bias, p, packed_weights, packed_bias);
}

void CQ_INTEGER_SYMBOL(depthwise, _i8)(const int8_t *input, const int8_t *weights,
                                       const int32_t *bias, const float *multiplier,
                                       const cq_conv2d_params *p, int8_t *output, size_t workgroup,
                                       size_t workgroup_count) {
  cq_depthwise_plain(input, weights, bias, multiplier, p, output, NULL, workgroup, workgroup_count);
}

void CQ_INTEGER_SYMBOL(depthwise, _f32)(const int8_t *input, const int8_t *weights,
                                        const int32_t *bias, const float *multiplier,
                                        const cq_conv2d_params *p, float *output, size_t workgroup,
                                        size_t workgroup_count) {
  cq_depthwise_plain(input, weights, bias, multiplier, p, NULL, output, workgroup, workgroup_count);
}

#endif // CONQUER_OPT_KERNELS_CQ_DEPTHWISE_INTEGER_PORTABLE_H
