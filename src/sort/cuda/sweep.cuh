/*
 * sort/cuda/sweep.cuh - what a pass of onesweep.cuh is made of: the look-back, the tile's shared
 * memory, its loads, and where its runs are stored.
 *
 * PAGES: runs may be stored in pages (pages.cuh), or bins are between splitters (splitters.cuh).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SWEEP_CUH
#define ECHI_SORT_CUDA_SWEEP_CUH

#include "sort/cuda/pages.cuh"
#include "sort/cuda/splitters.cuh"

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

enum { IN_PAGES = 1, BY_SPLITTERS }; /* of PAGES, which is 0 otherwise */

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
    if (PAGES == IN_PAGES && pages_mapped(a, w.p) && warp * PAGE < here)
        return page_start<const type>(a.pages, array, pool, s.source[warp]) + lane_id();
    return (const type *)array + at + warp * PAGE + lane_id();
}

/* Loads the tile in the order of cuda/device/block_rank.cuh. */
template <int FULL, int PAGES>
static __device__ inline void load_keys(const struct sort_passes_args &a, const struct sweep &w,
                                        struct pass_shared &s, uint64_t at, uint32_t here,
                                        ukey (&key)[ITEMS])
{
    if (PAGES == IN_PAGES && pages_used(a, w.p)) find_source(a, w, s, at, here);
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
    if (PAGES != IN_PAGES || !paged) return out + target + rank;
    const uint32_t split = target & 0xffff;
    if (rank < split) return (type *)(uintptr_t)(target >> 16) + rank;
    const uint32_t i = (rank - split) / PAGE;
    return page_start<type>(a.pages, out, pool, s.list[s.begin[bin] + i]) +
           (rank - split - i * PAGE);
}

#endif
