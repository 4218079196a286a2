/*
 * fuzz_matrix.c - reads arbitrary bytes as a matrix of numbers: the reader rejects them, or the
 * dense matrix survives a round trip through every output format.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"
#include "io/matrix.h"

#include <string.h>

enum { MOST_CELLS = 4096 }; /* every format must fit in an output buffer */

static void check_entries(const struct io_matrix *m)
{
    FUZZ_CHECK(m->values != NULL);
    if (m->dense) return;
    FUZZ_CHECK(m->row != NULL && m->column != NULL);
    for (uint64_t e = 0; e < m->entries; e++) {
        FUZZ_CHECK(m->row[e] >= 0 && (uint64_t)m->row[e] < m->rows);
        FUZZ_CHECK(m->column[e] >= 0 && (uint64_t)m->column[e] < m->cols);
    }
}

/* The matrix must have the symmetry that the file declares. */
static void check_symmetry(const struct io_matrix *m)
{
    for (uint64_t i = 0; m->symmetry != IO_GENERAL && i < m->rows; i++)
        for (uint64_t j = 0; j < i; j++) {
            const double a = m->values[i * m->cols + j], b = m->values[j * m->cols + i];
            FUZZ_CHECK((m->symmetry == IO_SKEW ? -b : b) == a || (a != a && b != b));
        }
}

static void check_written(const struct io_matrix *m, bool mtx)
{
    static char buffer[IO_BUFFER];
    struct io_output output = { .fd = -1, .name = "again", .buffer = buffer };
    struct io_error error = { "" };
    struct io_source source;
    struct io_matrix again;
    const io_status status =
        mtx ? io_matrix_write_mtx(&output, m->values, ECH_F64, m->rows, m->cols, &error)
            : io_matrix_write_npy(&output, m->values, ECH_F64, m->rows, m->cols, &error);
    FUZZ_CHECK(status == IO_OK && output.used > 0);
    io_open_memory(&source, "again", buffer, output.used);
    FUZZ_CHECK(io_matrix_load(&source, &again, &error) == IO_OK);
    FUZZ_CHECK(again.dense && again.rows == m->rows && again.cols == m->cols);
    for (uint64_t i = 0; i < m->rows * m->cols; i++)
        FUZZ_CHECK(again.values[i] == m->values[i] || m->values[i] != m->values[i]);
    io_matrix_free(&again);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    /* The first byte selects a file or a pipe of unknown size, and the file extension. */
    static const char *const names[] = { "fuzz", "fuzz.mtx", "fuzz.npy", "fuzz.txt" };
    if (n == 0) return 0;
    struct io_source source;
    struct io_matrix matrix;
    struct io_error error = { "" };
    io_open_memory(&source, names[bytes[0] & 3], bytes + 1, n - 1);
    if (bytes[0] & 8) source.size = 0;
    const io_status status = io_matrix_load(&source, &matrix, &error);
    if (status != IO_OK) {
        FUZZ_CHECK(status == IO_FAIL && strncmp(error.text, "fuzz", 4) == 0);
        return 0;
    }
    check_entries(&matrix);
    const bool small = !matrix.cols || matrix.rows <= MOST_CELLS / matrix.cols;
    if (small && matrix.rows <= MOST_CELLS && matrix.cols <= MOST_CELLS) {
        FUZZ_CHECK(io_matrix_to_dense(&matrix, "fuzz", &error) == IO_OK);
        check_symmetry(&matrix);
        for (int mtx = 0; mtx < 2; mtx++) check_written(&matrix, mtx);
    }
    io_matrix_free(&matrix);
    return 0;
}
