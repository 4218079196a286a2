/*
 * cuda/scan_line.cuh - a line: one vector of 16 bytes of each lane of a warp, scanned.
 *
 *     up     each lane combines its vector, one element after the other; then the lanes by steps
 *            of 1, 2, 4, 8, 16
 *     down   each lane knows what lies before its vector, and writes
 *
 * With heads (bits of positions where a segment begins) nothing goes past one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SCAN_LINE_CUH
#define ECHI_CUDA_SCAN_LINE_CUH

#include "scan_value.cuh"

/* A row of the array; position i is element i, backward n - 1 - i. */
struct scan_row {
    const ukey *in;
    uout *out;
    uint64_t n;
    uint64_t begin, end; /* positions that are written */
};

union vector {
    uint4 all;
    ukey e[VECTOR];
};

/* ---- Memory ---- */

static __device__ inline void load_vector(const struct scan_args &a, const struct scan_row &row,
                                          uint64_t at, union vector &v)
{
    const bool whole = at < row.n && row.n - at >= VECTOR;
    const ukey *from = row.in + (a.backward ? row.n - at - VECTOR : at);
    if (whole && ((uintptr_t)from & 15) == 0) {
        union vector u;
        u.all = *(const uint4 *)from;
        if (!a.backward) {
            v.all = u.all;
            return;
        }
#pragma unroll
        for (int j = 0; j < VECTOR; j++) v.e[j] = u.e[VECTOR - 1 - j];
        return;
    }
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        v.e[j] = 0; /* past the end: after all that is written */
        if (at + j < row.n) v.e[j] = row.in[a.backward ? row.n - 1 - at - j : at + j];
    }
}

static __device__ inline void store_vector(const struct scan_args &a, const struct scan_row &row,
                                           uint64_t at, const uout (&e)[VECTOR])
{
    enum { WORDS = VECTOR * sizeof(uout) / 16, EACH = 16 / sizeof(uout) };
    const bool whole = at >= row.begin && at < row.end && row.end - at >= VECTOR;
    uout *to = row.out + (a.backward ? row.n - at - VECTOR : at);
    if (whole && ((uintptr_t)to & 15) == 0) {
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
        return;
    }
#pragma unroll
    for (int j = 0; j < VECTOR; j++)
        if (at + j >= row.begin && at + j < row.end)
            row.out[a.backward ? row.n - 1 - at - j : at + j] = e[j];
}

/* ---- Up ---- */

/* The vector from its last head on, or all of it. */
template <int OP, int HEADS>
static __device__ inline value vector_total(const struct scan_args &a, const union vector &v,
                                            uint32_t heads)
{
    value x = value_of<OP>(a, v.e[0]);
    if (HEADS && heads & 1) x = combine<OP>(a, value_of_bits(a.first), x);
#pragma unroll
    for (int j = 1; j < VECTOR; j++) {
        value left = HEADS && heads >> j & 1 ? value_of_bits(a.first) : x;
        x = combine<OP>(a, left, value_of<OP>(a, v.e[j]));
    }
    return x;
}

/* The lanes from `from` to mine; from is at most that. */
template <int OP>
static __device__ inline value lanes_scan(const struct scan_args &a, value x, uint32_t from)
{
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        value below = lane_up(x, step);
        if (lane_id() >= from + step) x = combine<OP>(a, below, x);
    }
    return x;
}

/* The last of lanes, a set; 0 of none. */
static __device__ inline uint32_t last_lane(uint32_t lanes)
{
    return lanes ? 31 - __clz((int)lanes) : 0;
}

/* ---- Down ---- */

/* Writes the vector's results; before lies before it. */
template <int OP, int HEADS>
static __device__ inline void finish_vector(const struct scan_args &a, const struct scan_row &row,
                                            uint64_t at, const union vector &v, uint32_t heads,
                                            value before)
{
    uout e[VECTOR];
    value x = before, last = before;
    bool cut = false; /* a head lies before this element or at it */
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        value mine = value_of<OP>(a, v.e[j]);
        const bool head = HEADS && heads >> j & 1;
        if (head)
            x = combine<OP>(a, value_of_bits(a.first), mine);
        else
            x = j ? combine<OP>(a, x, mine) : mine;
        cut |= head;
        value result = HEADS && cut ? x : combine<OP>(a, before, x);
        value shown = a.exclusive ? (head ? value_of_bits(a.first) : last) : result;
        e[j] = element_of<OP>(a, shown);
        last = result;
    }
    store_vector(a, row, at, e);
}

#endif
