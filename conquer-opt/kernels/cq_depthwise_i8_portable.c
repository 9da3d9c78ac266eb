//===- cq_depthwise_i8_portable.c - i8 depthwise convolution in plain C -----------------------===//
#define CQ_WEIGHT_BITS 8
#include "conquer-opt/kernels/cq_depthwise_integer_portable.h"
