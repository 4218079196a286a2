/*
 * sort/cuda/lsd.cuh - LSD radix sort in few launches of persistent blocks, for skewed keys
 * (skewed.cuh).  The host does not know whether keys are skewed.  If they are not, these kernels
 * end immediately, which takes less time with few blocks than with many.
 *
 *     sort_lsd_begin     clears; counts every digit of every key; plans    (passes.cuh)
 *     sort_lsd           all passes: blocks take tiles dynamically        (onesweep.cuh)
 *     sort_lsd_pass      one pass, instead of sort_lsd
 *     sort_lsd_finish    copies, if the passes do not end in the output
 *
 * In the first two, all blocks are resident together, and synchronise between steps and between
 * passes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_LSD_CUH
#define ECHI_SORT_CUDA_LSD_CUH

#include "sort/cuda/msd.h"
#include "sort/cuda/onesweep.cuh"
#include "sort/cuda/passes.cuh"

#define LSD_COUNT_RESIDENT                                                                         \
    (SORT_LSD_COUNT_BLOCKS * SORT_HISTOGRAM_THREADS <= MULTIPROCESSOR_THREADS                      \
         ? (int)SORT_LSD_COUNT_BLOCKS                                                              \
         : (int)MULTIPROCESSOR_THREADS / (int)SORT_HISTOGRAM_THREADS)

#if KEY_BYTES >= 4
static __device__ inline uint32_t lsd_tiles(const struct sort_common &a)
{
    return (uint32_t)((a.n + TILE - 1) / TILE);
}

/* ---- Before the passes ---- */

/* The grid clears this many bytes, rounded up to 16, as parts of the workspace are. */
static __device__ inline void lsd_clear(void *at, uint64_t bytes)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (bytes + 15) / 16;
         i += step)
        ((uint4 *)at)[i] = make_uint4(0, 0, 0, 0);
}

extern "C" __global__ void __launch_bounds__(SORT_HISTOGRAM_THREADS, LSD_COUNT_RESIDENT)
    sort_lsd_begin(const __grid_constant__ struct sort_lsd_args a)
{
    __shared__ uint32_t bins[KEY_BYTES][SORT_BINS];
    __shared__ struct passes_plan_shared plan;
    if (!a.msd->skewed) return;
    uint32_t barriers = 0;
    lsd_clear(a.passes.state, sizeof *a.passes.state);
    grid_barrier(&a.msd->lsd_arrived[0], ++barriers);
    lsd_clear(a.passes.status,
              (uint64_t)lsd_tiles(a.passes.common) * (SORT_BINS * sizeof *a.passes.status));
    count_digits(a.passes, bins);
    grid_barrier(&a.msd->lsd_arrived[0], ++barriers);
    if (blockIdx.x == 0) plan_digits(a.passes, plan);
}

/* ---- Passes ---- */

/* The state of the block, in shared memory because the tile needs the registers. */
struct lsd_state {
    struct sweep w;
    uint32_t end;     /* number of tiles up to the end of the portion */
    uint32_t ticket;  /* the tiles that blocks had taken in the pass before this block's last one */
    uint32_t held;    /* 1: that tile belongs to a later portion */
    uint32_t barrier; /* number of the next grid barrier */
    struct sort_pass pass[SORT_PASSES]; /* of all passes */
};

/* One thread advances to the next portion, of this pass or of the next active one. */
static __device__ inline void lsd_advance(const struct sort_passes_args &a, struct lsd_state &l)
{
    enum { PORTION_TILES = SORT_PORTION / TILE };
    const uint32_t tiles = lsd_tiles(a.common);
    l.barrier++;
    l.w.portion++;
    l.held = l.end < tiles;
    if (!l.held) {
        do l.w.pass++;
        while (l.w.pass < a.common.passes && !l.pass[l.w.pass].active);
        if (l.w.pass >= a.common.passes) return;
        l.w.p = l.pass[l.w.pass];
        l.w.portion = 0;
    }
    l.end = min(tiles, (l.w.portion + 1) * PORTION_TILES);
}

/* The tile of a ticket of the portion.  The last tile takes longer, because it may be partial, so
 * it is begun before the others of the last round.  It waits for their counts, while at least one
 * other block goes on. */
static __device__ inline uint32_t lsd_tile_of(const struct lsd_state &l, uint32_t tiles)
{
    enum { PORTION_TILES = SORT_PORTION / TILE };
    const uint32_t last = tiles - 1;
    if (l.ticket >= l.end || l.end < tiles) return l.ticket;
    const uint32_t early = last - min(last - l.w.portion * PORTION_TILES, gridDim.x - 1);
    return l.ticket < early ? l.ticket : l.ticket == early ? last : l.ticket - 1;
}

/* The last tile, which may be partial: a separate function, so that it takes no registers from full
 * tiles. */
static __device__ __noinline__ void lsd_last_tile(const struct sort_passes_args &a,
                                                  const struct lsd_state &l, struct pass_shared &s,
                                                  uint32_t tile)
{
    const uint64_t at = (uint64_t)tile * TILE;
    sort_tile<0, 0, 0>(a, l.w, s, at, (uint32_t)(a.common.n - at));
}

/* One loop, with its state in shared memory: with two loops the compiler spills registers of the
 * tile.  A block takes a tile only when it can begin it, because the tiles after it wait for its
 * counts.
 */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_lsd(const __grid_constant__ struct sort_lsd_args a)
{
    __shared__ struct lsd_state l;
    struct pass_shared &s = *(struct pass_shared *)shared_bytes;
    if (!a.msd->skewed) return;
    if (threadIdx.x < SORT_PASSES) l.pass[threadIdx.x] = a.passes.state->pass[threadIdx.x];
    __syncthreads(); /* the passes are known */
    if (threadIdx.x == 0) {
        l.w.pass = -1;
        l.w.portion = 0;
        l.barrier = 0;
        l.end = lsd_tiles(a.passes.common); /* as if a pass were done */
        lsd_advance(a.passes, l);
        s.zero = 0;
    }
    __syncthreads(); /* the portion is known */
    while (l.w.pass < a.passes.common.passes) {
        if (threadIdx.x == 0) {
            if (!l.held) l.ticket = atomicAdd(&a.passes.state->tiles_taken[l.w.pass], 1);
            l.held = 0;
            s.tile = lsd_tile_of(l, lsd_tiles(a.passes.common));
        }
        rank_clear(s.counts, WARPS * SORT_BINS);
        __syncthreads(); /* the tile is known and the counters are clear */
        const uint32_t tile = s.tile;
        if (tile >= l.end) {
            grid_barrier(&a.msd->lsd_arrived[1], l.barrier);
            if (threadIdx.x == 0) lsd_advance(a.passes, l);
        } else if (a.passes.common.n - (uint64_t)tile * TILE < TILE) {
            lsd_last_tile(a.passes, l, s, tile);
        } else if (VAL_BYTES && order_distinct(a.passes.common.order)) {
            sort_tile<1, 0, 1>(a.passes, l.w, s, (uint64_t)tile * TILE, TILE);
        } else {
            sort_tile<1, 0, 0>(a.passes, l.w, s, (uint64_t)tile * TILE, TILE);
        }
        __syncthreads(); /* all threads are done with the tile; the portion is known */
    }
}

#if KEY_BYTES == 4 && VAL_BYTES == 4
/* A pass by a launch of its own: a tenth faster, but it takes longer if there is nothing to do. */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_lsd_pass(const __grid_constant__ struct sort_lsd_args a)
{
    wait_for_earlier();
    if (a.msd->skewed) sweep_tile<0>(a.passes);
}
#endif

extern "C" __global__ void __launch_bounds__(SORT_MOVE_THREADS)
    sort_lsd_finish(const __grid_constant__ struct sort_lsd_args a)
{
    if (a.msd->skewed) copy_to_output(a.passes);
}
#endif

#endif
