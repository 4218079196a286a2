/*
 * cuda/sparse_tile.cuh - a tile of a sparse matrix: so many rows and entries, counted together.
 *
 *     items   | e e e R | e e R | R | R | e e e e e e e e e e e e R | e R | ...     R: a row's end
 *     tiles   |         0         |         1         |         2        |
 *
 * Neither a long row nor many empty ones make a tile longer than others (Merrill and Garland, 2016:
 * merge-based parallel sparse matrix-vector multiplication).  A tile that would begin within a row
 * does so where the row's next group does, so that groups are added up whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SPARSE_TILE_CUH
#define ECHI_CUDA_SPARSE_TILE_CUH

#include "ptx.cuh"
#include "sparse.h"
#include "warp.cuh"

/* So that editors and readers see one concrete instance. */
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

/* Where the tile begins that so many rows and entries come before. */
static __device__ inline struct sparse_place find_place(const struct sparse_args &a, uint64_t items)
{
    struct sparse_place place;
    uint64_t low = 0, high = a.rows; /* the last row that begins at items or before lies there */
    if (items >= a.rows + a.entries) {
        place.row = a.rows;
        place.entry = a.entries << 1;
        return place;
    }
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if (offset_of(a, middle) + middle <= items)
            low = middle;
        else
            high = middle - 1;
    }
    const uint64_t begin = offset_of(a, low);
    place.row = low;
    place.entry = begin << 1;
    if (low == a.rows || low + begin >= items) return place;
    const uint64_t end = offset_of(a, low + 1);
    const uint64_t past =
        (items - low - begin + SPARSE_GROUP - 1) / SPARSE_GROUP * SPARSE_GROUP;
    place.row = begin + past < end ? low : low + 1;
    place.entry = begin + past < end ? (begin + past) << 1 | 1 : end << 1;
    return place;
}

/* What all threads of a block know of its tile. */
struct tile {
    uint64_t row, entry;   /* the first */
    uint32_t rows, count;  /* rows that the tile has something of; entries */
    uint32_t inside_first; /* the first row began in a tile before */
    uint32_t inside_last;  /* the last ends in a tile to come */
};

template <int TILE>
static __device__ inline struct tile make_tile(const struct sparse_place &from,
                                               const struct sparse_place &to)
{
    struct tile t;
    t.row = from.row;
    t.entry = from.entry >> 1;
    t.inside_first = from.entry & 1;
    t.inside_last = to.entry & 1;
    const uint64_t rows = to.row - from.row + t.inside_last; /* more than there can be: bad data */
    t.rows = rows <= TILE + 1 ? (uint32_t)rows : 0;
    const uint64_t count = (to.entry >> 1) - t.entry;
    t.count = count < TILE + SPARSE_GROUP ? (uint32_t)count : 0;
    return t;
}

/* Whether all of the tile's row number i lies in it. */
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

/* A part of a row of one group at most. */
struct task {
    uint16_t row, group; /* of the tile; of the row's part in the tile */
    uint16_t at, count;  /* among the tile's entries */
    uint32_t alone;      /* it is the whole row */
};

template <int TASKS> struct row_list {
    uint32_t tasks, long_rows;                    /* rows of several groups that lie here whole */
    struct task task[TASKS];
    uint16_t row_task[TASKS], row_groups[TASKS]; /* of each long row */
};

template <int TASKS>
static __device__ inline void list_groups(struct row_list<TASKS> &list, uint32_t row, uint32_t at,
                                          uint32_t count, bool whole)
{
    const uint32_t groups = (count + SPARSE_GROUP - 1) / SPARSE_GROUP;
    const uint32_t first = atomicAdd(&list.tasks, groups);
    if (first + groups > TASKS) return; /* rows overlap: the data is bad */
    for (uint32_t g = 0; g < groups; g++) {
        struct task task;
        task.row = (uint16_t)row;
        task.group = (uint16_t)g;
        task.at = (uint16_t)(at + g * SPARSE_GROUP);
        task.count = (uint16_t)least(count - g * SPARSE_GROUP, SPARSE_GROUP);
        task.alone = whole && groups == 1;
        list.task[first + g] = task;
    }
    if (!whole || groups == 1) return;
    const uint32_t i = atomicAdd(&list.long_rows, 1);
    list.row_task[i] = (uint16_t)first;
    list.row_groups[i] = (uint16_t)groups;
}

/* ---- Rows that tiles share ---- */

enum { JOIN_EACH = 8 /* groups that a thread adds up of a shared row */ };

#define NO_SLOT (~(uint64_t)0)

struct shared_row {
    uint64_t row, slot;           /* slot: of its first group, which alone has an odd one */
    uint64_t groups;              /* in all */
    uint64_t first_tile, tiles;   /* that have some of it */
};

template <int TILE>
static __device__ inline struct shared_row find_shared_row(const struct sparse_args &a,
                                                           uint64_t row)
{
    struct shared_row s;
    const uint64_t begin = offset_of(a, row), next = offset_of(a, row + 1);
    const uint64_t end = next > begin ? next : begin + 1; /* if not, the data is bad */
    s.row = row;
    s.slot = (row + begin) / SPARSE_GROUP * 2;
    s.groups = (end - begin + SPARSE_GROUP - 1) / SPARSE_GROUP;
    s.first_tile = (row + begin) / TILE;
    uint64_t last = (row + end - 1) / TILE;
    if (last > s.first_tile) { /* it may begin past the row */
        const uint64_t past = last * TILE - row - begin;
        if ((past + SPARSE_GROUP - 1) / SPARSE_GROUP * SPARSE_GROUP >= end - begin) last--;
    }
    s.tiles = last - s.first_tile + 1;
    return s;
}

/* Where the sum of a group lies; two rows' groups may begin among the same SPARSE_GROUP items. */
static __device__ inline uint64_t slot_of(const struct shared_row &s, uint64_t group)
{
    return s.slot + 2 * group + (group == 0);
}

/* Where the sum of a task goes, whose row is shared. */
template <int TILE>
static __device__ inline uint64_t slot_of_task(const struct sparse_args &a, const struct tile &t,
                                               const struct task &task)
{
    const struct shared_row row = find_shared_row<TILE>(a, t.row + task.row);
    uint64_t group = task.group;
    if (task.row == 0 && t.inside_first) { /* it began in another tile */
        const uint64_t begin = offset_of(a, t.row);
        if (t.entry > begin) group += (t.entry - begin) / SPARSE_GROUP;
    }
    return group < row.groups ? slot_of(row, group) : NO_SLOT;
}

/* One thread says that the block is through with its part of the row: is it the last? */
static __device__ inline uint32_t arrive(const struct sparse_args &a, const struct shared_row &s)
{
    if (add_acq_rel(a.done + s.first_tile, 1) + 1 != s.tiles) return 0;
    a.done[s.first_tile] = 0;
    return 1;
}

/* Of a matrix whose offsets are bad not every row is finished: the last block of all leaves the
 * words zero.  By one thread, at its end. */
static __device__ inline void leave(const struct sparse_args &a)
{
    if (a.places || add_acq_rel(a.done + a.tiles, 1) + 1 != a.tiles) return;
    for (uint64_t i = 0; i <= a.tiles; i++) a.done[i] = 0;
}

#endif
