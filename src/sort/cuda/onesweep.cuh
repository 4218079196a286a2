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
 * PAGES is 1 if runs may be stored in pages (pages.cuh): in sort_onesweep_pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_ONESWEEP_CUH
#define ECHI_SORT_CUDA_ONESWEEP_CUH

#include "sort/cuda/common.cuh"
#include "sort/cuda/pages.cuh"
#include "sort/cuda/passes.cuh"

/* The number of keys of the bin in the preceding tiles (exclusive prefix). status is this tile's
 * descriptor for the bin; those of preceding tiles are at decreasing addresses, SORT_BINS apart;
 * the portion's first tile has state_all. */
static __device__ inline uint32_t look_back(const uint32_t *status, uint32_t epoch)
{
    const uint32_t own = state_own(epoch), all = state_all(epoch);
    uint32_t count = 0;
    for (;;) {
        status -= SORT_BINS;
        uint32_t word, state;
        do { /* until the block of that tile, which began earlier, has counted */
            word = load_relaxed(status);
            state = word & ~COUNT_MASK;
        } while (state != own && state != all);
        count += word & COUNT_MASK;
        if (state == all) return count;
    }
}

/* The pass, and the portion of its tiles: the tiles of one launch, or those that persistent blocks
 * process between two grid barriers (lsd.cuh). */
struct sweep {
    struct sort_pass p;
    int pass;
    uint32_t portion;
};

enum {
    PAGE = 32 * ITEMS, /* elements */
    PAGE_MISSING = 31  /* bit of page_run.parts: a page of another tile was not in the table yet */
};
static_assert(TILE + PAGE < 1 << 14 && TILE / PAGE + 2 < 1 << 5, "parts of a run share a word");

struct pass_shared {
    union {
        uint32_t counts[WARPS * SORT_BINS]; /* during ranking */
        ukey keys[TILE];                    /* then the tile by rank */
#if VAL_BYTES
        uval values[TILE];
#endif
    };
    uint64_t target[SORT_BINS];       /* a key of this bin and rank r goes to target + r; in pages:
                                         run_target() */
    uint32_t list[SORT_BINS + WARPS]; /* in pages, the pages of each run, except its first one */
    uint16_t begin[SORT_BINS];        /* where those of a bin begin in the list */
    uint32_t sums[SORT_BINS / 32];
    uint32_t tile;
    uint32_t fresh;         /* pages to which the tile is the first to write */
    uint32_t source[WARPS]; /* the pages that the tile is loaded from */
    uint32_t zero; /* zero, but unknown to the compiler: a sum with it is recomputed after a barrier
                      instead of being kept in registers */
};

/* A full tile needs no bounds checks; FULL is 1 for all tiles but the last. */
template <int FULL> static __device__ inline bool exists(uint32_t i, uint32_t here)
{
    return FULL || i < here;
}

/* The first element of a page. */
template <typename type>
static __device__ inline type *page_start(const struct sort_pages_args &p, const void *array,
                                          const void *pool, uint32_t page)
{
    return (type *)(page < p.slots ? array : pool) +
           (uint64_t)(page < p.slots ? page : page - p.slots) * PAGE;
}

/* Finds the page that each warp loads. */
static __device__ inline void find_source(const struct sort_passes_args &a, const struct sweep &w,
                                          struct pass_shared &s, uint64_t at, uint32_t here)
{
    const uint32_t warp = threadIdx.x / 32;
    const uint64_t number = at / PAGE + warp;
    if (lane_id() == 0 && warp * PAGE < here)
        s.source[warp] =
            pages_mapped(a, w.p) ? a.pages.table[~w.p.epoch & 1][number] : (uint32_t)number;
    __syncwarp(); /* the warp's page is known */
}

/* The first element of the tile at `at` that a thread loads; the others are 32 apart. */
template <int PAGES, typename type>
static __device__ inline const type *
warp_source(const struct sort_passes_args &a, const struct sweep &w, const struct pass_shared &s,
            const void *array, const void *pool, uint64_t at, uint32_t here)
{
    const uint32_t warp = threadIdx.x / 32;
    if (PAGES && pages_mapped(a, w.p) && warp * PAGE < here)
        return page_start<const type>(a.pages, array, pool, s.source[warp]) + lane_id();
    return (const type *)array + at + warp * PAGE + lane_id();
}

/* Loads the tile in the order of cuda/device/block_rank.cuh. */
template <int FULL, int PAGES>
static __device__ inline void load_keys(const struct sort_passes_args &a, const struct sweep &w,
                                        struct pass_shared &s, uint64_t at, uint32_t here,
                                        ukey (&key)[ITEMS])
{
    if (PAGES && pages_used(a, w.p)) find_source(a, w, s, at, here);
    const ukey *in =
        warp_source<PAGES, ukey>(a, w, s, keys_of(a.common, w.p.source), a.pages.keys, at, here);
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        key[i] = exists<FULL>(mine + 32 * i, here) ? in[32 * i] : (ukey)0;
    if (w.p.first)
#pragma unroll
        for (int i = 0; i < ITEMS; i++) key[i] = order_encode(a.common.order, key[i]);
}

/* ---- Pages ---- */

/* Where a run of the tile is stored: on `pages` pages.  The tile is the first one to write to pages
 * [fresh, end) of them, which are all of them, or all but the first, the last, or both. */
struct page_run {
    uint32_t first;      /* page, in the table */
    uint32_t parts;      /* TILE + the position of rank 0 relative to the first page: 14 bits; pages
                            and end: 5 bits; fresh: 1 bit; PAGE_MISSING */
    uint32_t first_page; /* in memory */
};

static __device__ inline uint32_t run_pages(const struct page_run &r)
{
    return r.parts >> 14 & 31;
}

static __device__ inline uint32_t run_end(const struct page_run &r)
{
    return r.parts >> 19 & 31;
}

static __device__ inline uint32_t run_fresh(const struct page_run &r)
{
    return r.parts >> 24 & 1;
}

/* Keeps a bin's run for pages_find(). */
static __device__ inline void page_keep(const struct sort_passes_args &a, struct pass_shared &s,
                                        uint32_t bin, uint32_t count, uint32_t offset,
                                        uint64_t position)
{
    const uint64_t begin = a.pages.state->start[bin], stop = a.pages.state->start[bin + 1];
    const uint32_t first = (uint32_t)(position / PAGE);
    const uint32_t skip = (uint32_t)(position - (uint64_t)first * PAGE);
    uint32_t pages = 0, end = 0, fresh = 0;
    if (count) {
        pages = end = (skip + count - 1) / PAGE + 1;
        fresh = skip || position == begin;
        if (stop < a.common.n && stop < (uint64_t)(first + end) * PAGE) end--;
        if (end < fresh) end = fresh;
    }
    s.begin[bin] = (uint16_t)(bin + offset / PAGE);
    s.target[bin] =
        (uint64_t)first << 32 | fresh << 24 | end << 19 | pages << 14 | (TILE + skip - offset);
}

/* The number of pages that the tile is loaded from and that may be written to.  The partial slot at
 * the end of the array is not used. */
static __device__ inline uint32_t page_sources(const struct sort_passes_args &a,
                                               const struct sweep &w, uint64_t at, uint32_t here)
{
    const uint32_t pages = (here + PAGE - 1) / PAGE;
    return pages_mapped(a, w.p) ? pages : (uint32_t)min((uint64_t)pages, a.pages.slots - at / PAGE);
}

/* Waits until an entry of a table or of a queue is written. */
static __device__ inline uint32_t page_wait(const uint32_t *entry)
{
    while (load_relaxed(entry) == SORT_NO_PAGE) continue;
    return load_target(entry);
}

/* Page i of a run. */
static __device__ inline uint32_t &run_page(struct pass_shared &s, struct page_run &r, uint32_t i)
{
    return i ? s.list[s.begin[threadIdx.x] + i - 1] : r.first_page;
}

/* Publishes the pages to which the tile is the first to write, for the blocks that continue the
 * run, which may write to them at once. */
static __device__ inline void pages_publish(const struct sort_passes_args &a, const struct sweep &w,
                                            struct pass_shared &s, struct page_run &r)
{
    uint32_t *table = a.pages.table[w.p.epoch & 1] + r.first;
    for (uint32_t i = run_fresh(r); i < run_end(r); i++) {
        const uint32_t page = run_page(s, r, i);
        if (VAL_BYTES)
            store_release(table + i, page);
        else
            store_after_loads(table + i, page);
        if (w.p.last) a.pages.owner[page] = r.first + i + 1;
    }
}

/* Writes the target of a bin for an array whose first page is known: see run_target(). */
template <typename type>
static __device__ inline void run_write(const struct sort_passes_args &a, struct pass_shared &s,
                                        const struct page_run &r, const void *array,
                                        const void *pool)
{
    const int64_t position = (int64_t)(r.parts & 0x3fff) - TILE;
    const uint64_t address =
        (uint64_t)(uintptr_t)page_start<type>(a.pages, array, pool, r.first_page) +
        (uint64_t)(position * (int64_t)sizeof(type));
    s.target[threadIdx.x] =
        address << 16 | (run_pages(r) > 1 ? (uint32_t)(PAGE - position) : 0xffffu);
}

/* Finds the pages of a bin's run.  Those to which the tile is the first to write are those that it
 * is loaded from, then those of the queue. */
static __device__ inline struct page_run pages_find(const struct sort_passes_args &a,
                                                    const struct sweep &w, struct pass_shared &s,
                                                    uint64_t at, uint32_t here)
{
    const uint32_t to = w.p.epoch & 1;
    const uint64_t kept = s.target[threadIdx.x];
    struct page_run r = { (uint32_t)(kept >> 32), (uint32_t)kept, 0 };
    const uint32_t *table = a.pages.table[to] + r.first;
    const uint32_t fresh = run_fresh(r), end = run_end(r);
    if (fresh < end) {
        const uint32_t sources = page_sources(a, w, at, here);
        uint32_t next = atomicAdd(&s.fresh, end - fresh);
        for (uint32_t i = fresh; i < end; i++, next++)
            run_page(s, r, i) =
                next < sources
                    ? s.source[next]
                    : page_wait(a.pages.queue[to] + atomicAdd(&a.pages.state->taken[to], 1));
    }
#if !VAL_BYTES
    pages_publish(a, w, s, r); /* all keys have been counted, so they are loaded */
#endif
    bool missing = false;
    if (fresh) missing = (r.first_page = load_target(table)) == SORT_NO_PAGE;
    if (end < run_pages(r))
        missing |= (run_page(s, r, end) = load_target(table + end)) == SORT_NO_PAGE;
    r.parts |= (uint32_t)missing << PAGE_MISSING;
    run_write<ukey>(a, s, r, keys_of(a.common, w.p.target), a.pages.keys);
    return r;
}

/* Adds the pages that the tile was loaded from, and does not write to, to the queue: one warp. */
static __device__ inline void pages_free(const struct sort_passes_args &a, const struct sweep &w,
                                         const struct pass_shared &s, uint64_t at, uint32_t here)
{
    const uint32_t sources = page_sources(a, w, at, here), to = w.p.epoch & 1;
    if (s.fresh >= sources) return;
    uint32_t freed = 0;
    if (lane_id() == 0) freed = atomicAdd(&a.pages.state->freed[to], sources - s.fresh);
    freed = __shfl_sync(WARP_ALL, freed, 0);
    if (lane_id() < sources - s.fresh)
        store_release(a.pages.queue[to] + freed + lane_id(), s.source[s.fresh + lane_id()]);
}

/* After the tile's elements have all been loaded: publishes its pages, frees those to which it does
 * not write, and then waits for pages of other blocks that are missing.  In this order, no block
 * waits for a block that waits. */
static __device__ inline void pages_end(const struct sort_passes_args &a, const struct sweep &w,
                                        struct pass_shared &s, struct page_run &r, int missing,
                                        uint64_t at, uint32_t here)
{
#if VAL_BYTES
    if (threadIdx.x < SORT_BINS) pages_publish(a, w, s, r);
#endif
    if (threadIdx.x / 32 == SORT_BINS / 32) pages_free(a, w, s, at, here);
    if (!missing) return;
    __syncwarp(); /* all of the warp's pages are published before it waits */
    if (r.parts >> PAGE_MISSING) {
        const uint32_t *table = a.pages.table[w.p.epoch & 1] + r.first;
        const uint32_t end = run_end(r);
        if (run_fresh(r)) r.first_page = page_wait(table);
        if (end < run_pages(r)) run_page(s, r, end) = page_wait(table + end);
        run_write<ukey>(a, s, r, keys_of(a.common, w.p.target), a.pages.keys);
    }
    __syncthreads(); /* the list is complete */
}

/* Where the element of a bin with a rank is stored.  In pages, a target is the address of rank 0,
 * whose bits above 48 are not used, above the first rank that is not on the run's first page. */
template <int PAGES, typename type>
static __device__ inline type *run_target(const struct sort_passes_args &a,
                                          const struct pass_shared &s, bool paged, type *out,
                                          const void *pool, uint32_t bin, uint32_t rank)
{
    const uint64_t target = s.target[bin];
    if (!PAGES || !paged) return out + target + rank;
    const uint32_t split = target & 0xffff;
    if (rank < split) return (type *)(uintptr_t)(target >> 16) + rank;
    const uint32_t i = (rank - split) / PAGE;
    return page_start<type>(a.pages, out, pool, s.list[s.begin[bin] + i]) +
           (rank - split - i * PAGE);
}

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

/* Finds the exclusive prefix of a bin and publishes the inclusive one. */
template <int PAGES>
static __device__ inline void place_bin(const struct sort_passes_args &a, const struct sweep &w,
                                        uint32_t tile, uint32_t bin, uint32_t count,
                                        uint32_t offset, struct pass_shared &s)
{
    const uint32_t tiles = SORT_PORTION / TILE, tile_in_portion = tile - w.portion * tiles;
    uint32_t *status = a.status + (uint64_t)tile * SORT_BINS + bin;
    uint32_t before = tile_in_portion ? look_back(status, w.p.epoch) : 0;
    if (tile_in_portion) store_relaxed(status, state_all(w.p.epoch) | (before + count));
    uint64_t base = a.state->base[w.pass][w.portion & 1][bin];
    if (tile_in_portion == tiles - 1)
        a.state->base[w.pass][~w.portion & 1][bin] = base + before + count;
    if (PAGES && pages_used(a, w.p))
        page_keep(a, s, bin, count, offset, base + before);
    else
        s.target[bin] = base + before - offset;
}

/* Ranks the tile stably and places its bins; slot[i] becomes the rank of key[i]. */
template <int FULL, int PAGES>
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
        slot[i] =
            counts ? digit_of(a.common, key[i], pass) : SORT_BINS - 1; /* past the end: last */
        if (counts) atomicAdd(&row[slot[i]], 1);
    }
    __syncthreads(); /* all warps have counted */
    uint32_t count = 0;
    if (bin < SORT_BINS) {
        count = rank_column<WARPS>(s.counts, bin);
        publish(a, w, tile, bin, count);
    }
    uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) rank_offsets<WARPS>(s.counts, bin, offset);
    __syncthreads(); /* the rows contain the start of each warp's keys of a bin */
    rank_keys<ITEMS>(row + s.zero, slot, ITEMS);
    if (bin < SORT_BINS) place_bin<PAGES>(a, w, tile, bin, count, offset, s);
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
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here))
            slot[i] = atomicAdd(&s.counts[counter_of(digit_of(a.common, key[i], pass))], 1);
    __syncthreads(); /* every key is counted */
    uint32_t count = bin < SORT_BINS ? s.counts[counter_of(bin)] : 0;
    if (bin < SORT_BINS) publish(a, w, tile, bin, count);
    uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) offsets[counter_of(bin)] = offset;
    __syncthreads(); /* the offsets are written */
    const int again = pass + (int)s.zero;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here))
            slot[i] += offsets[counter_of(digit_of(a.common, key[i], again))];
    if (bin < SORT_BINS) place_bin<PAGES>(a, w, tile, bin, count, offset, s);
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
    if (PAGES && paged && threadIdx.x < SORT_BINS) run_write<uval>(a, s, run, out, a.pages.values);
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

/* Sorts the tile s.tile; the counters and s.zero are clear. */
template <int FULL, int PAGES>
static __device__ inline void sort_tile(const struct sort_passes_args &a, const struct sweep &w,
                                        struct pass_shared &s, uint64_t at, uint32_t here)
{
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    const bool paged = PAGES && pages_used(a, w.p);
    ukey key[ITEMS];
    uint32_t slot[ITEMS];
    load_keys<FULL, PAGES>(a, w, s, at, here, key);
#if VAL_BYTES == 0
    if (w.p.first && a.common.unstable)
        rank_unstable<FULL, PAGES>(a, w, s, here, key, slot);
    else
#endif
        rank_stable<FULL, PAGES>(a, w, s, here, key, slot);

#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here)) s.keys[slot[i]] = key[i];
    if (!FULL) /* padding that is read below but not used */
        for (uint32_t i = here + threadIdx.x; i < TILE; i += THREADS) s.keys[i] = 0;
#if VAL_BYTES
    uval value[ITEMS]; /* in registers before the pages are freed */
    if (PAGES && paged) load_values<FULL, PAGES>(a, w, s, at, here, value);
#endif
    struct page_run run = {};
    if (PAGES && paged && threadIdx.x < SORT_BINS) run = pages_find(a, w, s, at, here);
    /* The tile is sorted, so that a bin is written as one run, and all its elements are loaded. */
    if (PAGES) {
        const int missing = __syncthreads_or((int)(run.parts >> PAGE_MISSING));
        if (paged) pages_end(a, w, s, run, missing, at, here);
    } else {
        __syncthreads();
    }

    ukey *out = (ukey *)keys_of(a.common, w.p.target);
    const int pass = w.pass;
    const uint32_t last = w.p.last, skip = last && a.common.discard_keys;
    uint32_t digit[ITEMS]; /* of the ranks that this thread writes */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        uint32_t rank = threadIdx.x + i * THREADS;
        ukey e = s.keys[rank];
        digit[i] = digit_of(a.common, e, pass);
        if (exists<FULL>(rank, here) && !skip)
            *run_target<PAGES>(a, s, paged, out, a.pages.keys, digit[i], rank) =
                last ? order_decode(a.common.order, e) : e;
    }
#if VAL_BYTES
    if (!PAGES || !paged) load_values<FULL, PAGES>(a, w, s, at, here, value);
    write_values<FULL, PAGES>(a, w, s, paged, run, here, slot, digit, value);
#endif
}

static_assert(sizeof(struct pass_shared) <=
                  SORT_ONESWEEP_SHARED_BYTES(THREADS, ITEMS,
                                             KEY_BYTES > VAL_BYTES ? KEY_BYTES : VAL_BYTES),
              "the host gives less shared memory than the kernel uses");

/* Whether the last pass copies instead of sort_finish: out of place, the last pass ends in the
 * output if it is active. */
static __device__ inline bool ends_output(const struct sort_passes_args &a)
{
    return a.common.level == a.common.passes - 1 && a.common.part == 0 && !a.common.in_place;
}

/* Tiles are numbered in the order in which blocks begin, so that all preceding tiles are in
 * progress. */
template <int PAGES> static __device__ inline void sweep_tile(const struct sort_passes_args &a)
{
    struct pass_shared &s = *(struct pass_shared *)shared_bytes;
    wait_for_earlier();
    if (threadIdx.x == 0) s.tile = atomicAdd(&a.state->tiles_taken[a.common.level], 1);
    if (threadIdx.x == 0) s.zero = 0;
    if (PAGES && threadIdx.x == 0) s.fresh = 0;
    const struct sweep w = { a.state->pass[a.common.level], a.common.level,
                             (uint32_t)a.common.part };
    if (!w.p.active) {
        if (!PAGES && ends_output(a)) copy_to_output(a);
        return;
    }
    rank_clear(s.counts, WARPS * SORT_BINS);
    __syncthreads(); /* the tile is known and the counters are clear */
    const uint64_t at = (uint64_t)s.tile * TILE;
    if (a.common.n - at >= TILE)
        sort_tile<1, PAGES>(a, w, s, at, TILE);
    else
        sort_tile<0, PAGES>(a, w, s, at, (uint32_t)(a.common.n - at));
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep(const __grid_constant__ struct sort_passes_args a)
{
    sweep_tile<0>(a);
}

#if KEY_BYTES >= 4
/* The same in pages: a separate kernel, because with both ways the compiler spills more. */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep_pages(const __grid_constant__ struct sort_passes_args a)
{
    sweep_tile<1>(a);
}
#endif

#endif
