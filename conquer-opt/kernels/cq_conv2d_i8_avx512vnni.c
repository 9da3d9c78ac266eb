//===- cq_conv2d_i8_avx512vnni.c - i8 convolution with vpdpbusd -------------------------------===//
//
// Implicit GEMM, cut as cq_tiles_avx512.h says. Weights are packed per block of output channels as
//   [chunk of input channels][tap][input channels of the chunk / 4][channels of the block][4]
// with zeros where in_c is no multiple of 4. Layers with few input channels ("compact", the first
// layer of a network) take each row of the window as one tap of kernel_w * in_c contiguous bytes:
//   [kernel_h][kernel_w * in_c / 4][channels of the block][4].
// Their windows that touch the padding, or the end of the input, are copied to the stack first.
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
//===------------------------------------------------------------------------------------------===//
#include "conquer-opt/kernels/cq_epilogue_avx512.h"
#include "conquer-opt/kernels/cq_tiles_avx512.h"

enum {
  COMPACT_CHANNELS = 16, // fewer input channels than this ...
  COMPACT_BYTES = 64,    // ... rows of the window of at most one vector ...
  COMPACT_ROWS = 16,     // ... and at most so many rows: compact
  CHUNK_CHANNELS = 8192, // input channels of a piece, a multiple of 4
};

static int is_compact(const cq_conv2d_params *p) {
  return p->in_c < COMPACT_CHANNELS && p->kernel_w > 1 && p->dilation_w == 1 &&
         p->kernel_w <= COMPACT_BYTES / p->in_c && p->kernel_h <= COMPACT_ROWS;
}

/// What the kernel takes as a tap: how many there are, and how many input bytes each has.
static size_t tap_count(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (is_compact(p) ? 1 : (size_t)p->kernel_w);
}
static size_t tap_size(const cq_conv2d_params *p) {
  return (size_t)p->in_c * (is_compact(p) ? (size_t)p->kernel_w : 1);
}

/// Bytes of one output channel's weights after packing.
static size_t packed_filter_size(const cq_conv2d_params *p) {
  return tap_count(p) * cq_round_up(tap_size(p), 4);
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
  const size_t size = tap_size(p), taps = tap_count(p), filter_size = taps * size;
  const size_t out_c = (size_t)p->out_c;
  for (size_t b = 0; b < cq_block_count(p); ++b) {
    const cq_range block = cq_part(cq_vector_count(p), b, cq_block_count(p));
    const size_t c = block.begin * 16, channels = (block.end - block.begin) * 16;
    for (size_t chunk = 0; chunk < size; chunk += CHUNK_CHANNELS)
      for (size_t t = 0; t < taps; ++t)
        packed_weights = pack_run(weights + c * filter_size + t * size + chunk, filter_size,
                                  cq_min(size - chunk, CHUNK_CHANNELS), channels,
                                  cq_min(channels, out_c - c), packed_weights);
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

/// Points the job at the weights, bias and multipliers of one block.
static void set_block(tile_job *job, const cq_conv2d_params *p, cq_range block,
                      const int8_t *weights, const int32_t *bias, const float *multiplier) {
  const size_t c = block.begin * 16, count = block.end * 16 - c;
  job->weights = weights + c * packed_filter_size(p);
  job->bias = bias + c;
  job->multiplier = multiplier + c;
  job->channel_mask = cq_channel_mask(cq_min((size_t)p->out_c - c, count));
}

/// Fills the words that hold the last in_c % 4 channels of each tap and pixel.
static void set_tails(tile_job *job, size_t rows) {
  for (size_t t = 0; t < job->taps; ++t)
    for (size_t r = 0; r < rows; ++r) {
      const uint8_t *from = (const uint8_t *)job->input.rows[t][r] + job->bytes;
      uint32_t word = from[0];
      if (job->tail > 1)
        word |= (uint32_t)from[1] << 8;
      if (job->tail > 2)
        word |= (uint32_t)from[2] << 16;
      job->tails[t][r] = (int32_t)word;
    }
}

/// Runs all pieces of one tile and block.
static void run_pieces(tile_job *job, const cq_conv2d_params *p, const int8_t *input,
                       const int8_t *padding, const cq_walk *walk) {
  const size_t taps = tap_count(p), in_c = (size_t)p->in_c;
  const size_t vectors = walk->vectors.end - walk->vectors.begin;
  const int8_t *weights = job->weights;
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
      cq_tile_set_rows(&job->input, p, input, 1, padding, walk->window, walk->rows, c);
      if (job->tail)
        set_tails(job, walk->rows);
      call_tile(job, walk->rows, vectors);
      job->weights += job->taps * cq_round_up(channels, 4) * vectors * 16;
    }
  job->weights = weights;
}

/// Whether each row of a window inside the image can be taken as one tap: its bytes are contiguous,
/// and the packed weights of its taps, too.
static int has_whole_rows(const cq_conv2d_params *p) {
  return p->dilation_w == 1 && p->kernel_h <= CQ_TILE_TAPS &&
         (is_compact(p) || (p->in_c % 4 == 0 && p->in_c <= CHUNK_CHANNELS));
}

/// If all windows of the tile lie inside the image, and no read of whole words leaves the input,
/// sets the job up to read whole rows of the windows, and returns 1.
static int set_whole_rows(tile_job *job, const cq_conv2d_params *p, const int8_t *input,
                          const cq_walk *walk) {
  const ptrdiff_t row_stride = (ptrdiff_t)p->in_w * p->in_c;
  const ptrdiff_t input_size = (ptrdiff_t)p->batch * p->in_h * row_stride;
  const ptrdiff_t bytes = (ptrdiff_t)cq_round_up((size_t)p->kernel_w * (size_t)p->in_c, 4);
  cq_window window = walk->window;
  for (size_t r = 0; r < walk->rows; ++r, cq_window_next(p, &window)) {
    ptrdiff_t at =
        ((ptrdiff_t)window.image * p->in_h + window.y0) * row_stride + window.x0 * p->in_c;
    if (!cq_window_is_inside(p, &window) ||
        at + (p->kernel_h - 1) * p->dilation_h * row_stride + bytes > input_size)
      return 0;
    for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky, at += p->dilation_h * row_stride)
      job->input.rows[ky][r] = (const char *)input + at;
  }
  job->taps = (size_t)p->kernel_h;
  job->bytes = (size_t)bytes;
  job->tail = 0;
  job->first = job->last = 1;
  return 1;
}

/// Which bytes of a row of the window lie inside the image, seen from its first byte.
static uint64_t row_mask(const cq_conv2d_params *p, ptrdiff_t x0) {
  const ptrdiff_t left = x0 < 0 ? -x0 : 0, right = p->in_w - x0;
  if (right <= 0 || left >= p->kernel_w)
    return 0;
  const size_t last = cq_min((size_t)right, (size_t)p->kernel_w);
  return cq_channel_mask(last * (size_t)p->in_c) & ~cq_channel_mask((size_t)left * (size_t)p->in_c);
}

/// A compact layer's pointers: into the input, or, where a row of the window leaves the image or
/// would be read beyond the end of the input, to a copy of the row in `copies`.
static void set_compact_rows(tile_job *job, const cq_conv2d_params *p, const int8_t *input,
                             int8_t (*copies)[COMPACT_ROWS][COMPACT_BYTES], const cq_walk *walk) {
  const ptrdiff_t input_size = (ptrdiff_t)p->batch * p->in_h * p->in_w * p->in_c;
  const __m512i zp = _mm512_set1_epi8((int8_t)p->input_zp);
  cq_window window = walk->window;
  job->taps = tap_count(p);
  job->bytes = cq_round_up(tap_size(p), 4);
  job->tail = 0;
  job->first = job->last = 1;
  for (size_t r = 0; r < walk->rows; ++r, cq_window_next(p, &window)) {
    const uint64_t mask = row_mask(p, window.x0);
    const int whole = mask == cq_channel_mask(tap_size(p));
    for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky) {
      const ptrdiff_t y = window.y0 + ky * p->dilation_h;
      const ptrdiff_t at =
          (((ptrdiff_t)window.image * p->in_h + y) * p->in_w + window.x0) * p->in_c;
      const int inside = y >= 0 && y < p->in_h;
      if (inside && whole && at + (ptrdiff_t)job->bytes <= input_size) {
        job->input.rows[ky][r] = (const char *)input + at;
        continue;
      }
      // Lanes outside the mask are not read.
      const __m512i row = inside ? _mm512_mask_loadu_epi8(zp, mask, input + at) : zp;
      _mm512_store_si512(copies[r][ky], row);
      job->input.rows[ky][r] = (const char *)copies[r][ky];
    }
  }
}

/// Units of work are (block, tile) pairs, all tiles of a block in a row, so that its weights stay
/// in the cache; compact layers, whose weights are small, take all blocks of a tile in a row, so
/// that their pointers are set up once.
CQ_INLINE void conv2d(const int8_t *input, const int8_t *weights, const int32_t *bias,
                      const float *multiplier, const cq_conv2d_params *p, int8_t *output_i8,
                      float *output_f32, size_t workgroup, size_t workgroup_count) {
  const int compact = is_compact(p), has_rows = has_whole_rows(p);
  _Alignas(64) union {
    int8_t padding[CHUNK_CHANNELS];
    int8_t copies[CQ_TILE_PIXELS][COMPACT_ROWS][COMPACT_BYTES];
  } buffer;
  tile_job job;
  job.params = p;
  job.output_i8 = NULL;
  job.output_f32 = NULL;
  job.input.group.begin = job.input.group.end = 0;
  if (!compact)
    for (size_t i = 0; i < cq_min((size_t)p->in_c, CHUNK_CHANNELS); ++i)
      buffer.padding[i] = (int8_t)p->input_zp;
  cq_walk walk = cq_walk_begin(p, /*tiles_first=*/!compact, workgroup, workgroup_count);
  for (; walk.left; cq_walk_next(&walk, p)) {
    const size_t at = walk.pixel * (size_t)p->out_c + walk.vectors.begin * 16;
    if (output_i8)
      job.output_i8 = output_i8 + at;
    else
      job.output_f32 = output_f32 + at;
    if (walk.is_new_block)
      set_block(&job, p, walk.vectors, weights, bias, multiplier);
    if (compact ? !walk.is_new_tile : has_rows && set_whole_rows(&job, p, input, &walk)) {
      // The pointers are set: those of a compact tile serve all its blocks.
    } else if (!compact) {
      run_pieces(&job, p, input, buffer.padding, &walk);
      continue;
    } else if (!set_whole_rows(&job, p, input, &walk)) {
      set_compact_rows(&job, p, input, buffer.copies, &walk);
    }
    call_tile(&job, walk.rows, walk.vectors.end - walk.vectors.begin);
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
