/*
 * topk/cpu/operation.c - top-k selections on the CPU: the check of offsets and counts, the
 * workspace, and the distribution of rows and segments to threads.
 *
 *     find     the selected elements of a group, in the order of the input (candidates.c)
 *     write    sorts them, if required, and writes them (result.c)
 *
 * Each group is processed by one thread, or by all threads if it is long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "core/call.h"
#include "core/data_error.h"
#include "sort/cpu/common.h"
#include "topk/cpu/common.h"

#include <string.h>

enum { CHECK_COUNTS = 1 << 14 /* counts that are checked together */ };

const struct echi_topk_isa *echi_topk_isa_of_machine(void)
{
#ifdef ECHI_CPU_X86
    if (echi_cpu_isa() == ECHI_AVX512) return &echi_topk_avx512;
    if (echi_cpu_isa() == ECHI_AVX2) return &echi_topk_avx2;
#endif
    return &echi_topk_portable;
}

/* ---- Workspace ---- */

/* a * b, at most `most`. */
static size_t product(size_t a, size_t b, size_t most)
{
    size_t all;
    return __builtin_mul_overflow(a, b, &all) || all > most ? most : all;
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static void lay_out(const struct echi_topk *t, struct echi_layout *layout,
                    struct echi_topk_memory *m)
{
    const size_t n = t->n, k = echi_topk_most(t), parts = echi_parts(n);
    /* The threads that find candidates at the same time. */
    const size_t finders = t->groups > 1 ? parts : echi_topk_pieces(n, k, parts);
    const size_t room = echi_topk_room(k), all = product(8, k, n) / 64 * 64 + 64;
    const size_t most = n + 64 * parts; /* a part of it is rounded down to a multiple of 64 */
    size_t scratch = room > all ? room : all;
    if (scratch < ECHI_TOPK_WHOLE) scratch = ECHI_TOPK_WHOLE;
    *m = (struct echi_topk_memory){ .candidates = product(finders, room, most),
                                    .scratch = product(finders, scratch, most) };
    m->positions = echi_part(layout, m->candidates, sizeof *m->positions);
    m->e = echi_part(layout, m->candidates, (size_t)t->key_bytes);
    m->scratch_e = echi_part(layout, m->scratch, (size_t)t->key_bytes);
    echi_topk_lay_out_sort(t, parts, layout, m);
}

static ech_status plan(const void *request, void *no_plan, size_t *work_bytes)
{
    const struct echi_topk *t = request;
    struct echi_layout layout = { 0 };
    struct echi_topk_memory m;
    (void)no_plan;
    *work_bytes = 0;
    if (t->algorithm && strcmp(t->algorithm, "select") != 0)
        return echi_fail(NULL, ECH_ERR_ARG,
                         "unknown algorithm \"%s\" for top-k selections on the CPU; available: "
                         "select",
                         t->algorithm);
    if (t->groups == 0 || echi_topk_most(t) == 0) return ECH_OK;
    lay_out(t, &layout, &m);
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes",
                         t->n);
    *work_bytes = layout.bytes;
    return ECH_OK;
}

/* ---- Groups ---- */

static void check_counts(void *arg, size_t i, int thread)
{
    struct echi_topk_job *job = arg;
    const struct echi_topk *t = job->request;
    const size_t first = i * CHECK_COUNTS, end = echi_min(t->groups, first + CHECK_COUNTS);
    (void)thread;
    for (size_t g = first; g < end; g++)
        if (echi_index_at(t->counts, t->counts_index, g) > t->k)
            echi_note_error(&job->groups.error, ECHI_COUNT_TOO_LARGE, g);
}

static ech_status check(ech_ctx *ctx, struct echi_topk_job *job)
{
    const struct echi_topk *t = job->request;
    const ech_status status = echi_groups_check(ctx, &job->groups);
    if (status != ECH_OK || !t->counts) return status;
    const size_t blocks = (t->groups + CHECK_COUNTS - 1) / CHECK_COUNTS;
    echi_parallel(blocks > 1 ? echi_threads(ctx) : 1, blocks, check_counts, job);
    return echi_noted_error(ctx, job->groups.error);
}

static void select_group(const struct echi_topk_job *job, size_t g, size_t n, int thread,
                         int threads)
{
    const struct echi_topk *t = job->request;
    const struct echi_topk_memory *m = &job->memory;
    const size_t key_bytes = (size_t)t->key_bytes;
    const size_t begin = t->offsets ? echi_group_begin(&job->groups, g) : g * t->in_strides.row;
    const size_t k = t->counts ? (size_t)echi_index_at(t->counts, t->counts_index, g) : t->k;
    /* The group has all of the workspace, or one of as many parts as there are threads. */
    const size_t parts = (size_t)(threads > 1 ? 1 : job->threads), part = (size_t)thread;
    const size_t room = m->candidates / parts / 64 * 64;
    const size_t scratch = m->scratch / parts / 64 * 64;
    const struct echi_topk_group group = {
        .job = job,
        .in = (const char *)t->in + begin * key_bytes,
        .n = n,
        .k = echi_min(k, n),
        .thread = thread,
        .threads = threads,
        .room = room,
        .e = m->e + room * part * key_bytes,
        .positions = m->positions + room * part,
        .scratch = m->scratch_e + scratch * part * key_bytes,
        .sorted = m->sorted / parts * part,
    };
    if (group.k == 0) return;
    echi_topk_write(&group, echi_topk_find(&group), g);
}

static void select_short(void *arg, size_t first, size_t last, int thread)
{
    const struct echi_topk_job *job = arg;
    for (size_t g = first; g < last; g++) {
        const size_t n = echi_group_short(&job->groups, g);
        if (n) select_group(job, g, n, thread, 1);
    }
}

/* ---- The operation ---- */

static ech_status run(ech_ctx *ctx, const void *request, const void *no_plan, void *work)
{
    const struct echi_topk *t = request;
    struct echi_layout layout = { .base = work };
    struct echi_topk_job job = {
        .request = t,
        .width = echi_topk_isa_of_machine()->widths[echi_bit_length((uint64_t)t->key_bytes) - 1],
        .groups = { .offsets = t->offsets,
                    .ends = t->ends,
                    .index = t->offsets_index,
                    .n = t->n,
                    .groups = t->groups,
                    .cols = t->cols },
    };
    (void)no_plan;
    if (t->groups == 0) return ECH_OK;
    job.threads = echi_groups_threads(ctx, &job.groups);
    job.groups.longest = t->groups > 1 ? echi_groups_longest(&job.groups, job.threads) : 0;
    const ech_status status = check(ctx, &job);
    if (status != ECH_OK || echi_topk_most(t) == 0) return status;
    lay_out(t, &layout, &job.memory);
    for (size_t i = 0; i < echi_groups_long(&job.groups); i++) {
        const size_t g = echi_groups_long_at(&job.groups, i);
        select_group(&job, g, echi_group_length(&job.groups, g), 0, job.threads);
    }
    echi_groups_run(&job.groups, job.threads, select_short, &job);
    return ECH_OK;
}

/* ---- Few elements ---- */

enum {
    AT_ONCE = 1024,    /* elements */
    FEW = 127,         /* elements that are sorted in any case, if there are vectors */
    FEW_SELECTED = 32, /* elements that are selected without a sort: they fit in ECHI_TOPK_FEW */
};

/* Writes the positions of few elements in order, if the instruction set has ranks. */
static bool find_ranks(const struct echi_topk *t, uint64_t *positions)
{
    const struct echi_sort_width *width =
        echi_cpu_sort_isa()->widths[echi_bit_length((uint64_t)t->key_bytes) - 1];
    const struct echi_window window = { .order = t->order, .mask = ~(uint64_t)0 };
    if (t->cols > ECHI_RANKED_KEYS || !width->sort_ranks) return false;
    width->sort_ranks(&window, t->in, NULL, t->cols, sizeof *positions, NULL, positions);
    return true;
}

/* Copies elements of 1, 2, 4 or 8 bytes, one by one: they have just been stored one by one. */
static void copy_few(void *to, const void *from, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n * bytes; i += bytes) {
        char *at = (char *)to + i;
        const char *own = (const char *)from + i;
        if (bytes == 8)
            memcpy(at, own, 8);
        else if (bytes == 4)
            memcpy(at, own, 4);
        else if (bytes == 2)
            memcpy(at, own, 2);
        else
            *at = *own;
    }
}

bool echi_cpu_topk_few(const void *in, void *values, void *indices, size_t n, size_t k,
                       ech_dtype dtype, size_t index_bytes)
{
    const size_t bytes = (size_t)echi_dtypes[dtype].bytes;
    const struct echi_sort_width *width = echi_cpu_sort_isa()->widths[echi_bit_length(bytes) - 1];
    if (n > ECHI_RANKED_KEYS || !width->sort_ranks) return false;
    _Alignas(64) uint64_t keys[ECHI_RANKED_KEYS], positions[ECHI_RANKED_KEYS];
    struct echi_window window = { .order = echi_orders[1][dtype], .mask = ~(uint64_t)0 };
    const uint64_t ones = window.order.float_mask ? window.order.float_mask : window.order.last;
    window.order.flip = ones; /* descending */
    if (k == n) {
        width->sort_ranks(&window, in, NULL, n, index_bytes, values, indices);
        return true;
    }
    width->sort_ranks(&window, in, NULL, n, index_bytes, keys, positions);
    copy_few(values, keys, k, bytes);
    copy_few(indices, positions, k, index_bytes);
    return true;
}

/* Selects a few of few elements, in memory on the stack. */
static void select_at_once(const struct echi_topk *t)
{
    char e[8 * ECHI_TOPK_FEW], scratch[8 * AT_ONCE];
    uint64_t positions[ECHI_TOPK_FEW];
    struct echi_topk_job job; /* the other fields are for more candidates */
    job.request = t;
    job.width = echi_topk_isa_of_machine()->widths[echi_bit_length((uint64_t)t->key_bytes) - 1];
    const struct echi_topk_group group = { .job = &job,
                                           .in = t->in,
                                           .n = t->cols,
                                           .k = t->k,
                                           .threads = 1,
                                           .room = ECHI_TOPK_FEW,
                                           .e = e,
                                           .positions = positions,
                                           .scratch = scratch };
    echi_topk_write(&group, echi_topk_find(&group), 0);
}

/* A result in order of few elements: selected, or the beginning of an argsort. */
static bool topk_at_once(const void *request)
{
    const struct echi_topk *t = request;
    uint64_t positions[AT_ONCE];
    const bool few = t->cols <= FEW && echi_cpu_isa() != ECHI_PORTABLE;
    if (t->groups != 1 || t->offsets || t->counts || !t->sorted || t->algorithm || !t->k ||
        t->cols > AT_ONCE || t->in_strides.element != 1)
        return false;
    if (find_ranks(t, positions)) {
        echi_topk_write_at(t, t->in, positions, t->k, 0);
        return true;
    }
    if (!few && t->k < t->cols / 4) {
        if (t->k > FEW_SELECTED) return false;
        select_at_once(t);
        return true;
    }
    const struct echi_sort sort = { .keys_in = t->in,
                                    .values_out = positions,
                                    .value_bytes = sizeof *positions,
                                    .index_bytes = sizeof *positions,
                                    .n = t->cols,
                                    .dtype = t->dtype,
                                    .key_bytes = t->key_bytes,
                                    .order = t->order,
                                    .end_bit = 8 * t->key_bytes,
                                    .stable = true };
    if (!echi_cpu_sort.quick(&sort)) return false;
    echi_topk_write_at(t, t->in, positions, t->k, 0);
    return true;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_topk *t = request;
    size_t bytes;
    const ech_status status = plan(t, NULL, &bytes);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, "select",
                           "each row or segment by one thread, long ones by all threads: keeps the "
                           "elements that pass a bound, until %zu remain",
                           echi_topk_most(t));
    echi_explain_line(e, "isa", "%s", echi_topk_isa_of_machine()->name);
    echi_explain_line(e, "threads", "at most %zu",
                      echi_min(echi_parts(t->n), (size_t)echi_processors()));
    return ECH_OK;
}

const struct echi_operation echi_cpu_topk = {
    .plan = plan, .explain = explain, .run = run, .quick = topk_at_once
};
