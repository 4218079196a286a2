/*
 * bench.c - "echelon bench": measures operations of the library on this machine.
 *
 *     per operation:   allocate -> repetitions x (new data -> prepare -> time the call) -> release
 *
 * The first repetition is not timed.  It loads kernels and allocates the workspace, and its result
 * is checked.  On a GPU, the arrays are in its memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include "distributions.h"
#include "io/threads.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_REPETITIONS = 1000 };

static struct {
    const char *n, *type, *distribution, *bins, *head, *repetitions, *device, *threads, *csv;
    bool json;
} set;

static const struct option options[] = {
    { 'N', "n", "COUNT", &set.n, "number of elements: 1000, 100M, 1e6, 2^20, 4Ki;\ndefault: 10M" },
    { 'y', "type", "TYPE", &set.type, "element type: " CLI_TYPES ";\ndefault: u32" },
    { 0, "distribution", "NAME", &set.distribution,
      "the data: a distribution of \"echelon gen\"; default: uniform" },
    { 0, "repetitions", "R", &set.repetitions, "number of timed repetitions; default: 5" },
    { 'B', "bins", "COUNT", &set.bins, "for histogram: number of bins; default: 256" },
    { 'K', "head", "K", &set.head, "for topk: number of selected elements; default: 100" },
    { 'D', "device", "DEVICE", &set.device, CLI_DEVICE_HELP },
    { 0, "threads", "N", &set.threads, CLI_THREADS_HELP },
    { 0, "csv", "FILE", &set.csv, "write the results to FILE as CSV, too" },
    { 0, "json", NULL, &set.json, "print JSON instead of a table" },
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- Options ---- */

static int find_row(struct bench *b, const char *name)
{
    const char *names[BENCH_MOST];
    int n = 0;
    for (; bench_rows[n].name; n++) {
        names[n] = bench_rows[n].name;
        if (strcmp(name, names[n]) != 0) continue;
        for (int i = 0; i < b->count; i++)
            if (b->rows[i] == &bench_rows[n])
                return cli_fail(EXIT_BAD, "the operation %s is given twice", name);
        b->rows[b->count++] = &bench_rows[n];
        return EXIT_DONE;
    }
    return cli_unknown("operation", name, names, n);
}

static int parse_number(const char *option, const char *text, uint64_t most, uint64_t *value)
{
    const int code = text ? cli_parse_count(option, text, value) : EXIT_DONE;
    if (code != EXIT_DONE || (*value >= 1 && *value <= most)) return code;
    return cli_fail(EXIT_BAD, "--%s is %s; use 1 to %llu", option, text, (unsigned long long)most);
}

static int parse(struct bench *b, int count, char **operands, int *threads)
{
    uint64_t n = 10000000, repetitions = 5, bins = 256, k = 100;
    int dtype, code = EXIT_DONE;
    const char *name = set.distribution ? set.distribution : "uniform";
    for (int i = 0; i < count && code == EXIT_DONE; i++) code = find_row(b, operands[i]);
    for (int i = 0; !count && bench_rows[i].name; i++) b->rows[b->count++] = &bench_rows[i];
    if (code == EXIT_DONE) code = parse_number("n", set.n, SIZE_MAX / 64, &n);
    if (code == EXIT_DONE)
        code = parse_number("repetitions", set.repetitions, MOST_REPETITIONS, &repetitions);
    if (code == EXIT_DONE) code = parse_number("bins", set.bins, 1 << 28, &bins);
    if (code == EXIT_DONE && set.head) code = parse_number("head", set.head, n, &k);
    if (code == EXIT_DONE) code = cli_parse_dtype(set.type, &dtype);
    if (code == EXIT_DONE) code = cli_parse_distribution(name, &b->distribution);
    if (code == EXIT_DONE) code = cli_parse_threads(set.threads, threads);
    if (code != EXIT_DONE) return code;
    struct bench_call *c = &b->call;
    c->n = (size_t)n;
    c->bins = (size_t)bins;
    c->k = (size_t)(k < n ? k : n);
    c->dtype = dtype < 0 ? ECH_U32 : (ech_dtype)dtype;
    c->index_dtype = n <= UINT32_MAX ? ECH_U32 : ECH_U64;
    c->element_bytes = ech_dtype_bytes(c->dtype);
    c->index_bytes = ech_dtype_bytes(c->index_dtype);
    b->setting.n = n;
    b->setting.dtype = c->dtype;
    b->setting.repetitions = repetitions;
    b->setting.distribution = name;
    return cli_check_distribution(b->distribution, c->dtype);
}

/* ---- The device ---- */

/* Arrays that are smaller than four times the last cache may be in it. */
static bool may_be_cached(const struct bench *b)
{
    uint64_t cache = 64 << 20; /* of a GPU, or unknown */
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (!b->setting.in_device && bytes > 0) cache = (uint64_t)bytes;
#endif
    return (uint64_t)b->call.n * b->call.element_bytes < 4 * cache;
}

static int open_device(struct bench *b, int threads)
{
    struct bench_setting *s = &b->setting;
    const int code = cli_open(&b->call.ctx, set.device, threads);
    if (code != EXIT_DONE) return code;
    s->device = ech_device_name(b->call.ctx);
    s->description = "the SIMT emulator";
    const bool automatic = strncmp(s->device, "auto:", 5) == 0;
    const char *name = automatic ? s->device + 5 : s->device;
    for (int i = 0; i < ech_device_count(); i++) {
        b->device = (ech_device){ .size = sizeof b->device };
        if (ech_device_get(i, &b->device) != ECH_OK || strcmp(b->device.name, name) != 0) continue;
        s->description = b->device.description;
        break;
    }
    const bool cpu = strcmp(name, "cpu") == 0;
    s->in_device = !cpu && !automatic;
    const int most = io_threads();
    if (cpu) s->threads = threads && threads < most ? threads : most;
    s->may_be_cached = may_be_cached(b);
    return EXIT_DONE;
}

/* ---- One operation ---- */

static int compare_times(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Runs the operation once with new data.  Returns the status of the library in *status. */
static int repeat(struct bench *b, const struct bench_row *row, uint64_t r, double *seconds,
                  ech_status *status)
{
    struct bench_call *c = &b->call;
    c->seed = r + 1;
    int code = bench_fill(b, c->in, 2 * r + 1);
    if (code == EXIT_DONE && r == 0) bench_describe(b);
    if (code == EXIT_DONE && (row->flags & BENCH_NEEDLES) == BENCH_NEEDLES)
        code = bench_fill(b, c->other, 2 * r + 2);
    if (code != EXIT_DONE) return code;
    *status = row->prepare ? row->prepare(c) : ECH_OK;
    if (*status == ECH_OK) *status = ech_sync(c->ctx);
    const double begin = cli_seconds();
    if (*status == ECH_OK) *status = row->run(c);
    if (*status == ECH_OK) *status = ech_sync(c->ctx);
    *seconds = cli_seconds() - begin;
    return EXIT_DONE;
}

/* Copies *count to the host. */
static ech_status get_count(const struct bench *b, uint64_t *count)
{
    if (b->setting.in_device) return ech_copy(b->call.ctx, count, b->call.count, sizeof *count);
    memcpy(count, b->call.count, sizeof *count);
    return ECH_OK;
}

/* Checks the result of the repetition that is not timed. */
static int check(struct bench *b, const struct bench_row *row)
{
    struct bench_call *c = &b->call;
    uint64_t n = c->n, position = 0;
    ech_status status = ECH_OK;
    if (!(row->flags & BENCH_SORTED)) return EXIT_DONE;
    if (row->flags & BENCH_COUNTED) status = get_count(b, &n);
    const void *result = row->flags & BENCH_OUT ? c->out : c->in;
    if (status == ECH_OK)
        status = ech_is_sorted(c->ctx, result, c->count, (size_t)n, c->dtype, NULL);
    if (status == ECH_OK) status = ech_sync(c->ctx);
    if (status == ECH_OK) status = get_count(b, &position);
    if (status != ECH_OK) return cli_fail_ech(status, c->ctx);
    if (position == n) return EXIT_DONE;
    return cli_fail(EXIT_DEVICE, "verification failed: the result of %s is not sorted", row->name);
}

static double bytes_of(const struct bench *b, const struct bench_row *row, uint64_t count)
{
    const struct bench_call *c = &b->call;
    const double per_element = (double)row->elements * (double)c->element_bytes +
                               (double)row->indices * (double)c->index_bytes + row->value_bytes;
    return (double)c->n * per_element + (double)count * (double)c->element_bytes;
}

static int measure(struct bench *b, const struct bench_row *row, struct bench_result *result)
{
    static double times[MOST_REPETITIONS];
    const uint64_t repetitions = b->setting.repetitions;
    uint64_t count = 0;
    ech_status status = ECH_OK;
    double seconds;
    *result = (struct bench_result){ .row = row };
    for (uint64_t r = 0; r <= repetitions; r++) {
        int code = repeat(b, row, r, &seconds, &status);
        if (code == EXIT_DONE && status == ECH_ERR_UNSUPPORTED) {
            snprintf(result->reason, sizeof result->reason, "%s", ech_error(b->call.ctx));
            return EXIT_DONE;
        }
        if (code == EXIT_DONE && status != ECH_OK) code = cli_fail_ech(status, b->call.ctx);
        if (code == EXIT_DONE && r == 0) code = check(b, row);
        if (code != EXIT_DONE) return code;
        if (r) times[r - 1] = seconds;
    }
    if (row->flags & BENCH_COUNTED) status = get_count(b, &count);
    if (status != ECH_OK) return cli_fail_ech(status, b->call.ctx);
    qsort(times, (size_t)repetitions, sizeof *times, compare_times);
    const double middle = times[repetitions / 2], before = times[(repetitions - 1) / 2];
    result->supported = true;
    result->minimum = times[0];
    result->median = (middle + before) / 2;
    result->bytes = bytes_of(b, row, count);
    return EXIT_DONE;
}

static int measure_all(struct bench *b)
{
    int code = EXIT_DONE;
    if (!set.json) bench_print_head(&b->setting);
    for (int i = 0; i < b->count && code == EXIT_DONE; i++) {
        const struct bench_row *row = b->rows[i];
        cli_progress_say(&b->progress, row->name);
        code = bench_allocate(b, row->flags);
        if (code == EXIT_DONE) code = measure(b, row, &b->results[i]);
        bench_release(b, row->flags);
        cli_progress_end(&b->progress);
        if (code == EXIT_DONE && !set.json) bench_print_row(&b->setting, &b->results[i]);
    }
    return code;
}

/* ---- Run ---- */

/* An operation that was requested by its name must be supported. */
static int check_supported(const struct bench *b, bool named)
{
    for (int i = 0; i < b->count; i++)
        if (named && !b->results[i].supported)
            return cli_fail(EXIT_BAD, "%s: not supported: %s", b->rows[i]->name,
                            b->results[i].reason);
    return EXIT_DONE;
}

/* The results are on standard output, and in the CSV file. */
static int measure_and_print(struct bench *b, struct io_output *csv)
{
    struct io_error error;
    int code = measure_all(b);
    if (code != EXIT_DONE) return code;
    if (set.json) bench_print_json(&b->setting, b->results, b->count);
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail(EXIT_BAD, "standard output: cannot write");
    const io_status status =
        set.csv ? bench_write_csv(&b->setting, b->results, b->count, csv, &error) : IO_OK;
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

/* The CSV file is created first, so that an error is reported before the measurement. */
static int run_all(struct bench *b)
{
    struct io_output csv;
    struct io_error error;
    const io_status status = set.csv ? io_create(&csv, set.csv, &error) : IO_OK;
    if (status != IO_OK) return cli_fail_io(status, &error);
    cli_progress_start(&b->progress);
    const int code = measure_and_print(b, &csv);
    if (set.csv) io_discard(&csv);
    return code;
}

static int run(int count, char **operands)
{
    static struct bench b;
    int threads;
    int code = parse(&b, count, operands, &threads);
    if (code == EXIT_DONE && set.csv && set.json)
        code = cli_fail(EXIT_BAD, "--csv cannot be combined with --json");
    if (code == EXIT_DONE) code = open_device(&b, threads);
    if (code != EXIT_DONE) return code;
    code = run_all(&b);
    if (code == EXIT_DONE) code = check_supported(&b, count > 0);
    ech_close(b.call.ctx);
    return code;
}

const struct command command_bench = {
    .name = "bench",
    .summary = "measure operations of the library on this machine",
    .usage = "  echelon bench [OPERATION]... [OPTION]...\n",
    .examples =
        "  echelon bench                               all operations, 10M elements of u32\n"
        "  echelon bench sort argsort -N 100M --type f64\n"
        "  echelon bench -D cpu --threads 1 --csv one.csv\n"
        "  echelon bench sort --distribution zipf --repetitions 11 --json\n",
    .notes =
        "Operations (all by default):\n"
        "  copy       the bandwidth: a copy in the same memory\n"
        "  sort       in place; sort-pairs: with values of 4 bytes\n"
        "  argsort    the permutation that sorts\n"
        "  is-sorted  of sorted data\n"
        "  reduce     the sum\n"
        "  scan       prefix sums\n"
        "  histogram  --bins bins of equal width\n"
        "  select     the elements below the median\n"
        "  unique     the distinct elements\n"
        "  topk       the --head largest elements and their positions\n"
        "  median     the element in the middle\n"
        "  search     each element in sorted data of this size\n"
        "  merge      two sorted halves\n"
        "  shuffle    a random order; gather: by a random permutation\n\n"
        "Each repetition has new data.  A first one is not timed.  On a GPU, the\n"
        "arrays are in its memory; with --device auto, in host memory.  Rates are those of the\n"
        "median; GB/s counts each byte that must be read or written once.\n",
    .options = options,
    .most_operands = BENCH_MOST,
    .run = run,
};
