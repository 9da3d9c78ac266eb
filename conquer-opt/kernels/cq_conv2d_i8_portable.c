//===- cq_conv2d_i8_portable.c - i8 convolution in plain C ------------------------------------===//
#define CQ_WEIGHT_BITS 8
#include "conquer-opt/kernels/cq_conv2d_integer_portable.h"
