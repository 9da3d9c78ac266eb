//===- cq_conv2d_w4a8_avx512vnni.c - convolution of i8 values with i4 weights, vpdpbusd -------===//
#define CQ_WEIGHT_BITS 4
#include "conquer-opt/kernels/cq_conv2d_integer_avx512vnni.h"
