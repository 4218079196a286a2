/*
 * sort_file.c - sorts a file with a memory budget that is a small part of it, for faults.py, which
 * lets each of its calls of the C library fail.
 *
 *     sort_file numbers|argsort|records|lines|stream|resume INPUT OUTPUT
 *
 * resume: numbers, with a manifest; if the sort fails, it is continued.
 * As the command: exit status 0, 2 or 4, and a message that begins with "echelon".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "files/files.h"
#include "files/resume.h"
#include "files/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUDGET = 900 << 10, RECORD = 20 };

static union {
    struct files_numbers numbers;
    struct files_records records;
    struct files_lines lines;
} kinds;

static const struct files_kind *choose(const char *what, struct lines_order **order)
{
    const ech_sort_options options = { .size = sizeof options };
    const ech_columns_options columns = { .size = sizeof columns };
    const ech_record_key key = {
        .size = sizeof key, .kind = ECH_KEY_BYTES, .offset_bytes = 2, .width_bytes = 10
    };
    const struct lines_words words = { .delimiter = LINES_BLANKS };
    char error[LINES_ERROR];
    if (strcmp(what, "records") == 0) {
        files_records_init(&kinds.records, RECORD, &key, 1, &columns, "cpu");
        return &kinds.records.kind;
    }
    if (strcmp(what, "lines") == 0) {
        *order = lines_order_new(&words, error);
        if (!*order) return NULL;
        files_lines_init(&kinds.lines, *order, false, 2);
        return &kinds.lines.kind;
    }
    files_numbers_init(&kinds.numbers, ECH_U32, &options, strcmp(what, "argsort") == 0, false,
                       "cpu");
    return &kinds.numbers.kind;
}

static int fail(io_status status, const char *text)
{
    fprintf(stderr, "echelon: %s\n", text);
    return status == IO_MEMORY ? 4 : 2;
}

/* Opens the file and the output, sorts and commits. */
static io_status run(struct files_sort *sort, const char *const *names, bool stream,
                     struct io_error *error)
{
    struct io_source source;
    struct io_output output;
    struct stat about;
    io_status status = io_open(&source, names[0], error);
    if (status != IO_OK) return status;
    struct files_input input = { .name = names[0], .fd = -1, .stream = &source };
    if (!stream && fstat(source.fd, &about) == 0)
        input = (struct files_input){ .name = names[0],
                                      .fd = source.fd,
                                      .bytes = (uint64_t)about.st_size };
    sort->inputs = &input;
    sort->input_count = 1;
    status = io_create(&output, names[1], error);
    if (status == IO_OK) {
        sort->output = &output;
        sort->output_is_file = true;
        status = files_sort(sort, error);
        if (status == IO_OK && sort->resume)
            status = files_resume_commit(sort->resume, &output, error);
        if (status == IO_OK) status = io_commit(&output, error);
        io_discard(&output);
    }
    io_close(&source);
    return status;
}

/* Sorts, and if that fails, continues. */
static io_status run_twice(struct files_sort *sort, const char *const *names,
                           struct io_error *error)
{
    const struct files_sort begin = *sort;
    struct files_resume resume;
    io_status status = IO_FAIL;
    for (int i = 0; i < 2 && status != IO_OK; i++) {
        status = files_resume_open(&resume, names[1], sort->directories, 1, error);
        if (status != IO_OK) continue;
        *sort = begin;
        sort->resume = &resume;
        if (resume.state == FILES_RESUME_COMPLETE)
            status = files_resume_discard(&resume, error);
        else
            status = run(sort, names, false, error);
        files_resume_close(&resume);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const char *const here[] = { "." };
    struct lines_order *order = NULL;
    struct io_error error = { "" };
    struct files_sort sort = { .directories = here,
                               .directory_count = 1,
                               .threads = 2,
                               .transfers = getenv("TRANSFERS"),
                               .verify = true,
                               .device = "cpu" };
    if (argc != 4) return fail(IO_FAIL, "usage: sort_file KIND INPUT OUTPUT");
    sort.kind = choose(argv[1], &order);
    sort.direct = strcmp(argv[1], "records") == 0; /* past the page cache, also the input */
    if (!sort.kind) return fail(IO_MEMORY, "out of memory");
    sort.memory_bytes = ((uint64_t)1216 << 10) + BUDGET;
    if (order) sort.memory_bytes += (uint64_t)13 << 20; /* what the sort of lines needs at least */
    if (ech_open(&sort.ctx, "cpu") != ECH_OK) return fail(IO_MEMORY, ech_error(NULL));
    struct files_queue *queue = files_queue_open(sort.transfers);
    if (!queue) sort.transfers = NULL; /* the system does not permit io_uring */
    files_queue_close(queue);
    const char *const *names = (const char *const *)(argv + 2);
    const io_status status = strcmp(argv[1], "resume") == 0
                                 ? run_twice(&sort, names, &error)
                                 : run(&sort, names, strcmp(argv[1], "stream") == 0, &error);
    ech_close(sort.ctx);
    lines_order_free(order);
    return status == IO_OK ? 0 : fail(status, error.text);
}
