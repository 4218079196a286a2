/*
 * files/manifest.c - the file of a manifest: its records, its lock, its creation.
 *
 * A manifest is created without a name, written, and linked to its name, so it is never found
 * without its first record.  Linking fails if another process was faster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "files/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Changes with the contents of the records. */
static const uint64_t format_number = UINT64_C(0x656368656c6f6e01);

struct head {
    uint64_t type, bytes;
};

/* ---- Bytes ---- */

void files_bytes_add(struct files_bytes *to, const void *bytes, size_t n)
{
    if (to->failed || !n) return;
    if (n > to->room - to->n) {
        const size_t room = 2 * to->room > to->n + n ? 2 * to->room : to->n + n;
        unsigned char *larger = realloc(to->at, room);
        to->failed = !larger;
        if (!larger) return;
        to->at = larger;
        to->room = room;
    }
    memcpy(to->at + to->n, bytes, n);
    to->n += n;
}

void files_bytes_free(struct files_bytes *bytes)
{
    free(bytes->at);
    *bytes = (struct files_bytes){ 0 };
}

/* ---- Calls of the system ---- */

int files_write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
    for (size_t done = 0; done < n;) {
        const ssize_t m = pwrite(fd, (const char *)bytes + done, n - done, (off_t)(offset + done));
        if (m < 0 && errno == EINTR) continue;
        if (m <= 0) return m < 0 ? errno : EIO;
        done += (size_t)m;
    }
    return 0;
}

int files_sync(int fd)
{
    int result;
    do {
        result = fdatasync(fd);
    } while (result != 0 && errno == EINTR);
    return result == 0 || errno == EINVAL ? 0 : errno;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

void files_sync_folder(const char *path)
{
    char *folder = folder_of(path);
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd); /* not every file system supports it */
        close(fd);
    }
    free(folder);
}

/* Fewer bytes only at the end of the file; -1: an error. */
static ssize_t read_at(int fd, void *to, size_t n, uint64_t offset)
{
    size_t done = 0;
    while (done < n) {
        const ssize_t m = pread(fd, (char *)to + done, n - done, (off_t)(offset + done));
        if (m < 0 && errno == EINTR) continue;
        if (m < 0) return -1;
        if (m == 0) break;
        done += (size_t)m;
    }
    return (ssize_t)done;
}

/* ---- Records ---- */

static uint64_t hash_record(uint64_t chain, const struct head *head, const unsigned char *contents)
{
    return files_hash(contents, (size_t)head->bytes, files_hash(head, sizeof *head, chain));
}

static bool make_room(struct files_bytes *record, size_t n)
{
    if (n > record->room) {
        unsigned char *larger = realloc(record->at, n);
        if (!larger) return false;
        record->at = larger;
        record->room = n;
    }
    record->n = n;
    return true;
}

/* Reads the record at an offset.  Returns its type; 0: there is no valid one; -1: an error. */
static int read_record(struct files_manifest *manifest, uint64_t offset, uint64_t size,
                       uint64_t *chain)
{
    struct head head;
    uint64_t hash;
    const uint64_t around = sizeof head + sizeof hash;
    struct files_bytes *record = &manifest->record;
    if (offset > size || size - offset < around) return 0;
    ssize_t n = read_at(manifest->fd, &head, sizeof head, offset);
    if (n < 0) return -1;
    const bool fits = (size_t)n == sizeof head && head.bytes <= size - offset - around;
    if (!fits || head.type < FILES_RECORD_SORT || head.type >= FILES_RECORDS) return 0;
    if (!make_room(record, (size_t)head.bytes + sizeof hash)) {
        errno = ENOMEM;
        return -1;
    }
    n = read_at(manifest->fd, record->at, record->n, offset + sizeof head);
    if (n < 0) return -1;
    if ((size_t)n != record->n) return 0;
    record->n = (size_t)head.bytes;
    memcpy(&hash, record->at + record->n, sizeof hash);
    if (hash != hash_record(*chain, &head, record->at)) return 0;
    *chain = hash;
    return (int)head.type;
}

static uint64_t record_bytes(const struct files_bytes *contents)
{
    return sizeof(struct head) + contents->n + sizeof(uint64_t);
}

static io_status cannot_read(const struct files_manifest *manifest, struct io_error *error)
{
    return io_fail(error, errno == ENOMEM ? IO_MEMORY : IO_FAIL, manifest->path, "cannot read: %s",
                   strerror(errno));
}

/* Counts the valid records.  The first one must be that of the sort. */
static io_status count_records(struct files_manifest *manifest, uint64_t size,
                               struct io_error *error)
{
    manifest->chain = format_number;
    for (;;) {
        const int type = read_record(manifest, manifest->bytes, size, &manifest->chain);
        if (type < 0) return cannot_read(manifest, error);
        const bool first = manifest->bytes == 0;
        if (type == 0 || first != (type == FILES_RECORD_SORT)) return IO_OK;
        manifest->counts[type]++;
        manifest->bytes += record_bytes(&manifest->record);
    }
}

bool files_manifest_next(struct files_manifest *manifest, enum files_record type,
                         struct io_error *error, io_status *status)
{
    uint64_t chain = manifest->at ? manifest->at_chain : format_number;
    *status = IO_OK;
    if (!manifest->found || manifest->at >= manifest->bytes) return false;
    const int got = read_record(manifest, manifest->at, manifest->bytes, &chain);
    if (got < 0) *status = cannot_read(manifest, error);
    if (got == 0) {
        errno = EIO;
        *status = cannot_read(manifest, error); /* it was valid before */
    }
    if (*status != IO_OK || (got != (int)type && type != FILES_RECORD_ANY)) return false;
    manifest->at += record_bytes(&manifest->record);
    manifest->at_chain = chain;
    return true;
}

void files_manifest_add(struct files_manifest *manifest, enum files_record type,
                        const struct files_bytes *contents)
{
    const struct head head = { .type = type, .bytes = contents->n };
    struct files_bytes *to = &manifest->pending;
    to->failed |= contents->failed;
    const uint64_t hash = hash_record(manifest->chain, &head, contents->at);
    files_bytes_add(to, &head, sizeof head);
    files_bytes_add(to, contents->at, contents->n);
    files_bytes_add(to, &hash, sizeof hash);
    manifest->chain = hash;
    manifest->counts[type]++;
}

bool files_manifest_take(struct files_manifest *manifest)
{
    const struct files_bytes empty = manifest->writing;
    manifest->writing = manifest->pending;
    manifest->pending = empty;
    manifest->pending.n = 0;
    return manifest->writing.n > 0 || manifest->writing.failed;
}

int files_manifest_write(struct files_manifest *manifest)
{
    struct files_bytes *from = &manifest->writing;
    if (from->failed) return ENOMEM;
    int why = files_write_at(manifest->fd, from->at, from->n, manifest->bytes);
    if (!why) why = files_sync(manifest->fd);
    if (!why) manifest->bytes += from->n;
    from->n = 0;
    return why;
}

/* ---- The file ---- */

/* A process that was killed may still end its transfers, and keeps its lock meanwhile. */
static io_status lock(const struct files_manifest *manifest, struct io_error *error)
{
    enum { TRIES = 100 };
    static const struct timespec wait = { 0, 10000000 };
    int result = -1;
    for (int i = 0; i < TRIES && result != 0; i++) {
        result = flock(manifest->fd, LOCK_EX | LOCK_NB);
        if (result != 0 && errno != EINTR && errno != EWOULDBLOCK) break;
        const int why = errno;
        if (result != 0) nanosleep(&wait, NULL);
        errno = why;
    }
    if (result == 0) return IO_OK;
    return io_fail(error, IO_FAIL, manifest->path, "%s",
                   errno == EWOULDBLOCK ? "another process is working on this sort"
                                        : strerror(errno));
}

/* Whether the file still has its name: a process that has finished may have removed it. */
static bool has_name(const struct files_manifest *manifest, const struct stat *opened)
{
    struct stat named;
    return lstat(manifest->path, &named) == 0 && named.st_dev == opened->st_dev &&
           named.st_ino == opened->st_ino;
}

static io_status open_locked(struct files_manifest *manifest, struct stat *about,
                             struct io_error *error)
{
    for (;;) {
        manifest->fd = io_open_file(manifest->path, O_RDWR | O_NOFOLLOW);
        if (manifest->fd < 0 && errno == ENOENT) return IO_OK;
        if (manifest->fd < 0)
            return io_fail(error, IO_FAIL, manifest->path, "cannot open: %s", strerror(errno));
        if (fstat(manifest->fd, about) != 0) return cannot_read(manifest, error);
        if (!S_ISREG(about->st_mode) || about->st_uid != geteuid() || (about->st_mode & 022))
            return io_fail(error, IO_FAIL, manifest->path,
                           "must be a file that belongs to this user, and that others cannot "
                           "write; remove it");
        const io_status status = lock(manifest, error);
        if (status != IO_OK || has_name(manifest, about)) return status;
        close(manifest->fd);
    }
}

bool files_manifest_init(struct files_manifest *manifest, const char *path)
{
    *manifest = (struct files_manifest){ .fd = -1, .chain = format_number };
    manifest->path = strdup(path);
    return manifest->path != NULL;
}

io_status files_manifest_open(struct files_manifest *manifest, const char *path,
                              struct io_error *error)
{
    struct stat about = { 0 };
    if (!files_manifest_init(manifest, path))
        return io_no_memory(error, path, strlen(path), "its name");
    io_status status = open_locked(manifest, &about, error);
    manifest->found = status == IO_OK && manifest->fd >= 0;
    /* The size again: another process may have written before it ended. */
    if (manifest->found && fstat(manifest->fd, &about) != 0) status = cannot_read(manifest, error);
    if (manifest->found && status == IO_OK)
        status = count_records(manifest, (uint64_t)about.st_size, error);
    if (status != IO_OK) files_manifest_close(manifest);
    return status;
}

/* Opens a file without a name, or with the name *temporary, if that is not supported. */
static int open_new(const char *path, char **temporary)
{
    const size_t room = strlen(path) + sizeof ".XXXXXX";
    int fd = -1;
#ifdef O_TMPFILE
    char *folder = folder_of(path);
    char link_name[32];
    if (folder) fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(folder);
    snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", fd);
    if (fd >= 0 && access(link_name, F_OK) == 0) return fd;
    if (fd >= 0) close(fd); /* /proc is not mounted */
#endif
    *temporary = malloc(room);
    if (!*temporary) return -1;
    snprintf(*temporary, room, "%s.XXXXXX", path);
    fd = mkstemp(*temporary);
    if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

static int link_to(int fd, const char *temporary, const char *path)
{
    char from[32];
    if (temporary) {
        int result = link(temporary, path);
        if (result != 0 && (errno == EPERM || errno == EOPNOTSUPP) && access(path, F_OK) != 0)
            return rename(temporary, path); /* a file system without links */
        const int why = errno;
        unlink(temporary);
        errno = why;
        return result;
    }
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

io_status files_manifest_create(struct files_manifest *manifest, struct io_error *error)
{
    char *temporary = NULL;
    io_status status = IO_OK;
    manifest->fd = open_new(manifest->path, &temporary);
    int why = manifest->fd < 0 ? errno : 0;
    if (!why) status = lock(manifest, error);
    files_manifest_take(manifest);
    if (!why && status == IO_OK) why = files_manifest_write(manifest);
    if (!why && status == IO_OK && link_to(manifest->fd, temporary, manifest->path) != 0)
        why = errno;
    else if (temporary && (why || status != IO_OK))
        unlink(temporary);
    free(temporary);
    if (!why && status == IO_OK) files_sync_folder(manifest->path);
    if (!why) return status;
    return io_fail(error, IO_FAIL, manifest->path, "cannot create: %s",
                   why == EEXIST ? "another process has begun this sort" : strerror(why));
}

void files_manifest_close(struct files_manifest *manifest)
{
    if (manifest->fd >= 0) close(manifest->fd);
    manifest->fd = -1;
    free(manifest->path);
    manifest->path = NULL;
    files_bytes_free(&manifest->record);
    files_bytes_free(&manifest->pending);
    files_bytes_free(&manifest->writing);
}
