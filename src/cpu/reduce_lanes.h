/*
 * cpu/reduce_lanes.h - template: sums and products of floats in lanes, and variance.
 *
 *   ELEM       the element as it lies in memory
 *   FROM       its name, as reduce_vector.h has it
 *   IN         f32 or f64, in which it is computed; ACC is that type
 *   NAME(x)    x##_bf16_f32 ...
 *
 * Some vectors of lanes stay in registers while the lines of a chunk are added to them, and are then
 * folded by pairs to one vector; where a line has more lanes, the next ones follow, and the vectors
 * that are left are folded the same way.  docs/reduce.md has the order of the additions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define PASTED(a, b)   a##b
#define JOINED(a, b)   PASTED(a, b)
#define VEC            JOINED(IN, _vector)
#define MASK           JOINED(IN, _mask)
#define LOAD(x)        JOINED(JOINED(load_, FROM), JOINED(_, IN))(x)
#define PAIRS(a, b, p) JOINED(pairs_, IN)(a, b, p)
#define KEEP(v, t, o)  JOINED(keep_, IN)(v, t, o)
#define BELOW(n)       JOINED(below_, IN)(n)

enum {
    NAME(LINE) = ECHI_LINE_BYTES / sizeof(ELEM), /* lanes of a line */
    NAME(WIDTH) = VECTOR_BYTES / sizeof(ACC),    /* of a vector */
    NAME(VECTORS) = NAME(LINE) / NAME(WIDTH)
};

/* A chunk: whole lines, and what the last one has, in memory of a whole one.  y: of a dot product;
 * else it is x. */
struct NAME(chunk) {
    const ELEM *x, *y;
    size_t lines;
    ptrdiff_t rest;
    ELEM rest_x[NAME(LINE)], rest_y[NAME(LINE)];
};

INLINE void NAME(open)(struct NAME(chunk) * c, const ELEM *x, const ELEM *y, size_t n)
{
    c->x = x;
    c->y = y ? y : x;
    c->lines = n / NAME(LINE);
    c->rest = (ptrdiff_t)(n % NAME(LINE));
    if (c->rest == 0) return;
    const size_t at = c->lines * NAME(LINE), bytes = (size_t)c->rest * sizeof(ELEM);
    memset(c->rest_x, 0, sizeof c->rest_x);
    memcpy(c->rest_x, x + at, bytes);
    if (!y) return;
    memset(c->rest_y, 0, sizeof c->rest_y);
    memcpy(c->rest_y, y + at, bytes);
}

/* The vectors of lanes that have an element, as a power of two and at least `least`. */
INLINE int NAME(used)(const struct NAME(chunk) * c, int least)
{
    int used = least;
    if (c->lines) return NAME(VECTORS);
    while (used * NAME(WIDTH) < c->rest) used *= 2;
    return used;
}

/* To the one lane that is left of `count` vectors. */
INLINE ACC NAME(fold)(VEC *lane, int count, int product)
{
    for (int half = count / 2; half; half /= 2)
        for (int j = 0; j < half; j++) lane[j] = PAIRS(lane[2 * j], lane[2 * j + 1], product);
    for (int w = NAME(WIDTH); w > 1; w /= 2) lane[0] = PAIRS(lane[0], lane[0], product);
    return lane[0][0];
}

/* ---- Sums and products ---- */

/* What a lane takes of elements x, and of those at y.  Where `edge`, of the first n alone. */
INLINE VEC NAME(term)(const ELEM *x, const ELEM *y, int how, bool ignore, bool edge, ptrdiff_t n)
{
    VEC v = LOAD(x);
    MASK there = (MASK)(v == v);
    if (how == OF_DOT) {
        VEC w = LOAD(y);
        there &= (MASK)(w == w);
        v = v * w;
    }
    if (how == OF_SQUARES) v = v * v;
    if (edge) there = ignore ? there & BELOW(n) : BELOW(n);
    if (!ignore && !edge) return v;
    return KEEP(v, there, (VEC){ 0 } + (how == OF_PRODUCT ? (ACC)1 : (ACC)-0.0));
}

/* Eight vectors of lanes, from lane number `from` on, folded to one. */
INLINE VEC NAME(eight)(const struct NAME(chunk) * c, int from, int how, bool ignore)
{
    enum { W = NAME(WIDTH) };
    const ELEM *x = c->x + from, *y = c->y + from;
    const VEC neutral = (VEC){ 0 } + (how == OF_PRODUCT ? (ACC)1 : (ACC)-0.0);
    VEC lane[8];
    UNROLLED(i, 8) lane[i] = neutral;
    for (size_t l = 0; l < c->lines; l++, x += NAME(LINE), y += NAME(LINE)) UNROLLED(i, 8)
        {
            VEC v = NAME(term)(x + i * W, y + i * W, how, ignore, false, 0);
            lane[i] = how == OF_PRODUCT ? lane[i] * v : lane[i] + v;
        }
    if (c->rest > from) {
        x = c->rest_x + from;
        y = how == OF_DOT ? c->rest_y + from : x;
        UNROLLED(i, 8)
        {
            VEC v = NAME(term)(x + i * W, y + i * W, how, ignore, true, c->rest - from - i * W);
            lane[i] = how == OF_PRODUCT ? lane[i] * v : lane[i] + v;
        }
    }
    UNROLLED(i, 4) lane[i] = PAIRS(lane[2 * i], lane[2 * i + 1], how == OF_PRODUCT);
    UNROLLED(i, 2) lane[i] = PAIRS(lane[2 * i], lane[2 * i + 1], how == OF_PRODUCT);
    return PAIRS(lane[0], lane[1], how == OF_PRODUCT);
}

INLINE ACC NAME(lanes)(const ELEM *x, const ELEM *y, size_t n, int how, bool ignore)
{
    struct NAME(chunk) c;
    VEC left[NAME(VECTORS) / 8];
    NAME(open)(&c, x, y, n);
    const int count = NAME(used)(&c, 8) / 8;
    for (int i = 0; i < count; i++) left[i] = NAME(eight)(&c, i * 8 * NAME(WIDTH), how, ignore);
    return NAME(fold)(left, count, how == OF_PRODUCT);
}

static inline uint64_t NAME(nans)(const ELEM *x, size_t n)
{
    enum { W = NAME(WIDTH) };
    ELEM rest[W] = { 0 };
    MASK minus = { 0 };
    uint64_t count = 0;
    size_t i = 0;
    for (; i + W <= n; i += W) minus += (MASK)(LOAD(x + i) != LOAD(x + i));
    memcpy(rest, x + i, (n - i) * sizeof *x);
    minus += (MASK)(LOAD(rest) != LOAD(rest));
    for (int j = 0; j < W; j++) count += (uint64_t)-minus[j];
    return count;
}

#if IN_F64
#define RESULT d.sum
#else
#define RESULT f
#endif

/* ignore is a constant in either call: the test stands outside of all loops. */
#define LANES(x, y, n, how, ignore)                                                                \
    ((ignore) ? NAME(lanes)(x, y, n, how, true) : NAME(lanes)(x, y, n, how, false))

static void NAME(sum)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                      size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n) {
#if IN_F64
        if (rule->finish == ECHI_FINISH_NORM)
            value[row].d.sum = LANES(x, NULL, n, OF_SQUARES, rule->ignore);
        else
            value[row].d.sum = LANES(x, NULL, n, OF_SUM, rule->ignore);
        value[row].d.ignored = rule->ignore ? NAME(nans)(x, n) : 0;
#else
        value[row].f = LANES(x, NULL, n, OF_SUM, rule->ignore);
#endif
    }
}

#if IS_FLOAT
static void NAME(product)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                          size_t n, size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n)
        value[row] = (struct echi_value){ .RESULT = LANES(x, NULL, n, OF_PRODUCT, rule->ignore) };
}

static void NAME(dot)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                      size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in, *y = (const ELEM *)b;
    for (size_t row = 0; row < rows; row++, x += n, y += n)
        value[row] = (struct echi_value){ .RESULT = LANES(x, y, n, OF_DOT, rule->ignore) };
}
#endif

/* ---- Variance ---- */

#if IN_F64
/* Four vectors of lanes of distances from k, and of their squares, folded to one each. */
INLINE void NAME(four)(const struct NAME(chunk) * c, int from, double k, bool ignore, VEC *first,
                       VEC *second)
{
    enum { W = NAME(WIDTH) };
    const ELEM *x = c->x + from;
    const VEC neutral = (VEC){ 0 } + (ACC)-0.0;
    VEC s1[4], s2[4];
    UNROLLED(i, 4) s1[i] = s2[i] = neutral;
    for (size_t l = 0; l < c->lines; l++, x += NAME(LINE)) UNROLLED(i, 4)
        {
            VEC v = LOAD(x + i * W), d = v - k, square = d * d;
            s1[i] += ignore ? KEEP(d, (MASK)(v == v), neutral) : d;
            s2[i] += ignore ? KEEP(square, (MASK)(v == v), neutral) : square;
        }
    if (c->rest > from) {
        x = c->rest_x + from;
        UNROLLED(i, 4)
        {
            VEC v = LOAD(x + i * W), d = v - k, square = d * d;
            MASK there = BELOW(c->rest - from - i * W);
            if (ignore) there &= (MASK)(v == v);
            s1[i] += KEEP(d, there, neutral);
            s2[i] += KEEP(square, there, neutral);
        }
    }
    *first = PAIRS(PAIRS(s1[0], s1[1], 0), PAIRS(s1[2], s1[3], 0), 0);
    *second = PAIRS(PAIRS(s2[0], s2[1], 0), PAIRS(s2[2], s2[3], 0), 0);
}

INLINE struct echi_moments NAME(moments)(const ELEM *x, size_t n, bool ignore)
{
    struct NAME(chunk) c;
    VEC first[NAME(VECTORS) / 4], second[NAME(VECTORS) / 4];
    ELEM start[NAME(WIDTH)] = { x[0] };
    double k = LOAD(start)[0];
    for (size_t i = 1; ignore && k != k && i < n; i++) {
        start[0] = x[i];
        k = LOAD(start)[0];
    }
    NAME(open)(&c, x, NULL, n);
    const int count = NAME(used)(&c, 4) / 4;
    for (int i = 0; i < count; i++)
        NAME(four)(&c, i * 4 * NAME(WIDTH), k, ignore, &first[i], &second[i]);
    double s1 = NAME(fold)(first, count, 0), s2 = NAME(fold)(second, count, 0);
    size_t there = n - (ignore ? NAME(nans)(x, n) : 0);
    return moments_make((double)there, k, s1, s2);
}

static void NAME(variance)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                           size_t n, size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n)
        value[row].moments = rule->ignore ? NAME(moments)(x, n, true) : NAME(moments)(x, n, false);
}
#endif

#undef LANES
#undef RESULT
#undef PASTED
#undef JOINED
#undef VEC
#undef MASK
#undef LOAD
#undef PAIRS
#undef KEEP
#undef BELOW
