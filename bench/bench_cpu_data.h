/*
 * bench_cpu_data.h - generates keys of each distribution and checks results, for bench_cpu.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_CPU_DATA_H
#define BENCH_CPU_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fills keys[n] of the dtype.  The distribution is "uniform", "sorted", "reversed", "equal",
 * "few16", "zipf" or "almost_sorted" (1 % of the keys are swapped).  Floats are in [-1, 1). */
void data_keys(void *keys, size_t n, const char *dtype, const char *distribution);

/* Sets value i to i; value_bytes is 4 or 8. */
void data_positions(void *values, size_t n, size_t value_bytes);

/* A hash of the multiset of keys; it does not depend on their order. */
uint64_t data_sum(const void *keys, size_t n, size_t key_bytes);

bool data_sorted(const void *keys, size_t n, const char *dtype);

/* Whether each value is the input position of its key; if stable, values of equal keys ascend. */
bool data_pairs(const void *keys, const void *values, size_t value_bytes, const void *input,
                size_t n, size_t key_bytes, bool stable);

#endif
