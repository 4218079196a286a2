/*
 * columns/columns.c - ech_argsort_columns(), ech_sort_records() and their related functions: checks
 * the arguments, lays out the key of a row, and calls the backend.
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

static uint32_t part_bits(const struct echi_part *p)
{
    return 8 * p->bytes + p->null_bit;
}

uint32_t echi_columns_words(const struct echi_columns *c)
{
    return (c->bits + 63) / 64;
}

static struct echi_column_word make_word(const struct echi_columns *c, uint32_t word)
{
    const uint32_t end = c->bits - 64 * word, low = end > 64 ? end - 64 : 0;
    struct echi_column_word w = { .low = low, .bits = end - low };
    for (uint32_t i = 0; i < c->parts; i++) {
        const struct echi_part *p = &c->part[i];
        if (p->low >= end || p->low + part_bits(p) <= low) continue;
        if (w.count == 0) w.first = i;
        w.count++;
    }
    return w;
}

static void make_words(struct echi_columns *c)
{
    for (uint32_t i = c->parts; i-- > 0; c->bits += part_bits(&c->part[i]))
        c->part[i].low = c->bits;
    for (uint32_t i = 0; i < echi_columns_words(c); i++) c->word[i] = make_word(c, i);
}

uint32_t echi_columns_word_bytes(const struct echi_column_word *w)
{
    return w->bits > 32 ? 8 : w->bits > 16 ? 4 : w->bits > 8 ? 2 : 1;
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
                              .order = echi_order_ascending(dtype, false),
                              .end_bit = (int)w->bits,
                              .stable = true };
    if (first && c->plain) {
        sort.dtype = c->dtype;
        sort.order = c->part[0].order;
    }
    return sort;
}

struct echi_arrange echi_records_move(const struct echi_columns *c, const void *records,
                                      const void *indices)
{
    return (struct echi_arrange){ .what = ECHI_GATHER,
                                  .in = records,
                                  .out = c->records_out,
                                  .n = c->n,
                                  .element_bytes = c->record_bytes,
                                  .index = indices,
                                  .index_bytes = c->index_bytes,
                                  .limit = c->n };
}

struct echi_arrange echi_records_copy(const struct echi_columns *c, void *copy)
{
    return (struct echi_arrange){ .what = ECHI_ROTATE, /* by 0 */
                                  .in = c->source[0].data,
                                  .out = copy,
                                  .n = c->n,
                                  .element_bytes = c->record_bytes };
}

/* ---- Checks ---- */

/* How the elements of a column, or a key of records, are compared. */
struct key {
    ech_key_kind kind;
    ech_dtype dtype;
    size_t width_bytes;
    int descending;
    ech_order order;
};

/* Also replaces a width_bytes of 0 by the bytes of dtype. */
static ech_status check_key(ech_ctx *ctx, const char *name, struct key *key)
{
    if ((unsigned)key->kind > ECH_KEY_SIGNED)
        return echi_fail(ctx, ECH_ERR_ARG, "%s.kind is %d, not an ech_key_kind", name,
                         (int)key->kind);
    if (key->descending != 0 && key->descending != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "%s.descending is %d, not 0 or 1", name,
                         key->descending);
    if (key->order != ECH_ORDER_NAN_LAST && key->order != ECH_ORDER_TOTAL)
        return echi_fail(ctx, ECH_ERR_ARG, "%s.order is %d, not an ech_order", name,
                         (int)key->order);
    if (key->kind == ECH_KEY_DTYPE) {
        char text[40];
        snprintf(text, sizeof text, "%s.dtype", name);
        const ech_status status = echi_check_dtype(ctx, text, key->dtype);
        if (status != ECH_OK) return status;
        if (key->width_bytes && key->width_bytes != ech_dtype_bytes(key->dtype))
            return echi_fail(
                ctx, ECH_ERR_ARG, "%s.width_bytes is %zu, but an element of %s has %zu bytes", name,
                key->width_bytes, ech_dtype_name(key->dtype), ech_dtype_bytes(key->dtype));
        key->width_bytes = ech_dtype_bytes(key->dtype);
    }
    if (key->width_bytes < 1 || key->width_bytes > ECHI_KEY_BYTES)
        return echi_fail(ctx, ECH_ERR_ARG, "%s.width_bytes is %zu, not within 1 to %d", name,
                         key->width_bytes, (int)ECHI_KEY_BYTES);
    return ECH_OK;
}

/* Adds the parts of a key that is at `offset` in the elements of a source. */
static ech_status add_parts(ech_ctx *ctx, const char *name, const struct key *key, uint32_t source,
                            size_t offset, struct echi_columns *c)
{
    const bool reversed = key->kind == ECH_KEY_BYTES;
    size_t before = 0; /* bytes of the key before this one */
    for (uint32_t i = 0; i < c->parts; i++) before += c->part[i].bytes;
    if (before + key->width_bytes > ECHI_KEY_BYTES)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "%s.width_bytes is %zu: with the %zu bytes before it, the key of a row "
                         "exceeds %d bytes",
                         name, key->width_bytes, before, (int)ECHI_KEY_BYTES);
    if (key->kind == ECH_KEY_DTYPE) {
        c->part[c->parts++] = (struct echi_part){
            .order = echi_order_make(key->dtype, key->order, key->descending, true),
            .source = source,
            .offset = (uint32_t)offset,
            .bytes = (uint32_t)key->width_bytes,
        };
        return ECH_OK;
    }
    for (size_t left = key->width_bytes, bytes; left; left -= bytes) {
        /* The last part of a string is shorter; of an integer it is the first. */
        bytes = reversed || left % 8 == 0 ? (left < 8 ? left : 8) : left % 8;
        const size_t at = reversed ? key->width_bytes - left : left - bytes;
        const uint64_t ones = ~(uint64_t)0 >> (64 - 8 * bytes);
        struct echi_order order = echi_order_make(ECH_U64, key->order, false, false);
        order.flip = key->descending ? ones : 0;
        if (key->kind == ECH_KEY_SIGNED && left == key->width_bytes) order.flip ^= ones ^ ones >> 1;
        c->part[c->parts++] = (struct echi_part){ .order = order,
                                                  .source = source,
                                                  .offset = (uint32_t)(offset + at),
                                                  .bytes = (uint32_t)bytes,
                                                  .reversed = reversed };
    }
    return ECH_OK;
}

/* Reads struct i of an array of structs of the same size. */
static ech_status read_struct(ech_ctx *ctx, const char *array, const char *type, const void *given,
                              uint32_t i, char name[24], void *read, size_t bytes)
{
    size_t each, size;
    ech_status status;
    memcpy(&each, given, sizeof each);
    const char *at = (const char *)given + i * each;
    snprintf(name, 24, "%s[%u]", array, i);
    TRY(echi_read_struct(ctx, name, type, at, read, bytes));
    memcpy(&size, at, sizeof size);
    if (size != each)
        FAIL(ctx, ECH_ERR_ARG, "%s.size is %zu, but %s[0].size is %zu", name, size, array, each);
done:
    return status;
}

static ech_status read_column(ech_ctx *ctx, const ech_sort_column *columns, uint32_t i,
                              struct echi_columns *c)
{
    char name[24];
    ech_sort_column given;
    ech_status status;
    TRY(read_struct(ctx, "columns", "ech_sort_column", columns, i, name, &given, sizeof given));
    struct key key = { given.kind, given.dtype, given.width_bytes, given.descending, given.order };
    TRY(check_key(ctx, name, &key));
    if (given.nulls_first != 0 && given.nulls_first != 1)
        FAIL(ctx, ECH_ERR_ARG, "%s.nulls_first is %d, not 0 or 1", name, given.nulls_first);
    if (!given.validity && given.validity_offset)
        FAIL(ctx, ECH_ERR_ARG, "%s.validity is NULL, but validity_offset is %zu", name,
             given.validity_offset);
    if (given.validity_offset > SIZE_MAX - 7 - c->n)
        FAIL(ctx, ECH_ERR_ARG, "%s.validity_offset is %zu: the sum with n overflows size_t", name,
             given.validity_offset);
    if (given.stride_bytes && given.stride_bytes < key.width_bytes)
        FAIL(ctx, ECH_ERR_ARG, "%s.stride_bytes is %zu, less than the %zu bytes of an element",
             name, given.stride_bytes, key.width_bytes);
    const size_t stride = given.stride_bytes ? given.stride_bytes : key.width_bytes;
    if (c->n && stride > (SIZE_MAX - key.width_bytes) / c->n)
        FAIL(ctx, ECH_ERR_ARG, "%s.stride_bytes is %zu: the product with n overflows size_t", name,
             stride);
    const uint32_t first = c->parts;
    const bool contiguous = key.kind == ECH_KEY_DTYPE && !given.stride_bytes;
    TRY(add_parts(ctx, name, &key, i, 0, c));
    c->part[first].null_bit = given.validity != NULL;
    c->part[first].nulls_first = (uint8_t)given.nulls_first;
    c->source[c->sources++] =
        (struct echi_source){ .data = given.data,
                              .validity = given.validity,
                              .validity_offset = given.validity_offset,
                              .stride = stride,
                              .bytes = (uint32_t)key.width_bytes,
                              .align = contiguous ? (uint32_t)key.width_bytes : 1 };
    c->dtype = key.dtype;
    c->plain = i == 0 && contiguous && !given.validity;
done:
    return status;
}

static ech_status read_counts(ech_ctx *ctx, const void *structs, const char *name,
                              const char *count_name, size_t count,
                              const ech_columns_options *options, struct echi_columns *c)
{
    c->algorithm = options->algorithm && *options->algorithm ? options->algorithm : NULL;
    if (!structs) return echi_fail(ctx, ECH_ERR_ARG, "%s is NULL", name);
    if (count < 1 || count > ECHI_COLUMNS)
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu, not within 1 to %d", count_name, count,
                         (int)ECHI_COLUMNS);
    return echi_check_count(ctx, "n", c->n, 16);
}

/* Fills in the request, and checks everything except the pointers of arrays. */
static ech_status read_request(ech_ctx *ctx, const ech_sort_column *columns, size_t n,
                               size_t column_count, ech_dtype index_dtype,
                               const ech_columns_options *options, struct echi_columns *c)
{
    ech_status status;
    memset(c, 0, sizeof *c);
    c->n = n;
    TRY(read_counts(ctx, columns, "columns", "column_count", column_count, options, c));
    TRY(echi_check_index(ctx, "index_dtype", index_dtype, "n", n));
    c->index_bytes = (int)ech_dtype_bytes(index_dtype);
    for (uint32_t i = 0; i < column_count; i++) TRY(read_column(ctx, columns, i, c));
    make_words(c);
done:
    return status;
}

static ech_status read_record_key(ech_ctx *ctx, const ech_record_key *keys, uint32_t i,
                                  struct echi_columns *c)
{
    char name[24];
    ech_record_key given;
    ech_status status;
    TRY(read_struct(ctx, "keys", "ech_record_key", keys, i, name, &given, sizeof given));
    struct key key = { given.kind, given.dtype, given.width_bytes, given.descending, given.order };
    TRY(check_key(ctx, name, &key));
    if (given.offset_bytes > c->record_bytes ||
        key.width_bytes > c->record_bytes - given.offset_bytes)
        FAIL(ctx, ECH_ERR_ARG,
             "%s has %zu bytes from byte %zu of a record on, but record_bytes is %zu", name,
             key.width_bytes, given.offset_bytes, c->record_bytes);
    TRY(add_parts(ctx, name, &key, 0, given.offset_bytes, c));
done:
    return status;
}

static ech_status read_records(ech_ctx *ctx, size_t n, size_t record_bytes,
                               const ech_record_key *keys, size_t key_count, bool in_place,
                               const ech_columns_options *options, struct echi_columns *c)
{
    ech_status status;
    memset(c, 0, sizeof *c);
    c->n = n;
    c->record_bytes = record_bytes;
    c->in_place = in_place;
    c->index_bytes = n <= (uint64_t)1 << 32 ? 4 : 8;
    c->sources = 1;
    c->source[0].stride = record_bytes;
    if (record_bytes < 1 || record_bytes > UINT32_MAX)
        FAIL(ctx, ECH_ERR_ARG, "record_bytes is %zu, not within 1 to %u", record_bytes, UINT32_MAX);
    TRY(read_counts(ctx, keys, "keys", "key_count", key_count, options, c));
    TRY(echi_check_count(ctx, "n", n, record_bytes));
    for (uint32_t i = 0; i < key_count; i++) TRY(read_record_key(ctx, keys, i, c));
    make_words(c);
done:
    return status;
}

/* ---- The call ---- */

enum { NAME_BYTES = 32 };

/* The bytes of the bitmap up to its last bit.  A part before the first bit may be on another
 * page, so the pointer moves to the byte of that bit. */
static size_t skip_bits(struct echi_source *source, size_t n)
{
    source->validity += source->validity_offset / 8;
    source->validity_offset %= 8;
    return ((size_t)source->validity_offset + n + 7) / 8;
}

static void add_column(struct echi_call *call, struct echi_columns *c, uint32_t i,
                       char names[2][NAME_BYTES])
{
    struct echi_source *source = &c->source[i];
    snprintf(names[0], NAME_BYTES, "columns[%u].data", i);
    echi_call_add(call, names[0], &source->data,
                  (c->n - 1) * (size_t)source->stride + source->bytes, source->align, ECHI_IN);
    if (!source->validity) return;
    const size_t bytes = skip_bits(source, c->n);
    snprintf(names[1], NAME_BYTES, "columns[%u].validity", i);
    echi_call_add(call, names[1], &source->validity, bytes, 1, ECHI_IN);
}

static void begin(struct echi_call *call, ech_ctx *ctx, const char *what, struct echi_columns *c,
                  const ech_columns_options *options)
{
    echi_call_begin(call, what, operation(ctx->backend), c, options->work, options->work_bytes);
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
    struct echi_array arrays[ECHI_ARRAYS];
    begin(&call, ctx, "a sort by columns", &c, options);
    call.many = arrays;
    ech_status status;
    TRY(read_request(ctx, columns, n, column_count, index_dtype, options, &c));
    c.indices = indices;
    if (n == 0) return echi_call_check(ctx, &call); /* rejects an unknown algorithm */
    for (uint32_t i = 0; i < c.sources; i++) add_column(&call, &c, i, names[i]);
    echi_call_add(&call, "indices", &c.indices, n * (size_t)c.index_bytes, (size_t)c.index_bytes,
                  ECHI_OUT)
        ->element = ech_dtype_name(index_dtype);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_sort_records(ech_ctx *ctx, const void *records, void *records_out, size_t n,
                            size_t record_bytes, const ech_record_key *keys, size_t key_count,
                            const ech_columns_options *options)
{
    READ_OPTIONS(ctx, ech_columns_options, options);
    struct echi_columns c;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    struct echi_call call;
    begin(&call, ctx, "a sort of records", &c, options);
    ech_status status;
    TRY(read_records(ctx, n, record_bytes, keys, key_count, records && records == records_out,
                     options, &c));
    c.source[0].data = records;
    c.records_out = records_out;
    if (n == 0) return echi_call_check(ctx, &call); /* rejects an unknown algorithm */
    const size_t align = echi_opaque_align(record_bytes);
    echi_call_add(&call, "records", &c.source[0].data, n * record_bytes, 0, ECHI_IN)->device_align =
        align;
    struct echi_array *out =
        echi_call_add(&call, "records_out", &c.records_out, n * record_bytes, 0, ECHI_OUT);
    out->device_align = align;
    out->may_be = 1;
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

ech_status ech_sort_records_workspace(const char *device, size_t n, size_t record_bytes,
                                      const ech_record_key *keys, size_t key_count, int in_place,
                                      const ech_columns_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_columns_options, options);
    struct echi_columns c;
    if (bytes) *bytes = 0;
    const ech_status status =
        read_records(NULL, n, record_bytes, keys, key_count, in_place != 0, options, &c);
    return status == ECH_OK ? echi_call_workspace(device, operation, &c, bytes) : status;
}

ech_status ech_sort_records_explain(const char *device, size_t n, size_t record_bytes,
                                    const ech_record_key *keys, size_t key_count, int in_place,
                                    const ech_columns_options *options, ech_format format,
                                    char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_columns_options, options);
    struct echi_columns c;
    const ech_status status =
        read_records(NULL, n, record_bytes, keys, key_count, in_place != 0, options, &c);
    if (status != ECH_OK) return status;
    return echi_explain(device, "sort_records", operation, &c, format, text, capacity_bytes);
}
