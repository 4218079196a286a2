/*
 * reduce/cpu/lanes.h - template: sums and products of floats in lanes, and variance.
 *
 *   FROM       f16 ... u64: the type of the elements (undefined at the end)
 *   IN         f32 or f64: the type of the computation; IN_F64: 1 for the latter
 *   IS_FLOAT   1 if FROM is a float: includes products and dot products
 *   IS_SAME    1 if FROM is IN
 *   IS_F64     1 if FROM is f64, IS_WHOLE: 1 if it is i64 or u64: their variances are computed with
 *              scales and with integers (docs/reduce.md)
 *
 * Eight vectors of lanes stay in registers while the lines of a chunk are added to them; then they
 * are folded pairwise to one.  If a line has more lanes, the next eight follow, and the resulting
 * vectors are folded in the same way. docs/reduce.md documents the order of the additions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#if IN_F64
#define NAME(x) JOINED(JOINED(x##_, FROM), _f64)
#else
#define NAME(x) JOINED(x##_, FROM)
#endif
#define ELEM           JOINED(FROM, _element)
#define ACC            JOINED(IN, _element)
#define VEC            JOINED(IN, _vector)
#define MASK           JOINED(IN, _mask)
#define LOAD(x)        JOINED(JOINED(load_, FROM), JOINED(_, IN))(x)
#define PAIRS(a, b, p) JOINED(pairs_, IN)(a, b, p)
#define FOLDED(v, p)   JOINED(folded_, IN)(v, p)
#define KEEP(v, t, o)  JOINED(keep_, IN)(v, t, o)
#define BELOW(n)       JOINED(below_, IN)(n)

enum {
    NAME(LINE) = ECHI_LINE_BYTES / sizeof(ELEM), /* lanes per line */
    NAME(WIDTH) = VECTOR_BYTES / sizeof(ACC),    /* lanes per vector */
    NAME(VECTORS) = NAME(LINE) / NAME(WIDTH)
};

/* Folds `count` vectors to one lane. */
INLINE ACC NAME(fold)(VEC *lane, int count, int product)
{
    for (int half = count / 2; half; half /= 2)
        for (int j = 0; j < half; j++) lane[j] = PAIRS(lane[2 * j], lane[2 * j + 1], product);
    return FOLDED(lane[0], product);
}

/* ---- Sums and products ---- */

#define NEUTRAL(how)    ((VEC){ 0 } + ((how) == OF_PRODUCT ? (ACC)1 : (ACC)-0.0))
#define TAKE(v, w, how) ((how) == OF_PRODUCT ? (v) * (w) : (v) + (w))

/* The values added to the lanes: v, elements of x, times w, elements of y, in a dot product. */
INLINE VEC NAME(term)(VEC v, VEC w, MASK there, int how, bool choose)
{
    if (how == OF_DOT) v = v * w;
    if (how == OF_SQUARES) v = v * v;
    return choose ? KEEP(v, there, NEUTRAL(how)) : v;
}

INLINE VEC NAME(whole)(const ELEM *x, const ELEM *y, int how, bool ignore)
{
    VEC v = LOAD(x), w = how == OF_DOT ? LOAD(y) : v;
    return NAME(term)(v, w, (MASK)(v == v) & (MASK)(w == w), how, ignore);
}

/* The same for n elements, fewer than a vector. */
INLINE VEC NAME(some)(const ELEM *x, const ELEM *y, size_t n, int how, bool ignore)
{
    ELEM room_x[VECTOR_BYTES / sizeof(ELEM)], room_y[VECTOR_BYTES / sizeof(ELEM)];
    copy_some(room_x, x, n * sizeof *x);
    if (how == OF_DOT) copy_some(room_y, y, n * sizeof *y);
    VEC v = LOAD(room_x), w = how == OF_DOT ? LOAD(room_y) : v;
    MASK there = BELOW((ptrdiff_t)n);
    if (ignore) there &= (MASK)(v == v) & (MASK)(w == w);
    return NAME(term)(v, w, there, how, true);
}

/* Eight vectors of lanes over `lines` lines, and over n elements of one more; folded to one. */
INLINE VEC NAME(eight)(const ELEM *x, const ELEM *y, size_t lines, size_t n, int how, bool ignore)
{
    enum { W = NAME(WIDTH) };
    VEC lane[8];
    const bool all = needs_prefetches();
    UNROLLED(i, 8) lane[i] = NEUTRAL(how);
    for (size_t l = 0; l < lines; l++) {
        if (all) {
            prefetch_next(x, 8 * W * sizeof *x);
            if (how == OF_DOT) prefetch_next(y, 8 * W * sizeof *y);
        } else if (l + 1 == lines) {
            prefetch(x + NAME(LINE), 8 * W * sizeof *x);
            if (how == OF_DOT) prefetch(y + NAME(LINE), 8 * W * sizeof *y);
        }
        UNROLLED(i, 8) lane[i] = TAKE(lane[i], NAME(whole)(x + i * W, y + i * W, how, ignore), how);
        x += NAME(LINE);
        y += NAME(LINE);
    }
    if (n) {
        const size_t full = n / W;
        VEC last = NEUTRAL(how);
        if (n % W && full < 8) last = NAME(some)(x + full * W, y + full * W, n % W, how, ignore);
        UNROLLED(i, 8)
        {
            VEC v = (size_t)i == full ? last : NEUTRAL(how);
            if ((size_t)i < full) v = NAME(whole)(x + i * W, y + i * W, how, ignore);
            lane[i] = TAKE(lane[i], v, how);
        }
    }
    UNROLLED(i, 4) lane[i] = PAIRS(lane[2 * i], lane[2 * i + 1], how == OF_PRODUCT);
    UNROLLED(i, 2) lane[i] = PAIRS(lane[2 * i], lane[2 * i + 1], how == OF_PRODUCT);
    return PAIRS(lane[0], lane[1], how == OF_PRODUCT);
}

/* The same for less than a line. */
INLINE ACC NAME(few)(const ELEM *x, const ELEM *y, size_t n, int how, bool ignore)
{
    enum { W = NAME(WIDTH) };
    VEC lane[NAME(VECTORS)];
    size_t full = n / W, width = 1, i = 0;
    for (; i < full; i++)
        lane[i] = TAKE(NEUTRAL(how), NAME(whole)(x + i * W, y + i * W, how, ignore), how);
    if (n % W) lane[i++] = NAME(some)(x + full * W, y + full * W, n % W, how, ignore);
    while (width < i) width *= 2;
    for (; i < width; i++) lane[i] = NEUTRAL(how);
    return NAME(fold)(lane, (int)width, how == OF_PRODUCT);
}

#ifdef __AVX512F__
/* Sums of up to FEW elements: always the same instructions, because the lengths of segments and the
 * branches that depend on them are not predictable.  Adding -0 does not change a sum. */
enum { NAME(FEW) = 64 };

/* The sums of 16 / WIDTH, 32 / WIDTH, 48 / WIDTH, FEW / WIDTH or, for f32 and n > 64, 8 vectors,
 * folded to one vector. */
INLINE VEC NAME(few_vector)(const ELEM *x, size_t n, const int vectors)
{
    enum { W = NAME(WIDTH) };
    VEC lane[8];
    UNROLLED(i, vectors)
    {
        const size_t at = (size_t)i * W;
#if IS_SAME
        const uint64_t there = _bzhi_u64(~(uint64_t)0, (unsigned)(at < 64 ? n : n - 64));
        const ELEM *from = x + (at < 64 || at < n ? at : 0); /* a page that exists */
        lane[i] = JOINED(load_there_, IN)(from, there >> at % 64);
#else
        const size_t left = n > at ? n - at : 0;
        lane[i] = NAME(some)(x + at, x + at, left < W ? left : W, OF_SUM, false);
#endif
    }
    if (vectors == 3) lane[3] = NEUTRAL(OF_SUM);
    if (vectors >= 6) UNROLLED(i, vectors / 2) lane[i] = PAIRS(lane[2 * i], lane[2 * i + 1], 0);
    if (vectors == 6) lane[3] = NEUTRAL(OF_SUM);
    if (vectors >= 3) UNROLLED(i, 2) lane[i] = PAIRS(lane[2 * i], lane[2 * i + 1], 0);
    return vectors >= 2 ? PAIRS(lane[0], lane[1], 0) : lane[0];
}

INLINE ACC NAME(few_sum)(const ELEM *x, size_t n, const int vectors)
{
    return FOLDED(NAME(few_vector)(x, n, vectors), 0);
}

#if IS_FLOAT
/* Folds each of WIDTH vectors to a lane of the first. */
INLINE void NAME(fold_all)(VEC *lane)
{
    _Pragma("GCC unroll 4") for (int half = NAME(WIDTH) / 2; half; half /= 2)
        _Pragma("GCC unroll 8") for (int j = 0; j < half; j++) lane[j] =
            PAIRS(lane[2 * j], lane[2 * j + 1], 0);
}

/* The sums of up to WIDTH segments of up to 16 * `sixteens` elements: the last folds are those of
 * all segments together. */
INLINE void NAME(few_sums)(const ELEM *x, const uint64_t *ends, size_t count, const int sixteens,
                           ACC *sums)
{
    enum { W = NAME(WIDTH) };
    VEC lane[W];
    _Pragma("GCC unroll 16") for (int j = 0; j < W; j++)
    {
        const size_t s = echi_min((size_t)j, count - 1);
        lane[j] = NAME(few_vector)(x + ends[s], ends[s + 1] - ends[s], sixteens * 16 / W);
    }
    NAME(fold_all)(lane);
    memcpy(sums, lane, sizeof *lane);
}

/* The same for rows of n elements. */
INLINE void NAME(few_rows)(const ELEM *x, size_t n, size_t count, const int sixteens, ACC *sums)
{
    enum { W = NAME(WIDTH) };
    ACC room[W];
    for (size_t s = 0; s < count; s += W, x += W * n) {
        const size_t here = echi_min(W, count - s);
        VEC lane[W];
        _Pragma("GCC unroll 16") for (int j = 0; j < W; j++) lane[j] =
            NAME(few_vector)(x + echi_min((size_t)j, here - 1) * n, n, sixteens * 16 / W);
        NAME(fold_all)(lane);
        memcpy(here == W ? sums + s : room, lane, sizeof *lane);
        for (size_t j = 0; here < W && j < here; j++) sums[s + j] = room[j];
    }
}

static void NAME(rows)(const void *in, size_t n, size_t count, void *sums)
{
    const ELEM *x = (const ELEM *)in;
    if (n <= 16)
        NAME(few_rows)(x, n, count, 1, (ACC *)sums);
    else if (n <= 32)
        NAME(few_rows)(x, n, count, 2, (ACC *)sums);
    else if (n <= 48)
        NAME(few_rows)(x, n, count, 3, (ACC *)sums);
    else
        NAME(few_rows)(x, n, count, 4, (ACC *)sums);
}

static void NAME(segments)(const void *in, const uint64_t *ends, size_t count, size_t most,
                           void *sums)
{
    enum { W = NAME(WIDTH) };
    const ELEM *x = (const ELEM *)in;
    ACC room[W], *to = (ACC *)sums;
    for (size_t s = 0; s < count; s += W) {
        const size_t here = echi_min(W, count - s);
        ACC *at = here == W ? to + s : room;
        if (most <= 16)
            NAME(few_sums)(x, ends + s, here, 1, at);
        else if (most <= 32)
            NAME(few_sums)(x, ends + s, here, 2, at);
        else if (most <= 48)
            NAME(few_sums)(x, ends + s, here, 3, at);
        else
            NAME(few_sums)(x, ends + s, here, 4, at);
        for (size_t j = 0; at == room && j < here; j++) to[s + j] = room[j];
    }
}
#endif
#endif

/* same: n does not change from call to call, so that branches are predicted. */
INLINE ACC NAME(lanes)(const ELEM *x, const ELEM *other, size_t n, int how, bool ignore, bool same)
{
    enum { STEP = 8 * NAME(WIDTH), STEPS = NAME(VECTORS) / 8 };
    const ELEM *y = how == OF_DOT ? other : x;
    const size_t lines = n / NAME(LINE), rest = n % NAME(LINE);
    VEC left[STEPS];
    (void)same;
#ifdef __AVX512F__
    if (n <= NAME(FEW) && how == OF_SUM && !ignore) {
        if (n <= 16) return NAME(few_sum)(x, n, 16 / NAME(WIDTH));
        if (same && n <= 32) return NAME(few_sum)(x, n, 32 / NAME(WIDTH));
        return NAME(few_sum)(x, n, NAME(FEW) / NAME(WIDTH));
    }
#if IS_SAME && !IN_F64
    if (n <= NAME(LINE) && how == OF_SUM && !ignore) return NAME(few_sum)(x, n, NAME(VECTORS));
#endif
#endif
    if (lines == 0) return NAME(few)(x, y, n, how, ignore);
    for (size_t i = 0; i < STEPS; i++) {
        size_t here = rest > i * STEP ? rest - i * STEP : 0;
        left[i] = NAME(eight)(x + i * STEP, y + i * STEP, lines, here, how, ignore);
    }
    return NAME(fold)(left, STEPS, how == OF_PRODUCT);
}

static inline uint64_t NAME(nans)(const ELEM *x, size_t n)
{
    enum { W = NAME(WIDTH) };
    ELEM rest[VECTOR_BYTES / sizeof(ELEM)];
    MASK minus = { 0 };
    uint64_t count = 0;
    size_t i = 0;
    for (; i + W <= n; i += W) minus += (MASK)(LOAD(x + i) != LOAD(x + i));
    copy_some(rest, x + i, (n - i) * sizeof *x);
    minus += (MASK)(LOAD(rest) != LOAD(rest));
    for (int j = 0; j < W; j++) count += (uint64_t)-minus[j];
    return count;
}

#if IN_F64
#define RESULT d.sum
#else
#define RESULT f
#endif

/* ignore is a constant in either call, so the test is outside of all loops. */
#define LANES(x, y, n, how, ignore)                                                                \
    ((ignore) ? NAME(lanes)(x, y, n, how, true, rows > 1)                                          \
              : NAME(lanes)(x, y, n, how, false, rows > 1))

static void NAME(sum)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                      size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n) {
        if (rows > 1 && n <= NAME(LINE)) prefetch_next(x, n * sizeof *x);
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

#if IS_SAME && defined __AVX512F__
/* The same sums as NAME(sum), from memory.  Prefetchers stop at the end of a page, so the beginning
 * of the next chunk is prefetched early. */
static void NAME(far_sum)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                          size_t n, size_t rows, struct echi_value *value)
{
    enum { W = NAME(WIDTH) };
    const ELEM *x = (const ELEM *)in;
    if (rule->ignore || rule->finish == ECHI_FINISH_NORM || n * sizeof *x != ECHI_CHUNK_BYTES) {
        NAME(sum)(rule, in, b, n, rows, value);
        return;
    }
    for (size_t row = 0; row < rows; row++, x += n) {
        VEC lane[8];
        UNROLLED(i, 8) lane[i] = NEUTRAL(OF_SUM);
        for (size_t l = 0; l < n; l += NAME(LINE)) {
            if (l % (n / 2) == 0) echi_prefetch_page(x + l);
            UNROLLED(i, 8) lane[i] += LOAD(x + l + i * W);
        }
        value[row] = (struct echi_value){ .RESULT = NAME(fold)(lane, 8, 0) };
    }
}
#endif

#if IS_SAME && defined __AVX512F__
/* Segments of up to ECHI_TREE_CHUNKS chunks: their chunks are summed and merged without a call per
 * chunk. */
static void NAME(long_segments)(const void *in, const uint64_t *ends, size_t count, bool far,
                                void *sums)
{
    enum { CHUNK = ECHI_CHUNK_BYTES / sizeof(ELEM) };
    ACC *to = (ACC *)sums;
    for (size_t s = 0; s < count; s++) {
        const ELEM *x = (const ELEM *)in + ends[s];
        ACC v[ECHI_TREE_CHUNKS + 1];
        size_t n = (size_t)(ends[s + 1] - ends[s]), chunks = 0;
        if (n < NAME(LINE)) {
            to[s] = NAME(lanes)(x, x, n, OF_SUM, false, true);
            continue;
        }
        /* One loop for whole and other chunks, whose loads prefetchers recognise. */
        for (size_t here; n; n -= here, x += CHUNK) {
            here = echi_min(n, CHUNK);
            if (far) echi_prefetch_page(x);
            if (far) echi_prefetch_page(x + CHUNK / 2);
            v[chunks++] =
                FOLDED(NAME(eight)(x, x, here / NAME(LINE), here % NAME(LINE), OF_SUM, false), 0);
        }
        for (; chunks > 1; chunks -= chunks / 2) {
            for (size_t i = 0; i < chunks / 2; i++) v[i] = v[2 * i] + v[2 * i + 1];
            if (chunks % 2) v[chunks / 2] = v[chunks - 1];
        }
        to[s] = v[0];
    }
}
#endif

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
/* Distances from the center k of a vector of elements. */
#if IS_WHOLE
#define CENTER               uint64_t
#define DISTANCE(x, k, sign) distances_of_integers((const uint64_t *)(x), k, sign)
#else
#define CENTER               double
#define DISTANCE(x, k, sign) plus_f64(LOAD(x), -((k) - (f64_vector){ 0 }))
#endif

/* `group` vectors of lanes of distances from k, and of their squares, over `lines` lines and n
 * elements of one more; folded to one vector each. */
INLINE void NAME(distances)(const ELEM *x, size_t lines, size_t n, CENTER k, uint64_t sign,
                            bool ignore, const int group, VEC *first, VEC *second)
{
    enum { W = NAME(WIDTH) };
    const VEC neutral = NEUTRAL(OF_SUM);
    VEC s1[8], s2[8];
    const bool all = group < 8 || needs_prefetches();
    (void)sign;
    UNROLLED(i, group) s1[i] = s2[i] = neutral;
    for (size_t l = 0; l < lines; l++, x += NAME(LINE)) {
        if (all) prefetch_next(x, (size_t)group * W * sizeof *x);
        UNROLLED(i, group)
        {
            VEC d = DISTANCE(x + i * W, k, sign), square = d * d;
            MASK there = ignore ? (MASK)(LOAD(x + i * W) == LOAD(x + i * W)) : (MASK){ 0 };
            if (ignore) d = KEEP(d, there, neutral);
            s1[i] = i % 2 ? s1[i] + d : plus_f64(s1[i], d);
            s2[i] += ignore ? KEEP(square, there, neutral) : square;
        }
    }
#if defined __AVX512F__ && !IS_WHOLE
    const uint64_t some = _bzhi_u64(~(uint64_t)0, (unsigned)n); /* n is at most 128 */
    if (n) UNROLLED(i, group)
        {
            const __mmask8 there = (__mmask8)(some >> i * W);
            const VEC v = JOINED(load_masked_, FROM)(x + i * W, there);
            const VEC d = plus_f64(v, -(k - (VEC){ 0 })), square = d * d;
            const __mmask8 kept =
                ignore ? _mm512_mask_cmpeq_pd_mask(there, (__m512d)v, (__m512d)v) : there;
            s1[i] += (VEC)_mm512_mask_mov_pd((__m512d)neutral, kept, (__m512d)d);
            s2[i] += (VEC)_mm512_mask_mov_pd((__m512d)neutral, kept, (__m512d)square);
        }
#else
    if (n) {
        const size_t full = n / W;
        ELEM room[VECTOR_BYTES / sizeof(ELEM)] = { 0 };
        if (n % W && full < (size_t)group) copy_some(room, x + full * W, n % W * sizeof *x);
        UNROLLED(i, group)
        {
            const ELEM *here = (size_t)i < full ? x + i * W : room;
            VEC d = DISTANCE(here, k, sign), square = d * d;
            MASK there = BELOW((ptrdiff_t)n - i * W);
            if (ignore) there &= (MASK)(LOAD(here) == LOAD(here));
            s1[i] += KEEP(d, there, neutral);
            s2[i] += KEEP(square, there, neutral);
        }
    }
#endif
    _Pragma("GCC unroll 3") for (int half = group / 2; half; half /= 2) UNROLLED(i, half)
    {
        s1[i] = PAIRS(s1[2 * i], s1[2 * i + 1], 0);
        s2[i] = PAIRS(s2[2 * i], s2[2 * i + 1], 0);
    }
    *first = s1[0];
    *second = s2[0];
}

INLINE struct echi_moments NAME(moments)(const struct echi_reduce_rule *rule, const ELEM *x,
                                         size_t n, bool ignore)
{
    enum { STEP = 4 * NAME(WIDTH), STEPS = NAME(VECTORS) / 4 };
#ifdef __AVX512F__
    enum { WHOLE = 8 }; /* vectors at a time of a whole chunk: there are 32 registers */
#else
    enum { WHOLE = 4 };
#endif
    const size_t lines = n / NAME(LINE), rest = n % NAME(LINE);
    VEC first[STEPS], second[STEPS];
    size_t steps = STEPS;
#if IS_WHOLE
    const uint64_t k = center_of_integer(rule, (uint64_t)x[0]), center = k;
#else
    ELEM start[NAME(WIDTH)] = { x[0] };
    double k = n < NAME(WIDTH) ? LOAD(start)[0] : LOAD(x)[0]; /* LOAD(start) waits for stores */
    for (size_t i = 1; ignore && k != k && i < n; i++) {
        start[0] = x[i];
        k = LOAD(start)[0];
    }
    const uint64_t center = bits_of_f64(k);
#endif
    if (lines == 0)
        for (steps = 1; steps * STEP < n;) steps *= 2;
    const bool whole = n == ECHI_CHUNK_LINES * NAME(LINE);
    if (whole) {
        steps = NAME(VECTORS) / WHOLE;
        for (size_t i = 0; i < steps; i++) NAME(distances)
        (x + i * WHOLE * NAME(WIDTH), ECHI_CHUNK_LINES, 0, k, rule->sign, ignore, WHOLE, &first[i],
         &second[i]);
    }
    for (size_t i = 0; i < steps && !whole; i++) {
        size_t here = rest > i * STEP ? rest - i * STEP : 0;
        NAME(distances)
        (x + i * STEP, lines, here, k, rule->sign, ignore, 4, &first[i], &second[i]);
    }
    double s1, s2;
    if (steps == 1) {
        s1 = FOLDED(first[0], 0);
        s2 = FOLDED(second[0], 0);
    } else {
        for (size_t i = steps; i < STEPS && !whole; i++) first[i] = second[i] = NEUTRAL(OF_SUM);
        s1 = NAME(fold)(first, whole ? NAME(VECTORS) / WHOLE : STEPS, 0);
        s2 = NAME(fold)(second, whole ? NAME(VECTORS) / WHOLE : STEPS, 0);
    }
    const double there = (double)(n - (ignore ? NAME(nans)(x, n) : 0));
#if IS_F64
    const uint32_t scale = scale_of_squares(s2, s2 < ECHI_TINY && some_differ(x, n, k, ignore));
    if (scale != ECHI_SCALE_NONE) return scaled_moments(x, n, k, scale, ignore, there);
#endif
    return moments_make(IS_WHOLE ? ECHI_SPREAD_INTEGER
                        : IS_F64 ? ECHI_SPREAD_F64
                                 : ECHI_SPREAD_PLAIN,
                        there, center, s1, s2, ECHI_SCALE_NONE);
}

static void NAME(variance)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                           size_t n, size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n) {
        const struct echi_moments m =
            rule->ignore ? NAME(moments)(rule, x, n, true) : NAME(moments)(rule, x, n, false);
        store_moments(&value[row].moments, &m);
    }
}
#undef CENTER
#undef DISTANCE
#endif

#undef LANES
#undef NEUTRAL
#undef TAKE
#undef RESULT
#undef NAME
#undef ELEM
#undef ACC
#undef VEC
#undef MASK
#undef LOAD
#undef PAIRS
#undef FOLDED
#undef KEEP
#undef BELOW
#undef FROM
