/*
 * io/source.c - reads the bytes of a file, a pipe or memory, with look-ahead.
 *
 * The size of a file is only a hint: the file may change while it is read, and a pipe has no size.
 * So the memory grows with the bytes that arrive, by doubling, which is cheap because the C library
 * remaps the pages of large blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#undef io_fail /* io.h */
io_status io_fail(struct io_error *error, io_status status, const char *name, const char *format,
                  ...)
{
    enum { KEPT = 250 }; /* bytes of a long name at each end */
    const size_t length = strlen(name);
    int at = length <= 2 * KEPT ? snprintf(error->text, sizeof error->text, "%s: ", name)
                                : snprintf(error->text, sizeof error->text, "%.*s...%s: ", KEPT,
                                           name, name + length - KEPT);
    if (at < 0 || (size_t)at >= sizeof error->text) return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text + at, sizeof error->text - (size_t)at, format, arguments);
    va_end(arguments);
    return status;
}

io_status io_no_memory(struct io_error *error, const char *name, uint64_t bytes, const char *what)
{
    return io_fail(error, IO_MEMORY, name, "out of memory: cannot allocate %llu bytes for %s",
                   (unsigned long long)bytes, what);
}

io_status io_check_memory(struct io_error *error, const char *name, uint64_t rows, uint64_t cols,
                          uint64_t need, uint64_t input_bytes, uint64_t per_byte)
{
    uint64_t limit = (uint64_t)1 << 30;
    if (__builtin_mul_overflow(input_bytes, per_byte, &per_byte) ||
        __builtin_add_overflow(limit, per_byte, &limit))
        limit = UINT64_MAX;
    if (need <= limit) return IO_OK;
    return io_fail(error, IO_FAIL, name,
                   "has %llu rows and %llu columns, which need %llu bytes of memory; the limit for "
                   "an input of %llu bytes is %llu",
                   (unsigned long long)rows, (unsigned long long)cols, (unsigned long long)need,
                   (unsigned long long)input_bytes, (unsigned long long)limit);
}

uint64_t io_machine_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : INT64_MAX;
}

int io_open_file(const char *path, int flags)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

io_status io_open(struct io_source *source, const char *path, struct io_error *error)
{
    *source = (struct io_source){ .fd = STDIN_FILENO, .name = "standard input" };
    if (strcmp(path, "-") != 0) {
        source->name = path;
        source->fd = io_open_file(path, O_RDONLY);
        if (source->fd < 0)
            return io_fail(error, IO_FAIL, path, "cannot open: %s", strerror(errno));
    }
    struct stat about;
    if (fstat(source->fd, &about) != 0) {
        io_fail(error, IO_FAIL, source->name, "cannot read: %s", strerror(errno));
        io_close(source);
        return IO_FAIL;
    }
    if (S_ISDIR(about.st_mode)) {
        io_fail(error, IO_FAIL, source->name, "is a directory, not a file");
        io_close(source);
        return IO_FAIL;
    }
    off_t at = S_ISREG(about.st_mode) ? lseek(source->fd, 0, SEEK_CUR) : -1;
    if (at >= 0 && about.st_size > at) source->size = (uint64_t)(about.st_size - at);
    return IO_OK;
}

void io_open_memory(struct io_source *source, const char *name, const void *bytes, size_t n)
{
    *source =
        (struct io_source){ .fd = -1, .name = name, .size = n, .ahead = bytes, .ahead_bytes = n };
}

void io_close(struct io_source *source)
{
    if (source->fd > STDIN_FILENO) close(source->fd);
    source->fd = -1;
}

/* One read(), repeated if interrupted; *got is 0 at the end. */
static io_status read_some(struct io_source *source, void *to, size_t want, size_t *got,
                           struct io_error *error)
{
    *got = 0;
    if (source->fd < 0) return IO_OK;
    if (want > IO_BLOCK) want = IO_BLOCK;
    ssize_t n;
    do n = read(source->fd, to, want);
    while (n < 0 && errno == EINTR);
    if (n < 0) return io_fail(error, IO_FAIL, source->name, "cannot read: %s", strerror(errno));
    *got = (size_t)n;
    return IO_OK;
}

io_status io_look(struct io_source *source, struct io_error *error)
{
    if (source->ahead_bytes || source->fd < 0) return IO_OK;
    size_t have = 0, got;
    do {
        io_status status = read_some(source, source->look + have, IO_LOOK - have, &got, error);
        if (status != IO_OK) return status;
        have += got;
    } while (got && have < IO_LOOK);
    source->ahead = source->look;
    source->ahead_bytes = have;
    return IO_OK;
}

io_status io_read(struct io_source *source, void *to, size_t want, size_t *got,
                  struct io_error *error)
{
    char *at = to;
    size_t n = want < source->ahead_bytes ? want : source->ahead_bytes;
    if (n) {
        memcpy(at, source->ahead, n);
        source->ahead += n;
        source->ahead_bytes -= n;
    }
    *got = n;
    while (*got < want) {
        io_status status = read_some(source, at + *got, want - *got, &n, error);
        if (status != IO_OK) return status;
        if (n == 0) break;
        *got += n;
    }
    return IO_OK;
}

/* Resizes block to bytes; returns NULL after a message if out of memory. */
static char *grow(struct io_source *source, char *block, uint64_t bytes, struct io_error *error)
{
    char *larger = bytes <= PTRDIFF_MAX ? realloc(block, (size_t)bytes) : NULL;
    if (!larger) io_no_memory(error, source->name, bytes, "its contents");
    return larger;
}

io_status io_read_all(struct io_source *source, uint64_t most, uint64_t expected, size_t spare,
                      void **bytes, size_t *got, struct io_error *error)
{
    /* One byte more than expected, so that the end is detected without growing. */
    uint64_t room = expected ? expected + 1 : (uint64_t)1 << 16;
    if (room > most) room = most;
    io_status status = IO_OK;
    uint64_t have = 0;
    char *block = grow(source, NULL, room + spare + 1, error);
    if (!block) return IO_MEMORY;

    while (have < most) {
        if (have == room) {
            room = room > most / 2 ? most : 2 * room;
            char *larger = grow(source, block, room + spare + 1, error);
            if (!larger) status = IO_MEMORY;
            if (!larger) goto fail;
            block = larger;
        }
        size_t want = room - have < IO_BLOCK ? (size_t)(room - have) : IO_BLOCK, n;
        status = io_read(source, block + have, want, &n, error);
        if (status != IO_OK) goto fail;
        have += n;
        if (source->progress) source->progress->tick(source->progress->user, have, source->size);
        if (n < want) break;
    }
    if (room - have > IO_BLOCK) {
        char *smaller = realloc(block, (size_t)have + spare + 1);
        if (smaller) block = smaller;
    }
    *bytes = block;
    *got = (size_t)have;
    return IO_OK;
fail:
    free(block);
    return status;
}
