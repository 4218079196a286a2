/*
 * io/bits.c - determines the format of a matrix of bits.
 *
 * The extension decides first, then the first bytes.  PBM, .npy and Matrix Market have magic
 * numbers; otherwise the first line has three numbers in JCF and two in alist.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* strcasecmp */
#include "io/bits.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *extension;
    bool binary, sparse;
    io_status (*load)(struct io_scan *scan);
    io_status (*write)(struct io_output *output, io_bits_format format, const struct io_bits *bits,
                       struct io_error *error);
} formats[] = {
    [IO_BITS_PBM] = { "pbm", "pbm", true, false, io_bits_load_pbm, io_bits_write_pbm },
    [IO_BITS_PBM_TEXT] = { "pbm-text", "pbm", false, false, io_bits_load_pbm, io_bits_write_pbm },
    [IO_BITS_NPY] = { "npy", "npy", true, false, io_bits_load_npy, io_bits_write_npy },
    [IO_BITS_NPY_LITTLE] = { "npy-little", "npy", true, false, io_bits_load_npy,
                             io_bits_write_npy },
    [IO_BITS_NPY_BIG] = { "npy-big", "npy", true, false, io_bits_load_npy, io_bits_write_npy },
    [IO_BITS_JCF] = { "jcf", "jcf", false, true, io_bits_load_jcf, io_bits_write_jcf },
    [IO_BITS_MTX] = { "mtx", "mtx", false, true, io_bits_load_mtx, io_bits_write_mtx },
    [IO_BITS_ALIST] = { "alist", "alist", false, true, io_bits_load_alist, io_bits_write_alist },
};

/* ---- Names ---- */

const char *io_bits_name(io_bits_format format)
{
    return formats[format].name;
}

int io_bits_from_name(const char *name)
{
    for (int i = 0; i < IO_BITS_FORMATS; i++)
        if (strcmp(name, formats[i].name) == 0) return i;
    return -1;
}

int io_bits_from_extension(const char *path)
{
    char extension[IO_EXTENSION];
    io_extension(path, extension);
    for (int i = 0; i < IO_BITS_FORMATS; i++)
        if (strcasecmp(extension, formats[i].extension) == 0) return i;
    return -1;
}

bool io_bits_same_family(io_bits_format a, io_bits_format b)
{
    return strcmp(formats[a].extension, formats[b].extension) == 0;
}

bool io_bits_is_binary(io_bits_format format)
{
    return formats[format].binary;
}

/* ---- A whole file ---- */

/* The number of integers in the first line; 0 if it contains anything else. */
static int first_numbers(const unsigned char *at, size_t n)
{
    int numbers = 0;
    bool inside = false;
    for (size_t i = 0; i < n && at[i] != '\n'; i++) {
        bool digit = at[i] >= '0' && at[i] <= '9';
        if (!digit && at[i] != ' ' && at[i] != '\t' && at[i] != '\r') return 0;
        numbers += digit && !inside;
        inside = digit;
    }
    return numbers;
}

static int guess(const unsigned char *at, size_t n)
{
    static const char market[] = "%%MatrixMarket", npy[] = "\x93NUMPY";
    if (n >= 2 && at[0] == 'P' && (at[1] == '1' || at[1] == '4')) return IO_BITS_PBM;
    if (n >= sizeof npy - 1 && memcmp(at, npy, sizeof npy - 1) == 0) return IO_BITS_NPY;
    if (n >= sizeof market - 1 && strncasecmp((const char *)at, market, sizeof market - 1) == 0)
        return IO_BITS_MTX;
    int numbers = first_numbers(at, n);
    return numbers == 3 ? IO_BITS_JCF : numbers == 2 ? IO_BITS_ALIST : -1;
}

/* Reads a source of unknown size into memory. */
static io_status read_pipe(struct io_scan *scan, void **bytes)
{
    struct io_source *source = scan->source;
    size_t n = 0;
    io_status status = io_read_all(source, PTRDIFF_MAX - 2, 0, 0, bytes, &n, scan->error);
    source->ahead = *bytes;
    source->ahead_bytes = n;
    scan->size = n;
    return status;
}

io_status io_bits_load(struct io_source *source, const struct io_bits_hints *hints,
                       struct io_bits *bits, struct io_error *error)
{
    *bits = (struct io_bits){ 0 };
    struct io_scan scan = { .source = source,
                            .hints = hints,
                            .error = error,
                            .bits = bits,
                            .line = 1,
                            .size = source->size };
    int format = io_bits_from_extension(source->name);
    if (format < 0) {
        io_status status = io_look(source, error);
        if (status != IO_OK) return status;
        if (source->ahead_bytes == 0)
            return io_fail(error, IO_FAIL, source->name, "is empty, but must contain a matrix");
        format = guess(source->ahead, source->ahead_bytes);
    }
    if (format < 0)
        return io_fail(error, IO_FAIL, source->name,
                       "unknown format: it is not PBM, .npy, JCF, Matrix Market or alist");
    bits->format = (io_bits_format)format;
    /* A sparse format fills the whole matrix, so its size is checked against that of the input. */
    void *bytes = NULL;
    io_status status = formats[format].sparse && !scan.size ? read_pipe(&scan, &bytes) : IO_OK;
    if (status == IO_OK) status = formats[format].load(&scan);
    free(bytes);
    source->ahead_bytes = bytes ? 0 : source->ahead_bytes;
    if (status != IO_OK) io_bits_free(bits);
    return status;
}

io_status io_bits_write(struct io_output *output, io_bits_format format, const struct io_bits *bits,
                        struct io_error *error)
{
    return formats[format].write(output, format, bits, error);
}
