//===- cq_depthwise_bf16_portable.c - bf16 depthwise convolution in plain C -------------------===//
#define CQ_FLOAT_BITS 16
#include "conquer-opt/kernels/cq_depthwise_float_portable.h"
