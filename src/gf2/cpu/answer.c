/*
 * gf2/cpu/answer.c - extracts results from an eliminated bit matrix on the CPU: orders of columns,
 * solutions, nullspaces, certificates, factors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/data_error.h"
#include "gf2/cpu/small.h"

/* ---- Positions ---- */

ech_status echi_cpu_gf2_order(ech_ctx *ctx, const struct echi_gf2 *g, uint8_t *seen)
{
    const uint32_t *first = g->order ? g->order : g->positions;
    const size_t count = g->order ? g->columns : *g->rank;
    size_t at = count;
    memset(seen, 0, g->limit);
    for (size_t j = 0; j < count; j++) {
        if (first[j] >= g->limit) return echi_report_error(ctx, ECHI_ORDER_TOO_LARGE, j);
        if (seen[first[j]]) return echi_report_error(ctx, ECHI_ORDER_TWICE, j);
        seen[first[j]] = 1;
        g->full[j] = first[j];
    }
    for (size_t j = 0; j < g->limit; j++)
        if (!seen[j]) g->full[at++] = (uint32_t)j;
    if (g->inverse)
        for (size_t j = 0; j < g->limit; j++) g->inverse[g->full[j]] = (uint32_t)j;
    return ECH_OK;
}

ech_status echi_cpu_gf2_map(const struct echi_gf2 *g)
{
    for (uint32_t i = 0; i < *g->rank; i++) g->positions[i] = g->order[g->positions[i]];
    return ECH_OK;
}

/* ---- Solutions ---- */

ech_status echi_cpu_gf2_spread(const struct echi_gf2 *g)
{
    if (g->what == ECHI_GF2_SPREAD_ROWS) gf2_clear(&g->out, 0, g->out.rows);
    for (uint32_t i = 0; i < *g->rank; i++)
        gf2_copy_row(gf2_row(&g->out, g->positions[i]), gf2_row(&g->a, i), g->out.cols);
    return ECH_OK;
}

void echi_cpu_gf2_any_of_rows(const ech_gf2 *m, size_t first, uint64_t *found)
{
    const size_t words = echi_gf2_words(m->cols);
    memset(found, 0, words * sizeof *found);
    for (size_t i = first; i < m->rows; i++)
        for (size_t w = 0; w < words; w++) found[w] |= gf2_row(m, i)[w];
}

ech_status echi_cpu_gf2_solvable(const struct echi_gf2 *g, uint64_t *found)
{
    echi_cpu_gf2_any_of_rows(&g->a, *g->rank, found);
    for (size_t j = 0; j < g->a.cols; j++) g->bytes[j] = !(found[j / 64] >> j % 64 & 1);
    return ECH_OK;
}

void echi_cpu_gf2_clear_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const ech_gf2 *out = &job->request->out;
    const uint64_t *found = job->work;
    (void)thread;
    for (size_t i = begin; i < end; i++)
        for (size_t w = 0; w < echi_gf2_words(out->cols); w++)
            gf2_row(out, i)[w] &= ~(found[w] & gf2_mask(w, out->cols));
}

ech_status echi_cpu_gf2_certificate(const struct echi_gf2 *g, uint64_t *found)
{
    const size_t words = echi_gf2_words(g->a.cols);
    gf2_clear(&g->out, 0, g->out.rows);
    memset(found, 0, words * sizeof *found);
    for (size_t i = *g->rank; i < g->a.rows; i++)
        for (size_t w = 0; w < words; w++) {
            uint64_t new = gf2_row(&g->a, i)[w] & gf2_mask(w, g->a.cols) & ~found[w];
            found[w] |= new;
            for (; new; new &= new - 1) {
                size_t j = w * 64 + (size_t)__builtin_ctzll(new);
                gf2_copy_row(gf2_row(&g->out, j), gf2_row(&g->b, i), g->out.cols);
            }
        }
    return ECH_OK;
}

/* ---- Nullspaces ---- */

/* Row r of a determines, for every free column f, whether the basis vector with a one at f also has
 * a one at r's pivot. */
static void add_pivot(const struct echi_gf2 *g, uint32_t r)
{
    const ech_gf2 *out = &g->out;
    const uint64_t *row = gf2_row(&g->a, r);
    const uint32_t rank = *g->rank, pivot = g->positions[r];
    uint32_t next = 0; /* number of pivots before the column: f is the (f - next)-th free column */
    for (size_t w = 0; w < echi_gf2_words(g->a.cols); w++) {
        uint64_t bits = row[w] & gf2_mask(w, g->a.cols);
        for (; bits; bits &= bits - 1) {
            const size_t f = w * 64 + (size_t)__builtin_ctzll(bits);
            while (next < rank && g->positions[next] < f) next++;
            if (f != pivot) gf2_set(out, f - next, pivot);
        }
    }
}

ech_status echi_cpu_gf2_kernel(ech_ctx *ctx, const struct echi_gf2 *g)
{
    const uint32_t rank = *g->rank, dim = (uint32_t)g->a.cols - rank;
    *g->dim = dim;
    if (g->out.rows < dim) return echi_report_error(ctx, ECHI_BASIS_TOO_SHORT, dim - 1);
    if (g->out.rows == 0) return ECH_OK;
    gf2_clear(&g->out, 0, g->out.rows);
    for (uint32_t f = 0, next = 0; f < g->a.cols; f++) {
        if (next < rank && g->positions[next] == f)
            next++;
        else
            gf2_set(&g->out, f - next, f);
    }
    for (uint32_t r = 0; r < rank; r++) add_pivot(g, r);
    return ECH_OK;
}

/* ---- Factors ---- */

/* Word w of a mask of the columns [from, end). */
static uint64_t columns_mask(size_t w, size_t from, size_t end)
{
    const size_t first = w * 64;
    uint64_t mask = end >= first + 64 ? ~(uint64_t)0
                    : end > first     ? ((uint64_t)1 << (end - first)) - 1
                                      : 0;
    if (from >= first + 64) return 0;
    return from > first ? mask & ~(uint64_t)0 << (from - first) : mask;
}

void echi_cpu_gf2_unit_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const struct echi_gf2 *g = job->request;
    const size_t rank = *g->rank;
    (void)thread;
    gf2_clear(&g->out, begin, end);
    for (size_t i = begin; i < end; i++) {
        if (i >= rank) {
            if (i < g->out.cols) gf2_set(&g->out, i, i);
            continue;
        }
        const uint64_t *from = gf2_row(&g->a, i);
        uint64_t *to = gf2_row(&g->out, i);
        for (size_t w = 0; w * 64 < rank; w++) to[w] |= from[w] & columns_mask(w, 0, rank);
    }
}

void echi_cpu_gf2_lu_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const struct echi_gf2 *g = job->request;
    const size_t rank = *g->rank, cols = g->out.cols;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const uint64_t *upper = gf2_row(&g->a, i), *lower = gf2_row(&g->b, i);
        for (size_t w = 0; w < echi_gf2_words(cols); w++) {
            const uint64_t l = columns_mask(w, 0, echi_min(i, rank));
            const uint64_t u = i < rank ? columns_mask(w, i, cols) : 0;
            uint64_t bits = (l ? lower[w] & l : 0) | (u ? upper[w] & u : 0);
            gf2_put(&gf2_row(&g->out, i)[w], bits, gf2_mask(w, cols));
        }
    }
}
