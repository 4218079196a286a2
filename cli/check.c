/*
 * check.c - "echelon check": checks the order of fixed-size records, and computes their checksum.
 *
 *     files in order  ->  blocks  ->  summaries by all threads  ->  added in the order of blocks
 *
 * Blocks of a regular file are read by the threads; those of a pipe, by one thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 2 << 20, MOST_RECORD = 1 << 30, KEY_SHOWN = 24, KEY_TEXT = 64 };

static struct {
    const char *record, *key, *output, *threads;
    bool summaries, json;
} set;

static const struct option options[] = {
    { 0, "record", "BYTES", &set.record, "size of a record; default: 100" },
    { 0, "key", "OFFSET:BYTES", &set.key,
      "the key: BYTES bytes that begin OFFSET bytes after the begin of\nthe record; default: "
      "0:10" },
    { 'o', "output", "FILE", &set.output, "write a summary of all records to FILE" },
    { 0, "summaries", NULL, &set.summaries, "the FILEs contain summaries of parts, in order" },
    { 0, "threads", "N", &set.threads, CLI_THREADS_HELP },
    { 0, "json", NULL, &set.json, "print the report as JSON" },
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- Options ---- */

static int parse_key(struct record_layout *layout)
{
    const char *colon = set.key ? strchr(set.key, ':') : NULL;
    uint64_t offset = 0, bytes = BENCHMARK_KEY;
    char word[32];
    int code = EXIT_DONE;
    if (set.key && (!colon || (size_t)(colon - set.key) >= sizeof word))
        return cli_fail(EXIT_BAD, "--key is \"%s\"; give OFFSET:BYTES, such as 0:10", set.key);
    if (set.key) {
        memcpy(word, set.key, (size_t)(colon - set.key));
        word[colon - set.key] = 0;
        code = cli_parse_count("key", word, &offset);
        if (code == EXIT_DONE) code = cli_parse_count("key", colon + 1, &bytes);
    }
    if (code != EXIT_DONE) return code;
    if (bytes == 0)
        return cli_fail(EXIT_BAD, "--key is \"%s\"; a key has at least 1 byte", set.key);
    if (bytes > layout->bytes || offset > layout->bytes - bytes)
        return cli_fail(EXIT_BAD, "the key %s ends after the record, which has %llu bytes",
                        set.key ? set.key : "0:10", (unsigned long long)layout->bytes);
    layout->key_offset = (size_t)offset;
    layout->key_bytes = (size_t)bytes;
    return EXIT_DONE;
}

static int parse(struct check_job *job, int *threads)
{
    uint64_t bytes = BENCHMARK_RECORD;
    int code = set.record ? cli_parse_count("record", set.record, &bytes) : EXIT_DONE;
    if (code == EXIT_DONE && (bytes == 0 || bytes > MOST_RECORD))
        code = cli_fail(EXIT_BAD, "--record is %s; use 1 to %d", set.record, MOST_RECORD);
    if (code != EXIT_DONE) return code;
    job->layout.bytes = (size_t)bytes;
    job->block_bytes = (size_t)(bytes < BLOCK_BYTES ? BLOCK_BYTES / bytes * bytes : bytes);
    code = parse_key(&job->layout);
    if (code == EXIT_DONE) code = cli_parse_threads(set.threads, threads);
    if (code == EXIT_DONE && set.output && strcmp(set.output, "-") == 0)
        code = cli_fail(EXIT_BAD, "--output is -, but standard output is for the report; give the "
                                  "name of a file");
    if (code == EXIT_DONE) code = cli_check_output("output", set.output, job->names, job->count);
    return code;
}

/* ---- Summaries ---- */

static void work(void *arg, void *memory, uint64_t block)
{
    const struct check_job *job = arg;
    struct check_slot *slot = memory;
    (void)block;
    if (job->inputs[slot->input].direct) check_read(job, slot);
    if (slot->failure.status == IO_OK)
        summary_of(&job->layout, &job->crc, slot->records, slot->n, &slot->summary);
}

/* Keeps what the message about the first unordered record needs.  before: the record before the
 * block. */
static void locate(struct check_job *job, const struct check_slot *slot,
                   const unsigned char *before)
{
    const struct record_layout *l = &job->layout;
    const size_t bytes = l->bytes;
    const size_t i = before ? 0 : (size_t)slot->summary.first_unordered;
    const unsigned char *now = slot->records + i * bytes;
    if (!before) before = now - bytes;
    job->located = true;
    job->bad_input = slot->input;
    job->bad_in_file = slot->offset / bytes + i;
    memcpy(job->bad_keys, before + l->key_offset, l->key_bytes);
    memcpy(job->bad_keys + l->key_bytes, now + l->key_offset, l->key_bytes);
}

static bool give(void *arg, void *memory, uint64_t block)
{
    struct check_job *job = arg;
    struct check_slot *slot = memory;
    const struct record_layout *l = &job->layout;
    (void)block;
    if (slot->failure.status != IO_OK) {
        job->giving = slot->failure;
        return false;
    }
    if (!job->all.unordered && job->all.n && layout_compare(l, job->last, slot->records) > 0)
        locate(job, slot, job->last);
    else if (!job->all.unordered && slot->summary.unordered)
        locate(job, slot, NULL);
    summary_add(l, &job->all, job->first, job->last, &slot->summary);
    job->done_bytes += slot->n * l->bytes;
    /* The files of a compressed input are smaller than their records. */
    if (job->done_bytes > job->total_bytes) job->total_bytes = 0;
    job->progress.io.tick(job->progress.io.user, job->done_bytes, job->total_bytes);
    return true;
}

/* Adds the summaries of one file. */
static io_status add_summaries(struct check_job *job, const char *name, unsigned char *memory,
                               struct io_error *error)
{
    const size_t bytes = SUMMARY_HEAD + 2 * job->layout.bytes;
    struct io_source source;
    size_t got;
    io_status status = io_open(&source, name, error);
    if (status != IO_OK) return status;
    while ((status = io_read(&source, memory, bytes, &got, error)) == IO_OK && got == bytes) {
        struct summary next;
        summary_load(&next, memory);
        next.first = memory + SUMMARY_HEAD;
        next.last = next.first + job->layout.bytes;
        const bool consistent = next.n && next.unordered < next.n && next.duplicates < next.n &&
                                next.first_unordered < next.n &&
                                !next.first_unordered == !next.unordered;
        if (!consistent)
            status = io_fail(error, IO_FAIL, source.name, "is not a summary of records");
        if (!consistent) break;
        summary_add(&job->layout, &job->all, job->first, job->last, &next);
    }
    if (status == IO_OK && got)
        status = io_fail(error, IO_FAIL, source.name,
                         "ends within a summary; summaries of records of %zu bytes have %zu bytes",
                         job->layout.bytes, bytes);
    io_close(&source);
    return status;
}

/* ---- Run ---- */

/* The size of all files; 0 if it is unknown. */
static uint64_t size_of_files(const struct check_job *job)
{
    uint64_t total = 0;
    for (int i = 0; i < job->count; i++) {
        struct stat file;
        if (stat(job->names[i], &file) != 0 || !S_ISREG(file.st_mode)) return 0;
        total += (uint64_t)file.st_size;
    }
    return total;
}

static int check_records(struct check_job *job, int threads)
{
    const struct pipeline pipeline = { .take = check_take, .work = work, .give = give, .arg = job };
    const size_t slot_bytes = sizeof(struct check_slot) + job->block_bytes;
    crc32_init(&job->crc);
    job->total_bytes = size_of_files(job);
    cli_progress_start(&job->progress);
    cli_progress_stage(&job->progress, "checking");
    const bool memory = pipeline_run(&pipeline, threads, slot_bytes);
    cli_progress_end(&job->progress);
    for (int i = 0; i < job->count; i++)
        if (job->inputs[i].open) io_close(&job->inputs[i].source);
    if (!memory) return cli_fail(EXIT_MEMORY, "out of memory for a block of records");
    const struct check_failure *f = job->giving.status != IO_OK ? &job->giving : &job->taking;
    return f->status == IO_OK ? EXIT_DONE : cli_fail_io(f->status, &f->error);
}

static int check_summaries(struct check_job *job)
{
    struct check_failure f = { .status = IO_OK };
    unsigned char *memory = malloc(SUMMARY_HEAD + 2 * job->layout.bytes);
    if (!memory) return cli_fail(EXIT_MEMORY, "out of memory for a summary");
    for (int i = 0; i < job->count && f.status == IO_OK; i++)
        f.status = add_summaries(job, job->names[i], memory, &f.error);
    free(memory);
    return f.status == IO_OK ? EXIT_DONE : cli_fail_io(f.status, &f.error);
}

static int write_summary(const struct check_job *job, struct io_output *output)
{
    struct io_error error;
    unsigned char head[SUMMARY_HEAD];
    io_status status = IO_OK;
    summary_store(&job->all, head);
    if (job->all.n) { /* the summary of no records is empty */
        status = io_write(output, head, sizeof head, &error);
        if (status == IO_OK) status = io_write(output, job->first, job->layout.bytes, &error);
        if (status == IO_OK) status = io_write(output, job->last, job->layout.bytes, &error);
    }
    if (status == IO_OK) status = io_commit(output, &error);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

/* A key as text if all of it is printable, otherwise in hexadecimal; long keys are truncated. */
static const char *key_text(const unsigned char *key, size_t n, char text[KEY_TEXT])
{
    const size_t shown = n < KEY_SHOWN ? n : KEY_SHOWN;
    bool printable = true;
    size_t used = 0;
    for (size_t i = 0; i < shown; i++) printable = printable && key[i] >= ' ' && key[i] < 127;
    if (printable)
        used = (size_t)snprintf(text, KEY_TEXT, "\"%.*s\"", (int)shown, (const char *)key);
    for (size_t i = 0; i < shown && !printable; i++)
        used += (size_t)snprintf(text + used, KEY_TEXT - used, "%02x", key[i]);
    snprintf(text + used, KEY_TEXT - used, "%s", shown < n ? "..." : "");
    return text;
}

static int fail_unsorted(const struct check_job *job)
{
    char number[U128_TEXT], now[KEY_TEXT], before[KEY_TEXT];
    const size_t bytes = job->layout.key_bytes;
    const char *first = u128_text(job->all.first_unordered, 10, number);
    if (!job->located) return cli_fail(EXIT_NO, "not sorted: record %s", first);
    char in_file[U128_TEXT];
    return cli_fail(
        EXIT_NO, "%s: not sorted: record %s has the key %s, after %s",
        job->inputs[job->bad_input].source.name, u128_text(job->bad_in_file, 10, in_file),
        key_text(job->bad_keys + bytes, bytes, now), key_text(job->bad_keys, bytes, before));
}

static int report(const struct check_job *job, struct io_output *output)
{
    if (set.json)
        summary_print_json(&job->all, stdout);
    else
        summary_print(&job->all, stdout);
    if (fflush(stdout) != 0)
        return cli_fail(EXIT_BAD, "standard output: cannot write: %s", strerror(errno));
    const int code = set.output ? write_summary(job, output) : EXIT_DONE;
    return code == EXIT_DONE && job->all.unordered ? fail_unsorted(job) : code;
}

/* The output is created first, so that an error is reported before the files are read. */
static int check(struct check_job *job, int threads)
{
    struct io_output output;
    struct io_error error;
    const io_status status = set.output ? io_create(&output, set.output, &error) : IO_OK;
    if (status != IO_OK) return cli_fail_io(status, &error);
    int code = set.summaries ? check_summaries(job) : check_records(job, threads);
    if (code == EXIT_DONE) code = report(job, &output);
    if (set.output) io_discard(&output);
    return code;
}

static int run(int count, char **operands)
{
    static struct check_job job;
    static const char *const standard[] = { "-" };
    int threads;
    if (!count && isatty(STDIN_FILENO))
        return cli_fail(EXIT_BAD, "no FILE: give file names, or - for standard input");
    job.names = count ? (const char *const *)operands : standard;
    job.count = count ? count : 1;
    int code = parse(&job, &threads);
    if (code != EXIT_DONE) return code;
    if (!set.summaries) code = cli_permit_files(job.count);
    if (code != EXIT_DONE) return code;
    job.first = malloc(2 * job.layout.bytes + 2 * job.layout.key_bytes);
    job.inputs = calloc((size_t)job.count, sizeof *job.inputs);
    if (!job.first || !job.inputs) {
        free(job.first);
        free(job.inputs);
        return cli_fail(EXIT_MEMORY, "out of memory for two records, and %d files", job.count);
    }
    job.last = job.first + job.layout.bytes;
    job.bad_keys = job.last + job.layout.bytes;
    code = check(&job, threads);
    free(job.first);
    free(job.inputs);
    return code;
}

const struct command command_check = {
    .name = "check",
    .summary = "check the order of fixed-size records; count and checksum",
    .usage = "  echelon check [OPTION]... [FILE]...\n",
    .examples = "  echelon check sorted.raw                  the records of the sort benchmark\n"
                "  echelon check --record 16 --key 8:8 a.raw b.raw\n"
                "  echelon check part0.raw -o part0.sum      a summary, for a check of all parts\n"
                "  echelon check --summaries part0.sum part1.sum\n",
    .notes =
        "Several FILEs are parts of one sequence of records, in order.  FILE \"-\" is standard\n"
        "input, the default.  Keys are compared as strings of unsigned bytes.  The checksum is\n"
        "the sum of the CRC-32 of the records; it does not depend on their order.  Reports and\n"
        "summaries are those of valsort of the sort benchmark (sortbenchmark.org).\n\n"
        "\"echelon sort --check\" checks numbers and lines.\n\n"
        "Exit status: 0 sorted; 1 not sorted; 2 usage error, invalid input, or a file that\n"
        "cannot be read or written; 4 out of memory.\n",
    .options = options,
    .most_operands = CLI_ANY,
    .run = run,
};
