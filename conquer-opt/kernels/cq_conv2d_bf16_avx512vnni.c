//===- cq_conv2d_bf16_avx512vnni.c - bf16 convolution with AVX-512 FMA ------------------------===//
#include "conquer-opt/kernels/cq_conv2d_bf16_avx512.h"
