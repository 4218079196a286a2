/*
 * sort/cuda/short.cuh - device code of short.cu: words, and the groups that a warp or a block loads
 * and stores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SHORT_CUH
#define ECHI_SORT_CUDA_SHORT_CUH

#include "cuda/device/block_network.cuh"
#include "cuda/device/order.cuh"
#include "sort/cuda/groups.cuh"

#define POSITIONS (VAL_BYTES != 0)

/* ---- Words ---- */

#if !POSITIONS && KEY_BITS <= 32
typedef uint32_t word;
enum { POSITION_BITS = 0 };
#elif !POSITIONS
typedef uint64_t word;
enum { POSITION_BITS = 0 };
#elif KEY_BITS <= 16
typedef uint32_t word;
enum { POSITION_BITS = 16 };
#elif KEY_BITS == 32
typedef uint64_t word;
enum { POSITION_BITS = 32 };
#else
typedef network_u128 word;
enum { POSITION_BITS = 32 };
#endif

enum {
    WORDS_LOG = SORT_SHORT_LOG(SORT_SHORT_WORD_BYTES(KEY_BYTES, POSITIONS)),
    WORDS = 1 << WORDS_LOG, /* of a warp */
    LANE_LOG = network_window<word>::LOG,
    ITEMS = WORDS / 32
};
static_assert(sizeof(word) == SORT_SHORT_WORD_BYTES(KEY_BYTES, POSITIONS) &&
                  sizeof(word) * WORDS == SORT_SHORT_WARP_BYTES,
              "the host computes the classes from these sizes");

/* The form of a key that is compared. */
static __device__ inline ukey compared(const struct sort_common &a, ukey u)
{
    ukey e = order_encode(a.order, u);
#if POSITIONS
    if (a.plain) return e;
    e = order_merge(a.order, e);
    if (a.begin_bit == a.end_bit) return 0;
    e = (ukey)(e >> a.begin_bit) & (ukey)((ukey) ~(ukey)0 >> (KEY_BITS - a.end_bit + a.begin_bit));
#endif
    return e;
}

static __device__ inline word word_of(const struct sort_common &a, ukey u, uint32_t position)
{
    return (word)compared(a, u) << POSITION_BITS | (POSITIONS ? position : 0);
}

/* Stays behind all other words: no position has all bits set, and equal keys without positions are
 * indistinguishable. */
static __device__ inline word last_word(void)
{
    return (word) ~(word)0;
}

/* ---- Groups ---- */

/* Groups of class c, from `base` on, each in 2^c words; a class has `count` groups, from `first` of
 * the list on. */
struct short_groups {
    uint64_t first, count, base;
    uint32_t c;
};

/* The group and the position in it of a word; false if there is no such element. */
static __device__ inline bool short_at(const struct sort_short_args &a,
                                       const struct short_groups &s, uint32_t slot,
                                       struct group &group, uint32_t &position)
{
    const uint64_t i = s.base + (slot >> s.c);
    position = slot & ((1u << s.c) - 1);
    if (i >= s.count) return false;
    group = group_of(a.groups, s.first, i);
    return position < group.n;
}

template <int THREADS>
static __device__ inline void short_load(const struct sort_short_args &a, word *words,
                                         const struct short_groups &s)
{
    const ukey *in = (const ukey *)a.common.keys_in;
    const uint32_t me = THREADS == 32 ? lane_id() : threadIdx.x;
    const uint32_t all = THREADS == 32 ? (uint32_t)WORDS : 1u << s.c;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t slot = me + i * THREADS;
        struct group group;
        uint32_t position;
        if (slot >= all) break;
        words[network_place<word>(slot)] =
            short_at(a, s, slot, group, position)
                ? word_of(a.common, in[group.in + position], position)
                : last_word();
    }
}

/* ---- Sort ---- */

/* Sorts each 2^LOG words of a lane: Batcher's bitonic network. */
template <int LOG> static __device__ inline void lane_sort(struct network_window<word> &w)
{
    enum { ALL = network_window<word>::WORDS };
#pragma unroll
    for (int run = 2; run <= 1 << LOG; run *= 2) {
#pragma unroll
        for (int i = 0; i < ALL; i++)
            if ((i & (run / 2)) == 0) network_compare(w, i, i ^ (run - 1));
#pragma unroll
        for (int step = run / 4; step; step /= 2)
#pragma unroll
            for (int i = 0; i < ALL; i++)
                if (!(i & step)) network_compare(w, i, i + step);
    }
}

/* Sorts each 2^c words of the warp. */
static __device__ inline void short_sort(word *words, uint32_t c)
{
    const uint32_t at = lane_id() << LANE_LOG;
    struct network_window<word> w;
    if (c == 0) return;
    network_load(words, at, w);
    if (c >= LANE_LOG) {
        network_order(w);
        for (uint32_t lanes = 1; lanes < 1u << (c - LANE_LOG); lanes *= 2) network_merge(w, lanes);
    } else if (c == 1) {
        lane_sort<1>(w);
    } else if (c == 2) {
        lane_sort<2>(w);
    } else {
        lane_sort<3>(w);
    }
    network_store(words, at, w);
}

/* ---- Store ---- */

/* The threads that share the words wait for each other. */
template <int THREADS> static __device__ inline void short_wait(void)
{
    if (THREADS == 32)
        __syncwarp(); /* all lanes have read, before one writes */
    else
        __syncthreads(); /* the same for all threads */
}

static __device__ inline uint32_t position_of(word w)
{
    return (uint32_t)w & (uint32_t)(((uint64_t)1 << POSITION_BITS) - 1);
}

#if POSITIONS
/* Moves the elements of one array, unit by unit, to the order of the words. */
template <int THREADS, typename unit>
static __device__ inline void short_move(const struct sort_short_args &a, const word *words,
                                         const struct short_groups &s, const void *from, void *to,
                                         uint32_t units)
{
    const unit *in = (const unit *)from;
    unit *out = (unit *)to;
    const uint32_t me = THREADS == 32 ? lane_id() : threadIdx.x;
    const uint32_t all = THREADS == 32 ? (uint32_t)WORDS : 1u << s.c;
    for (uint32_t u = 0; u < units; u++) {
        unit moved[ITEMS];
        struct group group;
        uint32_t position;
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const uint32_t slot = me + i * THREADS;
            if (slot < all && short_at(a, s, slot, group, position))
                moved[i] =
                    in[(group.in + position_of(words[network_place<word>(slot)])) * units + u];
        }
        short_wait<THREADS>();
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const uint32_t slot = me + i * THREADS;
            if (slot < all && short_at(a, s, slot, group, position))
                out[(group.out + position) * units + u] = moved[i];
        }
    }
}

template <int THREADS>
static __device__ inline void short_move_values(const struct sort_short_args &a, const word *words,
                                                const struct short_groups &s)
{
    const void *in = a.common.values_in;
    void *out = a.common.values_out;
    const uint32_t units = a.value_bytes / a.unit;
    if (a.unit == 4)
        short_move<THREADS, uint32_t>(a, words, s, in, out, units);
    else if (a.unit == 8)
        short_move<THREADS, uint64_t>(a, words, s, in, out, units);
    else if (a.unit == 16)
        short_move<THREADS, uint4>(a, words, s, in, out, units);
    else if (a.unit == 2)
        short_move<THREADS, uint16_t>(a, words, s, in, out, units);
    else
        short_move<THREADS, uint8_t>(a, words, s, in, out, units);
}

template <int THREADS, typename index>
static __device__ inline void short_write_positions(const struct sort_short_args &a,
                                                    const word *words, const struct short_groups &s)
{
    index *out = (index *)a.common.values_out;
    const uint32_t me = THREADS == 32 ? lane_id() : threadIdx.x;
    const uint32_t all = THREADS == 32 ? (uint32_t)WORDS : 1u << s.c;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t slot = me + i * THREADS;
        struct group group;
        uint32_t position;
        if (slot < all && short_at(a, s, slot, group, position))
            out[group.out + position] = (index)position_of(words[network_place<word>(slot)]);
    }
}
#endif

/* Keys whose words contain all of their bits. */
template <int THREADS>
static __device__ inline void short_write_keys(const struct sort_short_args &a, const word *words,
                                               const struct short_groups &s)
{
    ukey *out = (ukey *)a.common.keys_out;
    const uint32_t me = THREADS == 32 ? lane_id() : threadIdx.x;
    const uint32_t all = THREADS == 32 ? (uint32_t)WORDS : 1u << s.c;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t slot = me + i * THREADS;
        struct group group;
        uint32_t position;
        if (slot < all && short_at(a, s, slot, group, position))
            out[group.out + position] = order_decode(
                a.common.order, (ukey)(words[network_place<word>(slot)] >> POSITION_BITS));
    }
}

/* Writes the groups in the order of the words, which stay in shared memory. */
template <int THREADS>
static __device__ inline void short_store(const struct sort_short_args &a, const word *words,
                                          const struct short_groups &s)
{
#if POSITIONS
    if (a.index_bytes == 4)
        short_write_positions<THREADS, uint32_t>(a, words, s);
    else if (a.index_bytes)
        short_write_positions<THREADS, uint64_t>(a, words, s);
    if (a.value_bytes) short_move_values<THREADS>(a, words, s);
    if (a.gather && a.common.keys_out)
        short_move<THREADS, ukey>(a, words, s, a.common.keys_in, a.common.keys_out, 1);
    else
#endif
        if (a.common.keys_out)
        short_write_keys<THREADS>(a, words, s);
}

#endif
