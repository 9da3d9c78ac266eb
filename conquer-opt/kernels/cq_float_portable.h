//===- cq_float_portable.h - what the plain C kernels on f32 and on bf16 share ----------------===//
//
// They are written once, for values of CQ_FLOAT_BITS bits: a source defines it as 32 or 16 and
// includes the header with the code. Sums are f32 in either case.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_FLOAT_PORTABLE_H
#define CONQUER_OPT_KERNELS_CQ_FLOAT_PORTABLE_H

#include "conquer-opt/kernels/cq_common.h"

#ifndef CQ_FLOAT_BITS
#error "define CQ_FLOAT_BITS as 32 or 16"
#endif

/// The symbol cq_<op>_<type><suffix>_<level>; the type of stored values; from and to f32, the
/// latter with the clamp of the epilogue.
#if CQ_FLOAT_BITS == 16
#define CQ_FLOAT_SYMBOL(op, suffix) CQ_SYMBOL(cq_##op##_bf16##suffix)
typedef cq_bf16 cq_float;

CQ_INLINE float cq_float_load(cq_float value) { return cq_bf16_to_f32(value); }
CQ_INLINE void cq_float_load16(const cq_float *from, cq_f32x16 *to) { cq_bf16_to_f32x16(from, to); }
CQ_INLINE cq_float cq_float_finish(float value, const cq_conv2d_params *p) {
  return cq_finish_bf16(value, p);
}
#else
#define CQ_FLOAT_SYMBOL(op, suffix) CQ_SYMBOL(cq_##op##_f32##suffix)
typedef cq_f32 cq_float;

CQ_INLINE float cq_float_load(cq_float value) { return value; }
CQ_INLINE void cq_float_load16(const cq_float *from, cq_f32x16 *to) {
  __builtin_memcpy(to, from, sizeof(*to));
}
CQ_INLINE cq_float cq_float_finish(float value, const cq_conv2d_params *p) {
  return cq_clamp(value, p->clamp_min_f32, p->clamp_max_f32);
}
#endif

#endif // CONQUER_OPT_KERNELS_CQ_FLOAT_PORTABLE_H
