/*
 * sort_after.c - outputs of an external sort of "echelon sort" that are not the sorted records.
 *
 *     sorted records -> temporary file -> text of numbers or positions
 *                                      -> .npy array, whose header has the number of elements
 *                                      -> lines with their keys underlined
 *
 * The external sort writes records; what the output contains is made from them block by block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "sort_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

/* Sorts into the temporary file. */
static io_status sort_to(struct sort_files *files, int fd, const char *directory,
                         struct io_error *error)
{
    struct io_output elements = { .fd = dup(fd), .name = directory, .buffer = malloc(IO_BUFFER) };
    io_status status = IO_OK;
    if (elements.fd < 0 || !elements.buffer)
        status = io_no_memory(error, directory, IO_BUFFER, "a buffer");
    files->sort.output = &elements;
    files->sort.output_is_file = false;
    files->sort.head_bytes = 0;
    files->sort.patch = NULL;
    if (status == IO_OK) status = files_sort(&files->sort, error);
    if (status == IO_OK) status = io_commit(&elements, error);
    io_discard(&elements);
    return status;
}

io_status sort_files_after(struct sort_files *files, struct io_error *error)
{
    struct io_output *output = files->sort.output;
    const char *directory = files->sort.directories[0];
    struct io_source source = { .name = directory };
    if (files->sort.resume)
        return io_fail(error, IO_FAIL, output->name,
                       "--resume cannot be combined with an output of numbers as text");
    io_status status = files_temporary(directory, &source.fd, error);
    if (status != IO_OK) return status;
    status = sort_to(files, source.fd, directory, error);
    files->sort.output = output;
    if (status == IO_OK && lseek(source.fd, 0, SEEK_SET) != 0)
        status = io_fail(error, IO_FAIL, directory, "cannot read a temporary file");
    if (status == IO_OK) status = files->after(files, &source, output, error);
    close(source.fd);
    return status;
}

void sort_plan_after(struct sort_files *files, bool unknown)
{
    const io_format format = files->job->base.out_format;
    files->after = NULL;
    if (format == IO_TEXT) files->after = sort_after_text;
    if (format == IO_NPY && !files->is_file && unknown) files->after = sort_after_array;
}

/* ---- Numbers ---- */

/* Copies the elements, or formats them. */
static io_status write_elements(const struct sort_files *files, struct io_source *source,
                                struct io_output *output, bool text, struct io_error *error)
{
    const ech_dtype dtype = (ech_dtype)files->text_type;
    size_t got = BLOCK;
    char *block = malloc(BLOCK);
    io_status status = block ? IO_OK : io_no_memory(error, source->name, BLOCK, "a block");
    while (got == BLOCK && status == IO_OK) {
        status = io_read(source, block, BLOCK, &got, error);
        if (status != IO_OK) break;
        status = text ? write_numbers(output, dtype, block, got / ech_dtype_bytes(dtype), error)
                      : io_write(output, block, got, error);
    }
    free(block);
    return status;
}

io_status sort_after_text(const struct sort_files *files, struct io_source *source,
                          struct io_output *output, struct io_error *error)
{
    return write_elements(files, source, output, true, error);
}

io_status sort_after_array(const struct sort_files *files, struct io_source *source,
                           struct io_output *output, struct io_error *error)
{
    unsigned char header[IO_NPY_HEADER];
    const size_t bytes = io_npy_header(files->descr, files->sort.written, header);
    const io_status status = io_write(output, header, bytes, error);
    return status == IO_OK ? write_elements(files, source, output, false, error) : status;
}

/* ---- Lines ---- */

/* Writes the whole records of a block; *done receives their bytes. */
static io_status write_records(const struct sort_files *files, const char *block, size_t bytes,
                               struct io_output *output, size_t *done, struct io_error *error)
{
    const struct lines_order *order = files->text->order;
    io_status status = IO_OK;
    for (*done = 0; *done < bytes && status == IO_OK;) {
        const char *record = block + *done;
        const size_t n = lines_next(order, record, bytes - *done);
        const size_t body = lines_body(order, record, n);
        if (body == n) break; /* its end is not in the block */
        status = sort_write_debug(output, order, record, body, error);
        *done += n;
    }
    return status;
}

io_status sort_after_debug(const struct sort_files *files, struct io_source *source,
                           struct io_output *output, struct io_error *error)
{
    size_t room = BLOCK, have = 0, got = room, done;
    char *block = malloc(room);
    io_status status = block ? IO_OK : io_no_memory(error, source->name, room, "a block");
    if (status == IO_OK) status = io_write(output, files->head, files->head_bytes, error);
    while (status == IO_OK && got) {
        if (have == room) { /* a record that is longer */
            char *larger = realloc(block, 2 * room);
            if (!larger) status = io_no_memory(error, source->name, 2 * room, "a line");
            if (!larger) break;
            block = larger;
            room *= 2;
        }
        status = io_read(source, block + have, room - have, &got, error);
        if (status != IO_OK) break;
        have += got;
        status = write_records(files, block, have, output, &done, error);
        memmove(block, block + done, have - done);
        have -= done;
    }
    free(block);
    return status;
}
