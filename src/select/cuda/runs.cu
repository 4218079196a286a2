/*
 * select/cuda/runs.cu - lengths of runs: lengths that cross tiles, and run-length decoding.
 *
 *     select_lengths   after many tiles: lengths of runs that continue past their tile
 *     decode_sums      inclusive prefix sums of the lengths per tile of runs
 *     decode_write     a block takes a share of the outputs, finds the tile of runs of its first
 *                      output, and writes run by run, one tile of runs at a time
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/device/data_error.cuh"
#include "select/cuda/tile.cuh"
#include "select/cuda/word.cuh"

extern "C" __global__ void __launch_bounds__(SELECT_THREADS)
    select_lengths(const __grid_constant__ struct select_args a)
{
    wait_for_earlier();
    end_lengths(a, (uint64_t)blockIdx.x * blockDim.x + threadIdx.x,
                (uint64_t)gridDim.x * blockDim.x);
    __syncthreads(); /* the block no longer uses the words */
    if (a.clear && threadIdx.x < 32) leave_words(a.words, a.tiles, gridDim.x);
}

/* ---- Decoding ---- */

enum { RUNS = SELECT_TILE_RUNS, OWN = RUNS / SELECT_THREADS };
enum { DECODE_STEPS = 4 }; /* elements up to so many bytes are written run by run */

/* Sums saturate at n + 1, so that they cannot overflow. */
extern "C" __global__ void __launch_bounds__(SELECT_THREADS)
    decode_sums(const __grid_constant__ struct decode_args a)
{
    __shared__ uint64_t sums[WARPS];
    wait_for_earlier();
    const uint64_t tile = blockIdx.x, most = a.n + 1;
    uint64_t *words = a.words + SELECT_WORDS_FIRST, own = 0;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        uint64_t run = tile * RUNS + i * SELECT_THREADS + threadIdx.x;
        if (run < a.runs) own = add_to(own, min(a.lengths[run], most), most);
    }
    own = warp_sum_to(own, most);
    if (lane_id() == 0) sums[threadIdx.x / 32] = own;
    __syncthreads(); /* every warp has computed its sum */
    if (threadIdx.x >= 32) return;
    uint64_t total = warp_sum_to(lane_id() < WARPS ? sums[lane_id()] : 0, most);
    if (lane_id() == 0) publish_tile(words, tile, total);
    uint64_t sum = place_tile(words, tile, total, most);
    if (lane_id() != 0 || sum > a.n || add_to(sum, total, most) <= a.n) return;
    uint64_t run = tile * RUNS; /* the first whose end is greater than n */
    for (; a.lengths[run] <= a.n - sum; run++) sum += a.lengths[run];
    report_error(a.data_error, ECHI_LENGTHS_TOO_LARGE, run);
}

/* Blocks per multiprocessor; sm_75 holds no more than 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { DECODE_RESIDENT = 2 };
#else
enum { DECODE_RESIDENT = SELECT_DECODE_BLOCKS };
#endif

struct write_shared {
    uint32_t ends[RUNS]; /* of the tile's runs, relative to the first output of this step */
    uint64_t sums[WARPS];
    uint64_t tile;
};

/* By a warp: the tile of runs that contains output `at`, which must exist; reads 32 words at a
 * time. */
static __device__ inline uint64_t find_tile(const uint64_t *words, uint64_t tiles, uint64_t at)
{
    uint64_t low = 0, count = tiles;
    while (count > 1) {
        uint64_t step = (count + 31) / 32, through = min((lane_id() + 1) * step, count);
        uint32_t beyond = __ballot_sync(WARP_ALL, placed_before(words, low + through) > at);
        uint64_t skipped = (uint64_t)(__ffs((int)beyond) - 1) * step;
        low += skipped;
        count = min(step, count - skipped);
    }
    return low;
}

/* Ends of the tile's runs, relative to begin and limited to count. */
static __device__ inline void find_ends(const struct decode_args &a, struct write_shared &s,
                                        uint64_t tile, uint64_t begin, uint64_t count)
{
    const uint64_t first = tile * RUNS + threadIdx.x * OWN;
    uint64_t end[OWN], sum = 0;
#pragma unroll
    for (int i = 0; i < OWN; i++) end[i] = first + i < a.runs ? a.lengths[first + i] : 0;
#pragma unroll
    for (int i = 0; i < OWN; i++) end[i] = sum += end[i];
    uint64_t through = warp_scan_u64(sum);
    if (lane_id() == 31) s.sums[threadIdx.x / 32] = through;
    __syncthreads(); /* every warp has its sum, and the outputs of ends are written */
    uint64_t before = placed_before(a.words + SELECT_WORDS_FIRST, tile) + through - sum;
    for (uint32_t w = 0; w < threadIdx.x / 32; w++) before += s.sums[w];
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        uint64_t at = before + end[i];
        s.ends[threadIdx.x * OWN + i] = at <= begin ? 0 : (uint32_t)min(at - begin, count);
    }
    __syncthreads(); /* the ends are complete, and the sums may be overwritten */
}

/* The run that contains output p: the first with an end greater than p. */
static __device__ inline uint32_t find_run(const uint32_t *ends, uint32_t p)
{
    uint32_t run = 0;
#pragma unroll
    for (uint32_t step = RUNS / 2; step; step /= 2)
        if (ends[run + step - 1] <= p) run += step;
    return run;
}

/* Copies in 8 bytes of a word of 1, 2 or 4. */
template <int BYTES> static __device__ inline uint64_t copies_of(const struct word<BYTES> *from)
{
    const uint64_t x = BYTES == 1   ? *(const uint8_t *)from
                       : BYTES == 2 ? *(const uint16_t *)from
                                    : *(const uint32_t *)from;
    return x * (BYTES == 1   ? 0x0101010101010101u
                : BYTES == 2 ? 0x0001000100010001u
                             : 0x0000000100000001u);
}

/* The vector of the outputs begin ... end - 1, of which the first one belongs to a run; one step
 * for each other run in it. */
template <int BYTES>
static __device__ inline uint4 write_vector(const struct word<BYTES> *source, const uint32_t *ends,
                                            uint32_t run, uint32_t begin, uint32_t end)
{
    union {
        uint4 v;
        uint64_t half[2];
    } x;
    x.half[0] = x.half[1] = copies_of<BYTES>(source + run);
    for (uint32_t stop = ends[run]; stop < end; stop = ends[run]) {
        const uint64_t all = copies_of<BYTES>(source + ++run);
        const uint32_t bit = 8 * BYTES * (stop - begin); /* of the run's first output */
        const uint64_t mask = ~(uint64_t)0 << bit % 64;
        const uint64_t old = bit < 64 ? x.half[0] : x.half[1];
        const uint64_t both = (old & ~mask) | (all & mask);
        if (bit < 64) x.half[0] = both;
        x.half[1] = bit < 64 ? all : both;
    }
    return x.v;
}

/* Writes count outputs of one word each from out on, as aligned vectors of 16 bytes. */
template <int BYTES>
static __device__ inline void write_words(const void *in, void *out, const uint32_t *ends,
                                          uint32_t count)
{
    enum { VECTOR = 16 / BYTES };
    const struct word<BYTES> *source = (const struct word<BYTES> *)in;
    struct word<BYTES> *target = (struct word<BYTES> *)out;
    const uint32_t skew = (uint32_t)((uintptr_t)out % 16) / BYTES;
    for (uint64_t v = threadIdx.x; v * VECTOR < count + skew; v += SELECT_THREADS) {
        const uint32_t begin = v ? (uint32_t)(v * VECTOR) - skew : 0;
        const uint32_t end = (uint32_t)min((v + 1) * VECTOR - skew, (uint64_t)count);
        uint32_t run = find_run(ends, begin);
        if (BYTES <= DECODE_STEPS && end - begin == VECTOR) {
            *(uint4 *)(target + begin) = write_vector<BYTES>(source, ends, run, begin, end);
            continue;
        }
        union {
            uint4 v;
            struct word<BYTES> part[VECTOR];
        } x;
        struct word<BYTES> own = source[run];
        if (end - begin < VECTOR) {
            for (uint32_t p = begin; p < end; p++) {
                while (ends[run] <= p) run++;
                target[p] = source[run];
            }
            continue;
        }
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            if (k && ends[run] <= begin + k) {
                while (ends[run] <= begin + k) run++;
                own = source[run];
            }
            x.part[k] = own;
        }
        *(uint4 *)(target + begin) = x.v;
    }
}

/* The same for elements of several words, each written by an appropriate number of lanes. */
template <int BYTES>
static __device__ inline void write_elements(const void *in, void *out, const uint32_t *ends,
                                             uint32_t count, uint64_t words)
{
    const struct word<BYTES> *source = (const struct word<BYTES> *)in;
    struct word<BYTES> *target = (struct word<BYTES> *)out;
    uint32_t lanes = 2;
    while (lanes < 32 && lanes < words) lanes *= 2;
    for (uint32_t p = threadIdx.x / lanes; p < count; p += SELECT_THREADS / lanes) {
        uint32_t run = find_run(ends, p);
        for (uint64_t part = threadIdx.x % lanes; part < words; part += lanes)
            target[p * words + part] = source[run * words + part];
    }
}

template <int BYTES>
static __device__ inline void write_some(const void *in, void *out, const uint32_t *ends,
                                         uint32_t count, uint64_t words)
{
    if (words == 1)
        write_words<BYTES>(in, out, ends, count);
    else
        write_elements<BYTES>(in, out, ends, count, words);
}

static __device__ inline void write_tile(const struct decode_args &a, const struct write_shared &s,
                                         uint64_t tile, uint64_t begin, uint32_t count)
{
    const uint64_t bytes = a.element_words * a.word_bytes;
    const void *in = (const char *)a.in + tile * RUNS * bytes;
    void *out = (char *)a.out + begin * bytes;
    switch (a.word_bytes) {
    case 1:
        write_some<1>(in, out, s.ends, count, a.element_words);
        break;
    case 2:
        write_some<2>(in, out, s.ends, count, a.element_words);
        break;
    case 4:
        write_some<4>(in, out, s.ends, count, a.element_words);
        break;
    case 8:
        write_some<8>(in, out, s.ends, count, a.element_words);
        break;
    default:
        write_some<16>(in, out, s.ends, count, a.element_words);
        break;
    }
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, DECODE_RESIDENT)
    decode_write(const __grid_constant__ struct decode_args a)
{
    __shared__ struct write_shared s;
    wait_for_earlier();
    const uint64_t *words = a.words + SELECT_WORDS_FIRST;
    const uint64_t total = placed_before(words, a.tiles);
    const uint64_t end = min((blockIdx.x + 1) * a.share, total);
    uint64_t at = blockIdx.x * a.share;
    if (at < end && total <= a.n) { /* otherwise there is no output, or an error was reported */
        if (threadIdx.x < 32) {
            uint64_t found = find_tile(words, a.tiles, at);
            if (lane_id() == 0) s.tile = found;
        }
        __syncthreads(); /* the tile is found */
        for (uint64_t tile = s.tile; at < end; tile++) {
            uint64_t through = min(placed_before(words, tile + 1), end);
            if (through <= at) continue; /* a tile of empty runs */
            find_ends(a, s, tile, at, through - at);
            write_tile(a, s, tile, at, (uint32_t)(through - at));
            at = through;
        }
    }
    __syncthreads(); /* the block no longer uses the words */
    if (a.clear && threadIdx.x < 32) leave_words(a.words, a.tiles, gridDim.x);
}
