/*
 * sort/cpu/network.h - template: sorts of up to a few thousand raw keys by sorting networks in
 * vector registers.
 *
 *   network      the keys are a matrix with one register per row:
 *
 *                    | | | |        sort the columns, then merge adjacent columns until one run
 *                    v v v v        is left, in row-major order
 *
 *   merge        more keys than ROWS registers hold are sorted in blocks, and runs of blocks are
 *                merged in memory by bitonic merges: compare mirrored vectors, then vectors at
 *                half the distance, and so on; the last steps of each block are in registers
 *
 * Padding sorts behind all keys.  A compare-exchange whose second key is padding does nothing, so
 * that vectors behind the last key need not exist.
 *
 *   KEY      uint16_t, uint32_t or uint64_t
 *   NAME(x)  x with the width as a suffix; the vector header defines vec, NAME(mask), NAME(min) and
 *            others
 *   ROWS     maximum number of registers of a network, 8 or 16
 *   SPLITS   defined if the minimum takes longer than a shuffle: NAME(unite) then exists
 *
 * SPDX-License-Identifier: Apache-2.0
 */

enum { NAME(BLOCK_KEYS) = ROWS * NAME(LANES) };

/* ---- Raw keys ---- */

/* core/order.h, for orders that are a bijection, with fewer instructions:
 *     e = ((u ^ (negative float ? all but the sign : 0)) + add) ^ flip */
struct NAME(coding) {
    vec mask, add, flip, padding; /* padding: the raw key that is encoded as the maximum */
    bool floats;
};

INLINE struct NAME(coding) NAME(coding_of)(const struct echi_order *o)
{
    const KEY top = (KEY)((KEY)1 << (8 * sizeof(KEY) - 1));
    const KEY mask = (KEY)(o->float_mask & ~top), add = (KEY)(o->sign - o->shift);
    const KEY last = (KEY)((KEY)((KEY)~o->flip) - add);
    return (struct NAME(coding)){ .mask = NAME(broadcast)(mask),
                                  .add = NAME(broadcast)(add),
                                  .flip = NAME(broadcast)((KEY)o->flip),
                                  .padding =
                                      NAME(broadcast)((KEY)(last & top ? last ^ mask : last)),
                                  .floats = o->float_mask != 0 };
}

/* Whether the encoded keys differ from the raw ones. */
INLINE bool NAME(is_coded)(const struct echi_order *o)
{
    return o->sign || o->flip || o->shift;
}

INLINE vec NAME(encode_vec)(const struct NAME(coding) * c, vec u)
{
    vec e = bit_xor(u, bit_and(NAME(sign_bits)(u), c->mask));
    return bit_xor(NAME(add)(e, c->add), c->flip);
}

INLINE vec NAME(decode_vec)(const struct NAME(coding) * c, vec e)
{
    vec u = NAME(subtract)(bit_xor(e, c->flip), c->add);
    return bit_xor(u, bit_and(NAME(sign_bits)(u), c->mask));
}

/* Integers have no sign to test, which halves the instructions. */
INLINE void NAME(encode_rows)(const struct NAME(coding) * c, vec *v, int rows)
{
    if (c->floats) {
        UNROLL for (int r = 0; r < rows; r++) v[r] = NAME(encode_vec)(c, v[r]);
    } else {
        UNROLL for (int r = 0; r < rows; r++) v[r] = bit_xor(NAME(add)(v[r], c->add), c->flip);
    }
}

INLINE void NAME(decode_rows)(const struct NAME(coding) * c, vec *v, int rows)
{
    if (c->floats) {
        UNROLL for (int r = 0; r < rows; r++) v[r] = NAME(decode_vec)(c, v[r]);
    } else {
        UNROLL for (int r = 0; r < rows; r++) v[r] = NAME(subtract)(bit_xor(v[r], c->flip), c->add);
    }
}

/* ---- Rows in registers ---- */

/* The lanes of a row that hold the first n keys. */
INLINE NAME(mask) NAME(row_lanes)(size_t n, int row)
{
    const size_t first = (size_t)row * NAME(LANES), word = first / 64 * 64;
    const size_t count = n <= word ? 0 : n - word < 64 ? n - word : 64;
    return (NAME(mask))(first_bits(count) >> first % 64);
}

/* Reads n keys, the rows up to `full` entirely. With a coding, the keys are raw. */
INLINE void NAME(load_rows)(vec *v, const KEY *from, size_t n, int rows, int full,
                            const struct NAME(coding) * coding)
{
    const vec padding = coding ? coding->padding : NAME(broadcast)((KEY) ~(KEY)0);
    UNROLL for (int r = 0; r < full; r++) v[r] = load(from + r * NAME(LANES));
    UNROLL for (int r = full; r < rows; r++) v[r] =
        NAME(load_some)(from + r * NAME(LANES), NAME(row_lanes)(n, r), padding);
    if (coding) NAME(encode_rows)(coding, v, rows);
}

INLINE void NAME(store_rows)(vec *v, KEY *to, size_t n, int rows, int full,
                             const struct NAME(coding) * coding)
{
    if (coding) NAME(decode_rows)(coding, v, rows);
    UNROLL for (int r = 0; r < full; r++) store(to + r * NAME(LANES), v[r]);
    UNROLL for (int r = full; r < rows; r++)
        NAME(store_some)(to + r * NAME(LANES), NAME(row_lanes)(n, r), v[r]);
}

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
    return bit == 1   ? 0xAAAAAAAA
           : bit == 2 ? 0xCCCCCCCC
           : bit == 4 ? 0xF0F0F0F0
           : bit == 8 ? 0xFF00FF00
                      : 0xFFFF0000;
}

/* Compares lane i with lane i ^ swap; the lanes with `bit` get the maximum. */
INLINE void NAME(compare_lanes)(vec *v, int rows, int swap, int bit)
{
    UNROLL for (int r = 0; r < rows && bit; r++)
    {
        vec other = NAME(swap_lanes)(v[r], swap);
        v[r] = NAME(max_in)(NAME(lanes_with)(bit), NAME(min)(v[r], other), v[r], other);
    }
}

#ifdef SPLITS
/* The same for pairs of rows, with half as many comparisons: a row gets the lower lanes of both, the
 * other one the upper lanes. */
INLINE void NAME(compare_split)(vec *v, int rows, int swap, int bit)
{
    const uint32_t upper = NAME(lanes_with)(bit);
    UNROLL for (int r = 0; r < rows && bit; r += 2)
    {
        vec a = NAME(blend)(upper, v[r], NAME(swap_lanes)(v[r + 1], swap));
        vec b = NAME(blend)(~upper, v[r + 1], NAME(swap_lanes)(v[r], swap));
        v[r] = NAME(min)(a, b);
        v[r + 1] = NAME(max)(a, b);
    }
}

INLINE void NAME(merge_split)(vec *v, int rows, int swap, int bit)
{
    NAME(compare_split)(v, rows, swap, bit);
    NAME(compare_split)(v, rows, bit / 2, bit / 2);
    NAME(compare_split)(v, rows, bit / 4, bit / 4);
    UNROLL for (int r = 0; r < rows; r += 2)
    {
        vec a = v[r], b = v[r + 1];
        v[r] = NAME(unite)(a, b, bit, 0);
        v[r + 1] = NAME(unite)(a, b, bit, bit);
    }
}
#endif

/* The last steps of a bitonic merge, in the lanes of each row, from lane i and i ^ swap on; `bit` is
 * the upper bit of swap.  Not a loop: compilers unroll loops in loops too late to keep v in
 * registers. */
INLINE void NAME(merge_lanes)(vec *v, int rows, int swap, int bit)
{
#ifdef SPLITS
    if (rows > 1) {
        NAME(merge_split)(v, rows, swap, bit);
        return;
    }
#endif
    NAME(compare_lanes)(v, rows, swap, bit);
    NAME(compare_lanes)(v, rows, bit / 2, bit / 2);
    NAME(compare_lanes)(v, rows, bit / 4, bit / 4);
    NAME(compare_lanes)(v, rows, bit / 8, bit / 8);
    NAME(compare_lanes)(v, rows, bit / 16, bit / 16);
}

/* Compares row r with r ^ swap. */
INLINE void NAME(compare_rows)(vec *v, int rows, int swap, int bit)
{
    UNROLL for (int r = 0; r < rows && bit; r++)
    {
        if (!(r & bit)) NAME(compare)(&v[r], &v[r ^ swap]);
    }
}

/* Merges pairs of sorted runs, which are in adjacent groups of `columns` lanes.  A bitonic merge
 * that always compares mirrored elements: the rows of each half, then of each quarter, and so on,
 * and last the lanes.  The mirrored row has its lanes reversed: of each first pair, the row with
 * the odd number or the other one, so that all later pairs have opposite directions.  The
 * comparison of lanes restores the direction. */
INLINE void NAME(merge_columns)(vec *v, int rows, int columns)
{
    UNROLL for (int r = 0; r < rows / 2; r++)
    {
        int reversed = r % 2 ? r : rows - 1 - r;
        v[reversed] = NAME(swap_lanes)(v[reversed], 2 * columns - 1);
    }
    NAME(compare_rows)(v, rows, rows - 1, rows / 2);
    NAME(compare_rows)(v, rows, rows / 2 - 1, rows / 4);
    NAME(compare_rows)(v, rows, rows / 4 - 1, rows / 8);
    NAME(compare_rows)(v, rows, rows / 8 - 1, rows / 16);
    NAME(merge_lanes)(v, rows, 2 * columns - 1, columns);
}

INLINE void NAME(network)(const KEY *from, KEY *to, size_t n, int rows,
                          const struct NAME(coding) * in, const struct NAME(coding) * out)
{
    vec v[ROWS];
    NAME(load_rows)(v, from, n, rows, rows / 2, in);
    NAME(sort_columns)(v, rows);
    NAME(merge_columns)(v, rows, 1);
    NAME(merge_columns)(v, rows, 2);
    if (NAME(LANES) >= 8) NAME(merge_columns)(v, rows, 4);
    if (NAME(LANES) >= 16) NAME(merge_columns)(v, rows, 8);
    if (NAME(LANES) == 32) NAME(merge_columns)(v, rows, 16);
    NAME(store_rows)(v, to, n, rows, rows / 2, out);
}

static void NAME(network_1)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
                            const struct NAME(coding) * out)
{
    NAME(network)(from, to, n, 1, in, out);
}

static void NAME(network_2)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
                            const struct NAME(coding) * out)
{
    NAME(network)(from, to, n, 2, in, out);
}

static void NAME(network_4)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
                            const struct NAME(coding) * out)
{
    NAME(network)(from, to, n, 4, in, out);
}

static void NAME(network_8)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
                            const struct NAME(coding) * out)
{
    NAME(network)(from, to, n, 8, in, out);
}

#if ROWS == 16
static void NAME(network_16)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
                             const struct NAME(coding) * out)
{
    NAME(network)(from, to, n, 16, in, out);
}
#endif

/* Sorts n <= BLOCK_KEYS keys.  in and out: the coding if the keys of from, or of to, are raw;
 * otherwise NULL. */
static void NAME(small)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
                        const struct NAME(coding) * out)
{
    if (n <= NAME(LANES))
        NAME(network_1)(from, to, n, in, out);
    else if (n <= 2 * NAME(LANES))
        NAME(network_2)(from, to, n, in, out);
    else if (n <= 4 * NAME(LANES))
        NAME(network_4)(from, to, n, in, out);
#if ROWS == 16
    else if (n > 8 * NAME(LANES))
        NAME(network_16)(from, to, n, in, out);
#endif
    else
        NAME(network_8)(from, to, n, in, out);
}

/* ---- Merges in memory ---- */

/* Compares the vectors at *a and *b, where b may end with the array: `rest` keys are left. */
INLINE void NAME(compare_at)(KEY *a, KEY *b, size_t rest, bool mirrored)
{
    const bool whole = rest >= NAME(LANES);
    const NAME(mask) lanes = NAME(row_lanes)(rest, 0);
    vec x = load(a);
    vec y = whole ? load(b) : NAME(load_some)(b, lanes, NAME(broadcast)((KEY) ~(KEY)0));
    if (mirrored) y = NAME(swap_lanes)(y, NAME(LANES) - 1);
    store(a, NAME(min)(x, y));
    y = NAME(max)(x, y);
    if (mirrored) y = NAME(swap_lanes)(y, NAME(LANES) - 1);
    if (whole)
        store(b, y);
    else
        NAME(store_some)(b, lanes, y);
}

/* Compares each vector of [0, half) with the one half further, or with its mirror image in
 * [half, 2 half), of x[n]. */
static void NAME(compare_halves)(KEY *x, size_t n, size_t half, bool mirrored)
{
    for (size_t i = 0; i < half; i += NAME(LANES)) {
        size_t j = mirrored ? 2 * half - NAME(LANES) - i : half + i;
        if (j < n)
            NAME(compare_at)(x + i, x + j, n - j, mirrored);
        else if (!mirrored)
            break;
    }
}

/* The last steps of a bitonic merge: a block in registers, whose keys are decoded with a coding. */
static void NAME(merge_block)(KEY *x, size_t n, const struct NAME(coding) * coding)
{
    vec v[ROWS];
    if (n >= NAME(BLOCK_KEYS))
        NAME(load_rows)(v, x, n, ROWS, ROWS, NULL);
    else
        NAME(load_rows)(v, x, n, ROWS, 0, NULL);
    NAME(compare_rows)(v, ROWS, ROWS / 2, ROWS / 2);
    NAME(compare_rows)(v, ROWS, ROWS / 4, ROWS / 4);
    NAME(compare_rows)(v, ROWS, ROWS / 8, ROWS / 8);
    NAME(compare_rows)(v, ROWS, ROWS / 16, ROWS / 16);
    NAME(merge_lanes)(v, ROWS, NAME(LANES) / 2, NAME(LANES) / 2);
    if (coding) NAME(decode_rows)(coding, v, ROWS);
    if (n >= NAME(BLOCK_KEYS))
        NAME(store_rows)(v, x, n, ROWS, ROWS, NULL);
    else
        NAME(store_rows)(v, x, n, ROWS, 0, NULL);
}

/* Merges x[0, run) and x[run, n), where run is a power of two of blocks and n <= 2 run. */
static void NAME(merge_runs)(KEY *x, size_t n, size_t run, const struct NAME(coding) * coding)
{
    NAME(compare_halves)(x, n, run, true);
    for (size_t half = run / 2; half >= NAME(BLOCK_KEYS); half /= 2)
        for (size_t i = 0; i + half < n; i += 2 * half)
            NAME(compare_halves)(x + i, n - i, half, false);
    for (size_t i = 0; i < n; i += NAME(BLOCK_KEYS)) NAME(merge_block)(x + i, n - i, coding);
}

/* Sorts keys of from, which may be to, into to.  in, out: as for small(). */
static void NAME(merge_sort)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
                             const struct NAME(coding) * out)
{
    size_t run = NAME(BLOCK_KEYS);
    if (n <= run) {
        NAME(small)(from, to, n, in, out);
        return;
    }
    while (2 * run < n) run *= 2;
    NAME(merge_sort)(from, to, run, in, NULL);
    NAME(merge_sort)(from + run, to + run, n - run, in, NULL);
    NAME(merge_runs)(to, n, run, out);
}
