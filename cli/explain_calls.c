/*
 * explain_calls.c - "echelon explain" for scans, reductions, selections and arrangements, which
 * each consist of several calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explain.h"

#include <string.h>

int explain_scan(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    uint64_t groups;
    ech_op op = ECH_OP_SUM;
    const ech_scan_options o = { .size = sizeof o, .reverse = set->reverse };
    int code = set->call ? cli_parse_scan_op(set->call, &op) : EXIT_DONE;
    if (code == EXIT_DONE) code = explain_groups(set, &groups);
    if (code != EXIT_DONE) return code;
    const ech_scan_call call = set->by_key     ? ECH_SCAN_CALL_BY_KEY
                               : set->segments ? ECH_SCAN_CALL_SEGMENTS
                                               : ECH_SCAN_CALL_ROWS;
    return explain_print(set,
                         ech_scan_explain(set->device, call, op, (size_t)set->count, (size_t)groups,
                                          set->dtype, &o, set->format, text, sizeof text),
                         text);
}

int explain_reduce(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    uint64_t groups;
    ech_op op = ECH_OP_SUM;
    const ech_reduce_options o = { .size = sizeof o };
    const bool dot = set->call && strcmp(set->call, "dot") == 0;
    int code = dot || !set->call ? EXIT_DONE : cli_parse_op(set->call, &op);
    if (code == EXIT_DONE) code = explain_groups(set, &groups);
    if (code != EXIT_DONE) return code;
    if (dot && (set->rows || set->segments || set->by_key))
        return cli_fail(EXIT_BAD, "--%s cannot be combined with reduce dot",
                        set->rows       ? "rows"
                        : set->segments ? "segments"
                                        : "by-key");
    const ech_reduce_call call = dot             ? ECH_REDUCE_CALL_DOT
                                 : set->by_key   ? ECH_REDUCE_CALL_BY_KEY
                                 : set->segments ? ECH_REDUCE_CALL_SEGMENTS
                                                 : ECH_REDUCE_CALL_ROWS;
    return explain_print(set,
                         ech_reduce_explain(set->device, call, op, (size_t)set->count,
                                            (size_t)groups, set->dtype, &o, set->format, text,
                                            sizeof text),
                         text);
}

int explain_select(const struct explain *set)
{
    static const char *const names[] = {
        "if",     "flags",         "partition-if", "partition-flags", "partition-3way",
        "unique", "unique-by-key", "rle-encode",   "rle-decode"
    };
    static const ech_select_call calls[] = { ECH_SELECT_CALL_IF,
                                             ECH_SELECT_CALL_FLAGS,
                                             ECH_SELECT_CALL_PARTITION_IF,
                                             ECH_SELECT_CALL_PARTITION_FLAGS,
                                             ECH_SELECT_CALL_PARTITION_3WAY,
                                             ECH_SELECT_CALL_UNIQUE,
                                             ECH_SELECT_CALL_UNIQUE_BY_KEY,
                                             ECH_SELECT_CALL_RLE_ENCODE,
                                             ECH_SELECT_CALL_RLE_DECODE };
    enum { CALLS = sizeof calls / sizeof *calls, VALUE_BYTES = 4 };
    char text[EXPLAIN_TEXT];
    uint64_t value_bytes;
    int i;
    const ech_select_options o = { .size = sizeof o };
    int code = explain_call(set, "call", names, CALLS, &i);
    if (code == EXIT_DONE) code = explain_count("values", set->values, VALUE_BYTES, &value_bytes);
    if (code != EXIT_DONE) return code;
    if (set->values && calls[i] != ECH_SELECT_CALL_UNIQUE_BY_KEY)
        return cli_fail(EXIT_BAD, "--values cannot be combined with select %s", names[i]);
    return explain_print(set,
                         ech_select_explain(set->device, calls[i], (size_t)set->count,
                                            ech_dtype_bytes(set->dtype), (size_t)value_bytes, &o,
                                            set->format, text, sizeof text),
                         text);
}

int explain_arrange(const struct explain *set)
{
    /* In the order of ech_arrange_call. */
    static const char *const names[] = { "gather", "scatter", "reverse",     "rotate", "transpose",
                                         "fill",   "iota",    "permutation", "shuffle" };
    enum { CALLS = sizeof names / sizeof *names };
    char text[EXPLAIN_TEXT];
    int i;
    const int code = explain_call(set, "call", names, CALLS, &i);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_arrange_explain(set->device, (ech_arrange_call)i, (size_t)set->count,
                                             ech_dtype_bytes(set->dtype), set->format, text,
                                             sizeof text),
                         text);
}
