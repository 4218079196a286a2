/*
 * cpu/arrange_transpose.c - transposes on the CPU.
 *
 * A thread copies a block of rows into a buffer, whole pieces of rows at a time, and writes it out
 * by columns.  Without the buffer the rows of a matrix whose width is a power of two would all want
 * the same few lines of the cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange.h"

enum {
    BLOCK_BYTES = 16 << 10, /* half of the smallest first-level cache */
    EDGE = 64               /* most rows and columns of a block */
};

/* The extent of a block: full in both directions, or long in one where the matrix is narrow. */
struct extent {
    size_t rows, columns;
};

static struct extent extent_of(const struct echi_arrange *a)
{
    const size_t room = BLOCK_BYTES / a->element_bytes;
    struct extent e = { 1, 1 };
    size_t edge = EDGE;
    while (edge > 1 && edge * edge > room) edge /= 2;
    e.columns = echi_min(a->columns, edge);
    e.rows = echi_min(a->rows, room / e.columns ? room / e.columns : 1);
    if (e.columns == edge) e.rows = echi_min(e.rows, edge);
    if (e.rows < edge && room) e.columns = echi_min(a->columns, room / e.rows);
    return e;
}

INLINED void block_sized(const struct echi_arrange *a, size_t row, size_t column, size_t rows,
                         size_t columns, size_t size)
{
    char block[BLOCK_BYTES];
    const char *in = (const char *)a->in + (row * a->columns + column) * size;
    char *out = (char *)a->out + (column * a->rows + row) * size;
    for (size_t r = 0; r < rows; r++)
        memcpy(block + r * columns * size, in + r * a->columns * size, columns * size);
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            memcpy(out + (c * a->rows + r) * size, block + (r * columns + c) * size, size);
}

static void block(const struct echi_arrange *a, size_t row, size_t column, size_t rows,
                  size_t columns)
{
    CALL_BY_SIZE(block_sized, a->element_bytes, a, row, column, rows, columns)
}

/* Blocks [begin, end), counted along the rows of the matrix. */
static void blocks(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const struct extent e = extent_of(a);
    const size_t across = (a->columns - 1) / e.columns + 1;
    for (size_t b = begin; b < end; b++) {
        const size_t row = b / across * e.rows, column = b % across * e.columns;
        block(a, row, column, echi_min(e.rows, a->rows - row),
              echi_min(e.columns, a->columns - column));
    }
}

/* Elements that no block holds: each is a copy. */
static void large_elements(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const size_t size = a->element_bytes;
    for (size_t i = begin; i < end; i++)
        memcpy((char *)a->out + i * size,
               (const char *)a->in + (i % a->rows * a->columns + i / a->rows) * size, size);
}

void echi_cpu_transpose(ech_ctx *ctx, struct echi_arrange_job *job)
{
    const struct echi_arrange *a = job->request;
    if (a->element_bytes > BLOCK_BYTES / 16) {
        job->run = large_elements;
        echi_arrange_parts(ctx, job, a->n, a->element_bytes);
        return;
    }
    const struct extent e = extent_of(a);
    job->run = blocks;
    echi_arrange_parts(ctx, job, ((a->rows - 1) / e.rows + 1) * ((a->columns - 1) / e.columns + 1),
                       e.rows * e.columns * a->element_bytes);
}
