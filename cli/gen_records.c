/*
 * gen_records.c - "echelon gen records": writes the records of the sort benchmark.
 *
 *     block of records:  fill and checksum by all threads  ->  write in order
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gen_records.h"

#include "cli.h"
#include "crc32.h"
#include "pipeline.h"
#include "sort_benchmark.h"

#include <unistd.h>

/* A block is a multiple of 4096 bytes, and is written without a copy. */
enum { BLOCK = 20480, BLOCK_BYTES = BLOCK * BENCHMARK_RECORD };

struct slot {
    u128 checksum;
    size_t n;
    unsigned char records[BLOCK_BYTES + BENCHMARK_SPARE];
};

struct job {
    struct benchmark benchmark;
    struct crc32 crc;
    uint64_t start, n;
    bool sums;
    u128 checksum;
    struct io_output output;
    io_status status;
    struct io_error error;
    struct cli_progress progress;
};

static bool take(void *arg, void *slot, uint64_t block)
{
    const struct job *job = arg;
    struct slot *s = slot;
    if (block >= job->n / BLOCK + (job->n % BLOCK != 0)) return false;
    const uint64_t left = job->n - block * BLOCK;
    s->n = left < BLOCK ? (size_t)left : BLOCK;
    return true;
}

static void work(void *arg, void *slot, uint64_t block)
{
    const struct job *job = arg;
    struct slot *s = slot;
    benchmark_fill(&job->benchmark, (u128)job->start + block * BLOCK, s->n, s->records);
    s->checksum = 0;
    for (size_t i = 0; job->sums && i < s->n; i++)
        s->checksum += crc32_of(&job->crc, s->records + i * BENCHMARK_RECORD, BENCHMARK_RECORD);
}

static bool give(void *arg, void *slot, uint64_t block)
{
    struct job *job = arg;
    struct slot *s = slot;
    (void)block;
    job->checksum += s->checksum;
    job->status = io_write(&job->output, s->records, s->n * BENCHMARK_RECORD, &job->error);
    return job->status == IO_OK;
}

static int parse(const struct gen_records *options, uint64_t n, const char *output, int *threads,
                 uint64_t *start)
{
    const char *other = options->ascii ? "text" : "binary records";
    const int format = output ? io_format_from_extension(output) : -1;
    *start = 0;
    if (n > UINT64_MAX / BENCHMARK_RECORD)
        return cli_fail(EXIT_BAD,
                        "--n is %llu; a file has at most 2^64 - 1 bytes, and a record 100",
                        (unsigned long long)n);
    if (format == IO_NPY || (format == IO_TEXT && !options->ascii))
        return cli_fail(EXIT_BAD, "%s: the extension means %s, but the output is %s", output,
                        io_format_name((io_format)format), other);
    if (!options->ascii && (!output || output[0] == '-') && isatty(STDOUT_FILENO))
        return cli_fail(EXIT_BAD, CLI_TERMINAL);
    const int code = options->start ? cli_parse_count("start", options->start, start) : EXIT_DONE;
    return code == EXIT_DONE ? cli_parse_threads(options->threads, threads) : code;
}

static int write_records(struct job *job, int threads)
{
    const struct pipeline pipeline = { .take = take, .work = work, .give = give, .arg = job };
    cli_progress_start(&job->progress);
    cli_progress_stage(&job->progress, "writing");
    job->output.progress = &job->progress.io;
    job->output.total_bytes = job->n * BENCHMARK_RECORD;
    if (!pipeline_run(&pipeline, threads, sizeof(struct slot)))
        job->status = io_no_memory(&job->error, job->output.name, sizeof(struct slot), "a block");
    if (job->status == IO_OK) job->status = io_commit(&job->output, &job->error);
    io_discard(&job->output);
    cli_progress_end(&job->progress);
    return job->status == IO_OK ? EXIT_DONE : cli_fail_io(job->status, &job->error);
}

int gen_records(const struct gen_records *options, uint64_t n, const char *output)
{
    static struct job job;
    int threads, code = parse(options, n, output, &threads, &job.start);
    char text[U128_TEXT];
    if (code != EXIT_DONE) return code;
    job.n = n;
    job.sums = options->checksum;
    crc32_init(&job.crc);
    benchmark_init(&job.benchmark, options->ascii, options->skewed);
    job.status = io_create(&job.output, output, &job.error);
    if (job.status != IO_OK) return cli_fail_io(job.status, &job.error);
    code = write_records(&job, threads);
    if (code == EXIT_DONE && job.sums)
        fprintf(stderr, "Checksum: %s\n", u128_text(job.checksum, 16, text));
    return code;
}
