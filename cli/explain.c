/*
 * explain.c - "echelon explain": what a call would do, without doing it or having the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *type, *n, *values, *bins, *device, *bits, *order, *algorithm, *shape, *other;
    bool argsort, reverse;
} set;

static const struct option options[] = {
    { 't', "type", "TYPE", &set.type, "of the numbers; default: u32" },
    { 'n', "n", "COUNT", &set.n, "elements: 1000, 100M, 1e6, 2^20; default: 1M" },
    { 0, "values", "BYTES", &set.values, "of sort: that go along with each key; default: none" },
    { 0, "argsort", NULL, &set.argsort, "explain an argsort" },
    { 'r', "reverse", NULL, &set.reverse, "greatest first" },
    { 0, "bits", "FIRST:END", &set.bits, "sort by these bits of the key alone" },
    { 0, "order", "ORDER", &set.order, "of floats: nan-last or total" },
    { 0, "bins", "COUNT", &set.bins, "of hist: how many; default: 256" },
    { 0, "shape", "ROWSxCOLUMNS", &set.shape, "of gf2: of the matrix; default: 4096x4096" },
    { 0, "other", "COUNT", &set.other,
      "of gf2: columns of B for mul and solve, matrices for batch;\ndefault: as many as rows" },
    { 'd', "device", "DEVICE", &set.device, "cpu, cuda or simt, which need not be there" },
    { 0, "algorithm", "NAME", &set.algorithm, "one of those listed, to force it" },
    { 0, NULL, NULL, NULL, NULL },
};

enum { TEXT = 16384 };

static int print(ech_status status, const char *text)
{
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    fputs(text, stdout);
    return EXIT_DONE;
}

static int explain_sort(ech_dtype dtype, uint64_t n)
{
    char text[TEXT];
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
    return print(set.argsort ? ech_argsort_explain(set.device, (size_t)n, dtype, index, &o, text,
                                                   sizeof text)
                             : ech_sort_explain(set.device, (size_t)n, dtype, (size_t)value_bytes,
                                                &o, text, sizeof text),
                 text);
}

static int explain_hist(ech_dtype dtype, uint64_t n)
{
    char text[TEXT];
    uint64_t bins = 256;
    ech_histogram_options o = { .size = sizeof o, .algorithm = set.algorithm };
    int code = set.bins ? cli_parse_count("bins", set.bins, &bins) : EXIT_DONE;
    if (code != EXIT_DONE) return code;
    return print(
        ech_histogram_explain(set.device, (size_t)n, (size_t)bins, dtype, &o, text, sizeof text),
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
    static const ech_gf2_call calls[GF2_CALLS] = { ECH_GF2_CALL_MUL,    ECH_GF2_CALL_ECHELON,
                                                   ECH_GF2_CALL_PLUQ,   ECH_GF2_CALL_SOLVE,
                                                   ECH_GF2_CALL_KERNEL, ECH_GF2_CALL_INVERSE,
                                                   ECH_GF2_CALL_BATCHED };
    char text[TEXT];
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
    return print(ech_gf2_explain(set.device, calls[call], (size_t)shape[0], (size_t)shape[1],
                                 (size_t)other, &o, text, sizeof text),
                 text);
}

/* ---- Which ---- */

/* Options that are not of what is explained. */
static int check_options(const char *what)
{
    const bool gf2 = strcmp(what, "gf2") == 0;
    const struct {
        const char *name;
        bool given, fits;
    } some[] = {
        { "type", set.type != NULL, !gf2 },
        { "n", set.n != NULL, !gf2 },
        { "shape", set.shape != NULL, gf2 },
        { "other", set.other != NULL, gf2 },
        { "bins", set.bins != NULL, strcmp(what, "hist") == 0 },
        { "values", set.values != NULL, strcmp(what, "sort") == 0 },
        { "argsort", set.argsort, strcmp(what, "sort") == 0 },
        { "reverse", set.reverse, strcmp(what, "sort") == 0 },
        { "bits", set.bits != NULL, strcmp(what, "sort") == 0 },
        { "order", set.order != NULL, strcmp(what, "sort") == 0 },
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (some[i].given && !some[i].fits)
            return cli_fail(EXIT_BAD, "--%s does not go with %s", some[i].name, what);
    return EXIT_DONE;
}

static int run(int count, char **operands)
{
    static const char *const kinds[] = { "sort", "hist", "gf2" };
    int dtype, code, kind = 0;
    uint64_t n = 1000000;
    if (count == 0) return cli_fail(EXIT_BAD, "explain what?  Try: echelon explain sort");
    while (kind < 3 && strcmp(operands[0], kinds[kind]) != 0) kind++;
    if (kind == 3)
        return cli_fail(EXIT_BAD, "cannot explain \"%s\"; it can: sort hist gf2", operands[0]);
    if ((code = check_options(operands[0])) != EXIT_DONE) return code;
    if (kind == 2) return explain_gf2(count > 1 ? operands[1] : NULL);
    if (count > 1) return cli_fail(EXIT_BAD, "too many operands: \"%s\"", operands[1]);
    if ((code = cli_parse_dtype(set.type ? set.type : "u32", &dtype)) != EXIT_DONE ||
        (set.n && (code = cli_parse_count("n", set.n, &n)) != EXIT_DONE))
        return code;
    return kind ? explain_hist((ech_dtype)dtype, n) : explain_sort((ech_dtype)dtype, n);
}

const struct command command_explain = {
    .name = "explain",
    .summary = "say what a call would do, and the memory it needs",
    .usage = "  echelon explain sort [OPTION]...\n"
             "  echelon explain hist [OPTION]...\n"
             "  echelon explain gf2 mul|rref|pluq|solve|kernel|inverse|batch [OPTION]...\n",
    .examples = "  echelon explain sort --type f32 -n 100M\n"
                "  echelon explain sort --type u64 -n 2^30 --values 8 --device cuda\n"
                "  echelon explain hist --type u8 -n 1G --bins 256 --device cuda\n"
                "  echelon explain gf2 rref --shape 65536x65536 --device cuda\n",
    .notes = "",
    .options = options,
    .most_operands = 2,
    .run = run,
};
