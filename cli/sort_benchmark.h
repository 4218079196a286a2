/*
 * sort_benchmark.h - the records of the sort benchmark (sortbenchmark.org), computed from their
 * numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_BENCHMARK_H
#define ECHELON_CLI_SORT_BENCHMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCHMARK_RECORD = 100,
    BENCHMARK_KEY = 10,
    BENCHMARK_SPARE = 6, /* bytes after the last record that benchmark_fill() overwrites */
    BENCHMARK_PREFIX = 6,
    BENCHMARK_PREFIXES = 66 /* record numbers have up to 65 bits */
};

__extension__ typedef unsigned __int128 u128;

struct benchmark {
    bool ascii, skewed;
    unsigned char prefixes[BENCHMARK_PREFIXES][BENCHMARK_PREFIX]; /* of skewed keys */
};

void benchmark_init(struct benchmark *benchmark, bool ascii, bool skewed);
/* Writes records first .. first + n - 1.  out has room for n records and BENCHMARK_SPARE bytes. */
void benchmark_fill(const struct benchmark *benchmark, u128 first, size_t n, unsigned char *out);

/* Text of a 128-bit number in base 10 or 16, with up to 39 digits. */
enum { U128_TEXT = 40 };
const char *u128_text(u128 value, unsigned base, char text[U128_TEXT]);

#endif
