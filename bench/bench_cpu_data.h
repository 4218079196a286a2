/*
 * bench_cpu_data.h - keys of every distribution, and checks of results, for the CPU benchmark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_CPU_DATA_H
#define BENCH_CPU_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fills keys[n] of a dtype with "uniform", "sorted", "reversed", "equal", "few16", "zipf" or
 * "almost_sorted" (1 % of the keys swapped).  Floats are in [-1, 1). */
void data_keys(void *keys, size_t n, const char *dtype, const char *distribution);

/* value i is i, in value_bytes, for value_bytes of 4 or 8. */
void data_positions(void *values, size_t n, size_t value_bytes);

/* An order-independent number of the keys, the same for the same multiset. */
uint64_t data_sum(const void *keys, size_t n, size_t key_bytes);

bool data_sorted(const void *keys, size_t n, const char *dtype);

/* Values point to their keys in the input; if stable, equal keys' values rise. */
bool data_pairs(const void *keys, const void *values, size_t value_bytes, const void *input,
                size_t n, size_t key_bytes, bool stable);

#endif
