/*
 * calls_quantile.c - one call of ech_nth_element(), ech_partition_at() or ech_quantiles(), for
 * fuzz_calls.c.  Elements and partitions of integers are checked by counting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

#include <string.h>

enum { RANKS = 5, MOST = 600 /* elements of a partition whose parts are counted */ };

static size_t size_of(ech_dtype dtype)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    return bytes ? bytes : 8; /* the call rejects the dtype */
}

/* Element i of integers, as a number with the order of the elements. */
static int64_t number_at(const void *at, size_t i, ech_dtype dtype)
{
    const size_t bytes = size_of(dtype), spare = 64 - 8 * bytes;
    uint64_t x = 0;
    memcpy(&x, (const char *)at + i * bytes, bytes);
    x <<= spare;
    if (dtype > ECH_I64) x ^= (uint64_t)1 << 63;
    return (int64_t)x;
}

static size_t index_at(const void *at, size_t i, ech_dtype dtype)
{
    uint64_t x = 0;
    memcpy(&x, (const char *)at + i * size_of(dtype), size_of(dtype));
    return (size_t)x;
}

/* The element at `at` has this rank in the stable sort. */
static void check_rank(const void *in, size_t n, ech_dtype dtype, size_t rank, size_t at)
{
    size_t before = 0;
    FUZZ_CHECK(at < n);
    const int64_t x = number_at(in, at, dtype);
    for (size_t i = 0; i < n; i++) {
        const int64_t y = number_at(in, i, dtype);
        before += y < x || (y == x && i < at);
    }
    FUZZ_CHECK(before == rank);
}

struct partition {
    const void *in, *out, *index;
    size_t n;
    ech_dtype dtype, index_dtype;
    const uint64_t *ranks;
    size_t n_ranks;
};

/* Each rank has its element; between ranks, positions ascend. */
static void check_partition(const struct partition *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const size_t at = index_at(p->index, i, p->index_dtype);
        bool fixed = false, after = false;
        for (size_t j = 0; j < p->n_ranks; j++) {
            fixed |= p->ranks[j] == i;
            after |= i > 0 && p->ranks[j] == i - 1;
        }
        FUZZ_CHECK(at < p->n);
        FUZZ_CHECK(number_at(p->in, at, p->dtype) == number_at(p->out, i, p->dtype));
        if (fixed) check_rank(p->in, p->n, p->dtype, i, at);
        if (i && !fixed && !after) FUZZ_CHECK(index_at(p->index, i - 1, p->index_dtype) < at);
    }
}

void call_quantile(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in), index_dtype = take_index(in);
    const ech_quantile_call which = (ech_quantile_call)(take(in) % 3);
    const ech_quantile_method method = (ech_quantile_method)(take(in) % 13);
    const size_t n = take_size(in), bytes = size_of(dtype), wide = size_of(index_dtype);
    const bool nth = which == ECH_QUANTILE_CALL_NTH;
    const bool quantiles = which == ECH_QUANTILE_CALL_QUANTILES;
    size_t count = nth ? 1 : take(in) % (RANKS + 1);
    uint64_t ranks[RANKS] = { 0 };
    double q[RANKS] = { 0 };
    for (size_t i = 0; i < RANKS; i++) {
        q[i] = take(in) / 255.0;
        ranks[i] = (uint64_t)(q[i] * (double)(n ? n - 1 : 0));
    }
    if (n == 0 && !quantiles) count = 0;
    const int out_dtype = quantiles ? ech_quantile_dtype(method, dtype) : (int)dtype;
    const size_t each = out_dtype < 0 ? bytes : size_of((ech_dtype)out_dtype);
    const size_t outputs = quantiles ? count : nth ? n > 0 : n;
    ech_quantile_options o = { .size = sizeof o, .nan = (ech_nan)(take(in) % 2) };
    const void *from = array_in(&c, n, bytes, bytes), *given = array_last(&c);
    void *out = array_out(&c, outputs, each, each), *result = array_last(&c);
    void *index = quantiles ? NULL : array_out(&c, outputs, wide, wide);
    const void *positions = array_last(&c);
    size_t needed = 0;
    if (ech_quantile_workspace("cpu", which, n, nth ? 1 : count, dtype, &o, &needed) != ECH_OK)
        needed = 0;
    if (!n && (nth || (quantiles && count && out_dtype != ECH_F64 && dtype < ECH_F16)))
        c.spoiled = true; /* there is no element */
    if ((!quantiles && (!out || !index)) || !outputs || (!n && from != given))
        c.array_spoiled = false; /* one of them is optional */
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status s =
        nth ? ech_nth_element(ctx, from, out, index, n, (size_t)ranks[0], dtype, index_dtype, &o)
        : quantiles
            ? ech_quantiles(ctx, from, out, q, n, count, dtype, method, &o)
            : ech_partition_at(ctx, from, out, index, n, ranks, count, dtype, index_dtype, &o);
    if (call_check(&c, s) && dtype < ECH_F16 && out && index && n <= MOST) {
        const struct partition p = {
            given, result, positions, n, dtype, index_dtype, ranks, count
        };
        if (nth)
            check_rank(given, n, dtype, (size_t)ranks[0], index_at(positions, 0, index_dtype));
        else
            check_partition(&p);
    }
    call_end(&c);
}
