/*
 * test_quantile.c - ech_nth_element(), ech_partition_at() and ech_quantiles(), compared with an
 * oracle, on every device and with every algorithm.
 *
 *     test_quantile                            every case on every device
 *     test_quantile --device simt --quick      some of the cases, only small ones
 *     test_quantile 'nth(f32'                  cases with this prefix
 *
 * The oracle sorts positions as that of test_sort does.  Its quantiles are formulas of their own;
 * quantiles of a few numbers are compared with those that NumPy returned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The cases ---- */

static const size_t sizes[] = { 1,    2,     31,    33,     1000,   4097,
                                8192, 16385, 70000, 131103, 300007, 1000003 };
static const char *const dists[] = { "random", "few",     "constant", "sorted",
                                     "zipf",   "special", "ties",     "reversed" };
static const ech_dtype indices[] = { ECH_U32, ECH_I64, ECH_I32, ECH_U64 };
static const size_t counts[] = { 1, 2, 1, 5, 3, 40, 1, 14, 15, 8, 2, 7, 127, 16, 17 };

enum {
    SIZES = sizeof sizes / sizeof *sizes,
    DISTS = sizeof dists / sizeof *dists,
    COUNTS = sizeof counts / sizeof *counts,
    SMALL = 20000,
    LARGE = 200000,
    ALGORITHMS = 5,
    DEVICES = 16
};

static struct quantile_data data; /* of the present dtype, n and distribution, made if needed */

static void cases(void (*run)(const struct quantile_case *))
{
    static const char *const outputs[] = { "v", "vi", "i" };
    unsigned k = 0;
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (size_t n = 0; n < SIZES; n++)
            for (size_t d = 0; d < DISTS; d++, k++) {
                if (((size_t)t + d) % (sizes[n] > LARGE ? 4 : sizes[n] > SMALL ? 2 : 1) != 0)
                    continue; /* every type and every distribution, but not all pairs */
                data_free(&data);
                struct quantile_case c = { .dtype = (ech_dtype)t, .n = sizes[n], .dist = dists[d] };
                c.index_dtype = indices[k % 4];
                c.outputs = outputs[k % 3];
                c.call = ECH_QUANTILE_CALL_NTH, c.count = 1;
                run(&c);
                c.call = ECH_QUANTILE_CALL_PARTITION, c.count = counts[k % COUNTS];
                c.outputs = outputs[(k + 1) % 3];
                run(&c);
                if (k % 16 == 0) {
                    c.count = 0;
                    run(&c);
                }
                c.call = ECH_QUANTILE_CALL_QUANTILES, c.count = counts[k / 3 % COUNTS];
                c.outputs = "v";
                c.method = (ech_quantile_method)(k % 13);
                run(&c);
                c.method = (ech_quantile_method)(k * 5 % 13);
                c.ignore_nan = true;
                run(&c);
            }
    static const size_t few[] = { 10, 64, 200, 511 }; /* elements without positions, on the CPU */
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (size_t n = 0; n < 4; n++)
            for (size_t d = 0; d < DISTS; d++) {
                data_free(&data);
                run(&(struct quantile_case){ .dtype = (ech_dtype)t,
                                             .n = few[n],
                                             .dist = dists[d],
                                             .index_dtype = ECH_U32,
                                             .outputs = "v",
                                             .call = ECH_QUANTILE_CALL_NTH,
                                             .count = 1 });
            }
}

static void case_id(const struct quantile_case *c, char *text, size_t bytes)
{
    static const char *const names[] = { "nth", "partition", "quantiles" };
    const bool quantiles = c->call == ECH_QUANTILE_CALL_QUANTILES;
    snprintf(text, bytes, "%s(%s,n=%zu,dist=%s,count=%zu,out=%s%s%s", names[c->call],
             ech_dtype_name(c->dtype), c->n, c->dist, c->count, c->outputs,
             quantiles ? "" : ",index=", quantiles ? "" : ech_dtype_name(c->index_dtype));
    if (quantiles)
        snprintf(text + strlen(text), bytes - strlen(text), ",method=%d%s", (int)c->method,
                 c->ignore_nan ? ",ignore" : "");
    snprintf(text + strlen(text), bytes - strlen(text), ")");
}

/* ---- A run ---- */

static ech_status call(ech_ctx *ctx, const struct quantile_case *c, const struct expected *e,
                       const struct quantile_arrays *a, const ech_quantile_options *o)
{
    void *out = strchr(c->outputs, 'v') ? a->out.data : NULL;
    void *index = strchr(c->outputs, 'i') ? a->index.data : NULL;
    const ech_quantile_options none = { .size = sizeof none };
    if (o && memcmp(o, &none, sizeof none) == 0)
        o = NULL; /* short calls have a path of their own */
    if (c->call == ECH_QUANTILE_CALL_NTH)
        return ech_nth_element(ctx, a->in.data, out, index, c->n, (size_t)e->ranks[0], c->dtype,
                               c->index_dtype, o);
    if (c->call == ECH_QUANTILE_CALL_PARTITION)
        return ech_partition_at(ctx, a->in.data, out, index, c->n, e->ranks, c->count, c->dtype,
                                c->index_dtype, o);
    return ech_quantiles(ctx, a->in.data, out, e->q, c->n, c->count, c->dtype, c->method, o);
}

/* Compares an output; the message has the first element that differs. */
static void compare(const struct buffer *b, bool wanted, const void *expected, size_t n,
                    size_t bytes, const char *name)
{
    char *got = malloc(b->bytes + 1);
    buffer_check_guards(b, name);
    if (CHECK(got) && wanted && buffer_get(b, got) && memcmp(got, expected, n * bytes) != 0)
        for (size_t i = 0; i < n; i++)
            if (memcmp(got + i * bytes, (const char *)expected + i * bytes, bytes) != 0) {
                test_fail(__FILE__, __LINE__, "%s[%zu] is wrong, of %zu", name, i, n);
                break;
            }
    free(got);
}

static void check(const struct quantile_case *c, const struct quantile_arrays *a,
                  const struct expected *e)
{
    compare(&a->in, true, e->keys, c->n, ech_dtype_bytes(c->dtype), "in");
    compare(&a->out, strchr(c->outputs, 'v'), e->out, e->outputs, e->out_bytes, "out");
    compare(&a->index, strchr(c->outputs, 'i'), e->index, e->outputs,
            ech_dtype_bytes(c->index_dtype), "index");
}

/* Also checks that a workspace which is one byte too small is rejected. */
static bool give_work(ech_ctx *ctx, const struct quantile_case *c, const struct expected *e,
                      struct quantile_arrays *a, ech_quantile_options *o)
{
    const size_t count = c->call == ECH_QUANTILE_CALL_QUANTILES ? c->count : e->distinct;
    size_t bytes = 0;
    if (!CHECK_STATUS(
            ech_quantile_workspace(ech_device_name(ctx), c->call, c->n, count, c->dtype, o, &bytes),
            ECH_OK) ||
        !buffer_make(&a->work, test_is_cpu(ctx) ? NULL : ctx, bytes, 0))
        return false;
    if (!bytes) return true;
    o->work = a->work.data;
    o->work_bytes = bytes - 1;
    if (c->call != ECH_QUANTILE_CALL_PARTITION) /* of which fewer ranks may need more */
        CHECK_STATUS(call(ctx, c, e, a, o), ECH_ERR_MEMORY);
    o->work_bytes = bytes;
    return true;
}

static void run_with(ech_ctx *ctx, const struct quantile_case *c, const struct expected *e,
                     uint64_t seed, int which)
{
    static const char *const algorithms[ALGORITHMS] = { NULL, "select", "sort", "select_ids",
                                                        "sort_ids" };
    const size_t bytes = ech_dtype_bytes(c->dtype), index = ech_dtype_bytes(c->index_dtype);
    const bool cpu = test_is_cpu(ctx), work = seed / 4 % 3 != 0;
    ech_ctx *place = cpu || seed % 4 == 0 ? NULL : ctx;
    ech_quantile_options o = { .size = sizeof o,
                               .nan = c->ignore_nan ? ECH_NAN_IGNORE : ECH_NAN_PROPAGATE,
                               .algorithm = algorithms[which] };
    const bool twice = c->n <= 1000 || seed / 768 % ALGORITHMS == (uint64_t)which;
    struct quantile_arrays a = { 0 };
    if (cpu) ech_set_threads(ctx, (int)(seed / 12 % 4));
    if (buffer_make(&a.in, place, c->n * bytes, seed / 48 % 4 * bytes) &&
        buffer_set(&a.in, e->keys) &&
        buffer_make(&a.out, place, e->outputs * e->out_bytes, seed / 192 % 2 * e->out_bytes) &&
        buffer_make(&a.index, place, e->outputs * index, seed / 384 % 2 * index) &&
        (!work || give_work(ctx, c, e, &a, &o))) {
        for (int i = 0; i < (twice ? 2 : 1); i++)
            if (test_check_status(__FILE__, __LINE__, "the call", call(ctx, c, e, &a, &o), ECH_OK,
                                  ctx) &&
                CHECK_STATUS(ech_sync(ctx), ECH_OK))
                check(c, &a, e);
        if (a.work.base) buffer_check_guards(&a.work, "work");
    }
    struct buffer *all[] = { &a.in, &a.out, &a.index, &a.work };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->base) buffer_free(all[i]);
    ech_set_threads(ctx, 0);
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct quantile_case *c)
{
    char id[256];
    struct expected e = { .keys = NULL };
    case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    if (!test_drawn(seed, c->n <= SMALL) || !test_begin("%s", id)) return;
    const uint64_t data_seed = hash_text(c->dist) + c->n * 16 + (uint64_t)c->dtype;
    if (CHECK(data.keys || data_make(c, data_seed, &data)) && CHECK(expect(c, &data, seed, &e)))
        for (int i = 0; i < n_contexts; i++) {
            const bool parts = c->call == ECH_QUANTILE_CALL_PARTITION && !test_is_cpu(contexts[i]);
            const int algorithms = parts ? ALGORITHMS : ALGORITHMS - 2;
            for (int k = 0; k < algorithms; k++) run_with(contexts[i], c, &e, seed, k);
        }
    free_expected(&e);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    cases(run_case);
    data_free(&data);
    for (int i = 0; i < n_contexts; i++) {
        quantile_bad(contexts[i]);
        quantile_known(contexts[i]);
        quantile_sampled(contexts[i]);
        quantile_misled(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
