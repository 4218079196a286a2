/*
 * cuda/device/block_network.cuh - sorts the words that a block holds in shared memory by a network.
 *
 *     windows   each thread sorts 64 bytes of words in registers
 *     runs      within a warp: the words of two adjacent runs are compared, from the end of the
 *               first and the beginning of the second, in opposite directions.  The lower half of
 *               all words is then in the first run, the upper half in the second.  Then halves of
 *               the runs are compared, and so on (Batcher's bitonic merge), by shuffles
 *     all       the same for longer runs: a thread compares words that are far apart, in registers,
 *               until the remaining comparisons are within a warp's run
 *
 * The words may be in bins that are already in order. Then two runs exchange only a few words near
 * their boundary, and one merge of the halves around each boundary is enough.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_BLOCK_NETWORK_CUH
#define ECHI_CUDA_DEVICE_BLOCK_NETWORK_CUH

#include "cuda/device/warp.cuh"

/* A word of 16 bytes, of which the low 96 bits are used. */
__extension__ typedef unsigned __int128 network_u128;

/* The words of a thread; run_log: log2 of the words of a warp. */
template <typename word> struct network_window {
    enum {
        LOG = sizeof(word) == 4   ? 4
              : sizeof(word) == 8 ? 3
                                  : 2,
        WORDS = 1 << LOG,
        RUN_LOG = LOG + 5
    };
    enum { VECTORS = 4, EACH = 16 / sizeof(word) };
    union {
        uint4 vector[VECTORS];
        word of[WORDS];
    };
};

/* The position of word p in shared memory. Words of 16 bytes are permuted within each 64 bytes, so
 * that adjacent threads, which each read 16 bytes, use all banks. */
template <typename word> static __device__ inline uint32_t network_place(uint32_t p)
{
    return p ^ (p >> 3 & (uint32_t)(48 / sizeof(word)));
}

static __device__ inline uint32_t network_lane(uint32_t x, uint32_t mask)
{
    return __shfl_xor_sync(WARP_ALL, x, (int)mask);
}

static __device__ inline uint64_t network_lane(uint64_t x, uint32_t mask)
{
    return __shfl_xor_sync(WARP_ALL, (unsigned long long)x, (int)mask);
}

static __device__ inline network_u128 network_lane(network_u128 x, uint32_t mask)
{
    const uint64_t high = __shfl_xor_sync(WARP_ALL, (unsigned long long)(x >> 32), (int)mask);
    return (network_u128)high << 32 | __shfl_xor_sync(WARP_ALL, (uint32_t)x, (int)mask);
}

template <typename word> static __device__ inline word network_keep(word x, word y, bool greater)
{
    return (x < y) != greater ? x : y;
}

template <typename word>
static __device__ inline void network_compare(struct network_window<word> &w, int i, int j)
{
    const word x = w.of[i], y = w.of[j];
    w.of[i] = x < y ? x : y;
    w.of[j] = x < y ? y : x;
}

#define COMPARE(i, j) network_compare(w, i, j);
static __device__ inline void network_order(struct network_window<uint32_t> &w)
{
#define NETWORK_16
#include "sort/network.def"
#undef NETWORK_16
}

static __device__ inline void network_order(struct network_window<uint64_t> &w)
{
#define NETWORK_8
#include "sort/network.def"
#undef NETWORK_8
}

static __device__ inline void network_order(struct network_window<network_u128> &w)
{
#define NETWORK_4
#include "sort/network.def"
#undef NETWORK_4
}
#undef COMPARE

/* Compares the words of a window at distance STEP, then at half this distance, and so on. */
template <int STEP, typename word>
static __device__ inline void network_steps(struct network_window<word> &w)
{
#pragma unroll
    for (int step = STEP; step; step /= 2)
#pragma unroll
        for (int i = 0; i < network_window<word>::WORDS; i++)
            if (!(i & step)) network_compare(w, i, i + step);
}

/* Within each 2^top words of the warp, compares the two halves, then the halves of each half, until
 * every word is in its place. */
template <typename word>
static __device__ inline void network_halves(struct network_window<word> &w, uint32_t top)
{
    typedef struct network_window<word> window;
    for (uint32_t mask = 1u << (top - 1) >> window::LOG; mask; mask /= 2) {
        const bool upper = lane_id() & mask;
#pragma unroll
        for (int i = 0; i < window::WORDS; i++)
            w.of[i] = network_keep(w.of[i], network_lane(w.of[i], mask), upper);
    }
    network_steps<window::WORDS / 2>(w);
}

/* Merges pairs of runs of this many lanes' words. */
template <typename word>
static __device__ inline void network_merge(struct network_window<word> &w, uint32_t lanes)
{
    typedef struct network_window<word> window;
    const bool upper = lane_id() & lanes;
#pragma unroll
    for (int i = 0; i < window::WORDS / 2; i++) {
        const int j = window::WORDS - 1 - i;
        const word x = network_lane(w.of[j], 2 * lanes - 1),
                   y = network_lane(w.of[i], 2 * lanes - 1);
        w.of[i] = network_keep(w.of[i], x, upper);
        w.of[j] = network_keep(w.of[j], y, upper);
    }
    network_halves(w, 31 - __clz((int)lanes) + window::LOG);
}

template <typename word>
static __device__ inline void network_load(const word *words, uint32_t at,
                                           struct network_window<word> &w)
{
    typedef struct network_window<word> window;
#pragma unroll
    for (uint32_t j = 0; j < window::WORDS; j += window::EACH)
        w.vector[j / window::EACH] = *(const uint4 *)&words[network_place<word>(at + j)];
}

template <typename word>
static __device__ inline void network_store(word *words, uint32_t at,
                                            const struct network_window<word> &w)
{
    typedef struct network_window<word> window;
#pragma unroll
    for (uint32_t j = 0; j < window::WORDS; j += window::EACH)
        *(uint4 *)&words[network_place<word>(at + j)] = w.vector[j / window::EACH];
}

/* The merges that the words of a bin with keys [first, end) need: bit k for merges into runs of
 * 2^(k + 1) warps. None is needed if the bin contains only one boundary of runs and is within the
 * halves around it. */
template <typename word>
static __device__ inline uint32_t network_needs(uint32_t first, uint32_t end)
{
    enum { RUN = 1 << network_window<word>::RUN_LOG };
    uint32_t at = (first | (RUN - 1)) + 1, needs = 0;
    if (at >= end || (at - first <= RUN / 2 && end - at <= RUN / 2)) return 0;
    for (; at < end; at += RUN) needs |= (at & (0u - at)) / RUN;
    return needs;
}

/* Merges pairs of runs of 2^(k - 1) words. Only words of the same bin are exchanged, because other
 * words are already in order; therefore runs elsewhere need not be sorted. */
template <typename word>
static __device__ inline void network_phase(word *words, uint32_t k, bool works)
{
    typedef struct network_window<word> window;
    enum { HALF = window::WORDS / 2 };
    const uint32_t me = threadIdx.x;
    uint32_t top = k;
    window w;
    do { /* one word of each of several parts of 2^apart; at first from the second run's end */
        const uint32_t apart = top - window::LOG, part = (1u << apart) - 1, low = me & part;
        const uint32_t first = (me - low) * window::WORDS + low;
        const uint32_t second = top == k ? first ^ part : first;
        if (works) {
#pragma unroll
            for (uint32_t i = 0; i < window::WORDS; i++)
                w.of[i] = words[network_place<word>((i < HALF ? first : second) + (i << apart))];
            if (top == k) {
#pragma unroll
                for (int i = 0; i < HALF; i++) network_compare(w, i, window::WORDS - 1 - i);
            } else {
#pragma unroll
                for (int i = 0; i < HALF; i++) network_compare(w, i, i + HALF);
            }
            network_steps<HALF / 2>(w);
#pragma unroll
            for (uint32_t i = 0; i < window::WORDS; i++)
                words[network_place<word>((i < HALF ? first : second) + (i << apart))] = w.of[i];
        }
        __syncthreads(); /* all threads have written */
        top = apart;
    } while (top > window::RUN_LOG);
    if (works) {
        __syncwarp(); /* for the shuffles */
        network_load(words, me * window::WORDS, w);
        network_halves(w, top);
        network_store(words, me * window::WORDS, w);
    }
}

/* Sorts 2^log words, at least as many as a warp has, that are in bins; needs is the result of
 * network_needs() for some bins of the thread. Word p is at network_place(p), whichever thread
 * wrote it; every thread of the block calls this function, and can then read the result. */
template <typename word>
static __device__ inline void block_network(word *words, uint32_t log, uint32_t needs)
{
    typedef struct network_window<word> window;
    const uint32_t me = threadIdx.x, at = me * window::WORDS, half = 16 * window::WORDS;
    const bool works = me < 1u << (log - window::LOG); /* whole warps */
    window w;
    __syncthreads(); /* all words are written */
    if (works) {
        __syncwarp(); /* for the shuffles */
        network_load(words, at, w);
        network_order(w);
        for (uint32_t lanes = 1; lanes < 32; lanes *= 2) network_merge(w, lanes);
        network_store(words, at, w);
    }
    for (uint32_t k = window::RUN_LOG + 1; k <= log; k++)
        if (__syncthreads_or((int)(needs >> (k - window::RUN_LOG - 1) & 1))) /* all have written */
            network_phase(words, k, works);
    __syncthreads();                             /* all threads have written */
    if ((at | (2 * half - 1)) + 1 < 1u << log) { /* every warp but the last */
        __syncwarp();                            /* for the shuffles */
        network_load(words, at + half, w);
        network_merge(w, 16);
        network_store(words, at + half, w);
    }
    __syncthreads(); /* the words are sorted */
}

#endif
