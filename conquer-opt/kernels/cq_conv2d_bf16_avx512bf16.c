//===- cq_conv2d_bf16_avx512bf16.c - bf16 convolution with vdpbf16ps --------------------------===//
#define CQ_HAVE_DOT_BF16
#include "conquer-opt/kernels/cq_conv2d_bf16_avx512.h"
