/*
 * test_simt.c - the SIMT emulator: it finds planted faults and reports none in their correct
 * twins, planted patterns have the same costs as on a GPU, and intrinsic functions return the
 * right results.
 *
 *     test_simt                     every case
 *     test_simt 'fault(race_war'    cases with this prefix
 *     test_simt --csv FILE          also writes the findings and counts, for docs/simt.md
 *
 * simt/faults.def and simt/patterns.def list the expected results. scripts/gpu_truth.sh compares
 * them with compute-sanitizer and the profiler's counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With the address sanitizer, kernels do not report their accesses to the emulator. */
#ifdef TEST_SANITIZED
static const bool reported = false;
#else
static const bool reported = true;
#endif

/* ---- Planted faults ---- */

static const struct fault {
    const char *file, *kernel;
    unsigned blocks, threads, shared_bytes, n_in, n_out;
    const char *expect;
} faults[] = {
#define FAULT(file, kernel, blocks, threads, shared, n_in, n_out, expect, tool, gpu)               \
    { #file, #kernel, blocks, threads, shared, n_in, n_out, expect },
#include "simt/faults.def"
#undef FAULT
};

/* The names of findings in faults.def. */
static const char *const words[SIMT_FAULTS] = {
    [SIMT_RACE] = "race",
    [SIMT_UNWRITTEN] = "uninitialized",
    [SIMT_BOUNDS] = "bounds",
    [SIMT_MISALIGNED] = "misaligned",
    [SIMT_DIVERGENT_BARRIER] = "divergent_barrier",
    [SIMT_MASK] = "mask",
    [SIMT_DEADLOCK] = "deadlock",
    [SIMT_LIMIT] = "launch",
    [SIMT_TRAP] = "trap",
    [SIMT_STACK] = "stack",
};

/* Execution orders of blocks and warps. A fault must be found in every order. */
static const char *const orders[] = {
    "threads=1,seed=0",         "threads=1,seed=1",
    "threads=1,seed=2",         "threads=2,seed=0",
    "threads=1,seed=3,yield=2", "threads=2,seed=4,yield=1",
    "threads=1,seed=5,weak=1",  "threads=1,seed=6,yield=1,weak=1"
};

static struct planted planted(const struct fault *f)
{
    return (struct planted){ .file = f->file,
                             .kernel = f->kernel,
                             .blocks = f->blocks,
                             .threads = f->threads,
                             .shared_bytes = f->shared_bytes,
                             .n_in = f->n_in,
                             .n_out = f->n_out,
                             .p = PLANTED_FAULT_P };
}

/* Whether only the result shows the fault, and only with an option. */
static bool is_silent(const struct fault *f)
{
    return strcmp(f->expect, "yield") == 0 || strcmp(f->expect, "weak") == 0;
}

static void check_fault(const struct fault *f)
{
    struct planted run = planted(f);
    const struct simt_finding *found = NULL;
    int result = simt_run_planted(&run);
    size_t count = simt_findings(&found);
    bool none = strcmp(f->expect, "none") == 0, benign = strcmp(f->expect, "benign") == 0;
    if (none && count) test_fail(__FILE__, __LINE__, "false alarm: %s", found[0].text);
    if (none) CHECK_INT(result, 0);
    if (none && result == 0) simt_check_output(&run);
    if (none || benign) return;
    bool right = false;
    for (size_t i = 0; i < count; i++) right |= strstr(f->expect, words[found[i].fault]) != NULL;
    if (!right)
        test_fail(__FILE__, __LINE__, "expected %s, found %s", f->expect,
                  count ? found[0].text : "nothing");
    CHECK(result != 0);
    for (size_t i = 0; i < count; i++) CHECK_TEXT(found[i].text, f->kernel);
    if (right && strcmp(f->expect, "launch") != 0) CHECK_TEXT(found[0].text, f->file);
}

static void test_faults(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (size_t o = 0; o < sizeof orders / sizeof *orders && !is_silent(&faults[i]); o++) {
            if (!test_begin("fault(%s,%s)", faults[i].kernel, orders[o])) continue;
            simt_options_set("yield=0,weak=0");
            simt_options_set(orders[o]);
            if (reported || strcmp(faults[i].expect, "none") == 0)
                check_fault(&faults[i]);
            else
                test_skip("the address sanitizer replaces the emulator's own checks");
            const struct simt_finding *found = NULL;
            size_t count = simt_findings(&found);
            if (o == 0) simt_csv_fault(faults[i].kernel, count ? found : NULL);
            test_end();
        }
    simt_options_set("threads=1,seed=0,yield=0,weak=0");
}

/* ---- Planted faults that only the options yield and weak show, by a wrong result ---- */

/* The number of seeds with a wrong result, of `seeds`. */
static int count_wrong(const struct fault *f, const char *options, int seeds)
{
    int wrong = 0;
    for (int seed = 0; seed < seeds; seed++) {
        char text[100];
        struct planted run = planted(f);
        const struct simt_finding *found = NULL;
        snprintf(text, sizeof text, "threads=1,seed=%d,%s", seed, options);
        simt_options_set(text);
        CHECK_INT(simt_run_planted(&run), 0);
        if (simt_findings(&found)) test_fail(__FILE__, __LINE__, "found %s", found[0].text);
        wrong += !simt_output_is_right(&run);
    }
    return wrong;
}

static void test_silent_faults(void)
{
    enum { SEEDS = 20, SHOW = 3 }; /* at least this many seeds must show the fault */
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct fault *f = &faults[i];
        bool weak = strcmp(f->expect, "weak") == 0;
        if (!is_silent(f) || !test_begin("silent(%s)", f->kernel)) continue;
        if (!reported) {
            test_skip("with the address sanitizer the emulator sees no stores");
        } else {
            CHECK_INT(count_wrong(f, "yield=0,weak=0", SEEDS), 0);
            if (weak) CHECK_INT(count_wrong(f, "yield=1,weak=0", SEEDS), 0);
            CHECK(count_wrong(f, weak ? "yield=32,weak=1" : "yield=16", SEEDS) >= SHOW);
        }
        test_end();
    }
    simt_options_set("threads=1,seed=0,yield=0,weak=0");
}

/* ---- Planted patterns ---- */

static const struct pattern {
    const char *kernel, *parameter;
    uint32_t p;
    unsigned blocks, threads, shared_bytes, n_in, n_out;
    uint64_t counts[PATTERN_COUNTS];
} patterns[] = {
#define PATTERN(kernel, p, blocks, threads, shared, n_in, n_out, ...)                              \
    { #kernel, #p, p, blocks, threads, shared, n_in, n_out, { __VA_ARGS__ } },
#include "simt/patterns.def"
#undef PATTERN
};

static void check_pattern(const struct pattern *c)
{
    static const char *const names[] = {
        "global loads",   "sectors loaded",    "global stores",  "sectors stored",
        "global atomics", "their sectors",     "shared loads",   "their wavefronts",
        "shared stores",  "their wavefronts",  "shared atomics", "their wavefronts",
        "barriers",       "divergent branches"
    };
    struct planted run = { .file = "patterns",
                           .kernel = c->kernel,
                           .blocks = c->blocks,
                           .threads = c->threads,
                           .shared_bytes = c->shared_bytes,
                           .n_in = c->n_in,
                           .n_out = c->n_out,
                           .p = c->p };
    const struct simt_finding *found = NULL;
    const struct simt_kernel_counts *kernels = NULL;
    CHECK_INT(simt_run_planted(&run), 0);
    if (simt_findings(&found)) test_fail(__FILE__, __LINE__, "false alarm: %s", found[0].text);
    simt_check_output(&run);
    if (!reported || !CHECK_INT(simt_profile(&kernels), 1)) return;
    uint64_t got[PATTERN_COUNTS];
    simt_pattern_counts(&kernels->counts, got);
    for (int i = 0; i < PATTERN_DIVERGENT; i++)
        if (got[i] != c->counts[i])
            test_fail(__FILE__, __LINE__, "%s: %llu, expected %llu", names[i],
                      (unsigned long long)got[i], (unsigned long long)c->counts[i]);
    /* A compiler may compile an if statement to a branch or to a selection; clang++ rearranges
     * loops. */
    uint64_t divergent = got[PATTERN_DIVERGENT];
    if (!TEST_COUNTS_BRANCHES) divergent = c->counts[PATTERN_DIVERGENT];
    if (divergent != c->counts[PATTERN_DIVERGENT] && divergent != c->counts[PATTERN_DIVERGENT + 1])
        test_fail(__FILE__, __LINE__, "%s: %llu, expected %llu or %llu", names[PATTERN_DIVERGENT],
                  (unsigned long long)divergent, (unsigned long long)c->counts[PATTERN_DIVERGENT],
                  (unsigned long long)c->counts[PATTERN_DIVERGENT + 1]);
    simt_csv_pattern(c->kernel, c->p, got);
}

static void test_patterns(void)
{
    simt_options_set("profile");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (!test_begin("pattern(%s,%s)", patterns[i].kernel, patterns[i].parameter)) continue;
        check_pattern(&patterns[i]);
        test_end();
    }
    simt_options_set("noprofile");
}

/* ---- Programmatic dependent launches ---- */

static void test_early(void)
{
    struct planted run = { .file = "patterns",
                           .kernel = "global_read_4",
                           .blocks = 2,
                           .threads = 64,
                           .n_in = 4096,
                           .n_out = 128,
                           .p = PLANTED_INDEX(1, 32, 1, 0),
                           .early = true };
    const struct simt_finding *found = NULL;
    if (!test_begin("early(global_read_4)")) return;
    if (!reported) {
        test_skip("the address sanitizer replaces the emulator's own checks");
        test_end();
        return;
    }
    CHECK_INT(simt_run_planted(&run), CUDA_ERROR_LAUNCH_FAILED);
    if (CHECK(simt_findings(&found) > 0)) {
        CHECK_INT(found[0].fault, SIMT_RACE);
        CHECK_TEXT(found[0].text, "waited for the launches before");
    }
    test_end();
}

/* The library names the digest of its headers; a module of another build is rejected. */
static void test_layout(void)
{
    static const char path[] = SIMT_TEST_MODULES "/faults.so";
    static const char other[] = SIMT_TEST_MODULES "/faults.so?0123456789abcdef0123456789abcdef";
    CUlibrary library = NULL;
    if (!test_begin("a module of another build")) return;
    CHECK_INT(simt_driver.cuLibraryLoadData(&library, other, NULL, NULL, 0, NULL, NULL, 0),
              CUDA_ERROR_INVALID_IMAGE);
    CHECK_INT(simt_driver.cuLibraryLoadData(&library, path, NULL, NULL, 0, NULL, NULL, 0),
              CUDA_SUCCESS);
    test_end();
}

int main(int argc, char **argv)
{
    argc = simt_run_begin(argc, argv);
    test_main(argc, argv);
    test_faults();
    test_silent_faults();
    test_patterns();
    test_early();
    test_layout();
    simt_run_end();
    return test_finish();
}
