/*
 * reduce/cuda/rows.cuh - rows of full vectors of 16 bytes, at most a line: a warp has 32 rows
 * or, if there are few, a part of them, and 2, 8, 16 or 32 threads load a row, one vector each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_ROWS_CUH
#define ECHI_REDUCE_CUDA_ROWS_CUH

#include "reduce/cuda/part.cuh"

/* Of 32 rows the part of warp `warp`: `each` threads load a row, one vector each; the vectors of
 * ROUNDS rounds are loaded before the first is added.  Two rows' values are folded together: half
 * of the lanes continue with one row, half with the other, and so on; the remaining steps of a row
 * are folded by all lanes. */
template <int KIND, int ROUNDS>
static __device__ inline void reduce_rows(const struct reduce_args &a, uint64_t warp, uint32_t each)
{
    const uint64_t first = warp >> a.row_share << 5;
    const uint32_t rounds = each >> a.row_share; /* of this warp */
    const uint32_t begin = ((uint32_t)warp & ((1u << a.row_share) - 1)) * rounds;
    const uint32_t n = (uint32_t)a.columns, mine = lane_id() & (each - 1), at = mine * VECTOR;
    const uint32_t groups = 32 / each, group = lane_id() / each;
    const ukey *in = (const ukey *)a.in;
    struct value result = value_nothing<KIND>();
#pragma unroll 1
    for (uint32_t round = begin; round < begin + rounds; round += ROUNDS) {
        struct vector v[ROUNDS];
        struct value value[ROUNDS];
        const uint64_t row = first + round * groups + group;
#pragma unroll
        for (int i = 0; i < ROUNDS; i++)
            if (at < n && row + i * groups < a.segments)
                v[i] = vector_at((const char *)(in + (row + i * groups) * n + at));
#pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            struct lanes<KIND> lanes;
            lanes_start(lanes);
            if (at < n && row + i * groups < a.segments) {
                set_center(lanes, center_of<KIND>(a, in + (row + i * groups) * n, n));
                lanes_add<KIND != REDUCE_VARIANCE>(a, lanes, v[i], v[i], VECTOR, at);
            }
            value[i] = lanes_end(a, lanes);
        }
#pragma unroll
        for (int step = 1; step < ROUNDS; step *= 2)
#pragma unroll
            for (int i = 0; i < ROUNDS / 2 / step; i++) {
                const bool second = lane_id() & step;
                struct value give = second ? value[2 * i] : value[2 * i + 1];
                struct value keep = second ? value[2 * i + 1] : value[2 * i];
                value[i] = value_add<KIND>(a, keep, value_from<KIND>(give, step, false));
            }
#pragma unroll 1
        for (uint32_t step = ROUNDS; step < each; step *= 2)
            value[0] = value_add<KIND>(a, value[0], value_from<KIND>(value[0], (int)step, false));
        if (mine / ROUNDS == round / ROUNDS) result = value[0];
    }
    const uint64_t row = first + mine * groups + group;
    if (row >= a.segments || mine - begin >= rounds) return;
    const ukey *x = in + row * n;
    result = value_close<KIND>(result, center_of<KIND>(a, x, n));
    const uint32_t scale = needs_scale<KIND>(result);
    if (scale) result = line_scaled(a, x, n, scale);
    value_result<KIND>(a, result, x, n, row);
}

#endif
