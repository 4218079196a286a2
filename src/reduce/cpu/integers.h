/*
 * reduce/cpu/integers.h - template: sums, products and dot products of integers modulo 2^64.
 *
 *   FROM         i8 ... u64
 *   SHORT        a type that holds the sum of a chunk
 *   PRODUCTS(v)  on a vector of elements: 64-bit words with the products of the elements of a word
 *   SUMS(v)      the same with their sums
 *
 *   BIAS         for elements of 32 bits: 2^31 if they are signed, otherwise 0
 *   WORDS        for elements of 64 bits
 *   BYTE_BIAS    for elements of 8 bits: 2^7 if they are signed, otherwise 0
 *
 * And for elements so small that no sum of a chunk is rounded in f64: mean, norm, variance.
 *
 *   DISTANCE     a type that holds the difference of two elements
 *   SQUARE       a type that holds its square
 *   SQUARES      a type that holds a chunk's sum of squares
 *
 * (All are undefined at the end.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x)     JOINED(x##_, FROM)
#define NAME_F64(x) JOINED(JOINED(x##_, FROM), _f64)
#define ELEM        JOINED(FROM, _element)

#ifdef __AVX512F__
/* The sums of up to 16 * `sixteens` elements in lanes. */
INLINE u64_vector NAME(few_vector)(const ELEM *x, size_t n, const int sixteens)
{
    enum { W = VECTOR_BYTES / sizeof(ELEM) };
    const int vectors = (sixteens * 16 + W - 1) / W;
    const uint64_t there = _bzhi_u64(~(uint64_t)0, (unsigned)n);
    u64_vector sum = { 0 };
    UNROLLED(j, vectors)
    sum += (u64_vector)SUMS(load_there(x + j * W, there >> j * W, sizeof(ELEM)));
    return sum;
}

/* The sum of up to 64 elements: the lengths of segments and the branches that depend on them are
 * not predictable, so the instructions are always the same. */
INLINE uint64_t NAME(few_sum)(const ELEM *x, size_t n)
{
    const u64_vector sum = NAME(few_vector)(x, n, 4);
    uint64_t total = 0;
    UNROLLED(j, VECTOR_BYTES / 8) total += sum[j];
    return total;
}

/* The sums of up to 8 segments, which are added in the lanes of one vector. */
INLINE void NAME(few_sums)(const ELEM *x, const uint64_t *ends, size_t count, const int sixteens,
                           uint64_t *sums)
{
    u64_vector lane[8];
    UNROLLED(j, 8)
    {
        const size_t s = echi_min((size_t)j, count - 1);
        lane[j] = NAME(few_vector)(x + ends[s], ends[s + 1] - ends[s], sixteens);
    }
    fold_all_u64(lane);
    memcpy(sums, lane, sizeof sums[0] * 8);
}

/* The same for rows of n elements. */
INLINE void NAME(few_rows)(const ELEM *x, size_t n, size_t count, const int sixteens,
                           uint64_t *sums)
{
    uint64_t room[8];
    for (size_t s = 0; s < count; s += 8, x += 8 * n) {
        const size_t here = echi_min(8, count - s);
        u64_vector lane[8];
        UNROLLED(j, 8)
        lane[j] = NAME(few_vector)(x + echi_min((size_t)j, here - 1) * n, n, sixteens);
        fold_all_u64(lane);
        memcpy(here == 8 ? sums + s : room, lane, sizeof *lane);
        for (size_t j = 0; here < 8 && j < here; j++) sums[s + j] = room[j];
    }
}

static void NAME(irows)(const void *in, size_t n, size_t count, void *sums)
{
    const ELEM *x = (const ELEM *)in;
    if (n <= 16)
        NAME(few_rows)(x, n, count, 1, (uint64_t *)sums);
    else if (n <= 32)
        NAME(few_rows)(x, n, count, 2, (uint64_t *)sums);
    else if (n <= 48)
        NAME(few_rows)(x, n, count, 3, (uint64_t *)sums);
    else
        NAME(few_rows)(x, n, count, 4, (uint64_t *)sums);
}

static void NAME(isegments)(const void *in, const uint64_t *ends, size_t count, size_t most,
                            void *sums)
{
    const ELEM *x = (const ELEM *)in;
    uint64_t room[8], *to = (uint64_t *)sums;
    for (size_t s = 0; s < count; s += 8) {
        const size_t here = echi_min(8, count - s);
        uint64_t *at = here == 8 ? to + s : room;
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

INLINE uint64_t NAME(short_sum)(const ELEM *x, size_t n)
{
    SHORT sum = 0;
    SEVERAL_SUMS
    for (size_t i = 0; i < n; i++) sum += (SHORT)x[i];
    return (uint64_t)sum;
}

#ifdef BIAS
/* Elements plus BIAS are not negative, so the sum of two is a 64-bit word minus 2^32 times its
 * upper half, plus this half. */
INLINE void NAME(add_words)(u64_vector v, u64_vector *words, u64_vector *high)
{
#ifdef __AVX512F__
    __asm__("" : "+v"(v)); /* otherwise compilers load it twice */
#endif
    v ^= (uint64_t)BIAS << 32 | BIAS;
    *words += v;
    *high += v >> 32;
}

/* The same for fewer elements than a vector; zeros take the other places. */
INLINE void NAME(add_some)(const ELEM *x, size_t n, u64_vector *words, u64_vector *high)
{
    u64_vector v;
    copy_some(&v, x, n * sizeof *x);
    NAME(add_words)(v, words, high);
}

__attribute__((noinline)) static uint64_t NAME(long_sum)(const ELEM *x, size_t n)
{
    enum { W = VECTOR_BYTES / sizeof(ELEM) };
    /* Loads that cross cache lines take twice as long. */
    const size_t first = (size_t)(-(uintptr_t)x % VECTOR_BYTES) / sizeof *x;
    u64_vector words[4], high[4];
    uint64_t sum = 0;
    size_t i = first, vectors = first != 0;
    UNROLLED(j, 4) words[j] = high[j] = (u64_vector){ 0 };
    if (first) NAME(add_some)(x, first, words, high);
    for (; i + 4 * W <= n; i += 4 * W, vectors += 4) UNROLLED(j, 4)
        {
            u64_vector v;
            memcpy(&v, x + i + j * W, sizeof v);
            NAME(add_words)(v, words + j, high + j);
        }
    for (; i + W <= n; i += W, vectors++) {
        u64_vector v;
        memcpy(&v, x + i, sizeof v);
        NAME(add_words)(v, words, high);
    }
    if (i < n) {
        NAME(add_some)(x + i, n - i, words, high);
        vectors++;
    }
    words[0] += words[1] + (words[2] + words[3]);
    high[0] += high[1] + (high[2] + high[3]);
    words[0] += high[0] - (high[0] << 32);
    UNROLLED(j, VECTOR_BYTES / 8) sum += words[0][j];
    return sum - (uint64_t)BIAS * (vectors * W);
}
#endif

#if defined WORDS && defined __AVX512F__
/* For elements that do not begin at a cache line: loads that cross lines take twice as long. */
__attribute__((noinline)) static uint64_t NAME(long_sum)(const ELEM *x, size_t n)
{
    enum { W = VECTOR_BYTES / sizeof(ELEM) };
    u64_vector words[4];
    uint64_t sum = 0;
    size_t i = (size_t)(-(uintptr_t)x % VECTOR_BYTES) / sizeof *x;
    copy_some(words, x, i * sizeof *x);
    UNROLLED(j, 3) words[j + 1] = (u64_vector){ 0 };
    for (; i + 4 * W <= n; i += 4 * W) UNROLLED(j, 4)
    words[j] += *(const u64_vector *)(const void *)(x + i + j * W);
    for (; i < n; i += W) {
        u64_vector v;
        copy_some(&v, x + i, echi_min(W, n - i) * sizeof *x);
        words[0] += v;
    }
    words[0] += words[1] + (words[2] + words[3]);
    UNROLLED(j, VECTOR_BYTES / 8) sum += words[0][j];
    return sum;
}
#endif

#if defined BYTE_BIAS && defined __AVX2__
/* Bytes plus BYTE_BIAS are not negative, and an instruction adds eight of them to a 64-bit word. */
__attribute__((noinline)) static uint64_t NAME(long_sum)(const ELEM *x, size_t n)
{
    const i8_vector bias = (i8_vector){ 0 } + (int8_t)BYTE_BIAS;
    u64_vector words[4];
    uint64_t sum = 0;
    size_t i = 0;
    UNROLLED(j, 4) words[j] = (u64_vector){ 0 };
    for (; i + 4 * VECTOR_BYTES <= n; i += 4 * VECTOR_BYTES) UNROLLED(j, 4)
    words[j] += sums_of_bytes(x + i + j * VECTOR_BYTES, bias);
    for (; i + VECTOR_BYTES <= n; i += VECTOR_BYTES) words[0] += sums_of_bytes(x + i, bias);
    words[0] += words[1] + (words[2] + words[3]);
    UNROLLED(j, VECTOR_BYTES / 8) sum += words[0][j];
    sum -= (uint64_t)BYTE_BIAS * i;
    for (; i < n; i++) sum += (uint64_t)x[i];
    return sum;
}
#endif

INLINE uint64_t NAME(sum_of)(const ELEM *x, size_t n)
{
#if defined BYTE_BIAS && defined __AVX2__
    if (n >= 4 * VECTOR_BYTES) return NAME(long_sum)(x, n);
#endif
#if defined WORDS && defined __AVX512F__
    if ((uintptr_t)x % VECTOR_BYTES && n >= 16 * VECTOR_BYTES / sizeof(ELEM))
        return NAME(long_sum)(x, n);
#endif
#ifdef BIAS
    if (n >= 16 * VECTOR_BYTES / sizeof(ELEM)) return NAME(long_sum)(x, n);
#endif
    return NAME(short_sum)(x, n);
}

static void NAME(isum)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                       size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    const bool all = needs_prefetches();
    (void)rule;
    (void)b;
#ifdef __AVX512F__
    if (n <= 64 && rows == 1) {
        value->u = NAME(few_sum)(x, n);
        return;
    }
#endif
    for (size_t row = 0; row < rows; row++, x += n) {
        if (rows > 1 && n * sizeof *x > ECHI_LINE_BYTES && !all)
            prefetch(x + n, ECHI_LINE_BYTES);
        else if (rows > 1)
            prefetch_next(x, n * sizeof *x);
        value[row].u = NAME(sum_of)(x, n);
    }
}

#ifdef __AVX512F__
static void NAME(long_isegments)(const void *in, const uint64_t *ends, size_t count, bool far,
                                 void *sums)
{
    enum { PIECE = ECHI_EXACT_BYTES / sizeof(ELEM), AHEAD = ECHI_PAGE_BYTES / 2 / sizeof(ELEM) };
    uint64_t *to = (uint64_t *)sums;
    for (size_t s = 0; s < count; s++) {
        const ELEM *x = (const ELEM *)in + ends[s];
        uint64_t sum = 0;
        for (size_t n = (size_t)(ends[s + 1] - ends[s]), here; n; n -= here, x += here) {
            here = echi_min(n, PIECE);
            for (size_t at = 0; far && at < here; at += AHEAD) echi_prefetch_page(x + at);
            sum += NAME(sum_of)(x, here);
        }
        to[s] = sum;
    }
}
#endif

static void NAME(iproduct)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                           size_t n, size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    (void)rule;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n) {
        enum { W = VECTOR_BYTES / sizeof(ELEM), LANES = VECTOR_BYTES / 8 };
        u64_vector lane[4];
        uint64_t product = 1;
        size_t i = 0;
        UNROLLED(j, 4) lane[j] = (u64_vector){ 0 } + 1;
        for (; i + 4 * W <= n; i += 4 * W) UNROLLED(j, 4)
            {
                i64_vector v;
                memcpy(&v, x + i + j * W, sizeof v);
                lane[j] *= (u64_vector)PRODUCTS(v);
            }
        lane[0] = lane[0] * lane[1] * (lane[2] * lane[3]);
        for (; i < n; i++) product *= (uint64_t)x[i];
        for (int j = 0; j < LANES; j++) product *= lane[0][j];
        value[row].u = product;
    }
}

static void NAME(idot)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                       size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in, *y = (const ELEM *)b;
    (void)rule;
    for (size_t row = 0; row < rows; row++, x += n, y += n) {
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++) sum += (uint64_t)x[i] * (uint64_t)y[i];
        value[row].u = sum;
    }
}

/* ---- Mean, norm, variance ---- */

#ifdef SQUARE
static void NAME_F64(sum)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                          size_t n, size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    const bool squares = rule->finish == ECHI_FINISH_NORM;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n) {
        SQUARES sum = 0;
        for (size_t i = 0; squares && i < n; i++) sum += (SQUARE)((SQUARE)x[i] * (SQUARE)x[i]);
        value[row].d.sum = squares ? (double)sum : (double)(SHORT)NAME(sum_of)(x, n);
        value[row].d.ignored = 0;
    }
}

static void NAME_F64(variance)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                               size_t n, size_t rows, struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    (void)rule;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n) {
        const ELEM k = x[0];
        int32_t s1 = 0;
        SQUARES s2 = 0;
        for (size_t i = 0; i < n; i++) {
            DISTANCE d = (DISTANCE)(x[i] - k);
            s1 += d;
            s2 += (SQUARES)((SQUARE)d * (SQUARE)d);
        }
        value[row].moments = moments_make(ECHI_SPREAD_PLAIN, (double)n, bits_of_f64((double)k),
                                          (double)s1, (double)s2, ECHI_SCALE_NONE);
    }
}
#endif

#undef NAME
#undef NAME_F64
#undef ELEM
#undef FROM
#undef SHORT
#undef PRODUCTS
#undef SUMS
#undef BIAS
#undef BYTE_BIAS
#undef WORDS
#undef DISTANCE
#undef SQUARE
#undef SQUARES
