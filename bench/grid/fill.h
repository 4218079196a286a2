/*
 * fill.h - one element of the arrays of the benchmark grid, and the comparison of one element of a
 * result; for loops of the host and for kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_GRID_FILL_H
#define BENCH_GRID_FILL_H

#include "data.h"
#include "grid.h"

GRID_FN void grid_store(void *array, uint64_t i, int bits, uint64_t x)
{
    switch (bits) {
    case 8:
        ((uint8_t *)array)[i] = (uint8_t)x;
        break;
    case 16:
        ((uint16_t *)array)[i] = (uint16_t)x;
        break;
    case 32:
        ((uint32_t *)array)[i] = (uint32_t)x;
        break;
    default:
        ((uint64_t *)array)[i] = x;
        break;
    }
}

GRID_FN void grid_fill_at(const struct grid_fill *f, uint64_t i)
{
    switch (f->what) {
    case FILL_KEYS:
        grid_store(f->to, i, grid_bits(f->dtype), grid_key(f->dist, f->dtype, f->seed, i, f->n));
        break;
    case FILL_MODULO:
        grid_store(f->to, i, grid_bits(f->dtype),
                   grid_key(f->dist, ECH_U64, f->seed, i, f->n) % f->param);
        break;
    case FILL_POSITIONS: {
        const uint64_t words = f->param / 4;
        uint32_t *to = (uint32_t *)f->to + i * words;
        to[0] = (uint32_t)i;
        for (uint64_t w = 1; w < words; w++) to[w] = 0;
        break;
    }
    case FILL_FLAGS:
        ((uint8_t *)f->to)[i] = grid_random(f->seed + 3, i) & 1;
        break;
    case FILL_PLACES:
        ((uint64_t *)f->to)[i] = grid_place(f->dist, f->seed, i, f->param);
        break;
    case FILL_COLUMNS:
        ((uint32_t *)f->to)[i] = (uint32_t)grid_place(f->dist, f->seed, i, f->param);
        break;
    case FILL_OFFSETS: {
        const uint64_t length = f->param / (f->n - 1), shift = grid_random(f->seed, i) % length;
        ((uint32_t *)f->to)[i] = (uint32_t)(i == 0          ? 0
                                            : i == f->n - 1 ? f->param
                                                            : i * length - length / 2 + shift / 2);
        break;
    }
    default:
        break;
    }
}

/* What grid_differences() compares.  scale: the largest magnitude of Echelon's result. */
struct grid_comparison {
    struct grid_slot slot;
    const void *other, *in;
    int dtype; /* of other */
    size_t stride, in_bytes;
    uint64_t n_in;
    double scale;
};

GRID_FN int grid_differs_at(const struct grid_comparison *c, uint64_t i)
{
    const struct grid_slot *s = &c->slot;
    const uint64_t a = grid_load(s->ours, i, s->stride_bytes, s->dtype);
    const uint64_t b = grid_load(c->other, i, c->stride, c->dtype);
    if (s->dtype == c->dtype && a == b) return 0;
    if (s->kind == GRID_POSITION) {
        const int type = c->in_bytes == 1   ? ECH_U8
                         : c->in_bytes == 2 ? ECH_U16
                         : c->in_bytes == 4 ? ECH_U32
                                            : ECH_U64;
        if (a >= c->n_in || b >= c->n_in) return 1;
        return grid_load(c->in, a, c->in_bytes, type) != grid_load(c->in, b, c->in_bytes, type);
    }
    if (s->kind == GRID_EXACT && !grid_is_float(s->dtype) && !grid_is_float(c->dtype))
        return grid_integer(a, s->dtype) != grid_integer(b, c->dtype);
    const double x = grid_to_double(a, s->dtype), y = grid_to_double(b, c->dtype);
    if (x == y || (x != x && y != y)) return 0;
    return s->kind == GRID_EXACT || !(fabs(x - y) <= s->tolerance * c->scale + 1e-9);
}

GRID_FN double grid_magnitude_at(const struct grid_slot *s, uint64_t i)
{
    const double x =
        fabs(grid_to_double(grid_load(s->ours, i, s->stride_bytes, s->dtype), s->dtype));
    return x <= 1e300 ? x : 0;
}

#endif
