//===- cq_depthwise_w4a8_portable.c - depthwise convolution with i4 weights in plain C --------===//
#define CQ_WEIGHT_BITS 4
#include "conquer-opt/kernels/cq_depthwise_integer_portable.h"
