/*
 * fuzz_table.c - a condition and a table of arbitrary bytes: the condition is parsed, the columns
 * are read as numbers or strings, the strings are ranked, and the condition is applied.
 *
 *     price>=2 \n     the condition: the first line
 *     x,price \n      the table: all other lines
 *     a,3 \n
 *
 * Bytes that begin as a .npy file are read as a structured array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "condition.h"
#include "fuzz.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- The functions of the command that print: they are silent here ---- */

const char *cli_command = "fuzz";

#undef cli_fail
int cli_fail(int code, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    FUZZ_CHECK(vsnprintf(text, sizeof text, format, arguments) > 0);
    va_end(arguments);
    return code;
}

int cli_fail_io(io_status status, const struct io_error *error)
{
    FUZZ_CHECK(error->text[0]);
    return status == IO_MEMORY ? EXIT_MEMORY : EXIT_BAD;
}

#undef cli_fail_ech
int cli_fail_ech(ech_status status, const ech_ctx *ctx)
{
    (void)status;
    FUZZ_CHECK(ech_error(ctx)[0]);
    return EXIT_BAD;
}

void cli_print_name(FILE *to, const char *text)
{
    (void)to;
    (void)text;
}

/* ---- Checks ---- */

static uint64_t rank_of(const struct table_column *c, uint64_t i)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    return io_load((const char *)c->keys + i * bytes, bytes);
}

/* Ranks have the order of the strings, of which each is in the text. */
static void check_strings(const struct table_column *c, uint64_t n, size_t text_bytes)
{
    FUZZ_CHECK(c->offsets[0] == 0 && c->offsets[n] <= text_bytes);
    for (uint64_t i = 0; i < n; i++) {
        FUZZ_CHECK(c->offsets[i] <= c->offsets[i + 1]);
        FUZZ_CHECK(rank_of(c, i) < c->distinct);
        if (i == 0) continue;
        const char *a = c->bytes + c->offsets[i - 1], *b = c->bytes + c->offsets[i];
        const size_t a_n = (size_t)(b - a), b_n = (size_t)(c->offsets[i + 1] - c->offsets[i]);
        const int order = memcmp(a, b, a_n < b_n ? a_n : b_n);
        const int want = order ? (order > 0) - (order < 0) : (a_n > b_n) - (a_n < b_n);
        const uint64_t x = rank_of(c, i - 1), y = rank_of(c, i);
        FUZZ_CHECK((x > y) - (x < y) == want);
    }
}

static void check_rows(struct job *job, struct condition *condition, struct table *table)
{
    const struct io_column *c = &job->column;
    const size_t n = (size_t)c->n;
    uint8_t *votes = calloc(n + 1, 1);
    void *scratch = malloc(n * 9 + 1);
    FUZZ_CHECK(votes && scratch);
    for (size_t i = 0; i < n && c->text; i++) {
        const size_t end = i + 1 < n ? (size_t)c->lines[i + 1] : c->text_bytes;
        FUZZ_CHECK(c->lines[i] >= c->head_bytes && c->lines[i] < end && c->text[end - 1] == '\n');
    }
    if (condition_check(job, condition, table) == EXIT_DONE &&
        condition_apply(job, condition, table, votes, scratch) == EXIT_DONE)
        for (size_t i = 0; i < n; i++) FUZZ_CHECK(votes[i] <= 1);
    free(votes);
    free(scratch);
    for (int i = 0; i < table->count; i++) {
        struct table_column *column = &table->columns[i];
        if (column->kind != TABLE_STRINGS) continue;
        FUZZ_CHECK(table_rank(job, column, n) == EXIT_DONE);
        check_strings(column, n, c->text ? c->text_bytes : c->keys_bytes);
    }
}

/* Writes the records at all positions, of which there are no more than in the input. */
static void write_records(struct job *job)
{
    const size_t n = (size_t)job->column.n;
    struct io_output output;
    struct io_error error;
    uint64_t *positions = malloc(n * sizeof *positions + 1);
    FUZZ_CHECK(positions);
    for (size_t i = 0; i < n; i++) positions[i] = n - 1 - i;
    FUZZ_CHECK(io_create(&output, "/dev/null", &error) == IO_OK);
    table_write_records(job, &output, true, positions, n / 2, &error);
    io_discard(&output);
    free(positions);
}

/* A file in memory, which the reader opens by its name. */
static int make_file(const unsigned char *bytes, size_t n, char path[64])
{
    const int fd = memfd_create("table", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    static ech_ctx *ctx;
    if (!ctx) FUZZ_CHECK(ech_open(&ctx, "cpu") == ECH_OK);
    const unsigned char *newline = memchr(bytes, '\n', n);
    const size_t first = newline ? (size_t)(newline - bytes) : n;
    char *text = malloc(first + 1), path[64];
    FUZZ_CHECK(text);
    memcpy(text, bytes, first);
    text[first] = 0;
    struct condition condition;
    struct table table = { .has_string = true };
    struct io_records records;
    struct job job = { .ctx = ctx, .working = "testing", .input = path, .records = &records };
    struct job_words words = { .format = "text" };
    cli_progress_start(&job.progress);
    if (condition_parse(text, &condition) == EXIT_DONE) {
        FUZZ_CHECK(condition.tests == 1 || condition.tests == 2);
        const size_t rest = n - first - (newline ? 1 : 0);
        const int fd = make_file(bytes + n - rest, rest, path);
        if (rest && bytes[n - rest] == 0x93) words.format = "npy";
        int code = condition_columns(&condition, 1, NULL, -1, &table);
        if (code == EXIT_DONE && condition.column && strcmp(words.format, "text") == 0)
            FUZZ_CHECK(table_add(&table, "1", TABLE_STRINGS, -1) >= 0);
        code = table_load(&job, &words, &table);
        if (code == EXIT_DONE) check_rows(&job, &condition, &table);
        if (code == EXIT_DONE && job.record_bytes) write_records(&job);
        close(fd);
    }
    condition_free(&condition);
    table_free(&table);
    io_free_column(&job.column);
    free(text);
    return 0;
}
