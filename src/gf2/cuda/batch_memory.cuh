/*
 * gf2/cuda/batch_memory.cuh - one block eliminates a matrix of any size in memory: in shared memory
 * if it fits, otherwise in a slot of the workspace.
 *
 * Like batch_rows.cuh, with rows in memory instead of registers.  The columns of a panel are
 * extracted from the rows, wherever an order has them.  Tables are made for one strip of the pivot
 * rows at a time, and a warp updates several rows at once, with adjacent lanes on adjacent words.
 *
 *     slot    matrix | words, sums, row_at, b of each row | pivot_column | marks
 *
 * A panel of one column is plain elimination.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_BATCH_MEMORY_CUH
#define ECHI_GF2_CUDA_BATCH_MEMORY_CUH

#include "cuda/device/data_error.cuh"
#include "gf2/cuda/batch_panel.cuh"

/* In shared memory, before the variable part; the host computes the same size. */
struct memory_shared {
    uint64_t tables[BATCH_GROUPS][BATCH_ENTRIES][BATCH_STRIP];
    uint32_t sum_tables[BATCH_GROUPS][BATCH_ENTRIES];
    uint32_t pivot_row[BATCH_PANEL];
    struct batch_panel panel;
};

struct memory_block {
    struct memory_shared *s;
    uint64_t *m; /* the matrix: rows of `pitch` words */
    uint64_t pitch;
    uint32_t *words, *sums, *row_at, *b, *pivot_column, *marks;
    uint64_t matrix;  /* its number */
    uint32_t columns; /* number of columns to search for pivots; 0 if the order is invalid */
};

extern __shared__ __align__(16) unsigned char shared_bytes[];

static __device__ inline struct memory_block memory_block_of(const struct gf2_batch_args &a)
{
    struct memory_block k;
    uint64_t *slot = a.slots + blockIdx.x * a.slot_words;
    uint64_t *room = (uint64_t *)(shared_bytes + sizeof(struct memory_shared));
    k.s = (struct memory_shared *)shared_bytes;
    k.pitch = (a.cols + 63) / 64;
    const uint64_t matrix_words = a.rows * k.pitch;
    k.m = a.in_shared ? room : slot;
    if (a.in_shared)
        room += matrix_words;
    else
        slot += matrix_words;
    k.words = (uint32_t *)(a.lists_in_shared ? room : slot);
    k.sums = k.words + a.rows;
    k.row_at = k.sums + a.rows;
    k.b = k.row_at + a.rows;
    k.pivot_column = k.b + a.rows;
    k.marks = k.pivot_column + (a.rows < a.cols ? a.rows : a.cols);
    k.matrix = 0;
    k.columns = 0;
    return k;
}

/* The number of a column in the matrix. */
static __device__ inline uint32_t column_at(const struct gf2_batch_args &a,
                                            const struct memory_block &k, uint32_t i)
{
    return a.order ? a.order[k.matrix * a.columns + i] : i;
}

/* Checks the order; an invalid one is reported and becomes an order of no columns. */
static __device__ inline void check_order(const struct gf2_batch_args &a, struct memory_block &k)
{
    const uint32_t *from = a.order + k.matrix * a.columns;
    bool wrong = false;
    for (uint32_t i = threadIdx.x; i < (a.cols + 31) / 32; i += blockDim.x) k.marks[i] = 0;
    __syncthreads(); /* all marks are clear */
    for (uint32_t i = threadIdx.x; i < a.columns; i += blockDim.x) {
        const uint32_t column = from[i];
        wrong |= column >= a.cols ||
                 (atomicOr(&k.marks[column / 32], 1u << (column & 31)) >> (column & 31) & 1);
    }
    wrong = __syncthreads_or(wrong); /* all threads know */
    if (!wrong) return;
    k.columns = 0;
    for (uint32_t i = threadIdx.x; i < (a.cols + 31) / 32; i += blockDim.x) k.marks[i] = 0;
    __syncthreads(); /* all marks are clear */
    if (threadIdx.x != 0) return;
    for (uint32_t i = 0; i < a.columns; i++) { /* the first invalid position */
        const uint32_t column = from[i], bit = 1u << (column & 31);
        if (column < a.cols && !(atomicOr(&k.marks[column / 32], bit) & bit)) continue;
        report_error(a.data_error, column < a.cols ? ECHI_ORDER_TWICE : ECHI_ORDER_TOO_LARGE,
                     k.matrix * a.columns + i);
        return;
    }
}

/* ---- Reading and writing ---- */

/* Lanes process contiguous words, of as many rows as a warp has lanes for. */
struct spread {
    uint32_t bits; /* 2^bits lanes per row */
    uint64_t row, rows, word, words;
};

static __device__ inline struct spread spread_of(uint64_t pitch)
{
    struct spread s;
    s.bits = 0;
    while (s.bits < 5 && pitch > 1u << s.bits) s.bits++;
    s.words = 1u << s.bits;
    s.rows = blockDim.x >> s.bits;
    s.row = threadIdx.x >> s.bits;
    s.word = threadIdx.x & (s.words - 1);
    return s;
}

static __device__ inline void read_to_memory(const struct gf2_batch_args &a,
                                             const struct memory_block &k)
{
    const struct spread s = spread_of(k.pitch);
    const uint64_t *from = a.a + k.matrix * a.step;
    const uint64_t *b = a.b + (a.b ? k.matrix * ((a.rows + 63) / 64) : 0);
    for (uint64_t row = s.row; row < a.rows; row += s.rows)
        for (uint64_t w = s.word; w < k.pitch; w += s.words)
            k.m[row * k.pitch + w] = from[row * a.stride + w];
    for (uint32_t row = threadIdx.x; row < a.rows; row += blockDim.x) {
        k.row_at[row] = row;
        k.b[row] = a.b ? (uint32_t)(b[row / 64] >> (row & 63)) & 1 : 0;
    }
}

static __device__ inline void write_from_memory(const struct gf2_batch_args &a,
                                                const struct memory_block &k)
{
    const struct spread s = spread_of(k.pitch);
    uint64_t *to = a.out + k.matrix * a.step;
    for (uint64_t row = s.row; row < a.rows; row += s.rows) {
        const uint64_t from = k.row_at[row];
        for (uint64_t w = s.word; w < k.pitch; w += s.words)
            store_masked(&to[row * a.stride + w], k.m[from * k.pitch + w],
                         columns_below(a.cols, w));
    }
}

/* ---- Elimination ---- */

/* Extracts the bits of each row in `count` columns from first on. */
static __device__ inline void take_columns(const struct gf2_batch_args &a,
                                           const struct memory_block &k, uint32_t first,
                                           uint32_t count)
{
    if (!a.order && first % 32 == 0) {
        for (uint32_t row = threadIdx.x; row < a.rows; row += blockDim.x)
            k.words[row] = (uint32_t)(k.m[row * k.pitch + first / 64] >> (first & 32));
        return;
    }
    for (uint32_t row = threadIdx.x; row < a.rows; row += blockDim.x) {
        const uint64_t *from = k.m + row * k.pitch;
        uint32_t word = 0;
#pragma unroll 8
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t column = column_at(a, k, first + i);
            word |= (uint32_t)(from[column / 64] >> (column & 63) & 1) << i;
        }
        k.words[row] = word;
    }
}

/* Replaces words by the combination of pivot rows to add to each row, and updates b. */
static __device__ inline void find_sums(const struct gf2_batch_args &a,
                                        const struct memory_block &k, uint32_t rank)
{
    struct memory_shared *s = k.s;
    const uint32_t found = s->panel.found;
    if (threadIdx.x < found) {
        const uint32_t row = k.row_at[rank + threadIdx.x];
        s->pivot_row[threadIdx.x] = row;
        if (k.b[row]) atomicOr(&s->panel.b, 1u << threadIdx.x);
    }
    __syncthreads(); /* the pivot rows, their bits of b, and the tables of sums are written */
    for (uint32_t at = threadIdx.x; at < a.rows; at += blockDim.x) {
        const uint32_t row = k.row_at[at];
        uint32_t sum = 0;
        if (at >= rank && at < rank + found)
            sum = sum_of_pivot(&s->panel, at - rank, a.reduced);
        else if (at >= rank || a.reduced)
            sum = sum_of_word(s->sum_tables, k.words[row]);
        k.sums[row] = sum;
        k.b[row] ^= __popc(sum & s->panel.b) & 1;
    }
}

/* The tables of a strip of the pivot rows: a thread makes half of a table's entries for one
 * word. */
static __device__ inline void make_strip_tables(const struct memory_block &k, uint64_t strip)
{
    enum { HALF = BATCH_ENTRIES / 2 };
    const uint32_t found = k.s->panel.found, groups = (found + BATCH_GROUP - 1) / BATCH_GROUP;
    for (uint32_t i = threadIdx.x; i < groups * 2 * BATCH_STRIP; i += blockDim.x) {
        const uint32_t word = i % BATCH_STRIP, half = i / BATCH_STRIP & 1;
        const uint32_t group = i / BATCH_STRIP / 2;
        uint64_t row[BATCH_GROUP];
#pragma unroll
        for (uint32_t r = 0; r < BATCH_GROUP; r++) {
            const uint32_t t = group * BATCH_GROUP + r;
            row[r] = t < found && strip + word < k.pitch
                         ? k.m[k.s->pivot_row[t] * k.pitch + strip + word]
                         : 0;
        }
        uint64_t sum = half ? row[BATCH_GROUP - 1] : 0;
        uint64_t(*to)[BATCH_STRIP] = k.s->tables[group] + half * HALF;
#pragma unroll
        for (uint32_t e = 0; e < HALF; e++) {
            to[e ^ e >> 1][word] = sum;
            if (e + 1 < HALF)
                sum ^= (e + 1) & 1 ? row[0] : (e + 1) & 2 ? row[1] : (e + 1) & 4 ? row[2] : row[3];
        }
    }
}

static __device__ inline uint64_t strip_sum(const struct memory_block &k, uint32_t sum,
                                            uint32_t word)
{
    uint64_t all = 0;
#pragma unroll
    for (uint32_t g = 0; g < BATCH_GROUPS; g++) {
        if (!(sum >> g * BATCH_GROUP)) break;
        all ^= k.s->tables[g][sum >> (g * BATCH_GROUP) & (BATCH_ENTRIES - 1)][word];
    }
    return all;
}

static __device__ inline void add_strip(const struct gf2_batch_args &a,
                                        const struct memory_block &k, uint64_t strip)
{
    const uint64_t left = k.pitch - strip;
    const struct spread s = spread_of(left < BATCH_STRIP ? left : (uint64_t)BATCH_STRIP);
    if (s.word >= left) return;
    for (uint64_t row0 = s.row; row0 < a.rows; row0 += BATCH_STRIP_ROWS * s.rows) {
        uint64_t value[BATCH_STRIP_ROWS];
        uint32_t sum[BATCH_STRIP_ROWS];
#pragma unroll
        for (int i = 0; i < BATCH_STRIP_ROWS; i++) {
            const uint64_t row = row0 + i * s.rows;
            sum[i] = row < a.rows ? k.sums[row] : 0;
            if (sum[i]) value[i] = k.m[row * k.pitch + strip + s.word];
        }
#pragma unroll
        for (int i = 0; i < BATCH_STRIP_ROWS; i++) {
            const uint64_t row = row0 + i * s.rows;
            if (!sum[i]) continue;
            k.m[row * k.pitch + strip + s.word] = value[i] ^ strip_sum(k, sum[i], (uint32_t)s.word);
        }
    }
}

static __device__ inline void write_memory_solution(const struct gf2_batch_args &a,
                                                    const struct memory_block &k, uint32_t rank)
{
    const uint64_t words = (a.cols + 63) / 64;
    bool bad = false;
    for (uint32_t i = threadIdx.x; i < 2 * words; i += blockDim.x)
        if (i < (a.cols + 31) / 32) k.marks[i] = 0;
    for (uint32_t at = rank + threadIdx.x; at < a.rows; at += blockDim.x) bad |= k.b[k.row_at[at]];
    const bool solvable = !__syncthreads_or(bad); /* x is cleared */
    for (uint32_t at = threadIdx.x; solvable && at < rank; at += blockDim.x) {
        if (!k.b[k.row_at[at]]) continue;
        const uint32_t column = column_at(a, k, k.pivot_column[at]);
        atomicOr(&k.marks[column / 32], 1u << (column & 31));
    }
    __syncthreads(); /* x is written */
    for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) {
        const uint64_t low = atomicOr(&k.marks[2 * i], 0);
        const uint64_t high = (2 * i + 1) * 32 < a.cols ? atomicOr(&k.marks[2 * i + 1], 0) : 0;
        a.x[k.matrix * words + i] = low | high << 32;
    }
    if (threadIdx.x == 0) a.solvable[k.matrix] = solvable;
}

/* Whether any non-pivot row has a one in b. */
static __device__ inline bool b_is_left(const struct gf2_batch_args &a,
                                        const struct memory_block &k, uint32_t rank)
{
    bool left = false;
    for (uint32_t at = rank + threadIdx.x; at < a.rows; at += blockDim.x)
        left |= k.b[k.row_at[at]] != 0;
    return __syncthreads_or(left);
}

static __device__ inline void eliminate_in_memory_one(const struct gf2_batch_args &a,
                                                      struct memory_block &k)
{
    const bool stops = a.b && !a.out && !a.rank && !a.pivots; /* ends when b is decided */
    const uint32_t least = a.rows < a.cols ? a.rows : a.cols;
    uint32_t rank = 0;
    k.columns = a.columns;
    if (a.order) check_order(a, k);
    read_to_memory(a, k);
    __syncthreads(); /* the matrix is loaded */
    for (uint32_t first = 0; first < k.columns && rank < a.max_rank;) {
        const uint32_t left = k.columns - first, count = left < a.panel ? left : a.panel;
        const struct panel_rows p = { k.words, k.row_at, k.pivot_column, a.rows,
                                      rank,    count,    first,          a.max_rank - rank };
        if (stops && !b_is_left(a, k, rank)) break;
        take_columns(a, k, first, count);
        __syncthreads(); /* the panel's columns are written */
        panel_eliminate(p, &k.s->panel);
        const uint32_t found = k.s->panel.found;
        first += count;
        if (found == 0) continue;
        make_sum_tables(&k.s->panel, k.s->sum_tables);
        find_sums(a, k, rank);
        rank += found;
        const bool last = rank == a.max_rank || first >= k.columns;
        /* Pivot rows are zero before the panel, unless an order takes columns from other places. */
        const uint64_t begin = a.order ? 0 : (first - count) / 64 / BATCH_STRIP * BATCH_STRIP;
        __syncthreads(); /* the combinations of rows are written */
        if (last && !a.out) break;
        for (uint64_t strip = begin; strip < k.pitch; strip += BATCH_STRIP) {
            make_strip_tables(k, strip);
            __syncthreads(); /* the tables are written, and all threads have read the pivot rows */
            add_strip(a, k, strip);
            __syncthreads(); /* the strip is done */
        }
    }
    __syncthreads(); /* row_at and pivot_column are written */
    if (a.out) write_from_memory(a, k);
    if (a.rank && threadIdx.x == 0) a.rank[k.matrix] = rank;
    for (uint32_t i = threadIdx.x; a.pivots && i < rank; i += blockDim.x)
        a.pivots[k.matrix * least + i] = column_at(a, k, k.pivot_column[i]);
    if (a.b) write_memory_solution(a, k, rank);
}

static __device__ inline void eliminate_in_memory(const struct gf2_batch_args &a)
{
    struct memory_block k = memory_block_of(a);
    for (k.matrix = blockIdx.x; k.matrix < a.count; k.matrix += gridDim.x) {
        eliminate_in_memory_one(a, k);
        __syncthreads(); /* shared memory may be written again */
    }
}

#endif
