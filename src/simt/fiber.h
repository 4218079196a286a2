/*
 * simt/fiber.h - a function that runs on a stack of its own and is left and resumed at will.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct simt_fiber {
    void *top;   /* the saved stack pointer */
    char *stack; /* its lowest address; of the fiber that an OS thread began with: NULL */
    size_t bytes;
    void *fake_stack; /* of the address sanitizer, while the fiber is left */
};

/* Makes `fiber`, whose stack the caller has set, begin with run() when it is switched to.  run()
 * never returns. */
void simt_fiber_begin(struct simt_fiber *fiber, void (*run)(void));

/* Leaves `from` and resumes `to`; returns when someone switches back.  `ends`: from is never
 * resumed. */
void simt_fiber_switch(struct simt_fiber *from, struct simt_fiber *to, bool ends);

/* What run() does first. */
void simt_fiber_entered(void);

/* The stack of the OS thread that calls, for a fiber that is not begun but left. */
void simt_fiber_here(struct simt_fiber *fiber);

/* False when the fiber has run over the end of its stack. */
bool simt_fiber_sound(const struct simt_fiber *fiber);

#endif
