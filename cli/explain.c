/*
 * explain.c - "echelon explain": what a call would do, without doing it or having the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *type, *n, *values, *device, *bits, *order, *algorithm;
    bool argsort, reverse;
} set;

static const struct option options[] = {
    { 't', "type", "TYPE", &set.type, "of the keys; default: u32" },
    { 'n', "n", "COUNT", &set.n, "elements: 1000, 100M, 1e6, 2^20; default: 1M" },
    { 0, "values", "BYTES", &set.values, "that go along with each key; default: none" },
    { 0, "argsort", NULL, &set.argsort, "explain an argsort" },
    { 'r', "reverse", NULL, &set.reverse, "greatest first" },
    { 0, "bits", "FIRST:END", &set.bits, "sort by these bits of the key alone" },
    { 0, "order", "ORDER", &set.order, "of floats: nan-last or total" },
    { 'd', "device", "DEVICE", &set.device, "cpu, cuda or simt, which need not be there" },
    { 0, "algorithm", "NAME", &set.algorithm, "one of those listed, to force it" },
    { 0, NULL, NULL, NULL, NULL },
};

static int run(int count, char **operands)
{
    char text[16384];
    int dtype, code;
    uint64_t n = 1000000, value_bytes = 0;
    ech_sort_options o = { .size = sizeof o,
                           .descending = set.reverse,
                           .algorithm = set.algorithm };
    if (count == 0) return cli_fail(EXIT_BAD, "explain what?  Try: echelon explain sort");
    if (strcmp(operands[0], "sort") != 0)
        return cli_fail(EXIT_BAD, "cannot explain \"%s\"; it can: sort", operands[0]);
    if ((code = cli_parse_dtype(set.type ? set.type : "u32", &dtype)) != EXIT_DONE ||
        (set.n && (code = cli_parse_count("n", set.n, &n)) != EXIT_DONE) ||
        (set.values && (code = cli_parse_count("values", set.values, &value_bytes)) != EXIT_DONE) ||
        (code = cli_parse_bits(set.bits, (ech_dtype)dtype, &o)) != EXIT_DONE ||
        (code = cli_parse_order(set.order, &o.order)) != EXIT_DONE)
        return code;
    if (set.argsort && set.values) return cli_fail(EXIT_BAD, "--values does not go with --argsort");
    ech_dtype index = n <= UINT32_MAX ? ECH_U32 : ECH_U64;
    ech_status status = set.argsort ? ech_argsort_explain(set.device, (size_t)n, (ech_dtype)dtype,
                                                          index, &o, text, sizeof text)
                                    : ech_sort_explain(set.device, (size_t)n, (ech_dtype)dtype,
                                                       (size_t)value_bytes, &o, text, sizeof text);
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    fputs(text, stdout);
    return EXIT_DONE;
}

const struct command command_explain = {
    .name = "explain",
    .summary = "say what a sort would do, and the memory it needs",
    .usage = "  echelon explain sort [OPTION]...\n",
    .examples = "  echelon explain sort --type f32 -n 100M\n"
                "  echelon explain sort --type u64 -n 2^30 --values 8 --device cuda\n",
    .notes = "",
    .options = options,
    .most_operands = 1,
    .run = run,
};
