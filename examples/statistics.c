/*
 * statistics.c - summarises a column of numbers: mean, standard deviation, minimum, maximum, the
 * number of values above the mean, and a histogram.   cc statistics.c -lechelon -lm
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>

#include <math.h>
#include <stdio.h>

/* Daily rain in millimetres; NaN if the gauge was broken. */
static const float rain[] = { 0,    0,    2.5f, 11.0f, 0.2f, 0,     NAN,  4.1f,
                              7.3f, 0.1f, 0,    0,     3.3f, 28.4f, 1.0f, 0 };
enum { N = sizeof rain / sizeof *rain, BINS = 6 };

static int fail(ech_ctx *ctx)
{
    fprintf(stderr, "%s\n", ech_error(ctx));
    ech_close(ctx);
    return 1;
}

int main(void)
{
    ech_ctx *ctx;
    ech_reduce_options o = { .size = sizeof o, .nan = ECH_NAN_IGNORE, .ddof = 1 };
    float mean, deviation, extremes[2];
    uint64_t wet, counts[BINS];

    if (ech_open(&ctx, NULL) != ECH_OK) return fail(NULL);
    if (ech_reduce(ctx, ECH_OP_MEAN, rain, &mean, N, ECH_F32, &o) != ECH_OK ||
        ech_reduce(ctx, ECH_OP_STDDEV, rain, &deviation, N, ECH_F32, &o) != ECH_OK ||
        ech_reduce(ctx, ECH_OP_MINMAX, rain, extremes, N, ECH_F32, &o) != ECH_OK)
        return fail(ctx);
    o.compare = ECH_COMPARE_GREATER;
    o.value = &mean;
    if (ech_reduce(ctx, ECH_OP_COUNT, rain, &wet, N, ECH_F32, &o) != ECH_OK ||
        ech_histogram(ctx, rain, counts, N, ECH_F32, BINS, 0, 30, NULL) != ECH_OK)
        return fail(ctx);

    printf("mean %.2f, sd %.2f, from %g to %g, %d of %d above the mean\n", (double)mean,
           (double)deviation, (double)extremes[0], (double)extremes[1], (int)wet, (int)N);
    for (int b = 0; b < BINS; b++)
        printf("%2d to %2d  %.*s\n", 5 * b, 5 * b + 5, (int)counts[b], "################");
    ech_close(ctx);
    return 0;
}
