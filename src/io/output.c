/*
 * io/output.c - writes a file completely or not at all.
 *
 *     io_create()   a file without a name, if the file system supports it; otherwise
 *                   dir/.name.XXXXXX; with the owner and mode of the file it will replace
 *     io_write()    through a buffer
 *     io_commit()   flush, fsync, link or rename to dir/name, fsync the directory
 *     io_discard()  unlink
 *
 * A signal handler (temporary.c) unlinks the temporary file, too.  Symbolic links are followed, so
 * that their target is replaced or created.  Devices, pipes and open files such as /dev/stdout are
 * written directly.  If the extension is .gz or .zst, the file is compressed (pack.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "io/packing.h"
#include "io/temporary.h"
#include "io/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Symbolic links ---- */

enum { MOST_LINKS = 40 };

/* "dir/" of "dir/name", or "" */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strndup(path, slash ? (size_t)(slash + 1 - path) : 0);
}

/* The text of the symbolic link at path, relative to the directory of path.  NULL if out of memory,
 * or if path is not a link. */
static char *read_link(const char *path)
{
    char text[PATH_MAX], *target = NULL;
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n <= 0) return NULL;
    text[n] = 0;
    if (text[0] == '/') return strdup(text);
    char *directory = directory_of(path);
    size_t room = directory ? strlen(directory) + (size_t)n + 1 : 0;
    if (room) target = malloc(room);
    if (target) snprintf(target, room, "%s%s", directory, text);
    free(directory);
    return target;
}

/* The number of the open file that path refers to as /proc/self/fd/1 does; -1: none. */
static int open_file_number(const char *path)
{
    char directory[PATH_MAX], own[PATH_MAX], *parent = directory_of(path);
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    bool same = parent && *name && strlen(name) < 10 &&
                strspn(name, "0123456789") == strlen(name) &&
                realpath(*parent ? parent : ".", directory) && realpath("/proc/self/fd", own) &&
                strcmp(directory, own) == 0;
    free(parent);
    return same ? atoi(name) : -1;
}

/* Follows the symbolic links of *path, whose target need not exist.  Stops at an open file, and
 * returns its number; otherwise returns -1. */
static int follow_links(char **path)
{
    for (int links = 0; links < MOST_LINKS && *path; links++) {
        int fd = open_file_number(*path);
        if (fd >= 0) return fd;
        char *target = read_link(*path);
        if (!target) break;
        free(*path);
        *path = target;
    }
    return -1;
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

/* Opens a file without a name in the directory of path, which vanishes unless it is linked.
 * Returns -1 if that is not supported. */
static int open_unnamed(const char *path)
{
    int fd = -1;
#ifdef O_TMPFILE
    char link[32], *directory = directory_of(path);
    if (directory) fd = open(*directory ? directory : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(directory);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (fd >= 0 && access(link, F_OK) != 0) { /* /proc is not mounted */
        close(fd);
        fd = -1;
    }
#else
    (void)path;
#endif
    return fd;
}

/* Gives the file the owner and the mode of the file it will replace, or those of a new file. */
static io_status take_over(struct io_output *output, const char *name, const struct stat *old,
                           struct io_error *error)
{
    /* The owner first: changing it may clear mode bits.  A missing permission is not an error. */
    if (old && fchown(output->fd, old->st_uid, old->st_gid) != 0) errno = 0;
    if (fchmod(output->fd, old ? old->st_mode & 07777 : new_file_mode()) != 0)
        return io_fail(error, IO_FAIL, name, "cannot set the file mode: %s", strerror(errno));
    return IO_OK;
}

static io_status create_in_same_folder(struct io_output *output, const char *name,
                                       const struct stat *old, struct io_error *error)
{
    if (old && access(output->path, W_OK) != 0)
        return io_fail(error, IO_FAIL, name, "cannot write: %s", strerror(errno));
    output->fd = open_unnamed(output->path);
    output->unnamed = output->fd >= 0;
    if (output->unnamed) return old ? take_over(output, name, old, error) : IO_OK;
    output->temporary = temporary_name(output->path);
    if (!output->temporary) return io_no_memory(error, name, strlen(output->path), "its name");
    output->fd = io_temporary_make(output->temporary);
    if (output->fd < 0) {
        io_fail(error, IO_FAIL, name, "cannot create a file in its directory: %s", strerror(errno));
        free(output->temporary);
        output->temporary = NULL;
        return IO_FAIL;
    }
    fcntl(output->fd, F_SETFD, FD_CLOEXEC);
    return take_over(output, name, old, error);
}

/* Opens a device or a pipe, or duplicates the open file fd. */
static io_status open_directly(struct io_output *output, int fd, struct io_error *error)
{
    const char *name = output->name;
    if (fd < 0) {
        output->fd = io_open_file(output->path, O_WRONLY);
    } else {
        int flags = fcntl(fd, F_GETFL);
        if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
            return io_fail(error, IO_FAIL, name, "cannot write: it is open only for reading");
        output->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (output->fd < 0) return io_fail(error, IO_FAIL, name, "cannot write: %s", strerror(errno));
    return IO_OK;
}

static io_status create_path(struct io_output *output, const char *path, struct io_error *error)
{
    struct stat old;
    output->name = path;
    output->fd = -1;
    output->path = strdup(path);
    int open_file = follow_links(&output->path);
    if (!output->path) return io_no_memory(error, path, strlen(path), "its name");
    if (open_file >= 0) return open_directly(output, open_file, error);
    bool there = stat(output->path, &old) == 0;
    if (!there && errno != ENOENT)
        return io_fail(error, IO_FAIL, path, "cannot write: %s", strerror(errno));
    if (there && S_ISDIR(old.st_mode))
        return io_fail(error, IO_FAIL, path, "is a directory: give the name of a file");
    if (there && !S_ISREG(old.st_mode)) return open_directly(output, -1, error);
    return create_in_same_folder(output, path, there ? &old : NULL, error);
}

static io_status no_library(const struct io_codec *codec, const char *path, struct io_error *error)
{
    return io_fail(error, IO_FAIL, path,
                   "the extension means %s, but this program was built without %s: choose another "
                   "name, or install the package %s and build again",
                   codec->name, codec->library, codec->package);
}

io_status io_create(struct io_output *output, const char *path, struct io_error *error)
{
    *output = (struct io_output){ .fd = STDOUT_FILENO, .name = "standard output" };
    output->buffer = malloc(IO_BUFFER);
    if (!output->buffer) return io_no_memory(error, output->name, IO_BUFFER, "a buffer");
    /* If the file size limit is exceeded, write() fails, and a message is printed. */
    signal(SIGXFSZ, SIG_IGN);
    io_status status = IO_OK;
    if (path && strcmp(path, "-") != 0) {
        output->codec = io_codec_from_extension(path);
        status = output->codec && !output->codec->encode ? no_library(output->codec, path, error)
                                                         : create_path(output, path, error);
    }
    if (status != IO_OK) io_discard(output);
    return status;
}

/* ---- Write ---- */

static void count_written(struct io_output *output, size_t n)
{
    output->written_bytes += n;
    if (output->progress)
        output->progress->tick(output->progress->user, output->written_bytes, output->total_bytes);
}

static io_status write_packed(struct io_output *output, const char *bytes, size_t n,
                              struct io_error *error)
{
    io_status status = IO_OK;
    if (!output->pack)
        status = io_pack_open(&output->pack, output->codec, output->fd, output->name,
                              output->threads ? output->threads : io_threads(), error);
    if (status == IO_OK) status = io_pack_write(output->pack, bytes, n, error);
    if (status == IO_OK) count_written(output, n);
    return status;
}

/* A pipe without a reader ends the program, as SIGPIPE does, also if this thread blocks signals. If
 * the program ignores the signal, nothing happens. */
static void end_by_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static io_status write_through(struct io_output *output, const char *bytes, size_t n,
                               struct io_error *error)
{
    if (output->codec) return write_packed(output, bytes, n, error);
    while (n) {
        ssize_t done = write(output->fd, bytes, n < IO_BLOCK ? n : IO_BLOCK);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) {
            const int why = errno;
            if (why == EPIPE) end_by_signal();
            return io_fail(error, IO_FAIL, output->name, "cannot write: %s", strerror(why));
        }
        bytes += done;
        n -= (size_t)done;
        count_written(output, (size_t)done);
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

/* Links the file without a name to a name that does not exist; 0 or -1 as linkat(). */
static int link_unnamed(const struct io_output *output, const char *to)
{
    char from[32];
    snprintf(from, sizeof from, "/proc/self/fd/%d", output->fd);
    return linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

io_status io_name_temporary(struct io_output *output, struct io_error *error)
{
    if (output->temporary) return IO_OK;
    output->temporary = temporary_name(output->path);
    if (!output->temporary)
        return io_no_memory(error, output->name, strlen(output->path), "its name");
    const int fd = io_temporary_make(output->temporary);
    if (fd >= 0) {
        close(fd);
        output->unnamed = false;
        if (io_temporary_link(output->fd, output->temporary) == 0) return IO_OK;
    } else {
        free(output->temporary);
        output->temporary = NULL;
    }
    return io_fail(error, IO_FAIL, output->name, "cannot create a file in its directory: %s",
                   strerror(errno));
}

/* Gives the file without a name its name.  If another program has created the output since, links
 * the file to a temporary name, so that rename() can replace the output. */
static io_status name_unnamed(struct io_output *output, struct io_error *error)
{
    output->unnamed = false;
    if (link_unnamed(output, output->path) == 0) {
        sync_directory(output->path);
        return IO_OK;
    }
    if (errno == EEXIST) return io_name_temporary(output, error);
    return io_fail(error, IO_FAIL, output->name, "cannot create: %s", strerror(errno));
}

io_status io_commit(struct io_output *output, struct io_error *error)
{
    io_status status = flush(output, error);
    if (status == IO_OK && output->codec) status = io_pack_finish(output->pack, error);
    io_pack_close(output->pack);
    output->pack = NULL;
    if (status == IO_OK && (output->temporary || output->unnamed) && fsync(output->fd) != 0)
        status = io_fail(error, IO_FAIL, output->name, "cannot write: %s", strerror(errno));
    if (status == IO_OK && output->unnamed) status = name_unnamed(output, error);
    int fd = output->fd;
    output->fd = -1;
    if (close(fd) != 0 && status == IO_OK)
        status = io_fail(error, IO_FAIL, output->name, "cannot write: %s", strerror(errno));
    if (status == IO_OK && output->temporary) {
        if (rename(output->temporary, output->path) != 0) {
            io_temporary_wait(); /* the handler has removed the file */
            status = io_fail(error, IO_FAIL, output->name, "cannot replace it by %s: %s",
                             output->temporary, strerror(errno));
        } else {
            io_temporary_forget(output->temporary);
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
    io_pack_close(output->pack);
    output->pack = NULL;
    if (output->fd > STDOUT_FILENO) close(output->fd);
    output->fd = -1;
    if (output->temporary) {
        unlink(output->temporary);
        io_temporary_forget(output->temporary);
    }
    free(output->temporary);
    free(output->path);
    free(output->buffer);
    output->temporary = output->path = output->buffer = NULL;
}
