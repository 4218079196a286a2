/*
 * pipeline.h - blocks of data that several threads work on, and that are taken and given in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_PIPELINE_H
#define ECHELON_CLI_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pipeline {
    /* take() is called for blocks 0, 1, 2 and so on, by one thread at a time; false: there are no
     * more blocks. */
    bool (*take)(void *arg, void *slot, uint64_t block);
    /* work() is called by all threads, in any order. */
    void (*work)(void *arg, void *slot, uint64_t block);
    /* give() is called in the order of the blocks, by one thread at a time; false: stop. */
    bool (*give)(void *arg, void *slot, uint64_t block);
    void *arg;
};

/* Runs all blocks with up to threads threads (0: all processors), each with a slot of slot_bytes
 * zero bytes, which its blocks share.  Returns false if there is no memory for one slot. */
bool pipeline_run(const struct pipeline *pipeline, int threads, size_t slot_bytes);

#endif
