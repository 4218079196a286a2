/*
 * io/output.c - writes a file completely or not at all.
 *
 *     io_create()   dir/.name.XXXXXX, with the mode of the file it will replace
 *     io_write()    through a buffer
 *     io_commit()   flush, fsync, rename to dir/name, fsync the directory
 *     io_discard()  unlink
 *
 * A signal handler unlinks the temporary file, too.  Symbolic links are followed, so that their
 * target is replaced.  Devices and pipes are written directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Temporary files, which a signal removes ---- */

static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { DEADLY = sizeof deadly / sizeof *deadly };
enum { DOOMED = 4 }; /* maximum of open temporary files */
static char *volatile doomed[DOOMED];

static void remove_and_die(int number)
{
    for (int i = 0; i < DOOMED; i++)
        if (doomed[i]) unlink(doomed[i]);
    /* The handler was reset, so the signal now ends the program. */
    raise(number);
}

static void watch_signals(void)
{
    struct sigaction action = { .sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < DEADLY; i++) {
        struct sigaction before;
        sigaction(deadly[i], NULL, &before);
        if (before.sa_handler == SIG_DFL) sigaction(deadly[i], &action, NULL);
    }
    /* If the file size limit is exceeded, write() fails, and a message is printed. */
    signal(SIGXFSZ, SIG_IGN);
}

/* Replaces the entry from by to. */
static void replace_doomed(const char *from, char *to)
{
    int i = 0;
    while (i < DOOMED - 1 && doomed[i] != from) i++;
    doomed[i] = to;
}

/* Signals are blocked between the creation of the file and the registration of its name. */
static int make_temporary(char *pattern)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int fd = mkstemp(pattern), why = errno;
    if (fd >= 0) replace_doomed(NULL, pattern);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return fd;
}

/* ---- Create ---- */

/* "dir/.name.XXXXXX" for "dir/name"; NULL if out of memory. */
static char *temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t directory = slash ? (size_t)(slash + 1 - path) : 0, room = strlen(path) + 9;
    char *name = malloc(room);
    if (!name) return NULL;
    /* A long name is truncated, because a name has at most 255 bytes. */
    snprintf(name, room, "%.*s.%.200s.XXXXXX", (int)directory, path, path + directory);
    return name;
}

static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static io_status create_in_same_folder(struct io_output *output, const char *path,
                                       const struct stat *old, struct io_error *error)
{
    output->path = old ? realpath(path, NULL) : strdup(path);
    output->temporary = output->path ? temporary_name(output->path) : NULL;
    if (!output->temporary) return io_no_memory(error, path, strlen(path), "its name");
    if (old && access(path, W_OK) != 0)
        return io_fail(error, IO_FAIL, path, "cannot write: %s", strerror(errno));
    watch_signals();
    output->fd = make_temporary(output->temporary);
    if (output->fd < 0) {
        io_fail(error, IO_FAIL, path, "cannot create a file in its directory: %s", strerror(errno));
        free(output->temporary);
        output->temporary = NULL;
        return IO_FAIL;
    }
    fcntl(output->fd, F_SETFD, FD_CLOEXEC);
    /* The owner first: changing it may clear mode bits.  A missing permission is not an error. */
    if (old && fchown(output->fd, old->st_uid, old->st_gid) != 0) errno = 0;
    if (fchmod(output->fd, old ? old->st_mode & 07777 : new_file_mode()) != 0)
        return io_fail(error, IO_FAIL, path, "cannot set the file mode: %s", strerror(errno));
    return IO_OK;
}

io_status io_create(struct io_output *output, const char *path, struct io_error *error)
{
    *output = (struct io_output){ .fd = STDOUT_FILENO, .name = "standard output" };
    output->buffer = malloc(IO_BUFFER);
    if (!output->buffer) return io_no_memory(error, output->name, IO_BUFFER, "a buffer");
    io_status status = IO_OK;
    struct stat old;
    if (!path || strcmp(path, "-") == 0) {
        signal(SIGXFSZ, SIG_IGN);
    } else {
        output->name = path;
        output->fd = -1;
        bool there = stat(path, &old) == 0;
        if (!there && errno != ENOENT) {
            status = io_fail(error, IO_FAIL, path, "cannot write: %s", strerror(errno));
        } else if (there && S_ISDIR(old.st_mode)) {
            status = io_fail(error, IO_FAIL, path, "is a directory: give the name of a file");
        } else if (there && !S_ISREG(old.st_mode)) {
            output->fd = open(path, O_WRONLY | O_CLOEXEC);
            if (output->fd < 0)
                status = io_fail(error, IO_FAIL, path, "cannot write: %s", strerror(errno));
        } else {
            status = create_in_same_folder(output, path, there ? &old : NULL, error);
        }
    }
    if (status != IO_OK) io_discard(output);
    return status;
}

/* ---- Write ---- */

static io_status write_through(struct io_output *output, const char *bytes, size_t n,
                               struct io_error *error)
{
    while (n) {
        ssize_t done = write(output->fd, bytes, n < IO_BLOCK ? n : IO_BLOCK);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0)
            return io_fail(error, IO_FAIL, output->name, "cannot write: %s", strerror(errno));
        bytes += done;
        n -= (size_t)done;
        output->written_bytes += (uint64_t)done;
        if (output->progress)
            output->progress->tick(output->progress->user, output->written_bytes,
                                   output->total_bytes);
    }
    return IO_OK;
}

static io_status flush(struct io_output *output, struct io_error *error)
{
    size_t n = output->used;
    output->used = 0;
    return write_through(output, output->buffer, n, error);
}

io_status io_write(struct io_output *output, const void *bytes, size_t n, struct io_error *error)
{
    if (n > IO_BUFFER - output->used) {
        io_status status = flush(output, error);
        if (status != IO_OK) return status;
    }
    if (n >= IO_BUFFER) return write_through(output, bytes, n, error);
    if (n) memcpy(output->buffer + output->used, bytes, n);
    output->used += n;
    return IO_OK;
}

/* ---- Commit ---- */

/* Makes the rename durable.  A file system without this feature is not an error. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

io_status io_commit(struct io_output *output, struct io_error *error)
{
    io_status status = flush(output, error);
    if (status == IO_OK && output->temporary && fsync(output->fd) != 0)
        status = io_fail(error, IO_FAIL, output->name, "cannot write: %s", strerror(errno));
    int fd = output->fd;
    output->fd = -1;
    if (close(fd) != 0 && status == IO_OK)
        status = io_fail(error, IO_FAIL, output->name, "cannot write: %s", strerror(errno));
    if (status == IO_OK && output->temporary) {
        if (rename(output->temporary, output->path) != 0) {
            status = io_fail(error, IO_FAIL, output->name, "cannot replace it by %s: %s",
                             output->temporary, strerror(errno));
        } else {
            replace_doomed(output->temporary, NULL);
            free(output->temporary);
            output->temporary = NULL;
            sync_directory(output->path);
        }
    }
    io_discard(output);
    return status;
}

void io_discard(struct io_output *output)
{
    if (output->fd > STDOUT_FILENO) close(output->fd);
    output->fd = -1;
    if (output->temporary) {
        unlink(output->temporary);
        replace_doomed(output->temporary, NULL);
    }
    free(output->temporary);
    free(output->path);
    free(output->buffer);
    output->temporary = output->path = output->buffer = NULL;
}
