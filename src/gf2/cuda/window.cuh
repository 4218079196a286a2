/*
 * gf2/cuda/window.cuh - the pivots of 512 columns, if all of them are in the next rows: in a matrix
 * of random bits they nearly always are.
 *
 *     window_search   one warp finds the pivots of 64 columns in 96 rows.  A lane has two of the
 *                     columns, so it finds the first one of a column without the other lanes
 *     window_panel    one block, whose threads have a row each, adds the pivot rows to all rows
 *     gf2_window      ... for 8 panels; the result is B^-1 of the 512 pivot rows
 *     gf2_window_rows the pivot rows of all other columns: B^-1 x the original rows
 *
 * Each step is in place: a column of B^-1 replaces the column of a pivot.  If a column has no one
 * in the 32 rows from its pivot's place on, gf2_window ends with the panels before it, and gf2_step
 * continues.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_WINDOW_CUH
#define ECHI_GF2_CUDA_WINDOW_CUH

#include "gf2/cuda/step.cuh"

enum { WINDOW_ROWS = 96 };

struct window_shared {
    uint64_t tables[GF2_SLOTS][SLOT_TABLE]; /* of the words of 64 rows */
    uint64_t rows[GF2_SLOTS][64];           /* pivot rows, by words */
    uint64_t word[WINDOW_ROWS];             /* the panel's columns in the rows that are searched */
    uint64_t sum[64];                       /* of pivots: rows of B^-1 of the panel */
    uint64_t chosen[64]; /* bits of a pivot row when it was found: below its column, the pivot rows
                            that had been added */
    uint4 first[4];      /* places of pivots, as bytes */
    uint8_t place[WINDOW_ROWS]; /* the places after the search */
    uint32_t complete, moves;
};

/* ---- The search, by the first warp ---- */

/* 96 rows of two columns. */
struct window_columns {
    uint32_t low[3], high[3];
};

static __device__ inline struct window_columns window_load(const uint64_t *word)
{
    struct window_columns c;
#pragma unroll
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t row = word[32 * i + lane_id()];
        c.low[i] = gf2_transpose_32((uint32_t)row);
        c.high[i] = gf2_transpose_32((uint32_t)(row >> 32));
    }
    return c;
}

/* A pivot: words HALF and HALF + 1 of the column have its place as a bit. */
struct window_pivot {
    uint32_t here, next; /* the place of the pivot, as a bit of these words */
    uint32_t swap;       /* and the place to which it moves */
};

/* Adds the pivot row to the rows that have a one in its column, and swaps it with the row at its
 * place; one column of the lane.  Returns whether the pivot row has a one. */
template <int HALF>
static __device__ inline bool window_add(uint32_t (&x)[3], const struct window_pivot &p,
                                         uint32_t shift, const uint32_t (&add)[3])
{
    const bool one = ((x[HALF] & p.here) | (x[HALF + 1] & p.next)) != 0;
    const bool replaced = x[HALF] >> shift & 1;
    x[HALF] ^= (replaced ? p.swap : 0) ^ (one ? add[0] : 0);
    x[HALF + 1] ^= (replaced ? p.next : 0) ^ (one ? add[1] : 0);
    x[2 - 2 * HALF] ^= one ? add[2] : 0;
    return one;
}

/* The pivots of columns 32 HALF ...; false if one has none. */
template <int HALF>
static __device__ inline bool window_half(struct window_columns &c, struct window_shared &s)
{
    uint32_t found = 0, chosen_low = 0, chosen_high = 0;
    for (uint32_t shift = 0; shift < 32; shift++) {
        const bool own = lane_id() == shift;
        uint32_t x[3];
#pragma unroll
        for (int i = 0; i < 3; i++)
            x[i] = __shfl_sync(WARP_ALL, HALF ? c.high[i] : c.low[i], shift);
        const uint32_t rows = __funnelshift_r(x[HALF], x[HALF + 1], shift);
        const uint32_t first = rows & (0 - rows); /* none: nothing is added */
        struct window_pivot p;
        p.here = first << shift;
        p.next = __funnelshift_l(first, 0, shift);
        p.swap = p.here | 1u << shift;
        const uint32_t add[3] = { (x[HALF] & ~p.here) ^ p.swap, (x[HALF + 1] & ~p.next) ^ p.next,
                                  x[2 - 2 * HALF] };
        const uint32_t add_own[3] = { own ? p.swap : add[0], own ? p.next : add[1],
                                      own ? 0 : add[2] };
        const bool low = window_add<HALF>(c.low, p, shift, HALF ? add : add_own);
        const bool high = window_add<HALF>(c.high, p, shift, HALF ? add_own : add);
        const uint32_t all_low = __ballot_sync(WARP_ALL, low);
        const uint32_t all_high = __ballot_sync(WARP_ALL, high);
        found = own ? first : found;
        chosen_low = own ? all_low : chosen_low;
        chosen_high = own ? all_high : chosen_high;
    }
    const uint32_t k = 32 * HALF + lane_id();
    s.chosen[k] = (uint64_t)chosen_high << 32 | chosen_low;
    ((uint8_t *)s.first)[k] = (uint8_t)(k + 31 - (uint32_t)__clz((int)found));
    return __all_sync(WARP_ALL, found != 0);
}

static __device__ inline void window_search(struct window_columns &c, struct window_shared &s)
{
    c = window_load(s.word);
    const bool first = window_half<0>(c, s), second = window_half<1>(c, s);
    if (lane_id() == 0) s.complete = first && second;
}

static __device__ inline void window_sums(const struct window_columns &c, struct window_shared &s)
{
#pragma unroll
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t low = gf2_transpose_32(c.low[i]), high = gf2_transpose_32(c.high[i]);
        s.sum[32 * i + lane_id()] = (uint64_t)high << 32 | low;
    }
}

/* The place after the search of the row that was at `place`: below 64, it is a pivot row. */
static __device__ inline uint32_t window_place(const struct window_shared &s, uint32_t place)
{
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        const uint4 four = s.first[i];
        const uint32_t first[4] = { four.x, four.y, four.z, four.w };
#pragma unroll
        for (uint32_t j = 0; j < 16; j++) {
            const uint32_t pivot = first[j / 4] >> 8 * (j % 4) & 255, k = 16 * i + j;
            place = place == pivot ? k : place == k ? pivot : place;
        }
    }
    return place;
}

/* ---- All threads of the block ---- */

/* The row of a thread. */
struct window_row {
    uint64_t word[GF2_SLOTS]; /* from that of the panel on, and then those before it */
    uint32_t place;           /* relative to the rank; none: it is a pivot row */
    uint32_t pivot;           /* its number, or none */
};

/* A warp of four has no rows, so that the first warp, which searches, has a quarter of a
 * multiprocessor, with its queue to shared memory, for itself. */
static __device__ inline uint32_t window_thread_row(void)
{
    const uint32_t warp = warp_id();
    return (warp / 4 * 3 + warp % 4 - 1) * 32 + lane_id();
}

/* The tables of words FIRST ... */
template <int FIRST> static __device__ inline void window_tables(struct window_shared &s)
{
    enum { ENTRIES = (GF2_SLOTS - FIRST) * SLOT_TABLE };
    for (uint32_t i = threadIdx.x; i < ENTRIES; i += GF2_WINDOW_THREADS) {
        const uint32_t word = FIRST + i / SLOT_TABLE, entry = i % SLOT_TABLE;
        s.tables[word][entry] = table_entry(s.rows[word], entry);
    }
}

/* Replaces the pivot rows by the reduced ones; `panel`: 0 to 7.  For an echelon form, `upper` gets
 * the bits that each had when it was found. */
static __device__ inline void window_reduce(uint64_t *upper, uint32_t panel, bool reduced,
                                            struct window_shared &s)
{
    const uint32_t j = threadIdx.x % 64, word = threadIdx.x / 64;
    if (word >= GF2_SLOTS) return;
    const uint64_t chosen = s.chosen[j], below = ((uint64_t)1 << j) - 1;
    if (!reduced && panel + word < GF2_SLOTS)
        upper[(panel + word) * GF2_DEPTH + 64 * panel + j] =
            word ? look_up<NIBBLES>(s.tables[word], (chosen & below) | (uint64_t)1 << j)
                 : chosen & ~below;
    s.rows[word][j] = word ? look_up<NIBBLES>(s.tables[word], s.sum[j]) : s.sum[j];
}

/* The row of a thread in one of its words; bits: its word in the panel. */
static __device__ inline uint64_t window_add_rows(const struct window_shared &s, uint32_t i,
                                                  uint64_t word, uint64_t bits, uint32_t pivot)
{
    if (pivot != panel_none) return s.rows[i][pivot];
    return word ^ look_up<NIBBLES>(s.tables[i], bits);
}

/* A panel whose pivots have been found.  The first warp searches those of the next one while the
 * other words are brought up to date. */
static __device__ inline void window_panel(const struct gf2_echelon_args &a, uint32_t panel,
                                           struct window_columns &c, struct window_shared &s,
                                           struct window_row &r)
{
    const uint32_t warp = warp_id(), at = r.place - 64 * panel; /* large for pivot rows */
    const bool searched = r.place != panel_none && at < WINDOW_ROWS;
    uint32_t pivot = panel_none;
    if (warp == 0) window_sums(c, s);
    if (warp >= 1 && warp < 1 + WINDOW_ROWS / 32) {
        const uint32_t place = threadIdx.x - 32;
        s.place[place] = (uint8_t)window_place(s, place);
    }
    __syncthreads(); /* the places are available */
    if (searched) {
        const uint32_t place = s.place[at];
        if (place < 64) {
            pivot = place;
            r.pivot = 64 * panel + place;
            r.place = panel_none;
#pragma unroll
            for (int i = 1; i < GF2_SLOTS; i++) s.rows[i][place] = r.word[i];
        } else {
            r.place = 64 * panel + place;
        }
    }
    __syncthreads(); /* the pivot rows are available */
    window_tables<1>(s);
    __syncthreads(); /* their tables are available */
    window_reduce(a.window->upper, panel, a.reduced, s);
    __syncthreads(); /* the reduced rows are stored, and the tables have been read */
    window_tables<0>(s);
    __syncthreads(); /* their tables are available */
    const uint64_t bits = r.word[0];
    const uint32_t next = r.place - 64 * (panel + 1);
    if (warp % 4) r.word[1] = window_add_rows(s, 1, r.word[1], bits, pivot);
    if (r.place != panel_none && next < WINDOW_ROWS) s.word[next] = r.word[1];
    __syncthreads(); /* the words of the next panel are available */
    if (warp == 0 && panel + 1 < GF2_SLOTS) window_search(c, s);
    if (warp % 4) {
        r.word[0] = window_add_rows(s, 0, 0, bits, pivot);
#pragma unroll
        for (int i = 2; i < GF2_SLOTS; i++)
            r.word[i] = window_add_rows(s, i, r.word[i], bits, pivot);
    }
}

/* The word of the next panel becomes the first. */
static __device__ inline void window_turn(struct window_row &r)
{
    const uint64_t last = r.word[0];
#pragma unroll
    for (int i = 0; i + 1 < GF2_SLOTS; i++) r.word[i] = r.word[i + 1];
    r.word[GF2_SLOTS - 1] = last;
}

/* The results of a row, after some panels: its multipliers, and where it moves. */
static __device__ inline void window_store(const struct gf2_echelon_args &a, uint64_t rank,
                                           uint32_t panels, struct window_shared &s,
                                           const struct window_row &r)
{
    const uint64_t source = rank + window_thread_row();
    const bool is_pivot = r.pivot != panel_none;
    const uint64_t target = rank + (is_pivot ? r.pivot : r.place);
    const uint64_t *words = a.a + source * a.stride + a.panel;
    struct gf2_window &window = *a.window;
    if (warp_id() % 4 == 0 || source >= a.rows) return;
#pragma unroll
    for (uint32_t i = 0; i < GF2_SLOTS; i++) {
        if (i >= panels) break;
        const bool below = i >= r.pivot / 64; /* otherwise nothing has been stored */
        uint64_t left = i == r.pivot / 64 ? (uint64_t)1 << r.pivot % 64 : 0;
        if (!is_pivot) left = words[i];
        if (is_pivot && !a.reduced) left = below ? window.upper[i * GF2_DEPTH + r.pivot] : 0;
        a.left[i * (uint64_t)a.rows + target] = left;
        if (is_pivot) window.sum[i][r.pivot] = r.word[i];
    }
    if (is_pivot) {
        window.from[r.pivot] = (uint32_t)source;
        if (a.pivots) a.pivots[target] = 64 * a.panel + r.pivot;
    } else if (source != target) {
        const uint32_t i = atomicAdd(&s.moves, 1);
        window.source[i] = (uint32_t)source;
        window.target[i] = (uint32_t)target;
    }
}

/* After some panels: gf2_apply adds their rows, then gf2_step continues without slots before. */
static __device__ inline void window_states(const struct gf2_echelon_args &a, uint32_t rank,
                                            uint32_t panels)
{
    const uint32_t thread = threadIdx.x, after = rank + 64 * panels;
    struct gf2_state &last = a.state[GF2_SLOTS - 1], &before = a.state[panels - 1];
    if (thread < GF2_SLOTS) {
        last.slots[thread] = thread < panels ? ~(uint64_t)0 : 0;
        if (panels < GF2_SLOTS) before.slots[thread] = 0;
        if (thread < panels) a.state[thread].count = 0;
    }
    if (thread) return;
    before.begin = before.first = after;
    before.moves = 0;
    last.begin = last.first = rank;
    before.rank = last.rank = after;
    a.join->done_before = a.panel + panels;
    *a.rank = after;
}

/* Whether nearly all of the last 512 columns, if there are any, had a pivot, and 512 more are
 * possible. */
static __device__ inline bool window_tries(const struct gf2_echelon_args &a, uint32_t rank)
{
    if (a.quick && a.join->done_before != a.panel) return false; /* no other kernel found pivots */
    return (a.panel == 0 || rank - a.window->rank > GF2_DEPTH - 64) && a.limit - rank >= GF2_DEPTH;
}

/* A block finds the pivots of the columns of 8 panels, of which a.panel is the first. */
extern "C" __global__ void __launch_bounds__(GF2_WINDOW_THREADS, 1)
    gf2_window(const __grid_constant__ struct gf2_echelon_args a)
{
    __shared__ struct window_shared s;
    wait_for_earlier();
    const uint32_t rank = a.state[GF2_SLOTS - 1].rank, thread = threadIdx.x;
    const uint32_t row = window_thread_row();
    const uint64_t source = (uint64_t)rank + row;
    const bool tries = window_tries(a, rank), there = warp_id() % 4 && source < a.rows;
    uint32_t panels = 0;
    struct window_columns c = { { 0 }, { 0 } };
    struct window_row r;
    __syncthreads(); /* the rank before has been read */
    if (thread == 0) a.window->rank = rank;
    if (!tries) return;
#pragma unroll
    for (uint32_t i = 0; i < GF2_SLOTS; i++)
        r.word[i] = there ? a.a[source * a.stride + a.panel + i] : 0;
    r.place = warp_id() % 4 ? row : panel_none;
    r.pivot = panel_none;
    if (thread == 0) s.moves = 0;
    if (r.place < WINDOW_ROWS) s.word[r.place] = r.word[0];
    __syncthreads(); /* the words are available */
    if (warp_id() == 0) window_search(c, s);
    for (; panels < GF2_SLOTS; panels++) {
        __syncthreads(); /* the pivots are found, and the rows are up to date */
        if (!s.complete) break;
        window_panel(a, panels, c, s, r);
        window_turn(r);
    }
    if (!panels) return;
    for (uint32_t i = panels; i < GF2_SLOTS; i++) window_turn(r);
    const uint32_t from = a.rows_from && there ? a.rows_from[source] : 0;
    __syncthreads(); /* rows_from has been read, and window_reduce() has stored its rows */
    window_store(a, rank, panels, s, r);
    if (a.rows_from && there)
        a.rows_from[rank + (r.pivot != panel_none ? r.pivot : r.place)] = from;
    window_states(a, rank, panels);
    __syncthreads(); /* the moves are counted */
    if (thread == 0) a.window->moves = s.moves;
}

/* ---- The pivot rows ---- */

struct window_rows_shared {
    uint64_t tables[GF2_SLOTS][SLOT_TABLE];
    uint64_t rows[GF2_DEPTH];
};

/* A word of the pivot rows, and of the rows that move. */
static __device__ inline void window_word(const struct gf2_echelon_args &a, uint64_t w,
                                          uint32_t panels, struct window_rows_shared &s)
{
    const struct gf2_window &window = *a.window;
    const uint64_t rank = a.state[GF2_SLOTS - 1].begin, mask = own_bits(a, w);
    const uint32_t thread = threadIdx.x, count = 64 * panels;
    const bool moves = thread < window.moves;
    uint64_t *column = a.a + w;
    for (uint32_t i = thread; i < count; i += GF2_THREADS)
        s.rows[i] = column[window.from[i] * a.stride] & mask;
    const uint64_t moved = moves ? column[window.source[thread] * a.stride] & mask : 0;
    __syncthreads(); /* the rows are loaded, and no row of this column is read again */
    for (uint32_t i = thread; i < SLOT_TABLE * panels; i += GF2_THREADS)
        s.tables[i / SLOT_TABLE][i % SLOT_TABLE] =
            table_entry(s.rows + i / SLOT_TABLE * 64, i % SLOT_TABLE);
    for (uint32_t i = thread; i < count; i += GF2_THREADS) {
        uint64_t *place = column + (rank + i) * a.stride;
        *place = ~mask ? *place & ~mask : 0;
    }
    if (moves) {
        uint64_t *to = column + window.target[thread] * a.stride;
        *to = ~mask ? (*to & ~mask) | moved : moved;
    }
    __syncthreads(); /* the tables are available */
    for (uint32_t i = thread; i < count; i += GF2_THREADS) {
        uint64_t sum = 0;
#pragma unroll
        for (uint32_t x = 0; x < GF2_SLOTS; x++)
            if (x < panels) sum ^= look_up<NIBBLES>(s.tables[x], window.sum[x][i]);
        a.right[w * GF2_DEPTH + i] = s.rows[i] = sum;
    }
    __syncthreads(); /* the sums are available */
    if (!a.packed) return;
    for (uint32_t slot = 0; slot < panels; slot++)
        pack(a, w, slot, thread / 32, s.rows + 64 * slot);
}

/* The first blocks have a word of the pivot rows, the others rows, whose multipliers are the
 * columns. a.panel is the first panel. Registers and shared memory are available next to a block of
 * gf2_mul. */
extern "C" __global__ void __launch_bounds__(GF2_THREADS, 4)
    gf2_window_rows(const __grid_constant__ struct gf2_echelon_args a)
{
    __shared__ struct window_rows_shared s;
    wait_for_earlier();
    const uint32_t panels = a.join->done_before - a.panel;
    if (panels - 1 >= GF2_SLOTS) return;
    if (blockIdx.x < a.strips) {
        window_word(a, a.panel + blockIdx.x, panels, s);
        return;
    }
    const uint64_t row = (blockIdx.x - a.strips) * (uint64_t)GF2_THREADS + threadIdx.x;
    const uint64_t rank = a.state[GF2_SLOTS - 1].begin;
    if (row >= a.rows || (row >= rank && row < rank + GF2_WINDOW_ROWS)) return;
    if (row < rank && !a.reduced) return;
#pragma unroll
    for (uint32_t i = 0; i < GF2_SLOTS; i++)
        if (i < panels) a.left[i * (uint64_t)a.rows + row] = a.a[row * a.stride + a.panel + i];
}

#endif
