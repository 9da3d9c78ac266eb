//===- cq_kernels.h - microkernels shared by the evaluator and the modules --------------------===//
//
// Bare-metal C: no libc, no globals, no allocation. Every ISA level has the same functions with the
// level's name as suffix; README.md states the rules, cq_table.c lists the levels.
//
// Layouts: activations NHWC; weights are packed once, at compile time, by the level's pack
// function. A pointer to packed weights aligned to 64 bytes is faster, never required.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_KERNELS_H
#define CONQUER_OPT_KERNELS_CQ_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Geometry and quantisation of one convolution. A module holds it as a constant tensor of i32 in
/// this very order, so every field is 32 bits wide and none may move (cq_kernels_test checks the
/// size).
typedef struct cq_conv2d_params {
  int32_t batch, in_h, in_w, in_c; ///< input  [batch][in_h][in_w][in_c]
  int32_t out_h, out_w, out_c;     ///< output [batch][out_h][out_w][out_c]
  int32_t kernel_h, kernel_w;      ///< taps
  int32_t stride_h, stride_w;      ///< >= 1
  int32_t dilation_h, dilation_w;  ///< >= 1
  int32_t pad_top, pad_left;       ///< >= 0; bottom and right follow from the output size
  int32_t input_zp;                ///< i8 input: the code of real zero, also the value of padding
  int32_t output_zp;               ///< i8 output: added after rounding
  int32_t clamp_min, clamp_max;    ///< i8 output: bounds of the code, -128 <= min <= max <= 127
  float clamp_min_f32, clamp_max_f32; ///< f32 output: bounds of the value
} cq_conv2d_params;

/// Convolution of i8 values with a fused epilogue. With acc the exact i32 sum over the taps of
/// (input - input_zp) * weight, plus bias[c] (the layer's own i32 bias before packing):
///   *_i8:  out = zp + rne(clamp(f32(acc) * multiplier[c], clamp_min - zp, clamp_max - zp))
///   *_f32: out = clamp(f32(acc) * multiplier[c], clamp_min_f32, clamp_max_f32)
/// The work is split over `workgroup_count` callers; each does the share `workgroup` of
/// 0..workgroup_count-1. Any split gives the same output. weights and bias are what the level's
/// pack function wrote.
typedef void (*cq_integer_i8_fn)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                 const float *multiplier, const cq_conv2d_params *params,
                                 int8_t *output, size_t workgroup, size_t workgroup_count);
typedef void (*cq_integer_f32_fn)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                  const float *multiplier, const cq_conv2d_params *params,
                                  float *output, size_t workgroup, size_t workgroup_count);
/// Convolution of f32 values: sum over ky, kx, ic, then bias, then clamp to clamp_*_f32 (evaluator
/// only). The order of the sum and the use of FMA are the level's own.
typedef void (*cq_f32_fn)(const float *input, const float *weights, const float *bias,
                          const cq_conv2d_params *params, float *output, size_t workgroup,
                          size_t workgroup_count);
/// Convolution of bf16 values (the upper halves of f32): f32 sum over ky, kx, ic, then the f32
/// bias, then clamp to clamp_*_f32 (bf16 numbers; infinities and +-FLT_MAX bound nothing; NaN
/// passes), then one rounding to nearest even. Products of bf16 are exact in f32, so that FMA
/// changes nothing but near the ends of f32's range; levels with a dot product of pairs sum in
/// another order and take denormals as 0. Weights are finite.
typedef void (*cq_bf16_fn)(const uint16_t *input, const uint16_t *weights, const float *bias,
                           const cq_conv2d_params *params, uint16_t *output, size_t workgroup,
                           size_t workgroup_count);

/// Size of the packed weights of one convolution: in bytes (i8, w4a8), or in values.
typedef size_t (*cq_packed_size_fn)(const cq_conv2d_params *params);
/// Packs weights [out_c][kernel_h][kernel_w][in_c] (depthwise: [kernel_h][kernel_w][out_c]) and the
/// bias [out_c]; zero-point corrections that a level needs are folded into packed_bias, which has
/// out_c entries like bias. The multipliers are not packed. w4a8: weights of -8..7, one per byte
/// before packing, two per byte after. The float convolutions take the bias as it is. Depthwise:
/// out_c is a multiple of in_c and output channel c reads input channel c / (out_c / in_c), TOSA's
/// order.
typedef void (*cq_pack_integer_fn)(const int8_t *weights, const int32_t *bias,
                                   const cq_conv2d_params *params, int8_t *packed_weights,
                                   int32_t *packed_bias);
typedef void (*cq_pack_f32_fn)(const float *weights, const cq_conv2d_params *params,
                               float *packed_weights);
typedef void (*cq_pack_bf16_fn)(const uint16_t *weights, const cq_conv2d_params *params,
                                uint16_t *packed_weights);

/// The functions of one op on one type of weights and activations.
typedef struct cq_integer_kernels {
  cq_packed_size_fn size;
  cq_pack_integer_fn pack;
  cq_integer_i8_fn to_i8;
  cq_integer_f32_fn to_f32;
} cq_integer_kernels;
typedef struct cq_f32_kernels {
  cq_packed_size_fn size;
  cq_pack_f32_fn pack;
  cq_f32_fn run;
} cq_f32_kernels;
typedef struct cq_bf16_kernels {
  cq_packed_size_fn size;
  cq_pack_bf16_fn pack;
  cq_bf16_fn run;
} cq_bf16_kernels;

/// What one ISA level offers. Its name is the end of the symbols' names, e.g.
/// cq_conv2d_i8_i8_avx512vnni, cq_depthwise_w4a8_f32_portable, cq_conv2d_bf16_avx2.
typedef struct cq_level {
  const char *name;            ///< as in a profile's "kernel_level" and in cq_<name>.o
  const char *const *features; ///< CPU flags needed, spelled as in /proc/cpuinfo, NULL-terminated
  cq_integer_kernels conv2d_i8, depthwise_i8, conv2d_w4a8, depthwise_w4a8;
  cq_f32_kernels conv2d_f32, depthwise_f32;
  cq_bf16_kernels conv2d_bf16, depthwise_bf16;
} cq_level;

/// All levels of this build, oldest first (the last that the CPU supports is the best);
/// NULL-terminated.
const cq_level *const *cq_levels(void);
/// The level of that name, or NULL.
const cq_level *cq_find_level(const char *name);

#ifdef __cplusplus
}
#endif
#endif // CONQUER_OPT_KERNELS_CQ_KERNELS_H
