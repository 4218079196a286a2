/*
 * scan/cpu/float.h - template: sums and products of a tile of floats, in the order of docs/scan.md.
 *
 *   FROM   f16, bf16, f32, f64: the type of the elements
 *   IN     f32, f64: the type of the computation
 *   TO     f16, bf16, f32, f64: the type of the results
 *   TURN   1 for 16-bit floats in f32: half.h
 *   SAME   1 if the three types are equal
 *
 * (All five are undefined at the end.) A line is 32 vectors of 16 bytes, of WIDTH elements each.
 * In registers it is transposed, block by block, so that SIMD instructions process W vectors at
 * once:
 *
 *     u[b][j]   elements 0 ... j of vectors b W ... b W + W - 1, combined
 *     t[b]      the line up to the ends of these vectors, by steps of 1, 2, 4, 8, 16
 *
 * The total of a tile only needs the totals of vectors; the lines of a tile are folded together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x)           JOINED(JOINED(JOINED(x##_, FROM), _), IN)
#define RAW               JOINED(FROM, _element)
#define OUT               JOINED(TO, _element)
#define WORK              JOINED(IN, _element)
#define VEC               JOINED(IN, _vector)
#define MASK              JOINED(IN, _mask)
#define LOAD(u)           ((WORK)JOINED(number_, FROM)(u))
#define STORE(x)          JOINED(result_, TO)(x)
#define PUT(x, apart, v)  JOINED(put_, TO)(x, apart, v)
#define UP(before, v, s)  JOINED(up_, IN)(before, v, s)
#define SPLIT_0(a, b)     JOINED(SPLIT_0_, IN)(a, b)
#define SPLIT_1(a, b)     JOINED(SPLIT_1_, IN)(a, b)
#define JOIN_0(a, b)      JOINED(JOIN_0_, IN)(a, b)
#define JOIN_1(a, b)      JOINED(JOIN_1_, IN)(a, b)
#define PAIRS(a, b, p)    JOINED(pairs_, IN)(a, b, p)
#define KEEP(v, there, o) JOINED(keep_, IN)(v, there, o)
#define NEUTRAL(product)  ((product) ? (VEC){ 0 } + (WORK)1 : -(VEC){ 0 }) /* 0 + -0 is not -0 */
#define OP(product, x, y) ((product) ? (x) * (y) : (x) + (y))
#if SCAN_APART
#define GET(x, apart) JOINED(JOINED(JOINED(get_, FROM), _), IN)(x, apart)
#else
#define GET(x, apart) JOINED(JOINED(JOINED(load_, FROM), _), IN)(x)
#endif

enum {
    NAME(WIDTH) = 16 / sizeof(RAW),
    NAME(LINE) = SCAN_LANES * NAME(WIDTH),
    NAME(W) = VECTOR_BYTES / sizeof(WORK),
    NAME(BLOCK) = NAME(W) * NAME(WIDTH), /* elements */
    NAME(BLOCKS) = SCAN_LANES / NAME(W)
};
#define WIDTH  NAME(WIDTH)
#define LINE   NAME(LINE)
#define W      NAME(W)
#define BLOCK  NAME(BLOCK)
#define BLOCKS NAME(BLOCKS)
#define FEWEST (TURN && VECTOR_BYTES > 16 ? 2 : 1) /* blocks that can be processed */

static inline WORK NAME(of_bits)(uint64_t u)
{
    WORK x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint64_t NAME(bits)(WORK x)
{
    uint64_t u = 0;
    memcpy(&u, &x, sizeof x);
    return u;
}

#if !(TURN && VECTOR_BYTES > 16)
/* ---- One block ---- */

/* Computes u for a block that has been loaded. */
INLINE void NAME(rise_loaded)(VEC u[WIDTH], bool product, bool ignore)
{
    VEC r[WIDTH];
    if (ignore) UNROLLED(j, WIDTH) u[j] = KEEP(u[j], (MASK)(u[j] == u[j]), NEUTRAL(product));
    UNROLLED(stage, WIDTH == 2 ? 1 : WIDTH == 4 ? 2 : 3)
    {
        UNROLLED(j, WIDTH / 2)
        {
            r[j] = SPLIT_0(u[2 * j], u[2 * j + 1]);
            r[WIDTH / 2 + j] = SPLIT_1(u[2 * j], u[2 * j + 1]);
        }
        UNROLLED(j, WIDTH) u[j] = r[j];
    }
    UNROLLED(j, WIDTH - 1) u[j + 1] = OP(product, u[j], u[j + 1]);
}

/* Computes u for the block at in. */
INLINE void NAME(rise)(const RAW *in, VEC u[WIDTH], bool product, bool ignore)
{
    const size_t apart = BLOCK / 2, each = SCAN_APART ? W / 2 : W;
    UNROLLED(j, WIDTH) u[j] = GET(in + (size_t)j * each, apart);
    NAME(rise_loaded)(u, product, ignore);
    (void)apart;
}

/* Computes the results of a block, given the prefix of each of its vectors. */
INLINE void NAME(results)(VEC x[WIDTH], const VEC u[WIDTH], VEC base, bool product, bool exclusive)
{
    VEC r[WIDTH];
    x[0] = base;
    if (exclusive)
        UNROLLED(j, WIDTH - 1) x[j + 1] = OP(product, base, u[j]);
    else
        UNROLLED(j, WIDTH) x[j] = OP(product, base, u[j]);
    UNROLLED(stage, WIDTH == 2 ? 1 : WIDTH == 4 ? 2 : 3)
    {
        UNROLLED(j, WIDTH / 2)
        {
            r[2 * j] = JOIN_0(x[j], x[WIDTH / 2 + j]);
            r[2 * j + 1] = JOIN_1(x[j], x[WIDTH / 2 + j]);
        }
        UNROLLED(j, WIDTH) x[j] = r[j];
    }
}

/* Writes them. */
INLINE void NAME(fall)(OUT *out, const VEC u[WIDTH], VEC base, bool product, bool exclusive)
{
    const size_t apart = BLOCK / 2, each = SCAN_APART ? W / 2 : W;
    VEC x[WIDTH];
    NAME(results)(x, u, base, product, exclusive);
    UNROLLED(j, WIDTH) PUT(out + (size_t)j * each, apart, x[j]);
}

#endif

/* ---- One line ---- */

#if TURN && VECTOR_BYTES > 16
/* Computes u for the line at in, and t for each vector separately. */
INLINE void NAME(rise_all)(const RAW *in, VEC u[BLOCKS][WIDTH], VEC t[BLOCKS], const int blocks,
                           bool product, bool ignore)
{
    UNROLLED(b, blocks / 2)
    {
        VEC *first = u[2 * b], *second = u[2 * b + 1];
        i64_vector r[WIDTH];
        get_turned(in + 2 * b * BLOCK, r);
        UNROLLED(j, WIDTH) JOINED(widen_, FROM)(r[j], &first[j], &second[j]);
        if (ignore) UNROLLED(j, WIDTH)
            {
                first[j] = KEEP(first[j], (MASK)(first[j] == first[j]), NEUTRAL(product));
                second[j] = KEEP(second[j], (MASK)(second[j] == second[j]), NEUTRAL(product));
            }
        UNROLLED(j, WIDTH - 1)
        {
            first[j + 1] = OP(product, first[j], first[j + 1]);
            second[j + 1] = OP(product, second[j], second[j + 1]);
        }
        t[2 * b] = first[WIDTH - 1];
        t[2 * b + 1] = second[WIDTH - 1];
    }
    order_halves(t);
}

/* Writes the results of a line, given the prefix of each of its vectors. */
INLINE void NAME(fall_all)(OUT *out, VEC u[BLOCKS][WIDTH], VEC base[BLOCKS], const int blocks,
                           bool product, bool exclusive)
{
    order_back(base);
    UNROLLED(b, blocks / 2)
    {
        const VEC *first = u[2 * b], *second = u[2 * b + 1];
        const VEC x = base[2 * b], y = base[2 * b + 1];
        i64_vector r[WIDTH];
        r[0] = JOINED(narrow_, TO)(x, y);
        if (exclusive) UNROLLED(j, WIDTH - 1)
        r[j + 1] = JOINED(narrow_, TO)(OP(product, x, first[j]), OP(product, y, second[j]));
        else UNROLLED(j, WIDTH) r[j] =
            JOINED(narrow_, TO)(OP(product, x, first[j]), OP(product, y, second[j]));
        put_turned(out + 2 * b * BLOCK, r);
    }
}
#else
INLINE void NAME(rise_all)(const RAW *in, VEC u[BLOCKS][WIDTH], VEC t[BLOCKS], const int blocks,
                           bool product, bool ignore)
{
    UNROLLED(b, blocks)
    {
        NAME(rise)(in + b * BLOCK, u[b], product, ignore);
        t[b] = u[b][WIDTH - 1];
    }
}

INLINE void NAME(fall_all)(OUT *out, VEC u[BLOCKS][WIDTH], VEC base[BLOCKS], const int blocks,
                           bool product, bool exclusive)
{
    UNROLLED(b, blocks) NAME(fall)(out + b * BLOCK, u[b], base[b], product, exclusive);
}
#endif

/* Combines all lanes of t with the lane s before it. */
INLINE void NAME(step)(VEC t[BLOCKS], const int blocks, int s, bool product)
{
    const int apart = s / W;
    if (apart) UNROLLED(i, blocks - apart)
    t[blocks - 1 - i] = OP(product, t[blocks - 1 - i - apart], t[blocks - 1 - i]);
    else UNROLLED(i, blocks)
    {
        const int b = blocks - 1 - i;
        t[b] = OP(product, UP(b ? t[b - 1] : NEUTRAL(product), t[b], s), t[b]);
    }
}

/* Computes the prefixes of the vectors from their totals t, which become those of the line up to
 * the ends of the vectors. */
INLINE void NAME(prefixes)(VEC t[BLOCKS], VEC base[BLOCKS], const int blocks, WORK before,
                           bool product)
{
    NAME(step)(t, blocks, 1, product);
    NAME(step)(t, blocks, 2, product);
    NAME(step)(t, blocks, 4, product);
    NAME(step)(t, blocks, 8, product);
    NAME(step)(t, blocks, 16, product);
    UNROLLED(b, blocks)
    {
        const VEC last = UP(b ? t[b - 1] : NEUTRAL(product), t[b], 1);
        base[b] = OP(product, NEUTRAL(false) + before, last);
    }
}

/* Writes the results of the first blocks of a line, and returns their total. */
INLINE WORK NAME(line)(const RAW *in, OUT *out, const int blocks, WORK before, bool product,
                       bool exclusive, bool ignore)
{
    VEC u[BLOCKS][WIDTH], t[BLOCKS], base[BLOCKS];
    NAME(rise_all)(in, u, t, blocks, product, ignore);
    NAME(prefixes)(t, base, blocks, before, product);
    NAME(fall_all)(out, u, base, blocks, product, exclusive);
    return t[blocks - 1][W - 1];
}

#if SAME && defined(__AVX512F__)
/* The same for sums of a part of a line whose last block has fewer elements: the first `count`.
 * Other elements are not accessed, and do not reach the stack. */
INLINE WORK NAME(part_of_line)(const RAW *in, OUT *out, size_t count, const int blocks, WORK before)
{
    VEC u[BLOCKS][WIDTH], t[BLOCKS], base[BLOCKS];
    UNROLLED(b, blocks)
    {
        UNROLLED(j, WIDTH)
        u[b][j] = (VEC)loaded_part(in, (size_t)(b * BLOCK + j * W), count, sizeof(RAW));
        NAME(rise_loaded)(u[b], false, false);
        t[b] = u[b][WIDTH - 1];
    }
    NAME(prefixes)(t, base, blocks, before, false);
    UNROLLED(b, blocks)
    {
        VEC x[WIDTH];
        NAME(results)(x, u[b], base[b], false, false);
        UNROLLED(j, WIDTH)
        store_part(out, (size_t)(b * BLOCK + j * W), count, sizeof(OUT),
                   (i64_vector)JOINED(one_nan_, IN)(x[j]));
    }
    return t[blocks - 1][W - 1];
}

/* Sums of fewer elements than a line. */
static WORK NAME(few)(const RAW *in, OUT *out, size_t count, WORK before)
{
    if (count <= BLOCK) return NAME(part_of_line)(in, out, count, 1, before);
    if (BLOCKS > 2 && count <= 2 * BLOCK) return NAME(part_of_line)(in, out, count, 2, before);
    if (BLOCKS > 3 && count <= 3 * BLOCK) return NAME(part_of_line)(in, out, count, 3, before);
    return NAME(part_of_line)(in, out, count, BLOCKS, before);
}
#endif

/* Copies the `count` elements from position at on, in the order of positions, and pads with zeros
 * to a line, or to the first blocks. */
INLINE void NAME(gather)(const struct scan_row *row, size_t at, size_t count, RAW line[LINE],
                         size_t padded)
{
    const RAW *in = (const RAW *)row->in;
    if (row->s->backward) {
        const RAW *last = in + (row->n - 1 - at);
        for (size_t i = 0; i < count; i++) line[i] = last[-(ptrdiff_t)i];
        memset(line + count, 0, (padded - count) * sizeof *line);
    } else {
        copy_padded(line, in + at, count * sizeof *line, padded * sizeof *line);
    }
}

/* ---- One tile ---- */

/* Prefetches a later line, of f64: its vectors are not loaded in ascending order, and hardware
 * prefetchers do not recognise the sequence. An address past the array has no effect. */
INLINE void NAME(prefetch)(const RAW *in)
{
    const uintptr_t ahead = (uintptr_t)in + PREFETCH_BYTES;
    UNROLLED(k, (int)(LINE * sizeof(RAW) / 64))
    __builtin_prefetch((const void *)(ahead + (size_t)k * 64));
}

INLINE struct scan_total NAME(plain)(const struct scan_row *row, size_t at, size_t count,
                                     uint64_t before, bool product)
{
    const bool backward = row->s->backward, exclusive = row->s->exclusive;
    const bool ignore = row->s->ignore_nan;
    const WORK carry = NAME(of_bits)(before);
    WORK prefix = product ? (WORK)1 : -(WORK)0;
    OUT *out = (OUT *)row->to;
    for (size_t i = 0; i < count; i += LINE) {
        const size_t here = count - i < LINE ? count - i : LINE;
        const WORK base = OP(product, carry, prefix);
        RAW line[LINE];
        OUT results[LINE];
        const bool direct = !backward && here == LINE;
#if SAME && defined(__AVX512F__)
        if (!direct && !backward && !exclusive && !ignore && !product) {
            const WORK total = NAME(few)((const RAW *)row->in + at + i, out + i, here, base);
            prefix = OP(product, prefix, total);
            break;
        }
#endif
        const RAW *from = direct ? (const RAW *)row->in + at + i : line;
        const bool few = !direct && here <= FEWEST * BLOCK;
        if (!direct) NAME(gather)(row, at + i, here, line, few ? FEWEST * BLOCK : LINE);
        if (direct && sizeof(RAW) == 8) NAME(prefetch)(from);
        OUT *to = direct ? out + i : results;
        WORK total;
        if (few && exclusive)
            total = NAME(line)(from, to, FEWEST, base, product, true, ignore);
        else if (few)
            total = NAME(line)(from, to, FEWEST, base, product, false, ignore);
        else if (exclusive)
            total = NAME(line)(from, to, BLOCKS, base, product, true, ignore);
        else
            total = NAME(line)(from, to, BLOCKS, base, product, false, ignore);
        prefix = OP(product, prefix, total);
        if (direct) continue;
        OUT *first = backward ? out + (count - i - here) : out + i;
        if (backward)
            for (size_t k = 0; k < here; k++) first[k] = results[here - 1 - k];
        else
            copy_back(first, results, here * sizeof *first);
    }
    return (struct scan_total){ NAME(bits)(prefix), false };
}

/* Computes only the total. */
INLINE struct scan_total NAME(total)(const struct scan_row *row, size_t at, size_t count,
                                     bool product)
{
    const bool backward = row->s->backward, ignore = row->s->ignore_nan;
    VEC t[SCAN_LINES * BLOCKS];
    WORK totals[SCAN_LINES], prefix = product ? (WORK)1 : -(WORK)0;
    int lines = 0, vectors = SCAN_LINES * BLOCKS;
    for (size_t i = 0; i < count; i += LINE, lines++) {
        const size_t here = count - i < LINE ? count - i : LINE;
        RAW line[LINE];
        const bool direct = !backward && here == LINE;
        const RAW *from = direct ? (const RAW *)row->in + at + i : line;
        if (!direct) NAME(gather)(row, at + i, here, line, LINE);
        if (direct && sizeof(RAW) == 8) NAME(prefetch)(from);
        VEC u[BLOCKS][WIDTH];
        NAME(rise_all)(from, u, t + lines * BLOCKS, BLOCKS, product, ignore);
    }
    for (int i = lines * BLOCKS; i < SCAN_LINES * BLOCKS; i++) t[i] = NEUTRAL(product);
    for (int lanes = SCAN_LANES; lanes > 1; lanes /= 2, vectors /= 2)
        for (int i = 0; i < vectors / 2; i++) t[i] = PAIRS(t[2 * i], t[2 * i + 1], product);
    memcpy(totals, t, sizeof totals);
    for (int i = 0; i < lines; i++) prefix = OP(product, prefix, totals[i]);
    return (struct scan_total){ NAME(bits)(prefix), false };
}

#include "scan/cpu/float_flags.h"

/* ---- The entries of the table ---- */

static struct scan_total NAME(reduce)(const struct scan_row *row, size_t at, size_t count)
{
    bool product = row->s->op == ECHI_SCAN_PRODUCT;
    if (row->flags) return NAME(segmented)(row, at, count, 0, product, false);
    return product ? NAME(total)(row, at, count, true) : NAME(total)(row, at, count, false);
}

static struct scan_total NAME(scan)(const struct scan_row *row, size_t at, size_t count,
                                    uint64_t before)
{
    bool product = row->s->op == ECHI_SCAN_PRODUCT;
    if (row->flags) return NAME(segmented)(row, at, count, before, product, true);
    return product ? NAME(plain)(row, at, count, before, true)
                   : NAME(plain)(row, at, count, before, false);
}

static uint64_t NAME(combine)(const struct echi_scan *s, uint64_t a, uint64_t b)
{
    const WORK x = NAME(of_bits)(a), y = NAME(of_bits)(b);
    return NAME(bits)(OP(s->op == ECHI_SCAN_PRODUCT, x, y));
}

#undef NAME
#undef RAW
#undef OUT
#undef WORK
#undef VEC
#undef MASK
#undef LOAD
#undef STORE
#undef PUT
#undef UP
#undef SPLIT_0
#undef SPLIT_1
#undef JOIN_0
#undef JOIN_1
#undef PAIRS
#undef KEEP
#undef NEUTRAL
#undef OP
#undef GET
#undef WIDTH
#undef LINE
#undef W
#undef BLOCK
#undef BLOCKS
#undef FEWEST
#undef FROM
#undef IN
#undef TO
#undef TURN
#undef SAME
