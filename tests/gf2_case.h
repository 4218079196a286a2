/*
 * gf2_case.h - what the tests of matrices over GF(2) share: matrices as a byte a bit, textbook
 * elimination on them, and packed matrices in device or host memory whose every other bit is
 * watched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GF2_CASE_H
#define GF2_CASE_H

#include "test.h"

/* ---- A byte a bit: gf2_oracle.c ---- */

struct bits {
    size_t rows, cols;
    uint8_t *at; /* at[i * cols + j]; never NULL once made */
};

struct bits bits_make(size_t rows, size_t cols); /* of zeros */
struct bits bits_copy(const struct bits *from);
void bits_free(struct bits *m);
bool bits_same(const struct bits *a, const struct bits *b);

/* "random", "zero", "identity", "ones", "sparse", "upper", "repeat" (rows and columns come again),
 * "last" (ones in the last columns alone), "few" (of rank 3), "half" (of half the rank). */
struct bits bits_of(const char *dist, size_t rows, size_t cols, uint64_t seed);

struct bits bits_mul(const struct bits *a, const struct bits *b);
struct bits bits_transpose(const struct bits *a);

/* What ech_gf2_echelon() documents, in place.  order, pivots, rows_from, t may be NULL; t, square,
 * receives the transform.  Returns the rank. */
uint32_t bits_echelon(struct bits *m, const uint32_t *order, size_t columns, size_t max_rank,
                      bool reduced, uint32_t *pivots, uint32_t *rows_from, struct bits *t);

/* The basis that ech_gf2_nullspace() documents. */
struct bits bits_kernel(const struct bits *a);

/* A random order of count positions. */
void shuffle(uint32_t *order, size_t count, struct rng *rng);

/* ---- Packed: gf2_matrix.c ---- */

struct matrix {
    ech_gf2 m; /* what calls get */
    struct buffer buffer;
    uint64_t *image; /* all words, those between the rows too, as they must be */
    size_t words;
};

/* Bits of content, or no answer where it is NULL; extra words between rows, and bits beyond the
 * last column, hold a pattern.  ctx NULL: host memory. */
bool matrix_make(struct matrix *m, ech_ctx *ctx, size_t rows, size_t cols,
                 const struct bits *content, size_t extra, uint64_t seed);
void matrix_free(struct matrix *m);

/* Fails the case unless the matrix holds these bits, and nothing around them has changed. */
bool matrix_is(struct matrix *m, const struct bits *wanted, const char *name);

/* ---- Arrays ---- */

/* An array of count elements; checks that it holds wanted up to used elements. */
bool array_make(struct buffer *buffer, ech_ctx *ctx, size_t count, size_t bytes, const void *from);
bool array_is(struct buffer *buffer, const void *wanted, size_t used, size_t bytes,
              const char *name);

/* The device's memory, or the host's, by a bit of where. */
ech_ctx *place(ech_ctx *ctx, uint64_t where, int bit);

/* ---- Algorithms ---- */

enum { GF2_ALGORITHMS = 8, GF2_NAME_BYTES = 32 };

/* The algorithms that a call of that shape accepts on ctx's device, from its explanation; the first
 * is "", the library's own choice. */
int gf2_algorithms(ech_ctx *ctx, ech_gf2_call call, size_t rows, size_t cols, size_t other,
                   char names[GF2_ALGORITHMS][GF2_NAME_BYTES]);

/* The devices that a program tests on. */
int gf2_contexts(ech_ctx ***contexts);
void gf2_close(void);

/* Whether a case of so many bits runs, and a number that differs from case to case. */
bool gf2_wanted(size_t bits);

#endif
