//===- cq_conv2d_bf16_portable.c - bf16 convolution in plain C --------------------------------===//
#define CQ_FLOAT_BITS 16
#include "conquer-opt/kernels/cq_conv2d_float_portable.h"
