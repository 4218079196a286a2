/*
 * io/format.c - determines the format of a file, and loads a column.
 *
 * The option of the user decides first, then the extension, then the first bytes: those of .npy, or
 * only characters of numbers.  Otherwise the file is raw, if a type is given.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/io.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const format_names[] = {
    [IO_NPY] = "npy", [IO_RAW] = "raw", [IO_TEXT] = "text"
};

static const struct {
    const char *extension;
    io_format format;
} extensions[] = {
    { "npy", IO_NPY },  { "txt", IO_TEXT }, { "text", IO_TEXT }, { "csv", IO_TEXT },
    { "tsv", IO_TEXT }, { "raw", IO_RAW },  { "bin", IO_RAW },
};

const char *io_format_name(io_format format)
{
    return format_names[format];
}

int io_format_from_name(const char *name)
{
    for (int i = 0; i < IO_FORMATS; i++)
        if (strcmp(name, format_names[i]) == 0) return i;
    return -1;
}

int io_dtype_from_extension(const char *path)
{
    char extension[IO_EXTENSION];
    io_extension(path, extension);
    return ech_dtype_from_name(extension);
}

int io_format_from_extension(const char *path)
{
    char extension[IO_EXTENSION];
    io_extension(path, extension);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (strcasecmp(extension, extensions[i].extension) == 0) return (int)extensions[i].format;
    return io_dtype_from_extension(path) >= 0 ? IO_RAW : -1;
}

static bool looks_like_numbers(const unsigned char *bytes, size_t n)
{
    if (n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) bytes += 3, n -= 3;
    static const char allowed[] = "0123456789+-.eE \t\r\nnaNAifIFtyTY";
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == 0 || !strchr(allowed, bytes[i])) return false;
    return true;
}

io_status io_detect(struct io_source *source, const struct io_hints *hints, io_format *format,
                    int *dtype, struct io_error *error)
{
    int found = hints->format;
    *dtype = hints->dtype;
    if (found < 0) found = io_format_from_extension(source->name);
    const char *only_text = hints->field.column                    ? "column"
                            : hints->field.header == IO_HEADER_YES ? "header"
                                                                   : NULL;
    if (only_text && found >= 0 && found != IO_TEXT)
        return io_fail(error, IO_FAIL, source->name, "the format is %s, but --%s is only for text",
                       format_names[found], only_text);
    if (only_text) found = IO_TEXT;
    if (*dtype < 0 && (found == IO_RAW)) *dtype = io_dtype_from_extension(source->name);
    if (found < 0) {
        io_status status = io_look(source, error);
        if (status != IO_OK) return status;
        if (source->ahead_bytes >= 6 && memcmp(source->ahead, "\x93NUMPY", 6) == 0)
            found = IO_NPY;
        else if (looks_like_numbers(source->ahead, source->ahead_bytes))
            found = IO_TEXT;
        else if (*dtype >= 0)
            found = IO_RAW;
        else
            return io_fail(error, IO_FAIL, source->name,
                           "unknown format: it is neither .npy nor a column of numbers.  For raw "
                           "elements give --type, for example --type u32; for a table, select a "
                           "column with --column");
    }
    if (found == IO_RAW && *dtype < 0)
        return io_fail(error, IO_FAIL, source->name,
                       "the type of raw elements is unknown: give --type, for example --type u32");
    *format = (io_format)found;
    return IO_OK;
}

static io_status load_raw(struct io_source *source, ech_dtype dtype, struct io_column *column,
                          struct io_error *error)
{
    size_t element_bytes = ech_dtype_bytes(dtype);
    io_status status = io_read_all(source, PTRDIFF_MAX - 1, source->size, 0, &column->keys,
                                   &column->keys_bytes, error);
    if (status != IO_OK) return status;
    if (column->keys_bytes % element_bytes)
        return io_fail(error, IO_FAIL, source->name,
                       "has %zu bytes, which is not a multiple of %zu, the size of %s",
                       column->keys_bytes, element_bytes, ech_dtype_name(dtype));
    column->dtype = dtype;
    column->n = column->keys_bytes / element_bytes;
    return IO_OK;
}

io_status io_load_column(struct io_source *source, const struct io_hints *hints,
                         struct io_column *column, struct io_error *error)
{
    int dtype;
    *column = (struct io_column){ 0 };
    io_status status = io_detect(source, hints, &column->format, &dtype, error);
    if (status != IO_OK) return status;
    if (column->format == IO_NPY)
        status = io_npy_load(source, hints, column, error);
    else if (column->format == IO_RAW)
        status = load_raw(source, (ech_dtype)dtype, column, error);
    else
        status = io_text_load(source, hints, column, error);
    if (status != IO_OK) io_free_column(column);
    return status;
}

void io_free_column(struct io_column *column)
{
    free(column->keys);
    free(column->header);
    free(column->text);
    free(column->lines);
    *column = (struct io_column){ 0 };
}
