//===- cq_table.c - the levels of this build --------------------------------------------------===//
//
// Hosted code, not part of the bare-metal objects. CMake defines CQ_HAVE_<LEVEL> for each level
// that it compiles.
//
//===------------------------------------------------------------------------------------------===//
#include "conquer-opt/kernels/cq_common.h"

#include <string.h>

#define CQ_INTEGER_ENTRY(op, type, level)                                                          \
  .op##_##type = {CQ_JOIN(cq_##op##_##type##_size, level),                                         \
                  CQ_JOIN(cq_##op##_##type##_pack, level), CQ_JOIN(cq_##op##_##type##_i8, level),  \
                  CQ_JOIN(cq_##op##_##type##_f32, level)}
#define CQ_FLOAT_ENTRY(op, type, level)                                                            \
  .op##_##type = {CQ_JOIN(cq_##op##_##type##_size, level),                                         \
                  CQ_JOIN(cq_##op##_##type##_pack, level), CQ_JOIN(cq_##op##_##type, level)}
#define CQ_TABLE_ENTRY(level, feature_list)                                                        \
  CQ_DECLARE_LEVEL(level);                                                                         \
  static const cq_level CQ_JOIN(level_of, level) = {                                               \
      .name = #level,                                                                              \
      .features = (feature_list),                                                                  \
      CQ_INTEGER_ENTRY(conv2d, i8, level),                                                         \
      CQ_INTEGER_ENTRY(depthwise, i8, level),                                                      \
      CQ_INTEGER_ENTRY(conv2d, w4a8, level),                                                       \
      CQ_INTEGER_ENTRY(depthwise, w4a8, level),                                                    \
      CQ_FLOAT_ENTRY(conv2d, f32, level),                                                          \
      CQ_FLOAT_ENTRY(depthwise, f32, level),                                                       \
      CQ_FLOAT_ENTRY(conv2d, bf16, level),                                                         \
      CQ_FLOAT_ENTRY(depthwise, bf16, level),                                                      \
  }

static const char *const portable_features[] = {NULL};
CQ_TABLE_ENTRY(portable, portable_features);

static const char *const neon_features[] = {"asimd", "asimddp", NULL};
CQ_TABLE_ENTRY(neon, neon_features);

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

#ifdef CQ_HAVE_AVX512BF16
static const char *const avx512bf16_features[] = {
    "avx",      "avx2",        "bmi1",        "bmi2",     "f16c",     "fma",
    "abm",      "movbe",       "avx512f",     "avx512bw", "avx512cd", "avx512dq",
    "avx512vl", "avx512_vnni", "avx512_bf16", NULL};
CQ_TABLE_ENTRY(avx512bf16, avx512bf16_features);
#endif

static const cq_level *const levels[] = {
    &level_of_portable,
    &level_of_neon,
#ifdef CQ_HAVE_AVX2
    &level_of_avx2,
#endif
#ifdef CQ_HAVE_AVX512VNNI
    &level_of_avx512vnni,
#endif
#ifdef CQ_HAVE_AVX512BF16
    &level_of_avx512bf16,
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
