/*
 * test_merge.c - ech_merge() and ech_merge_pairs(), compared with an oracle, on every device.
 *
 *     test_merge 'merge(f32,n=4352+1'             cases with this prefix
 *
 * The oracle is the stable sort of tests/oracle.c: of the two inputs one after the other, it is
 * their merge.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, QUICK = 20000 };

struct merge_case {
    struct sort_case sort; /* n: of both inputs */
    size_t n_a, n_b;
};

/* ---- The cases ---- */

/* Tiles have 4352 elements (keys of 64 bits: 2816), parts of the CPU 16384. */
static const size_t sizes[][2] = {
    { 0, 0 },    { 0, 1 },       { 1, 0 },       { 1, 1 },       { 2, 1 },       { 0, 37 },
    { 33, 0 },   { 17, 31 },     { 2816, 1 },    { 2815, 2 },    { 1408, 1408 }, { 4352, 0 },
    { 4351, 2 }, { 1, 4351 },    { 0, 4353 },    { 4352, 4352 }, { 2815, 2816 }, { 1, 9001 },
    { 9001, 1 }, { 5000, 7777 }, { 8192, 8192 }, { 8191, 8194 }, { 16384, 200 }, { 70001, 50003 }
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void case_id(const struct merge_case *c, char *text, size_t capacity_bytes)
{
    snprintf(text, capacity_bytes, "merge(%s,n=%zu+%zu,v=%zu%s%s,dist=%s)",
             ech_dtype_name(c->sort.dtype), c->n_a, c->n_b, c->sort.value_bytes,
             c->sort.descending ? ",desc" : "", c->sort.total ? ",total" : "", c->sort.dist);
}

static void cases(void (*run)(const struct merge_case *))
{
    static const char *const dists[] = { "random", "few", "special", "constant", "halved" };
    static const size_t values[] = { 0, 4, 1, 8, 0, 2, 16, 12, 3, 80, 1040 };
    size_t number = 0;
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (int s = 0; s < SIZES; s++)
            for (int d = 0; d < 5; d++)
                for (int k = 0; k < 2; k++, number++) {
                    const size_t bytes = values[(number + number / 11) % 11];
                    run(&(struct merge_case){ .sort = { .dtype = (ech_dtype)t,
                                                        .n = sizes[s][0] + sizes[s][1],
                                                        .value_bytes = k ? bytes : 0,
                                                        .descending = number / 2 % 2,
                                                        .total = number / 3 % 3 == 0,
                                                        .dist = dists[d] },
                                              .n_a = sizes[s][0],
                                              .n_b = sizes[s][1] });
                }
    /* Few keys, which the CPU merges by comparisons. */
    static const size_t few[][2] = { { 5, 5 }, { 15, 18 }, { 9, 1 }, { 3, 30 }, { 32, 32 } };
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (int s = 0; s < 5; s++)
            for (int d = 0; d < 5; d++)
                run(&(struct merge_case){
                    .sort = { .dtype = (ech_dtype)t, .n = few[s][0] + few[s][1], .dist = dists[d] },
                    .n_a = few[s][0],
                    .n_b = few[s][1] });
}

/* ---- Data ---- */

struct data {
    const struct merge_case *c;
    size_t key_bytes, value_bytes;
    char *keys[2], *values[2], *keys_out, *values_out; /* the outputs: expected */
};

static void *make(size_t bytes)
{
    return calloc(bytes + 16, 1);
}

/* Sorts from, of which n keys are in use, by the oracle; order receives the positions. */
static bool sort_part(const struct merge_case *c, size_t n, const char *from, char *to,
                      uint32_t *order)
{
    struct sort_case part = c->sort;
    const size_t bytes = ech_dtype_bytes(part.dtype);
    part.n = n;
    part.value_bytes = 4; /* stable: equal keys are equal */
    if (n && !oracle_order(&part, from, order)) return false;
    for (size_t i = 0; i < n; i++) memcpy(to + i * bytes, from + order[i] * bytes, bytes);
    return true;
}

static bool make_data(const struct merge_case *c, uint64_t seed, struct data *d)
{
    const size_t n = c->sort.n, key = d->key_bytes, value = d->value_bytes;
    struct rng rng = { seed };
    char *random = make(n * key), *both = make(n * key), *values = make(n * value);
    uint32_t *order = make(4 * n);
    bool good = random && both && values && order;
    if (good && n) good = keys_fill(&c->sort, seed, random);
    good = good && sort_part(c, c->n_a, random, both, order) &&
           sort_part(c, c->n_b, random + c->n_a * key, both + c->n_a * key, order);
    for (int i = 0; i < 2 && good; i++) {
        d->keys[i] = make((i ? c->n_b : c->n_a) * key);
        d->values[i] = make((i ? c->n_b : c->n_a) * value);
    }
    d->keys_out = make(n * key);
    d->values_out = make(n * value);
    if (good) {
        for (size_t i = 0; i < n * value; i++) values[i] = (char)rng_next(&rng);
        memcpy(d->keys[0], both, c->n_a * key);
        memcpy(d->keys[1], both + c->n_a * key, c->n_b * key);
        memcpy(d->values[0], values, c->n_a * value);
        memcpy(d->values[1], values + c->n_a * value, c->n_b * value);
        good = sort_part(c, n, both, d->keys_out, order);
        for (size_t i = 0; i < n; i++)
            memcpy(d->values_out + i * value, values + order[i] * value, value);
    }
    free(random);
    free(both);
    free(values);
    free(order);
    return good;
}

/* ---- One case on one device ---- */

static ech_merge_options options_of(const struct merge_case *c)
{
    return (ech_merge_options){ .size = sizeof(ech_merge_options),
                                .descending = c->sort.descending,
                                .order = c->sort.total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST };
}

static ech_status call(ech_ctx *ctx, const struct data *d, struct buffer *b,
                       const ech_merge_options *o)
{
    const struct merge_case *c = d->c;
    const ech_merge_options none = { .size = sizeof none };
    if (o && memcmp(o, &none, sizeof none) == 0)
        o = NULL; /* short calls have a path of their own */
    if (d->value_bytes)
        return ech_merge_pairs(ctx, b[0].data, b[1].data, b[2].data, b[3].data, b[4].data,
                               b[5].data, c->n_a, c->n_b, c->sort.dtype, d->value_bytes, o);
    return ech_merge(ctx, b[0].data, b[2].data, b[4].data, c->n_a, c->n_b, c->sort.dtype, o);
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

static void run_on(ech_ctx *ctx, const struct data *d, uint64_t seed)
{
    static const char *const names[] = { "a", "a_values", "b", "b_values", "out", "values_out" };
    static const int threads[] = { 1, 2, 7 };
    const struct merge_case *c = d->c;
    const size_t n[3] = { c->n_a, c->n_b, c->sort.n };
    const void *const from[6] = { d->keys[0],   d->values[0], d->keys[1],
                                  d->values[1], d->keys_out,  d->values_out };
    struct buffer b[7];
    ech_merge_options o = options_of(c);
    const bool cpu = test_is_cpu(ctx);
    const size_t align = d->value_bytes & (~d->value_bytes + 1); /* of a value in GPU memory */
    bool good = true;
    memset(b, 0, sizeof b);
    if (cpu) ech_set_threads(ctx, threads[seed / 64 % 3]);
    if (!cpu && d->key_bytes <= 2 && !d->value_bytes && seed / 32 % 2) o.algorithm = "table";
    for (int i = 0; i < 6 && good; i++) {
        const bool host = cpu || (seed >> i) % 5 == 0;
        const size_t unit = i % 2 == 0 ? d->key_bytes : host ? 1 : align;
        good = buffer_make(&b[i], host ? NULL : ctx,
                           n[i / 2] * (i % 2 ? d->value_bytes : d->key_bytes),
                           (seed >> 2 * i) % 4 * unit) &&
               (i > 3 || buffer_set(&b[i], from[i]));
    }
    if (good && seed / 16 % 2) {
        size_t bytes = 0;
        CHECK_STATUS(ech_merge_workspace(ech_device_name(ctx), c->n_a, c->n_b, c->sort.dtype,
                                         d->value_bytes, &o, &bytes),
                     ECH_OK);
        good = buffer_make(&b[6], cpu ? NULL : ctx, bytes, 0);
        o.work = bytes ? b[6].data : NULL;
        o.work_bytes = bytes ? bytes - 1 : 0;
        if (good && bytes) CHECK_STATUS(call(ctx, d, b, &o), ECH_ERR_MEMORY);
        o.work_bytes = bytes;
    }
    if (good &&
        test_check_status(__FILE__, __LINE__, "a merge", call(ctx, d, b, &o), ECH_OK, ctx) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        for (int i = 0; i < 6; i++) compare(&b[i], from[i], names[i]);
        if (b[6].base) buffer_check_guards(&b[6], "work");
    }
    for (int i = 0; i < 7; i++)
        if (b[i].base) buffer_free(&b[i]);
    if (cpu) ech_set_threads(ctx, 0);
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct merge_case *c)
{
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
        if (CHECK(good)) run_on(contexts[i], &d, seed >> 8);
        test_end();
    }
    for (int i = 0; i < 2; i++) {
        free(d.keys[i]);
        free(d.values[i]);
    }
    free(d.keys_out);
    free(d.values_out);
}

/* ---- Inputs that are not sorted; bad calls ---- */

/* The call must not access other memory, and must write each element. Keys are equal in blocks of
 * `block` elements, so that boundaries of tiles are far out of order.  bytes: of a key. */
static void unsorted(ech_ctx *ctx, size_t block, size_t bytes)
{
    enum { N = 30001 };
    static char keys[2 * N * 4], out[2 * N * 4];
    const ech_merge_options o = { .size = sizeof o,
                                  .algorithm = bytes == 2 && !test_is_cpu(ctx) ? "table" : NULL };
    struct rng rng = { block };
    struct buffer b[3];
    uint32_t key = 0;
    int made = 0;
    if (!test_begin("unsorted(%s,block=%zu)", ech_device_name(ctx), block)) return;
    for (size_t i = 0; i < 2 * N; i++) {
        if (i % N % block == 0) key = (uint32_t)rng_next(&rng) | 0x10001;
        memcpy(keys + i * bytes, &key, bytes);
    }
    for (; made < 3; made++)
        if (!buffer_make(&b[made], test_is_cpu(ctx) ? NULL : ctx,
                         bytes * N * (size_t)(1 + made / 2), 4))
            break;
    memset(out, 0, sizeof out);
    if (made == 3 && buffer_set(&b[0], keys) && buffer_set(&b[1], keys + N * bytes) &&
        buffer_set(&b[2], out)) {
        CHECK_STATUS(ech_merge(ctx, b[0].data, b[1].data, b[2].data, N, N,
                               bytes == 2 ? ECH_U16 : ECH_U32, &o),
                     ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        if (buffer_get(&b[2], out))
            for (size_t i = 0; i < 2 * N * bytes && !test_failed(); i += bytes)
                CHECK(out[i] & 1); /* little-endian */
        buffer_check_guards(&b[2], "out");
    }
    while (made) buffer_free(&b[--made]);
    test_end();
}

/* So many tiles that their boundaries are searched between those of 32 (GPUs of up to 154
 * multiprocessors). Long ranges of keys of one array are without keys of the other. */
static void many_tiles(ech_ctx *ctx, bool sorted)
{
    const size_t n = strncmp(ech_device_name(ctx), "simt", 4) == 0 ? 400003 : 12000003;
    const size_t n_a = n / 3, n_b = n - n_a;
    struct rng rng = { sorted };
    struct buffer b[3];
    int made = 0;
    if (test_is_cpu(ctx)) return;
    if (!test_begin("many_tiles(%s,%s)", ech_device_name(ctx), sorted ? "sorted" : "unsorted"))
        return;
    uint32_t *keys = malloc(n * sizeof *keys), *out = calloc(n, sizeof *out), sum = 0;
    for (size_t i = 0; keys && i < n; i++) {
        const uint32_t r = (uint32_t)(rng_next(&rng) >> 40);
        if (i == n_a) sum = 0;
        sum = (i / 20000 % 3 ? sum + r % 4 : sum + r % 64 / 63 * (r % 200)) +
              (i == n_a / 2 ? 999 : 0);
        keys[i] = (sorted ? sum : (uint32_t)(i / 20000) * 0x9e3779b1u) | 0x80000000u;
    }
    for (; made < 3; made++)
        if (!buffer_make(&b[made], ctx, 4 * (made == 0 ? n_a : made == 1 ? n_b : n), 4)) break;
    if (keys && out && made == 3 && buffer_set(&b[0], keys) && buffer_set(&b[1], keys + n_a) &&
        buffer_set(&b[2], out)) {
        CHECK_STATUS(ech_merge(ctx, b[0].data, b[1].data, b[2].data, n_a, n_b, ECH_U32, NULL),
                     ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        if (buffer_get(&b[2], out))
            for (size_t i = 0, x = 0, y = n_a; i < n && !test_failed(); i++) {
                const bool take = y == n || (x < n_a && keys[x] <= keys[y]);
                const uint32_t key = take ? keys[x++] : keys[y++];
                if (sorted)
                    CHECK_INT(out[i], key);
                else
                    CHECK(out[i] >> 31); /* it was written */
            }
        buffer_check_guards(&b[2], "out");
    }
    while (made) buffer_free(&b[--made]);
    free(keys);
    free(out);
    test_end();
}

static void bad(ech_ctx *ctx)
{
    static uint32_t a[8], b[8], out[16], values[16], more[16];
    const void *odd = (const char *)a + 2;
    ech_merge_options o = { .size = sizeof o };
    size_t bytes;
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_merge(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    out[3] = 77;
    CHECK_FAILS(NULL, ech_merge(NULL, a, b, out, 8, 8, ECH_U32, NULL), ECH_ERR_ARG, "ctx");
    REFUSED("a is NULL", NULL, b, out, 8, 8, ECH_U32, NULL);
    REFUSED("b is NULL", a, NULL, out, 8, 8, ECH_U32, NULL);
    REFUSED("out is NULL", a, b, NULL, 8, 8, ECH_U32, NULL);
    REFUSED("a is not aligned", odd, b, out, 2, 8, ECH_U32, NULL);
    REFUSED("overlap", a, out + 4, out, 8, 8, ECH_U32, NULL);
    REFUSED("overlap", out, b, out, 8, 8, ECH_U32, NULL);
    REFUSED("dtype", a, b, out, 8, 8, (ech_dtype)12, NULL);
    REFUSED("n_a", a, b, out, SIZE_MAX / 2, 8, ECH_U32, NULL);
    REFUSED("n_b", a, b, out, 8, SIZE_MAX / 2, ECH_U32, NULL);
    REFUSED("n_a + n_b", a, b, out, SIZE_MAX / 9, SIZE_MAX / 9, ECH_U32, NULL);
    o.descending = 2;
    REFUSED("descending", a, b, out, 8, 8, ECH_U32, &o);
    o.descending = 0, o.order = (ech_order)2;
    REFUSED("order", a, b, out, 8, 8, ECH_U32, &o);
    o.order = ECH_ORDER_NAN_LAST, o.algorithm = "magic";
    REFUSED("magic", a, b, out, 8, 8, ECH_U32, &o);
    o.algorithm = "table"; /* for keys of 8 and 16 bits on GPUs */
    CHECK_FAILS(ctx, ech_merge(ctx, a, b, out, 8, 8, ECH_U32, &o), ECH_ERR_UNSUPPORTED, "table");
    o.algorithm = NULL, o.size = 7;
    REFUSED("ech_merge_options", a, b, out, 8, 8, ECH_U32, &o);
#undef REFUSED
    CHECK_FAILS(ctx, ech_merge_pairs(ctx, a, values, b, values, out, more, 8, 8, ECH_U32, 0, NULL),
                ECH_ERR_ARG, "value_bytes");
    CHECK_FAILS(ctx, ech_merge_pairs(ctx, a, NULL, b, values, out, more, 8, 8, ECH_U32, 4, NULL),
                ECH_ERR_ARG, "a_values is NULL");
    CHECK_FAILS(NULL, ech_merge_workspace("cpu", 8, 8, ECH_U32, 0, NULL, NULL), ECH_ERR_ARG,
                "bytes");
    CHECK_STATUS(ech_merge_workspace("cpu", 8, 8, ECH_U32, 0, NULL, &bytes), ECH_OK);
    CHECK_INT(out[3], 77);
    CHECK_STATUS(ech_merge(ctx, NULL, NULL, NULL, 0, 0, ECH_U32, NULL), ECH_OK);
    o = (ech_merge_options){ .size = sizeof o, .algorithm = "merge_path" };
    a[7] = 9;
    CHECK_STATUS(ech_merge(ctx, a, a, out, 8, 8, ECH_U32, &o), ECH_OK); /* b may be a */
    CHECK_INT(out[13], 0);
    CHECK_INT(out[14], 9);
    CHECK_INT(out[15], 9);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        for (size_t block = 1; block < 9000; block += 257)
            unsorted(contexts[i], block, block % 4 == 1 ? 2 : 4);
        many_tiles(contexts[i], true);
        many_tiles(contexts[i], false);
        bad(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
