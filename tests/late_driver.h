/*
 * late_driver.h - a CUDA driver that runs each stream in a thread with random delays, for
 * test_exchange.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LATE_DRIVER_H
#define LATE_DRIVER_H

#include "cuda/driver.h"

/* Fills in the functions that copies need: contexts, streams, events and pinned memory (from
 * malloc()). */
void late_driver(struct echi_driver *driver);

/* Calls that define the order of a stream fail after the first `most` ones; -1: none fails. */
void late_fail_after(long most);

/* Queues run(arg, number) on a stream. */
void late_call(CUstream stream, void (*run)(void *arg, size_t number), void *arg, size_t number);

/* The number of copies and calls that no stream has completed. */
size_t late_left(void);

#endif
