/*
 * sort/choice.c - CPU or GPU for arrays in host memory: estimates both times from a table of
 * measured times, and extrapolates for larger arrays.
 *
 *     time |        ........ GPU: launches, later the link
 *          | .......    .
 *          |       .  .
 *          |        .
 *          |   .  CPU: n log n by one thread, from 2^17 elements on by more
 *          +------------------- n
 *
 * Where the lines cross, both take equally long, so a machine that differs from the measured one
 * loses little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/choice.h"

#include "sort/cpu/common.h"
#include "sort/tuning.h"

enum { POINTS = 5 };

static const double sizes[POINTS] = { 1e3, 3e3, 1e4, 3e4, 1e5 };

static const struct row {
    int key_bytes, value_bytes;
    double cpu[POINTS], pageable[POINTS], pinned[POINTS];
} rows[] = {
#define ROW(k, v, c0, c1, c2, c3, c4, a0, a1, a2, a3, a4, b0, b1, b2, b3, b4)                      \
    { k, v, { c0, c1, c2, c3, c4 }, { a0, a1, a2, a3, a4 }, { b0, b1, b2, b3, b4 } },
    SORT_TIMES(ROW)
#undef ROW
};

/* Small elements with values are too rare to justify a table row. */
static const struct row *row_of(const struct echi_sort *s)
{
    int value = s->value_bytes == 0 ? 0 : s->value_bytes <= 4 ? 4 : 8;
    int key = value && s->key_bytes < 4 ? 4 : s->key_bytes;
    const struct row *r = rows;
    while (r->key_bytes != key || r->value_bytes != value) r++;
    return r;
}

/* Linear interpolation between the points.  Below the first point the time is `fixed` plus a
 * proportional part. */
static double between(const double times[POINTS], double n, double fixed)
{
    if (n <= sizes[0]) return fixed + (times[0] - fixed) * n / sizes[0];
    int i = 1;
    while (i < POINTS - 1 && n > sizes[i]) i++;
    return times[i - 1] +
           (times[i] - times[i - 1]) * (n - sizes[i - 1]) / (sizes[i] - sizes[i - 1]);
}

static double cpu_time(const struct echi_sort *s, const struct row *row, int threads)
{
    double n = (double)s->n, last = sizes[POINTS - 1];
    double time = n <= last ? between(row->cpu, n, 0) : row->cpu[POINTS - 1] * n / last;
    /* The counting sort of bytes uses no vector instructions. */
    if (echi_cpu_isa() != ECHI_AVX512 && (s->key_bytes > 1 || s->value_bytes)) time *= 2;
    int parts = (int)echi_sort_parts(s->n);
    if (threads == 0) threads = echi_processors();
    if (threads > parts) threads = parts;
    return time * 100 / (100 + SORT_THREADS_PERCENT * (threads - 1));
}

static double gpu_time(const struct echi_sort *s, const double times[POINTS], double per_us)
{
    double n = (double)s->n, last = sizes[POINTS - 1];
    if (n <= last) return between(times, n, times[0] * 0.8);
    double each = (double)s->key_bytes + (double)s->value_bytes; /* both directions; indices are not
                                                                    copied in */
    return times[POINTS - 1] + (n - last) * (s->index_bytes ? each : 2 * each) / per_us;
}

struct echi_sort_times echi_sort_times(const struct echi_sort *s, int threads)
{
    const struct row *row = row_of(s);
    return (struct echi_sort_times){ cpu_time(s, row, threads),
                                     gpu_time(s, row->pageable, SORT_PAGEABLE_BYTES),
                                     gpu_time(s, row->pinned, SORT_PINNED_BYTES) };
}

bool echi_sort_faster_on_cpu(const ech_ctx *ctx, const void *request, bool pinned)
{
    const struct echi_sort *s = request;
    if (s->algorithm) return false;
    struct echi_sort_times times = echi_sort_times(s, ctx->threads);
    return times.cpu <= (pinned ? times.pinned : times.pageable);
}
