//===- cq_conv2d_words_avx512.h - convolution by words of 4 input bytes, AVX-512 --------------===//
//
// Implicit GEMM, cut as cq_tiles_avx512.h says. One step multiplies a word of 4 input bytes (4 i8
// or 2 bf16 values) of every pixel of the tile with the weights of 16 output channels a vector. The
// weights are packed per block of output channels as
//   [chunk of input channels][tap][words of the chunk][channels of the block][4 bytes]
// with zeros where a tap is no whole number of words. Layers with few input channels ("compact",
// the first layer of a network) take each row of the window as one tap of kernel_w * in_c
// contiguous values:
//   [kernel_h][words of kernel_w * in_c values][channels of the block][4 bytes].
// Their windows that touch the padding, or the end of the input, are copied to the stack first.
//
// The including file says what a step is. Before:
//   cq_acc, cq_bias            types of 16 sums, and of one bias
//   CQ_VALUE_BYTES             bytes of an input value, 1 or 2
//   CQ_WEIGHT_BITS             bits of packed weights for a byte of input, 8 or 4
//   CQ_CHUNK_BYTES             bytes of input channels in a piece, a multiple of 4
//   CQ_PIECE_BYTES             most input bytes of a pixel that one piece may sum
//   CQ_READS_BEYOND            whether a word may end in bytes of another pixel, with weights of 0
//   CQ_DOT_CONSTANTS           statement that declares what CQ_DOT_STEP needs
//   CQ_DOT_STEP(word)          statement: one step; `word` is an expression in the pixel r
// After: begin_row, finish_row (see their declarations) and the entry points.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_CONV2D_WORDS_AVX512_H
#define CONQUER_OPT_KERNELS_CQ_CONV2D_WORDS_AVX512_H

#include "conquer-opt/kernels/cq_epilogue_avx512.h"
#include "conquer-opt/kernels/cq_tiles_avx512.h"

enum {
  COMPACT_CHANNEL_BYTES = 16, // fewer bytes of input channels than this ...
  COMPACT_BYTES = 64,         // ... rows of the window of at most one vector ...
  COMPACT_ROWS = 16,          // ... and at most so many rows: compact
};

/// Bytes of all channels of an input pixel.
static size_t pixel_size(const cq_conv2d_params *p) { return (size_t)p->in_c * CQ_VALUE_BYTES; }

static int is_compact(const cq_conv2d_params *p) {
  return pixel_size(p) < COMPACT_CHANNEL_BYTES && p->kernel_w > 1 && p->dilation_w == 1 &&
         (size_t)p->kernel_w <= COMPACT_BYTES / pixel_size(p) && p->kernel_h <= COMPACT_ROWS;
}

/// What the kernel takes as a tap: how many there are, and how many input bytes each has.
static size_t tap_count(const cq_conv2d_params *p) {
  return (size_t)p->kernel_h * (is_compact(p) ? 1 : (size_t)p->kernel_w);
}
static size_t tap_size(const cq_conv2d_params *p) {
  return pixel_size(p) * (is_compact(p) ? (size_t)p->kernel_w : 1);
}

/// Bytes of packed weights for so many input bytes.
static size_t packed_size(size_t input_bytes) { return input_bytes * CQ_WEIGHT_BITS / 8; }

/// Bytes of one output channel's weights after packing.
static size_t packed_filter_size(const cq_conv2d_params *p) {
  return packed_size(tap_count(p) * cq_round_up(tap_size(p), 4));
}

/// Packs the weights of one step, `size` bytes of each filter of the block. Returns the end of what
/// it wrote.
static int8_t *pack_step(const int8_t *weights, size_t filter_size, size_t size, cq_range block,
                         size_t out_c, int8_t *packed) {
  const size_t vectors = block.end - block.begin;
  for (size_t j = 0; j < vectors; ++j)
    for (size_t i = 0; i < 64; ++i) {
      const size_t c = (block.begin + j) * 16 + i / 4;
      cq_put_weight(packed, vectors, j, i,
                    c < out_c && i % 4 < size ? weights[c * filter_size + i % 4] : 0);
    }
  return packed + packed_size(64 * vectors);
}

/// Packs the weights, given as bytes.
static void pack_words(const int8_t *weights, const cq_conv2d_params *p, int8_t *packed) {
  const size_t size = tap_size(p), taps = tap_count(p), filter_size = taps * size;
  const size_t out_c = (size_t)p->out_c;
  for (size_t b = 0; b < cq_block_count(p); ++b) {
    const cq_range block = cq_part(cq_vector_count(p), b, cq_block_count(p));
    for (size_t chunk = 0; chunk < size; chunk += CQ_CHUNK_BYTES)
      for (size_t t = 0; t < taps; ++t)
        for (size_t k = chunk; k < cq_round_up(cq_min(size, chunk + CQ_CHUNK_BYTES), 4); k += 4)
          packed = pack_step(weights + t * size + k, filter_size, cq_min(size - k, 4), block, out_c,
                             packed);
  }
}

/// What a tile function needs. One piece per call; the sums wait in `partial` between pieces.
typedef struct tile_job {
  const int8_t *weights; ///< of this block and piece
  const cq_bias *bias;   ///< of this block, as are the next two
  const float *multiplier;
  uint64_t channel_mask; ///< which of the block's channels exist
  size_t taps;           ///< rows of taps.rows used
  size_t bytes;          ///< of one row, in whole words of 4
  size_t tail;           ///< 0..3 bytes more, which are in tails
  int first, last;       ///< whether this is the first or last piece
  int padding;           ///< every byte of the padding
  char *output;          ///< first element of the tile
  size_t output_bytes;   ///< of one element
  const cq_conv2d_params *params;
  cq_tile_taps input;
  int32_t tails[CQ_TILE_TAPS][CQ_TILE_PIXELS];
  cq_acc partial[CQ_TILE_PIXELS][CQ_TILE_VECTORS];
} tile_job;

/// Sets the sums of row r of a tile to what they are before the piece.
CQ_INLINE void begin_row(const tile_job *job, int r, cq_acc *acc, int vectors);
/// Stores the sums of row r behind the last piece as outputs at `output`, else to job->partial.
CQ_INLINE void finish_row(tile_job *job, int r, cq_acc *acc, void *output, int vectors);

CQ_INLINE int32_t load_i32(const char *from) {
  int32_t word;
  __builtin_memcpy(&word, from, 4);
  return word;
}

/// rows and vectors are constants wherever this is inlined, so that acc lives in registers; a look
/// at the object (kernel_object tests) proves that it does.
CQ_INLINE void tile(tile_job *job, const int rows, const int vectors) {
  CQ_DOT_CONSTANTS;
  const int8_t *w = job->weights;
  cq_acc acc[CQ_TILE_PIXELS][CQ_TILE_VECTORS];
  for (int r = 0; r < rows; ++r)
    begin_row(job, r, acc[r], vectors);
  for (size_t t = 0; t < job->taps; ++t) {
    const char *row[CQ_TILE_PIXELS];
    for (int r = 0; r < rows; ++r)
      row[r] = job->input.rows[t][r];
#pragma clang loop unroll(disable)
    for (size_t k = 0; k < job->bytes; k += 4)
      CQ_DOT_STEP(load_i32(row[r] + k));
    if (job->tail)
      CQ_DOT_STEP(job->tails[t][r]);
  }
  const size_t row_size = (size_t)job->params->out_c * job->output_bytes;
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; ++r)
    finish_row(job, r, acc[r], job->output + (size_t)r * row_size, vectors);
}

CQ_DEFINE_TILES()

/// Points the job at the weights, bias and multipliers of one block.
static void set_block(tile_job *job, const cq_conv2d_params *p, cq_range block,
                      const int8_t *weights, const cq_bias *bias, const float *multiplier) {
  const size_t c = block.begin * 16, count = block.end * 16 - c;
  job->weights = weights + c * packed_filter_size(p);
  job->bias = bias + c;
  job->multiplier = multiplier ? multiplier + c : NULL;
  job->channel_mask = cq_channel_mask(cq_min((size_t)p->out_c - c, count));
}

/// Fills the words that hold the last 0..3 bytes of each tap and pixel.
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
static void run_pieces(tile_job *job, const cq_conv2d_params *p, const char *input,
                       const char *padding, const cq_walk *walk) {
  const size_t taps = tap_count(p), size = pixel_size(p);
  const size_t vectors = walk->vectors.end - walk->vectors.begin;
  const int8_t *weights = job->weights;
  for (size_t chunk = 0; chunk < size; chunk += CQ_CHUNK_BYTES)
    for (size_t t = 0; t < taps; t += CQ_TILE_TAPS) {
      const size_t bytes = cq_min(size - chunk, CQ_CHUNK_BYTES);
      const cq_range group = {t, cq_min(taps, t + CQ_TILE_TAPS)};
      job->taps = group.end - group.begin;
      job->bytes = bytes / 4 * 4;
      job->tail = bytes % 4;
      job->first = chunk == 0 && t == 0;
      job->last = chunk + bytes == size && group.end == taps;
      cq_tile_set_group(&job->input, p, group);
      cq_tile_set_rows(&job->input, p, input, CQ_VALUE_BYTES, padding, walk->window, walk->rows,
                       chunk / CQ_VALUE_BYTES);
      if (job->tail)
        set_tails(job, walk->rows);
      call_tile(job, walk->rows, vectors);
      job->weights += packed_size(job->taps * cq_round_up(bytes, 4) * vectors * 16);
    }
  job->weights = weights;
}

/// Sets the job up for one piece whose taps are whole rows of the windows.
static void set_row_size(tile_job *job, const cq_conv2d_params *p) {
  const size_t bytes = (size_t)p->kernel_w * pixel_size(p);
  job->taps = (size_t)p->kernel_h;
  job->bytes = CQ_READS_BEYOND ? cq_round_up(bytes, 4) : bytes / 4 * 4;
  job->tail = CQ_READS_BEYOND ? 0 : bytes % 4;
  job->first = job->last = 1;
}

/// Whether each row of a window inside the image can be taken as one tap: its bytes are contiguous,
/// and the packed weights of its taps, too.
static int has_whole_rows(const cq_conv2d_params *p) {
  return p->dilation_w == 1 && p->kernel_h <= CQ_TILE_TAPS &&
         (is_compact(p) ||
          (pixel_size(p) % 4 == 0 && pixel_size(p) <= CQ_CHUNK_BYTES &&
           (size_t)p->kernel_h * (size_t)p->kernel_w * pixel_size(p) <= CQ_PIECE_BYTES));
}

/// If all windows of the tile lie inside the image, and no read of whole words leaves the input,
/// sets the job up to read whole rows of the windows, and returns 1.
static int set_whole_rows(tile_job *job, const cq_conv2d_params *p, const char *input,
                          const cq_walk *walk) {
  const ptrdiff_t pixel = (ptrdiff_t)pixel_size(p), row_stride = p->in_w * pixel;
  const ptrdiff_t input_size = (ptrdiff_t)p->batch * p->in_h * row_stride;
  set_row_size(job, p);
  cq_window window = walk->window;
  for (size_t r = 0; r < walk->rows; ++r, cq_window_next(p, &window)) {
    ptrdiff_t at = ((ptrdiff_t)window.image * p->in_h + window.y0) * row_stride + window.x0 * pixel;
    if (!cq_window_is_inside(p, &window) ||
        at + (p->kernel_h - 1) * p->dilation_h * row_stride + (ptrdiff_t)job->bytes > input_size)
      return 0;
    for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky, at += p->dilation_h * row_stride)
      job->input.rows[ky][r] = input + at;
  }
  if (job->tail)
    set_tails(job, walk->rows);
  return 1;
}

/// Which bytes of a row of the window lie inside the image, seen from its first byte.
static uint64_t row_mask(const cq_conv2d_params *p, ptrdiff_t x0) {
  const ptrdiff_t left = x0 < 0 ? -x0 : 0, right = p->in_w - x0;
  if (right <= 0 || left >= p->kernel_w)
    return 0;
  const size_t last = cq_min((size_t)right, (size_t)p->kernel_w);
  return cq_channel_mask(last * pixel_size(p)) & ~cq_channel_mask((size_t)left * pixel_size(p));
}

/// A compact layer's pointers: into the input, or, where a row of the window leaves the image or
/// would be read beyond the end of the input, to a copy of the row in `copies`.
static void set_compact_rows(tile_job *job, const cq_conv2d_params *p, const char *input,
                             char (*copies)[COMPACT_ROWS][COMPACT_BYTES], const cq_walk *walk) {
  const ptrdiff_t pixel = (ptrdiff_t)pixel_size(p);
  const ptrdiff_t input_size = (ptrdiff_t)p->batch * p->in_h * p->in_w * pixel;
  const __m512i padding = _mm512_set1_epi8((char)job->padding);
  cq_window window = walk->window;
  set_row_size(job, p);
  for (size_t r = 0; r < walk->rows; ++r, cq_window_next(p, &window)) {
    const uint64_t mask = row_mask(p, window.x0);
    const int whole = mask == cq_channel_mask(tap_size(p));
    for (ptrdiff_t ky = 0; ky < p->kernel_h; ++ky) {
      const ptrdiff_t y = window.y0 + ky * p->dilation_h;
      const ptrdiff_t at = (((ptrdiff_t)window.image * p->in_h + y) * p->in_w + window.x0) * pixel;
      const int inside = y >= 0 && y < p->in_h;
      if (inside && whole && at + (ptrdiff_t)job->bytes <= input_size) {
        job->input.rows[ky][r] = input + at;
        continue;
      }
      // Lanes outside the mask are not read.
      const __m512i row = inside ? _mm512_mask_loadu_epi8(padding, mask, input + at) : padding;
      _mm512_store_si512(copies[r][ky], row);
      job->input.rows[ky][r] = copies[r][ky];
    }
  }
  if (job->tail)
    set_tails(job, walk->rows);
}

/// Units of work are (block, tile) pairs, all tiles of a block in a row, so that its weights stay
/// in the cache; compact layers, whose weights are small, take all blocks of a tile in a row, so
/// that their pointers are set up once.
CQ_INLINE void conv2d(const char *input, const int8_t *weights, const cq_bias *bias,
                      const float *multiplier, const cq_conv2d_params *p, int padding, char *output,
                      size_t output_bytes, size_t workgroup, size_t workgroup_count) {
  const int compact = is_compact(p), has_rows = has_whole_rows(p);
  _Alignas(64) union {
    char padding[CQ_CHUNK_BYTES];
    char copies[CQ_TILE_PIXELS][COMPACT_ROWS][COMPACT_BYTES];
  } buffer;
  tile_job job;
  job.params = p;
  job.padding = padding;
  job.output_bytes = output_bytes;
  job.input.group.begin = job.input.group.end = 0;
  if (!compact)
    for (size_t i = 0; i < cq_min(pixel_size(p), CQ_CHUNK_BYTES); ++i)
      buffer.padding[i] = (char)padding;
  cq_walk walk = cq_walk_begin(p, /*tiles_first=*/!compact, workgroup, workgroup_count);
  for (; walk.left; cq_walk_next(&walk, p)) {
    job.output = output + (walk.pixel * (size_t)p->out_c + walk.vectors.begin * 16) * output_bytes;
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

#endif // CONQUER_OPT_KERNELS_CQ_CONV2D_WORDS_AVX512_H
