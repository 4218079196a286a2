/*
 * cuda/select.cu - what elements say of themselves selects them: a test, or the run they begin.
 *
 *     select_pass          keeps: each element is read once and each that is kept written once
 *     select_pass_along    ... and positions, lengths of runs or values with it
 *     select_count         how many elements a partition will put first; leaves the words
 *     select_place         then writes each element to its place, two ways
 *     select_place_three   ... or three
 *
 *     load      a tile as vectors of 16 bytes, in registers
 *     test      a bit an element
 *     rank      where among the tile's kept ones each goes; the tile says how many it has
 *     exchange  through shared memory into that order, while one warp looks back (select_tile.cuh)
 *     store     as one run
 *
 * Tiles begin where vectors do, so that an array of any alignment is read by whole vectors: the
 * first tile has fewer elements, and so has the last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select_fetch.cuh"
#include "select_test.cuh"

enum { LOADS = 4, TILE = SELECT_THREADS * LOADS * VECTOR, LOCAL = TILE < 16384 ? TILE : 16384 };

/* Blocks a multiprocessor: three leave 40 registers a thread, too few for halves of words; and
 * sm_75 holds no more than 1024 threads. */
#if KEY_BITS == 16 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
enum { RESIDENT = 2 };
#else
enum { RESIDENT = 3 };
#endif

static_assert(TILE * KEY_BYTES == (int)SELECT_TILE_BYTES, "the host counts other tiles");

struct tile_shared {
    union {
        ukey keys[TILE + 4 / KEY_BYTES + 1]; /* the tile by rank, and what fills its last word */
        uint32_t words[SELECT_TILE_BYTES / 4];
        uint16_t local[LOCAL + 1]; /* positions in the tile, by rank */
    };
    uint32_t sums[2][WARPS];
    uint64_t before;
};

/* Which part of the array a tile is: its position p is element base + p, modulo 2^64, and exists
 * for first <= p < end. */
struct span {
    uint64_t base;
    uint32_t first, end;
};

static __device__ inline struct span span_of(const struct select_args &a, uint64_t tile)
{
    struct span t;
    t.base = tile * TILE - a.skew;
    t.first = tile ? 0 : a.skew;
    t.end = (uint32_t)min(a.n - t.base, (uint64_t)TILE);
    if (!tile) t.end = (uint32_t)min(a.n + a.skew, (uint64_t)TILE);
    return t;
}

/* Where row j of this lane begins in the tile. */
static __device__ inline uint32_t position(int j)
{
    return threadIdx.x / 32 * (32 * LOADS * VECTOR) + (j * 32 + lane_id()) * VECTOR;
}

static __device__ inline void load_tile(const struct select_args &a, const struct span &t,
                                        union vector (&v)[LOADS])
{
    const ukey *in = (const ukey *)a.in + t.base;
    if (t.first == 0 && t.end == TILE) {
#pragma unroll
        for (int j = 0; j < LOADS; j++) v[j].v = __ldcs((const uint4 *)(in + position(j)));
        return;
    }
#pragma unroll
    for (int j = 0; j < LOADS; j++)
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            uint32_t p = position(j) + k;
            v[j].key[k] = p >= t.first && p < t.end ? in[p] : (ukey)0;
        }
}

/* ---- Test ---- */

static __device__ inline void find_heads(const struct select_args &a, const struct span &t,
                                         const union vector (&v)[LOADS], uint32_t (&bits)[LOADS])
{
    const struct echi_order &o = a.test[0].order;
    const uint32_t mine = position(0) - lane_id() * VECTOR; /* the warp's first position */
    uform before = 0;                                       /* of the row, where lane 0 is */
    if (lane_id() == 0 && mine > t.first && mine < t.end)
        before = form_of(o, ((const ukey *)a.in)[t.base + mine - 1]);
    if (lane_id() == 0 && mine == 0 && t.base + a.skew != 0 && t.end)
        before = form_of(o, ((const ukey *)a.in)[t.base - 1]);
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        uform last = form_of(o, v[j].key[VECTOR - 1]);
        uform neighbour = __shfl_up_sync(WARP_ALL, last, 1);
        bits[j] = heads_of(o, v[j], lane_id() ? neighbour : before);
        before = __shfl_sync(WARP_ALL, last, 31);
        uint32_t p = position(j);
        if (t.base + a.skew == 0 && p <= t.first && t.first < p + VECTOR)
            bits[j] |= 1u << (t.first - p); /* nothing lies before the array */
    }
}

/* Bits of the elements that are kept, or that come second of three. */
static __device__ inline void find_bits(const struct select_args &a, const struct span &t,
                                        const union vector (&v)[LOADS], uint32_t (&bits)[LOADS])
{
    if (a.source == SELECT_HEADS)
        find_heads(a, t, v, bits);
    else
#pragma unroll
        for (int j = 0; j < LOADS; j++) bits[j] = test_vector(a.test[0], v[j]);
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        if (a.invert) bits[j] = ~bits[j];
        bits[j] &= bits_between<VECTOR>(position(j), t.first, t.end);
    }
}

static __device__ inline void find_second(const struct select_args &a, const struct span &t,
                                          const union vector (&v)[LOADS],
                                          const uint32_t (&bits)[LOADS],
                                          uint32_t (&second)[LOADS])
{
#pragma unroll
    for (int j = 0; j < LOADS; j++)
        second[j] = test_vector(a.test[1], v[j]) & ~bits[j] &
                    bits_between<VECTOR>(position(j), t.first, t.end);
}

/* ---- Exchange and store ---- */

static __device__ inline void gather_keys(struct tile_shared &s, const union vector (&v)[LOADS],
                                          const uint32_t (&bits)[LOADS],
                                          const uint32_t (&start)[LOADS])
{
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        uint32_t r = start[j];
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
            if (bits[j] >> k & 1) s.keys[r++] = v[j].key[k];
    }
}

/* The positions of the ranks from begin on, as many as there is room for. */
static __device__ inline void gather_local(struct tile_shared &s, uint32_t begin,
                                           const uint32_t (&bits)[LOADS],
                                           const uint32_t (&start)[LOADS])
{
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        uint32_t r = start[j] - begin;
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
            if (bits[j] >> k & 1) {
                if (r <= LOCAL) s.local[r] = (uint16_t)(position(j) + k);
                r++;
            }
    }
}

/* count keys of s.keys from `from` on; small ones by whole words of the output. */
static __device__ inline void store_keys(const struct tile_shared &s, ukey *out, uint32_t from,
                                         uint32_t count)
{
#if KEY_BYTES >= 4
    for (uint32_t i = threadIdx.x; i < count; i += SELECT_THREADS) out[i] = s.keys[from + i];
#else
    const uint32_t each = 4 / KEY_BYTES;
    const uint32_t head = min((uint32_t)(-(uintptr_t)out & 3) / KEY_BYTES, count);
    const uint32_t words = (count - head) / each, tail = head + words * each;
    const uint32_t shift = (from + head) % each * KEY_BITS;
    const uint32_t *source = s.words + (from + head) / each;
    uint32_t *target = (uint32_t *)(out + head);
    for (uint32_t i = threadIdx.x; i < words; i += SELECT_THREADS)
        target[i] = shift ? __funnelshift_r(source[i], source[i + 1], shift) : source[i];
    if (threadIdx.x < head) out[threadIdx.x] = s.keys[from + threadIdx.x];
    if (threadIdx.x < count - tail) out[tail + threadIdx.x] = s.keys[from + tail + threadIdx.x];
#endif
}

/* What is known by position alone: count ranks from begin on, of `all`. */
static __device__ inline void store_positions(const struct select_args &a,
                                              const struct tile_shared &s, const struct span &t,
                                              uint64_t before, uint32_t begin, uint32_t count,
                                              uint32_t all)
{
    const uint64_t value_bytes = a.value_words * a.value_word_bytes;
    for (uint32_t r = threadIdx.x; r < count && a.starts; r += SELECT_THREADS)
        a.starts[before + begin + r] = t.base + s.local[r];
    for (uint32_t r = threadIdx.x; r < count && a.lengths; r += SELECT_THREADS) {
        uint64_t at = t.base + s.local[r];
        if (begin + r + 1 < all)
            a.lengths[before + begin + r] = (uint32_t)(s.local[r + 1] - s.local[r]);
        else /* where it ends another tile knows: select_lengths puts it together */
            a.lengths[before + begin + r] = a.tiles == 1 ? a.n - at : at;
    }
    if (a.lengths && a.tiles > 1 && begin == 0 && threadIdx.x == 0)
        a.first[blockIdx.x] = s.local[0];
    if (a.values)
        fetch((char *)a.values_out + (before + begin) * value_bytes,
              (const char *)a.values + t.base * value_bytes, s.local, count, a.value_words,
              a.value_word_bytes);
}

/* ---- One pass ---- */

/* ALONG: more is written than the elements, by position. */
template <int ALONG>
static __device__ inline void keep_tile(const struct select_args &a, struct tile_shared &s)
{
    const uint64_t tile = blockIdx.x;
    const struct span t = span_of(a, tile);
    const uint32_t warp = threadIdx.x / 32;
    uint64_t *words = a.words + SELECT_WORDS_FIRST;
    union vector v[LOADS];
    uint32_t bits[LOADS], start[LOADS], total;
    load_tile(a, t, v);
    find_bits(a, t, v, bits);
    uint32_t own = warp_ranks<LOADS, VECTOR>(bits, start);
    if (lane_id() == 0) s.sums[0][warp] = own;
    __syncthreads(); /* every warp has counted */
    uint32_t below = warps_before(s.sums[0], &total);
    if (threadIdx.x == 0 && a.tiles > 1) publish_tile(words, tile, total);
#pragma unroll
    for (int j = 0; j < LOADS; j++) start[j] += below;
    if (!ALONG || a.out) gather_keys(s, v, bits, start);
    if (KEY_BYTES < 4 && (!ALONG || a.out) && threadIdx.x < 4 / KEY_BYTES)
        s.keys[total + threadIdx.x] = 0;
    if (warp == 0) {
        uint64_t before = a.tiles > 1 ? place_tile(words, tile, total, COUNT_MASK) : 0;
        if (lane_id() == 0) s.before = before;
    }
    __syncthreads(); /* the tile lies by rank, and where it goes is known */
    const uint64_t before = s.before;
    if (a.clear && warp == 0) leave_words(a.words, a.tiles, a.tiles);
    if (!ALONG || a.out) store_keys(s, (ukey *)a.out + before, 0, total);
    if (ALONG)
        for (uint32_t begin = 0; begin < total; begin += LOCAL) {
            __syncthreads(); /* what lay in shared memory is stored */
            gather_local(s, begin, bits, start);
            __syncthreads(); /* the positions lie by rank */
            store_positions(a, s, t, before, begin, min(total - begin, (uint32_t)LOCAL), total);
        }
    if (tile == a.tiles - 1 && threadIdx.x == 0) {
        *a.count = before + total;
        if (ALONG && a.close) a.starts[before + total] = a.n;
    }
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, RESIDENT)
    select_pass(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    keep_tile<0>(a, s);
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, RESIDENT)
    select_pass_along(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    keep_tile<1>(a, s);
}

/* ---- Partition: count, then place ---- */

static __device__ inline uint32_t count_bits(const uint32_t (&bits)[LOADS])
{
    uint32_t count = 0;
#pragma unroll
    for (int j = 0; j < LOADS; j++) count += __popc(bits[j]);
#pragma unroll
    for (int step = 16; step; step /= 2) count += __shfl_xor_sync(WARP_ALL, count, step);
    return count;
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, RESIDENT)
    select_count(const __grid_constant__ struct select_args a)
{
    __shared__ uint32_t sums[2][WARPS];
    const uint64_t tile = blockIdx.x;
    const struct span t = span_of(a, tile);
    const uint32_t warp = threadIdx.x / 32, ways = a.source == SELECT_THREE ? 2 : 1;
    union vector v[LOADS];
    uint32_t bits[LOADS], second[LOADS], total;
    load_tile(a, t, v);
    find_bits(a, t, v, bits);
    uint32_t own = count_bits(bits);
    if (lane_id() == 0) sums[0][warp] = own;
    if (ways == 2) {
        find_second(a, t, v, bits, second);
        own = count_bits(second);
        if (lane_id() == 0) sums[1][warp] = own;
    }
    __syncthreads(); /* every warp has counted */
    if (warp >= ways) return;
    uint64_t *words = a.words + SELECT_WORDS_FIRST + warp * a.tiles;
    warps_before(sums[warp], &total);
    if (lane_id() == 0) publish_tile(words, tile, total);
    uint64_t before = place_tile(words, tile, total, COUNT_MASK);
    if (tile == a.tiles - 1 && lane_id() == 0) a.count[warp] = before + total;
}

/* Where the tile's elements of each kind go: base[kind] + rank, of the kinds' own ranks. */
template <int WAYS> struct places {
    uint32_t own[WAYS];  /* how many of the tile's; the last kind is the rest */
    uint64_t base[WAYS]; /* where they go */
};

template <int WAYS>
static __device__ inline struct places<WAYS> find_places(const struct select_args &a,
                                                         const struct span &t,
                                                         const uint32_t (&own)[WAYS])
{
    struct places<WAYS> p;
    const uint64_t tile = blockIdx.x;
    uint64_t rest = t.base + t.first, begin = 0; /* elements before; elements of the kinds before */
#pragma unroll
    for (int w = 0; w < WAYS - 1; w++) {
        const uint64_t *words = a.words + SELECT_WORDS_FIRST + w * a.tiles;
        uint64_t before = a.tiles > 1 ? placed_before(words, tile) : 0;
        p.base[w] = begin + before;
        begin += a.tiles > 1 ? placed_before(words, a.tiles) : own[w];
        rest -= before;
        if (a.tiles == 1 && threadIdx.x == 0) a.count[w] = own[w];
    }
    p.base[WAYS - 1] = begin + rest;
#pragma unroll
    for (int w = 0; w < WAYS; w++) p.own[w] = own[w];
    return p;
}

template <int WAYS>
static __device__ inline void place_keys(const struct select_args &a, struct tile_shared &s)
{
    const struct span t = span_of(a, blockIdx.x);
    const uint32_t warp = threadIdx.x / 32;
    union vector v[LOADS];
    uint32_t bits[WAYS - 1][LOADS], start[WAYS - 1][LOADS], own[WAYS];
    load_tile(a, t, v);
    find_bits(a, t, v, bits[0]);
    if (WAYS == 3) find_second(a, t, v, bits[0], bits[WAYS - 2]);
#pragma unroll
    for (int w = 0; w < WAYS - 1; w++) {
        uint32_t sum = warp_ranks<LOADS, VECTOR>(bits[w], start[w]);
        if (lane_id() == 0) s.sums[w][warp] = sum;
    }
    __syncthreads(); /* every warp has counted */
    uint32_t begin = 0; /* slot of the kind's first */
    own[WAYS - 1] = t.end - t.first;
#pragma unroll
    for (int w = 0; w < WAYS - 1; w++) {
        uint32_t below = warps_before(s.sums[w], &own[w]);
#pragma unroll
        for (int j = 0; j < LOADS; j++) start[w][j] += below + begin;
        begin += own[w];
        own[WAYS - 1] -= own[w];
    }
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        /* Of the last kind there are before an element all that the other kinds have not. */
        uint32_t first = start[0][j], second = WAYS == 3 ? start[WAYS - 2][j] : own[0];
        uint32_t rest = begin + (position(j) - t.first) - first - (second - own[0]);
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            uint32_t p = position(j) + k;
            if (p < t.first || p >= t.end) {
                if (p < t.first) rest++; /* which p - first counted as one fewer */
                continue;
            }
            bool is_second = WAYS == 3 && (bits[WAYS - 2][j] >> k & 1);
            uint32_t slot = bits[0][j] >> k & 1 ? first++ : is_second ? second++ : rest++;
            s.keys[slot] = v[j].key[k];
        }
    }
    if (KEY_BYTES < 4 && threadIdx.x < 4 / KEY_BYTES)
        s.keys[t.end - t.first + threadIdx.x] = 0;
    const struct places<WAYS> p = find_places<WAYS>(a, t, own);
    __syncthreads(); /* the tile lies by kind and rank, and all have read the words */
    if (a.clear && warp == 0) leave_words(a.words, (WAYS - 1) * a.tiles, a.tiles);
    begin = 0;
#pragma unroll
    for (int w = 0; w < WAYS; w++) {
        store_keys(s, (ukey *)a.out + p.base[w], begin, p.own[w]);
        begin += p.own[w];
    }
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, RESIDENT)
    select_place(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    place_keys<2>(a, s);
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, 2)
    select_place_three(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    place_keys<3>(a, s);
}
