/*
 * sort/cpu/leaf_avx512.h - template: the sorts of KEYs with AVX-512: quicksort (quick.h), and short
 * arrays several at once.
 *
 *   network      the keys are a matrix with one register per row: sort the columns, then merge
 *                adjacent columns until one is left, then transpose.
 *
 *   KEY      uint32_t or uint64_t
 *   NAME(x)  x with the width as a suffix; NAME(min) and others are in vector_avx512.h
 *   MASK     __mmask16 or __mmask8
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/quick.h"

/* ---- Several short arrays at once ---- */

/* Converts column-major to row-major order: a zip of the two halves rotates the position's bits by
 * one. */
INLINE void NAME(transpose)(vec *v, int rows)
{
    UNROLL for (int step = 1; step < rows; step *= 2)
    {
        vec t[16];
        UNROLL for (int r = 0; r < rows / 2; r++)
        {
            t[2 * r] = NAME(zip_low)(v[r], v[r + rows / 2]);
            t[2 * r + 1] = NAME(zip_high)(v[r], v[r + rows / 2]);
        }
        UNROLL for (int r = 0; r < rows; r++) v[r] = t[r];
    }
}

/* Sorts the columns of 32 registers: each half, then a bitonic merge. */
INLINE void NAME(sort_32)(vec *v)
{
    NAME(sort_columns)(v, 16);
    NAME(sort_columns)(v + 16, 16);
    UNROLL for (int r = 0; r < 16; r++) NAME(compare)(&v[r], &v[31 - r]);
    UNROLL for (int d = 8; d >= 1; d /= 2)
    {
        UNROLL for (int r = 0; r < 16; r++)
        {
            if (r & d) continue;
            NAME(compare)(&v[r], &v[r + d]);
            NAME(compare)(&v[16 + r], &v[16 + r + d]);
        }
    }
}

/* An array per lane: rows are read, transposed in squares of LANES x LANES, sorted as columns, and
 * transposed again.  most: the maximum number of keys, 8, 16 or 32. */
INLINE void NAME(many)(const struct echi_order *order, const struct echi_sort_many *arrays,
                       int most)
{
    const int squares = most <= NAME(LANES) ? 1 : most / NAME(LANES);
    const struct NAME(coding) c = NAME(coding_of)(order);
    const struct NAME(coding) *coding = NAME(is_coded)(order) ? &c : NULL;
    vec v[32], row[32 / NAME(LANES)];
    UNROLL for (int i = 0; i < NAME(LANES); i++)
    {
        NAME(load_rows)(row, arrays->keys[i], arrays->n[i], squares, 0, coding);
        UNROLL for (int k = 0; k < squares; k++) v[k * NAME(LANES) + i] = row[k];
    }
    UNROLL for (int k = 0; k < squares; k++) NAME(transpose)(v + k * NAME(LANES), NAME(LANES));
    if (most == 32)
        NAME(sort_32)(v);
    else
        NAME(sort_columns)(v, most);
    UNROLL for (int k = 0; k < squares; k++) NAME(transpose)(v + k * NAME(LANES), NAME(LANES));
    UNROLL for (int i = 0; i < NAME(LANES); i++)
    {
        UNROLL for (int k = 0; k < squares; k++) row[k] = v[k * NAME(LANES) + i];
        NAME(store_rows)(row, arrays->out[i], arrays->n[i], squares, 0, coding);
    }
}

static void NAME(many_8)(const struct echi_order *order, const struct echi_sort_many *arrays)
{
    NAME(many)(order, arrays, 8);
}

static void NAME(many_16)(const struct echi_order *order, const struct echi_sort_many *arrays)
{
    NAME(many)(order, arrays, 16);
}

static void NAME(many_32)(const struct echi_order *order, const struct echi_sort_many *arrays)
{
    NAME(many)(order, arrays, 32);
}

static void NAME(vector_many)(const struct echi_order *order, const struct echi_sort_many *arrays)
{
    size_t most = 0;
    for (int i = 0; i < NAME(LANES); i++) most = arrays->n[i] > most ? arrays->n[i] : most;
    if (most <= 8)
        NAME(many_8)(order, arrays);
    else if (most <= 16)
        NAME(many_16)(order, arrays);
    else
        NAME(many_32)(order, arrays);
}

/* ---- The sorts ---- */

static void NAME(vector_leaf)(void *keys, void *work, size_t n, bool in_y, int begin, int end)
{
    static const struct echi_order plain; /* of unsigned keys */
    const struct NAME(coding) c = NAME(coding_of)(&plain);
    (void)begin;
    (void)end;
    NAME(vector_quick)(in_y ? work : keys, keys, n, NULL, &c);
}

/* At most a vector or two: the coding remains in registers. */
static void NAME(vector_few)(const struct echi_order *order, const void *keys, void *out, size_t n)
{
    const struct NAME(coding) c = NAME(coding_of)(order);
    if (n <= NAME(LANES))
        NAME(network)(keys, out, n, 1, &c, &c);
    else
        NAME(network)(keys, out, n, 2, &c, &c);
}

static void NAME(vector_sort)(const struct echi_order *order, const void *keys, void *out,
                              void *work, size_t n)
{
    if (n <= 2 * NAME(LANES)) {
        NAME(vector_few)(order, keys, out, n);
        return;
    }
    const struct NAME(coding) c = NAME(coding_of)(order);
    (void)work;
    NAME(vector_quick)(keys, out, n, NAME(is_coded)(order) ? &c : NULL, &c);
}

static size_t NAME(divide_equal)(KEY *x, size_t n, KEY pivot)
{
    return NAME(divide_all)(x, x, n, NAME(broadcast)(pivot), true, NULL);
}

/* One partition, for callers that share the parts among threads: see struct echi_sort_width. */
static size_t NAME(vector_divide)(const struct echi_order *order, const void *keys, void *out,
                                  size_t n, bool raw, uint64_t low, uint64_t *pivot)
{
    const struct NAME(coding) c = NAME(coding_of)(order);
    KEY lowest, p = NAME(pivot)(keys, n, raw ? &c : NULL, &lowest);
    *pivot = p;
    if (raw) return NAME(divide_raw)(keys, out, n, p, &c);
    return p == low ? NAME(divide_equal)(out, n, p) : NAME(divide_less)(out, n, p);
}

static void NAME(vector_part)(const struct echi_order *order, void *keys, void *work, size_t n)
{
    const struct NAME(coding) c = NAME(coding_of)(order);
    (void)work;
    NAME(in_place)(keys, n, (KEY)BIAS, 2 * echi_bit_length(n) + 8, &c);
}

#undef KEY
#undef NAME
