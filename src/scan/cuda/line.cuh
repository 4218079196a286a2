/*
 * scan/cuda/line.cuh - a line: one vector of 16 bytes of each lane of a warp, scanned.
 *
 *     up     each lane combines its vector, one element after the other; then the lanes by steps
 *            of 1, 2, 4, 8, 16
 *     down   each lane knows what lies before its vector, and writes
 *
 * With segment flags (bits of positions where a segment begins) nothing goes past one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_LINE_CUH
#define ECHI_SCAN_CUDA_LINE_CUH

#include "cuda/device/ptx_async.cuh"
#include "scan/cuda/value.cuh"

/* A row of the array; position i is element i, backward n - 1 - i. */
struct scan_row {
    const ukey *in;
    uout *out;
    uint64_t n;
    uint64_t begin, end; /* positions that are written */
};

union vector {
    uint4 all;
    uint32_t word[4];
    ukey e[VECTOR];
};

/* ---- Memory ---- */

/* SEGMENTED: segments, of which offsets may leave out the first elements and the last. */
template <int SEGMENTED>
static __device__ inline struct scan_row row_of(const struct scan_args &a, uint64_t i)
{
    struct scan_row row = { (const ukey *)a.in + i * a.columns, (uout *)a.out + i * a.columns,
                            a.columns, 0, a.columns };
    if (!SEGMENTED || !a.offsets) return row;
    uint64_t begin = min(a.offsets[0], a.columns), end = min(a.offsets[a.segments], a.columns);
    if (end < begin) end = begin; /* scan_flags_offsets reports it */
    row.begin = a.backward ? row.n - end : begin;
    row.end = a.backward ? row.n - begin : end;
    return row;
}

/* Which of a vector's elements in memory, a bit each, have positions from begin on and before end.
 */
static __device__ inline uint32_t elements_within(uint64_t at, uint64_t begin, uint64_t end,
                                                  uint32_t backward)
{
    const uint32_t from = at < begin ? (uint32_t)min(begin - at, (uint64_t)VECTOR) : 0;
    const uint32_t to = at < end ? (uint32_t)min(end - at, (uint64_t)VECTOR) : 0;
    const uint32_t set = ((1u << to) - 1) & ~((1u << from) - 1);
    return backward ? __brev(set) >> (32 - VECTOR) : set;
}

/* Vectors at ends, or of arrays that are not aligned, go element by element, in the order of
 * memory.  A kernel has this once, as a function of its own, since it is long and would stand in
 * many places. */
static __device__ __noinline__ uint4 elements_at(const ukey *in, uint64_t n, uint64_t at,
                                                 uint32_t backward)
{
    const uint32_t set = elements_within(at, 0, n, backward);
    const ukey *from = in + (backward ? n - at - VECTOR : at);
    union vector v;
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        v.e[j] = 0; /* past the end: after all that is written */
        if (set >> j & 1) v.e[j] = from[j];
    }
    return v.all;
}

static __device__ inline void load_elements(const struct scan_args &a, const struct scan_row &row,
                                            uint64_t at, union vector &v)
{
    v.all = elements_at(row.in, row.n, at, a.backward);
}

/* Whether each vector of the tile that begins at position `begin` lies in the row and is aligned.
 * Whole tiles branch once and call nothing, so that their vectors are accessed side by side. */
static __device__ inline bool tile_loaded_whole(const struct scan_args &a,
                                                const struct scan_row &row, uint64_t begin)
{
    return begin + TILE <= row.n && (uintptr_t)(row.in + (a.backward ? row.n : 0)) % 16 == 0;
}

static __device__ inline bool tile_stored_whole(const struct scan_args &a,
                                                const struct scan_row &row, uint64_t begin)
{
    return begin >= row.begin && begin + TILE <= row.end &&
           (uintptr_t)(row.out + (a.backward ? row.n : 0)) % 16 == 0;
}

/* That elements be taken out of v again, not kept in a register each. */
static __device__ inline void forget_elements(union vector &v)
{
#if KEY_BITS <= 16
#pragma unroll
    for (int w = 0; w < 4; w++) asm("" : "+r"(v.word[w]));
#else
    (void)v;
#endif
}

/* A NaN that is to be ignored becomes what changes nothing.  It is asked once whether, not for each
 * element. */
template <int OP, int N>
static __device__ inline void drop_nan(const struct scan_args &a, union vector (&v)[N])
{
#if SCAN_FLOAT
#if KEY_BITS == 64
    const ukey infinity = 0x7ff0000000000000u, one = 0x3ff0000000000000u;
#elif KEY_BITS == 32
    const ukey infinity = 0x7f800000u, one = 0x3f800000u;
#elif SCAN_FLOAT == 2
    const ukey infinity = 0x7f80, one = 0x3f80;
#else
    const ukey infinity = 0x7c00, one = 0x3c00;
#endif
    const ukey sign = (ukey)1 << (KEY_BITS - 1);
    if (!a.ignore_nan) return;
    const ukey nothing = is_sum<OP>(a) ? sign : one;
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int j = 0; j < VECTOR; j++)
            if ((ukey)(v[k].e[j] & (ukey)~sign) > infinity) v[k].e[j] = nothing;
#else
    (void)a, (void)v;
#endif
}

/* Of whole words: small elements each in a register of its own would be too many. */
static __device__ inline void reverse(union vector &v)
{
    union vector u = v;
#if KEY_BITS <= 16
    const uint32_t order = KEY_BITS == 8 ? 0x0123 : 0x1032;
#pragma unroll
    for (int w = 0; w < 4; w++) v.word[w] = __byte_perm(u.word[3 - w], 0, order);
#else
#pragma unroll
    for (int j = 0; j < VECTOR; j++) v.e[j] = u.e[VECTOR - 1 - j];
#endif
}

/* Where a vector begins in memory. */
static __device__ inline const ukey *vector_in(const struct scan_args &a,
                                               const struct scan_row &row, uint64_t at)
{
    return row.in + (a.backward ? row.n - at - VECTOR : at);
}

/* In the order of memory, so that several are loaded before the first is reversed. */
static __device__ inline void load_whole(const struct scan_args &a, const struct scan_row &row,
                                         uint64_t at, union vector &v)
{
    v.all = *(const uint4 *)vector_in(a, row, at);
}

static __device__ inline void load_vector(const struct scan_args &a, const struct scan_row &row,
                                          uint64_t at, union vector &v)
{
    const bool whole = at < row.n && row.n - at >= VECTOR;
    if (whole && ((uintptr_t)vector_in(a, row, at) & 15) == 0) {
        load_whole(a, row, at, v);
    } else {
        load_elements(a, row, at, v);
    }
}

/* Vectors in the order of memory become vectors in the order of positions. */
static __device__ inline void order_vectors(const struct scan_args &a,
                                            union vector (&v)[SCAN_SLOTS])
{
    if (!a.backward) return;
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) reverse(v[k]);
}

/* Copies beside what a thread does are of sm_80. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define SCAN_ASYNC 1
#else
#define SCAN_ASYNC 0
#endif

/* Makes one group of what was fetched since the last; and waits until at most the latest is under
 * way. */
static __device__ inline void fetch_commit(void)
{
#if SCAN_ASYNC
    copy_commit();
#endif
}

static __device__ inline void fetch_wait(void)
{
#if SCAN_ASYNC
    copy_wait<SCAN_AHEAD>();
#endif
}

/* The same as load_whole() and load_vector() to shared memory, in the order of memory, where it is
 * after fetch_wait(). */
static __device__ inline void fetch_whole(const struct scan_args &a, const struct scan_row &row,
                                          uint64_t at, uint4 *to)
{
    const uint4 *from = (const uint4 *)vector_in(a, row, at);
#if SCAN_ASYNC
    copy_async_16(to, from);
#else
    *to = *from;
#endif
}

static __device__ inline void fetch_vector(const struct scan_args &a, const struct scan_row &row,
                                           uint64_t at, uint4 *to)
{
#if SCAN_ASYNC
    const bool whole = at < row.n && row.n - at >= VECTOR;
    const ukey *from = vector_in(a, row, at);
    if (whole && ((uintptr_t)from & 15) == 0) {
        copy_async_16(to, from);
        return;
    }
#if KEY_BITS == 32 || KEY_BITS == 64
    if (whole) {
#pragma unroll
        for (int j = 0; j < VECTOR; j++) {
            if (KEY_BITS == 32)
                copy_async_4((ukey *)to + j, from + j);
            else
                copy_async_8((ukey *)to + j, from + j);
        }
        return;
    }
#endif
#endif
    union vector v;
    load_vector(a, row, at, v);
    *to = v.all;
}

static __device__ inline void fetch_word(uint32_t *to, const uint32_t *from)
{
#if SCAN_ASYNC
    copy_async_4(to, from);
#else
    *to = *from;
#endif
}

/* Whether a vector is written at once. */
static __device__ inline bool stored_whole(const struct scan_args &a, const struct scan_row &row,
                                           uint64_t at)
{
    const uout *to = row.out + (a.backward ? row.n - at - VECTOR : at);
    return at >= row.begin && at < row.end && row.end - at >= VECTOR && ((uintptr_t)to & 15) == 0;
}

static __device__ inline void store_whole(const struct scan_args &a, const struct scan_row &row,
                                          uint64_t at, const uout (&e)[VECTOR])
{
    enum { WORDS = VECTOR * sizeof(uout) / 16, EACH = 16 / sizeof(uout) };
    uout *to = row.out + (a.backward ? row.n - at - VECTOR : at);
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        union {
            uint4 all;
            uout e[EACH];
        } u;
#pragma unroll
        for (int j = 0; j < EACH; j++)
            u.e[j] = a.backward ? e[VECTOR - 1 - w * EACH - j] : e[w * EACH + j];
        ((uint4 *)to)[w] = u.all;
    }
}

/* ---- Up ---- */

/* Vectors whose results take longer to write, or many more instructions, than a call takes: what is
 * done with them is a function of its own, since it stands in many places. */
template <int OP, int SEGMENTED> static __device__ inline constexpr bool is_called(void)
{
    return SCAN_WIDE || (KEY_BITS <= 16 && (OP != SUM || (SEGMENTED && !SCAN_FLOAT)));
}

/* Elements as they are in memory become values, which value_of() takes; and results elements. */
static __device__ inline void encode_words(const struct scan_args &a, uint4 &v)
{
#if SCAN_WORDS
    v.x = word_encode(a.order, v.x), v.y = word_encode(a.order, v.y);
    v.z = word_encode(a.order, v.z), v.w = word_encode(a.order, v.w);
#else
    (void)a, (void)v;
#endif
}

static __device__ inline void decode_words(const struct scan_args &a, uout (&e)[VECTOR])
{
#if SCAN_WORDS
    union vector v;
#pragma unroll
    for (int j = 0; j < VECTOR; j++) v.e[j] = e[j];
#pragma unroll
    for (int w = 0; w < 4; w++) v.word[w] = word_decode(a.order, v.word[w]);
#pragma unroll
    for (int j = 0; j < VECTOR; j++) e[j] = v.e[j];
#else
    (void)a, (void)e;
#endif
}

template <int OP, int SEGMENTED>
static __device__ inline value vector_sum(const struct scan_args &a, const union vector &v,
                                          uint32_t flags)
{
    value x = value_of<OP>(a, v.e[0]);
    if (SEGMENTED && flags & 1) x = combine<OP>(a, value_of_bits(a.first), x);
#pragma unroll
    for (int j = 1; j < VECTOR; j++) {
        value left = SEGMENTED && flags >> j & 1 ? value_of_bits(a.first) : x;
        x = combine<OP>(a, left, value_of<OP>(a, v.e[j]));
    }
    return x;
}

/* OTHER by a loop of one operator; BITS is the rest. */
template <int OP, int SEGMENTED>
static __device__ inline value vector_sum_by(const struct scan_args &a, const union vector &v,
                                             uint32_t flags)
{
    if (OP != OTHER || !is_called<OP, SEGMENTED>()) return vector_sum<OP, SEGMENTED>(a, v, flags);
    if (SCAN_WIDE && a.other == SCAN_SUM) return vector_sum<SUM, SEGMENTED>(a, v, flags);
    if (SCAN_WORDS && a.other == SCAN_MIN) return vector_sum<MIN, SEGMENTED>(a, v, flags);
    if (!SCAN_WORDS || a.other == SCAN_PRODUCT) return vector_sum<PRODUCT, SEGMENTED>(a, v, flags);
    return vector_sum<BITS, SEGMENTED>(a, v, flags);
}

template <int OP, int SEGMENTED>
static __device__ __noinline__ value vector_sum_called(const struct scan_args &a, uint4 v,
                                                       uint32_t flags)
{
    union vector u;
    if (OP != SUM) encode_words(a, v);
    u.all = v;
    return OP == OTHER && !flags ? vector_sum_by<OP, 0>(a, u, 0)
                                 : vector_sum_by<OP, SEGMENTED>(a, u, flags);
}

/* The vector from its last flag on, or all of it. */
template <int OP, int SEGMENTED>
static __device__ inline value vector_total(const struct scan_args &a, const union vector &v,
                                            uint32_t flags)
{
    return is_called<OP, SEGMENTED>() ? vector_sum_called<OP, SEGMENTED>(a, v.all, flags)
                                      : vector_sum<OP, SEGMENTED>(a, v, flags);
}

/* The last of lanes, a set; 0 of none. */
static __device__ inline uint32_t last_lane(uint32_t lanes)
{
    return lanes ? 31 - __clz((int)lanes) : 0;
}

/* Steps that are written out: of OTHER, whose combine() is longer, one. */
template <int OP> static __device__ inline constexpr int unrolled(int steps)
{
    return OP == OTHER && (SCAN_WIDE || !SCAN_FLOAT) ? 1 : steps;
}

/* The lanes from `from` to mine; from is at most that. */
template <int OP>
static __device__ inline value lanes_scan(const struct scan_args &a, value x, uint32_t from)
{
#pragma unroll(unrolled <OP>(5))
    for (int step = 1; step < 32; step *= 2) {
        value below = lane_up(x, step);
        if (lane_id() >= from + step) x = combine<OP>(a, below, x);
    }
    return x;
}

/* The same of several lines side by side: a shuffle takes long, but many may be under way. */
template <int OP>
static __device__ inline void lines_scan(const struct scan_args &a, value (&x)[SCAN_SLOTS],
                                         const uint32_t (&from)[SCAN_SLOTS])
{
#pragma unroll(unrolled <OP>(5))
    for (int step = 1; step < 32; step *= 2) {
        value below[SCAN_SLOTS];
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) below[k] = lane_up(x[k], step);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++)
            if (lane_id() >= from[k] + step) x[k] = combine<OP>(a, below[k], x[k]);
    }
}

/* What of two sets of lines each lane has one of goes on with: even lanes, by the bit of step, with
 * x's, odd ones with y's. */
template <int OP>
static __device__ inline value lines_merge(const struct scan_args &a, value x, value y, int step)
{
    const bool odd = lane_id() & step;
    return combine<OP>(a, odd ? y : x, lane_across(odd ? x : y, step));
}

/* Lines side by side become one value a lane, by steps from `step` on. */
template <int OP, int LINES>
static __device__ inline value lines_fold(const struct scan_args &a, value (&x)[LINES], int step)
{
#pragma unroll
    for (int lines = LINES; lines > 1; lines /= 2, step *= 2) {
#pragma unroll
        for (int k = 0; k < lines / 2; k++) x[k] = lines_merge<OP>(a, x[2 * k], x[2 * k + 1], step);
    }
    return x[0];
}

/* What each of the lines comes to: lane k has line k's.  The same tree as above for the last lane,
 * neighbours first.  In the first steps half the lanes go on with one line, half with another. */
template <int OP>
static __device__ inline value lines_total(const struct scan_args &a, value (&x)[SCAN_SLOTS])
{
    value sum = lines_fold<OP, SCAN_SLOTS>(a, x, 1);
#pragma unroll
    for (int step = SCAN_SLOTS; step < 32; step *= 2)
        sum = combine<OP>(a, sum, lane_across(sum, step));
    return sum;
}

/* Lane r has line r's total; it gets what the lines up to it come to.  Those flagged have flags. */
template <int OP, int SEGMENTED>
static __device__ inline value lines_sum(const struct scan_args &a, value x, uint32_t flagged)
{
    value sum = neutral<OP>(a);
#pragma unroll 8
    for (int r = 0; r < SCAN_LINES; r++) {
        value line = lane_at(x, r);
        if (r <= (int)lane_id())
            sum = SEGMENTED && flagged >> r & 1 ? line : combine<OP>(a, sum, line);
    }
    return sum;
}

/* ---- Lines that a thread has a vector of ---- */

struct line_part {
    union vector v[SCAN_SLOTS];
    uint32_t flags[SCAN_SLOTS]; /* a bit for each element */
};

/* What of its line lies before each vector; and the lanes before mine that have flags. */
template <int OP, int SEGMENTED>
static __device__ inline void lines_before(const struct scan_args &a, const struct line_part &part,
                                           value (&x)[SCAN_SLOTS], uint32_t (&below)[SCAN_SLOTS])
{
    uint32_t from[SCAN_SLOTS];
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        x[k] = vector_total<OP, SEGMENTED>(a, part.v[k], part.flags[k]);
        from[k] = below[k] = 0;
        if (!SEGMENTED) continue;
        uint32_t with_flag = __ballot_sync(WARP_ALL, part.flags[k] != 0);
        below[k] = with_flag & lanes_below();
        from[k] = last_lane(with_flag & (lanes_below() | 1u << lane_id()));
    }
    lines_scan<OP>(a, x, from);
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        x[k] = lane_up(x[k], 1);
        if (lane_id() == 0) x[k] = neutral<OP>(a);
    }
}

/* ---- Down ---- */

/* One element after the other: integers give the same in any order. */
template <int OP, int SEGMENTED>
static __device__ inline void integer_results(const struct scan_args &a, const union vector &v,
                                              uint32_t flags, value x, uout (&e)[VECTOR])
{
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        const value left = SEGMENTED && flags >> j & 1 ? value_of_bits(a.first) : x;
        x = combine<OP>(a, left, value_of<OP>(a, v.e[j]));
        e[j] = element_of<OP>(a, a.exclusive ? left : x);
    }
}

/* The vector's results; before lies before it. */
template <int OP, int SEGMENTED>
static __device__ inline void vector_results(const struct scan_args &a, const union vector &v,
                                             uint32_t flags, value before, uout (&e)[VECTOR])
{
    if (!SCAN_FLOAT && (SEGMENTED || is_called<OP, SEGMENTED>())) {
        integer_results<OP, SEGMENTED>(a, v, flags, before, e);
        return;
    }
    value x = before;
    bool seen = false; /* a flag lies before this element or at it */
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        value mine = value_of<OP>(a, v.e[j]);
        const bool flag = SEGMENTED && flags >> j & 1;
        if (flag)
            x = combine<OP>(a, value_of_bits(a.first), mine);
        else
            x = j ? combine<OP>(a, x, mine) : mine;
        seen |= flag;
        e[j] = element_of<OP>(a, SEGMENTED && seen ? x : combine<OP>(a, before, x));
    }
    if (!a.exclusive) return;
    uout last = element_of<OP>(a, before);
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        uout mine = e[j];
        e[j] = SEGMENTED && flags >> j & 1 ? element_of<OP>(a, value_of_bits(a.first)) : last;
        last = mine;
    }
}

template <int OP, int SEGMENTED>
static __device__ inline void vector_results_by(const struct scan_args &a, const union vector &v,
                                                uint32_t flags, value before, uout (&e)[VECTOR])
{
    if (OP != OTHER || !is_called<OP, SEGMENTED>())
        vector_results<OP, SEGMENTED>(a, v, flags, before, e);
    else if (SCAN_WIDE && a.other == SCAN_SUM)
        vector_results<SUM, SEGMENTED>(a, v, flags, before, e);
    else if (SCAN_WORDS && a.other == SCAN_MIN)
        vector_results<MIN, SEGMENTED>(a, v, flags, before, e);
    else if (!SCAN_WORDS || a.other == SCAN_PRODUCT)
        vector_results<PRODUCT, SEGMENTED>(a, v, flags, before, e);
    else
        vector_results<BITS, SEGMENTED>(a, v, flags, before, e);
}

/* The same as results that are written, element by element if need be. */
template <int OP, int SEGMENTED>
static __device__ __noinline__ void finish_called(const struct scan_args &a, struct scan_row row,
                                                  uint64_t at, uint4 v, uint32_t flags,
                                                  value before)
{
    union vector u;
    uout e[VECTOR];
    if (OP != SUM) encode_words(a, v);
    u.all = v;
    if (OP == OTHER && !flags)
        vector_results_by<OP, 0>(a, u, 0, before, e);
    else
        vector_results_by<OP, SEGMENTED>(a, u, flags, before, e);
    if (OP != SUM) decode_words(a, e);
    if (stored_whole(a, row, at)) {
        store_whole(a, row, at, e);
        return;
    }
    const uint32_t set = elements_within(at, row.begin, row.end, a.backward);
    uout *to = row.out + (a.backward ? row.n - at - VECTOR : at);
#pragma unroll
    for (int j = 0; j < VECTOR; j++)
        if (set >> j & 1) to[j] = a.backward ? e[VECTOR - 1 - j] : e[j];
}

template <int OP, int SEGMENTED>
static __device__ inline void finish_vector(const struct scan_args &a, const struct scan_row &row,
                                            uint64_t at, const union vector &v, uint32_t flags,
                                            value before)
{
    uout e[VECTOR];
    if (!is_called<OP, SEGMENTED>() && stored_whole(a, row, at)) {
        vector_results<OP, SEGMENTED>(a, v, flags, before, e);
        store_whole(a, row, at, e);
    } else {
        finish_called<OP, SEGMENTED>(a, row, at, v.all, flags, before);
    }
}

/* A thread's vectors of a tile, a line apart; x lies before each.  WHOLE is what
 * tile_stored_whole() returns. */
template <int OP, int SEGMENTED>
static __device__ inline void finish_part(const struct scan_args &a, const struct scan_row &row,
                                          uint64_t at, struct line_part &part,
                                          const value (&x)[SCAN_SLOTS], bool whole)
{
    if (!is_called<OP, SEGMENTED>() && whole) {
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            uout e[VECTOR];
            forget_elements(part.v[k]);
            vector_results<OP, SEGMENTED>(a, part.v[k], part.flags[k], x[k], e);
            store_whole(a, row, at + k * LINE, e);
        }
    } else {
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++)
            finish_called<OP, SEGMENTED>(a, row, at + k * LINE, part.v[k].all, part.flags[k], x[k]);
    }
}

#endif
