/*
 * simt_run.h - shared code of the emulator's tests: its driver, planted kernels with their
 * buffers, CSV files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_RUN_H
#define SIMT_RUN_H

#include "simt/driver.h"
#include "simt/simt.h"
#include "simt/planted.h"
#include "simt/planted_oracle.h"
#include "test.h"

struct emulator {
#define DRIVER(name, parameters) CUresult(*name) parameters;
#include "cuda/driver.def"
#include "simt/more.def"
#undef DRIVER
};
extern struct emulator simt_driver;

/* Opens the driver. Removes --csv FILE from the command line and returns the number of remaining
 * arguments. */
int simt_run_begin(int argc, char **argv);
void simt_run_end(void);
void simt_options_set(const char *options);

/* A module of the build by its name, loaded once. If it cannot be loaded, the case fails and NULL
 * is returned. */
CUlibrary simt_library(const char *name);
CUkernel simt_kernel(const char *library, const char *name);

/* Device memory of exactly this size, filled from `from` unless that is NULL. */
CUdeviceptr simt_buffer(size_t bytes, const void *from);
void simt_read(void *to, CUdeviceptr from, size_t bytes);

struct planted {
    const char *file, *kernel;
    unsigned blocks, threads, shared_bytes, n_in, n_out;
    uint32_t p;
    bool early;         /* programmatic dependent launch */
    uint32_t *in, *out; /* valid until the next run */
};

/* Clears the findings, runs a planted kernel in fresh memory and returns the result of the
 * launch. */
int simt_run_planted(struct planted *run);
void simt_check_output(const struct planted *run);
bool simt_output_is_right(const struct planted *run);

/* The counts of a pattern in the order of patterns.def. The last one is the number of divergent
 * branches. */
enum { PATTERN_DIVERGENT = 13, PATTERN_COUNTS = 15 };
void simt_pattern_counts(const struct simt_counts *counts, uint64_t out[PATTERN_COUNTS]);

void simt_csv_fault(const char *kernel, const struct simt_finding *finding);
void simt_csv_pattern(const char *kernel, uint32_t p, const uint64_t counts[PATTERN_COUNTS]);

#endif
