//===- cq_conv2d_i8_avx512vnni.c - i8 convolution with vpdpbusd -----------------------------===//
//
// Implicit GEMM, cut as cq_tiles_avx512.h says. Weights are packed per block of output channels as
//   [chunk of input channels][tap][input channels of the chunk / 4][channels of the block][4]
// with zeros where in_c is no multiple of 4. Layers with few input channels ("compact", the first
// layer of a network) take the whole window as one row of K = kernel_h * kernel_w * in_c bytes,
//   [K / 4][channels of the block][4],
// and copy the window of each pixel into such a row first.
//
// Signedness. vpdpbusd multiplies unsigned by signed bytes: acc += sum of 4 products u * w, exact
// in i32, without saturation. The input x is signed, so the kernel uses u = x XOR 0x80 = x + 128,
// which is in 0..255. Then
//   sum (x - zp) * w = sum u * w - (128 + zp) * sum w,
// and the last term depends on the weights alone: pack subtracts it from the bias. Padding is the
// byte zp, for which (x - zp) * w = 0, so that every window sums all its taps and the term is the
// same for all pixels. Sums may wrap on the way: i32 addition is exact modulo 2^32, and the true
// result fits.
//
//===----------------------------------------------------------------------------------------===//
#include "conquer-opt/kernels/cq_epilogue_avx512.h"
#include "conquer-opt/kernels/cq_tiles_avx512.h"

enum {
  COMPACT_CHANNELS = 16, // fewer input channels than this ...
  COMPACT_BYTES = 2048,  // ... and at most this window: compact
  CHUNK_CHANNELS = 8192, // input channels of a piece, a multiple of 4
};

static int is_compact(const cq_conv2d_params *p) {
  const size_t taps = (size_t)p->kernel_h * (size_t)p->kernel_w;
  return p->in_c < COMPACT_CHANNELS && taps > 1 && taps * (size_t)p->in_c <= COMPACT_BYTES;
}

/// Bytes of one output channel's weights after packing.
static size_t packed_filter_size(const cq_conv2d_params *p) {
  const size_t taps = (size_t)p->kernel_h * (size_t)p->kernel_w, in_c = (size_t)p->in_c;
  return is_compact(p) ? cq_round_up(taps * in_c, 4) : taps * cq_round_up(in_c, 4);
}

size_t CQ_SYMBOL(cq_conv2d_i8_size)(const cq_conv2d_params *p) {
  return cq_vector_count(p) * 16 * packed_filter_size(p);
}

/// Writes `size` bytes of the weights of each of `channels` filters (`valid` of them exist), 4
/// bytes of each in turn. Returns the end of what it wrote.
static int8_t *pack_run(const int8_t *weights, size_t filter_size, size_t size, size_t channels,
                        size_t valid, int8_t *out) {
  for (size_t k = 0; k < cq_round_up(size, 4); k += 4)
    for (size_t c = 0; c < channels; ++c)
      for (size_t i = k; i < k + 4; ++i)
        *out++ = c < valid && i < size ? weights[c * filter_size + i] : 0;
  return out;
}

void CQ_SYMBOL(cq_conv2d_i8_pack)(const int8_t *weights, const int32_t *bias,
                                  const cq_conv2d_params *p, int8_t *packed_weights,
                                  int32_t *packed_bias) {
  const size_t in_c = (size_t)p->in_c, out_c = (size_t)p->out_c;
  const size_t taps = (size_t)p->kernel_h * (size_t)p->kernel_w, filter_size = taps * in_c;
  for (size_t b = 0; b < cq_block_count(p); ++b) {
    const cq_range block = cq_part(cq_vector_count(p), b, cq_block_count(p));
    const size_t c = block.begin * 16, channels = (block.end - block.begin) * 16;
    const size_t valid = cq_min(channels, out_c - c);
    const int8_t *filters = weights + c * filter_size;
    if (is_compact(p)) {
      packed_weights = pack_run(filters, filter_size, filter_size, channels, valid, packed_weights);
      continue;
    }
    for (size_t ic = 0; ic < in_c; ic += CHUNK_CHANNELS)
      for (size_t t = 0; t < taps; ++t)
        packed_weights =
            pack_run(filters + t * in_c + ic, filter_size, cq_min(in_c - ic, CHUNK_CHANNELS),
                     channels, valid, packed_weights);
  }
  for (size_t c = 0; c < out_c; ++c) {
    uint32_t sum = 0;
    for (size_t k = 0; k < filter_size; ++k)
      sum += (uint32_t)weights[c * filter_size + k];
    packed_bias[c] = (int32_t)((uint32_t)bias[c] - (uint32_t)(128 + p->input_zp) * sum);
  }
}

/// What a tile function needs. One piece per call; the sums wait in `partial` between pieces.
typedef struct tile_job {
  const int8_t *weights; ///< of this block and piece
  const int32_t *bias;   ///< of this block, as are the next two
  const float *multiplier;
  uint64_t channel_mask; ///< which of the block's channels exist
  size_t taps;           ///< rows of taps.rows used
  size_t bytes;          ///< of one row, in whole words of 4
  size_t tail;           ///< 0..3 bytes more, which are in tails
  int first, last;       ///< whether this is the first or last piece
  int8_t *output_i8;     ///< first element of the tile; one of the outputs is NULL
  float *output_f32;
  const cq_conv2d_params *params;
  cq_tile_taps input;
  int32_t tails[CQ_TILE_TAPS][CQ_TILE_PIXELS];
  int32_t partial[CQ_TILE_PIXELS][CQ_TILE_VECTORS * 16];
} tile_job;

/// Stores one row of 16 * vectors results as f32.
CQ_INLINE void store_f32(const tile_job *job, const __m512i *acc, float *output, int vectors) {
  for (int j = 0; j < vectors; ++j) {
    const __mmask16 mask = cq_vector_mask(job->channel_mask, j);
    cq_store_f32(output + 16 * j, mask, acc[j],
                 _mm512_maskz_loadu_ps(mask, job->multiplier + 16 * j), job->params);
  }
}

/// Stores one row of 16 * vectors results as i8.
CQ_INLINE void store_i8(const tile_job *job, const __m512i *acc, int8_t *output, int vectors) {
  __m512i value[CQ_TILE_VECTORS] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                                    _mm512_setzero_si512(), _mm512_setzero_si512()};
  for (int j = 0; j < vectors; ++j)
    value[j] = cq_scale_round(
        acc[j],
        _mm512_maskz_loadu_ps(cq_vector_mask(job->channel_mask, j), job->multiplier + 16 * j),
        job->params);
  // The packs work within lanes: word 4 * i + j belongs at 4 * j + i.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  cq_store_bytes(output, job->channel_mask,
                 _mm512_permutexvar_epi32(order, cq_pack_i8(value, job->params)));
}

/// One step of 4 input bytes per pixel. `word(r)` of the caller is inlined as an expression.
#define DOT_STEP(load_word)                                                                        \
  do {                                                                                             \
    __m512i b[CQ_TILE_VECTORS];                                                                    \
    for (int j = 0; j < vectors; ++j)                                                              \
      b[j] = _mm512_loadu_si512(w + 64 * j);                                                       \
    w += 64 * vectors;                                                                             \
    _Pragma("clang loop unroll(full)") for (int r = 0; r < rows; ++r) {                            \
      const __m512i a = _mm512_xor_si512(_mm512_set1_epi32(load_word), x80);                       \
      _Pragma("clang loop unroll(full)") for (int j = 0; j < vectors; ++j) acc[r][j] =             \
          _mm512_dpbusd_epi32(acc[r][j], a, b[j]);                                                 \
    }                                                                                              \
  } while (0)

CQ_INLINE int32_t load_i32(const char *from) {
  int32_t word;
  __builtin_memcpy(&word, from, 4);
  return word;
}

/// rows and vectors are constants wherever this is inlined, so that acc lives in registers; a look
/// at the object (kernel_object tests) proves that it does.
CQ_INLINE void tile(tile_job *job, const int rows, const int vectors) {
  __m512i x80 = _mm512_set1_epi32((int32_t)0x80808080);
  // Hides that x80 is a splat: else the compiler does XOR before the broadcast, which then is a
  // shuffle instead of a load.
  __asm__("" : "+v"(x80));
  const int8_t *w = job->weights;
  __m512i acc[CQ_TILE_PIXELS][CQ_TILE_VECTORS];
  for (int j = 0; j < vectors; ++j) {
    const __m512i bias =
        _mm512_maskz_loadu_epi32(cq_vector_mask(job->channel_mask, j), job->bias + 16 * j);
    for (int r = 0; r < rows; ++r)
      acc[r][j] = bias;
  }
  if (!job->first)
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < vectors; ++j)
        acc[r][j] = _mm512_loadu_si512(&job->partial[r][16 * j]);
  for (size_t t = 0; t < job->taps; ++t) {
    const char *row[CQ_TILE_PIXELS];
    for (int r = 0; r < rows; ++r)
      row[r] = job->input.rows[t][r];
#pragma clang loop unroll(disable)
    for (size_t k = 0; k < job->bytes; k += 4)
      DOT_STEP(load_i32(row[r] + k));
    if (job->tail)
      DOT_STEP(job->tails[t][r]);
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; ++r) {
    if (!job->last)
      for (int j = 0; j < vectors; ++j)
        _mm512_storeu_si512(&job->partial[r][16 * j], acc[r][j]);
    else if (job->output_i8)
      store_i8(job, acc[r], job->output_i8 + (size_t)r * (size_t)job->params->out_c, vectors);
    else
      store_f32(job, acc[r], job->output_f32 + (size_t)r * (size_t)job->params->out_c, vectors);
  }
}

CQ_DEFINE_TILES(tile_job, tile)

/// Copies up to 64 bytes per step; writes up to 63 bytes more, which the next row overwrites.
CQ_INLINE void copy_run(int8_t *to, const int8_t *from, size_t size) {
  for (size_t i = 0; i < size; i += 64) {
    const __mmask64 mask = cq_channel_mask(cq_min(size - i, 64));
    _mm512_storeu_si512(to + i, _mm512_maskz_loadu_epi8(mask, from + i));
  }
}

/// Copies the window of each pixel of the tile into its compact row of `stride` bytes.
static void gather(const cq_conv2d_params *p, const int8_t *input, cq_range pixels, int8_t *patch,
                   size_t stride) {
  const size_t in_c = (size_t)p->in_c;
  cq_window window = cq_window_of(p, pixels.begin);
  for (size_t q = pixels.begin; q < pixels.end; ++q, cq_window_next(p, &window)) {
    int8_t *to = patch + (q - pixels.begin) * stride;
    if (p->dilation_w == 1 && cq_window_is_inside(p, &window)) {
      const size_t run = (size_t)p->kernel_w * in_c;
      for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky, to += run)
        copy_run(to, input + cq_tap_index(p, &window, ky, 0), run);
      continue;
    }
    for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky)
      for (ptrdiff_t kx = 0; kx < p->kernel_w; ++kx, to += in_c) {
        const ptrdiff_t tap = cq_tap_index(p, &window, ky, kx);
        for (size_t c = 0; c < in_c; ++c)
          to[c] = tap < 0 ? (int8_t)p->input_zp : input[tap + (ptrdiff_t)c];
      }
  }
}

/// Points the job at the outputs, weights, bias and multipliers of one tile and block.
static cq_range set_block(tile_job *job, const cq_conv2d_params *p, size_t index,
                          const int8_t *weights, const int32_t *bias, const float *multiplier) {
  const cq_range block = cq_part(cq_vector_count(p), index, cq_block_count(p));
  const size_t c = block.begin * 16, valid = cq_min((size_t)p->out_c - c, 64);
  job->weights = weights + c * packed_filter_size(p);
  job->bias = bias + c;
  job->multiplier = multiplier + c;
  job->channel_mask = cq_channel_mask(cq_min(valid, (block.end - block.begin) * 16));
  return block;
}

/// Runs all pieces of one tile and block whose input is read in place.
static void run_pieces(tile_job *job, const cq_conv2d_params *p, const int8_t *input,
                       const int8_t *padding, cq_range pixels, size_t vectors) {
  const size_t taps = (size_t)p->kernel_h * (size_t)p->kernel_w, in_c = (size_t)p->in_c;
  for (size_t c = 0; c < in_c; c += CHUNK_CHANNELS)
    for (size_t t = 0; t < taps; t += CQ_TILE_TAPS) {
      const size_t channels = cq_min(in_c - c, CHUNK_CHANNELS);
      const cq_range group = {t, cq_min(taps, t + CQ_TILE_TAPS)};
      job->taps = group.end - group.begin;
      job->bytes = channels / 4 * 4;
      job->tail = channels % 4;
      job->first = c == 0 && t == 0;
      job->last = c + channels == in_c && group.end == taps;
      cq_tile_set_group(&job->input, p, group);
      cq_tile_set_rows(&job->input, p, input, 1, padding, pixels, c);
      if (job->tail)
        for (size_t i = 0; i < job->taps; ++i)
          for (size_t r = 0; r < pixels.end - pixels.begin; ++r) {
            const uint8_t *from = (const uint8_t *)job->input.rows[i][r] + job->bytes;
            uint32_t word = from[0];
            if (job->tail > 1)
              word |= (uint32_t)from[1] << 8;
            if (job->tail > 2)
              word |= (uint32_t)from[2] << 16;
            job->tails[i][r] = (int32_t)word;
          }
      call_tile(job, pixels.end - pixels.begin, vectors);
      job->weights += job->taps * cq_round_up(channels, 4) * vectors * 16;
    }
}

/// Units of work are (block, tile) pairs, all tiles of a block in a row, so that its weights stay
/// in the cache; compact layers, whose weights are small, take all blocks of a tile in a row, so
/// that the windows are copied once.
CQ_INLINE void conv2d(const int8_t *input, const int8_t *weights, const int32_t *bias,
                      const float *multiplier, const cq_conv2d_params *p, int8_t *output_i8,
                      float *output_f32, size_t workgroup, size_t workgroup_count) {
  const size_t tiles = cq_tile_count(p), blocks = cq_block_count(p), out_c = (size_t)p->out_c;
  const int compact = is_compact(p);
  _Alignas(64) int8_t buffer[CQ_TILE_PIXELS * COMPACT_BYTES + 64]; // windows, or padding
  tile_job job;
  job.params = p;
  job.output_i8 = NULL;
  job.output_f32 = NULL;
  job.input.group.begin = job.input.group.end = 0;
  size_t begin, end, last_tile = tiles;
  cq_share(tiles * blocks, workgroup, workgroup_count, &begin, &end);
  if (!compact)
    for (size_t i = 0; i < cq_min((size_t)p->in_c, CHUNK_CHANNELS); ++i)
      buffer[i] = (int8_t)p->input_zp;
  for (size_t unit = begin; unit < end; ++unit) {
    const size_t tile_index = compact ? unit / blocks : unit % tiles;
    const cq_range pixels = cq_part(cq_output_pixels(p), tile_index, tiles);
    const cq_range block =
        set_block(&job, p, compact ? unit % blocks : unit / tiles, weights, bias, multiplier);
    const size_t first = pixels.begin * out_c + block.begin * 16;
    if (output_i8)
      job.output_i8 = output_i8 + first;
    else
      job.output_f32 = output_f32 + first;
    if (!compact) {
      run_pieces(&job, p, input, buffer, pixels, block.end - block.begin);
      continue;
    }
    job.taps = 1;
    job.bytes = packed_filter_size(p);
    job.tail = 0;
    job.first = job.last = 1;
    if (tile_index != last_tile)
      gather(p, input, pixels, buffer, job.bytes);
    last_tile = tile_index;
    for (size_t r = 0; r < CQ_TILE_PIXELS; ++r)
      job.input.rows[0][r] = (const char *)buffer + r * job.bytes;
    call_tile(&job, pixels.end - pixels.begin, block.end - block.begin);
  }
}

void CQ_SYMBOL(cq_conv2d_i8_i8)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                const float *multiplier, const cq_conv2d_params *p, int8_t *output,
                                size_t workgroup, size_t workgroup_count) {
  conv2d(input, weights, bias, multiplier, p, output, NULL, workgroup, workgroup_count);
}

void CQ_SYMBOL(cq_conv2d_i8_f32)(const int8_t *input, const int8_t *weights, const int32_t *bias,
                                 const float *multiplier, const cq_conv2d_params *p, float *output,
                                 size_t workgroup, size_t workgroup_count) {
  conv2d(input, weights, bias, multiplier, p, NULL, output, workgroup, workgroup_count);
}
