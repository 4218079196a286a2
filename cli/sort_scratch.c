/*
 * sort_scratch.c - a temporary file without a name for "echelon sort": runs of a merge, text of a
 * pipe, a matrix.
 *
 * Nothing remains of it after any end of the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* fallocate() */
#include "files/files.h"
#include "sort_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static uint64_t free_bytes(const char *directory)
{
    struct statvfs about;
    return statvfs(directory, &about) == 0 ? (uint64_t)about.f_bavail * about.f_frsize : 0;
}

/* The one with the most free space of the directories that are given. */
static const char *choose_directory(const struct sort_set *set)
{
    const struct cli_list *list = &set->files.directories;
    const char *temporary = getenv("TMPDIR"), *best = NULL;
    if (!list->count) return temporary && *temporary ? temporary : "/tmp";
    for (int i = 0; i < list->count; i++)
        if (!best || free_bytes(list->words[i]) > free_bytes(best)) best = list->words[i];
    return best;
}

int sort_scratch_open(const struct sort_set *set, struct sort_scratch *scratch)
{
    struct io_error error;
    *scratch = (struct sort_scratch){ .directory = choose_directory(set), .fd = -1 };
    const io_status status = files_temporary(scratch->directory, &scratch->fd, &error);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

static int fail(const struct sort_scratch *scratch, const char *what, int why)
{
    if (why != ENOSPC)
        return cli_fail(EXIT_BAD, "%s: cannot %s a temporary file: %s", scratch->directory, what,
                        why ? strerror(why) : "it ended early");
    return cli_fail(EXIT_BAD,
                    "%s: cannot %s a temporary file after %llu bytes: %s (%.3f GB are free); -T "
                    "selects another directory",
                    scratch->directory, what, (unsigned long long)scratch->bytes, strerror(why),
                    1e-9 * (double)free_bytes(scratch->directory));
}

int sort_scratch_reserve(struct sort_scratch *scratch, uint64_t bytes)
{
    int result = 0;
    if (!bytes) return EXIT_DONE;
    do {
        result = fallocate(scratch->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
    } while (result != 0 && errno == EINTR);
    if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return EXIT_DONE;
    return cli_fail(EXIT_BAD,
                    "%s: cannot reserve %llu bytes of temporary space: %s (%.3f GB are free); -T "
                    "selects other directories",
                    scratch->directory, (unsigned long long)bytes, strerror(errno),
                    1e-9 * (double)free_bytes(scratch->directory));
}

int sort_scratch_put(struct sort_scratch *scratch, uint64_t offset, const void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        const size_t some = n - done < IO_BLOCK ? n - done : IO_BLOCK;
        const ssize_t put =
            pwrite(scratch->fd, (const char *)bytes + done, some, (off_t)(offset + done));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail(scratch, "write", errno);
        done += (size_t)put;
    }
    if (offset + n > scratch->bytes) scratch->bytes = offset + n;
    return EXIT_DONE;
}

int sort_scratch_append(struct sort_scratch *scratch, const void *bytes, size_t n)
{
    return sort_scratch_put(scratch, scratch->bytes, bytes, n);
}

int sort_scratch_get(const struct sort_scratch *scratch, uint64_t offset, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        const size_t some = n - done < IO_BLOCK ? n - done : IO_BLOCK;
        const ssize_t got = pread(scratch->fd, (char *)to + done, some, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return fail(scratch, "read", got < 0 ? errno : 0);
        done += (size_t)got;
    }
    return EXIT_DONE;
}

void sort_scratch_release(const struct sort_scratch *scratch, uint64_t offset, uint64_t bytes)
{
#ifdef FALLOC_FL_PUNCH_HOLE
    const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (bytes && fallocate(scratch->fd, mode, (off_t)offset, (off_t)bytes) != 0) errno = 0;
#else
    (void)scratch, (void)offset, (void)bytes;
#endif
}

void sort_scratch_close(struct sort_scratch *scratch)
{
    if (scratch->fd >= 0) close(scratch->fd);
    scratch->fd = -1;
}
