/*
 * io/bits_alist.c - MacKay's alist format of sparse parity-check matrices, which lists both columns
 * and rows.
 *
 *     cols rows
 *     maximum number of ones per column, and per row
 *     number of ones of each column
 *     number of ones of each row
 *     a line for each column: its rows, counted from 1, then any number of zeros
 *     a line for each row: its columns, likewise
 *
 * Both lists must agree.  Format: inference.org.uk/mackay/codes/alist.html
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/bits.h"

#include <stdlib.h>
#include <string.h>

/* The numbers of ones, which precede the lists. */
struct weights {
    uint64_t most;
    uint32_t *each; /* [n] */
    uint64_t n;
    const char *what; /* "column" */
};

/* The memory grows with the numbers that are read. */
static io_status read_weights(struct io_scan *scan, struct weights *w, uint64_t n)
{
    uint64_t room = 0;
    for (w->n = 0; w->n < n; w->n++) {
        if (w->n == room) {
            room = room ? 2 * room : 256;
            uint32_t *larger = realloc(w->each, (size_t)room * sizeof *larger);
            if (!larger)
                return io_no_memory(scan->error, scan->source->name, room * sizeof *larger,
                                    "its weights");
            w->each = larger;
        }
        uint64_t value;
        io_status status = io_scan_number(scan, "the number of ones", w->most, &value);
        if (status != IO_OK) return status;
        w->each[w->n] = (uint32_t)value;
    }
    return IO_OK;
}

/* Reads the line of column i into the matrix, or the line of row i into the one row of spare. */
static io_status read_list(struct io_scan *scan, const struct weights *w, uint64_t i,
                           struct io_bits *spare)
{
    struct io_bits *bits = scan->bits;
    uint64_t ones = 0, value, most = spare ? bits->cols : bits->rows;
    unsigned long long number = i + 1, says = w->each[i];
    for (io_scan_blanks(scan); io_scan_peek(scan) >= 0 && io_scan_peek(scan) != '\n';
         io_scan_blanks(scan)) {
        io_status status = io_scan_number(scan, "the position of a one", most, &value);
        if (status != IO_OK) return status;
        if (value == 0) continue;
        uint64_t row = spare ? 0 : value - 1, col = spare ? value - 1 : i;
        if (io_bits_get(spare ? spare : bits, row, col))
            return io_scan_fail(scan, "has a duplicate of position %llu in %s %llu",
                                (unsigned long long)value, w->what, number);
        io_bits_set(spare ? spare : bits, row, col);
        ones++;
    }
    if (ones != says)
        return io_scan_fail(scan, "has %llu ones in %s %llu, but the header specifies %llu",
                            (unsigned long long)ones, w->what, number, says);
    io_scan_take(scan);
    return scan->status;
}

static io_status read_lists(struct io_scan *scan, const struct weights *columns,
                            const struct weights *rows)
{
    struct io_bits *bits = scan->bits, spare = { 0 };
    io_status status = io_bits_zeros(&spare, 1, bits->cols, scan->source->name, scan->error);
    io_scan_blanks(scan);
    if (status == IO_OK && io_scan_peek(scan) == '\n') io_scan_take(scan);
    for (uint64_t j = 0; j < bits->cols && status == IO_OK; j++)
        status = read_list(scan, columns, j, NULL);
    size_t bytes = bits->stride * sizeof *bits->words;
    for (uint64_t i = 0; i < bits->rows && status == IO_OK; i++) {
        memset(spare.words, 0, bytes);
        status = read_list(scan, rows, i, &spare);
        if (status == IO_OK && memcmp(spare.words, bits->words + i * bits->stride, bytes) != 0) {
            scan->line--;
            status = io_scan_fail(scan, "has ones in row %llu that differ from the column lists",
                                  (unsigned long long)i + 1);
        }
    }
    io_bits_free(&spare);
    return status == IO_OK ? io_scan_end(scan, "the lists of columns and rows") : status;
}

io_status io_bits_load_alist(struct io_scan *scan)
{
    uint64_t rows, cols;
    struct weights columns = { .what = "column" }, lines = { .what = "row" };
    io_status status = io_scan_number(scan, "the number of columns", io_bits_most, &cols);
    if (status == IO_OK) status = io_scan_number(scan, "the number of rows", io_bits_most, &rows);
    if (status == IO_OK) status = io_bits_shape(scan, rows, cols);
    if (status == IO_OK)
        status =
            io_scan_number(scan, "the maximum number of ones of a column", rows, &columns.most);
    if (status == IO_OK)
        status = io_scan_number(scan, "the maximum number of ones of a row", cols, &lines.most);
    if (status == IO_OK) status = read_weights(scan, &columns, cols);
    if (status == IO_OK) status = read_weights(scan, &lines, rows);
    if (status == IO_OK) status = io_bits_allocate(scan);
    if (status == IO_OK) status = read_lists(scan, &columns, &lines);
    free(columns.each);
    free(lines.each);
    return status;
}

/* ---- Write ---- */

/* Writes item k of a line of n items. */
static io_status write_item(struct io_output *output, uint64_t value, uint64_t k, uint64_t n,
                            struct io_error *error)
{
    return io_write_number(output, value, k + 1 < n ? ' ' : '\n', error);
}

/* Writes the zeros after the ones of a list, and the newline. */
static io_status end_list(struct io_output *output, uint64_t ones, uint64_t most,
                          struct io_error *error)
{
    io_status status = most ? IO_OK : io_write(output, "\n", 1, error);
    for (uint64_t k = ones; k < most && status == IO_OK; k++)
        status = write_item(output, 0, k, most, error);
    return status;
}

static io_status write_weights(struct io_output *output, const uint32_t *weights, uint64_t n,
                               struct io_error *error)
{
    io_status status = n ? IO_OK : io_write(output, "\n", 1, error);
    for (uint64_t k = 0; k < n && status == IO_OK; k++)
        status = write_item(output, weights[k], k, n, error);
    return status;
}

static io_status write_head(struct io_output *output, const struct io_bits *bits,
                            const uint32_t *weights, uint64_t most[2], struct io_error *error)
{
    const uint32_t *of_rows = weights + bits->cols;
    most[0] = most[1] = 0;
    for (uint64_t j = 0; j < bits->cols; j++)
        if (weights[j] > most[0]) most[0] = weights[j];
    for (uint64_t i = 0; i < bits->rows; i++)
        if (of_rows[i] > most[1]) most[1] = of_rows[i];
    io_status status = io_write_number(output, bits->cols, ' ', error);
    if (status == IO_OK) status = io_write_number(output, bits->rows, '\n', error);
    if (status == IO_OK) status = io_write_number(output, most[0], ' ', error);
    if (status == IO_OK) status = io_write_number(output, most[1], '\n', error);
    if (status == IO_OK) status = write_weights(output, weights, bits->cols, error);
    return status == IO_OK ? write_weights(output, of_rows, bits->rows, error) : status;
}

/* Lists the rows of every column; the rows of column j end before list[ends[j]]. */
static void list_columns(const struct io_bits *bits, const uint32_t *weights, uint64_t *ends,
                         uint32_t *list)
{
    uint64_t at = 0;
    for (uint64_t j = 0; j < bits->cols; j++) {
        ends[j] = at;
        at += weights[j];
    }
    for (uint64_t i = 0; bits->cols && i < bits->rows; i++)
        for (uint64_t j = io_bits_next(bits, i, 0); j < bits->cols;
             j = io_bits_next(bits, i, j + 1))
            list[ends[j]++] = (uint32_t)i + 1;
}

static io_status write_lists(struct io_output *output, const struct io_bits *bits,
                             const uint32_t *weights, const uint64_t *ends, const uint32_t *list,
                             const uint64_t most[2], struct io_error *error)
{
    io_status status = IO_OK;
    for (uint64_t j = 0; j < bits->cols && status == IO_OK; j++) {
        const uint32_t *of_column = list + (ends[j] - weights[j]);
        for (uint64_t k = 0; k < weights[j] && status == IO_OK; k++)
            status = write_item(output, of_column[k], k, most[0], error);
        if (status == IO_OK) status = end_list(output, weights[j], most[0], error);
    }
    for (uint64_t i = 0; i < bits->rows && status == IO_OK; i++) {
        uint64_t k = 0, j = bits->cols ? io_bits_next(bits, i, 0) : 0;
        for (; j < bits->cols && status == IO_OK; j = io_bits_next(bits, i, j + 1))
            status = write_item(output, j + 1, k++, most[1], error);
        if (status == IO_OK) status = end_list(output, k, most[1], error);
    }
    return status;
}

io_status io_bits_write_alist(struct io_output *output, io_bits_format format,
                              const struct io_bits *bits, struct io_error *error)
{
    (void)format;
    uint64_t most[2], ones = 0;
    size_t items = (size_t)(bits->rows + bits->cols);
    uint32_t *weights = calloc(items + 1, sizeof *weights), *list = NULL;
    uint64_t *ends = calloc((size_t)bits->cols + 1, sizeof *ends);
    io_status status = IO_OK;
    for (uint64_t i = 0; weights && bits->cols && i < bits->rows; i++) {
        for (uint64_t j = io_bits_next(bits, i, 0); j < bits->cols;
             j = io_bits_next(bits, i, j + 1)) {
            weights[j]++;
            weights[bits->cols + i]++;
            ones++;
        }
    }
    if (weights && ends) list = malloc((size_t)(ones + 1) * sizeof *list);
    if (list) {
        status = write_head(output, bits, weights, most, error);
        if (status == IO_OK) {
            list_columns(bits, weights, ends, list);
            status = write_lists(output, bits, weights, ends, list, most, error);
        }
    } else {
        status = io_no_memory(error, output->name, items * 12 + ones * 4, "its lists");
    }
    free(list);
    free(ends);
    free(weights);
    return status;
}
