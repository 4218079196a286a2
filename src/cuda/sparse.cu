/*
 * cuda/sparse.cu - sparse matrices on the GPU, device half; here products with vectors.
 *
 *     1  products      the tile's values times x, into shared memory; meanwhile where rows begin
 *     2  short rows    a row of one chunk by a thread, which writes y; others are listed by groups
 *     3  groups        by eight threads, a chunk each; those of rows that tiles share: to memory
 *     4  long rows     that lie in the tile, of their groups
 *     5  shared rows   by the block that finishes the last of their tiles
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_make.cuh"
#include "sparse_wide.cuh"

enum {
    WARPS = SPARSE_THREADS / 32,
    CHUNKS = SPARSE_GROUP / SPARSE_CHUNK,
    EACH = (SPARSE_TILE + SPARSE_GROUP) / SPARSE_THREADS, /* entries of a thread */
    TASKS = SPARSE_TILE / SPARSE_CHUNK + SPARSE_TILE / SPARSE_GROUP + 16
};

struct tile_shared {
    struct sparse_place places[2];
    uint32_t last;
    struct row_list<TASKS> list;
    real group[TASKS]; /* the sum of each task */
    real warp[WARPS];
    uint16_t start[SPARSE_TILE + 2]; /* where each row begins among the tile's entries */
    real product[(SPARSE_TILE + SPARSE_GROUP) / 32 * 33];
};

/* Rows of a length that is a multiple of 32 would all begin in one bank. */
static __device__ inline uint32_t padded(uint32_t i)
{
    return i + i / 32;
}

static __device__ inline void put(const struct sparse_args &a, uint64_t row, real sum)
{
    put_at(a, (real *)a.y + row, sum);
}

/* ---- 1 ---- */

static __device__ inline void load_tile(const struct sparse_args &a, const struct tile &t,
                                        struct tile_shared &s)
{
    const index_type *columns = (const index_type *)a.columns + t.entry;
    const real *values = (const real *)a.values + t.entry, *x = (const real *)a.x;
    index_type column[EACH];
    real value[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t i = threadIdx.x + k * SPARSE_THREADS;
        column[k] = i < t.count ? __ldcs(columns + i) : 0;
        value[k] = i < t.count ? __ldcs(values + i) : 0;
    }
    for (uint32_t i = threadIdx.x; i < t.rows; i += SPARSE_THREADS) {
        const uint64_t offset = offset_of(a, t.row + i);
        const uint64_t at = offset > t.entry ? offset - t.entry : 0;
        s.start[i] = (uint16_t)(at < t.count ? at : t.count);
    }
    if (threadIdx.x == 0) s.start[t.rows] = (uint16_t)t.count;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t i = threadIdx.x + k * SPARSE_THREADS;
        if (i < t.count)
            s.product[padded(i)] = value[k] * __ldg(x + (column[k] < a.cols ? column[k] : 0));
    }
}

/* ---- 2 ---- */

/* A chunk of 1 product at least. */
static __device__ inline real add_chunk(const struct tile_shared &s, uint32_t at, uint32_t count)
{
    real sum = s.product[padded(at)];
#pragma unroll 4
    for (uint32_t i = 1; i < count; i++) sum += s.product[padded(at + i)];
    return sum;
}

static __device__ inline void short_rows(const struct sparse_args &a, const struct tile &t,
                                         struct tile_shared &s)
{
    for (uint32_t i = threadIdx.x; i < t.rows; i += SPARSE_THREADS) {
        const bool whole = is_whole(t, i);
        const uint32_t at = s.start[i], end = s.start[i + 1];
        const uint32_t count = end > at ? end - at : 0;
        if (!whole || count > SPARSE_CHUNK)
            list_groups(s.list, i, at, count, whole);
        else
            put(a, t.row + i, count ? add_chunk(s, at, count) : 0);
    }
}

/* ---- 3 ---- */

static __device__ inline void add_groups(const struct sparse_args &a, const struct tile &t,
                                         struct tile_shared &s)
{
    const uint32_t tasks = least(s.list.tasks, TASKS), lane = threadIdx.x % CHUNKS;
    for (uint32_t i = threadIdx.x / CHUNKS; i / 4 * 4 < tasks; i += SPARSE_THREADS / CHUNKS) {
        struct task task = s.list.task[i < tasks ? i : 0];
        const uint32_t count = i < tasks ? task.count : 0, from = lane * SPARSE_CHUNK;
        real sum = (real)-0.0; /* changes nothing that it is added to */
        if (from < count)
            sum = add_chunk(s, task.at + from, least(count - from, SPARSE_CHUNK));
#pragma unroll
        for (int step = 1; step < CHUNKS; step *= 2) sum += __shfl_xor_sync(WARP_ALL, sum, step);
        if (lane || i >= tasks) continue;
        if (!is_whole(t, task.row)) {
            const uint64_t slot = slot_of_task<SPARSE_TILE>(a, t, task);
            if (slot != NO_SLOT) ((real *)a.partials)[slot] = sum;
        } else if (task.alone) {
            put(a, t.row + task.row, sum);
        } else {
            s.group[i] = sum;
        }
    }
}

/* ---- 4 ---- */

/* Pairs of neighbours, then pairs of those: one thread a row. */
static __device__ inline void long_rows(const struct sparse_args &a, const struct tile &t,
                                        struct tile_shared &s)
{
    if (threadIdx.x >= least(s.list.long_rows, TASKS)) return;
    const uint32_t first = s.list.row_task[threadIdx.x], groups = s.list.row_groups[threadIdx.x];
    for (uint32_t step = 1; step < groups; step *= 2)
        for (uint32_t g = 0; g + step < groups; g += 2 * step)
            s.group[first + g] += s.group[first + g + step];
    put(a, t.row + s.list.task[first].row, s.group[first]);
}

/* ---- 5 ---- */

/* JOIN_EACH groups as one. */
static __device__ inline real load_groups(const struct sparse_args &a, const struct shared_row &r,
                                          uint64_t first)
{
    real sum[JOIN_EACH];
#pragma unroll
    for (int g = 0; g < JOIN_EACH; g++)
        sum[g] = first + g < r.groups ? ((const real *)a.partials)[slot_of(r, first + g)]
                                      : (real)-0.0;
#pragma unroll
    for (int step = 1; step < JOIN_EACH; step *= 2)
#pragma unroll
        for (int g = 0; g < JOIN_EACH; g += 2 * step) sum[g] += sum[g + step];
    return sum[0];
}

static __device__ inline real fold_warp(real sum)
{
#pragma unroll
    for (int step = 1; step < 32; step *= 2) sum += __shfl_xor_sync(WARP_ALL, sum, step);
    return sum;
}

/* A row of more groups than a warp holds, by the block.  What each round gives, a binary counter
 * puts together; its digits take the place of the groups that they are made of. */
static __device__ inline void join_long(const struct sparse_args &a, const struct shared_row &r,
                                        struct tile_shared &s)
{
    enum { ROUND = SPARSE_THREADS * JOIN_EACH };
    uint64_t count = 0;
    for (uint64_t first = 0; first < r.groups; first += ROUND, count++) {
        real sum = fold_warp(load_groups(a, r, first + threadIdx.x * JOIN_EACH));
        if (lane_id() == 0) s.warp[threadIdx.x / 32] = sum;
        __syncthreads(); /* the warps' sums are there */
        if (threadIdx.x == 0) {
            for (int step = 1; step < WARPS; step *= 2)
                for (int w = 0; w < WARPS; w += 2 * step) s.warp[w] += s.warp[w + step];
            uint32_t l = 0;
            for (sum = s.warp[0]; count >> l & 1; l++) sum = s.group[l] + sum;
            s.group[l] = sum;
        }
        __syncthreads(); /* ... and read */
    }
    if (threadIdx.x) return;
    uint32_t l = __ffsll((long long)count) - 1;
    real sum = s.group[l];
    for (l++; count >> l; l++)
        if (count >> l & 1) sum = s.group[l] + sum;
    put(a, r.row, sum);
}

static __device__ inline void shared_row(const struct sparse_args &a, uint64_t row,
                                         struct tile_shared &s)
{
    const struct shared_row r = find_shared_row<SPARSE_TILE>(a, row);
    __syncthreads(); /* its groups are written, and nobody reads s.last any more */
    if (threadIdx.x == 0) s.last = arrive(a, r);
    __syncthreads(); /* s.last is there */
    if (!s.last) return;
    if (r.groups > 32 * JOIN_EACH) {
        join_long(a, r, s);
    } else if (threadIdx.x < 32) {
        const real sum = fold_warp(load_groups(a, r, threadIdx.x * JOIN_EACH));
        if (threadIdx.x == 0) put(a, r.row, sum);
    }
}

extern "C" __global__ void __launch_bounds__(SPARSE_THREADS, 4)
    sparse_multiply(const __grid_constant__ struct sparse_args a)
{
    __shared__ struct tile_shared s;
    if (threadIdx.x == 0) s.list.tasks = s.list.long_rows = 0;
    if (!a.places) {
        if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
            s.places[threadIdx.x / 32] =
                find_place(a, (blockIdx.x + (uint64_t)(threadIdx.x / 32)) * SPARSE_TILE);
        __syncthreads(); /* the places are there */
    }
    const struct sparse_place *places = a.places ? a.places + blockIdx.x : s.places;
    const struct tile t = make_tile<SPARSE_TILE>(places[0], places[1]);
    load_tile(a, t, s);
    __syncthreads(); /* products and starts are there */
    short_rows(a, t, s);
    __syncthreads(); /* the list is whole */
    if (s.list.tasks) {
        add_groups(a, t, s);
        if (s.list.long_rows) {
            __syncthreads(); /* their groups are added up */
            long_rows(a, t, s);
        }
    }
    const bool two = t.rows > 1 || !t.inside_first;
    if (t.rows && t.inside_first) shared_row(a, t.row, s);
    if (t.rows && t.inside_last && two) shared_row(a, t.row + t.rows - 1, s);
    if (threadIdx.x == 0) leave(a);
}

extern "C" __global__ void __launch_bounds__(SPARSE_PLACE_THREADS)
    sparse_places(const __grid_constant__ struct sparse_args a)
{
    const uint64_t i = (uint64_t)blockIdx.x * SPARSE_PLACE_THREADS + threadIdx.x;
    if (i <= a.tiles) a.places[i] = find_place(a, i * a.tile);
    if (i < a.tiles) a.done[i] = 0;
}
