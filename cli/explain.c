/*
 * explain.c - "echelon explain": the algorithm and workspace of a call, without running it.
 *
 * An operation is a row of a table, with the options that it takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explain.h"
#include "solve.h"

#include <stdlib.h>
#include <string.h>

static struct explain set;

static const struct option options[] = {
    { 'y', "type", "TYPE", &set.type,
      "element type; default: u32, for matmul, matvec, csr and solve\nf64; for columns and "
      "records: one or more, as in i32,f64" },
    { 'N', "n", "COUNT", &set.n,
      "number of elements: 1000, 100M, 1e6, 2^20; default: 1M; for\nmerge and set: of all arrays" },
    { 0, "values", "BYTES", &set.values,
      "for sort, merge, set and select unique-by-key: size of the\nvalue of each key in bytes; "
      "default: 0, for select 4" },
    { 0, "argsort", NULL, &set.argsort, "for sort: explain an argsort" },
    { 0, "rows", "COLUMNS", &set.rows,
      "for sort, topk, scan and reduce: each row of COLUMNS elements;\ndefault: one array" },
    { 0, "segments", "COUNT", &set.segments,
      "for sort, topk, scan and reduce: COUNT segments of any\nlengths" },
    { 0, "by-key", NULL, &set.by_key, "for scan and reduce: each run of equal keys" },
    { 'K', "head", "K", &set.head, "for topk: number of selected elements; default: 10" },
    { 'r', "reverse", NULL, &set.reverse,
      "for sort, merge, set, search, is_sorted, columns, records,\nstrings and scan: reverse "
      "order" },
    { 0, "bits", "FIRST:END", &set.bits, "for sort: sort by these bits of the key" },
    { 0, "order", "ORDER", &set.order,
      "for sort, merge, set, search, is_sorted, columns and records:\norder of floats, nan-last "
      "or total" },
    { 0, "runs", "COUNT", &set.runs, "for merge: number of sorted arrays; default: 2" },
    { 0, "needles", "COUNT", &set.needles, "for search: number of needles; default: 1M" },
    { 0, "needles-sorted", NULL, &set.needles_sorted, "for search: the needles are sorted" },
    { 0, "appearance", NULL, &set.appearance, "for unique: in the order of the first occurrences" },
    { 0, "mode", NULL, &set.mode, "for unique: only the most frequent element" },
    { 0, "ranks", "COUNT", &set.ranks, "for quantile: number of quantiles; default: 1" },
    { 0, "record", "BYTES", &set.record,
      "for records: size of a record, which begins with the keys;\ndefault: the size of the keys" },
    { 0, "nulls", NULL, &set.nulls, "for columns and strings: there are nulls" },
    { 'B', "bins", "COUNT", &set.bins, "for hist: number of bins; default: 256" },
    { 0, "shape", "ROWSxCOLUMNS", &set.shape,
      "for gf2, matmul, matvec, csr and solve: shape of A before\ntransposition; default: "
      "4096x4096" },
    { 0, "b-columns", "COUNT", &set.b_columns,
      "for matmul, gf2 mul and gf2 solve: number of columns of B;\ndefault: the rows of A; for "
      "csr spmm and direct methods of\nsolve: 1" },
    { 0, "batch-count", "COUNT", &set.batch_count,
      "for gf2 batch: number of matrices; default: the rows of A" },
    { 0, "transpose-a", NULL, &set.transpose_a, "for matmul and matvec: use the transpose of A" },
    { 0, "transpose-b", NULL, &set.transpose_b, "for matmul: use the transpose of B" },
    { 0, "nnz", "COUNT", &set.nnz,
      "for csr and solve: A is sparse with this number of entries;\ndefault: for csr 5 per row; "
      "for solve, A is dense" },
    { 0, "method", "METHOD", &set.method,
      "for solve: a method of \"echelon solve\"; default: auto" },
    { 0, "precond", "PRECOND", &set.precond, "for solve: a preconditioner of \"echelon solve\"" },
    { 'D', "device", "DEVICE", &set.device, "cpu, cuda or simt; it need not be available" },
    { 0, "algorithm", "NAME", &set.algorithm, "use this algorithm; the output lists them" },
    { 0, "json", NULL, &set.json, "write a JSON object" },
    { 0, NULL, NULL, NULL, NULL },
};

enum { DEFAULT_N = 1000000, DEFAULT_EXTENT = 4096 };

/* ---- Operations ---- */

/* Groups of options. */
enum {
    TYPE = 1 << 0,
    N = 1 << 1,
    SHAPE = 1 << 2,
    B_COLUMNS = 1 << 3,
    BATCH_COUNT = 1 << 4,
    TRANSPOSE_A = 1 << 5,
    TRANSPOSE_B = 1 << 6,
    NNZ = 1 << 7,
    METHOD = 1 << 8,
    BINS = 1 << 9,
    VALUES = 1 << 10,
    ARGSORT = 1 << 11,
    GROUPS = 1 << 12,
    HEAD = 1 << 13,
    REVERSE = 1 << 14,
    BITS = 1 << 15,
    ORDER = 1 << 16,
    RUNS = 1 << 17,
    NEEDLES = 1 << 18,
    UNIQUE = 1 << 19,
    RANKS = 1 << 20,
    NULLS = 1 << 21,
    BY_KEY = 1 << 22,
    RECORD = 1 << 23,
    ALGORITHM = 1 << 24,
    CALL = 1 << 25,     /* a second operand */
    TYPES = 1 << 26,    /* --type is not one dtype */
    ELEMENTS = TYPE | N /* an array */
};

static const struct operation {
    const char *name;
    int (*run)(const struct explain *set);
    unsigned takes;
    const char *other; /* a call that has other algorithms than the first one; or NULL */
} operations[] = {
    { "sort", explain_sort,
      ELEMENTS | VALUES | ARGSORT | GROUPS | REVERSE | BITS | ORDER | ALGORITHM, NULL },
    { "is_sorted", explain_is_sorted, ELEMENTS | REVERSE | ORDER, NULL },
    { "topk", explain_topk, ELEMENTS | GROUPS | HEAD | ALGORITHM, NULL },
    { "hist", explain_hist, ELEMENTS | BINS | ALGORITHM, NULL },
    { "merge", explain_merge, ELEMENTS | VALUES | REVERSE | ORDER | RUNS | ALGORITHM, NULL },
    { "set", explain_set, ELEMENTS | VALUES | REVERSE | ORDER | ALGORITHM | CALL, NULL },
    { "unique", explain_unique, ELEMENTS | UNIQUE, NULL },
    { "search", explain_search, ELEMENTS | REVERSE | ORDER | NEEDLES | ALGORITHM, NULL },
    { "quantile", explain_quantile, ELEMENTS | RANKS | ALGORITHM, NULL },
    { "scan", explain_scan, ELEMENTS | GROUPS | BY_KEY | REVERSE | CALL, NULL },
    { "reduce", explain_reduce, ELEMENTS | GROUPS | BY_KEY | CALL, NULL },
    { "select", explain_select, ELEMENTS | VALUES | CALL, NULL },
    { "arrange", explain_arrange, ELEMENTS | CALL, NULL },
    { "columns", explain_columns, ELEMENTS | TYPES | REVERSE | ORDER | NULLS | ALGORITHM, NULL },
    { "records", explain_records, ELEMENTS | TYPES | REVERSE | ORDER | RECORD | ALGORITHM, NULL },
    { "strings", explain_strings, N | REVERSE | NULLS | ALGORITHM, NULL },
    { "gf2", explain_gf2, SHAPE | B_COLUMNS | BATCH_COUNT | ALGORITHM | CALL, "rref" },
    { "matmul", explain_matmul, TYPE | SHAPE | B_COLUMNS | TRANSPOSE_A | TRANSPOSE_B | ALGORITHM,
      NULL },
    { "matvec", explain_matvec, TYPE | SHAPE | TRANSPOSE_A, NULL },
    { "csr", explain_csr, TYPE | SHAPE | NNZ | B_COLUMNS | CALL, NULL },
    { "solve", explain_solve, TYPE | SHAPE | B_COLUMNS | NNZ | METHOD | ALGORITHM, NULL },
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* Refuses options of other operations. */
static int check_options(const struct operation *operation)
{
    const struct {
        const char *name;
        bool given;
        unsigned of;
    } some[] = {
        { "type", set.type != NULL, TYPE },
        { "n", set.n != NULL, N },
        { "shape", set.shape != NULL, SHAPE },
        { "b-columns", set.b_columns != NULL, B_COLUMNS },
        { "batch-count", set.batch_count != NULL, BATCH_COUNT },
        { "transpose-a", set.transpose_a, TRANSPOSE_A },
        { "transpose-b", set.transpose_b, TRANSPOSE_B },
        { "nnz", set.nnz != NULL, NNZ },
        { "method", set.method != NULL, METHOD },
        { "precond", set.precond != NULL, METHOD },
        { "bins", set.bins != NULL, BINS },
        { "values", set.values != NULL, VALUES },
        { "argsort", set.argsort, ARGSORT },
        { "rows", set.rows != NULL, GROUPS },
        { "segments", set.segments != NULL, GROUPS },
        { "by-key", set.by_key, BY_KEY },
        { "head", set.head != NULL, HEAD },
        { "reverse", set.reverse, REVERSE },
        { "bits", set.bits != NULL, BITS },
        { "order", set.order != NULL, ORDER },
        { "runs", set.runs != NULL, RUNS },
        { "needles", set.needles != NULL, NEEDLES },
        { "needles-sorted", set.needles_sorted, NEEDLES },
        { "appearance", set.appearance, UNIQUE },
        { "mode", set.mode, UNIQUE },
        { "ranks", set.ranks != NULL, RANKS },
        { "nulls", set.nulls, NULLS },
        { "record", set.record != NULL, RECORD },
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (some[i].given && !(some[i].of & operation->takes))
            return cli_fail(EXIT_BAD, "--%s cannot be combined with %s", some[i].name,
                            operation->name);
    if (set.algorithm && !(operation->takes & ALGORITHM))
        return cli_fail(EXIT_BAD, "--algorithm cannot be combined with %s, which has only one",
                        operation->name);
    if (!set.call || operation->takes & CALL) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "unexpected operand \"%s\"; see echelon explain --help", set.call);
}

/* ---- Values ---- */

int explain_count(const char *option, const char *text, uint64_t otherwise, uint64_t *count)
{
    *count = otherwise;
    return text ? cli_parse_count(option, text, count) : EXIT_DONE;
}

static int parse_shape(void)
{
    char rows[32];
    const char *x = set.shape ? strchr(set.shape, 'x') : NULL;
    set.extent[0] = set.extent[1] = DEFAULT_EXTENT;
    if (!set.shape) return EXIT_DONE;
    if (!x || (size_t)(x - set.shape) >= sizeof rows)
        return cli_fail(EXIT_BAD, "--shape is \"%s\"; give ROWSxCOLUMNS, such as 4096x8192",
                        set.shape);
    memcpy(rows, set.shape, (size_t)(x - set.shape));
    rows[x - set.shape] = 0;
    int code = cli_parse_count("shape", rows, &set.extent[0]);
    return code == EXIT_DONE ? cli_parse_count("shape", x + 1, &set.extent[1]) : code;
}

static int parse_rows(const struct explain *e, uint64_t *groups)
{
    uint64_t columns;
    const int code = cli_parse_count("rows", e->rows, &columns);
    if (code != EXIT_DONE) return code;
    if (columns == 0) return cli_fail(EXIT_BAD, "--rows is 0; a row has at least 1 number");
    *groups = e->count / columns;
    if (e->count % columns == 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--n is %llu, which is not a multiple of --rows %s",
                    (unsigned long long)e->count, e->rows);
}

int explain_groups(const struct explain *e, uint64_t *groups)
{
    *groups = 0;
    if ((e->rows != NULL) + (e->segments != NULL) + e->by_key > 1)
        return cli_fail(EXIT_BAD, "--%s cannot be combined with --%s",
                        e->rows ? "rows" : "segments",
                        e->segments && e->rows ? "segments" : "by-key");
    if (e->rows) return parse_rows(e, groups);
    return explain_count("segments", e->segments, 0, groups);
}

int explain_call(const struct explain *e, const char *what, const char *const *names, int n,
                 int *index)
{
    *index = 0;
    if (!e->call) return EXIT_DONE;
    while (*index < n && strcmp(e->call, names[*index]) != 0) ++*index;
    return *index < n ? EXIT_DONE : cli_unknown(what, e->call, names, n);
}

int explain_print(const struct explain *e, ech_status status, const char *text)
{
    if (e->captured) {
        snprintf(e->captured, EXPLAIN_TEXT, "%s", status == ECH_OK ? text : "");
        return EXIT_DONE;
    }
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    fputs(text, stdout);
    return EXIT_DONE;
}

/* ---- Algorithms ---- */

/* The names in lines such as "alternative  msd: from the highest digit". */
static void add_names(const char *text, char *words, size_t capacity)
{
    for (const char *line = text; line && *line;) {
        const char *at = line + strcspn(line, " \n"), *next = strchr(line, '\n');
        const bool names =
            strncmp(line, "algorithm ", 10) == 0 || strncmp(line, "alternative ", 12) == 0;
        at += strspn(at, " ");
        char name[64], listed[EXPLAIN_TEXT];
        snprintf(name, sizeof name, " %.*s ", (int)strcspn(at, ":\n"), at);
        snprintf(listed, sizeof listed, " %s ", words);
        const size_t used = strlen(words), length = strlen(name);
        if (names && !strstr(listed, name) && used + length < capacity) {
            name[length - 1] = 0;
            snprintf(words + used, capacity - used, "%s", used ? name : name + 1);
        }
        line = next ? next + 1 : NULL;
    }
}

static void add_algorithms(const struct operation *operation, const char *call, char *words,
                           size_t capacity)
{
    static const char *const devices[] = { "cpu", "cuda" }; /* simt has those of cuda */
    char text[EXPLAIN_TEXT] = "";
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        const struct explain e = { .device = devices[i],
                                   .call = call,
                                   .count = DEFAULT_N,
                                   .extent = { DEFAULT_EXTENT, DEFAULT_EXTENT },
                                   .dtype = ECH_U32,
                                   .captured = text };
        if (operation->run(&e) == EXIT_DONE) add_names(text, words, capacity);
    }
}

void explain_algorithms(const char *name, char *words, size_t capacity)
{
    for (int i = 0; i < OPERATIONS; i++) {
        const struct operation *o = &operations[i];
        if (strcmp(o->name, name) != 0 || !(o->takes & ALGORITHM)) continue;
        add_algorithms(o, NULL, words, capacity);
        if (o->other) add_algorithms(o, o->other, words, capacity);
    }
}

/* ---- The command ---- */

static int run(int count, char **operands)
{
    const char *names[OPERATIONS];
    int code, i = 0, dtype = ECH_U32;
    if (count == 0)
        return cli_fail(EXIT_BAD, "no operation: give one, for example echelon explain sort");
    for (int k = 0; k < OPERATIONS; k++) names[k] = operations[k].name;
    while (i < OPERATIONS && strcmp(operands[0], names[i]) != 0) i++;
    if (i == OPERATIONS) return cli_unknown("operation", operands[0], names, OPERATIONS);
    const struct operation *operation = &operations[i];
    set.call = count > 1 ? operands[1] : NULL;
    set.format = set.json ? ECH_FORMAT_JSON : ECH_FORMAT_TEXT;
    if ((code = check_options(operation)) != EXIT_DONE) return code;
    if ((code = explain_count("n", set.n, DEFAULT_N, &set.count)) != EXIT_DONE) return code;
    if ((code = parse_shape()) != EXIT_DONE) return code;
    if (set.type && operation->takes & N && !(operation->takes & TYPES)) {
        if ((code = cli_parse_dtype(set.type, &dtype)) != EXIT_DONE) return code;
    }
    set.dtype = (ech_dtype)dtype;
    return operation->run(&set);
}

static const struct cli_value values[] = {
    { "METHOD", CLI_WORDS, NULL, solve_method_word },
    { "PRECOND", CLI_WORDS, NULL, solve_precond_word },
    { NULL, CLI_WORDS, NULL, NULL },
};

const struct command command_explain = {
    .name = "explain",
    .summary = "print the algorithm that a call would use, and its workspace",
    .usage = "  echelon explain sort [OPTION]...\n"
             "  echelon explain is_sorted [OPTION]...\n"
             "  echelon explain topk [OPTION]...\n"
             "  echelon explain hist [OPTION]...\n"
             "  echelon explain merge [OPTION]...\n"
             "  echelon explain set union|intersection|difference|symmetric [OPTION]...\n"
             "  echelon explain unique [OPTION]...\n"
             "  echelon explain search [OPTION]...\n"
             "  echelon explain quantile [OPTION]...\n"
             "  echelon explain scan [OP] [OPTION]...\n"
             "  echelon explain reduce [OP|dot] [OPTION]...\n"
             "  echelon explain select [CALL] [OPTION]...\n"
             "  echelon explain arrange [CALL] [OPTION]...\n"
             "  echelon explain columns [OPTION]...\n"
             "  echelon explain records [OPTION]...\n"
             "  echelon explain strings [OPTION]...\n"
             "  echelon explain gf2 mul|rref|pluq|solve|nullspace|inverse|batch [OPTION]...\n"
             "  echelon explain matmul [OPTION]...\n"
             "  echelon explain matvec [OPTION]...\n"
             "  echelon explain csr [CALL] [OPTION]...\n"
             "  echelon explain solve [OPTION]...\n",
    .examples = "  echelon explain sort --type f32 -N 100M\n"
                "  echelon explain sort --type u64 -N 2^30 --values 8 --device cuda\n"
                "  echelon explain sort --type f32 -N 100M --rows 1000\n"
                "  echelon explain topk --type f32 -N 100M -K 100\n"
                "  echelon explain hist --type u8 -N 1G --bins 256 --device cuda\n"
                "  echelon explain merge --type f32 -N 100M --runs 16\n"
                "  echelon explain search --type u32 -N 2^28 --needles 2^22 --needles-sorted\n"
                "  echelon explain reduce max --type f32 -N 100M --rows 1000\n"
                "  echelon explain columns --type i32,f64 -N 100M\n"
                "  echelon explain gf2 rref --shape 65536x65536 --device cuda\n"
                "  echelon explain matmul --type f32 --shape 4096x1000 --b-columns 512\n"
                "  echelon explain solve --shape 1Mx1M --nnz 5M --method cg --precond ic0\n",
    .notes = "OP is an operation of \"echelon reduce\" or \"echelon scan\", by default sum.\n\n"
             "CALL of select: if (default), flags, partition-if, partition-flags, partition-3way, "
             "unique,\nunique-by-key, rle-encode or rle-decode.\n"
             "CALL of arrange: gather (default), scatter, reverse, rotate, transpose, fill, iota,\n"
             "permutation or shuffle.\n"
             "CALL of csr: spmv (default), spmm, transpose or from-coo.\n",
    .options = options,
    .most_operands = 2,
    .run = run,
    .values = values,
};
