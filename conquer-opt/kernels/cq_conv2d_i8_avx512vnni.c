//===- cq_conv2d_i8_avx512vnni.c - i8 convolution, vpdpbusd -----------------------------------===//
#define CQ_WEIGHT_BITS 8
#include "conquer-opt/kernels/cq_conv2d_integer_avx512vnni.h"
