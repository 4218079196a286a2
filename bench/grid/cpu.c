/*
 * cpu.c - the CPU module of the benchmark grid: memory, data, comparison and time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* With one thread, the CPU time of the process, which other programs hardly change. */
static clockid_t used_clock;
static double begin_ns;
static volatile uint64_t sink;

const char *grid_open_processor(ech_ctx **ctx, int threads, char *machine, size_t capacity)
{
    if (ech_open(ctx, "cpu") != ECH_OK || ech_set_threads(*ctx, threads) != ECH_OK)
        return ech_error(NULL);
    used_clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    ech_device device = { .size = sizeof device };
    ech_device_get(ech_device_count() - 1, &device);
    snprintf(machine, capacity, "%.120s; %.60s; %d thread%s", device.description, device.features,
             threads, threads == 1 ? "" : "s");
    return NULL;
}

void *grid_allocate(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (memory) memset(memory, 0, bytes); /* page faults are not measured */
    return memory;
}

void grid_release(void *memory)
{
    free(memory);
}

void grid_fill(const struct grid_fill *f)
{
    for (uint64_t i = 0; i < f->n; i++) grid_fill_at(f, i);
}

void grid_read(void *host, const void *from, size_t bytes)
{
    memcpy(host, from, bytes);
}

uint64_t grid_differences(const struct grid_slot *s, const void *other, int dtype, size_t stride,
                          const void *in, size_t in_bytes, uint64_t n_in)
{
    struct grid_comparison c = { *s, other, in, dtype, stride, in_bytes, n_in, 0 };
    uint64_t count = 0;
    for (uint64_t i = 0; s->kind == GRID_CLOSE && i < s->n; i++)
        c.scale = fmax(c.scale, grid_magnitude_at(s, i));
    for (uint64_t i = 0; i < s->n; i++) count += (uint64_t)grid_differs_at(&c, i);
    return count;
}

int grid_reach(struct grid_case *c)
{
    (void)c;
    return 0;
}

/* Copies from the inputs to the outputs, in pieces if the row writes fewer bytes than it reads. */
void grid_move(struct grid_case *c)
{
    const size_t total = (size_t)(c->read + c->written);
    if (c->written > 0.05 * c->read) {
        size_t left = total / 2;
        const size_t piece =
            c->row.n * c->bytes < c->out_bytes ? c->row.n * c->bytes : c->out_bytes;
        for (size_t size; left; left -= size) {
            size = left < piece ? left : piece;
            memcpy(c->out[1], c->in, size);
        }
        return;
    }
    const uint64_t *words = (const uint64_t *)(const void *)c->in;
    uint64_t sum[8] = { 0 };
    const size_t n = c->row.n * c->bytes / 64 * 8;
    for (size_t i = 0; i < n; i += 8)
        for (size_t j = 0; j < 8; j++) sum[j] += words[i + j];
    for (size_t j = 0; j < 8; j++) sink += sum[j];
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(used_clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int grid_lead(void)
{
    return 0;
}

void grid_mark(void)
{
    begin_ns = now_ns();
}

double grid_since_mark(void)
{
    return now_ns() - begin_ns;
}

void *grid_stream(void)
{
    return NULL;
}

void grid_wait(void)
{
}
