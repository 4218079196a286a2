/*
 * files/column.c - records of text that are sorted by the number in one column, for the external
 * sort.
 *
 *     records -> begins, keys, index -> sort of keys and index -> records in order
 *
 * The text was checked before (io/text_scan.c): every record has a number of the type.  The order
 * is that of a stable sort of numbers: -0 equals +0, and all NaN are equal, except in totalOrder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* memrchr() */
#include "files/internal.h"
#include "io/threads.h"

#include <string.h>

enum { CHUNK = 1 << 14 }; /* records that a thread takes at once */

static const struct files_column *column_of(const struct files_kind *kind)
{
    return kind->state;
}

static size_t next(const struct files_column *column, const unsigned char *at, size_t n)
{
    const char *open, *from = (const char *)at, *end = from + n;
    const char *newline = column->delimiter ? io_record_end(from, end, column->delimiter, &open)
                                            : memchr(from, '\n', n);
    return newline && newline < end ? (size_t)(newline - from) + 1 : n;
}

/* The bits of the number of a record with its newline. */
static uint64_t key_of(const struct files_column *column, const unsigned char *record, size_t bytes)
{
    const char *first = (const char *)record, *last = first + bytes - 1, *fault;
    uint64_t key = 0;
    if (column->cut.number) io_cut_record(&column->cut, &first, &last, &fault);
    if (io_column_key(&column->cut, first, last, column->dtype, &key) != IO_NUMBER_OK) return 0;
    return io_load(&key, ech_dtype_bytes(column->dtype));
}

static size_t scan(const struct files_kind *kind, const unsigned char *bytes, size_t n, size_t most,
                   uint32_t *lengths, uint64_t *prefixes)
{
    const struct files_column *column = column_of(kind);
    size_t count = 0;
    for (size_t at = 0; at < n && count < most; count++) {
        const size_t length = next(column, bytes + at, n - at);
        lengths[count] = (uint32_t)length;
        if (prefixes)
            prefixes[count] = files_rank_of(&column->rank, key_of(column, bytes + at, length));
        at += length;
    }
    return count;
}

static size_t boundary(const struct files_kind *kind, const unsigned char *bytes, size_t n,
                       size_t from, size_t at)
{
    const struct files_column *column = column_of(kind);
    if (!column->delimiter)
        return at == 0 || at >= n ? at : at - 1 + next(column, bytes + at - 1, n - at + 1);
    while (from < at) from += next(column, bytes + from, n - from);
    return from;
}

static size_t cut(const struct files_kind *kind, const unsigned char *bytes, size_t n)
{
    const struct files_column *column = column_of(kind);
    if (!column->delimiter) {
        const unsigned char *end = memrchr(bytes, '\n', n);
        return end ? (size_t)(end - bytes) + 1 : 0;
    }
    const char *from = (const char *)bytes, *end = from + n, *at = from, *open;
    for (;;) {
        const char *newline = io_record_end(at, end, column->delimiter, &open);
        if (newline == end) return (size_t)(at - from);
        at = newline + 1;
    }
}

static uint64_t count(const struct files_kind *kind, const unsigned char *bytes, size_t n)
{
    const struct files_column *column = column_of(kind);
    uint64_t records = 0;
    for (size_t at = 0; at < n; records++) at += next(column, bytes + at, n - at);
    return records;
}

/* ---- The sort of a block ---- */

/* Where the arrays are in the workspace. */
struct layout {
    size_t place; /* bytes of a position or an offset */
    size_t begins, index, sums, work;
};

static struct layout lay_out(const struct files_column *column, size_t bytes, size_t records)
{
    struct layout layout = { .place = bytes < UINT32_MAX && records < UINT32_MAX ? 4 : 8 };
    layout.begins = (size_t)files_round_up(records * ech_dtype_bytes(column->dtype), 256);
    layout.index = layout.begins + (size_t)files_round_up((records + 1) * layout.place, 256);
    layout.sums = layout.index + (size_t)files_round_up(records * layout.place, 256);
    layout.work =
        layout.sums + (size_t)files_round_up((records / CHUNK + 2) * sizeof(uint64_t), 256);
    return layout;
}

static size_t work_bytes(const struct files_kind *kind, size_t bytes, size_t records)
{
    const struct files_column *column = column_of(kind);
    const struct layout layout = lay_out(column, bytes, records);
    size_t work = bytes; /* a sort on a GPU out of core */
    if (column->on_cpu)
        ech_sort_workspace("cpu", records, column->dtype, layout.place, &column->options, &work);
    return layout.work + work + 256;
}

struct block_sort {
    const struct files_column *column;
    const struct files_block *block;
    struct layout layout;
    unsigned char *keys, *begins, *index;
    uint64_t *sums;
};

static uint64_t load(const struct block_sort *s, const unsigned char *array, uint64_t i)
{
    return s->layout.place == 4 ? ((const uint32_t *)(const void *)array)[i]
                                : ((const uint64_t *)(const void *)array)[i];
}

static void store(const struct block_sort *s, unsigned char *array, uint64_t i, uint64_t value)
{
    if (s->layout.place == 4)
        ((uint32_t *)(void *)array)[i] = (uint32_t)value;
    else
        ((uint64_t *)(void *)array)[i] = value;
}

static size_t chunk_end(const struct block_sort *s, int i)
{
    const size_t end = ((size_t)i + 1) * CHUNK;
    return end < s->block->records ? end : s->block->records;
}

static void make_keys(void *arg, int i)
{
    const struct block_sort *s = arg;
    const size_t bytes = ech_dtype_bytes(s->column->dtype), end = chunk_end(s, i);
    for (size_t k = (size_t)i * CHUNK; k < end; k++) {
        const uint64_t begin = load(s, s->begins, k), next_begin = load(s, s->begins, k + 1);
        io_store(s->keys + k * bytes, bytes,
                 key_of(s->column, s->block->in + begin, (size_t)(next_begin - begin)));
        store(s, s->index, k, k);
    }
}

static void add_lengths(void *arg, int i)
{
    const struct block_sort *s = arg;
    const size_t end = chunk_end(s, i);
    uint64_t bytes = 0;
    for (size_t k = (size_t)i * CHUNK; k < end; k++) {
        const uint64_t record = load(s, s->index, k);
        bytes += load(s, s->begins, record + 1) - load(s, s->begins, record);
    }
    s->sums[i] = bytes;
}

static void copy_records(void *arg, int i)
{
    const struct block_sort *s = arg;
    const size_t end = chunk_end(s, i);
    unsigned char *to = s->block->out + s->sums[i];
    for (size_t k = (size_t)i * CHUNK; k < end; k++) {
        const uint64_t record = load(s, s->index, k), begin = load(s, s->begins, record);
        const size_t bytes = (size_t)(load(s, s->begins, record + 1) - begin);
        memcpy(to, s->block->in + begin, bytes);
        to += bytes;
    }
}

static ech_status sort_keys(ech_ctx *ctx, const struct block_sort *s)
{
    ech_sort_options options = s->column->options;
    if (s->column->on_cpu) {
        options.work = (unsigned char *)s->block->work + s->layout.work;
        options.work_bytes = s->block->work_bytes - s->layout.work;
    }
    return ech_sort_pairs(ctx, s->keys, s->index, s->keys, s->index, s->block->records,
                          s->column->dtype, s->layout.place, &options);
}

static io_status sort(const struct files_kind *kind, ech_ctx *ctx, struct files_block *block,
                      struct io_error *error)
{
    const struct files_column *column = column_of(kind);
    const size_t n = block->records;
    const int chunks = (int)((n + CHUNK - 1) / CHUNK);
    struct block_sort s = { .column = column,
                            .block = block,
                            .layout = lay_out(column, block->bytes, n),
                            .keys = block->work };
    s.begins = s.keys + s.layout.begins;
    s.index = s.keys + s.layout.index;
    s.sums = (uint64_t *)(void *)(s.keys + s.layout.sums);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        store(&s, s.begins, i, at);
        at += next(column, block->in + at, block->bytes - at);
    }
    store(&s, s.begins, n, at);
    io_for_each_by(block->threads, chunks, make_keys, &s);
    block->status = sort_keys(ctx, &s);
    if (block->status != ECH_OK)
        return io_fail(error, block->status == ECH_ERR_MEMORY ? IO_MEMORY : IO_FAIL, block->name,
                       "%s", ech_error(ctx));
    io_for_each_by(block->threads, chunks, add_lengths, &s);
    uint64_t sum = 0;
    for (int i = 0; i < chunks; i++) {
        const uint64_t bytes = s.sums[i];
        s.sums[i] = sum;
        sum += bytes;
    }
    io_for_each_by(block->threads, chunks, copy_records, &s);
    return IO_OK;
}

void files_column_init(struct files_column *column, const struct io_cut *cut_at, char delimiter,
                       ech_dtype dtype, const ech_sort_options *options, const char *device)
{
    *column = (struct files_column){ .cut = *cut_at,
                                     .delimiter = delimiter,
                                     .dtype = dtype,
                                     .options = *options,
                                     .on_cpu = strcmp(device, "cpu") == 0 };
    column->rank = files_make_rank(dtype, options->order, options->descending != 0, true,
                                   options->begin_bit, options->end_bit);
    column->kind = (struct files_kind){ .name = "lines by a number",
                                        .terminator = '\n',
                                        .whole_prefix = true,
                                        .state = column,
                                        .scan = scan,
                                        .boundary = boundary,
                                        .cut = cut,
                                        .count = count,
                                        .work_bytes = work_bytes,
                                        .sort = sort };
}
