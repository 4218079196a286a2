/*
 * fuzz_npy.c - reads arbitrary bytes as a .npy file: the reader rejects them or returns what the
 * header describes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"
#include "io/io.h"

#include <string.h>

/* The fields cover the record, one after the other. */
static void check_records(const struct io_column *c, const struct io_records *records, size_t bytes)
{
    uint64_t at = 0;
    FUZZ_CHECK(records->count > 0 && records->count <= IO_MOST_FIELDS && records->bytes > 0);
    for (int i = 0; i < records->count; i++) {
        const struct io_record_field *field = &records->fields[i];
        FUZZ_CHECK(field->offset_bytes >= at);
        FUZZ_CHECK(field->array || field->offset_bytes + field->element_bytes <= records->bytes);
        at = field->offset_bytes;
    }
    FUZZ_CHECK(c->keys_bytes == c->n * records->bytes);
    FUZZ_CHECK(c->npy.header_bytes + c->keys_bytes == bytes);
}

static void check_column(const struct io_column *c, size_t bytes)
{
    size_t element_bytes = ech_dtype_bytes(c->dtype);
    FUZZ_CHECK(c->format == IO_NPY && element_bytes != 0);
    FUZZ_CHECK(c->keys_bytes == c->n * element_bytes);
    FUZZ_CHECK(c->npy.header_bytes + c->keys_bytes == bytes);

    /* A header written for this column describes the same column. */
    unsigned char header[IO_NPY_HEADER];
    struct io_npy again;
    struct io_error error;
    struct io_hints hints = { .dtype = c->dtype == ECH_BF16 ? ECH_BF16 : -1 };
    size_t n = io_npy_header(c->npy.descr, c->n, header), said;
    FUZZ_CHECK(n <= sizeof header && n % 64 == 0);
    FUZZ_CHECK(io_npy_header_bytes(header, n, "again", &said, &error) == IO_OK && said == n);
    FUZZ_CHECK(io_npy_parse(header, n, "again", &hints, &again, &error) == IO_OK);
    FUZZ_CHECK(again.n == c->n && again.dtype == c->dtype);
    FUZZ_CHECK(again.big_endian == c->npy.big_endian);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    /* The first byte selects a file or a pipe of unknown size, whether the type is given, and
     * whether several dimensions and records are allowed. */
    if (n == 0) return 0;
    struct io_hints hints = { .format = IO_NPY, .dtype = bytes[0] & 2 ? ECH_BF16 : -1 };
    if (bytes[0] & 4) hints.dimensions = 4;
    struct io_records records;
    if (bytes[0] & 8) hints.records = &records;
    struct io_source source;
    struct io_column column;
    struct io_error error = { "" };
    io_open_memory(&source, "fuzz", bytes + 1, n - 1);
    if (bytes[0] & 1) source.size = 0;
    io_status status = io_load_column(&source, &hints, &column, &error);
    FUZZ_CHECK(status == IO_OK || strncmp(error.text, "fuzz: ", 6) == 0);
    FUZZ_CHECK(status != IO_MEMORY);
    if (status == IO_OK && column.npy.records)
        check_records(&column, &records, n - 1);
    else if (status == IO_OK)
        check_column(&column, n - 1);
    io_free_column(&column);
    return 0;
}
