/*
 * io/source.c - reads the bytes of a file, a pipe or memory, with look-ahead.
 *
 *     io_open()            a file: reads its first bytes without consuming them
 *     io_look(), io_read() the first call: a pipe: reads its first bytes; if the source is
 *                          compressed, starts its decompression (unpack.c)
 *
 * The size of a file is only a hint: the file may change while it is read, and a pipe has no size.
 * So the memory grows with the bytes that arrive, by doubling, which is cheap because the C library
 * remaps the pages of large blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "io/packing.h"

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

/* ---- Compressed files ---- */

/* Decides whether the source is compressed; the bytes at first are its first n ones. */
static io_status set_codec(struct io_source *source, const unsigned char *first, size_t n,
                           struct io_error *error)
{
    const struct io_codec *named = io_codec_from_extension(source->name);
    source->detect = false;
    if (!named && io_format_from_extension(source->name) == IO_RAW) return IO_OK;
    source->codec = io_codec_from_bytes(first, n);
    if (source->codec) source->size = 0;
    if (source->codec || !named) return IO_OK;
    return io_fail(error, IO_FAIL, source->name,
                   "the extension means %s, but the contents are not compressed", named->name);
}

/* Reads the first bytes of a file at the offset at, which it does not move. */
static io_status detect_file(struct io_source *source, off_t at, struct io_error *error)
{
    unsigned char first[IO_MAGIC];
    size_t n = 0;
    while (n < sizeof first) {
        const ssize_t got = pread(source->fd, first + n, sizeof first - n, at + (off_t)n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return io_fail(error, IO_FAIL, source->name, "cannot read: %s", strerror(errno));
        if (got == 0) break;
        n += (size_t)got;
    }
    return set_codec(source, first, n, error);
}

void io_set_raw(struct io_source *source)
{
    if (source->unpack || io_codec_from_extension(source->name)) return;
    source->detect = false;
    source->codec = NULL;
    source->size = source->file_bytes;
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
    source->file_bytes = source->size;
    source->detect = at < 0;
    const io_status status = at < 0 ? IO_OK : detect_file(source, at, error);
    if (status != IO_OK) io_close(source);
    return status;
}

void io_open_memory(struct io_source *source, const char *name, const void *bytes, size_t n)
{
    *source = (struct io_source){
        .fd = -1, .name = name, .size = n, .file_bytes = n, .ahead = bytes, .ahead_bytes = n
    };
}

void io_close(struct io_source *source)
{
    io_unpack_close(source->unpack);
    source->unpack = NULL;
    if (source->fd > STDIN_FILENO) close(source->fd);
    source->fd = -1;
}

/* ---- Read ---- */

/* One read(), repeated if interrupted; *got is 0 at the end. */
static io_status read_some(struct io_source *source, void *to, size_t want, size_t *got,
                           struct io_error *error)
{
    *got = 0;
    if (source->unpack) return io_unpack_read(source->unpack, to, want, got, error);
    if (source->fd < 0) return IO_OK;
    if (want > IO_BLOCK) want = IO_BLOCK;
    ssize_t n;
    do n = read(source->fd, to, want);
    while (n < 0 && errno == EINTR);
    if (n < 0) return io_fail(error, IO_FAIL, source->name, "cannot read: %s", strerror(errno));
    *got = (size_t)n;
    return IO_OK;
}

/* Fills the empty look-ahead. */
static io_status look(struct io_source *source, struct io_error *error)
{
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

/* Before the first byte is read: decides whether the source is compressed, and starts to decompress
 * it. */
static io_status begin(struct io_source *source, struct io_error *error)
{
    io_status status = IO_OK;
    if (source->detect) {
        if (!source->ahead_bytes) status = look(source, error);
        if (status == IO_OK) status = set_codec(source, source->ahead, source->ahead_bytes, error);
    }
    if (status != IO_OK || !source->codec || source->unpack) return status;
    const size_t ahead_bytes = source->ahead_bytes;
    source->ahead_bytes = 0;
    return io_unpack_open(&source->unpack, source->codec, source->fd, source->name, source->ahead,
                          ahead_bytes, error);
}

io_status io_look(struct io_source *source, struct io_error *error)
{
    const io_status status = begin(source, error);
    if (status != IO_OK || source->ahead_bytes) return status;
    return look(source, error);
}

io_status io_read(struct io_source *source, void *to, size_t want, size_t *got,
                  struct io_error *error)
{
    char *at = to;
    const io_status begun = begin(source, error);
    *got = 0;
    if (begun != IO_OK) return begun;
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

/* Reports progress in bytes of the file. */
static void tick(const struct io_source *source, uint64_t have)
{
    if (!source->progress) return;
    if (source->unpack)
        source->progress->tick(source->progress->user, io_unpack_taken(source->unpack),
                               source->file_bytes);
    else
        source->progress->tick(source->progress->user, have, source->size);
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
        tick(source, have);
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
