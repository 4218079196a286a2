/*
 * sort_rows.h - shared by sort_rows.c and sort_rows_across.c, which sort the rows or columns of a
 * matrix for "echelon sort".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_ROWS_H
#define ECHELON_CLI_SORT_ROWS_H

#include "sort_files.h"

struct rows {
    const struct sort_set *set;
    struct sort_job *job;
    struct job *base;
    struct io_source *source;
    struct io_output *output;
    const char *name;
    uint64_t outer, inner;    /* inner elements are contiguous; outer 0: unknown */
    size_t bytes, out_bytes;  /* of an element: of the input, of the output */
    bool swap, swap_out;      /* the byte order is not that of the machine */
    bool lines_in, lines_out; /* of lines across it: they are contiguous in the input, the output */
    uint64_t budget;
    char *in, *second;         /* buffers */
    uint64_t done;             /* elements that were read */
    struct io_output *final;   /* with elements */
    struct io_output elements; /* in a temporary file, of a stream whose size the header has */
};

/* These functions return EXIT_DONE, or an exit code after a message. */

int rows_fail_ech(const struct rows *r, ech_status status);
/* Reads n elements, or fewer at the end of a stream whose size is unknown. */
int rows_read(struct rows *r, char *to, uint64_t n, uint64_t *got);
/* Sorts contiguous lines; the result is in keys, or, of an argsort, in index. */
int rows_sort(struct rows *r, char *keys, char *index, uint64_t lines, uint64_t length);
int rows_write(struct rows *r, char *elements, uint64_t n);
int rows_allocate(const struct rows *r, char **buffer, uint64_t bytes);
/* How many lines, at most this many, the budget permits, with extra bytes per element; 0 after a
 * message. */
uint64_t rows_fit(const struct rows *r, uint64_t lines, uint64_t length, uint64_t extra);
int rows_sort_across(struct rows *r);

#endif
