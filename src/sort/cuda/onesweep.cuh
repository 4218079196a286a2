/*
 * sort/cuda/onesweep.cuh - one pass: a block sorts a tile by a digit and writes it out.
 *
 *     load      the tile's keys, adjacent ones by the same warp
 *     rank      each key's rank in the tile (cuda/device/block_rank.cuh); meanwhile the tile
 *               publishes how many keys of each bin it has
 *     place     the counts of preceding tiles: decoupled look-back
 *     exchange  through shared memory into the order of the ranks
 *     store     each bin as one run; then the values in the same way
 *
 * sort_onesweep_pages may store runs in pages (pages.cuh).  sort_onesweep_first moves keys to the
 * bins that low_memory then sorts, which may be between splitters (splitters.cuh).  If they are too
 * large for sort_onesweep_bins, sort_onesweep_rest runs all passes in pages in one launch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_ONESWEEP_CUH
#define ECHI_SORT_CUDA_ONESWEEP_CUH

#include "sort/cuda/page_runs.cuh"
#include "sort/cuda/pages_steps.cuh"
#include "sort/cuda/resident.cuh"

/* ---- Tiles ---- */

/* Publishes the tile's number of keys of a bin early, so that the following tiles need not wait for
 * its ranking. */
static __device__ inline void publish(const struct sort_passes_args &a, const struct sweep &w,
                                      uint32_t tile, uint32_t bin, uint32_t count)
{
    bool first = tile == w.portion * (SORT_PORTION / TILE);
    uint32_t state = first ? state_all(w.p.epoch) : state_own(w.p.epoch);
    store_relaxed(a.status + (uint64_t)tile * SORT_BINS + bin, state | count);
}

/* Finds the position of the tile's first key of a bin, and publishes the inclusive prefix. */
static __device__ inline uint64_t place_bin(const struct sort_passes_args &a, const struct sweep &w,
                                            uint32_t tile, uint32_t bin, uint32_t count)
{
    const uint32_t tiles = SORT_PORTION / TILE, tile_in_portion = tile - w.portion * tiles;
    uint32_t *status = a.status + (uint64_t)tile * SORT_BINS + bin;
    uint32_t before = tile_in_portion ? look_back(status, w.p.epoch) : 0;
    if (tile_in_portion) store_relaxed(status, state_all(w.p.epoch) | (before + count));
    uint64_t base = a.state->base[w.pass][w.portion & 1][bin];
    if (tile_in_portion == tiles - 1)
        a.state->base[w.pass][~w.portion & 1][bin] = base + before + count;
    return base + before;
}

/* Keeps the target of a bin. */
template <int PAGES>
static __device__ inline void keep_target(const struct sort_passes_args &a, const struct sweep &w,
                                          uint32_t tile, uint32_t bin, uint32_t count,
                                          uint32_t offset, struct pass_shared &s)
{
    const uint64_t position = place_bin(a, w, tile, bin, count);
    if (PAGES == IN_PAGES && pages_used(a, w.p))
        page_keep(a, s, bin, count, offset, position);
    else
        s.target[bin] = position - offset;
}

/* Ranks the tile stably and places its bins; slot[i] becomes the rank of key[i]. */
template <int FULL, int PAGES, int PLAIN>
static __device__ inline void rank_stable(const struct sort_passes_args &a, const struct sweep &w,
                                          struct pass_shared &s, uint32_t here,
                                          const ukey (&key)[ITEMS], uint32_t (&slot)[ITEMS])
{
    const uint32_t bin = threadIdx.x, tile = s.tile;
    uint32_t *row = s.counts + threadIdx.x / 32 * SORT_BINS;
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    const int pass = w.pass;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        bool counts = exists<FULL>(mine + 32 * i, here);
        slot[i] = counts ? tile_digit<PLAIN>(a.common, key[i], pass)
                         : SORT_BINS - 1; /* past the end: last */
#if SORT_SPLITS(KEY_BYTES, VAL_BYTES)
        if (SPLIT(PAGES)) { /* all at once, without branches */
            const uint32_t its = splitters_bin(splitters_of(s).tree, a.common, key[i]);
            slot[i] = counts ? its : SORT_BINS - 1;
            splitters_of(s).bin[mine + 32 * i] = (uint8_t)slot[i];
        }
#endif
        if (counts) atomicAdd(&row[slot[i]], 1);
    }
    __syncthreads(); /* all warps have counted */
    uint32_t count = 0;
    if (bin < SORT_BINS) {
        count = rank_column<WARPS>(s.counts, bin);
        if (WITHIN(PAGES))
            resident_publish(a, w, tile, bin, count);
        else
            publish(a, w, tile, bin, count);
    }
    uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) rank_offsets<WARPS>(s.counts, bin, offset);
    __syncthreads(); /* the rows contain the start of each warp's keys of a bin */
    rank_keys<ITEMS>(row + s.zero, slot, ITEMS);
    if (WITHIN(PAGES))
        resident_targets(a, w, s, tile, count, offset);
    else if (bin < SORT_BINS)
        keep_target<PAGES>(a, w, tile, bin, count, offset, s);
    __syncthreads(); /* all warps are done with the counters, and the targets are written */
}

#if VAL_BYTES == 0
/* The counter of a bin: permuted so that multiples of 16, such as the low digits of a ramp, use
 * different banks. */
static __device__ inline uint32_t counter_of(uint32_t bin)
{
    return bin ^ bin >> 5;
}

/* Ranks the tile in the order in which its keys reach the counters.  Only for the first pass of
 * keys without values: there is no order to preserve yet, and an atomic costs a tenth of the
 * ballots. */
template <int FULL, int PAGES>
static __device__ inline void rank_unstable(const struct sort_passes_args &a, const struct sweep &w,
                                            struct pass_shared &s, uint32_t here,
                                            const ukey (&key)[ITEMS], uint32_t (&slot)[ITEMS])
{
    const uint32_t bin = threadIdx.x, tile = s.tile;
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    uint32_t *offsets = s.counts + SORT_BINS;
    const int pass = w.pass;
#if SORT_SPLITS(KEY_BYTES, VAL_BYTES)
    if (SPLIT(PAGES)) /* above the rank: the bin */
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            slot[i] = splitters_bin(splitters_of(s).tree, a.common, key[i]);
            if (exists<FULL>(mine + 32 * i, here))
                slot[i] = slot[i] << 16 | atomicAdd(&s.counts[counter_of(slot[i])], 1);
        }
#endif
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (!SPLIT(PAGES) && exists<FULL>(mine + 32 * i, here))
            slot[i] = atomicAdd(&s.counts[counter_of(digit_of(a.common, key[i], pass))], 1);
    __syncthreads(); /* every key is counted */
    uint32_t count = bin < SORT_BINS ? s.counts[counter_of(bin)] : 0;
    if (bin < SORT_BINS && WITHIN(PAGES))
        resident_publish(a, w, tile, bin, count);
    else if (bin < SORT_BINS)
        publish(a, w, tile, bin, count);
    uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) offsets[counter_of(bin)] = offset;
    __syncthreads(); /* the offsets are written */
    const int again = pass + (int)s.zero;
#if SORT_SPLITS(KEY_BYTES, VAL_BYTES)
    if (SPLIT(PAGES))
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (exists<FULL>(mine + 32 * i, here)) {
                const uint32_t its = slot[i] >> 16;
                slot[i] = (slot[i] & 0xffff) + offsets[counter_of(its)];
                splitters_of(s).sorted[slot[i]] = (uint8_t)its;
            }
#endif
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (!SPLIT(PAGES) && exists<FULL>(mine + 32 * i, here))
            slot[i] += offsets[counter_of(digit_of(a.common, key[i], again))];
    if (WITHIN(PAGES))
        resident_targets(a, w, s, tile, count, offset);
    else if (bin < SORT_BINS)
        keep_target<PAGES>(a, w, tile, bin, count, offset, s);
    __syncthreads(); /* all warps are done with the counters, and the targets are written */
}
#endif

#if VAL_BYTES
template <int FULL, int PAGES>
static __device__ inline void load_values(const struct sort_passes_args &a, const struct sweep &w,
                                          const struct pass_shared &s, uint64_t at, uint32_t here,
                                          uval (&value)[ITEMS])
{
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    const void *from = w.p.source == SORT_IN    ? a.common.values_in
                       : w.p.source == SORT_OUT ? a.common.values_out
                                                : a.common.values_tmp;
#if VAL_BYTES <= 8
    if (w.p.first && a.common.index) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) value[i] = (uval)(at + mine + 32 * i);
        return;
    }
#endif
    const uval *in = warp_source<PAGES, uval>(a, w, s, from, a.pages.values, at, here);
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here)) value[i] = in[32 * i];
}

template <int FULL, int PAGES>
static __device__ inline void
write_values(const struct sort_passes_args &a, const struct sweep &w, struct pass_shared &s,
             bool paged, const struct page_run &run, uint32_t here, const uint32_t (&slot)[ITEMS],
             const uint32_t (&digit)[ITEMS], const uval (&value)[ITEMS])
{
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    uval *out = (uval *)(w.p.target == SORT_OUT ? a.common.values_out : a.common.values_tmp);
    __syncthreads(); /* all threads have read its keys, and the targets of keys */
    if (PAGES == IN_PAGES && paged && threadIdx.x < SORT_BINS)
        run_write<uval>(a, s, run, out, a.pages.values);
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here)) s.values[slot[i]] = value[i];
    __syncthreads(); /* the values are sorted */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        uint32_t rank = threadIdx.x + i * THREADS;
        if (exists<FULL>(rank, here))
            *run_target<PAGES>(a, s, paged, out, a.pages.values, digit[i], rank) = s.values[rank];
    }
}
#endif

#if VALUES_APART
/* Writes keys and values that are sorted. */
template <int FULL, int PLAIN>
static __device__ inline void write_both(const struct sort_passes_args &a, const struct sweep &w,
                                         const struct pass_shared &s, uint32_t here)
{
    ukey *out = (ukey *)keys_of(a.common, w.p.target) + threadIdx.x;
    uval *values_out =
        (uval *)(w.p.target == SORT_OUT ? a.common.values_out : a.common.values_tmp) + threadIdx.x;
    const int pass = w.pass;
    const uint32_t last = w.p.last, skip = last && a.common.discard_keys;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t rank = threadIdx.x + i * THREADS;
        if (!exists<FULL>(rank, here)) break;
        const ukey e = s.keys[rank];
        const uint64_t target = s.target[tile_digit<PLAIN>(a.common, e, pass)] + i * THREADS;
        if (!skip) out[target] = last ? order_decode(a.common.order, e) : e;
        values_out[target] = s.values[rank];
    }
}
#endif

/* Sorts the tile s.tile; the counters and s.zero are clear. */
template <int FULL, int PAGES, int PLAIN>
static __device__ inline void sort_tile(const struct sort_passes_args &a, const struct sweep &w,
                                        struct pass_shared &s, uint64_t at, uint32_t here)
{
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    const bool paged = PAGES == IN_PAGES && pages_used(a, w.p);
    ukey key[ITEMS];
    uint32_t slot[ITEMS];
    load_keys<FULL, PAGES>(a, w, s, at, here, key);
#if VALUES_APART
    uval value[ITEMS];
    load_values<FULL, PAGES>(a, w, s, at, here, value);
#endif
#if VAL_BYTES == 0
    const bool unstable = w.p.first && a.common.unstable && !(w.p.active & SORT_ACTIVE_BALLOTS);
    if (unstable)
        rank_unstable<FULL, PAGES>(a, w, s, here, key, slot);
    else
#else
    const bool unstable = false;
#endif
        rank_stable<FULL, PAGES, PLAIN>(a, w, s, here, key, slot);

#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here)) s.keys[slot[i]] = key[i];
#if SORT_SPLITS(KEY_BYTES, VAL_BYTES)
    if (SPLIT(PAGES) && !unstable)
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (exists<FULL>(mine + 32 * i, here))
                splitters_of(s).sorted[slot[i]] = splitters_of(s).bin[mine + 32 * i];
#endif
    (void)unstable;
    if (!FULL) /* padding that is read below but not used */
        for (uint32_t i = here + threadIdx.x; i < TILE; i += THREADS) s.keys[i] = 0;
#if VALUES_APART
    if (!PAGES) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (exists<FULL>(mine + 32 * i, here)) s.values[slot[i]] = value[i];
        __syncthreads(); /* the tile is sorted, so that a bin is written as one run */
        write_both<FULL, PLAIN>(a, w, s, here);
        return;
    }
#elif VAL_BYTES
    uval value[ITEMS]; /* in registers before the pages are freed, or the bin is overwritten */
    if ((PAGES == IN_PAGES && paged) || WITHIN(PAGES))
        load_values<FULL, PAGES>(a, w, s, at, here, value);
#endif
    struct page_run run = {};
    if (PAGES == IN_PAGES && paged && threadIdx.x < SORT_BINS) run = pages_find(a, w, s, at, here);
    /* The tile is sorted, so that a bin is written as one run, and all its elements are loaded. */
    if (PAGES == IN_PAGES) {
        const int missing = __syncthreads_or((int)(run.parts >> PAGE_MISSING));
        if (paged) pages_end(a, w, s, run, missing, at, here);
    } else {
        __syncthreads();
#if VAL_BYTES
        if (WITHIN(PAGES)) resident_wait_loaded(a, w);
#endif
    }

    ukey *out = (ukey *)keys_of(a.common, w.p.target);
    const int pass = w.pass;
    const uint32_t last = w.p.last, skip = last && a.common.discard_keys;
    uint32_t digit[ITEMS]; /* of the ranks that this thread writes */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        uint32_t rank = threadIdx.x + i * THREADS;
        ukey e = s.keys[rank];
        digit[i] = tile_digit<PLAIN>(a.common, e, pass);
#if SORT_SPLITS(KEY_BYTES, VAL_BYTES)
        if (SPLIT(PAGES) && exists<FULL>(rank, here)) digit[i] = splitters_of(s).sorted[rank];
#endif
        if (exists<FULL>(rank, here) && !skip)
            *run_target<PAGES>(a, s, paged, out, a.pages.keys, digit[i], rank) =
                last ? order_decode(a.common.order, e) : e;
    }
#if VAL_BYTES
    if (!VALUES_APART && !WITHIN(PAGES) && (PAGES != IN_PAGES || !paged))
        load_values<FULL, PAGES>(a, w, s, at, here, value);
    write_values<FULL, PAGES>(a, w, s, paged, run, here, slot, digit, value);
#endif
}

static_assert(sizeof(struct pass_shared) <=
                  (VALUES_APART
                       ? SORT_APART_SHARED_BYTES(THREADS, ITEMS, KEY_BYTES, VAL_BYTES)
                       : SORT_ONESWEEP_SHARED_BYTES(THREADS, ITEMS,
                                                    KEY_BYTES > VAL_BYTES ? KEY_BYTES : VAL_BYTES)),
              "the host gives less shared memory than the kernel uses");

/* Whether the last pass copies instead of sort_finish: out of place, the last pass ends in the
 * output if it is active. */
static __device__ inline bool ends_output(const struct sort_passes_args &a)
{
    return a.common.level == a.common.passes - 1 && a.common.part == 0 && !a.common.in_place;
}

#if SORT_SPLITS(KEY_BYTES, VAL_BYTES)
/* ---- The pass of the first digit, or between splitters ---- */

/* A separate function, so that it takes no registers from other tiles. */
static __device__ __noinline__ void splitters_tile(const struct sort_passes_args &a,
                                                   const struct sweep &w, struct pass_shared &s,
                                                   uint64_t at, uint32_t here)
{
    splitters_load(splitters_of(s).tree, a.pages.splitters->key, a.pages.splitters->count);
    __syncthreads(); /* the splitters are loaded */
    if (VAL_BYTES && here == TILE)
        sort_tile<1, BY_SPLITTERS, 0>(a, w, s, at, TILE);
    else /* keys: also full tiles, so that less code is fetched */
        sort_tile<0, BY_SPLITTERS, 0>(a, w, s, at, here);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep_first(const __grid_constant__ struct sort_passes_args a)
{
    struct pass_shared &s = *(struct pass_shared *)shared_bytes;
    wait_for_earlier();
    if (threadIdx.x == 0) s.tile = atomicAdd(&a.pages.state->tiles_taken[1], 1);
    if (threadIdx.x == 0) s.zero = 0;
    const struct sweep w = { a.state->pass[a.common.level], a.common.level,
                             (uint32_t)a.common.part };
    if (!a.pages.state->buckets) return; /* it is not planned */
    rank_clear(s.counts, WARPS * SORT_BINS);
    __syncthreads(); /* the tile is known and the counters are clear */
    const uint64_t at = (uint64_t)s.tile * TILE;
    const uint32_t here = (uint32_t)min(a.common.n - at, (uint64_t)TILE);
    if (splitters_pass(w.p))
        splitters_tile(a, w, s, at, here);
    else if (here < TILE)
        sort_tile<0, 0, 0>(a, w, s, at, here);
    else if (VAL_BYTES && order_distinct(a.common.order))
        sort_tile<1, 0, 1>(a, w, s, at, TILE);
    else
        sort_tile<1, 0, 0>(a, w, s, at, TILE);
}
#endif

#if KEY_BYTES > 2 || !VAL_BYTES
/* Tiles are numbered in the order in which blocks begin, so that all preceding tiles are in
 * progress. */
template <int PAGES> static __device__ inline void sweep_tile(const struct sort_passes_args &a)
{
    struct pass_shared &s = *(struct pass_shared *)shared_bytes;
    wait_for_earlier();
    if (threadIdx.x == 0)
        s.tile =
            atomicAdd(!PAGES && a.pages.state ? &a.pages.state->tiles_taken[a.common.level != 0]
                                              : &a.state->tiles_taken[a.common.level],
                      1);
    if (threadIdx.x == 0) s.zero = 0;
    if (PAGES && threadIdx.x == 0) s.fresh = 0;
    const struct sweep w = { a.state->pass[a.common.level], a.common.level,
                             (uint32_t)a.common.part };
    if (!w.p.active) {
        if (!PAGES && !a.pages.state && ends_output(a)) copy_to_output(a);
        return;
    }
    if (PAGES ? w.p.active & (SORT_ACTIVE_DIRECT | SORT_ACTIVE_SPLITTERS)
              : a.pages.state && !(w.p.active & SORT_ACTIVE_DIRECT))
        return; /* another kernel does it */
    rank_clear(s.counts, WARPS * SORT_BINS);
    __syncthreads(); /* the tile is known and the counters are clear */
    const uint64_t at = (uint64_t)s.tile * TILE;
    if (a.common.n - at < TILE)
        sort_tile<0, PAGES, 0>(a, w, s, at, (uint32_t)(a.common.n - at));
    else if (VAL_BYTES && !PAGES && order_distinct(a.common.order))
        sort_tile<1, PAGES, 1>(a, w, s, at, TILE);
    else
        sort_tile<1, PAGES, 0>(a, w, s, at, TILE);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep(const __grid_constant__ struct sort_passes_args a)
{
    sweep_tile<0>(a);
}
#endif

#if KEY_BYTES >= 4
/* The same in pages: a separate kernel, because with both ways the compiler spills more. */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep_pages(const __grid_constant__ struct sort_passes_args a)
{
    sweep_tile<1>(a);
}
#endif

#if SORT_RESIDES(KEY_BYTES, VAL_BYTES) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
/* ---- Sorts of bins ---- */

/* A separate function, so that it takes no registers from full tiles. */
static __device__ __noinline__ void resident_part(const struct sort_passes_args &a,
                                                  const struct resident_shared &b,
                                                  struct pass_shared &s)
{
    sort_tile<0, IN_BINS, 0>(a, b.w, s, b.at, b.here);
}

/* A tile of a bin that is divided at splitters. */
static __device__ __noinline__ void resident_split_tile(const struct sort_passes_args &a,
                                                        const struct resident_shared &b,
                                                        struct pass_shared &s)
{
    const ukey *splitters = resident_splitters(a, b.bin);
    splitters_load(splitters_of(s).tree, splitters, (uint32_t)splitters[SORT_SPLITTERS]);
    __syncthreads(); /* the splitters are loaded */
    if (VAL_BYTES && b.here == TILE)
        sort_tile<1, IN_PARTS, 0>(a, b.w, s, b.at, TILE);
    else
        sort_tile<0, IN_PARTS, 0>(a, b.w, s, b.at, b.here);
}

/* Divides leaves that are too large. */
static __device__ __noinline__ void resident_over(const struct sort_passes_args &a,
                                                  struct resident_shared &b, struct pass_shared &s)
{
    const uint32_t split = b.split;
    while (blockIdx.x < SORT_BINS_WORKERS(a.common.n)) {
        __syncthreads(); /* all threads are done with the last one */
        if (threadIdx.x == 0) resident_take_over(a, b, s);
        __syncthreads(); /* the leaf is known */
        if (!b.here) break;
        resident_sample<SAMPLE_FEW>(a, b, s, ALONE_BIN);
        __syncthreads(); /* the splitters are written, and all threads have read the sample */
        rank_clear(s.counts, WARPS * SORT_BINS);
        resident_split_tile(a, b, s);
        __syncthreads(); /* the tile is stored */
        resident_leaves(a, b, s);
    }
    __syncthreads(); /* all threads have read whether there was a leaf */
    if (threadIdx.x == 0) b.split = split;
}

/* The division of all bins, and of leaves that are too large; then all digits of bins that were not
 * divided into leaves.  The blocks are resident together, and take tiles in the order of
 * resident_take(): the tiles for which a tile waits are those of blocks that do not wait for it. */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep_bins(const __grid_constant__ struct sort_passes_args a)
{
    __shared__ struct resident_shared b;
    struct pass_shared &s = *(struct pass_shared *)shared_bytes;
    if (blockIdx.x == 0 && threadIdx.x == 0) a.pages.msd->seen = SORT_SEEN_BOTH; /* not a copy */
    if (!a.pages.state->buckets) return;
    if (threadIdx.x == 0) s.zero = 0;
    resident_begin(a, b, s);
    for (;;) {
        if (threadIdx.x == 0) s.tile = resident_take(a, b);
        rank_clear(s.counts, WARPS * SORT_BINS);
        __syncthreads(); /* the tile is known and the counters are clear */
        if (!b.here) {
            if (!b.divides) return;
            grid_barrier(&a.pages.state->arrived, 2);
            if (load_relaxed(&a.pages.bins->over)) {
                resident_over(a, b, s);
                grid_barrier(&a.pages.state->arrived, 3);
            }
            resident_limit(a);
            if (!resident_again(a, b)) return;
            continue;
        }
        const bool ends = b.divides && s.tile == b.tail;
        if (b.divides && b.split)
            resident_split_tile(a, b, s);
        else if (b.here < (uint32_t)TILE)
            resident_part(a, b, s);
        else
            sort_tile<1, IN_BINS, 0>(a, b.w, s, b.at, TILE);
        __syncthreads(); /* the tile is stored */
        if (ends) {
            resident_leaves(a, b, s);
            __syncthreads(); /* the counters may be cleared */
        }
        if (threadIdx.x == 0) /* see resident_take() */
            add_acq_rel(&a.pages.bins->stored[b.w.p.epoch][b.bin], 1);
    }
}

/* ---- All passes in pages ---- */

/* A tile of a pass, which may be partial: a separate function, so that it takes no registers from
 * full tiles. */
static __device__ __noinline__ void rest_part(const struct sort_passes_args &a,
                                              const struct sweep &w, struct pass_shared &s,
                                              uint64_t at)
{
    sort_tile<0, IN_PAGES, 0>(a, w, s, at, (uint32_t)(a.common.n - at));
}

/* If no bins are planned: like the launches for each pass.  The blocks are resident together, and
 * take tiles in order. */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep_rest(const __grid_constant__ struct sort_passes_args a)
{
    static_assert((int)KEY_BYTES <= (int)WARPS && THREADS >= 32 * SORT_PASSES,
                  "a block counts all digits, and plans all passes");
    __shared__ struct sweep w;
    __shared__ struct passes_plan_shared plan;
    struct pass_shared &s = *(struct pass_shared *)shared_bytes;
    const uint32_t tiles = (uint32_t)((a.common.n + TILE - 1) / TILE);
    uint32_t barriers = 1;
    if (a.pages.state->buckets) return;
    count_digits(a, (uint32_t(*)[SORT_BINS])s.counts);
    if (count_ends(a, plan)) {
        plan_digits(a, plan);
        if (threadIdx.x == 0) a.counts->finished = 0;
    }
    grid_barrier(&a.pages.state->arrived, barriers);
    for (int pass = 0; pass < a.common.passes; pass++) {
        if (!a.state->pass[pass].active) continue;
        __syncthreads(); /* all threads are done with the last pass */
        if (threadIdx.x == 0) w = { a.state->pass[pass], pass, 0 };
        __syncthreads(); /* the pass is known */
        if (pages_used(a, w.p)) pages_begin(a, w.p, pass, *(struct pages_begin_shared *)&s);
        if (blockIdx.x == 0 && threadIdx.x == 0) a.state->tiles_taken[pass] = 0;
        grid_barrier(&a.pages.state->arrived, ++barriers);
        for (;;) {
            if (threadIdx.x == 0) {
                s.tile = atomicAdd(&a.state->tiles_taken[pass], 1);
                s.zero = s.fresh = 0;
            }
            rank_clear(s.counts, WARPS * SORT_BINS);
            __syncthreads(); /* the tile is known and the counters are clear */
            const uint64_t at = (uint64_t)s.tile * TILE;
            if (s.tile >= tiles) break;
            if (a.common.n - at < TILE)
                rest_part(a, w, s, at);
            else
                sort_tile<1, IN_PAGES, 0>(a, w, s, at, TILE);
            __syncthreads(); /* the tile is stored */
        }
        grid_barrier(&a.pages.state->arrived, ++barriers);
    }
    pages_place(a);
    copy_to_output(a);
}
#endif

#endif
