/*
 * cuda/sort.cu - radix sort on the GPU, device half.
 *
 * Least significant digit first, 8 bits a pass, each pass one read and one write of the data (the
 * "onesweep" of Adinets and Merrill, arXiv 2206.01784, over decoupled look-back, Merrill and
 * Garland 2016):
 *
 *     sort_histogram   reads the keys once and counts every digit of every pass
 *     sort_plan        where each bin begins; which passes can be left out since all keys agree in
 * them sort_onesweep    one pass: a block ranks a tile by its digit, learns from the tiles before
 * it where its part of each bin begins, and writes the tile there            (once a pass)
 *     sort_finish      copies, when the passes that remain do not end in the output
 *     sort_fill        instead of passes, writes keys of 8 bits from their histogram
 *     sort_block       all of it for an array that one block can hold
 *
 * Between passes keys are in the form of order_encode().  Nothing returns to the host: the plan is
 * made and read on the device, so that a sort can be queued and captured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "instance.cuh"
#include "order.cuh"
#include "ptx.cuh"
#include "block_rank.cuh"

#define ROW(key, value, threads, items, blocks)                                                    \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (threads)
enum { THREADS = 0 SORT_TUNING(ROW) };
#undef ROW
#define ROW(key, value, threads, items, blocks)                                                    \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (items)
enum { ITEMS = 0 SORT_TUNING(ROW) };
#undef ROW
#define ROW(key, value, threads, items, blocks)                                                    \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (blocks)
enum { BLOCKS = 0 SORT_TUNING(ROW) };
#undef ROW
#if defined(__CUDA_ARCH__) &&                                                                      \
    __CUDA_ARCH__ < 800 /* a multiprocessor holds 1024 threads, not 2048 */
enum { RESIDENT = BLOCKS * THREADS <= 1024 ? (int)BLOCKS : 1024 / THREADS };
#else
enum { RESIDENT = BLOCKS };
#endif
enum { WARPS = THREADS / SORT_WARP, TILE = THREADS * ITEMS };

static __device__ inline uint32_t digit_of(const struct sort_args &a, ukey e, int pass)
{
    int shift = a.begin_bit + pass * SORT_DIGIT_BITS;
    int bits = min(a.end_bit - shift, (int)SORT_DIGIT_BITS);
    return (uint32_t)(order_merge(a.order, e) >> shift) & ((1u << bits) - 1);
}

static __device__ inline const ukey *keys_of(const struct sort_args &a, uint32_t buffer)
{
    return (const ukey *)(buffer == SORT_IN    ? a.keys_in
                          : buffer == SORT_OUT ? a.keys_out
                                               : a.keys_tmp);
}

/* ---- Histograms of all passes ---- */

static __device__ inline void count_key(const struct sort_args &a, uint32_t (*bins)[SORT_BINS],
                                        ukey u)
{
    ukey e = order_encode(a.order, u);
#pragma unroll
    for (int pass = 0; pass < KEY_BYTES; pass++)
        if (pass < a.passes) atomicAdd(&bins[pass][digit_of(a, e, pass)], 1);
}

extern "C" __global__ void __launch_bounds__(SORT_HISTOGRAM_THREADS)
    sort_histogram(const __grid_constant__ struct sort_args a)
{
    enum { VECTOR = 16 / KEY_BYTES, LOADS = 4 };
    __shared__ uint32_t bins[KEY_BYTES][SORT_BINS];
    const ukey *keys = (const ukey *)a.keys_in;
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

    rank_clear(&bins[0][0], KEY_BYTES * SORT_BINS);
    __syncthreads(); /* the counters are clear */

    /* The body of the array as aligned vectors of 16 bytes; its ends one key a thread. */
    uint64_t head = (uint64_t)(-(intptr_t)keys & 15) / KEY_BYTES;
    if (head > a.n) head = a.n;
    const uint64_t vectors = (a.n - head) / VECTOR, tail = head + vectors * VECTOR;
    const uint4 *body = (const uint4 *)(keys + head);
    for (uint64_t i = thread; i < vectors; i += LOADS * threads) {
        union {
            uint4 vector;
            ukey key[VECTOR];
        } load[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * threads < vectors) load[j].vector = body[i + j * threads];
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * threads < vectors)
#pragma unroll
                for (int k = 0; k < VECTOR; k++) count_key(a, bins, load[j].key[k]);
    }
    if (thread < head) count_key(a, bins, keys[thread]);
    if (thread < a.n - tail) count_key(a, bins, keys[tail + thread]);
    __syncthreads(); /* every key of the block is counted */

    for (int i = threadIdx.x; i < a.passes * SORT_BINS; i += blockDim.x) {
        uint32_t count = bins[i / SORT_BINS][i % SORT_BINS];
        if (count) atomicAdd((unsigned long long *)&a.state->histogram[0][0] + i, count);
    }
}

/* ---- Where the bins begin, and which passes run: one block of SORT_BINS threads ---- */

static __device__ inline void plan_passes(const struct sort_args &a, const uint32_t *active)
{
    struct sort_state *state = a.state;
    int count = 0, done = 0;
    for (int pass = 0; pass < a.passes; pass++) count += active[pass];
    uint32_t source = SORT_IN;
    for (int pass = 0; pass < a.passes; pass++) {
        struct sort_pass *p = &state->pass[pass];
        p->active = active[pass];
        if (!active[pass]) continue;
        /* Out of place, the last pass ends in the output and those before alternate.  In place the
         * first pass cannot write where it reads, and the last ends in the output only if the
         * number of passes is even. */
        uint32_t to_out = a.in_place ? done & 1 : (count - 1 - done) % 2 == 0;
        p->target = to_out ? SORT_OUT : SORT_TMP;
        p->source = source;
        p->first = done == 0;
        p->last = done == count - 1;
        p->epoch = done & 1;
        source = p->target;
        done++;
    }
    bool there = source == SORT_OUT || (count == 0 && a.stays);
    state->finish = there ? 0 : 1 + source;
}

extern "C" __global__ void __launch_bounds__(SORT_BINS)
    sort_plan(const __grid_constant__ struct sort_args a)
{
    __shared__ uint64_t sums[SORT_BINS / 32];
    __shared__ uint32_t active[SORT_PASSES];
    const uint32_t bin = threadIdx.x, warp = bin / 32;
    for (int pass = 0; pass < a.passes; pass++) {
        uint64_t count = a.state->histogram[pass][bin];
        uint64_t inclusive = warp_scan_u64(count);
        if (lane_id() == 31) sums[warp] = inclusive;
        int constant = __syncthreads_or(count == a.n); /* also: the sums of all warps are there */
        if (bin == 0) active[pass] = !constant;
        uint64_t before = 0;
        for (uint32_t w = 0; w < warp; w++) before += sums[w];
        a.state->base[pass][0][bin] = before + inclusive - count;
        __syncthreads(); /* sums may be written again, active is there */
    }
    if (bin == 0) plan_passes(a, active);
}

/* ---- One pass ---- */

/* Words of the look-back: a state in the top two bits, a count below.  A tile's word says nothing,
 * then its own count, then the count of all tiles up to it.  The words are not cleared between
 * passes: the states of odd passes are other than those of even ones, and what the pass before left
 * reads as "nothing". */
enum { COUNT_BITS = 30 };
#define COUNT_MASK ((1u << COUNT_BITS) - 1)

static __device__ inline uint32_t state_own(uint32_t epoch)
{
    return (epoch ? 3u : 1u) << COUNT_BITS;
}

static __device__ inline uint32_t state_all(uint32_t epoch)
{
    return (epoch ? 0u : 2u) << COUNT_BITS;
}

/* How many keys of the bin the tiles before this one have.  status is this tile's word of the bin,
 * words of the tiles before it lie SORT_BINS apart below, and the portion's first tile has
 * state_all. */
static __device__ inline uint32_t look_back(const uint32_t *status, uint32_t epoch)
{
    const uint32_t own = state_own(epoch), all = state_all(epoch);
    uint32_t count = 0;
    for (;;) {
        status -= SORT_BINS;
        uint32_t word, state;
        do { /* until the block of that tile, which began before this one, has counted */
            word = load_relaxed(status);
            state = word & ~COUNT_MASK;
        } while (state != own && state != all);
        count += word & COUNT_MASK;
        if (state == all) return count;
    }
}

struct pass_shared {
    union {
        uint32_t counts[WARPS * SORT_BINS]; /* while ranking */
        ukey keys[TILE];                    /* then the tile by rank */
#if VAL_BYTES
        uval values[TILE];
#endif
    };
    uint64_t target[SORT_BINS]; /* a key of this bin and rank r goes to target + r */
    uint32_t sums[SORT_BINS / 32];
    uint32_t tile;
};

/* A tile that is full needs no test of where the array ends; FULL is 1 for all tiles but the last.
 */
template <int FULL> static __device__ inline bool exists(uint32_t i, uint32_t here)
{
    return FULL || i < here;
}

/* Loads the tile in the order that block_rank.cuh wants. */
template <int FULL>
static __device__ inline void load_keys(const struct sort_args &a, const struct sort_pass &p,
                                        uint64_t at, uint32_t here, ukey (&key)[ITEMS])
{
    const ukey *in = keys_of(a, p.source) + at;
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        key[i] = exists<FULL>(mine + 32 * i, here) ? in[mine + 32 * i] : (ukey)0;
    if (p.first)
#pragma unroll
        for (int i = 0; i < ITEMS; i++) key[i] = order_encode(a.order, key[i]);
}

/* Says how many keys of a bin the tile has, early, so that the tiles after this one need not wait
 * for its ranking. */
static __device__ inline void publish(const struct sort_args &a, const struct sort_pass &p,
                                      uint32_t tile, uint32_t bin, uint32_t count)
{
    bool first = tile == (uint32_t)a.portion * (SORT_PORTION / TILE);
    uint32_t state = first ? state_all(p.epoch) : state_own(p.epoch);
    store_relaxed(a.status + (uint64_t)tile * SORT_BINS + bin, state | count);
}

/* Finds how many keys of a bin the tiles before have, and says where those of this one go. */
static __device__ inline void place_bin(const struct sort_args &a, const struct sort_pass &p,
                                        uint32_t tile, uint32_t bin, uint32_t count,
                                        uint32_t offset, uint64_t *target)
{
    const uint32_t tiles = SORT_PORTION / TILE,
                   tile_in_portion = tile - (uint32_t)a.portion * tiles;
    uint32_t *status = a.status + (uint64_t)tile * SORT_BINS + bin;
    uint32_t before = tile_in_portion ? look_back(status, p.epoch) : 0;
    if (tile_in_portion) store_relaxed(status, state_all(p.epoch) | (before + count));
    uint64_t base = a.state->base[a.pass][a.portion & 1][bin];
    if (tile_in_portion == tiles - 1)
        a.state->base[a.pass][~a.portion & 1][bin] = base + before + count;
    target[bin] = base + before - offset;
}

/* Ranks the tile stably and places its bins; slot[i] becomes the rank of key[i]. */
template <int FULL>
static __device__ inline void rank_stable(const struct sort_args &a, const struct sort_pass &p,
                                          struct pass_shared &s, uint32_t here,
                                          const ukey (&key)[ITEMS], uint32_t (&slot)[ITEMS])
{
    const uint32_t bin = threadIdx.x, tile = s.tile;
    uint32_t *row = s.counts + threadIdx.x / 32 * SORT_BINS;
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        bool counts = exists<FULL>(mine + 32 * i, here);
        slot[i] = counts ? digit_of(a, key[i], a.pass) : SORT_BINS - 1; /* past the end: last */
        if (counts) atomicAdd(&row[slot[i]], 1);
    }
    __syncthreads(); /* every warp has counted */
    uint32_t count = 0;
    if (bin < SORT_BINS) {
        count = rank_column<WARPS>(s.counts, bin);
        publish(a, p, tile, bin, count);
    }
    uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) rank_offsets<WARPS>(s.counts, bin, offset);
    __syncthreads(); /* the rows say where each warp's keys of a bin begin */
    rank_keys<ITEMS>(row, slot, ITEMS);
    if (bin < SORT_BINS) place_bin(a, p, tile, bin, count, offset, s.target);
    __syncthreads(); /* every warp is done with the counters, and the targets are there */
}

#if VAL_BYTES == 0
/* The counter of a bin: multiples of 16, as the low digits of a ramp are, do not share a bank. */
static __device__ inline uint32_t counter_of(uint32_t bin)
{
    return bin ^ bin >> 5;
}

/* Ranks the tile in whatever order its keys reach the counters.  Good for the first pass of keys
 * alone: there is no order yet that it could spoil, and an atomic costs a tenth of the ballots. */
template <int FULL>
static __device__ inline void rank_unstable(const struct sort_args &a, const struct sort_pass &p,
                                            struct pass_shared &s, uint32_t here,
                                            const ukey (&key)[ITEMS], uint32_t (&slot)[ITEMS])
{
    const uint32_t bin = threadIdx.x, tile = s.tile;
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    uint32_t *offsets = s.counts + SORT_BINS;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here))
            slot[i] = atomicAdd(&s.counts[counter_of(digit_of(a, key[i], a.pass))], 1);
    __syncthreads(); /* every key is counted */
    uint32_t count = bin < SORT_BINS ? s.counts[counter_of(bin)] : 0;
    if (bin < SORT_BINS) publish(a, p, tile, bin, count);
    uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) offsets[counter_of(bin)] = offset;
    __syncthreads(); /* the offsets are there */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here))
            slot[i] += offsets[counter_of(digit_of(a, key[i], a.pass))];
    if (bin < SORT_BINS) place_bin(a, p, tile, bin, count, offset, s.target);
    __syncthreads(); /* every warp is done with the counters, and the targets are there */
}
#endif

template <int FULL>
static __device__ inline void write_values(const struct sort_args &a, const struct sort_pass &p,
                                           struct pass_shared &s, uint64_t at, uint32_t here,
                                           const uint32_t (&slot)[ITEMS],
                                           const uint32_t (&digit)[ITEMS])
{
#if VAL_BYTES
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    const void *from = p.source == SORT_IN    ? a.values_in
                       : p.source == SORT_OUT ? a.values_out
                                              : a.values_tmp;
    const uval *in = (const uval *)from + at;
    uval *out = (uval *)(p.target == SORT_OUT ? a.values_out : a.values_tmp);
    uval value[ITEMS];
#if VAL_BYTES <= 8
    if (p.first && a.index)
#pragma unroll
        for (int i = 0; i < ITEMS; i++) value[i] = (uval)(at + mine + 32 * i);
    else
#endif
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (exists<FULL>(mine + 32 * i, here)) value[i] = in[mine + 32 * i];
    __syncthreads(); /* every thread has read its keys */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here)) s.values[slot[i]] = value[i];
    __syncthreads(); /* the values lie sorted */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        uint32_t rank = threadIdx.x + i * THREADS;
        if (exists<FULL>(rank, here)) out[s.target[digit[i]] + rank] = s.values[rank];
    }
#endif
}

template <int FULL>
static __device__ inline void sort_tile(const struct sort_args &a, const struct sort_pass &p,
                                        struct pass_shared &s, uint64_t at, uint32_t here)
{
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    ukey key[ITEMS];
    uint32_t slot[ITEMS];
    load_keys<FULL>(a, p, at, here, key);
#if VAL_BYTES == 0
    if (p.first && a.unstable)
        rank_unstable<FULL>(a, p, s, here, key, slot);
    else
#endif
        rank_stable<FULL>(a, p, s, here, key, slot);

        /* Through shared memory into the order of the ranks, so that a bin is written as one run.
         */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here)) s.keys[slot[i]] = key[i];
    __syncthreads(); /* the tile lies sorted */

    ukey *out = (ukey *)keys_of(a, p.target);
    uint32_t digit[ITEMS]; /* of the ranks that this thread writes */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        uint32_t rank = threadIdx.x + i * THREADS;
        ukey e = s.keys[rank];
        digit[i] = digit_of(a, e, a.pass);
        if (exists<FULL>(rank, here) && !(p.last && a.discard_keys))
            out[s.target[digit[i]] + rank] = p.last ? order_decode(a.order, e) : e;
    }
    write_values<FULL>(a, p, s, at, here, slot, digit);
}

static_assert(sizeof(struct pass_shared) <=
                  SORT_SHARED_BYTES(THREADS, ITEMS, KEY_BYTES > VAL_BYTES ? KEY_BYTES : VAL_BYTES),
              "the host gives less shared memory than the kernel uses");

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep(const __grid_constant__ struct sort_args a)
{
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    struct pass_shared &s = *(struct pass_shared *)shared_bytes;

    /* Tiles are taken in the order in which blocks begin, so that the tiles before are always under
     * way. */
    if (threadIdx.x == 0) s.tile = atomicAdd(&a.state->tiles_taken[a.pass], 1);
    const struct sort_pass p = a.state->pass[a.pass];
    if (!p.active) return;
    rank_clear(s.counts, WARPS * SORT_BINS);
    __syncthreads(); /* the tile is known and the counters are clear */
    const uint64_t at = (uint64_t)s.tile * TILE;
    if (a.n - at >= TILE)
        sort_tile<1>(a, p, s, at, TILE);
    else
        sort_tile<0>(a, p, s, at, (uint32_t)(a.n - at));
}

extern "C" __global__ void __launch_bounds__(SORT_MOVE_THREADS)
    sort_finish(const __grid_constant__ struct sort_args a)
{
    if (!a.state->finish) return;
    const uint32_t from = a.state->finish - 1;
    const ukey *keys = keys_of(a, from);
    ukey *keys_out = (ukey *)a.keys_out;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (!a.discard_keys)
        for (uint64_t i = first; i < a.n; i += step) keys_out[i] = keys[i];
#if VAL_BYTES
    const uval *values = (const uval *)(from == SORT_IN ? a.values_in : a.values_tmp);
    uval *values_out = (uval *)a.values_out;
#if VAL_BYTES <= 8
    if (a.index && from == SORT_IN)
        for (uint64_t i = first; i < a.n; i += step) values_out[i] = (uval)i;
    else
#endif
        for (uint64_t i = first; i < a.n; i += step) values_out[i] = values[i];
#endif
}

/* ---- 8-bit keys alone: their histogram says it all ---- */

#if KEY_BYTES == 1 && VAL_BYTES == 0
/* The bin that position i of the output lies in: the last that begins at or before it and is not
 * empty. */
static __device__ inline uint32_t bin_at(const uint64_t *begin, uint64_t i)
{
    uint32_t bin = 0;
#pragma unroll
    for (uint32_t step = SORT_BINS / 2; step; step /= 2)
        if (begin[bin + step] <= i) bin += step;
    return bin;
}

extern "C" __global__ void __launch_bounds__(SORT_MOVE_THREADS)
    sort_fill(const __grid_constant__ struct sort_args a)
{
    enum { VECTOR = 16 };
    __shared__ uint64_t begin[SORT_BINS + 1];
    for (int bin = threadIdx.x; bin < SORT_BINS; bin += blockDim.x)
        begin[bin] = a.state->base[0][0][bin];
    if (threadIdx.x == 0) begin[SORT_BINS] = a.n;
    __syncthreads(); /* the bins are there */

    /* Aligned vectors of 16 keys; the first and the last may be cut by the ends of the array. */
    ukey *out = (ukey *)a.keys_out;
    const uint64_t skew = (uint64_t)out & (VECTOR - 1), end = a.n + skew;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x * VECTOR;
    for (uint64_t v = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) * VECTOR; v < end;
         v += step) {
        uint64_t first = v < skew ? 0 : v - skew, last = min(v + VECTOR - skew, a.n);
        uint32_t bin = bin_at(begin, first);
        if (v >= skew && last - first == VECTOR && begin[bin + 1] >= last) { /* one value */
            uint32_t word = order_decode(a.order, (ukey)bin) * 0x01010101u;
            *(uint4 *)(out + first) = make_uint4(word, word, word, word);
            continue;
        }
        for (uint64_t i = first; i < last; i++) {
            while (begin[bin + 1] <= i) bin++;
            out[i] = order_decode(a.order, (ukey)bin);
        }
    }
}
#endif

/* ---- Everything in one block ---- */

struct block_shared {
    union {
        uint32_t counts[SORT_BLOCK_THREADS / 32 * SORT_BINS];
        struct {
            ukey keys[SORT_BLOCK_TILE];
            uint16_t place[SORT_BLOCK_TILE]; /* where the key came from */
        };
    };
    uint32_t sums[SORT_BINS / 32];
};

extern "C" __global__ void __launch_bounds__(SORT_BLOCK_THREADS)
    sort_block(const __grid_constant__ struct sort_args a)
{
    enum { BLOCK_WARPS = SORT_BLOCK_THREADS / 32, BLOCK_ITEMS = SORT_BLOCK_ITEMS };
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    struct block_shared &s = *(struct block_shared *)shared_bytes;
    const uint32_t n = (uint32_t)a.n, bin = threadIdx.x;
    const int items =
        (int)((n + SORT_BLOCK_THREADS - 1) / SORT_BLOCK_THREADS); /* those that hold keys */
    const uint32_t mine = threadIdx.x / 32 * (32 * items) + lane_id();
    uint32_t *row = s.counts + threadIdx.x / 32 * SORT_BINS;
    const ukey *keys_in = (const ukey *)a.keys_in;

    ukey key[BLOCK_ITEMS];
    uint32_t slot[BLOCK_ITEMS], place[BLOCK_ITEMS], digit[BLOCK_ITEMS];
#pragma unroll
    for (int i = 0; i < BLOCK_ITEMS; i++) {
        place[i] = mine + 32 * i;
        key[i] = i < items && place[i] < n ? order_encode(a.order, keys_in[place[i]]) : (ukey)0;
    }
    for (int pass = 0; pass < a.passes; pass++) {
        rank_clear(s.counts, BLOCK_WARPS * SORT_BINS);
        __syncthreads(); /* the counters are clear */
#pragma unroll
        for (int i = 0; i < BLOCK_ITEMS; i++)
            slot[i] = digit[i] =
                place[i] < n ? digit_of(a, key[i], pass) : SORT_BINS - 1; /* past the end: last */
        rank_keys<BLOCK_ITEMS>(row, slot, items);
        __syncthreads(); /* every warp has counted */
        uint32_t count = bin < SORT_BINS ? rank_column<BLOCK_WARPS>(s.counts, bin) : 0;
        uint32_t offset = bins_scan(count, s.sums);
        if (bin < SORT_BINS) rank_offsets<BLOCK_WARPS>(s.counts, bin, offset);
        __syncthreads(); /* the rows say where each warp's keys of a bin begin */
#pragma unroll
        for (int i = 0; i < BLOCK_ITEMS; i++)
            if (i < items) slot[i] += row[digit[i]];
        __syncthreads(); /* every warp is done with the counters */
#pragma unroll
        for (int i = 0; i < BLOCK_ITEMS; i++)
            if (i < items) {
                s.keys[slot[i]] = key[i];
                s.place[slot[i]] = (uint16_t)place[i];
            }
        __syncthreads(); /* the keys lie sorted by this digit */
#pragma unroll
        for (int i = 0; i < BLOCK_ITEMS; i++)
            if (i < items) {
                key[i] = s.keys[mine + 32 * i];
                place[i] = s.place[mine + 32 * i];
            }
        __syncthreads(); /* everyone has read; the counters may be cleared */
    }

#if VAL_BYTES
    const uval *values_in = (const uval *)a.values_in;
    uval value[BLOCK_ITEMS];
#if VAL_BYTES <= 8
    if (a.index)
#pragma unroll
        for (int i = 0; i < BLOCK_ITEMS; i++) value[i] = (uval)place[i];
    else
#endif
#pragma unroll
        for (int i = 0; i < BLOCK_ITEMS; i++)
            if (i < items && place[i] < n) value[i] = values_in[place[i]];
#endif
    __syncthreads(); /* in place: everyone has read what others write */
    ukey *keys_out = (ukey *)a.keys_out;
#pragma unroll
    for (int i = 0; i < BLOCK_ITEMS; i++) {
        uint32_t at = mine + 32 * i;
        if (i >= items || at >= n) continue;
        if (!a.discard_keys) keys_out[at] = order_decode(a.order, key[i]);
#if VAL_BYTES
        ((uval *)a.values_out)[at] = value[i];
#endif
    }
}
