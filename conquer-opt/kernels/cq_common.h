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
typedef int32_t cq_i32x16 __attribute__((vector_size(64)));
typedef float cq_f32x16 __attribute__((vector_size(64)));

/// Declares the entry points of one level; its sources and the table include it, so that a
/// signature that drifts does not compile.
#define CQ_DECLARE_LEVEL(L)                                                                        \
  size_t CQ_JOIN(cq_conv2d_i8_size, L)(const cq_conv2d_params *);                                  \
  size_t CQ_JOIN(cq_depthwise_i8_size, L)(const cq_conv2d_params *);                               \
  size_t CQ_JOIN(cq_conv2d_f32_size, L)(const cq_conv2d_params *);                                 \
  size_t CQ_JOIN(cq_depthwise_f32_size, L)(const cq_conv2d_params *);                              \
  void CQ_JOIN(cq_conv2d_i8_pack, L)(const int8_t *, const int32_t *, const cq_conv2d_params *,    \
                                     int8_t *, int32_t *);                                         \
  void CQ_JOIN(cq_depthwise_i8_pack, L)(const int8_t *, const int32_t *, const cq_conv2d_params *, \
                                        int8_t *, int32_t *);                                      \
  void CQ_JOIN(cq_conv2d_f32_pack, L)(const float *, const cq_conv2d_params *, float *);           \
  void CQ_JOIN(cq_depthwise_f32_pack, L)(const float *, const cq_conv2d_params *, float *);        \
  void CQ_JOIN(cq_conv2d_i8_i8, L)(const int8_t *, const int8_t *, const int32_t *, const float *, \
                                   const cq_conv2d_params *, int8_t *, size_t, size_t);            \
  void CQ_JOIN(cq_depthwise_i8_i8, L)(const int8_t *, const int8_t *, const int32_t *,             \
                                      const float *, const cq_conv2d_params *, int8_t *, size_t,   \
                                      size_t);                                                     \
  void CQ_JOIN(cq_conv2d_i8_f32, L)(const int8_t *, const int8_t *, const int32_t *,               \
                                    const float *, const cq_conv2d_params *, float *, size_t,      \
                                    size_t);                                                       \
  void CQ_JOIN(cq_depthwise_i8_f32, L)(const int8_t *, const int8_t *, const int32_t *,            \
                                       const float *, const cq_conv2d_params *, float *, size_t,   \
                                       size_t);                                                    \
  void CQ_JOIN(cq_conv2d_f32, L)(const float *, const float *, const float *,                      \
                                 const cq_conv2d_params *, float *, size_t, size_t);               \
  void CQ_JOIN(cq_depthwise_f32, L)(const float *, const float *, const float *,                   \
                                    const cq_conv2d_params *, float *, size_t, size_t)

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

#endif // CONQUER_OPT_KERNELS_CQ_COMMON_H
