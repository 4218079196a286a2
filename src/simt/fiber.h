/*
 * simt/fiber.h - a function that runs on its own stack and can be suspended and resumed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct simt_fiber {
    void *top;   /* the saved stack pointer */
    char *stack; /* its lowest address; NULL for the fiber with which an OS thread began */
    size_t bytes;
    void *fake_stack; /* of the address sanitizer, while the fiber is suspended */
};

/* Prepares `fiber`, whose stack the caller has set, to begin with run() at the first switch to it.
 * run() never returns. */
void simt_fiber_begin(struct simt_fiber *fiber, void (*run)(void));

/* Suspends `from` and resumes `to`; returns when another fiber switches back. `ends`: from is never
 * resumed. */
void simt_fiber_switch(struct simt_fiber *from, struct simt_fiber *to, bool ends);

/* Must be called first in run(). */
void simt_fiber_entered(void);

/* The stack of the calling OS thread, for a fiber that is suspended but was not started. */
void simt_fiber_here(struct simt_fiber *fiber);

/* False if the fiber's stack has overflowed. */
bool simt_fiber_sound(const struct simt_fiber *fiber);

#endif
