/*
 * latency.c - measures a new process: opening a context, the first sort, and the hundredth sort.
 *
 *     latency [DEVICE] [N]
 *
 * Prints "device,n,open_ms,first_ms,hundredth_ms,peak_bytes,formula_bytes".  It sorts
 * n u32 keys in host memory.  peak_bytes is the maximum of device memory that the context held,
 * formula_bytes the expected value: the keys (on a GPU) plus the result of ech_sort_workspace().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "echelon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : NULL;
    size_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    uint32_t *keys = malloc(n * sizeof *keys), *out = malloc(n * sizeof *out);
    ech_ctx *ctx;
    double sort_ms[100] = { 0 };
    if (!keys || !out) return fprintf(stderr, "latency: out of memory\n"), 4;
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        keys[i] = (uint32_t)x;
    }
    memset(out, 0, n * sizeof *out); /* its pages are there */

    double begin = now_ms();
    if (ech_open(&ctx, device)) return fprintf(stderr, "latency: %s\n", ech_error(NULL)), 3;
    double open_ms = now_ms() - begin;
    for (int i = 0; i < 100; i++) {
        begin = now_ms();
        if (ech_sort(ctx, keys, out, n, ECH_U32, NULL))
            return fprintf(stderr, "latency: %s\n", ech_error(ctx)), 1;
        sort_ms[i] = now_ms() - begin;
        for (size_t j = 1; j < n; j++)
            if (out[j - 1] > out[j]) return fprintf(stderr, "latency: not sorted at %zu\n", j), 1;
    }
    const char *name = ech_device_name(ctx);
    uint64_t peak;
    size_t work;
    ech_memory_usage(ctx, 0, NULL, &peak);
    if (ech_sort_workspace(name, n, ECH_U32, 0, NULL, &work)) return 1;
    if (strcmp(name, "cpu") != 0) work += n * sizeof *keys;
    printf("%s,%zu,%.3f,%.3f,%.3f,%llu,%zu\n", name, n, open_ms, sort_ms[0], sort_ms[99],
           (unsigned long long)peak, work);
    ech_close(ctx);
    free(keys);
    free(out);
    return 0;
}
