/*
 * sort/cuda/pages_steps.cuh - what is done before and after passes in pages (pages.cuh).
 *
 *     pages_begin   before a pass: clears its table; gives pages to the starts of its bins
 *     pages_place   after the last pass: moves every page to its slot
 *
 * Pages are moved along chains.  A warp holds a free page:
 *
 *     a slot of the array     it moves the elements that belong there to it, and then holds the
 *                             page where they were
 *     a page of the pool      it moves the elements of the next slot with wrong ones to it, and
 *                             then holds that slot; if there is none, the chain ends
 *
 *         slot 3 is free:  5 -> 3,  9 -> 5,  pool -> 9,  then the pool's page is held
 *
 * So nearly all elements move once.  A warp claims elements by clearing the owner of their page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_PAGES_STEPS_CUH
#define ECHI_SORT_CUDA_PAGES_STEPS_CUH

#include "cuda/device/block_rank.cuh"
#include "sort/cuda/pages.cuh"

/* ---- Before a pass ---- */

/* The free pages before the pass. */
struct pages_left {
    const uint32_t *queue; /* NULL: all of the pool */
    uint32_t taken, count;
};

static __device__ inline struct pages_left pages_left_of(const struct sort_passes_args &a,
                                                         const struct sort_pass &p)
{
    const uint32_t from = ~p.epoch & 1;
    struct pages_left left = { NULL, 0, a.pages.pool };
    if (!pages_mapped(a, p)) return left;
    left.queue = a.pages.queue[from];
    left.taken = a.pages.state->taken[from];
    left.count = a.pages.state->freed[from] - left.taken;
    return left;
}

static __device__ inline uint32_t pages_left_at(const struct sort_passes_args &a,
                                                const struct pages_left &left, uint32_t i)
{
    return left.queue ? left.queue[left.taken + i] : a.pages.slots + i;
}

/* What pages_begin() uses of the block's shared memory. */
struct pages_begin_shared {
    uint64_t starts[SORT_BINS];
    uint32_t sums[SORT_BINS / 32];
};

/* Before a pass that writes to pages; a block has at least SORT_BINS threads. */
static __device__ inline void pages_begin(const struct sort_passes_args &a,
                                          const struct sort_pass &p, int level,
                                          struct pages_begin_shared &s)
{
    const uint32_t bin = threadIdx.x, to = p.epoch & 1, count = pages_count(a);
    const uint64_t start = bin < SORT_BINS ? a.state->base[level][0][bin] : a.common.n;
    const uint64_t page = start / a.pages.each;
    const struct pages_left left = pages_left_of(a, p);
    const uint32_t each = (count + gridDim.x - 1) / gridDim.x;
    const uint32_t first = min(count, blockIdx.x * each), last = min(count, first + each);
    if (bin < SORT_BINS) s.starts[bin] = start;
    for (uint32_t i = first + bin; i < last; i += blockDim.x) a.pages.table[to][i] = SORT_NO_PAGE;
    __syncthreads(); /* the starts are written, and the block's part of the table is clear */
    const bool begins =
        start < a.common.n && (bin == 0 || s.starts[bin - 1] / a.pages.each != page);
    const uint32_t before = bins_scan(begins, s.sums);
    const uint32_t given = (uint32_t)__syncthreads_count(begins), free = left.count - given;
    if (begins && page >= first && page < last) {
        const uint32_t at = pages_left_at(a, left, before);
        a.pages.table[to][page] = at;
        if (p.last) a.pages.owner[at] = (uint32_t)page + 1;
    }
    for (uint32_t i = blockIdx.x * blockDim.x + bin; i < count + a.pages.pool;
         i += gridDim.x * blockDim.x)
        a.pages.queue[to][i] = i < free ? pages_left_at(a, left, given + i) : SORT_NO_PAGE;
    if (blockIdx.x != 0 || bin >= SORT_BINS) return;
    a.pages.state->start[bin] = start;
    if (bin != 0) return;
    a.pages.state->start[SORT_BINS] = a.common.n;
    a.pages.state->taken[to] = 0;
    a.pages.state->freed[to] = free;
}

/* ---- After the last pass ---- */

/* The warp copies `bytes`, a multiple of the size of unit. */
template <typename unit>
static __device__ inline void pages_copy_units(void *to, const void *from, uint32_t bytes)
{
    enum { LOADS = 6 };
    const uint32_t count = bytes / (uint32_t)sizeof(unit);
    const unit *in = (const unit *)from;
    unit *out = (unit *)to;
    for (uint32_t i = lane_id(); i < count; i += LOADS * 32) {
        unit load[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * 32 < count) load[j] = in[i + j * 32];
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * 32 < count) out[i + j * 32] = load[j];
    }
}

static __device__ inline void pages_copy(char *to, const char *from, uint32_t bytes)
{
    const uintptr_t bits = (uintptr_t)to | (uintptr_t)from | bytes;
    if (bits % 16 == 0)
        pages_copy_units<uint4>(to, from, bytes);
    else if (bits % 4 == 0)
        pages_copy_units<uint32_t>(to, from, bytes);
    else
        pages_copy_units<uint8_t>(to, from, bytes);
}

/* The warp moves what one array has on a page, elements of `bytes` bytes. */
static __device__ inline void pages_move_array(const struct sort_passes_args &a, void *array,
                                               void *pool, uint32_t bytes, uint32_t to,
                                               uint32_t from)
{
    const uint32_t slots = a.pages.slots, page = a.pages.each * bytes;
    const bool tail = to == SORT_NO_PAGE;
    char *target = tail || to < slots ? (char *)array : (char *)pool;
    const char *source = from < slots ? (char *)array : (char *)pool;
    target += (uint64_t)(tail ? slots : to < slots ? to : to - slots) * page;
    source += (uint64_t)(from < slots ? from : from - slots) * page;
    pages_copy(target, source,
               tail ? (uint32_t)(a.common.n - (uint64_t)slots * a.pages.each) * bytes : page);
}

/* The warp moves elements between two pages; the partial slot at the end of the array is page
 * SORT_NO_PAGE. */
static __device__ inline void pages_move(const struct sort_passes_args &a, uint32_t to,
                                         uint32_t from)
{
    const struct sort_pages_args &p = a.pages;
    if (p.key_bytes) pages_move_array(a, a.common.keys_out, p.keys, p.key_bytes, to, from);
    if (p.value_bytes) pages_move_array(a, a.common.values_out, p.values, p.value_bytes, to, from);
}

/* Claims elements by clearing the owner of their page, whose number they are. */
static __device__ inline bool pages_claim(const struct sort_passes_args &a, uint32_t page,
                                          uint32_t number)
{
    return atomicCAS(a.pages.owner + page, number + 1, 0) == number + 1;
}

/* Claims the elements that move to a free page: returns their number, and the page where they are;
 * or SORT_NO_PAGE if there are none.  from: where the elements of a slot probably are.  One
 * thread. */
static __device__ inline uint32_t pages_next(const struct sort_passes_args &a,
                                             const uint32_t *table, uint32_t to, uint32_t *from)
{
    const uint32_t slots = a.pages.slots;
    if (to == SORT_NO_PAGE || to < slots) {
        const uint32_t number = to == SORT_NO_PAGE ? slots : to;
        while (!pages_claim(a, *from, number)) /* until a warp that moves them is done */
            *from = load_relaxed(table + number);
        return number;
    }
    for (;;) {
        const uint32_t slot = atomicAdd(&a.pages.state->next, 1);
        if (slot >= slots) return SORT_NO_PAGE;
        const uint32_t owner = load_relaxed(a.pages.owner + slot);
        if (owner == 0 || owner == slot + 1 || !pages_claim(a, slot, owner - 1)) continue;
        *from = slot;
        return owner - 1;
    }
}

/* The warp moves elements along a chain, beginning with this free page.  Only elements that it
 * moves to the pool are claimed again: a slot keeps its elements, and has no owner from then on. */
static __device__ inline void pages_chain(const struct sort_passes_args &a, uint32_t *table,
                                          uint32_t to)
{
    const uint32_t slots = a.pages.slots;
    uint32_t next = lane_id() == 0 && (to == SORT_NO_PAGE || to < slots)
                        ? load_relaxed(table + min(to, slots))
                        : 0;
    for (;;) {
        uint32_t from = next, number = 0;
        if (lane_id() == 0) number = pages_next(a, table, to, &from);
        number = __shfl_sync(WARP_ALL, number, 0);
        from = __shfl_sync(WARP_ALL, from, 0);
        if (number == SORT_NO_PAGE) return;
        if (from >= slots) __threadfence(); /* acquire: a warp may have moved them to the pool */
        __syncwarp();                       /* the warp may read the elements */
        if (lane_id() == 0 && from < slots) next = load_relaxed(table + from);
        pages_move(a, to, from);
        __syncwarp(); /* the elements are moved */
        if (lane_id() == 0 && to != SORT_NO_PAGE && to >= slots) {
            store_release(table + number, to);
            store_release(a.pages.owner + to, number + 1); /* other warps may claim them */
        }
        to = from;
    }
}

static __device__ inline void pages_place(const struct sort_passes_args &a)
{
    int pass = 0;
    while (pass < a.common.passes && !(a.state->pass[pass].active && a.state->pass[pass].last))
        pass++;
    if (pass == a.common.passes || !pages_used(a, a.state->pass[pass])) return;
    const uint32_t to = a.state->pass[pass].epoch & 1, taken = a.pages.state->taken[to];
    const uint32_t tail = pages_count(a) != a.pages.slots;
    const uint32_t count = a.pages.state->freed[to] - taken + tail;
    for (;;) {
        uint32_t hole = 0;
        if (lane_id() == 0) hole = atomicAdd(&a.pages.state->holes, 1);
        hole = __shfl_sync(WARP_ALL, hole, 0);
        if (hole >= count) return;
        pages_chain(a, a.pages.table[to],
                    hole < tail ? SORT_NO_PAGE : a.pages.queue[to][taken + hole - tail]);
    }
}

#endif
