/*
 * quantile/cuda/select.cuh - elements of a few ranks without a sort of the input.
 *
 *     quantile_sample   keys of the input or of a list, which are then sorted
 *     quantile_pivots   two sampled keys around each rank
 *     quantile_filter   counts the keys of each class, and lists those near the ranks
 *     quantile_resolve  the class of each rank, which is known exactly
 *                       ... the same for the list, if it is long
 *     quantile_fill     pads the last list, which is then sorted
 *     quantile_finish   the keys of the ranks that are in it
 *     quantile_repair   ranks whose class was not listed: a block per rank reads the input several
 *                       times
 *     quantile_ties, quantile_find   the positions, if they are needed
 *
 *     keys     ---------|L1 ... H1|------|L2 ... H2|------|NaN       listed: ...
 *     classes      0     1    2   3   4   5    6    7   8    9
 *
 * The result does not depend on the sample.  A sample of random positions has the same distribution
 * for every order of the elements: each of its keys is at a random position of one of as many equal
 * parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_SELECT_CUH
#define ECHI_QUANTILE_CUDA_SELECT_CUH

#define BLOCK_THREADS QUANTILE_THREADS
#include "quantile/cuda/common.h"
#include "quantile/method.h"
#include "cuda/device/order.cuh"
#include "cuda/device/sample.cuh"
#include "select/cuda/tile.cuh"

enum { EACH = QUANTILE_EACH(KEY_BYTES) };

static __device__ inline uint64_t number_at(const void *array, uint32_t bytes, uint64_t i)
{
    return bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static __device__ inline void store_number(void *array, uint32_t bytes, uint64_t i, uint64_t number)
{
    if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)number;
    else
        ((uint64_t *)array)[i] = number;
}

static __device__ inline ukey merged(const struct quantile_args &a, ukey u)
{
    return order_merge(a.order, order_encode(a.order, u));
}

static __device__ inline ukey key_at(const struct quantile_args &a, uint64_t i)
{
    return merged(a, ((const ukey *)a.in)[i]);
}

static __device__ inline uint64_t grid_first(void)
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ inline uint64_t grid_step(void)
{
    return (uint64_t)gridDim.x * blockDim.x;
}

/* Whether elements of this key may have different bits. */
static __device__ inline bool is_ambiguous(const struct quantile_args &a, uint64_t key)
{
    return a.order.float_mask &&
           ((ukey)key == (ukey)(a.order.zero + 1) || (ukey)key == (ukey)a.order.last);
}

/* The bits of a bound, whose position is known if it is needed. */
static __device__ inline ukey bits_at(const struct quantile_args &a, const struct quantile_bound &b)
{
    if (!a.targets || a.index || is_ambiguous(a, b.key)) return ((const ukey *)a.in)[b.position];
    return (ukey)quantile_bits_of_key(&a.order, KEY_BYTES, a.nan, b.key);
}

/* ---- The sample ---- */

/* The number of keys that a pass reads: those of the input, or of the list before it. */
static __device__ inline uint64_t source_n(const struct quantile_args &a)
{
    if (!a.from) return a.n;
    return min(a.before->listed, a.from_room);
}

static __device__ inline ukey source_key(const struct quantile_args &a, uint64_t i)
{
    return a.from ? ((const ukey *)a.from)[i] : key_at(a, i);
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_sample(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    const uint64_t n = source_n(a);
    for (uint64_t i = grid_first(); i < a.sample_n; i += grid_step())
        ((ukey *)a.sample)[i] = n ? source_key(a, sample_position(n, a.sample_n, i)) : (ukey)0;
}

/* ---- Pivots ---- */

/* An interval of positions in the sample; low < 0: from the first key on; high >= sample_n: to the
 * last one. */
struct quantile_span {
    double low, high;
};

/* The positions between which the key of this rank of n is, except with a probability of about
 * 1e-6.  The sample has `sample` keys of these n. */
static __device__ inline struct quantile_span span_of_rank(uint64_t rank, uint64_t n, double sample)
{
    const double share = ((double)rank + 0.5) / (double)n, at = share * sample;
    const double side = 5 * sqrt(sample * share * (1 - share)) + 3;
    const struct quantile_span span = { at - side, at + side };
    return span;
}

/* The number of keys of the sorted sample that are not NaN. */
static __device__ inline uint64_t sample_numbers(const struct quantile_args &a)
{
    uint64_t low = 0;
    if (!a.order.float_mask) return a.sample_n;
    for (uint64_t count = a.sample_n; count > 0;) {
        const uint64_t half = count / 2;
        const bool less = ((const ukey *)a.sample)[low + half] < (ukey)a.order.last;
        low += less ? half + 1 : 0;
        count = less ? count - half - 1 : half;
    }
    return low;
}

/* The span of target t of this pass.  The ranks of quantiles depend on the number of NaN, which the
 * first pass counts; it estimates the number. */
static __device__ inline struct quantile_span target_span(const struct quantile_args &a, uint32_t t)
{
    if (a.from) return span_of_rank(a.targets[t].local, source_n(a), (double)a.sample_n);
    if (a.call != QUANTILE_CALL_QUANTILES)
        return span_of_rank(a.list_of.ranks[t], a.n, (double)a.sample_n);
    const uint64_t numbers = sample_numbers(a);
    uint64_t n = (uint64_t)((double)a.n * ((double)numbers / (double)a.sample_n));
    if (n == 0) n = 1;
    const struct quantile_place at = quantile_place_of((int)a.method, a.list_of.q[t / 2], n);
    return span_of_rank(t % 2 ? at.next : at.rank, n, (double)numbers);
}

extern "C" __global__ void __launch_bounds__(QUANTILE_TARGETS)
    quantile_pivots(const __grid_constant__ struct quantile_args a)
{
    __shared__ ukey low[QUANTILE_TARGETS], high[QUANTILE_TARGETS];
    __shared__ uint32_t open[QUANTILE_TARGETS]; /* 1: no low; 2: no high; 4: not pending */
    wait_for_earlier();
    const uint32_t t = threadIdx.x;
    struct quantile_level *l = a.level;
    open[t] = 4;
    if (t < a.n_targets && (!a.from || a.targets[t].state == QUANTILE_PENDING)) {
        const bool all = source_n(a) <= a.room;
        struct quantile_span s = { -1, (double)a.sample_n };
        if (!all) s = target_span(a, t);
        open[t] = (s.low < 0 ? 1 : 0) | (s.high >= (double)a.sample_n ? 2 : 0);
        low[t] = s.low < 0 ? (ukey)0 : ((const ukey *)a.sample)[(uint64_t)s.low];
        high[t] = open[t] & 2 ? (ukey)0 : ((const ukey *)a.sample)[(uint64_t)s.high];
    }
    __syncthreads(); /* all pivots are known */
    if (t) return;
    /* Both elements of a quantile have the wider interval. */
    uint32_t n = 0;
    if (a.order.float_mask) l->bounds[n++] = (uint64_t)(ukey)a.order.last;
    for (uint32_t j = 0; j < a.n_targets && a.call == QUANTILE_CALL_QUANTILES; j += 2) {
        const uint32_t k = j + 1;
        if (open[j] == 4 || open[k] == 4) continue;
        const uint32_t both = open[j] | open[k];
        low[j] = low[k] = min(low[j], low[k]);
        high[j] = high[k] = max(high[j], high[k]);
        open[j] = open[k] = both;
    }
    for (uint32_t j = 0; j < 2 * a.n_targets; j++) { /* inserts each pivot */
        const uint32_t target = j / 2;
        if (open[target] & (4 | (j % 2 ? 2 : 1))) continue;
        const uint64_t key = j % 2 ? high[target] : low[target];
        uint32_t at = n;
        while (at > 0 && l->bounds[at - 1] > key) at--;
        if (at > 0 && l->bounds[at - 1] == key) continue;
        for (uint32_t k = n; k > at; k--) l->bounds[k] = l->bounds[k - 1];
        l->bounds[at] = key;
        n++;
    }
    l->n_bounds = n;
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t wanted = 0;
        for (uint32_t j = 0; j < a.n_targets; j++) {
            if (open[j] & 4) continue;
            const bool above = open[j] & 1 || (i > 0 && l->bounds[i - 1] >= low[j]);
            const bool below = open[j] & 2 || (i < n && l->bounds[i] <= high[j]);
            wanted |= above && below;
        }
        l->wanted[i] = wanted;
    }
}

/* ---- The pass ---- */

struct filter_shared {
    ukey bounds[QUANTILE_BOUNDS];
    uint32_t wanted[QUANTILE_BOUNDS + 1];
    uint32_t counts[QUANTILE_CLASSES][32]; /* one per class and lane */
    ukey buffer[QUANTILE_BUFFER];
    uint32_t slots;
    uint64_t first;
};

/* Writes a key of the list, if there is room. */
static __device__ inline void list_key(const struct quantile_args &a, uint64_t at, ukey e)
{
    if (at < a.room) ((ukey *)a.list)[at] = e;
}

static __device__ inline void filter_key(const struct quantile_args &a, struct filter_shared &s,
                                         uint32_t n_bounds, uint32_t top, ukey e)
{
    uint32_t i = 0; /* bounds that are less */
    for (uint32_t step = top; step; step /= 2)
        if (i + step <= n_bounds && s.bounds[i + step - 1] < e) i += step;
    const bool equal = i < n_bounds && s.bounds[i] == e;
    atomicAdd(&s.counts[2 * i + equal][lane_id()], 1u);
    if (equal || !s.wanted[i]) return;
    const uint32_t slot = atomicAdd(&s.slots, 1u);
    if (slot < QUANTILE_BUFFER)
        s.buffer[slot] = e;
    else
        list_key(a, atomicAdd((unsigned long long *)&a.level->listed, 1ull), e);
}

/* Appends the buffer to the list; all threads call this after a barrier. */
static __device__ inline void filter_flush(const struct quantile_args &a, struct filter_shared &s)
{
    const uint32_t count = min(s.slots, (uint32_t)QUANTILE_BUFFER);
    if (threadIdx.x == 0 && count)
        s.first = atomicAdd((unsigned long long *)&a.level->listed, (unsigned long long)count);
    __syncthreads(); /* the position is known, and all threads have read the count */
    if (threadIdx.x == 0) s.slots = 0;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
        list_key(a, s.first + i, s.buffer[i]);
    __syncthreads(); /* the buffer is free */
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_filter(const __grid_constant__ struct quantile_args a)
{
    __shared__ struct filter_shared s;
    wait_for_earlier();
    const uint32_t n_bounds = a.level->n_bounds, classes = 2 * n_bounds + 1;
    const uint64_t n = source_n(a);
    uint32_t top = 1;
    while (2 * top <= n_bounds) top *= 2;
    for (uint32_t i = threadIdx.x; i < n_bounds; i += blockDim.x)
        s.bounds[i] = (ukey)a.level->bounds[i];
    for (uint32_t i = threadIdx.x; i <= n_bounds; i += blockDim.x) s.wanted[i] = a.level->wanted[i];
    for (uint32_t i = threadIdx.x; i < 32 * classes; i += blockDim.x) s.counts[i / 32][i % 32] = 0;
    if (threadIdx.x == 0) s.slots = 0;
    __syncthreads(); /* bounds are loaded, counters are zero */
    const uint64_t tile_n = QUANTILE_TILE(KEY_BYTES);
    for (uint64_t from = blockIdx.x * tile_n; from < n; from += gridDim.x * tile_n) {
        ukey key[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const uint64_t i = from + j * QUANTILE_THREADS + threadIdx.x;
            key[j] = i < n ? source_key(a, i) : (ukey)0;
        }
#pragma unroll
        for (int j = 0; j < EACH; j++)
            if (from + j * QUANTILE_THREADS + threadIdx.x < n)
                filter_key(a, s, n_bounds, top, key[j]);
        __syncthreads(); /* the tile is in the buffer */
        filter_flush(a, s);
    }
    for (uint32_t c = threadIdx.x / 32; c < classes; c += WARPS) {
        const uint64_t sum = warp_sum_u64(s.counts[c][lane_id()]);
        if (lane_id() == 0 && sum)
            atomicAdd((unsigned long long *)&a.level->counts[c], (unsigned long long)sum);
    }
}

/* ---- The classes of the ranks ---- */

/* The number of elements of the input that are not NaN, after its pass. */
static __device__ inline uint64_t level_numbers(const struct quantile_args &a)
{
    const struct quantile_level *l = a.level;
    if (!a.order.float_mask) return a.n;
    return a.n - l->counts[2 * l->n_bounds - 1]; /* NaN is the last bound */
}

/* Sets the rank of a target, if this is the first pass. */
static __device__ inline bool begin_target(const struct quantile_args &a, uint32_t t,
                                           struct quantile_target *target)
{
    target->state = QUANTILE_PENDING;
    target->rank = a.list_of.ranks[t % QUANTILE_BATCH];
    if (a.call == QUANTILE_CALL_QUANTILES) {
        const uint64_t n = level_numbers(a);
        target->state = QUANTILE_DONE;
        target->key = target->tie = target->rank = target->local = 0;
        if (n == 0 || (n < a.n && !a.ignore_nan)) return false; /* the result is NaN */
        const struct quantile_place at = quantile_place_of((int)a.method, a.list_of.q[t / 2], n);
        target->state = QUANTILE_PENDING;
        target->rank = t % 2 ? at.next : at.rank;
    }
    target->local = target->rank;
    return true;
}

extern "C" __global__ void __launch_bounds__(QUANTILE_TARGETS)
    quantile_resolve(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    const uint32_t t = threadIdx.x;
    const struct quantile_level *l = a.level;
    struct quantile_target target = {};
    if (t >= a.n_targets) return;
    if (a.from) target = a.targets[t];
    if (a.from ? target.state == QUANTILE_PENDING : begin_target(a, t, &target)) {
        uint64_t below = 0, listed = 0; /* in the classes before; of them, listed */
        uint32_t c = 0;
        while (target.local - below >= l->counts[c]) {
            if (c % 2 == 0 && l->wanted[c / 2]) listed += l->counts[c];
            below += l->counts[c++];
        }
        target.local -= below;
        if (c % 2) {
            target.state = QUANTILE_DONE;
            target.key = l->bounds[c / 2];
            target.tie = target.local;
        } else if (!l->wanted[c / 2] || l->listed > a.room) {
            target.state = QUANTILE_FAILED;
        } else {
            target.local += listed;
        }
    }
    a.targets[t] = target;
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_fill(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    const uint64_t listed = min(a.level->listed, a.room);
    for (uint64_t i = listed + grid_first(); i < a.room; i += grid_step())
        ((ukey *)a.list)[i] = (ukey) ~(ukey)0;
}

extern "C" __global__ void __launch_bounds__(QUANTILE_TARGETS)
    quantile_finish(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    const uint32_t t = threadIdx.x;
    const ukey *list = (const ukey *)a.list;
    if (t >= a.n_targets || a.targets[t].state != QUANTILE_PENDING) return;
    struct quantile_target target = a.targets[t];
    const ukey key = list[target.local];
    uint64_t low = 0;
    for (uint64_t count = target.local; count > 0;) { /* keys that are less */
        const uint64_t half = count / 2;
        const bool less = list[low + half] < key;
        low += less ? half + 1 : 0;
        count = less ? count - half - 1 : half;
    }
    target.key = key;
    target.tie = target.local - low;
    target.state = QUANTILE_DONE;
    a.targets[t] = target;
}

/* ---- Ranks whose keys were not listed ---- */

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_repair(const __grid_constant__ struct quantile_args a)
{
    enum { DIGIT = 8, BINS = 1 << DIGIT };
    __shared__ unsigned long long bins[BINS];
    __shared__ uint64_t left; /* the rank among the keys with this prefix */
    __shared__ uint32_t digit;
    wait_for_earlier();
    struct quantile_target *target = &a.targets[blockIdx.x];
    if (target->state != QUANTILE_FAILED) return;
    uint64_t prefix = 0;
    if (threadIdx.x == 0) left = target->rank;
    for (int shift = KEY_BITS - DIGIT; shift >= 0; shift -= DIGIT) {
        for (uint32_t b = threadIdx.x; b < BINS; b += blockDim.x) bins[b] = 0;
        __syncthreads(); /* the bins are zero */
        for (uint64_t i = threadIdx.x; i < a.n; i += blockDim.x) {
            const uint64_t key = key_at(a, i);
            if (shift + DIGIT == KEY_BITS || key >> (shift + DIGIT) == prefix)
                atomicAdd(&bins[key >> shift & (BINS - 1)], 1ull);
        }
        __syncthreads(); /* all keys are counted */
        if (threadIdx.x == 0) {
            uint32_t b = 0;
            while (left >= bins[b]) left -= bins[b++];
            digit = b;
        }
        __syncthreads(); /* the digit is known */
        prefix = prefix << DIGIT | digit;
    }
    if (threadIdx.x) return;
    target->key = prefix;
    target->tie = left;
    target->state = QUANTILE_DONE;
}

/* ---- Positions ---- */

/* Whether the position of a target is needed. */
static __device__ inline bool needs_position(const struct quantile_args &a, uint32_t t)
{
    return a.call == QUANTILE_CALL_PARTITION || a.index || is_ambiguous(a, a.targets[t].key);
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_ties(const __grid_constant__ struct quantile_args a)
{
    __shared__ uint32_t counts[QUANTILE_TARGETS];
    wait_for_earlier();
    if (!needs_position(a, 0)) return;
    const uint64_t tile = blockIdx.x, first = tile * QUANTILE_TILE(KEY_BYTES);
    ukey key[EACH];
    if (threadIdx.x < QUANTILE_TARGETS) counts[threadIdx.x] = 0;
    __syncthreads(); /* the counters are zero */
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const uint64_t i = first + j * QUANTILE_THREADS + threadIdx.x;
        key[j] = i < a.n ? key_at(a, i) : (ukey)0;
    }
    for (uint32_t t = 0; t < a.n_targets; t++) {
        const ukey wanted = (ukey)a.targets[t].key;
        uint32_t equal = 0;
#pragma unroll
        for (int j = 0; j < EACH; j++)
            equal += key[j] == wanted && first + j * QUANTILE_THREADS + threadIdx.x < a.n;
        if (!__ballot_sync(WARP_ALL, equal != 0)) continue;
        equal = (uint32_t)warp_sum_u64(equal);
        if (lane_id() == 0) atomicAdd(&counts[t], equal);
    }
    __syncthreads(); /* all keys are counted */
    if (threadIdx.x < a.n_targets) a.ties[threadIdx.x * a.tiles + tile] = counts[threadIdx.x];
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

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_find(const __grid_constant__ struct quantile_args a)
{
    __shared__ uint64_t sums[WARPS], tile, left;
    __shared__ uint32_t found;
    wait_for_earlier();
    const uint32_t t = blockIdx.x;
    const struct quantile_target target = a.targets[t];
    if (threadIdx.x == 0) a.bounds[t].key = target.key;
    if (!needs_position(a, 0)) {
        if (threadIdx.x == 0) a.bounds[t].position = 0;
        return;
    }
    uint64_t tie = target.tie, total;
    if (threadIdx.x == 0) found = 0;
    for (uint64_t from = 0; from < a.tiles; from += blockDim.x) {
        const uint64_t i = from + threadIdx.x;
        const uint64_t own = i < a.tiles ? a.ties[t * a.tiles + i] : 0;
        const uint64_t before = block_before(own, sums, &total);
        if (tie >= before && tie - before < own) {
            tile = i;
            left = tie - before;
            found = 1;
        }
        __syncthreads(); /* the tile is known, if it is one of these */
        if (found) break;
        tie -= total;
    }
    const uint64_t first = tile * QUANTILE_TILE(KEY_BYTES) + threadIdx.x * EACH;
    uint32_t own = 0, rank = 0;
    for (int j = 0; j < EACH; j++)
        own += first + j < a.n && key_at(a, first + j) == (ukey)target.key;
    const uint64_t before = block_before(own, sums, &total), wanted = left;
    if (wanted < before || wanted - before >= own) return;
    for (int j = 0; j < EACH; j++) {
        if (first + j >= a.n || key_at(a, first + j) != (ukey)target.key) continue;
        if (before + rank++ == wanted) a.bounds[t].position = first + j;
    }
}

#endif
