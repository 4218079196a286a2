/*
 * gf2.h - what the files of "echelon gf2" share: its words, a run, and the checks of its answers.
 *
 *     gf2.c        the command: options, which verb takes which, a run from first to last
 *     gf2_file.c   matrices and orders from files and to files
 *     gf2_solve.c  the verbs: rref, rank, solve, kernel, inverse, mul, transpose
 *     gf2_info.c   info, convert
 *     gf2_check.c  --check
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_GF2_H
#define ECHELON_CLI_GF2_H

#include "io/bits.h"
#include "cli.h"

/* What options say, as it was typed. */
struct gf2_words {
    const char *output, *format, *packed, *form, *columns, *max_rank, *order, *transform;
    const char *certificate, *algorithm, *device, *threads;
    bool pivots, left, rank, check, json;
};

/* A run. */
struct gf2_job {
    struct gf2_words words;
    ech_ctx *ctx; /* NULL where nothing is computed */
    const char *input[2];
    struct io_bits a, b; /* the inputs; b where there are two */
    struct io_bits_hints hints[2];
    int format; /* of the output; -1: its name or the input says */
    struct io_output output, second;
    bool to_output, to_second; /* which of them are open */
    ech_gf2_echelon_options options;
    uint32_t *order;
    struct cli_progress progress;
};

/* ---- Files: gf2_file.c.  Each: EXIT_DONE, or an exit code after its message ---- */

/* --packed and --format. */
int gf2_parse_files(struct gf2_job *job);
/* Reads input which into bits. */
int gf2_load(struct gf2_job *job, int which, struct io_bits *bits);
/* --order, into job->options; columns of the matrix that it is of. */
int gf2_load_order(struct gf2_job *job, uint64_t columns);
/* Opens the outputs, where there are to be some. */
int gf2_create(struct gf2_job *job, bool output, const char *second);
/* Writes to the first output, or to the second, and puts it in its place. */
int gf2_write(struct gf2_job *job, const struct io_bits *bits, bool second);
int gf2_zeros(struct gf2_job *job, struct io_bits *bits, uint64_t rows, uint64_t cols,
              const char *what);
/* A copy of bits, or a part of it from its first row on. */
int gf2_copy(struct gf2_job *job, const struct io_bits *from, struct io_bits *to);

/* The library's form of it. */
static inline ech_gf2 gf2_matrix(const struct io_bits *bits)
{
    return (ech_gf2){ sizeof(ech_gf2), bits->words, (size_t)bits->rows, (size_t)bits->cols,
                      bits->stride };
}

/* ---- Verbs: gf2_solve.c, gf2_info.c.  The inputs are there, the outputs open ---- */

int verb_rref(struct gf2_job *job);
int verb_rank(struct gf2_job *job);
int verb_solve(struct gf2_job *job);
int verb_kernel(struct gf2_job *job);
int verb_inverse(struct gf2_job *job);
int verb_mul(struct gf2_job *job);
int verb_transpose(struct gf2_job *job);
int verb_convert(struct gf2_job *job);
int verb_info(struct gf2_job *job);

/* ---- Checks: gf2_check.c.  Each says on standard error what it found to be so; EXIT_DEVICE after
 * a message where something is not ---- */

/* An echelon form and how it came about. */
struct gf2_form {
    const struct io_bits *a, *e, *t; /* t a = e */
    const uint32_t *pivots;
    uint32_t rank;
};
int gf2_check_form(struct gf2_job *job, const struct gf2_form *form);
int gf2_check_solution(struct gf2_job *job, const struct io_bits *x, const uint8_t *solvable,
                       const struct io_bits *certificate);
int gf2_check_kernel(struct gf2_job *job, const struct io_bits *basis);
/* a b = c, said in these words. */
int gf2_check_product(struct gf2_job *job, const struct io_bits *a, const struct io_bits *b,
                      const struct io_bits *c, const char *words);
int gf2_check_inverse(struct gf2_job *job, const struct io_bits *inverse);

#endif
