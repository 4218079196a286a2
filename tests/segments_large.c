/*
 * segments_large.c - sorts of rows and segments with more than 2^32 elements in all, in place.
 *
 * Row r is a permutation of the numbers below cols: element j is (j * STEP + r) mod cols, so the
 * sorted row is 0, 1, 2, ...  An index i at position k must satisfy (i * STEP + r) mod cols = k.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "segments_case.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 7919, PIECE_ROWS_BYTES = 1 << 26 };

struct large {
    ech_dtype dtype;
    size_t rows, cols;
    bool segments, index;
};

static const struct large cases[] = {
    { ECH_U16, 4300001, 1000, false, false }, /* short rows */
    { ECH_U16, 4300001, 1000, true, false },
    { ECH_U16, 85901, 50023, false, false }, /* long rows, in portions */
    { ECH_U16, 85901, 50023, true, false },
    { ECH_U16, 4300001, 1000, false, true },
    { ECH_U32, 42951, 100003, false, false },
};

static size_t next_in(const struct large *c, size_t value)
{
    const size_t step = STEP % c->cols;
    return value + step < c->cols ? value + step : value + step - c->cols;
}

static void put(char *to, size_t bytes, size_t value)
{
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    memcpy(to, bytes == 2 ? (const void *)&two : (const void *)&four, bytes);
}

static size_t get(const char *from, size_t bytes)
{
    uint16_t two = 0;
    uint32_t four = 0;
    memcpy(bytes == 2 ? (void *)&two : (void *)&four, from, bytes);
    return bytes == 2 ? two : four;
}

/* Writes the keys, or checks the result, some rows after the other. */
static bool each_piece(ech_ctx *ctx, const struct large *c, char *device, size_t bytes, char *piece,
                       bool upload)
{
    const size_t rows = PIECE_ROWS_BYTES / (c->cols * bytes);
    for (size_t first = 0; first < c->rows; first += rows) {
        const size_t some = c->rows - first < rows ? c->rows - first : rows;
        char *there = device + first * c->cols * bytes;
        if (!upload && !CHECK_STATUS(ech_copy(ctx, piece, there, some * c->cols * bytes), ECH_OK))
            return false;
        for (size_t r = 0; r < some; r++) {
            char *row = piece + r * c->cols * bytes;
            for (size_t j = 0, value = (first + r) % c->cols; j < c->cols; j++) {
                const size_t found = upload ? 0 : get(row + j * bytes, bytes);
                if (upload)
                    put(row + j * bytes, bytes, value);
                else if (c->index ? (found * STEP + first + r) % c->cols != j : found != j) {
                    test_fail(__FILE__, __LINE__, "row %zu, element %zu is %zu", first + r, j,
                              found);
                    return false;
                }
                value = next_in(c, value);
            }
        }
        if (upload && !CHECK_STATUS(ech_copy(ctx, there, piece, some * c->cols * bytes), ECH_OK))
            return false;
    }
    return true;
}

static uint64_t free_memory(const ech_ctx *ctx)
{
    for (int i = 0; i < ech_device_count(); i++) {
        ech_device device = { .size = sizeof device };
        if (ech_device_get(i, &device) == ECH_OK && !strcmp(device.name, ech_device_name(ctx)))
            return device.free_bytes;
    }
    return 0;
}

static void run(ech_ctx *ctx, const struct large *c)
{
    const size_t bytes = ech_dtype_bytes(c->dtype), n = c->rows * c->cols;
    const size_t index_bytes = c->index ? 4 * n : 0;
    void *keys = NULL, *index = NULL, *offsets = NULL;
    size_t work_bytes = 0, offsets_bytes = c->segments ? 8 * (c->rows + 1) : 0;
    char *piece = malloc(PIECE_ROWS_BYTES);
    uint64_t *starts = malloc(offsets_bytes + 1);
    CHECK_STATUS(ech_sort_segments_workspace(ech_device_name(ctx),
                                             c->segments ? ECH_SORT_CALL_SEGMENTS
                                             : c->index  ? ECH_SORT_CALL_ARGSORT_ROWS
                                                         : ECH_SORT_CALL_ROWS,
                                             n, c->rows, c->dtype, c->index ? 4 : 0, NULL,
                                             &work_bytes),
                 ECH_OK);
    ech_trim(ctx); /* the pool keeps the memory of earlier cases */
    const uint64_t needed = n * bytes + index_bytes + offsets_bytes + work_bytes;
    if (!piece || !starts || needed + needed / 16 > free_memory(ctx)) {
        test_skip("needs %.1f GB; %.1f GB are free", (double)needed / 1e9,
                  (double)free_memory(ctx) / 1e9);
        goto done;
    }
    for (size_t r = 0; c->segments && r <= c->rows; r++) starts[r] = r * c->cols;
    if (!CHECK_STATUS(ech_malloc(ctx, &keys, n * bytes), ECH_OK) ||
        !CHECK_STATUS(ech_malloc(ctx, &index, index_bytes), ECH_OK) ||
        !CHECK_STATUS(ech_malloc(ctx, &offsets, offsets_bytes), ECH_OK) ||
        (c->segments && !CHECK_STATUS(ech_copy(ctx, offsets, starts, offsets_bytes), ECH_OK)) ||
        !each_piece(ctx, c, keys, bytes, piece, true))
        goto done;
    const ech_status status =
        c->segments
            ? ech_sort_segments(ctx, keys, offsets, NULL, keys, n, c->rows, c->dtype, ECH_U64, NULL)
        : c->index ? ech_argsort_rows(ctx, keys, index, c->rows, c->cols, c->dtype, ECH_U32, NULL)
                   : ech_sort_rows(ctx, keys, keys, c->rows, c->cols, c->dtype, NULL);
    if (test_check_status(__FILE__, __LINE__, "the sort", status, ECH_OK, ctx) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK))
        each_piece(ctx, c, c->index ? index : keys, c->index ? 4 : bytes, piece, false);
done:
    ech_free(ctx, keys, n * bytes);
    ech_free(ctx, index, index_bytes);
    ech_free(ctx, offsets, offsets_bytes);
    free(piece);
    free(starts);
}

void segments_large(ech_ctx *ctx)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct large *c = &cases[i];
        if (!test_begin("large(%s,%s,%s%zux%zu)", ech_device_name(ctx), ech_dtype_name(c->dtype),
                        c->segments ? "segments "
                        : c->index  ? "argsort "
                                    : "",
                        c->rows, c->cols))
            continue;
        run(ctx, c);
        test_end();
    }
}
