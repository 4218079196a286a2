/*
 * sort_part.c - what each rank of a distributed sort of numbers does: it reads its part of the
 * input, sorts it with the other ranks, and writes its share of the output.
 *
 *     part_run()  reserve memory | read | ech_dist_sort() | write
 *                              agree  agree                 agree
 *
 * Records and lines follow sort_part_blocks.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "sort_distributed.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 16 };

/* ---- Threads ---- */

/* What a thread does with [begin, end). */
struct span {
    struct part *part;
    const void *user;
    uint64_t begin, end;
    int error; /* an errno; -1: the file is too short */
};

static int run_span(struct span *span, void *(*work)(void *), pthread_t *thread)
{
    if (pthread_create(thread, NULL, work, span) == 0) return 1;
    work(span);
    return 0;
}

/* Divides [0, n) by the threads of this rank; returns the first error. */
static int divide(struct part *p, uint64_t n, uint64_t least, void *(*work)(void *),
                  const void *user)
{
    struct span spans[MOST_THREADS] = { { p, user, 0, n, 0 } };
    pthread_t threads[MOST_THREADS];
    bool started[MOST_THREADS] = { false };
    uint64_t count = n / least < (uint64_t)p->threads ? n / least : (uint64_t)p->threads;
    int error;
    if (count > MOST_THREADS) count = MOST_THREADS;
    if (count > 1) spans[0].end = n / count;
    for (uint64_t i = 1; i < count; i++)
        spans[i] =
            (struct span){ p, user, n / count * i, i + 1 < count ? n / count * (i + 1) : n, 0 };
    for (uint64_t i = 1; i < count; i++) started[i] = run_span(&spans[i], work, &threads[i]);
    work(&spans[0]);
    error = spans[0].error;
    for (uint64_t i = 1; i < count; i++) {
        if (started[i]) pthread_join(threads[i], NULL);
        if (!error) error = spans[i].error;
    }
    return error;
}

/* ---- Transfers ---- */

/* Bytes at a place of a file. */
struct place {
    int fd;
    bool write;
    unsigned char *memory;
    uint64_t offset;
};

static void *transfer(void *argument)
{
    struct span *s = argument;
    const struct place *place = s->user;
    for (uint64_t at = s->begin; at < s->end && !s->error;) {
        const size_t want = s->end - at < IO_BLOCK ? (size_t)(s->end - at) : IO_BLOCK;
        const off_t offset = (off_t)(place->offset + at);
        const ssize_t got = place->write ? pwrite(place->fd, place->memory + at, want, offset)
                                         : pread(place->fd, place->memory + at, want, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) s->error = errno;
        if (got == 0) s->error = -1;
        if (got > 0) at += (uint64_t)got;
    }
    return NULL;
}

void part_read(struct part *p, unsigned char *to, uint64_t bytes, uint64_t offset)
{
    const struct place place = { p->in, false, to, offset };
    const int error = divide(p, bytes, IO_BLOCK, transfer, &place);
    if (error == -1)
        part_fail(p, EXIT_BAD, "%s: has become shorter while it was read", p->input);
    else if (error)
        part_fail(p, EXIT_BAD, "%s: rank %d cannot read it: %s", p->input, p->rank,
                  strerror(error));
}

void part_write(struct part *p, const unsigned char *from, uint64_t bytes, uint64_t offset)
{
    const char *name = p->set->words.job.output;
    const struct place place = { p->out, true, (unsigned char *)(uintptr_t)from, offset };
    const int error = divide(p, bytes, IO_BLOCK, transfer, &place);
    if (error)
        part_fail(p, EXIT_BAD, "%s: rank %d cannot write it: %s", name, p->rank, strerror(error));
}

static void read_part(struct part *p)
{
    const struct part_plan *plan = &p->plan;
    part_read(p, p->data, p->n * plan->row_bytes, plan->offset + p->first * plan->row_bytes);
    if (plan->swap_bytes)
        io_swap(p->data, p->n * plan->row_bytes / plan->swap_bytes, plan->swap_bytes);
}

static int write_part(struct part *p)
{
    const struct part_plan *plan = &p->plan;
    const struct block share = { p->sorted, p->n * plan->out_bytes, p->n };
    if (plan->swap_back && !plan->argsort)
        io_swap(p->sorted, p->n * plan->out_bytes / plan->swap_bytes, plan->swap_bytes);
    return part_write_share(p, &share);
}

/* ---- Memory ---- */

void *part_allocate(struct part *p, uint64_t bytes)
{
    void *memory = lines_allocate((size_t)bytes + 1); /* in large pages */
    if (!memory)
        part_fail(p, EXIT_MEMORY, "%s: out of memory: cannot allocate %llu bytes on rank %d",
                  p->input, (unsigned long long)bytes, p->rank);
    return memory;
}

void part_no_room(struct part *p, uint64_t need)
{
    part_fail(p, EXIT_MEMORY,
              "%s: the sort needs %llu bytes of memory on rank %d, whose budget is %llu; use more "
              "ranks, give a larger --memory, or sort in one process, which uses temporary files",
              p->input, (unsigned long long)need, p->rank, (unsigned long long)p->budget_bytes);
}

/* All memory of this rank, without that of the file system. */
uint64_t part_needed_bytes(const struct part *p, uint64_t n)
{
    const struct part_plan *plan = &p->plan;
    const char *device = ech_device_name(p->ctx);
    size_t work = 0;
    ech_dist_sort_workspace(device, p->ranks, (size_t)n, (size_t)n, plan->dtype,
                            plan->argsort ? sizeof(uint64_t) : 0, plan->argsort, NULL, &work);
    return n * (plan->row_bytes + plan->out_bytes) + (strcmp(device, "cpu") == 0 ? work : 0);
}

static void reserve(struct part *p)
{
    const struct part_plan *plan = &p->plan;
    const uint64_t need = part_needed_bytes(p, p->n);
    if (need > p->budget_bytes) {
        part_no_room(p, need);
        return;
    }
    p->data = part_allocate(p, p->n * plan->row_bytes);
    p->sorted = part_allocate(p, p->n * plan->out_bytes);
}

void part_close(struct part *p)
{
    free(p->data);
    free(p->sorted);
    p->data = p->sorted = NULL;
}

/* ---- Numbers ---- */

/* Arrays in memory of the GPU, in which the ranks exchange elements directly. */
struct device {
    void *in, *out, *work; /* NULL: none */
    size_t in_bytes, out_bytes, work_bytes;
};

static void device_close(struct part *p, struct device *d)
{
    ech_free(p->ctx, d->in, d->in_bytes);
    ech_free(p->ctx, d->out, d->out_bytes);
    ech_free(p->ctx, d->work, d->work_bytes);
    *d = (struct device){ .in = NULL };
}

/* Copies the part to the GPU; false: there is no GPU, or the arrays do not fit in its memory. */
static bool device_open(struct part *p, struct device *d)
{
    const struct part_plan *plan = &p->plan;
    const char *name = ech_device_name(p->ctx);
    const size_t n = (size_t)p->n;
    *d = (struct device){ .in_bytes = n * (size_t)plan->row_bytes,
                          .out_bytes = n * (size_t)plan->out_bytes };
    if (strcmp(name, "cpu") == 0 || !n) return false;
    const bool fits = ech_dist_sort_workspace(name, p->ranks, n, n, plan->dtype,
                                              plan->argsort ? sizeof(uint64_t) : 0, plan->argsort,
                                              &p->job->options, &d->work_bytes) == ECH_OK &&
                      ech_malloc(p->ctx, &d->in, d->in_bytes) == ECH_OK &&
                      ech_malloc(p->ctx, &d->out, d->out_bytes) == ECH_OK &&
                      ech_malloc(p->ctx, &d->work, d->work_bytes) == ECH_OK &&
                      ech_copy(p->ctx, d->in, p->data, d->in_bytes) == ECH_OK;
    if (!fits) device_close(p, d);
    return fits;
}

static int sort_numbers_of_part(struct part *p)
{
    const struct part_plan *plan = &p->plan;
    const size_t n = (size_t)p->n;
    ech_sort_options options = p->job->options;
    struct device device;
    const bool on_gpu = device_open(p, &device);
    const void *in = on_gpu ? device.in : p->data;
    void *out = on_gpu ? device.out : p->sorted;
    options.work = on_gpu ? device.work : NULL;
    options.work_bytes = on_gpu ? device.work_bytes : 0;
    ech_status status = plan->argsort ? ech_dist_argsort(p->ctx, p->comm, in, out, n, ECH_DIST_EVEN,
                                                         plan->dtype, ECH_U64, &options)
                                      : ech_dist_sort(p->ctx, p->comm, in, out, n, ECH_DIST_EVEN,
                                                      plan->dtype, &options);
    const int code = part_check(p, status);
    if (code == EXIT_DONE && on_gpu) {
        status = ech_copy(p->ctx, p->sorted, out, device.out_bytes);
        if (status != ECH_OK)
            part_fail(p, part_code(status), "%s: rank %d: %s", p->input, p->rank,
                      ech_error(p->ctx));
    }
    device_close(p, &device);
    return code;
}

/* ---- The part ---- */

/* The records before an even share. */
static uint64_t share_begin(const struct part *p)
{
    const uint64_t each = p->plan.n / (uint64_t)p->ranks, more = p->plan.n % (uint64_t)p->ranks;
    const uint64_t rank = (uint64_t)p->rank;
    return each * rank + (rank < more ? rank : more);
}

int part_run(struct part *p)
{
    const double begin = cli_seconds();
    p->first = share_begin(p);
    p->n = ech_dist_even_share(p->plan.n, p->rank, p->ranks);
    if (p->plan.blocks) return part_run_blocks(p);
    p->plan.lines = p->n;
    reserve(p);
    if (p->code == EXIT_DONE) read_part(p);
    int code = part_agree(p);
    const double read = cli_seconds();
    if (code == EXIT_DONE) code = sort_numbers_of_part(p);
    const double sorted = cli_seconds();
    if (code == EXIT_DONE) code = part_agree(p); /* a copy from the GPU may have failed */
    if (code == EXIT_DONE) code = write_part(p);
    p->seconds[PART_READ] = read - begin;
    p->seconds[PART_SORT] = sorted - read;
    p->seconds[PART_WRITE] = cli_seconds() - sorted;
    part_close(p);
    return code;
}
