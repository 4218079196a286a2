/*
 * explain_arrays.c - "echelon explain" for operations on sorted arrays, on distinct elements, on
 * quantiles, and on columns, records and strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explain.h"

#include <string.h>

enum { MOST_COLUMNS = 16, DEFAULT_NEEDLES = 1000000, DEFAULT_RUNS = 2 };

static const uint8_t some_nulls; /* never read */

static int parse_arrays(const struct explain *set, ech_order *order, uint64_t *value_bytes)
{
    const int code = cli_parse_order(set->order, order);
    return code == EXIT_DONE ? explain_count("values", set->values, 0, value_bytes) : code;
}

int explain_merge(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    uint64_t value_bytes, runs;
    ech_merge_options o = { .size = sizeof o,
                            .descending = set->reverse,
                            .algorithm = set->algorithm };
    const size_t half = (size_t)(set->count / 2);
    int code = parse_arrays(set, &o.order, &value_bytes);
    if (code == EXIT_DONE) code = explain_count("runs", set->runs, DEFAULT_RUNS, &runs);
    if (code != EXIT_DONE) return code;
    return explain_print(
        set,
        runs == DEFAULT_RUNS
            ? ech_merge_explain(set->device, (size_t)set->count - half, half, set->dtype,
                                (size_t)value_bytes, &o, set->format, text, sizeof text)
            : ech_merge_many_explain(set->device, (size_t)set->count, (size_t)runs, set->dtype,
                                     (size_t)value_bytes, &o, set->format, text, sizeof text),
        text);
}

int explain_set(const struct explain *set)
{
    /* In the order of ech_set. */
    static const char *const names[] = { "union", "intersection", "difference", "symmetric" };
    enum { NAMES = sizeof names / sizeof *names };
    char text[EXPLAIN_TEXT];
    uint64_t value_bytes;
    ech_set_options o = { .size = sizeof o,
                          .descending = set->reverse,
                          .algorithm = set->algorithm };
    const size_t half = (size_t)(set->count / 2);
    int i;
    if (!set->call && !set->captured)
        return cli_fail(EXIT_BAD,
                        "no set operation: give one, for example echelon explain set union");
    int code = explain_call(set, "operation", names, NAMES, &i);
    if (code == EXIT_DONE) code = parse_arrays(set, &o.order, &value_bytes);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_set_operation_explain(set->device, (size_t)set->count - half, half,
                                                   (ech_set)i, set->dtype, (size_t)value_bytes, &o,
                                                   set->format, text, sizeof text),
                         text);
}

int explain_search(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    uint64_t needles;
    ech_search_options o = { .size = sizeof o,
                             .descending = set->reverse,
                             .needles_sorted = set->needles_sorted,
                             .algorithm = set->algorithm };
    int code = cli_parse_order(set->order, &o.order);
    if (code == EXIT_DONE) code = explain_count("needles", set->needles, DEFAULT_NEEDLES, &needles);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_search_explain(set->device, ECH_SEARCH_CALL_LOWER, (size_t)set->count,
                                            (size_t)needles, set->dtype, &o, set->format, text,
                                            sizeof text),
                         text);
}

int explain_unique(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    const ech_unique_options o = { .size = sizeof o, .appearance = set->appearance };
    if (set->appearance && set->mode)
        return cli_fail(EXIT_BAD, "--appearance cannot be combined with --mode");
    return explain_print(
        set,
        ech_unique_explain(set->device, set->mode ? ECH_UNIQUE_CALL_MODE : ECH_UNIQUE_CALL_ALL,
                           (size_t)set->count, set->dtype, &o, set->format, text, sizeof text),
        text);
}

int explain_quantile(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    uint64_t count;
    const ech_quantile_options o = { .size = sizeof o, .algorithm = set->algorithm };
    const int code = explain_count("ranks", set->ranks, 1, &count);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_quantile_explain(set->device, ECH_QUANTILE_CALL_QUANTILES,
                                              (size_t)set->count, (size_t)count, set->dtype, &o,
                                              set->format, text, sizeof text),
                         text);
}

/* The types of the columns, separated by commas. */
static int parse_columns(const struct explain *set, ech_sort_column *columns, size_t *count)
{
    const char *from = set->type ? set->type : "u32";
    for (*count = 0;; from++) {
        char name[16];
        int dtype;
        const size_t bytes = strcspn(from, ",");
        if (*count == MOST_COLUMNS)
            return cli_fail(EXIT_BAD, "--type has more than %d types", MOST_COLUMNS);
        snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name), from);
        const int code = cli_parse_dtype(name, &dtype);
        if (code != EXIT_DONE) return code;
        columns[(*count)++] = (ech_sort_column){ .size = sizeof *columns,
                                                 .dtype = (ech_dtype)dtype,
                                                 .descending = set->reverse,
                                                 .validity = set->nulls ? &some_nulls : NULL };
        from += bytes;
        if (*from != ',') return EXIT_DONE;
    }
}

int explain_columns(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    ech_sort_column columns[MOST_COLUMNS];
    size_t count;
    ech_order order;
    const ech_columns_options o = { .size = sizeof o, .algorithm = set->algorithm };
    int code = cli_parse_order(set->order, &order);
    if (code == EXIT_DONE) code = parse_columns(set, columns, &count);
    if (code != EXIT_DONE) return code;
    for (size_t i = 0; i < count; i++) columns[i].order = order;
    return explain_print(set,
                         ech_argsort_columns_explain(set->device, columns, (size_t)set->count,
                                                     count,
                                                     set->count <= UINT32_MAX ? ECH_U32 : ECH_U64,
                                                     &o, set->format, text, sizeof text),
                         text);
}

/* The keys follow each other at the beginning of the record. */
int explain_records(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    ech_sort_column columns[MOST_COLUMNS];
    ech_record_key keys[MOST_COLUMNS];
    size_t count, bytes = 0;
    uint64_t record_bytes;
    ech_order order;
    const ech_columns_options o = { .size = sizeof o, .algorithm = set->algorithm };
    int code = cli_parse_order(set->order, &order);
    if (code == EXIT_DONE) code = parse_columns(set, columns, &count);
    if (code != EXIT_DONE) return code;
    for (size_t i = 0; i < count; i++) {
        keys[i] = (ech_record_key){ .size = sizeof *keys,
                                    .offset_bytes = bytes,
                                    .kind = ECH_KEY_DTYPE,
                                    .dtype = columns[i].dtype,
                                    .descending = set->reverse,
                                    .order = order };
        bytes += ech_dtype_bytes(columns[i].dtype);
    }
    code = explain_count("record", set->record, bytes, &record_bytes);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_sort_records_explain(set->device, (size_t)set->count,
                                                  (size_t)record_bytes, keys, count, 0, &o,
                                                  set->format, text, sizeof text),
                         text);
}

int explain_strings(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    const ech_strings_options o = { .size = sizeof o,
                                    .descending = set->reverse,
                                    .validity = set->nulls ? &some_nulls : NULL,
                                    .algorithm = set->algorithm };
    return explain_print(set,
                         ech_strings_explain(set->device, (size_t)set->count, (size_t)set->count,
                                             ECH_I64, set->count <= UINT32_MAX ? ECH_U32 : ECH_U64,
                                             &o, set->format, text, sizeof text),
                         text);
}
