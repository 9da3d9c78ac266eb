//===- cq_conv2d_f32_avx512vnni.c - f32 convolution with AVX-512 FMA --------------------------===//
//
// The evaluator's f32 convolution on a CPU of this level; cut as cq_tiles_avx512.h says. Weights
// are packed per block of output channels as
//   [chunk of input channels][tap][input channels of the chunk][channels of the block],
// filled with zeros to whole vectors. Every sum keeps the order ky, kx, ic (for up to 2048 input
// channels), with fused multiply-adds, then the bias.
//
//===------------------------------------------------------------------------------------------===//
#include "conquer-opt/kernels/cq_epilogue_avx512.h"
#include "conquer-opt/kernels/cq_tiles_avx512.h"

enum { CHUNK_CHANNELS = 2048 }; // input channels of a piece

static size_t filter_size(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (size_t)p->kernel_w * (size_t)p->in_c;
}

size_t CQ_SYMBOL(cq_conv2d_f32_size)(const cq_conv2d_params *p) {
  return cq_vector_count(p) * 16 * filter_size(p);
}

void CQ_SYMBOL(cq_conv2d_f32_pack)(const float *weights, const cq_conv2d_params *p,
                                   float *packed_weights) {
  const size_t in_c = (size_t)p->in_c, out_c = (size_t)p->out_c, size = filter_size(p);
  for (size_t b = 0; b < cq_block_count(p); ++b) {
    const cq_range block = cq_part(cq_vector_count(p), b, cq_block_count(p));
    for (size_t chunk = 0; chunk < in_c; chunk += CHUNK_CHANNELS)
      for (size_t t = 0; t < size / in_c; ++t)
        for (size_t ic = chunk; ic < cq_min(in_c, chunk + CHUNK_CHANNELS); ++ic)
          for (size_t c = block.begin * 16; c < block.end * 16; ++c)
            *packed_weights++ = c < out_c ? weights[c * size + t * in_c + ic] : 0.0f;
  }
}

/// What a tile function needs. One piece per call; the sums wait in `partial` between pieces.
typedef struct tile_job {
  const float *weights;  ///< of this block and piece
  const float *bias;     ///< of this block
  uint64_t channel_mask; ///< which of the block's channels exist
  size_t taps;           ///< rows of input.rows used
  size_t channels;       ///< of each row
  int first, last;       ///< whether this is the first or last piece
  float *output;         ///< first element of the tile
  const cq_conv2d_params *params;
  cq_tile_taps input;
  float partial[CQ_TILE_PIXELS][CQ_TILE_VECTORS * 16];
} tile_job;

/// Adds the bias to one row of 16 * vectors sums, clamps and stores it.
CQ_INLINE void store(const tile_job *job, const __m512 *acc, float *output, int vectors) {
  const __m512 low = _mm512_set1_ps(job->params->clamp_min_f32);
  const __m512 high = _mm512_set1_ps(job->params->clamp_max_f32);
  for (int j = 0; j < vectors; ++j) {
    const __mmask16 mask = cq_vector_mask(job->channel_mask, j);
    const __m512 value = _mm512_add_ps(acc[j], _mm512_maskz_loadu_ps(mask, job->bias + 16 * j));
    _mm512_mask_storeu_ps(output + 16 * j, mask, _mm512_min_ps(_mm512_max_ps(value, low), high));
  }
}

/// rows and vectors are constants wherever this is inlined, so that acc lives in registers.
CQ_INLINE void tile(tile_job *job, const int rows, const int vectors) {
  const float *w = job->weights;
  __m512 acc[CQ_TILE_PIXELS][CQ_TILE_VECTORS];
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < vectors; ++j)
      acc[r][j] = job->first ? _mm512_setzero_ps() : _mm512_loadu_ps(&job->partial[r][16 * j]);
  for (size_t t = 0; t < job->taps; ++t) {
    const float *row[CQ_TILE_PIXELS];
    for (int r = 0; r < rows; ++r)
      row[r] = job->input.rows[t][r];
#pragma clang loop unroll(disable)
    for (size_t k = 0; k < job->channels; ++k, w += 16 * vectors) {
      __m512 b[CQ_TILE_VECTORS];
      for (int j = 0; j < vectors; ++j)
        b[j] = _mm512_loadu_ps(w + 16 * j);
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; ++r) {
        const __m512 a = _mm512_set1_ps(row[r][k]);
#pragma clang loop unroll(full)
        for (int j = 0; j < vectors; ++j)
          acc[r][j] = _mm512_fmadd_ps(a, b[j], acc[r][j]);
      }
    }
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; ++r) {
    if (job->last)
      store(job, acc[r], job->output + (size_t)r * (size_t)job->params->out_c, vectors);
    else
      for (int j = 0; j < vectors; ++j)
        _mm512_storeu_ps(&job->partial[r][16 * j], acc[r][j]);
  }
}

CQ_DEFINE_TILES()

/// Runs all pieces of one tile and block.
static void run_pieces(tile_job *job, const cq_conv2d_params *p, const float *input,
                       const float *padding, const cq_walk *walk) {
  const size_t taps = (size_t)p->kernel_h * (size_t)p->kernel_w, in_c = (size_t)p->in_c;
  const size_t vectors = walk->vectors.end - walk->vectors.begin;
  const float *weights = job->weights;
  for (size_t c = 0; c < in_c; c += CHUNK_CHANNELS)
    for (size_t t = 0; t < taps; t += CQ_TILE_TAPS) {
      const cq_range group = {t, cq_min(taps, t + CQ_TILE_TAPS)};
      job->taps = group.end - group.begin;
      job->channels = cq_min(in_c - c, CHUNK_CHANNELS);
      job->first = c == 0 && t == 0;
      job->last = c + job->channels == in_c && group.end == taps;
      cq_tile_set_group(&job->input, p, group);
      cq_tile_set_rows(&job->input, p, input, sizeof(float), padding, walk->window, walk->rows, c);
      call_tile(job, walk->rows, vectors);
      job->weights += job->taps * job->channels * vectors * 16;
    }
  job->weights = weights;
}

/// Units of work are (block, tile) pairs, all tiles of a block in a row, so that its weights stay
/// in the cache.
void CQ_SYMBOL(cq_conv2d_f32)(const float *input, const float *weights, const float *bias,
                              const cq_conv2d_params *p, float *output, size_t workgroup,
                              size_t workgroup_count) {
  float padding[CHUNK_CHANNELS];
  for (size_t i = 0; i < cq_min((size_t)p->in_c, CHUNK_CHANNELS); ++i)
    padding[i] = 0.0f;
  tile_job job;
  job.params = p;
  job.input.group.begin = job.input.group.end = 0;
  cq_walk walk = cq_walk_begin(p, /*tiles_first=*/1, workgroup, workgroup_count);
  for (; walk.left; cq_walk_next(&walk, p)) {
    const size_t c = walk.vectors.begin * 16, count = walk.vectors.end * 16 - c;
    if (walk.is_new_block) {
      job.weights = weights + c * filter_size(p);
      job.bias = bias + c;
      job.channel_mask = cq_channel_mask(cq_min((size_t)p->out_c - c, count));
    }
    job.output = output + walk.pixel * (size_t)p->out_c + c;
    run_pieces(&job, p, input, padding, &walk);
  }
}
