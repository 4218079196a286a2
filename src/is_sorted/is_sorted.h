/*
 * is_sorted/is_sorted.h - the checked request of a search for the first element out of order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_IS_SORTED_IS_SORTED_H
#define ECHI_IS_SORTED_IS_SORTED_H

#include "core/internal.h"

struct echi_is_sorted {
    const void *in;
    uint64_t *position;
    size_t n;
    ech_dtype dtype;
    size_t key_bytes;
    bool strict;
    struct echi_order order; /* merged: equal keys have one encoded key */
};

#endif
