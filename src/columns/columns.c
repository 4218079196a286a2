/*
 * columns/columns.c - ech_argsort_columns() and its related functions: checks the arguments, lays
 * out the key of a row, and calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "columns/columns.h"
#include "core/call.h"

#include <stdio.h>
#include <string.h>

static const struct echi_operation *operation(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_columns];
}

/* ---- The key of a row ---- */

static uint32_t column_bits(const struct echi_column *c)
{
    return 8 * c->bytes + (c->validity ? 1 : 0);
}

uint32_t echi_columns_words(const struct echi_columns *c)
{
    return (c->bits + 63) / 64;
}

static struct echi_column_word make_word(const struct echi_columns *c, uint32_t word)
{
    const uint32_t end = c->bits - 64 * word, low = end > 64 ? end - 64 : 0;
    struct echi_column_word w = { .low = low, .bits = end - low };
    for (uint32_t i = 0; i < c->count; i++) {
        const struct echi_column *column = &c->column[i];
        if (column->low >= end || column->low + column_bits(column) <= low) continue;
        if (w.count == 0) w.first = i;
        w.count++;
    }
    return w;
}

uint32_t echi_columns_word_bytes(const struct echi_column_word *w)
{
    return w->bits > 32 ? 8 : w->bits > 16 ? 4 : w->bits > 8 ? 2 : 1;
}

bool echi_columns_plain(const struct echi_columns *c)
{
    return c->count == 1 && !c->column[0].validity;
}

struct echi_sort echi_columns_sort(const struct echi_columns *c, uint32_t word, bool first)
{
    const struct echi_column_word *w = &c->word[word];
    const int bytes = (int)echi_columns_word_bytes(w);
    const ech_dtype dtype = bytes == 8   ? ECH_U64
                            : bytes == 4 ? ECH_U32
                            : bytes == 2 ? ECH_U16
                                         : ECH_U8;
    struct echi_sort sort = { .n = c->n,
                              .value_bytes = (size_t)c->index_bytes,
                              .index_bytes = first ? c->index_bytes : 0,
                              .dtype = dtype,
                              .key_bytes = bytes,
                              .order = echi_order_make(dtype, ECH_ORDER_NAN_LAST, false, false),
                              .end_bit = (int)w->bits,
                              .stable = true };
    if (first && echi_columns_plain(c)) {
        sort.dtype = c->dtype;
        sort.order = c->column[0].order;
    }
    return sort;
}

/* ---- Checks ---- */

static ech_status check_column(ech_ctx *ctx, const char *name, const ech_sort_column *given)
{
    char text[40];
    snprintf(text, sizeof text, "%s.dtype", name);
    const ech_status status = echi_check_dtype(ctx, text, given->dtype);
    if (status != ECH_OK) return status;
    if (given->descending != 0 && given->descending != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "%s.descending is %d, not 0 or 1", name,
                         given->descending);
    if (given->order != ECH_ORDER_NAN_LAST && given->order != ECH_ORDER_TOTAL)
        return echi_fail(ctx, ECH_ERR_ARG, "%s.order is %d, not an ech_order", name,
                         (int)given->order);
    if (given->nulls_first != 0 && given->nulls_first != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "%s.nulls_first is %d, not 0 or 1", name,
                         given->nulls_first);
    if (!given->validity && given->validity_offset)
        return echi_fail(ctx, ECH_ERR_ARG, "%s.validity is NULL, but validity_offset is %zu", name,
                         given->validity_offset);
    return ECH_OK;
}

static ech_status read_column(ech_ctx *ctx, const ech_sort_column *columns, uint32_t i,
                              struct echi_columns *c)
{
    char name[24];
    ech_sort_column given;
    ech_status status;
    snprintf(name, sizeof name, "columns[%u]", i);
    const char *at = (const char *)columns + i * columns->size;
    TRY(echi_read_struct(ctx, name, "ech_sort_column", at, &given, sizeof given));
    memcpy(&given.size, at, sizeof given.size);
    if (given.size != columns->size)
        FAIL(ctx, ECH_ERR_ARG, "%s.size is %zu, but columns[0].size is %zu", name, given.size,
             columns->size);
    TRY(check_column(ctx, name, &given));
    if (given.validity_offset > SIZE_MAX - 7 - c->n)
        FAIL(ctx, ECH_ERR_ARG, "%s.validity_offset is %zu: the sum with n overflows size_t", name,
             given.validity_offset);
    c->column[i] = (struct echi_column){
        .data = given.data,
        .validity = given.validity,
        .validity_offset = given.validity_offset,
        .order = echi_order_make(given.dtype, given.order, given.descending, true),
        .bytes = (uint32_t)ech_dtype_bytes(given.dtype),
        .nulls_first = (uint32_t)given.nulls_first,
    };
    if (i == 0) c->dtype = given.dtype;
done:
    return status;
}

/* Fills in the request, and checks everything except the pointers of arrays. */
static ech_status read_request(ech_ctx *ctx, const ech_sort_column *columns, size_t n,
                               size_t column_count, ech_dtype index_dtype,
                               const ech_columns_options *options, struct echi_columns *c)
{
    ech_status status;
    memset(c, 0, sizeof *c);
    c->n = n;
    if (!columns) FAIL(ctx, ECH_ERR_ARG, "columns is NULL");
    if (column_count < 1 || column_count > ECHI_COLUMNS)
        FAIL(ctx, ECH_ERR_ARG, "column_count is %zu, not within 1 to %d", column_count,
             (int)ECHI_COLUMNS);
    TRY(echi_check_count(ctx, "n", n, 16));
    TRY(echi_check_index(ctx, "index_dtype", index_dtype, "n", n));
    c->count = (uint32_t)column_count;
    c->index_bytes = (int)ech_dtype_bytes(index_dtype);
    for (uint32_t i = 0; i < c->count; i++) TRY(read_column(ctx, columns, i, c));
    for (uint32_t i = c->count; i-- > 0; c->bits += column_bits(&c->column[i]))
        c->column[i].low = c->bits;
    for (uint32_t i = 0; i < echi_columns_words(c); i++) c->word[i] = make_word(c, i);
    c->algorithm = options->algorithm && *options->algorithm ? options->algorithm : NULL;
done:
    return status;
}

/* ---- The call ---- */

enum { NAME_BYTES = 32 };

/* The bytes of the bitmap up to its last bit.  A part before the first bit may be on another
 * page, so the pointer moves to the byte of that bit. */
static size_t skip_bits(struct echi_column *column, size_t n)
{
    column->validity += column->validity_offset / 8;
    column->validity_offset %= 8;
    return ((size_t)column->validity_offset + n + 7) / 8;
}

static void add_column(struct echi_call *call, struct echi_columns *c, uint32_t i,
                       char names[2][NAME_BYTES])
{
    struct echi_column *column = &c->column[i];
    snprintf(names[0], NAME_BYTES, "columns[%u].data", i);
    echi_call_add(call, names[0], &column->data, c->n * column->bytes, column->bytes, ECHI_IN);
    if (!column->validity) return;
    const size_t bytes = skip_bits(column, c->n);
    snprintf(names[1], NAME_BYTES, "columns[%u].validity", i);
    echi_call_add(call, names[1], &column->validity, bytes, 1, ECHI_IN);
}

ech_status ech_argsort_columns(ech_ctx *ctx, const ech_sort_column *columns, void *indices,
                               size_t n, size_t column_count, ech_dtype index_dtype,
                               const ech_columns_options *options)
{
    READ_OPTIONS(ctx, ech_columns_options, options);
    struct echi_columns c;
    char names[ECHI_COLUMNS][2][NAME_BYTES];
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    struct echi_call call;
    call.what = "a sort by columns";
    call.workspace = NULL;
    call.operation = operation(ctx->backend);
    call.request = &c;
    call.count = 0;
    call.work = options->work;
    call.work_bytes = options->work_bytes;
    ech_status status;
    TRY(read_request(ctx, columns, n, column_count, index_dtype, options, &c));
    c.indices = indices;
    if (n == 0) return echi_call_check(ctx, &call); /* rejects an unknown algorithm */
    for (uint32_t i = 0; i < c.count; i++) add_column(&call, &c, i, names[i]);
    echi_call_add(&call, "indices", &c.indices, n * (size_t)c.index_bytes, (size_t)c.index_bytes,
                  ECHI_OUT)
        ->element = ech_dtype_name(index_dtype);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* ---- Queries ---- */

ech_status ech_argsort_columns_workspace(const char *device, const ech_sort_column *columns,
                                         size_t n, size_t column_count, ech_dtype index_dtype,
                                         const ech_columns_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_columns_options, options);
    struct echi_columns c;
    if (bytes) *bytes = 0;
    const ech_status status =
        read_request(NULL, columns, n, column_count, index_dtype, options, &c);
    return status == ECH_OK ? echi_call_workspace(device, operation, &c, bytes) : status;
}

ech_status ech_argsort_columns_explain(const char *device, const ech_sort_column *columns, size_t n,
                                       size_t column_count, ech_dtype index_dtype,
                                       const ech_columns_options *options, ech_format format,
                                       char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_columns_options, options);
    struct echi_columns c;
    const ech_status status =
        read_request(NULL, columns, n, column_count, index_dtype, options, &c);
    if (status != ECH_OK) return status;
    return echi_explain(device, "argsort_columns", operation, &c, format, text, capacity_bytes);
}
