//===- cq_depthwise_w4a8_avx512vnni.c - depthwise convolution with i4 weights, vpdpbusd -------===//
#define CQ_WEIGHT_BITS 4
#include "conquer-opt/kernels/cq_depthwise_integer_avx512vnni.h"
