/*
 * sort_numbers_text.c - writes the result of an external sort of numbers, or positions, as text.
 *
 * The external sort writes elements of a fixed size.  They go to a temporary file, from which the
 * text is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "sort_files.h"

#include <stdlib.h>
#include <unistd.h>

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

/* Formats what the temporary file has. */
static io_status write_text(const struct sort_files *files, int fd, const char *directory,
                            struct io_output *output, struct io_error *error)
{
    enum { BLOCK = 1 << 20 };
    const ech_dtype dtype = (ech_dtype)files->text_type;
    struct io_source source = { .fd = fd, .name = directory };
    size_t got = lseek(fd, 0, SEEK_SET) == 0 ? BLOCK : 0;
    char *block = malloc(BLOCK);
    io_status status = block ? IO_OK : io_no_memory(error, directory, BLOCK, "a block");
    while (got == BLOCK && status == IO_OK) {
        status = io_read(&source, block, BLOCK, &got, error);
        if (status == IO_OK)
            status = write_numbers(output, dtype, block, got / ech_dtype_bytes(dtype), error);
    }
    free(block);
    return status;
}

io_status sort_files_as_text(struct sort_files *files, struct io_error *error)
{
    struct io_output *output = files->sort.output;
    const char *directory = files->sort.directories[0];
    int fd;
    if (files->sort.resume)
        return io_fail(error, IO_FAIL, output->name,
                       "--resume cannot be combined with an output of numbers as text");
    io_status status = files_temporary(directory, &fd, error);
    if (status != IO_OK) return status;
    status = sort_to(files, fd, directory, error);
    if (status == IO_OK) status = write_text(files, fd, directory, output, error);
    files->sort.output = output;
    close(fd);
    return status;
}
