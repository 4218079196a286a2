/*
 * sort/cuda/pages.cuh - passes of an LSD radix sort within one array and a small pool of pages.
 *
 *     elements    |  0  |  1  |  2  |  3  |  4  |  5  |     in the order of the pass
 *     table       |  4  |  0  |  7  |  2  |  1  |  6  |
 *     memory      |  1  |  4  |  3  |     |  0  |     |  5  |  2  |
 *                 |           slots of the array      |   pool    |
 *
 * A page has the elements that one warp loads.  A block that has loaded its tile writes the runs of
 * the tile to the tile's pages, and, if these do not suffice, to pages of a queue.  If it needs
 * fewer pages, it adds the others to the queue.  So a pass needs only as many pages as may be
 * partly filled at a time: SORT_PAGES_LEAST.  Each pass reads the elements in the order of the
 * table that the previous one wrote.
 *
 *     sort_pages_begin   clears a pass's table; gives pages to the starts of its bins
 *     sort_pages_place   after the last pass: moves every page to its slot
 *
 * A block waits for the queue only if it has nothing to add to it; a block that has adds it without
 * waiting for pages.  A block waits for an entry of the table, which the block of a preceding tile
 * writes, after it has written its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_PAGES_CUH
#define ECHI_SORT_CUDA_PAGES_CUH

#include "cuda/device/ptx.cuh"
#include "sort/cuda/passes.h"

/* Whether a pass writes to pages.  Out of place, the first one writes to the output directly. */
static __device__ inline bool pages_used(const struct sort_passes_args &a,
                                         const struct sort_pass &p)
{
    return a.pages.state && p.active && (a.common.in_place || !p.first);
}

/* Whether it reads from pages in the order of a table; otherwise element i is at position i. */
static __device__ inline bool pages_mapped(const struct sort_passes_args &a,
                                           const struct sort_pass &p)
{
    return a.pages.state && p.epoch > (a.common.in_place ? 0u : 1u);
}

/* The number of pages with elements. */
static __device__ inline uint32_t pages_count(const struct sort_passes_args &a)
{
    return a.pages.slots + ((uint64_t)a.pages.slots * a.pages.each < a.common.n);
}

#endif
