/*
 * test.c - counts cases, prints the first failures of each, and reads the command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test.h"

#include "simt/simt.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FAILURES_PRINTED = 4 };

struct test_options test_options;

static char case_id[512];
static int case_failures;
static bool case_skipped;

bool test_begin(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(case_id, sizeof case_id, format, args);
    va_end(args);
    case_failures = 0;
    case_skipped = false;
    bool wanted = test_options.n_ids == 0;
    for (int i = 0; i < test_options.n_ids; i++)
        wanted |= strncmp(case_id, test_options.ids[i], strlen(test_options.ids[i])) == 0;
    if (wanted && test_options.list) puts(case_id);
    return wanted && !test_options.list;
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prints the lines of kernels that the emulator has executed since the last call. */
static void print_lines(void)
{
    static double last_s;
    const struct simt_kernel_counts *kernels;
    size_t (*profile)(const struct simt_kernel_counts **);
    void (*forget)(void);
    void *emulator = dlopen("libechelon_simt.so", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = emulator ? dlsym(emulator, "simt_profile") : NULL;
    if (!symbol) return;
    memcpy(&profile, &symbol, sizeof profile);
    symbol = dlsym(emulator, "simt_forget");
    memcpy(&forget, &symbol, sizeof forget);
    printf("lines %.3f %s\n", last_s > 0 ? seconds() - last_s : 0, case_id);
    for (size_t i = 0, count = profile(&kernels); i < count; i++)
        for (size_t j = 0; j < kernels[i].line_count; j++)
            printf("  %s\n", kernels[i].lines[j].place);
    forget();
    dlclose(emulator);
    last_s = seconds();
}

void test_end(void)
{
    if (test_options.lines) print_lines();
    test_options.cases++;
    if (case_failures)
        test_options.failed++;
    else if (case_skipped)
        test_options.skipped++;
    else
        test_options.passed++;
    if (test_options.stop && test_options.failed) exit(test_finish());
}

void test_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("skip %s: ", case_id);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    case_skipped = true;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    if (case_failures++ == 0) printf("FAIL '%s'\n", case_id);
    if (case_failures > FAILURES_PRINTED) return;
    va_list args;
    va_start(args, format);
    printf("    %s:%d: ", file, line);
    vprintf(format, args);
    putchar('\n');
    fflush(stdout);
    va_end(args);
}

bool test_failed(void)
{
    return case_failures > 0;
}

int test_finish(void)
{
    if (test_options.list) return 0;
    if (test_options.n_ids && test_options.cases == 0) {
        printf("no case id begins with '%s'\n", test_options.ids[0]);
        return 2;
    }
    printf("%d passed, %d failed, %d skipped\n", test_options.passed, test_options.failed,
           test_options.skipped);
    if (test_options.failed) return 1;
    return test_options.passed == 0 && test_options.skipped ? 77 : 0; /* ctest: skipped */
}

/* ---- Checks ---- */

bool test_check(const char *file, int line, const char *text, bool holds)
{
    if (!holds) test_fail(file, line, "check failed: %s", text);
    return holds;
}

bool test_check_int(const char *file, int line, const char *a_text, const char *b_text, long long a,
                    long long b)
{
    if (a != b) test_fail(file, line, "%s is %lld, but %s is %lld", a_text, a, b_text, b);
    return a == b;
}

bool test_check_status(const char *file, int line, const char *text, ech_status got,
                       ech_status wanted, const ech_ctx *ctx)
{
    if (got != wanted)
        test_fail(file, line, "%s returns %s instead of %s; message \"%s\"", text,
                  ech_status_name(got), ech_status_name(wanted), ech_error(ctx));
    return got == wanted;
}

bool test_check_fails(const char *file, int line, const char *text, ech_status got,
                      ech_status wanted, const ech_ctx *ctx, const char *part)
{
    return test_check_status(file, line, text, got, wanted, ctx) &&
           test_check_text(file, line, text, ech_error(ctx), part);
}

bool test_check_text(const char *file, int line, const char *what, const char *text,
                     const char *part)
{
    bool holds = text && strstr(text, part);
    if (!holds) test_fail(file, line, "%s: \"%s\" does not contain \"%s\"", what, text, part);
    return holds;
}

/* ---- Command line ---- */

bool test_drawn(uint64_t number, bool is_small)
{
    const struct test_options *o = &test_options;
    return !o->always && number % (unsigned)o->every == (unsigned)o->offset &&
           (is_small || !o->quick);
}

bool test_drawn_often(uint64_t number)
{
    const unsigned every = 1 + (unsigned)test_options.every / 7;
    return test_options.always || number % every == (unsigned)test_options.offset % every;
}

bool test_drawn_always(uint64_t number)
{
    const struct test_options *o = &test_options;
    return !o->offset || number % 3 == 3 * (unsigned)o->offset / (unsigned)o->every;
}

void test_main(int argc, char **argv)
{
    struct test_options *o = &test_options;
    o->device = getenv("ECHELON_TEST_DEVICE");
    if (o->device && !*o->device) o->device = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            o->device = argv[++i];
        else if (strcmp(argv[i], "--quick") == 0)
            o->quick = true;
        else if (strcmp(argv[i], "--one-way") == 0)
            o->one_way = true;
        else if (strcmp(argv[i], "--cover") == 0)
            o->quick = o->cover = true;
        else if (strcmp(argv[i], "--every") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
            o->every = atoi(argv[++i]);
        else if (strcmp(argv[i], "--offset") == 0 && i + 1 < argc && atoi(argv[i + 1]) >= 0)
            o->offset = atoi(argv[++i]);
        else if (strcmp(argv[i], "--short") == 0)
            o->short_cases = true;
        else if (strcmp(argv[i], "--always") == 0)
            o->always = true;
        else if (strcmp(argv[i], "--large") == 0)
            o->large = true;
        else if (strcmp(argv[i], "--stop") == 0)
            o->stop = true;
        else if (strcmp(argv[i], "--lines") == 0)
            o->lines = true;
        else if (strcmp(argv[i], "--list") == 0)
            o->list = true;
        else if (argv[i][0] != '-' && o->n_ids < 64)
            o->ids[o->n_ids++] = argv[i];
        else {
            fprintf(
                stderr,
                "usage: %s [--device NAME] [--quick | --cover | --always] [--every N [--offset K]] "
                "[--one-way] [--short] [--large] [--list] [--stop] [--lines] "
                "[CASE...]\n",
                argv[0]);
            exit(2);
        }
    }
    if (!o->every) o->every = o->quick ? 7 : 1;
    o->offset %= o->every;
}

/* ---- Random numbers ---- */

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* The bias of the remainder is less than n / 2^64, which no test can detect. */
uint64_t rng_below(struct rng *rng, uint64_t n)
{
    return rng_next(rng) % n;
}

uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a */
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return hash;
}
