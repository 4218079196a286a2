/*
 * sparse/cuda/wide.cuh - products of a sparse matrix with several columns of another: like
 * kernels.cu, with a group of adjacent threads, one per column, in place of each thread.
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
    WIDE_ENTRIES = SPARSE_WIDE_TILE + SPARSE_GROUP
};

struct wide_shared {
    struct sparse_place places[2];
    uint32_t last;
    struct row_list<WIDE_TASKS> list;
    real group[WIDE_TASKS * SPARSE_STRIP]; /* the sum of each task */
    uint16_t start[SPARSE_WIDE_TILE + 2];
    real value[WIDE_ENTRIES]; /* finally: digits of a counter */
    index_type column[WIDE_ENTRIES];
};

/* The role of a thread in the group of a row: threads beyond the last column repeat the work of the
 * first. */
struct wide_thread {
    uint32_t row, rows; /* its row of how many that are processed at once */
    uint32_t column;
    uint32_t there; /* its column exists */
};

static __device__ inline struct wide_thread wide_thread_of(const struct sparse_args &a)
{
    struct wide_thread t;
    t.row = threadIdx.x / a.lanes;
    t.rows = SPARSE_WIDE_THREADS / a.lanes;
    t.column = threadIdx.x % a.lanes;
    t.there = t.column < a.width;
    if (!t.there) t.column = 0;
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

/* Adds a group of at least 1 entry: its chunks, in pairs in their order. */
static __device__ inline real add_entries(const struct sparse_args &a, const struct wide_shared &s,
                                          uint32_t at, uint32_t count, uint32_t column)
{
    const real *x = (const real *)a.x + column;
    real one = 0, two = 0, four = 0, sum = 0;
    uint32_t chunks = 0;
    for (uint32_t end = at + count; at < end; chunks++) {
        const uint32_t stop = least(at + SPARSE_CHUNK, end);
        sum = s.value[at] * __ldg(x + s.column[at] * a.x_stride);
#pragma unroll 8
        for (at++; at < stop; at++) sum += s.value[at] * __ldg(x + s.column[at] * a.x_stride);
        if (chunks % 2 == 0) {
            one = sum;
            continue;
        }
        sum = one + sum;
        if (chunks % 4 == 1) {
            two = sum;
            continue;
        }
        sum = two + sum;
        if (chunks == 3) four = sum;
        if (chunks == 7) return four + sum;
    }
    if (chunks % 2 && chunks / 2 % 2) one = two + one;
    sum = chunks % 2 ? one : chunks / 2 % 2 ? two : four;
    return chunks > 4 ? four + sum : sum;
}

static __device__ inline void put_wide(const struct sparse_args &a, const struct wide_thread &me,
                                       uint64_t row, real sum)
{
    if (me.there) put_at(a, (real *)a.y + row * a.y_stride + me.column, sum);
}

static __device__ inline void short_rows_wide(const struct sparse_args &a, const struct tile &t,
                                              const struct wide_thread &me, struct wide_shared &s)
{
    for (uint32_t i = me.row; i < t.rows; i += me.rows) {
        const uint32_t at = s.start[i], end = s.start[i + 1];
        const uint32_t count = end > at ? end - at : 0;
        if (is_whole(t, i) && count <= SPARSE_GROUP)
            put_wide(a, me, t.row + i, count ? add_entries(a, s, at, count, me.column) : 0);
        else if (threadIdx.x % a.lanes == 0)
            list_groups(s.list, i, at, count, is_whole(t, i));
    }
}

static __device__ inline void add_groups_wide(const struct sparse_args &a, const struct tile &t,
                                              const struct wide_thread &me, struct wide_shared &s)
{
    const uint32_t tasks = least(s.list.tasks, WIDE_TASKS);
    for (uint32_t i = me.row; i < tasks; i += me.rows) {
        const struct task task = s.list.task[i];
        const real sum = add_entries(a, s, task.at, task.count, me.column);
        if (!me.there) continue;
        if (is_whole(t, task.row)) {
            s.group[i * SPARSE_STRIP + me.column] = sum;
        } else {
            const struct shared_row r = find_shared_row(a, t.row + task.row);
            const uint64_t group = first_group(t, r) + task.group;
            if (group < r.groups)
                ((real *)a.partials)[slot_of(r, group) * a.width + me.column] = sum;
        }
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
        if (!me.there) continue;
        const uint32_t first = s.list.row_task[i];
        const real sum = fold_column(s.group + first * SPARSE_STRIP + me.column,
                                     s.list.row_groups[i], SPARSE_STRIP);
        put_wide(a, me, t.row + s.list.task[first].row, sum);
    }
}

/* The block adds the groups of a row, JOIN_EACH per thread group: the result of each round goes to
 * a binary counter, whose digits overwrite the tile's values. */
static __device__ inline void join_wide(const struct sparse_args &a, const struct shared_row &r,
                                        const struct wide_thread &me, struct wide_shared &s)
{
    const real *partials = (const real *)a.partials + me.column;
    uint64_t count = 0;
    real sum = 0;
    for (uint64_t first = 0; first < r.groups; first += JOIN_EACH * me.rows, count++) {
        const uint64_t from = first + me.row * JOIN_EACH;
        real each[JOIN_EACH];
#pragma unroll
        for (int g = 0; g < JOIN_EACH; g++)
            each[g] = from + g < r.groups ? partials[slot_of(r, from + g) * a.width] : (real)-0.0;
#pragma unroll
        for (int step = 1; step < JOIN_EACH; step *= 2)
#pragma unroll
            for (int g = 0; g < JOIN_EACH; g += 2 * step) each[g] += each[g + step];
        __syncthreads(); /* the sums of the previous round have been read */
        if (me.there) s.group[threadIdx.x] = each[0];
        __syncthreads(); /* the sums of this round are written */
        if (me.row || !me.there) continue;
        uint32_t l = 0;
        sum = fold_column(s.group + me.column, me.rows, a.lanes);
        for (; count >> l & 1; l++) sum = s.value[l * SPARSE_STRIP + me.column] + sum;
        s.value[l * SPARSE_STRIP + me.column] = sum;
    }
    if (me.row || !me.there) return;
    uint32_t l = __ffsll((long long)count) - 1;
    sum = s.value[l * SPARSE_STRIP + me.column];
    for (l++; count >> l; l++)
        if (count >> l & 1) sum = s.value[l * SPARSE_STRIP + me.column] + sum;
    put_wide(a, me, r.row, sum);
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

extern "C" __global__ void __launch_bounds__(SPARSE_WIDE_THREADS, 6)
    sparse_multiply_wide(const __grid_constant__ struct sparse_args a)
{
    __shared__ struct wide_shared s;
    const struct wide_thread me = wide_thread_of(a);
    if (threadIdx.x == 0) s.list.tasks = s.list.long_rows = 0;
    if (!a.places) {
        if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
            s.places[threadIdx.x / 32] =
                find_place(a, (blockIdx.x + (uint64_t)(threadIdx.x / 32)) * SPARSE_WIDE_TILE);
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
