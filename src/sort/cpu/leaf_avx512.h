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

INLINE MASK NAME(lanes_from)(size_t n, int row)
{
    size_t first = (size_t)row * NAME(LANES);
    uint32_t count = n <= first ? 0 : n - first < NAME(LANES) ? (uint32_t)(n - first) : NAME(LANES);
    return (MASK)((1u << count) - 1);
}

/* ---- Raw keys ---- */

/* core/order.h, for orders that are a bijection. */
struct NAME(coding) {
    vec sign, mask, shift, flip;
};

INLINE struct NAME(coding) NAME(coding_of)(const struct echi_order *o)
{
    return (struct NAME(coding)){ NAME(broadcast)((KEY)o->sign),
                                  NAME(broadcast)((KEY)o->float_mask),
                                  NAME(broadcast)((KEY)o->shift), NAME(broadcast)((KEY)o->flip) };
}

INLINE vec NAME(encode_vec)(const struct NAME(coding) * c, vec u)
{
    vec negative = _mm512_and_si512(NAME(sign_bits)(u), c->mask);
    vec e = _mm512_xor_si512(u, _mm512_or_si512(negative, c->sign));
    return _mm512_xor_si512(NAME(subtract)(e, c->shift), c->flip);
}

INLINE vec NAME(decode_vec)(const struct NAME(coding) * c, vec e)
{
    e = NAME(add)(_mm512_xor_si512(e, c->flip), c->shift);
    vec negative = _mm512_andnot_si512(NAME(sign_bits)(e), c->mask);
    return _mm512_xor_si512(e, _mm512_or_si512(negative, c->sign));
}

static void NAME(encode_all)(const struct NAME(coding) * c, const KEY *from, KEY *to, size_t n)
{
    for (size_t i = 0; i < n; i += NAME(LANES)) {
        MASK lanes = NAME(lanes_from)(n - i, 0);
        vec v = NAME(load_some)(from + i, lanes, c->sign);
        NAME(store_some)(to + i, lanes, NAME(encode_vec)(c, v));
    }
}

static void NAME(decode_all)(const struct NAME(coding) * c, KEY *keys, size_t n)
{
    for (size_t i = 0; i < n; i += NAME(LANES)) {
        MASK lanes = NAME(lanes_from)(n - i, 0);
        vec v = NAME(load_some)(keys + i, lanes, c->sign);
        NAME(store_some)(keys + i, lanes, NAME(decode_vec)(c, v));
    }
}

/* ---- The network ---- */

#define COMPARE(i, j) NAME(compare)(&v[i], &v[j]);

INLINE void NAME(compare)(vec *a, vec *b)
{
    vec low = NAME(min)(*a, *b);
    *b = NAME(max)(*a, *b);
    *a = low;
}

INLINE void NAME(sort_columns)(vec *v, int rows)
{
    if (rows == 16) {
#define NETWORK_16
#include "sort/network.def"
#undef NETWORK_16
    } else if (rows == 8) {
#define NETWORK_8
#include "sort/network.def"
#undef NETWORK_8
    } else if (rows == 4) {
#define NETWORK_4
#include "sort/network.def"
#undef NETWORK_4
    } else if (rows == 2) {
        COMPARE(0, 1)
    }
}

#undef COMPARE

/* Lanes whose number has this bit. */
INLINE uint32_t NAME(lanes_with)(int bit)
{
    return bit == 1 ? 0xAAAA : bit == 2 ? 0xCCCC : bit == 4 ? 0xF0F0 : 0xFF00;
}

/* Merges each pair of sorted runs of columns: bitonic, with the second run reversed. */
INLINE void NAME(merge_columns)(vec *v, int rows, int columns)
{
    uint32_t upper = NAME(lanes_with)(columns);
    if (rows == 1) {
        vec other = NAME(swap_lanes)(v[0], 2 * columns - 1);
        v[0] = NAME(blend)(upper, NAME(min)(v[0], other), NAME(max)(v[0], other));
    }
    UNROLL for (int r = 0; r < rows / 2; r++)
    {
        vec a = v[r], b = NAME(swap_lanes)(v[rows - 1 - r], 2 * columns - 1);
        vec low = NAME(min)(a, b), high = NAME(max)(a, b);
        v[r] = NAME(blend)(upper, low, high);
        v[rows - 1 - r] = NAME(swap_lanes)(NAME(blend)(upper, high, low), 2 * columns - 1);
    }
    UNROLL for (int d = columns / 2; d >= 1; d /= 2)
    {
        UNROLL for (int r = 0; r < rows; r++)
        {
            vec other = NAME(swap_lanes)(v[r], d);
            vec low = NAME(min)(v[r], other), high = NAME(max)(v[r], other);
            v[r] = NAME(blend)(NAME(lanes_with)(d), low, high);
        }
    }
    UNROLL for (int d = rows / 2; d >= 1; d /= 2)
    {
        UNROLL for (int r = 0; r < rows; r++)
        {
            if (!(r & d)) NAME(compare)(&v[r], &v[r + d]);
        }
    }
}

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

/* Registers with n keys of from, one row of the matrix each; padding sorts behind all keys.  With a
 * coding, the keys are raw. */
INLINE void NAME(load_rows)(vec *v, const KEY *from, size_t n, int rows,
                            const struct NAME(coding) * coding)
{
    const vec last = NAME(broadcast)((KEY) ~(KEY)0);
    UNROLL for (int r = 0; r < rows; r++)
    {
        const MASK lanes = NAME(lanes_from)(n, r);
        v[r] = NAME(load_some)(from + r * NAME(LANES), lanes, last);
        if (coding) v[r] = NAME(blend)(lanes, last, NAME(encode_vec)(coding, v[r]));
    }
}

INLINE void NAME(store_rows)(const vec *v, KEY *to, size_t n, int rows,
                             const struct NAME(coding) * coding)
{
    UNROLL for (int r = 0; r < rows; r++)
        NAME(store_some)(to + r * NAME(LANES), NAME(lanes_from)(n, r),
                         coding ? NAME(decode_vec)(coding, v[r]) : v[r]);
}

INLINE void NAME(network)(const KEY *from, KEY *to, size_t n, int rows,
                          const struct NAME(coding) * coding)
{
    vec v[16];
    NAME(load_rows)(v, from, n, rows, coding);
    NAME(sort_columns)(v, rows);
    NAME(merge_columns)(v, rows, 1);
    NAME(merge_columns)(v, rows, 2);
    NAME(merge_columns)(v, rows, 4);
    if (NAME(LANES) == 16) NAME(merge_columns)(v, rows, 8);
    NAME(transpose)(v, rows);
    NAME(store_rows)(v, to, n, rows, coding);
}

static void NAME(network_1)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * coding)
{
    NAME(network)(from, to, n, 1, coding);
}

static void NAME(network_2)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * coding)
{
    NAME(network)(from, to, n, 2, coding);
}

static void NAME(network_4)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * coding)
{
    NAME(network)(from, to, n, 4, coding);
}

static void NAME(network_8)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * coding)
{
    NAME(network)(from, to, n, 8, coding);
}

static void NAME(network_16)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * coding)
{
    NAME(network)(from, to, n, 16, coding);
}

/* coding: that of raw keys, or NULL. */
static void NAME(small)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * coding)
{
    if (n <= NAME(LANES))
        NAME(network_1)(from, to, n, coding);
    else if (n <= 2 * NAME(LANES))
        NAME(network_2)(from, to, n, coding);
    else if (n <= 4 * NAME(LANES))
        NAME(network_4)(from, to, n, coding);
    else if (n <= 8 * NAME(LANES))
        NAME(network_8)(from, to, n, coding);
    else
        NAME(network_16)(from, to, n, coding);
}

/* ---- Several short arrays at once ---- */

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
 * transposed again.  most: the maximum number of keys, 4, 8, 16 or 32. */
INLINE void NAME(many)(const struct echi_order *order, const struct echi_sort_many *arrays,
                       int most)
{
    const int squares = most <= NAME(LANES) ? 1 : most / NAME(LANES);
    const struct NAME(coding) c = NAME(coding_of)(order);
    const struct NAME(coding) *coding = order->sign || order->flip || order->shift ? &c : NULL;
    vec v[32], row[32 / NAME(LANES)];
    UNROLL for (int i = 0; i < NAME(LANES); i++)
    {
        NAME(load_rows)(row, arrays->keys[i], arrays->n[i], squares, coding);
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
        NAME(store_rows)(row, arrays->out[i], arrays->n[i], squares, coding);
    }
}

static void NAME(many_4)(const struct echi_order *order, const struct echi_sort_many *arrays)
{
    NAME(many)(order, arrays, 4);
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
    if (most <= 4)
        NAME(many_4)(order, arrays);
    else if (most <= 8)
        NAME(many_8)(order, arrays);
    else if (most <= 16)
        NAME(many_16)(order, arrays);
    else
        NAME(many_32)(order, arrays);
}

/* ---- Quicksort, in the L1 cache ---- */

/* Appends a vector's lanes in less to *x and the lanes in rest to *y.  Whole vectors are written:
 * the memory behind the appended lanes has been read already or is free. */
INLINE void NAME(append)(vec v, uint32_t less, KEY **x, KEY **y)
{
    size_t count = (size_t)__builtin_popcount(less);
    _mm512_storeu_si512(*x, NAME(compress)(less, v));
    _mm512_storeu_si512(*y, NAME(compress)(~less, v));
    *x += count;
    *y += NAME(LANES) - count;
}

INLINE size_t NAME(partition)(KEY *x, KEY *y, size_t n, bool in_y, KEY pivot, bool equal_is_less)
{
    const KEY *from = in_y ? y : x;
    KEY *to_x = x, *to_y = y;
    const vec p = NAME(broadcast)(pivot);
    size_t i = 0;
    for (; i + 4 * NAME(LANES) <= n; i += 4 * NAME(LANES)) {
        vec v[4];
        UNROLL for (int k = 0; k < 4; k++) v[k] = _mm512_loadu_si512(from + i + k * NAME(LANES));
        UNROLL for (int k = 0; k < 4; k++)
        {
            uint32_t less = equal_is_less ? NAME(less_equal)(v[k], p) : NAME(less)(v[k], p);
            NAME(append)(v[k], less, &to_x, &to_y);
        }
    }
    for (; i < n; i += NAME(LANES)) {
        uint32_t lanes = NAME(lanes_from)(n - i, 0);
        vec v = NAME(load_some)(from + i, (MASK)lanes, p);
        uint32_t less = equal_is_less ? NAME(less_equal)(v, p) : NAME(less)(v, p);
        uint32_t a = less & lanes, b = ~less & lanes;
        uint32_t count_a = (uint32_t)__builtin_popcount(a),
                 count_b = (uint32_t)__builtin_popcount(b);
        NAME(store_some)(to_x, (MASK)((1u << count_a) - 1), NAME(compress)(a, v));
        NAME(store_some)(to_y, (MASK)((1u << count_b) - 1), NAME(compress)(b, v));
        to_x += count_a;
        to_y += count_b;
    }
    return (size_t)(to_x - x);
}

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
    NAME(small)(sample, sorted, count, NULL);
    return sorted[count / 2];
}

/* Sorts keys that are at least low; the result is in x. */
static void NAME(quick)(KEY *x, KEY *y, size_t n, bool in_y, KEY low, int depth)
{
    while (n > NETWORK_ROWS * NAME(LANES)) {
        if (depth-- == 0) { /* repeated bad pivots: radix sort does not depend on pivots */
            NAME(leaf)(x, y, n, in_y, 0, 8 * (int)sizeof(KEY));
            return;
        }
        KEY pivot = NAME(pivot)(in_y ? y : x, n, NULL);
        size_t less;
        if (pivot == low) { /* all keys that are not greater are equal, and in place */
            less = NAME(partition)(x, y, n, in_y, pivot, true);
        } else {
            less = NAME(partition)(x, y, n, in_y, pivot, false);
            NAME(quick)(x, y + (n - less), less, false, low, depth);
        }
        low = pivot;
        x += less;
        n -= less;
        in_y = true;
    }
    NAME(small)(in_y ? y : x, x, n, NULL);
}

/* ---- Quicksort in place, for larger parts ---- */

enum {
    NAME(BLOCK) = 8 * NAME(LANES), /* keys read as one unit, from one end */
    NAME(HELD) = 2 * NAME(BLOCK)   /* keys buffered, so that there is room for a block's */
};

/* Writes a vector's lanes in less at *left and the others before *right.  Whole vectors are
 * written: there is room for two vectors between the pointers, or for exactly this one if it is the
 * last. */
INLINE void NAME(divide)(vec v, uint32_t less, KEY **left, KEY **right)
{
    size_t count = (size_t)__builtin_popcount(less), rest = NAME(LANES) - count;
    _mm512_storeu_si512(*left, NAME(compress)(less, v));
    *left += count;
    *right -= rest;
    NAME(store_some)(*right, (MASK)((1u << rest) - 1), NAME(compress)(~less, v));
}

INLINE void NAME(divide_some)(vec v, uint32_t less, uint32_t lanes, KEY **left, KEY **right)
{
    uint32_t a = less & lanes, b = ~less & lanes;
    uint32_t count = (uint32_t)__builtin_popcount(a), rest = (uint32_t)__builtin_popcount(b);
    NAME(store_some)(*left, (MASK)((1u << count) - 1), NAME(compress)(a, v));
    *left += count;
    *right -= rest;
    NAME(store_some)(*right, (MASK)((1u << rest) - 1), NAME(compress)(b, v));
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
            NAME(divide)(v[k], NAME(below)(v[k], p, equal_is_less), &left, &right);
    }
    for (size_t k = 0; k < some + NAME(HELD); k += NAME(LANES)) {
        MASK lanes = NAME(lanes_from)(some + NAME(HELD) - k, 0);
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

/* Sorts x, keys that are at least low, and decodes them if there is a coding. y is scratch for
 * quick(). */
static void NAME(in_place)(KEY *x, KEY *y, size_t n, KEY low, int depth,
                           const struct NAME(coding) * coding)
{
    while (n > IN_CACHE_BYTES / sizeof(KEY)) {
        if (depth-- == 0) break; /* quick() terminates without good pivots */
        KEY pivot = NAME(pivot)(x, n, NULL);
        size_t less;
        if (pivot == low) { /* all keys that are not greater are equal, and in place */
            less = NAME(divide_equal)(x, n, pivot);
            if (coding) NAME(decode_all)(coding, x, less);
        } else {
            less = NAME(divide_less)(x, n, pivot);
            NAME(in_place)(x, y, less, low, depth, coding);
        }
        low = pivot;
        x += less;
        n -= less;
    }
    NAME(quick)(x, y, n, false, low, depth < 0 ? 0 : 2 * echi_bit_length(n) + 8);
    if (coding) NAME(decode_all)(coding, x, n);
}

static void NAME(vector_leaf)(void *keys, void *work, size_t n, bool in_y, int begin, int end)
{
    (void)begin;
    (void)end;
    NAME(quick)(keys, work, n, in_y, 0, 2 * echi_bit_length(n) + 8);
}

static void NAME(vector_sort)(const struct echi_order *order, const void *keys, void *out,
                              void *work, size_t n)
{
    const KEY *from = keys;
    KEY *x = out;
    const struct NAME(coding) c = NAME(coding_of)(order);
    bool coded = order->sign || order->flip || order->shift;
    int depth = 2 * echi_bit_length(n) + 8;
    if (n <= NETWORK_ROWS * NAME(LANES)) {
        NAME(small)(from, x, n, coded ? &c : NULL);
        return;
    }
    if (n <= IN_CACHE_BYTES / sizeof(KEY)) {
        if (coded)
            NAME(encode_all)(&c, from, x, n);
        else if (from != x)
            memcpy(x, from, n * sizeof(KEY));
        NAME(quick)(x, work, n, false, 0, depth);
        if (coded) NAME(decode_all)(&c, x, n);
        return;
    }
    /* The first partition also encodes the keys and moves them to the output. */
    KEY pivot = NAME(pivot)(from, n, coded ? &c : NULL);
    size_t less = NAME(divide_raw)(from, x, n, pivot, &c);
    NAME(in_place)(x, work, less, 0, depth, coded ? &c : NULL);
    NAME(in_place)(x + less, (KEY *)work + less, n - less, pivot, depth, coded ? &c : NULL);
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
    NAME(in_place)(keys, work, n, (KEY)low, 2 * echi_bit_length(n) + 8, &c);
}

#undef KEY
#undef NAME
#undef MASK
