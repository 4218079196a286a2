/*
 * job.c - the stages of a run that all subcommands on a column of numbers share, and the report of
 * their times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "io/threads.h"
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Stages ---- */

void stage_begin(struct job *job, enum stage stage)
{
    const char *const doing[STAGES] = {
        [STAGE_OPEN] = "opening the device", [STAGE_READ] = "reading",
        [STAGE_UPLOAD] = "uploading",        [STAGE_WORK] = job->working,
        [STAGE_DOWNLOAD] = "downloading",    [STAGE_WRITE] = "writing",
    };
    cli_progress_stage(&job->progress, doing[stage]);
    job->stages[stage].ran = true;
    job->stages[stage].seconds -= cli_seconds();
}

void stage_end(struct job *job, enum stage stage, uint64_t bytes)
{
    job->stages[stage].seconds += cli_seconds();
    job->stages[stage].bytes += bytes;
}

/* ---- Steps ---- */

int job_input(struct job *job, int count, char **operands)
{
    job->input = count ? operands[0] : "-";
    if (!count && isatty(STDIN_FILENO))
        return cli_fail(EXIT_BAD, "no INPUT: give a file name, or - for standard input");
    return EXIT_DONE;
}

/* A character that is not part of numbers and does not end a line. */
static int parse_delimiter(const char *text, char *delimiter)
{
    *delimiter = 0;
    if (!text) return EXIT_DONE;
    if (strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0) text = "\t";
    char c = *delimiter = text[0];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (c && !text[1] && !letter && !strchr("+-.\"\n\r", c)) return EXIT_DONE;
    return cli_fail(EXIT_BAD,
                    "--delimiter is \"%s\"; use one character that is not part of a number, such "
                    "as \",\" or \"\\t\"",
                    text);
}

int job_hints(const struct job_words *words, struct io_hints *hints)
{
    *hints = (struct io_hints){ .field.column = words->column };
    int code = cli_parse_format(words->format, &hints->format);
    if (code == EXIT_DONE) code = cli_parse_dtype(words->type, &hints->dtype);
    if (code == EXIT_DONE) code = parse_delimiter(words->delimiter, &hints->field.delimiter);
    if (code != EXIT_DONE) return code;
    if (words->delimiter && !words->column)
        return cli_fail(EXIT_BAD, "--delimiter needs --column, which selects a column");
    if (words->header && words->no_header)
        return cli_fail(EXIT_BAD, "--header cannot be combined with --no-header");
    if (words->header) hints->field.header = IO_HEADER_YES;
    if (words->no_header) hints->field.header = IO_HEADER_NO;
    const char *column = words->column;
    if (column && strspn(column, "0") == strlen(column))
        return cli_fail(EXIT_BAD,
                        "--column is \"%s\"; give a column number, counted from 1, or a name",
                        column);
    if (column && words->no_header && strspn(column, "0123456789") != strlen(column))
        return cli_fail(EXIT_BAD,
                        "--column is \"%s\", but --no-header means that columns have no names; "
                        "give the number of the column",
                        column);
    return EXIT_DONE;
}

int job_load(struct job *job, const struct job_words *words)
{
    struct io_source source;
    struct io_error error;
    struct io_hints hints;
    int code = job_hints(words, &hints);
    if (code != EXIT_DONE) return code;
    hints.dimensions = job->dimensions;
    hints.records = job->records;

    stage_begin(job, STAGE_READ);
    io_status status = io_open(&source, job->input, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    job->input = source.name;
    if (hints.format == IO_RAW && !job->records) io_set_raw(&source); /* --format raw is given */
    source.progress = &job->progress.io;
    status = io_load_column(&source, &hints, &job->column, &error);
    io_close(&source);
    cli_progress_end(&job->progress);
    if (status != IO_OK) return cli_fail_io(status, &error);
    const struct io_column *c = &job->column;
    stage_end(job, STAGE_READ, c->npy.header_bytes + (c->text ? c->text_bytes : c->keys_bytes));
    return EXIT_DONE;
}

int job_make_rows(struct job *job)
{
    struct io_column *c = &job->column;
    if (!c->npy.fortran || c->npy.dimensions < 2 || !c->n) return EXIT_DONE;
    void *rows = malloc(c->keys_bytes + 1);
    if (!rows) return job_no_memory(job, c->keys_bytes, "its rows");
    ech_status status = ech_transpose(job->ctx, c->keys, rows, (size_t)c->npy.columns,
                                      (size_t)c->npy.rows, ech_dtype_bytes(c->dtype));
    if (status == ECH_OK) {
        free(c->keys);
        c->keys = rows;
        return EXIT_DONE;
    }
    free(rows);
    return cli_fail_ech(status, job->ctx);
}

int job_refuse_terminal(const struct io_output *output)
{
    if (output->path || output->fd != STDOUT_FILENO || !isatty(STDOUT_FILENO)) return EXIT_DONE;
    return cli_fail(EXIT_BAD, CLI_TERMINAL);
}

int job_plan_text(const struct job_words *words)
{
    int said = words->output ? io_format_from_extension(words->output) : -1;
    if (said < 0 || said == IO_TEXT) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: the extension means %s, but the output is text", words->output,
                    io_format_name((io_format)said));
}

int job_plan_output(struct job *job, const struct job_words *words, const struct io_output *output,
                    ech_dtype dtype)
{
    struct io_column *c = &job->column;
    const char *name = words->output;
    int said = name ? io_format_from_extension(name) : -1;
    int type = said == IO_RAW ? io_dtype_from_extension(name) : -1;
    job->out_format = said < 0 ? c->format : (io_format)said;
    if (job->out_format == IO_TEXT) return EXIT_DONE;
    if (c->lines && !c->keys && !job->positions)
        return cli_fail(EXIT_BAD, "%s: the extension means %s, but the output is lines of text",
                        name, io_format_name(job->out_format));
    if (type >= 0 && type != (int)dtype)
        return cli_fail(EXIT_BAD, "%s: the extension means %s, but the output is %s", name,
                        ech_dtype_name((ech_dtype)type), ech_dtype_name(dtype));
    /* The output is numbers, so the lines are not needed. */
    free(c->lines);
    c->lines = NULL;
    return job_refuse_terminal(output);
}

int job_commit(struct job *job, struct io_output *output, io_status status, struct io_error *error)
{
    if (status == IO_OK) status = io_commit(output, error);
    stage_end(job, STAGE_WRITE, output->written_bytes);
    cli_progress_end(&job->progress);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, error);
}

#undef job_no_memory /* job.h */
int job_no_memory(const struct job *job, uint64_t bytes, const char *what)
{
    return cli_fail(EXIT_MEMORY, "%s: out of memory: cannot allocate %llu bytes for %s", job->input,
                    (unsigned long long)bytes, what);
}

/* ---- Report ---- */

static const char *stage_name(const struct job *job, int stage)
{
    const char *const names[STAGES] = {
        [STAGE_OPEN] = "open",    [STAGE_READ] = "read",         [STAGE_UPLOAD] = "upload",
        [STAGE_WORK] = job->work, [STAGE_DOWNLOAD] = "download", [STAGE_WRITE] = "write",
    };
    return names[stage];
}

static double rate(const struct stage_time *stage)
{
    return stage->seconds > 0 ? 1e-9 * (double)stage->bytes / stage->seconds : 0;
}

/* ", at most 2 threads" on the CPU. */
static void print_threads(const struct job *job, FILE *to)
{
    if (strcmp(ech_device_name(job->ctx), "cpu") == 0)
        fprintf(to, ", at most %d thread%s", job->threads, job->threads == 1 ? "" : "s");
}

static void report_text(const struct job *job, const char *plan, uint64_t peak, FILE *to)
{
    const struct io_column *c = &job->column;
    cli_print_name(to, job->input);
    if (job->record_bytes)
        fprintf(to, ": %llu record%s of %llu bytes (%s) on %s", (unsigned long long)c->n,
                c->n == 1 ? "" : "s", (unsigned long long)job->record_bytes,
                io_format_name(c->format), ech_device_name(job->ctx));
    else if (job->strings || c->keys || !c->text)
        fprintf(to, ": %llu %s (%s) on %s", (unsigned long long)c->n,
                job->strings ? "strings" : ech_dtype_name(c->dtype), io_format_name(c->format),
                ech_device_name(job->ctx));
    else
        fprintf(to, ": %llu line%s on %s", (unsigned long long)c->n, c->n == 1 ? "" : "s",
                ech_device_name(job->ctx));
    print_threads(job, to);
    fprintf(to, "\n%s", plan);
    if (io_has_header(c)) fputs("the first line is a header\n", to);
    if (job->note) fprintf(to, "%s\n", job->note);
    if (job->device_note) fprintf(to, "%s\n", job->device_note);
    for (int i = 0; i < STAGES; i++) {
        const struct stage_time *stage = &job->stages[i];
        if (!stage->ran) continue;
        fprintf(to, "  %-9s %10.3f ms", stage_name(job, i), 1e3 * stage->seconds);
        if (stage->bytes) fprintf(to, " %9.3f GB/s", rate(stage));
        putc('\n', to);
    }
    fprintf(to, "  %-9s %10.3f ms\n", "total", 1e3 * (cli_seconds() - job->started));
    fprintf(to, "  peak memory: process %.1f MB, library on %s %.1f MB\n",
            1e-6 * (double)cli_peak_host_bytes(), ech_device_name(job->ctx), 1e-6 * (double)peak);
}

static void report_json(const struct job *job, const char *plan, uint64_t peak, FILE *to)
{
    const struct io_column *c = &job->column;
    struct json json = { .to = to };
    json_open(&json, NULL, '{');
    json_text(&json, "command", job->command);
    json_text(&json, "version", ech_version());
    json_text(&json, "input", job->input);
    json_text(&json, "output", job->output);
    json_text(&json, "format", io_format_name(c->format));
    json_text(&json, "type",
              job->record_bytes     ? "records"
              : job->strings        ? "strings"
              : c->keys || !c->text ? ech_dtype_name(c->dtype)
                                    : "lines");
    if (job->record_bytes) json_count(&json, "record_bytes", job->record_bytes);
    json_header(&json, c);
    json_count(&json, "n", c->n);
    json_count(&json, "n_out", job->n_out);
    json_text(&json, "device", ech_device_name(job->ctx));
    json_count(&json, "threads", (uint64_t)job->threads);
    if (*plan) json_text(&json, "plan", plan);
    if (job->note) json_text(&json, "note", job->note);
    if (job->device_note) json_text(&json, "device_note", job->device_note);
    json_open(&json, "stages", '[');
    for (int i = 0; i < STAGES; i++) {
        const struct stage_time *stage = &job->stages[i];
        if (!stage->ran) continue;
        json_open(&json, NULL, '{');
        json_text(&json, "name", stage_name(job, i));
        json_number(&json, "seconds", stage->seconds);
        json_count(&json, "bytes", stage->bytes);
        json_number(&json, "gb_per_s", rate(stage));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_number(&json, "seconds", cli_seconds() - job->started);
    json_count(&json, "peak_host_bytes", cli_peak_host_bytes());
    json_count(&json, "peak_device_bytes", peak);
    json_close(&json, '}');
    putc('\n', to);
}

static void report(const struct job *job, const struct job_words *words)
{
    char plan[4096] = "";
    uint64_t now, peak;
    ech_memory_usage(job->ctx, 0, &now, &peak);
    if (job->plan) job->plan(job, plan, sizeof plan);
    if (words->timing) report_text(job, plan, peak, stderr);
    if (words->json && !job->own_json)
        report_json(job, plan, peak, strcmp(job->output, "-") == 0 ? stderr : stdout);
}

/* ---- Run ---- */

int job_run(struct job *job, const struct job_words *words,
            int (*body)(struct job *job, struct io_output *output))
{
    struct io_error error;
    struct io_output output;
    job->output = words->output ? words->output : "-";
    job->started = cli_seconds();
    uint64_t memory = 0;
    int threads, code = cli_parse_threads(words->threads, &threads);
    job->threads = threads ? threads : io_threads();
    if (code == EXIT_DONE && words->memory)
        code = cli_parse_count("memory", words->memory, &memory);
    if (code != EXIT_DONE) return code;
    cli_progress_start(&job->progress);
    stage_begin(job, STAGE_OPEN);
    code = cli_open(&job->ctx, words->device, threads);
    stage_end(job, STAGE_OPEN, 0);
    if (code == EXIT_DONE) {
        ech_set_memory_limit(job->ctx, memory);
        io_status status = io_create(&output, words->output, &error);
        if (status == IO_OK) {
            output.progress = &job->progress.io;
            output.threads = job->threads;
            code = body(job, &output);
            io_discard(&output);
        } else {
            code = cli_fail_io(status, &error);
        }
    }
    cli_progress_end(&job->progress);
    if (code == EXIT_DONE && (words->timing || words->json)) report(job, words);
    ech_close(job->ctx);
    job->ctx = NULL;
    io_free_column(&job->column);
    return code;
}
