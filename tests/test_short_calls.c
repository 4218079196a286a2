/*
 * test_short_calls.c - calls on 1 to 300 elements without options on the CPU, which have functions
 * of their own, compared with calls with default options, which do not.
 *
 *     test_short_calls                        every call and type
 *     test_short_calls 'short(select_if,f32'  cases with this prefix
 *
 * The arrays end at a page that cannot be accessed, so that a read or write behind them ends the
 * program. Invalid arrays must be reported in the same words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _DEFAULT_SOURCE
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST = 300, PAGE = 1 << 16, ROOM = 1 << 16, ARRAYS = 8, BINS = 300, LONGEST = 12 };
enum kind { RANDOM, FEW, SPECIAL, RUNS, KINDS };
enum call {
    SELECT_FLAGS,
    PARTITION_FLAGS,
    SELECT_IF,
    UNIQUE,
    ENCODE,
    DECODE,
    REDUCE,
    SCAN,
    HISTOGRAM,
    BINCOUNT,
    CALLS
};
static const char *const names[] = { "select_flags", "partition_flags", "select_if", "unique",
                                     "rle_encode",   "rle_decode",      "reduce",    "scan",
                                     "histogram",    "bincount" };

/* A call; `variant` is its comparison, operation, size of an element or number of bins. */
struct test {
    enum call call;
    ech_dtype dtype;
    int variant;
    size_t n;
};

struct outputs {
    char *out, *second; /* second: the lengths of runs */
    uint64_t *count;
};

struct arrays {
    char *memory;
    char *in, *flags;
    uint64_t *lengths;
    uint64_t value;
    struct outputs is, wanted;
};

static char *place(const struct arrays *a, size_t i, size_t bytes)
{
    return a->memory + i * (ROOM + PAGE) + ROOM - bytes;
}

static bool map(struct arrays *a)
{
    a->memory = mmap(NULL, ARRAYS * (ROOM + PAGE), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a->memory == MAP_FAILED) return false;
    for (size_t i = 0; i < ARRAYS; i++)
        if (mprotect(a->memory + i * (ROOM + PAGE) + ROOM, PAGE, PROT_NONE)) return false;
    return true;
}

/* ---- Data ---- */

static uint64_t special(ech_dtype dtype, uint64_t which)
{
    static const uint64_t infinities[] = { 0x7c00, 0x7f80, 0x7f800000, 0x7ff0000000000000 };
    const int bits = 8 * (int)ech_dtype_bytes(dtype);
    const uint64_t top = (uint64_t)1 << (bits - 1),
                   infinity = dtype >= ECH_F16 ? infinities[dtype - ECH_F16] : top - 1;
    const uint64_t values[] = {
        0, top,     infinity,    infinity | top, infinity + 1, infinity | 5, ~(uint64_t)0,
        1, top | 1, infinity - 1
    };
    return values[which % (sizeof values / sizeof *values)];
}

static uint64_t element(ech_dtype dtype, enum kind kind, size_t i, struct rng *rng)
{
    switch (kind) {
    case RANDOM:
        return rng_next(rng);
    case SPECIAL:
        return special(dtype, rng_next(rng));
    case RUNS:
        return special(dtype, i / 7);
    default:
        return rng_below(rng, 5) << (dtype >= ECH_F16 ? 8 * ech_dtype_bytes(dtype) - 9 : 0);
    }
}

static size_t bytes_of(const struct test *t)
{
    const bool opaque = t->call == DECODE || t->call <= PARTITION_FLAGS;
    return opaque ? (size_t)t->variant : ech_dtype_bytes(t->dtype);
}

static void set(struct arrays *a, const struct test *t, enum kind kind, struct rng *rng)
{
    const size_t bytes = bytes_of(t);
    a->in = place(a, 0, t->n * bytes);
    a->flags = place(a, 1, t->n);
    a->lengths = (uint64_t *)(void *)place(a, 2, 8 * t->n);
    memset(a->in - 128, 0xA5, 128);
    for (size_t i = 0; i < t->n; i++) {
        const uint64_t u = element(t->dtype, kind, i, rng);
        memcpy(a->in + i * bytes, &u, bytes < 8 ? bytes : 8);
        a->flags[i] = (char)(rng_next(rng) % 3);
        a->lengths[i] = kind == FEW ? 1 : rng_below(rng, kind == RUNS && i % 8 == 0 ? 60 : 4);
    }
    a->value = element(t->dtype, kind, 0, rng);
    for (int i = 0; i < 2; i++) {
        struct outputs *o = i ? &a->wanted : &a->is;
        const size_t n = t->call == DECODE ? LONGEST * t->n : t->n;
        o->out = place(a, 3 + 2 * (size_t)i,
                       t->call >= HISTOGRAM ? 8 * BINS
                       : t->call == REDUCE  ? 16
                                            : n * bytes);
        o->second = place(a, 4 + 2 * (size_t)i, 8 * t->n);
        o->count = (uint64_t *)(void *)(place(a, 7, 64) + 8 * i);
        memset(o->out - 128, 0xA5, 128);
        memset(o->out, 0x5A, t->call >= HISTOGRAM ? 8 * BINS : t->call == REDUCE ? 16 : n * bytes);
        memset(o->second - 128, 0xA5, 8 * t->n + 128);
        *o->count = 0;
    }
}

/* ---- Calls ---- */

static ech_status select_any(ech_ctx *ctx, const struct test *t, const struct arrays *a,
                             const struct outputs *o, const ech_select_options *options)
{
    const uint8_t *flags = (const uint8_t *)a->flags;
    switch (t->call) {
    case SELECT_FLAGS:
        return ech_select_flags(ctx, a->in, flags, o->out, o->count, t->n, (size_t)t->variant,
                                options);
    case PARTITION_FLAGS:
        return ech_partition_flags(ctx, a->in, flags, o->out, o->count, t->n, (size_t)t->variant,
                                   options);
    case SELECT_IF:
        return ech_select_if(ctx, (ech_compare)t->variant, a->in, o->out, o->count, t->n, t->dtype,
                             &a->value, options);
    case UNIQUE:
        return ech_unique(ctx, a->in, o->out, o->count, t->n, t->dtype, options);
    case ENCODE:
        return ech_rle_encode(ctx, a->in, o->out, (uint64_t *)(void *)o->second, o->count, t->n,
                              t->dtype, options);
    default:
        return ech_rle_decode(ctx, a->in, a->lengths, o->out, t->n, LONGEST * t->n,
                              (size_t)t->variant, options);
    }
}

static ech_status run(ech_ctx *ctx, const struct test *t, const struct arrays *a,
                      const struct outputs *o, bool options)
{
    const ech_select_options select = { .size = sizeof select };
    const ech_reduce_options reduce = { .size = sizeof reduce };
    const ech_scan_options scan = { .size = sizeof scan };
    const ech_histogram_options histogram = { .size = sizeof histogram };
    switch (t->call) {
    case REDUCE:
        return ech_reduce(ctx, (ech_op)t->variant, a->in, o->out, t->n, t->dtype,
                          options ? &reduce : NULL);
    case SCAN:
        return ech_scan(ctx, (ech_op)t->variant, a->in, o->out, t->n, t->dtype,
                        options ? &scan : NULL);
    case HISTOGRAM:
        return ech_histogram(ctx, a->in, o->out, t->n, t->dtype, (size_t)t->variant, -1, 2,
                             options ? &histogram : NULL);
    case BINCOUNT:
        return ech_bincount(ctx, a->in, o->out, t->n, t->dtype, (size_t)t->variant,
                            options ? &histogram : NULL);
    default:
        return select_any(ctx, t, a, o, options ? &select : NULL);
    }
}

/* ---- Comparisons ---- */

static bool keeps_guard(const char *array)
{
    for (int i = 1; i <= 64; i++)
        if ((unsigned char)array[-i] != 0xA5) return false;
    return true;
}

static size_t written(const struct test *t, const struct arrays *a)
{
    switch (t->call) {
    case SELECT_FLAGS:
        return (size_t)(*a->wanted.count * (uint64_t)t->variant);
    case PARTITION_FLAGS:
        return t->n * (size_t)t->variant;
    case DECODE:
        return LONGEST * t->n * (size_t)t->variant; /* the rest keeps its values */
    case REDUCE:
        return ech_dtype_bytes((ech_dtype)ech_reduce_dtype((ech_op)t->variant, t->dtype, 0)) *
               (t->variant == ECH_OP_MINMAX ? 2 : 1);
    case SCAN:
        return t->n * ech_dtype_bytes(t->dtype);
    case HISTOGRAM:
    case BINCOUNT:
        return 8 * BINS;
    default:
        return (size_t)*a->wanted.count * ech_dtype_bytes(t->dtype);
    }
}

static void compare(ech_ctx *ctx, const struct test *t, struct arrays *a, enum kind kind)
{
    char error[256];
    const ech_status wanted = run(ctx, t, a, &a->wanted, true);
    snprintf(error, sizeof error, "%s", wanted ? ech_error(ctx) : "");
    if (!CHECK_INT(run(ctx, t, a, &a->is, false), wanted)) return;
    if (wanted) {
        CHECK(strcmp(error, ech_error(ctx)) == 0);
        return;
    }
    const bool equal =
        *a->is.count == *a->wanted.count && memcmp(a->is.out, a->wanted.out, written(t, a)) == 0 &&
        (t->call != ENCODE || memcmp(a->is.second, a->wanted.second, 8 * *a->is.count) == 0);
    if (!equal)
        test_fail(__FILE__, __LINE__, "n = %zu, kind %d, variant %d: other result", t->n, (int)kind,
                  t->variant);
    CHECK(keeps_guard(a->is.out) && keeps_guard(a->is.second));
}

/* The output overlaps the input, and is not aligned. */
static void check_invalid(ech_ctx *ctx, const struct test *t, struct arrays *a)
{
    const struct arrays right = *a;
    a->is.out = a->wanted.out = a->in + (t->n - 1) * bytes_of(t) - bytes_of(t) / 2;
    compare(ctx, t, a, RANDOM);
    *a = right;
    a->is.out = a->wanted.out = a->wanted.out - 1;
    compare(ctx, t, a, RANDOM);
    *a = right;
    a->is.count = a->wanted.count = (uint64_t *)(void *)(a->flags - 8 + t->n % 2);
    if (t->call < DECODE && t->n % 2) compare(ctx, t, a, RANDOM);
    *a = right;
    a->in = NULL;
    compare(ctx, t, a, RANDOM);
    *a = right;
}

static const int sizes[] = { 1, 2, 3, 4, 8, 16 };

/* The number of variants, and the i-th one. */
static int variants_of(enum call call)
{
    switch (call) {
    case SELECT_FLAGS:
    case PARTITION_FLAGS:
    case DECODE:
        return (int)(sizeof sizes / sizeof *sizes);
    case SELECT_IF:
        return ECH_COMPARE_HAS_NONE + 2; /* one of them is invalid */
    case REDUCE:
        return ECH_OP_STDDEV + 1;
    case SCAN:
        return ECH_OP_XOR + 1;
    case HISTOGRAM:
    case BINCOUNT:
        return 4;
    default:
        return 1;
    }
}

static int variant_of(enum call call, int i)
{
    static const int bins[] = { 1, 3, 100, 256 };
    if (call >= HISTOGRAM) return bins[i];
    return call <= PARTITION_FLAGS || call == DECODE ? sizes[i] : i;
}

static void run_call(ech_ctx *ctx, enum call call, ech_dtype dtype, struct arrays *a)
{
    struct rng rng = { 17 * (uint64_t)call + (uint64_t)dtype };
    if (!test_begin("short(%s,%s)", names[call], ech_dtype_name(dtype))) return;
    for (int v = 0; v < variants_of(call); v++)
        for (size_t n = 1; n <= MOST && !test_failed(); n += n < 135 ? 1 : 33) {
            const struct test t = { call, dtype, variant_of(call, v), n };
            for (int kind = 0; kind < KINDS; kind++) {
                set(a, &t, (enum kind)kind, &rng);
                compare(ctx, &t, a, (enum kind)kind);
            }
            if (n % 10 == 1) check_invalid(ctx, &t, a);
        }
    test_end();
}

/* ---- Gathers, which have no options ---- */

static void run_gather(ech_ctx *ctx, ech_dtype index_dtype, size_t bytes, struct arrays *a)
{
    const size_t width = ech_dtype_bytes(index_dtype), n_in = 97;
    struct rng rng = { bytes };
    if (!test_begin("short(gather,%s,size=%zu)", ech_dtype_name(index_dtype), bytes)) return;
    for (size_t n = 1; n <= MOST && !test_failed(); n++) {
        char *in = place(a, 0, n_in * bytes), *index = place(a, 1, n * width);
        char *out = place(a, 2, n * bytes);
        const size_t bad = n % 7 == 0 ? rng_below(&rng, n) : n;
        bool equal = true;
        memset(out - 64, 0xA5, 64);
        for (size_t i = 0; i < n_in * bytes; i++) in[i] = (char)rng_next(&rng);
        for (size_t i = 0; i < n; i++) {
            const uint64_t at = i == bad ? n_in : rng_below(&rng, n_in);
            memcpy(index + i * width, &at, width);
        }
        const ech_status status = ech_gather(ctx, in, index, out, n, n_in, index_dtype, bytes);
        if (bad < n) {
            char text[64];
            snprintf(text, sizeof text, "[%zu]", bad);
            CHECK_INT(status, ECH_ERR_ARG);
            CHECK_TEXT(ech_error(ctx), text);
            continue;
        }
        CHECK_INT(status, ECH_OK);
        for (size_t i = 0; i < n; i++) {
            uint64_t at = 0;
            memcpy(&at, index + i * width, width);
            equal = equal && memcmp(out + i * bytes, in + at * bytes, bytes) == 0;
        }
        CHECK(equal && keeps_guard(out));
        CHECK_INT(ech_gather(ctx, in, index, index, n, n_in, index_dtype, bytes), ECH_ERR_ARG);
    }
    test_end();
}

int main(int argc, char **argv)
{
    static const ech_dtype index_dtypes[] = { ECH_I32, ECH_U32, ECH_I64, ECH_U64 };
    struct arrays arrays;
    ech_ctx *ctx;
    test_main(argc, argv);
    if (!map(&arrays) || ech_open(&ctx, "cpu") != ECH_OK) return 1;
    for (int call = 0; call < CALLS; call++)
        for (int t = ECH_I8; t <= ECH_F64; t++)
            run_call(ctx, (enum call)call, (ech_dtype)t, &arrays);
    for (int i = 0; i < 4; i++)
        for (size_t bytes = 1; bytes <= 17; bytes++)
            run_gather(ctx, index_dtypes[i], bytes, &arrays);
    ech_close(ctx);
    return test_finish();
}
