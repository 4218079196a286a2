/*
 * files/transfer.h - reads and writes that run while the caller computes.
 *
 *     transfer.c   threads with pread() and pwrite(); calls that run on a thread
 *     uring.c      io_uring, if the kernel has it
 *
 * One thread owns a queue: it submits and waits.  A batch counts what was submitted with it; after
 * files_wait() nothing of it runs.  Transfers that end early, or are interrupted, are continued.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_FILES_TRANSFER_H
#define ECHELON_FILES_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FILES_ENDED = -1,        /* the error of a batch: a file ended early */
    FILES_ALIGN = 4096,      /* of direct transfers */
    FILES_TRANSFER = 4 << 20 /* maximum size of one system call */
};

struct files_batch {
    unsigned on_threads, on_ring; /* not finished */
    int error;                    /* the first one: an errno, FILES_ENDED, or 0 */
};

struct files_queue;

/* transfers: "io_uring", "threads", "none", or NULL: the best one that works.  "none" runs
 * everything at once.  NULL if out of memory, or if the transfers do not work. */
struct files_queue *files_queue_open(const char *transfers);
void files_queue_close(struct files_queue *queue);
const char *files_queue_name(const struct files_queue *queue);

void files_read(struct files_queue *queue, struct files_batch *batch, int fd, void *to,
                size_t bytes, uint64_t offset);
void files_write(struct files_queue *queue, struct files_batch *batch, int fd, const void *from,
                 size_t bytes, uint64_t offset);
/* Runs call(arg) on a thread; its result is an errno, or 0. */
void files_call(struct files_queue *queue, struct files_batch *batch, int (*call)(void *arg),
                void *arg);
/* Whether a call of the batch has not ended yet. */
bool files_is_busy(struct files_queue *queue, const struct files_batch *batch);
/* Returns the error of the batch, and resets it. */
int files_wait(struct files_queue *queue, struct files_batch *batch);

/* ---- io_uring: uring.c ---- */

struct files_ring;
struct files_ring *files_ring_open(void); /* NULL: not available */
void files_ring_close(struct files_ring *ring);
/* bytes is at most FILES_TRANSFER. */
void files_ring_submit(struct files_ring *ring, struct files_batch *batch, bool write, int fd,
                       void *at, size_t bytes, uint64_t offset);
void files_ring_wait(struct files_ring *ring, struct files_batch *batch);

/* The bytes of a transfer that ended early with n bytes at which it can be continued: a direct
 * transfer continues at a multiple of FILES_ALIGN. */
size_t files_whole_part(size_t n, uint64_t offset);

#endif
