/*
 * quantile_bad.c - calls of test_quantile that fail, special arrays, and quantiles of six numbers
 * by every method, which NumPy 2.4 returned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void bad_nth(ech_ctx *ctx)
{
    static uint32_t in[9], out[9], index[9];
    void *odd = (char *)out + 2;
    ech_quantile_options o = { .size = sizeof o };
    out[0] = index[0] = 77;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_nth_element(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    CHECK_FAILS(NULL, ech_nth_element(NULL, in, out, index, 8, 3, ECH_U32, ECH_U32, NULL),
                ECH_ERR_ARG, "ctx");
    REFUSED("rank is 8", in, out, index, 8, 8, ECH_U32, ECH_U32, NULL);
    REFUSED("rank is 0", in, out, index, 0, 0, ECH_U32, ECH_U32, NULL);
    REFUSED("value and index are NULL", in, NULL, NULL, 8, 0, ECH_U32, ECH_U32, NULL);
    REFUSED("in is NULL", NULL, out, index, 8, 0, ECH_U32, ECH_U32, NULL);
    REFUSED("value is not aligned", in, odd, index, 8, 0, ECH_U32, ECH_U32, NULL);
    REFUSED("index is not aligned", in, out, odd, 8, 0, ECH_U32, ECH_U32, NULL);
    REFUSED("overlap", in, in + 3, index, 8, 0, ECH_U32, ECH_U32, NULL);
    REFUSED("overlap", in, out, out, 8, 0, ECH_U32, ECH_U32, NULL);
    REFUSED("dtype", in, out, index, 8, 0, (ech_dtype)12, ECH_U32, NULL);
    REFUSED("index_dtype", in, out, index, 8, 0, ECH_U32, ECH_F32, NULL);
    REFUSED("index_dtype", in, NULL, index, (size_t)1 << 33, 0, ECH_U8, ECH_U32, NULL);
    REFUSED("n is", in, out, index, SIZE_MAX / 2, 0, ECH_U32, ECH_U64, NULL);
    o.nan = (ech_nan)2;
    REFUSED("nan is 2", in, out, index, 8, 0, ECH_U32, ECH_U32, &o);
    o.nan = ECH_NAN_PROPAGATE, o.algorithm = "heap";
    REFUSED("heap", in, out, index, 8, 0, ECH_U32, ECH_U32, &o);
    o.algorithm = NULL, o.size = 7;
    REFUSED("ech_quantile_options", in, out, index, 8, 0, ECH_U32, ECH_U32, &o);
    o.size = sizeof o, o.work_bytes = 1;
    REFUSED("work", in, out, index, 8, 0, ECH_U32, ECH_U32, &o);
#undef REFUSED
    CHECK_INT(out[0], 77);
    CHECK_INT(index[0], 77);
}

static void bad_partition(ech_ctx *ctx)
{
    static uint32_t in[9], out[9], index[9];
    uint64_t ranks[128] = { 3, 8 };
    out[0] = index[0] = 77;
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_partition_at(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    CHECK_FAILS(NULL, ech_partition_at(NULL, in, out, index, 8, ranks, 1, ECH_U32, ECH_U32, NULL),
                ECH_ERR_ARG, "ctx");
    REFUSED("ranks[1] is 8", in, out, index, 8, ranks, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("ranks[0] is 3", NULL, NULL, NULL, 0, ranks, 1, ECH_U32, ECH_U32, NULL);
    REFUSED("ranks is NULL", in, out, index, 8, NULL, 1, ECH_U32, ECH_U32, NULL);
    REFUSED("n_ranks is 128", in, out, index, 8, ranks, 128, ECH_U32, ECH_U32, NULL);
    REFUSED("out and index_out are NULL", in, NULL, NULL, 8, ranks, 1, ECH_U32, ECH_U32, NULL);
    REFUSED("in is NULL", NULL, out, index, 8, ranks, 1, ECH_U32, ECH_U32, NULL);
    REFUSED("overlap", in, in, index, 8, ranks, 1, ECH_U32, ECH_U32, NULL);
    REFUSED("overlap", in, out, out, 8, ranks, 1, ECH_U32, ECH_U32, NULL);
    REFUSED("index_out is not aligned", in, out, (char *)index + 1, 8, ranks, 1, ECH_U32, ECH_U32,
            NULL);
    REFUSED("index_dtype", in, out, index, 8, ranks, 1, ECH_U32, ECH_U8, NULL);
#undef REFUSED
    CHECK_INT(out[0], 77);
    CHECK_INT(index[0], 77);
    CHECK_STATUS(ech_partition_at(ctx, NULL, NULL, NULL, 0, NULL, 0, ECH_U32, ECH_U32, NULL),
                 ECH_OK);
}

static void bad_quantiles(ech_ctx *ctx)
{
    static uint32_t in[9];
    double out[3] = { 77, 77, 77 }, q[3] = { 0.5, 1.5, (double)NAN };
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_quantiles(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    CHECK_FAILS(NULL, ech_quantiles(NULL, in, out, q, 8, 1, ECH_U32, ECH_QUANTILE_LINEAR, NULL),
                ECH_ERR_ARG, "ctx");
    REFUSED("q[1] is 1.5", in, out, q, 8, 2, ECH_U32, ECH_QUANTILE_LINEAR, NULL);
    REFUSED("q[0] is nan", in, out, q + 2, 8, 1, ECH_U32, ECH_QUANTILE_LINEAR, NULL);
    q[0] = -0.1;
    REFUSED("q[0] is -0.1", in, out, q, 8, 1, ECH_U32, ECH_QUANTILE_LINEAR, NULL);
    q[0] = 0.5;
    REFUSED("q is NULL", in, out, NULL, 8, 1, ECH_U32, ECH_QUANTILE_LINEAR, NULL);
    REFUSED("out is NULL", in, NULL, q, 8, 1, ECH_U32, ECH_QUANTILE_LINEAR, NULL);
    REFUSED("in is NULL", NULL, out, q, 8, 1, ECH_U32, ECH_QUANTILE_LINEAR, NULL);
    REFUSED("out is not aligned", in, (char *)out + 4, q, 8, 1, ECH_U32, ECH_QUANTILE_LINEAR, NULL);
    REFUSED("method is 13", in, out, q, 8, 1, ECH_U32, (ech_quantile_method)13, NULL);
    REFUSED("n is 0", NULL, out, q, 0, 1, ECH_U32, ECH_QUANTILE_LOWER, NULL);
    REFUSED("dtype", in, out, q, 8, 1, (ech_dtype)12, ECH_QUANTILE_LINEAR, NULL);
#undef REFUSED
    CHECK(out[0] == 77 && out[1] == 77 && out[2] == 77);
    CHECK_STATUS(ech_quantiles(ctx, in, NULL, NULL, 8, 0, ECH_U32, ECH_QUANTILE_LINEAR, NULL),
                 ECH_OK);
    /* Without elements, NaN. */
    CHECK_STATUS(ech_quantiles(ctx, NULL, out, q, 0, 1, ECH_U32, ECH_QUANTILE_LINEAR, NULL),
                 ECH_OK);
    CHECK(isnan(out[0]) && out[1] == 77);
    CHECK_STATUS(ech_quantiles(ctx, NULL, out, q, 0, 1, ECH_F64, ECH_QUANTILE_LOWER, NULL), ECH_OK);
    CHECK(isnan(out[0]) && out[1] == 77);
}

static void bad_queries(void)
{
    size_t bytes;
    CHECK_FAILS(NULL,
                ech_quantile_workspace("cpu", (ech_quantile_call)3, 8, 1, ECH_U32, NULL, &bytes),
                ECH_ERR_ARG, "call is 3");
    CHECK_FAILS(NULL,
                ech_quantile_workspace("cpu", ECH_QUANTILE_CALL_NTH, 8, 2, ECH_U32, NULL, &bytes),
                ECH_ERR_ARG, "count is 2");
    CHECK_FAILS(
        NULL,
        ech_quantile_workspace("cpu", ECH_QUANTILE_CALL_PARTITION, 8, 128, ECH_U32, NULL, &bytes),
        ECH_ERR_ARG, "count is 128");
    CHECK_FAILS(NULL,
                ech_quantile_workspace("cpu", ECH_QUANTILE_CALL_NTH, 8, 1, ECH_U32, NULL, NULL),
                ECH_ERR_ARG, "bytes");
    CHECK_FAILS(
        NULL,
        ech_quantile_workspace("cpu", ECH_QUANTILE_CALL_NTH, 8, 1, (ech_dtype)12, NULL, &bytes),
        ECH_ERR_ARG, "dtype");
    CHECK_INT(ech_quantile_dtype(ECH_QUANTILE_LINEAR, ECH_U8), ECH_F64);
    CHECK_INT(ech_quantile_dtype(ECH_QUANTILE_AVERAGED_INVERTED_CDF, ECH_U8), ECH_F64);
    CHECK_INT(ech_quantile_dtype(ECH_QUANTILE_NEAREST, ECH_U8), ECH_U8);
    CHECK_INT(ech_quantile_dtype((ech_quantile_method)13, ECH_U8), -1);
    CHECK_INT(ech_quantile_dtype((ech_quantile_method)-1, ECH_U8), -1);
    CHECK_INT(ech_quantile_dtype(ECH_QUANTILE_LINEAR, (ech_dtype)12), -1);
}

void quantile_bad(ech_ctx *ctx)
{
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
    bad_nth(ctx);
    bad_partition(ctx);
    bad_quantiles(ctx);
    bad_queries();
    test_end();
}

/* ---- Known quantiles ---- */

enum { METHODS = 13, QUANTILES = 8 };

static const double known[METHODS][QUANTILES] = {
    { 1.0, 1.5, 2.25, 3.5, 3.75, 6.25, 8.0, 9.0 }, /* linear */
    { 1.0, 1.0, 2.0, 3.0, 4.0, 7.0, 9.0, 9.0 },    /* inverted_cdf */
    { 1.0, 1.0, 2.0, 3.5, 4.0, 7.0, 9.0, 9.0 },    /* averaged_inverted_cdf */
    { 1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 7.0, 9.0 },    /* closest_observation */
    { 1.0, 1.0, 1.5, 3.0, 3.3000000000000003, 5.5, 7.800000000000001, 9.0 }, /* interpolated_... */
    { 1.0, 1.1, 2.0, 3.5, 3.8000000000000003, 7.0, 8.8, 9.0 },               /* hazen */
    { 1.0, 1.0, 1.75, 3.5, 3.8500000000000005, 7.5, 9.0, 9.0 },              /* weibull */
    { 1.0, 1.0, 1.9166666666666667, 3.5, 3.816666666666667, 7.166666666666666, 9.0,
      9.0 },                                            /* median_unbiased */
    { 1.0, 1.0, 1.9375, 3.5, 3.8125, 7.125, 9.0, 9.0 }, /* normal_unbiased */
    { 1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 7.0, 9.0 },         /* lower */
    { 1.0, 2.0, 3.0, 4.0, 4.0, 7.0, 9.0, 9.0 },         /* higher */
    { 1.0, 1.5, 2.5, 3.5, 3.5, 5.5, 8.0, 9.0 },         /* midpoint */
    { 1.0, 1.0, 2.0, 3.0, 4.0, 7.0, 7.0, 9.0 },         /* nearest */
};

void quantile_known(ech_ctx *ctx)
{
    static const double q[QUANTILES] = { 0, 0.1, 0.25, 0.5, 0.55, 0.75, 0.9, 1 };
    static const double in[8] = { 7, 1, 9, 3, 4, 2, (double)NAN, (double)NAN };
    const int8_t small[3] = { -5, 100, 3 };
    ech_quantile_options o = { .size = sizeof o, .nan = ECH_NAN_IGNORE };
    double out[QUANTILES], infinite[3] = { (double)-INFINITY, 1, (double)INFINITY };
    int8_t lower = 0;
    if (!test_begin("known(%s)", ech_device_name(ctx))) return;
    for (int m = 0; m < METHODS; m++)
        for (int with_nan = 0; with_nan < 2; with_nan++) {
            CHECK_STATUS(ech_quantiles(ctx, in, out, q, with_nan ? 8 : 6, QUANTILES, ECH_F64,
                                       (ech_quantile_method)m, with_nan ? &o : NULL),
                         ECH_OK);
            if (memcmp(out, known[m], sizeof out) != 0)
                test_fail(__FILE__, __LINE__, "a quantile by method %d is wrong", m);
        }
    CHECK_STATUS(ech_quantiles(ctx, in, out, q, 8, QUANTILES, ECH_F64, ECH_QUANTILE_LOWER, NULL),
                 ECH_OK);
    for (int i = 0; i < QUANTILES; i++) CHECK(isnan(out[i]));
    CHECK_STATUS(ech_quantiles(ctx, small, &lower, q + 3, 3, 1, ECH_I8, ECH_QUANTILE_LOWER, NULL),
                 ECH_OK);
    CHECK_INT(lower, 3);
    /* A weight of 0 or 1 selects the element, also next to an infinity. */
    CHECK_STATUS(
        ech_quantiles(ctx, infinite, out, q, 3, QUANTILES, ECH_F64, ECH_QUANTILE_LINEAR, NULL),
        ECH_OK);
    CHECK(out[3] == 1 && isinf(out[0]) && isinf(out[7]) && isinf(out[5]) && out[5] > 0);
    test_end();
}
