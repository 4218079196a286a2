/*
 * test_matmul.c - products of matrices, and of a matrix and a vector, on every device with every
 * algorithm; invalid arguments.
 *
 *     test_matmul                                 every case on every device
 *     test_matmul --device simt --quick           some small cases
 *     test_matmul 'product(f32,33x65x17'          cases with this prefix
 *
 * "tiled" must return the bits of the oracle. "blas" may differ by the error of any order of
 * summation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matmul_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, TEXT_BYTES = 4096 };

static ech_ctx *contexts[DEVICES];
static int n_contexts;

/* ---- Arrays ---- */

/* Device memory or host memory, in turn. */
static ech_ctx *place(ech_ctx *ctx, uint64_t seed, int bit)
{
    return test_is_cpu(ctx) || seed >> bit & 1 ? NULL : ctx;
}

static size_t extent(size_t rows, size_t cols, size_t stride, size_t count, size_t step)
{
    return rows && cols && count ? (count - 1) * step + (rows - 1) * stride + cols : 0;
}

/* An array of n elements with a misalignment of `offset` elements. */
static bool array_make(struct buffer *b, ech_ctx *ctx, ech_dtype dtype, const void *from, size_t n,
                       size_t offset)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    return buffer_make(b, ctx, n * bytes, offset * bytes) && buffer_set(b, from);
}

static bool same(const struct buffer *b, const void *wanted, const char *name)
{
    char *got = malloc(b->bytes + 1);
    bool good = got && buffer_get(b, got) && buffer_check_guards(b, name);
    size_t i = 0;
    while (good && i < b->bytes && got[i] == ((const char *)wanted)[i]) i++;
    if (good && i < b->bytes) {
        test_fail(__FILE__, __LINE__, "%s: byte %zu of %zu differs", name, i, b->bytes);
        good = false;
    }
    free(got);
    return good;
}

/* ---- Products ---- */

struct data {
    size_t a_n, b_n, c_n;
    void *a, *b, *before, *exact;
};

static struct data data_make(const struct product *p, uint64_t seed)
{
    struct data d;
    const ech_dtype out = product_c_dtype(p);
    d.a_n = extent(p->turn_a ? p->k : p->m, p->turn_a ? p->m : p->k, product_a_stride(p), p->count,
                   product_a_step(p));
    d.b_n = extent(p->turn_b ? p->n : p->k, p->turn_b ? p->k : p->n, product_b_stride(p), p->count,
                   product_b_step(p));
    d.c_n = extent(p->m, p->n, p->n + p->c_gap, p->count, product_c_step(p));
    d.a = calloc(d.a_n + 1, 8);
    d.b = calloc(d.b_n + 1, 8);
    d.before = calloc(d.c_n + 1, 8);
    d.exact = calloc(d.c_n + 1, 8);
    if (!d.a || !d.b || !d.before || !d.exact) abort();
    matmul_fill(p->dtype, p->dist, d.a, d.a_n, seed);
    matmul_fill(p->dtype, p->dist, d.b, d.b_n, seed + 1);
    matmul_fill(out, p->beta == 0 ? "nan" : p->dist, d.before, d.c_n, seed + 2);
    memcpy(d.exact, d.before, d.c_n * ech_dtype_bytes(out));
    product_exact(p, d.a, d.b, d.exact);
    return d;
}

static void data_free(struct data *d)
{
    free(d->a);
    free(d->b);
    free(d->before);
    free(d->exact);
}

static ech_matmul_options options_of(const struct product *p, const char *algorithm)
{
    return (ech_matmul_options){ .size = sizeof(ech_matmul_options),
                                 .transpose_a = p->turn_a,
                                 .transpose_b = p->turn_b,
                                 .accumulate_wide = p->wide,
                                 .batch_count = p->count,
                                 .a_batch_stride = product_a_step(p),
                                 .b_batch_stride = product_b_step(p),
                                 .c_batch_stride = product_c_step(p),
                                 .algorithm = algorithm };
}

static bool close_enough(const struct product *p, const struct data *d, const struct buffer *c)
{
    const ech_dtype out = product_c_dtype(p);
    char *got = malloc(c->bytes + 1);
    bool good = got && buffer_get(c, got) && buffer_check_guards(c, "c");
    for (size_t which = 0; which < p->count && good; which++)
        for (size_t i = 0; i < p->m && good; i++)
            for (size_t j = 0; j < p->n && good; j++) {
                const size_t at = which * product_c_step(p) + i * (p->n + p->c_gap) + j;
                double wanted,
                    bound = product_bound(p, d->a, d->b, d->before, which, i, j, &wanted);
                const double x = matmul_get(out, got, at);
                good = fabs(x - wanted) <= bound;
                if (!good)
                    test_fail(__FILE__, __LINE__, "c(%zu, %zu) of %zu is %.17g, not %.17g +- %g", i,
                              j, which, x, wanted, bound);
            }
    free(got);
    return good;
}

static bool has_blas(ech_ctx *ctx, const struct product *p)
{
    static char text[TEXT_BYTES];
    const ech_matmul_options options = options_of(p, NULL);
    return ech_matmul_explain(ech_device_name(ctx), p->m, p->n, p->k, p->dtype, &options,
                              ECH_FORMAT_TEXT, text, sizeof text) == ECH_OK &&
           strstr(text, " blas:");
}

static void product_on(ech_ctx *ctx, const struct product *p, const struct data *d,
                       const char *algorithm, uint64_t seed)
{
    const ech_dtype out = product_c_dtype(p);
    const size_t offset = seed >> 8 & 3;
    ech_matmul_options options = options_of(p, algorithm);
    struct buffer a, b, c;
    bool made = array_make(&a, place(ctx, seed, 0), p->dtype, d->a, d->a_n, offset);
    made = array_make(&b, place(ctx, seed, 1), p->dtype, d->b, d->b_n, seed >> 10 & 3) && made;
    made = array_make(&c, place(ctx, seed, 2), out, d->before, d->c_n, seed >> 12 & 3) && made;
    if (CHECK(made) &&
        CHECK_STATUS(ech_matmul(ctx, p->m, p->n, p->k, p->alpha, a.data, product_a_stride(p),
                                b.data, product_b_stride(p), p->beta, c.data, p->n + p->c_gap,
                                p->dtype, &options),
                     ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        same(&a, d->a, "a");
        same(&b, d->b, "b");
        if (algorithm && strcmp(algorithm, "tiled") == 0)
            same(&c, d->exact, "c");
        else if (strcmp(p->dist, "plain") == 0)
            close_enough(p, d, &c);
    }
    if (test_failed())
        test_fail(__FILE__, __LINE__, "with \"%s\" on %s", algorithm ? algorithm : "",
                  ech_device_name(ctx));
    buffer_free(&a);
    buffer_free(&b);
    buffer_free(&c);
}

static bool wanted(size_t work, size_t most)
{
    static unsigned number;
    return test_drawn(number++, work <= most) || test_options.n_ids;
}

static void run_product(const struct product *p)
{
    char id[200];
    if (!wanted(p->m * p->n * p->k * p->count, 3000000)) return;
    snprintf(id, sizeof id, "product(%s,%zux%zux%zu,count=%zu,%s%s%salpha=%g,beta=%g,gap=%zu,%s)",
             ech_dtype_name(p->dtype), p->m, p->n, p->k, p->count, p->turn_a ? "ta," : "",
             p->turn_b ? "tb," : "", p->wide ? "wide," : "", p->alpha, p->beta, p->a_gap, p->dist);
    if (!test_begin("%s", id)) return;
    const uint64_t seed = hash_text(id);
    struct data d = data_make(p, seed);
    for (int i = 0; i < n_contexts && !test_failed(); i++) {
        product_on(contexts[i], p, &d, "tiled", seed);
        if (!test_failed()) product_on(contexts[i], p, &d, NULL, seed / 7);
        if (!test_failed() && has_blas(contexts[i], p))
            product_on(contexts[i], p, &d, "blas", seed / 49);
    }
    data_free(&d);
    test_end();
}

static const ech_dtype dtypes[] = { ECH_F32, ECH_F64, ECH_F16, ECH_BF16 };

static void run_products(void)
{
    static const size_t sizes[] = { 1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257 };
    static const double scales[] = { 1, 0, 1.25, -1 };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (size_t i = 0; i < 4 * SIZES * 5; i++) {
        struct product p = { .dtype = dtypes[i % 4], .count = 1, .dist = "plain" };
        p.m = sizes[i / 4 % SIZES];
        p.n = sizes[(i * 7 + i / SIZES) % SIZES];
        p.k = sizes[(i * 11 + i / 60) % SIZES];
        p.turn_a = (int)(i / 3 % 2);
        p.turn_b = (int)(i / 5 % 2);
        p.wide = ech_dtype_bytes(p.dtype) == 2 && i / 4 % 2;
        p.alpha = scales[i % 7 == 3 ? 2 : i % 31 == 5 ? 1 : i % 5 == 2 ? 3 : 0];
        p.beta = scales[(i / 4 + i / 16) % 4 < 2 ? 1 : i / 8 % 4];
        p.a_gap = i % 3 ? 0 : 3 + i % 5;
        p.b_gap = i % 4 ? 0 : 4;
        p.c_gap = i % 5 ? 0 : 1 + i % 3;
        if (i % 9 == 4 && p.k < 64) p.dist = "special";
        run_product(&p);
    }
}

static void run_shapes(void)
{
    static const size_t shapes[][4] = {
        { 1, 1, 3000, 1 },  { 3000, 1, 5, 1 },   { 1, 3000, 300, 1 },  { 5, 7, 2000, 1 },
        { 2, 300, 700, 1 }, { 300, 3, 600, 1 },  { 4, 4, 4, 200 },     { 17, 9, 33, 20 },
        { 65, 70, 40, 6 },  { 129, 130, 20, 9 }, { 130, 30, 0, 3 },    { 0, 5, 5, 1 },
        { 5, 0, 5, 1 },     { 40, 30, 0, 1 },    { 300, 500, 600, 1 }, { 256, 256, 20, 1 }
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < 8; j++) {
            struct product p = { shapes[i][0],
                                 shapes[i][1],
                                 shapes[i][2],
                                 shapes[i][3],
                                 .alpha = j & 1 ? 1 : 0.3,
                                 .beta = j & 2 ? 1.5 : 0,
                                 .dtype = dtypes[(i + j) % 4],
                                 .dist = "plain" };
            p.turn_a = (j >> 2 & 1) != 0;
            p.turn_b = (i + j) % 3 == 0;
            p.shared_a = i % 2 && p.count > 1;
            p.shared_b = j % 3 == 1 && p.count > 1;
            p.a_gap = p.b_gap = j % 4 == 3 ? 5 : 0;
            p.c_gap = j % 5 == 4 ? 3 : 0;
            run_product(&p);
        }
}

/* Enough tiles for the kernels with the largest ones on a GPU. */
static void run_large(void)
{
    for (int i = 0; i < 2; i++) {
        const struct product p = { 1537,
                                   1410,
                                   19,
                                   1,
                                   .alpha = 1,
                                   .beta = i ? 0.5 : 0,
                                   .dtype = i ? ECH_F64 : ECH_F32,
                                   .turn_a = i,
                                   .turn_b = !i,
                                   .c_gap = (size_t)i,
                                   .dist = "plain" };
        run_product(&p);
    }
}

/* The product of all rows has the bits of products of a few rows, which have smaller tiles. */
static void tiles_on(ech_ctx *ctx, const struct product *p, uint64_t seed)
{
    enum { STRIP = 60 };
    const size_t bytes = ech_dtype_bytes(p->dtype), a_stride = product_a_stride(p);
    const ech_matmul_options options = options_of(p, "tiled");
    char *a = calloc(p->m * p->k, bytes), *b = calloc(p->k * p->n, bytes);
    char *c = calloc(p->m * p->n, bytes), *d = calloc(p->m * p->n, bytes);
    if (!a || !b || !c || !d) abort();
    matmul_fill(p->dtype, p->dist, a, p->m * p->k, seed);
    matmul_fill(p->dtype, p->dist, b, p->k * p->n, seed + 1);
    CHECK_STATUS(ech_matmul(ctx, p->m, p->n, p->k, 1, a, a_stride, b, product_b_stride(p), 0, c,
                            p->n, p->dtype, &options),
                 ECH_OK);
    for (size_t row = 0; row < p->m && !test_failed(); row += STRIP) {
        const size_t rows = p->m - row < STRIP ? p->m - row : STRIP;
        CHECK_STATUS(ech_matmul(ctx, rows, p->n, p->k, 1,
                                a + row * (p->turn_a ? 1 : a_stride) * bytes, a_stride, b,
                                product_b_stride(p), 0, d + row * p->n * bytes, p->n, p->dtype,
                                &options),
                     ECH_OK);
    }
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    CHECK(memcmp(c, d, p->m * p->n * bytes) == 0);
    free(a);
    free(b);
    free(c);
    free(d);
}

/* The largest tiles and the next ones on a GPU with 132 multiprocessors and on the emulator, which
 * has 4. */
static void run_tiles(void)
{
    static const size_t large[][3] = { { 1664, 1280, 420 }, { 1000, 3000, 400 } };
    static const size_t small[][3][3] = {
        { { 256, 256, 340 }, { 256, 256, 20 }, { 256, 256, 140 } },
        { { 64, 512, 60 }, { 128, 256, 140 }, { 64, 512, 4 } }
    };
    for (int i = 0; i < 32; i++) {
        struct product p = { .count = 1, .dtype = dtypes[i % 4], .dist = "plain" };
        p.turn_a = i / 4 & 1;
        p.turn_b = i / 8 & 1;
        if (!wanted(p.turn_a || p.turn_b, 0)) continue;
        if (!test_begin("tiles(%s,%s%s%d)", ech_dtype_name(p.dtype), p.turn_a ? "ta," : "",
                        p.turn_b ? "tb," : "", i / 16))
            continue;
        for (int j = 0; j < n_contexts && !test_failed(); j++) {
            const bool gpu = strncmp(ech_device_name(contexts[j]), "cuda", 4) == 0;
            const size_t *sizes = gpu ? large[i / 16] : small[i / 16][i % 4 < 2 ? i % 4 : 2];
            p.m = sizes[0];
            p.n = sizes[1];
            p.k = sizes[2];
            tiles_on(contexts[j], &p, (uint64_t)i);
        }
        test_end();
    }
}

/* ---- Arrays of pointers ---- */

static void list_on(ech_ctx *ctx, const struct product *p, const struct data *d, bool on_device,
                    const char *algorithm)
{
    enum { MOST = 8 };
    ech_ctx *where = on_device && !test_is_cpu(ctx) ? ctx : NULL;
    ech_matmul_options options = options_of(p, algorithm);
    const size_t in = ech_dtype_bytes(p->dtype), out = ech_dtype_bytes(product_c_dtype(p));
    const void *pointers[3][MOST];
    struct buffer a, b, c, lists[3];
    bool made = array_make(&a, where, p->dtype, d->a, d->a_n, 1);
    made = array_make(&b, where, p->dtype, d->b, d->b_n, 0) && made;
    made = array_make(&c, where, product_c_dtype(p), d->before, d->c_n, 3) && made;
    options.batch_count = options.a_batch_stride = options.b_batch_stride = options.c_batch_stride =
        0;
    for (size_t i = 0; i < p->count; i++) {
        const size_t j = i * 3 % p->count; /* in another order */
        pointers[0][i] = a.data + j * product_a_step(p) * in;
        pointers[1][i] = b.data + j * product_b_step(p) * in;
        pointers[2][i] = c.data + j * product_c_step(p) * out;
    }
    for (int l = 0; l < 3; l++)
        made = buffer_make(&lists[l], where, p->count * sizeof(void *), 0) &&
               buffer_set(&lists[l], pointers[l]) && made;
    if (CHECK(made) &&
        CHECK_STATUS(ech_matmul_pointers(
                         ctx, p->count, p->m, p->n, p->k, p->alpha,
                         (const void *const *)(void *)lists[0].data, product_a_stride(p),
                         (const void *const *)(void *)lists[1].data, product_b_stride(p), p->beta,
                         (void *const *)(void *)lists[2].data, p->n + p->c_gap, p->dtype, &options),
                     ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        same(&a, d->a, "a");
        same(&b, d->b, "b");
        if (algorithm)
            same(&c, d->exact, "c");
        else
            close_enough(p, d, &c);
    }
    for (int l = 0; l < 3; l++) buffer_free(&lists[l]);
    buffer_free(&a);
    buffer_free(&b);
    buffer_free(&c);
}

static void run_lists(void)
{
    for (int i = 0; i < 8; i++) {
        struct product p = { 33,
                             40,
                             17,
                             7,
                             .alpha = 1.5,
                             .beta = i & 4 ? 0.5 : 0,
                             .dtype = dtypes[i % 4],
                             .dist = "plain" };
        p.turn_a = i & 1;
        p.turn_b = i >> 1 & 1;
        if (!wanted(0, 1) || !test_begin("list(%s,beta=%g)", ech_dtype_name(p.dtype), p.beta))
            continue;
        struct data d = data_make(&p, (uint64_t)i);
        for (int j = 0; j < n_contexts; j++)
            for (int where = 0; where < 4; where++)
                list_on(contexts[j], &p, &d, where & 1, where & 2 ? "tiled" : NULL);
        data_free(&d);
        test_end();
    }
}

/* ---- A matrix times a vector ---- */

static void matvec_on(ech_ctx *ctx, ech_dtype dtype, int turn, size_t rows, size_t cols,
                      double alpha, double beta, size_t gap, const char *dist, uint64_t seed)
{
    const size_t stride = cols + gap, n = turn ? cols : rows, terms = turn ? rows : cols;
    const size_t a_n = extent(rows, cols, stride, 1, 0);
    void *a = calloc(a_n + 1, 8), *x = calloc(terms + 1, 8), *y = calloc(n + 1, 8);
    struct buffer ab, xb, yb;
    if (!a || !x || !y) abort();
    matmul_fill(dtype, dist, a, a_n, seed);
    matmul_fill(dtype, dist, x, terms, seed + 1);
    matmul_fill(dtype, beta == 0 ? "nan" : dist, y, n, seed + 2);
    bool made =
        array_make(&ab, place(ctx, seed, 0), dtype, a, a_n, seed >> 8 & 1 ? seed >> 9 & 3 : 0);
    made = array_make(&xb, place(ctx, seed, 1), dtype, x, terms, seed >> 11 & 1) && made;
    made = array_make(&yb, place(ctx, seed, 2), dtype, y, n, seed >> 12 & 3) && made;
    ech_matvec_options options = { .size = sizeof options, .transpose = turn };
    struct buffer work = { .data = NULL };
    if (seed % 2) {
        CHECK_STATUS(ech_matvec_workspace(ech_device_name(ctx), rows, cols, dtype, &options,
                                          &options.work_bytes),
                     ECH_OK);
        made = buffer_make(&work, test_is_cpu(ctx) ? NULL : ctx, options.work_bytes, 0) && made;
        if (options.work_bytes) options.work = work.data;
    }
    matvec_exact(dtype, turn, rows, cols, alpha, a, stride, x, beta, y);
    if (CHECK(made) &&
        CHECK_STATUS(ech_matvec(ctx, rows, cols, alpha, ab.data, stride, xb.data, beta, yb.data,
                                dtype, &options),
                     ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK)) {
        same(&ab, a, "a");
        same(&xb, x, "x");
        same(&yb, y, "y");
    }
    buffer_free(&work);
    buffer_free(&ab);
    buffer_free(&xb);
    buffer_free(&yb);
    free(a);
    free(x);
    free(y);
}

static void run_matvecs(void)
{
    static const size_t shapes[][2] = { { 0, 3 },      { 3, 0 },     { 1, 1 },      { 2, 3 },
                                        { 100, 4 },    { 33, 7 },    { 64, 33 },    { 65, 63 },
                                        { 63, 64 },    { 129, 65 },  { 40, 127 },   { 31, 513 },
                                        { 128, 200 },  { 257, 256 }, { 700, 31 },   { 3, 4095 },
                                        { 2, 4097 },   { 1, 9000 },  { 4097, 5 },   { 9001, 3 },
                                        { 5000, 1 },   { 70, 1030 }, { 300, 555 },  { 1, 300000 },
                                        { 300000, 1 }, { 530, 555 }, { 1901, 1900 } };
    for (size_t i = 0; i < 8 * sizeof shapes / sizeof *shapes; i++) {
        const size_t rows = shapes[i / 8][0], cols = shapes[i / 8][1],
                     gap = i % 3 == 2 ? 4 : i % 5 / 4;
        const ech_dtype dtype = dtypes[i % 2];
        const int turn = (int)(i / 2 % 2);
        const double alpha = i % 7 == 6 ? 0
                             : i % 3    ? 1
                                        : -0.7,
                     beta = i / 4 % 2 ? (i % 3 ? 0.5 : 1) : 0;
        const char *dist = i % 11 == 7 ? "special" : "plain";
        if ((test_options.quick && test_options.n_ids == 0 && rows * cols > 40000) ||
            !test_begin("matvec(%s,%zux%zu,%salpha=%g,beta=%g,gap=%zu,%s)", ech_dtype_name(dtype),
                        rows, cols, turn ? "turned," : "", alpha, beta, gap, dist))
            continue;
        for (int j = 0; j < n_contexts; j++)
            if (rows * cols > 1000000 && !test_is_cpu(contexts[j]))
                test_skip("a matrix for the caches of a CPU");
            else
                matvec_on(contexts[j], dtype, turn, rows, cols, alpha, beta, gap, dist,
                          hash_text(dist) + i * 7919);
        test_end();
    }
}

/* ---- The rest of the contract: matmul_contract.c ---- */

void matmul_contract(ech_ctx *const *all, int n);

int main(int argc, char **argv)
{
    char name[64];
    test_main(argc, argv);
    for (int i = 0; i < DEVICES && test_device(i, name, sizeof name); i++)
        if (ech_open(&contexts[n_contexts], name) == ECH_OK)
            n_contexts++;
        else if (test_begin("open(%s)", name)) {
            test_fail(__FILE__, __LINE__, "%s", ech_error(NULL));
            test_end();
        }
    matmul_contract(contexts, n_contexts);
    run_products();
    run_shapes();
    run_large();
    run_tiles();
    run_lists();
    run_matvecs();
    for (int i = 0; i < n_contexts; i++) ech_close(contexts[i]);
    return test_finish();
}
