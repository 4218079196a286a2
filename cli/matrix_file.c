/*
 * matrix_file.c - reads and writes matrices of numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int matrix_load(const char *path, struct cli_progress *progress, struct io_matrix *matrix)
{
    struct io_source source;
    struct io_error error;
    cli_progress_stage(progress, "reading");
    io_status status = io_open(&source, path, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    source.progress = &progress->io;
    status = io_matrix_load(&source, matrix, &error);
    io_close(&source);
    cli_progress_end(progress);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

int matrix_check_finite(const struct io_matrix *m, const char *name)
{
    const uint64_t n = m->dense ? m->rows * m->cols : m->entries;
    for (uint64_t e = 0; e < n; e++) {
        if (isfinite(m->values[e])) continue;
        const uint64_t row = m->dense ? e / m->cols : (uint64_t)m->row[e];
        const uint64_t column = m->dense ? e % m->cols : (uint64_t)m->column[e];
        return cli_fail(EXIT_BAD,
                        "%s: contains %s in row %llu, column %llu; all numbers must be finite",
                        name, isnan(m->values[e]) ? "NaN" : "infinity", (unsigned long long)row + 1,
                        (unsigned long long)column + 1);
    }
    return EXIT_DONE;
}

static bool is_npy(const char *path)
{
    char extension[IO_EXTENSION] = "";
    if (path) io_extension(path, extension);
    return strcasecmp(extension, "npy") == 0;
}

int matrix_create(struct matrix_output *to, const char *path)
{
    struct io_error error;
    const io_status status = io_create(&to->output, path, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    to->open = true;
    to->npy = is_npy(path);
    return EXIT_DONE;
}

int matrix_write(struct matrix_output *to, const void *values, ech_dtype dtype, uint64_t rows,
                 uint64_t cols, struct cli_progress *progress)
{
    struct io_error error;
    cli_progress_stage(progress, "writing");
    to->output.progress = &progress->io;
    io_status status = to->npy
                           ? io_matrix_write_npy(&to->output, values, dtype, rows, cols, &error)
                           : io_matrix_write_mtx(&to->output, values, dtype, rows, cols, &error);
    if (status == IO_OK) status = io_commit(&to->output, &error);
    cli_progress_end(progress);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

void matrix_discard(struct matrix_output *to)
{
    if (to->open) io_discard(&to->output);
    to->open = false;
}

int matrix_values(struct io_matrix *matrix, ech_dtype dtype, const char *name, void **values)
{
    const uint64_t n = matrix->rows * matrix->cols;
    *values = matrix->values;
    if (dtype == ECH_F64) {
        matrix->values = NULL;
        return EXIT_DONE;
    }
    float *single = malloc(((size_t)n + 1) * sizeof *single);
    *values = single;
    if (!single)
        return cli_fail(EXIT_MEMORY,
                        "%s: out of memory: cannot allocate %llu bytes for a copy in f32", name,
                        (unsigned long long)(n * sizeof *single));
    for (uint64_t i = 0; i < n; i++) single[i] = (float)matrix->values[i];
    return EXIT_DONE;
}
