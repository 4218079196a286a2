/*
 * profile.c - "echelon profile": runs GPU kernels on the SIMT emulator and prints its counts.
 *
 *     run()  options -> open "simt" -> load or generate data -> sort, or a call in profile_call.c
 *            -> profile_table.c
 *
 * The emulator counts the memory transactions of each request of a warp, and detects races and
 * invalid accesses.  The result of the operation is discarded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile.h"
#include "distributions.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct sort_words words;
    struct profile_call_words call;
    const char *n, *distribution, *values, *kernel, *seed, *threads;
    bool lines, check, json, csv;
} set;

static int call = -1; /* index in profile_call.c; -1: sort */

static const struct option options[] = {
    { 'N', "n", "COUNT", &set.n, "without INPUT: number of elements; default: 2^16" },
    { 0, "dist", "NAME", &set.distribution,
      "without INPUT: distribution, as in \"echelon gen\";\ndefault: uniform" },
    { 0, "values", "BYTES", &set.values,
      "for sort: size of the value of each key in bytes; default: 0" },
    { 0, "argsort", NULL, &set.words.argsort, "for sort: profile an argsort" },
    { 'r', "reverse", NULL, &set.words.reverse, "for sort: descending order" },
    SORT_COLUMN_OPTIONS(set.words),
    { 0, "algorithm", "NAME", &set.words.algorithm,
      "for sort and hist: use this algorithm; \"echelon explain\"\nlists them" },
    { 0, "op", "OP", &set.call.op, "for reduce and scan: the operation; default: sum" },
    { 'B', "bins", "COUNT", &set.call.bins,
      "for hist: number of bins over the range of the data;\ndefault: 256" },
    { 0, "where", "CONDITION", &set.call.where,
      "for select: a condition as in \"echelon select\"; default:\nat least the middle of the "
      "range" },
    { 'l', "lines", NULL, &set.lines,
      "also print the source lines of each kernel, most expensive\nfirst" },
    { 0, "kernel", "NAME", &set.kernel, "only kernels whose names contain NAME" },
    { 'c', "check", NULL, &set.check, "count nothing; exit with 1 if a kernel has faults" },
    { 0, "seed", "N", &set.seed, "run blocks and warps in another order; default: 0,\nascending" },
    { 0, "threads", "N", &set.threads,
      "run blocks on N CPU threads; 0: all; default: 1, which makes\nevery run identical" },
    { 0, "json", NULL, &set.json, "print JSON" },
    { 0, "csv", NULL, &set.csv, "print the counts as CSV, and faults on standard error" },
    { 0, NULL, NULL, NULL, NULL },
};

/* Options of the emulator, in the syntax of ECHELON_SIMT. */
struct emulator_words {
    char text[128];
};

static int parse_emulator(struct emulator_words *words)
{
    uint64_t seed = 0;
    int threads = 1, code = EXIT_DONE;
    if (set.seed) code = cli_parse_count("seed", set.seed, &seed);
    if (code == EXIT_DONE && set.threads) code = cli_parse_threads(set.threads, &threads);
    if (code != EXIT_DONE) return code;
    if (threads > 256)
        return cli_fail(EXIT_BAD, "--threads is %s; the maximum is 256", set.threads);
    int length =
        snprintf(words->text, sizeof words->text, "keep,%s", set.check ? "noprofile" : "profile");
    /* Options that are not given keep the values of ECHELON_SIMT. */
    if (set.seed)
        length += snprintf(words->text + length, sizeof words->text - (size_t)length, ",seed=%llu",
                           (unsigned long long)seed);
    if (set.threads)
        snprintf(words->text + length, sizeof words->text - (size_t)length, ",threads=%d", threads);
    return EXIT_DONE;
}

static const char *const operations[] = { "sort",   "reduce", "scan", "hist",
                                          "select", "unique", "shuf" };
enum { OPERATIONS = sizeof operations / sizeof *operations };

static const char *operation_word(int i)
{
    return i < OPERATIONS ? operations[i] : NULL;
}

/* Finds the operation, and refuses options of other operations. */
static int check_operation(const char *name)
{
    call = profile_find_call(name);
    if (call < 0 && strcmp(name, "sort") != 0)
        return cli_unknown("operation", name, operations, OPERATIONS);
    const char *of_sort = set.words.argsort   ? "argsort"
                          : set.words.reverse ? "reverse"
                          : set.words.bits    ? "bits"
                          : set.words.order   ? "order"
                          : set.values        ? "values"
                                              : NULL;
    const char *of_call = set.call.op      ? "op"
                          : set.call.bins  ? "bins"
                          : set.call.where ? "where"
                                           : NULL;
    if (call < 0 && of_call)
        return cli_fail(EXIT_BAD, "--%s cannot be combined with sort", of_call);
    if (call < 0) return EXIT_DONE;
    if (of_sort) return cli_fail(EXIT_BAD, "--%s cannot be combined with %s", of_sort, name);
    set.call.algorithm = set.words.algorithm;
    return profile_check_call(call, &set.call);
}

static int check_usage(int count, char **operands)
{
    if (count == 0)
        return cli_fail(EXIT_BAD, "no operation: give one, for example echelon profile sort");
    int code = check_operation(operands[0]);
    if (code != EXIT_DONE) return code;
    if (count > 1 && (set.n || set.distribution))
        return cli_fail(EXIT_BAD, "--%s generates data and cannot be combined with an INPUT",
                        set.n ? "n" : "dist");
    if (set.words.argsort && set.values)
        return cli_fail(EXIT_BAD, "--values cannot be combined with --argsort");
    if (set.json && set.csv) return cli_fail(EXIT_BAD, "--json cannot be combined with --csv");
    if (set.check && (set.lines || set.kernel || set.csv))
        return cli_fail(EXIT_BAD, "--check counts nothing and cannot be combined with --%s",
                        set.lines    ? "lines"
                        : set.kernel ? "kernel"
                                     : "csv");
    return EXIT_DONE;
}

/* ---- Data ---- */

/* Generates the numbers that "echelon gen" would write. */
static int make_column(struct sort_job *job)
{
    const struct distribution *distribution;
    struct keys keys;
    uint64_t n = 1 << 16;
    int dtype, format, code;
    if ((code = cli_parse_distribution(set.distribution ? set.distribution : "uniform",
                                       &distribution)) != EXIT_DONE ||
        (set.n && (code = cli_parse_count("n", set.n, &n)) != EXIT_DONE) ||
        (code = cli_parse_format(set.words.job.format, &format)) != EXIT_DONE ||
        (code = cli_parse_dtype(set.words.job.type ? set.words.job.type : "u32", &dtype)) !=
            EXIT_DONE ||
        (code = cli_check_distribution(distribution, (ech_dtype)dtype)) != EXIT_DONE ||
        (code = cli_parse_bits(set.words.bits, (ech_dtype)dtype, &job->options)) != EXIT_DONE)
        return code;
    struct io_column *c = &job->base.column;
    *c = (struct io_column){ .format = IO_RAW, .dtype = (ech_dtype)dtype, .n = n };
    bool over = __builtin_mul_overflow(n, ech_dtype_bytes(c->dtype), &c->keys_bytes);
    if (!over) c->keys = malloc(c->keys_bytes + 1);
    if (!c->keys || !keys_init(&keys, c->dtype, n, 1, 16))
        return cli_fail(EXIT_MEMORY, "out of memory for %llu elements", (unsigned long long)n);
    keys_fill(&keys, distribution, 0, n, c->keys);
    keys_free(&keys);
    job->base.input = distribution->name;
    return EXIT_DONE;
}

static int add_values(struct sort_job *job, uint64_t value_bytes)
{
    size_t bytes;
    if (value_bytes == 0) return EXIT_DONE;
    if (job->base.column.lines)
        return cli_fail(EXIT_BAD, "--values cannot be combined with text, whose lines are values");
    job->value_bytes = (size_t)value_bytes;
    bool over = __builtin_mul_overflow((size_t)job->base.column.n, job->value_bytes, &bytes);
    if (!over && bytes < SIZE_MAX) job->values = calloc(bytes + 1, 1);
    return job->values ? EXIT_DONE : cli_fail(EXIT_MEMORY, "out of memory for the values");
}

static int load(struct sort_job *job)
{
    uint64_t value_bytes = 0;
    int code = EXIT_DONE;
    if (set.values) code = cli_parse_count("values", set.values, &value_bytes);
    if (code == EXIT_DONE) code = job->base.input ? sort_load(job, &set.words) : make_column(job);
    return code == EXIT_DONE ? add_values(job, value_bytes) : code;
}

/* ---- Run ---- */

static void report(const struct profile *profile)
{
    if (set.json)
        profile_json(profile, stdout);
    else if (set.csv)
        profile_csv(profile, stdout);
    else if (!set.check)
        profile_text(profile, stdout);
    else
        profile_faults(profile, stdout);
    if (set.csv && profile->finding_count) profile_faults(profile, stderr);
}

static int run_operation(struct profile *profile, struct sort_job *job, char *plan, size_t bytes)
{
    int code;
    if (call >= 0) {
        code = profile_call(call, &set.call, &job->base, plan, bytes);
    } else {
        profile->what = job->argsort ? "argsort" : "sort";
        code = sort_column(job);
        sort_plan(job, plan, bytes);
    }
    cli_progress_end(&job->base.progress);
    return code;
}

static int profile_job(struct sort_job *job, const char *what, const struct emulator_words *words)
{
    struct emulator emulator;
    char message[256], plan[4096] = "";
    struct profile profile = { .job = job,
                               .what = what,
                               .plan = plan,
                               .emulator = &emulator,
                               .lines = set.lines,
                               .counted = !set.check };
    if (!simt_find_emulator(&emulator, message, sizeof message))
        return cli_fail(EXIT_DEVICE, "%s", message);
    int code = load(job);
    if (code != EXIT_DONE) return code;
    if (!emulator.set_options(words->text, message, sizeof message))
        return cli_fail(EXIT_BAD, "%s", message);
    emulator.forget();
    code = run_operation(&profile, job, plan, sizeof plan);
    /* If a fault aborts the kernel, the report describes it. */
    int taken = profile_take(&profile, set.kernel);
    if (taken == EXIT_DONE && (code == EXIT_DONE || profile.finding_count)) {
        report(&profile);
        code = profile.finding_count ? EXIT_NO : EXIT_DONE;
    }
    profile_free(&profile);
    return code == EXIT_DONE ? taken : code;
}

static int run(int count, char **operands)
{
    struct sort_job job = { .base.input = count > 1 ? operands[1] : NULL, .staged = true };
    struct emulator_words words;
    int code = check_usage(count, operands);
    if (code == EXIT_DONE) code = sort_parse(&job, &set.words);
    if (code == EXIT_DONE) code = parse_emulator(&words);
    if (code != EXIT_DONE) return code;
    cli_progress_start(&job.base.progress);
    code = cli_open(&job.base.ctx, "simt", 0);
    if (code != EXIT_DONE) return code;
    code = profile_job(&job, operands[0], &words);
    cli_progress_end(&job.base.progress);
    ech_close(job.base.ctx);
    free(job.index);
    if (job.values != job.base.column.lines) free(job.values);
    io_free_column(&job.base.column);
    return code;
}

static const struct cli_value values[] = {
    { "OPERATION", CLI_WORDS, NULL, operation_word },
    { NULL, CLI_WORDS, NULL, NULL },
};

const struct command command_profile = {
    .name = "profile",
    .summary = "run GPU kernels on the CPU: count transactions, find faults",
    .usage = "  echelon profile OPERATION [OPTION]... [INPUT]\n",
    .examples = "  echelon profile sort                           65536 random u32\n"
                "  echelon profile sort data.npy --lines          counts per source line\n"
                "  echelon profile sort -N 1M --dist zipf --type f64\n"
                "  echelon profile sort --check --seed 7          another order of blocks\n"
                "  echelon profile scan --op max --type f32       another operation\n",
    .notes =
        "OPERATION is sort, reduce, scan, hist, select, unique (run-length encoding) or shuf.\n"
        "INPUT is read as in \"echelon sort\"; \"-\" is standard input.  Nothing is written.\n"
        "Without INPUT, the data is generated as by \"echelon gen\".\n\n"
        "  request         a memory instruction of a warp\n"
        "  sectors         32-byte units of global memory that a request accesses: at least 4 per\n"
        "                  request for 32 lanes of 4 bytes, at most 32\n"
        "  wavefronts      turns of the 32 banks of shared memory: at least 1 per request\n"
        "  bank conflicts  wavefronts beyond the minimum, of loads and stores; of 16 banks: on\n"
        "                  the first GPUs, which served half a warp at a time\n"
        "  barriers        per warp; warp operations: shuffles, ballots and so on\n"
        "  branches        basic blocks that warps execute; divergent: lanes of a warp leave the\n"
        "                  block by different paths\n\n"
        "In the table of --lines, global and shared are numbers of requests, followed by sectors\n"
        "and wavefronts per request; syncs are barriers and warp operations.  The time is that\n"
        "of the emulator on this machine; it does not predict the time on a GPU.\n\n"
        "Faults are races, uninitialised reads, accesses out of bounds and so on.\n"
        "Exit status: as for sort; 1 if there are faults, 3 if the emulator is not available.\n",
    .options = options,
    .most_operands = 2,
    .run = run,
    .values = values,
};
