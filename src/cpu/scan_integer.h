/*
 * cpu/scan_integer.h - template: scans of a tile of unsigned integers, and of all that scan.h makes
 * such.
 *
 *   RAW       what is read: uint8_t ... uint64_t
 *   WORK      what is computed and written: RAW, or uint64_t
 *   NAME(x)   x##_u8 ...
 *
 * The order in which they are combined does not matter: one after the other, with one instruction
 * an element, keeps up with memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* op is known where this is inlined. */
static inline __attribute__((always_inline)) WORK NAME(op)(enum echi_scan_op op, WORK a, WORK b)
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

static inline __attribute__((always_inline)) WORK NAME(value)(const struct echi_scan *s,
                                                              enum echi_scan_op op, RAW u)
{
    const int bits = 8 * (int)sizeof(RAW);
    if (sizeof(WORK) > sizeof(RAW)) {
        uint64_t high = s->is_signed ? 0 - (uint64_t)(u >> (bits - 1)) : 0;
        return (WORK)(high << (bits % 64) | u);
    }
    if (op == ECHI_SCAN_OR) return (WORK)(u ^ (RAW)s->order.flip);
    if (op != ECHI_SCAN_MIN) return (WORK)u;
    RAW negative = (RAW)(0 - (u >> (bits - 1))) & (RAW)s->order.float_mask;
    RAW e = (RAW)((RAW)(u ^ (negative | (RAW)s->order.sign)) - (RAW)s->order.shift);
    e ^= (RAW)s->order.flip;
    return (WORK)(e < (RAW)s->clamp ? e : (RAW)s->clamp);
}

/* Back from value(), where that is not the element itself. */
static inline __attribute__((always_inline)) WORK NAME(element)(const struct echi_scan *s,
                                                                enum echi_scan_op op, WORK e)
{
    if (op == ECHI_SCAN_OR) return (WORK)(e ^ (WORK)s->order.flip);
    if (op != ECHI_SCAN_MIN) return e;
    WORK u = (WORK)((WORK)(e ^ (WORK)s->order.flip) + (WORK)s->order.shift);
    WORK positive = (WORK)((u >> (8 * sizeof(WORK) - 1)) - 1u); /* its top bit was flipped off */
    return (WORK)(u ^ ((positive & (WORK)s->order.float_mask) | (WORK)s->order.sign));
}

static inline __attribute__((always_inline)) struct scan_total
NAME(run)(const struct scan_row *row, size_t at, size_t count, uint64_t before,
          enum echi_scan_op op, bool write, bool heads)
{
    const struct echi_scan *s = row->s;
    const RAW *in = (const RAW *)row->in + (s->backward ? row->n - 1 - at : at);
    WORK *out = (WORK *)row->out + (s->backward ? row->n - 1 - at : at);
    const ptrdiff_t step = s->backward ? -1 : 1;
    const bool exclusive = s->exclusive;
    const WORK first = (WORK)s->first;
    const size_t from = at < row->begin ? row->begin - at : 0;
    const size_t to = row->end < at ? 0 : row->end - at;
    WORK e = (WORK)before;
    bool head = false;
    for (size_t i = 0; i < count; i++) {
        if (heads && row->heads[i]) {
            e = first;
            head = true;
        }
        WORK next = NAME(op)(op, e, NAME(value)(s, op, in[(ptrdiff_t)i * step]));
        if (write && (!heads || (i >= from && i < to)))
            out[(ptrdiff_t)i * step] = NAME(element)(s, op, exclusive ? e : next);
        e = next;
    }
    return (struct scan_total){ e, head };
}

static inline __attribute__((always_inline)) struct scan_total
NAME(any_op)(const struct scan_row *row, size_t at, size_t count, uint64_t before, bool write,
             bool heads)
{
    switch (row->s->op) {
    case ECHI_SCAN_SUM:
        return NAME(run)(row, at, count, before, ECHI_SCAN_SUM, write, heads);
    case ECHI_SCAN_PRODUCT:
        return NAME(run)(row, at, count, before, ECHI_SCAN_PRODUCT, write, heads);
    case ECHI_SCAN_MIN:
        return NAME(run)(row, at, count, before, ECHI_SCAN_MIN, write, heads);
    case ECHI_SCAN_OR:
        return NAME(run)(row, at, count, before, ECHI_SCAN_OR, write, heads);
    default:
        return NAME(run)(row, at, count, before, ECHI_SCAN_XOR, write, heads);
    }
}

static struct scan_total NAME(reduce)(const struct scan_row *row, size_t at, size_t count)
{
    enum echi_scan_op op = row->s->op;
    uint64_t neutral = op == ECHI_SCAN_MIN ? ~(uint64_t)0 : op == ECHI_SCAN_PRODUCT;
    return row->heads ? NAME(any_op)(row, at, count, neutral, false, true)
                      : NAME(any_op)(row, at, count, neutral, false, false);
}

static struct scan_total NAME(scan)(const struct scan_row *row, size_t at, size_t count,
                                    uint64_t before)
{
    return row->heads ? NAME(any_op)(row, at, count, before, true, true)
                      : NAME(any_op)(row, at, count, before, true, false);
}

static uint64_t NAME(combine)(const struct echi_scan *s, uint64_t a, uint64_t b)
{
    return NAME(op)(s->op, (WORK)a, (WORK)b);
}
