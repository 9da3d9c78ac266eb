//===- cq_conv2d_w4a8_portable.c - convolution of i8 values with i4 weights in plain C --------===//
#define CQ_WEIGHT_BITS 4
#include "conquer-opt/kernels/cq_conv2d_integer_portable.h"
