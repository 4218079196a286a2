/*
 * sparse/cuda/kernels.cu - sparse matrices on the GPU, device code; this file has products with
 * vectors.
 *
 * A warp processes the rows of one tile in steps.  A step is as many of the next 32 rows as have no
 * more than 256 entries in total, or 256 entries of a longer row.  No warp waits for another.
 *
 *     1  products      values times x, into shared memory, in memory order
 *     2  sums          of a row of one chunk by a lane; of other rows by eight lanes, a chunk each
 *     3  shared rows   a row of several tiles: the sums of groups of 256 entries are stored; the
 *                      warp that finishes the last group of a span adds up the span, and the one
 *                      that finishes the last span of the row adds up the spans
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse/cuda/make.cuh"
#include "sparse/cuda/wide.cuh"

enum {
    WARPS = SPARSE_THREADS / 32,
    CHUNKS = SPARSE_GROUP / SPARSE_CHUNK,
    LONG_ROWS = (SPARSE_TILE_MOST + SPARSE_WHOLE) / SPARSE_GROUP + 2, /* of a tile, maximum */
    MOST_BLOCKS = MULTIPROCESSOR_THREADS / SPARSE_THREADS,
    FULL_BLOCKS = REAL_BITS == 32 ? 9 : 6, /* blocks that have registers for 256 entries per warp */
    BLOCKS = FULL_BLOCKS < MOST_BLOCKS ? FULL_BLOCKS : MOST_BLOCKS, /* per multiprocessor */
    DIGITS = 5,                       /* of the number of groups of a tile, maximum */
    SPAN = 32 * JOIN_EACH,            /* groups that a warp adds up as a unit */
    SHORT = 16,                       /* entries of rows whose sums cannot have bank conflicts */
    VECTOR = REAL_BITS == 32 ? 4 : 1, /* products of a row that a lane reads at once */
    STRIDE = 32 + VECTOR              /* of a lane's products; avoids most bank conflicts */
};

union vector {
    uint4 all;
    float each[4];
};

/* A row that needs several steps, or that other tiles share: its entries in the tile. */
struct long_row {
    uint16_t row, at, end;
};

struct warp_shared {
    __align__(VECTOR * sizeof(real)) real product[CHUNKS * STRIDE];
    real digit[DIGITS]; /* of a binary counter: sums of 2^i groups */
    struct long_row rows[LONG_ROWS];
};

static __device__ inline void put(const struct sparse_args &a, uint64_t row, real sum)
{
    put_at(a, (real *)a.y + row, sum);
}

/* ---- 1 ---- */

/* Multiplies SURE * 32 entries, and the existing ones of MORE * 32 further entries; left: their
 * number from the lane's first on.  A lane has every STEP-th product.
 * Vectors of products are complete. */
template <int SURE, int MORE, int STEP>
static __device__ inline void multiply_some(const struct sparse_args &a, const index_type *columns,
                                            const real *values, int32_t left, real *product)
{
    const real *x = (const real *)a.x;
    index_type column[SURE + MORE];
    real value[SURE + MORE], other[SURE + MORE];
    columns = keep_pointer(columns);
    values = keep_pointer(values);
#pragma unroll
    for (int k = 0; k < SURE + MORE; k++)
        column[k] = k < SURE || 32 * k < left ? __ldcs(columns + 32 * k) : 0;
#pragma unroll
    for (int k = 0; k < SURE + MORE; k++)
        value[k] = k < SURE || 32 * k < left ? __ldcs(values + 32 * k) : 0;
    __syncwarp(); /* for the compiler: issues all loads before the first use */
#pragma unroll
    for (int k = 0; k < SURE + MORE; k++)
        other[k] = k < SURE || 32 * k < left
                       ? __ldg(x + (column[k] < (index_type)a.cols ? column[k] : 0))
                       : 0;
    __syncwarp(); /* as above */
#pragma unroll
    for (int k = 0; k < SURE + MORE; k++)
        if (VECTOR > 1 || k < SURE || 32 * k < left) product[k * STEP] = value[k] * other[k];
}

/* n entries, at most SPARSE_GROUP.  LINES: 32 products are adjacent, otherwise all. */
template <bool LINES>
static __device__ inline void multiply(const struct sparse_args &a, uint64_t entry, uint32_t n,
                                       struct warp_shared &s)
{
    const index_type *columns = (const index_type *)a.columns + entry + lane_id();
    const real *values = (const real *)a.values + entry + lane_id();
    const int32_t left = (int32_t)(n - lane_id());
    real *product = s.product + lane_id();
    enum { STEP = LINES ? (int)STRIDE : 32 };
    if (n <= 128)
        multiply_some<0, 4, STEP>(a, columns, values, left, product);
    else if (n <= 192)
        multiply_some<4, 2, STEP>(a, columns, values, left, product);
    else
        multiply_some<6, 2, STEP>(a, columns, values, left, product);
    __syncwarp(); /* the products are written */
}

/* ---- 2 ---- */

/* A chunk of contiguous products; -0, the identity of addition, if it is empty. */
static __device__ inline real add_chunk(const real *product, uint32_t count)
{
    real sum = (real)-0.0;
#pragma unroll 4
    for (uint32_t i = 0; i < count; i++) sum += product[i];
    return sum;
}

/* The same for products with stride STRIDE. */
static __device__ inline real add_lines(const struct warp_shared &s, uint32_t at, uint32_t count)
{
    real sum = (real)-0.0;
    if (VECTOR == 1) {
#pragma unroll 4
        for (uint32_t i = 0; i < count; i++) sum += s.product[at + i + (at + i) / 32];
        return sum;
    }
    const uint32_t end = count ? at + count : 0;
#pragma unroll 1
    for (uint32_t i = at / VECTOR * VECTOR; i < end; i += VECTOR) {
        union vector products;
        products.all = *(const uint4 *)(s.product + i + i / 32 * VECTOR);
#pragma unroll
        for (uint32_t k = 0; k < VECTOR; k++)
            if (i + k - at < count) sum += products.each[k]; /* unsigned: also before `at` */
    }
    return sum;
}

/* The sums of groups of 8 lanes; each group's first lane has its sum. */
static __device__ inline real add_chunks(real sum)
{
#pragma unroll
    for (int step = 1; step < CHUNKS; step *= 2) sum += __shfl_xor_sync(WARP_ALL, sum, step);
    return sum;
}

static __device__ inline real add_group(const struct warp_shared &s, uint32_t n)
{
    const uint32_t at = lane_id() * SPARSE_CHUNK;
    const uint32_t count = at < n ? least(n - at, SPARSE_CHUNK) : 0;
    return add_chunks(VECTOR == 1 ? add_chunk(s.product + lane_id() * STRIDE, count)
                                  : add_lines(s, at, count));
}

/* The products of a lane's row, and whether the lane has a row. */
struct lane_row {
    uint32_t at, count;
    bool there;
};

static __device__ inline void add_rows(const struct sparse_args &a, uint64_t row,
                                       const struct lane_row &mine, const struct warp_shared &s)
{
    if (mine.there && mine.count <= SPARSE_CHUNK) {
        const real sum = add_lines(s, mine.at, mine.count);
        put(a, row + lane_id(), mine.count ? sum : 0);
    }
    uint32_t others = __ballot_sync(WARP_ALL, mine.there && mine.count > SPARSE_CHUNK);
    while (others) { /* four at a time */
        uint32_t mask = others;
        for (uint32_t i = 0; i < 4; i++) {
            if (i < lane_id() / CHUNKS) mask &= mask - 1;
            others &= others - 1;
        }
        const uint32_t which = mask ? __ffs((int)mask) - 1 : 0;
        const uint32_t at = __shfl_sync(WARP_ALL, mine.at, which);
        const uint32_t all = __shfl_sync(WARP_ALL, mine.count, which), count = mask ? all : 0;
        const uint32_t from = lane_id() % CHUNKS * SPARSE_CHUNK;
        const real sum = add_chunks(
            add_lines(s, at + from, from < count ? least(count - from, SPARSE_CHUNK) : 0));
        if (mask && lane_id() % CHUNKS == 0) put(a, row + which, sum);
    }
}

/* ---- Binary counters of sums, by one lane ---- */

static __device__ inline void count_sum(real *digit, uint64_t count, real sum)
{
    uint32_t l = 0;
    for (; count >> l & 1; l++) sum = digit[l] + sum;
    digit[l] = sum;
}

static __device__ inline real counted_sum(const real *digit, uint64_t count)
{
    uint32_t l = __ffsll((long long)count) - 1;
    real sum = digit[l];
    for (l++; count >> l; l++)
        if (count >> l & 1) sum = digit[l] + sum;
    return sum;
}

/* ---- 3 ---- */

/* Adds `groups` sums, one per group; lane 0 has the result.  The counter's digits overwrite
 * products. */
static __device__ inline real join(const struct sparse_args &a, const struct shared_row &r,
                                   uint64_t first, uint64_t step, uint64_t n, struct warp_shared &s)
{
    const real *partials = (const real *)a.partials;
    uint64_t rounds = 0;
    for (uint64_t at = 0; at < n; at += SPAN, rounds++) {
        real each[JOIN_EACH];
#pragma unroll
        for (int g = 0; g < JOIN_EACH; g++) {
            const uint64_t i = at + lane_id() * JOIN_EACH + g;
            each[g] = i < n ? partials[slot_of(r, first + i * step)] : (real)-0.0;
        }
#pragma unroll
        for (int w = 1; w < JOIN_EACH; w *= 2)
#pragma unroll
            for (int g = 0; g < JOIN_EACH; g += 2 * w) each[g] += each[g + w];
#pragma unroll
        for (int w = 1; w < 32; w *= 2) each[0] += __shfl_xor_sync(WARP_ALL, each[0], w);
        if (lane_id() == 0) count_sum(s.product, rounds, each[0]);
    }
    return lane_id() == 0 ? counted_sum(s.product, rounds) : 0;
}

/* Called when the tile has finished the row's groups from first to last; lane 0 has their sums. */
static __device__ inline void finish_shared(const struct sparse_args &a, const struct shared_row &r,
                                            uint64_t first, uint64_t last, struct warp_shared &s)
{
    const uint64_t spans = (r.groups + SPAN - 1) / SPAN;
    for (uint64_t span = first / SPAN; span <= last / SPAN; span++) {
        const uint64_t from = span * SPAN, left = r.groups - from;
        const uint64_t n = left < SPAN ? left : (uint64_t)SPAN;
        uint32_t mine = lane_id() == 0 ? arrive(a, r, from, from + n - 1) : 0;
        mine = __shfl_sync(WARP_ALL, mine, 0);
        __syncwarp(); /* broadcast from lane 0 */
        if (!mine) continue;
        real sum = join(a, r, from, 1, n, s);
        if (spans > 1) {
            uint32_t *done = a.done + 2 * tile_of(a, r, 0) + 1;
            __syncwarp(); /* all lanes have read the span's groups */
            if (lane_id() == 0) {
                ((real *)a.partials)[slot_of(r, from)] = sum;
                mine = add_acq_rel(done, 1) + 1 == spans;
                if (mine) *done = 0;
            }
            mine = __shfl_sync(WARP_ALL, mine, 0);
            __syncwarp(); /* as above */
            if (!mine) continue;
            sum = join(a, r, 0, SPAN, spans, s);
        }
        if (lane_id() == 0) put(a, r.row, sum);
    }
}

/* The tile's part of its row number i, from its entry number `at` on. */
static __device__ inline void add_long(const struct sparse_args &a, const struct tile &t,
                                       uint32_t i, uint32_t at, uint32_t end, struct warp_shared &s)
{
    const bool whole = is_whole(t, i);
    struct shared_row r;
    uint64_t first = 0, groups = 0;
    if (!whole) {
        r = find_shared_row(a, t.row + i);
        first = first_group(t, r);
    }
    for (; at < end; at += SPARSE_GROUP, groups++) {
        const uint32_t n = least(end - at, SPARSE_GROUP);
        multiply<true>(a, t.entry + at, n, s);
        const real sum = add_group(s, n);
        __syncwarp(); /* the products may be overwritten */
        if (lane_id()) continue;
        if (whole)
            count_sum(s.digit, groups, sum);
        else if (first + groups < r.groups)
            ((real *)a.partials)[slot_of(r, first + groups)] = sum;
    }
    if (whole) {
        if (lane_id() == 0) put(a, t.row + i, groups ? counted_sum(s.digit, groups) : 0);
    } else if (groups && first + groups <= r.groups) {
        finish_shared(a, r, first, first + groups - 1, s);
    }
}

/* ---- A tile ---- */

/* The ends of the lanes' rows from number i on; the load is not waited for here. */
static __device__ inline index_type fetch_end(const struct sparse_args &a, const struct tile &t,
                                              uint32_t i)
{
    return ((const index_type *)a.offsets + t.row)[least(i + lane_id() + 1, t.rows)];
}

/* Processes rows in steps; long rows are deferred.  Returns their number. */
static __device__ inline uint32_t add_steps(const struct sparse_args &a, const struct tile &t,
                                            struct warp_shared &s)
{
    const uint32_t first = t.inside_first, last = t.rows - t.inside_last; /* complete rows */
    uint32_t found = 0;
    index_type fetched = fetch_end(a, t, 0);
    for (uint32_t i = 0, at = 0, taken; i < t.rows; i += taken) {
        const index_type past = fetched - (index_type)t.entry;
        const uint32_t end = fetched < (index_type)t.entry ? 0
                             : past < t.count              ? (uint32_t)past
                                                           : t.count;
        const uint32_t before = __shfl_up_sync(WARP_ALL, end, 1);
        const uint32_t begin = lane_id() ? before : at;
        const bool fits = i + lane_id() >= first && i + lane_id() < last && begin <= end &&
                          end - at <= SPARSE_GROUP;
        const uint32_t misfits = ~__ballot_sync(WARP_ALL, fits);
        taken = misfits ? __ffs((int)misfits) - 1 : 32;
        uint32_t next = __shfl_sync(WARP_ALL, end, taken ? taken - 1 : 0);
        fetched = fetch_end(a, t, i + (taken ? taken : 1));
        if (taken) {
            const struct lane_row mine = { begin - at, end - begin, lane_id() < taken };
            if (__any_sync(WARP_ALL, mine.there && mine.count > SHORT)) {
                multiply<true>(a, t.entry + at, next - at, s);
                add_rows(a, t.row + i, mine, s);
            } else {
                multiply<false>(a, t.entry + at, next - at, s);
                const real sum = add_chunk(s.product + mine.at, mine.there ? mine.count : 0);
                if (mine.there) put(a, t.row + i + lane_id(), mine.count ? sum : 0);
            }
            __syncwarp(); /* the products may be overwritten */
        } else {
            if (i + 1 == t.rows && t.inside_last) next = t.count;
            const struct long_row row = { (uint16_t)i, (uint16_t)at, (uint16_t)next };
            if (lane_id() == 0 && found < LONG_ROWS) s.rows[found] = row;
            found++;
            taken = 1;
        }
        if (next > at) at = next;
    }
    __syncwarp(); /* the long rows are listed */
    return least(found, LONG_ROWS);
}

static __device__ inline void add_tile(const struct sparse_args &a, const struct tile &t,
                                       struct warp_shared &s)
{
    const uint32_t found = add_steps(a, t, s);
    for (uint32_t i = 0; i < found; i++)
        add_long(a, t, s.rows[i].row, s.rows[i].at, s.rows[i].end, s);
}

extern "C" __global__ void __launch_bounds__(SPARSE_THREADS, BLOCKS)
    sparse_multiply(const __grid_constant__ struct sparse_args a)
{
    __shared__ struct warp_shared shared[WARPS];
    wait_for_earlier();
    const uint64_t number = (uint64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    struct sparse_place from, to;
    if (number >= a.tiles) return;
    if (a.places) {
        from = a.places[number];
        to = a.places[number + 1];
    } else {
        const struct sparse_place mine = find_place(a, (number + lane_id() / 16) << a.tile_bits);
        from.row = __shfl_sync(WARP_ALL, (unsigned long long)mine.row, 0);
        from.entry = __shfl_sync(WARP_ALL, (unsigned long long)mine.entry, 0);
        to.row = __shfl_sync(WARP_ALL, (unsigned long long)mine.row, 16);
        to.entry = __shfl_sync(WARP_ALL, (unsigned long long)mine.entry, 16);
    }
    const struct tile t = make_tile(a, from, to);
    add_tile(a, t, shared[threadIdx.x / 32]);
    leave(a, t.inside_first || t.inside_last, 32);
}

extern "C" __global__ void __launch_bounds__(SPARSE_PLACE_THREADS)
    sparse_places(const __grid_constant__ struct sparse_args a)
{
    wait_for_earlier();
    const uint64_t i = ((uint64_t)blockIdx.x * SPARSE_PLACE_THREADS + threadIdx.x) / 16;
    const struct sparse_place place = find_place(a, i << a.tile_bits);
    if (lane_id() % 16) return;
    if (i <= a.tiles) a.places[i] = place;
    if (i < a.tiles) a.done[2 * i] = a.done[2 * i + 1] = 0;
}
