//===- cq_depthwise_i8_avx512vnni.c - i8 depthwise convolution, vpdpbusd ----------------------===//
#define CQ_WEIGHT_BITS 8
#include "conquer-opt/kernels/cq_depthwise_integer_avx512vnni.h"
