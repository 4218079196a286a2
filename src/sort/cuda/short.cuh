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
    COUNTED = !POSITIONS && KEY_BITS <= 16, /* by sort_short_block */
    WORDS_LOG = SORT_SHORT_LOG(SORT_SHORT_WORD_BYTES(KEY_BYTES, POSITIONS)),
    WORDS = 1 << WORDS_LOG, /* of a warp */
    LANE_LOG = network_window<word>::LOG,
    SHORT_ITEMS = WORDS / 32
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

static __device__ inline uint32_t position_of(word w)
{
    return (uint32_t)w & (uint32_t)(((uint64_t)1 << POSITION_BITS) - 1);
}

/* Stays behind all other words: no position has all bits set, and equal keys without positions are
 * indistinguishable. */
static __device__ inline word last_word(void)
{
    return (word) ~(word)0;
}

/* ---- Groups ---- */

/* Segments that a block takes at once. */
struct short_chunk {
    uint64_t in[SORT_CHUNK];   /* of each segment: its first element */
    uint16_t n[SORT_CHUNK];    /* its elements */
    uint16_t list[SORT_CHUNK]; /* segments by class; only those of a warp's classes */
    uint32_t counts[SORT_SHORT_CLASSES], first[SORT_SHORT_CLASSES];
};

/* Where groups are: rows; segments of a block's chunk; one segment per block. */
enum where { ROWS, CHUNK, SEGMENT };

/* Groups of class c, each in 2^c words: as many as a warp's words hold, or one per block. */
struct short_groups {
    uint64_t base;  /* rows: the first one; otherwise its place in the chunk's list */
    uint32_t count; /* of groups */
    uint32_t c;
    const struct short_chunk *chunk;
    struct group one; /* SEGMENT */
};

/* The index of a word's element in an array with this distance of rows, and its position in
 * its group; false if there is no such element. */
template <int BLOCK, int WHERE>
static __device__ inline bool short_at(const struct sort_short_args &a,
                                       const struct short_groups &s, uint32_t slot, uint64_t row,
                                       uint64_t &at, uint32_t &position)
{
    const uint32_t g = BLOCK ? 0 : slot >> s.c;
    position = BLOCK ? slot : slot & ((1u << s.c) - 1);
    if (WHERE == ROWS) {
        at = s.base * row + (g * (uint32_t)row + position); /* the host packs rows far apart */
        return g < s.count && position < (uint32_t)a.groups.cols;
    }
    if (WHERE == SEGMENT) {
        at = s.one.in + position;
        return position < (uint32_t)s.one.n;
    }
    if (g >= s.count) return false;
    const uint32_t segment = s.chunk->list[s.base + g];
    at = s.chunk->in[segment] + position;
    return position < s.chunk->n[segment];
}

/* The words of this thread. */
template <int BLOCK> static __device__ inline uint32_t short_slot(int i)
{
    return BLOCK ? threadIdx.x + i * blockDim.x : lane_id() + i * 32;
}

template <int BLOCK, int WHERE>
static __device__ inline void short_load(const struct sort_short_args &a, word *words,
                                         const struct short_groups &s)
{
    const ukey *in = (const ukey *)a.common.keys_in;
    word loaded[SHORT_ITEMS];
    uint32_t here = 0, position;
    uint64_t at;
#pragma unroll
    for (int i = 0; i < SHORT_ITEMS; i++) {
        loaded[i] = 0;
        if (short_at<BLOCK, WHERE>(a, s, short_slot<BLOCK>(i), a.groups.in_row, at, position)) {
            loaded[i] = (word)in[at] << POSITION_BITS | (POSITIONS ? position : 0);
            here |= 1u << i;
        }
    }
    if (!a.common.same || !a.common.plain)
#pragma unroll
        for (int i = 0; i < SHORT_ITEMS; i++)
            loaded[i] = (word)compared(a.common, (ukey)(loaded[i] >> POSITION_BITS))
                            << POSITION_BITS |
                        position_of(loaded[i]);
#pragma unroll
    for (int i = 0; i < SHORT_ITEMS; i++)
        words[network_place<word>(short_slot<BLOCK>(i))] = here >> i & 1 ? loaded[i] : last_word();
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
template <int BLOCK> static __device__ inline void short_wait(void)
{
    if (BLOCK)
        __syncthreads(); /* all threads have read, before one writes */
    else
        __syncwarp(); /* the same for all lanes */
}

#if POSITIONS
/* Moves the elements of one array, unit by unit, to the order of the words. */
template <int BLOCK, int WHERE, typename unit>
static __device__ inline void short_move(const struct sort_short_args &a, const word *words,
                                         const struct short_groups &s, const void *from, void *to,
                                         uint32_t units)
{
    const unit *in = (const unit *)from;
    unit *out = (unit *)to;
    for (uint32_t u = 0; u < units; u++) {
        unit moved[SHORT_ITEMS];
        uint64_t at;
        uint32_t position;
#pragma unroll
        for (int i = 0; i < SHORT_ITEMS; i++) {
            const uint32_t slot = short_slot<BLOCK>(i);
            if (short_at<BLOCK, WHERE>(a, s, slot, a.groups.in_row, at, position))
                moved[i] =
                    in[(at - position + position_of(words[network_place<word>(slot)])) * units + u];
        }
        short_wait<BLOCK>();
#pragma unroll
        for (int i = 0; i < SHORT_ITEMS; i++)
            if (short_at<BLOCK, WHERE>(a, s, short_slot<BLOCK>(i), a.groups.out_row, at, position))
                out[at * units + u] = moved[i];
    }
}

template <int BLOCK, int WHERE>
static __device__ inline void short_move_values(const struct sort_short_args &a, const word *words,
                                                const struct short_groups &s)
{
    const void *in = a.common.values_in;
    void *out = a.common.values_out;
    const uint32_t units = a.value_bytes / a.unit;
    if (a.unit == 4)
        short_move<BLOCK, WHERE, uint32_t>(a, words, s, in, out, units);
    else if (a.unit == 8)
        short_move<BLOCK, WHERE, uint64_t>(a, words, s, in, out, units);
    else if (a.unit == 2)
        short_move<BLOCK, WHERE, uint16_t>(a, words, s, in, out, units);
    else
        short_move<BLOCK, WHERE, uint8_t>(a, words, s, in, out, units);
}

template <int BLOCK, int WHERE, typename index>
static __device__ inline void short_write_positions(const struct sort_short_args &a,
                                                    const word *words, const struct short_groups &s)
{
    index *out = (index *)a.common.values_out;
#pragma unroll
    for (int i = 0; i < SHORT_ITEMS; i++) {
        const uint32_t slot = short_slot<BLOCK>(i);
        uint64_t at;
        uint32_t position;
        if (short_at<BLOCK, WHERE>(a, s, slot, a.groups.out_row, at, position))
            out[at] = (index)position_of(words[network_place<word>(slot)]);
    }
}
#endif

/* Keys whose words contain all of their bits. */
template <int BLOCK, int WHERE>
static __device__ inline void short_write_keys(const struct sort_short_args &a, const word *words,
                                               const struct short_groups &s)
{
    ukey *out = (ukey *)a.common.keys_out;
    ukey key[SHORT_ITEMS];
#pragma unroll
    for (int i = 0; i < SHORT_ITEMS; i++)
        key[i] = (ukey)(words[network_place<word>(short_slot<BLOCK>(i))] >> POSITION_BITS);
    if (!a.common.same)
#pragma unroll
        for (int i = 0; i < SHORT_ITEMS; i++) key[i] = order_decode(a.common.order, key[i]);
#pragma unroll
    for (int i = 0; i < SHORT_ITEMS; i++) {
        uint64_t at;
        uint32_t position;
        if (short_at<BLOCK, WHERE>(a, s, short_slot<BLOCK>(i), a.groups.out_row, at, position))
            out[at] = key[i];
    }
}

/* Writes the groups in the order of the words, which stay in shared memory. */
template <int BLOCK, int WHERE>
static __device__ inline void short_store(const struct sort_short_args &a, const word *words,
                                          const struct short_groups &s)
{
#if POSITIONS
    if (a.index_bytes == 4)
        short_write_positions<BLOCK, WHERE, uint32_t>(a, words, s);
    else if (a.index_bytes)
        short_write_positions<BLOCK, WHERE, uint64_t>(a, words, s);
    if (a.value_bytes) short_move_values<BLOCK, WHERE>(a, words, s);
    if (a.gather && a.common.keys_out)
        short_move<BLOCK, WHERE, ukey>(a, words, s, a.common.keys_in, a.common.keys_out, 1);
    else
#endif
        if (a.common.keys_out)
        short_write_keys<BLOCK, WHERE>(a, words, s);
}

#endif
