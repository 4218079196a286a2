/*
 * gf2/cuda/batch_rows.cuh - one block eliminates a matrix whose rows are in its threads' registers.
 *
 * 32 columns at a time: a warp eliminates them (batch_panel.cuh); the original pivot rows go to
 * shared memory; for each five of them a table of all 32 linear combinations is made, in rows of an
 * odd number of words; a thread adds one entry of each table to its row.  Lanes then read different
 * banks for all entries.
 *
 * With an order, columns are permuted while the matrix is read: a warp transposes its 32 rows in
 * shared memory, where columns are then words, reads those in order, and transposes back.  Results
 * are written by the same steps in reverse.
 *
 *     shared    panel, tables of sums | words, row_at, pivot_column, taken of each row | x | order
 *               pivot rows, tables of them; before and after: staging for reads and writes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_BATCH_ROWS_CUH
#define ECHI_GF2_CUDA_BATCH_ROWS_CUH

#include "cuda/device/data_error.cuh"
#include "gf2/cuda/batch_panel.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* The parts of shared memory; the host computes the same size (batch_rows_bytes in batch.c). */
struct rows_shared {
    uint32_t sum_tables[BATCH_GROUPS][BATCH_ENTRIES];
    struct batch_panel panel;
    uint32_t marks[BATCH_WORDS], x[BATCH_WORDS];
};

struct rows_block {
    struct rows_shared *s;
    uint32_t *words, *row_at, *pivot_column, *taken; /* [threads] */
    uint32_t *order;                                 /* [cols], if there is one */
    uint32_t *room;
    uint64_t matrix;  /* its number */
    uint32_t columns; /* number of columns to search for pivots; 0 if the order is invalid */
};

static __device__ inline struct rows_block rows_block_of(const struct gf2_batch_args &a)
{
    struct rows_block k;
    k.s = (struct rows_shared *)shared_bytes;
    k.words = (uint32_t *)(k.s + 1);
    k.row_at = k.words + blockDim.x;
    k.pivot_column = k.row_at + blockDim.x;
    k.taken = k.pivot_column + blockDim.x;
    k.order = k.taken + blockDim.x;
    k.room = k.order + (a.order ? a.cols : 0);
    k.matrix = 0;
    k.columns = 0;
    return k;
}

/* ---- Orders ---- */

/* Reads this matrix's order, and appends the columns that are not in it.  An invalid order is
 * reported and becomes an order of no columns. */
static __device__ inline void read_order(const struct gf2_batch_args &a, struct rows_block &k)
{
    const uint32_t *from = a.order + k.matrix * a.columns;
    bool wrong = false;
    for (uint32_t i = threadIdx.x; i < BATCH_WORDS; i += blockDim.x) k.s->marks[i] = 0;
    __syncthreads(); /* all marks are clear */
    for (uint32_t i = threadIdx.x; i < a.columns; i += blockDim.x) {
        const uint32_t column = from[i];
        k.order[i] = column;
        wrong |= column >= a.cols ||
                 (atomicOr(&k.s->marks[column / 32], 1u << (column & 31)) >> (column & 31) & 1);
    }
    wrong = __syncthreads_or(wrong); /* all marks are set */
    if (wrong) {
        if (threadIdx.x == 0) {
            for (uint32_t i = 0; i < BATCH_WORDS; i++) k.s->marks[i] = 0;
            for (uint32_t i = 0; i < a.columns; i++) { /* the first invalid position */
                const uint32_t column = from[i], bit = 1u << (column & 31);
                if (column < a.cols && !(k.s->marks[column / 32] & bit)) {
                    k.s->marks[column / 32] |= bit;
                    continue;
                }
                report_error(a.data_error,
                             column < a.cols ? ECHI_ORDER_TWICE : ECHI_ORDER_TOO_LARGE,
                             k.matrix * a.columns + i);
                break;
            }
        }
        for (uint32_t i = threadIdx.x; i < a.cols; i += blockDim.x) k.order[i] = i;
        k.columns = 0;
    } else if (a.width > a.columns) {
        const uint32_t w = threadIdx.x;
        if (w < BATCH_WORDS && w * 32 < a.cols) {
            uint32_t at = a.columns, free = ~k.s->marks[w];
            for (uint32_t i = 0; i < w; i++) at += (uint32_t)__popc(~k.s->marks[i]);
            if (a.cols - w * 32 < 32) free &= (1u << (a.cols & 31)) - 1;
            for (; free; free &= free - 1) k.order[at++] = w * 32 + (uint32_t)__ffs((int)free) - 1;
        }
    }
    __syncthreads(); /* the order is written */
}

/* ---- Reading and writing a matrix ---- */

static __device__ inline uint32_t *warp_room(const struct rows_block &k, uint32_t pitch)
{
    return k.room + threadIdx.x / 32 * 32 * pitch;
}

/* Loads 32 rows of the matrix from word `begin` on, `count` words of 64 bits: lanes read contiguous
 * words. */
static __device__ inline void load_rows(const struct gf2_batch_args &a, const struct rows_block &k,
                                        uint32_t *room, uint32_t pitch, uint32_t begin,
                                        uint32_t count, uint32_t count_bits)
{
    const uint64_t *from = a.a + k.matrix * a.step;
    const uint32_t row0 = threadIdx.x & ~31u, words = (a.cols + 63) / 64;
#pragma unroll 4
    for (uint32_t i = lane_id(); i < 32u << count_bits; i += 32) {
        const uint32_t r = i >> count_bits, q = i & ((1u << count_bits) - 1);
        if (q >= count) continue;
        const bool there = row0 + r < a.rows && begin + q < words;
        const uint64_t word = there ? from[(row0 + r) * a.stride + begin + q] : 0;
        room[r * pitch + 2 * q] = (uint32_t)word;
        room[r * pitch + 2 * q + 1] = (uint32_t)(word >> 32);
    }
}

static __device__ inline void store_rows(const struct gf2_batch_args &a, const struct rows_block &k,
                                         const uint32_t *room, uint32_t pitch, uint32_t begin,
                                         uint32_t count, uint32_t count_bits,
                                         const uint32_t *row_of)
{
    uint64_t *to = a.out + k.matrix * a.step;
    const uint32_t row0 = threadIdx.x & ~31u, words = (a.cols + 63) / 64;
    for (uint32_t i = lane_id(); i < 32u << count_bits; i += 32) {
        const uint32_t r = i >> count_bits, q = i & ((1u << count_bits) - 1);
        if (q >= count || row0 + r >= a.rows || begin + q >= words) continue;
        const uint64_t word = room[r * pitch + 2 * q] | (uint64_t)room[r * pitch + 2 * q + 1] << 32;
        store_masked(&to[row_of[row0 + r] * a.stride + begin + q], word,
                     columns_below(a.cols, begin + q));
    }
}

static __device__ inline uint32_t bits_for(uint32_t n)
{
    uint32_t bits = 0;
    while (1u << bits < n) bits++;
    return bits;
}

/* Transposes each 32 x 32 block of the warp's rows in place. */
static __device__ inline void turn_room(uint32_t *room, uint32_t pitch, uint32_t squares)
{
    __syncwarp(WARP_ALL); /* the staging area is filled */
    for (uint32_t q = 0; q < squares; q++)
        room[lane_id() * pitch + q] = turn_warp(room[lane_id() * pitch + q]);
    __syncwarp(WARP_ALL); /* all blocks are transposed */
}

template <int WORDS>
static __device__ inline void read_matrix(const struct gf2_batch_args &a,
                                          const struct rows_block &k, uint32_t (&v)[WORDS])
{
    if (a.order) {
        const uint32_t squares = (a.cols + 31) / 32, pairs = (a.cols + 63) / 64;
        const uint32_t pitch = 2 * pairs + 1;
        uint32_t *room = warp_room(k, pitch);
        load_rows(a, k, room, pitch, 0, pairs, bits_for(pairs));
        turn_room(room, pitch, squares);
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            const uint32_t i = w * 32 + lane_id();
            if (w * 32 >= a.width) {
                v[w] = 0;
                continue;
            }
            const uint32_t column = i < a.width ? k.order[i] : 0;
            v[w] = turn_warp(i < a.width ? room[(column & 31) * pitch + column / 32] : 0);
        }
        return;
    }
    const uint32_t pitch = BATCH_STAGE_WORDS + 1;
    uint32_t *room = warp_room(k, pitch);
#pragma unroll
    for (int part = 0; part < WORDS; part += BATCH_STAGE_WORDS) {
        const uint32_t words = WORDS - part < BATCH_STAGE_WORDS ? WORDS - part : BATCH_STAGE_WORDS;
        load_rows(a, k, room, pitch, part / 2, words / 2, bits_for(words / 2));
        __syncwarp(WARP_ALL); /* the staging area is filled */
#pragma unroll
        for (int w = 0; w < BATCH_STAGE_WORDS; w++)
            if (part + w < WORDS) v[part + w] = room[lane_id() * pitch + w];
        __syncwarp(WARP_ALL); /* ... and read */
    }
}

/* Thread t's row goes to row row_of[t]. */
template <int WORDS>
static __device__ inline void write_matrix(const struct gf2_batch_args &a,
                                           const struct rows_block &k, const uint32_t (&v)[WORDS],
                                           const uint32_t *row_of)
{
    if (a.order) {
        const uint32_t squares = (a.cols + 31) / 32, pairs = (a.cols + 63) / 64;
        const uint32_t pitch = 2 * pairs + 1;
        uint32_t *room = warp_room(k, pitch);
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            const uint32_t i = w * 32 + lane_id();
            if (w * 32 >= a.cols) continue;
            const uint32_t word = turn_warp(v[w]);
            if (i < a.cols) room[(k.order[i] & 31) * pitch + k.order[i] / 32] = word;
        }
        if (a.cols & 31) { /* padding that no column is written to */
            if (lane_id() >= (a.cols & 31)) room[lane_id() * pitch + squares - 1] = 0;
        }
        turn_room(room, pitch, squares);
        if (squares & 1) room[lane_id() * pitch + squares] = 0;
        __syncwarp(WARP_ALL); /* the staging area is filled */
        store_rows(a, k, room, pitch, 0, pairs, bits_for(pairs), row_of);
        return;
    }
    const uint32_t pitch = BATCH_STAGE_WORDS + 1;
    uint32_t *room = warp_room(k, pitch);
#pragma unroll
    for (int part = 0; part < WORDS; part += BATCH_STAGE_WORDS) {
        const uint32_t words = WORDS - part < BATCH_STAGE_WORDS ? WORDS - part : BATCH_STAGE_WORDS;
#pragma unroll
        for (int w = 0; w < BATCH_STAGE_WORDS; w++)
            if (part + w < WORDS) room[lane_id() * pitch + w] = v[part + w];
        __syncwarp(WARP_ALL); /* the staging area is filled */
        store_rows(a, k, room, pitch, part / 2, words / 2, bits_for(words / 2), row_of);
        __syncwarp(WARP_ALL); /* ... and read */
    }
}

/* ---- Elimination ---- */

/* All linear combinations of each five pivot rows, in Gray code order: a thread makes half of a
 * table's entries for one word. */
template <int WORDS>
static __device__ inline void make_row_tables(const uint32_t *pivots, uint32_t *tables,
                                              uint32_t found)
{
    enum { PITCH = WORDS + 1, HALF = BATCH_ENTRIES / 2 };
    const uint32_t groups = (found + BATCH_GROUP - 1) / BATCH_GROUP;
    for (uint32_t i = threadIdx.x; i < groups * 2 * WORDS; i += blockDim.x) {
        const uint32_t word = i % WORDS, half = i / WORDS & 1, group = i / WORDS / 2;
        uint32_t row[BATCH_GROUP];
#pragma unroll
        for (uint32_t r = 0; r < BATCH_GROUP; r++) {
            const uint32_t t = group * BATCH_GROUP + r;
            row[r] = t < found ? pivots[t * PITCH + word] : 0;
        }
        uint32_t sum = half ? row[BATCH_GROUP - 1] : 0;
        uint32_t *to = tables + (group * BATCH_ENTRIES + half * HALF) * PITCH + word;
#pragma unroll
        for (uint32_t e = 0; e < HALF; e++) {
            to[(e ^ e >> 1) * PITCH] = sum;
            if (e + 1 < HALF)
                sum ^= (e + 1) & 1 ? row[0] : (e + 1) & 2 ? row[1] : (e + 1) & 4 ? row[2] : row[3];
        }
    }
}

/* The pivot rows are zero in the words before `from`. */
template <int WORDS>
static __device__ inline void add_rows(const uint32_t *tables, uint32_t (&v)[WORDS], uint32_t sum,
                                       uint32_t found, uint32_t from)
{
    enum { PITCH = WORDS + 1, STEP = WORDS < 4 ? WORDS : 4 };
    for (uint32_t t = 0; t < found; t += BATCH_GROUP) {
        const uint32_t entry = sum >> t & (BATCH_ENTRIES - 1);
        const uint32_t *row = tables + (t / BATCH_GROUP * BATCH_ENTRIES + entry) * PITCH;
#pragma unroll
        for (int w = 0; w < WORDS; w += STEP) {
            if (w + STEP <= from) continue;
#pragma unroll
            for (int i = 0; i < STEP; i++) v[w + i] ^= row[w + i];
        }
    }
}

template <int WORDS>
static __device__ inline uint32_t word_of(const uint32_t (&v)[WORDS], uint32_t at)
{
    uint32_t word = 0;
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        if (w == at) word = v[w];
    return word;
}

/* Writes the solution after the elimination: b is the transformed bit of the thread's row. */
static __device__ inline void write_solution(const struct gf2_batch_args &a,
                                             const struct rows_block &k, uint32_t rank, bool b,
                                             bool is_pivot)
{
    const uint32_t words = (a.cols + 63) / 64;
    for (uint32_t i = threadIdx.x; i < BATCH_WORDS; i += blockDim.x) k.s->x[i] = 0;
    k.words[threadIdx.x] = b;
    const bool solvable = !__syncthreads_or(b && !is_pivot); /* all rows are final */
    if (solvable && threadIdx.x < rank && k.words[k.row_at[threadIdx.x]]) {
        const uint32_t at = k.pivot_column[threadIdx.x], column = a.order ? k.order[at] : at;
        atomicOr(&k.s->x[column / 32], 1u << (column & 31));
    }
    __syncthreads(); /* x is written */
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        a.x[k.matrix * words + i] = k.s->x[2 * i] | (uint64_t)k.s->x[2 * i + 1] << 32;
    if (threadIdx.x == 0) a.solvable[k.matrix] = solvable;
}

template <int WORDS>
static __device__ inline void eliminate_matrix(const struct gf2_batch_args &a, struct rows_block &k)
{
    enum { PITCH = WORDS + 1 };
    uint32_t *pivots = k.room, *tables = k.room + BATCH_PANEL * PITCH;
    const uint32_t row = threadIdx.x, least = a.rows < a.cols ? a.rows : a.cols;
    const bool stops = a.b && !a.out && !a.rank && !a.pivots; /* ends when b is decided */
    uint32_t v[WORDS], rank = 0;
    bool is_pivot = false, b = false;
    k.columns = a.columns;
    if (a.order) read_order(a, k);
    read_matrix<WORDS>(a, k, v);
    if (a.b && row < a.rows) b = a.b[k.matrix * ((a.rows + 63) / 64) + row / 64] >> (row & 63) & 1;
    k.row_at[row] = row;
    k.taken[row] = 0;
    for (uint32_t at = 0; at * 32 < k.columns && rank < a.max_rank; at++) {
        const uint32_t left = k.columns - at * 32;
        const struct panel_rows p = { k.words,        k.row_at,
                                      k.pivot_column, a.rows,
                                      rank,           left < 32 ? left : 32,
                                      at * 32,        a.max_rank - rank };
        const uint32_t word = word_of<WORDS>(v, at);
        k.words[row] = word;
        const bool more = __syncthreads_or(stops ? b && !is_pivot : 1); /* the words are written */
        if (!more) break;
        panel_eliminate(p, &k.s->panel);
        const uint32_t found = k.s->panel.found;
        if (row < found) k.taken[k.row_at[rank + row]] = row + 1;
        make_sum_tables(&k.s->panel, k.s->sum_tables);
        __syncthreads(); /* pivot rows are marked, the combinations are written */
        const uint32_t taken = k.taken[row];
        const bool last = rank + found == a.max_rank || left <= 32;
        uint32_t sum = 0;
        if (taken) {
            if (!last || a.out) {
#pragma unroll
                for (int w = 0; w < WORDS; w++) pivots[(taken - 1) * PITCH + w] = v[w];
            }
            if (b) atomicOr(&k.s->panel.b, 1u << (taken - 1));
            sum = sum_of_pivot(&k.s->panel, taken - 1, a.reduced);
            k.taken[row] = 0;
        } else if (a.reduced || !is_pivot) {
            sum = sum_of_word(k.s->sum_tables, word);
        }
        is_pivot |= taken != 0;
        __syncthreads(); /* the pivot rows and their bits of b are written */
        b ^= __popc(sum & k.s->panel.b) & 1;
        rank += found;
        if (last && !a.out) break;
        make_row_tables<WORDS>(pivots, tables, found);
        __syncthreads(); /* the tables are written */
        if (__any_sync(WARP_ALL, sum != 0)) add_rows<WORDS>(tables, v, sum, found, at);
    }
    if (a.out || a.b) __syncthreads(); /* row_at is written, the tables may be overwritten */
    if (a.out) {
        if (row < a.rows) k.words[k.row_at[row]] = row; /* the inverse */
        __syncthreads();                                /* all threads know the place of their
                                                           row */
        write_matrix<WORDS>(a, k, v, k.words);
    }
    if (a.rank && row == 0) a.rank[k.matrix] = rank;
    if (a.pivots && row < rank) {
        const uint32_t column = k.pivot_column[row];
        a.pivots[k.matrix * least + row] = a.order ? k.order[column] : column;
    }
    if (a.b) {
        if (a.out) __syncthreads(); /* k.words may be overwritten */
        write_solution(a, k, rank, b, is_pivot);
    }
}

template <int WORDS> static __device__ inline void eliminate_in_rows(const struct gf2_batch_args &a)
{
    struct rows_block k = rows_block_of(a);
    for (k.matrix = blockIdx.x; k.matrix < a.count; k.matrix += gridDim.x) {
        eliminate_matrix<WORDS>(a, k);
        __syncthreads(); /* shared memory may be written again */
    }
}

#endif
