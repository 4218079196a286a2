/*
 * core/plan.h - what an operation does on a device, as data: a list of steps.
 *
 * A strategy (a row of an operation's table) fills the list; one function enqueues it
 * (cuda/steps.c), another prints it (plan.c).
 *
 *     look     read a sample; detect sorted, skewed or constant input
 *     count    count digits, bins or elements that are kept
 *     plan     turn counts into positions, and decide what the next steps do
 *     move     move elements
 *     finish   what is left: small blocks, copies back, results written
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_PLAN_H
#define ECHI_CORE_PLAN_H

#include "core/internal.h"

enum echi_phase { ECHI_LOOK, ECHI_COUNT, ECHI_PLAN, ECHI_MOVE, ECHI_FINISH };

enum echi_step_kind {
    ECHI_LAUNCH,             /* a kernel */
    ECHI_LAUNCH_PDL,         /* a kernel that may be set up while the one before it ends */
    ECHI_LAUNCH_COOPERATIVE, /* a kernel whose blocks wait for each other */
    ECHI_CLEAR,              /* `bytes` at `to` become zero */
    ECHI_ZEROS, /* the pointer at `slot` becomes that of zeros: the context's own, or `to` */
    ECHI_COPY,  /* `bytes` from `from` to `to`, both on the device */
    ECHI_CALL   /* host code or a vendor library: call(ctx, user) */
};

struct echi_step {
    enum echi_phase phase;
    enum echi_step_kind kind;
    const char *module, *name; /* the kernel's, or what a call is called */
    const char *when;          /* NULL: always.  Otherwise the device decides, and if this does not
                                  hold the step ends at once */
    unsigned blocks, threads, shared_bytes;
    int level;            /* a pass or level of the algorithm; -1: none */
    uint64_t parts;       /* launches, each of another part of the array; 0 is 1 */
    unsigned last_blocks; /* of the last part */
    unsigned units;       /* a number that the kernel takes; 0: none */
    int shared_percent;   /* of a multiprocessor's fast memory as shared memory; 0: as it is */
    void *args;           /* of this kernel; NULL: those of all */
    void *to;
    void *slot; /* address of a pointer */
    const void *from;
    size_t bytes;
    ech_status (*call)(ech_ctx *ctx, void *user);
    void *user;
};

enum { ECHI_STEPS = 64 };

struct echi_steps {
    int count; /* more than ECHI_STEPS: some were lost, which nothing may enqueue */
    struct echi_step step[ECHI_STEPS];
};

/* Appends a step. */
void echi_step_add(struct echi_steps *steps, struct echi_step step);

const char *echi_phase_name(enum echi_phase phase);

/* One line per step; as JSON, an array of objects. */
void echi_steps_print(const struct echi_steps *steps, struct echi_text *text);
void echi_steps_print_json(const struct echi_steps *steps, struct echi_text *text);

#endif
