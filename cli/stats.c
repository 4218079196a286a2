/*
 * stats.c - "echelon stats": summary statistics of the numbers or strings of a file.
 *
 * Only the counts include NaN.  Quantiles are found by sorting and are interpolated linearly, as in
 * NumPy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
    bool string;
    struct table table;
} set;

static const struct option options[] = {
    { 0, "json", NULL, &set.job.json, "print one line of JSON" },
    TABLE_STRING_OPTION(set.string),
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    JOB_TIMING_OPTION(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

static const int percents[] = { 1, 5, 25, 50, 75, 95, 99 };
enum { QUANTILES = sizeof percents / sizeof *percents };

/* A statistic with its name, its value and the type of the value. */
struct figure {
    const char *name;
    ech_dtype dtype;
    uint64_t bits;
    bool rounded;  /* printed with ten digits */
    char wide[48]; /* an integer that may exceed 64 bits; "": none */
};

__extension__ typedef unsigned __int128 wide;

enum { N, NANS, DISTINCT, SUM, MEAN, SD, MIN, QUANTILE, MAX = QUANTILE + QUANTILES, FIGURES };

static struct figure figures[FIGURES] = {
    [N] = { "n", ECH_U64, 0, false, "" },
    [NANS] = { "nan", ECH_U64, 0, false, "" },
    [DISTINCT] = { "distinct", ECH_U64, 0, false, "" },
    [SUM] = { "sum", ECH_F64, 0, false, "" },
    [MEAN] = { "mean", ECH_F64, 0, true, "" },
    [SD] = { "sd", ECH_F64, 0, true, "" },
    [MIN] = { "min", ECH_F64, 0, false, "" },
    [MAX] = { "max", ECH_F64, 0, false, "" },
};

/* ---- Work ---- */

static void set_double(int i, double x)
{
    figures[i].dtype = ECH_F64;
    memcpy(&figures[i].bits, &x, sizeof x);
}

static ech_status reduce(const struct job *job, ech_op op, int figure)
{
    const struct io_column *c = &job->column;
    ech_reduce_options o = { .size = sizeof o,
                             .accumulate_wide = 1,
                             .compare = ECH_COMPARE_IS_NAN };
    if (op != ECH_OP_COUNT) o.nan = ECH_NAN_IGNORE;
    figures[figure].dtype = (ech_dtype)ech_reduce_dtype(op, c->dtype, 1);
    return ech_reduce(job->ctx, op, c->keys, &figures[figure].bits, (size_t)c->n, c->dtype, &o);
}

/* Quantile i of n sorted numbers, linearly interpolated. */
static void quantile(const struct io_column *c, uint64_t n, int i)
{
    static char names[QUANTILES][8];
    struct figure *figure = &figures[QUANTILE + i];
    size_t bytes = ech_dtype_bytes(c->dtype);
    uint64_t steps = (n - 1) / 100 * (uint64_t)percents[i];
    uint64_t rest = (n - 1) % 100 * (uint64_t)percents[i], at = steps + rest / 100;
    double part = (double)(rest % 100) / 100;
    const char *key = (const char *)c->keys + at * bytes;
    snprintf(names[i], sizeof names[i], "%d%%", percents[i]);
    figure->name = names[i];
    if (part == 0 || (!io_is_float(c->dtype) && memcmp(key, key + bytes, bytes) == 0)) {
        figure->dtype = c->dtype;
        figure->bits = 0;
        memcpy(&figure->bits, key, bytes);
        return;
    }
    figure->rounded = true;
    double a = io_key_to_double(c->dtype, key), b = io_key_to_double(c->dtype, key + bytes);
    double x = part < 0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
    set_double(QUANTILE + i, isnan(x) ? (double)NAN : x);
}

/* Minimum, maximum, quantiles and number of distinct values of the sorted column. */
static int check_order(struct job *job, uint64_t n)
{
    struct io_column *c = &job->column;
    size_t bytes = ech_dtype_bytes(c->dtype);
    void *different = malloc((size_t)n * bytes + 1);
    if (!different) return job_no_memory(job, n * bytes, "the distinct numbers");
    ech_status status = ech_unique(job->ctx, c->keys, different, &figures[DISTINCT].bits, (size_t)n,
                                   c->dtype, NULL);
    free(different);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    figures[MIN].dtype = figures[MAX].dtype = c->dtype;
    memcpy(&figures[MIN].bits, c->keys, bytes);
    memcpy(&figures[MAX].bits, (char *)c->keys + (n - 1) * bytes, bytes);
    for (int i = 0; i < QUANTILES; i++) quantile(c, n, i);
    return EXIT_DONE;
}

/* Adds integers in 128 bits, which n values cannot overflow. */
static wide add_exactly(const struct io_column *c, wide *below)
{
    size_t bytes = ech_dtype_bytes(c->dtype);
    const char *key = c->keys;
    const uint64_t sign = io_is_signed(c->dtype) ? (uint64_t)1 << (8 * bytes - 1) : 0;
    wide above = 0;
    *below = 0;
    for (uint64_t i = 0; i < c->n; i++, key += bytes) {
        const uint64_t bits = io_load(key, bytes);
        if (bits & sign)
            *below += (sign - (bits ^ sign));
        else
            above += bits;
    }
    return above;
}

/* If a sum of integers may exceed 64 bits, it is computed again, exactly. */
static void widen_sum(const struct io_column *c)
{
    double mean, most = ldexp(1.0, io_is_signed(c->dtype) ? 63 : 64);
    memcpy(&mean, &figures[MEAN].bits, sizeof mean);
    if (io_is_float(c->dtype) || !(fabs(mean * (double)c->n) >= 0.999 * most)) return;
    wide below, above = add_exactly(c, &below);
    const bool negative = below > above;
    wide sum = negative ? below - above : above - below;
    char digits[48], *at = digits + sizeof digits;
    *--at = 0;
    do *--at = (char)('0' + (int)(sum % 10));
    while (sum /= 10);
    if (negative) *--at = '-';
    memcpy(figures[SUM].wide, at, strlen(at) + 1);
}

static int find_figures(struct job *job)
{
    struct io_column *c = &job->column;
    ech_status status = ECH_OK;
    stage_begin(job, STAGE_WORK);
    if (io_is_float(c->dtype)) status = reduce(job, ECH_OP_COUNT, NANS);
    if (status == ECH_OK) status = reduce(job, ECH_OP_SUM, SUM);
    if (status == ECH_OK) status = reduce(job, ECH_OP_MEAN, MEAN);
    if (status == ECH_OK) status = reduce(job, ECH_OP_STDDEV, SD);
    if (status == ECH_OK)
        status = ech_sort(job->ctx, c->keys, c->keys, (size_t)c->n, c->dtype, NULL);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    figures[N].bits = c->n;
    widen_sum(c);
    uint64_t n = c->n - figures[NANS].bits;
    int code = n ? check_order(job, n) : EXIT_DONE;
    stage_end(job, STAGE_WORK, c->keys_bytes);
    return code;
}

/* ---- Output ---- */

/* If all numbers are NaN, there are no extrema and no quantiles. */
static int shown(void)
{
    return figures[N].bits > figures[NANS].bits ? FIGURES : MEAN;
}

static void print_text(void)
{
    char texts[FIGURES][sizeof figures->wide];
    size_t before = 0, points[FIGURES];
    for (int i = 0; i < shown(); i++) {
        const struct figure *f = &figures[i];
        if (f->wide[0]) {
            memcpy(texts[i], f->wide, sizeof f->wide);
        } else if (f->rounded) {
            double x = io_key_to_double(f->dtype, &f->bits);
            snprintf(texts[i], IO_NUMBER_TEXT, "%.10g", x);
        } else {
            io_format_key(f->dtype, &f->bits, texts[i]);
        }
        points[i] = strcspn(texts[i], ".e");
        if (points[i] > before) before = points[i];
    }
    for (int i = 0; i < shown(); i++) /* aligned at the decimal points */
        printf("%-8s  %*s%s\n", figures[i].name, (int)(before - points[i]), "", texts[i]);
}

static void print_json(const struct job *job)
{
    struct json json = { .to = stdout };
    json_open(&json, NULL, '{');
    json_text(&json, "input", job->input);
    json_text(&json, "type", ech_dtype_name(job->column.dtype));
    json_header(&json, &job->column);
    for (int i = 0; i < shown(); i++) {
        const struct figure *f = &figures[i];
        if (f->wide[0])
            json_literal(&json, f->name, f->wide);
        else
            json_value(&json, f->name, f->dtype, &f->bits);
    }
    json_close(&json, '}');
    putchar('\n');
}

/* ---- Run ---- */

static int stats_of(struct job *job, struct io_output *output)
{
    (void)output; /* results are printed on standard output */
    int code = table_load_one(job, &set.job, set.string, &set.table);
    if (code == EXIT_DONE && job->strings)
        return stats_of_strings(job, &set.table.columns[0], set.job.json);
    if (code == EXIT_DONE) code = find_figures(job);
    cli_progress_end(&job->progress);
    if (code != EXIT_DONE) return code;
    if (set.job.json)
        print_json(job);
    else
        print_text();
    return EXIT_DONE;
}

static int run(int count, char **operands)
{
    struct job job = { .command = "stats",
                       .work = "stats",
                       .working = "sorting and reducing",
                       .dimensions = 64,
                       .own_json = true };
    int code = job_input(&job, count, operands);
    if (code == EXIT_DONE) code = table_check_string(set.string, &set.job);
    if (code == EXIT_DONE) code = job_run(&job, &set.job, stats_of);
    table_free(&set.table);
    return code;
}

const struct command command_stats = {
    .name = "stats",
    .summary = "summary statistics of numbers or strings",
    .usage = "  echelon stats [OPTION]... [INPUT]\n",
    .examples = "  echelon stats data.npy\n"
                "  echelon stats -k latency requests.csv\n"
                "  echelon stats -k city goods.csv              of a column of text\n"
                "  cut -f3 table.tsv | echelon stats --json\n",
    .notes =
        "n is the count of all numbers, nan the count of NaN; the other values exclude NaN.\n"
        "distinct is the number of distinct values.  sd is the standard deviation with divisor\n"
        "n.  1% ... 99% are quantiles, linearly interpolated as in NumPy.  A .npy array may have\n"
        "any number of dimensions.\n\n"
        "Sums of integers are exact, also beyond 64 bits; other values are computed in\n"
        "f64.  Means, standard deviations and interpolated quantiles are printed with ten\n"
        "digits, and with --json with all digits.\n\n"
        "The statistics of text are the counts of all, empty and distinct strings, the lengths\n"
        "of the shortest and the longest one in bytes, the first and the last one in the order of\n"
        "bytes, and the most frequent one with its count.  --string selects text.  Without\n"
        "--string and --type, a column is text if neither of its first two values that are not\n"
        "empty is a number; otherwise, a value that is not a number is an "
        "error.\n\n" JOB_INPUT_NOTES,
    .options = options,
    .most_operands = 1,
    .run = run,
};
