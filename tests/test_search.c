/*
 * test_search.c - ech_lower_bound() and ech_upper_bound(), compared with an oracle, on every device
 * with every algorithm.
 *
 *     test_search 'search(f32,n=4096'             cases with this prefix
 *
 * The oracle is the stable sort of tests/oracle.c. It sorts the needles followed by the array for
 * lower bounds, and the array followed by the needles for upper bounds: the position of a needle is
 * the number of elements of the array that are before it in the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, NAME_BYTES = 64, QUICK = 30000, ALGORITHMS = 8 };

struct search_case {
    struct sort_case sort; /* n: of the array and the needles */
    size_t n, m;
    int needles; /* 0: in any order; 1: sorted; 2: sorted, except some */
    bool hint;   /* options.needles_sorted */
};

/* ---- The cases ---- */

/* Blocks of the CPU have 256 needles; tiles of the GPU 1024, and 2048 in the tree, whose top level
 * has at most 4095 keys. */
static const size_t sizes[][2] = {
    { 0, 0 },       { 0, 5 },         { 5, 0 },         { 1, 1 },       { 2, 17 },
    { 31, 33 },     { 32, 16 },       { 33, 257 },      { 1000, 255 },  { 4094, 2049 },
    { 4095, 1024 }, { 4096, 1025 },   { 4097, 4097 },   { 4160, 2048 }, { 20000, 3001 },
    { 2, 9000 },    { 65535, 2047 },  { 131072, 1023 }, { 9000, 1 },    { 131073, 2050 },
    { 64, 30001 },  { 300001, 1500 }, { 600000, 1100 }, { 70001, 5000 }
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void case_id(const struct search_case *c, char *text, size_t capacity_bytes)
{
    static const char *const needles[] = { "", ",sorted", ",nearly" };
    snprintf(text, capacity_bytes, "search(%s,n=%zu,m=%zu%s%s%s%s,dist=%s)",
             ech_dtype_name(c->sort.dtype), c->n, c->m, needles[c->needles], c->hint ? ",hint" : "",
             c->sort.descending ? ",desc" : "", c->sort.total ? ",total" : "", c->sort.dist);
}

static void cases(void (*run)(const struct search_case *))
{
    static const char *const dists[] = { "random", "few", "special", "constant", "halved" };
    size_t number = 0;
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (int s = 0; s < SIZES; s++)
            for (int d = 0; d < 5; d++, number++)
                run(&(struct search_case){ .sort = { .dtype = (ech_dtype)t,
                                                     .n = sizes[s][0] + sizes[s][1],
                                                     .value_bytes = 4, /* stable */
                                                     .descending = number / 2 % 2,
                                                     .total = number / 3 % 3 == 0,
                                                     .dist = dists[d] },
                                           .n = sizes[s][0],
                                           .m = sizes[s][1],
                                           .needles = (int)(number / 4 % 3),
                                           .hint = number % 7 < 3 });
}

/* ---- Data ---- */

struct data {
    const struct search_case *c;
    size_t key_bytes;
    char *sorted, *needles;
    uint64_t *positions[2]; /* expected lower and upper bounds */
};

static void *make(size_t bytes)
{
    return calloc(bytes + 16, 1);
}

/* Sorts n keys by the oracle. */
static bool sort_keys(const struct search_case *c, char *keys, size_t n, char *room,
                      uint32_t *order)
{
    struct sort_case part = c->sort;
    const size_t bytes = ech_dtype_bytes(part.dtype);
    part.n = n;
    if (n == 0) return true;
    if (!oracle_order(&part, keys, order)) return false;
    for (size_t i = 0; i < n; i++) memcpy(room + i * bytes, keys + order[i] * bytes, bytes);
    memcpy(keys, room, n * bytes);
    return true;
}

/* The number of elements of the array before each needle in the sorted sequence of both. upper: the
 * array precedes the needles. */
static bool expect(struct data *d, bool upper, char *room, uint32_t *order)
{
    const struct search_case *c = d->c;
    const size_t key = d->key_bytes, first = upper ? c->n : 0;
    size_t before = 0;
    memcpy(room + (upper ? 0 : c->m * key), d->sorted, c->n * key);
    memcpy(room + first * key, d->needles, c->m * key);
    if (c->sort.n && !oracle_order(&c->sort, room, order)) return false;
    for (size_t i = 0; i < c->sort.n; i++) {
        const bool needle = order[i] >= first && order[i] < first + c->m;
        if (needle) d->positions[upper][order[i] - first] = before;
        before += !needle;
    }
    return true;
}

static bool make_data(const struct search_case *c, uint64_t seed, struct data *d)
{
    const size_t key = d->key_bytes, n = c->sort.n;
    struct rng rng = { seed };
    char *keys = make(n * key), *room = make(n * key);
    uint32_t *order = make(4 * n);
    d->sorted = make(c->n * key);
    d->needles = make(c->m * key);
    d->positions[0] = make(8 * c->m);
    d->positions[1] = make(8 * c->m);
    bool good = keys && room && order && d->sorted && d->needles && d->positions[0] &&
                d->positions[1] && (n == 0 || keys_fill(&c->sort, seed, keys));
    if (good) {
        memcpy(d->sorted, keys, c->n * key);
        memcpy(d->needles, keys + c->n * key, c->m * key);
        good = sort_keys(c, d->sorted, c->n, room, order) &&
               (!c->needles || sort_keys(c, d->needles, c->m, room, order));
        for (size_t i = 0; c->needles == 2 && i < c->m; i += 1 + (size_t)rng_below(&rng, 99))
            memcpy(d->needles + i * key, keys + rng_below(&rng, n) * key, key);
        good = good && expect(d, false, room, order) && expect(d, true, room, order);
    }
    free(keys);
    free(room);
    free(order);
    return good;
}

/* ---- One case on one device ---- */

static ech_search_options options_of(const struct search_case *c, const char *algorithm)
{
    return (ech_search_options){ .size = sizeof(ech_search_options),
                                 .descending = c->sort.descending,
                                 .order = c->sort.total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST,
                                 .needles_sorted = c->hint,
                                 .algorithm = algorithm };
}

/* Lists the algorithms of a device for a type. The first is "", the library's choice. */
static int find_algorithms(const char *device, ech_dtype dtype, char names[ALGORITHMS][NAME_BYTES])
{
    char text[4096];
    size_t bytes;
    int count = 1;
    names[0][0] = '\0';
    if (!CHECK_STATUS(ech_search_explain(device, ECH_SEARCH_CALL_LOWER, 1000, 1000, dtype, NULL,
                                         ECH_FORMAT_TEXT, text, sizeof text),
                      ECH_OK))
        return 0;
    for (char *word = strtok(text, " \t\n,;:()\""); word; word = strtok(NULL, " \t\n,;:()\"")) {
        const ech_search_options o = { .size = sizeof o, .algorithm = word };
        bool known = strlen(word) >= NAME_BYTES || count == ALGORITHMS;
        for (int i = 1; i < count; i++) known |= strcmp(word, names[i]) == 0;
        if (!known &&
            ech_search_workspace(device, ECH_SEARCH_CALL_LOWER, 8, 8, dtype, &o, &bytes) == ECH_OK)
            strcpy(names[count++], word);
    }
    return count;
}

static ech_status call(ech_ctx *ctx, const struct data *d, bool upper, struct buffer *b,
                       ech_dtype index, const ech_search_options *o)
{
    const struct search_case *c = d->c;
    return (upper ? ech_upper_bound : ech_lower_bound)(ctx, b[0].data, b[1].data, b[2].data, c->n,
                                                       c->m, c->sort.dtype, index, o);
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
static bool make_work(ech_ctx *ctx, const struct data *d, bool upper, struct buffer *b,
                      ech_dtype index, ech_search_options *o)
{
    const struct search_case *c = d->c;
    size_t bytes = 0;
    CHECK_STATUS(ech_search_workspace(ech_device_name(ctx),
                                      upper ? ECH_SEARCH_CALL_UPPER : ECH_SEARCH_CALL_LOWER, c->n,
                                      c->m, c->sort.dtype, o, &bytes),
                 ECH_OK);
    if (!buffer_make(&b[3], test_is_cpu(ctx) ? NULL : ctx, bytes, 0)) return false;
    o->work = bytes ? b[3].data : NULL;
    o->work_bytes = bytes ? bytes - 1 : 0;
    if (bytes) CHECK_STATUS(call(ctx, d, upper, b, index, o), ECH_ERR_MEMORY);
    o->work_bytes = bytes;
    return true;
}

static void run_on(ech_ctx *ctx, const struct data *d, bool upper, const char *algorithm,
                   uint64_t seed)
{
    static const int threads[] = { 1, 2, 7 };
    const struct search_case *c = d->c;
    const ech_dtype index = index_dtype(seed >> 9, c->n);
    const size_t wide = ech_dtype_bytes(index);
    const size_t bytes[3] = { c->n * d->key_bytes, c->m * d->key_bytes, c->m * wide };
    struct buffer b[4];
    ech_search_options o = options_of(c, algorithm);
    const bool cpu = test_is_cpu(ctx);
    void *wanted = index_array(d->positions[upper], c->m, index);
    bool good = CHECK(wanted);
    memset(b, 0, sizeof b);
    if (cpu) ech_set_threads(ctx, threads[seed / 64 % 3]);
    for (int i = 0; i < 3 && good; i++)
        good = buffer_make(&b[i], cpu || (seed >> i) % 5 == 0 ? NULL : ctx, bytes[i],
                           (seed >> 2 * i) % 4 * (i == 2 ? wide : d->key_bytes)) &&
               (i == 2 || buffer_set(&b[i], i ? d->needles : d->sorted));
    if (good && seed / 16 % 2) good = make_work(ctx, d, upper, b, index, &o);
    if (good &&
        test_check_status(__FILE__, __LINE__, "a search", call(ctx, d, upper, b, index, &o), ECH_OK,
                          ctx) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        compare(&b[0], d->sorted, "sorted");
        compare(&b[1], d->needles, "needles");
        compare(&b[2], wanted, upper ? "upper bounds" : "lower bounds");
        if (b[3].base) buffer_check_guards(&b[3], "work");
    }
    if (test_failed()) printf("  with algorithm \"%s\"\n", algorithm);
    for (int i = 0; i < 4; i++)
        if (b[i].base) buffer_free(&b[i]);
    free(wanted);
    if (cpu) ech_set_threads(ctx, 0);
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct search_case *c)
{
    char id[256], names[ALGORITHMS][NAME_BYTES];
    struct data d = { .c = c, .key_bytes = ech_dtype_bytes(c->sort.dtype) };
    case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    if (!test_drawn(seed, c->m + c->n / 64 <= QUICK)) return;
    if (!test_begin("%s", id)) return;
    const bool good = make_data(c, seed, &d);
    for (int i = 0; i < n_contexts; i++) {
        if (i) test_begin("%s", id);
        if (CHECK(good)) {
            const ech_dtype dtype = c->sort.dtype;
            const int count = find_algorithms(ech_device_name(contexts[i]), dtype, names);
            const int gpu = ech_dtype_bytes(dtype) == 1 ? 4 : 5;
            CHECK_INT(count, test_is_cpu(contexts[i]) ? 3 : gpu);
            for (int a = 0; a < count; a++)
                run_on(contexts[i], &d, ((seed >> 5) + (uint64_t)a) % 2, names[a],
                       (seed >> 8) + 977 * (uint64_t)a);
        }
        test_end();
    }
    free(d.sorted);
    free(d.needles);
    free(d.positions[0]);
    free(d.positions[1]);
}

/* ---- Arrays that are not sorted; bad calls ---- */

/* The positions must be at most n. */
static void unsorted(ech_ctx *ctx, const char *algorithm, size_t n)
{
    enum { MOST = 150001, M = 5000 };
    static uint32_t keys[MOST], out[M];
    struct rng rng = { n };
    struct buffer b[2];
    int made = 0;
    const ech_search_options o = { .size = sizeof o, .algorithm = algorithm };
    if (!test_begin("unsorted(%s,%s,n=%zu)", ech_device_name(ctx), algorithm, n)) return;
    for (size_t i = 0; i < n; i++) keys[i] = (uint32_t)rng_next(&rng);
    for (; made < 2; made++)
        if (!buffer_make(&b[made], test_is_cpu(ctx) ? NULL : ctx, 4 * (made ? M : n), 4)) break;
    if (made == 2 && buffer_set(&b[0], keys)) {
        CHECK_STATUS(
            ech_upper_bound(ctx, b[0].data, b[0].data, b[1].data, n, M, ECH_U32, ECH_I32, &o),
            ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        if (buffer_get(&b[1], out))
            for (int i = 0; i < M && !test_failed(); i++) CHECK(out[i] <= n);
        buffer_check_guards(&b[1], "positions");
    }
    while (made) buffer_free(&b[--made]);
    test_end();
}

static void bad(ech_ctx *ctx)
{
    static uint32_t a[8], x[8], out[16];
    const void *odd = (const char *)a + 2;
    ech_search_options o = { .size = sizeof o };
    size_t bytes;
    char text[64];
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_lower_bound(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    out[3] = 77;
    CHECK_FAILS(NULL, ech_upper_bound(NULL, a, x, out, 8, 8, ECH_U32, ECH_U32, NULL), ECH_ERR_ARG,
                "ctx");
    REFUSED("sorted is NULL", NULL, x, out, 8, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("needles is NULL", a, NULL, out, 8, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("positions is NULL", a, x, NULL, 8, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("sorted is not aligned", odd, x, out, 2, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("needles is not aligned", a, odd, out, 8, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("overlap", out + 4, x, out, 8, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("overlap", a, out + 4, out, 8, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("dtype", a, x, out, 8, 8, (ech_dtype)12, ECH_U32, NULL);
    REFUSED("index_dtype", a, x, out, 8, 8, ECH_U32, ECH_F32, NULL);
    REFUSED("index_dtype", a, x, out, 8, 8, ECH_U32, ECH_U16, NULL);
    REFUSED("n + 1 is 2147483649", a, x, out, (size_t)1 << 31, 8, ECH_U8, ECH_I32, NULL);
    REFUSED("n + 1 is 4294967297", a, x, out, (size_t)1 << 32, 8, ECH_U8, ECH_U32, NULL);
    REFUSED("n is", a, x, out, SIZE_MAX / 2, 8, ECH_U32, ECH_U64, NULL);
    REFUSED("m is", a, x, out, 8, SIZE_MAX / 2, ECH_U32, ECH_U64, NULL);
    o.descending = 2;
    REFUSED("descending", a, x, out, 8, 8, ECH_U32, ECH_U32, &o);
    o.descending = 0, o.order = (ech_order)2;
    REFUSED("order", a, x, out, 8, 8, ECH_U32, ECH_U32, &o);
    o.order = ECH_ORDER_NAN_LAST, o.needles_sorted = -1;
    REFUSED("needles_sorted", a, x, out, 8, 8, ECH_U32, ECH_U32, &o);
    o.needles_sorted = 0, o.algorithm = "magic";
    REFUSED("magic", a, x, out, 8, 8, ECH_U32, ECH_U32, &o);
    REFUSED("magic", a, x, out, 8, 0, ECH_U32, ECH_U32, &o);
    o.algorithm = NULL, o.size = 7;
    REFUSED("ech_search_options", a, x, out, 8, 8, ECH_U32, ECH_U32, &o);
#undef REFUSED
    CHECK_FAILS(NULL, ech_search_workspace("cpu", ECH_SEARCH_CALL_LOWER, 8, 8, ECH_U32, NULL, NULL),
                ECH_ERR_ARG, "bytes");
    CHECK_FAILS(NULL, ech_search_workspace("cpu", (ech_search_call)2, 8, 8, ECH_U32, NULL, &bytes),
                ECH_ERR_ARG, "ech_search_call");
    CHECK_FAILS(NULL,
                ech_search_explain("cpu", (ech_search_call)2, 8, 8, ECH_U32, NULL, ECH_FORMAT_TEXT,
                                   text, sizeof text),
                ECH_ERR_ARG, "ech_search_call");
    CHECK_INT(out[3], 77);
    CHECK_STATUS(ech_lower_bound(ctx, NULL, NULL, NULL, 0, 0, ECH_U32, ECH_U32, NULL), ECH_OK);
    CHECK_STATUS(ech_lower_bound(ctx, a, NULL, NULL, 8, 0, ECH_U32, ECH_U32, NULL), ECH_OK);
    CHECK_STATUS(ech_upper_bound(ctx, NULL, x, out, 0, 8, ECH_U32, ECH_U32, NULL), ECH_OK);
    CHECK_INT(out[3], 0);
    a[7] = 9;
    CHECK_STATUS(ech_upper_bound(ctx, a, a, out, 8, 8, ECH_U32, ECH_U32, NULL), ECH_OK);
    CHECK_INT(out[6], 7); /* needles may be sorted */
    CHECK_INT(out[7], 8);
    test_end();
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES], names[ALGORITHMS][NAME_BYTES];
    test_main(argc, argv);
    for (int i = 0; i < DEVICES && test_device(i, name, sizeof name); i++) {
        if (ech_open(&contexts[n_contexts], name) != ECH_OK) {
            fprintf(stderr, "ech_open(\"%s\"): %s\n", name, ech_error(NULL));
            return 1;
        }
        n_contexts++;
    }
    cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        const int count = find_algorithms(ech_device_name(contexts[i]), ECH_U32, names);
        for (int a = 1; a < count; a++) {
            unsorted(contexts[i], names[a], 5001);
            unsorted(contexts[i], names[a], 150001);
        }
        bad(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
