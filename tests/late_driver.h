/*
 * late_driver.h - a CUDA driver whose streams are threads that do what they are given late, for
 * test_exchange.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LATE_DRIVER_H
#define LATE_DRIVER_H

#include "cuda/driver.h"

/* Fills in what copies need: contexts, streams, events, pinned memory, which is of malloc(). */
void late_driver(struct echi_driver *driver);

/* Calls of which a stream's order is made fail from the one after `most` on; -1: none does. */
void late_fail_after(long most);

/* Has a stream call run(arg, number). */
void late_call(CUstream stream, void (*run)(void *arg, size_t number), void *arg, size_t number);

/* Copies and calls that no stream has done yet. */
size_t late_left(void);

#endif
