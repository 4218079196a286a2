/*
 * scan/cpu/float_flags.h - template: a tile of float.h in which segments begin, in plain loops.
 *
 *   all of float.h, which includes it
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define PAD 16 /* identity elements before t[0] */

struct NAME(lanes) {
    WORK a[WIDTH][SCAN_LANES]; /* elements 0 ... j of vector l, combined */
    WORK t[PAD + SCAN_LANES];  /* the vectors up to l */
};

static inline void NAME(line_in)(const RAW line[LINE], bool ignore, bool product,
                                 struct NAME(lanes) * x)
{
    for (int l = 0; l < SCAN_LANES; l++)
        for (int j = 0; j < WIDTH; j++) {
            const WORK value = LOAD(line[l * WIDTH + j]);
            x->a[j][l] = ignore && value != value ? (product ? (WORK)1 : -(WORK)0) : value;
        }
}

/* Writes elements i ... i + here - 1 of the tile at `at`, which has `count` elements. */
static inline void NAME(line_out)(const struct scan_row *row, size_t at, size_t i, size_t here,
                                  size_t count, const struct NAME(lanes) * x)
{
    OUT *out = (OUT *)row->to;
    for (size_t k = 0; k < here; k++) {
        const OUT value = STORE(x->a[k % WIDTH][k / WIDTH]);
        if (at + i + k >= row->begin && at + i + k < row->end)
            out[row->s->backward ? count - 1 - i - k : i + k] = value;
    }
}

/* Computes the prefixes within vectors, then t; both stop at flags. ends[l]: the first position in
 * vector l that has a flag, or WIDTH; first[l]: the last vector up to l that has one, or 0. */
static inline void NAME(up_flags)(struct NAME(lanes) * x, const uint8_t *flags, WORK start,
                                  bool product, int ends[SCAN_LANES], int first[SCAN_LANES])
{
    WORK u[SCAN_LANES], *t = x->t + PAD;
    int last = 0;
    for (int l = 0; l < SCAN_LANES; l++) {
        ends[l] = WIDTH;
        for (int j = WIDTH - 1; j >= 0; j--)
            if (flags[l * WIDTH + j]) ends[l] = j;
        for (int j = 0; j < WIDTH; j++)
            if (flags[l * WIDTH + j])
                x->a[j][l] = OP(product, start, x->a[j][l]);
            else if (j)
                x->a[j][l] = OP(product, x->a[j - 1][l], x->a[j][l]);
        t[l] = x->a[WIDTH - 1][l];
        if (ends[l] < WIDTH) last = l;
        first[l] = last;
    }
    for (int step = 1; step < SCAN_LANES; step *= 2) {
        for (int l = 0; l < SCAN_LANES; l++)
            u[l] = l - step >= first[l] ? OP(product, t[l - step], t[l]) : t[l];
        for (int l = 0; l < SCAN_LANES; l++) t[l] = u[l];
    }
    for (int l = 0; l < PAD; l++) x->t[l] = ((product) ? (WORK)1 : -(WORK)0);
}

static inline void NAME(down_flags)(struct NAME(lanes) * x, const uint8_t *flags, WORK start,
                                    WORK before, bool product, bool exclusive,
                                    const int ends[SCAN_LANES])
{
    bool below = false; /* a flag precedes the vector */
    for (int l = 0; l < SCAN_LANES; l++) {
        WORK last = x->t[PAD + l - 1], base = below ? last : OP(product, before, last);
        WORK carried = base;
        for (int j = 0; j < WIDTH; j++) {
            WORK inclusive = j < ends[l] ? OP(product, base, x->a[j][l]) : x->a[j][l];
            x->a[j][l] = !exclusive ? inclusive : flags[l * WIDTH + j] ? start : carried;
            carried = inclusive;
        }
        below |= ends[l] < WIDTH;
    }
}

static struct scan_total NAME(segmented)(const struct scan_row *row, size_t at, size_t count,
                                         uint64_t before, bool product, bool write)
{
    WORK prefix = ((product) ? (WORK)1 : -(WORK)0), carry = NAME(of_bits)(before);
    WORK start = NAME(of_bits)(row->s->first);
    bool flag = false;
    struct NAME(lanes) x;
    for (size_t i = 0; i < count; i += LINE) {
        size_t here = count - i < LINE ? count - i : LINE;
        int ends[SCAN_LANES], first[SCAN_LANES];
        RAW line[LINE];
        NAME(gather)(row, at + i, here, line, LINE);
        NAME(line_in)(line, row->s->ignore_nan, product, &x);
        NAME(up_flags)(&x, row->flags + i, start, product, ends, first);
        WORK total = x.t[PAD + SCAN_LANES - 1];
        int last = first[SCAN_LANES - 1];
        bool any = ends[last] < WIDTH;
        if (write) {
            WORK d = flag ? prefix : OP(product, carry, prefix);
            NAME(down_flags)(&x, row->flags + i, start, d, product, row->s->exclusive, ends);
            NAME(line_out)(row, at, i, here, count, &x);
        }
        prefix = any ? total : OP(product, prefix, total);
        flag |= any;
    }
    return (struct scan_total){ NAME(bits)(prefix), flag };
}

#undef PAD
