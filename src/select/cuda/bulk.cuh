/*
 * select/cuda/bulk.cuh - the part of a tile that one warp processes: requested by bulk copies,
 * tested, packed in place by rank, stored.
 *
 *     slot      [ a vector before | 4 KiB of elements | their flags, if flags select ]
 *
 * If positions, lengths or values are written too, the positions are stored after the selected
 * elements, or replace them after these have been stored.
 *
 * bulk.cu describes how the parts are used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_BULK_CUH
#define ECHI_SELECT_CUDA_BULK_CUH

#include "select/cuda/test.cuh"
#include "select/cuda/word.cuh"
#include "cuda/device/ptx_async.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* Elements are rows of 32 vectors; a row is distributed over the lanes. */
enum {
    ROWS = SELECT_PART_BYTES / 16 / 32,
    PART = SELECT_PART_BYTES / KEY_BYTES,
    FLAGS_AT = SELECT_PART_BYTES + 16, /* the vector before contains the part's left neighbour */
    ROW_BITS = (1 << VECTOR) - 1,      /* the bits of a row; a register holds four rows */
    FEW = SELECT_PART_BYTES / (KEY_BYTES + 2) /* up to this many, positions also fit */
};
#define NONE 0xffffffffu
static_assert(ROWS == 8, "a row has four bits of a register");

struct bulk_shared {
    uint64_t arrived[2][SELECT_WORKERS]; /* barriers: the part of a slot has arrived */
    uint64_t counted[2], placed[2];    /* ... workers have counted; the scout has written totals */
    uint64_t begin[2][SELECT_WORKERS]; /* destination of a part */
    uint64_t after[2][SELECT_WORKERS]; /* the tile after the next */
    uint64_t first[2];                 /* the first two tiles */
    uint32_t own[2][SELECT_WORKERS];   /* number of selected elements of a part */
    uint32_t ends[2][SELECT_WORKERS];  /* ... the first and, in the upper half, last position */
    uint32_t next[2][SELECT_WORKERS]; /* the tile's first selected position after a part, or NONE */
};

/* A worker's part of a tile: positions first ... end - 1; position 0 is element `at`, modulo
 * 2^64. */
struct part {
    uint64_t at;
    uint32_t first, end;
};

static __device__ inline uint32_t workers(void)
{
    return blockDim.x / 32 - 1;
}

static __device__ inline struct part part_of(const struct select_args &a, uint64_t tile)
{
    const uint64_t begin = tile * a.tile_n + threadIdx.x / 32 * PART, all = a.n + a.skew;
    struct part p = { begin - a.skew, 0, 0 };
    if (begin < a.skew) p.first = a.skew - (uint32_t)begin;
    if (begin < all) p.end = (uint32_t)min(all - begin, (uint64_t)PART);
    return p;
}

static __device__ inline bool is_whole(const struct part &p)
{
    return p.first == 0 && p.end == PART;
}

/* Whether there is an element before position 0. */
static __device__ inline bool has_neighbour(const struct part &p)
{
    return p.first == 0 && p.end && p.at;
}

/* The source of a selection; BY_RUNS: starts, with positions, lengths or values. */
enum source { BY_TEST, BY_STARTS, BY_FLAGS, BY_RUNS };

template <int SOURCE> static __device__ inline constexpr bool by_starts(void)
{
    return SOURCE == BY_STARTS || SOURCE == BY_RUNS;
}

/* The slot's memory: the vector before, the part, and its flags. */
template <int SOURCE> static __device__ inline ukey *region_of(uint32_t slot)
{
    const uint32_t bytes = FLAGS_AT + (SOURCE == BY_FLAGS ? PART : 0);
    return (ukey *)(shared_bytes + (slot * workers() + threadIdx.x / 32) * bytes);
}

static __device__ inline void wait_for(uint64_t *barrier, uint32_t turn)
{
    while (!mbarrier_try_wait(barrier, turn / 2 & 1)) {
    }
}

/* ---- Requests ---- */

/* Requests a part of a tile; elements of an incomplete part are copied directly. elements: false to
 * request only flags. */
template <int SOURCE>
static __device__ inline void ask_for(const struct select_args &a, struct bulk_shared &s,
                                      uint64_t tile, uint32_t slot, bool elements)
{
    if (tile >= a.tiles) return;
    const struct part p = part_of(a, tile);
    const ukey *in = (const ukey *)a.in + p.at;
    ukey *to = region_of<SOURCE>(slot) + VECTOR;
    uint64_t *arrived = &s.arrived[slot][threadIdx.x / 32];
    if (is_whole(p)) {
        const uint32_t before = by_starts<SOURCE>() && has_neighbour(p) ? VECTOR : 0;
        const uint32_t bytes = elements ? (PART + before) * KEY_BYTES : 0;
        const uint32_t shift = a.source == SELECT_BITS ? 3 : 0;
        if (lane_id()) return;
        mbarrier_arrive_expect(arrived, bytes + (SOURCE == BY_FLAGS ? PART >> shift : 0));
        if (elements) copy_bulk(to - before, in - before, bytes, arrived);
        if (SOURCE == BY_FLAGS)
            copy_bulk((char *)region_of<SOURCE>(slot) + FLAGS_AT, a.flags + (p.at >> shift),
                      PART >> shift, arrived);
        return;
    }
    for (uint32_t i = lane_id(); i < PART && elements; i += 32)
        to[i] = i >= p.first && i < p.end ? in[i] : (ukey)0;
    if (by_starts<SOURCE>() && lane_id() == 0 && has_neighbour(p)) to[-1] = in[-1];
    __syncwarp(); /* the part is complete */
    if (lane_id() == 0) mbarrier_arrive(arrived);
}

template <int FLOAT>
static __device__ inline uint32_t starts_in(const struct select_args &a, const ukey *keys,
                                            const struct part &p, const union vector (&v)[ROWS])
{
    const struct echi_order &o = a.test[0].order;
    uform last_of = has_neighbour(p) ? keys[-1] : (ukey)0; /* the row before; only in lane 0 */
    uint32_t bits = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        uform turned = __shfl_sync(WARP_ALL, (uform)v[j].key[VECTOR - 1], lane_id() + 31);
        bits |= starts_of<FLOAT>(o, v[j], lane_id() ? turned : last_of) << 4 * j;
        last_of = turned;
    }
    if (p.at + p.first == 0 && lane_id() == p.first / VECTOR) /* it has no predecessor */
        bits |= 1u << p.first % VECTOR;
    return bits;
}

template <int KIND>
static __device__ inline uint32_t tests_in(const struct select_args &a,
                                           const union vector (&v)[ROWS])
{
    uint32_t bits = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) bits |= test_by<KIND>(a, 0, v[j]) << 4 * j;
    return bits;
}

/* The flags of a complete part are in shared memory. */
static __device__ inline uint32_t flags_in(const struct select_args &a, uint32_t slot,
                                           const struct part &p)
{
    const uint8_t *flags = (const uint8_t *)region_of<BY_FLAGS>(slot) + FLAGS_AT;
    uint32_t bits = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        const uint32_t at = (j * 32 + lane_id()) * VECTOR;
        uint32_t row = 0;
        if (!is_whole(p)) {
            for (uint32_t k = 0; k < VECTOR; k++) {
                const uint64_t i = p.at + at + k;
                if (at + k < p.first || at + k >= p.end) continue;
                row |= (uint32_t)(a.source == SELECT_BITS ? a.flags[i / 8] >> i % 8 & 1
                                                          : a.flags[i] != 0)
                       << k;
            }
        } else if (a.source == SELECT_BITS) {
            row = flags[at / 8] >> at % 8 & ROW_BITS;
        } else if (VECTOR == 4) {
            row = nonzero_bytes(((const uint32_t *)flags)[at / 4]);
        } else {
            row = nonzero_bytes(((const uint16_t *)flags)[at / 2]);
        }
        bits |= row << 4 * j;
    }
    return bits;
}

static __device__ inline void read_part(const ukey *keys, union vector (&v)[ROWS])
{
#pragma unroll
    for (int j = 0; j < ROWS; j++) v[j].v = ((const uint4 *)keys)[j * 32 + lane_id()];
}

/* The selection of a part whose elements were not requested. */
static __device__ inline void fetch_kept(const struct select_args &a, const struct part &p,
                                         uint32_t bits, union vector (&v)[ROWS])
{
    const ukey *in = (const ukey *)a.in + p.at + lane_id() * VECTOR;
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
            v[j].key[k] = bits >> (4 * j + k) & 1 ? in[j * 32 * VECTOR + k] : (ukey)0;
}

/* Bits 4 j ... of the result: the selected elements of row j; v is tested. */
template <int SOURCE>
static __device__ inline uint32_t kept_bits(const struct select_args &a, uint32_t slot,
                                            const struct part &p, const union vector (&v)[ROWS])
{
    const ukey *keys = region_of<SOURCE>(slot) + VECTOR;
    uint32_t bits = 0, exist = 0x11111111u * ROW_BITS;
    if (SOURCE == BY_FLAGS)
        bits = flags_in(a, slot, p);
    else if (by_starts<SOURCE>() && a.test[0].order.float_mask)
        bits = starts_in<1>(a, keys, p, v);
    else if (by_starts<SOURCE>())
        bits = starts_in<0>(a, keys, p, v);
    else if (a.quick[0].simple && !a.quick[0].negative)
        bits = tests_in<TEST_PLAIN>(a, v);
    else if (a.quick[0].simple)
        bits = tests_in<TEST_SIGNED>(a, v);
    else
        bits = tests_in<TEST_ANY>(a, v);
    if (a.invert) bits = ~bits;
    if (!is_whole(p)) {
        exist = 0;
#pragma unroll
        for (int j = 0; j < ROWS; j++)
            exist |= bits_between<VECTOR>((j * 32 + lane_id()) * VECTOR, p.first, p.end) << 4 * j;
    }
    return bits & exist;
}

/* Sums over the lanes, for eight rows whose counts are the bytes of two registers. */
struct row_sums {
    uint32_t even, odd;
};

static __device__ inline uint32_t row_of(const struct row_sums &s, int j)
{
    return (j % 2 ? s.odd : s.even) >> j / 2 * 8 & 0xff;
}

static __device__ inline uint32_t sum_bytes(uint32_t x)
{
    x = (x & 0xff00ff) + (x >> 8 & 0xff00ff);
    return (x + (x >> 16)) & 0xffff;
}

/* The first and, in the upper half, the last position whose bit is set; at least one must be. */
static __device__ inline uint32_t ends_of(uint32_t bits)
{
    const uint32_t low = (uint32_t)__ffs((int)bits) - 1, high = 31 - (uint32_t)__clz((int)bits);
    uint32_t first = bits ? (low / 4 * 32 + lane_id()) * VECTOR + low % 4 : (uint32_t)PART;
    uint32_t last = bits ? (high / 4 * 32 + lane_id()) * VECTOR + high % 4 : 0;
    first = __reduce_min_sync(WARP_ALL, first);
    last = __reduce_max_sync(WARP_ALL, last);
    return last << 16 | first;
}

/* Given the selected elements of a part: for each row, the number in lower lanes, and the total. */
struct ranks {
    struct row_sums before, all;
};

static __device__ inline struct ranks rank_rows(uint32_t bits)
{
    uint32_t x = bits - (bits >> 1 & 0x55555555u);
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    const struct row_sums own = { x & 0x0f0f0f0fu, x >> 4 & 0x0f0f0f0fu };
    struct ranks r;
    r.before.even = warp_scan(own.even);
    r.before.odd = warp_scan(own.odd);
    r.all.even = __shfl_sync(WARP_ALL, r.before.even, 31);
    r.all.odd = __shfl_sync(WARP_ALL, r.before.odd, 31);
    r.before.even -= own.even;
    r.before.odd -= own.odd;
    return r;
}

/* The positions of the selected elements in the part, by rank. */
static __device__ inline void order_positions(uint16_t *local, uint32_t bits, const struct ranks &r)
{
    uint32_t rows = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        const uint32_t position = (j * 32 + lane_id()) * VECTOR;
        uint32_t rank = rows + row_of(r.before, j);
        rows += row_of(r.all, j);
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
            if (bits >> (4 * j + k) & 1) local[rank++] = (uint16_t)(position + k);
    }
}

/* The part by rank; PLACE: followed by the other elements. rows: the rank of each row's first. */
template <int PLACE, int WHOLE>
static __device__ inline void order(ukey *region, const union vector (&v)[ROWS], uint32_t bits,
                                    const struct ranks &r, const struct part &p, uint32_t total)
{
    uint32_t rows = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        const uint32_t position = (j * 32 + lane_id()) * VECTOR, rest = total + position - p.first;
        uint32_t rank = rows + row_of(r.before, j);
        rows += row_of(r.all, j);
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            const bool kept = bits >> (4 * j + k) & 1;
            const bool exists = WHOLE || (position + k >= p.first && position + k < p.end);
            if (!PLACE) {
                if (kept) region[rank++] = v[j].key[k];
            } else if (exists) {
                region[kept ? rank : rest + k - rank] = v[j].key[k];
                rank += kept;
            }
        }
    }
}

/* Packs the selected elements of the current part to the beginning of its region, by rank; returns
 * their number, which it passes to the scout, and their bits. asked: the elements were
 * requested. */
template <int SOURCE, int PLACE>
static __device__ inline uint32_t pack(const struct select_args &a, struct bulk_shared &s,
                                       uint64_t tile, uint32_t turn, bool asked, uint32_t *which)
{
    const struct part p = part_of(a, tile);
    const uint32_t slot = turn % 2, warp = threadIdx.x / 32;
    ukey *region = region_of<SOURCE>(slot);
    union vector v[ROWS];
    wait_for(&s.arrived[slot][warp], turn);
    if (SOURCE != BY_FLAGS || asked) read_part(region + VECTOR, v);
    const uint32_t bits = kept_bits<SOURCE>(a, slot, p, v);
    if (SOURCE == BY_FLAGS && !asked) fetch_kept(a, p, bits, v);
    const struct ranks r = rank_rows(bits);
    const uint32_t total = sum_bytes(r.all.even) + sum_bytes(r.all.odd);
    const uint32_t ends = SOURCE == BY_RUNS ? ends_of(bits) : 0;
    __syncwarp(); /* all lanes have loaded their vectors; the scout may write the next totals */
    if (lane_id() == 0) {
        if (SOURCE == BY_RUNS) s.ends[slot][warp] = ends;
        s.own[slot][warp] = total;
        mbarrier_arrive(&s.counted[slot]);
    }
    if (!PLACE || is_whole(p))
        order<PLACE, 1>(region, v, bits, r, p, total);
    else
        order<PLACE, 0>(region, v, bits, r, p, total);
    if (SOURCE == BY_RUNS && total <= FEW) order_positions((uint16_t *)(region + total), bits, r);
    __syncwarp(); /* the part is ordered by rank */
    if (SOURCE == BY_RUNS) *which = bits;
    return total;
}

/* ---- Storing ---- */

/* The values that a lane loads at a time: 32 apart. */
template <int BYTES> struct some_values {
    enum { MOST = BYTES == 8 ? 2 : 4 };
    struct word<BYTES> x[MOST];
};

/* Loads the lane's values from rank r on, of `count` selected elements. */
template <int BYTES>
static __device__ inline void load_values(const struct word<BYTES> *values, const uint16_t *local,
                                          uint32_t r, uint32_t count,
                                          struct some_values<BYTES> &some)
{
#pragma unroll
    for (int q = 0; q < some.MOST; q++)
        if (r + 32 * q < count) some.x[q] = values[local[r + 32 * q]];
}

/* some: the first of them, already loaded. */
template <int BYTES>
static __device__ inline void store_values(const struct word<BYTES> *values, const uint16_t *local,
                                           uint32_t count, struct some_values<BYTES> some,
                                           struct word<BYTES> *out)
{
    for (uint32_t r = lane_id(); r < count; r += 32 * some.MOST) {
        if (r >= 32 * some.MOST) load_values(values, local, r, count, some);
#pragma unroll
        for (int q = 0; q < some.MOST; q++)
            if (r + 32 * q < count) out[r + 32 * q] = some.x[q];
    }
}

/* The length of run r of `count`; 0: another part knows its end. */
static __device__ inline uint32_t length_of(const uint16_t *local, uint32_t r, uint32_t count,
                                            uint32_t next)
{
    const uint32_t end = r + 1 < count ? local[r + 1] : next;
    return end == NONE ? 0 : end - local[r];
}

/* Stores lengths so that a warp writes whole cache lines; four per lane at once. */
static __device__ inline void store_lengths(const uint16_t *local, uint64_t *out, uint32_t count,
                                            uint32_t next)
{
    const uint32_t skip = (uint32_t)((uintptr_t)out / 8) % 16, head = lane_id() - skip;
    if (head < count) {
        const uint32_t length = length_of(local, head, count, next);
        if (length) out[head] = length;
    }
    for (uint32_t begin = 32 - skip + lane_id(); begin < count; begin += 128) {
        uint32_t x[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
            x[q] = begin + 32 * q < count ? length_of(local, begin + 32 * q, count, next) : 0;
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (x[q]) out[begin + 32 * q] = x[q];
    }
}

/* Writes positions and lengths of a part that selects `count` elements, the first of rank `before`;
 * next: the position in the part of the first selected element after it, or NONE. */
static __device__ inline void store_positions(const struct select_args &a, const struct part &p,
                                              const uint16_t *local, uint64_t before,
                                              uint32_t count, uint32_t next)
{
    if (a.starts)
        for (uint32_t r = lane_id(); r < count; r += 32)
            store_position(a, before + r, p.at + local[r]);
    if (a.lengths) store_lengths(local, a.lengths + before, count, next);
}

/* Stores count keys so that a warp writes whole cache lines; four per lane at once. */
static __device__ inline void store_part(const ukey *keys, ukey *out, uint32_t count)
{
    const uint32_t line = 128 / KEY_BYTES, skip = (uint32_t)((uintptr_t)out / KEY_BYTES) % line;
    const uint32_t head = lane_id() - skip; /* or greater than any count */
    if (head < count) out[head] = keys[head];
    for (uint32_t begin = 32 - skip; begin < count; begin += 128) {
        ukey x[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (begin + 32 * q + lane_id() < count) x[q] = keys[begin + 32 * q + lane_id()];
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (begin + 32 * q + lane_id() < count) out[begin + 32 * q + lane_id()] = x[q];
    }
}

#endif
