/*
 * gf2_case.h - shared code of the tests of matrices over GF(2): matrices with one byte per bit,
 * textbook elimination, and packed matrices in device or host memory with a check of all
 * surrounding bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GF2_CASE_H
#define GF2_CASE_H

#include "test.h"

/* ---- One byte per bit: gf2_oracle.c ---- */

struct bits {
    size_t rows, cols;
    uint8_t *at; /* at[i * cols + j]; not NULL after bits_make() */
};

struct bits bits_make(size_t rows, size_t cols); /* all zero */
struct bits bits_copy(const struct bits *from);
void bits_free(struct bits *m);
bool bits_same(const struct bits *a, const struct bits *b);

/* dist: "random", "zero", "identity", "ones", "sparse", "upper", "repeat" (repeated rows and
 * columns), "last" (ones only in the last columns), "few" (rank 3), "half" (half of the full
 * rank). */
struct bits bits_of(const char *dist, size_t rows, size_t cols, uint64_t seed);

struct bits bits_mul(const struct bits *a, const struct bits *b);
struct bits bits_transpose(const struct bits *a);

/* Computes the echelon form that ech_gf2_echelon() documents, in place, and returns the rank.
 * order, pivots, rows_from and t may be NULL; t is square and receives the transform. */
uint32_t bits_echelon(struct bits *m, const uint32_t *order, size_t columns, size_t max_rank,
                      bool reduced, uint32_t *pivots, uint32_t *rows_from, struct bits *t);

/* The basis that ech_gf2_nullspace() documents. */
struct bits bits_kernel(const struct bits *a);

/* A random permutation of count positions. */
void shuffle(uint32_t *order, size_t count, struct rng *rng);

/* ---- Packed: gf2_matrix.c ---- */

struct matrix {
    ech_gf2 m; /* the argument of calls */
    struct buffer buffer;
    uint64_t *image; /* the expected words, including those between rows */
    size_t words;
};

/* Fills the matrix with content, or with a pattern if content is NULL. The extra words between rows
 * and the bits beyond the last column hold a pattern. ctx NULL: host memory. */
bool matrix_make(struct matrix *m, ech_ctx *ctx, size_t rows, size_t cols,
                 const struct bits *content, size_t extra, uint64_t seed);
void matrix_free(struct matrix *m);

/* Fails the case unless the matrix holds these bits and the surrounding bits are unchanged. */
bool matrix_is(struct matrix *m, const struct bits *wanted, const char *name);

/* ---- Arrays ---- */

/* An array of count elements. array_is() checks that its first `used` elements equal wanted. */
bool array_make(struct buffer *buffer, ech_ctx *ctx, size_t count, size_t bytes, const void *from);
bool array_is(struct buffer *buffer, const void *wanted, size_t used, size_t bytes,
              const char *name);

/* Bit `bit` of where selects device memory (ctx) or host memory (NULL). */
ech_ctx *place(ech_ctx *ctx, uint64_t where, int bit);

/* ---- Algorithms ---- */

enum { GF2_ALGORITHMS = 8, GF2_NAME_BYTES = 32 };

/* Lists the algorithms that ctx's device accepts for this call, according to its explanation. The
 * first is "", the library's choice. */
int gf2_algorithms(ech_ctx *ctx, ech_gf2_call call, size_t rows, size_t cols, size_t other,
                   char names[GF2_ALGORITHMS][GF2_NAME_BYTES]);

/* The devices to test on. */
int gf2_contexts(ech_ctx ***contexts);
void gf2_close(void);

/* Whether to run a case with this number of bits. The selection varies from case to case. */
bool gf2_wanted(size_t bits);

/* The same for positions of a type of indices; from and wanted are u32. */
bool positions_make(struct buffer *buffer, ech_ctx *ctx, size_t count, ech_dtype dtype,
                    const uint32_t *from);
bool positions_are(struct buffer *buffer, const uint32_t *wanted, size_t used, ech_dtype dtype,
                   const char *name);

/* The case of the progress function. */
void run_progress(void);

#endif
