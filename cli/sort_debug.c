/*
 * sort_debug.c - underlines the keys of each line for "echelon sort --debug".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

#include <string.h>

static io_status write_byte(struct io_output *output, char c, size_t n, struct io_error *error)
{
    io_status status = IO_OK;
    while (n-- && status == IO_OK) status = io_write(output, &c, 1, error);
    return status;
}

static io_status write_text(struct io_output *output, const char *text, struct io_error *error)
{
    return io_write(output, text, strlen(text), error);
}

/* Columns of a terminal: control characters have none, except tabs, which are shown as >. */
static size_t width_of(const char *text, size_t n)
{
    size_t width = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        width += c == '\t' || (c >= ' ' && c != 127);
    }
    return width;
}

static io_status underline(struct io_output *output, size_t from, size_t n, struct io_error *error)
{
    io_status status = write_byte(output, ' ', from, error);
    if (status != IO_OK) return status;
    if (!n) return write_text(output, "^ no match for key\n", error);
    status = write_byte(output, '_', n, error);
    return status == IO_OK ? write_text(output, "\n", error) : status;
}

io_status sort_write_debug(struct io_output *output, const struct lines_order *order,
                           const char *record, size_t bytes, struct io_error *error)
{
    io_status status = IO_OK;
    for (size_t i = 0; i < bytes && status == IO_OK; i++)
        status = io_write(output, record[i] == '\t' ? ">" : record + i, 1, error);
    if (status == IO_OK) status = write_byte(output, '\n', 1, error);
    size_t from, n;
    for (int i = 0; status == IO_OK && lines_underline(order, i, record, bytes, &from, &n); i++)
        status = underline(output, width_of(record, from), width_of(record + from, n), error);
    return status;
}

void sort_warn_keys(const struct lines_order *order)
{
    char text[1024];
    lines_describe(order, text, sizeof text);
    fprintf(stderr, "echelon sort: order: %s\n", text);
    for (int i = 0; lines_warning(order, i, text, sizeof text); i++)
        if (text[0]) fprintf(stderr, "echelon sort: %s\n", text);
}
