/*
 * histogram.c - "echelon hist": a histogram of the numbers of a file.
 *
 *     hist_to()  load -> range -> bins -> count -> bars, CSV, JSON or chart
 *
 * The range LO:HI includes both ends.  For integers it is divided into bins that begin at integers.
 * For floats, the last bin includes HI.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job; /* output is the chart */
    const char *bins, *range, *edges, *algorithm;
    bool bytes, logarithmic, ascii, csv;
} set;

static const struct option options[] = {
    { 'B', "bins", "N", &set.bins, "number of bins; default: see below" },
    { 0, "range", "LO:HI", &set.range,
      "range of the bins, including both ends; default: from the\nminimum to the maximum" },
    { 0, "edges", "A,B,C...", &set.edges,
      "edges of bins of any width: [A, B), [B, C) and so on; the\nlast bin includes its right "
      "edge" },
    { 0, "bytes", NULL, &set.bytes, "count the bytes of INPUT, a file of any format" },
    { 0, "log", NULL, &set.logarithmic, "logarithmic lengths of the bars" },
    { 0, "ascii", NULL, &set.ascii, "bars of #; default if the locale is not UTF-8" },
    { 0, "svg", "FILE", &set.job.output, "write a chart to FILE; print no bars" },
    { 0, "csv", NULL, &set.csv, "print the bins as CSV" },
    { 0, "json", NULL, &set.job.json, "print the bins as JSON" },
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    { 0, "algorithm", "NAME", &set.algorithm,
      "use this algorithm; \"echelon explain hist\" lists them" },
    JOB_TIMING_OPTION(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

enum { MOST_AUTO = 40 }; /* the default number of bins is limited to fit a screen */

static const uint64_t most_bins = (uint64_t)1 << 32;

/* The range that is divided into bins. */
struct span {
    bool integers;
    double lower, upper; /* for integers, upper is one past the last */
    whole first, last;   /* only for integers */
};

/* ---- Range ---- */

/* Rounds the ends outwards to doubles. */
static void set_integers(struct span *span, whole first, whole last)
{
    span->lower = (double)first;
    span->upper = (double)(last + 1);
    if ((whole)span->lower > first) span->lower = nextafter(span->lower, -INFINITY);
    if ((whole)span->upper < last + 1) span->upper = nextafter(span->upper, INFINITY);
    span->first = (whole)span->lower;
    span->last = (whole)span->upper - 1;
}

/* A single value gets a range of width 1 around it, or wider for a large value. */
static void set_floats(struct span *span, ech_dtype dtype, double lower, double upper)
{
    double most = dtype == ECH_F64 ? DBL_MAX : (double)FLT_MAX;
    if (lower == upper) {
        double half = fmax(0.5, fabs(lower) / 128);
        lower = fmax(lower - half, -most);
        upper = fmin(upper + half, most);
    }
    span->lower = lower;
    span->upper = upper;
}

static whole load_whole(ech_dtype dtype, const void *key)
{
    size_t bytes = ech_dtype_bytes(dtype);
    uint64_t u = io_load(key, bytes), sign = (uint64_t)1 << (8 * bytes - 1);
    return io_is_signed(dtype) ? (whole)(u ^ sign) - (whole)sign : (whole)u;
}

/* The minimum and maximum of the finite numbers. */
static bool finite_ends(const struct io_column *c, double *lower, double *upper)
{
    size_t bytes = ech_dtype_bytes(c->dtype);
    const char *at = c->keys;
    *lower = (double)INFINITY;
    *upper = -(double)INFINITY;
    for (uint64_t i = 0; i < c->n; i++, at += bytes) {
        double x = io_key_to_double(c->dtype, at);
        if (!isfinite(x)) continue;
        if (x < *lower) *lower = x;
        if (x > *upper) *upper = x;
    }
    return *lower <= *upper;
}

static int find_range(struct job *job, struct span *span)
{
    const struct io_column *c = &job->column;
    char ends[2 * sizeof(uint64_t)];
    ech_reduce_options o = { .size = sizeof o, .nan = ECH_NAN_IGNORE };
    if (c->n) {
        ech_status status =
            ech_reduce(job->ctx, ECH_OP_MINMAX, c->keys, ends, (size_t)c->n, c->dtype, &o);
        if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    }
    const char *second = ends + ech_dtype_bytes(c->dtype);
    if (span->integers && c->n) {
        set_integers(span, load_whole(c->dtype, ends), load_whole(c->dtype, second));
    } else if (span->integers) {
        set_integers(span, 0, 0);
    } else {
        double lower = c->n ? io_key_to_double(c->dtype, ends) : (double)INFINITY;
        double upper = c->n ? io_key_to_double(c->dtype, second) : 0;
        /* Without finite numbers, the range is [0, 1]. */
        if ((!isfinite(lower) || !isfinite(upper)) && !finite_ends(c, &lower, &upper))
            lower = 0, upper = 1;
        set_floats(span, c->dtype, lower, upper);
    }
    return EXIT_DONE;
}

static int bad_range(ech_dtype dtype)
{
    return cli_fail(
        EXIT_BAD, "--range is \"%s\"; give LO:HI of type %s with LO %s HI, such as 0:%s", set.range,
        ech_dtype_name(dtype), io_is_float(dtype) ? "<" : "<=", io_is_float(dtype) ? "1.5" : "99");
}

static int parse_range(struct span *span, ech_dtype dtype)
{
    const char *colon = strchr(set.range, ':'), *end = set.range + strlen(set.range);
    if (!colon) return bad_range(dtype);
    if (span->integers) {
        bool below[2];
        uint64_t u[2];
        if (io_parse_integer(set.range, colon, &below[0], &u[0]) != IO_NUMBER_OK ||
            io_parse_integer(colon + 1, end, &below[1], &u[1]) != IO_NUMBER_OK)
            return bad_range(dtype);
        whole first = below[0] ? -(whole)u[0] : (whole)u[0];
        whole last = below[1] ? -(whole)u[1] : (whole)u[1];
        if (first > last) return bad_range(dtype);
        set_integers(span, first, last);
        return EXIT_DONE;
    }
    double lower, upper;
    if (io_parse_float(set.range, colon, &lower) != IO_NUMBER_OK ||
        io_parse_float(colon + 1, end, &upper) != IO_NUMBER_OK || !isfinite(lower) ||
        !isfinite(upper) || !(lower < upper))
        return bad_range(dtype);
    set_floats(span, dtype, lower, upper);
    return EXIT_DONE;
}

/* ---- Bins ---- */

/* Sturges' rule, 1 + log2 n.  A small range of integers gets one bin per integer; a larger one gets
 * fewer bins if they can have equal widths. */
static size_t choose_bins(const struct span *span, uint64_t n)
{
    size_t bins = n > 1 ? 2 + (size_t)floor(log2((double)(n - 1))) : 1;
    if (bins > MOST_AUTO) bins = MOST_AUTO;
    if (!span->integers) return bins;
    whole width = span->last - span->first + 1;
    if (width <= MOST_AUTO) return (size_t)width;
    for (size_t fewer = bins; fewer > bins / 2; fewer--)
        if (width % (whole)fewer == 0) return fewer;
    return bins;
}

static int allocate(struct histogram *h, const struct job *job)
{
    h->edges = malloc((h->bins + 1) * sizeof *h->edges);
    h->wholes = malloc((h->bins + 1) * sizeof *h->wholes);
    h->counts = calloc(h->bins + HISTOGRAM_OUTSIDE, sizeof *h->counts);
    if (h->edges && h->wholes && h->counts) return EXIT_DONE;
    return job_no_memory(job, h->bins * 32, "its bins");
}

/* Whether the scale factor by which the library computes bins is representable. */
static bool has_scale(const struct span *span, uint64_t bins, ech_dtype dtype)
{
    double width = span->upper - span->lower, scale = (double)bins / width;
    if (dtype == ECH_F64) return isfinite(width) && isnormal(scale);
    return isfinite((float)width) && isnormal((float)scale);
}

static int count_span(struct histogram *h, struct job *job, const struct span *span)
{
    const struct io_column *c = &job->column;
    uint64_t bins = choose_bins(span, c->n);
    int code = set.bins ? cli_parse_count("bins", set.bins, &bins) : EXIT_DONE;
    if (code == EXIT_DONE && (bins == 0 || bins > most_bins))
        code = cli_fail(EXIT_BAD, "--bins is %s; give 1 to 2^32", set.bins);
    if (code != EXIT_DONE) return code;
    whole width = span->last - span->first + 1;
    if (span->integers && (whole)bins > width) bins = (uint64_t)width;
    if (!span->integers && !has_scale(span, bins, c->dtype))
        return cli_fail(EXIT_BAD,
                        "%s: bins of equal width from %g to %g cannot be computed in %s: give "
                        "--range or --edges",
                        job->input, span->lower, span->upper, ech_dtype_name(c->dtype));
    h->bins = (size_t)bins;
    if ((code = allocate(h, job)) != EXIT_DONE) return code;
    for (size_t b = 0; b <= h->bins; b++) {
        double part = (double)b / (double)bins;
        h->edges[b] = span->lower * (1 - part) + span->upper * part;
        if (!span->integers) continue;
        /* The edge rounded up to an integer. */
        h->wholes[b] = span->first + ((whole)b * width + (whole)bins - 1) / (whole)bins;
        h->edges[b] = (double)h->wholes[b];
    }
    h->edges[h->bins] = span->upper;
    h->closed = !span->integers;
    ech_histogram_options o = { .size = sizeof o,
                                .outside = ECH_OUTSIDE_COUNT,
                                .include_right = h->closed,
                                .algorithm = set.algorithm };
    ech_status status = ech_histogram(job->ctx, c->keys, h->counts, (size_t)c->n, c->dtype, h->bins,
                                      span->lower, span->upper, &o);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* ---- Edges ---- */

static int parse_edges(struct histogram *h, const struct job *job, char *keys)
{
    ech_dtype dtype = job->column.dtype;
    const char *at = set.edges;
    for (size_t i = 0; i <= h->bins; i++) {
        const char *end = at + strcspn(at, ",");
        char *key = keys + i * ech_dtype_bytes(dtype);
        if (io_parse_key(at, end, dtype, key) != IO_NUMBER_OK ||
            isnan(h->edges[i] = io_key_to_double(dtype, key)))
            return cli_fail(EXIT_BAD, "--edges contains \"%.*s\", which is not a number of type %s",
                            (int)(end - at), at, ech_dtype_name(dtype));
        h->wholes[i] = h->integers ? load_whole(dtype, key) : 0;
        bool rises = i == 0 || (h->integers ? h->wholes[i - 1] < h->wholes[i]
                                            : h->edges[i - 1] < h->edges[i]);
        if (!rises)
            return cli_fail(EXIT_BAD,
                            "--edges contains %.*s, which is not greater than the previous edge",
                            (int)(end - at), at);
        at = end + 1;
    }
    return EXIT_DONE;
}

static int count_edges(struct histogram *h, struct job *job)
{
    const struct io_column *c = &job->column;
    for (const char *at = set.edges; *at; at++) h->bins += *at == ',';
    if (h->bins == 0)
        return cli_fail(EXIT_BAD, "--edges is \"%s\"; give at least two numbers, such as 0,1",
                        set.edges);
    h->closed = true;
    int code = allocate(h, job);
    if (code != EXIT_DONE) return code;
    char *keys = malloc((h->bins + 1) * 8); /* enough for every type */
    if (!keys) return job_no_memory(job, h->bins * 8, "its edges");
    code = parse_edges(h, job, keys);
    if (code == EXIT_DONE) {
        ech_histogram_options o = { .size = sizeof o,
                                    .outside = ECH_OUTSIDE_COUNT,
                                    .include_right = 1,
                                    .algorithm = set.algorithm };
        ech_status status = ech_histogram_edges(job->ctx, c->keys, keys, h->counts, (size_t)c->n,
                                                c->dtype, h->bins, &o);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
    }
    free(keys);
    return code;
}

/* ---- Run ---- */

static int count(struct histogram *h, struct job *job)
{
    const struct io_column *c = &job->column;
    struct span span = { .integers = !io_is_float(c->dtype) };
    *h = (struct histogram){ .name = job->input,
                             .column = &job->column,
                             .what = set.bytes ? "bytes" : ech_dtype_name(c->dtype),
                             .n = c->n,
                             .integers = span.integers,
                             .hex = set.bytes };
    stage_begin(job, STAGE_WORK);
    int code = EXIT_DONE;
    if (set.edges) {
        code = count_edges(h, job);
    } else {
        if (set.range)
            code = parse_range(&span, c->dtype);
        else if (set.bytes)
            set_integers(&span, 0, 255);
        else
            code = find_range(job, &span);
        if (code == EXIT_DONE) code = count_span(h, job, &span);
    }
    stage_end(job, STAGE_WORK, c->keys_bytes);
    return code;
}

static int hist_to(struct job *job, struct io_output *output)
{
    struct io_error error;
    struct histogram h = { 0 };
    int code = job_load(job, &set.job);
    if (code == EXIT_DONE) code = count(&h, job);
    cli_progress_end(&job->progress);
    if (code == EXIT_DONE && set.job.output) {
        stage_begin(job, STAGE_WRITE);
        io_status status = histogram_svg(&h, set.logarithmic, output, &error);
        code = job_commit(job, output, status, &error);
    }
    if (code == EXIT_DONE) {
        if (set.job.json)
            histogram_json(&h, stdout);
        else if (set.csv)
            histogram_csv(&h, stdout);
        else if (!set.job.output)
            histogram_draw(&h, set.logarithmic, set.ascii, stdout);
    }
    free(h.edges);
    free(h.wholes);
    free(h.counts);
    return code;
}

static int run(int operand_count, char **operands)
{
    struct job job = { .command = "hist",
                       .work = "count",
                       .working = "counting",
                       .dimensions = 64,
                       .own_json = true };
    const char *of_bytes = set.job.type     ? "type"
                           : set.job.format ? "format"
                           : set.job.column ? "column"
                           : set.job.header ? "header"
                                            : NULL;
    if (set.bytes && of_bytes)
        return cli_fail(EXIT_BAD, "--bytes cannot be combined with --%s", of_bytes);
    if (set.edges && (set.bins || set.range))
        return cli_fail(EXIT_BAD, "--edges cannot be combined with --%s",
                        set.bins ? "bins" : "range");
    if (set.csv && set.job.json) return cli_fail(EXIT_BAD, "--json cannot be combined with --csv");
    if (set.bytes) {
        set.job.type = "u8";
        set.job.format = "raw";
    }
    int code = job_input(&job, operand_count, operands);
    if (code == EXIT_DONE) code = cli_check_output("svg", set.job.output, &job.input, 1);
    return code == EXIT_DONE ? job_run(&job, &set.job, hist_to) : code;
}

const struct command command_hist = {
    .name = "hist",
    .summary = "histogram: counts of numbers in ranges, as bars",
    .usage = "  echelon hist [OPTION]... [INPUT]\n",
    .examples = "  echelon hist data.npy\n"
                "  echelon hist --range 0:1 --bins 10 data.npy\n"
                "  echelon hist -k latency requests.csv --log\n"
                "  echelon hist --bytes program\n"
                "  echelon hist data.npy --svg chart.svg\n"
                "  echelon hist --edges 0,18,65,120 ages.txt --csv\n",
    .notes =
        "A bin includes its left edge and excludes its right edge; the last bin includes both.\n"
        "A bin a..b of integers includes both a and b; there is at most one bin per integer.\n"
        "Numbers outside all bins, and NaN, are counted below the bars.  Percentages are of all\n"
        "numbers.\n\n"
        "The default number of bins is 1 + log2(n), rounded up, and at most 40.  Integers in a\n"
        "range of at most 40 get one bin each; otherwise integers may get fewer bins, of equal\n"
        "widths.  Infinities do not extend the default range.\n\n"
        "The columns of --csv are lower, upper, count.  Counts of numbers below, above and NaN\n"
        "are rows with -inf, inf and nan if they are not 0.  The upper edge of a bin of integers\n"
        "is one past its last integer.  A .npy array may have any number of "
        "dimensions.\n\n" JOB_INPUT_NOTES,
    .options = options,
    .most_operands = 1,
    .run = run,
};
