/*
 * bench_cpu_data.c - generates keys of each distribution and checks results, for bench_cpu.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_cpu_data.h"

#include <math.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545F4914F6CDD1Du;
}

static size_t bytes_of(const char *dtype)
{
    return (size_t)(dtype[1] == '8' ? 1 : dtype[1] == '1' ? 2 : dtype[1] == '3' ? 4 : 8);
}

/* Maps x in [0, 1) to a key; the map is monotonic. */
static void put(void *keys, size_t i, const char *dtype, double x)
{
    size_t bytes = bytes_of(dtype);
    char *to = (char *)keys + i * bytes;
    float f = (float)(2 * x - 1);
    double d = 2 * x - 1;
    uint64_t u = (uint64_t)(x * 0x1p53) << 11 >> (64 - 8 * bytes);
    if (dtype[0] == 'f')
        memcpy(to, bytes == 4 ? (void *)&f : (void *)&d, bytes);
    else
        memcpy(to, &u, bytes); /* little-endian, like all machines of the competitors */
}

static double draw(const char *distribution, size_t i, size_t n)
{
    double unit = (double)(next_random() >> 11) * 0x1p-53;
    switch (distribution[0]) {
    case 's':
    case 'a':
        return (double)i / (double)n;
    case 'r':
        return (double)(n - 1 - i) / (double)n;
    case 'e':
        return 0.75;
    case 'f':
        return floor(unit * 16) / 16;
    case 'z':
        return floor(pow(1e6, unit)) * 0x1p-32; /* small integers: ranks 1 .. 10^6 */
    default:
        return unit;
    }
}

void data_keys(void *keys, size_t n, const char *dtype, const char *distribution)
{
    for (size_t i = 0; i < n; i++) put(keys, i, dtype, draw(distribution, i, n));
    for (size_t i = 0; distribution[0] == 'a' && i < n / 100; i++) {
        size_t bytes = bytes_of(dtype);
        char *a = (char *)keys + next_random() % n * bytes, t[8];
        char *b = (char *)keys + next_random() % n * bytes;
        memcpy(t, a, bytes);
        memmove(a, b, bytes);
        memcpy(b, t, bytes);
    }
}

void data_positions(void *values, size_t n, size_t value_bytes)
{
    for (uint64_t i = 0; i < n; i++) memcpy((char *)values + i * value_bytes, &i, value_bytes);
}

static uint64_t load(const void *keys, size_t i, size_t bytes)
{
    uint64_t u = 0;
    memcpy(&u, (const char *)keys + i * bytes, bytes);
    return u;
}

uint64_t data_sum(const void *keys, size_t n, size_t key_bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t u = load(keys, i, key_bytes) * 0x9E3779B97F4A7C15u;
        u ^= u >> 29;
        sum += u * 0xBF58476D1CE4E5B9u;
    }
    return sum;
}

bool data_sorted(const void *keys, size_t n, const char *dtype)
{
    size_t bytes = bytes_of(dtype);
    uint64_t top = dtype[0] == 'f' ? (uint64_t)1 << (8 * bytes - 1) : 0, before = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t u = load(keys, i, bytes);
        if (dtype[0] == 'f') u = u & top ? ~u & (top | (top - 1)) : u | top;
        if (u < before) return false;
        before = u;
    }
    return true;
}

bool data_pairs(const void *keys, const void *values, size_t value_bytes, const void *input,
                size_t n, size_t key_bytes, bool stable)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t at = load(values, i, value_bytes);
        if (at >= n || load(input, (size_t)at, key_bytes) != load(keys, i, key_bytes)) return false;
        if (stable && i && load(keys, i, key_bytes) == load(keys, i - 1, key_bytes) &&
            at <= load(values, i - 1, value_bytes))
            return false;
    }
    return true;
}
