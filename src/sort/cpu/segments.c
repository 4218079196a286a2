/*
 * sort/cpu/segments.c - the CPU's sort of rows and segments: each group is sorted by one thread, or
 * by all threads if it is long.
 *
 *     check    offsets; which groups are long
 *     pack     rows whose elements are not adjacent are copied to the workspace
 *     long     one after another, with all threads, by msd.c
 *     others   distributed to threads: the vector leaf, block.c, count.c or msd.c
 *     unpack   rows of an output whose elements are not adjacent
 *
 * Each thread has scratch memory and a part of the second array, which stays in its cache if the
 * groups are short.  The parts have at least as many elements as any group that is not long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/segments.h"
#include "core/backend.h"
#include "core/call.h"
#include "core/data_error.h"
#include "sort/cpu/common.h"
#include "sort/cpu/count.h"

#include <string.h>

enum {
    WAKE_ELEMENTS = 1 << 14, /* fewer do not repay waking threads */
    RUN_KEYS = 64,           /* fewer keys are sorted in less time than a check for order takes */
    COUNT_KEYS_8 = 1 << 9,   /* fewer keys of 8 bits are sorted in less time than counters take */
    COUNT_KEYS_16 = 1 << 13,
    CHUNK_ELEMENTS = 1 << 12, /* a thread takes at least this many at once ... */
    CHUNKS = 32,              /* ... and a thread's share is at least this many chunks */
    GROUP_ELEMENTS = 16,      /* a group takes as much time as this many elements more */
    CHECK_GROUPS = 1 << 14,   /* offsets that are checked together */
    MOST_LONG = 2 * ECHI_PARTS,
    PACK_ROWS = 16 /* rows that are packed together: a cache line of narrow elements */
};

struct groups {
    const struct echi_sort_segments *request;
    struct echi_sort_job base; /* all fields that do not depend on the group and the thread */
    size_t in_row, out_row;    /* distance of rows; elements are adjacent */
    char *counts;              /* counts_bytes for every thread */
    size_t counts_bytes;
    size_t room;               /* elements of a thread's part of the second array */
    size_t leaf_keys;          /* groups of at most this many keys are sorted by sort_keys() */
    size_t longest;            /* longer groups are sorted by all threads */
    size_t chunks, chunk_size; /* number of chunks; elements of a chunk, with GROUP_ELEMENTS */
    size_t longs[MOST_LONG];   /* the long segments */
    _Atomic size_t long_count;
    _Atomic uint64_t error;
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
    const size_t key_bytes = (size_t)s->key_bytes, n = s->n, parts = echi_cpu_sort_parts(n);
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

static size_t begin_of(const struct echi_sort_segments *r, size_t g)
{
    return r->offsets ? (size_t)echi_index_at(r->offsets, r->offsets_index, g) : g * r->cols;
}

static size_t length_of(const struct echi_sort_segments *r, size_t g)
{
    if (!r->offsets) return r->cols;
    const void *ends = r->ends ? r->ends : r->offsets;
    return (size_t)(echi_index_at(ends, r->offsets_index, g + !r->ends) -
                    echi_index_at(r->offsets, r->offsets_index, g));
}

/* Checks some segments, and lists those that are long. */
static void check_some(void *arg, size_t i, int thread)
{
    struct groups *all = arg;
    const struct echi_sort_segments *r = all->request;
    const struct echi_index index = r->offsets_index;
    const size_t first = i * CHECK_GROUPS, some = echi_min(CHECK_GROUPS, r->groups - first);
    uint64_t last = first ? echi_index_at(r->ends ? r->ends : r->offsets, index, first - 1) : 0;
    (void)thread;
    for (size_t g = first; g < first + some; g++) {
        const uint64_t begin = echi_index_at(r->offsets, index, g);
        const uint64_t end = echi_index_at(r->ends ? r->ends : r->offsets, index, g + !r->ends);
        if (begin > r->sort.n)
            echi_note_error(&all->error, ECHI_OFFSETS_PAST_END, g);
        else if (begin < last)
            echi_note_error(&all->error, r->ends ? ECHI_SEGMENTS_OVERLAP : ECHI_OFFSETS_DECREASE,
                            g);
        else if (r->ends && (end < begin || end > r->sort.n))
            echi_note_error(&all->error, ECHI_SEGMENT_END, g);
        else if (end > begin && end - begin > all->longest) {
            const size_t at = atomic_fetch_add(&all->long_count, 1);
            if (at < MOST_LONG) all->longs[at] = g; /* more are not in order: an error */
        }
        last = r->ends ? end : begin;
    }
}

static ech_status check_segments(ech_ctx *ctx, struct groups *all)
{
    const struct echi_sort_segments *r = all->request;
    const size_t blocks = (r->groups + CHECK_GROUPS - 1) / CHECK_GROUPS;
    echi_parallel(blocks > 1 ? echi_threads(ctx) : 1, blocks, check_some, all);
    if (!r->ends) {
        const uint64_t end = echi_index_at(r->offsets, r->offsets_index, r->groups);
        const uint64_t last = echi_index_at(r->offsets, r->offsets_index, r->groups - 1);
        if (end > r->sort.n)
            echi_note_error(&all->error, ECHI_OFFSETS_PAST_END, r->groups);
        else if (end < last)
            echi_note_error(&all->error, ECHI_OFFSETS_DECREASE, r->groups);
    }
    return echi_noted_error(ctx, all->error);
}

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
    if (n > RUN_KEYS && job->width->run(&job->window, in, n, false) == ECHI_ASCENDING)
        echi_copy(out, in, n * job->key_bytes);
    else
        job->width->sort_keys(&job->window.order, in, out,
                              job->other.keys + (size_t)thread * all->room * job->key_bytes, n);
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

static void sort_one(const struct groups *all, size_t g, size_t n, int thread, int threads)
{
    const struct echi_sort_segments *r = all->request;
    const size_t in = r->offsets ? begin_of(r, g) : g * all->in_row;
    const size_t out = r->offsets ? in : g * all->out_row;
    if (n <= all->leaf_keys && threads == 1)
        sort_leaf(all, all->base.in.keys + in * all->base.key_bytes,
                  all->base.out.keys + out * all->base.key_bytes, n, thread);
    else
        sort_group(all, in, out, n, thread, threads);
}

/* The first group of a chunk: chunks have about equally many elements plus GROUP_ELEMENTS per
 * group, so that neither long nor empty segments are all in one chunk. */
static size_t first_group(const struct groups *all, size_t chunk)
{
    const struct echi_sort_segments *r = all->request;
    const size_t before = chunk * all->chunk_size;
    size_t low = 0, high = r->groups;
    if (chunk == 0) return 0;
    if (chunk == all->chunks) return r->groups;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (begin_of(r, middle) + middle * GROUP_ELEMENTS < before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sort_chunk(void *arg, size_t i, int thread)
{
    const struct groups *all = arg;
    const size_t last = first_group(all, i + 1);
    for (size_t g = first_group(all, i); g < last; g++) {
        const size_t n = length_of(all->request, g);
        if (n && n <= all->longest) sort_one(all, g, n, thread, 1);
    }
}

static void sort_long(const struct groups *all, int threads)
{
    const struct echi_sort_segments *r = all->request;
    const size_t count = r->offsets ? all->long_count : r->cols > all->longest ? r->groups : 0;
    for (size_t i = 0; i < count; i++) {
        const size_t g = r->offsets ? all->longs[i] : i;
        sort_one(all, g, length_of(r, g), 0, threads);
    }
}

static void sort_chunks(struct groups *all, int threads)
{
    const struct echi_sort_segments *r = all->request;
    const size_t size = r->sort.n + r->groups * GROUP_ELEMENTS;
    if (!r->offsets && r->cols > all->longest) return; /* all rows are long */
    all->chunks = echi_min(size / CHUNK_ELEMENTS + 1, (size_t)threads * CHUNKS);
    if (threads == 1) all->chunks = 1;
    all->chunk_size = size / all->chunks + 1;
    echi_parallel(threads, all->chunks, sort_chunk, all);
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
    int threads = s->n < WAKE_ELEMENTS ? 1 : echi_threads(ctx);
    threads = (int)echi_min((size_t)threads, echi_cpu_sort_parts(s->n));
    struct groups all = {
        .request = r,
        .base = { .sort = s,
                  .isa = isa,
                  .width = isa->widths[echi_bit_length((uint64_t)s->key_bytes) - 1],
                  .window = echi_sort_window(s),
                  .key_bytes = (size_t)s->key_bytes,
                  .value_bytes = s->value_bytes,
                  .scratch = m.scratch,
                  .scratch_bytes = m.scratch_bytes,
                  .lines = m.lines },
        .counts = m.counts,
        .counts_bytes = m.counts_bytes,
        .room = m.others / (size_t)threads,
        .leaf_keys = !s->stable && s->key_bytes >= 4 ? isa->leaf_keys[s->key_bytes == 8] : 0,
        .longest = threads == 1 ? SIZE_MAX : s->n / (2 * (size_t)threads),
    };
    const ech_status status = r->offsets ? check_segments(ctx, &all) : ECH_OK;
    if (status != ECH_OK || s->n == 0) return status;
    find_arrays(&all, &m);
    const size_t blocks = (r->groups + PACK_ROWS - 1) / PACK_ROWS;
    if (all.pack) echi_parallel(threads, blocks, pack_rows, &all);
    sort_long(&all, threads);
    sort_chunks(&all, threads);
    if (all.unpack) echi_parallel(threads, blocks, unpack_rows, &all);
    return ECH_OK;
}

static ech_status explain_groups(const void *request, struct echi_explain *e)
{
    const struct echi_sort_segments *r = request;
    const size_t threads = echi_min(echi_cpu_sort_parts(r->sort.n), (size_t)echi_processors());
    size_t bytes;
    const ech_status status = plan_groups(r, NULL, &bytes);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, "groups",
                           "each row or segment by one thread, long ones by all threads");
    echi_explain_line(e, "isa", "%s", echi_cpu_sort_isa()->name);
    echi_explain_line(e, "threads", "at most %zu", r->sort.n < WAKE_ELEMENTS ? 1 : threads);
    return ECH_OK;
}

const struct echi_operation echi_cpu_sort_segments = { .plan = plan_groups,
                                                       .explain = explain_groups,
                                                       .run = run_groups };
