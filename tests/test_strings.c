/*
 * test_strings.c - ech_argsort_strings(), compared with an oracle, on every device and with every
 * algorithm.
 *
 *     test_strings                                     every case on every device
 *     test_strings --device simt --quick               some of the cases, only small ones
 *     test_strings 'strings(url,n=5003'                cases with this prefix
 *
 * The oracle sorts positions by qsort(), with a comparison of bytes one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, QUICK_STRINGS = 6000, QUICK_BYTES = 300000 };

struct strings_case {
    const char *dist;
    size_t n;
    bool descending;
    int nulls; /* 0: none; 1: last; 2: first */
    ech_dtype offsets, index;
};

/* ---- The cases ---- */

static const char *const dists[] = {
    "words",  "bytes", "zeros", "empty",   "equal", "url",  "long",
    "nested", "pairs", "huge",  "numbers", "few",   "deep", "sorted",
};

static void case_id(const struct strings_case *c, char *text, size_t capacity_bytes)
{
    static const char *const nulls[] = { "none", "last", "first" };
    snprintf(text, capacity_bytes, "strings(%s,n=%zu,%s,nulls=%s,offsets=%s,index=%s)", c->dist,
             c->n, c->descending ? "desc" : "asc", nulls[c->nulls], ech_dtype_name(c->offsets),
             ech_dtype_name(c->index));
}

static void cases(void (*run)(const struct strings_case *))
{
    static const size_t sizes[] = { 0,    1,    2,    3,     7,     24,    25,
                                    33,   257,  1023, 1024,  1025,  2049,  4097,
                                    5003, 8193, 8200, 12000, 20011, 70001, 300007 };
    for (size_t d = 0; d < sizeof dists / sizeof *dists; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t k = 0; k < 6; k++) {
                struct strings_case c = { dists[d], sizes[s], k % 2, (int)k / 2, ECH_I32, ECH_U64 };
                if (c.n > 50000 && (d + s + k) % 3) continue;
                c.offsets = index_dtype(d + s + k, 1 << 30);
                c.index = index_dtype(d + 3 * s + 7 * k, c.n);
                run(&c);
            }
}

/* ---- Strings ---- */

struct table {
    uint64_t *offsets; /* [n + 1] */
    uint8_t *bytes, *validity;
    size_t total_bytes, capacity, bit, validity_bytes; /* bit: of the first string */
};

/* Appends a byte. */
static void put(struct table *t, uint64_t byte)
{
    if (t->total_bytes < t->capacity) t->bytes[t->total_bytes] = (uint8_t)byte;
    t->total_bytes++;
}

static void put_text(struct table *t, const char *text)
{
    while (*text) put(t, (uint64_t)*text++);
}

static void put_word(struct table *t, struct rng *rng, size_t n, const char *letters)
{
    for (size_t i = 0; i < n; i++) put(t, (uint64_t)letters[rng_below(rng, strlen(letters))]);
}

static void put_many(struct table *t, char byte, size_t n)
{
    while (n-- > 0) put(t, (uint64_t)byte);
}

static void put_url(struct table *t, struct rng *rng)
{
    static const char *const hosts[] = { "example.org/", "example.org/articles/2026/november/",
                                         "example.com/", "ex" };
    put_text(t, "https://www.");
    put_text(t, hosts[rng_below(rng, 4)]);
    put_word(t, rng, (size_t)rng_below(rng, 4), "ab");
    if (rng_below(rng, 2)) put_text(t, "?query=long-and-always-equal&page=");
    put_word(t, rng, (size_t)rng_below(rng, 3), "0123456789");
}

/* String i of a case. */
static void put_string(const struct strings_case *c, size_t i, struct rng *rng, struct table *t)
{
    static const char *const some[] = {
        "",         "a",   "ab",      "government", "governments",
        "governor", "the", "abcdefg", "abcdefgh",   "abcdefghijklmn"
    };
    char text[32];
    const char *dist = c->dist;
    if (!strcmp(dist, "words"))
        put_word(t, rng, 5 + (size_t)rng_below(rng, 16), "abcdefghijklmnopqrstuvwxyz");
    if (!strcmp(dist, "bytes"))
        for (uint64_t k = rng_below(rng, 20); k; k--) put(t, rng_below(rng, 2) ? 255 : 0);
    if (!strcmp(dist, "zeros")) put_many(t, 0, (size_t)rng_below(rng, 24));
    if (!strcmp(dist, "equal")) put_text(t, "the same string of 30 bytes...");
    if (!strcmp(dist, "url")) put_url(t, rng);
    if (!strcmp(dist, "long")) { /* differ after 1000 bytes, or at their ends */
        put_many(t, (char)('a' + rng_below(rng, 2)), 1000 - (size_t)rng_below(rng, 2));
        put_word(t, rng, (size_t)rng_below(rng, 5), "xy");
    }
    if (!strcmp(dist, "nested")) put_many(t, 'z', i * 7919 % c->n % 500);
    if (!strcmp(dist, "pairs")) {
        snprintf(text, sizeof text, "%08zx............", i / 2 * 40503 % (c->n / 2 + 1));
        put_text(t, text);
        put_word(t, rng, 1, "abc");
    }
    if (!strcmp(dist, "huge")) put_many(t, 'h', i == c->n / 2 ? 100000 : i % 31);
    if (!strcmp(dist, "numbers")) {
        snprintf(text, sizeof text, "%llu",
                 (unsigned long long)(rng_next(rng) >> rng_below(rng, 64)));
        put_text(t, text);
    }
    if (!strcmp(dist, "few")) put_text(t, some[rng_below(rng, sizeof some / sizeof *some)]);
    if (!strcmp(dist, "deep")) /* ties at many depths */
        put_word(t, rng, 20 + (size_t)rng_below(rng, 40), rng_below(rng, 3) ? "a" : "aaaaaaaab");
    if (!strcmp(dist, "sorted")) {
        snprintf(text, sizeof text, "prefix %012zu", c->descending ? c->n - i / 2 : i / 2);
        put_text(t, text);
    }
}

static void free_table(struct table *t)
{
    free(t->offsets);
    free(t->bytes);
    free(t->validity);
}

/* The strings begin at a byte that need not be 0, and may end before the last byte. */
static void fill(const struct strings_case *c, uint64_t seed, struct table *t)
{
    struct rng rng = { seed };
    t->total_bytes = 0;
    put_many(t, 'x', (size_t)rng_below(&rng, 3));
    for (size_t i = 0; i < c->n; i++) {
        t->offsets[i] = t->total_bytes;
        put_string(c, i, &rng, t);
    }
    t->offsets[c->n] = t->total_bytes;
    put_many(t, 'x', rng_below(&rng, 2) ? (size_t)rng_below(&rng, 20) : 0);
}

static bool make_table(const struct strings_case *c, uint64_t seed, struct table *t)
{
    struct rng rng = { seed + 1 };
    memset(t, 0, sizeof *t);
    t->offsets = malloc((c->n + 1) * sizeof *t->offsets);
    if (!t->offsets) return false;
    fill(c, seed, t); /* counts the bytes */
    t->capacity = t->total_bytes;
    t->bytes = malloc(t->capacity + 1);
    if (!t->bytes) return false;
    fill(c, seed, t);
    if (!c->nulls) return true;
    t->bit = rng_below(&rng, 30);
    t->validity_bytes = (t->bit + c->n + 7) / 8;
    t->validity = malloc(t->validity_bytes + 1);
    if (!t->validity) return false;
    const uint64_t kind = rng_below(&rng, 8);
    for (size_t i = 0; i < t->validity_bytes; i++)
        t->validity[i] = kind == 0   ? 0
                         : kind == 1 ? 255
                                     : (uint8_t)(rng_next(&rng) | rng_next(&rng));
    return true;
}

/* ---- The oracle ---- */

static const struct table *sorted;
static const struct strings_case *sorted_case;

static bool is_null(const struct table *t, size_t i)
{
    return t->validity && !(t->validity[(t->bit + i) / 8] >> (t->bit + i) % 8 & 1);
}

static int compare_positions(const void *x, const void *y)
{
    const size_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    const struct table *t = sorted;
    const int later = i < j ? -1 : 1;
    if (i == j) return 0;
    if (is_null(t, i) && is_null(t, j)) return later;
    if (is_null(t, i)) return sorted_case->nulls == 2 ? -1 : 1;
    if (is_null(t, j)) return sorted_case->nulls == 2 ? 1 : -1;
    uint64_t p = t->offsets[i], q = t->offsets[j];
    for (; p < t->offsets[i + 1] && q < t->offsets[j + 1]; p++, q++)
        if (t->bytes[p] != t->bytes[q])
            return (t->bytes[p] < t->bytes[q]) != sorted_case->descending ? -1 : 1;
    if (p == t->offsets[i + 1] && q == t->offsets[j + 1]) return later;
    return (p == t->offsets[i + 1]) != sorted_case->descending ? -1 : 1;
}

static void oracle(const struct strings_case *c, const struct table *t, uint32_t *wanted)
{
    for (size_t i = 0; i < c->n; i++) wanted[i] = (uint32_t)i;
    sorted = t;
    sorted_case = c;
    qsort(wanted, c->n, sizeof *wanted, compare_positions);
}

/* ---- One case on one device ---- */

struct run {
    const struct strings_case *c;
    const struct table *t;
    ech_ctx *ctx;
    struct buffer offsets, bytes, validity, out, work;
    ech_strings_options options;
};

static bool make_offsets(struct run *r, ech_ctx *place, size_t shift)
{
    const size_t width = ech_dtype_bytes(r->c->offsets), count = r->c->n + 1;
    void *data = index_array(r->t->offsets, count, r->c->offsets);
    const bool done = data && buffer_make(&r->offsets, place, count * width, shift * width) &&
                      buffer_set(&r->offsets, data);
    free(data);
    return done;
}

/* Each array is in host or in GPU memory, and as badly aligned as it may be. */
static bool make_arrays(struct run *r, struct rng *rng)
{
    const struct table *t = r->t;
    const bool cpu = test_is_cpu(r->ctx);
    const unsigned sides = (unsigned)rng_below(rng, 3); /* all on the device; on the host; mixed */
    ech_ctx *place[4];
    for (int i = 0; i < 4; i++)
        place[i] = cpu || sides == 1 || (sides == 2 && rng_below(rng, 2)) ? NULL : r->ctx;
    if (!make_offsets(r, place[0], (size_t)rng_below(rng, 3)) ||
        !buffer_make(&r->bytes, place[1], t->total_bytes, (size_t)rng_below(rng, 9)) ||
        !buffer_set(&r->bytes, t->bytes))
        return false;
    if (t->validity) {
        if (!buffer_make(&r->validity, place[2], t->validity_bytes, (size_t)rng_below(rng, 9)) ||
            !buffer_set(&r->validity, t->validity))
            return false;
        r->options.validity = (const uint8_t *)r->validity.data;
        r->options.validity_offset = t->bit;
    }
    const size_t width = ech_dtype_bytes(r->c->index);
    return buffer_make(&r->out, place[3], r->c->n * width, width * (size_t)rng_below(rng, 3));
}

static void free_array(struct buffer *b, const char *name)
{
    if (!b->base) return;
    buffer_check_guards(b, name);
    buffer_free(b);
}

static void check_inputs(struct run *r)
{
    char *now = malloc(r->t->total_bytes + 1);
    if (CHECK(now) && buffer_get(&r->bytes, now))
        CHECK(memcmp(now, r->t->bytes, r->t->total_bytes) == 0);
    free(now);
}

static void free_arrays(struct run *r)
{
    free_array(&r->offsets, "offsets");
    free_array(&r->bytes, "bytes");
    free_array(&r->validity, "validity");
    free_array(&r->out, "indices");
}

static ech_status call(struct run *r)
{
    return ech_argsort_strings(r->ctx, r->offsets.data, r->bytes.data, r->out.data, r->c->n,
                               r->t->total_bytes, r->c->offsets, r->c->index, &r->options);
}

static void compare(struct run *r, const uint32_t *wanted)
{
    const size_t n = r->c->n, width = ech_dtype_bytes(r->c->index);
    char *got = malloc(n * width + 1);
    if (CHECK(got) && buffer_get(&r->out, got))
        for (size_t i = 0; i < n; i++) {
            uint64_t position = 0;
            memcpy(&position, got + i * width, width);
            if (position == wanted[i]) continue;
            test_fail(__FILE__, __LINE__, "indices[%zu] is %llu instead of %u", i,
                      (unsigned long long)position, wanted[i]);
            break;
        }
    free(got);
}

/* A workspace of exactly the size that is needed; one byte less is rejected. */
static void run_with_work(struct run *r, const uint32_t *wanted)
{
    size_t bytes = 0;
    if (!CHECK_STATUS(ech_strings_workspace(ech_device_name(r->ctx), r->c->n, r->t->total_bytes,
                                            r->c->offsets, r->c->index, &r->options, &bytes),
                      ECH_OK) ||
        !bytes || !buffer_make(&r->work, test_is_cpu(r->ctx) ? NULL : r->ctx, bytes, 0))
        return;
    r->options.work = r->work.data;
    r->options.work_bytes = bytes - 1;
    CHECK_STATUS(call(r), ECH_ERR_MEMORY);
    r->options.work_bytes = bytes;
    if (test_check_status(__FILE__, __LINE__, "with work", call(r), ECH_OK, r->ctx) &&
        CHECK_STATUS(ech_sync(r->ctx), ECH_OK))
        compare(r, wanted);
    buffer_check_guards(&r->work, "work");
    buffer_free(&r->work);
}

static void run_on(ech_ctx *ctx, const struct strings_case *c, const struct table *t,
                   const uint32_t *wanted, uint64_t seed)
{
    static const char *const cpu_algorithms[] = { NULL, "refine" };
    static const char *const gpu_algorithms[] = { NULL, "refine", "merge" };
    static const int threads[] = { 1, 2, 7 };
    const bool cpu = test_is_cpu(ctx);
    struct rng rng = { seed };
    for (int a = 0; a < (cpu ? 2 : 3) && !test_failed(); a++) {
        struct run r = { .c = c, .t = t, .ctx = ctx };
        r.options =
            (ech_strings_options){ .size = sizeof r.options,
                                   .descending = c->descending,
                                   .nulls_first = c->nulls == 2,
                                   .algorithm = cpu ? cpu_algorithms[a] : gpu_algorithms[a] };
        if (cpu) ech_set_threads(ctx, threads[rng_below(&rng, 3)]);
        if (CHECK(make_arrays(&r, &rng))) {
            if (test_check_status(__FILE__, __LINE__, "the call", call(&r), ECH_OK, ctx) &&
                CHECK_STATUS(ech_sync(ctx), ECH_OK))
                compare(&r, wanted);
            if (rng_below(&rng, 2)) run_with_work(&r, wanted);
            check_inputs(&r);
        }
        free_arrays(&r);
    }
    if (cpu) ech_set_threads(ctx, 0);
}

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static void run_case(const struct strings_case *c)
{
    char id[256];
    struct table t;
    case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    if ((!strcmp(c->dist, "long") || !strcmp(c->dist, "nested")) && c->n > 20011) return;
    const bool many = !strcmp(c->dist, "long") && c->n > 300;
    if (!test_drawn(seed, c->n <= QUICK_STRINGS && !many)) return;
    if (!test_begin("%s", id)) return;
    uint32_t *wanted = malloc((c->n + 1) * sizeof *wanted);
    const bool made = make_table(c, seed, &t) && wanted;
    if (made) oracle(c, &t, wanted);
    for (int i = 0; i < n_contexts; i++) {
        if (i) test_begin("%s", id);
        if (CHECK(made)) run_on(contexts[i], c, &t, wanted, seed);
        test_end();
    }
    free_table(&t);
    free(wanted);
}

/* ---- Invalid offsets ---- */

/* On the CPU nothing is written.  A GPU sorts bounded strings, and reports the first error. */
static void invalid(ech_ctx *ctx, const char *id, const int32_t *given, size_t total_bytes,
                    const char *message)
{
    static const uint8_t text[] = "dcbaabcdxyzabcabcdef";
    enum { N = 6 };
    const struct strings_case c = { "", N, false, 0, ECH_I32, ECH_U32 };
    struct table t = { .total_bytes = total_bytes };
    uint64_t begins[2 * N];
    uint8_t joined[256];
    uint32_t wanted[N], got[N];
    struct buffer offsets, bytes, out;
    if (!test_begin("invalid(%s,%s)", id, ech_device_name(ctx))) return;
    const bool cpu = test_is_cpu(ctx);
    ech_ctx *place = cpu ? NULL : ctx;
    /* the same strings with valid offsets */
    t.offsets = begins;
    t.bytes = joined;
    size_t at = 0;
    for (size_t i = 0; i < N; i++) {
        const uint64_t b =
            given[i] < 0 || (uint64_t)given[i] > total_bytes ? total_bytes : (uint64_t)given[i];
        const uint64_t e = given[i + 1] < 0 || (uint64_t)given[i + 1] > total_bytes
                               ? total_bytes
                               : (uint64_t)given[i + 1];
        begins[i] = at;
        for (uint64_t k = b; k < e; k++) joined[at++] = text[k];
    }
    begins[N] = at;
    oracle(&c, &t, wanted);
    if (CHECK(buffer_make(&offsets, place, (N + 1) * sizeof *given, 4)) &&
        CHECK(buffer_make(&bytes, place, total_bytes, 1)) &&
        CHECK(buffer_make(&out, place, sizeof got, 4)) && buffer_set(&offsets, given) &&
        buffer_set(&bytes, text)) {
        ech_status status = ech_argsort_strings(ctx, offsets.data, bytes.data, out.data, N,
                                                total_bytes, ECH_I32, ECH_U32, NULL);
        if (!cpu && CHECK_STATUS(status, ECH_OK)) status = ech_sync(ctx);
        CHECK_STATUS(status, ECH_ERR_ARG);
        CHECK(strstr(ech_error(ctx), message));
        buffer_get(&out, got);
        if (!cpu) CHECK(memcmp(got, wanted, sizeof got) == 0);
        buffer_check_guards(&out, "indices");
        buffer_free(&offsets);
        buffer_free(&bytes);
        buffer_free(&out);
    }
    test_end();
}

static void all_invalid(ech_ctx *ctx)
{
    invalid(ctx, "decrease", (const int32_t[]){ 0, 4, 9, 7, 11, 15, 20 }, 20,
            "offsets[3] is less than the one before");
    invalid(ctx, "end", (const int32_t[]){ 0, 4, 7, 9, 11, 15, 21 }, 20,
            "offsets[6] is more than total_bytes");
    invalid(ctx, "negative", (const int32_t[]){ -1, 4, 7, 9, 11, 15, 20 }, 20,
            "offsets[0] is more than total_bytes");
    invalid(ctx, "far", (const int32_t[]){ 0, 4, 2147483647, 9, 11, 15, 20 }, 20,
            "offsets[2] is more than total_bytes");
    invalid(ctx, "first", (const int32_t[]){ 9, 4, 7, 9, 11, 15, 19 }, 19,
            "offsets[1] is less than the one before");
    invalid(ctx, "last", (const int32_t[]){ 0, 4, 7, 9, 11, 15, 14 }, 20,
            "offsets[6] is less than the one before");
}

/* ---- Calls that fail ---- */

static void bad(ech_ctx *ctx)
{
    static const uint32_t offsets[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    static uint32_t index[9];
    static const uint8_t bytes[8];
    const void *odd = (const char *)offsets + 2;
    ech_strings_options o = { .size = sizeof o };
    size_t size;
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
    index[0] = 77;
#define REFUSED(part, ...)                                                                         \
    CHECK_FAILS(ctx, ech_argsort_strings(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    CHECK_FAILS(NULL,
                ech_argsort_strings(NULL, offsets, bytes, index, 8, 8, ECH_I32, ECH_U32, NULL),
                ECH_ERR_ARG, "ctx");
    REFUSED("offsets is NULL", NULL, bytes, index, 8, 8, ECH_I32, ECH_U32, NULL);
    REFUSED("bytes is NULL", offsets, NULL, index, 8, 8, ECH_I32, ECH_U32, NULL);
    REFUSED("indices is NULL", offsets, bytes, NULL, 8, 8, ECH_I32, ECH_U32, NULL);
    REFUSED("offsets is not aligned", odd, bytes, index, 7, 8, ECH_I32, ECH_U32, NULL);
    REFUSED("overlap", offsets, index, index, 8, 8, ECH_I32, ECH_U32, NULL);
    REFUSED("overlap", index, bytes, index + 8, 8, 8, ECH_I32, ECH_U32, NULL);
    REFUSED("offsets_dtype is f32", offsets, bytes, index, 8, 8, ECH_F32, ECH_U32, NULL);
    REFUSED("index_dtype is u8", offsets, bytes, index, 8, 8, ECH_I32, ECH_U8, NULL);
    REFUSED("n is", offsets, bytes, index, SIZE_MAX / 8, 8, ECH_I32, ECH_U64, NULL);
    REFUSED("index_dtype i32", offsets, bytes, index, (size_t)1 << 40, 8, ECH_I32, ECH_I32, NULL);
    REFUSED("total_bytes is", offsets, bytes, index, 8, SIZE_MAX, ECH_I32, ECH_U32, NULL);
    o.descending = 2;
    REFUSED("options->descending", offsets, bytes, index, 8, 8, ECH_I32, ECH_U32, &o);
    o.descending = 0, o.nulls_first = -1;
    REFUSED("options->nulls_first", offsets, bytes, index, 8, 8, ECH_I32, ECH_U32, &o);
    o.nulls_first = 0, o.validity_offset = 1;
    REFUSED("options->validity is NULL", offsets, bytes, index, 8, 8, ECH_I32, ECH_U32, &o);
    o.validity = bytes, o.validity_offset = SIZE_MAX - 8;
    REFUSED("options->validity_offset", offsets, bytes, index, 8, 8, ECH_I32, ECH_U32, &o);
    o.validity = (const uint8_t *)(index + 7), o.validity_offset = 0;
    REFUSED("options->validity and indices overlap", offsets, bytes, index, 8, 8, ECH_I32, ECH_U32,
            &o);
    o.validity = NULL, o.algorithm = "slow";
    REFUSED("unknown algorithm \"slow\"", offsets, bytes, index, 8, 8, ECH_I32, ECH_U32, &o);
    REFUSED("unknown algorithm \"slow\"", offsets, bytes, index, 0, 8, ECH_I32, ECH_U32, &o);
    o.algorithm = NULL, o.work_bytes = 1;
    REFUSED("work", offsets, bytes, index, 8, 8, ECH_I32, ECH_U32, &o);
#undef REFUSED
    CHECK_FAILS(NULL, ech_strings_workspace("cpu", 8, 8, ECH_I32, ECH_U32, NULL, NULL), ECH_ERR_ARG,
                "bytes");
    CHECK_FAILS(NULL, ech_strings_workspace("cpu", 8, 8, ECH_U16, ECH_U32, NULL, &size),
                ECH_ERR_ARG, "offsets_dtype");
    CHECK_INT(index[0], 77);
    CHECK_STATUS(ech_argsort_strings(ctx, NULL, NULL, NULL, 0, 0, ECH_I32, ECH_U32, NULL), ECH_OK);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    n_contexts = test_contexts(contexts, DEVICES);
    cases(run_case);
    for (int i = 0; i < n_contexts; i++) {
        all_invalid(contexts[i]);
        bad(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
