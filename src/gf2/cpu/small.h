/*
 * gf2/cpu/small.h - declarations that the CPU's element-wise operations on bit matrices share:
 * division of rows among threads, and words of which only some bits belong to the matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CPU_SMALL_H
#define ECHI_GF2_CPU_SMALL_H

#include "gf2/gf2.h"
#include "cpu/cpu.h"

#include <stdatomic.h>
#include <string.h>

/* A request that threads process, rows [begin, end) at a time. */
struct gf2_job {
    const struct echi_gf2 *request;
    void (*run)(struct gf2_job *job, size_t begin, size_t end, int thread);
    size_t rows, each;
    void *work;                    /* see gf2_small_workspace() */
    _Atomic(uint64_t) *data_error; /* the smallest invalid position; UINT64_MAX: none */
    _Atomic(uint64_t) total;       /* of a count; nonzero if something differs */
};

/* Whether order[i] is one of a's rows or columns; if not, records the smallest such position. */
static inline bool gf2_in_limit(struct gf2_job *job, size_t i)
{
    if (job->request->order[i] < job->request->limit) return true;
    uint64_t least = atomic_load(job->data_error);
    while (i < least && !atomic_compare_exchange_weak(job->data_error, &least, i)) {
    }
    return false;
}

static inline uint64_t *gf2_row(const ech_gf2 *m, size_t row)
{
    return m->words + row * m->stride;
}

static inline bool gf2_bit(const ech_gf2 *m, size_t row, size_t col)
{
    return gf2_row(m, row)[col / 64] >> col % 64 & 1;
}

static inline void gf2_set(const ech_gf2 *m, size_t row, size_t col)
{
    gf2_row(m, row)[col / 64] |= (uint64_t)1 << col % 64;
}

/* Writes only the bits of mask. */
static inline void gf2_put(uint64_t *word, uint64_t bits, uint64_t mask)
{
    *word = (*word & ~mask) | (bits & mask);
}

/* The bits of word w that belong to a row of cols bits. */
static inline uint64_t gf2_mask(size_t w, size_t cols)
{
    return w + 1 < echi_gf2_words(cols) ? ~(uint64_t)0 : echi_gf2_last_mask(cols);
}

/* Clears rows [begin, end). */
static inline void gf2_clear(const ech_gf2 *m, size_t begin, size_t end)
{
    const size_t words = echi_gf2_words(m->cols);
    for (size_t i = begin; i < end; i++) {
        uint64_t *row = gf2_row(m, i);
        memset(row, 0, (words - 1) * sizeof *row);
        gf2_put(&row[words - 1], 0, echi_gf2_last_mask(m->cols));
    }
}

/* Copies a row of cols bits that begins at a word boundary. */
static inline void gf2_copy_row(uint64_t *to, const uint64_t *from, size_t cols)
{
    const size_t words = echi_gf2_words(cols);
    memmove(to, from, (words - 1) * sizeof *to);
    gf2_put(&to[words - 1], from[words - 1], echi_gf2_last_mask(cols));
}

/* columns.c stores the columns of 64 rows as words: the maximum number of threads with such
 * scratch. */
enum { GF2_MOST_THREADS = 16 };

/* columns.c */
void echi_cpu_gf2_transpose_rows(struct gf2_job *job, size_t begin, size_t end, int thread);
void echi_cpu_gf2_gather_columns_rows(struct gf2_job *job, size_t begin, size_t end, int thread);

/* answer.c */
ech_status echi_cpu_gf2_order(ech_ctx *ctx, const struct echi_gf2 *g, uint8_t *seen);
ech_status echi_cpu_gf2_map(const struct echi_gf2 *g);
ech_status echi_cpu_gf2_spread(const struct echi_gf2 *g);
ech_status echi_cpu_gf2_kernel(ech_ctx *ctx, const struct echi_gf2 *g);
ech_status echi_cpu_gf2_solvable(const struct echi_gf2 *g, uint64_t *found);
ech_status echi_cpu_gf2_certificate(const struct echi_gf2 *g, uint64_t *found);
void echi_cpu_gf2_clear_rows(struct gf2_job *job, size_t begin, size_t end, int thread);
void echi_cpu_gf2_unit_rows(struct gf2_job *job, size_t begin, size_t end, int thread);
void echi_cpu_gf2_lu_rows(struct gf2_job *job, size_t begin, size_t end, int thread);

/* found[w] = the OR of the rows of m from first on. */
void echi_cpu_gf2_any_of_rows(const ech_gf2 *m, size_t first, uint64_t *found);

#endif
