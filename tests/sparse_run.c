/*
 * sparse_run.c - typed matrices and vectors of a test in buffers on a device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ech_ctx *sparse_place(ech_ctx *ctx, unsigned where, int bit)
{
    return test_is_cpu(ctx) || (where >> bit & 1) ? NULL : ctx;
}

/* ---- Typed arrays ---- */

static void *typed_numbers(const double *from, size_t n, ech_dtype dtype)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    char *to = calloc(n + 1, bytes);
    for (size_t i = 0; to && i < n; i++) {
        const float f32 = from[i] == from[i] ? (float)from[i] : NAN;
        const double f64 = from[i] == from[i] ? from[i] : (double)NAN;
        memcpy(to + i * bytes, bytes == 4 ? (const void *)&f32 : (const void *)&f64, bytes);
    }
    return to;
}

static void *typed_integers(const uint64_t *from, size_t n, ech_dtype index)
{
    const size_t bytes = ech_dtype_bytes(index);
    char *to = calloc(n + 1, bytes);
    for (size_t i = 0; to && i < n; i++) {
        const uint32_t u32 = (uint32_t)from[i];
        memcpy(to + i * bytes, bytes == 4 ? (const void *)&u32 : (const void *)&from[i], bytes);
    }
    return to;
}

static bool make(struct buffer *buffer, ech_ctx *ctx, void *typed, size_t n, size_t bytes,
                 size_t shift)
{
    bool made = CHECK(typed) && buffer_make(buffer, ctx, n * bytes, shift * bytes) &&
                buffer_set(buffer, typed);
    free(typed);
    return made;
}

bool numbers_make(struct buffer *buffer, ech_ctx *ctx, const double *from, size_t n,
                  ech_dtype dtype, size_t shift)
{
    return make(buffer, ctx, typed_numbers(from, n, dtype), n, ech_dtype_bytes(dtype), shift);
}

bool integers_make(struct buffer *buffer, ech_ctx *ctx, const uint64_t *from, size_t n,
                   ech_dtype index, size_t shift)
{
    return make(buffer, ctx, typed_integers(from, n, index), n, ech_dtype_bytes(index), shift);
}

/* Fails at the first element that differs from wanted; frees wanted. */
static bool same(const struct buffer *buffer, char *wanted, size_t n, size_t bytes,
                 const char *name)
{
    char *got = malloc(buffer->bytes + 1);
    bool good =
        CHECK(got && wanted) && CHECK(n * bytes <= buffer->bytes) && buffer_get(buffer, got);
    for (size_t i = 0; good && i < n; i++)
        if (memcmp(got + i * bytes, wanted + i * bytes, bytes) != 0) {
            uint64_t a = 0, b = 0;
            memcpy(&a, got + i * bytes, bytes);
            memcpy(&b, wanted + i * bytes, bytes);
            test_fail(__FILE__, __LINE__, "%s[%zu] is %llx instead of %llx", name, i,
                      (unsigned long long)a, (unsigned long long)b);
            good = false;
        }
    free(got);
    free(wanted);
    return good && buffer_check_guards(buffer, name);
}

bool numbers_are(const struct buffer *buffer, const double *wanted, size_t n, ech_dtype dtype,
                 const char *name)
{
    return same(buffer, typed_numbers(wanted, n, dtype), n, ech_dtype_bytes(dtype), name);
}

bool integers_are(const struct buffer *buffer, const uint64_t *wanted, size_t n, ech_dtype index,
                  const char *name)
{
    return same(buffer, typed_integers(wanted, n, index), n, ech_dtype_bytes(index), name);
}

/* ---- Matrices ---- */

bool sparse_copy_make(struct sparse_copy *copy, ech_ctx *ctx, const struct sparse *m, size_t shift,
                      unsigned where)
{
    *copy = (struct sparse_copy){ .csr = { .size = sizeof(ech_csr),
                                           .rows = m->rows,
                                           .cols = m->cols,
                                           .nnz = m->entries,
                                           .index_dtype = index_sign(m->index, where),
                                           .dtype = m->dtype } };
    if (!integers_make(&copy->offsets, sparse_place(ctx, where, 0), m->offsets, m->rows + 1,
                       m->index, shift) ||
        !integers_make(&copy->columns, sparse_place(ctx, where, 1), m->columns, m->entries,
                       m->index, shift) ||
        !numbers_make(&copy->values, sparse_place(ctx, where, 2), m->values, m->entries, m->dtype,
                      shift))
        return false;
    copy->csr.row_offsets = copy->offsets.data;
    copy->csr.col_indices = copy->columns.data;
    copy->csr.values = copy->values.data;
    return true;
}

bool sparse_copy_is(const struct sparse_copy *copy, const struct sparse *m, const char *name)
{
    return integers_are(&copy->offsets, m->offsets, m->rows + 1, m->index, name) &&
           integers_are(&copy->columns, m->columns, m->entries, m->index, name) &&
           numbers_are(&copy->values, m->values, m->entries, m->dtype, name);
}

void sparse_copy_free(struct sparse_copy *copy)
{
    if (copy->offsets.base) buffer_free(&copy->offsets);
    if (copy->columns.base) buffer_free(&copy->columns);
    if (copy->values.base) buffer_free(&copy->values);
}
