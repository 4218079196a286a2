/*
 * core/plan.h - the work of an operation on a device, as data: a list of steps.
 *
 * A strategy (a row of an operation's table) fills the list; one function enqueues it
 * (cuda/steps.c), another prints it (plan.c).
 *
 *     look     read a sample; detect sorted, skewed or constant input
 *     count    count digits, bins or selected elements
 *     plan     convert counts to positions, and decide what the next steps do
 *     move     move elements
 *     finish   remaining work: small blocks, copies back, results
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_PLAN_H
#define ECHI_CORE_PLAN_H

#include "core/internal.h"

enum echi_phase { ECHI_LOOK, ECHI_COUNT, ECHI_PLAN, ECHI_MOVE, ECHI_FINISH };

enum echi_step_kind {
    ECHI_LAUNCH,             /* a kernel */
    ECHI_LAUNCH_PDL,         /* a kernel that may be set up while the previous one ends */
    ECHI_LAUNCH_COOPERATIVE, /* a kernel whose blocks wait for each other */
    ECHI_CLEAR,              /* sets `bytes` at `to` to zero */
    ECHI_ZEROS, /* sets the pointer at `slot` to zeroed memory: the context's own, or `to` */
    ECHI_COPY,  /* `bytes` from `from` to `to`, both on the device */
    ECHI_CALL   /* host code or a vendor library: call(ctx, user) */
};

struct echi_step {
    enum echi_phase phase;
    enum echi_step_kind kind;
    const char *module, *name; /* of the kernel, or the name of a call */
    const char *when; /* NULL: always.  Otherwise the device evaluates this condition; if it
                                  is false, the step ends immediately */
    unsigned blocks, threads, shared_bytes;
    int level;            /* a pass or level of the algorithm; -1: none */
    uint64_t parts;       /* launches, each on another part of the array; 0 means 1 */
    unsigned last_blocks; /* of the last part */
    unsigned units;       /* a parameter of the kernel; 0: none */
    int shared_percent;   /* of a multiprocessor's L1 memory as shared memory; 0: default */
    void *args;           /* of this kernel; NULL: those that all kernels share */
    void *to;
    void *slot; /* address of a pointer */
    const void *from;
    size_t bytes;
    ech_status (*call)(ech_ctx *ctx, void *user);
    void *user;
};

enum { ECHI_STEPS = 64 };

struct echi_steps {
    int count; /* more than ECHI_STEPS: steps are missing, and the list must not be enqueued */
    struct echi_step step[ECHI_STEPS];
};

/* Appends a step. */
void echi_step_add(struct echi_steps *steps, struct echi_step step);

const char *echi_phase_name(enum echi_phase phase);

/* One line per step; as JSON, an array of objects. */
void echi_steps_print(const struct echi_steps *steps, struct echi_text *text);
void echi_steps_print_json(const struct echi_steps *steps, struct echi_text *text);

#endif
