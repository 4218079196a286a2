/*
 * files/uring.c - reads and writes with io_uring, by the system calls themselves.
 *
 * The ring has a slot for each request in flight.  If all are in use, a submission waits for one.
 * Without io_uring, files_ring_open() fails and the caller uses threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* syscall(), MAP_POPULATE, O_DIRECT */
#include "files/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __linux__ && defined __has_include
#if __has_include(<linux/io_uring.h>) && defined SYS_io_uring_setup
#define HAS_URING 1
#include <linux/io_uring.h>
#endif
#endif

#ifdef HAS_URING

enum { SLOTS = 64, STALLS = 16 };

struct slot {
    struct files_batch *batch;
    bool write, direct;
    int fd, stalls;
    char *at;
    size_t bytes;
    uint64_t offset;
};

struct files_ring {
    int fd;
    void *rings;
    size_t rings_bytes;
    struct io_uring_sqe *entries;
    size_t entries_bytes;
    unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
    struct io_uring_cqe *completions;
    struct slot slots[SLOTS];
    int unused[SLOTS], unused_count;
    unsigned to_submit;
};

static int enter(struct files_ring *ring, unsigned wait_for)
{
    const unsigned flags = wait_for ? IORING_ENTER_GETEVENTS : 0;
    long n;
    do {
        n = syscall(SYS_io_uring_enter, ring->fd, ring->to_submit, wait_for, flags, NULL, 0);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EBUSY));
    if (n < 0) return errno;
    ring->to_submit -= (unsigned)n;
    return 0;
}

/* Adds the request of a slot to the submission queue, which has an entry for each slot. */
static void push(struct files_ring *ring, int i)
{
    const struct slot *slot = &ring->slots[i];
    const unsigned tail = *ring->sq_tail, at = tail & *ring->sq_mask;
    ring->entries[at] =
        (struct io_uring_sqe){ .opcode = slot->write ? IORING_OP_WRITE : IORING_OP_READ,
                               .fd = slot->fd,
                               .flags = slot->direct ? 0 : IOSQE_ASYNC,
                               .off = slot->offset,
                               .addr = (__u64)(uintptr_t)slot->at,
                               .len = (uint32_t)slot->bytes,
                               .user_data = (__u64)(unsigned)i };
    ring->sq_array[at] = at;
    /* The kernel must see the entry before the new tail. */
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
    ring->to_submit++;
}

static void end(struct files_ring *ring, int i, int error)
{
    struct files_batch *batch = ring->slots[i].batch;
    if (error && !batch->error) batch->error = error;
    batch->on_ring--;
    ring->unused[ring->unused_count++] = i;
}

/* Ends the request, or continues it if it was interrupted or transferred a part. */
static void complete(struct files_ring *ring, int i, int result)
{
    struct slot *slot = &ring->slots[i];
    if (result == -EINTR || result == -EAGAIN) {
        push(ring, i);
        return;
    }
    if (result < 0 || (size_t)result == slot->bytes) {
        end(ring, i, result < 0 ? -result : 0);
        return;
    }
    size_t part = files_whole_part((size_t)result, slot->offset);
    if (!part && ++slot->stalls > 1) part = (size_t)result;
    if (result == 0 || slot->stalls > STALLS) {
        end(ring, i, slot->write || result ? EIO : FILES_ENDED);
        return;
    }
    slot->at += part;
    slot->offset += part;
    slot->bytes -= part;
    push(ring, i);
}

/* Submits what was pushed and handles completions; waits for one if wait. */
static void turn(struct files_ring *ring, bool wait)
{
    const int error = enter(ring, wait ? 1 : 0);
    unsigned head = *ring->cq_head;
    /* The completions were written before the tail. */
    while (head != __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE)) {
        const struct io_uring_cqe done = ring->completions[head & *ring->cq_mask];
        __atomic_store_n(ring->cq_head, ++head, __ATOMIC_RELEASE);
        complete(ring, (int)done.user_data, done.res);
    }
    if (!error) return;
    /* The kernel refuses: nothing that was pushed runs. */
    __atomic_store_n(ring->sq_tail, *ring->sq_tail - ring->to_submit, __ATOMIC_RELEASE);
    for (; ring->to_submit; ring->to_submit--)
        end(ring,
            (int)ring->entries[(*ring->sq_tail + ring->to_submit - 1) & *ring->sq_mask].user_data,
            error);
}

void files_ring_submit(struct files_ring *ring, struct files_batch *batch, bool write, int fd,
                       void *at, size_t bytes, uint64_t offset)
{
    while (!ring->unused_count) turn(ring, true);
    const int i = ring->unused[--ring->unused_count];
    ring->slots[i] = (struct slot){ .batch = batch,
                                    .write = write,
                                    /* Otherwise the kernel copies within the submission. */
                                    .direct = (fcntl(fd, F_GETFL) & O_DIRECT) != 0,
                                    .fd = fd,
                                    .at = at,
                                    .bytes = bytes,
                                    .offset = offset };
    batch->on_ring++;
    push(ring, i);
    turn(ring, false);
}

void files_ring_wait(struct files_ring *ring, struct files_batch *batch)
{
    while (batch->on_ring) turn(ring, true);
}

static bool map(struct files_ring *ring, const struct io_uring_params *p)
{
    const size_t sq_bytes = p->sq_off.array + p->sq_entries * sizeof(unsigned);
    const size_t cq_bytes = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
    ring->rings_bytes = sq_bytes > cq_bytes ? sq_bytes : cq_bytes;
    ring->entries_bytes = p->sq_entries * sizeof(struct io_uring_sqe);
    const int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    ring->rings = mmap(NULL, ring->rings_bytes, protection, flags, ring->fd, IORING_OFF_SQ_RING);
    if (ring->rings == MAP_FAILED) return false;
    void *entries = mmap(NULL, ring->entries_bytes, protection, flags, ring->fd, IORING_OFF_SQES);
    if (entries == MAP_FAILED) {
        munmap(ring->rings, ring->rings_bytes);
        return false;
    }
    char *base = ring->rings;
    ring->entries = entries;
    ring->sq_tail = (unsigned *)(void *)(base + p->sq_off.tail);
    ring->sq_mask = (unsigned *)(void *)(base + p->sq_off.ring_mask);
    ring->sq_array = (unsigned *)(void *)(base + p->sq_off.array);
    ring->cq_head = (unsigned *)(void *)(base + p->cq_off.head);
    ring->cq_tail = (unsigned *)(void *)(base + p->cq_off.tail);
    ring->cq_mask = (unsigned *)(void *)(base + p->cq_off.ring_mask);
    ring->completions = (struct io_uring_cqe *)(void *)(base + p->cq_off.cqes);
    return true;
}

/* Reads and writes need Linux 5.6, in which fast poll did not exist yet; 5.7 has both. */
struct files_ring *files_ring_open(void)
{
    struct io_uring_params p = { 0 };
    struct files_ring *ring = calloc(1, sizeof *ring);
    if (!ring) return NULL;
    ring->fd = (int)syscall(SYS_io_uring_setup, SLOTS, &p);
    const unsigned needed = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_FAST_POLL;
    const bool works = ring->fd >= 0 && (p.features & needed) == needed && map(ring, &p);
    if (!works) {
        if (ring->fd >= 0) close(ring->fd);
        free(ring);
        return NULL;
    }
    for (int i = 0; i < SLOTS; i++) ring->unused[ring->unused_count++] = i;
    return ring;
}

void files_ring_close(struct files_ring *ring)
{
    munmap(ring->entries, ring->entries_bytes);
    munmap(ring->rings, ring->rings_bytes);
    close(ring->fd);
    free(ring);
}

#else

struct files_ring *files_ring_open(void)
{
    return NULL;
}

void files_ring_close(struct files_ring *ring)
{
    (void)ring;
}

void files_ring_submit(struct files_ring *ring, struct files_batch *batch, bool write, int fd,
                       void *at, size_t bytes, uint64_t offset)
{
    (void)ring, (void)write, (void)fd, (void)at, (void)bytes, (void)offset;
    batch->error = ENOSYS;
}

void files_ring_wait(struct files_ring *ring, struct files_batch *batch)
{
    (void)ring, (void)batch;
}

#endif
