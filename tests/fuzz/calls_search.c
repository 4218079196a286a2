/*
 * calls_search.c - one call of a search or of a merge of runs, for fuzz_calls.c.
 * Positions of integers are compared with counts; merged integers must be in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

#include <string.h>

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

static uint64_t index_at(const void *at, size_t i, ech_dtype dtype)
{
    uint64_t x = 0;
    memcpy(&x, (const char *)at + i * size_of(dtype), size_of(dtype));
    return x;
}

/* The array is sorted, or in any order; then positions are only at most n. */
void call_search(struct input *in, ech_ctx *ctx)
{
    enum { MOST = 400 };
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in), index = take_index(in);
    const size_t n = take_size(in), m = take_size(in) % MOST, bytes = size_of(dtype);
    const bool upper = take(in) % 2, sorted = take(in) < 200 && dtype <= ECH_F64;
    ech_search_options o = { .size = sizeof o, .descending = take(in) % 2 };
    o.needles_sorted = take(in) % 2;
    const void *array = array_in(&c, n, bytes, bytes);
    void *array_at = array_last(&c);
    if (sorted && n) {
        ech_ctx *cpu;
        const ech_sort_options by = { .size = sizeof by, .descending = o.descending };
        FUZZ_CHECK(ech_open(&cpu, "cpu") == ECH_OK);
        FUZZ_CHECK(ech_sort(cpu, array_at, array_at, n, dtype, &by) == ECH_OK);
        ech_close(cpu);
        array_keep(&c);
    }
    const void *needles = array_in(&c, m, bytes, bytes), *needles_at = array_last(&c);
    void *positions = array_out(&c, m, size_of(index), size_of(index)), *out = array_last(&c);
    size_t needed = 0;
    if (ech_search_workspace("cpu", upper ? ECH_SEARCH_CALL_UPPER : ECH_SEARCH_CALL_LOWER, n, m,
                             dtype, &o, &needed) != ECH_OK)
        needed = 0;
    if (!m) c.array_spoiled = false;
    if (!array && !n) c.array_spoiled = !needles || !positions;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status s = (upper ? ech_upper_bound : ech_lower_bound)(ctx, array, needles, positions,
                                                                     n, m, dtype, index, &o);
    if (call_check(&c, s))
        for (size_t i = 0; i < m; i++) {
            const uint64_t at = index_at(out, i, index);
            FUZZ_CHECK(at <= n);
            if (!sorted || (dtype >= ECH_F16)) continue;
            const int64_t x = number_at(needles_at, i, dtype);
            size_t before = 0;
            for (size_t j = 0; j < n && n <= MOST; j++) {
                const int64_t y = number_at(array_at, j, dtype);
                before += (o.descending ? y > x : y < x) || (upper && y == x);
            }
            FUZZ_CHECK(n > MOST || at == before);
        }
    call_end(&c);
}

/* Runs of equal or of random lengths, sorted or in any order; the offsets may be wrong. */
void call_merge_many(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in), index = take_index(in);
    const size_t n = take_size(in), runs = 1 + take(in) % 40, bytes = size_of(dtype);
    const size_t wide = take(in) % 2 ? 1 + take(in) % 20 : 0;
    const bool sorted = take(in) < 200 && dtype <= ECH_F64;
    ech_merge_options o = { .size = sizeof o, .descending = take(in) % 2 };
    const void *keys = array_in(&c, n, bytes, bytes);
    char *keys_at = array_last(&c);
    if (sorted && n) {
        ech_ctx *cpu;
        const ech_sort_options by = { .size = sizeof by, .descending = o.descending };
        FUZZ_CHECK(ech_open(&cpu, "cpu") == ECH_OK);
        for (size_t r = 0; r < runs; r++)
            FUZZ_CHECK(ech_sort(cpu, keys_at + n * r / runs * bytes, keys_at + n * r / runs * bytes,
                                n * (r + 1) / runs - n * r / runs, dtype, &by) == ECH_OK);
        ech_close(cpu);
        array_keep(&c);
    }
    const void *offsets = array_in(&c, runs + 1, size_of(index), size_of(index));
    unsigned char *offsets_at = array_last(&c);
    const bool wrong = take(in) % 8 == 0; /* the bytes of the input */
    c.data_error = wrong;
    for (size_t r = 0; r <= runs && !wrong; r++) {
        const uint64_t begin = n * r / runs;
        memcpy(offsets_at + r * size_of(index), &begin, size_of(index));
    }
    array_keep(&c);
    const void *values = wide ? array_in(&c, n, wide, 1) : NULL;
    void *out = array_out(&c, n, bytes, bytes), *out_at = array_last(&c);
    void *values_out = wide ? array_out(&c, n, wide, 1) : NULL;
    size_t needed = 0;
    if (ech_merge_many_workspace("cpu", n, runs, dtype, wide, &o, &needed) != ECH_OK) needed = 0;
    if (!n) c.array_spoiled &= !offsets || (uintptr_t)offsets % size_of(index) != 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status s = wide ? ech_merge_many_pairs(ctx, keys, values, offsets, out, values_out, n,
                                                     runs, dtype, wide, index, &o)
                              : ech_merge_many(ctx, keys, offsets, out, n, runs, dtype, index, &o);
    if (call_check(&c, s) && sorted && dtype < ECH_F16 && !wrong)
        for (size_t i = 1; i < n; i++) {
            const int64_t x = number_at(out_at, i - 1, dtype), y = number_at(out_at, i, dtype);
            FUZZ_CHECK(o.descending ? x >= y : x <= y);
        }
    call_end(&c);
}
