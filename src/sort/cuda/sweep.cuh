/*
 * sort/cuda/sweep.cuh - device code of a pass before its ranks: the shared memory of a block, the
 * look-back, the loads of a tile.
 *
 * PAGES: runs may be stored in pages (pages.cuh), bins are between splitters (splitters.cuh), or
 * the pass is within a bin (resident.cuh), or both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SWEEP_CUH
#define ECHI_SORT_CUDA_SWEEP_CUH

#include "sort/cuda/common.cuh"
#include "sort/cuda/pages.cuh"
#include "sort/cuda/passes.cuh"
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

enum { IN_PAGES = 1, BY_SPLITTERS, IN_BINS, IN_PARTS }; /* of PAGES, which is 0 otherwise */
#define WITHIN(PAGES) ((PAGES) == IN_BINS || (PAGES) == IN_PARTS)
#define SPLIT(PAGES)  ((PAGES) == BY_SPLITTERS || (PAGES) == IN_PARTS)

enum {
    PAGE = 32 * ITEMS, /* elements */
    PAGE_MISSING = 31  /* bit of page_run.parts: a page of another tile was not in the table yet */
};
static_assert(TILE + PAGE < 1 << 14 && TILE / PAGE + 2 < 1 << 5, "parts of a run share a word");

/* Values of 16 bytes are loaded with the keys, and exchanged at the same time: they arrive while
 * the keys are ranked.  sm_75 has not enough shared memory. */
#if VAL_BYTES == 16 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
#define VALUES_APART 1
#else
#define VALUES_APART 0
#endif

struct pass_shared {
#if VALUES_APART
    uval values[TILE];
#endif
    union {
        uint32_t counts[WARPS * SORT_BINS]; /* during ranking */
        ukey keys[TILE];                    /* then the tile by rank */
#if VAL_BYTES && !VALUES_APART
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

/* PLAIN is 1 if order_merge() changes no key, which saves 4 % of a pass with values. */
template <int PLAIN>
static __device__ inline uint32_t tile_digit(const struct sort_common &a, ukey e, int pass)
{
    const int shift = a.begin_bit + pass * SORT_DIGIT_BITS;
    if (!PLAIN) return digit_of(a, e, pass);
    return (uint32_t)(e >> shift) & ((1u << min(a.end_bit - shift, (int)SORT_DIGIT_BITS)) - 1);
}

static __device__ inline bool order_distinct(const struct echi_order &o)
{
    return !(ukey)o.merge && (ukey)o.last == (ukey)-1;
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

#endif
