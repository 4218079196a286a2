/*
 * test_ladder_html.c - the page of "echelon ladder --html" for results of a GPU: the chart of
 * times, rates, wrong rows, false claims, and texts that HTML must escape.
 *
 * The results are made here, so the test needs no GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* mkstemp() */

#include "ladder_html.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- A replacement for a function of the command ---- */

int cli_fail_io(io_status status, const struct io_error *error)
{
    (void)error;
    return status == IO_OK ? EXIT_DONE : EXIT_BAD;
}

/* ---- A ladder of three rungs and two claims ---- */

static const struct rung rungs[] = {
    { .number = 1, .idea = "first", .text = "a < b & \"c\"" },
    { .number = 2, .idea = "second", .text = "limited", .most = 1024 },
    { .number = 3, .idea = "production", .text = "the library's" },
};

static bool never(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "%d rows", results->count);
    return false;
}

static const struct claim claims[] = {
    { "Rung 3 is <always> faster", true, never },
    { "A claim about counts", false, never },
};

static struct ladder ladder = { .name = "made",
                                .summary = "a ladder for this test",
                                .types = "u32",
                                .unit = "keys",
                                .ceiling = CEILING_MEMORY,
                                .rungs = rungs,
                                .rung_count = 3,
                                .claims = claims,
                                .claim_count = 2 };

static struct ladder_device device = { .copy_bytes_per_s = 4e12, .operations_per_s = 6e13 };

static void keep(struct ladder_report *report, int rung, uint64_t n, double ms)
{
    struct result result = { .rung = &rungs[rung], .type = ECH_U32, .n = n, .right = ms > 0 };
    result.ms = ms;
    result.bytes = 8 * (double)n;
    if (!result.right) snprintf(result.message, sizeof result.message, "byte 0 of 8 <differs>");
    CHECK(ladder_keep(&report->results, &result));
}

static void make(struct ladder_report *report, bool sizes)
{
    *report = (struct ladder_report){ .whole = true, .checks = 12, .wrong = 1 };
    report->results = (struct results){ .ladder = &ladder, .device = &device };
    keep(report, 0, 1000, 0.004);
    keep(report, 1, 1000, 0.002);
    keep(report, 2, 1000, 0.001);
    if (sizes) {
        keep(report, 0, 1 << 20, 40);
        keep(report, 1, 1024, 0.002);
        keep(report, 2, 1 << 20, 0);
        keep(report, 2, 1 << 22, 0.01);
    }
    snprintf(report->because[0], sizeof report->because[0], "1 ms > 2 ms");
}

/* ---- Pages ---- */

/* The page in memory; NULL after a failed check. */
static char *page_of(const struct ladder_report *report)
{
    char path[] = "/tmp/test_ladder_html.XXXXXX";
    struct io_output output;
    struct io_error error;
    int fd = mkstemp(path);
    if (!CHECK(fd >= 0)) return NULL;
    close(fd);
    char *page = NULL;
    if (CHECK_INT(io_create(&output, path, &error), IO_OK))
        CHECK_INT(ladder_html(report, 1, &output), EXIT_DONE);
    io_discard(&output);
    FILE *file = fopen(path, "r");
    if (CHECK(file)) {
        page = calloc(1, 1 << 20);
        if (CHECK(page)) CHECK(fread(page, 1, (1 << 20) - 1, file) > 0);
        fclose(file);
    }
    remove(path);
    return page;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
    return count;
}

static void test_times(void)
{
    struct ladder_report report;
    if (!test_begin("times by n")) return;
    make(&report, true);
    char *page = page_of(&report);
    if (page) {
        CHECK_TEXT(page, "<title>made: time by n</title>");
        /* The lines, and their samples in the legend. */
        CHECK_INT(count_of(page, "stroke-dasharray"), 2 * 3);
        CHECK_INT(count_of(page, "<li>"), 3);
        /* Rung 1 has two points, rung 2 the first size and its maximum, rung 3 no wrong point. */
        CHECK_INT(count_of(page, "m-3-3h6v6h-6v-6m3 3"), 6);
        CHECK_TEXT(page, ">2^20</text>");
        CHECK_TEXT(page, ">1000</text>");
        /* Decades from 1 us to 100 ms. */
        CHECK_TEXT(page, "text-anchor=\"end\">1 us</text>");
        CHECK_TEXT(page, "text-anchor=\"end\">100 ms</text>");
        CHECK(!strstr(page, "text-anchor=\"end\">1000 ms</text>"));
    }
    free(page);
    free(report.results.rows);
    test_end();
}

static void test_one_size(void)
{
    struct ladder_report report;
    if (!test_begin("one size has no chart by n")) return;
    make(&report, false);
    char *page = page_of(&report);
    if (page) {
        CHECK(!strstr(page, "time by n"));
        CHECK_INT(count_of(page, "class=\"chart\""), 1);
        /* Five quantities of three rungs. */
        CHECK_INT(count_of(page, "class=\"bar\""), 15);
        CHECK_TEXT(page, ">4 us</text>");
        /* 8000 bytes in 4 us are 2 GB/s, and 0.05 % of 4000 GB/s. */
        CHECK_TEXT(page, ">2</text>");
        CHECK_TEXT(page, "<td class=\"number\">0.1 %</td>");
        CHECK_TEXT(page, "<td class=\"number\">4.00</td>"); /* speedup of rung 3 */
        CHECK_TEXT(page, "a copy reaches 4000 GB/s");
    }
    free(page);
    free(report.results.rows);
    test_end();
}

static void test_texts(void)
{
    struct ladder_report report;
    if (!test_begin("claims, wrong rows and escaped texts")) return;
    make(&report, true);
    char *page = page_of(&report);
    if (page) {
        CHECK_TEXT(page, "a &#60; b &#38; &#34;c&#34;");
        CHECK_TEXT(page, "Rung 3 is &#60;always&#62; faster</td><td class=\"no\">no</td>");
        CHECK_TEXT(page, "<td>1 ms &#62; 2 ms</td>");
        CHECK(!strstr(page, "A claim about counts"));
        CHECK_TEXT(page, "<td class=\"wrong\">wrong: byte 0 of 8 &#60;differs&#62;</td>");
        CHECK_INT(count_of(page, "class=\"wrong\""), 1);
        CHECK_TEXT(page, "12 runs at irregular sizes; wrong results: 1.");
    }
    free(page);
    report.whole = false;
    page = page_of(&report);
    if (page) CHECK_TEXT(page, "The claims were not tested");
    free(page);
    free(report.results.rows);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    if (ech_open(&device.ctx, "cpu") != ECH_OK) return EXIT_FAILURE;
    test_times();
    test_one_size();
    test_texts();
    ech_close(device.ctx);
    return test_finish();
}
