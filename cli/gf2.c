/*
 * gf2.c - "echelon gf2": matrices over GF(2), the field with two elements.
 *
 *     run()  operation -> its options -> device -> outputs -> inputs -> run it -> close
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "gf2.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct gf2_words set;

static const struct option options[] = {
    { 'o', "output", "FILE", &set.output,
      "write to FILE, which may be an input;\ndefault: standard output" },
    { 0, "format", "FORMAT", &set.format,
      "format of the output: pbm, pbm-text, npy, npy-little,\nnpy-big, jcf, mtx or alist; "
      "default: that of the extension,\notherwise that of the input" },
    { 0, "packed", "ORDER:N,M", &set.packed,
      ".npy inputs are packed bits, little (lowest bit first) or\nbig; the first input has N "
      "columns, the second M; default: all\nbits of the bytes" },
    { 0, "form", "FORM", &set.form, "for rref: reduced (default) or echelon" },
    { 0, "columns", "N", &set.columns,
      "for rref, rank, solve: seek pivots only in the first N\ncolumns" },
    { 0, "max-rank", "N", &set.max_rank, "for rref, rank: stop at N pivots" },
    { 0, "order", "FILE", &set.order,
      "for rref, rank, solve: seek pivots only in the columns that\nFILE lists (counted from 0), "
      "in this order" },
    { 0, "transform", "FILE", &set.transform, "for rref: write T with T A = E to FILE" },
    { 0, "pivots", NULL, &set.pivots,
      "for rref, rank: print the pivot columns, counted from 0; E is\nwritten only to --output" },
    { 0, "certificate", "FILE", &set.certificate,
      "for solve: write certificates of inconsistency to FILE" },
    { 0, "left", NULL, &set.left, "for nullspace: the left nullspace, all y with y A = 0" },
    { 0, "rank", NULL, &set.rank, "for info: also print the rank" },
    { 0, "check", NULL, &set.check, "verify the result with code independent of the library" },
    { 0, "json", NULL, &set.json, "for rank, info: print JSON" },
    { 'D', "device", "DEVICE", &set.device, CLI_DEVICE_HELP },
    { 0, "threads", "N", &set.threads, CLI_THREADS_HELP },
    { 0, "algorithm", "NAME", &set.algorithm, CLI_ALGORITHM_HELP },
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- Operations and their options ---- */

enum {
    RREF = 1,
    RANK = 2,
    SOLVE = 4,
    KERNEL = 8,
    INVERSE = 16,
    MUL = 32,
    TRANSPOSE = 64,
    INFO = 128,
    CONVERT = 256
};

static const struct verb {
    const char *name;
    unsigned bit;
    int inputs;
    int (*run)(struct gf2_job *job);
    const char *doing;
} verbs[] = {
    { "rref", RREF, 1, verb_rref, "eliminating" },
    { "rank", RANK, 1, verb_rank, "eliminating" },
    { "solve", SOLVE, 2, verb_solve, "solving" },
    { "nullspace", KERNEL, 1, verb_kernel, "eliminating" },
    { "inverse", INVERSE, 1, verb_inverse, "inverting" },
    { "mul", MUL, 2, verb_mul, "multiplying" },
    { "transpose", TRANSPOSE, 1, verb_transpose, "transposing" },
    { "info", INFO, 1, verb_info, "counting" },
    { "convert", CONVERT, 1, verb_convert, "writing" },
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static const struct {
    const char *name; /* name of the option */
    unsigned verbs;
} takes[] = {
    { "output", RREF | SOLVE | KERNEL | INVERSE | MUL | TRANSPOSE | CONVERT },
    { "format", RREF | SOLVE | KERNEL | INVERSE | MUL | TRANSPOSE | CONVERT },
    { "packed", ~0u },
    { "form", RREF },
    { "columns", RREF | RANK | SOLVE },
    { "max-rank", RREF | RANK },
    { "order", RREF | RANK | SOLVE },
    { "transform", RREF },
    { "pivots", RREF | RANK },
    { "certificate", SOLVE },
    { "left", KERNEL },
    { "rank", INFO },
    { "check", RREF | RANK | SOLVE | KERNEL | INVERSE | MUL },
    { "json", RANK | INFO },
    { "device", ~(unsigned)CONVERT },
    { "threads", ~(unsigned)CONVERT },
    { "algorithm", RREF | RANK | SOLVE | KERNEL | INVERSE | MUL },
};

static int find_verb(const char *name, const struct verb **verb)
{
    const char *names[VERBS];
    for (int i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        *verb = &verbs[i];
        if (strcmp(name, names[i]) == 0) return EXIT_DONE;
    }
    return cli_unknown("operation", name, names, VERBS);
}

static int check_options(const struct verb *verb)
{
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        const struct option *o = options;
        while (strcmp(o->name, takes[i].name) != 0) o++;
        bool given = o->value ? *(const char **)o->target != NULL : *(bool *)o->target;
        if (given && !(takes[i].verbs & verb->bit))
            return cli_fail(EXIT_BAD, "--%s cannot be combined with %s", o->name, verb->name);
    }
    return EXIT_DONE;
}

/* ---- Values ---- */

static int parse_size(const char *name, const char *text, size_t *value)
{
    uint64_t count;
    if (!text) return EXIT_DONE;
    int code = cli_parse_count(name, text, &count);
    if (code != EXIT_DONE) return code;
    if (count == 0 || count > io_bits_most)
        return cli_fail(EXIT_BAD, "--%s is %s; give 1 to 2^32 - 1", name, text);
    *value = (size_t)count;
    return EXIT_DONE;
}

static int parse(struct gf2_job *job)
{
    job->options =
        (ech_gf2_echelon_options){ .size = sizeof job->options, .algorithm = set.algorithm };
    if (set.form && strcmp(set.form, "reduced") != 0) {
        if (strcmp(set.form, "echelon") != 0)
            return cli_fail(EXIT_BAD, "--form is \"%s\"; use reduced or echelon", set.form);
        job->options.form = ECH_GF2_FORM_ECHELON;
    }
    int code = parse_size("columns", set.columns, &job->options.pivot_cols);
    if (code == EXIT_DONE) code = parse_size("max-rank", set.max_rank, &job->options.max_rank);
    return code == EXIT_DONE ? gf2_parse_files(job) : code;
}

static int find_inputs(struct gf2_job *job, const struct verb *verb, int count, char **operands)
{
    if (count > verb->inputs)
        return cli_fail(EXIT_BAD, "unexpected operand \"%s\"; %s has %d input%s",
                        operands[verb->inputs], verb->name, verb->inputs,
                        verb->inputs == 1 ? "" : "s");
    if (verb->inputs == 2) {
        if (count < 2)
            return cli_fail(EXIT_BAD, "%s needs two files: echelon gf2 %s A B", verb->name,
                            verb->name);
        if (strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0)
            return cli_fail(EXIT_BAD, "A and B cannot both be standard input");
        job->input[1] = operands[1];
    } else if (!count && isatty(STDIN_FILENO)) {
        return cli_fail(EXIT_BAD, "no INPUT: give a file name, or - for standard input");
    }
    job->input[0] = count ? operands[0] : "-";
    return EXIT_DONE;
}

/* ---- Run ---- */

/* Opens, loads and computes; run() closes and frees. */
static int work(struct gf2_job *job, const struct verb *verb)
{
    int threads, code = cli_parse_threads(set.threads, &threads);
    bool computes = verb->bit != CONVERT && (verb->bit != INFO || set.rank);
    bool writes = verb->bit != RANK && verb->bit != INFO && (!set.pivots || set.output);
    if (code == EXIT_DONE && computes) {
        cli_progress_stage(&job->progress, "opening the device");
        code = cli_open(&job->ctx, set.device, threads);
    }
    const char *const inputs[] = { job->input[0], job->input[1], set.order };
    if (code == EXIT_DONE) code = cli_check_output("transform", set.transform, inputs, 3);
    if (code == EXIT_DONE) code = cli_check_output("certificate", set.certificate, inputs, 3);
    if (code == EXIT_DONE)
        code = gf2_create(job, writes, set.transform ? set.transform : set.certificate);
    if (code == EXIT_DONE) code = gf2_load(job, 0, &job->a);
    if (code == EXIT_DONE && verb->inputs == 2) code = gf2_load(job, 1, &job->b);
    if (code == EXIT_DONE && job->options.pivot_cols > job->a.cols)
        code = cli_fail(EXIT_BAD, "--columns is %s, but %s has %llu columns", set.columns,
                        job->input[0], (unsigned long long)job->a.cols);
    if (code == EXIT_DONE && set.order) code = gf2_load_order(job, job->a.cols);
    if (code != EXIT_DONE) return code;
    cli_progress_stage(&job->progress, verb->doing);
    if (job->ctx) ech_set_progress(job->ctx, cli_report_progress, &job->progress);
    return verb->run(job);
}

static int run(int count, char **operands)
{
    static struct gf2_job job; /* static, because it is large */
    const struct verb *verb;
    if (count == 0)
        return cli_fail(EXIT_BAD, "no operation: give one, for example echelon gf2 rank INPUT");
    int code = find_verb(operands[0], &verb);
    job.words = set;
    if (code == EXIT_DONE) code = check_options(verb);
    if (code == EXIT_DONE) code = parse(&job);
    if (code == EXIT_DONE) code = find_inputs(&job, verb, count - 1, operands + 1);
    if (code != EXIT_DONE) return code;
    cli_progress_start(&job.progress);
    code = work(&job, verb);
    cli_progress_end(&job.progress);
    if (job.to_output) io_discard(&job.output);
    if (job.to_second) io_discard(&job.second);
    ech_close(job.ctx);
    io_bits_free(&job.a);
    io_bits_free(&job.b);
    free(job.order);
    return code;
}

static const struct cli_value values[] = {
    { "FORMAT", CLI_WORDS, "pbm pbm-text npy npy-little npy-big jcf mtx alist", NULL },
    { "FORM", CLI_WORDS, "reduced echelon", NULL },
    { NULL, CLI_WORDS, NULL, NULL },
};

const struct command command_gf2 = {
    .name = "gf2",
    .summary = "matrices over GF(2): echelon form, rank, solve, nullspace, inverse",
    .usage =
        "  echelon gf2 rref|rank|nullspace|inverse|transpose|info|convert [OPTION]... [INPUT]\n"
        "  echelon gf2 solve|mul [OPTION]... A B\n",
    .examples = "  echelon gf2 rank H.alist\n"
                "  echelon gf2 info --rank H.pbm                  shape, ones, weights, rank\n"
                "  echelon gf2 rref A.npy -o E.npy --transform T.npy\n"
                "  echelon gf2 solve A.pbm b.pbm -o x.pbm --check\n"
                "  echelon gf2 nullspace H.mtx -o G.mtx           a generator matrix of the code\n"
                "  echelon gf2 mul A.pbm B.pbm | echelon gf2 info\n"
                "  echelon gf2 convert H.alist -o H.pbm\n",
    .notes =
        "Operations:\n"
        "  rref       the (reduced) echelon form E of A\n"
        "  rank       prints the rank, the number of pivots\n"
        "  solve      X with A X = B; columns of B without a solution are listed, are zero in X,\n"
        "             and make the exit status 1\n"
        "  nullspace  a basis of all x with A x = 0, one vector per row\n"
        "  inverse    the inverse of a square matrix; exit status 1 if it is singular\n"
        "  mul        the product A B\n"
        "  transpose  the transpose\n"
        "  info       prints the shape, and the number of ones in total, per row and per column\n"
        "  convert    writes the matrix in another format\n\n"
        "INPUT is PBM (P1 or P4; black is one), .npy (two dimensions of 0 and 1, or packed\n"
        "bits), JCF, Matrix Market (coordinate, pattern or integer) or alist.  The extension\n"
        "determines the format; if it is unknown, the first bytes do.\n",
    .options = options,
    .most_operands = 3,
    .run = run,
    .values = values,
};
