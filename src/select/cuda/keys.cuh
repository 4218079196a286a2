/*
 * select/cuda/keys.cuh - a tile of elements: loaded as vectors of 16 bytes, tested, ordered by
 * rank.
 *
 * Tiles begin at aligned vectors, so that an array of any alignment is read in whole vectors: the
 * first tile has fewer elements, and so has the last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_KEYS_CUH
#define ECHI_SELECT_CUDA_KEYS_CUH

#include "select/cuda/test.cuh"

enum { TILE = SELECT_TILE_BYTES / KEY_BYTES, LOADS = TILE / VECTOR / BLOCK_THREADS };

/* The number of positions that fit in a tile's memory. */
enum { LOCAL = TILE < 16384 ? TILE : 16384 };

union tile_data {
    uint4 vectors[SELECT_TILE_BYTES / 16 + 1]; /* and padding for the last word */
    ukey keys[TILE];                           /* the tile by rank */
    uint32_t words[SELECT_TILE_BYTES / 4];
    uint16_t local[LOCAL + 1]; /* positions in the tile, by rank, and the next one */
};

/* The positions of a tile: position p is element base + p, modulo 2^64, and exists for first <= p <
 * end. If there are few elements, a tile has fewer than TILE, and a warp has fewer than LOADS rows:
 * its positions are those from `own` on below `limit`. */
struct span {
    uint64_t base;
    uint32_t first, end;
    uint32_t own, limit; /* the lane's first position; the end of the warp's positions */
};

static __device__ inline uint32_t rows_of(const struct select_args &a)
{
    return (int)BLOCK_THREADS == (int)SELECT_THREADS ? a.rows : (uint32_t)LOADS;
}

static __device__ inline struct span span_of(const struct select_args &a, uint64_t tile)
{
    struct span t;
    t.base = tile * a.tile_n - a.skew;
    t.first = tile ? 0 : a.skew;
    t.end = (uint32_t)min(tile ? a.n - t.base : a.n + a.skew, (uint64_t)a.tile_n);
    const uint32_t each = rows_of(a) * (32 * VECTOR), begin = threadIdx.x / 32 * each;
    t.own = begin + lane_id() * VECTOR;
    t.limit = min(t.end, begin + each);
    return t;
}

static __device__ inline bool is_whole(const struct span &t)
{
    return t.first == 0 && t.end == TILE;
}

/* The position in the tile at which row j of this lane begins. */
static __device__ inline uint32_t position(const struct span &t, int j)
{
    return t.own + j * (32 * VECTOR);
}

/* Whether all positions of the vector at position p exist. */
static __device__ inline bool is_within(const struct span &t, uint32_t p)
{
    return p >= t.first && p + VECTOR <= t.limit;
}

static __device__ inline void load_tile(const struct select_args &a, const struct span &t,
                                        union vector (&v)[LOADS])
{
    const ukey *in = (const ukey *)a.in + t.base;
    if (is_whole(t)) {
#pragma unroll
        for (int j = 0; j < LOADS; j++) v[j].v = __ldcs((const uint4 *)(in + position(t, j)));
        return;
    }
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        if (is_within(t, position(t, j))) {
            v[j].v = __ldcs((const uint4 *)(in + position(t, j)));
            continue;
        }
        v[j].v = make_uint4(0, 0, 0, 0);
        if (position(t, j) >= t.limit) continue;
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            uint32_t p = position(t, j) + k;
            v[j].key[k] = p >= t.first && p < t.limit ? in[p] : (ukey)0;
        }
    }
}

/* ---- Test ---- */

/* Whether there is an element before the warp's first one, which is in the tile. */
static __device__ inline bool has_edge(const struct select_args &a, const struct span &t)
{
    const uint32_t mine = t.own - lane_id() * VECTOR;
    return mine < t.limit && t.base + a.skew + mine != 0;
}

/* That element, for lane 0. */
static __device__ inline ukey load_edge(const struct select_args &a, const struct span &t)
{
    if (a.source != SELECT_STARTS || lane_id() != 0 || !has_edge(a, t)) return 0;
    return ((const ukey *)a.in)[t.base + t.own - 1];
}

/* FLOAT: equal keys may have different bits. */
template <int FLOAT>
static __device__ inline void find_starts(const struct select_args &a, const struct span &t,
                                          const union vector (&v)[LOADS], ukey edge,
                                          uint32_t (&bits)[LOADS])
{
    const struct echi_order &o = a.test[0].order;
    uform before = edge; /* the element before the row, in lane 0 */
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        uform last = v[j].key[VECTOR - 1];
        uform neighbour = __shfl_up_sync(WARP_ALL, last, 1);
        bits[j] = starts_of<FLOAT>(o, v[j], lane_id() ? neighbour : before);
        before = __shfl_sync(WARP_ALL, last, 31);
        uint32_t p = position(t, j);
        if (t.base + a.skew == 0 && p <= t.first && t.first < p + VECTOR)
            bits[j] |= 1u << (t.first - p); /* the array's first element has no predecessor */
    }
}

/* Bits of the elements that are selected, or that are of the second of three kinds. */
static __device__ inline void find_bits(const struct select_args &a, const struct span &t,
                                        const union vector (&v)[LOADS], ukey edge,
                                        uint32_t (&bits)[LOADS])
{
    if (a.source == SELECT_STARTS && KEY_BITS > 8 && a.test[0].order.float_mask)
        find_starts<1>(a, t, v, edge, bits);
    else if (a.source == SELECT_STARTS)
        find_starts<0>(a, t, v, edge, bits);
    else
#pragma unroll
        for (int j = 0; j < LOADS; j++) bits[j] = test_vector(a, 0, v[j]);
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        if (a.invert) bits[j] = ~bits[j];
        bits[j] &= bits_between<VECTOR>(position(t, j), t.first, t.limit);
    }
}

static __device__ inline void find_second(const struct select_args &a, const struct span &t,
                                          const union vector (&v)[LOADS],
                                          const uint32_t (&bits)[LOADS], uint32_t (&second)[LOADS])
{
#pragma unroll
    for (int j = 0; j < LOADS; j++)
        second[j] = test_vector(a, 1, v[j]) & ~bits[j] &
                    bits_between<VECTOR>(position(t, j), t.first, t.limit);
}

/* ---- Flags ---- */

/* The flags of VECTOR elements from p on, which exist. The host ensures that they are aligned to
 * VECTOR flags. */
static __device__ inline uint32_t flags_at(const struct select_args &a, const struct span &t,
                                           uint32_t p)
{
    if (a.source == SELECT_BITS) { /* the skew is zero */
        const uint8_t *flags = a.flags + (t.base + p) / 8;
        if (VECTOR == 16) return *(const uint16_t *)flags;
        return *flags >> p % 8 & ((1u << VECTOR) - 1);
    }
    const uint8_t *flags = a.flags + t.base + p;
#if KEY_BITS == 8
    const uint4 x = __ldcs((const uint4 *)flags);
    return nonzero_bytes(x.x) | nonzero_bytes(x.y) << 4 | nonzero_bytes(x.z) << 8 |
           nonzero_bytes(x.w) << 12;
#elif KEY_BITS == 16
    const uint2 x = __ldcs((const uint2 *)flags);
    return nonzero_bytes(x.x) | nonzero_bytes(x.y) << 4;
#elif KEY_BITS == 32
    return nonzero_bytes(__ldcs((const uint32_t *)flags));
#else
    return nonzero_bytes(__ldcs((const uint16_t *)flags));
#endif
}

/* ... of those of them that exist, one by one. */
static __device__ inline uint32_t flags_between(const struct select_args &a, const struct span &t,
                                                uint32_t p)
{
    uint32_t bits = 0;
    for (uint32_t k = 0; k < VECTOR && p < t.limit; k++) {
        const uint64_t i = t.base + p + k;
        if (p + k < t.first || p + k >= t.limit) continue;
        bits |= (uint32_t)(a.source == SELECT_BITS ? a.flags[i / 8] >> i % 8 & 1 : a.flags[i] != 0)
                << k;
    }
    return bits;
}

/* The flags of a whole tile, all loaded before the first is used; with keys of 8 bits they would
 * take too many registers. */
#if KEY_BITS == 8
struct flag_rows {
};

static __device__ inline void load_flags(const struct select_args &, const struct span &,
                                         struct flag_rows &)
{
}
#else
/* The flags of a row as bytes, or as bits. */
union flag_row {
#if KEY_BITS == 16
    uint2 bytes;
#elif KEY_BITS == 32
    uint32_t bytes;
#else
    uint16_t bytes;
#endif
    uint8_t bits;
};

struct flag_rows {
    union flag_row row[LOADS];
};

static __device__ inline void load_flags(const struct select_args &a, const struct span &t,
                                         struct flag_rows &rows)
{
    if (!is_whole(t)) return;
    if (a.source == SELECT_BITS) {
        const uint8_t *at = keep_pointer(a.flags + (t.base + t.own) / 8);
#pragma unroll
        for (int j = 0; j < LOADS; j++) rows.row[j].bits = __ldcs(at + j * (32 * VECTOR / 8));
    } else {
        const uint8_t *at = keep_pointer(a.flags + t.base + t.own);
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            rows.row[j].bytes = __ldcs((decltype(rows.row[j].bytes) *)(at + j * (32 * VECTOR)));
    }
}

static __device__ inline uint32_t row_bits(uint2 x)
{
    return nonzero_bytes(x.x) | nonzero_bytes(x.y) << 4;
}

static __device__ inline uint32_t row_bits(uint32_t x)
{
    return nonzero_bytes(x);
}
#endif

static __device__ inline void find_flags(const struct select_args &a, const struct span &t,
                                         const struct flag_rows &rows, uint32_t (&bits)[LOADS])
{
    const uint32_t change = a.invert ? (1u << VECTOR) - 1 : 0;
#if KEY_BITS != 8
    if (is_whole(t)) {
        const bool packed = a.source == SELECT_BITS;
        const uint32_t shift = t.own % 8; /* the same for all rows */
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            bits[j] = (packed ? rows.row[j].bits >> shift & ((1u << VECTOR) - 1)
                              : row_bits(rows.row[j].bytes)) ^
                      change;
        return;
    }
#endif
    (void)rows;
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        const uint32_t p = position(t, j);
        bits[j] = is_whole(t) || is_within(t, p) ? flags_at(a, t, p) : flags_between(a, t, p);
        bits[j] = (bits[j] ^ change) & bits_between<VECTOR>(p, t.first, t.limit);
    }
}

/* The elements that a partition puts first; v is used only by a test. */
template <int FLAGS>
static __device__ inline void find_first(const struct select_args &a, const struct span &t,
                                         const union vector (&v)[LOADS],
                                         const struct flag_rows &rows, uint32_t (&bits)[LOADS])
{
    if (FLAGS)
        find_flags(a, t, rows, bits);
    else
        find_bits(a, t, v, 0, bits);
}

/* ---- Exchange and store ---- */

static __device__ inline void gather_keys(union tile_data &data, const union vector (&v)[LOADS],
                                          const uint32_t (&bits)[LOADS],
                                          const uint32_t (&start)[LOADS])
{
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        uint32_t r = start[j];
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
            if (bits[j] >> k & 1) data.keys[r++] = v[j].key[k];
    }
}

/* Stores count keys of data from `from` on; small keys by whole words of the output. */
static __device__ inline void store_keys(const union tile_data &data, ukey *out, uint32_t from,
                                         uint32_t count)
{
#if KEY_BYTES >= 4
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < count; i += BLOCK_THREADS) out[i] = data.keys[from + i];
#else
    const uint32_t each = 4 / KEY_BYTES;
    const uint32_t head = min((uint32_t)(-(uintptr_t)out & 3) / KEY_BYTES, count);
    const uint32_t words = (count - head) / each, tail = head + words * each;
    const uint32_t shift = (from + head) % each * KEY_BITS;
    const uint32_t *source = data.words + (from + head) / each;
    uint32_t *target = (uint32_t *)(out + head);
    for (uint32_t i = threadIdx.x; i < words; i += BLOCK_THREADS)
        target[i] = shift ? __funnelshift_r(source[i], source[i + 1], shift) : source[i];
    if (threadIdx.x < head) out[threadIdx.x] = data.keys[from + threadIdx.x];
    if (threadIdx.x < count - tail) out[tail + threadIdx.x] = data.keys[from + tail + threadIdx.x];
#endif
}

static __device__ inline uint32_t count_bits(const uint32_t (&bits)[LOADS])
{
    uint32_t count = 0;
#pragma unroll
    for (int j = 0; j < LOADS; j++) count += __popc(bits[j]);
#pragma unroll
    for (int step = 16; step; step /= 2) count += __shfl_xor_sync(WARP_ALL, count, step);
    return count;
}

#endif
