/*
 * merge/cpu/many.c - ech_merge_many() on the CPU: rounds that merge pairs of neighbours, or a
 * stable sort.  If the runs are in order, the input is copied.
 *
 *     in      | run 0 | run 1 | run 2 | run 3 | run 4 |
 *     round   |  0 and 1      |  2 and 3      |  4    |        alternately to a buffer
 *     round   |  0 to 3                       |  4    |        and to the output
 *     round   |  0 to 4                               |
 *
 * Threads take parts of all pairs of a round. Pair p has the parts from floor(begin / MERGE_PART) +
 * p on, where begin is its first element. These are at least as many as it needs; the others are
 * empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "core/data_error.h"
#include "cpu/cpu.h"
#include "merge/cpu/common.h"

#include <string.h>

struct round {
    const struct echi_merge_many *m;
    const char *keys, *values;
    char *keys_out, *values_out;
    size_t width, pairs; /* runs of each half of a pair */
};

static size_t offset(const struct echi_merge_many *m, size_t run)
{
    return (size_t)echi_index_at(m->offsets, m->index, run < m->runs ? run : m->runs);
}

/* The number of the first part of a pair. */
static size_t first_part(const struct round *r, size_t pair)
{
    return offset(r->m, 2 * r->width * pair) / MERGE_PART + pair;
}

static void run_part(void *arg, size_t i, int thread)
{
    const struct round *r = arg;
    const struct echi_merge_many *m = r->m;
    const size_t key = m->key_bytes, value = m->value_bytes;
    size_t pair = 0;
    (void)thread;
    for (size_t left = r->pairs; left > 1;) { /* the last pair whose first part is at most i */
        const size_t half = left / 2;
        if (first_part(r, pair + half) <= i) pair += half;
        left -= half;
    }
    const size_t begin = offset(m, 2 * r->width * pair);
    const size_t middle = offset(m, 2 * r->width * pair + r->width);
    const size_t end = offset(m, 2 * r->width * (pair + 1));
    const size_t part = i - first_part(r, pair);
    if (part * MERGE_PART >= end - begin) return;
    const struct echi_merge two = { .keys = { r->keys + begin * key, r->keys + middle * key },
                                    .values = { r->values + begin * value,
                                                r->values + middle * value },
                                    .keys_out = r->keys_out + begin * key,
                                    .values_out = r->values_out + begin * value,
                                    .n = { middle - begin, end - middle },
                                    .dtype = m->dtype,
                                    .key_bytes = key,
                                    .value_bytes = value,
                                    .order = m->order };
    echi_merge_part(&two, part);
}

static ech_status check_offsets(ech_ctx *ctx, const struct echi_merge_many *m)
{
    uint64_t before = 0;
    for (size_t r = 0; r <= m->runs; r++) {
        const uint64_t at = echi_index_at(m->offsets, m->index, r);
        if (r == 0 && at != 0) return echi_report_error(ctx, ECHI_RUNS_BEGIN, r);
        if (at > m->n) return echi_report_error(ctx, ECHI_OFFSETS_PAST_END, r);
        if (at < before) return echi_report_error(ctx, ECHI_OFFSETS_DECREASE, r);
        before = at;
    }
    return before == m->n ? ECH_OK : echi_report_error(ctx, ECHI_RUNS_END, m->runs);
}

/* ---- The operation ---- */

/* A round moves each element once, as does a pass of a radix sort, of which there is one per byte
 * of the key. */
static ech_status choose(const struct echi_merge_many *m, enum echi_merge_way *way)
{
    return echi_merge_choose(m, "CPU", m->key_bytes, way);
}

/* Floats without values whose sort is faster and, if equal keys have equal bits, also has the same
 * result. */
static bool may_sort(const struct echi_merge_many *m)
{
    return m->n && !m->algorithm && !m->value_bytes && m->order.merge &&
           echi_merge_rounds(m) > m->key_bytes;
}

static struct echi_sort sort_of(const struct echi_merge_many *m)
{
    struct echi_sort sort = echi_merge_sort(m);
    if (m->value_bytes || !m->order.merge) return sort;
    sort.order.merge = 0;
    sort.order.last = ~(uint64_t)0 >> (64 - 8 * m->key_bytes);
    return sort;
}

static ech_status plan(const void *request, void *way, size_t *work_bytes)
{
    const struct echi_merge_many *m = request;
    const struct echi_sort sort = sort_of(m);
    ech_status status;
    *work_bytes = 0;
    TRY(choose(m, way));
    if (*(enum echi_merge_way *)way == ECHI_MERGE_SORT || may_sort(m))
        TRY(echi_operation_workspace(&echi_cpu_sort, &sort, work_bytes));
    if (*(enum echi_merge_way *)way == ECHI_MERGE_ROUNDS && echi_merge_rounds(m) > 1) {
        struct echi_layout layout = { .base = NULL };
        echi_part(&layout, m->n, m->key_bytes);
        echi_part(&layout, m->n, m->value_bytes);
        if (layout.overflow)
            FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", m->n);
        if (layout.bytes > *work_bytes) *work_bytes = layout.bytes;
    }
done:
    return status;
}

struct look {
    const struct echi_merge_many *m;
    atomic_bool failed;
};

static void look_at_part(void *arg, size_t i, int thread)
{
    struct look *look = arg;
    const struct echi_merge_many *m = look->m;
    const size_t first = i * MERGE_PART, n = echi_min(m->n - first, MERGE_PART);
    (void)thread;
    if (atomic_load_explicit(&look->failed, memory_order_relaxed)) return;
    if (!echi_merge_distinguishable(&m->order, (const char *)m->keys + first * m->key_bytes, n,
                                    m->key_bytes))
        atomic_store_explicit(&look->failed, true, memory_order_relaxed);
}

static bool can_be_sorted(ech_ctx *ctx, const struct echi_merge_many *m)
{
    struct look look = { .m = m };
    if (!may_sort(m)) return false;
    echi_parallel(echi_parallel_for_bytes(ctx, m->n * m->key_bytes), (m->n - 1) / MERGE_PART + 1,
                  look_at_part, &look);
    return !look.failed;
}

/* Whether each run begins with an element that need not precede the last one of the run before. */
static bool in_order(const struct echi_merge_many *m)
{
    for (size_t r = 1; r < m->runs; r++) {
        const size_t at = offset(m, r);
        if (at == 0 || at == m->n) continue;
        const char *key = (const char *)m->keys + at * m->key_bytes;
        const struct echi_merge two = { .keys = { key - m->key_bytes, key },
                                        .n = { 1, 1 },
                                        .dtype = m->dtype,
                                        .key_bytes = m->key_bytes,
                                        .order = m->order };
        if (!echi_merge_begins(&two)) return false;
    }
    return true;
}

static void run_rounds(ech_ctx *ctx, const struct echi_merge_many *m, void *work)
{
    const size_t bytes = 2 * m->n * (m->key_bytes + m->value_bytes);
    const unsigned rounds = echi_merge_rounds(m);
    struct echi_layout layout = { .base = work };
    char *keys[2] = { m->keys_out, NULL }, *values[2] = { m->values_out, NULL };
    struct round r = { .m = m, .keys = m->keys, .values = m->values };
    if (rounds > 1) {
        keys[1] = echi_part(&layout, m->n, m->key_bytes);
        values[1] = echi_part(&layout, m->n, m->value_bytes);
    }
    for (unsigned i = 0; i < rounds; i++) {
        const int to = (rounds - 1 - i) % 2; /* the last round writes the output */
        r.width = (size_t)1 << i;
        r.pairs = (m->runs - 1) / 2 / r.width + 1;
        r.keys_out = keys[to];
        r.values_out = values[to];
        echi_parallel(echi_parallel_for_bytes(ctx, bytes), m->n / MERGE_PART + r.pairs, run_part,
                      &r);
        r.keys = keys[to];
        r.values = values[to];
    }
}

static ech_status run(ech_ctx *ctx, const void *request, const void *way, void *work)
{
    const struct echi_merge_many *m = request;
    ech_status status;
    TRY(check_offsets(ctx, m));
    if (m->n == 0) goto done;
    if (*(const enum echi_merge_way *)way == ECHI_MERGE_SORT) {
        const struct echi_sort sort = sort_of(m);
        TRY(echi_operation_run(ctx, &echi_cpu_sort, &sort, work));
    } else if (in_order(m)) {
        memcpy(m->keys_out, m->keys, m->n * m->key_bytes);
        if (m->value_bytes) memcpy(m->values_out, m->values, m->n * m->value_bytes);
    } else if (can_be_sorted(ctx, m)) {
        const struct echi_sort sort = sort_of(m);
        TRY(echi_operation_run(ctx, &echi_cpu_sort, &sort, work));
    } else {
        run_rounds(ctx, m, work);
    }
done:
    return status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    static const char *const what[] = { "rounds that merge pairs of neighbouring runs",
                                        "a stable sort, which does not use the order of the runs" };
    enum echi_merge_way way;
    const ech_status status = choose(request, &way);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, echi_merge_way_name(way), "%s", what[way]);
    way = way == ECHI_MERGE_SORT ? ECHI_MERGE_ROUNDS : ECHI_MERGE_SORT;
    echi_explain_algorithm(e, false, echi_merge_way_name(way), "%s", what[way]);
    echi_explain_count(e, "rounds", echi_merge_rounds(request));
    return ECH_OK;
}

const struct echi_operation echi_cpu_merge_many = {
    .plan = plan, .plan_bytes = sizeof(enum echi_merge_way), .explain = explain, .run = run
};
