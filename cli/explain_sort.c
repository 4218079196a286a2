/*
 * explain_sort.c - "echelon explain" for sorts, top-k, the check of order, and histograms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explain.h"

/* Each row, or each segment. */
static int explain_segments(const struct explain *set, uint64_t groups, uint64_t value_bytes,
                            const ech_sort_options *o)
{
    char text[EXPLAIN_TEXT];
    static const ech_sort_call calls[2][2] = {
        { ECH_SORT_CALL_ROWS, ECH_SORT_CALL_ARGSORT_ROWS },
        { ECH_SORT_CALL_SEGMENTS, ECH_SORT_CALL_ARGSORT_SEGMENTS },
    };
    return explain_print(
        set,
        ech_sort_segments_explain(set->device, calls[set->segments != NULL][set->argsort],
                                  (size_t)set->count, (size_t)groups, set->dtype,
                                  (size_t)value_bytes, o, set->format, text, sizeof text),
        text);
}

int explain_sort(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    uint64_t value_bytes, groups;
    ech_sort_options o = { .size = sizeof o,
                           .descending = set->reverse,
                           .algorithm = set->algorithm };
    int code = explain_count("values", set->values, 0, &value_bytes);
    if (code == EXIT_DONE) code = cli_parse_bits(set->bits, set->dtype, &o);
    if (code == EXIT_DONE) code = cli_parse_order(set->order, &o.order);
    if (code == EXIT_DONE) code = explain_groups(set, &groups);
    if (code != EXIT_DONE) return code;
    if (set->argsort && set->values)
        return cli_fail(EXIT_BAD, "--values cannot be combined with --argsort");
    const ech_dtype index = set->count <= UINT32_MAX ? ECH_U32 : ECH_U64;
    if (set->rows || set->segments)
        return explain_segments(set, groups, set->argsort ? ech_dtype_bytes(index) : value_bytes,
                                &o);
    return explain_print(
        set,
        set->argsort ? ech_argsort_explain(set->device, (size_t)set->count, set->dtype, index, &o,
                                           set->format, text, sizeof text)
                     : ech_sort_explain(set->device, (size_t)set->count, set->dtype,
                                        (size_t)value_bytes, &o, set->format, text, sizeof text),
        text);
}

int explain_is_sorted(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    ech_is_sorted_options o = { .size = sizeof o, .descending = set->reverse };
    const int code = cli_parse_order(set->order, &o.order);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_is_sorted_explain(set->device, (size_t)set->count, set->dtype, &o,
                                               set->format, text, sizeof text),
                         text);
}

int explain_topk(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    uint64_t k, groups;
    const ech_topk_options o = { .size = sizeof o, .algorithm = set->algorithm };
    int code = explain_count("head", set->head, 10, &k);
    if (code == EXIT_DONE) code = explain_groups(set, &groups);
    if (code != EXIT_DONE) return code;
    const ech_topk_call call = set->rows       ? ECH_TOPK_CALL_ROWS
                               : set->segments ? ECH_TOPK_CALL_SEGMENTS
                                               : ECH_TOPK_CALL_ARRAY;
    const uint64_t most = set->rows && groups ? set->count / groups : set->count;
    if (k > most && !set->segments) k = most;
    return explain_print(set,
                         ech_topk_explain(set->device, call, (size_t)set->count,
                                          call == ECH_TOPK_CALL_ARRAY ? 1 : (size_t)groups,
                                          (size_t)k, set->dtype, &o, set->format, text,
                                          sizeof text),
                         text);
}

int explain_hist(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    uint64_t bins;
    const ech_histogram_options o = { .size = sizeof o, .algorithm = set->algorithm };
    const int code = explain_count("bins", set->bins, 256, &bins);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_histogram_explain(set->device, (size_t)set->count, set->dtype,
                                               (size_t)bins, &o, set->format, text, sizeof text),
                         text);
}
