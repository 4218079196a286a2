/*
 * sort/cpu/leaf_avx512.h - template: the sort of unsigned KEYs with AVX-512: quicksort with a
 * branch-free partition, down to parts that a sorting network in 16 registers can hold.
 *
 *   partition    read vector after vector from x or y, wherever the keys are; append the keys
 *                less than the pivot to x, the others to y.  One of the two writes to the array
 *                that is being read, always behind the reader.
 *
 *                     x: [ less        |   (free)    ]     less is in its final range; the free
 *                     y: [ rest  |     (free)        ]     part of y is scratch for rest
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

/* ---- Raw keys ---- */

static void NAME(encode_all)(const struct NAME(coding) * c, const KEY *from, KEY *to, size_t n)
{
    for (size_t i = 0; i < n; i += NAME(LANES)) {
        NAME(mask) lanes = NAME(row_lanes)(n - i, 0);
        vec v = NAME(load_some)(from + i, lanes, NAME(broadcast)(0));
        NAME(store_some)(to + i, lanes, NAME(encode_vec)(c, v));
    }
}

static void NAME(decode_all)(const struct NAME(coding) * c, KEY *keys, size_t n)
{
    for (size_t i = 0; i < n; i += NAME(LANES)) {
        NAME(mask) lanes = NAME(row_lanes)(n - i, 0);
        vec v = NAME(load_some)(keys + i, lanes, NAME(broadcast)(0));
        NAME(store_some)(keys + i, lanes, NAME(decode_vec)(c, v));
    }
}

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

/* ---- Quicksort ---- */

/* The median of a sample spread over the keys, larger for more keys; with coding, of their encoded
 * form. */
static KEY NAME(pivot)(const KEY *keys, size_t n, const struct NAME(coding) * coding)
{
    _Alignas(64) KEY sample[8 * NAME(LANES)], sorted[8 * NAME(LANES)];
    size_t count = n < FEW_KEYS ? NAME(LANES) : n < MANY_KEYS ? 4 * NAME(LANES) : 8 * NAME(LANES);
    size_t stride = n / count;
    uint32_t random = (uint32_t)n;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        sample[i] = keys[i * stride + (size_t)((uint64_t)(random >> 8) * stride >> 24)];
    }
    if (coding) NAME(encode_all)(coding, sample, sample, count);
    NAME(small)(sample, sorted, count, NULL, NULL);
    return sorted[count / 2];
}

enum {
    NAME(BLOCK) = 8 * NAME(LANES), /* keys read as one unit, from one end */
    NAME(HELD) = 2 * NAME(BLOCK)   /* keys buffered, so that there is room for a block's */
};

/* Writes a vector's lanes in less at *left and the others before *right.  Each side has room for a
 * whole vector: a block was read from the side with less room. */
INLINE void NAME(divide_vector)(vec v, uint32_t less, KEY **left, KEY **right)
{
    const size_t count = (size_t)__builtin_popcount(less);
    NAME(divide)(v, less, *left, *right);
    *left += count;
    *right -= NAME(LANES) - count;
}

INLINE void NAME(divide_some)(vec v, uint32_t less, uint32_t lanes, KEY **left, KEY **right)
{
    uint32_t a = less & lanes, b = ~less & lanes;
    uint32_t count = (uint32_t)__builtin_popcount(a), rest = (uint32_t)__builtin_popcount(b);
    NAME(store_some)(*left, (NAME(mask))((1u << count) - 1), NAME(compress)(a, v));
    *left += count;
    *right -= rest;
    NAME(store_some)(*right, (NAME(mask))((1u << rest) - 1), NAME(compress)(b, v));
}

INLINE uint32_t NAME(below)(vec v, vec pivot, bool equal_is_less)
{
    return equal_is_less ? NAME(less_equal)(v, pivot) : NAME(less)(v, pivot);
}

/* Partitions the keys of from, which may be x, into x; n >= HELD. */
INLINE size_t NAME(divide_all)(const KEY *from, KEY *x, size_t n, vec p, bool equal_is_less,
                               const struct NAME(coding) * coding)
{
    _Alignas(64) KEY held[NAME(HELD) + NAME(BLOCK)];
    size_t some = n % NAME(BLOCK), i = some + NAME(BLOCK), j = n - NAME(BLOCK);
    memcpy(held, from, i * sizeof(KEY));
    memcpy(held + i, from + j, NAME(BLOCK) * sizeof(KEY));
    KEY *left = x, *right = x + n;
    const bool ahead = n > AHEAD_BYTES / sizeof(KEY);
    while (i < j) {
        bool first = i - (size_t)(left - x) <= (size_t)(right - x) - j; /* less room on this side */
        const KEY *block = first ? from + i : from + j - NAME(BLOCK);
        i += first ? NAME(BLOCK) : 0;
        j -= first ? 0 : NAME(BLOCK);
        const KEY *soon = first ? block + AHEAD * NAME(BLOCK) : block - AHEAD * NAME(BLOCK);
        vec v[8];
        UNROLL for (int k = 0; k < 8; k++)
        {
            if (ahead) __builtin_prefetch(soon + k * NAME(LANES), 1);
            v[k] = _mm512_loadu_si512(block + k * NAME(LANES));
            if (coding) v[k] = NAME(encode_vec)(coding, v[k]);
        }
        UNROLL for (int k = 0; k < 8; k++)
            NAME(divide_vector)(v[k], NAME(below)(v[k], p, equal_is_less), &left, &right);
    }
    for (size_t k = 0; k < some + NAME(HELD); k += NAME(LANES)) {
        NAME(mask) lanes = NAME(row_lanes)(some + NAME(HELD) - k, 0);
        vec v = NAME(load_some)(held + k, lanes, p);
        if (coding) v = NAME(encode_vec)(coding, v);
        NAME(divide_some)(v, NAME(below)(v, p, equal_is_less), lanes, &left, &right);
    }
    return (size_t)(left - x);
}

static size_t NAME(divide_less)(KEY *x, size_t n, KEY pivot)
{
    return NAME(divide_all)(x, x, n, NAME(broadcast)(pivot), false, NULL);
}

static size_t NAME(divide_equal)(KEY *x, size_t n, KEY pivot)
{
    return NAME(divide_all)(x, x, n, NAME(broadcast)(pivot), true, NULL);
}

static size_t NAME(divide_raw)(const KEY *from, KEY *x, size_t n, KEY pivot,
                               const struct NAME(coding) * coding)
{
    return NAME(divide_all)(from, x, n, NAME(broadcast)(pivot), false, coding);
}

/* Sorts x, keys that are at least low, and decodes them if there is a coding.  Many bad pivots end
 * the quicksort: the time of the merge sort does not depend on the keys. */
static void NAME(in_place)(KEY *x, size_t n, KEY low, int depth, const struct NAME(coding) * coding)
{
    while (n > NAME(LEAF_KEYS) && depth-- > 0) {
        KEY pivot = NAME(pivot)(x, n, NULL);
        size_t less;
        if (pivot == low) { /* all keys that are not greater are equal, and in place */
            less = NAME(divide_equal)(x, n, pivot);
            if (coding) NAME(decode_all)(coding, x, less);
        } else {
            less = NAME(divide_less)(x, n, pivot);
            NAME(in_place)(x, less, low, depth, coding);
        }
        low = pivot;
        x += less;
        n -= less;
    }
    NAME(network_sort)(x, x, n, NULL, coding);
}

/* Sorts keys of from into x; the first partition also encodes and moves them. */
static void NAME(vector_quick)(const KEY *from, KEY *x, size_t n,
                               const struct NAME(coding) * coding, const struct NAME(coding) * c)
{
    int depth = 2 * echi_bit_length(n) + 8;
    if (n <= NAME(LEAF_KEYS)) {
        NAME(network_sort)(from, x, n, coding, coding);
        return;
    }
    KEY pivot = NAME(pivot)(from, n, coding);
    size_t less = NAME(divide_raw)(from, x, n, pivot, c);
    NAME(in_place)(x, less, 0, depth, coding);
    NAME(in_place)(x + less, n - less, pivot, depth, coding);
}

static void NAME(vector_leaf)(void *keys, void *work, size_t n, bool in_y, int begin, int end)
{
    static const struct echi_order plain; /* of unsigned keys */
    const struct NAME(coding) c = NAME(coding_of)(&plain);
    (void)begin;
    (void)end;
    NAME(vector_quick)(in_y ? work : keys, keys, n, NULL, &c);
}

static void NAME(vector_sort)(const struct echi_order *order, const void *keys, void *out,
                              void *work, size_t n)
{
    const struct NAME(coding) c = NAME(coding_of)(order);
    (void)work;
    NAME(vector_quick)(keys, out, n, NAME(is_coded)(order) ? &c : NULL, &c);
}

/* One partition, for callers that share the parts among threads: see struct echi_sort_width. */
static size_t NAME(vector_divide)(const struct echi_order *order, const void *keys, void *out,
                                  size_t n, bool raw, uint64_t low, uint64_t *pivot)
{
    const struct NAME(coding) c = NAME(coding_of)(order);
    KEY p = NAME(pivot)(keys, n, raw ? &c : NULL);
    *pivot = p;
    if (raw) return NAME(divide_raw)(keys, out, n, p, &c);
    return p == low ? NAME(divide_equal)(out, n, p) : NAME(divide_less)(out, n, p);
}

static void NAME(vector_part)(const struct echi_order *order, void *keys, void *work, size_t n,
                              uint64_t low)
{
    const struct NAME(coding) c = NAME(coding_of)(order);
    (void)work;
    NAME(in_place)(keys, n, (KEY)low, 2 * echi_bit_length(n) + 8, &c);
}

#undef KEY
#undef NAME
