/*
 * gf2.h - shared by the files of "echelon gf2": its options, the state of a run, and the checks.
 *
 *     gf2.c        the command: options, which operation has which options, sequence of a run
 *     gf2_file.c   reads and writes matrices, reads column orders
 *     gf2_solve.c  operations: rref, rank, solve, nullspace, inverse, mul, transpose
 *     gf2_info.c   info, convert
 *     gf2_check.c  --check
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_GF2_H
#define ECHELON_CLI_GF2_H

#include "io/bits.h"
#include "cli.h"

/* The values of the options, as typed. */
struct gf2_words {
    const char *output, *format, *packed, *form, *columns, *max_rank, *order, *transform;
    const char *certificate, *algorithm, *device, *threads;
    bool pivots, left, rank, check, json;
};

/* A run. */
struct gf2_job {
    struct gf2_words words;
    ech_ctx *ctx; /* NULL if nothing is computed */
    const char *input[2];
    struct io_bits a, b; /* the inputs; b only if there are two */
    struct io_bits_hints hints[2];
    int format; /* of the output; -1: determined by its extension or the input */
    struct io_output output, second;
    bool to_output, to_second; /* whether output and second are open */
    ech_gf2_echelon_options options;
    uint32_t *order;
    struct cli_progress progress;
};

/* ---- Files: gf2_file.c.  Each returns EXIT_DONE, or an exit code after a message ---- */

/* Parses --packed and --format. */
int gf2_parse_files(struct gf2_job *job);
/* Reads input number which into bits. */
int gf2_load(struct gf2_job *job, int which, struct io_bits *bits);
/* Reads the file of --order into job->options; the matrix has this number of columns. */
int gf2_load_order(struct gf2_job *job, uint64_t columns);
/* Opens the output if wanted, and the second output if its name is not NULL. */
int gf2_create(struct gf2_job *job, bool output, const char *second);
/* Writes to the first or second output and commits it. */
int gf2_write(struct gf2_job *job, const struct io_bits *bits, bool second);
int gf2_zeros(struct gf2_job *job, struct io_bits *bits, uint64_t rows, uint64_t cols,
              const char *what);
/* Allocates a copy. */
int gf2_copy(struct gf2_job *job, const struct io_bits *from, struct io_bits *to);

/* The same matrix as the library's type. */
static inline ech_gf2 gf2_matrix(const struct io_bits *bits)
{
    return (ech_gf2){ sizeof(ech_gf2), bits->words, (size_t)bits->rows, (size_t)bits->cols,
                      bits->stride };
}

/* ---- Operations: gf2_solve.c, gf2_info.c.  Inputs are loaded and outputs are open ---- */

int verb_rref(struct gf2_job *job);
int verb_rank(struct gf2_job *job);
int verb_solve(struct gf2_job *job);
int verb_kernel(struct gf2_job *job);
int verb_inverse(struct gf2_job *job);
int verb_mul(struct gf2_job *job);
int verb_transpose(struct gf2_job *job);
int verb_convert(struct gf2_job *job);
int verb_info(struct gf2_job *job);

/* ---- Checks: gf2_check.c.  Each prints the verified properties on standard error, or returns
 * EXIT_DEVICE after a message ---- */

/* An echelon form and its transform. */
struct gf2_form {
    const struct io_bits *a, *e, *t; /* t a = e */
    const uint32_t *pivots;
    uint32_t rank;
};
int gf2_check_form(struct gf2_job *job, const struct gf2_form *form);
int gf2_check_solution(struct gf2_job *job, const struct io_bits *x, const uint8_t *solvable,
                       const struct io_bits *certificate);
int gf2_check_kernel(struct gf2_job *job, const struct io_bits *basis);
/* Checks a b = c; words is the text of the message. */
int gf2_check_product(struct gf2_job *job, const struct io_bits *a, const struct io_bits *b,
                      const struct io_bits *c, const char *words);
int gf2_check_inverse(struct gf2_job *job, const struct io_bits *inverse);

#endif
