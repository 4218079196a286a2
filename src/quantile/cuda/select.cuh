/*
 * quantile/cuda/select.cuh - elements of a few ranks without a sort of the input: a filter by a
 * sample.
 *
 *     quantile_sample   keys at random positions, which are then sorted
 *     quantile_begin    two sampled keys around each rank: brackets
 *     quantile_filter   counts the keys of each class, and lists those in brackets.  The last block
 *                       determines the class of each rank, which is known exactly.
 *                       quantile_filter_one: of one bracket, with counters in registers
 *     quantile_search   search.cuh: the keys of the ranks that are in the list
 *
 *     keys     ---------|low ... high|------|low ... high|------       listed: ...
 *     classes      0      1   2    3    4     5   6    7    8
 *
 * The result does not depend on the sample.
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
#include "cuda/device/vectors.cuh"
#include "select/cuda/tile.cuh"

enum { EACH = QUANTILE_EACH(KEY_BYTES), UNROLL = KEY_BYTES == 1 ? 1 : KEY_BYTES == 2 ? 2 : 4 };

/* A key in a register. */
#if KEY_BITS == 64
typedef uint64_t wkey;
#else
typedef uint32_t wkey;
#endif

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
    if (!a.state || a.index || is_ambiguous(a, b.key)) return ((const ukey *)a.in)[b.position];
    return (ukey)quantile_bits_of_key(&a.order, KEY_BYTES, a.nan, b.key);
}

/* ---- The sample ---- */

#if KEY_BITS > 8
extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_sample(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    for (uint64_t i = grid_first(); i < a.sample_n; i += grid_step())
        ((ukey *)a.sample)[i] = key_at(a, sample_position(a.n, a.sample_n, i));
}
#endif

/* ---- Targets ---- */

/* Sets the rank of a target, given the number of elements that are not NaN.  false: the result is
 * NaN. */
static __device__ inline bool begin_target(const struct quantile_args &a, uint32_t t, uint64_t n,
                                           struct quantile_target *target)
{
    target->rank = a.list_of.ranks[t];
    if (a.call == QUANTILE_CALL_QUANTILES) {
        target->rank = 0;
        target->progress = QUANTILE_PLACED;
        if (n == 0 || (n < a.n && !a.ignore_nan)) return false;
        const struct quantile_place at = quantile_place_of((int)a.method, a.list_of.q[t / 2], n);
        target->rank = t % 2 ? at.next : at.rank;
    }
    target->left = target->rank;
    target->progress = QUANTILE_MISSED;
    return true;
}

/* The number of elements of the input that are not NaN, after the filter. */
static __device__ inline uint64_t input_numbers(const struct quantile_args &a)
{
    return a.order.float_mask ? a.n - load_relaxed_u64(&a.state->nan) : a.n;
}

/* ---- Brackets ---- */

/* Positions in the sample; low < 0: from the first key on; high >= sample_n: to the last one. */
struct quantile_span {
    double low, high;
};

/* The positions between which the key of this rank of n is, except with a probability of about
 * 1e-4.  The sample has `sample` keys of these n. */
static __device__ inline struct quantile_span span_of_rank(uint64_t rank, uint64_t n, double sample)
{
    const double share = ((double)rank + 0.5) / (double)n, at = share * sample;
    const double side = QUANTILE_SIDE * sqrt(sample * share * (1 - share)) + 3;
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

/* The ranks of quantiles depend on the number of NaN, which is not known yet; the sample estimates
 * it. */
static __device__ inline struct quantile_span target_span(const struct quantile_args &a, uint32_t t)
{
    if (a.call != QUANTILE_CALL_QUANTILES)
        return span_of_rank(a.list_of.ranks[t], a.n, (double)a.sample_n);
    const uint64_t numbers = sample_numbers(a);
    uint64_t n = (uint64_t)((double)a.n * ((double)numbers / (double)a.sample_n));
    if (n == 0) n = 1;
    const struct quantile_place at = quantile_place_of((int)a.method, a.list_of.q[t / 2], n);
    struct quantile_span span = span_of_rank(at.rank, n, (double)numbers);
    span.high = span_of_rank(at.next, n, (double)numbers).high;
    return span;
}

struct quantile_bracket {
    uint64_t low, high;
};

/* The keys between which target t is. */
static __device__ inline struct quantile_bracket target_bracket(const struct quantile_args &a,
                                                                uint32_t t)
{
    struct quantile_bracket b = { 0, (uint64_t)(ukey) ~(ukey)0 };
    if (a.n <= a.room) return b;
    const struct quantile_span span = target_span(a, t);
    if (span.low >= 0) b.low = ((const ukey *)a.sample)[(uint64_t)span.low];
    if (span.high < (double)a.sample_n) b.high = ((const ukey *)a.sample)[(uint64_t)span.high];
    return b;
}

/* Cuts brackets, which are sorted by their low keys, where they overlap.  Their common end remains
 * an end, because it may be the key of many elements, which must not be listed.  A key that is an
 * end of one bracket and inside another one is not: a bracket has few sampled keys inside. */
static __device__ inline uint32_t
cut_brackets(struct quantile_state *s, const struct quantile_bracket *sorted, uint32_t count)
{
    uint32_t n = 0;
    uint64_t end = 0; /* of the last bracket */
    for (uint32_t j = 0; j < count; j++) {
        const uint64_t low = n ? max(sorted[j].low, end) : sorted[j].low, high = sorted[j].high;
        if (n && high <= end) continue;
        s->low[n] = low;
        s->high[n++] = end = high;
    }
    return n;
}

extern "C" __global__ void __launch_bounds__(QUANTILE_TARGETS)
    quantile_begin(const __grid_constant__ struct quantile_args a)
{
    __shared__ __align__(16) struct quantile_bracket own[QUANTILE_SELECT], sorted[QUANTILE_SELECT];
    wait_for_earlier();
    struct quantile_state *s = a.state;
    const uint32_t t = threadIdx.x, each = a.call == QUANTILE_CALL_QUANTILES ? 2 : 1;
    const uint32_t count = a.n_targets / each;
    struct quantile_target target = {};
    target.group = QUANTILE_NO_GROUP;
    if (!a.sample) { /* the search begins with the whole input */
        if (t < a.n_targets) {
            begin_target(a, t, a.n, &target);
            s->targets[t] = target;
        }
        if (t == 0) {
            s->pending = a.n_targets;
            s->n_groups = 1;
            s->prefixes[0] = 0;
        }
        return;
    }
    if (t < count) own[t] = target_bracket(a, t * each);
    __syncthreads(); /* all brackets are known */
    if (t < count) {
        uint32_t less = 0;
        for (uint32_t j = 0; j < count; j++)
            less += own[j].low < own[t].low || (own[j].low == own[t].low && j < t);
        sorted[less] = own[t];
    }
    __syncthreads(); /* they are sorted */
    if (t == 0) {
        s->n_brackets = cut_brackets(s, sorted, count);
        s->n_groups = 1;
        s->prefixes[0] = 0;
    }
    if (t < a.n_targets) s->targets[t] = target;
}

/* ---- The pass ---- */

struct filter_shared {
    wkey low[QUANTILE_TARGETS], high[QUANTILE_TARGETS]; /* before keys are merged; padded */
    struct quantile_bracket brackets[QUANTILE_SELECT];
    uint32_t counts[QUANTILE_CLASSES][32]; /* one per class and lane */
    ukey keys[WARPS][QUANTILE_BUFFER];
    uint64_t positions[WARPS][QUANTILE_BUFFER];
};

/* Writes a candidate, if there is room. */
static __device__ inline void list_key(const struct quantile_args &a, uint64_t to, ukey e,
                                       uint64_t position)
{
    if (to >= a.room) return;
    ((ukey *)a.list)[to] = e;
    if (a.list_positions) store_number(a.list_positions, a.position_bytes, to, position);
}

/* Reserves places of the list; all lanes of a warp call this. */
static __device__ inline uint64_t list_reserve(const struct quantile_args &a, uint32_t count)
{
    unsigned long long first = 0;
    if (lane_id() == 0)
        first = atomicAdd((unsigned long long *)&a.state->listed, (unsigned long long)count);
    return __shfl_sync(WARP_ALL, first, 0);
}

/* The filter of a thread.  ONE: there is one bracket, whose counts are in registers. */
template <bool ONE> struct filter {
    const struct quantile_args &a;
    struct filter_shared &s;
    wkey low, span, nan; /* before keys are merged */
    uint32_t n, top;     /* the first step of the search for a bracket */
    uint32_t less, equal[2], between, nans;
    uint32_t fill; /* keys in the warp's buffer */

    /* Appends the buffer to the list. */
    __device__ inline void flush(void)
    {
        const uint32_t w = threadIdx.x / 32;
        const uint64_t first = list_reserve(a, fill);
        __syncwarp(); /* the buffer is complete */
        for (uint32_t i = lane_id(); i < fill; i += 32)
            list_key(a, first + i, s.keys[w][i], a.list_positions ? s.positions[w][i] : 0);
        __syncwarp(); /* the buffer is free */
        fill = 0;
    }

    /* The number of brackets that begin at or before the key. */
    __device__ inline uint32_t begun(wkey e) const
    {
        uint32_t i = 0;
        for (uint32_t step = top; step; step /= 2) i += s.low[i + step - 1] <= e ? step : 0;
        return min(i, n); /* the last key is not less than the padding */
    }

    /* Counts a key in a bracket; whether it is to be listed. */
    __device__ inline bool count(wkey split)
    {
        const uint64_t e = order_merge(a.order, (ukey)split);
        const uint32_t b = ONE ? 0 : begun(split) - 1;
        const bool is_low = e == s.brackets[b].low, is_high = !is_low && e == s.brackets[b].high;
        if (ONE) {
            equal[0] += is_low;
            equal[1] += is_high;
            between += !is_low && !is_high;
        } else {
            atomicAdd(&s.counts[4 * b + (is_low ? 1 : is_high ? 3 : 2)][lane_id()], 1u);
        }
        return !is_low && !is_high;
    }

    /* Processes COUNT keys of each lane; those with a bit in `valid`. */
    template <int COUNT, typename place>
    __device__ inline void keys(const wkey (&split)[COUNT], uint32_t valid, const place &position)
    {
        uint32_t hits = 0;
#pragma unroll
        for (int j = 0; j < COUNT; j++) {
            if (ONE) {
                less += split[j] < low && (valid >> j & 1);
                hits |= (split[j] - low <= span ? 1u : 0u) << j;
            } else {
                const uint32_t b = begun(split[j]);
                const bool hit = b && split[j] <= s.high[b - 1];
                if (!hit && (valid >> j & 1)) atomicAdd(&s.counts[4 * b][lane_id()], 1u);
                hits |= (hit ? 1u : 0u) << j;
            }
        }
        if (a.order.float_mask)
#pragma unroll
            for (int j = 0; j < COUNT; j++) nans += split[j] >= nan && (valid >> j & 1);
        hits &= valid;
        if (!__any_sync(WARP_ALL, hits != 0)) return;
#pragma unroll
        for (int j = 0; j < COUNT; j++)
            if ((hits >> j & 1) && !count(split[j])) hits &= ~(1u << j);
        const uint32_t through = warp_scan(__popc(hits));
        const uint32_t all = __shfl_sync(WARP_ALL, through, 31);
        if (all == 0) return;
        if (fill + all > QUANTILE_BUFFER && fill) flush();
        const bool direct = all > QUANTILE_BUFFER;
        uint64_t to = through - __popc(hits) + (direct ? list_reserve(a, all) : fill);
#pragma unroll
        for (int j = 0; j < COUNT; j++) {
            if (!(hits >> j & 1)) continue;
            const ukey e = order_merge(a.order, (ukey)split[j]);
            if (direct) {
                list_key(a, to, e, position(j));
            } else {
                s.keys[threadIdx.x / 32][to] = e;
                if (a.list_positions) s.positions[threadIdx.x / 32][to] = position(j);
            }
            to++;
        }
        if (!direct) fill += all;
    }

    template <int VECTORS>
    __device__ inline void batch(const keys_vector (&vectors)[VECTORS], uint64_t first)
    {
        enum { COUNT = VECTORS * VECTOR_KEYS };
        wkey split[COUNT];
#pragma unroll
        for (int j = 0; j < COUNT; j++)
            split[j] = order_encode(a.order, vectors[j / VECTOR_KEYS].of[j % VECTOR_KEYS]);
        keys(split, WARP_ALL, [&](int j) { return batch_position(first, j); });
    }

    __device__ inline void single(ukey key, uint64_t i, bool valid)
    {
        const wkey split[1] = { order_encode(a.order, key) };
        keys(split, valid, [&](int) { return i; });
    }
};

/* Finds the class of each rank, by one block that has acquired all counts. */
static __device__ inline void resolve(const struct quantile_args &a)
{
    struct quantile_state *s = a.state;
    const uint32_t t = threadIdx.x;
    if (t >= a.n_targets) return;
    struct quantile_target target = s->targets[t];
    if (begin_target(a, t, input_numbers(a), &target)) {
        const uint32_t classes = 4 * s->n_brackets;
        uint64_t left = target.rank, listed = 0; /* listed keys of the classes before */
        uint32_t c = 0;
        for (; c < classes; c++) {
            const uint64_t count = load_relaxed_u64(&s->counts[c]);
            if (left < count) break;
            left -= count;
            if (c % 4 == 2) listed += count;
        }
        if (c % 2) {
            target.progress = QUANTILE_FOUND;
            target.key = c % 4 == 1 ? s->low[c / 4] : s->high[c / 4];
            target.tie = left;
        } else if (c % 4 == 2 && load_relaxed_u64(&s->listed) <= a.room) {
            target.progress = QUANTILE_PENDING;
            target.left = left + listed;
        } else {
            atomicAdd((unsigned long long *)&s->missed, 1ull);
        }
        if (target.progress < QUANTILE_FOUND) atomicAdd((unsigned long long *)&s->pending, 1ull);
    }
    s->targets[t] = target;
}

template <bool ONE>
static __device__ inline void filter_input(const struct quantile_args &a, struct filter_shared &s)
{
    const uint32_t n = a.state->n_brackets;
    uint32_t top = 1;
    while (2 * top <= n) top *= 2;
    struct filter<ONE> f = {
        a, s, s.low[0], s.high[0] - s.low[0], (ukey)a.order.last, n, top, 0, { 0, 0 }, 0, 0, 0
    };
    const uint64_t tile = (uint64_t)QUANTILE_TILE(KEY_BYTES), tiles = (a.n + tile - 1) / tile;
    const uint64_t each = (tiles + gridDim.x - 1) / gridDim.x * tile;
    const uint64_t first = min(blockIdx.x * each, a.n), end = min(first + each, a.n);
    block_vectors<UNROLL>((const ukey *)a.in, first, end, f);
    if (__any_sync(WARP_ALL, f.fill)) f.flush();
    if (ONE) {
        const uint32_t own[4] = { f.less, f.equal[0], f.between, f.equal[1] };
#pragma unroll
        for (int c = 0; c < 4; c++) atomicAdd(&s.counts[c][lane_id()], own[c]);
    }
    if (!a.order.float_mask) return;
    const uint64_t nans = warp_sum_u64(f.nans);
    if (lane_id() == 0 && nans)
        atomicAdd((unsigned long long *)&a.state->nan, (unsigned long long)nans);
}

template <bool ONE> static __device__ inline void filter_block(const struct quantile_args &a)
{
    __shared__ struct filter_shared s;
    __shared__ uint32_t last;
    const uint32_t n = a.state->n_brackets, classes = 4 * n + 1;
    if (threadIdx.x < QUANTILE_TARGETS) {
        const uint32_t b = threadIdx.x;
        s.low[b] = s.high[b] = ~(wkey)0;
        if (b < n) {
            s.brackets[b].low = a.state->low[b];
            s.brackets[b].high = a.state->high[b];
            s.low[b] = order_equals_of(a.order, (ukey)s.brackets[b].low).low;
            s.high[b] = order_equals_of(a.order, (ukey)s.brackets[b].high).high;
        }
    }
    for (uint32_t i = threadIdx.x; i < 32 * classes; i += blockDim.x) s.counts[i / 32][i % 32] = 0;
    __syncthreads(); /* brackets are loaded, counters are zero */
    filter_input<ONE>(a, s);
    __syncthreads(); /* all keys of the block are counted */
    for (uint32_t c = threadIdx.x / 32; c < classes; c += WARPS) {
        const uint64_t sum = warp_sum_u64(s.counts[c][lane_id()]);
        if (lane_id() == 0 && sum)
            atomicAdd((unsigned long long *)&a.state->counts[c], (unsigned long long)sum);
    }
    __syncthreads(); /* the block's counts are in global memory */
    if (threadIdx.x == 0) last = add_acq_rel(&a.state->filtered, 1) == gridDim.x - 1;
    __syncthreads(); /* it is known whether this is the last block; then it sees all counts */
    if (last) resolve(a);
}

#if KEY_BITS > 8 /* keys of 8 bits have no sample */
extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS, 2)
    quantile_filter(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    filter_block<false>(a);
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS, 2)
    quantile_filter_one(const __grid_constant__ struct quantile_args a)
{
    wait_for_earlier();
    filter_block<true>(a);
}
#endif

#endif
