//===- cq_conv2d_f32_portable.c - f32 convolution in plain C ----------------------------------===//
#define CQ_FLOAT_BITS 32
#include "conquer-opt/kernels/cq_conv2d_float_portable.h"
