//===- cq_common.h - helpers shared by the kernels of all levels ------------------------------===//
//
// Every kernel source is compiled once per ISA level with -DCQ_LEVEL=<level>; CQ_SYMBOL appends
// that name. Everything here is inlined: an object has no symbols but its entry points.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_COMMON_H
#define CONQUER_OPT_KERNELS_CQ_COMMON_H

#include "conquer-opt/kernels/cq_kernels.h"

#define CQ_JOIN_(base, level) base##_##level
#define CQ_JOIN(base, level) CQ_JOIN_(base, level)
#define CQ_SYMBOL(base) CQ_JOIN(base, CQ_LEVEL)
#define CQ_INLINE static inline __attribute__((always_inline))

/// Vectors of 16 values for the plain C kernels; the compiler maps them to what the ISA has. Load
/// and store with __builtin_memcpy; never pass them by value, which no ABI without AVX-512 defines.
typedef int8_t cq_i8x16 __attribute__((vector_size(16)));
typedef int16_t cq_i16x16 __attribute__((vector_size(32)));
typedef uint16_t cq_u16x16 __attribute__((vector_size(32)));
typedef int32_t cq_i32x16 __attribute__((vector_size(64)));
typedef uint32_t cq_u32x16 __attribute__((vector_size(64)));
typedef float cq_f32x16 __attribute__((vector_size(64)));

/// The entry points of one family on one level: `op` is conv2d or depthwise, `type` i8 or w4a8.
#define CQ_DECLARE_INTEGER(op, type, level)                                                        \
  size_t CQ_JOIN(cq_##op##_##type##_size, level)(const cq_conv2d_params *);                        \
  void CQ_JOIN(cq_##op##_##type##_pack, level)(const int8_t *, const int32_t *,                    \
                                               const cq_conv2d_params *, int8_t *, int32_t *);     \
  void CQ_JOIN(cq_##op##_##type##_i8, level)(const int8_t *, const int8_t *, const int32_t *,      \
                                             const float *, const cq_conv2d_params *, int8_t *,    \
                                             size_t, size_t);                                      \
  void CQ_JOIN(cq_##op##_##type##_f32, level)(const int8_t *, const int8_t *, const int32_t *,     \
                                              const float *, const cq_conv2d_params *, float *,    \
                                              size_t, size_t)
/// The same for `type` f32 or bf16.
#define CQ_DECLARE_FLOAT(op, type, level)                                                          \
  size_t CQ_JOIN(cq_##op##_##type##_size, level)(const cq_conv2d_params *);                        \
  void CQ_JOIN(cq_##op##_##type##_pack, level)(const cq_##type *, const cq_conv2d_params *,        \
                                               cq_##type *);                                       \
  void CQ_JOIN(cq_##op##_##type, level)(const cq_##type *, const cq_##type *, const float *,       \
                                        const cq_conv2d_params *, cq_##type *, size_t, size_t)
typedef float cq_f32;
typedef uint16_t cq_bf16;

/// Declares the entry points of one level; its sources and the table include it, so that a
/// signature that drifts does not compile.
#define CQ_DECLARE_LEVEL(level)                                                                    \
  CQ_DECLARE_INTEGER(conv2d, i8, level);                                                           \
  CQ_DECLARE_INTEGER(depthwise, i8, level);                                                        \
  CQ_DECLARE_INTEGER(conv2d, w4a8, level);                                                         \
  CQ_DECLARE_INTEGER(depthwise, w4a8, level);                                                      \
  CQ_DECLARE_FLOAT(conv2d, f32, level);                                                            \
  CQ_DECLARE_FLOAT(depthwise, f32, level);                                                         \
  CQ_DECLARE_FLOAT(conv2d, bf16, level);                                                           \
  CQ_DECLARE_FLOAT(depthwise, bf16, level)

#ifdef CQ_LEVEL
CQ_DECLARE_LEVEL(CQ_LEVEL);
#endif

/// The units [begin, end) of 0..units-1 that one workgroup does: contiguous, disjoint, complete.
CQ_INLINE void cq_share(size_t units, size_t workgroup, size_t workgroup_count, size_t *begin,
                        size_t *end) {
  *begin = units * workgroup / workgroup_count;
  *end = units * (workgroup + 1) / workgroup_count;
}

CQ_INLINE size_t cq_min(size_t a, size_t b) { return a < b ? a : b; }

CQ_INLINE size_t cq_round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

CQ_INLINE size_t cq_output_pixels(const cq_conv2d_params *p) {
  return (size_t)p->batch * (size_t)p->out_h * (size_t)p->out_w;
}

/// Where the window of one output pixel starts in the input; may lie outside, by the padding.
typedef struct cq_window {
  size_t image;     ///< index in the batch
  ptrdiff_t y0, x0; ///< row and column of the first tap
} cq_window;

CQ_INLINE cq_window cq_window_of(const cq_conv2d_params *p, size_t pixel) {
  const size_t row = pixel / (size_t)p->out_w;
  cq_window w;
  w.image = row / (size_t)p->out_h;
  w.y0 = (ptrdiff_t)(row % (size_t)p->out_h) * p->stride_h - p->pad_top;
  w.x0 = (ptrdiff_t)(pixel % (size_t)p->out_w) * p->stride_w - p->pad_left;
  return w;
}

/// The in_c values under tap (ky, kx) as an index into the input, or -1 where the tap lies in the
/// padding.
CQ_INLINE ptrdiff_t cq_tap_index(const cq_conv2d_params *p, const cq_window *w, ptrdiff_t ky,
                                 ptrdiff_t kx) {
  const ptrdiff_t y = w->y0 + ky * p->dilation_h, x = w->x0 + kx * p->dilation_w;
  if (y < 0 || y >= p->in_h || x < 0 || x >= p->in_w)
    return -1;
  return (((ptrdiff_t)w->image * p->in_h + y) * p->in_w + x) * p->in_c;
}

CQ_INLINE float cq_clamp(float value, float low, float high) {
  value = value > low ? value : low;
  return value < high ? value : high;
}

/// The i8 epilogue. After the clamp |value| <= 255, so that adding and subtracting 1.5 * 2^23,
/// where an f32 has no fraction bits, rounds to nearest, ties to even, without libc.
CQ_INLINE int8_t cq_requantize(int32_t acc, float multiplier, const cq_conv2d_params *p) {
  const float value = cq_clamp((float)acc * multiplier, (float)(p->clamp_min - p->output_zp),
                               (float)(p->clamp_max - p->output_zp));
  return (int8_t)(p->output_zp + (int32_t)((value + 12582912.0f) - 12582912.0f));
}

CQ_INLINE float cq_dequantize(int32_t acc, float multiplier, const cq_conv2d_params *p) {
  return cq_clamp((float)acc * multiplier, p->clamp_min_f32, p->clamp_max_f32);
}

/// bf16 is the upper half of an f32.
CQ_INLINE float cq_bf16_to_f32(uint16_t value) {
  const uint32_t bits = (uint32_t)value << 16;
  float result;
  __builtin_memcpy(&result, &bits, sizeof(result));
  return result;
}

CQ_INLINE void cq_bf16_to_f32x16(const uint16_t *from, cq_f32x16 *to) {
  cq_u16x16 values;
  __builtin_memcpy(&values, from, sizeof(values));
  *to = (cq_f32x16)(__builtin_convertvector(values, cq_u32x16) << 16);
}

/// To nearest, ties to even: what is cut off is at most half of the last place kept, so that adding
/// 0x7fff, and 1 more if the last place is odd, carries exactly when it must; beyond the largest
/// bf16 the carry gives infinity. A NaN keeps its upper bits and becomes quiet.
CQ_INLINE uint16_t cq_f32_to_bf16(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (uint16_t)(value == value ? rounded : bits >> 16 | 0x40);
}

/// The bf16 epilogue; a NaN passes the clamp. The bounds are bf16 numbers, so that clamping before
/// rounding gives the same as clamping after it.
CQ_INLINE uint16_t cq_finish_bf16(float value, const cq_conv2d_params *p) {
  value = value < p->clamp_min_f32 ? p->clamp_min_f32 : value;
  value = value > p->clamp_max_f32 ? p->clamp_max_f32 : value;
  return cq_f32_to_bf16(value);
}

#endif // CONQUER_OPT_KERNELS_CQ_COMMON_H
