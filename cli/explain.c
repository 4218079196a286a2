/*
 * explain.c - "echelon explain": the algorithm and workspace of a call, without running it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *type, *n, *values, *bins, *device, *bits, *order, *algorithm, *shape, *b_columns;
    const char *batch_count, *method, *precond, *nnz, *rows, *head, *runs, *needles, *ranks;
    bool argsort, reverse, transpose_a, transpose_b, needles_sorted, appearance, mode, nulls, json;
} set;

static const struct option options[] = {
    { 'y', "type", "TYPE", &set.type,
      "element type; default: u32, for matmul and solve f64; for\ncolumns: one or more, as in "
      "i32,f64" },
    { 'N', "n", "COUNT", &set.n,
      "number of elements: 1000, 100M, 1e6, 2^20; default: 1M; for\nmerge and set: of all arrays" },
    { 0, "values", "BYTES", &set.values,
      "for sort, merge and set: size of the value of each key in\nbytes; default: 0" },
    { 0, "argsort", NULL, &set.argsort, "for sort: explain an argsort" },
    { 0, "rows", "COLUMNS", &set.rows,
      "for sort and topk: each row of COLUMNS elements; default: one\narray" },
    { 'K', "head", "K", &set.head, "for topk: number of selected elements; default: 10" },
    { 'r', "reverse", NULL, &set.reverse,
      "for sort, merge, set, search, columns and strings:\ndescending order" },
    { 0, "bits", "FIRST:END", &set.bits, "for sort: sort by these bits of the key" },
    { 0, "order", "ORDER", &set.order,
      "for sort, merge, set, search and columns: order of floats,\nnan-last or total" },
    { 0, "runs", "COUNT", &set.runs, "for merge: number of sorted arrays; default: 2" },
    { 0, "needles", "COUNT", &set.needles, "for search: number of needles; default: 1M" },
    { 0, "needles-sorted", NULL, &set.needles_sorted, "for search: the needles are sorted" },
    { 0, "appearance", NULL, &set.appearance, "for unique: in the order of the first occurrences" },
    { 0, "mode", NULL, &set.mode, "for unique: only the most frequent element" },
    { 0, "ranks", "COUNT", &set.ranks, "for quantile: number of quantiles; default: 1" },
    { 0, "nulls", NULL, &set.nulls, "for columns and strings: there are nulls" },
    { 'B', "bins", "COUNT", &set.bins, "for hist: number of bins; default: 256" },
    { 0, "shape", "ROWSxCOLUMNS", &set.shape,
      "for gf2, matmul and solve: shape of A before transposition;\ndefault: 4096x4096" },
    { 0, "b-columns", "COUNT", &set.b_columns,
      "for matmul, gf2 mul and gf2 solve: number of columns of B;\ndefault: the rows of A; for "
      "direct methods of solve: 1" },
    { 0, "batch-count", "COUNT", &set.batch_count,
      "for gf2 batch: number of matrices; default: the rows of A" },
    { 0, "transpose-a", NULL, &set.transpose_a, "for matmul: use the transpose of A" },
    { 0, "transpose-b", NULL, &set.transpose_b, "for matmul: use the transpose of B" },
    { 0, "nnz", "COUNT", &set.nnz,
      "for solve: A is sparse with this number of entries;\ndefault: A is dense" },
    { 0, "method", "NAME", &set.method, "for solve: a method of \"echelon solve\"; default: auto" },
    { 0, "precond", "NAME", &set.precond, "for solve: a preconditioner of \"echelon solve\"" },
    { 'D', "device", "DEVICE", &set.device, "cpu, cuda or simt; it need not be available" },
    { 0, "algorithm", "NAME", &set.algorithm, "use this algorithm; the output lists them" },
    { 0, "json", NULL, &set.json, "write a JSON object" },
    { 0, NULL, NULL, NULL, NULL },
};

static ech_format format(void)
{
    return set.json ? ECH_FORMAT_JSON : ECH_FORMAT_TEXT;
}

static int parse_rows(uint64_t n, uint64_t *columns)
{
    const int code = cli_parse_count("rows", set.rows, columns);
    if (code != EXIT_DONE) return code;
    if (*columns == 0) return cli_fail(EXIT_BAD, "--rows is 0; a row has at least 1 number");
    if (n % *columns == 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--n is %llu, which is not a multiple of --rows %s",
                    (unsigned long long)n, set.rows);
}

static int explain_sort_rows(ech_dtype dtype, uint64_t n, uint64_t value_bytes,
                             const ech_sort_options *o)
{
    char text[EXPLAIN_TEXT];
    uint64_t columns;
    const int code = parse_rows(n, &columns);
    if (code != EXIT_DONE) return code;
    return explain_print(
        ech_sort_segments_explain(
            set.device, set.argsort ? ECH_SORT_CALL_ARGSORT_ROWS : ECH_SORT_CALL_ROWS, (size_t)n,
            (size_t)(n / columns), dtype, (size_t)value_bytes, o, format(), text, sizeof text),
        text);
}

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
    if (set.argsort && set.values)
        return cli_fail(EXIT_BAD, "--values cannot be combined with --argsort");
    ech_dtype index = n <= UINT32_MAX ? ECH_U32 : ECH_U64;
    if (set.rows) {
        if (set.argsort) value_bytes = ech_dtype_bytes(index);
        return explain_sort_rows(dtype, n, value_bytes, &o);
    }
    return explain_print(set.argsort
                             ? ech_argsort_explain(set.device, (size_t)n, dtype, index, &o,
                                                   format(), text, sizeof text)
                             : ech_sort_explain(set.device, (size_t)n, dtype, (size_t)value_bytes,
                                                &o, format(), text, sizeof text),
                         text);
}

static int explain_topk(ech_dtype dtype, uint64_t n)
{
    char text[EXPLAIN_TEXT];
    uint64_t columns = n, k = 10;
    const ech_topk_options o = { .size = sizeof o, .algorithm = set.algorithm };
    int code = set.head ? cli_parse_count("head", set.head, &k) : EXIT_DONE;
    if (code == EXIT_DONE && set.rows) code = parse_rows(n, &columns);
    if (code != EXIT_DONE) return code;
    if (k > columns) k = columns;
    return explain_print(ech_topk_explain(set.device,
                                          set.rows ? ECH_TOPK_CALL_ROWS : ECH_TOPK_CALL_ARRAY,
                                          (size_t)n, set.rows ? (size_t)(n / columns) : 1,
                                          (size_t)k, dtype, &o, format(), text, sizeof text),
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
                                               format(), text, sizeof text),
                         text);
}

/* ---- GF(2) ---- */

static const char *const gf2_calls[] = { "mul",       "rref",    "pluq", "solve",
                                         "nullspace", "inverse", "batch" };
enum { GF2_CALLS = sizeof gf2_calls / sizeof *gf2_calls };

static int parse_shape(uint64_t shape[2])
{
    char rows[32];
    const char *x = set.shape ? strchr(set.shape, 'x') : NULL;
    shape[0] = shape[1] = 4096;
    if (!set.shape) return EXIT_DONE;
    if (!x || (size_t)(x - set.shape) >= sizeof rows)
        return cli_fail(EXIT_BAD, "--shape is \"%s\"; give ROWSxCOLUMNS, such as 4096x8192",
                        set.shape);
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
    uint64_t shape[2], count;
    int call = 0;
    const ech_gf2_echelon_options o = { .size = sizeof o, .algorithm = set.algorithm };
    if (!name)
        return cli_fail(EXIT_BAD,
                        "no GF(2) operation: give one, for example echelon explain gf2 rref");
    while (call < GF2_CALLS && strcmp(name, gf2_calls[call]) != 0) call++;
    if (call == GF2_CALLS) return cli_unknown("operation", name, gf2_calls, GF2_CALLS);
    int code = parse_shape(shape);
    if (code != EXIT_DONE) return code;
    const bool batch = calls[call] == ECH_GF2_CALL_BATCHED;
    if (batch ? set.b_columns != NULL : set.batch_count != NULL)
        return cli_fail(EXIT_BAD, "--%s cannot be combined with gf2 %s",
                        batch ? "b-columns" : "batch-count", name);
    count = shape[0];
    if (set.b_columns) code = cli_parse_count("b-columns", set.b_columns, &count);
    if (set.batch_count) code = cli_parse_count("batch-count", set.batch_count, &count);
    if (code != EXIT_DONE) return code;
    return explain_print(ech_gf2_explain(set.device, calls[call], (size_t)shape[0],
                                         (size_t)shape[1], (size_t)count, &o, format(), text,
                                         sizeof text),
                         text);
}

/* ---- The command ---- */

enum {
    SORT = 1 << 0,
    TOPK = 1 << 1,
    HIST = 1 << 2,
    MERGE = 1 << 3,
    SET = 1 << 4,
    UNIQUE = 1 << 5,
    SEARCH = 1 << 6,
    QUANTILE = 1 << 7,
    COLUMNS = 1 << 8,
    STRINGS = 1 << 9,
    GF2 = 1 << 10,
    MATMUL = 1 << 11,
    SOLVE = 1 << 12,
    TYPED = GF2 - 1 - STRINGS,
};
static const char *const kinds[] = { "sort",   "topk",   "hist",     "merge",   "set",
                                     "unique", "search", "quantile", "columns", "strings",
                                     "gf2",    "matmul", "solve" };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Refuses options of other operations. */
static int check_options(int kind)
{
    const struct {
        const char *name;
        bool given;
        int of;
    } some[] = {
        { "type", set.type != NULL, TYPED | MATMUL | SOLVE },
        { "n", set.n != NULL, TYPED | STRINGS },
        { "shape", set.shape != NULL, GF2 | MATMUL | SOLVE },
        { "b-columns", set.b_columns != NULL, GF2 | MATMUL | SOLVE },
        { "batch-count", set.batch_count != NULL, GF2 },
        { "transpose-a", set.transpose_a, MATMUL },
        { "transpose-b", set.transpose_b, MATMUL },
        { "nnz", set.nnz != NULL, SOLVE },
        { "method", set.method != NULL, SOLVE },
        { "precond", set.precond != NULL, SOLVE },
        { "bins", set.bins != NULL, HIST },
        { "values", set.values != NULL, SORT | MERGE | SET },
        { "argsort", set.argsort, SORT },
        { "rows", set.rows != NULL, SORT | TOPK },
        { "head", set.head != NULL, TOPK },
        { "reverse", set.reverse, SORT | MERGE | SET | SEARCH | COLUMNS | STRINGS },
        { "bits", set.bits != NULL, SORT },
        { "order", set.order != NULL, SORT | MERGE | SET | SEARCH | COLUMNS },
        { "runs", set.runs != NULL, MERGE },
        { "needles", set.needles != NULL, SEARCH },
        { "needles-sorted", set.needles_sorted, SEARCH },
        { "appearance", set.appearance, UNIQUE },
        { "mode", set.mode, UNIQUE },
        { "ranks", set.ranks != NULL, QUANTILE },
        { "nulls", set.nulls, COLUMNS | STRINGS },
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (some[i].given && !(some[i].of >> kind & 1))
            return cli_fail(EXIT_BAD, "--%s cannot be combined with %s", some[i].name, kinds[kind]);
    return EXIT_DONE;
}

static int explain_numbers(int kind)
{
    struct explain_numbers numbers = { .type = set.type,
                                       .b_columns = set.b_columns,
                                       .nnz = set.nnz,
                                       .method = set.method,
                                       .precond = set.precond,
                                       .device = set.device,
                                       .algorithm = set.algorithm,
                                       .transpose_a = set.transpose_a,
                                       .transpose_b = set.transpose_b,
                                       .format = format() };
    const int code = parse_shape(numbers.shape);
    if (code != EXIT_DONE) return code;
    return 1 << kind == MATMUL ? explain_matmul(&numbers) : explain_solve(&numbers);
}

/* operation: of set. */
static int explain_arrays(int kind, const char *operation)
{
    struct explain_arrays arrays = { .type = set.type,
                                     .values = set.values,
                                     .order = set.order,
                                     .runs = set.runs,
                                     .needles = set.needles,
                                     .ranks = set.ranks,
                                     .device = set.device,
                                     .algorithm = set.algorithm,
                                     .reverse = set.reverse,
                                     .needles_sorted = set.needles_sorted,
                                     .appearance = set.appearance,
                                     .mode = set.mode,
                                     .nulls = set.nulls,
                                     .n = 1000000,
                                     .format = format() };
    int dtype = ECH_U32, code = set.n ? cli_parse_count("n", set.n, &arrays.n) : EXIT_DONE;
    if (code == EXIT_DONE && set.type && 1 << kind != COLUMNS)
        code = cli_parse_dtype(set.type, &dtype);
    if (code != EXIT_DONE) return code;
    arrays.dtype = (ech_dtype)dtype;
    switch (1 << kind) {
    case MERGE:
        return explain_merge(&arrays);
    case SET:
        return explain_set(&arrays, operation);
    case UNIQUE:
        return explain_unique(&arrays);
    case SEARCH:
        return explain_search(&arrays);
    case QUANTILE:
        return explain_quantile(&arrays);
    case COLUMNS:
        return explain_columns(&arrays);
    case STRINGS:
        return explain_strings(&arrays);
    case HIST:
        return explain_hist(arrays.dtype, arrays.n);
    case TOPK:
        return explain_topk(arrays.dtype, arrays.n);
    default:
        return explain_sort(arrays.dtype, arrays.n);
    }
}

static int run(int count, char **operands)
{
    int code, kind = 0;
    if (count == 0)
        return cli_fail(EXIT_BAD, "no operation: give one, for example echelon explain sort");
    while (kind < KINDS && strcmp(operands[0], kinds[kind]) != 0) kind++;
    if (kind == KINDS) return cli_unknown("operation", operands[0], kinds, KINDS);
    if ((code = check_options(kind)) != EXIT_DONE) return code;
    if (1 << kind == GF2) return explain_gf2(count > 1 ? operands[1] : NULL);
    if (count > 1 && 1 << kind != SET)
        return cli_fail(EXIT_BAD, "unexpected operand \"%s\"; see echelon explain --help",
                        operands[1]);
    if (1 << kind >= MATMUL) return explain_numbers(kind);
    return explain_arrays(kind, count > 1 ? operands[1] : NULL);
}

const struct command command_explain = {
    .name = "explain",
    .summary = "print the algorithm that a call would use, and its workspace",
    .usage = "  echelon explain sort [OPTION]...\n"
             "  echelon explain topk [OPTION]...\n"
             "  echelon explain hist [OPTION]...\n"
             "  echelon explain merge [OPTION]...\n"
             "  echelon explain set union|intersection|difference|symmetric [OPTION]...\n"
             "  echelon explain unique [OPTION]...\n"
             "  echelon explain search [OPTION]...\n"
             "  echelon explain quantile [OPTION]...\n"
             "  echelon explain columns [OPTION]...\n"
             "  echelon explain strings [OPTION]...\n"
             "  echelon explain gf2 mul|rref|pluq|solve|nullspace|inverse|batch [OPTION]...\n"
             "  echelon explain matmul [OPTION]...\n"
             "  echelon explain solve [OPTION]...\n",
    .examples = "  echelon explain sort --type f32 -N 100M\n"
                "  echelon explain sort --type u64 -N 2^30 --values 8 --device cuda\n"
                "  echelon explain sort --type f32 -N 100M --rows 1000\n"
                "  echelon explain topk --type f32 -N 100M -K 100\n"
                "  echelon explain hist --type u8 -N 1G --bins 256 --device cuda\n"
                "  echelon explain merge --type f32 -N 100M --runs 16\n"
                "  echelon explain search --type u32 -N 2^28 --needles 2^22 --needles-sorted\n"
                "  echelon explain columns --type i32,f64 -N 100M\n"
                "  echelon explain gf2 rref --shape 65536x65536 --device cuda\n"
                "  echelon explain matmul --type f32 --shape 4096x1000 --b-columns 512\n"
                "  echelon explain solve --shape 1Mx1M --nnz 5M --method cg --precond ic0\n",
    .notes = "",
    .options = options,
    .most_operands = 2,
    .run = run,
};
