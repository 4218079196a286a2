/*
 * files/direct.c - writes the output past the page cache, which saves a copy by the kernel.
 *
 * A direct write begins and ends at a multiple of FILES_ALIGN, in the file and in memory.  So
 * records are placed in memory as far behind such a multiple as they are in the file; the bytes
 * before them, which did not fill a page, are kept and written with them:
 *
 *     page of the last write  ->  | kept | records ............ | kept for the next write
 *                                 aligned                aligned
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* O_DIRECT */
#include "files/internal.h"
#include "files/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void files_direct_open(struct files_run *run)
{
    const struct files_sort *sort = run->sort;
    struct files_direct *direct = &run->direct;
    char name[32];
    direct->fd = -1;
    /* Numbers in place must be aligned. */
    if (!sort->plan.direct_output || !sort->output_is_file || sort->head_bytes >= FILES_ALIGN ||
        sort->head_bytes % sizeof(uint64_t))
        return;
    direct->page = malloc(FILES_ALIGN);
    if (!direct->page) return;
    snprintf(name, sizeof name, "/proc/self/fd/%d", sort->output->fd);
    direct->fd = io_open_file(name, O_WRONLY | O_DIRECT);
    if (direct->fd < 0) return;
    if (sort->head_bytes) memcpy(direct->page, sort->head, sort->head_bytes);
    direct->kept = sort->head_bytes;
}

void files_direct_close(struct files_run *run)
{
    if (run->direct.page && run->direct.fd >= 0) close(run->direct.fd);
    free(run->direct.page);
    run->direct.page = NULL;
}

/* On a thread: writes records that are not placed so, through the page cache. */
static int write_plain(void *arg)
{
    struct files_run *run = arg;
    const struct files_direct *direct = &run->direct;
    return files_write_at(run->sort->output->fd, run->writing_at, run->writing_bytes,
                          direct->plain_offset);
}

/* Keeps what follows the last multiple of FILES_ALIGN behind kept and n more bytes. */
static void keep(struct files_direct *direct, const unsigned char *bytes, size_t n)
{
    const size_t all = direct->kept + n, rest = all % FILES_ALIGN;
    if (all < FILES_ALIGN) {
        memcpy(direct->page + direct->kept, bytes, n);
    } else {
        direct->offset += all - rest;
        memcpy(direct->page, bytes + n - rest, rest);
    }
    direct->kept = rest;
}

io_status files_direct_write(struct files_run *run, unsigned char *bytes, size_t n)
{
    struct files_direct *direct = &run->direct;
    const size_t kept = direct->kept, all = kept + n, whole = all - all % FILES_ALIGN;
    const uint64_t offset = direct->offset;
    run->sort->output->written_bytes += n;
    if ((uintptr_t)bytes % FILES_ALIGN == kept && kept + n >= FILES_ALIGN) {
        memcpy(bytes - kept, direct->page, kept);
        keep(direct, bytes, n);
        files_write(run->queue, files_emit_begin(run), direct->fd, bytes - kept, whole, offset);
        return IO_OK;
    }
    const io_status before = files_emit_wait(run); /* only one write_plain() at a time */
    if (before != IO_OK) return before;
    /* The page that is kept is written again later, when it is full. */
    run->writing_at = bytes;
    run->writing_bytes = n;
    direct->plain_offset = offset + kept;
    const int why = files_write_at(run->sort->output->fd, direct->page, kept, offset);
    if (why) return files_failed(run->error, run->sort->output->name, why, true);
    keep(direct, bytes, n);
    files_call(run->queue, files_emit_begin(run), write_plain, run);
    return IO_OK;
}

/* The rest is written by io_commit(), behind what was written. */
io_status files_direct_end(struct files_run *run)
{
    struct files_direct *direct = &run->direct;
    struct io_output *output = run->sort->output;
    if (lseek(output->fd, (off_t)direct->offset, SEEK_SET) < 0)
        return files_failed(run->error, output->name, errno, true);
    const io_status status = io_write(output, direct->page, direct->kept, run->error);
    return status;
}

/* ---- A sort that can be continued ---- */

int files_write_tail(struct files_run *run)
{
    const struct files_direct *direct = &run->direct;
    const struct io_output *output = run->sort->output;
    if (direct->fd >= 0)
        return files_write_at(output->fd, direct->page, direct->kept, direct->offset);
    return files_write_at(output->fd, output->buffer, output->used, output->written_bytes);
}

int files_seek_output(struct files_run *run, uint64_t bytes)
{
    const struct files_sort *sort = run->sort;
    struct files_direct *direct = &run->direct;
    struct io_output *output = sort->output;
    const int why = files_write_at(output->fd, sort->head, sort->head_bytes, 0);
    if (why) return why;
    output->written_bytes = bytes;
    output->used = 0;
    if (direct->fd < 0) return lseek(output->fd, (off_t)bytes, SEEK_SET) < 0 ? errno : 0;
    direct->kept = (size_t)(bytes % FILES_ALIGN);
    direct->offset = bytes - direct->kept;
    for (size_t done = 0; done < direct->kept;) {
        const ssize_t n = pread(output->fd, direct->page + done, direct->kept - done,
                                (off_t)(direct->offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        done += (size_t)n;
    }
    return 0;
}
