/*
 * merge/merge.h - a merge whose arguments are checked, as the backends take it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_MERGE_H
#define ECHI_MERGE_MERGE_H

#include "core/internal.h"

/* The two inputs are numbered 0 and 1. */
struct echi_merge {
    const void *keys[2];
    const void *values[2];
    void *keys_out, *values_out;
    size_t n[2];
    ech_dtype dtype;
    size_t key_bytes;
    size_t value_bytes;      /* 0: none */
    struct echi_order order; /* merged: equal keys have one encoded key */
};

#endif
