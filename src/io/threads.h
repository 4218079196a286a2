/*
 * io/threads.h - a loop by several threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef IO_THREADS_H
#define IO_THREADS_H

/* The number of threads that calls of the library use by default. */
int io_threads(void);

/* Calls run(arg, i) for every i < count, by io_threads() threads, or fewer if the system creates no
 * more. Returns after the last call. */
void io_for_each(int count, void (*run)(void *arg, int i), void *arg);

/* The same by at most limit threads; 0: io_threads(). */
void io_for_each_by(int limit, int count, void (*run)(void *arg, int i), void *arg);

#endif
