/*
 * cpu/scan_float.h - template: sums and products of a tile of floats, in the order of docs/scan.md.
 *
 *   RAW       what is read: uint16_t, float, double
 *   OUT       what is written: RAW or double
 *   WORK      float or double
 *   LOAD(u)   WORK from RAW
 *   STORE(x)  OUT from WORK
 *   NAME(x)   x##_f16 ...
 *
 * A line is 32 vectors of WIDTH elements.  In a buffer it lies transposed, so that what the vectors
 * do each for itself is done by loops over 32 of them, which the compiler vectorises:
 *
 *     a[j][l]   element j of vector l, then all of the vector up to it
 *     t[l]      the vectors up to l, by steps of 1, 2, 4, 8, 16
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define WIDTH (16 / (int)sizeof(RAW))
#define LINE  (SCAN_LANES * WIDTH)
#define PAD   16 /* neutral values before t[0] */

struct NAME(line) {
    WORK a[WIDTH][SCAN_LANES];
    WORK t[PAD + SCAN_LANES];
};

static inline __attribute__((always_inline)) WORK NAME(op)(bool product, WORK a, WORK b)
{
    return product ? a * b : a + b;
}

static inline __attribute__((always_inline)) WORK NAME(neutral)(bool product)
{
    return product ? (WORK)1 : -(WORK)0;
}

static inline WORK NAME(of_bits)(uint64_t u)
{
    WORK x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint64_t NAME(bits)(WORK x)
{
    uint64_t u = 0;
    __builtin_memcpy(&u, &x, sizeof x);
    return u;
}

static inline __attribute__((always_inline)) void
NAME(load)(const struct scan_row *row, size_t at, size_t count, bool product, struct NAME(line) * x)
{
    const struct echi_scan *s = row->s;
    const RAW *in = row->in;
    RAW part[LINE]; /* a line that is not as it is in memory */
    if (s->backward) {
        const RAW *last = in + (row->n - 1 - at);
        for (size_t i = 0; i < count; i++) part[i] = last[-(ptrdiff_t)i];
        in = part;
    } else if (count < LINE) {
        for (size_t i = 0; i < count; i++) part[i] = in[at + i];
        in = part;
    } else {
        in += at;
    }
    for (size_t i = count; i < LINE; i++) part[i] = 0;
    for (int l = 0; l < SCAN_LANES; l++)
        for (int j = 0; j < WIDTH; j++) x->a[j][l] = LOAD(in[l * WIDTH + j]);
    if (!s->ignore_nan) return;
    for (int j = 0; j < WIDTH; j++)
        for (int l = 0; l < SCAN_LANES; l++)
            x->a[j][l] = x->a[j][l] != x->a[j][l] ? NAME(neutral)(product) : x->a[j][l];
}

/* a and t as above, without heads. */
static inline __attribute__((always_inline)) void NAME(up)(struct NAME(line) * x, bool product)
{
    enum { END = PAD + SCAN_LANES };
    WORK u[END], *t = x->t;
    for (int j = 1; j < WIDTH; j++)
        for (int l = 0; l < SCAN_LANES; l++)
            x->a[j][l] = NAME(op)(product, x->a[j - 1][l], x->a[j][l]);
    for (int l = 0; l < PAD; l++) t[l] = u[l] = NAME(neutral)(product);
    for (int l = 0; l < SCAN_LANES; l++) t[PAD + l] = x->a[WIDTH - 1][l];
    for (int l = PAD; l < END; l++) u[l] = NAME(op)(product, t[l - 1], t[l]);
    for (int l = PAD; l < END; l++) t[l] = NAME(op)(product, u[l - 2], u[l]);
    for (int l = PAD; l < END; l++) u[l] = NAME(op)(product, t[l - 4], t[l]);
    for (int l = PAD; l < END; l++) t[l] = NAME(op)(product, u[l - 8], u[l]);
    for (int l = PAD; l < END; l++) u[l] = NAME(op)(product, t[l - 16], t[l]);
    for (int l = PAD; l < END; l++) t[l] = u[l];
}

static inline __attribute__((always_inline)) void
NAME(store)(const struct scan_row *row, size_t at, size_t count, const struct NAME(line) * x)
{
    OUT *out = row->out;
    if (!row->s->backward && count == LINE && !row->heads) {
        for (int l = 0; l < SCAN_LANES; l++)
            for (int j = 0; j < WIDTH; j++) out[at + (size_t)(l * WIDTH + j)] = STORE(x->a[j][l]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        OUT value = STORE(x->a[i % WIDTH][i / WIDTH]);
        if (at + i >= row->begin && at + i < row->end)
            out[row->s->backward ? row->n - 1 - at - i : at + i] = value;
    }
}

/* From what lies before the line to its results. */
static inline __attribute__((always_inline)) void NAME(down)(struct NAME(line) * x, WORK before,
                                                             bool product, bool exclusive)
{
    WORK base[SCAN_LANES];
    for (int l = 0; l < SCAN_LANES; l++) base[l] = NAME(op)(product, before, x->t[PAD + l - 1]);
    for (int j = WIDTH - 1; j >= 0; j--)
        for (int l = 0; l < SCAN_LANES; l++)
            x->a[j][l] = !exclusive ? NAME(op)(product, base[l], x->a[j][l])
                         : j        ? NAME(op)(product, base[l], x->a[j - 1][l])
                                    : base[l];
}

static inline __attribute__((always_inline)) struct scan_total
NAME(plain)(const struct scan_row *row, size_t at, size_t count, uint64_t before, bool product,
            bool write)
{
    WORK prefix = NAME(neutral)(product), carry = NAME(of_bits)(before);
    struct NAME(line) x;
    for (size_t i = 0; i < count; i += LINE) {
        size_t here = count - i < LINE ? count - i : LINE;
        NAME(load)(row, at + i, here, product, &x);
        NAME(up)(&x, product);
        WORK total = x.t[PAD + SCAN_LANES - 1];
        if (write) {
            if (row->s->exclusive)
                NAME(down)(&x, NAME(op)(product, carry, prefix), product, true);
            else
                NAME(down)(&x, NAME(op)(product, carry, prefix), product, false);
            NAME(store)(row, at + i, here, &x);
        }
        prefix = NAME(op)(product, prefix, total);
    }
    return (struct scan_total){ NAME(bits)(prefix), false };
}

/* ---- With heads ---- */

/* up(), in which nothing goes past a head.  ends[l]: the first position in vector l that has a head
 * or WIDTH; first[l]: the last vector up to l that has one, or 0. */
static inline void NAME(up_heads)(struct NAME(line) * x, const uint8_t *heads, WORK start,
                                  bool product, int ends[SCAN_LANES], int first[SCAN_LANES])
{
    WORK u[SCAN_LANES], *t = x->t + PAD;
    int last = 0;
    for (int l = 0; l < SCAN_LANES; l++) {
        ends[l] = WIDTH;
        for (int j = WIDTH - 1; j >= 0; j--)
            if (heads[l * WIDTH + j]) ends[l] = j;
        for (int j = 0; j < WIDTH; j++)
            if (heads[l * WIDTH + j])
                x->a[j][l] = NAME(op)(product, start, x->a[j][l]);
            else if (j)
                x->a[j][l] = NAME(op)(product, x->a[j - 1][l], x->a[j][l]);
        t[l] = x->a[WIDTH - 1][l];
        if (ends[l] < WIDTH) last = l;
        first[l] = last;
    }
    for (int step = 1; step < SCAN_LANES; step *= 2) {
        for (int l = 0; l < SCAN_LANES; l++)
            u[l] = l - step >= first[l] ? NAME(op)(product, t[l - step], t[l]) : t[l];
        for (int l = 0; l < SCAN_LANES; l++) t[l] = u[l];
    }
    for (int l = 0; l < PAD; l++) x->t[l] = NAME(neutral)(product);
}

static inline void NAME(down_heads)(struct NAME(line) * x, const uint8_t *heads, WORK start,
                                    WORK before, bool product, bool exclusive,
                                    const int ends[SCAN_LANES])
{
    bool below = false; /* a head lies before the vector */
    for (int l = 0; l < SCAN_LANES; l++) {
        WORK last = x->t[PAD + l - 1], base = below ? last : NAME(op)(product, before, last);
        WORK carried = base;
        for (int j = 0; j < WIDTH; j++) {
            WORK inclusive = j < ends[l] ? NAME(op)(product, base, x->a[j][l]) : x->a[j][l];
            x->a[j][l] = !exclusive ? inclusive : heads[l * WIDTH + j] ? start : carried;
            carried = inclusive;
        }
        below |= ends[l] < WIDTH;
    }
}

static inline __attribute__((always_inline)) struct scan_total
NAME(segmented)(const struct scan_row *row, size_t at, size_t count, uint64_t before, bool product,
                bool write)
{
    WORK prefix = NAME(neutral)(product), carry = NAME(of_bits)(before);
    WORK start = NAME(of_bits)(row->s->first);
    bool head = false;
    struct NAME(line) x;
    for (size_t i = 0; i < count; i += LINE) {
        size_t here = count - i < LINE ? count - i : LINE;
        int ends[SCAN_LANES], first[SCAN_LANES];
        NAME(load)(row, at + i, here, product, &x);
        NAME(up_heads)(&x, row->heads + i, start, product, ends, first);
        WORK total = x.t[PAD + SCAN_LANES - 1];
        int last = first[SCAN_LANES - 1];
        bool any = ends[last] < WIDTH;
        if (write) {
            WORK d = head ? prefix : NAME(op)(product, carry, prefix);
            NAME(down_heads)(&x, row->heads + i, start, d, product, row->s->exclusive, ends);
            NAME(store)(row, at + i, here, &x);
        }
        prefix = any ? total : NAME(op)(product, prefix, total);
        head |= any;
    }
    return (struct scan_total){ NAME(bits)(prefix), head };
}

/* ---- What the table has ---- */

static struct scan_total NAME(reduce)(const struct scan_row *row, size_t at, size_t count)
{
    bool product = row->s->op == ECHI_SCAN_PRODUCT;
    if (row->heads) return NAME(segmented)(row, at, count, 0, product, false);
    return product ? NAME(plain)(row, at, count, 0, true, false)
                   : NAME(plain)(row, at, count, 0, false, false);
}

static struct scan_total NAME(scan)(const struct scan_row *row, size_t at, size_t count,
                                    uint64_t before)
{
    bool product = row->s->op == ECHI_SCAN_PRODUCT;
    if (row->heads) return NAME(segmented)(row, at, count, before, product, true);
    return product ? NAME(plain)(row, at, count, before, true, true)
                   : NAME(plain)(row, at, count, before, false, true);
}

static uint64_t NAME(combine)(const struct echi_scan *s, uint64_t a, uint64_t b)
{
    return NAME(bits)(NAME(op)(s->op == ECHI_SCAN_PRODUCT, NAME(of_bits)(a), NAME(of_bits)(b)));
}

#undef WIDTH
#undef LINE
#undef PAD
