/*
 * sort/cuda/page_runs.cuh - where the runs of a tile are stored if a pass writes to pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_PAGE_RUNS_CUH
#define ECHI_SORT_CUDA_PAGE_RUNS_CUH

#include "sort/cuda/sweep.cuh"

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
