/*
 * test_set.c - ech_set_operation() and ech_set_operation_pairs(), compared with an oracle, on every
 * device.
 *
 *     test_set 'union(f32,n=4352+1'             cases with this prefix
 *
 * The oracle sorts the two inputs, one after the other, by the stable sort of tests/oracle.c, and
 * counts equal elements by its own definition of equality.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, QUICK = 20000 };

struct set_case {
    struct sort_case sort; /* n: of both inputs */
    size_t n_a, n_b;
    ech_set operation;
    bool copies; /* half of b is copied from a */
};

static const char *const names[] = { "union", "intersection", "difference", "symmetric" };

/* ---- The cases ---- */

/* Tiles have 5887 elements (keys of 64 bits: 3839), parts of the CPU 16384. */
static const size_t sizes[][2] = {
    { 0, 0 },    { 0, 1 },       { 1, 0 },       { 1, 1 },       { 2, 1 },       { 0, 37 },
    { 33, 0 },   { 17, 31 },     { 3840, 1 },    { 3839, 2 },    { 1920, 1920 }, { 5888, 0 },
    { 5887, 2 }, { 1, 5887 },    { 0, 5889 },    { 5888, 5888 }, { 3839, 3840 }, { 1, 9001 },
    { 9001, 1 }, { 5000, 7777 }, { 8192, 8192 }, { 8191, 8194 }, { 16384, 200 }, { 70001, 50003 }
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void case_id(const struct set_case *c, char *text, size_t capacity_bytes)
{
    snprintf(text, capacity_bytes, "%s(%s,n=%zu+%zu,v=%zu%s%s%s,dist=%s)", names[c->operation],
             ech_dtype_name(c->sort.dtype), c->n_a, c->n_b, c->sort.value_bytes,
             c->sort.descending ? ",desc" : "", c->sort.total ? ",total" : "",
             c->copies ? ",copies" : "", c->sort.dist);
}

static void cases(void (*run)(const struct set_case *))
{
    static const char *const dists[] = { "random", "few", "special", "constant", "halved" };
    static const size_t values[] = { 0, 4, 1, 8, 0, 2, 16, 12, 3, 80, 1040 };
    size_t number = 0;
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (int s = 0; s < SIZES; s++)
            for (int d = 0; d < 5; d++)
                for (int k = 0; k < 4; k++, number++) {
                    const size_t bytes = values[(number + number / 11) % 11];
                    run(&(struct set_case){ .sort = { .dtype = (ech_dtype)t,
                                                      .n = sizes[s][0] + sizes[s][1],
                                                      .value_bytes = number / 7 % 2 ? bytes : 0,
                                                      .descending = number / 2 % 2,
                                                      .total = number / 3 % 3 == 0,
                                                      .dist = dists[d] },
                                            .n_a = sizes[s][0],
                                            .n_b = sizes[s][1],
                                            .operation = (ech_set)k,
                                            .copies = number / 5 % 2 });
                }
}

/* ---- Data ---- */

struct data {
    const struct set_case *c;
    size_t key_bytes, value_bytes;
    char *keys[2], *values[2], *keys_out, *values_out; /* the outputs: expected */
    uint64_t count;
};

/* The bits of positive infinity; 0: not a float. */
static uint64_t infinity_of(ech_dtype dtype)
{
    if (dtype == ECH_F16) return 0x7c00;
    if (dtype == ECH_BF16) return 0x7f80;
    if (dtype == ECH_F32) return 0x7f800000;
    return dtype == ECH_F64 ? 0x7ff0000000000000 : 0;
}

static bool equal(const struct set_case *c, const char *x, const char *y)
{
    const size_t bytes = ech_dtype_bytes(c->sort.dtype);
    const uint64_t infinity = c->sort.total ? 0 : infinity_of(c->sort.dtype);
    const uint64_t magnitude = ((uint64_t)1 << (8 * bytes - 1)) - 1;
    uint64_t a = 0, b = 0;
    memcpy(&a, x, bytes);
    memcpy(&b, y, bytes);
    if (a == b) return true;
    if (!infinity) return false;
    if ((a & magnitude) > infinity) return (b & magnitude) > infinity;
    return !(a & magnitude) && !(b & magnitude);
}

/* Which of m equal elements of a and of n of b are kept: count of each, from position `from` on. */
static void select_equal(ech_set operation, size_t m, size_t n, size_t from[2], size_t count[2])
{
    const size_t more_a = m > n ? m - n : 0, more_b = n > m ? n - m : 0;
    const size_t a[] = { m, m < n ? m : n, more_a, more_a }, b[] = { more_b, 0, 0, more_b };
    count[0] = a[operation];
    count[1] = b[operation];
    from[0] = operation < ECH_SET_DIFFERENCE ? 0 : m - count[0];
    from[1] = n - count[1];
}

/* order: the positions of the keys of both inputs, in order. */
static void expect(struct data *d, const char *both, const char *values, const uint32_t *order)
{
    const struct set_case *c = d->c;
    const size_t key = d->key_bytes, value = d->value_bytes;
    for (size_t i = 0, end; i < c->sort.n; i = end) {
        size_t count[2], from[2], m = 0;
        for (end = i; end < c->sort.n && equal(c, both + order[i] * key, both + order[end] * key);
             end++)
            m += order[end] < c->n_a;
        select_equal(c->operation, m, end - i - m, from, count);
        for (int part = 0; part < 2; part++)
            for (size_t k = 0; k < count[part]; k++, d->count++) {
                const uint32_t at = order[i + (part ? m : 0) + from[part] + k];
                memcpy(d->keys_out + d->count * key, both + at * key, key);
                memcpy(d->values_out + d->count * value, values + at * value, value);
            }
    }
}

static void *make(size_t bytes)
{
    return calloc(bytes + 16, 1);
}

/* Sorts from, of which n keys are in use, by the oracle; order receives the positions. */
static bool sort_part(const struct set_case *c, size_t n, const char *from, char *to,
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

static bool make_data(const struct set_case *c, uint64_t seed, struct data *d)
{
    const size_t n = c->sort.n, key = d->key_bytes, value = d->value_bytes;
    struct rng rng = { seed };
    char *random = make(n * key), *both = make(n * key), *values = make(n * value);
    uint32_t *order = make(4 * n);
    bool good = random && both && values && order;
    if (good && n) good = keys_fill(&c->sort, seed, random);
    for (size_t i = c->n_a; i < n && good && c->copies && c->n_a; i++)
        if (rng_below(&rng, 2))
            memcpy(random + i * key, random + rng_below(&rng, c->n_a) * key, key);
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
        good = d->keys_out && d->values_out && sort_part(c, n, both, d->keys_out, order);
        if (good) expect(d, both, values, order);
    }
    free(random);
    free(both);
    free(values);
    free(order);
    return good;
}

/* ---- One case on one device ---- */

static ech_set_options options_of(const struct set_case *c)
{
    return (ech_set_options){ .size = sizeof(ech_set_options),
                              .descending = c->sort.descending,
                              .order = c->sort.total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST };
}

/* The arrays of a call: keys and values of a, of b, and of the result; the count; the workspace. */
enum { COUNT = 6, WORK, BUFFERS };

static ech_status call(ech_ctx *ctx, const struct data *d, struct buffer *b,
                       const ech_set_options *o)
{
    const struct set_case *c = d->c;
    uint64_t *count = (uint64_t *)(void *)b[COUNT].data;
    if (d->value_bytes)
        return ech_set_operation_pairs(
            ctx, b[0].data, b[1].data, b[2].data, c->operation % 3 ? NULL : b[3].data, b[4].data,
            b[5].data, count, c->n_a, c->n_b, c->operation, c->sort.dtype, d->value_bytes, o);
    return ech_set_operation(ctx, b[0].data, b[2].data, b[4].data, count, c->n_a, c->n_b,
                             c->operation, c->sort.dtype, o);
}

/* Compares the first `bytes` bytes; the others are unspecified. */
static void compare(const struct buffer *b, const void *wanted, size_t bytes, const char *name)
{
    char *got = make(b->bytes);
    if (CHECK(got) && buffer_get(b, got) && memcmp(got, wanted, bytes) != 0) {
        size_t i = 0;
        while (got[i] == ((const char *)wanted)[i]) i++;
        test_fail(__FILE__, __LINE__, "%s differs at byte %zu of %zu", name, i, bytes);
    }
    free(got);
    buffer_check_guards(b, name);
}

/* The elements that an output must have room for. */
static size_t capacity(const struct set_case *c)
{
    const size_t least = c->n_a < c->n_b ? c->n_a : c->n_b;
    const size_t sizes_of[] = { c->n_a + c->n_b, least, c->n_a, c->n_a + c->n_b };
    return sizes_of[c->operation];
}

static bool make_buffers(ech_ctx *ctx, const struct data *d, uint64_t seed, struct buffer *b)
{
    const struct set_case *c = d->c;
    const size_t n[3] = { c->n_a, c->n_b, capacity(c) };
    const void *const from[4] = { d->keys[0], d->values[0], d->keys[1], d->values[1] };
    const size_t align = d->value_bytes & (~d->value_bytes + 1); /* of a value in GPU memory */
    const bool cpu = test_is_cpu(ctx);
    for (int i = 0; i < 6; i++) {
        const bool host = cpu || (seed >> i) % 5 == 0;
        const size_t unit = i % 2 == 0 ? d->key_bytes : host ? 1 : align;
        if (!buffer_make(&b[i], host ? NULL : ctx,
                         n[i / 2] * (i % 2 ? d->value_bytes : d->key_bytes),
                         (seed >> 2 * i) % 4 * unit) ||
            (i < 4 && !buffer_set(&b[i], from[i])))
            return false;
    }
    return buffer_make(&b[COUNT], cpu || seed / 32 % 2 ? NULL : ctx, sizeof(uint64_t), 8);
}

static bool make_work(ech_ctx *ctx, const struct data *d, struct buffer *b, ech_set_options *o)
{
    const struct set_case *c = d->c;
    size_t bytes = 0;
    CHECK_STATUS(ech_set_operation_workspace(ech_device_name(ctx), c->n_a, c->n_b, c->operation,
                                             c->sort.dtype, d->value_bytes, o, &bytes),
                 ECH_OK);
    if (!buffer_make(&b[WORK], test_is_cpu(ctx) ? NULL : ctx, bytes, 0)) return false;
    o->work = bytes ? b[WORK].data : NULL;
    o->work_bytes = bytes ? bytes - 1 : 0;
    if (bytes) CHECK_STATUS(call(ctx, d, b, o), ECH_ERR_MEMORY);
    o->work_bytes = bytes;
    return true;
}

static void run_on(ech_ctx *ctx, const struct data *d, uint64_t seed)
{
    static const int threads[] = { 1, 2, 7 };
    const struct set_case *c = d->c;
    const size_t key = d->key_bytes, value = d->value_bytes;
    struct buffer b[BUFFERS];
    ech_set_options o = options_of(c);
    const bool cpu = test_is_cpu(ctx);
    memset(b, 0, sizeof b);
    if (cpu) ech_set_threads(ctx, threads[seed / 64 % 3]);
    if (make_buffers(ctx, d, seed, b) && (seed / 16 % 2 || make_work(ctx, d, b, &o)))
        for (int twice = 0; twice < 2; twice++)
            if (test_check_status(__FILE__, __LINE__, "the call", call(ctx, d, b, &o), ECH_OK,
                                  ctx) &&
                CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
                compare(&b[COUNT], &d->count, sizeof d->count, "count");
                compare(&b[0], d->keys[0], c->n_a * key, "a");
                compare(&b[1], d->values[0], c->n_a * value, "a_values");
                compare(&b[2], d->keys[1], c->n_b * key, "b");
                compare(&b[3], d->values[1], c->n_b * value, "b_values");
                compare(&b[4], d->keys_out, d->count * key, "out");
                compare(&b[5], d->values_out, d->count * value, "values_out");
                if (b[WORK].base) buffer_check_guards(&b[WORK], "work");
            }
    for (int i = 0; i < BUFFERS; i++)
        if (b[i].base) buffer_free(&b[i]);
    if (cpu) ech_set_threads(ctx, 0);
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct set_case *c)
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

/* The call must not access other memory. Keys are equal in blocks of `block` elements, so that
 * boundaries of tiles are far out of order. */
static void unsorted(ech_ctx *ctx, size_t block)
{
    enum { N = 30001, M = 20011 };
    static const size_t n[] = { N, M };
    static uint32_t keys[2][N];
    struct rng rng = { block };
    const ech_set operation = (ech_set)(block % 4);
    const struct set_case c = { .n_a = N, .n_b = M, .operation = operation };
    ech_ctx *place = test_is_cpu(ctx) ? NULL : ctx;
    struct buffer b[4];
    int made = 0;
    if (!test_begin("unsorted(%s,%s,block=%zu)", ech_device_name(ctx), names[operation], block))
        return;
    if (place == NULL) ech_set_threads(ctx, (int)(block / 4 % 3) + 1);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < n[k]; i++)
            keys[k][i] = i % block && i ? keys[k][i - 1] : (uint32_t)rng_next(&rng) % 64;
    for (; made < 4; made++)
        if (!buffer_make(&b[made], place,
                         made < 2    ? 4 * n[made]
                         : made == 2 ? 4 * capacity(&c)
                                     : sizeof(uint64_t),
                         8))
            break;
    uint64_t count = UINT64_MAX;
    if (made == 4 && buffer_set(&b[0], keys[0]) && buffer_set(&b[1], keys[1])) {
        CHECK_STATUS(ech_set_operation(ctx, b[0].data, b[1].data, b[2].data,
                                       (uint64_t *)(void *)b[3].data, N, M, operation, ECH_U32,
                                       NULL),
                     ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        if (buffer_get(&b[3], &count)) CHECK(count <= capacity(&c));
        buffer_check_guards(&b[2], "out");
    }
    while (made) buffer_free(&b[--made]);
    ech_set_threads(ctx, 0);
    test_end();
}

static void bad(ech_ctx *ctx)
{
    static uint32_t a[8], b[8], out[16], values[16], more[16];
    const void *odd = (const char *)a + 2;
    uint64_t count[2] = { 5, 5 };
    uint64_t *odd_count = (uint64_t *)(void *)((char *)count + 4);
    const ech_set and = ECH_SET_INTERSECTION;
    ech_set_options o = { .size = sizeof o };
    size_t bytes;
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_set_operation(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    out[3] = 77;
    CHECK_FAILS(NULL, ech_set_operation(NULL, a, b, out, count, 8, 8, and, ECH_U32, NULL),
                ECH_ERR_ARG, "ctx");
    REFUSED("a is NULL", NULL, b, out, count, 8, 8, and, ECH_U32, NULL);
    REFUSED("b is NULL", a, NULL, out, count, 8, 8, and, ECH_U32, NULL);
    REFUSED("out is NULL", a, b, NULL, count, 8, 8, and, ECH_U32, NULL);
    REFUSED("count is NULL", a, b, out, NULL, 8, 8, and, ECH_U32, NULL);
    REFUSED("a is not aligned", odd, b, out, count, 2, 8, and, ECH_U32, NULL);
    REFUSED("count is not aligned", a, b, out, odd_count, 8, 8, and, ECH_U32, NULL);
    REFUSED("overlap", a, out + 4, out, count, 8, 8, and, ECH_U32, NULL);
    REFUSED("overlap", a, b, a, count, 8, 8, and, ECH_U32, NULL);
    REFUSED("operation is 4", a, b, out, count, 8, 8, (ech_set)4, ECH_U32, NULL);
    REFUSED("dtype", a, b, out, count, 8, 8, and, (ech_dtype)12, NULL);
    REFUSED("n_a", a, b, out, count, SIZE_MAX / 2, 8, and, ECH_U32, NULL);
    REFUSED("n_b", a, b, out, count, 8, SIZE_MAX / 2, and, ECH_U32, NULL);
    REFUSED("n_a + n_b", a, b, out, count, SIZE_MAX / 9, SIZE_MAX / 9, and, ECH_U32, NULL);
    o.descending = 2;
    REFUSED("descending", a, b, out, count, 8, 8, and, ECH_U32, &o);
    o.descending = 0, o.order = (ech_order)2;
    REFUSED("order", a, b, out, count, 8, 8, and, ECH_U32, &o);
    o.order = ECH_ORDER_NAN_LAST, o.algorithm = "magic";
    REFUSED("magic", a, b, out, count, 8, 8, and, ECH_U32, &o);
    o.algorithm = NULL, o.size = 7;
    REFUSED("ech_set_options", a, b, out, count, 8, 8, and, ECH_U32, &o);
#undef REFUSED
    CHECK_FAILS(ctx,
                ech_set_operation_pairs(ctx, a, values, b, values, out, more, count, 8, 8, and,
                                        ECH_U32, 0, NULL),
                ECH_ERR_ARG, "value_bytes");
    CHECK_FAILS(ctx,
                ech_set_operation_pairs(ctx, a, NULL, b, values, out, more, count, 8, 8, and,
                                        ECH_U32, 4, NULL),
                ECH_ERR_ARG, "a_values is NULL");
    CHECK_FAILS(ctx,
                ech_set_operation_pairs(ctx, a, values, b, NULL, out, more, count, 8, 8,
                                        ECH_SET_UNION, ECH_U32, 4, NULL),
                ECH_ERR_ARG, "b_values is NULL");
    CHECK_FAILS(NULL, ech_set_operation_workspace("cpu", 8, 8, and, ECH_U32, 0, NULL, NULL),
                ECH_ERR_ARG, "bytes");
    CHECK_STATUS(ech_set_operation_workspace("cpu", 8, 8, and, ECH_U32, 0, NULL, &bytes), ECH_OK);
    CHECK_INT(out[3], 77);
    CHECK_INT(count[0], 5);
    CHECK_STATUS(ech_set_operation(ctx, NULL, NULL, NULL, count, 0, 0, and, ECH_U32, NULL), ECH_OK);
    CHECK_INT(count[0], 0);
    CHECK_INT(count[1], 5);
    o = (ech_set_options){ .size = sizeof o, .algorithm = "balanced_path" };
    a[7] = 9;
    CHECK_STATUS(ech_set_operation(ctx, a, a, out, count, 8, 8, and, ECH_U32, &o), ECH_OK);
    CHECK_INT(count[0], 8); /* b may be a */
    CHECK_INT(out[6], 0);
    CHECK_INT(out[7], 9);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        for (size_t block = 1; block < 9000; block += 257) unsorted(contexts[i], block);
        bad(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
