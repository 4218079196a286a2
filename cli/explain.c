/*
 * explain.c - "echelon explain": what a call would do, without doing it or having the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *type, *n, *values, *bins, *device, *bits, *order, *algorithm, *shape, *other;
    const char *method, *precond, *entries;
    bool argsort, reverse, transpose_a, transpose_b;
} set;

static const struct option options[] = {
    { 't', "type", "TYPE", &set.type, "of the numbers; default: u32, of matmul and solve f64" },
    { 'n', "n", "COUNT", &set.n, "elements: 1000, 100M, 1e6, 2^20; default: 1M" },
    { 0, "values", "BYTES", &set.values, "of sort: that go along with each key; default: none" },
    { 0, "argsort", NULL, &set.argsort, "explain an argsort" },
    { 'r', "reverse", NULL, &set.reverse, "greatest first" },
    { 0, "bits", "FIRST:END", &set.bits, "sort by these bits of the key alone" },
    { 0, "order", "ORDER", &set.order, "of floats: nan-last or total" },
    { 0, "bins", "COUNT", &set.bins, "of hist: how many; default: 256" },
    { 0, "shape", "ROWSxCOLUMNS", &set.shape,
      "of gf2, matmul and solve: of the matrix A as it is given;\ndefault: 4096x4096" },
    { 0, "other", "COUNT", &set.other,
      "columns of B: of matmul, of gf2 mul and solve, of solve directly (1);\nof gf2 batch: "
      "matrices; "
      "default: as many as rows" },
    { 0, "transpose-a", NULL, &set.transpose_a, "of matmul: A stands for its transpose" },
    { 0, "transpose-b", NULL, &set.transpose_b, "and B" },
    { 0, "entries", "COUNT", &set.entries,
      "of solve: A is sparse and has so many; default: dense" },
    { 0, "method", "NAME", &set.method, "of solve, as of \"echelon solve\"; default: auto" },
    { 0, "precond", "NAME", &set.precond, "likewise" },
    { 'd', "device", "DEVICE", &set.device, "cpu, cuda or simt, which need not be there" },
    { 0, "algorithm", "NAME", &set.algorithm, "one of those listed, to force it" },
    { 0, NULL, NULL, NULL, NULL },
};

static int explain_sort(ech_dtype dtype, uint64_t n)
{
    char text[EXPLAIN_TEXT];
    int code;
    uint64_t value_bytes = 0;
    ech_sort_options o = { .size = sizeof o,
                           .descending = set.reverse,
                           .algorithm = set.algorithm };
    if ((set.values && (code = cli_parse_count("values", set.values, &value_bytes)) != EXIT_DONE) ||
        (code = cli_parse_bits(set.bits, dtype, &o)) != EXIT_DONE ||
        (code = cli_parse_order(set.order, &o.order)) != EXIT_DONE)
        return code;
    if (set.argsort && set.values) return cli_fail(EXIT_BAD, "--values does not go with --argsort");
    ech_dtype index = n <= UINT32_MAX ? ECH_U32 : ECH_U64;
    return explain_print(set.argsort
                             ? ech_argsort_explain(set.device, (size_t)n, dtype, index, &o,
                                                   ECH_FORMAT_TEXT, text, sizeof text)
                             : ech_sort_explain(set.device, (size_t)n, dtype, (size_t)value_bytes,
                                                &o, ECH_FORMAT_TEXT, text, sizeof text),
                         text);
}

static int explain_hist(ech_dtype dtype, uint64_t n)
{
    char text[EXPLAIN_TEXT];
    uint64_t bins = 256;
    ech_histogram_options o = { .size = sizeof o, .algorithm = set.algorithm };
    int code = set.bins ? cli_parse_count("bins", set.bins, &bins) : EXIT_DONE;
    if (code != EXIT_DONE) return code;
    return explain_print(ech_histogram_explain(set.device, (size_t)n, dtype, (size_t)bins, &o,
                                               ECH_FORMAT_TEXT, text, sizeof text),
                         text);
}

/* ---- GF(2) ---- */

static const char *const gf2_calls[] = { "mul",    "rref",    "pluq", "solve",
                                         "kernel", "inverse", "batch" };
enum { GF2_CALLS = sizeof gf2_calls / sizeof *gf2_calls };

static int parse_shape(uint64_t shape[2])
{
    char rows[32];
    const char *x = set.shape ? strchr(set.shape, 'x') : NULL;
    shape[0] = shape[1] = 4096;
    if (!set.shape) return EXIT_DONE;
    if (!x || (size_t)(x - set.shape) >= sizeof rows)
        return cli_fail(EXIT_BAD, "--shape is \"%s\", not like 4096x8192", set.shape);
    memcpy(rows, set.shape, (size_t)(x - set.shape));
    rows[x - set.shape] = 0;
    int code = cli_parse_count("shape", rows, &shape[0]);
    return code == EXIT_DONE ? cli_parse_count("shape", x + 1, &shape[1]) : code;
}

static int explain_gf2(const char *name)
{
    static const ech_gf2_call calls[GF2_CALLS] = { ECH_GF2_CALL_MUL,       ECH_GF2_CALL_ECHELON,
                                                   ECH_GF2_CALL_PLUQ,      ECH_GF2_CALL_SOLVE,
                                                   ECH_GF2_CALL_NULLSPACE, ECH_GF2_CALL_INVERSE,
                                                   ECH_GF2_CALL_BATCHED };
    char text[EXPLAIN_TEXT];
    uint64_t shape[2], other;
    int call = 0;
    const ech_gf2_echelon_options o = { .size = sizeof o, .algorithm = set.algorithm };
    if (!name) return cli_fail(EXIT_BAD, "which operation?  Try: echelon explain gf2 rref");
    while (call < GF2_CALLS && strcmp(name, gf2_calls[call]) != 0) call++;
    if (call == GF2_CALLS) return cli_unknown("operation", name, gf2_calls, GF2_CALLS);
    int code = parse_shape(shape);
    if (code != EXIT_DONE) return code;
    other = shape[0];
    if (set.other && (code = cli_parse_count("other", set.other, &other)) != EXIT_DONE) return code;
    return explain_print(ech_gf2_explain(set.device, calls[call], (size_t)shape[0],
                                         (size_t)shape[1], (size_t)other, &o, ECH_FORMAT_TEXT, text,
                                         sizeof text),
                         text);
}

/* ---- Which ---- */

enum { SORT = 1, HIST = 2, GF2 = 4, MATMUL = 8, SOLVE = 16 };
static const char *const kinds[] = { "sort", "hist", "gf2", "matmul", "solve" };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Options that are not of what is explained. */
static int check_options(int kind)
{
    const struct {
        const char *name;
        bool given;
        int of;
    } some[] = {
        { "type", set.type != NULL, SORT | HIST | MATMUL | SOLVE },
        { "n", set.n != NULL, SORT | HIST },
        { "shape", set.shape != NULL, GF2 | MATMUL | SOLVE },
        { "other", set.other != NULL, GF2 | MATMUL | SOLVE },
        { "transpose-a", set.transpose_a, MATMUL },
        { "transpose-b", set.transpose_b, MATMUL },
        { "entries", set.entries != NULL, SOLVE },
        { "method", set.method != NULL, SOLVE },
        { "precond", set.precond != NULL, SOLVE },
        { "bins", set.bins != NULL, HIST },
        { "values", set.values != NULL, SORT },
        { "argsort", set.argsort, SORT },
        { "reverse", set.reverse, SORT },
        { "bits", set.bits != NULL, SORT },
        { "order", set.order != NULL, SORT },
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (some[i].given && !(some[i].of >> kind & 1))
            return cli_fail(EXIT_BAD, "--%s does not go with %s", some[i].name, kinds[kind]);
    return EXIT_DONE;
}

static int explain_numbers(int kind)
{
    struct explain_numbers numbers = { .type = set.type,
                                       .other = set.other,
                                       .entries = set.entries,
                                       .method = set.method,
                                       .precond = set.precond,
                                       .device = set.device,
                                       .algorithm = set.algorithm,
                                       .transpose_a = set.transpose_a,
                                       .transpose_b = set.transpose_b };
    const int code = parse_shape(numbers.shape);
    if (code != EXIT_DONE) return code;
    return 1 << kind == MATMUL ? explain_matmul(&numbers) : explain_solve(&numbers);
}

static int run(int count, char **operands)
{
    int dtype, code, kind = 0;
    uint64_t n = 1000000;
    if (count == 0) return cli_fail(EXIT_BAD, "explain what?  Try: echelon explain sort");
    while (kind < KINDS && strcmp(operands[0], kinds[kind]) != 0) kind++;
    if (kind == KINDS)
        return cli_fail(EXIT_BAD, "cannot explain \"%s\"; it can: sort hist gf2 matmul solve",
                        operands[0]);
    if ((code = check_options(kind)) != EXIT_DONE) return code;
    if (1 << kind == GF2) return explain_gf2(count > 1 ? operands[1] : NULL);
    if (count > 1) return cli_fail(EXIT_BAD, "too many operands: \"%s\"", operands[1]);
    if (1 << kind >= MATMUL) return explain_numbers(kind);
    if ((code = cli_parse_dtype(set.type ? set.type : "u32", &dtype)) != EXIT_DONE ||
        (set.n && (code = cli_parse_count("n", set.n, &n)) != EXIT_DONE))
        return code;
    return 1 << kind == HIST ? explain_hist((ech_dtype)dtype, n)
                             : explain_sort((ech_dtype)dtype, n);
}

const struct command command_explain = {
    .name = "explain",
    .summary = "say what a call would do, and the memory it needs",
    .usage = "  echelon explain sort [OPTION]...\n"
             "  echelon explain hist [OPTION]...\n"
             "  echelon explain gf2 mul|rref|pluq|solve|kernel|inverse|batch [OPTION]...\n"
             "  echelon explain matmul [OPTION]...\n"
             "  echelon explain solve [OPTION]...\n",
    .examples = "  echelon explain sort --type f32 -n 100M\n"
                "  echelon explain sort --type u64 -n 2^30 --values 8 --device cuda\n"
                "  echelon explain hist --type u8 -n 1G --bins 256 --device cuda\n"
                "  echelon explain gf2 rref --shape 65536x65536 --device cuda\n"
                "  echelon explain matmul --type f32 --shape 4096x1000 --other 512\n"
                "  echelon explain solve --shape 1Mx1M --entries 5M --method cg --precond ic0\n",
    .notes = "",
    .options = options,
    .most_operands = 2,
    .run = run,
};
