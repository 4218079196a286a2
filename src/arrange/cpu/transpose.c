/*
 * arrange/cpu/transpose.c - transposes on the CPU.
 *
 * A thread copies a block of rows into a buffer, contiguous parts of rows at a time, and writes it
 * out by columns. Without the buffer, the rows of a matrix whose width is a power of two would map
 * to the same few cache sets. With AVX-512, elements of 4 and 8 bytes are transposed in registers,
 * by cache lines of rows and columns, and no buffer is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/cpu/common.h"
#include "arrange/cpu/transpose.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    LINE = 64,
    STREAM_BYTES = 16 << 20, /* size of results that do not stay in a cache */
    ROWS_STREAM = 256,       /* minimum, because some rows may precede whole lines */
    BLOCK_BYTES = 16 << 10,  /* half of the smallest L1 cache */
    SMALL = 512,             /* elements of one block, which needs no division into blocks */
    EDGE = 128               /* maximum number of rows and columns of a block */
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

#ifdef __SSE2__
/* The same for a square of elements with 16 bytes per row: in each step, rows of the upper half are
 * interleaved with those of the lower half. */
INLINED void turn_vectors(__m128i *rows, size_t size)
{
    const size_t each = 16 / size;
    __m128i next[16];
    for (size_t step = 1; step < each; step *= 2) {
        for (size_t i = 0; i < each / 2; i++) {
            const __m128i a = rows[i], b = rows[i + each / 2];
            next[2 * i] = size == 1   ? _mm_unpacklo_epi8(a, b)
                          : size == 2 ? _mm_unpacklo_epi16(a, b)
                                      : _mm_unpacklo_epi32(a, b);
            next[2 * i + 1] = size == 1   ? _mm_unpackhi_epi8(a, b)
                              : size == 2 ? _mm_unpackhi_epi16(a, b)
                                          : _mm_unpackhi_epi32(a, b);
        }
        for (size_t i = 0; i < each; i++) rows[i] = next[i];
    }
}

INLINED struct extent vectors_sized(const char *block, char *out, size_t out_rows, size_t rows,
                                    size_t columns, size_t size)
{
    const size_t each = 16 / size;
    const struct extent done = { rows - rows % each, columns - columns % each };
    __m128i square[16];
    for (size_t c = 0; c < done.columns; c += each)
        for (size_t r = 0; r < done.rows; r += each) {
            for (size_t k = 0; k < each; k++)
                square[k] = _mm_loadu_si128(
                    (const __m128i *)(const void *)(block + ((r + k) * columns + c) * size));
            turn_vectors(square, size);
            for (size_t k = 0; k < each; k++)
                _mm_storeu_si128((__m128i *)(void *)(out + ((c + k) * out_rows + r) * size),
                                 square[k]);
        }
    return done;
}
#endif

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
#ifdef __SSE2__
    if (rows >= 16 / size && columns >= 16 / size)
        return vectors_sized(block, out, out_rows, rows, columns, size);
#endif
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
    char copy[BLOCK_BYTES];
    const size_t in_columns = a->columns, out_rows = a->rows;
    const char *in = (const char *)a->in + (row * in_columns + column) * size, *block = in;
    char *out = (char *)a->out + (column * out_rows + row) * size;
    if (columns < in_columns) { /* otherwise the rows are contiguous already */
        for (size_t r = 0; r < rows; r++)
            memcpy(copy + r * columns * size, in + r * in_columns * size, columns * size);
        block = copy;
    }
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

/* ---- In registers ---- */

static bool has_lines(const struct echi_arrange *a)
{
#ifdef ECHI_CPU_X86
    const size_t size = a->element_bytes;
    return (size == 4 || size == 8) && a->rows >= LINE / size && a->columns >= LINE / size &&
           echi_cpu_isa() == ECHI_AVX512;
#else
    (void)a;
    return false;
#endif
}

/* The rows before the first one whose elements begin a line of the output, if the output is
 * streamed, which needs whole lines; otherwise a->rows. */
static size_t rows_before_lines(const struct echi_arrange *a, const struct extent *e)
{
    const size_t size = a->element_bytes, past = (uintptr_t)a->out % LINE;
    if (a->n < STREAM_BYTES / 8 || a->n * size < STREAM_BYTES || a->rows < ROWS_STREAM ||
        a->rows * size % LINE || past % size || e->rows * size % LINE)
        return a->rows;
    return past ? (LINE - past) / size : 0;
}

static void block_of_lines(const struct echi_arrange *a, size_t row, size_t column, size_t rows,
                           size_t columns, bool stream)
{
    const size_t size = a->element_bytes, each = LINE / size;
    const size_t whole_rows = rows - rows % each, whole_columns = columns - columns % each;
    const char *in = (const char *)a->in + (row * a->columns + column) * size;
    char *out = (char *)a->out + (column * a->rows + row) * size;
#ifdef ECHI_CPU_X86
    echi_transpose_avx512(in, a->columns * size, out, a->rows * size, whole_rows, whole_columns,
                          size, stream);
#else
    (void)in, (void)out, (void)stream;
#endif
    if (whole_columns < columns)
        block(a, row, column + whole_columns, rows, columns - whole_columns);
    if (whole_columns && whole_rows < rows)
        block(a, row + whole_rows, column, rows - whole_rows, whole_columns);
}

/* ---- Blocks ---- */

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

/* The same in registers.  The first row of blocks has fewer rows if the others then begin at whole
 * lines of the output. */
static void blocks_of_lines(struct echi_arrange_job *job, size_t begin, size_t end)
{
    const struct echi_arrange *a = job->request;
    const struct extent e = extent_of(a);
    const size_t across = (a->columns - 1) / e.columns + 1, before = rows_before_lines(a, &e);
    const bool stream = before < a->rows;
    const size_t shift = stream && before ? e.rows - before : 0;
    for (size_t b = begin; b < end; b++) {
        const size_t down = b / across * e.rows, column = b % across * e.columns;
        const size_t row = down > shift ? down - shift : 0;
        const size_t rows = echi_min(down + e.rows - shift, a->rows) - row;
        block_of_lines(a, row, column, rows, echi_min(e.columns, a->columns - column),
                       stream && row >= before);
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
    if (a->n <= SMALL && a->element_bytes <= BLOCK_BYTES / SMALL && !has_lines(a)) {
        block(a, 0, 0, a->rows, a->columns);
        return;
    }
    if (a->element_bytes > BLOCK_BYTES / 16) {
        job->run = large_elements;
        echi_arrange_parts(ctx, job, a->n, a->element_bytes);
        return;
    }
    const struct extent e = extent_of(a);
    size_t shift = 0;
    job->run = blocks;
    if (has_lines(a)) {
        const size_t before = rows_before_lines(a, &e);
        if (before && before < a->rows) shift = e.rows - before;
        job->run = blocks_of_lines;
    }
    const size_t down = (a->rows + shift - 1) / e.rows + 1,
                 across = (a->columns - 1) / e.columns + 1;
    echi_arrange_parts(ctx, job, down * across, e.rows * e.columns * a->element_bytes);
}
