/*
 * quantile/cpu/partition.c - the loops for each key width, and a partition around bounds.
 *
 *     ids      0 0 0 0 | 1 | 2 2 2 2 2 | 3 | 4 4      parts have even numbers, bounds odd ones
 *     begins   0        r0  r0 + 1      r1  r1 + 1    known before; with several threads, the
 *                                                     elements of each id are counted per part of
 *                                                     the input
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/cpu/common.h"

#include <string.h>

static inline void store_number(void *array, int bytes, size_t i, uint64_t number)
{
    if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)number;
    else
        ((uint64_t *)array)[i] = number;
}

#define KEY     uint8_t
#define NAME(x) x##_u8
#include "quantile/cpu/width.h"

#define KEY     uint16_t
#define NAME(x) x##_u16
#include "quantile/cpu/width.h"

#define KEY     uint32_t
#define NAME(x) x##_u32
#include "quantile/cpu/width.h"

#define KEY     uint64_t
#define NAME(x) x##_u64
#include "quantile/cpu/width.h"

const struct echi_quantile_width *const echi_quantile_widths[4] = { &width_u8, &width_u16,
                                                                    &width_u32, &width_u64 };

static void count_part(void *arg, size_t i, int thread)
{
    const struct echi_quantile_job *job = arg;
    const size_t from = i * job->part;
    uint64_t *counts = job->counts + i * job->ids;
    (void)thread;
    memset(counts, 0, job->ids * sizeof *counts);
    job->width->count(job, from, echi_min(job->request->n, from + job->part), counts);
}

static void move_part(void *arg, size_t i, int thread)
{
    const struct echi_quantile_job *job = arg;
    const size_t from = i * job->part;
    (void)thread;
    job->width->move(job, from, echi_min(job->request->n, from + job->part),
                     job->counts + i * job->ids);
}

void echi_quantile_partition(struct echi_quantile_job *job)
{
    const struct echi_quantile *s = job->request;
    if (job->threads == 1) {
        job->parts = 1;
        job->part = s->n;
    } else {
        echi_parallel(job->threads, job->parts, count_part, job);
    }
    for (size_t id = 0; id < job->ids; id++) {
        uint64_t begin = id & 1 ? s->ranks[id / 2] : id ? s->ranks[id / 2 - 1] + 1 : 0;
        for (size_t i = 0; i < job->parts; i++) {
            uint64_t *count = job->counts + i * job->ids + id;
            const uint64_t own = job->parts > 1 ? *count : 0;
            *count = begin;
            begin += own;
        }
    }
    echi_parallel(job->threads, job->parts, move_part, job);
}
