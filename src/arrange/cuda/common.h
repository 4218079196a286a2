/*
 * arrange/cuda/common.h - definitions that host code and kernels of arrange share: sizes and
 * arguments.
 *
 * Elements move as words: the largest power of two, at most 16 bytes, that divides their size. Each
 * word size has its own module; an element is one or more words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_COMMON_H
#define ECHI_ARRANGE_CUDA_COMMON_H

#include "arrange/shuffle.h"

enum {
    ARRANGE_THREADS = 256,
    ARRANGE_LINE_WORDS = 4, /* words of 16 bytes that a thread of arrange_copy moves at a time */
    ARRANGE_PIECE_WORDS = 4096,       /* maximum number of words of a block of arrange_move_wide */
    ARRANGE_PIECE_ELEMENTS = 1024,    /* ... and elements */
    ARRANGE_REVERSE_BYTES = 16 << 10, /* bytes that a block of arrange_reverse holds */
    ARRANGE_SMALL_BYTES = 512,        /* elements of at most this size are reversed in tiles ... */
    ARRANGE_TILE_BYTES = 256,         /* ... and smaller ones than this are transposed in tiles */
    ARRANGE_NARROW_BYTES = 128,       /* bytes of a row of a tile of arrange_transpose_narrow */
    ARRANGE_VECTOR_EDGE = 64,         /* elements, of a tile of arrange_transpose_vectors */
    ARRANGE_QUADS = 17,               /* quads per thread of arrange_transpose_quads, which ... */
    ARRANGE_QUADS_TILE = 16 << 10,    /* ... has tiles of at most so many bytes ... */
    ARRANGE_QUADS_LEAST = 64,         /* ... and of at least so many per row and column */
    ARRANGE_PUT_BYTES = 3584          /* bytes of a large fill element per launch */
};

/* Words that a thread of arrange_move moves at a time (elements of one word), and words of a tile
 * of arrange_transpose. */
#define ARRANGE_MOVE_WORDS(word_bytes) ((word_bytes) == 16 ? 4 : 8)
#define ARRANGE_GATHER_WORDS           2 /* ... of arrange_gather */
#define ARRANGE_TILE_WORDS(word_bytes)                                                             \
    ((word_bytes) == 16 ? 4 : (word_bytes) == 8 ? 8 : 16) /* per thread */

/* The most quads that a row of words touches. */
#define arrange_quads(words, word_bytes) (((words) * (word_bytes) + 6) / 4)

/* How the source of element i is found, or its destination with scatter. */
enum arrange_from {
    ARRANGE_INDEX_U32,
    ARRANGE_INDEX_U64,
    ARRANGE_MAP,    /* the map of arrange/shuffle.h */
    ARRANGE_MIRROR, /* limit - 1 - i */
    ARRANGE_FIRST,  /* 0 */
    ARRANGE_TURN    /* the position in the transposed matrix */
};

/* arrange_move, arrange_move_wide, arrange_swap. */
struct arrange_move_args {
    const void *in;
    void *out;
    const void *index;
    uint64_t *data_error;
    uint64_t n;
    uint64_t limit;         /* positions are less */
    uint64_t rows, columns; /* ARRANGE_TURN: the shape of in */
    uint32_t from;          /* enum arrange_from */
    uint32_t scatter;
    /* arrange_move_wide: a block takes piece_elements elements, or piece_words words of one
     * element */
    uint64_t words;  /* per element */
    uint64_t pieces; /* per element, of piece_words each */
    uint32_t piece_words, piece_elements;
    uint32_t inverse; /* 2^32 / piece_words, rounded up: divides by a multiplication */
    struct echi_shuffle map;
};

struct arrange_transpose_args {
    const void *in;
    void *out;
    uint64_t rows, columns;
    uint64_t tiles, tiles_across;
    uint32_t words;   /* per element */
    uint32_t streams; /* the matrices are larger than the L2 cache */
    uint32_t tile_rows, tile_columns;
    uint32_t pitch; /* elements, or quads, from one row of the tile to the next */
    uint32_t inverse_words, inverse_row, inverse_column; /* as above: of an element, of the
                                                            words or quads of a tile's row, and of
                                                            its column */
};

struct arrange_reverse_args {
    const void *in;
    void *out;
    uint64_t n;
    uint32_t words, inverse; /* of an element, as above */
    uint32_t tile;           /* elements per block */
    uint32_t in_place;       /* a block takes a tile of the first half and its mirror image */
};

/* arrange_copy: up to two pieces of bytes, whose source and destination may be aligned
 * differently. */
struct arrange_piece {
    const void *from;
    void *to;
    uint64_t bytes;
};

struct arrange_copy_args {
    struct arrange_piece pieces[2];
    uint32_t blocks[2]; /* blocks of each piece */
};

/* arrange_fill: copies of an element of at most ARRANGE_SMALL_BYTES. */
struct arrange_fill_args {
    void *out;
    uint64_t bytes;
    uint32_t element_bytes;
    uint32_t period; /* the pattern repeats after this many words of 16 bytes */
    unsigned char element[ARRANGE_SMALL_BYTES];
};

/* arrange_put: some bytes, passed as arguments. */
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
    uint64_t start, step; /* bits; for f16 and bf16 the bits of the f32 */
    uint32_t kind;        /* enum arrange_kind */
};

struct arrange_permutation_args {
    void *out;
    uint64_t n, first; /* first: the position of out[0] */
    uint32_t bytes;    /* of one element */
    struct echi_shuffle map;
};

/* Unsigned integers of 32 bits become ones of 64, or the reverse. */
struct arrange_convert_args {
    const void *in;
    void *out;
    uint64_t n;
    uint32_t narrow; /* to 32 bits; larger values become 2^32 - 1 */
};

#endif
