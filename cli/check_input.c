/*
 * check_input.c - reads the files of "echelon check" in blocks of records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the blocks of the file can be read at their offsets: not if the bytes of the source are
 * not those of the file, because the file is compressed, or was read before. */
static bool is_direct(const struct io_source *source, uint64_t *size)
{
    unsigned char begin[IO_LOOK];
    struct stat file;
    if (source->fd < 0 || fstat(source->fd, &file) != 0 || !S_ISREG(file.st_mode)) return false;
    *size = (uint64_t)file.st_size;
    const size_t want = source->ahead_bytes;
    return want && *size >= want && lseek(source->fd, 0, SEEK_CUR) == (off_t)want &&
           pread(source->fd, begin, want, 0) == (ssize_t)want &&
           memcmp(begin, source->ahead, want) == 0;
}

static io_status open_input(struct check_job *job, struct check_input *input, const char *name,
                            struct io_error *error)
{
    io_status status = io_open(&input->source, name, error);
    if (status != IO_OK) return status;
    input->open = true;
    status = io_look(&input->source, error);
    if (status != IO_OK) return status;
    if (input->source.ahead_bytes >= 6 && memcmp(input->source.ahead, "\x93NUMPY", 6) == 0)
        return io_fail(error, IO_FAIL, input->source.name,
                       "is a .npy file; \"echelon sort --check\" checks numbers");
    input->direct = is_direct(&input->source, &input->size);
    if (!input->direct || input->size % job->layout.bytes == 0) return IO_OK;
    return io_fail(error, IO_FAIL, input->source.name,
                   "has %llu bytes, which is not a multiple of the record's %zu",
                   (unsigned long long)input->size, job->layout.bytes);
}

/* Takes the next block of the file; *n = 0 at its end. */
static io_status take_block(struct check_job *job, struct check_input *input,
                            struct check_slot *slot, struct io_error *error)
{
    const size_t bytes = job->layout.bytes;
    size_t got = job->block_bytes;
    io_status status = IO_OK;
    slot->offset = input->next;
    if (input->direct) {
        if (input->size - input->next < got) got = (size_t)(input->size - input->next);
    } else {
        status = io_read(&input->source, slot->records, job->block_bytes, &got, error);
    }
    input->next += got;
    slot->n = got / bytes;
    if (status != IO_OK || got % bytes == 0) return status;
    return io_fail(error, IO_FAIL, input->source.name,
                   "has %llu bytes, which is not a multiple of the record's %zu",
                   (unsigned long long)input->next, bytes);
}

bool check_take(void *arg, void *memory, uint64_t block)
{
    struct check_job *job = arg;
    struct check_slot *slot = memory;
    struct check_failure *failure = &job->taking;
    (void)block;
    for (; job->at < job->count; job->at++) {
        struct check_input *input = &job->inputs[job->at];
        if (!input->open)
            failure->status = open_input(job, input, job->names[job->at], &failure->error);
        if (failure->status == IO_OK)
            failure->status = take_block(job, input, slot, &failure->error);
        if (failure->status != IO_OK) return false;
        slot->input = job->at;
        if (slot->n) return true;
    }
    return false;
}

void check_read(const struct check_job *job, struct check_slot *slot)
{
    const struct io_source *source = &job->inputs[slot->input].source;
    const size_t want = slot->n * job->layout.bytes;
    for (size_t done = 0; done < want;) {
        const ssize_t got =
            pread(source->fd, slot->records + done, want - done, (off_t)(slot->offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            slot->failure.status =
                io_fail(&slot->failure.error, IO_FAIL, source->name, "cannot read: %s",
                        got < 0 ? strerror(errno) : "the file has become shorter");
            return;
        }
        done += (size_t)got;
    }
}
