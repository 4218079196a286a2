/*
 * explain.c - "echelon explain": what a call would do, without doing it or having the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *type, *n, *values, *bins, *device, *bits, *order, *algorithm;
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
    if (set.bins) return cli_fail(EXIT_BAD, "--bins is of hist, not of sort");
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
    const char *of_sort = set.values    ? "values"
                          : set.argsort ? "argsort"
                          : set.reverse ? "reverse"
                          : set.bits    ? "bits"
                          : set.order   ? "order"
                                        : NULL;
    if (of_sort) return cli_fail(EXIT_BAD, "--%s is of sort, not of hist", of_sort);
    int code = set.bins ? cli_parse_count("bins", set.bins, &bins) : EXIT_DONE;
    if (code != EXIT_DONE) return code;
    return print(
        ech_histogram_explain(set.device, (size_t)n, (size_t)bins, dtype, &o, text, sizeof text),
        text);
}

static int run(int count, char **operands)
{
    int dtype, code;
    uint64_t n = 1000000;
    if (count == 0) return cli_fail(EXIT_BAD, "explain what?  Try: echelon explain sort");
    bool hist = strcmp(operands[0], "hist") == 0;
    if (!hist && strcmp(operands[0], "sort") != 0)
        return cli_fail(EXIT_BAD, "cannot explain \"%s\"; it can: sort hist", operands[0]);
    if ((code = cli_parse_dtype(set.type ? set.type : "u32", &dtype)) != EXIT_DONE ||
        (set.n && (code = cli_parse_count("n", set.n, &n)) != EXIT_DONE))
        return code;
    return hist ? explain_hist((ech_dtype)dtype, n) : explain_sort((ech_dtype)dtype, n);
}

const struct command command_explain = {
    .name = "explain",
    .summary = "say what a sort or histogram would do, and the memory it needs",
    .usage = "  echelon explain sort [OPTION]...\n"
             "  echelon explain hist [OPTION]...\n",
    .examples = "  echelon explain sort --type f32 -n 100M\n"
                "  echelon explain sort --type u64 -n 2^30 --values 8 --device cuda\n"
                "  echelon explain hist --type u8 -n 1G --bins 256 --device cuda\n",
    .notes = "",
    .options = options,
    .most_operands = 1,
    .run = run,
};
