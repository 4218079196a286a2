/*
 * failing_driver.h - controls failing_driver.c: which call of the CUDA driver fails, and what is
 * left after a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FAULT_FAILING_DRIVER_H
#define FAULT_FAILING_DRIVER_H

#include <stdbool.h>

struct failing_driver {
    long position; /* the call that fails, counted from 0; < 0: none */
    int error;     /* its result */
    bool sticky;   /* all later calls fail, too */

    /* The run: */
    long calls;
    const char *failed;  /* the function that failed first; NULL: none */
    long live;           /* allocations, streams, events, pools, modules and contexts in use */
    long depth;          /* pushed contexts */
    const char *misused; /* released something twice, or a context that was not pushed */
};

/* Begins a run with the settings of *state, or ends it and completes *state. */
typedef void (*failing_driver_function)(struct failing_driver *state);

#endif
