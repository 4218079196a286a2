/*
 * calls.h - the calls of the library that fault injection repeats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FAULT_CALLS_H
#define FAULT_CALLS_H

#include <echelon.h>

#include <stdbool.h>

struct fault_call {
    const char *name;
    ech_status (*run)(void); /* in fault_ctx; writes the outputs that fault_hash() reads */
};

extern const struct fault_call fault_calls[];
extern const int fault_call_count;
extern ech_ctx *fault_ctx;

void fault_make_inputs(const char *device);
void fault_clear_outputs(void);
uint64_t fault_hash(void);

#endif
