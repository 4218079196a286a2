/*
 * strings/strings.h - a sort of strings whose arguments are checked, as the backends take it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_STRINGS_STRINGS_H
#define ECHI_STRINGS_STRINGS_H

#include "sort/sort.h"
#include "strings/key.h"

struct echi_strings {
    struct echi_string_array array;
    void *indices;
    size_t n;
    int index_bytes;
    const char *algorithm; /* NULL: the backend chooses */
};

/* The stable sort of pairs of a key and a position, in place: the caller sets the pointers and n.
 * With `first`, the positions are 0 .. n-1 and are not read. */
struct echi_sort echi_strings_sort(const struct echi_strings *s, bool first);

#endif
