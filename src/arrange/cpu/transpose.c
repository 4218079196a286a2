/*
 * arrange/cpu/transpose.c - transposes on the CPU.
 *
 * A thread copies a block of rows into a buffer, contiguous parts of rows at a time, and writes it
 * out by columns. Without the buffer, the rows of a matrix whose width is a power of two would map
 * to the same few cache sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/cpu/common.h"

enum {
    BLOCK_BYTES = 16 << 10, /* half of the smallest L1 cache */
    EDGE = 128              /* maximum number of rows and columns of a block */
};

/* The extent of a block: square, or longer in one direction if the matrix is narrow. */
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
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a call that runs has rows and columns */
    if (e.rows < edge && room) e.columns = echi_min(a->columns, room / e.rows);
    return e;
}

/* Transposes a square of elements, one row per word: exchanges halves of words, then quarters, down
 * to elements (Warren, "Hacker's Delight", 7-3). */
INLINED void turn_square(uint64_t *words, size_t size)
{
    static const uint64_t lower[] = { 0, 0x00FF00FF00FF00FFu, 0x0000FFFF0000FFFFu, 0, 0xFFFFFFFFu };
    const size_t each = 8 / size;
    for (size_t half = 4; half >= size; half /= 2)
        for (size_t i = 0; i < each; i++) {
            const size_t step = half / size;
            if (i & step) continue;
            const uint64_t t = (words[i] >> 8 * half ^ words[i + step]) & lower[half];
            words[i + step] ^= t;
            words[i] ^= t << 8 * half;
        }
}

/* Transposes squares of 8 bytes across, for elements smaller than a word; returns how many rows and
 * columns they cover. The first element must be in the lowest bits of the word. */
INLINED struct extent squares_sized(const char *block, char *out, size_t out_rows, size_t rows,
                                    size_t columns, size_t size)
{
    struct extent done = { 0, 0 };
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const size_t each = 8 / size;
    uint64_t words[8];
    if (size != 1 && size != 2 && size != 4) return done;
    done.rows = rows - rows % each;
    done.columns = columns - columns % each;
    for (size_t c = 0; c < done.columns; c += each)
        for (size_t r = 0; r < done.rows; r += each) {
            for (size_t k = 0; k < each; k++)
                memcpy(&words[k], block + ((r + k) * columns + c) * size, 8);
            turn_square(words, size);
            for (size_t k = 0; k < each; k++)
                memcpy(out + ((c + k) * out_rows + r) * size, &words[k], 8);
        }
#else
    (void)block, (void)out, (void)out_rows, (void)rows, (void)columns, (void)size;
#endif
    return done;
}

INLINED void block_sized(const struct echi_arrange *a, size_t row, size_t column, size_t rows,
                         size_t columns, size_t size)
{
    char block[BLOCK_BYTES];
    const size_t in_columns = a->columns, out_rows = a->rows;
    const char *in = (const char *)a->in + (row * in_columns + column) * size;
    char *out = (char *)a->out + (column * out_rows + row) * size;
    for (size_t r = 0; r < rows; r++)
        memcpy(block + r * columns * size, in + r * in_columns * size, columns * size);
    const struct extent done = squares_sized(block, out, out_rows, rows, columns, size);
    for (size_t c = 0; c < columns; c++)
        for (size_t r = c < done.columns ? done.rows : 0; r < rows; r++)
            memcpy(out + (c * out_rows + r) * size, block + (r * columns + c) * size, size);
}

static void block(const struct echi_arrange *a, size_t row, size_t column, size_t rows,
                  size_t columns)
{
    CALL_BY_SIZE(block_sized, a->element_bytes, a, row, column, rows, columns)
}

/* Blocks [begin, end), numbered along the rows of the matrix. */
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

/* Elements outside the blocks are copied one by one. */
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
