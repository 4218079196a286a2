/*
 * stats.c - "echelon stats": what the numbers of a file are like, on one page.
 *
 * Everything but the counts is of the numbers that are not NaN.  Quantiles are found by sorting,
 * and between two numbers by the straight line from one to the other, as NumPy does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
} set;

static const struct option options[] = {
    { 0, "json", NULL, &set.job.json, "as one line of JSON" },
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    JOB_STATS_OPTION(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

static const int percents[] = { 1, 5, 25, 50, 75, 95, 99 };
enum { QUANTILES = sizeof percents / sizeof *percents };

/* A value that was found, exactly: of its own type, and with a name. */
struct figure {
    const char *name;
    ech_dtype dtype;
    uint64_t bits;
    bool rounded; /* shown in ten digits */
};

enum { N, NANS, DISTINCT, SUM, MEAN, SD, MIN, QUANTILE, MAX = QUANTILE + QUANTILES, FIGURES };

static struct figure figures[FIGURES] = {
    [N] = { "n", ECH_U64, 0, false },
    [NANS] = { "nan", ECH_U64, 0, false },
    [DISTINCT] = { "distinct", ECH_U64, 0, false },
    [SUM] = { "sum", ECH_F64, 0, false },
    [MEAN] = { "mean", ECH_F64, 0, true },
    [SD] = { "sd", ECH_F64, 0, true },
    [MIN] = { "min", ECH_F64, 0, false },
    [MAX] = { "max", ECH_F64, 0, false },
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

/* Of n sorted numbers, the one that percent of them are not above. */
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
    if (part == 0) {
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

/* Of the sorted column: the ends, the quantiles, how many different ones. */
static int look_at_order(struct job *job, uint64_t n)
{
    struct io_column *c = &job->column;
    size_t bytes = ech_dtype_bytes(c->dtype);
    void *different = malloc((size_t)n * bytes + 1);
    if (!different) return job_no_memory(job, n * bytes, "the different numbers");
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

/* A sum of integers that 64 bits do not hold is told to the digits of a double. */
static void widen_sum(ech_dtype dtype, uint64_t n)
{
    double mean, most = ldexp(1.0, io_is_signed(dtype) ? 63 : 64);
    memcpy(&mean, &figures[MEAN].bits, sizeof mean);
    double sum = mean * (double)n;
    if (io_is_float(dtype) || !(fabs(sum) >= 0.999 * most)) return;
    set_double(SUM, sum);
    figures[SUM].rounded = true;
}

static int find_figures(struct job *job)
{
    struct io_column *c = &job->column;
    ech_status status = ECH_OK;
    stage_begin(job, STAGE_WORK);
    if (io_is_float(c->dtype)) status = reduce(job, ECH_OP_COUNT, NANS);
    if (status == ECH_OK) status = reduce(job, ECH_OP_SUM, SUM);
    if (status == ECH_OK) status = reduce(job, ECH_OP_MEAN, MEAN);
    if (status == ECH_OK) status = reduce(job, ECH_OP_VARIANCE, SD);
    if (status == ECH_OK)
        status = ech_sort(job->ctx, c->keys, c->keys, (size_t)c->n, c->dtype, NULL);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    double variance;
    memcpy(&variance, &figures[SD].bits, sizeof variance);
    set_double(SD, sqrt(variance));
    figures[N].bits = c->n;
    widen_sum(c->dtype, c->n);
    uint64_t n = c->n - figures[NANS].bits;
    int code = n ? look_at_order(job, n) : EXIT_DONE;
    stage_end(job, STAGE_WORK, c->keys_bytes);
    return code;
}

/* ---- Output ---- */

/* Of nothing but NaN there are neither ends nor quantiles. */
static int shown(void)
{
    return figures[N].bits > figures[NANS].bits ? FIGURES : MEAN;
}

static void print_text(void)
{
    char texts[FIGURES][IO_NUMBER_TEXT];
    size_t before = 0, points[FIGURES];
    for (int i = 0; i < shown(); i++) {
        const struct figure *f = &figures[i];
        if (f->rounded) {
            double x = io_key_to_double(f->dtype, &f->bits);
            snprintf(texts[i], IO_NUMBER_TEXT, "%.10g", x);
        } else {
            io_format_key(f->dtype, &f->bits, texts[i]);
        }
        points[i] = strcspn(texts[i], ".e");
        if (points[i] > before) before = points[i];
    }
    for (int i = 0; i < shown(); i++) /* points below each other */
        printf("%-8s  %*s%s\n", figures[i].name, (int)(before - points[i]), "", texts[i]);
}

static void print_json(const struct job *job)
{
    struct json json = { .to = stdout };
    json_open(&json, NULL, '{');
    json_text(&json, "input", job->input);
    json_text(&json, "type", ech_dtype_name(job->column.dtype));
    for (int i = 0; i < shown(); i++)
        json_value(&json, figures[i].name, figures[i].dtype, &figures[i].bits);
    json_close(&json, '}');
    putchar('\n');
}

/* ---- Run ---- */

static int stats_of(struct job *job, struct io_output *output)
{
    (void)output; /* standard output, which is printed to */
    int code = job_load(job, &set.job);
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
                       .working = "sorting and adding",
                       .dimensions = 64,
                       .own_json = true };
    int code = job_input(&job, count, operands);
    return code == EXIT_DONE ? job_run(&job, &set.job, stats_of) : code;
}

const struct command command_stats = {
    .name = "stats",
    .summary = "how many numbers, their mean, quantiles and so on",
    .usage = "  echelon stats [OPTION]... [INPUT]\n",
    .examples = "  echelon stats data.npy\n"
                "  echelon stats -k latency requests.csv\n"
                "  cut -f3 table.tsv | echelon stats --json\n",
    .notes =
        "n counts all numbers and nan those that are NaN, which all else leaves out.  distinct\n"
        "is how many different ones there are; sd is the root of the mean square distance from\n"
        "the mean (of n, not n - 1).  Quantiles between two numbers are on the straight line\n"
        "between them, as NumPy's are.  A .npy array may have any number of dimensions.\n\n"
        "Sums of integers are exact while 64 bits hold them, all else is in f64.  Means, sd and\n"
        "what lies between numbers are shown in ten digits, with --json in "
        "all.\n\n" JOB_INPUT_NOTES,
    .options = options,
    .most_operands = 1,
    .run = run,
};
