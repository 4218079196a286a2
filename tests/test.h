/*
 * test.h - shared code of the test programs: checks that print both values, a seeded generator,
 * counts, devices, and buffers with guard zones.
 *
 * A program runs cases: test_begin(), checks, test_end(). The first failed check of a case prints
 * the id of the case; an id as an argument runs only this case. main() returns test_finish(),
 * which prints the totals in the form that scripts/check.sh reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_H
#define TEST_H

#include <echelon.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Cases and checks: test.c ---- */

/* Opens a case; false if the command line selects other cases. */
bool test_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void test_end(void);

/* Counts the open case as skipped and prints the reason. A skipped case never counts as passed. */
void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Marks the open case as failed and prints the reason, for the first few failures of a case. */
void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool test_failed(void);

/* Prints "N passed, N failed, N skipped"; returns the exit status of main(). */
int test_finish(void);

/* These evaluate their arguments once and return true if the check holds. */
#define CHECK(condition) test_check(__FILE__, __LINE__, #condition, (condition))
#define CHECK_INT(a, b)  test_check_int(__FILE__, __LINE__, #a, #b, (long long)(a), (long long)(b))
#define CHECK_STATUS(call, status)                                                                 \
    test_check_status(__FILE__, __LINE__, #call, (call), (status), NULL)
#define CHECK_TEXT(text, part) test_check_text(__FILE__, __LINE__, #text, (text), (part))

/* The call must fail with status, and its message must contain part. ctx may be NULL. */
#define CHECK_FAILS(ctx, call, status, part)                                                       \
    test_check_fails(__FILE__, __LINE__, #call, (call), (status), (ctx), (part))

bool test_check(const char *file, int line, const char *text, bool holds);
bool test_check_int(const char *file, int line, const char *a_text, const char *b_text, long long a,
                    long long b);
bool test_check_status(const char *file, int line, const char *text, ech_status got,
                       ech_status wanted, const ech_ctx *ctx);
bool test_check_fails(const char *file, int line, const char *text, ech_status got,
                      ech_status wanted, const ech_ctx *ctx, const char *part);
bool test_check_text(const char *file, int line, const char *what, const char *text,
                     const char *part);

/* ---- Command line ---- */

struct test_options {
    const char *device; /* --device NAME or ECHELON_TEST_DEVICE; NULL: all devices */
    bool quick, large, list;
    bool one_way;        /* --one-way: runs only new ways of a case, or one if there are none */
    bool cover;          /* --cover: as --quick, and only cases that run something new */
    bool stop;           /* --stop: ends after the first case that fails */
    bool lines;          /* --lines: prints the lines of kernels that each case executes */
    bool short_cases;    /* --short: with --quick, few of the longer cases */
    bool always;         /* --always: only the cases that --quick selects more often */
    int every;           /* --every N: one of N cases; the default is 1, with --quick 7 */
    int offset;          /* --offset K: the cases whose number is K modulo N */
    const char *ids[64]; /* ids of the cases to run */
    int n_ids;
    int cases, passed, failed, skipped;
};
extern struct test_options test_options;

/* Reads the options of every program; exits with a usage message for unknown ones. */
void test_main(int argc, char **argv);

/* Whether --quick and --every select a case. The number, which differs between cases, decides which
 * one of N it is; is_small: --quick runs it. */
bool test_drawn(uint64_t number, bool is_small);

/* The same for a case that --quick selects more often, or with --always: one of about N / 7. */
bool test_drawn_often(uint64_t number);

/* The same for a case that every run without --offset K selects.  Runs with other instruction sets
 * or for other GPUs have offsets, and each selects a third. */
bool test_drawn_always(uint64_t number);

/* ---- Devices: device.c ---- */

/* Returns the name of the i-th device to test on; false if there is none. */
bool test_device(int i, char *name, size_t capacity_bytes);
bool test_is_cpu(const ech_ctx *ctx);

/* Opens a context on each of these devices, at most `most`; returns their number.  The program ends
 * if one cannot be opened. */
int test_contexts(ech_ctx **contexts, int most);

/* The number of threads of this process. If wanted is not 0, waits up to a second until it has that
 * value: joined threads may still be listed for a moment. */
int test_count_threads(int wanted);

/* ---- Random numbers: splitmix64 ---- */

struct rng {
    uint64_t state;
};
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t n); /* n > 0 */
uint64_t hash_text(const char *text);

/* ---- Buffers of device or host memory, with guard zones: buffer.c ---- */

/* Allocates bytes of memory between two zones with a pattern, aligned to 256 plus offset. */
struct buffer {
    ech_ctx *ctx; /* NULL: host memory */
    char *base, *data;
    size_t bytes, whole_bytes; /* of the array; with its guard zones */
};

/* Fills the buffer with a pattern. ctx NULL: host memory. offset: misalignment in bytes. */
bool buffer_make(struct buffer *buffer, ech_ctx *ctx, size_t bytes, size_t offset);
void buffer_free(struct buffer *buffer);
bool buffer_set(struct buffer *buffer, const void *from);
bool buffer_get(const struct buffer *buffer, void *to);

/* Fails the case if a byte of the guard zones has changed. */
bool buffer_check_guards(const struct buffer *buffer, const char *name);

/* One of the four types of indices, chosen by `which`; one of 64 bits if most exceeds 2^31 - 1. */
ech_dtype index_dtype(uint64_t which, uint64_t most);

/* The type of indices with this width that is unsigned, or, if which is even, signed. */
ech_dtype index_sign(ech_dtype dtype, uint64_t which);

/* The same numbers as an array of this type, from malloc(). */
void *index_array(const uint64_t *from, size_t n, ech_dtype dtype);

#endif
