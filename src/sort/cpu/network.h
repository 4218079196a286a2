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
 *   BIAS     0, or the top bit if NAME(min) compares signed keys: encoded keys are then signed
 *   LEAF_BYTES  maximum bytes that are merged in aligned memory, on the stack
 *   ROWS     maximum number of registers of a network, 8 or 16
 *   SPLITS   defined if the minimum takes longer than a shuffle: NAME(unite) then exists
 *
 * SPDX-License-Identifier: Apache-2.0
 */

enum { NAME(BLOCK_KEYS) = ROWS * NAME(LANES), NAME(LEAF_KEYS) = LEAF_BYTES / sizeof(KEY) };

/* ---- Raw keys ---- */

/* core/order.h, for orders that are a bijection, with fewer instructions:
 *     e = ((u ^ (negative float ? all but the sign : 0)) + add) ^ flip
 * add includes BIAS: to add the top bit is to flip it. */
struct NAME(coding) {
    vec mask, add, flip, padding; /* padding: the raw key that is encoded as the maximum */
    bool floats;
};

INLINE struct NAME(coding) NAME(coding_of)(const struct echi_order *o)
{
    const KEY top = (KEY)((KEY)1 << (8 * sizeof(KEY) - 1));
    const KEY mask = (KEY)(o->float_mask & (KEY)~top), add = (KEY)(o->sign - o->shift + BIAS);
    const KEY last = (KEY)((KEY)((KEY)~o->flip ^ (KEY)BIAS) - add);
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
    return (KEY)(o->sign - o->shift + BIAS) || o->flip || o->float_mask;
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

/* A row in memory; if it is behind the last key, any address, which is read with no lanes: accesses
 * to pages that do not exist are slow even so. */
INLINE size_t NAME(row_at)(size_t n, int row)
{
    const size_t first = (size_t)row * NAME(LANES);
    return first < n ? first : 0;
}

/* Reads n keys, the rows up to `full` entirely. With a coding, the keys are raw. */
INLINE void NAME(load_rows)(vec *v, const KEY *from, size_t n, int rows, int full,
                            const struct NAME(coding) * coding)
{
    const vec padding = coding ? coding->padding : NAME(broadcast)((KEY)(~(KEY)0 ^ (KEY)BIAS));
    UNROLL for (int r = 0; r < full; r++) v[r] = load(from + r * NAME(LANES));
    UNROLL for (int r = full; r < rows; r++) v[r] =
        NAME(load_some)(from + NAME(row_at)(n, r), NAME(row_lanes)(n, r), padding);
    if (coding) NAME(encode_rows)(coding, v, rows);
}

INLINE void NAME(store_rows)(vec *v, KEY *to, size_t n, int rows, int full,
                             const struct NAME(coding) * coding)
{
    if (coding) NAME(decode_rows)(coding, v, rows);
    UNROLL for (int r = 0; r < full; r++) store(to + r * NAME(LANES), v[r]);
    UNROLL for (int r = full; r < rows; r++) if ((size_t)r * NAME(LANES) < n)
        NAME(store_some)(to + r * NAME(LANES), NAME(row_lanes)(n, r), v[r]);
}

#define COMPARE(i, j) NAME(compare)(&v[i], &v[j]);

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
/* Gives the lower lanes of a pair of rows to one of them, and the upper lanes to the other. */
INLINE void NAME(split)(vec *a, vec *b, int swap, int bit)
{
    const uint32_t upper = NAME(lanes_with)(bit);
    vec low = NAME(blend)(upper, *a, NAME(swap_lanes)(*b, swap));
    *b = NAME(blend)(~upper, *b, NAME(swap_lanes)(*a, swap));
    *a = low;
}

/* The same as compare_lanes() for pairs of rows, with half as many comparisons. */
INLINE void NAME(compare_split)(vec *v, int rows, int swap, int bit)
{
    UNROLL for (int r = 0; r < rows && bit; r += 2)
    {
        NAME(split)(&v[r], &v[r + 1], swap, bit);
        NAME(compare)(&v[r], &v[r + 1]);
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
        if (bit > 1) continue;
        v[r] = a;
        v[r + 1] = b;
        NAME(split)(&v[r], &v[r + 1], 1, 1); /* its own inverse */
    }
}
#endif

/* The last steps of a bitonic merge, in the lanes of each row, from lane i and i ^ swap on; `bit`
 * is the upper bit of swap.  Not a loop: compilers unroll loops in loops too late to keep v in
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
static NOINLINE void NAME(small)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
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

/* The vector at x[i] of x[n]; keys behind the last one are padding. */
INLINE vec NAME(load_at)(const KEY *x, size_t i, size_t n, bool whole)
{
    const vec padding = NAME(broadcast)((KEY)(~(KEY)0 ^ (KEY)BIAS));
    if (whole || i + NAME(LANES) <= n) return load(x + i);
    return i < n ? NAME(load_some)(x + i, NAME(row_lanes)(n - i, 0), padding) : padding;
}

INLINE void NAME(store_at)(KEY *x, size_t i, size_t n, bool whole, vec v)
{
    if (whole || i + NAME(LANES) <= n)
        store(x + i, v);
    else if (i < n)
        NAME(store_some)(x + i, NAME(row_lanes)(n - i, 0), v);
}

INLINE vec NAME(reversed)(vec v, bool really)
{
    return really ? NAME(swap_lanes)(v, NAME(LANES) - 1) : v;
}

/* Compares each vector of x[0, half) with the one half further, or with its mirror image in
 * x[half, 2 half). */
static void NAME(compare_halves)(KEY *x, size_t n, size_t half, bool mirrored)
{
    for (size_t i = 0; i < half; i += NAME(LANES)) {
        size_t j = mirrored ? 2 * half - NAME(LANES) - i : half + i;
        vec a = load(x + i), b = NAME(reversed)(NAME(load_at)(x, j, n, false), mirrored);
        NAME(compare)(&a, &b);
        store(x + i, a);
        NAME(store_at)(x, j, n, false, NAME(reversed)(b, mirrored));
    }
}

/* The same, and then the same for the halves of each half, with one read and write. */
INLINE void NAME(compare_all_quarters)(KEY *x, size_t n, size_t half, bool mirrored, bool whole)
{
    const size_t quarter = half / 2;
    for (size_t i = 0; i < quarter; i += NAME(LANES)) {
        size_t j = mirrored ? quarter - NAME(LANES) - i : i;
        vec a = NAME(load_at)(x, i, n, true), b = NAME(load_at)(x, quarter + i, n, whole);
        vec c = NAME(reversed)(NAME(load_at)(x, half + j, n, whole), mirrored);
        vec d = NAME(reversed)(NAME(load_at)(x, half + quarter + j, n, whole), mirrored);
        NAME(compare)(&a, mirrored ? &d : &c);
        NAME(compare)(&b, mirrored ? &c : &d);
        NAME(compare)(&a, &b);
        NAME(compare)(&c, &d);
        NAME(store_at)(x, i, n, true, a);
        NAME(store_at)(x, quarter + i, n, whole, b);
        NAME(store_at)(x, half + j, n, whole, NAME(reversed)(c, mirrored));
        NAME(store_at)(x, half + quarter + j, n, whole, NAME(reversed)(d, mirrored));
    }
}

static NOINLINE void NAME(compare_quarters)(KEY *x, size_t n, size_t half, bool mirrored)
{
    const bool whole = n >= 2 * half;
    if (mirrored && whole)
        NAME(compare_all_quarters)(x, n, half, true, true);
    else if (whole)
        NAME(compare_all_quarters)(x, n, half, false, true);
    else if (mirrored)
        NAME(compare_all_quarters)(x, n, half, true, false);
    else
        NAME(compare_all_quarters)(x, n, half, false, false);
}

/* Compares a block in registers with the next one, x[n], which is in memory. */
INLINE void NAME(compare_next)(vec *v, KEY *x, size_t n, bool mirrored, bool whole)
{
    UNROLL for (int r = 0; r < ROWS; r++)
    {
        const size_t at = (size_t)(mirrored ? ROWS - 1 - r : r) * NAME(LANES);
        vec b = NAME(reversed)(NAME(load_at)(x, at, n, whole), mirrored);
        NAME(compare)(&v[r], &b);
        NAME(store_at)(x, at, n, whole, NAME(reversed)(b, mirrored));
    }
}

/* The last steps of a bitonic merge of at most two blocks, into `to`, which may be x; with a
 * coding, the keys are decoded. */
static NOINLINE void NAME(merge_blocks)(KEY *x, KEY *to, size_t n, bool mirrored,
                                        const struct NAME(coding) * coding)
{
    for (bool more = n > NAME(BLOCK_KEYS);; more = false) {
        const bool whole = n >= NAME(BLOCK_KEYS);
        vec v[ROWS];
        if (whole)
            NAME(load_rows)(v, x, n, ROWS, ROWS, NULL);
        else
            NAME(load_rows)(v, x, n, ROWS, 0, NULL);
        if (more && mirrored)
            NAME(compare_next)(v, x + NAME(BLOCK_KEYS), n - NAME(BLOCK_KEYS), true, false);
        else if (more)
            NAME(compare_next)(v, x + NAME(BLOCK_KEYS), n - NAME(BLOCK_KEYS), false, false);
        NAME(compare_rows)(v, ROWS, ROWS / 2, ROWS / 2);
        NAME(compare_rows)(v, ROWS, ROWS / 4, ROWS / 4);
        NAME(compare_rows)(v, ROWS, ROWS / 8, ROWS / 8);
        NAME(compare_rows)(v, ROWS, ROWS / 16, ROWS / 16);
        NAME(merge_lanes)(v, ROWS, NAME(LANES) / 2, NAME(LANES) / 2);
        if (coding) NAME(decode_rows)(coding, v, ROWS);
        if (whole)
            NAME(store_rows)(v, to, n, ROWS, ROWS, NULL);
        else
            NAME(store_rows)(v, to, n, ROWS, 0, NULL);
        if (!more) return;
        x += NAME(BLOCK_KEYS);
        to += NAME(BLOCK_KEYS);
        n -= NAME(BLOCK_KEYS);
    }
}

/* Merges x[0, run) and x[run, n) into `to`, which may be x; run is a power of two of blocks, and
 * n <= 2 run. */
static NOINLINE void NAME(merge_runs)(KEY *x, KEY *to, size_t n, size_t run,
                                      const struct NAME(coding) * coding)
{
    const size_t block = NAME(BLOCK_KEYS);
    bool mirrored = true;
    if (__builtin_ctzll(run / block) % 2) { /* of an even number of steps, the last is in blocks */
        NAME(compare_halves)(x, n, run, true);
        run /= 2;
        mirrored = false;
    }
    for (; run > block; run /= 4, mirrored = false)
        for (size_t i = 0; i + run / 2 < n; i += 2 * run)
            NAME(compare_quarters)(x + i, n - i, run, mirrored);
    for (size_t i = 0; i < n; i += 2 * block)
        NAME(merge_blocks)(x + i, to + i, echi_min(n - i, 2 * block), mirrored, coding);
}

/* Sorts n <= LEAF_KEYS keys of from into `to`, by merges in aligned memory.  in, out: as for
 * small(). */
static void NAME(merge_leaf)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
                             const struct NAME(coding) * out)
{
    _Alignas(64) KEY x[NAME(LEAF_KEYS)];
    const size_t block = NAME(BLOCK_KEYS);
    for (size_t i = 0; i < n; i += block)
        NAME(small)(from + i, x + i, echi_min(n - i, block), in, NULL);
    size_t run = block;
    for (; 2 * run < n; run *= 2)
        for (size_t i = 0; i + run < n; i += 2 * run)
            NAME(merge_runs)(x + i, x + i, echi_min(n - i, 2 * run), run, NULL);
    NAME(merge_runs)(x, to, n, run, out);
}

/* Sorts any number of keys of from into `to`, which may be from. */
static void NAME(network_sort)(const KEY *from, KEY *to, size_t n, const struct NAME(coding) * in,
                               const struct NAME(coding) * out)
{
    if (n <= NAME(BLOCK_KEYS)) {
        NAME(small)(from, to, n, in, out);
    } else if (n <= NAME(LEAF_KEYS) && n > 4 * NAME(BLOCK_KEYS)) {
        NAME(merge_leaf)(from, to, n, in, out);
    } else {
        size_t run = NAME(BLOCK_KEYS);
        while (2 * run < n) run *= 2;
        NAME(network_sort)(from, to, run, in, NULL);
        NAME(network_sort)(from + run, to + run, n - run, in, NULL);
        NAME(merge_runs)(to, to, n, run, out);
    }
}
