/*
 * sort/cuda/pages.cuh - passes of an LSD radix sort within one array and a small pool of pages.
 *
 *     elements    |  0  |  1  |  2  |  3  |  4  |  5  |     in the order of the pass
 *     table       |  4  |  0  |  7  |  2  |  1  |  6  |
 *     memory      |  1  |  4  |  3  |     |  0  |     |  5  |  2  |
 *                 |           slots of the array      |   pool    |
 *
 * A page has the elements that one warp loads.  A block that has loaded its tile adds the tile's
 * pages to a queue of free pages, and then takes pages from the queue for the runs that it writes.
 * So a pass needs only as many pages as may be partly filled at a time: SORT_PAGES_LEAST.  Each
 * pass reads the elements in the order of the table that the previous one wrote.
 *
 *     sort_pages_begin   clears a pass's table; gives pages to the starts of its bins
 *     sort_pages_place   after the last pass: moves every page to its slot
 *
 * A block waits for a page only if the blocks of preceding tiles will free it: a block frees its
 * pages before it waits for one.
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
