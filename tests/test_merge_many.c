/*
 * test_merge_many.c - ech_merge_many() and ech_merge_many_pairs(), compared with an oracle, on
 * every device with every algorithm.
 *
 *     test_merge_many 'merge_many(f32,n=4352,runs=3'             cases with this prefix
 *
 * The oracle is the stable sort of tests/oracle.c of the whole array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, QUICK = 20000 };

enum lengths { EQUAL, RANDOM, LONG, LENGTHS }; /* of runs; LONG: most elements are in one run */

struct many_case {
    struct sort_case sort;
    size_t runs;
    enum lengths lengths;
};

/* ---- The cases ---- */

/* Tiles have 4352 elements (keys of 64 bits: 2816), parts of the CPU 16384. */
static const size_t sizes[][2] = { { 0, 0 },       { 0, 3 },      { 1, 1 },     { 1, 2 },
                                   { 2, 5 },       { 37, 1 },     { 37, 40 },   { 100, 2 },
                                   { 2816, 3 },    { 4352, 2 },   { 4353, 4 },  { 8704, 2 },
                                   { 13056, 3 },   { 20000, 5 },  { 5000, 16 }, { 16385, 17 },
                                   { 40001, 300 }, { 131072, 8 }, { 70001, 7 }, { 3000, 4097 } };
enum { SIZES = sizeof sizes / sizeof *sizes };

static void case_id(const struct many_case *c, char *text, size_t capacity_bytes)
{
    static const char *const lengths[] = { "equal", "random", "long" };
    snprintf(text, capacity_bytes, "merge_many(%s,n=%zu,runs=%zu,%s,v=%zu%s%s,dist=%s)",
             ech_dtype_name(c->sort.dtype), c->sort.n, c->runs, lengths[c->lengths],
             c->sort.value_bytes, c->sort.descending ? ",desc" : "", c->sort.total ? ",total" : "",
             c->sort.dist);
}

static void cases(void (*run)(const struct many_case *))
{
    static const char *const dists[] = { "random", "few", "special", "constant", "halved" };
    static const size_t values[] = { 0, 4, 1, 8, 0, 2, 16, 12, 3, 80, 1040 };
    size_t number = 0;
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (int s = 0; s < SIZES; s++)
            for (int d = 0; d < 5; d++)
                for (int k = 0; k < 2; k++, number++) {
                    const size_t bytes = values[(number + number / 11) % 11];
                    run(&(struct many_case){ .sort = { .dtype = (ech_dtype)t,
                                                       .n = sizes[s][0],
                                                       .value_bytes = k ? bytes : 0,
                                                       .descending = number / 2 % 2,
                                                       .total = number / 3 % 3 == 0,
                                                       .dist = dists[d] },
                                             .runs = sizes[s][1],
                                             .lengths = (enum lengths)(number / 5 % LENGTHS) });
                }
}

/* ---- Data ---- */

struct data {
    const struct many_case *c;
    size_t key_bytes, value_bytes;
    uint64_t *offsets;
    char *keys, *values, *keys_out, *values_out; /* the outputs: expected */
};

static void *make(size_t bytes)
{
    return calloc(bytes + 16, 1);
}

static void make_offsets(const struct many_case *c, struct rng *rng, uint64_t *offsets)
{
    const size_t n = c->sort.n, runs = c->runs;
    for (size_t r = 1; r < runs; r++) {
        offsets[r] = n * r / runs;
        if (c->lengths == RANDOM) offsets[r] = rng_below(rng, n + 1);
        if (c->lengths == LONG) offsets[r] = r <= runs / 2 ? r < n ? r : n : n;
    }
    for (size_t r = 1; r < runs; r++) /* in ascending order */
        for (size_t i = r; i > 1 && offsets[i] < offsets[i - 1]; i--) {
            const uint64_t x = offsets[i];
            offsets[i] = offsets[i - 1];
            offsets[i - 1] = x;
        }
    offsets[0] = 0;
    if (runs) offsets[runs] = n;
}

/* order receives the positions of n keys in order. */
static bool order_keys(const struct many_case *c, size_t n, const char *keys, uint32_t *order)
{
    struct sort_case part = c->sort;
    part.n = n;
    part.value_bytes = 4; /* stable: equal keys are equal */
    return n == 0 || oracle_order(&part, keys, order);
}

static void move(char *to, const char *from, const uint32_t *order, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i++) memcpy(to + i * bytes, from + order[i] * bytes, bytes);
}

static bool make_data(const struct many_case *c, uint64_t seed, struct data *d)
{
    const size_t n = c->sort.n, key = d->key_bytes, value = d->value_bytes;
    struct rng rng = { seed };
    char *random = make(n * key);
    uint32_t *order = make(4 * n);
    d->offsets = make(8 * (c->runs + 1));
    d->keys = make(n * key);
    d->values = make(n * value);
    d->keys_out = make(n * key);
    d->values_out = make(n * value);
    bool good = random && order && d->offsets && d->keys && d->values && d->keys_out &&
                d->values_out && (n == 0 || keys_fill(&c->sort, seed, random));
    if (good) {
        make_offsets(c, &rng, d->offsets);
        for (size_t i = 0; i < n * value; i++) d->values[i] = (char)rng_next(&rng);
        for (size_t r = 0; r < c->runs && good; r++) {
            const size_t from = (size_t)d->offsets[r] * key;
            const size_t some = (size_t)(d->offsets[r + 1] - d->offsets[r]);
            good = order_keys(c, some, random + from, order);
            if (good) move(d->keys + from, random + from, order, some, key);
        }
        good = good && order_keys(c, n, d->keys, order);
        if (good) move(d->keys_out, d->keys, order, n, key);
        if (good) move(d->values_out, d->values, order, n, value);
    }
    free(random);
    free(order);
    return good;
}

/* ---- One case on one device ---- */

static ech_merge_options options_of(const struct many_case *c, const char *algorithm)
{
    return (ech_merge_options){ .size = sizeof(ech_merge_options),
                                .descending = c->sort.descending,
                                .order = c->sort.total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST,
                                .algorithm = algorithm };
}

/* b: keys, values, offsets, keys out, values out. */
static ech_status call(ech_ctx *ctx, const struct data *d, struct buffer *b, ech_dtype index,
                       const ech_merge_options *o)
{
    const struct many_case *c = d->c;
    if (d->value_bytes)
        return ech_merge_many_pairs(ctx, b[0].data, b[1].data, b[2].data, b[3].data, b[4].data,
                                    c->sort.n, c->runs, c->sort.dtype, d->value_bytes, index, o);
    return ech_merge_many(ctx, b[0].data, b[2].data, b[3].data, c->sort.n, c->runs, c->sort.dtype,
                          index, o);
}

static void compare(const struct buffer *b, const void *wanted, const char *name)
{
    char *got = make(b->bytes);
    if (CHECK(got) && buffer_get(b, got) && memcmp(got, wanted, b->bytes) != 0) {
        size_t i = 0;
        while (got[i] == ((const char *)wanted)[i]) i++;
        test_fail(__FILE__, __LINE__, "%s differs at byte %zu of %zu", name, i, b->bytes);
    }
    free(got);
    buffer_check_guards(b, name);
}

/* A workspace of the caller; false if it cannot be made. */
static bool make_work(ech_ctx *ctx, const struct data *d, struct buffer *b, ech_dtype index,
                      ech_merge_options *o)
{
    const struct many_case *c = d->c;
    size_t bytes = 0;
    CHECK_STATUS(ech_merge_many_workspace(ech_device_name(ctx), c->sort.n, c->runs, c->sort.dtype,
                                          d->value_bytes, o, &bytes),
                 ECH_OK);
    if (!buffer_make(&b[5], test_is_cpu(ctx) ? NULL : ctx, bytes, 0)) return false;
    o->work = bytes ? b[5].data : NULL;
    o->work_bytes = bytes ? bytes - 1 : 0;
    if (bytes && c->runs) CHECK_STATUS(call(ctx, d, b, index, o), ECH_ERR_MEMORY);
    o->work_bytes = bytes;
    return true;
}

static void run_on(ech_ctx *ctx, const struct data *d, const char *algorithm, uint64_t seed)
{
    static const char *const names[] = { "in", "values_in", "offsets", "out", "values_out" };
    static const int threads[] = { 1, 2, 7 };
    const struct many_case *c = d->c;
    const ech_dtype index = index_dtype(seed >> 9, c->sort.n);
    const size_t wide = ech_dtype_bytes(index), n = c->sort.n;
    const size_t align = d->value_bytes & (~d->value_bytes + 1); /* of a value in GPU memory */
    const bool cpu = test_is_cpu(ctx);
    void *offsets = index_array(d->offsets, c->runs + 1, index);
    const void *const from[5] = { d->keys, d->values, offsets, d->keys_out, d->values_out };
    const size_t bytes[5] = { n * d->key_bytes, n * d->value_bytes, (c->runs + 1) * wide,
                              n * d->key_bytes, n * d->value_bytes };
    struct buffer b[6];
    ech_merge_options o = options_of(c, algorithm);
    bool good = CHECK(offsets);
    memset(b, 0, sizeof b);
    if (cpu) ech_set_threads(ctx, threads[seed / 64 % 3]);
    for (int i = 0; i < 5 && good; i++) {
        const bool host = cpu || (seed >> i) % 5 == 0;
        const size_t unit = i == 2 ? wide : i % 3 == 0 ? d->key_bytes : host ? 1 : align;
        good = buffer_make(&b[i], host ? NULL : ctx, bytes[i], (seed >> 2 * i) % 4 * unit) &&
               (i > 2 || buffer_set(&b[i], from[i]));
    }
    const bool refused = strcmp(algorithm, "sort") == 0 && n && c->runs && !d->value_bytes &&
                         !c->sort.total && c->sort.dtype >= ECH_F16;
    if (good && refused) CHECK_FAILS(ctx, call(ctx, d, b, index, &o), ECH_ERR_ARG, "\"sort\"");
    good = good && !refused;
    if (good && seed / 16 % 2) good = make_work(ctx, d, b, index, &o);
    if (good &&
        test_check_status(__FILE__, __LINE__, "a merge", call(ctx, d, b, index, &o), ECH_OK, ctx) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        for (int i = 0; i < 5; i++) compare(&b[i], from[i], names[i]);
        if (b[5].base) buffer_check_guards(&b[5], "work");
    }
    if (test_failed()) printf("  with algorithm \"%s\"\n", algorithm);
    for (int i = 0; i < 6; i++)
        if (b[i].base) buffer_free(&b[i]);
    free(offsets);
    if (cpu) ech_set_threads(ctx, 0);
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct many_case *c)
{
    static const char *const algorithms[] = { "", "rounds", "sort" };
    char id[256];
    struct data d = { .c = c,
                      .key_bytes = ech_dtype_bytes(c->sort.dtype),
                      .value_bytes = c->sort.value_bytes };
    case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    if (!test_drawn(seed, c->sort.n * (4 + d.value_bytes / 16) <= 4 * QUICK)) return;
    if (!test_begin("%s", id)) return;
    const bool good = make_data(c, seed, &d);
    for (int i = 0; i < n_contexts; i++) {
        if (i) test_begin("%s", id);
        if (CHECK(good))
            for (uint64_t a = 0; a < 3; a++)
                run_on(contexts[i], &d, algorithms[a], (seed >> 8) + 977 * a);
        test_end();
    }
    free(d.offsets);
    free(d.keys);
    free(d.values);
    free(d.keys_out);
    free(d.values_out);
}

/* ---- Runs that are not sorted; bad calls ---- */

/* The call must not access other memory, and must write each element. Keys are equal in blocks of
 * `block` elements, so that boundaries of tiles are far out of order. */
static void unsorted(ech_ctx *ctx, size_t block)
{
    enum { N = 60001, RUNS = 3 };
    static uint32_t keys[N], out[N];
    const uint32_t offsets[RUNS + 1] = { 0, 20000, 50001, N };
    const size_t bytes[3] = { sizeof keys, sizeof offsets, sizeof out };
    const ech_merge_options o = { .size = sizeof o, .algorithm = "rounds" };
    struct rng rng = { block };
    struct buffer b[3];
    int made = 0;
    if (!test_begin("unsorted(%s,block=%zu)", ech_device_name(ctx), block)) return;
    for (size_t i = 0; i < N; i++) keys[i] = i % block ? keys[i - 1] : (uint32_t)rng_next(&rng) | 1;
    for (; made < 3; made++)
        if (!buffer_make(&b[made], test_is_cpu(ctx) ? NULL : ctx, bytes[made], 4)) break;
    memset(out, 0, sizeof out);
    if (made == 3 && buffer_set(&b[0], keys) && buffer_set(&b[1], offsets) &&
        buffer_set(&b[2], out)) {
        CHECK_STATUS(
            ech_merge_many(ctx, b[0].data, b[1].data, b[2].data, N, RUNS, ECH_U32, ECH_U32, &o),
            ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        if (buffer_get(&b[2], out))
            for (int i = 0; i < N && !test_failed(); i++) CHECK(out[i] & 1);
        buffer_check_guards(&b[2], "out");
    }
    while (made) buffer_free(&b[--made]);
    test_end();
}

/* Offsets that are not 0 ... n in ascending order, in the memory of the device. */
static void bad_offsets(ech_ctx *ctx, const char *algorithm)
{
    enum { N = 9000, RUNS = 3 };
    static const struct {
        int32_t offsets[RUNS + 1];
        const char *message;
    } wrong[] = { { { 1, 2, 3, N }, "offsets[0] is not 0" },
                  { { 0, 5000, 4999, N }, "offsets[2] is less than the one before" },
                  { { 0, N + 1, N, N }, "offsets[1] is more than n" },
                  { { 0, -1, N, N }, "offsets[1] is more than n" },
                  { { 0, 10, 20, N - 1 }, "offsets[3] is not n" },
                  { { 0, 10, 20, N + 1 }, "offsets[3] is more than n" } };
    static uint16_t keys[N], out[N];
    const ech_merge_options o = { .size = sizeof o, .algorithm = algorithm };
    if (!test_begin("bad_offsets(%s,%s)", ech_device_name(ctx), algorithm)) return;
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        const size_t bytes[3] = { sizeof keys, sizeof wrong[w].offsets, sizeof out };
        const void *const from[3] = { keys, wrong[w].offsets, out };
        struct buffer b[3];
        int made = 0;
        for (; made < 3; made++)
            if (!buffer_make(&b[made], test_is_cpu(ctx) ? NULL : ctx, bytes[made], 4) ||
                !buffer_set(&b[made], from[made]))
                break;
        if (CHECK(made == 3)) {
            ech_status status =
                ech_merge_many(ctx, b[0].data, b[1].data, b[2].data, N, RUNS, ECH_U16, ECH_I32, &o);
            if (status == ECH_OK) status = ech_sync(ctx);
            CHECK_FAILS(ctx, status, ECH_ERR_ARG, wrong[w].message);
            CHECK_STATUS(ech_sync(ctx), ECH_OK);
            buffer_check_guards(&b[2], "out");
        }
        while (made) buffer_free(&b[--made]);
    }
    test_end();
}

static void bad(ech_ctx *ctx)
{
    static uint32_t a[8], out[8], more[8], values[8];
    static const uint32_t offsets[3] = { 0, 3, 8 };
    const void *odd = (const char *)a + 2;
    ech_merge_options o = { .size = sizeof o };
    size_t bytes;
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_merge_many(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    out[3] = 77;
    CHECK_FAILS(NULL, ech_merge_many(NULL, a, offsets, out, 8, 2, ECH_U32, ECH_U32, NULL),
                ECH_ERR_ARG, "ctx");
    REFUSED("in is NULL", NULL, offsets, out, 8, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("offsets is NULL", a, NULL, out, 8, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("out is NULL", a, offsets, NULL, 8, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("in is not aligned", odd, offsets, out, 2, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("offsets is not aligned", a, odd, out, 8, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("overlap", out, offsets, out, 8, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("overlap", a, out + 4, out, 8, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("dtype", a, offsets, out, 8, 2, (ech_dtype)12, ECH_U32, NULL);
    REFUSED("offsets_dtype", a, offsets, out, 8, 2, ECH_U32, ECH_F32, NULL);
    REFUSED("n is", a, offsets, out, SIZE_MAX / 2, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("runs is", a, offsets, out, 8, SIZE_MAX / 2, ECH_U32, ECH_U32, NULL);
    REFUSED("runs is 0", a, offsets, out, 8, 0, ECH_U32, ECH_U32, NULL);
    o.descending = 2;
    REFUSED("descending", a, offsets, out, 8, 2, ECH_U32, ECH_U32, &o);
    o.descending = 0, o.order = (ech_order)2;
    REFUSED("order", a, offsets, out, 8, 2, ECH_U32, ECH_U32, &o);
    o.order = ECH_ORDER_NAN_LAST, o.algorithm = "merge_path";
    REFUSED("merge_path", a, offsets, out, 8, 2, ECH_U32, ECH_U32, &o);
    REFUSED("merge_path", a, offsets, out, 0, 0, ECH_U32, ECH_U32, &o);
    o.algorithm = NULL, o.size = 7;
    REFUSED("ech_merge_options", a, offsets, out, 8, 2, ECH_U32, ECH_U32, &o);
#undef REFUSED
    CHECK_FAILS(
        ctx,
        ech_merge_many_pairs(ctx, a, values, offsets, out, more, 8, 2, ECH_U32, 0, ECH_U32, NULL),
        ECH_ERR_ARG, "value_bytes");
    CHECK_FAILS(
        ctx,
        ech_merge_many_pairs(ctx, a, values, offsets, out, NULL, 8, 2, ECH_U32, 4, ECH_U32, NULL),
        ECH_ERR_ARG, "values_out is NULL");
    CHECK_FAILS(NULL, ech_merge_many_workspace("cpu", 8, 2, ECH_U32, 0, NULL, NULL), ECH_ERR_ARG,
                "bytes");
    CHECK_STATUS(ech_merge_many_workspace("cpu", 8, 2, ECH_U32, 0, NULL, &bytes), ECH_OK);
    CHECK_INT(out[3], 77);
    CHECK_STATUS(ech_merge_many(ctx, NULL, NULL, NULL, 0, 0, ECH_U32, ECH_U32, NULL), ECH_OK);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        for (size_t block = 1; block < 9000; block += 857) unsorted(contexts[i], block);
        bad_offsets(contexts[i], "rounds");
        bad_offsets(contexts[i], "sort");
        bad(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
