/*
 * measure.c - runs one rung on one array and compares the result with the oracle; counts on the
 * SIMT emulator, times on a GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700 /* clock_gettime() */

#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    UNWRITTEN = 0xA7, /* content of out and scratch before a run */
    MOST_TIMES = 15
};
static const double most_ms = 600; /* approximate time limit for timing a rung */

/* ---- A trial's memory ---- */

static void begin(struct trial *trial, const struct ladder_data *data)
{
    const struct ladder *ladder = trial->ladder;
    ladder->shape(trial);
    trial->host_in = malloc(trial->in_bytes + 1);
    trial->host_out = malloc(trial->out_bytes + 1);
    trial->expected = malloc(trial->out_bytes + 1);
    if (!trial->host_in || !trial->host_out || !trial->expected) {
        ladder_fail(trial, "out of memory for %llu elements", (unsigned long long)trial->n);
        return;
    }
    trial->given = data != NULL;
    if (data)
        memcpy(trial->host_in, data->in, trial->in_bytes);
    else
        ladder->make(trial);
    ladder->expect(trial);
    ladder_allocate(trial, &trial->in, trial->in_bytes);
    ladder_allocate(trial, &trial->out, trial->out_bytes);
    ladder_allocate(trial, &trial->scratch, trial->scratch_bytes);
    ladder_upload(trial, trial->in, trial->host_in, trial->in_bytes);
    if (!trial->device->simt) { /* the emulator detects uninitialised reads */
        ladder_fill(trial, trial->out, UNWRITTEN, trial->out_bytes);
        ladder_fill(trial, trial->scratch, UNWRITTEN, trial->scratch_bytes);
    }
}

static void end(struct trial *trial)
{
    ladder_release(trial, &trial->in);
    ladder_release(trial, &trial->out);
    ladder_release(trial, &trial->scratch);
    free(trial->host_in);
    free(trial->host_out);
    free(trial->expected);
}

/* ---- Comparison with the oracle ---- */

static void compare(struct trial *trial, struct result *result)
{
    const unsigned char *out = trial->host_out, *expected = trial->expected;
    size_t i = 0;
    if (trial->ladder->accept) {
        result->right = trial->ladder->accept(trial, result->message, sizeof result->message);
        return;
    }
    result->right = memcmp(out, expected, trial->out_bytes) == 0;
    if (result->right) return;
    while (out[i] == expected[i]) i++;
    snprintf(result->message, sizeof result->message,
             "byte %zu of %zu differs from the oracle's result", i, trial->out_bytes);
}

static void check_input(struct trial *trial, struct result *result)
{
    void *now = malloc(trial->in_bytes + 1);
    if (!now) {
        ladder_fail(trial, "out of memory for %llu elements", (unsigned long long)trial->n);
        return;
    }
    ladder_download(trial, now, trial->in, trial->in_bytes);
    if (!trial->failed && memcmp(now, trial->host_in, trial->in_bytes) != 0) {
        result->right = false;
        snprintf(result->message, sizeof result->message, "the rung changed its input");
    }
    free(now);
}

static void add_counts(struct simt_counts *to, const struct simt_counts *from)
{
    uint64_t a[sizeof *to / sizeof(uint64_t)], b[sizeof *to / sizeof(uint64_t)];
    memcpy(a, to, sizeof a);
    memcpy(b, from, sizeof b);
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) a[i] += b[i];
    memcpy(to, a, sizeof a);
}

/* The findings of the emulator; a fault makes the result wrong. */
static void take_counts(const struct ladder_device *device, struct result *result)
{
    const struct simt_kernel_counts *kernels;
    const struct simt_finding *findings;
    size_t n = device->emulator.profile(&kernels);
    result->launches = 0; /* includes the library's */
    for (size_t i = 0; i < n; i++) {
        add_counts(&result->counts, &kernels[i].counts);
        result->launches += kernels[i].launches;
        result->blocks += kernels[i].blocks;
    }
    n = device->emulator.findings(&findings);
    for (size_t i = 0; i < n; i++) result->faults += findings[i].count;
    if (n == 0) return;
    result->right = false;
    snprintf(result->message, sizeof result->message, "%s", findings[0].text);
}

static void run_once(struct trial *trial, struct result *result)
{
    struct ladder_device *device = trial->device;
    if (device->simt) device->emulator.forget();
    trial->launches = 0;
    trial->rung->run(trial);
    ladder_wait(trial);
    result->launches = trial->launches;
    result->noted = trial->noted;
    if (!trial->rung->on_host)
        ladder_download(trial, trial->host_out, trial->out, trial->out_bytes);
    if (trial->failed) return;
    compare(trial, result);
    if (result->right && trial->ladder->observe) result->observed = trial->ladder->observe(trial);
    check_input(trial, result);
    if (device->simt) take_counts(device, result);
}

/* ---- Time ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_once(struct trial *trial)
{
    struct timespec before, after;
    if (!trial->rung->on_host) return ladder_time(trial);
    clock_gettime(CLOCK_MONOTONIC, &before);
    trial->rung->run(trial);
    clock_gettime(CLOCK_MONOTONIC, &after);
    return (double)(after.tv_sec - before.tv_sec) * 1e3 +
           (double)(after.tv_nsec - before.tv_nsec) * 1e-6;
}

static void time_it(struct trial *trial, struct result *result)
{
    double ms[MOST_TIMES], total = 0;
    int times = 0;
    time_once(trial);
    while (!trial->failed && times < MOST_TIMES && (times < 3 || total < most_ms)) {
        ms[times] = time_once(trial);
        total += ms[times++];
        if (total > 10 * most_ms) break;
    }
    if (trial->failed) return;
    qsort(ms, (size_t)times, sizeof *ms, by_value);
    result->ms = ms[times / 2];
}

/* ---- Interface ---- */

static bool measure(struct ladder_device *device, const struct ladder *ladder,
                    const struct rung *rung, ech_dtype type, uint64_t n, uint64_t seed,
                    const struct ladder_data *data, bool timed, struct result *result)
{
    struct trial trial = { .device = device,
                           .ladder = ladder,
                           .rung = rung,
                           .type = type,
                           .element_bytes = ech_dtype_bytes(type),
                           .n = n,
                           .seed = seed };
    *result = (struct result){ .rung = rung, .type = type, .n = n };
    begin(&trial, data);
    if (!trial.failed) run_once(&trial, result);
    if (!trial.failed && data && data->out) memcpy(data->out, trial.host_out, trial.out_bytes);
    if (!trial.failed && timed && result->right && !device->simt) time_it(&trial, result);
    result->bytes =
        ladder->bytes ? ladder->bytes(&trial) : (double)trial.in_bytes + (double)trial.out_bytes;
    result->operations = ladder->operations ? ladder->operations(&trial) : 0;
    end(&trial);
    return !trial.failed;
}

bool ladder_check(struct ladder_device *device, const struct ladder *ladder,
                  const struct rung *rung, ech_dtype type, uint64_t n, uint64_t seed,
                  const struct ladder_data *data, struct result *result)
{
    return measure(device, ladder, rung, type, n, seed, data, false, result);
}

bool ladder_measure(struct ladder_device *device, const struct ladder *ladder,
                    const struct rung *rung, ech_dtype type, uint64_t n,
                    const struct ladder_data *data, struct result *result)
{
    return measure(device, ladder, rung, type, n, 0, data, true, result);
}

size_t ladder_out_bytes(const struct ladder *ladder, ech_dtype type, uint64_t n)
{
    struct trial trial = { .ladder = ladder,
                           .rung = ladder->rungs,
                           .type = type,
                           .element_bytes = ech_dtype_bytes(type),
                           .n = n };
    ladder->shape(&trial);
    return trial.out_bytes;
}

bool ladder_keep(struct results *results, const struct result *result)
{
    if (results->count == results->room) {
        int room = results->room ? 2 * results->room : 64;
        struct result *rows = realloc(results->rows, (size_t)room * sizeof *rows);
        if (!rows) return false;
        results->rows = rows;
        results->room = room;
    }
    results->rows[results->count++] = *result;
    return true;
}

const struct result *ladder_row(const struct results *results, int number, uint64_t parameter,
                                uint64_t n)
{
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        if (row->rung->number == number && row->rung->parameter == parameter &&
            (n == 0 || row->n == n))
            return row;
    }
    return NULL;
}

bool ladder_ratio(const struct result *a, const struct result *b, double least, double most,
                  char *because, size_t bytes)
{
    snprintf(because, bytes, "%.4g ms, %.4g ms: %.2f times", a->ms, b->ms, a->ms / b->ms);
    return a->ms >= least * b->ms && a->ms <= most * b->ms;
}
