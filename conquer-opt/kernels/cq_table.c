//===- cq_table.c - the levels of this build --------------------------------------------------===//
//
// Hosted code, not part of the bare-metal objects. CMake defines CQ_HAVE_<LEVEL> for each level
// that it compiles.
//
//===------------------------------------------------------------------------------------------===//
#include "conquer-opt/kernels/cq_common.h"

#include <string.h>

#define CQ_TABLE_ENTRY(L, feature_list)                                                            \
  CQ_DECLARE_LEVEL(L);                                                                             \
  static const cq_level CQ_JOIN(level, L) = {                                                      \
      .name = #L,                                                                                  \
      .features = feature_list,                                                                    \
      .conv2d_i8_size = CQ_JOIN(cq_conv2d_i8_size, L),                                             \
      .depthwise_i8_size = CQ_JOIN(cq_depthwise_i8_size, L),                                       \
      .conv2d_f32_size = CQ_JOIN(cq_conv2d_f32_size, L),                                           \
      .depthwise_f32_size = CQ_JOIN(cq_depthwise_f32_size, L),                                     \
      .conv2d_i8_pack = CQ_JOIN(cq_conv2d_i8_pack, L),                                             \
      .depthwise_i8_pack = CQ_JOIN(cq_depthwise_i8_pack, L),                                       \
      .conv2d_f32_pack = CQ_JOIN(cq_conv2d_f32_pack, L),                                           \
      .depthwise_f32_pack = CQ_JOIN(cq_depthwise_f32_pack, L),                                     \
      .conv2d_i8_i8 = CQ_JOIN(cq_conv2d_i8_i8, L),                                                 \
      .depthwise_i8_i8 = CQ_JOIN(cq_depthwise_i8_i8, L),                                           \
      .conv2d_i8_f32 = CQ_JOIN(cq_conv2d_i8_f32, L),                                               \
      .depthwise_i8_f32 = CQ_JOIN(cq_depthwise_i8_f32, L),                                         \
      .conv2d_f32 = CQ_JOIN(cq_conv2d_f32, L),                                                     \
      .depthwise_f32 = CQ_JOIN(cq_depthwise_f32, L),                                               \
  }

static const char *const portable_features[] = {NULL};
CQ_TABLE_ENTRY(portable, portable_features);

#ifdef CQ_HAVE_AVX2
static const char *const avx2_features[] = {"avx", "avx2", "bmi1",  "bmi2", "f16c",
                                            "fma", "abm",  "movbe", NULL};
CQ_TABLE_ENTRY(avx2, avx2_features);
#endif

#ifdef CQ_HAVE_AVX512VNNI
static const char *const avx512vnni_features[] = {
    "avx",     "avx2",     "bmi1",     "bmi2",     "f16c",     "fma",         "abm", "movbe",
    "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vnni", NULL};
CQ_TABLE_ENTRY(avx512vnni, avx512vnni_features);
#endif

static const cq_level *const levels[] = {
    &level_portable,
#ifdef CQ_HAVE_AVX2
    &level_avx2,
#endif
#ifdef CQ_HAVE_AVX512VNNI
    &level_avx512vnni,
#endif
    NULL,
};

const cq_level *const *cq_levels(void) { return levels; }

const cq_level *cq_find_level(const char *name) {
  for (const cq_level *const *level = levels; *level; ++level)
    if (strcmp((*level)->name, name) == 0)
      return *level;
  return NULL;
}
