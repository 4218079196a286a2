/*
 * quantile/cuda/search.cuh - the keys of several ranks, by digits, and their positions, with one
 * launch.
 *
 *     source   the list of candidates, or the input: if a rank was not in its bracket, or without a
 *              filter
 *     pass p   counts digit p of the keys whose first digits are those of a target; the block that
 *              ends last determines the digit of each target
 *     last     collects the positions of the keys that were found, if they are needed
 *
 * A block takes a ticket: a part of a pass.  It waits until the pass before has ended; the blocks
 * that have its tickets run already, so there is always progress, and all blocks of the grid take
 * part.  So the input is read at most once per digit, for all ranks together, for any data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_SEARCH_CUH
#define ECHI_QUANTILE_CUDA_SEARCH_CUH

#include "quantile/cuda/select.cuh"

enum { DIGITS = KEY_BITS / QUANTILE_DIGIT };

struct search_shared {
    uint32_t bins[QUANTILE_TARGETS * QUANTILE_BINS];
    wkey prefixes[QUANTILE_TARGETS]; /* padded */
    uint32_t n_groups, top;
    uint64_t ticket;
    uint32_t last;
    uint32_t active[QUANTILE_TARGETS]; /* whether a target is searched for */
};

/* What all blocks know. */
struct search_plan {
    bool whole;
    uint64_t n, part, parts; /* elements of the source, and of a part; parts of a pass */
    uint32_t passes;
};

static __device__ inline struct search_plan plan_search(const struct quantile_args &a)
{
    struct search_plan p;
    const uint64_t tile = (uint64_t)QUANTILE_TILE(KEY_BYTES);
    p.whole = !a.sample || a.state->missed;
    p.n = p.whole ? a.n : min(a.state->listed, a.room);
    p.part = (p.n + gridDim.x * tile - 1) / (gridDim.x * tile) * tile;
    p.parts = (p.n + p.part - 1) / p.part;
    p.passes = DIGITS + (a.positions ? 1 : 0);
    return p;
}

/* ---- A part ---- */

/* The group of a prefix, or n_groups. */
static __device__ inline uint32_t group_of(const struct search_shared &s, wkey prefix)
{
    uint32_t i = 0;
    for (uint32_t step = s.top; step; step /= 2) i += s.prefixes[i + step] <= prefix ? step : 0;
    i = min(i, s.n_groups - 1); /* the last prefix may equal the padding */
    return s.prefixes[i] == prefix ? i : s.n_groups;
}

/* Counts digits; adds the count of equal successive keys at once, because many keys of a thread are
 * equal if the data is clustered or has few different keys. */
struct digit_counter {
    const struct quantile_args &a;
    struct search_shared &s;
    bool whole;
    uint32_t shift;
    uint32_t bin, run;

    __device__ inline void add(ukey key)
    {
        const wkey e = whole ? merged(a, key) : key;
        const uint32_t above = shift + QUANTILE_DIGIT;
        const uint32_t g = group_of(s, above < KEY_BITS ? e >> above : 0);
        if (g == s.n_groups) return;
        const uint32_t at = g * QUANTILE_BINS + (uint32_t)(e >> shift & (QUANTILE_BINS - 1));
        if (at != bin) {
            if (run) atomicAdd(&s.bins[bin], run);
            bin = at;
            run = 0;
        }
        run++;
    }

    template <int VECTORS>
    __device__ inline void batch(const keys_vector (&vectors)[VECTORS], uint64_t)
    {
#pragma unroll
        for (int j = 0; j < VECTORS * VECTOR_KEYS; j++)
            add(vectors[j / VECTOR_KEYS].of[j % VECTOR_KEYS]);
    }

    __device__ inline void single(ukey key, uint64_t, bool valid)
    {
        if (valid) add(key);
    }
};

/* Collects positions of the keys that were found. */
struct position_collector {
    const struct quantile_args &a;
    struct search_shared &s;
    bool whole;

    __device__ inline void add(ukey key, uint64_t i)
    {
        const uint32_t g = group_of(s, whole ? merged(a, key) : key);
        if (g == s.n_groups) return;
        uint64_t *equal = &a.state->equal[g];
        if (load_relaxed_u64(equal) > QUANTILE_EQUAL) return;
        const uint64_t to = atomicAdd((unsigned long long *)equal, 1ull);
        if (to < QUANTILE_EQUAL)
            a.state->places[g][to] = whole ? i : number_at(a.list_positions, a.position_bytes, i);
    }

    template <int VECTORS>
    __device__ inline void batch(const keys_vector (&vectors)[VECTORS], uint64_t first)
    {
#pragma unroll
        for (int j = 0; j < VECTORS * VECTOR_KEYS; j++)
            add(vectors[j / VECTOR_KEYS].of[j % VECTOR_KEYS], batch_position(first, j));
    }

    __device__ inline void single(ukey key, uint64_t i, bool valid)
    {
        if (valid) add(key, i);
    }
};

/* The elements [first, end) of pass `pass`. */
static __device__ inline void search_part(const struct quantile_args &a, struct search_shared &s,
                                          bool whole, uint32_t pass, uint64_t first, uint64_t end)
{
    const ukey *from = (const ukey *)(whole ? a.in : a.list);
    if (pass == DIGITS) {
        struct position_collector f = { a, s, whole };
        block_vectors<KEY_BYTES == 8 ? 2 : 1>(from, first, end, f); /* needs many registers */
        return;
    }
    struct digit_counter f = { a, s, whole, KEY_BITS - QUANTILE_DIGIT * (pass + 1), 0, 0 };
    block_vectors<UNROLL>(from, first, end, f);
    if (f.run) atomicAdd(&s.bins[f.bin], f.run);
}

/* ---- The end of a pass ---- */

/* Determines the next digit of target t, by one warp. */
static __device__ inline void pick_digit(const struct quantile_args &a, struct search_shared &s,
                                         const struct search_plan &p, uint32_t pass, uint32_t t)
{
    enum { EACH_BINS = QUANTILE_BINS / 32 };
    struct quantile_target *target = &a.state->targets[t];
    const bool active = target->progress < QUANTILE_FOUND;
    if (lane_id() == 0) s.active[t] = active;
    if (!active) return;
    const uint64_t left = pass == 0 && p.whole ? target->rank : target->left;
    const uint64_t *bins = a.bins + (pass ? target->group : 0) * QUANTILE_BINS;
    uint64_t count[EACH_BINS], sum = 0;
#pragma unroll
    for (int j = 0; j < EACH_BINS; j++) {
        count[j] = load_relaxed_u64(&bins[lane_id() * EACH_BINS + j]);
        sum += count[j];
    }
    const uint64_t through = warp_scan_u64(sum);
    uint64_t before = through - sum;
    __syncwarp(); /* all lanes have read the target */
    if (left < before || left >= through) return;
    uint32_t digit = lane_id() * EACH_BINS;
#pragma unroll
    for (int j = 0; j < EACH_BINS - 1; j++)
        if (left >= before + count[j] && digit == lane_id() * EACH_BINS + j) {
            before += count[j];
            digit++;
        }
    target->key = pass ? target->key << QUANTILE_DIGIT | digit : digit;
    target->left = target->tie = left - before;
    if (pass == DIGITS - 1) target->progress = QUANTILE_FOUND;
}

/* Groups the targets by the digits that are known, by the first warp. */
static __device__ inline void make_groups(const struct quantile_args &a, struct search_shared &s)
{
    struct quantile_state *state = a.state;
    const uint32_t t = lane_id();
    const bool active = t < a.n_targets && s.active[t];
    const unsigned long long prefix = active ? state->targets[t].key : 0;
    const uint32_t lanes = __ballot_sync(WARP_ALL, active);
    bool first = active;
    for (int j = 0; j < 32; j++) {
        const unsigned long long other = __shfl_sync(WARP_ALL, prefix, j);
        if ((lanes >> j & 1) && j < (int)t && other == prefix) first = false;
    }
    const uint32_t leaders = __ballot_sync(WARP_ALL, first);
    uint32_t group = 0;
    for (int j = 0; j < 32; j++) {
        const unsigned long long other = __shfl_sync(WARP_ALL, prefix, j);
        group += (leaders >> j & 1) && other < prefix;
    }
    if (active) state->targets[t].group = group;
    if (first) state->prefixes[group] = prefix;
    if (t == 0) state->n_groups = (uint32_t)__popc(leaders);
}

/* Sets the position of target t, if all that are possible were collected; by one warp. */
static __device__ inline void pick_position(const struct quantile_args &a, uint32_t t)
{
    struct quantile_target *target = &a.state->targets[t];
    const uint32_t group = target->group;
    if (group == QUANTILE_NO_GROUP) return;
    const uint64_t count = load_relaxed_u64(&a.state->equal[group]), tie = target->tie;
    if (count > QUANTILE_EQUAL) return;
    for (uint64_t i = lane_id(); i < count; i += 32) {
        const uint64_t own = a.state->places[group][i];
        uint64_t less = 0;
        for (uint64_t j = 0; j < count; j++) less += a.state->places[group][j] < own;
        if (less != tie) continue;
        target->position = own;
        target->progress = QUANTILE_PLACED;
    }
}

static __device__ inline void end_pass(const struct quantile_args &a, struct search_shared &s,
                                       const struct search_plan &p, uint32_t pass)
{
    for (uint32_t t = threadIdx.x / 32; t < a.n_targets; t += WARPS) {
        if (pass < DIGITS)
            pick_digit(a, s, p, pass, t);
        else
            pick_position(a, t);
    }
    if (pass >= DIGITS) return;
    __syncthreads(); /* the digits are known, and the bins are read */
    for (uint32_t b = threadIdx.x; b < s.n_groups * QUANTILE_BINS; b += blockDim.x) a.bins[b] = 0;
    if (threadIdx.x < 32) make_groups(a, s);
    __syncthreads(); /* the bins are zero, and the groups are written */
    if (threadIdx.x == 0) store_release(&a.state->ready, pass + 1);
}

/* ---- The kernel ---- */

/* Loads the groups of a pass that may begin. */
static __device__ inline void load_groups(const struct quantile_args &a, struct search_shared &s,
                                          uint32_t pass)
{
    if (threadIdx.x == 0) {
        wait_acquire(&a.state->ready, pass);
        s.n_groups = load_relaxed(&a.state->n_groups);
        s.top = 1;
        while (2 * s.top < s.n_groups) s.top *= 2;
        if (s.n_groups == 1) s.top = 0;
    }
    __syncthreads(); /* the pass may begin, and the number of groups is known */
    const uint32_t g = threadIdx.x;
    if (g < QUANTILE_TARGETS)
        s.prefixes[g] = g < s.n_groups ? (wkey)load_relaxed_u64(&a.state->prefixes[g]) : ~(wkey)0;
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS)
    quantile_search(const __grid_constant__ struct quantile_args a)
{
    __shared__ struct search_shared s;
    wait_for_earlier();
    if (a.state->pending == 0) return;
    const struct search_plan p = plan_search(a);
    for (uint32_t loaded = p.passes;;) {
        if (threadIdx.x == 0) s.ticket = atomicAdd((unsigned long long *)&a.state->ticket, 1ull);
        __syncthreads(); /* the ticket is known */
        const uint64_t ticket = s.ticket, first = ticket % p.parts * p.part;
        const uint32_t pass = (uint32_t)(ticket / p.parts);
        if (pass >= p.passes) return;
        if (pass != loaded) load_groups(a, s, pass);
        loaded = pass;
        __syncthreads(); /* the groups are loaded */
        const uint32_t bins = pass < DIGITS ? s.n_groups * QUANTILE_BINS : 0;
        for (uint32_t b = threadIdx.x; b < bins; b += blockDim.x) s.bins[b] = 0;
        __syncthreads(); /* the bins are zero */
        search_part(a, s, p.whole, pass, first, min(first + p.part, p.n));
        __syncthreads(); /* all keys are counted */
        for (uint32_t b = threadIdx.x; b < bins; b += blockDim.x)
            if (s.bins[b])
                atomicAdd((unsigned long long *)&a.bins[b], (unsigned long long)s.bins[b]);
        __syncthreads(); /* the counts are in global memory */
        if (threadIdx.x == 0)
            s.last = add_acq_rel(&a.state->counted, 1) == (uint32_t)(p.parts * (pass + 1) - 1);
        __syncthreads(); /* whether this part is the last one is known; then all counts are seen */
        if (s.last) end_pass(a, s, p, pass);
    }
}

#endif
