/*
 * quantile/cuda/find.cuh - the positions of elements whose keys are known, if quantile_search did
 * not collect them: those that equal an end of their bracket, and those that equal many others.
 *
 *     quantile_ties   counts the elements that equal each key, per chunk
 *     quantile_find   a block per key: its chunk, then its position there
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_FIND_CUH
#define ECHI_QUANTILE_CUDA_FIND_CUH

#include "quantile/cuda/search.cuh"

enum { TIES_CHUNK = QUANTILE_TIES * QUANTILE_TILE(KEY_BYTES) };

/* Whether the position of a target is needed and not known. */
static __device__ inline bool needs_position(const struct quantile_args &a, uint32_t t)
{
    return a.state->targets[t].progress == QUANTILE_FOUND &&
           (a.positions || is_ambiguous(a, a.state->targets[t].key));
}

struct ties_shared {
    wkey low[QUANTILE_TARGETS], high[QUANTILE_TARGETS]; /* before keys are merged */
    uint32_t counts[QUANTILE_TARGETS];
    uint32_t which[QUANTILE_TARGETS], n; /* targets */
};

struct tie_counter {
    const struct quantile_args &a;
    struct ties_shared &s;

    template <int COUNT> __device__ inline void keys(const wkey (&split)[COUNT], bool valid) const
    {
        for (uint32_t t = 0; t < s.n; t++) {
            const wkey low = s.low[t], span = s.high[t] - low;
            uint32_t equal = 0;
#pragma unroll
            for (int j = 0; j < COUNT; j++) equal += split[j] - low <= span && valid;
            if (!__any_sync(WARP_ALL, equal != 0)) continue;
            equal = (uint32_t)warp_sum_u64(equal);
            if (lane_id() == 0) atomicAdd(&s.counts[t], equal);
        }
    }

    template <int VECTORS>
    __device__ inline void batch(const keys_vector (&vectors)[VECTORS], uint64_t) const
    {
        wkey split[VECTORS * VECTOR_KEYS];
#pragma unroll
        for (int j = 0; j < VECTORS * VECTOR_KEYS; j++)
            split[j] = order_encode(a.order, vectors[j / VECTOR_KEYS].of[j % VECTOR_KEYS]);
        keys(split, true);
    }

    __device__ inline void single(ukey key, uint64_t, bool valid) const
    {
        const wkey split[1] = { order_encode(a.order, key) };
        keys(split, valid);
    }
};

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_ties(const __grid_constant__ struct quantile_args a)
{
    __shared__ struct ties_shared s;
    wait_for_earlier();
    if (threadIdx.x == 0) {
        s.n = 0;
        for (uint32_t t = 0; t < a.n_targets; t++) {
            if (!needs_position(a, t)) continue;
            const ukey key = (ukey)a.state->targets[t].key;
            const struct order_equals equals = order_equals_of(a.order, key);
            s.low[s.n] = equals.low;
            s.high[s.n] = equals.high;
            s.which[s.n++] = t;
        }
    }
    __syncthreads(); /* the keys are known */
    if (s.n == 0) return;
    for (uint64_t c = blockIdx.x; c < a.chunks; c += gridDim.x) {
        struct tie_counter f = { a, s };
        if (threadIdx.x < s.n) s.counts[threadIdx.x] = 0;
        __syncthreads(); /* the counters are zero */
        block_vectors<UNROLL>((const ukey *)a.in, c * TIES_CHUNK, min((c + 1) * TIES_CHUNK, a.n),
                              f);
        __syncthreads(); /* all keys are counted */
        if (threadIdx.x < s.n) a.ties[s.which[threadIdx.x] * a.chunks + c] = s.counts[threadIdx.x];
    }
}

/* The sum over the threads before this one; total receives that of the block. */
static __device__ inline uint64_t block_before(uint64_t own, uint64_t *sums, uint64_t *total)
{
    const uint64_t through = warp_scan_u64(own);
    uint64_t before = through - own;
    __syncthreads(); /* all threads have read the earlier sums */
    if (lane_id() == 31) sums[threadIdx.x / 32] = through;
    __syncthreads(); /* the sums are written */
    *total = 0;
    for (uint32_t w = 0; w < WARPS; w++) {
        if (w < threadIdx.x / 32) before += sums[w];
        *total += sums[w];
    }
    return before;
}

/* The chunk of an element that equals the key, `left` such elements after the first one; left
 * becomes its rank in the chunk.  All threads return it. */
static __device__ inline uint64_t find_chunk(const struct quantile_args &a, uint32_t t,
                                             uint64_t *sums, uint64_t *left)
{
    __shared__ uint64_t chunk, rank;
    __shared__ uint32_t found;
    uint64_t total;
    if (threadIdx.x == 0) found = 0;
    for (uint64_t from = 0;; from += blockDim.x) {
        const uint64_t i = from + threadIdx.x;
        const uint64_t own = i < a.chunks ? a.ties[t * a.chunks + i] : 0;
        const uint64_t before = block_before(own, sums, &total);
        if (*left >= before && *left - before < own) {
            chunk = i;
            rank = *left - before;
            found = 1;
        }
        __syncthreads(); /* the chunk is known, if it is one of these */
        if (found || from + blockDim.x >= a.chunks) break;
        *left -= total;
    }
    *left = rank;
    return chunk;
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_find(const __grid_constant__ struct quantile_args a)
{
    __shared__ uint64_t sums[WARPS];
    wait_for_earlier();
    const uint32_t t = blockIdx.x;
    const struct quantile_target target = a.state->targets[t];
    if (threadIdx.x == 0) {
        a.bounds[t].key = target.key;
        a.bounds[t].position = target.position;
    }
    if (!needs_position(a, t)) return;
    uint64_t left = target.tie, total;
    const uint64_t chunk = find_chunk(a, t, sums, &left) * TIES_CHUNK;
    for (uint64_t from = chunk; from < chunk + TIES_CHUNK; from += QUANTILE_TILE(KEY_BYTES)) {
        const uint64_t first = from + threadIdx.x * EACH;
        uint32_t own = 0;
        for (int j = 0; j < EACH; j++)
            own += first + j < a.n && key_at(a, first + j) == (ukey)target.key;
        uint64_t before = block_before(own, sums, &total);
        if (left >= before && left - before < own)
            for (int j = 0; j < EACH; j++)
                if (first + j < a.n && key_at(a, first + j) == (ukey)target.key && before++ == left)
                    a.bounds[t].position = first + j;
        if (left < total) return;
        left -= total;
    }
}

#endif
