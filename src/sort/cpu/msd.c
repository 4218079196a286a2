/*
 * sort/cpu/msd.c - MSD radix sort: scatters into 256 buckets until they fit in the cache, then
 * sorts each there.
 *
 *     in --scatter--> other --each bucket--> out
 *                     |..|..|......|..|
 *
 * A bucket that is too large is scattered from other to out, its buckets back to other, and so on.
 *
 * A scatter is stable: every thread counts and then moves one part.  The counts of all threads give
 * the position of each thread's elements in each bucket.  Keys without values finish as unsigned
 * integers in the kernel sort(); stable sorts finish in block.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"
#include "sort/cpu/frequent.h"

#include <string.h>

enum {
    PARALLEL_KEYS = 1 << 14, /* smaller arrays do not repay waking threads */
    SAMPLED_LEVELS = 4,      /* at deeper levels, digits are chosen exactly, which guarantees
                                termination */
    RUN_KEYS = 64,           /* shorter segments are sorted in less time than a check for order
                                takes */
    QUICK_THREADS = 4,       /* with more threads, scatter from the start ... */
    QUICK_KEYS = 1 << 22,    /* ... unless there are fewer keys than this */
    QUICK_SHARE = 8,         /* parts per thread */
    QUICK_MIN = 1 << 12,     /* minimum number of keys for a task */
    QUICK_DEPTH = 64,        /* maximum number of partitions by one task, in case all pivots are
                                bad */
    STREAM_BYTES = 1 << 22   /* smaller segments are still in the cache when they are read next */
};

enum place { IN, OTHER, OUT };

struct segment {
    enum place place;
    size_t offset, n;
    int level;
};

static struct echi_sort_arrays side_of(const struct echi_sort_job *job, enum place place)
{
    const struct echi_sort_arrays *const sides[] = { &job->in, &job->other, &job->out };
    return *sides[place];
}

static void copy_segment(const struct echi_sort_job *job, struct segment s, enum place place)
{
    struct echi_sort_arrays from = side_of(job, s.place), to = side_of(job, place);
    size_t key_at = s.offset * job->key_bytes, value_at = s.offset * job->value_bytes;
    if (place != OUT || job->keep_keys)
        echi_copy(to.keys + key_at, from.keys + key_at, s.n * job->key_bytes);
    if (job->value_bytes && from.values)
        echi_copy(to.values + value_at, from.values + value_at, s.n * job->value_bytes);
}

/* ---- The end of the recursion: a segment that fits in the cache ---- */

static void finish_keys(const struct echi_sort_job *job, struct segment s)
{
    size_t at = s.offset * job->key_bytes;
    char *out = job->out.keys + at, *other = job->other.keys + at;
    const char *from = side_of(job, s.place).keys + at;
    if (s.level && s.n >= RUN_KEYS &&
        job->width->run(&job->window, from, s.n, false) == ECHI_ASCENDING) {
        copy_segment(job, s, OUT);
        return;
    }
    job->width->sort_keys(&job->window.order, from, out, other, s.n);
}

static void finish_stable(const struct echi_sort_job *job, struct segment s, int thread)
{
    bool in_place = s.place == IN && (job->in.keys == job->out.keys ||
                                      (job->in.values && job->in.values == job->out.values));
    if (s.level && s.n >= RUN_KEYS &&
        job->width->run(&job->window, side_of(job, s.place).keys + s.offset * job->key_bytes, s.n,
                        true) == ECHI_ASCENDING) {
        copy_segment(job, s, OUT);
        return;
    }
    if (s.place == OUT || in_place) { /* elements are gathered to out, so they must not be read from
                                         it */
        copy_segment(job, s, OTHER);
        s.place = OTHER;
    }
    struct echi_sort_arrays from = side_of(job, s.place);
    if (s.level == 0 && job->sort->index_bytes) from.values = NULL;
    echi_sort_block(job, from, s.offset, s.n, job->scratch + (size_t)thread * job->scratch_bytes);
}

static size_t most_to_finish(const struct echi_sort_job *job)
{
    return job->sort->stable ? ECHI_BLOCK_KEYS : job->width->leaf_keys;
}

/* Sorts s if it is small enough, and returns whether it was. */
static bool finish(const struct echi_sort_job *job, struct segment s, int thread)
{
    if (s.n == 0) return true;
    if (s.n > most_to_finish(job)) return false;
    if (job->sort->stable)
        finish_stable(job, s, thread);
    else
        finish_keys(job, s);
    return true;
}

/* ---- One scatter ---- */

struct split {
    const struct echi_sort_job *job;
    struct segment segment;
    enum place to;
    const struct echi_digits *digits;
    size_t part_n;
    size_t *counts; /* [parts][ECHI_BUCKETS]: counts of each part, then output positions */
    int thread;     /* the one that splits; of several threads, the first */
};

static size_t part_size(const struct split *s, size_t part)
{
    return echi_min(s->part_n, s->segment.n - part * s->part_n);
}

static void count_part(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct split *s = arg;
    const struct echi_sort_job *job = s->job;
    size_t *counts = s->counts + part * ECHI_BUCKETS;
    size_t first = s->segment.offset + part * s->part_n;
    memset(counts, 0, ECHI_BUCKETS * sizeof *counts);
    job->width->count(s->digits, side_of(job, s->segment.place).keys + first * job->key_bytes,
                      part_size(s, part), counts);
}

static void scatter_part(void *arg, size_t part, int thread)
{
    const struct split *s = arg;
    const struct echi_sort_job *job = s->job;
    struct echi_scatter scatter = {
        .digits = s->digits,
        .from = side_of(job, s->segment.place),
        .to = side_of(job, s->to),
        .first = s->segment.offset + part * s->part_n,
        .n = part_size(s, part),
        .value_bytes = job->value_bytes,
        .index = s->segment.place == IN && job->sort->index_bytes,
        .stream = s->segment.n * (job->key_bytes + job->value_bytes) >= STREAM_BYTES,
        .at = s->counts + part * ECHI_BUCKETS,
        .lines = s->thread + thread == 0 ? job->lines : NULL,
    };
    job->width->scatter(&scatter);
}

/* Scatters a segment; bucket b is then at [start[b], start[b + 1]) in the other array. */
static void split(struct split *s, int threads, size_t *start)
{
    size_t n = s->segment.n,
           parts = threads > 1 ? echi_min((size_t)threads, n / PARALLEL_KEYS + 1) : 1;
    s->part_n = (n + parts - 1) / parts;
    parts = (n + s->part_n - 1) / s->part_n;
    echi_parallel(threads, parts, count_part, s);
    size_t at = s->segment.offset;
    for (size_t b = 0; b < ECHI_BUCKETS; b++) {
        start[b] = at;
        for (size_t part = 0; part < parts; part++) {
            size_t count = s->counts[part * ECHI_BUCKETS + b];
            s->counts[part * ECHI_BUCKETS + b] = at;
            at += count;
        }
    }
    start[ECHI_BUCKETS] = at;
    echi_parallel(threads, parts, scatter_part, s);
}

/* Whether a segment's elements may be written to the output while it is read. */
static bool may_fill_out(const struct echi_sort_job *job, struct segment s)
{
    const bool in_place =
        job->in.keys == job->out.keys || (job->in.values && job->in.values == job->out.values);
    return s.place == OTHER || (s.place == IN && !in_place);
}

/* Whether one scatter sorts a segment: the keys have at most as many values as there are
 * buckets. */
static bool sorts_at_once(const struct echi_sort_job *job, struct segment s)
{
    return job->key_bytes == 1 && job->sort->stable && may_fill_out(job, s);
}

/* As split(), by the digits that suit the keys; false if all elements are then sorted in the
 * output.  This function and divide_by_one() are not part of the recursion, so that its stack
 * frames are small. */
static __attribute__((noinline)) bool divide(struct split *s, int threads, size_t *start)
{
    const struct echi_sort_job *job = s->job;
    const struct segment segment = s->segment;
    const bool at_once = sorts_at_once(job, segment);
    struct echi_digits digits;
    s->to = at_once || segment.place == OTHER ? OUT : OTHER;
    if (!echi_sort_digits(job, side_of(job, segment.place).keys + segment.offset * job->key_bytes,
                          segment.n, at_once || segment.level >= SAMPLED_LEVELS, &digits)) {
        copy_segment(job, segment, OUT);
        return false;
    }
    s->digits = &digits;
    split(s, threads, start);
    return !at_once;
}

static __attribute__((noinline)) bool
divide_by_one(const struct echi_sort_job *job, struct segment segment, int thread, size_t *start)
{
    size_t counts[ECHI_BUCKETS];
    struct split s = { .job = job, .segment = segment, .counts = counts, .thread = thread };
    return divide(&s, 1, start);
}

/* ---- One division by a frequent key ---- */

/* Divides a segment by its most frequent key, whose elements are then sorted, and sets the two
 * other parts; false if there is no such key. */
static __attribute__((noinline)) bool divide_by_key(const struct echi_sort_job *job,
                                                    struct segment s, int threads, size_t *counts,
                                                    struct segment part[2])
{
    const enum place to = s.place == OTHER ? OUT : OTHER;
    const enum place equal_to = may_fill_out(job, s) ? OUT : to;
    size_t own[ECHI_BUCKETS];
    struct echi_frequent f = {
        .job = job,
        .from = side_of(job, s.place),
        .to = side_of(job, to),
        .equal_to = side_of(job, equal_to),
        .offset = s.offset,
        .n = s.n,
        .index = s.place == IN && job->sort->index_bytes,
        .counts = counts ? counts : own,
    };
    if (!job->sort->stable || !echi_sort_frequent(&f, threads)) return false;
    const struct segment equal = { equal_to, f.start[1], f.start[2] - f.start[1], s.level };
    if (equal_to != OUT) copy_segment(job, equal, OUT);
    if (job->keep_keys && !f.move_keys)
        job->width->fill(&job->window.order, f.x, job->out.keys + equal.offset * job->key_bytes,
                         equal.n);
    for (int k = 0; k < 2; k++)
        part[k] = (struct segment){ to, f.start[2 * k], f.start[2 * k + 1] - f.start[2 * k],
                                    s.level + 1 };
    return true;
}

/* ---- The recursion ---- */

struct buckets {
    const struct echi_sort_job *job;
    enum place place;
    int level;
    size_t most; /* larger buckets are not sorted by a single thread */
    const size_t *start;
};

static void sort_segment(const struct echi_sort_job *job, struct segment s, int thread);

static void sort_bucket(void *arg, size_t b, int thread)
{
    const struct buckets *buckets = arg;
    struct segment s = { buckets->place, buckets->start[b],
                         buckets->start[b + 1] - buckets->start[b], buckets->level };
    if (s.n <= buckets->most) sort_segment(buckets->job, s, thread);
}

/* The elements of a segment; no values: their positions. */
static struct echi_sort_arrays part_of(const struct echi_sort_job *job, struct segment s)
{
    struct echi_sort_arrays from = side_of(job, s.place);
    from.keys += s.offset * job->key_bytes;
    if (from.values) from.values += s.offset * job->value_bytes;
    return from;
}

/* By one thread. */
static void sort_segment(const struct echi_sort_job *job, struct segment s, int thread)
{
    size_t start[ECHI_BUCKETS + 1];
    struct segment part[2];
    if (finish(job, s, thread)) return;
    if (divide_by_key(job, s, 1, NULL, part)) {
        sort_segment(job, part[0], thread);
        sort_segment(job, part[1], thread);
        return;
    }
    if (may_fill_out(job, s)) {
        const struct echi_sort_arrays from = part_of(job, s);
        if (echi_sort_entries(job, &from, s.offset, s.n)) return;
        if (echi_sort_values(job, &from, s.offset, s.n)) return;
    }
    if (!divide_by_one(job, s, thread, start)) return;
    struct buckets buckets = { job, s.place == OTHER ? OUT : OTHER, s.level + 1, SIZE_MAX, start };
    for (size_t b = 0; b < ECHI_BUCKETS; b++) sort_bucket(&buckets, b, thread);
}

/* With all threads: a bucket larger than a thread's share is scattered by all threads again, the
 * others are distributed to threads. */
static void sort_parallel(const struct echi_sort_job *job, struct segment s)
{
    size_t start[ECHI_BUCKETS + 1];
    if (s.n < PARALLEL_KEYS || job->threads == 1) {
        sort_segment(job, s, 0);
        return;
    }
    struct segment part[2];
    if (divide_by_key(job, s, job->threads, job->counts, part)) {
        sort_parallel(job, part[0]);
        sort_parallel(job, part[1]);
        return;
    }
    if (!divide(&(struct split){ .job = job, .segment = s, .counts = job->counts }, job->threads,
                start))
        return;
    size_t most = job->sort->n / (2 * (size_t)job->threads);
    if (most < PARALLEL_KEYS) most = PARALLEL_KEYS;
    struct buckets buckets = { job, s.place == OTHER ? OUT : OTHER, s.level + 1, most, start };
    for (size_t b = 0; b < ECHI_BUCKETS; b++)
        if (start[b + 1] - start[b] > most)
            sort_parallel(job, (struct segment){ buckets.place, start[b], start[b + 1] - start[b],
                                                 buckets.level });
    echi_parallel(job->threads, ECHI_BUCKETS, sort_bucket, &buckets);
}

/* ---- Quicksort by several threads, without workspace ---- */

/* Partitions until the parts are small enough; starts a task for each smaller part. */
static void sort_part(struct echi_task task)
{
    const struct echi_sort_job *job = task.job;
    const struct echi_order *order = &job->window.order;
    size_t share = job->sort->n / ((size_t)job->threads * QUICK_SHARE) + QUICK_MIN;
    for (int depth = 0; task.n > share && (task.raw || depth < QUICK_DEPTH); depth++) {
        char *x = job->out.keys + task.at * job->key_bytes;
        struct echi_task lesser = task;
        uint64_t pivot;
        lesser.n = job->width->divide(order, task.raw ? job->in.keys : x, x, task.n, task.raw,
                                      task.low, &pivot);
        lesser.raw = false;
        task.at += lesser.n;
        task.n -= lesser.n;
        if (pivot == task.low && !task.raw)
            job->width->decode(order, x, lesser.n); /* equal, and in place */
        else
            echi_task_add(lesser);
        task.low = pivot;
        task.raw = false;
    }
    size_t at = task.at * job->key_bytes;
    job->width->sort_part(order, job->out.keys + at, job->other.keys + at, task.n);
}

static bool quick_chosen(const struct echi_sort_job *job)
{
    return job->threads > 1 && !job->sort->stable && job->width->divide &&
           (job->threads <= QUICK_THREADS || job->sort->n < QUICK_KEYS);
}

void echi_sort_msd(const struct echi_sort_job *job)
{
    if (quick_chosen(job)) {
        echi_task_run(
            job->threads,
            (struct echi_task){ .run = sort_part, .job = job, .n = job->sort->n, .raw = true });
        return;
    }
    struct segment all = { IN, 0, job->sort->n, 0 };
    sort_parallel(job, all);
}
