/*
 * cuda/select_bulk.cuh - a part of a tile, which a warp has for itself: asked for in bulk, tested,
 * packed in place by rank, stored.
 *
 *     slot      [ a vector before | 4 KiB of elements ]
 *
 * What select_bulk.cu does with parts is told there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SELECT_BULK_CUH
#define ECHI_CUDA_SELECT_BULK_CUH

#include "select_test.cuh"
#include "ptx_async.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* Elements are rows of 32 vectors, a row at a time from lane to lane. */
enum {
    ROWS = SELECT_PART_BYTES / 16 / 32,
    PART = SELECT_PART_BYTES / KEY_BYTES,
    REGION = SELECT_PART_BYTES + 16, /* a vector before, which ends with the part's neighbour */
    ROW_BITS = (1 << VECTOR) - 1,    /* of the four that a row has in a register */
    WORDS = 8 /* of other tiles, a lane of the scout asks for at once */
};
static_assert(ROWS == 8, "a row has four bits of a register");

struct bulk_shared {
    uint64_t arrived[2][SELECT_WORKERS]; /* barriers: of a slot, a part is there */
    uint64_t counted[2], told[2];        /* ... all workers have counted; the scout has told */
    uint64_t begin[2][SELECT_WORKERS];   /* where a part goes */
    uint64_t after[2][SELECT_WORKERS];   /* the tile of two turns later */
    uint64_t first[2];                   /* of the first two */
    uint32_t own[2][SELECT_WORKERS];     /* what a part keeps */
};

/* What a worker has of a tile: positions first ... end - 1, of which position 0 is element at,
 * modulo 2^64. */
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

/* Is there an element before position 0? */
static __device__ inline bool has_neighbour(const struct part &p)
{
    return p.first == 0 && p.end && p.at;
}

/* Who says what is kept. */
enum source { BY_TEST, BY_HEADS };

static __device__ inline ukey *region_of(uint32_t slot)
{
    return (ukey *)(shared_bytes + (slot * workers() + threadIdx.x / 32) * REGION);
}

static __device__ inline void wait_for(uint64_t *barrier, uint32_t turn)
{
    while (!mbarrier_try_wait(barrier, turn / 2 & 1)) {
    }
}

/* ---- Asking ---- */

/* Asks for a part of a tile; one that is cut is copied at once. */
template <int SOURCE>
static __device__ inline void ask_for(const struct select_args &a, struct bulk_shared &s,
                                      uint64_t tile, uint32_t slot)
{
    if (tile >= a.tiles) return;
    const struct part p = part_of(a, tile);
    const ukey *in = (const ukey *)a.in + p.at;
    ukey *to = region_of(slot) + VECTOR;
    uint64_t *arrived = &s.arrived[slot][threadIdx.x / 32];
    if (is_whole(p)) {
        const uint32_t before = SOURCE == BY_HEADS && has_neighbour(p) ? VECTOR : 0;
        if (lane_id()) return;
        mbarrier_arrive_expect(arrived, (PART + before) * KEY_BYTES);
        copy_bulk(to - before, in - before, (PART + before) * KEY_BYTES, arrived);
        return;
    }
    for (uint32_t i = lane_id(); i < PART; i += 32)
        to[i] = i >= p.first && i < p.end ? in[i] : (ukey)0;
    if (SOURCE == BY_HEADS && lane_id() == 0 && has_neighbour(p)) to[-1] = in[-1];
    __syncwarp(); /* the part is there */
    if (lane_id() == 0) mbarrier_arrive(arrived);
}

template <int FLOAT>
static __device__ inline uint32_t heads_in(const struct select_args &a, const ukey *keys,
                                           const struct part &p, const union vector (&v)[ROWS])
{
    const struct echi_order &o = a.test[0].order;
    uform last_of = has_neighbour(p) ? keys[-1] : (ukey)0; /* the row before; of lane 0 alone */
    uint32_t bits = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        uform turned = __shfl_sync(WARP_ALL, (uform)v[j].key[VECTOR - 1], lane_id() + 31);
        bits |= heads_of<FLOAT>(o, v[j], lane_id() ? turned : last_of) << 4 * j;
        last_of = turned;
    }
    if (p.at + p.first == 0 && lane_id() == p.first / VECTOR) /* nothing lies before the array */
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

static __device__ inline void read_part(const ukey *keys, union vector (&v)[ROWS])
{
#pragma unroll
    for (int j = 0; j < ROWS; j++) v[j].v = ((const uint4 *)keys)[j * 32 + lane_id()];
}

/* Of row j bits 4 j ... of those that are kept. */
template <int SOURCE>
static __device__ inline uint32_t kept_bits(const struct select_args &a, const ukey *keys,
                                            const struct part &p, const union vector (&v)[ROWS])
{
    uint32_t bits = 0, exist = 0x11111111u * ROW_BITS;
    if (SOURCE == BY_HEADS && a.test[0].order.float_mask)
        bits = heads_in<1>(a, keys, p, v);
    else if (SOURCE == BY_HEADS)
        bits = heads_in<0>(a, keys, p, v);
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

/* Sums over the lanes of eight rows, whose counts are bytes of two registers. */
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

/* The part by rank; PLACE: and behind that the rest.  rows: ranks of each row's first. */
template <int PLACE, int WHOLE>
static __device__ inline void order(ukey *region, const union vector (&v)[ROWS], uint32_t bits,
                                    const struct row_sums &before, const struct row_sums &all,
                                    const struct part &p, uint32_t total)
{
    uint32_t rows = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        const uint32_t position = (j * 32 + lane_id()) * VECTOR, rest = total + position - p.first;
        uint32_t rank = rows + row_of(before, j);
        rows += row_of(all, j);
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

/* What is kept of the turn's part goes to the beginning of its region, by rank; how many those
 * are, of which the scout hears. */
template <int SOURCE, int PLACE>
static __device__ inline uint32_t pack(const struct select_args &a, struct bulk_shared &s,
                                       uint64_t tile, uint32_t turn)
{
    const struct part p = part_of(a, tile);
    const uint32_t slot = turn % 2, warp = threadIdx.x / 32;
    ukey *region = region_of(slot);
    union vector v[ROWS];
    wait_for(&s.arrived[slot][warp], turn);
    read_part(region + VECTOR, v);
    const uint32_t bits = kept_bits<SOURCE>(a, region + VECTOR, p, v);
    uint32_t x = bits - (bits >> 1 & 0x55555555u);
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    const struct row_sums own = { x & 0x0f0f0f0fu, x >> 4 & 0x0f0f0f0fu };
    struct row_sums before = { warp_scan(own.even), warp_scan(own.odd) };
    const struct row_sums all = { __shfl_sync(WARP_ALL, before.even, 31),
                                  __shfl_sync(WARP_ALL, before.odd, 31) };
    const uint32_t total = sum_bytes(all.even) + sum_bytes(all.odd);
    __syncwarp(); /* all lanes hold their vectors, and are done with what the scout writes next */
    if (lane_id() == 0) {
        s.own[slot][warp] = total;
        mbarrier_arrive(&s.counted[slot]);
    }
    before.even -= own.even;
    before.odd -= own.odd;
    if (!PLACE || is_whole(p))
        order<PLACE, 1>(region, v, bits, before, all, p, total);
    else
        order<PLACE, 0>(region, v, bits, before, all, p, total);
    __syncwarp(); /* the part lies by rank */
    return total;
}

/* count keys, so that a warp writes whole lines; four a lane at once. */
static __device__ inline void store_part(const ukey *keys, ukey *out, uint32_t count)
{
    const uint32_t line = 128 / KEY_BYTES, skip = (uint32_t)((uintptr_t)out / KEY_BYTES) % line;
    const uint32_t head = lane_id() - skip; /* or beyond any count */
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
