/*
 * cuda/select_bulk.cu - large arrays on GPUs that copy in bulk (sm_90): one block a multiprocessor,
 * whose warps each have a part of every tile for themselves and meet nobody but the scout.
 *
 *     part      4 KiB of a tile, in two slots of shared memory: one arrives, of the other what is
 *               kept lies at its beginning, by rank, and waits to be told where it goes
 *     worker    tests and packs its part of the next tile and counts it; waits until it is told
 *               where the part before that goes; stores it; asks for the tile after
 *     scout     a warp that adds up the workers' counts of a tile, publishes the sum, adds up what
 *               other blocks published of the tiles since the block's last one, and tells the
 *               workers: all of a tile before, while they already pack the next
 *
 * Tiles are given out by a ticket: who waits for a count waits for a block that has begun.
 * What is under way is bounded by two slots on purpose: counts of other blocks wait in the same
 * queues as bulk copies, and a third slot made every tile later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select_test.cuh"
#include "ptx_async.cuh"

/* Other GPUs cannot, and the host starts nothing of this there. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

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

static __device__ inline ukey *region_of(uint32_t slot)
{
    return (ukey *)(shared_bytes + (slot * workers() + threadIdx.x / 32) * REGION);
}

static __device__ inline void wait_for(uint64_t *barrier, uint32_t turn)
{
    while (!mbarrier_try_wait(barrier, turn / 2 & 1)) {
    }
}

/* ---- Workers ---- */

/* Asks for a part of a tile; one that is cut is copied at once. */
template <int HEADS>
static __device__ inline void ask_for(const struct select_args &a, struct bulk_shared &s,
                                      uint64_t tile, uint32_t slot)
{
    if (tile >= a.tiles) return;
    const struct part p = part_of(a, tile);
    const ukey *in = (const ukey *)a.in + p.at;
    ukey *to = region_of(slot) + VECTOR;
    uint64_t *arrived = &s.arrived[slot][threadIdx.x / 32];
    if (is_whole(p)) {
        const uint32_t before = HEADS && has_neighbour(p) ? VECTOR : 0;
        if (lane_id()) return;
        mbarrier_arrive_expect(arrived, (PART + before) * KEY_BYTES);
        copy_bulk(to - before, in - before, (PART + before) * KEY_BYTES, arrived);
        return;
    }
    for (uint32_t i = lane_id(); i < PART; i += 32)
        to[i] = i >= p.first && i < p.end ? in[i] : (ukey)0;
    if (HEADS && lane_id() == 0 && has_neighbour(p)) to[-1] = in[-1];
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

/* Of row j bits 4 j ... of those that are kept. */
template <int HEADS>
static __device__ inline uint32_t kept_bits(const struct select_args &a, const ukey *keys,
                                            const struct part &p, const union vector (&v)[ROWS])
{
    uint32_t bits = 0, exist = 0x11111111u * ROW_BITS;
    if (HEADS && a.test[0].order.float_mask) {
        bits = heads_in<1>(a, keys, p, v);
    } else if (HEADS) {
        bits = heads_in<0>(a, keys, p, v);
    } else if (a.quick[0].simple && !a.quick[0].negative) {
        bits = tests_in<TEST_PLAIN>(a, v);
    } else if (a.quick[0].simple) {
        bits = tests_in<TEST_SIGNED>(a, v);
    } else {
        bits = tests_in<TEST_ANY>(a, v);
    }
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

/* What is kept of the turn's part goes to the beginning of its region, by rank; how many those
 * are, of which the scout hears. */
template <int HEADS>
static __device__ inline uint32_t pack(const struct select_args &a, struct bulk_shared &s,
                                       uint64_t tile, uint32_t turn)
{
    const struct part p = part_of(a, tile);
    const uint32_t slot = turn % 2, warp = threadIdx.x / 32;
    ukey *region = region_of(slot);
    const ukey *keys = region + VECTOR;
    union vector v[ROWS];
    wait_for(&s.arrived[slot][warp], turn);
#pragma unroll
    for (int j = 0; j < ROWS; j++) v[j].v = ((const uint4 *)keys)[j * 32 + lane_id()];
    const uint32_t bits = kept_bits<HEADS>(a, keys, p, v);
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
    uint32_t rows = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        ukey *to = region + rows + row_of(before, j);
        rows += row_of(all, j);
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
            if (bits >> (4 * j + k) & 1) *to++ = v[j].key[k];
    }
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

template <int HEADS>
static __device__ inline void work(const struct select_args &a, struct bulk_shared &s)
{
    const uint32_t warp = threadIdx.x / 32;
    uint64_t tile = s.first[0], next = s.first[1];
    if (tile >= a.tiles) return;
    ask_for<HEADS>(a, s, tile, 0);
    ask_for<HEADS>(a, s, next, 1);
    uint32_t own = pack<HEADS>(a, s, tile, 0);
    for (uint32_t turn = 0;; turn++) {
        const uint32_t slot = turn % 2;
        const uint32_t next_own = next < a.tiles ? pack<HEADS>(a, s, next, turn + 1) : 0;
        wait_for(&s.told[slot], turn);
        store_part(region_of(slot), (ukey *)a.out + s.begin[slot][warp], own);
        const uint64_t after = s.after[slot][warp];
        if (next >= a.tiles) return;
        copy_bulk_fence();
        __syncwarp(); /* the slot is free */
        ask_for<HEADS>(a, s, after, slot);
        next = after;
        own = next_own;
    }
}

/* ---- The scout ---- */

struct tally {
    uint32_t all, before; /* what the workers keep of a tile, and those before this lane */
};

/* Of the turn's tile, once all workers have counted it; for other blocks, too. */
static __device__ inline struct tally publish(const struct select_args &a, struct bulk_shared &s,
                                              uint64_t tile, uint32_t turn)
{
    wait_for(&s.counted[turn % 2], turn);
    const uint32_t own = lane_id() < workers() ? s.own[turn % 2][lane_id()] : 0;
    const uint32_t through = warp_scan(own);
    struct tally t = { __shfl_sync(WARP_ALL, through, 31), through - own };
    if (lane_id() == 0)
        store_relaxed_u64(a.words + SELECT_WORDS_FIRST + tile, STATE_OWN | t.all);
    return t;
}

/* The counts of tiles from ... to - 1, which are waited for. */
static __device__ inline uint64_t sum_counts(const uint64_t *words, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;
    for (; from < to; from += 32 * WORDS) {
        const uint64_t *mine = words + from + lane_id();
        uint64_t word[WORDS];
        bool missing;
#pragma unroll
        for (int q = 0; q < WORDS; q++) word[q] = from + 32 * q + lane_id() < to ? 0 : STATE_OWN;
        do {
            missing = false;
#pragma unroll
            for (int q = 0; q < WORDS; q++)
                if (word[q] < STATE_OWN) word[q] = load_relaxed_u64(mine + 32 * q);
#pragma unroll
            for (int q = 0; q < WORDS; q++) missing |= word[q] < STATE_OWN;
        } while (__any_sync(WARP_ALL, missing));
#pragma unroll
        for (int q = 0; q < WORDS; q++) sum += word[q] & COUNT_MASK;
    }
    return warp_sum_u64(sum);
}

static __device__ inline uint64_t take_ticket(const struct select_args &a)
{
    return atomicAdd((unsigned long long *)a.words + 1, 1ull);
}

static __device__ inline void scout(const struct select_args &a, struct bulk_shared &s)
{
    uint64_t tile = s.first[0], next = s.first[1];
    uint64_t known = 0, before = 0; /* tiles, and how many they keep */
    if (tile >= a.tiles) return;
    struct tally t = publish(a, s, tile, 0);
    for (uint32_t turn = 0;; turn++) {
        unsigned long long after = 0;
        struct tally next_t = { 0, 0 };
        if (lane_id() == 0) after = take_ticket(a);
        if (next < a.tiles) next_t = publish(a, s, next, turn + 1);
        before += sum_counts(a.words + SELECT_WORDS_FIRST, known, tile);
        after = __shfl_sync(WARP_ALL, after, 0);
        if (lane_id() < workers()) {
            s.begin[turn % 2][lane_id()] = before + t.before;
            s.after[turn % 2][lane_id()] = after;
        }
        before += t.all;
        known = tile + 1;
        if (known == a.tiles && lane_id() == 0) *a.count = before;
        __syncwarp(); /* it is all written */
        if (lane_id() == 0) mbarrier_arrive(&s.told[turn % 2]);
        if (next >= a.tiles) return;
        tile = next;
        next = after;
        t = next_t;
    }
}

template <int HEADS>
static __device__ inline void select_bulk(const struct select_args &a)
{
    __shared__ struct bulk_shared s;
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < 2; i++) {
            for (uint32_t w = 0; w < workers(); w++) mbarrier_init(&s.arrived[i][w], 1);
            mbarrier_init(&s.counted[i], workers());
            mbarrier_init(&s.told[i], 1);
            s.first[i] = take_ticket(a);
        }
    }
    __syncthreads(); /* barriers and tickets are there */
    if (threadIdx.x / 32 < workers())
        work<HEADS>(a, s);
    else
        scout(a, s);
    __syncthreads(); /* the block is done with the words */
    if (a.clear && threadIdx.x < 32) leave_words(a.words, a.tiles, gridDim.x);
}

#else
template <int HEADS> static __device__ inline void select_bulk(const struct select_args &)
{
}
#endif

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS * 32 + 32, 1)
    select_bulk_test(const __grid_constant__ struct select_args a)
{
    select_bulk<0>(a);
}

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS * 32 + 32, 1)
    select_bulk_heads(const __grid_constant__ struct select_args a)
{
    select_bulk<1>(a);
}
