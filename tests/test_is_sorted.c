/*
 * test_is_sorted.c - ech_is_sorted(), compared with an oracle, on every device.
 *
 *     test_is_sorted                                  every case on every device
 *     test_is_sorted --device simt --quick            some of the cases, only small ones
 *     test_is_sorted 'is_sorted(f32,n=33'             cases with this prefix
 *
 * A case sorts keys with the oracle's comparison, which follows the text of echelon/sort.h. Then
 * it puts one inversion at each position of a list: the first and the last pair, and the
 * boundaries of vectors, warps and blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, QUICK_BYTES = 400000, PART_BYTES = 2048, POSITIONS = 64 };

struct is_sorted_case {
    ech_dtype dtype;
    size_t n;
    bool descending, total, strict;
    const char *dist; /* "sorted", "random", "equal" */
};

/* ---- The cases ---- */

/* Numbers of elements, and numbers of bytes. A warp processes 2 KiB at a time, a block 16 KiB. */
static const struct {
    size_t n, bytes;
} sizes[] = {
    { 0, 0 },     { 1, 0 },      { 2, 0 },      { 3, 0 },      { 15, 0 },     { 16, 0 },
    { 17, 0 },    { 31, 0 },     { 32, 0 },     { 33, 0 },     { 127, 0 },    { 257, 0 },
    { 509, 0 },   { 513, 0 },    { 0, 2048 },   { 1, 2048 },   { 4099, 0 },   { 0, 16384 },
    { 1, 16384 }, { 13, 65536 }, { 0, 131072 }, { 1, 131072 }, { 7, 300000 }, { 5, 1 << 20 },
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static bool is_float(ech_dtype t)
{
    return t >= ECH_F16;
}

static void case_id(const struct is_sorted_case *c, char *text, size_t capacity_bytes)
{
    snprintf(text, capacity_bytes, "is_sorted(%s,n=%zu%s%s%s,dist=%s)", ech_dtype_name(c->dtype),
             c->n, c->descending ? ",desc" : "", c->total ? ",total" : "",
             c->strict ? ",strict" : "", c->dist);
}

static void cases(void (*run)(const struct is_sorted_case *))
{
    static const char *const dists[] = { "sorted", "random", "equal" };
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (int way = 0; way < 8; way++)
            for (int s = 0; s < SIZES; s++)
                for (int d = 0; d < 3; d++) {
                    const ech_dtype dtype = (ech_dtype)t;
                    const size_t n = sizes[s].n + sizes[s].bytes / ech_dtype_bytes(dtype);
                    if ((way & 2) && !is_float(dtype) && s > 12) continue; /* has no effect */
                    if (d && n > 5000) continue;
                    if (s > 21 && way != t % 2 + t / 2 % 2 * 4) continue; /* one case per size */
                    run(&(struct is_sorted_case){ .dtype = dtype,
                                                  .n = n,
                                                  .descending = way & 1,
                                                  .total = way & 2,
                                                  .strict = way & 4,
                                                  .dist = dists[d] });
                }
}

/* ---- The oracle ---- */

static uint64_t bits_of(ech_dtype t, const char *key)
{
    uint64_t u = 0;
    memcpy(&u, key, ech_dtype_bytes(t)); /* little-endian */
    return u;
}

static int fraction_bits(ech_dtype t)
{
    return t == ECH_F16 ? 10 : t == ECH_BF16 ? 7 : t == ECH_F32 ? 23 : 52;
}

static double value_of(ech_dtype t, uint64_t u)
{
    const int width = 8 * (int)ech_dtype_bytes(t), bits = fraction_bits(t);
    const uint64_t exponents = ((uint64_t)1 << (width - 1 - bits)) - 1;
    const uint64_t exponent = u >> bits & exponents, fraction = u & (((uint64_t)1 << bits) - 1);
    const int bias = (int)(exponents / 2);
    double x;
    if (exponent == exponents)
        x = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        x = ldexp((double)fraction, 1 - bias - bits);
    else
        x = ldexp((double)(fraction | (uint64_t)1 << bits), (int)exponent - bias - bits);
    return u >> (width - 1) ? -x : x;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_integers(ech_dtype t, uint64_t a, uint64_t b)
{
    if (t >= ECH_U8) return compare_u64(a, b);
    const int spare = 64 - 8 * (int)ech_dtype_bytes(t);
    const int64_t x = (int64_t)(a << spare), y = (int64_t)(b << spare);
    return (x > y) - (x < y);
}

/* IEEE 754 totalOrder: sign, then magnitude. */
static int compare_total(ech_dtype t, uint64_t a, uint64_t b)
{
    const uint64_t top = (uint64_t)1 << (8 * ech_dtype_bytes(t) - 1);
    const bool a_minus = a & top, b_minus = b & top;
    if (a_minus != b_minus) return a_minus ? -1 : 1;
    return a_minus ? compare_u64(b & ~top, a & ~top) : compare_u64(a, b);
}

static int compare_nan_last(ech_dtype t, uint64_t a, uint64_t b)
{
    const double x = value_of(t, a), y = value_of(t, b);
    if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

/* Less than 0: a comes before b. */
static int compare(const struct is_sorted_case *c, const char *a, const char *b)
{
    const uint64_t x = bits_of(c->dtype, a), y = bits_of(c->dtype, b);
    const int sign = !is_float(c->dtype) ? compare_integers(c->dtype, x, y)
                     : c->total          ? compare_total(c->dtype, x, y)
                                         : compare_nan_last(c->dtype, x, y);
    return c->descending ? -sign : sign;
}

/* The first position >= from that is out of order. */
static uint64_t oracle(const struct is_sorted_case *c, const char *keys, size_t from, size_t n)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    for (size_t i = from < 1 ? 1 : from; i < n; i++) {
        const int sign = compare(c, keys + i * bytes, keys + (i - 1) * bytes);
        if (sign < 0 || (c->strict && sign == 0)) return i;
    }
    return n;
}

/* ---- Data ---- */

enum { SPECIALS = 16 };

/* Ends of the range and zeros; for floats also infinities, subnormals, and NaN of both signs with
 * several payloads. */
static uint64_t special(ech_dtype t, size_t i)
{
    const int width = 8 * (int)ech_dtype_bytes(t);
    const uint64_t top = (uint64_t)1 << (width - 1), ones = top | (top - 1);
    if (!is_float(t)) {
        const uint64_t some[] = { 0, 1, top, top - 1, ones, top + 1, ones - 1, 2 };
        return some[i % 8];
    }
    const uint64_t one = (uint64_t)1 << fraction_bits(t), inf = top - one;
    const uint64_t some[] = {
        0, 1, inf, inf - 1, inf | 1, inf | one / 2, inf | (one - 1), inf / 2
    };
    return some[i / 2 % 8] | (i % 2 ? top : 0);
}

static const struct is_sorted_case *sorting; /* qsort() has no context argument */

static int compare_keys(const void *a, const void *b)
{
    return compare(sorting, a, b);
}

/* Creates the keys of the case and returns their number; strict cases keep only distinct keys. */
static size_t make_keys(const struct is_sorted_case *c, uint64_t seed, char *keys)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    const bool equal = strcmp(c->dist, "equal") == 0;
    const size_t which = 2 * (seed % (SPECIALS / 2)), nan = 8;
    struct rng rng = { seed };
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t u = rng_next(&rng);
        if (equal) /* the same value with different bits if possible: -0 and +0, any two NaN */
            u = which % 4 ? special(c->dtype, nan + u % 6) : special(c->dtype, u % 2);
        else if (u >> 60 == 0)
            u = special(c->dtype, u % SPECIALS);
        if (equal && !is_float(c->dtype)) u = special(c->dtype, which);
        memcpy(keys + i * bytes, &u, bytes);
    }
    if (strcmp(c->dist, "sorted") != 0) return c->n;
    sorting = c;
    qsort(keys, c->n, bytes, compare_keys);
    for (size_t i = 0; i < c->n; i++) {
        if (c->strict && n && compare(c, keys + i * bytes, keys + (n - 1) * bytes) == 0) continue;
        memmove(keys + n++ * bytes, keys + i * bytes, bytes);
    }
    return n;
}

/* The first (way -1) or the last (way 1) of all special keys in the order of the case. Among equal
 * keys it is the one with the lowest index or, with `tie`, the highest, which is a negative NaN. */
static uint64_t extreme(const struct is_sorted_case *c, int way, bool tie)
{
    uint64_t best = special(c->dtype, 0);
    for (size_t i = 1; i < SPECIALS; i++) {
        const uint64_t u = special(c->dtype, i);
        const int sign = compare(c, (const char *)&u, (const char *)&best) * way;
        if (sign > 0 || (tie && sign == 0)) best = u;
    }
    return best;
}

/* The positions of inversions. */
static int positions_of(size_t n, size_t bytes, size_t skew, size_t position[POSITIONS])
{
    const size_t part = PART_BYTES / bytes, vector = 16 / bytes;
    const size_t near[] = { 1,     2,        vector,   2 * vector, 32 * vector,
                            part,  2 * part, 8 * part, 64 * part,  128 * part,
                            n / 2, n - 1,    n - 2,    n - vector };
    int count = 0;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        for (size_t k = 0; k < 4; k++) {
            const size_t at = near[i] + (k < 2 ? k : 0) - (k > 1 ? skew + k - 2 : 0);
            bool known = at < 1 || at >= n;
            for (int j = 0; j < count && !known; j++) known = position[j] == at;
            if (!known) position[count++] = at;
        }
    return count;
}

/* ---- One case on one device ---- */

struct run {
    const struct is_sorted_case *c;
    ech_ctx *ctx;
    struct buffer in, position, work;
    ech_is_sorted_options options;
    size_t n;
};

static void expect(struct run *r, const char *keys, uint64_t wanted)
{
    uint64_t got = 0;
    if (!buffer_set(&r->in, keys)) return;
    memset(&got, 0x5C, sizeof got);
    if (!buffer_set(&r->position, &got)) return;
    const ech_status status = ech_is_sorted(
        r->ctx, r->in.data, (uint64_t *)(void *)r->position.data, r->n, r->c->dtype, &r->options);
    if (!test_check_status(__FILE__, __LINE__, "ech_is_sorted()", status, ECH_OK, r->ctx)) return;
    if (!CHECK_STATUS(ech_sync(r->ctx), ECH_OK) || !buffer_get(&r->position, &got)) return;
    if (got != wanted)
        test_fail(__FILE__, __LINE__, "the position is %llu instead of %llu, of %zu",
                  (unsigned long long)got, (unsigned long long)wanted, r->n);
}

/* Also checks that a workspace which is one byte too small is rejected. */
static bool give_workspace(struct run *r)
{
    size_t bytes = 0;
    if (!CHECK_STATUS(ech_is_sorted_workspace(ech_device_name(r->ctx), r->n, r->c->dtype,
                                              &r->options, &bytes),
                      ECH_OK) ||
        !buffer_make(&r->work, test_is_cpu(r->ctx) ? NULL : r->ctx, bytes, 0))
        return false;
    if (!bytes) return true;
    r->options.work = r->work.data;
    r->options.work_bytes = bytes - 1;
    CHECK_STATUS(ech_is_sorted(r->ctx, r->in.data, (uint64_t *)(void *)r->position.data, r->n,
                               r->c->dtype, &r->options),
                 ECH_ERR_MEMORY);
    r->options.work_bytes = bytes;
    return true;
}

/* Replaces a pair by the last key of the order and the first. */
static void put_inversion(const struct is_sorted_case *c, char *keys, size_t at, bool tie)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    const uint64_t last = extreme(c, 1, tie), first = extreme(c, -1, tie);
    memcpy(keys + (at - 1) * bytes, &last, bytes);
    memcpy(keys + at * bytes, &first, bytes);
}

static int compare_positions(const void *a, const void *b)
{
    return compare_u64(*(const size_t *)b, *(const size_t *)a);
}

/* One inversion at each position in turn, then an increasing number of them, beginning at the
 * end. */
static void invert(struct run *r, char *keys, size_t skew)
{
    const size_t bytes = ech_dtype_bytes(r->c->dtype);
    size_t position[POSITIONS];
    const int count = r->n < 2 ? 0 : positions_of(r->n, bytes, skew, position);
    for (int i = 0; i < count && !test_failed(); i++) {
        char *at = keys + (position[i] - 1) * bytes, kept[16];
        memcpy(kept, at, 2 * bytes);
        put_inversion(r->c, keys, position[i], i % 2);
        const uint64_t wanted = oracle(r->c, keys, position[i] - 1, r->n);
        CHECK(wanted == position[i] || (r->c->strict && wanted == position[i] - 1));
        expect(r, keys, wanted);
        memcpy(at, kept, 2 * bytes);
    }
    char *all = malloc(r->n * bytes + 1);
    if (!CHECK(all)) return;
    memcpy(all, keys, r->n * bytes);
    qsort(position, (size_t)count, sizeof *position, compare_positions);
    for (int i = 0; i < count && !test_failed(); i++) {
        put_inversion(r->c, all, position[i], i % 2);
        if (i % 3 == 1) expect(r, all, oracle(r->c, all, 1, r->n));
    }
    free(all);
}

static void run_on(ech_ctx *ctx, const struct is_sorted_case *c, char *keys, size_t n,
                   uint64_t seed)
{
    static const int threads[] = { 1, 2, 7 };
    const size_t bytes = ech_dtype_bytes(c->dtype), skew = seed % (16 / bytes);
    struct run r = { .c = c, .ctx = ctx, .n = n };
    r.options = (ech_is_sorted_options){ .size = sizeof r.options,
                                         .descending = c->descending,
                                         .order = c->total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST,
                                         .strict = c->strict };
    const bool cpu = test_is_cpu(ctx);
    const uint64_t place = seed >> 8;
    if (cpu) ech_set_threads(ctx, threads[place % 3]);
    if (buffer_make(&r.in, cpu || place % 4 == 0 ? NULL : ctx, n * bytes, skew * bytes) &&
        buffer_make(&r.position, cpu || place / 4 % 4 == 0 ? NULL : ctx, 8, 8 * (place % 3)) &&
        (place / 16 % 3 || give_workspace(&r))) {
        expect(&r, keys, oracle(c, keys, 1, n));
        if (strcmp(c->dist, "sorted") == 0) invert(&r, keys, skew);
        buffer_check_guards(&r.in, "in");
        buffer_check_guards(&r.position, "position");
        if (r.work.base) buffer_check_guards(&r.work, "work");
        char *now = malloc(n * bytes + 1);
        expect(&r, keys, oracle(c, keys, 1, n)); /* `in` holds keys again */
        if (CHECK(now) && buffer_get(&r.in, now)) CHECK(memcmp(now, keys, n * bytes) == 0);
        free(now);
    }
    if (r.in.base) buffer_free(&r.in);
    if (r.position.base) buffer_free(&r.position);
    if (r.work.base) buffer_free(&r.work);
    ech_set_threads(ctx, 0);
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct is_sorted_case *c)
{
    char id[256];
    const size_t bytes = c->n * ech_dtype_bytes(c->dtype);
    case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    if (!test_drawn(seed, bytes <= QUICK_BYTES)) return;
    if (!test_begin("%s", id)) return;
    char *keys = malloc(bytes + 16);
    const size_t n = keys ? make_keys(c, seed, keys) : 0;
    for (int i = 0; i < n_contexts; i++) {
        if (i) test_begin("%s", id);
        if (CHECK(keys)) run_on(contexts[i], c, keys, n, seed);
        test_end();
    }
    free(keys);
}

/* ---- The output of sorts is sorted ---- */

static void check_sorts(ech_ctx *ctx, ech_ctx *cpu, ech_dtype dtype, int way)
{
    enum { N = 3001 };
    static uint64_t in[N], out[N], index[N];
    static uint32_t value[N];
    const size_t bytes = ech_dtype_bytes(dtype);
    const bool descending = way & 1, total = way & 2;
    const ech_order order = total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST;
    const ech_sort_options sort = { .size = sizeof sort, .descending = descending, .order = order };
    const ech_is_sorted_options o = { .size = sizeof o, .descending = descending, .order = order };
    const struct is_sorted_case any = { .dtype = dtype, .n = N, .dist = "random" };
    uint64_t at[3] = { 0, 0, 0 };
    make_keys(&any, 11 + (uint64_t)way, (char *)in);
    for (size_t i = 0; i < N; i++) /* many special keys */
        if (i % 3) {
            const uint64_t u = special(dtype, i * i / 7 % SPECIALS);
            memcpy((char *)in + i * bytes, &u, bytes);
        }
    CHECK_STATUS(ech_sort(cpu, in, out, N, dtype, &sort), ECH_OK);
    CHECK_STATUS(ech_is_sorted(ctx, out, &at[0], N, dtype, &o), ECH_OK);
    CHECK_STATUS(ech_sort_pairs(cpu, in, value, out, value, N, dtype, 4, &sort), ECH_OK);
    CHECK_STATUS(ech_is_sorted(ctx, out, &at[1], N, dtype, &o), ECH_OK);
    CHECK_STATUS(ech_argsort(cpu, in, index, N, dtype, ECH_U64, &sort), ECH_OK);
    CHECK_STATUS(ech_gather(cpu, in, index, out, N, N, ECH_U64, bytes), ECH_OK);
    CHECK_STATUS(ech_is_sorted(ctx, out, &at[2], N, dtype, &o), ECH_OK);
    for (int i = 0; i < 3; i++) CHECK_INT(at[i], N);
}

static void sorts(ech_ctx *ctx)
{
    ech_ctx *cpu = NULL;
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (int way = 0; way < 4; way++) {
            if (!test_begin("sorts(%s,%s,way=%d)", ech_device_name(ctx),
                            ech_dtype_name((ech_dtype)t), way))
                continue;
            if (cpu || CHECK_STATUS(ech_open(&cpu, "cpu"), ECH_OK))
                check_sorts(ctx, cpu, (ech_dtype)t, way);
            test_end();
        }
    ech_close(cpu);
}

/* ---- Queued calls, and calls that fail ---- */

/* Queues several calls with different widths and results before any of them is complete. */
static void queued(ech_ctx *ctx)
{
    enum { N = 5003, CALLS = 12 };
    static uint8_t keys[8 * N];
    struct buffer in[CALLS], position;
    uint64_t got[CALLS];
    int made = 0;
    ech_ctx *place = test_is_cpu(ctx) ? NULL : ctx;
    if (!test_begin("queued(%s)", ech_device_name(ctx))) return;
    if (!buffer_make(&position, place, sizeof got, 0)) goto done;
    for (; made < CALLS; made++) {
        memset(keys, 7, sizeof keys);
        if (made % 3) memset(keys + 8 * (400 * made + 1), 3, 8);
        if (!buffer_make(&in[made], place, sizeof keys, 0)) goto freed;
        if (!buffer_set(&in[made], keys)) break;
    }
    for (int i = 0; i < made; i++)
        CHECK_STATUS(ech_is_sorted(ctx, in[i].data, (uint64_t *)(void *)position.data + i, N,
                                   i % 2 ? ECH_U64 : ECH_I64, NULL),
                     ECH_OK);
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    if (made == CALLS && buffer_get(&position, got))
        for (int i = 0; i < CALLS; i++) CHECK_INT(got[i], i % 3 ? 400 * i + 1 : N);
    buffer_check_guards(&position, "position");
freed:
    for (int i = 0; i < made; i++) buffer_free(&in[i]);
    buffer_free(&position);
done:
    test_end();
}

static void bad(ech_ctx *ctx)
{
    static uint32_t in[9];
    uint64_t position[2] = { 77, 77 };
    uint64_t *odd_position = (uint64_t *)(void *)((char *)position + 4);
    const void *odd = (const char *)in + 2;
    ech_is_sorted_options o = { .size = sizeof o };
    size_t bytes;
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_is_sorted(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    CHECK_FAILS(NULL, ech_is_sorted(NULL, in, position, 8, ECH_U32, NULL), ECH_ERR_ARG, "ctx");
    REFUSED("in is NULL", NULL, position, 8, ECH_U32, NULL);
    REFUSED("position is NULL", in, NULL, 8, ECH_U32, NULL);
    REFUSED("position is NULL", NULL, NULL, 0, ECH_U32, NULL);
    REFUSED("in is not aligned", odd, position, 8, ECH_U32, NULL);
    REFUSED("position is not aligned", in, odd_position, 8, ECH_U32, NULL);
    REFUSED("overlap", position, position, 2, ECH_U64, NULL);
    REFUSED("dtype", in, position, 8, (ech_dtype)12, NULL);
    REFUSED("dtype", in, position, 8, (ech_dtype)-1, NULL);
    REFUSED("n is", in, position, SIZE_MAX / 2, ECH_U32, NULL);
    o.descending = 2;
    REFUSED("descending", in, position, 8, ECH_U32, &o);
    o.descending = 0, o.strict = -1;
    REFUSED("strict", in, position, 8, ECH_U32, &o);
    o.strict = 0, o.order = (ech_order)2;
    REFUSED("order", in, position, 8, ECH_U32, &o);
    o.order = ECH_ORDER_TOTAL, o.size = 7;
    REFUSED("ech_is_sorted_options", in, position, 8, ECH_U32, &o);
    o.size = sizeof o, o.work_bytes = 1;
    REFUSED("work", in, position, 8, ECH_U32, &o);
    CHECK_FAILS(NULL, ech_is_sorted_workspace("cpu", 8, ECH_U32, &o, &bytes), ECH_ERR_ARG, "work");
    CHECK_FAILS(NULL, ech_is_sorted_workspace("cpu", 8, ECH_U32, NULL, NULL), ECH_ERR_ARG, "bytes");
    CHECK_FAILS(NULL, ech_is_sorted_workspace("cpu", 8, (ech_dtype)12, NULL, &bytes), ECH_ERR_ARG,
                "dtype");
#undef REFUSED
    CHECK_INT(position[0], 77);
    CHECK_STATUS(ech_is_sorted(ctx, NULL, position, 0, ECH_F64, NULL), ECH_OK);
    CHECK_INT(position[0], 0);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        sorts(contexts[i]);
        queued(contexts[i]);
        bad(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
