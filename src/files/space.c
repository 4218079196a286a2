/*
 * files/space.c - temporary files without names, and space that is reserved before work begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* O_TMPFILE, O_DIRECT, fallocate() */
#include "files/internal.h"
#include "files/resume.h"
#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- Reserving ---- */

/* Reserves the first bytes of the file, whose size does not change.  Returns 0 or an errno.  A file
 * system that cannot reserve is asked for its free space; an interrupted sort may have filled a
 * part of the file. */
static int reserve(int fd, uint64_t bytes)
{
    struct statvfs about;
    struct stat file;
    int result;
    if (!bytes) return 0;
    do {
        result = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
    } while (result != 0 && errno == EINTR);
    if (result == 0) return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return errno;
    if (fstatvfs(fd, &about) != 0 || fstat(fd, &file) != 0) return 0;
    const uint64_t filled = 512 * (uint64_t)file.st_blocks;
    return (uint64_t)about.f_bavail * about.f_frsize + filled < bytes ? ENOSPC : 0;
}

static double free_gigabytes(int fd)
{
    struct statvfs about;
    if (fstatvfs(fd, &about) != 0) return 0;
    return 1e-9 * (double)about.f_bavail * (double)about.f_frsize;
}

io_status files_reserve_output(const struct files_sort *sort, uint64_t bytes,
                               struct io_error *error)
{
    const struct io_output *output = sort->output;
    if (!sort->output_is_file) return IO_OK;
    const int why = reserve(output->fd, bytes);
    if (!why) return IO_OK;
    return io_fail(error, IO_FAIL, output->name,
                   "cannot reserve %llu bytes for the output: %s (%.3f GB are free)",
                   (unsigned long long)bytes, strerror(why), free_gigabytes(output->fd));
}

/* ---- Temporary files ---- */

/* A file with a name, which is removed at once. */
static int open_named(const char *directory)
{
    const size_t room = strlen(directory) + sizeof "/echelon.XXXXXX";
    char *name = malloc(room);
    if (!name) return -1;
    snprintf(name, room, "%s/echelon.XXXXXX", directory);
    const int fd = io_temporary_make(name);
    if (fd >= 0) {
        unlink(name);
        io_temporary_forget(name);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    const int why = errno;
    free(name);
    errno = why;
    return fd;
}

static int open_unnamed(const char *directory)
{
#ifdef O_TMPFILE
    int fd;
    do {
        fd = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EINTR);
    if (fd >= 0 || errno == EMFILE || errno == ENFILE || errno == ENOSPC) return fd;
#endif
    return open_named(directory);
}

/* Opens the file again for direct transfers; -1 if that is not possible. */
static int open_direct(int fd)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return io_open_file(name, O_RDWR | O_DIRECT);
}

io_status files_temporary(const char *directory, int *fd, struct io_error *error)
{
    *fd = open_unnamed(directory);
    return *fd >= 0 ? IO_OK
                    : io_fail(error, IO_FAIL, directory, "cannot create a temporary file: %s",
                              strerror(errno));
}

static io_status open_one(struct files_space *space, int i, uint64_t bytes,
                          struct files_resume *resume, struct io_error *error)
{
    const char *directory = space->files[i].directory;
    int fd = resume ? files_resume_file(resume, i) : -1;
    const io_status status = resume ? IO_OK : files_temporary(directory, &fd, error);
    if (status != IO_OK) return status;
    if (fd < 0)
        return io_fail(error, IO_FAIL, resume->temporary[i], "cannot open: %s%s", strerror(errno),
                       errno == ENOENT ? "; begin again with --resume=restart" : "");
    space->files[i].fd = space->files[i].plain_fd = fd;
    const int why = reserve(fd, bytes);
    if (why)
        return io_fail(error, IO_FAIL, directory,
                       "cannot reserve %llu bytes of temporary space: %s (%.3f GB are free); -T "
                       "selects other directories",
                       (unsigned long long)bytes, strerror(why), free_gigabytes(fd));
    return IO_OK;
}

static void use_direct(struct files_space *space)
{
    int direct[FILES_MOST_DIRECTORIES], opened = 0;
    while (opened < space->count) {
        direct[opened] = open_direct(space->files[opened].plain_fd);
        if (direct[opened] < 0) break;
        opened++;
    }
    space->direct = opened == space->count;
    for (int i = 0; i < opened; i++) {
        if (space->direct)
            space->files[i].fd = direct[i];
        else
            close(direct[i]);
    }
}

io_status files_space_open(struct files_space *space, const struct files_sort *sort,
                           uint64_t blocks, uint64_t block_bytes, bool direct,
                           struct files_resume *resume, struct io_error *error)
{
    io_status status = IO_OK;
    *space = (struct files_space){ .block_bytes = block_bytes };
    while (space->count < sort->directory_count && space->count < FILES_MOST_DIRECTORIES) {
        space->files[space->count].directory = sort->directories[space->count];
        space->files[space->count].fd = space->files[space->count].plain_fd = -1;
        space->count++;
    }
    const uint64_t files = (uint64_t)space->count;
    for (int i = 0; i < space->count && status == IO_OK; i++) {
        const uint64_t own = (blocks + files - 1 - (uint64_t)i) / files;
        status = open_one(space, i, own * block_bytes, resume, error);
    }
    if (status == IO_OK && direct) use_direct(space);
    if (status != IO_OK) files_space_close(space);
    return status;
}

void files_space_close(struct files_space *space)
{
    for (int i = 0; i < space->count; i++) {
        if (space->files[i].fd != space->files[i].plain_fd) close(space->files[i].fd);
        if (space->files[i].plain_fd >= 0) close(space->files[i].plain_fd);
    }
    space->count = 0;
}

/* ---- The speed of the disk ---- */

enum { MEASURED = 256 << 20, MEASURED_AT_ONCE = 32 << 20 };

/* Transfers of at_once bytes each, at from, from + step and so on. */
struct moves {
    int fd;
    uint64_t from, step, count;
    size_t at_once;
    bool write;
};

/* Bytes per second.  There is always a request: another part begins before one ends. */
static double move_all(struct files_run *run, const struct moves *m)
{
    struct files_batch batches[2] = { { 0 } };
    const double start = files_seconds();
    int why = 0;
    for (uint64_t i = 0; i < m->count; i++) {
        char *memory = run->arena + i % 2 * m->at_once;
        const uint64_t at = m->from + i * m->step;
        why = files_wait(run->queue, &batches[i % 2]);
        if (why) break;
        if (m->write)
            files_write(run->queue, &batches[i % 2], m->fd, memory, m->at_once, at);
        else
            files_read(run->queue, &batches[i % 2], m->fd, memory, m->at_once, at);
    }
    for (int i = 0; i < 2; i++) {
        const int last = files_wait(run->queue, &batches[i]);
        if (!why) why = last;
    }
    /* What the disk keeps in a cache of its own is not written yet. */
    if (m->write && !why && fdatasync(m->fd) != 0) why = errno;
    const double seconds = files_seconds() - start;
    return why || seconds <= 0 ? 0 : (double)(m->count * m->at_once) / seconds;
}

/* Reads places of an input that is read past the page cache. */
static double read_input(struct files_run *run, const struct files_extents *extents,
                         struct moves moves)
{
    size_t e = 0;
    while (e < extents->count && (!extents->at[e].direct_fd || extents->at[e].bytes < MEASURED))
        e++;
    if (e == extents->count) return 0;
    const struct files_extent *extent = &extents->at[e];
    moves.fd = extent->direct_fd;
    moves.from = files_round_up(extent->offset, FILES_ALIGN);
    moves.step = extent->bytes / (moves.count + 1) / FILES_ALIGN * FILES_ALIGN;
    return move_all(run, &moves);
}

/* Past the page cache, or not at all.  A disk may have a cache of its own, or that of the host of a
 * virtual machine, with what was written lately: temporary files are read faster than the input. */
void files_measure(struct files_run *run, const struct files_space *space,
                   const struct files_plan *plan, const struct files_extents *extents)
{
    struct files_times *times = &run->sort->times;
    struct moves moves = { .at_once = MEASURED_AT_ONCE };
    /* The memory of the first pass, which has more than two blocks. */
    if (moves.at_once > plan->block_bytes) moves.at_once = (size_t)plan->block_bytes;
    uint64_t bytes = plan->temporary_bytes / (uint64_t)space->count;
    if (bytes > MEASURED) bytes = MEASURED;
    moves.count = bytes / moves.at_once;
    moves.step = moves.at_once;
    const double start = files_seconds();
    moves.fd = space->direct ? space->files[0].fd : open_direct(space->files[0].plain_fd);
    if (moves.fd < 0) return;
    if (moves.count) {
        /* Memory that was never written may be the page of zeros, which the disk may skip. */
        memset(run->arena, 0x5a, 2 * moves.at_once);
        moves.write = true;
        times->disk_write = move_all(run, &moves);
        moves.write = false;
        times->disk_read = move_all(run, &moves);
        times->disk_input = read_input(run, extents, moves);
    }
    if (!space->direct) close(moves.fd);
    times->measure = files_seconds() - start;
}
