/*
 * fuzz_bits.c - reads arbitrary bytes as a bit matrix: the reader rejects them, or the matrix
 * survives a round trip through every output format.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/bits.h"
#include "fuzz.h"

#include <string.h>

enum { MOST_CELLS = 4096, MOST_SIDE = 1000 }; /* every format must fit in an output buffer */

static void check_shape(const struct io_bits *b)
{
    FUZZ_CHECK(b->words != NULL && b->stride == (b->cols + 63) / 64);
    FUZZ_CHECK(b->rows <= UINT32_MAX && b->cols <= UINT32_MAX);
    for (uint64_t i = 0; b->cols % 64 && i < b->rows; i++)
        FUZZ_CHECK(b->words[(i + 1) * b->stride - 1] >> b->cols % 64 == 0);
}

/* JCF marks a row by its first one, so only rows at the end may be empty. */
static bool has_gap(const struct io_bits *b)
{
    bool empty = false;
    for (uint64_t i = 0; i < b->rows; i++) {
        bool none = io_bits_next(b, i, 0) >= b->cols;
        if (empty && !none) return true;
        empty = none;
    }
    return false;
}

static void check_written(const struct io_bits *b, io_bits_format format)
{
    static char buffer[IO_BUFFER];
    struct io_output output = { .fd = -1, .name = "again", .buffer = buffer };
    struct io_error error = { "" };
    struct io_source source;
    struct io_bits again;
    struct io_bits_hints hints = { .packed = -1, .most_bytes = (uint64_t)1 << 22 };
    if (format == IO_BITS_NPY_LITTLE || format == IO_BITS_NPY_BIG) {
        hints.packed = (int)format;
        hints.columns = b->cols;
    }
    io_status status = io_bits_write(&output, format, b, &error);
    if (format == IO_BITS_JCF && has_gap(b)) {
        FUZZ_CHECK(status == IO_FAIL);
        return;
    }
    FUZZ_CHECK(status == IO_OK && output.used > 0);
    io_open_memory(&source, "again", buffer, output.used);
    FUZZ_CHECK(io_bits_load(&source, &hints, &again, &error) == IO_OK);
    FUZZ_CHECK(again.format == format && again.rows == b->rows && again.cols == b->cols);
    for (uint64_t i = 0; i < b->rows * b->stride; i++) FUZZ_CHECK(again.words[i] == b->words[i]);
    io_bits_free(&again);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    /* The first byte selects a file or a pipe of unknown size, packed or unpacked .npy, and the
     * file extension, if any. */
    static const char *const names[] = { "fuzz",     "fuzz.pbm",   "fuzz.npy", "fuzz.jcf",
                                         "fuzz.mtx", "fuzz.alist", "fuzz.txt", "fuzz" };
    if (n == 0) return 0;
    struct io_bits_hints hints = { .packed = -1, .most_bytes = (uint64_t)1 << 22 };
    if (bytes[0] & 16) hints.packed = bytes[0] & 32 ? IO_BITS_NPY_LITTLE : IO_BITS_NPY_BIG;
    if (bytes[0] & 64) hints.columns = 13;
    struct io_source source;
    struct io_bits bits;
    struct io_error error = { "" };
    io_open_memory(&source, names[bytes[0] & 7], bytes + 1, n - 1);
    if (bytes[0] & 8) source.size = 0;
    io_status status = io_bits_load(&source, &hints, &bits, &error);
    FUZZ_CHECK(status == IO_OK || strncmp(error.text, "fuzz", 4) == 0);
    FUZZ_CHECK(status != IO_MEMORY);
    if (status == IO_OK) {
        check_shape(&bits);
        if (bits.rows <= MOST_SIDE && bits.cols <= MOST_SIDE && bits.rows * bits.cols <= MOST_CELLS)
            for (int i = 0; i < IO_BITS_FORMATS; i++) check_written(&bits, (io_bits_format)i);
    }
    FUZZ_CHECK(status == IO_OK || bits.words == NULL);
    io_bits_free(&bits);
    return 0;
}
