//===- cq_depthwise_f32_portable.c - f32 depthwise convolution in plain C ---------------------===//
#define CQ_FLOAT_BITS 32
#include "conquer-opt/kernels/cq_depthwise_float_portable.h"
