/*
 * calls_columns.c - one call of a sort by columns, and one of a sort of records, for fuzz_calls.c.
 * Results of integers and strings are compared row by row.
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

static size_t index_at(const void *at, size_t i, ech_dtype dtype)
{
    uint64_t x = 0;
    memcpy(&x, (const char *)at + i * size_of(dtype), size_of(dtype));
    return (size_t)x;
}

/* The order of two rows by columns of integers, one of which may have nulls. */
static bool row_before(const ech_sort_column *columns, const void *const *data,
                       const uint8_t *validity, size_t count, size_t i, size_t j)
{
    for (size_t k = 0; k < count; k++) {
        const ech_sort_column *c = &columns[k];
        const int64_t x = number_at(data[k], i, c->dtype), y = number_at(data[k], j, c->dtype);
        if (k == 0 && validity) {
            const size_t a = c->validity_offset + i, b = c->validity_offset + j;
            const bool a_null = !(validity[a / 8] >> a % 8 & 1);
            const bool b_null = !(validity[b / 8] >> b % 8 & 1);
            if (a_null != b_null) return a_null == (c->nulls_first != 0);
            if (a_null) continue;
        }
        if (x != y) return c->descending ? x > y : x < y;
    }
    return i < j;
}

void call_columns(struct input *in, ech_ctx *ctx)
{
    enum { MOST = 4 };
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype index = take_index(in);
    const size_t n = take_size(in), count = 1 + take(in) % MOST;
    const bool nulls = take(in) % 2;
    ech_sort_column columns[MOST] = { { .size = sizeof *columns } };
    const void *data[MOST], *validity = NULL;
    ech_columns_options o = { .size = sizeof o };
    bool integers = true;
    size_t needed = 0;
    for (size_t k = 0; k < count; k++) {
        ech_sort_column *column = &columns[k];
        column->size = sizeof *column;
        column->dtype = take_dtype(in);
        column->descending = take(in) % 2;
        integers &= column->dtype < ECH_F16;
        const size_t bytes = size_of(column->dtype);
        column->data = array_in(&c, n, bytes, bytes);
        data[k] = array_last(&c);
    }
    if (nulls) {
        const bool spoilt = c.array_spoiled;
        columns[0].nulls_first = take(in) % 2;
        columns[0].validity_offset = take(in) % 20;
        columns[0].validity = array_in(&c, (n + 20 + 7) / 8, 1, 1);
        validity = array_last(&c);
        if (!columns[0].validity) { /* a column without nulls */
            c.array_spoiled = spoilt;
            columns[0].validity_offset = 0;
            validity = NULL;
        }
    }
    void *out = array_out(&c, n, size_of(index), size_of(index));
    const void *out_at = array_last(&c);
    if (!n) c.array_spoiled = false;
    if (ech_argsort_columns_workspace("cpu", columns, n, count, index, &o, &needed) != ECH_OK)
        needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status s = ech_argsort_columns(ctx, columns, out, n, count, index, &o);
    if (call_check(&c, s) && integers)
        for (size_t i = 1; i < n; i++)
            FUZZ_CHECK(row_before(columns, data, validity, count, index_at(out_at, i - 1, index),
                                  index_at(out_at, i, index)));
    call_end(&c);
}

/* A key of random kind, which may be outside the record. */
static ech_record_key take_key(struct input *in, size_t record_bytes)
{
    ech_record_key key = { .size = sizeof key, .offset_bytes = take(in) % (record_bytes + 1) };
    key.kind = (ech_key_kind)(take(in) % 5);
    key.dtype = take_dtype(in);
    key.descending = take(in) % 2;
    if (key.kind != ECH_KEY_DTYPE) key.width_bytes = take(in) % 24;
    return key;
}

void call_records(struct input *in, ech_ctx *ctx)
{
    enum { MOST = 3 };
    struct call c;
    call_begin(&c, in, ctx);
    const size_t n = take_size(in), bytes = 1 + take(in) % 40, count = 1 + take(in) % MOST;
    ech_columns_options o = { .size = sizeof o };
    ech_record_key keys[MOST];
    size_t needed = 0;
    for (size_t k = 0; k < count; k++) {
        keys[k] = take_key(in, bytes);
        const size_t width =
            keys[k].kind == ECH_KEY_DTYPE ? size_of(keys[k].dtype) : keys[k].width_bytes;
        if (keys[k].kind > ECH_KEY_SIGNED || !width || keys[k].offset_bytes + width > bytes ||
            (keys[k].kind == ECH_KEY_DTYPE && !ech_dtype_bytes(keys[k].dtype)))
            c.spoiled = true;
    }
    const void *records = array_in(&c, n, bytes, 1);
    void *out = array_out(&c, n, bytes, 1);
    const char *out_at = array_last(&c);
    if (!n) c.array_spoiled = false;
    if (ech_sort_records_workspace("cpu", n, bytes, keys, count, 0, &o, &needed) != ECH_OK)
        needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status s = ech_sort_records(ctx, records, out, n, bytes, keys, count, &o);
    if (call_check(&c, s) && keys[0].kind == ECH_KEY_BYTES)
        for (size_t i = 1; i < n; i++) {
            const char *x = out_at + (i - 1) * bytes + keys[0].offset_bytes;
            const int order = memcmp(x, x + bytes, keys[0].width_bytes);
            FUZZ_CHECK(keys[0].descending ? order >= 0 : order <= 0);
        }
    call_end(&c);
}
