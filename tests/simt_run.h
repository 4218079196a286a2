/*
 * simt_run.h - what the executor's tests share: its driver, planted kernels and their buffers, CSV.
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

struct executor {
#define DRIVER(name, parameters) CUresult(*name) parameters;
#include "cuda/driver.def"
#include "simt/more.def"
#undef DRIVER
};
extern struct executor simt_driver;

/* Opens the driver; takes --csv FILE out of the command line, returns how many words are left. */
int simt_run_begin(int argc, char **argv);
void simt_run_end(void);
void simt_options_set(const char *options);

/* A module of the build's, by its name; loaded once.  NULL fails the case. */
CUlibrary simt_library(const char *name);
CUkernel simt_kernel(const char *library, const char *name);

/* Device memory of exactly so many bytes, filled from `from` or left as it is. */
CUdeviceptr simt_buffer(size_t bytes, const void *from);
void simt_read(void *to, CUdeviceptr from, size_t bytes);

struct planted {
    const char *file, *kernel;
    unsigned blocks, threads, shared_bytes, n_in, n_out;
    uint32_t p;
    bool early;         /* launched so that it may begin before earlier launches have ended */
    uint32_t *in, *out; /* kept until the next run */
};

/* Runs a planted kernel in fresh memory, forgetting earlier findings; the launch's result. */
int simt_run_planted(struct planted *run);
void simt_check_output(const struct planted *run);

/* The counts of a pattern, as patterns.def has them; the last is that of divergent branches. */
enum { PATTERN_DIVERGENT = 13, PATTERN_COUNTS = 15 };
void simt_pattern_counts(const struct simt_counts *counts, uint64_t out[PATTERN_COUNTS]);

void simt_csv_fault(const char *kernel, const struct simt_finding *finding);
void simt_csv_pattern(const char *kernel, uint32_t p, const uint64_t counts[PATTERN_COUNTS]);

#endif
