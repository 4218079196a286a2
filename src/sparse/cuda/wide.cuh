/*
 * sparse/cuda/wide.cuh - products of a sparse matrix with several columns of another: like
 * kernels.cu, with a group of adjacent threads, one per 16 bytes of columns, in place of each
 * thread.
 *
 *     1  entries       of the tile, into shared memory
 *     2  rows          of one group; others are listed by groups
 *     3  groups        of those
 *     4  long rows     that are completely in the tile, from their groups
 *     5  shared rows   by the block that finishes the last of their tiles
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_CUDA_WIDE_CUH
#define ECHI_SPARSE_CUDA_WIDE_CUH

#include "sparse/cuda/tile.cuh"

enum {
    WIDE_TASKS = 2 * (SPARSE_WIDE_TILE / SPARSE_GROUP + 4),
    WIDE_ENTRIES = SPARSE_WIDE_TILE + SPARSE_GROUP,
    WIDE_EACH = SPARSE_WIDE_EACH(sizeof(real)), /* columns of a thread */
    WIDE_BATCH = 4 /* entries whose loads are in flight at once; it divides SPARSE_CHUNK */
};
#if REAL_BITS == 32
typedef float4 wide_vector;
#else
typedef double2 wide_vector;
#endif

struct wide_shared {
    struct sparse_place places[2];
    uint32_t last;
    struct row_list<WIDE_TASKS> list;
    real group[WIDE_TASKS * SPARSE_STRIP]; /* the sum of each task */
    uint16_t start[SPARSE_WIDE_TILE + 2];
    real value[WIDE_ENTRIES]; /* finally: digits of a counter */
    index_type column[WIDE_ENTRIES];
};

/* The role of a thread in the group of a row.  It has EACH columns, adjacent if they can be loaded
 * and stored as a vector, otherwise `gap` apart, so that loads of the group are contiguous. */
struct wide_thread {
    uint32_t row, rows;          /* its row of how many that are processed at once */
    uint32_t lane;               /* of the group */
    uint32_t column, gap, count; /* its first column, and how many exist */
    bool vectors;
};

/* A sum per column of a thread. */
struct wide_sum {
    real of[WIDE_EACH];
};

static __device__ inline struct wide_thread wide_thread_of(const struct sparse_args &a)
{
    struct wide_thread t;
    t.row = threadIdx.x / a.lanes;
    t.rows = SPARSE_WIDE_THREADS / a.lanes;
    t.lane = threadIdx.x % a.lanes;
    t.vectors = (a.width | a.x_stride | a.y_stride) % WIDE_EACH == 0 &&
                ((uintptr_t)a.x | (uintptr_t)a.y) % 16 == 0;
    t.column = t.vectors ? t.lane * WIDE_EACH : t.lane;
    t.gap = t.vectors ? 1 : a.lanes;
    t.count = 0;
    for (int e = 0; e < WIDE_EACH; e++) t.count += t.column + e * t.gap < a.width;
    if (!t.count) t.column = 0; /* it loads what the first thread loads */
    return t;
}

static __device__ inline void load_entries(const struct sparse_args &a, const struct tile &t,
                                           struct wide_shared &s)
{
    const index_type *columns = (const index_type *)a.columns + t.entry;
    const real *values = (const real *)a.values + t.entry;
#pragma unroll 5
    for (uint32_t i = threadIdx.x; i < t.count; i += SPARSE_WIDE_THREADS) {
        const index_type column = __ldcs(columns + i);
        s.column[i] = column < a.cols ? column : 0;
        s.value[i] = __ldcs(values + i);
    }
    for (uint32_t i = threadIdx.x; i < t.rows; i += SPARSE_WIDE_THREADS) {
        const uint64_t offset = offset_of(a, t.row + i);
        const uint64_t at = offset > t.entry ? offset - t.entry : 0;
        s.start[i] = (uint16_t)(at < t.count ? at : t.count);
    }
    if (threadIdx.x == 0) s.start[t.rows] = (uint16_t)t.count;
}

/* x += y, in this order. */
static __device__ inline void add_to(struct wide_sum &x, const struct wide_sum &y)
{
#pragma unroll
    for (int e = 0; e < WIDE_EACH; e++) x.of[e] += y.of[e];
}

/* y + x, in this order, to x. */
static __device__ inline void add_before(struct wide_sum &x, const struct wide_sum &y)
{
#pragma unroll
    for (int e = 0; e < WIDE_EACH; e++) x.of[e] = y.of[e] + x.of[e];
}

/* The thread's columns of a row of x. */
static __device__ inline struct wide_sum load_row(const struct sparse_args &a,
                                                  const struct wide_thread &me, index_type row)
{
    const real *x = (const real *)a.x + row * a.x_stride + me.column;
    struct wide_sum to;
    if (me.vectors) {
        const wide_vector v = __ldg((const wide_vector *)x);
        to.of[0] = v.x;
        to.of[1] = v.y;
#if REAL_BITS == 32
        to.of[2] = v.z;
        to.of[3] = v.w;
#endif
    } else {
#pragma unroll
        for (int e = 0; e < WIDE_EACH; e++)
            to.of[e] = (uint32_t)e < me.count ? __ldg(x + e * me.gap) : 0;
    }
    return to;
}

/* Adds a chunk of at least 1 entry.  Products of entries beyond it are -0, the identity of
 * addition. */
static __device__ inline struct wide_sum add_chunk_wide(const struct sparse_args &a,
                                                        const struct wide_shared &s, uint32_t at,
                                                        uint32_t end, const struct wide_thread &me)
{
    struct wide_sum sum;
#pragma unroll
    for (int e = 0; e < WIDE_EACH; e++) sum.of[e] = (real)-0.0;
#pragma unroll 1
    for (; at < end; at += WIDE_BATCH) {
        struct wide_sum x[WIDE_BATCH];
#pragma unroll
        for (int i = 0; i < WIDE_BATCH; i++) {
            if (at + i < end) {
                x[i] = load_row(a, me, s.column[at + i]);
            } else {
#pragma unroll
                for (int e = 0; e < WIDE_EACH; e++) x[i].of[e] = 0;
            }
        }
#pragma unroll
        for (int i = 0; i < WIDE_BATCH; i++) {
            const real value = at + i < end ? s.value[at + i] : (real)-0.0;
#pragma unroll
            for (int e = 0; e < WIDE_EACH; e++) sum.of[e] += value * x[i].of[e];
        }
    }
    return sum;
}

/* Adds a group of at least 1 entry: its chunks, in pairs in their order. */
static __device__ inline struct wide_sum add_entries(const struct sparse_args &a,
                                                     const struct wide_shared &s, uint32_t at,
                                                     uint32_t count, const struct wide_thread &me)
{
    const uint32_t end = at + count;
    struct wide_sum one, two, four, sum;
    uint32_t chunks = 0;
#pragma unroll 1
    for (; at < end; at += SPARSE_CHUNK, chunks++) {
        sum = add_chunk_wide(a, s, at, least(at + SPARSE_CHUNK, end), me);
        if (count <= SPARSE_CHUNK) return sum;
        if (chunks % 2 == 0) {
            one = sum;
            continue;
        }
        add_before(sum, one);
        if (chunks % 4 == 1) {
            two = sum;
            continue;
        }
        add_before(sum, two);
        if (chunks == 3) four = sum;
        if (chunks == 7) {
            add_to(four, sum);
            return four;
        }
    }
    if (chunks % 2 && chunks / 2 % 2) add_before(one, two);
    sum = chunks % 2 ? one : chunks / 2 % 2 ? two : four;
    if (chunks > 4) add_before(sum, four);
    return sum;
}

static __device__ inline void put_wide(const struct sparse_args &a, const struct wide_thread &me,
                                       uint64_t row, const struct wide_sum &sum)
{
    real *y = (real *)a.y + row * a.y_stride + me.column;
#pragma unroll
    for (int e = 0; e < WIDE_EACH; e++)
        if ((uint32_t)e < me.count) put_at(a, y + e * me.gap, sum.of[e]);
}

static __device__ inline void short_rows_wide(const struct sparse_args &a, const struct tile &t,
                                              const struct wide_thread &me, struct wide_shared &s)
{
    struct wide_sum zero;
#pragma unroll
    for (int e = 0; e < WIDE_EACH; e++) zero.of[e] = 0;
    for (uint32_t i = me.row; i < t.rows; i += me.rows) {
        const uint32_t at = s.start[i], end = s.start[i + 1];
        const uint32_t count = end > at ? end - at : 0;
        if (is_whole(t, i) && count <= SPARSE_GROUP)
            put_wide(a, me, t.row + i, count ? add_entries(a, s, at, count, me) : zero);
        else if (me.lane == 0)
            list_groups(s.list, i, at, count, is_whole(t, i));
    }
}

static __device__ inline void add_groups_wide(const struct sparse_args &a, const struct tile &t,
                                              const struct wide_thread &me, struct wide_shared &s)
{
    const uint32_t tasks = least(s.list.tasks, WIDE_TASKS);
    for (uint32_t i = me.row; i < tasks; i += me.rows) {
        const struct task task = s.list.task[i];
        const struct wide_sum sum = add_entries(a, s, task.at, task.count, me);
        real *to = s.group + i * SPARSE_STRIP;
        if (!is_whole(t, task.row)) {
            const struct shared_row r = find_shared_row(a, t.row + task.row);
            const uint64_t group = first_group(t, r) + task.group;
            if (group >= r.groups) continue;
            to = (real *)a.partials + slot_of(r, group) * a.width;
        }
#pragma unroll
        for (int e = 0; e < WIDE_EACH; e++)
            if ((uint32_t)e < me.count) to[me.column + e * me.gap] = sum.of[e];
    }
}

/* Adds `count` values at a stride, in adjacent pairs; count: a power of two, or the number of
 * values. */
static __device__ inline real fold_column(real *at, uint32_t count, uint32_t distance)
{
    for (uint32_t step = 1; step < count; step *= 2)
        for (uint32_t i = 0; i + step < count; i += 2 * step)
            at[i * distance] += at[(i + step) * distance];
    return at[0];
}

static __device__ inline void long_rows_wide(const struct sparse_args &a, const struct tile &t,
                                             const struct wide_thread &me, struct wide_shared &s)
{
    for (uint32_t i = me.row; i < least(s.list.long_rows, WIDE_TASKS); i += me.rows) {
        const uint32_t first = s.list.row_task[i];
        real *y = (real *)a.y + (t.row + s.list.task[first].row) * a.y_stride;
        for (uint32_t e = 0, q = me.column; e < me.count; e++, q += me.gap)
            put_at(a, y + q,
                   fold_column(s.group + first * SPARSE_STRIP + q, s.list.row_groups[i],
                               SPARSE_STRIP));
    }
}

/* The block adds the groups of a row, JOIN_EACH per thread group: the result of each round goes to
 * a binary counter, whose digits overwrite the tile's values. */
static __device__ inline void join_wide(const struct sparse_args &a, const struct shared_row &r,
                                        const struct wide_thread &me, struct wide_shared &s)
{
    const real *partials = (const real *)a.partials;
    const uint32_t width = WIDE_EACH * a.lanes;
    uint64_t count = 0;
    for (uint64_t first = 0; first < r.groups; first += JOIN_EACH * me.rows, count++) {
        const uint64_t from = first + me.row * JOIN_EACH;
        __syncthreads(); /* the sums of the previous round have been read */
        for (uint32_t e = 0, q = me.column; e < me.count; e++, q += me.gap) {
            real each[JOIN_EACH];
#pragma unroll
            for (int g = 0; g < JOIN_EACH; g++)
                each[g] =
                    from + g < r.groups ? partials[slot_of(r, from + g) * a.width + q] : (real)-0.0;
#pragma unroll
            for (int step = 1; step < JOIN_EACH; step *= 2)
#pragma unroll
                for (int g = 0; g < JOIN_EACH; g += 2 * step) each[g] += each[g + step];
            s.group[me.row * width + q] = each[0];
        }
        __syncthreads(); /* the sums of this round are written */
        for (uint32_t e = 0, q = me.column; me.row == 0 && e < me.count; e++, q += me.gap) {
            real sum = fold_column(s.group + q, me.rows, width);
            uint32_t l = 0;
            for (; count >> l & 1; l++) sum = s.value[l * SPARSE_STRIP + q] + sum;
            s.value[l * SPARSE_STRIP + q] = sum;
        }
    }
    for (uint32_t e = 0, q = me.column; me.row == 0 && e < me.count; e++, q += me.gap) {
        uint32_t l = __ffsll((long long)count) - 1;
        real sum = s.value[l * SPARSE_STRIP + q];
        for (l++; count >> l; l++)
            if (count >> l & 1) sum = s.value[l * SPARSE_STRIP + q] + sum;
        put_at(a, (real *)a.y + r.row * a.y_stride + q, sum);
    }
}

static __device__ inline void shared_row_wide(const struct sparse_args &a, uint64_t row,
                                              const struct wide_thread &me, struct wide_shared &s)
{
    const struct shared_row r = find_shared_row(a, row);
    __syncthreads(); /* its groups are written, and all threads have read s.last */
    if (threadIdx.x == 0) s.last = arrive(a, r, 0, r.groups - 1);
    __syncthreads(); /* s.last is written */
    if (s.last) join_wide(a, r, me, s);
}

extern "C" __global__ void __launch_bounds__(SPARSE_WIDE_THREADS, 8)
    sparse_multiply_wide(const __grid_constant__ struct sparse_args a)
{
    __shared__ struct wide_shared s;
    wait_for_earlier();
    const struct wide_thread me = wide_thread_of(a);
    if (threadIdx.x == 0) s.list.tasks = s.list.long_rows = 0;
    if (!a.places) {
        if (threadIdx.x < 32) {
            const uint32_t half = lane_id() / 16;
            const struct sparse_place place =
                find_place(a, (blockIdx.x + (uint64_t)half) * SPARSE_WIDE_TILE);
            if (lane_id() % 16 == 0) s.places[half] = place;
        }
        __syncthreads(); /* the places are written */
    }
    const struct sparse_place *places = a.places ? a.places + blockIdx.x : s.places;
    const struct tile t = make_tile(a, places[0], places[1]);
    load_entries(a, t, s);
    __syncthreads(); /* entries and starts are loaded */
    short_rows_wide(a, t, me, s);
    __syncthreads(); /* the list is complete */
    if (s.list.tasks) {
        add_groups_wide(a, t, me, s);
        if (s.list.long_rows) {
            __syncthreads(); /* their groups are added */
            long_rows_wide(a, t, me, s);
        }
    }
    const bool two = t.rows > 1 || !t.inside_first;
    if (t.rows && t.inside_first) shared_row_wide(a, t.row, me, s);
    if (t.rows && t.inside_last && two) shared_row_wide(a, t.row + t.rows - 1, me, s);
    if (threadIdx.x == 0) leave(a, t.inside_first || t.inside_last, 1);
}

#endif
