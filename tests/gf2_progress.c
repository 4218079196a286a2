/*
 * gf2_progress.c - the progress function receives reports from products and eliminations, and
 * cancels them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2_case.h"

#include <stdio.h>
#include <string.h>

struct told {
    int cancel_at; /* the report that cancels the call; 0: none */
    int times;
    double last;
    bool falls;
};

static int on_progress(void *user, double done)
{
    struct told *told = user;
    if (done < told->last || done > 1) told->falls = true;
    told->last = done;
    told->times++;
    return told->cancel_at && told->times >= told->cancel_at;
}

static void is_told(struct told *told, const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "%s: %d progress calls, the last with %g", name, told->times,
             told->last);
    test_check(__FILE__, __LINE__, text, told->times > 0 && !told->falls && told->last > 0.9);
    *told = (struct told){ .times = 0 };
}

void run_progress(void)
{
    enum { N = 1500, CALLS = 2 };
    static const ech_gf2_call calls[CALLS] = { ECH_GF2_CALL_MUL, ECH_GF2_CALL_ECHELON };
    char names[GF2_ALGORITHMS][GF2_NAME_BYTES];
    struct matrix a, b, out;
    struct told told = { .times = 0 };
    uint32_t rank;
    ech_ctx *ctx;
    if (!test_begin("progress")) return;
    if (!CHECK_STATUS(ech_open(&ctx, "cpu"), ECH_OK)) return;
    CHECK_FAILS(NULL, ech_set_progress(NULL, on_progress, &told), ECH_ERR_ARG, "ctx");
    CHECK(matrix_make(&a, NULL, N, N, NULL, 0, 1) && matrix_make(&b, NULL, N, N, NULL, 0, 2) &&
          matrix_make(&out, NULL, N, N, NULL, 0, 3));
    CHECK_STATUS(ech_gf2_random(ctx, &a.m, 0.5, 1), ECH_OK);
    CHECK_STATUS(ech_gf2_random(ctx, &b.m, 0.5, 2), ECH_OK);
    CHECK_STATUS(ech_set_progress(ctx, on_progress, &told), ECH_OK);
    for (int i = 0; i < CALLS; i++) {
        const int n = gf2_algorithms(ctx, calls[i], N, N, N, names);
        for (int j = 1; j < n; j++) {
            const ech_gf2_options mul = { .size = sizeof mul, .algorithm = names[j] };
            const ech_gf2_echelon_options form = { .size = sizeof form, .algorithm = names[j] };
            if (calls[i] == ECH_GF2_CALL_MUL) {
                CHECK_STATUS(ech_gf2_mul(ctx, &a.m, &b.m, &out.m, &mul), ECH_OK);
            } else {
                CHECK_STATUS(ech_gf2_copy(ctx, &a.m, 0, 0, &out.m, 0, 0, N, N), ECH_OK);
                CHECK_STATUS(ech_gf2_echelon(ctx, &out.m, &rank, NULL, &form), ECH_OK);
            }
            if (strcmp(names[j], "direct") == 0) continue;
            is_told(&told, names[j]);
            told.cancel_at = 1;
            if (calls[i] == ECH_GF2_CALL_MUL) {
                CHECK_FAILS(ctx, ech_gf2_mul(ctx, &a.m, &b.m, &out.m, &mul), ECH_ERR_CANCELED,
                            "progress");
            } else {
                CHECK_STATUS(ech_gf2_copy(ctx, &a.m, 0, 0, &out.m, 0, 0, N, N), ECH_OK);
                CHECK_FAILS(ctx, ech_gf2_echelon(ctx, &out.m, &rank, NULL, &form), ECH_ERR_CANCELED,
                            "progress");
            }
            CHECK_INT(told.times, 1);
            told = (struct told){ .times = 0 };
        }
    }
    CHECK_STATUS(ech_set_progress(ctx, NULL, NULL), ECH_OK);
    CHECK_STATUS(ech_gf2_mul(ctx, &a.m, &b.m, &out.m, NULL), ECH_OK);
    CHECK_INT(told.times, 0);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&out);
    ech_close(ctx);
    test_end();
}
