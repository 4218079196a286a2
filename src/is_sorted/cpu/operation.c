/*
 * is_sorted/cpu/operation.c - ech_is_sorted() on the CPU: threads take parts of the array in
 * ascending order.
 *
 *     |  part 0  |  part 1  |  part 2  |  part 3  | ...
 *                     ^ an element out of order: parts after this one are skipped
 *
 * The minimum position over all parts is the result, whichever thread finds it first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cpu/cpu.h"
#include "is_sorted/cpu/common.h"

enum { PART_BYTES = 1 << 17 };

struct job {
    const struct echi_is_sorted *s;
    echi_unsorted_function *first;
    size_t part;          /* elements */
    atomic_size_t lowest; /* the first known position that is out of order; n: none */
};

static void run_part(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const struct echi_is_sorted *s = job->s;
    const size_t from = i * job->part + 1, to = echi_min(s->n, from + job->part);
    size_t lowest = atomic_load_explicit(&job->lowest, memory_order_relaxed);
    (void)thread;
    if (from >= lowest) return;
    const size_t found = job->first(&s->order, s->strict, s->in, from, to);
    if (found == to) return;
    while (found < lowest && !atomic_compare_exchange_weak(&job->lowest, &lowest, found)) continue;
}

static const struct echi_is_sorted_isa *isa_of_machine(void)
{
#ifdef ECHI_CPU_X86
    if (echi_cpu_isa() == ECHI_AVX512) return &echi_is_sorted_avx512;
    if (echi_cpu_isa() == ECHI_AVX2) return &echi_is_sorted_avx2;
#endif
    return &echi_is_sorted_portable;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_is_sorted *s = request;
    struct job job = { .s = s,
                       .first = isa_of_machine()->first[s->key_bytes],
                       .part = PART_BYTES / s->key_bytes };
    (void)plan;
    (void)work;
    atomic_init(&job.lowest, s->n);
    const size_t pairs = s->n > 1 ? s->n - 1 : 0;
    echi_parallel(echi_parallel_for_bytes(ctx, s->n * s->key_bytes),
                  pairs / job.part + (pairs % job.part != 0), run_part, &job);
    *s->position = atomic_load(&job.lowest);
    return ECH_OK;
}

static bool is_sorted_at_once(const void *request)
{
    enum { AT_ONCE = 1024 };
    const struct echi_is_sorted *s = request;
    if (s->n > AT_ONCE) return false;
    *s->position = s->n > 1
                       ? isa_of_machine()->first[s->key_bytes](&s->order, s->strict, s->in, 1, s->n)
                       : s->n;
    return true;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_is_sorted *s = request;
    echi_explain_algorithm(
        e, true, "parts",
        "threads compare neighbours in chunks of %zu elements, in ascending order, "
        "until a pair is out of order",
        PART_BYTES / s->key_bytes);
    return ECH_OK;
}

const struct echi_operation echi_cpu_is_sorted = { .explain = explain,
                                                   .run = run,
                                                   .quick = is_sorted_at_once };
