/*
 * sparse/cuda/kernels.cu - sparse matrices on the GPU, device half; here products with vectors.
 *
 * A warp has a tile, and goes through its rows by steps: as many of the next 32 as have no more
 * than 256 entries, or 256 entries of a longer row.  Nothing waits for other warps.
 *
 *     1  products      values times x, into shared memory, in the order in which they lie in memory
 *     2  sums          of a row of one chunk by a lane; of others by eight, a chunk each
 *     3  shared rows   a row of several tiles: the sum of each 256 entries goes to memory; the warp
 *                      that finishes the last of a span of them adds those up, and the one that
 *                      finishes the last span of the row adds up spans
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse/cuda/make.cuh"
#include "sparse/cuda/wide.cuh"

enum {
    WARPS = SPARSE_THREADS / 32,
    CHUNKS = SPARSE_GROUP / SPARSE_CHUNK,
    LONG_ROWS = (SPARSE_TILE_MOST + SPARSE_WHOLE) / SPARSE_GROUP + 2, /* that a tile has at most */
    MOST_BLOCKS = MULTIPROCESSOR_THREADS / SPARSE_THREADS,
    FULL_BLOCKS = REAL_BITS == 32 ? 9 : 6, /* that have registers for 256 entries a warp */
    BLOCKS = FULL_BLOCKS < MOST_BLOCKS ? FULL_BLOCKS : MOST_BLOCKS, /* of a multiprocessor */
    DIGITS = 5,            /* of the number of groups that a tile has at most */
    SPAN = 32 * JOIN_EACH, /* groups that a warp adds up at once */
    SHORT = 16,            /* entries of rows whose sums need no care for banks */
    LINE = 33              /* products that lie between those of a lane, for the banks' sake */
};

/* A row that takes more than a step, or that other tiles share: its entries in the tile. */
struct long_row {
    uint16_t row, at, end;
};

struct warp_shared {
    real product[CHUNKS * LINE];
    real digit[DIGITS]; /* of a binary counter: sums of so many groups */
    struct long_row rows[LONG_ROWS];
};

static __device__ inline void put(const struct sparse_args &a, uint64_t row, real sum)
{
    put_at(a, (real *)a.y + row, sum);
}

/* ---- 1 ---- */

/* Of SURE * 32 entries, and of those of MORE * 32 that are there: left is how many from the lane's
 * first on.  Every LINE-th product is a lane's. */
template <int SURE, int MORE, int LINE>
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
    __syncwarp(); /* for the compiler: nothing that waits before all has been asked for */
#pragma unroll
    for (int k = 0; k < SURE + MORE; k++)
        other[k] = k < SURE || 32 * k < left
                       ? __ldg(x + (column[k] < (index_type)a.cols ? column[k] : 0))
                       : 0;
    __syncwarp(); /* as above */
#pragma unroll
    for (int k = 0; k < SURE + MORE; k++)
        if (k < SURE || 32 * k < left) product[k * LINE] = value[k] * other[k];
}

/* Of n entries, SPARSE_GROUP at most. */
template <int LINE>
static __device__ inline void multiply(const struct sparse_args &a, uint64_t entry, uint32_t n,
                                       struct warp_shared &s)
{
    const index_type *columns = (const index_type *)a.columns + entry + lane_id();
    const real *values = (const real *)a.values + entry + lane_id();
    const int32_t left = (int32_t)(n - lane_id());
    real *product = s.product + lane_id();
    if (n <= 128)
        multiply_some<0, 4, LINE>(a, columns, values, left, product);
    else if (n <= 192)
        multiply_some<4, 2, LINE>(a, columns, values, left, product);
    else
        multiply_some<6, 2, LINE>(a, columns, values, left, product);
    __syncwarp(); /* products are there */
}

/* ---- 2 ---- */

/* A chunk of products that lie one after the other; -0, which changes nothing that it is added to,
 * of none. */
static __device__ inline real add_chunk(const real *product, uint32_t count)
{
    real sum = (real)-0.0;
#pragma unroll 4
    for (uint32_t i = 0; i < count; i++) sum += product[i];
    return sum;
}

/* The same where a line is of LINE. */
static __device__ inline real add_lines(const struct warp_shared &s, uint32_t at, uint32_t count)
{
    real sum = (real)-0.0;
#pragma unroll 4
    for (uint32_t i = 0; i < count; i++) sum += s.product[at + i + (at + i) / 32];
    return sum;
}

/* The sum of each of the parts of 8 lanes, whose first lane has it. */
static __device__ inline real add_chunks(real sum)
{
#pragma unroll
    for (int step = 1; step < CHUNKS; step *= 2) sum += __shfl_xor_sync(WARP_ALL, sum, step);
    return sum;
}

static __device__ inline real add_group(const struct warp_shared &s, uint32_t n)
{
    const uint32_t at = lane_id() * SPARSE_CHUNK;
    return add_chunks(
        add_chunk(s.product + lane_id() * LINE, at < n ? least(n - at, SPARSE_CHUNK) : 0));
}

/* A lane's row of the products, and whether it has one. */
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

/* So many sums, each at a group; lane 0 has the result.  The counter's digits take the place of
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

/* The tile is through with the row's groups from first to last; their sums are lane 0's. */
static __device__ inline void finish_shared(const struct sparse_args &a, const struct shared_row &r,
                                            uint64_t first, uint64_t last, struct warp_shared &s)
{
    const uint64_t spans = (r.groups + SPAN - 1) / SPAN;
    for (uint64_t span = first / SPAN; span <= last / SPAN; span++) {
        const uint64_t from = span * SPAN, left = r.groups - from;
        const uint64_t n = left < SPAN ? left : (uint64_t)SPAN;
        uint32_t mine = lane_id() == 0 ? arrive(a, r, from, from + n - 1) : 0;
        mine = __shfl_sync(WARP_ALL, mine, 0);
        __syncwarp(); /* what lane 0 knows now, all do */
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
        multiply<LINE>(a, t.entry + at, n, s);
        const real sum = add_group(s, n);
        __syncwarp(); /* products are no longer needed */
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

/* Where lanes' rows from number i on end; nothing waits for it here. */
static __device__ inline index_type fetch_end(const struct sparse_args &a, const struct tile &t,
                                              uint32_t i)
{
    return ((const index_type *)a.offsets + t.row)[least(i + lane_id() + 1, t.rows)];
}

/* Rows by steps; long ones are left for later.  Returns how many. */
static __device__ inline uint32_t add_steps(const struct sparse_args &a, const struct tile &t,
                                            struct warp_shared &s)
{
    const uint32_t first = t.inside_first, last = t.rows - t.inside_last; /* rows that are whole */
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
                multiply<LINE>(a, t.entry + at, next - at, s);
                add_rows(a, t.row + i, mine, s);
            } else {
                multiply<32>(a, t.entry + at, next - at, s);
                const real sum = add_chunk(s.product + mine.at, mine.there ? mine.count : 0);
                if (mine.there) put(a, t.row + i + lane_id(), mine.count ? sum : 0);
            }
            __syncwarp(); /* products are no longer needed */
        } else {
            if (i + 1 == t.rows && t.inside_last) next = t.count;
            const struct long_row row = { (uint16_t)i, (uint16_t)at, (uint16_t)next };
            if (lane_id() == 0 && found < LONG_ROWS) s.rows[found] = row;
            found++;
            taken = 1;
        }
        if (next > at) at = next;
    }
    __syncwarp(); /* long rows are there */
    return least(found, LONG_ROWS);
}

static __device__ inline void add_tile(const struct sparse_args &a, const struct tile &t,
                                       struct warp_shared &s)
{
    const uint32_t found = add_steps(a, t, s);
    for (uint32_t i = 0; i < found; i++)
        add_long(a, t, s.rows[i].row, s.rows[i].at, s.rows[i].end, s);
}

/* The place of so many items by each half of a warp, 16 rows at a time. */
static __device__ inline struct sparse_place search_place(const struct sparse_args &a,
                                                          uint64_t items)
{
    uint64_t low = items < a.rows + a.entries ? 0 : a.rows, high = a.rows;
    while (__any_sync(WARP_ALL, low < high)) {
        const uint64_t step = (high - low + 15) / 16, row = low + (lane_id() % 16 + 1) * step;
        const bool below = low < high && row <= high && offset_of(a, row) + row <= items;
        const uint32_t half = __ballot_sync(WARP_ALL, below) >> (lane_id() & 16) & 0xffff;
        if (low >= high) continue;
        const uint32_t many = __popc(half);
        const uint64_t next = low + (many + 1) * step - 1;
        low += many * step;
        if (next < high) high = next;
    }
    return make_place(a, items, low);
}

extern "C" __global__ void __launch_bounds__(SPARSE_THREADS, BLOCKS)
    sparse_multiply(const __grid_constant__ struct sparse_args a)
{
    __shared__ struct warp_shared shared[WARPS];
    const uint64_t number = (uint64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    struct sparse_place from, to;
    if (number >= a.tiles) return;
    if (a.places) {
        from = a.places[number];
        to = a.places[number + 1];
    } else {
        const struct sparse_place mine = search_place(a, (number + lane_id() / 16) << a.tile_bits);
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
    const uint64_t i = (uint64_t)blockIdx.x * SPARSE_PLACE_THREADS + threadIdx.x;
    if (i <= a.tiles) a.places[i] = find_place(a, i << a.tile_bits);
    if (i < a.tiles) a.done[2 * i] = a.done[2 * i + 1] = 0;
}
