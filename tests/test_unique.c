/*
 * test_unique.c - ech_unique_all() and ech_mode(), compared with an oracle, on every device.
 *
 *     test_unique                            every case on every device
 *     test_unique --device simt --quick      some of the cases, only small ones
 *     test_unique 'mode(f32'                 cases with this prefix
 *
 * The oracle sorts positions as that of test_sort does, and compares neighbours by its own
 * definition of equality.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unique_case {
    ech_dtype dtype;
    size_t n;
    const char *dist;    /* a name in keys.c */
    const char *outputs; /* v: values, f: first, i: inverse, c: counts */
    bool mode, appearance;
    ech_dtype index_dtype;
};

/* ---- The cases ---- */

static const size_t sizes[] = { 0, 1, 2, 33, 1000, 5003, 8192, 16385, 65536, 131103, 1000003 };
static const char *const dists[] = { "random", "few",     "constant", "sorted",
                                     "zipf",   "special", "ties",     "reversed" };
static const char *const outputs[] = { "vfic", "vc", "v", "i", "fc", "c", "f", "vi", "ic", "" };
static const ech_dtype indices[] = { ECH_U32, ECH_I64, ECH_I32, ECH_U64 };

enum {
    SIZES = sizeof sizes / sizeof *sizes,
    DISTS = sizeof dists / sizeof *dists,
    OUTPUTS = sizeof outputs / sizeof *outputs,
    SMALL = 20000,
    DEVICES = 16
};

static void cases(void (*run)(const struct unique_case *))
{
    unsigned k = 0;
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (size_t n = 0; n < SIZES; n++)
            for (size_t d = 0; d < DISTS; d++) {
                struct unique_case c = { .dtype = (ech_dtype)t, .n = sizes[n], .dist = dists[d] };
                for (int appearance = 0; appearance < 2; appearance++, k++) {
                    c.outputs = outputs[k / 2 % OUTPUTS];
                    c.index_dtype = indices[k / 3 % 4];
                    c.appearance = appearance;
                    run(&c);
                }
                c = (struct unique_case){ .dtype = c.dtype, .n = c.n, .dist = c.dist };
                c.mode = true;
                c.outputs = k % 5 ? "v" : "";
                run(&c);
            }
    static const size_t few[] = { 10, 17, 64, 100 }; /* values only, on the CPU */
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (size_t n = 0; n < 4; n++)
            for (size_t d = 0; d < DISTS; d++)
                run(&(struct unique_case){ .dtype = (ech_dtype)t,
                                           .n = few[n],
                                           .dist = dists[d],
                                           .outputs = "v",
                                           .index_dtype = ECH_U32 });
}

static void case_id(const struct unique_case *c, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s(%s,n=%zu,dist=%s,out=%s%s%s%s)", c->mode ? "mode" : "unique",
             ech_dtype_name(c->dtype), c->n, c->dist, c->outputs,
             c->appearance ? ",appearance" : "",
             c->mode ? "" : ",index=", c->mode ? "" : ech_dtype_name(c->index_dtype));
}

/* ---- The oracle ---- */

static uint64_t key_at(const void *keys, size_t bytes, size_t i)
{
    uint64_t u = 0;
    memcpy(&u, (const char *)keys + i * bytes, bytes);
    return u;
}

/* The bits of positive infinity; 0: not a float. */
static uint64_t infinity_of(ech_dtype dtype)
{
    if (dtype == ECH_F16) return 0x7c00;
    if (dtype == ECH_BF16) return 0x7f80;
    if (dtype == ECH_F32) return 0x7f800000;
    return dtype == ECH_F64 ? 0x7ff0000000000000 : 0;
}

static bool equal(ech_dtype dtype, uint64_t a, uint64_t b)
{
    const uint64_t infinity = infinity_of(dtype);
    const uint64_t magnitude = ((uint64_t)1 << (8 * ech_dtype_bytes(dtype) - 1)) - 1;
    if (a == b) return true;
    if (!infinity) return false;
    if ((a & magnitude) > infinity) return (b & magnitude) > infinity;
    return !(a & magnitude) && !(b & magnitude);
}

struct expected {
    char *keys;
    size_t count;
    char *values;
    uint64_t *first, *inverse, *counts;
    uint64_t mode_count;
    size_t mode_first;
};

static void free_expected(struct expected *e)
{
    free(e->keys);
    free(e->values);
    free(e->first);
    free(e->inverse);
    free(e->counts);
}

/* The number of each run in order of appearance: their first positions, counted. */
static void renumber(struct expected *e, size_t n, uint64_t *rank)
{
    size_t found = 0;
    uint64_t *first = malloc((n + 1) * sizeof *first), *counts = malloc((n + 1) * sizeof *counts);
    for (size_t p = 0; p < n && CHECK(first && counts); p++) {
        const uint64_t r = e->inverse[p];
        if (e->first[r] != p) continue;
        rank[r] = found;
        first[found] = p;
        counts[found++] = e->counts[r];
    }
    for (size_t p = 0; p < n; p++) e->inverse[p] = rank[e->inverse[p]];
    free(e->first);
    free(e->counts);
    e->first = first;
    e->counts = counts;
}

static bool expect(const struct unique_case *c, uint64_t seed, struct expected *e)
{
    const size_t n = c->n, bytes = ech_dtype_bytes(c->dtype);
    const struct sort_case s = {
        .dtype = c->dtype, .n = n, .index_bytes = 4, .value_bytes = 4, .dist = c->dist
    };
    uint32_t *order = malloc((n + 1) * sizeof *order);
    uint64_t *rank = malloc((n + 1) * sizeof *rank);
    *e = (struct expected){ .keys = malloc(n * bytes + 1),
                            .values = malloc(n * bytes + 1),
                            .first = malloc((n + 1) * sizeof *e->first),
                            .inverse = malloc((n + 1) * sizeof *e->inverse),
                            .counts = malloc((n + 1) * sizeof *e->counts) };
    bool made = order && rank && e->keys && e->values && e->first && e->inverse && e->counts;
    made = made && (n == 0 || (keys_fill(&s, seed, e->keys) && oracle_order(&s, e->keys, order)));
    for (size_t i = 0; made && i < n; i++) {
        const uint64_t key = key_at(e->keys, bytes, order[i]);
        if (i == 0 || !equal(c->dtype, key, key_at(e->keys, bytes, order[i - 1]))) {
            e->first[e->count] = order[i];
            e->counts[e->count++] = 0;
        }
        e->inverse[order[i]] = e->count - 1;
        if (++e->counts[e->count - 1] <= e->mode_count) continue;
        e->mode_count++;
        e->mode_first = (size_t)e->first[e->count - 1];
    }
    if (made && c->appearance) renumber(e, n, rank);
    for (size_t r = 0; made && r < e->count; r++)
        memcpy(e->values + r * bytes, e->keys + e->first[r] * bytes, bytes);
    free(order);
    free(rank);
    return made;
}

/* ---- A run ---- */

struct arrays {
    struct buffer in, count, values, first, inverse, counts, work;
};

static bool wants(const struct unique_case *c, char output)
{
    return strchr(c->outputs, output) != NULL;
}

static ech_status call(ech_ctx *ctx, const struct unique_case *c, const struct arrays *a,
                       const ech_unique_options *o)
{
    uint64_t *count = (uint64_t *)(void *)a->count.data;
    void *values = wants(c, 'v') ? a->values.data : NULL;
    const ech_unique_options none = { .size = sizeof none };
    if (o && memcmp(o, &none, sizeof none) == 0)
        o = NULL; /* short calls have a path of their own */
    if (c->mode) return ech_mode(ctx, a->in.data, values, count, c->n, c->dtype, o);
    return ech_unique_all(ctx, a->in.data, values, wants(c, 'f') ? a->first.data : NULL,
                          wants(c, 'i') ? a->inverse.data : NULL,
                          wants(c, 'c') ? (uint64_t *)(void *)a->counts.data : NULL, count, c->n,
                          c->dtype, c->index_dtype, o);
}

/* Compares the first n elements of an output that is needed; the others are unspecified. */
static void compare(const struct buffer *b, bool wanted, const void *expected, size_t n,
                    size_t bytes, const char *name)
{
    char *got = malloc(b->bytes + 1);
    buffer_check_guards(b, name);
    if (CHECK(got) && wanted && buffer_get(b, got))
        for (size_t i = 0; i < n; i++)
            if (memcmp(got + i * bytes, (const char *)expected + i * bytes, bytes) != 0) {
                test_fail(__FILE__, __LINE__, "%s[%zu] is wrong, of %zu", name, i, n);
                break;
            }
    free(got);
}

static void compare_index(const struct buffer *b, bool wanted, const uint64_t *expected, size_t n,
                          ech_dtype dtype, const char *name)
{
    void *array = n ? index_array(expected, n, dtype) : NULL;
    if (n == 0 || CHECK(array)) compare(b, wanted, array, n, ech_dtype_bytes(dtype), name);
    free(array);
}

static void check(const struct unique_case *c, const struct arrays *a, const struct expected *e)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    const uint64_t count = c->mode ? e->mode_count : e->count;
    compare(&a->count, true, &count, 1, sizeof count, "count");
    compare(&a->in, true, e->keys, c->n, bytes, "in");
    if (c->mode) {
        compare(&a->values, wants(c, 'v'), e->keys + e->mode_first * bytes, c->n > 0, bytes,
                "value");
        return;
    }
    compare(&a->values, wants(c, 'v'), e->values, e->count, bytes, "values");
    compare_index(&a->first, wants(c, 'f'), e->first, e->count, c->index_dtype, "first");
    compare_index(&a->inverse, wants(c, 'i'), e->inverse, c->n, c->index_dtype, "inverse");
    compare(&a->counts, wants(c, 'c'), e->counts, e->count, sizeof *e->counts, "counts");
}

/* Also checks that a workspace which is one byte too small is rejected. */
static bool give_work(ech_ctx *ctx, const struct unique_case *c, struct arrays *a,
                      ech_unique_options *o)
{
    const bool keys = !wants(c, 'f') && !wants(c, 'i');
    const ech_unique_call which = c->mode ? ECH_UNIQUE_CALL_MODE
                                  : keys  ? ECH_UNIQUE_CALL_VALUES
                                          : ECH_UNIQUE_CALL_ALL;
    size_t bytes = 0;
    if (!CHECK_STATUS(ech_unique_workspace(ech_device_name(ctx), which, c->n, c->dtype, o, &bytes),
                      ECH_OK) ||
        !buffer_make(&a->work, test_is_cpu(ctx) ? NULL : ctx, bytes, 0))
        return false;
    if (!bytes) return true;
    o->work = a->work.data;
    o->work_bytes = bytes - 1;
    if (strcmp(c->outputs, c->mode ? "v" : "vfic") == 0) /* others may need less */
        CHECK_STATUS(call(ctx, c, a, o), ECH_ERR_MEMORY);
    o->work_bytes = bytes;
    return true;
}

static void run_on(ech_ctx *ctx, const struct unique_case *c, const struct expected *e,
                   uint64_t seed)
{
    const size_t bytes = ech_dtype_bytes(c->dtype), index = ech_dtype_bytes(c->index_dtype);
    const size_t values = c->mode ? 1 : c->n, n = c->mode ? 0 : c->n;
    const bool cpu = test_is_cpu(ctx), work = seed / 4 % 3 != 0;
    ech_ctx *place = cpu || seed % 4 == 0 ? NULL : ctx;
    ech_unique_options o = { .size = sizeof o, .appearance = c->appearance };
    struct arrays a = { 0 };
    if (cpu) ech_set_threads(ctx, (int)(seed / 12 % 4));
    if (buffer_make(&a.in, place, c->n * bytes, seed / 48 % 4 * bytes) &&
        buffer_set(&a.in, e->keys) && buffer_make(&a.count, place, 8, seed / 192 % 2 * 8) &&
        buffer_make(&a.values, place, values * bytes, seed / 384 % 2 * bytes) &&
        buffer_make(&a.first, place, n * index, seed / 768 % 2 * index) &&
        buffer_make(&a.inverse, place, n * index, seed / 1536 % 2 * index) &&
        buffer_make(&a.counts, place, n * 8, seed / 3072 % 2 * 8) &&
        (!work || give_work(ctx, c, &a, &o))) {
        for (int twice = 0; twice < 2; twice++)
            if (test_check_status(__FILE__, __LINE__, "the call", call(ctx, c, &a, &o), ECH_OK,
                                  ctx) &&
                CHECK_STATUS(ech_sync(ctx), ECH_OK))
                check(c, &a, e);
        if (a.work.base) buffer_check_guards(&a.work, "work");
    }
    struct buffer *all[] = { &a.in, &a.count, &a.values, &a.first, &a.inverse, &a.counts, &a.work };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->base) buffer_free(all[i]);
    ech_set_threads(ctx, 0);
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct unique_case *c)
{
    char id[256];
    struct expected e;
    case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    if (!test_drawn(seed, c->n <= SMALL) || !test_begin("%s", id)) return;
    if (CHECK(expect(c, seed, &e)))
        for (int i = 0; i < n_contexts; i++) run_on(contexts[i], c, &e, seed);
    free_expected(&e);
    test_end();
}

/* ---- Calls that fail ---- */

static void bad(ech_ctx *ctx)
{
    static uint32_t in[9], out[9], index[9], inverse[9];
    static uint64_t counts[9];
    uint64_t count[2] = { 77, 77 };
    uint64_t *odd_count = (uint64_t *)(void *)((char *)count + 4);
    void *odd = (char *)out + 2;
    ech_unique_options o = { .size = sizeof o };
    size_t bytes;
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_unique_all(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    CHECK_FAILS(
        NULL,
        ech_unique_all(NULL, in, out, index, inverse, counts, count, 8, ECH_U32, ECH_U32, NULL),
        ECH_ERR_ARG, "ctx");
    REFUSED("in is NULL", NULL, out, index, inverse, counts, count, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("count is NULL", in, out, index, inverse, counts, NULL, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("count is NULL", in, NULL, NULL, NULL, NULL, NULL, 0, ECH_U32, ECH_U32, NULL);
    REFUSED("values is not aligned", in, odd, index, inverse, counts, count, 8, ECH_U32, ECH_U32,
            NULL);
    REFUSED("first is not aligned", in, out, odd, inverse, counts, count, 8, ECH_U32, ECH_U32,
            NULL);
    REFUSED("inverse is not aligned", in, out, index, odd, counts, count, 8, ECH_U32, ECH_U32,
            NULL);
    REFUSED("count is not aligned", in, out, index, inverse, counts, odd_count, 8, ECH_U32, ECH_U32,
            NULL);
    REFUSED("overlap", in, in, index, inverse, counts, count, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("overlap", in, out, index, index, counts, count, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("dtype", in, out, index, inverse, counts, count, 8, (ech_dtype)12, ECH_U32, NULL);
    REFUSED("index_dtype", in, out, index, inverse, counts, count, 8, ECH_U32, ECH_F32, NULL);
    REFUSED("index_dtype", in, NULL, index, NULL, NULL, count, (size_t)1 << 33, ECH_U8, ECH_U32,
            NULL);
    REFUSED("n is", in, out, index, inverse, counts, count, SIZE_MAX / 2, ECH_U32, ECH_U64, NULL);
    o.appearance = 2;
    REFUSED("appearance is 2", in, out, index, inverse, counts, count, 8, ECH_U32, ECH_U32, &o);
    o.appearance = 0, o.size = 7;
    REFUSED("ech_unique_options", in, out, index, inverse, counts, count, 8, ECH_U32, ECH_U32, &o);
    o.size = sizeof o, o.work_bytes = 1;
    REFUSED("work", in, out, index, inverse, counts, count, 8, ECH_U32, ECH_U32, &o);
    o.work_bytes = 0;
#undef REFUSED
    CHECK_FAILS(ctx, ech_mode(ctx, NULL, out, count, 8, ECH_U32, NULL), ECH_ERR_ARG, "in is NULL");
    CHECK_FAILS(ctx, ech_mode(ctx, in, odd, count, 8, ECH_U32, NULL), ECH_ERR_ARG,
                "value is not aligned");
    CHECK_FAILS(ctx, ech_mode(ctx, in, in, count, 8, ECH_U32, NULL), ECH_ERR_ARG, "overlap");
    CHECK_FAILS(ctx, ech_mode(ctx, in, out, NULL, 8, ECH_U32, NULL), ECH_ERR_ARG, "count is NULL");
    CHECK_FAILS(NULL, ech_unique_workspace("cpu", (ech_unique_call)3, 8, ECH_U32, NULL, &bytes),
                ECH_ERR_ARG, "call is 3");
    CHECK_FAILS(NULL, ech_unique_workspace("cpu", ECH_UNIQUE_CALL_ALL, 8, ECH_U32, NULL, NULL),
                ECH_ERR_ARG, "bytes");
    CHECK_FAILS(NULL,
                ech_unique_workspace("cpu", ECH_UNIQUE_CALL_ALL, 8, (ech_dtype)12, NULL, &bytes),
                ECH_ERR_ARG, "dtype");
    CHECK_INT(count[0], 77);
    CHECK_INT(count[1], 77);
    CHECK_STATUS(ech_mode(ctx, NULL, NULL, count, 0, ECH_F64, NULL), ECH_OK);
    CHECK_INT(count[0], 0);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        bad(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
