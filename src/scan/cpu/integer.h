/*
 * scan/cpu/integer.h - template: scans of a tile of unsigned integers, and of all types that
 * common.h maps to them.
 *
 *   IN     u8 ... u64: the type of the elements
 *   OUT    IN or u64: the type of the computation and the results
 *   WIDE   1 if OUT has more bits than IN
 *
 * (All three are undefined at the end.) The order of the operations does not matter.  A vector is
 * scanned by steps of 1, 2, 4 ... elements in its lanes of 16 bytes, then over lanes; its prefix is
 * added last, so that consecutive vectors depend on each other by one instruction only.  Minima are
 * maxima of inverted e: the zeros that are shifted in at each step are then the identity element,
 * except for products.  Wide scans, and scans with flags, process element by element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(JOINED(JOINED(x##_, IN), _), OUT)
#define RAW     JOINED(IN, _element)
#define WORK    JOINED(OUT, _element)

/* op is a constant if this is inlined. */
INLINE WORK NAME(op)(enum echi_scan_op op, WORK a, WORK b)
{
    switch (op) {
    case ECHI_SCAN_SUM:
        return (WORK)(a + b);
    case ECHI_SCAN_PRODUCT:
        return (WORK)((uint64_t)a * b);
    case ECHI_SCAN_MIN:
        return a < b ? a : b;
    case ECHI_SCAN_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

INLINE WORK NAME(neutral)(enum echi_scan_op op)
{
    return op == ECHI_SCAN_MIN ? (WORK) ~(WORK)0 : op == ECHI_SCAN_PRODUCT;
}

INLINE WORK NAME(value)(const struct echi_scan *s, enum echi_scan_op op, RAW u)
{
    const int bits = 8 * (int)sizeof(RAW);
#if WIDE
    (void)op;
    return (s->is_signed ? 0 - (uint64_t)(u >> (bits - 1)) : 0) << bits | u;
#else
    if (op == ECHI_SCAN_OR) return (WORK)(u ^ (RAW)s->order.flip);
    if (op != ECHI_SCAN_MIN) return (WORK)u;
    RAW negative = (RAW)(0 - (u >> (bits - 1))) & (RAW)s->order.float_mask;
    RAW e = (RAW)((RAW)(u ^ (negative | (RAW)s->order.sign)) - (RAW)s->order.shift);
    e ^= (RAW)s->order.flip;
    return (WORK)(e < (RAW)s->clamp ? e : (RAW)s->clamp);
#endif
}

/* Inverts value(), if that is not the element itself. */
INLINE WORK NAME(element)(const struct echi_scan *s, enum echi_scan_op op, WORK e)
{
    if (op == ECHI_SCAN_OR) return (WORK)(e ^ (WORK)s->order.flip);
    if (op != ECHI_SCAN_MIN) return e;
    WORK u = (WORK)((WORK)(e ^ (WORK)s->order.flip) + (WORK)s->order.shift);
    WORK positive = (WORK)((u >> (8 * sizeof(WORK) - 1)) - 1u); /* its sign bit was flipped off */
    return (WORK)(u ^ ((positive & (WORK)s->order.float_mask) | (WORK)s->order.sign));
}

/* ---- Element by element, from number i of the tile at `at` on, which has `count` elements ---- */

INLINE struct scan_total NAME(run)(const struct scan_row *row, size_t at, size_t i, size_t count,
                                   WORK before, enum echi_scan_op op, bool write, bool flags)
{
    const struct echi_scan *s = row->s;
    const RAW *in = (const RAW *)row->in + (s->backward ? row->n - 1 - at : at);
    WORK *out = (WORK *)row->to + (s->backward ? count - 1 : 0);
    const ptrdiff_t step = s->backward ? -1 : 1;
    const bool exclusive = s->exclusive;
    const WORK first = (WORK)s->first;
    const size_t from = at < row->begin ? row->begin - at : 0;
    const size_t to = row->end < at ? 0 : row->end - at;
    WORK e = before;
    bool flag = false;
    for (; i < count; i++) {
        if (flags && row->flags[i]) {
            e = first;
            flag = true;
        }
        WORK next = NAME(op)(op, e, NAME(value)(s, op, in[(ptrdiff_t)i * step]));
        if (write && (!flags || (i >= from && i < to)))
            out[(ptrdiff_t)i * step] = NAME(element)(s, op, exclusive ? e : next);
        e = next;
    }
    return (struct scan_total){ e, flag };
}

/* ---- Vector by vector ---- */

#if !WIDE
#define VEC         JOINED(IN, _vector)
#define MOST(a, b)  JOINED(most_, IN)(a, b)
#define TIMES(a, b) JOINED(times_, IN)(a, b)
#define BYTES       (int)sizeof(RAW)
#define W           (VECTOR_BYTES / BYTES)

/* Whether vector instructions exist for the operator; if not, element by element is faster. */
INLINE bool NAME(has_vectors)(enum echi_scan_op op)
{
#if defined(__AVX512F__)
    return op <= ECHI_SCAN_XOR;
#elif defined(__AVX2__)
    return BYTES < 8 || op != ECHI_SCAN_PRODUCT;
#else
    return op == ECHI_SCAN_PRODUCT ? BYTES < 4 : op == ECHI_SCAN_MIN ? BYTES < 8 : true;
#endif
}

/* The parameters of value() and element() in every lane, for inverted e. */
struct NAME(map) {
    VEC sign, float_mask, shift, flip, least;
};

INLINE struct NAME(map) NAME(map_of)(const struct echi_scan *s, enum echi_scan_op op)
{
    const VEC zero = { 0 };
    struct NAME(map)
        m = { zero + (RAW)s->order.sign, zero + (RAW)s->order.float_mask,
              zero + (RAW)s->order.shift, zero + (RAW)s->order.flip, zero + (RAW)~s->clamp };
    if (op == ECHI_SCAN_MIN) m.flip = ~m.flip;
    return m;
}

INLINE VEC NAME(take)(enum echi_scan_op op, VEC a, VEC b)
{
    switch (op) {
    case ECHI_SCAN_SUM:
        return a + b;
    case ECHI_SCAN_PRODUCT:
        return TIMES(a, b);
    case ECHI_SCAN_MIN:
        return MOST(a, b);
    case ECHI_SCAN_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

INLINE VEC NAME(encoded)(const struct NAME(map) * m, enum echi_scan_op op, bool floats, VEC u)
{
    if (op == ECHI_SCAN_OR) return u ^ m->flip;
    if (op != ECHI_SCAN_MIN) return u;
    if (!floats) return u ^ (m->sign ^ m->flip);
    const VEC negative = (0 - (u >> (8 * BYTES - 1))) & m->float_mask;
    return MOST(((u ^ (negative | m->sign)) - m->shift) ^ m->flip, m->least);
}

INLINE VEC NAME(decoded)(const struct NAME(map) * m, enum echi_scan_op op, bool floats, VEC e)
{
    if (op == ECHI_SCAN_OR) return e ^ m->flip;
    if (op != ECHI_SCAN_MIN) return e;
    if (!floats) return e ^ (m->sign ^ m->flip);
    const VEC u = (e ^ m->flip) + m->shift;
    return u ^ ((((u >> (8 * BYTES - 1)) - 1) & m->float_mask) | m->sign);
}

/* v shifted up, with identity elements shifted in. */
INLINE VEC NAME(filled)(enum echi_scan_op op, VEC up, VEC one_up)
{
    return op == ECHI_SCAN_PRODUCT ? up | (one_up ^ ((VEC){ 0 } + 1)) : up;
}

INLINE VEC NAME(up)(enum echi_scan_op op, VEC v, int bytes)
{
    const i64_vector one = (i64_vector)((VEC){ 0 } + 1);
    return NAME(filled)(op, (VEC)up_bytes((i64_vector)v, bytes), (VEC)up_bytes(one, bytes));
}

INLINE VEC NAME(over)(enum echi_scan_op op, VEC v, int lanes)
{
    const i64_vector one = (i64_vector)((VEC){ 0 } + 1);
    return NAME(filled)(op, (VEC)up_lanes((i64_vector)v, lanes), (VEC)up_lanes(one, lanes));
}

/* The full vectors of a tile; `before` and the return value are e, or inverted. */
INLINE WORK NAME(vectors)(const struct scan_row *row, size_t at, size_t count, WORK before,
                          enum echi_scan_op op, bool floats, bool backward, bool exclusive)
{
    const struct NAME(map) m = NAME(map_of)(row->s, op);
    const RAW *in = (const RAW *)row->in + (backward ? row->n - at - W : at);
    RAW *out = (RAW *)row->to + (backward ? count - W : 0);
    VEC carry = (VEC){ 0 } + before;
    for (size_t i = 0; i + W <= count; i += W) {
        const ptrdiff_t where = backward ? -(ptrdiff_t)i : (ptrdiff_t)i;
        VEC v;
        memcpy(&v, in + where, sizeof v);
        if (backward) v = (VEC)reversed((i64_vector)v, BYTES);
        v = NAME(encoded)(&m, op, floats, v);
        if (BYTES <= 1) v = NAME(take)(op, v, NAME(up)(op, v, 1));
        if (BYTES <= 2) v = NAME(take)(op, v, NAME(up)(op, v, 2));
        if (BYTES <= 4) v = NAME(take)(op, v, NAME(up)(op, v, 4));
        v = NAME(take)(op, v, NAME(up)(op, v, 8));
        VEC lanes = (VEC)spread_last((i64_vector)v, BYTES), base = carry;
        if (LANES > 1) {
            VEC below = NAME(over)(op, lanes, 1);
            lanes = NAME(take)(op, lanes, below);
            if (LANES > 2) {
                lanes = NAME(take)(op, lanes, NAME(over)(op, lanes, 2));
                below = NAME(over)(op, lanes, 1);
            }
            base = NAME(take)(op, carry, below);
        }
        if (exclusive) /* the last element was in `lanes` */
            v = NAME(up)(op, v, BYTES);
        v = NAME(decoded)(&m, op, floats, NAME(take)(op, base, v));
        carry = NAME(take)(op, carry, (VEC)last_lane((i64_vector)lanes));
        if (backward) v = (VEC)reversed((i64_vector)v, BYTES);
        memcpy(out + where, &v, sizeof v);
    }
    return carry[0];
}

/* The total of the full vectors of a tile. */
INLINE WORK NAME(total)(const struct scan_row *row, size_t at, size_t count, enum echi_scan_op op,
                        bool floats)
{
    enum { SIDE = 4 }; /* independent accumulators: no instruction waits for the previous one */
    const struct NAME(map) m = NAME(map_of)(row->s, op);
    const RAW *in = (const RAW *)row->in;
    in += row->s->backward ? row->n - at - count / W * W : at;
    VEC all[SIDE];
    size_t i = 0;
    UNROLLED(j, SIDE) all[j] = (VEC){ 0 } + (RAW)(op == ECHI_SCAN_PRODUCT);
    for (; i + SIDE * W <= count; i += SIDE * W) UNROLLED(j, SIDE)
        {
            VEC v;
            memcpy(&v, in + i + j * W, sizeof v);
            all[j] = NAME(take)(op, all[j], NAME(encoded)(&m, op, floats, v));
        }
    for (; i + W <= count; i += W) {
        VEC v;
        memcpy(&v, in + i, sizeof v);
        all[0] = NAME(take)(op, all[0], NAME(encoded)(&m, op, floats, v));
    }
    UNROLLED(j, SIDE - 1) all[0] = NAME(take)(op, all[0], all[j + 1]);
    WORK total = op == ECHI_SCAN_MIN ? (WORK)~all[0][0] : all[0][0];
    for (int j = 1; j < W; j++)
        total = NAME(op)(op, total, op == ECHI_SCAN_MIN ? (WORK)~all[0][j] : all[0][j]);
    return total;
}
#endif

/* ---- A tile ---- */

INLINE struct scan_total NAME(tile)(const struct scan_row *row, size_t at, size_t count,
                                    WORK before, enum echi_scan_op op, bool floats)
{
    size_t done = 0;
    if (row->flags) return NAME(run)(row, at, 0, count, before, op, true, true);
#if !WIDE
    const WORK invert = op == ECHI_SCAN_MIN ? (WORK) ~(WORK)0 : 0;
    const bool backward = row->s->backward, exclusive = row->s->exclusive;
    if (count < W || !NAME(has_vectors)(op))
        return NAME(run)(row, at, 0, count, before, op, true, false);
    done = count / W * W;
    before ^= invert;
    if (backward)
        before = NAME(vectors)(row, at, count, before, op, floats, true, exclusive);
    else if (exclusive)
        before = NAME(vectors)(row, at, count, before, op, floats, false, true);
    else
        before = NAME(vectors)(row, at, count, before, op, floats, false, false);
    before ^= invert;
#endif
    (void)floats;
    return NAME(run)(row, at, done, count, before, op, true, false);
}

INLINE struct scan_total NAME(sum_up)(const struct scan_row *row, size_t at, size_t count,
                                      enum echi_scan_op op, bool floats)
{
    WORK before = NAME(neutral)(op);
    size_t done = 0;
    if (row->flags) return NAME(run)(row, at, 0, count, before, op, false, true);
#if !WIDE
    if (!NAME(has_vectors)(op)) return NAME(run)(row, at, 0, count, before, op, false, false);
    before = NAME(total)(row, at, count, op, floats);
    done = count / W * W;
#endif
    (void)floats;
    return NAME(run)(row, at, done, count, before, op, false, false);
}

static struct scan_total NAME(scan)(const struct scan_row *row, size_t at, size_t count,
                                    uint64_t before)
{
    const WORK e = (WORK)before;
#if !WIDE
    const bool floats = sizeof(RAW) > 1 && row->s->order.float_mask;
#endif
    switch (row->s->op) {
    case ECHI_SCAN_SUM:
        return NAME(tile)(row, at, count, e, ECHI_SCAN_SUM, false);
    case ECHI_SCAN_PRODUCT:
        return NAME(tile)(row, at, count, e, ECHI_SCAN_PRODUCT, false);
#if !WIDE
    case ECHI_SCAN_MIN:
        if (floats) return NAME(tile)(row, at, count, e, ECHI_SCAN_MIN, true);
        return NAME(tile)(row, at, count, e, ECHI_SCAN_MIN, false);
    case ECHI_SCAN_OR:
        return NAME(tile)(row, at, count, e, ECHI_SCAN_OR, false);
#endif
    default:
        return NAME(tile)(row, at, count, e, ECHI_SCAN_XOR, false);
    }
}

static struct scan_total NAME(reduce)(const struct scan_row *row, size_t at, size_t count)
{
#if !WIDE
    const bool floats = sizeof(RAW) > 1 && row->s->order.float_mask;
#endif
    switch (row->s->op) {
    case ECHI_SCAN_SUM:
        return NAME(sum_up)(row, at, count, ECHI_SCAN_SUM, false);
    case ECHI_SCAN_PRODUCT:
        return NAME(sum_up)(row, at, count, ECHI_SCAN_PRODUCT, false);
#if !WIDE
    case ECHI_SCAN_MIN:
        if (floats) return NAME(sum_up)(row, at, count, ECHI_SCAN_MIN, true);
        return NAME(sum_up)(row, at, count, ECHI_SCAN_MIN, false);
    case ECHI_SCAN_OR:
        return NAME(sum_up)(row, at, count, ECHI_SCAN_OR, false);
#endif
    default:
        return NAME(sum_up)(row, at, count, ECHI_SCAN_XOR, false);
    }
}

static uint64_t NAME(combine)(const struct echi_scan *s, uint64_t a, uint64_t b)
{
    return NAME(op)(s->op, (WORK)a, (WORK)b);
}

#undef NAME
#undef RAW
#undef WORK
#undef VEC
#undef MOST
#undef TIMES
#undef BYTES
#undef W
#undef IN
#undef OUT
#undef WIDE
