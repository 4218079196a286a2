/*
 * quantile.c - "echelon quantile": quantiles of the numbers of a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
    const char *quantiles, *method, *nan, *algorithm;
    struct cli_list by;
    bool string;
} set;

static const struct option options[] = {
    { 'q', "quantiles", "LIST", &set.quantiles,
      "the quantiles, numbers from 0 to 1, separated by commas;\ndefault: 0.5, the median" },
    { 0, "method", "METHOD", &set.method, "one of those below; default: linear" },
    { 0, "nan", "MODE", &set.nan,
      "propagate: the results are NaN if a number is NaN (default);\nignore: skip NaN" },
    { 0, "by", "COLUMN", &set.by,
      "quantiles of the numbers of --column for each distinct value\nof COLUMN; may be repeated: "
      "for each combination" },
    { 0, "string", NULL, &set.string, "with --by: compare the keys as text, by bytes" },
    { 'o', "output", "FILE", &set.job.output,
      "write the results to FILE, which may be the input, as .npy\nif it has this extension, "
      "otherwise as text; default:\nstandard output" },
    { 0, "json", NULL, &set.job.json, "print one line of JSON" },
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    { 0, "algorithm", "NAME", &set.algorithm,
      "use this algorithm; \"echelon explain quantile\" lists them" },
    JOB_TIMING_OPTION(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

static const char *const repeated[] = { "by", NULL };

/* In the order of ech_quantile_method. */
static const char *const methods[] = { "linear",
                                       "inverted_cdf",
                                       "averaged_inverted_cdf",
                                       "closest_observation",
                                       "interpolated_inverted_cdf",
                                       "hazen",
                                       "weibull",
                                       "median_unbiased",
                                       "normal_unbiased",
                                       "lower",
                                       "higher",
                                       "midpoint",
                                       "nearest" };
enum { METHODS = sizeof methods / sizeof *methods };

/* The plan, after the options are parsed; then the results. */
static struct {
    ech_quantile_options options;
    ech_quantile_method method;
    double *q; /* [count] */
    size_t count;
    ech_dtype dtype; /* of the results */
    char *results;
    struct groups groups; /* with --by */
} plan;

/* ---- Words ---- */

static int parse_quantiles(const char *text)
{
    const size_t most = strlen(text) / 2 + 1;
    plan.q = malloc(most * sizeof *plan.q);
    if (!plan.q) return cli_fail(EXIT_MEMORY, "not enough memory for %zu quantiles", most);
    for (const char *at = text;; at++) {
        char *end;
        const double q = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !(q >= 0 && q <= 1))
            return cli_fail(EXIT_BAD,
                            "--quantiles is \"%s\"; use numbers from 0 to 1, separated by commas",
                            text);
        plan.q[plan.count++] = q;
        at = end;
        if (!*at) return EXIT_DONE;
    }
}

static int parse_method(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(name, methods[i]) == 0) {
            plan.method = (ech_quantile_method)i;
            return EXIT_DONE;
        }
    return cli_unknown("method", name, methods, METHODS);
}

static int parse(void)
{
    plan.options =
        (ech_quantile_options){ .size = sizeof plan.options, .algorithm = set.algorithm };
    if (set.job.json && set.job.output)
        return cli_fail(EXIT_BAD, "--json cannot be combined with --output");
    int code = parse_quantiles(set.quantiles ? set.quantiles : "0.5");
    if (code == EXIT_DONE && set.method) code = parse_method(set.method);
    if (code == EXIT_DONE) code = cli_parse_nan(set.nan, &plan.options.nan);
    if (code != EXIT_DONE) return code;
    if (!set.by.count)
        return set.string ? cli_fail(EXIT_BAD, "--string is only for the keys of --by") : EXIT_DONE;
    if (set.algorithm) return cli_fail(EXIT_BAD, "--algorithm cannot be combined with --by");
    if (plan.count > GROUPS_VALUES)
        return cli_fail(EXIT_BAD, "--by is given with %zu quantiles; the maximum is %d", plan.count,
                        GROUPS_VALUES);
    code = job_plan_text(&set.job);
    return code == EXIT_DONE ? groups_plan(&plan.groups, &set.by, set.string, &set.job, true)
                             : code;
}

/* ---- Work ---- */

static int compute(struct job *job)
{
    const struct io_column *c = &job->column;
    plan.dtype = (ech_dtype)ech_quantile_dtype(plan.method, c->dtype);
    if (c->n == 0) return cli_fail(EXIT_BAD, "%s: has no numbers, and so no quantiles", job->input);
    const size_t bytes = plan.count * ech_dtype_bytes(plan.dtype);
    plan.results = malloc(bytes);
    if (!plan.results) return job_no_memory(job, bytes, "the results");
    stage_begin(job, STAGE_WORK);
    const ech_status status = ech_quantiles(job->ctx, c->keys, plan.results, plan.q, (size_t)c->n,
                                            plan.count, c->dtype, plan.method, &plan.options);
    stage_end(job, STAGE_WORK, c->keys_bytes);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* ---- Groups ---- */

/* The quantiles of a group are the same on every device.  A group is too small for a GPU. */
static int compute_groups(struct job *job)
{
    struct groups *groups = &plan.groups;
    const ech_dtype dtype = groups->table.columns[groups->value].dtype;
    ech_ctx *cpu;
    plan.dtype = (ech_dtype)ech_quantile_dtype(plan.method, dtype);
    const size_t bytes = ech_dtype_bytes(dtype), row = plan.count * ech_dtype_bytes(plan.dtype);
    plan.results = malloc((size_t)groups->count * row + 1);
    if (!plan.results) return job_no_memory(job, groups->count * row, "the results");
    ech_status status = ech_open(&cpu, "cpu");
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    stage_begin(job, STAGE_WORK);
    for (uint64_t g = 0; g < groups->count && status == ECH_OK; g++) {
        const uint64_t first = groups->offsets[g], n = groups->offsets[g + 1] - first;
        status =
            ech_quantiles(cpu, (const char *)groups->sorted + first * bytes, plan.results + g * row,
                          plan.q, (size_t)n, plan.count, dtype, plan.method, &plan.options);
    }
    stage_end(job, STAGE_WORK, 0);
    const int code = status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, cpu);
    ech_close(cpu);
    return code;
}

static int quantiles_by_to(struct job *job, struct io_output *output)
{
    struct groups *groups = &plan.groups;
    int code = groups_load(job, &set.job, groups);
    if (code == EXIT_DONE) code = compute_groups(job);
    for (size_t i = 0; i < plan.count && code == EXIT_DONE; i++) {
        struct groups_value *value = &groups->values[groups->value_count++];
        char number[IO_NUMBER_TEXT];
        io_format_key(ECH_F64, &plan.q[i], number);
        snprintf(value->name, sizeof value->name, "q%.30s", number);
        value->dtype = plan.dtype;
        value->results = plan.results + i * ech_dtype_bytes(plan.dtype);
        value->stride = plan.count;
    }
    if (code == EXIT_DONE) code = groups_check(groups);
    if (code == EXIT_DONE && !set.job.json) code = groups_write(job, output, groups);
    cli_progress_end(&job->progress);
    if (code == EXIT_DONE && set.job.json) code = groups_print_json(job, groups);
    free(plan.results);
    return code;
}

/* ---- Output ---- */

static void print_json(const struct job *job)
{
    struct json json = { .to = stdout };
    json_open(&json, NULL, '{');
    json_text(&json, "input", job->input);
    json_text(&json, "type", ech_dtype_name(job->column.dtype));
    json_header(&json, &job->column);
    json_count(&json, "n", job->column.n);
    json_text(&json, "method", methods[plan.method]);
    json_open(&json, "quantiles", '[');
    for (size_t i = 0; i < plan.count; i++) {
        json_open(&json, NULL, '{');
        json_exact(&json, "q", plan.q[i]);
        json_value(&json, "value", plan.dtype, plan.results + i * ech_dtype_bytes(plan.dtype));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
}

static int quantiles_to(struct job *job, struct io_output *output)
{
    struct io_error error;
    const bool npy = set.job.output && io_format_from_extension(set.job.output) == IO_NPY;
    int code = npy ? EXIT_DONE : job_plan_text(&set.job);
    if (code == EXIT_DONE) code = job_load(job, &set.job);
    if (code == EXIT_DONE) code = compute(job);
    if (code == EXIT_DONE && set.job.json) {
        cli_progress_end(&job->progress);
        print_json(job);
    } else if (code == EXIT_DONE) {
        stage_begin(job, STAGE_WRITE);
        job->n_out = plan.count;
        const io_status status = write_values(output, npy ? IO_NPY : IO_TEXT, plan.dtype,
                                              plan.results, plan.count, &error);
        code = job_commit(job, output, status, &error);
    }
    free(plan.results);
    return code;
}

static int run(int count, char **operands)
{
    struct io_records records;
    struct job job = { .command = "quantile",
                       .work = "quantile",
                       .working = "selecting",
                       .dimensions = 64,
                       .own_json = true };
    if (set.by.count) job.records = &records;
    int code = parse();
    if (code == EXIT_DONE) code = job_input(&job, count, operands);
    if (code == EXIT_DONE)
        code = job_run(&job, &set.job, set.by.count ? quantiles_by_to : quantiles_to);
    groups_free(&plan.groups);
    free(plan.q);
    return code;
}

static const char *method_word(int i)
{
    return i < METHODS ? methods[i] : NULL;
}

static const struct cli_value values[] = {
    { "METHOD", CLI_WORDS, NULL, method_word },
    { NULL, CLI_WORDS, NULL, NULL },
};

const struct command command_quantile = {
    .name = "quantile",
    .summary = "quantiles, such as the median, by any of NumPy's methods",
    .usage = "  echelon quantile [OPTION]... [INPUT]\n",
    .examples = "  echelon quantile data.npy                          the median\n"
                "  echelon quantile -q 0.5,0.9,0.99 -k latency requests.csv\n"
                "  echelon quantile -k latency --by host requests.csv   of each group\n"
                "  echelon quantile -q 0.25,0.75 --method hazen --nan ignore data.f32\n",
    .notes =
        "One quantile is printed per line, in the order of --quantiles.  METHOD is one of\n"
        "  linear                     between the elements at (n-1) q\n"
        "  lower higher nearest       one of these two elements\n"
        "  midpoint                   their mean\n"
        "  inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf\n"
        "  hazen weibull median_unbiased normal_unbiased\n"
        "                             the others of Hyndman and Fan (1996), with NumPy's names\n"
        "Results of lower, higher, nearest, inverted_cdf and closest_observation are numbers of "
        "the\n"
        "input, with its type; others are f64.  A .npy array may have any number of "
        "dimensions.\n\n"
        "With --by, the output is a table with one line per group, as that of \"echelon reduce\n"
        "--by\".\n\n" JOB_INPUT_NOTES,
    .options = options,
    .repeated = repeated,
    .most_operands = 1,
    .run = run,
    .values = values,
};
