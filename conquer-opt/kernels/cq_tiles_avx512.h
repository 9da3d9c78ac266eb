//===- cq_tiles_avx512.h - how the AVX-512 convolutions cut their work ------------------------===//
//
// The output is cut into tiles of up to 6 pixels times blocks of up to 64 channels: 24 accumulators
// stay in registers, with room for 4 vectors of weights and the input. The sum over the window runs
// over pieces: a group of taps times a chunk of input channels. For each tap and pixel a pointer
// says where its input channels lie; a tap in the padding points to a buffer of zero points. So the
// input is read in place, whatever the geometry, and the stack need is bounded.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_CQ_TILES_AVX512_H
#define CONQUER_OPT_KERNELS_CQ_TILES_AVX512_H

#include "conquer-opt/kernels/cq_common.h"

enum {
  CQ_TILE_PIXELS = 6,  ///< output pixels of a tile
  CQ_TILE_VECTORS = 4, ///< vectors of 16 output channels of a block
  CQ_TILE_TAPS = 64,   ///< taps of a piece
};

/// A range of pixels, vectors or taps.
typedef struct cq_range {
  size_t begin, end;
} cq_range;

/// Part `index` of `count` nearly equal parts of 0..size-1. Equal parts matter: 49 pixels in 9
/// tiles are tiles of 5 and 6 pixels, not 8 full ones and one of a single pixel.
CQ_INLINE cq_range cq_part(size_t size, size_t index, size_t count) {
  const size_t least = size / count, longer = size % count;
  const size_t begin = index * least + cq_min(index, longer);
  const cq_range part = {begin, begin + least + (index < longer)};
  return part;
}

/// Vectors of 16 output channels, and the blocks of at most 4 of them.
CQ_INLINE size_t cq_vector_count(const cq_conv2d_params *p) {
  return cq_round_up((size_t)p->out_c, 16) / 16;
}
CQ_INLINE size_t cq_block_count(const cq_conv2d_params *p) {
  return cq_round_up(cq_vector_count(p), CQ_TILE_VECTORS) / CQ_TILE_VECTORS;
}

/// The input pointers of one piece for one tile.
typedef struct cq_tile_taps {
  const void *rows[CQ_TILE_TAPS][CQ_TILE_PIXELS];
  ptrdiff_t offsets[CQ_TILE_TAPS]; ///< of each tap from the first one, in input values
  cq_range group;                  ///< the taps that offsets describe
} cq_tile_taps;

/// Computes the offsets of a group of taps; does nothing if they are those computed last.
CQ_INLINE void cq_tile_set_group(cq_tile_taps *taps, const cq_conv2d_params *p, cq_range group) {
  if (taps->group.begin == group.begin && taps->group.end == group.end)
    return;
  taps->group = group;
  for (size_t t = group.begin; t < group.end; ++t) {
    const ptrdiff_t ky = (ptrdiff_t)t / p->kernel_w, kx = (ptrdiff_t)t % p->kernel_w;
    taps->offsets[t - group.begin] = (ky * p->dilation_h * p->in_w + kx * p->dilation_w) * p->in_c;
  }
}

/// Whether all taps of the window lie inside the image.
CQ_INLINE int cq_window_is_inside(const cq_conv2d_params *p, const cq_window *w) {
  return w->y0 >= 0 && w->x0 >= 0 &&
         w->y0 + (ptrdiff_t)(p->kernel_h - 1) * p->dilation_h < p->in_h &&
         w->x0 + (ptrdiff_t)(p->kernel_w - 1) * p->dilation_w < p->in_w;
}

/// Moves the window to the next output pixel.
CQ_INLINE void cq_window_next(const cq_conv2d_params *p, cq_window *w) {
  w->x0 += p->stride_w;
  if (w->x0 < (ptrdiff_t)p->out_w * p->stride_w - p->pad_left)
    return;
  w->x0 = -p->pad_left;
  w->y0 += p->stride_h;
  if (w->y0 < (ptrdiff_t)p->out_h * p->stride_h - p->pad_top)
    return;
  w->y0 = -p->pad_top;
  ++w->image;
}

/// Points the rows of the group's taps at input channel `channel` of each pixel of the tile, or at
/// `padding`. `size` is the size of an input value in bytes; `window` that of the first pixel.
CQ_INLINE void cq_tile_set_rows(cq_tile_taps *taps, const cq_conv2d_params *p, const void *input,
                                size_t size, const void *padding, cq_window window, size_t rows,
                                size_t channel) {
  const size_t count = taps->group.end - taps->group.begin;
  for (size_t r = 0; r < rows; ++r, cq_window_next(p, &window)) {
    const ptrdiff_t origin =
        (((ptrdiff_t)window.image * p->in_h + window.y0) * p->in_w + window.x0) * p->in_c +
        (ptrdiff_t)channel;
    if (cq_window_is_inside(p, &window)) {
      for (size_t t = 0; t < count; ++t)
        taps->rows[t][r] = (const char *)input + (origin + taps->offsets[t]) * (ptrdiff_t)size;
      continue;
    }
    for (size_t t = 0; t < count; ++t) {
      const ptrdiff_t tap = (ptrdiff_t)(taps->group.begin + t);
      const int outside = cq_tap_index(p, &window, tap / p->kernel_w, tap % p->kernel_w) < 0;
      taps->rows[t][r] = outside
                             ? (const char *)padding
                             : (const char *)input + (origin + taps->offsets[t]) * (ptrdiff_t)size;
    }
  }
}

/// Where a workgroup stands in its share of the (block, tile) pairs. No division per tile: with few
/// input channels a tile takes as little as 100 cycles.
typedef struct cq_walk {
  size_t left;                   ///< pairs to do, this one included
  size_t tile, block;            ///< the pair
  int is_new_tile, is_new_block; ///< whether it differs in that from the last pair
  size_t pixel, rows;            ///< first output pixel of the tile, and how many
  cq_window window;              ///< of the first pixel
  cq_range vectors;              ///< of the block
  size_t tiles, blocks, vector_count;
  size_t least_rows, longer_tiles; ///< so many tiles have a row more than the others
  int tiles_first; ///< whether all tiles of a block follow each other, or all blocks of a tile
} cq_walk;

CQ_INLINE cq_walk cq_walk_begin(const cq_conv2d_params *p, int tiles_first, size_t workgroup,
                                size_t workgroup_count) {
  cq_walk walk;
  const size_t pixel_count = cq_output_pixels(p);
  walk.tiles = cq_round_up(pixel_count, CQ_TILE_PIXELS) / CQ_TILE_PIXELS;
  walk.least_rows = pixel_count / walk.tiles;
  walk.longer_tiles = pixel_count % walk.tiles;
  walk.vector_count = cq_vector_count(p);
  walk.blocks = cq_block_count(p);
  walk.tiles_first = tiles_first;
  size_t begin, end;
  cq_share(walk.tiles * walk.blocks, workgroup, workgroup_count, &begin, &end);
  walk.left = end - begin;
  walk.tile = tiles_first ? begin % walk.tiles : begin / walk.blocks;
  walk.block = tiles_first ? begin / walk.tiles : begin % walk.blocks;
  walk.is_new_tile = walk.is_new_block = 1;
  const cq_range pixels = cq_part(pixel_count, walk.tile, walk.tiles);
  walk.pixel = pixels.begin;
  walk.rows = pixels.end - pixels.begin;
  walk.window = cq_window_of(p, walk.pixel);
  walk.vectors = cq_part(walk.vector_count, walk.block, walk.blocks);
  return walk;
}

CQ_INLINE void cq_walk_next_tile(cq_walk *walk, const cq_conv2d_params *p) {
  for (size_t r = 0; r < walk->rows; ++r)
    cq_window_next(p, &walk->window);
  walk->pixel += walk->rows;
  walk->is_new_tile = 1;
  if (++walk->tile == walk->tiles) {
    walk->tile = walk->pixel = 0;
    walk->window = cq_window_of(p, 0);
  }
  walk->rows = walk->least_rows + (walk->tile < walk->longer_tiles);
}

CQ_INLINE void cq_walk_next_block(cq_walk *walk) {
  walk->is_new_block = walk->blocks > 1;
  walk->block = walk->block + 1 == walk->blocks ? 0 : walk->block + 1;
  walk->vectors = cq_part(walk->vector_count, walk->block, walk->blocks);
}

CQ_INLINE void cq_walk_next(cq_walk *walk, const cq_conv2d_params *p) {
  --walk->left;
  walk->is_new_tile = walk->is_new_block = 0;
  if (walk->tiles_first) {
    cq_walk_next_tile(walk, p);
    if (walk->tile == 0)
      cq_walk_next_block(walk);
  } else {
    cq_walk_next_block(walk);
    if (walk->block == 0)
      cq_walk_next_tile(walk, p);
  }
}

#define CQ_DEFINE_TILE_(rows, vectors)                                                             \
  static __attribute__((noinline)) void tile_##rows##x##vectors(tile_job *job) {                   \
    tile(job, rows, vectors);                                                                      \
  }
#define CQ_DEFINE_TILES_(vectors)                                                                  \
  CQ_DEFINE_TILE_(1, vectors)                                                                      \
  CQ_DEFINE_TILE_(2, vectors)                                                                      \
  CQ_DEFINE_TILE_(3, vectors)                                                                      \
  CQ_DEFINE_TILE_(4, vectors)                                                                      \
  CQ_DEFINE_TILE_(5, vectors)                                                                      \
  CQ_DEFINE_TILE_(6, vectors)                                                                      \
  static void call_tile_x##vectors(tile_job *job, size_t rows) {                                   \
    switch (rows) {                                                                                \
    case 1:                                                                                        \
      return tile_1x##vectors(job);                                                                \
    case 2:                                                                                        \
      return tile_2x##vectors(job);                                                                \
    case 3:                                                                                        \
      return tile_3x##vectors(job);                                                                \
    case 4:                                                                                        \
      return tile_4x##vectors(job);                                                                \
    case 5:                                                                                        \
      return tile_5x##vectors(job);                                                                \
    default:                                                                                       \
      return tile_6x##vectors(job);                                                                \
    }                                                                                              \
  }

/// Defines one function per size of tile, which inlines tile(tile_job *, rows, vectors) with
/// constant rows and vectors, so that the accumulators live in registers, and call_tile(job, rows,
/// vectors) to choose. Never inlined: in a larger function the compiler spills accumulators.
#define CQ_DEFINE_TILES()                                                                          \
  CQ_DEFINE_TILES_(1)                                                                              \
  CQ_DEFINE_TILES_(2)                                                                              \
  CQ_DEFINE_TILES_(3)                                                                              \
  CQ_DEFINE_TILES_(4)                                                                              \
  static void call_tile(tile_job *job, size_t rows, size_t vectors) {                              \
    switch (vectors) {                                                                             \
    case 1:                                                                                        \
      return call_tile_x1(job, rows);                                                              \
    case 2:                                                                                        \
      return call_tile_x2(job, rows);                                                              \
    case 3:                                                                                        \
      return call_tile_x3(job, rows);                                                              \
    default:                                                                                       \
      return call_tile_x4(job, rows);                                                              \
    }                                                                                              \
  }

#endif // CONQUER_OPT_KERNELS_CQ_TILES_AVX512_H
