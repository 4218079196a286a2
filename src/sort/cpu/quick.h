/*
 * sort/cpu/quick.h - template: quicksort of raw keys with a branch-free partition, down to parts
 * that networks sort.
 *
 *   partition    blocks are read from either end of the array, always from the end with less room
 *                for the keys that are written: those less than the pivot from the left on, the
 *                others from the right on
 *
 *                     x: [ less | (free) | not read yet | (free) | others ]
 *
 *   KEY, NAME(x), BIAS  as in network.h; the vector header defines NAME(less), NAME(divide) and
 *                       others
 *   FEW_KEYS, MANY_KEYS, AHEAD, AHEAD_BYTES   see the including file
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

/* ---- Quicksort ---- */

/* Key i of a sample of `count` keys: the distances differ, because evenly spaced samples fail for
 * periodic input. */
INLINE KEY NAME(sampled)(const KEY *keys, size_t n, size_t count, size_t i)
{
    const size_t stride = n / count;
    const uint32_t random = (uint32_t)(i + 1) * 2654435769u >> 8;
    return keys[i * stride + (size_t)((uint64_t)random * stride >> 24)];
}

/* Sorts a sample; with coding, the encoded form of its keys. */
INLINE void NAME(sorted_sample)(const KEY *keys, size_t n, size_t count,
                                const struct NAME(coding) * coding, KEY *sorted)
{
    _Alignas(64) KEY sample[8 * NAME(LANES)];
    for (size_t i = 0; i < count; i++) sample[i] = NAME(sampled)(keys, n, count, i);
    if (coding) NAME(encode_all)(coding, sample, sample, count);
    NAME(small)(sample, sorted, count, NULL, NULL);
}

/* The median of a sample, larger for more keys; *lowest gets the minimum of the sample. */
static KEY NAME(pivot)(const KEY *keys, size_t n, const struct NAME(coding) * coding, KEY *lowest)
{
    _Alignas(64) KEY sorted[8 * NAME(LANES)];
    size_t count = n < FEW_KEYS ? NAME(LANES) : n < MANY_KEYS ? 4 * NAME(LANES) : 8 * NAME(LANES);
    NAME(sorted_sample)(keys, n, count, coding, sorted);
    *lowest = sorted[0];
    return sorted[count / 2];
}

enum {
    NAME(BLOCK) = 8 * NAME(LANES),        /* keys read as one unit, from one end */
    NAME(HELD) = 2 * NAME(BLOCK),         /* keys buffered, so that there is room for a block's */
    NAME(FREQUENT_KEYS) = 4 * NAME(BLOCK) /* fewer keys do not repay a sample */
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

INLINE void NAME(divide_some)(vec v, uint32_t less, size_t n, KEY **left, KEY **right)
{
    const uint32_t lanes = n < NAME(LANES) ? (1u << n) - 1 : (1u << NAME(LANES)) - 1;
    const uint32_t a = less & lanes, b = ~less & lanes;
    const size_t count = (size_t)__builtin_popcount(a), rest = (size_t)__builtin_popcount(b);
    NAME(store_some)(*left, NAME(row_lanes)(count, 0), NAME(compress)(a, v));
    *left += count;
    *right -= rest;
    NAME(store_some)(*right, NAME(row_lanes)(rest, 0), NAME(compress)(b, v));
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
            v[k] = load(block + k * NAME(LANES));
            if (coding) v[k] = NAME(encode_vec)(coding, v[k]);
        }
        UNROLL for (int k = 0; k < 8; k++)
            NAME(divide_vector)(v[k], NAME(below)(v[k], p, equal_is_less), &left, &right);
    }
    for (size_t k = 0; k < some + NAME(HELD); k += NAME(LANES)) {
        NAME(mask) lanes = NAME(row_lanes)(some + NAME(HELD) - k, 0);
        vec v = NAME(load_some)(held + k, lanes, p);
        if (coding) v = NAME(encode_vec)(coding, v);
        NAME(divide_some)
        (v, NAME(below)(v, p, equal_is_less), some + NAME(HELD) - k, &left, &right);
    }
    return (size_t)(left - x);
}

static size_t NAME(divide_less)(KEY *x, size_t n, KEY pivot)
{
    return NAME(divide_all)(x, x, n, NAME(broadcast)(pivot), false, NULL);
}

static size_t NAME(divide_raw)(const KEY *from, KEY *x, size_t n, KEY pivot,
                               const struct NAME(coding) * coding)
{
    return NAME(divide_all)(from, x, n, NAME(broadcast)(pivot), false, coding);
}

/* Whether two of a few keys are equal. */
INLINE bool NAME(some_equal)(const KEY *keys, size_t n)
{
    enum { SOME = 6 };
    KEY x[SOME];
    bool equal = false;
    UNROLL for (int i = 0; i < SOME; i++)
    {
        x[i] = NAME(sampled)(keys, n, SOME, (size_t)i);
        UNROLL for (int j = 0; j < i; j++) equal |= x[i] == x[j];
    }
    return equal;
}

/* Whether a leaf has a frequent key, by a sample: partitions take its keys out in less time than
 * the merges of all keys take. */
static NOINLINE bool NAME(frequent)(const KEY *keys, size_t n, const struct NAME(coding) * coding,
                                    KEY *key, KEY *lowest)
{
    enum { SAMPLE = 16, FREQUENT = 6 };
    _Alignas(64) KEY sorted[SAMPLE];
    if (n < NAME(FREQUENT_KEYS) || !NAME(some_equal)(keys, n)) return false;
    NAME(sorted_sample)(keys, n, SAMPLE, coding, sorted);
    *lowest = sorted[0];
    for (size_t i = 0; i + FREQUENT <= SAMPLE; i++) {
        *key = sorted[i];
        if (sorted[i + FREQUENT - 1] == *key) return true;
    }
    return false;
}

/* Chooses the bound of a partition of keys less than high, BIAS for all: a key of a sample, or the
 * next one if no sampled key is less; then most keys less than the bound are equal.  false: the
 * merges of a leaf take less time. */
static bool NAME(choose)(const KEY *keys, size_t n, KEY high, const struct NAME(coding) * coding,
                         KEY *bound)
{
    KEY key, lowest;
    if (n > NAME(LEAF_KEYS))
        key = NAME(pivot)(keys, n, coding, &lowest);
    else if (!NAME(frequent)(keys, n, coding, &key, &lowest))
        return false;
    *bound = key == lowest && (KEY)(key + 1) != high ? (KEY)(key + 1) : key;
    return true;
}

static bool NAME(all_equal)(const KEY *x, size_t n)
{
    KEY differ = 0;
    if (n && (x[0] != x[n / 2] || x[0] != x[n - 1])) return false;
    for (size_t i = 0; i < n; i++) differ |= x[i] ^ x[0];
    return !differ;
}

/* Sorts x, keys that are less than high, and decodes them if there is a coding.  Many bad bounds
 * end the quicksort: the time of the merge sort does not depend on the keys. */
static void NAME(in_place)(KEY *x, size_t n, KEY high, int depth,
                           const struct NAME(coding) * coding)
{
    KEY bound;
    while (depth-- > 0 && !NAME(all_equal)(x, n) && NAME(choose)(x, n, high, NULL, &bound)) {
        const size_t less = NAME(divide_less)(x, n, bound);
        NAME(in_place)(x, less, bound, depth, coding);
        x += less;
        n -= less;
    }
    if (!NAME(all_equal)(x, n))
        NAME(network_sort)(x, x, n, NULL, coding);
    else if (coding)
        NAME(decode_all)(coding, x, n);
}

static NOINLINE void NAME(quicksort)(const KEY *from, KEY *x, size_t n,
                                     const struct NAME(coding) * coding,
                                     const struct NAME(coding) * c)
{
    int depth = 2 * echi_bit_length(n) + 8;
    KEY bound;
    if (!NAME(choose)(from, n, (KEY)BIAS, coding, &bound)) {
        NAME(network_sort)(from, x, n, coding, coding);
        return;
    }
    size_t less = NAME(divide_raw)(from, x, n, bound, c);
    NAME(in_place)(x, less, bound, depth, coding);
    NAME(in_place)(x + less, n - less, (KEY)BIAS, depth, coding);
}

/* Sorts keys of from into x; the first partition also encodes and moves them. */
static void NAME(vector_quick)(const KEY *from, KEY *x, size_t n,
                               const struct NAME(coding) * coding, const struct NAME(coding) * c)
{
    if (n < NAME(FREQUENT_KEYS))
        NAME(network_sort)(from, x, n, coding, coding);
    else
        NAME(quicksort)(from, x, n, coding, c);
}
