/*
 * sparse/cuda/tile.cuh - a tile of a sparse matrix: a fixed number of rows plus entries.
 *
 *     items   | e e e R | e e R | R | R | e e e e e e e e e e e e R | e R | ...     R: a row's end
 *     tiles   |         0         |         1         |         2        |
 *
 * All tiles have the same size, even with long rows or many empty rows (Merrill and Garland, 2016:
 * merge-based parallel sparse matrix-vector multiplication).  A tile that would begin within a row
 * begins at the row's next group, so that groups are added as a unit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_CUDA_TILE_CUH
#define ECHI_SPARSE_CUDA_TILE_CUH

#include "cuda/device/ptx.cuh"
#include "sparse/cuda/common.h"
#include "cuda/device/warp.cuh"

/* Defaults, so that editors and readers see one concrete instance. */
#ifndef INDEX_BITS
#define INDEX_BITS 32
#define REAL_BITS  64
#endif

#if INDEX_BITS == 32
typedef uint32_t index_type;
#else
typedef uint64_t index_type;
#endif
#if REAL_BITS == 32
typedef float real;
#else
typedef double real;
#endif

static __device__ inline uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static __device__ inline uint64_t offset_of(const struct sparse_args &a, uint64_t row)
{
    const uint64_t offset = ((const index_type *)a.offsets)[row];
    return offset < a.entries ? offset : a.entries;
}

/* The place at which a tile begins, given the number of rows and entries before it; `row` is the
 * last row that begins there or before. */
static __device__ __forceinline__ struct sparse_place make_place(const struct sparse_args &a,
                                                                 uint64_t items, uint64_t row)
{
    struct sparse_place place;
    const uint64_t begin = offset_of(a, row);
    place.row = row;
    place.entry = begin << 1;
    if (row == a.rows || row + begin >= items) return place;
    const uint64_t end = offset_of(a, row + 1);
    const uint64_t past = (items - row - begin + SPARSE_GROUP - 1) / SPARSE_GROUP * SPARSE_GROUP;
    const bool inside = begin + past < end && end - begin > a.whole;
    place.row = inside ? row : row + 1;
    place.entry = inside ? (begin + past) << 1 | 1 : end << 1;
    return place;
}

/* By each half of a warp for a number of items of its own, 16 rows at a time: first those at which
 * the place would be if all rows had the same length. */
static __device__ inline struct sparse_place find_place(const struct sparse_args &a, uint64_t items)
{
    const uint64_t all = a.rows + a.entries;
    uint64_t low = items < all ? 0 : a.rows, high = a.rows, step = 1;
    uint64_t from = (uint64_t)(a.row_share * (double)items);
    if (from > high) from = high;
    from = from < 8 ? 0 : from - 8;
    while (__any_sync(WARP_ALL, low < high)) {
        const uint64_t row = from + (lane_id() % 16 + 1) * step;
        const bool below = low < high && row <= high && offset_of(a, row) + row <= items;
        const uint32_t half = __ballot_sync(WARP_ALL, below) >> (lane_id() & 16) & 0xffff;
        if (low >= high) continue;
        const uint32_t many = __popc(half);
        const uint64_t next = from + (many + 1) * step - 1;
        if (many) low = from + many * step;
        if (many < 16 && next < high) high = next;
        from = low;
        step = (high - low + 15) / 16;
    }
    return make_place(a, items, low);
}

/* The properties of a block's tile, known to all of its threads. */
struct tile {
    uint64_t row, entry;   /* of the first */
    uint32_t rows, count;  /* rows of which the tile has a part; entries */
    uint32_t inside_first; /* the first row began in an earlier tile */
    uint32_t inside_last;  /* the last row ends in a later tile */
};

static __device__ inline struct tile make_tile(const struct sparse_args &a,
                                               const struct sparse_place &from,
                                               const struct sparse_place &to)
{
    struct tile t;
    t.row = from.row;
    t.entry = from.entry >> 1;
    t.inside_first = from.entry & 1;
    t.inside_last = to.entry & 1;
    const uint64_t rows = to.row - from.row + t.inside_last;
    const uint64_t count = (to.entry >> 1) - t.entry;
    const uint64_t most =
        ((uint64_t)1 << a.tile_bits) + (a.whole ? a.whole : (uint32_t)SPARSE_GROUP);
    const bool good = rows <= most && count < most && rows + count <= most; /* otherwise: invalid
                                                                               input */
    t.rows = good ? (uint32_t)rows : 0;
    t.count = good ? (uint32_t)count : 0;
    return t;
}

/* Whether the tile contains all of its row number i. */
static __device__ inline bool is_whole(const struct tile &t, uint32_t i)
{
    return !(i == 0 && t.inside_first) && !(i + 1 == t.rows && t.inside_last);
}

static __device__ inline void put_at(const struct sparse_args &a, real *y, real sum)
{
    real result = (real)a.alpha * sum;
    if (a.beta != 0) result += (real)a.beta * *y;
    *y = result == result ? result : (real)__longlong_as_double(0x7ff8000000000000);
}

/* ---- Groups of rows, listed ---- */

/* A part of a row, at most one group. */
struct task {
    uint16_t row, group; /* row in the tile; group of the row's part in the tile */
    uint16_t at, count;  /* position in the tile's entries */
    uint32_t entire;     /* it is an entire row */
};

template <int TASKS> struct row_list {
    uint32_t tasks, long_rows; /* rows of several groups that are completely in the tile */
    struct task task[TASKS];
    uint16_t row_task[TASKS], row_groups[TASKS]; /* of each long row */
};

template <int TASKS>
static __device__ inline void list_groups(struct row_list<TASKS> &list, uint32_t row, uint32_t at,
                                          uint32_t count, bool whole)
{
    const uint32_t groups = (count + SPARSE_GROUP - 1) / SPARSE_GROUP;
    const uint32_t first = atomicAdd(&list.tasks, groups);
    if (first + groups > TASKS) return; /* rows overlap: the input is invalid */
    for (uint32_t g = 0; g < groups; g++) {
        struct task task;
        task.row = (uint16_t)row;
        task.group = (uint16_t)g;
        task.at = (uint16_t)(at + g * SPARSE_GROUP);
        task.count = (uint16_t)least(count - g * SPARSE_GROUP, SPARSE_GROUP);
        task.entire = whole && groups == 1;
        list.task[first + g] = task;
    }
    if (!whole || groups == 1) return;
    const uint32_t i = atomicAdd(&list.long_rows, 1);
    list.row_task[i] = (uint16_t)first;
    list.row_groups[i] = (uint16_t)groups;
}

/* ---- Rows that tiles share ---- */

enum {
    JOIN_EACH = 8,         /* groups of a shared row that a thread adds up */
    LEAVE_SHARED = 1 << 16 /* more than the maximum number of tiles without places */
};

struct shared_row {
    uint64_t row, at; /* items before the row's first entry */
    uint64_t groups;  /* total number */
};

static __device__ inline struct shared_row make_shared_row(uint64_t row, uint64_t begin,
                                                           uint64_t end)
{
    struct shared_row s;
    if (end <= begin) end = begin + 1; /* the input is invalid */
    s.row = row;
    s.at = row + begin;
    s.groups = (end - begin + SPARSE_GROUP - 1) / SPARSE_GROUP;
    return s;
}

static __device__ inline struct shared_row find_shared_row(const struct sparse_args &a,
                                                           uint64_t row)
{
    return make_shared_row(row, offset_of(a, row), offset_of(a, row + 1));
}

/* The slot of a group's sum: rows' first groups have odd slots, because groups of two rows may
 * begin in the same SPARSE_GROUP items. */
static __device__ inline uint64_t slot_of(const struct shared_row &s, uint64_t group)
{
    return s.at / SPARSE_GROUP * 2 + 2 * group + (group == 0);
}

/* The tile that contains a group. */
static __device__ inline uint64_t tile_of(const struct sparse_args &a, const struct shared_row &s,
                                          uint64_t group)
{
    return (s.at + group * SPARSE_GROUP) >> a.tile_bits;
}

/* The first of a tile's groups of the row. */
static __device__ inline uint64_t first_group(const struct tile &t, const struct shared_row &s)
{
    const uint64_t begin = s.at - s.row;
    return s.row == t.row && t.inside_first && t.entry > begin ? (t.entry - begin) / SPARSE_GROUP
                                                               : 0;
}

/* One thread reports that its tile has finished; returns whether it was the last of the tiles with
 * the groups from first to last. */
static __device__ inline uint32_t arrive(const struct sparse_args &a, const struct shared_row &s,
                                         uint64_t first, uint64_t last)
{
    const uint64_t tile = tile_of(a, s, first);
    const uint32_t tiles = (uint32_t)(tile_of(a, s, last) - tile + 1);
    if (tiles > 1 && add_acq_rel(a.done + 2 * tile, 1) + 1 != tiles) return 0;
    if (tiles > 1) a.done[2 * tile] = 0;
    return 1;
}

/* With invalid offsets, some rows are never finished: the last tile resets the counters.  Called by
 * `threads` threads of a warp. shared, the same for all: the tile has a part of a row, and
 * incremented counters.  The first of these threads calls it in any case. */
static __device__ inline void leave(const struct sparse_args &a, bool shared, uint32_t threads)
{
    const uint32_t ours = shared ? LEAVE_SHARED + 1 : 1;
    uint32_t *done = a.done + 2 * a.tiles, before = 0;
    if (a.places || !a.done) return;
    if (lane_id() == 0) before = shared ? add_acq_rel(done, ours) : atomicAdd(done, ours);
    if (threads > 1) before = __shfl_sync(WARP_ALL, before, 0);
    if (before % LEAVE_SHARED + 1 != a.tiles) return;
    __threadfence(); /* makes the increments of the other tiles visible */
    if (lane_id() == 0) *done = 0;
    if (before + ours < LEAVE_SHARED) return;
    for (uint64_t i = lane_id(); i < 2 * a.tiles; i += threads) a.done[i] = 0;
}

#endif
