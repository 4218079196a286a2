/*
 * calls_strings.c - one call of a sort of strings, for fuzz_calls.c.  Results are compared string
 * by string.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

#include <string.h>

static uint64_t number_at(const void *at, size_t i, ech_dtype dtype)
{
    uint64_t x = 0;
    memcpy(&x, (const char *)at + i * ech_dtype_bytes(dtype), ech_dtype_bytes(dtype));
    return x;
}

/* The arrays of a call. */
struct strings {
    const unsigned char *offsets, *bytes, *validity;
    ech_dtype dtype;
    const ech_strings_options *options;
};

static bool is_null(const struct strings *s, size_t i)
{
    const size_t bit = s->options->validity_offset + i;
    return s->validity && !(s->validity[bit / 8] >> bit % 8 & 1);
}

/* Whether string i must precede string j in the result. */
static bool string_before(const struct strings *s, size_t i, size_t j)
{
    const uint64_t p = number_at(s->offsets, i, s->dtype), q = number_at(s->offsets, j, s->dtype);
    const uint64_t p_end = number_at(s->offsets, i + 1, s->dtype);
    const uint64_t q_end = number_at(s->offsets, j + 1, s->dtype);
    if (is_null(s, i) != is_null(s, j)) return is_null(s, i) == (s->options->nulls_first != 0);
    if (is_null(s, i)) return i < j;
    for (uint64_t k = 0; p + k < p_end || q + k < q_end; k++) {
        const int x = p + k < p_end ? s->bytes[p + k] : -1;
        const int y = q + k < q_end ? s->bytes[q + k] : -1;
        if (x != y) return (x < y) != (s->options->descending != 0);
    }
    return i < j;
}

/* Makes the offsets ascending, from the numbers of the input; with invalid, all except one. Returns
 * invalid. */
static bool make_offsets(unsigned char *offsets, size_t n, size_t total_bytes, ech_dtype dtype,
                         bool invalid)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    uint64_t last = 0;
    for (size_t i = 0; i <= n; i++) {
        uint64_t next = last + offsets[i * bytes] % 12;
        if (next > total_bytes) next = total_bytes;
        memcpy(offsets + i * bytes, &next, bytes);
        last = next;
    }
    const uint64_t past = total_bytes + 1;
    if (invalid) memcpy(offsets + n / 2 * bytes, &past, bytes);
    return invalid;
}

void call_strings(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype index = take_index(in), wide = take_index(in);
    const size_t n = take_size(in), total_bytes = take_size(in);
    const bool nulls = take(in) % 2, valid = ech_dtype_bytes(wide) >= 4 && wide < ECH_F16;
    ech_strings_options o = { .size = sizeof o, .descending = take(in) % 2 };
    const size_t width = ech_dtype_bytes(wide) ? ech_dtype_bytes(wide) : 8;
    const size_t narrow = ech_dtype_bytes(index) ? ech_dtype_bytes(index) : 8;
    struct strings s = { .dtype = wide, .options = &o };
    size_t needed = 0;
    const void *offsets = array_in(&c, n + 1, width, width);
    s.offsets = array_last(&c);
    const bool invalid =
        valid && make_offsets(array_last(&c), n, total_bytes, wide, take(in) % 8 == 0);
    c.data_error = invalid && n;
    array_keep(&c);
    const bool spoilt = c.array_spoiled;
    const void *bytes = array_in(&c, total_bytes, 1, 1);
    s.bytes = array_last(&c);
    if (!total_bytes) c.array_spoiled = spoilt; /* not accessed */
    if (nulls) {
        const bool before = c.array_spoiled;
        o.nulls_first = take(in) % 2;
        o.validity_offset = take(in) % 20;
        o.validity = array_in(&c, (n + 20 + 7) / 8, 1, 1);
        s.validity = array_last(&c);
        if (!o.validity) { /* no nulls */
            c.array_spoiled = before;
            o.validity_offset = 0;
            s.validity = NULL;
        }
    }
    void *out = array_out(&c, n, narrow, narrow);
    const void *out_at = array_last(&c);
    if (!n) c.array_spoiled = false;
    if (ech_strings_workspace("cpu", n, total_bytes, wide, index, &o, &needed) != ECH_OK)
        needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status status =
        ech_argsort_strings(ctx, offsets, bytes, out, n, total_bytes, wide, index, &o);
    FUZZ_CHECK(status != ECH_OK || !c.data_error);
    if (call_check(&c, status))
        for (size_t i = 1; i < n; i++)
            FUZZ_CHECK(string_before(&s, (size_t)number_at(out_at, i - 1, index),
                                     (size_t)number_at(out_at, i, index)));
    call_end(&c);
}
