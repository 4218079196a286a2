/*
 * arrange/cuda/common.h - what the two halves of the GPU's arranging agree on: sizes and arguments.
 *
 * Elements move as words: the largest power of two that divides their size, 16 bytes at most, has
 * an image of its own; an element is one word or several.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_COMMON_H
#define ECHI_ARRANGE_CUDA_COMMON_H

#include "arrange/shuffle.h"

enum {
    ARRANGE_THREADS = 256,
    ARRANGE_LINE_WORDS = 4,        /* of 16 bytes that a thread of arrange_copy moves at a time */
    ARRANGE_PIECE_WORDS = 4096,    /* most words of a block of arrange_move_wide */
    ARRANGE_PIECE_ELEMENTS = 1024, /* ... and elements */
    ARRANGE_REVERSE_BYTES = 16 << 10, /* that a block of arrange_reverse holds */
    ARRANGE_SMALL_BYTES = 512,        /* elements up to this are reversed in tiles ... */
    ARRANGE_TILE_BYTES = 256,         /* ... and below this are transposed in tiles */
    ARRANGE_NARROW_BYTES = 128,       /* of a row of a tile of arrange_transpose_narrow */
    ARRANGE_PUT_BYTES = 3584          /* of a large element to fill with, in one launch */
};

/* Words of an element of one word that a thread of arrange_move moves at a time, and those of a
 * tile of arrange_transpose. */
#define ARRANGE_MOVE_WORDS(word_bytes) ((word_bytes) == 16 ? 4 : 8)
#define ARRANGE_TILE_WORDS(word_bytes)                                                             \
    ((word_bytes) == 16 ? 4 : (word_bytes) == 8 ? 8 : 16) /* a thread */

/* Where element i comes from, or with scatter goes to. */
enum arrange_from {
    ARRANGE_INDEX_U32,
    ARRANGE_INDEX_U64,
    ARRANGE_MAP,    /* the map of arrange/shuffle.h */
    ARRANGE_MIRROR, /* limit - 1 - i */
    ARRANGE_FIRST,  /* 0 */
    ARRANGE_TURN    /* that of the transposed matrix */
};

/* arrange_move, arrange_move_wide, arrange_swap. */
struct arrange_move_args {
    const void *in;
    void *out;
    const void *index;
    uint64_t *data_error;
    uint64_t n;
    uint64_t limit;         /* places are below this */
    uint64_t rows, columns; /* ARRANGE_TURN: of in */
    uint32_t from;          /* enum arrange_from */
    uint32_t scatter;
    /* arrange_move_wide: a block takes piece_elements at a time, or piece_words of one */
    uint64_t words;  /* of an element */
    uint64_t pieces; /* of an element, of piece_words each */
    uint32_t piece_words, piece_elements;
    uint32_t inverse; /* 2^32 / piece_words, rounded up: a product's high half divides by it */
    struct echi_shuffle map;
};

struct arrange_transpose_args {
    const void *in;
    void *out;
    uint64_t rows, columns;
    uint64_t tiles, tiles_across;
    uint32_t words; /* of an element */
    uint32_t tile_rows, tile_columns;
    uint32_t pitch; /* elements from one row of the tile to the next */
    uint32_t inverse_words, inverse_row, inverse_column; /* as above, of: an element, a tile's row,
                                                            its column */
};

struct arrange_reverse_args {
    const void *in;
    void *out;
    uint64_t n;
    uint32_t words, inverse; /* of an element, as above */
    uint32_t tile;           /* elements of a block */
    uint32_t in_place;       /* a block takes a tile of the first half and its mirror image */
};

/* arrange_copy: up to two pieces of bytes, whose places need not be aligned alike. */
struct arrange_piece {
    const void *from;
    void *to;
    uint64_t bytes;
};

struct arrange_copy_args {
    struct arrange_piece pieces[2];
    uint32_t blocks[2]; /* that each has */
};

/* arrange_fill: copies of an element of at most ARRANGE_SMALL_BYTES. */
struct arrange_fill_args {
    void *out;
    uint64_t bytes;
    uint32_t element_bytes;
    uint32_t period; /* after so many words of 16 bytes the same comes again */
    unsigned char element[ARRANGE_SMALL_BYTES];
};

/* arrange_put: some bytes. */
struct arrange_put_args {
    void *out;
    uint32_t bytes;
    unsigned char from[ARRANGE_PUT_BYTES];
};

enum arrange_kind {
    ARRANGE_U8,
    ARRANGE_U16,
    ARRANGE_U32,
    ARRANGE_U64,
    ARRANGE_F16,
    ARRANGE_BF16,
    ARRANGE_F32,
    ARRANGE_F64
};

struct arrange_iota_args {
    void *out;
    uint64_t n;
    uint64_t start, step; /* bits; of f16 and bf16 those of the f32 */
    uint32_t kind;        /* enum arrange_kind */
};

struct arrange_permutation_args {
    void *out;
    uint64_t n;
    uint32_t bytes; /* of one */
    struct echi_shuffle map;
};

#endif
