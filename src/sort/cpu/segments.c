/*
 * sort/cpu/segments.c - the CPU's sort of rows and segments: each group is sorted by one thread, or
 * by all threads if it is long.
 *
 *     check    offsets; which groups are long
 *     pack     rows whose elements are not adjacent are copied to the workspace
 *     long     one after another, with all threads, by msd.c
 *     others   distributed to threads: several groups of a few keys at once, the vector leaf,
 *              block.c, count.c or msd.c
 *     unpack   rows of an output whose elements are not adjacent
 *
 * Each thread has scratch memory and a part of the second array, which stays in its cache if the
 * groups are short.  The parts have at least as many elements as any group that is not long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/segments.h"
#include "core/backend.h"
#include "sort/cpu/common.h"
#include "sort/cpu/count.h"

#include <string.h>

enum {
    RUN_KEYS = 64,         /* fewer elements are sorted in less time than a check for order takes */
    COUNT_KEYS_8 = 1 << 9, /* fewer keys of 8 bits are sorted in less time than counters take */
    COUNT_KEYS_16 = 1 << 13,
    FEW_GROUPS = 2, /* are sorted one by one */
    PACK_ROWS = 16  /* rows that are packed together: a cache line of narrow elements */
};

struct groups {
    const struct echi_sort_segments *request;
    struct echi_sort_job base; /* all fields that do not depend on the group and the thread */
    size_t in_row, out_row;    /* distance of rows; elements are adjacent */
    char *counts;              /* counts_bytes for every thread */
    size_t counts_bytes;
    size_t room;      /* elements of a thread's part of the second array */
    size_t leaf_keys; /* groups of at most this many keys are sorted by sort_keys() */
    struct echi_groups groups;
    char *packed[2]; /* keys and values of rows: copies of the input, then the output; NULL: not
                          needed */
    bool pack, unpack;
};

/* ---- Workspace ---- */

struct memory {
    char *other_keys, *other_values, *keys, *packed_keys, *packed_values;
    char *scratch, *counts, *lines;
    size_t scratch_bytes, counts_bytes, others;
};

static bool counts_keys(const struct echi_sort *s, size_t n)
{
    return !s->stable &&
           ((s->key_bytes == 1 && n >= COUNT_KEYS_8) || (s->key_bytes == 2 && n >= COUNT_KEYS_16));
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static void lay_out(const struct echi_sort_segments *r, struct echi_layout *layout,
                    struct memory *m)
{
    const struct echi_sort *s = &r->sort;
    const size_t key_bytes = (size_t)s->key_bytes, n = s->n, parts = echi_parts(n);
    const size_t most = r->offsets ? n : r->cols; /* elements of a group */
    size_t others;
    const bool pack = !echi_rows_adjacent(r, &r->in), unpack = !echi_rows_adjacent(r, &r->out);
    if (__builtin_mul_overflow(most, parts, &others) || others > n) others = n;
    *m = (struct memory){ .others = others };
    m->other_keys = echi_part(layout, others, key_bytes);
    if (s->value_bytes) m->other_values = echi_part(layout, others, s->value_bytes);
    if (s->index_bytes && most > ECHI_BLOCK_KEYS) m->keys = echi_part(layout, others, key_bytes);
    if (pack || (unpack && !s->index_bytes)) m->packed_keys = echi_part(layout, n, key_bytes);
    if (s->value_bytes && (unpack || (pack && !s->index_bytes)))
        m->packed_values = echi_part(layout, n, s->value_bytes);
    if (echi_sort_as_stable(s)) {
        m->scratch_bytes = ECHI_SCRATCH_BYTES * echi_min(most, ECHI_BLOCK_KEYS);
        m->scratch = echi_part(layout, parts, m->scratch_bytes);
    }
    /* All threads together use one counter per bucket, or value, and thread. */
    size_t counters = most > ECHI_BLOCK_KEYS ? ECHI_BUCKETS : 0;
    if (counts_keys(s, most)) counters = (size_t)1 << (8 * key_bytes);
    m->counts_bytes = counters * sizeof(size_t);
    if (counters) m->counts = echi_part(layout, parts, m->counts_bytes);
    if (most > ECHI_BLOCK_KEYS) m->lines = echi_part(layout, parts, ECHI_LINES_BYTES);
}

static ech_status plan_groups(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_sort_segments *r = request;
    struct echi_layout layout = { 0 };
    struct memory m;
    (void)plan;
    *work_bytes = 0;
    if (r->sort.algorithm && strcmp(r->sort.algorithm, "groups") != 0)
        return echi_fail(NULL, ECH_ERR_ARG,
                         "unknown algorithm \"%s\" for sorts of rows and segments on the CPU; "
                         "available: groups",
                         r->sort.algorithm);
    if (r->sort.n == 0 || r->groups == 0) return ECH_OK;
    lay_out(r, &layout, &m);
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes",
                         r->sort.n);
    *work_bytes = layout.bytes;
    return ECH_OK;
}

/* ---- Groups ---- */

static char *moved(char *pointer, size_t elements, size_t bytes)
{
    return pointer ? pointer + elements * bytes : NULL;
}

static struct echi_sort_arrays moved_arrays(struct echi_sort_arrays a, size_t elements,
                                            const struct echi_sort_job *job)
{
    return (struct echi_sort_arrays){ moved(a.keys, elements, job->key_bytes),
                                      moved(a.values, elements, job->value_bytes) };
}

/* Keys in the vector leaf, without the cost of a struct echi_sort_job. */
static void sort_leaf(const struct groups *all, const char *in, char *out, size_t n, int thread)
{
    const struct echi_sort_job *job = &all->base;
    char *work = job->other.keys + (size_t)thread * all->room * job->key_bytes;
    if (n <= job->isa->check_keys)
        job->width->sort_keys(&job->window.order, in, out, work, n);
    else
        echi_sort_keys(job->width, &job->window, in, out, work, n, job->key_bytes);
}

/* Sorts n elements, at `in` and `out` of the arrays. */
static void sort_group(const struct groups *all, size_t in, size_t out, size_t n, int thread,
                       int threads)
{
    const size_t other = (size_t)thread * all->room;
    struct echi_sort_job job = all->base;
    struct echi_sort s = *job.sort;
    job.sort = &s;
    s.n = n;
    job.in = moved_arrays(job.in, in, &job);
    job.out.keys = moved(job.out.keys, job.keep_keys ? out : other, job.key_bytes);
    job.out.values = moved(job.out.values, out, job.value_bytes);
    job.other = moved_arrays(job.other, other, &job);
    job.threads = threads;
    job.scratch = moved(job.scratch, (size_t)thread, job.scratch_bytes);
    job.counts = (size_t *)(void *)moved(all->counts, (size_t)thread, all->counts_bytes);
    job.lines = moved(job.lines, (size_t)thread, ECHI_LINES_BYTES);
    if (n > RUN_KEYS && echi_sort_ordered(&job)) return;
    if (counts_keys(&s, n)) {
        echi_sort_count(&job);
        return;
    }
    if (n > ECHI_BLOCK_KEYS && echi_sort_distinct(&job)) return;
    s.stable = echi_sort_as_stable(&s);
    echi_sort_msd(&job);
}

/* Short groups of a stable sort, without the cost of a struct echi_sort_job. false: not sorted. */
static bool sort_few(const struct groups *all, size_t in, size_t out, size_t n, int thread)
{
    const struct echi_sort_job *job = &all->base;
    const char *keys = job->in.keys + in * job->key_bytes;
    const bool ranks = n <= ECHI_RANKED_KEYS && job->width->sort_ranks;
    if (n > ECHI_PACKED_KEYS || !job->sort->stable || (!ranks && !job->width->sort_packed))
        return false;
    if (n > RUN_KEYS && job->width->run(&job->window, keys, n, true) != ECHI_UNORDERED)
        return false; /* is copied */
    const char *values = moved(job->in.values, in, job->value_bytes);
    char *values_out = moved(job->out.values, out, job->value_bytes);
    if (values && values == values_out)
        values = memcpy(moved(job->other.values, (size_t)thread * all->room, job->value_bytes),
                        values, n * job->value_bytes);
    (ranks ? job->width->sort_ranks : job->width->sort_packed)(
        &job->window, keys, values, n, job->value_bytes,
        job->keep_keys ? job->out.keys + out * job->key_bytes : NULL, values_out);
    return true;
}

/* The first element of a group in the input and in the output. */
static inline size_t group_in(const struct groups *all, size_t g)
{
    return all->request->offsets ? echi_group_begin(&all->groups, g) : g * all->in_row;
}

static inline size_t group_out(const struct groups *all, size_t g)
{
    return all->request->offsets ? echi_group_begin(&all->groups, g) : g * all->out_row;
}

static inline const char *keys_in(const struct groups *all, size_t g)
{
    return all->base.in.keys + group_in(all, g) * all->base.key_bytes;
}

static inline char *keys_out(const struct groups *all, size_t g)
{
    return all->base.out.keys + group_out(all, g) * all->base.key_bytes;
}

static void sort_one(const struct groups *all, size_t g, size_t n, int thread, int threads)
{
    if (n <= all->leaf_keys && threads == 1)
        sort_leaf(all, keys_in(all, g), keys_out(all, g), n, thread);
    else if (!sort_few(all, group_in(all, g), group_out(all, g), n, thread))
        sort_group(all, group_in(all, g), group_out(all, g), n, thread, threads);
}

/* Groups of a few keys are collected, and sorted together by sort_many(). */
static void sort_short(void *arg, size_t first, size_t last, int thread)
{
    const struct groups *all = arg;
    const struct echi_sort_width *width = all->base.width;
    const size_t most = last - first > FEW_GROUPS ? echi_min(all->leaf_keys, width->many_keys) : 0;
    struct echi_sort_many many = { 0 };
    size_t count = 0;
    for (size_t g = first; g < last; g++) {
        const size_t n = echi_group_short(&all->groups, g);
        if (n == 0) continue;
        if (n > most) {
            sort_one(all, g, n, thread, 1);
            continue;
        }
        many.keys[count] = keys_in(all, g);
        many.out[count] = keys_out(all, g);
        many.n[count++] = n;
        if (count < width->many) continue;
        width->sort_many(&all->base.window.order, &many);
        count = 0;
    }
    if (count == 0) return;
    for (size_t i = count; i < width->many; i++) { /* the last arrays are empty */
        many.keys[i] = many.keys[0];
        many.out[i] = many.out[0];
        many.n[i] = 0;
    }
    width->sort_many(&all->base.window.order, &many);
}

static void sort_long(const struct groups *all, int threads)
{
    for (size_t i = 0; i < echi_groups_long(&all->groups); i++) {
        const size_t g = echi_groups_long_at(&all->groups, i);
        sort_one(all, g, echi_group_length(&all->groups, g), 0, threads);
    }
}

/* ---- Rows whose elements are not adjacent ---- */

#define COPY(size)                                                                                 \
    if (bytes == size) {                                                                           \
        for (size_t i = 0; i < n; i++)                                                             \
            memcpy(to + i * to_step * size, from + i * step * size, size);                         \
        return;                                                                                    \
    }

static void copy_elements(char *to, size_t to_step, const char *from, size_t step, size_t n,
                          size_t bytes)
{
    COPY(1)
    COPY(2)
    COPY(4)
    COPY(8)
    for (size_t i = 0; i < n; i++) memcpy(to + i * to_step * bytes, from + i * step * bytes, bytes);
}

#undef COPY

/* Copies PACK_ROWS rows from or to an array with strides; all rows of one column, or all columns of
 * one row, whichever are closer to each other. */
static void copy_rows(const struct groups *all, size_t part, const struct echi_strides *strides,
                      char *strided, char *packed, size_t bytes, bool pack)
{
    const size_t cols = all->request->cols, first = part * PACK_ROWS;
    const size_t rows = echi_min(PACK_ROWS, all->request->groups - first);
    const bool down = strides->row < strides->element; /* rows are closer */
    const size_t lines = down ? cols : rows, n = down ? rows : cols;
    for (size_t i = 0; i < lines; i++) {
        char *a =
            strided + (first * strides->row + i * (down ? strides->element : strides->row)) * bytes;
        char *b = packed + (first * cols + i * (down ? 1 : cols)) * bytes;
        const size_t step = down ? strides->row : strides->element, other = down ? cols : 1;
        if (pack)
            copy_elements(b, other, a, step, n, bytes);
        else
            copy_elements(a, step, b, other, n, bytes);
    }
}

static void pack_rows(void *arg, size_t part, int thread)
{
    const struct groups *all = arg;
    const struct echi_sort *s = &all->request->sort;
    char *keys, *values;
    (void)thread;
    memcpy(&keys, &s->keys_in, sizeof keys); /* only read */
    memcpy(&values, &s->values_in, sizeof values);
    copy_rows(all, part, &all->request->in, keys, all->packed[0], (size_t)s->key_bytes, true);
    if (values)
        copy_rows(all, part, &all->request->in, values, all->packed[1], s->value_bytes, true);
}

static void unpack_rows(void *arg, size_t part, int thread)
{
    const struct groups *all = arg;
    const struct echi_sort *s = &all->request->sort;
    (void)thread;
    if (s->keys_out)
        copy_rows(all, part, &all->request->out, s->keys_out, all->packed[0], (size_t)s->key_bytes,
                  false);
    if (s->values_out)
        copy_rows(all, part, &all->request->out, s->values_out, all->packed[1], s->value_bytes,
                  false);
}

/* ---- The operation ---- */

static void find_arrays(struct groups *all, const struct memory *m)
{
    const struct echi_sort_segments *r = all->request;
    const struct echi_sort *s = &r->sort;
    struct echi_sort_job *job = &all->base;
    all->pack = !echi_rows_adjacent(r, &r->in);
    all->unpack = !echi_rows_adjacent(r, &r->out);
    all->packed[0] = m->packed_keys;
    all->packed[1] = m->packed_values;
    all->in_row = all->pack ? r->cols : r->in.row;
    all->out_row = all->unpack ? r->cols : r->out.row;
    /* Sources are only read; the struct is the same as for destinations. */
    memcpy(&job->in.keys, &s->keys_in, sizeof job->in.keys);
    memcpy(&job->in.values, &s->values_in, sizeof job->in.values);
    job->out = (struct echi_sort_arrays){ s->keys_out, s->values_out };
    job->other = (struct echi_sort_arrays){ m->other_keys, m->other_values };
    if (all->pack) job->in = (struct echi_sort_arrays){ m->packed_keys, m->packed_values };
    if (all->unpack) job->out = (struct echi_sort_arrays){ m->packed_keys, m->packed_values };
    if (s->index_bytes) job->in.values = NULL;
    if (s->index_bytes) job->out.keys = m->keys;
    job->keep_keys = s->keys_out != NULL;
}

static ech_status run_groups(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_sort_segments *r = request;
    const struct echi_sort *s = &r->sort;
    struct echi_layout layout = { .base = work };
    struct memory m;
    (void)plan;
    if (r->groups == 0) return ECH_OK;
    lay_out(r, &layout, &m);
    const struct echi_sort_isa *isa = echi_cpu_sort_isa();
    const struct echi_sort_width *width = isa->widths[echi_bit_length((uint64_t)s->key_bytes) - 1];
    struct groups all = {
        .request = r,
        .base = { .sort = s,
                  .isa = isa,
                  .width = width,
                  .window = echi_sort_window(s),
                  .key_bytes = (size_t)s->key_bytes,
                  .value_bytes = s->value_bytes,
                  .scratch = m.scratch,
                  .scratch_bytes = m.scratch_bytes,
                  .lines = m.lines },
        .counts = m.counts,
        .counts_bytes = m.counts_bytes,
        .leaf_keys = s->stable ? 0 : width->leaf_keys,
        .groups = { .offsets = r->offsets,
                    .ends = r->ends,
                    .index = r->offsets_index,
                    .n = s->n,
                    .groups = r->groups,
                    .cols = r->cols },
    };
    const int threads = echi_groups_threads(ctx, &all.groups);
    all.room = m.others / (size_t)threads;
    all.groups.longest = echi_groups_longest(&all.groups, threads);
    const ech_status status = echi_groups_check(ctx, &all.groups);
    if (status != ECH_OK || s->n == 0) return status;
    find_arrays(&all, &m);
    const size_t blocks = (r->groups + PACK_ROWS - 1) / PACK_ROWS;
    if (all.pack) echi_parallel(threads, blocks, pack_rows, &all);
    sort_long(&all, threads);
    echi_groups_run(&all.groups, threads, sort_short, &all);
    if (all.unpack) echi_parallel(threads, blocks, unpack_rows, &all);
    return ECH_OK;
}

static ech_status explain_groups(const void *request, struct echi_explain *e)
{
    const struct echi_sort_segments *r = request;
    const size_t parts = echi_parts(r->sort.n);
    size_t bytes;
    const ech_status status = plan_groups(r, NULL, &bytes);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, "groups",
                           "each row or segment by one thread, long ones by all threads");
    echi_explain_line(e, "isa", "%s", echi_cpu_sort_isa()->name);
    echi_explain_line(e, "threads", "at most %zu", echi_min(parts, (size_t)echi_processors()));
    return ECH_OK;
}

const struct echi_operation echi_cpu_sort_segments = { .plan = plan_groups,
                                                       .explain = explain_groups,
                                                       .run = run_groups };
