/*
 * select/select.h - the checked request of a call that selects, partitions, encodes or decodes
 * elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_SELECT_H
#define ECHI_SELECT_SELECT_H

#include "core/internal.h"

enum echi_select_what {
    ECHI_KEEP,      /* selected elements to out, or their positions to starts */
    ECHI_PARTITION, /* ... followed by the other elements */
    ECHI_DIVIDE,    /* by test[0], then by test[1], then the others */
    ECHI_DECODE     /* each element as often as lengths_in specifies */
};

enum echi_select_by { ECHI_BY_BYTES, ECHI_BY_BITS, ECHI_BY_TEST, ECHI_BY_STARTS };

struct echi_select {
    enum echi_select_what what;
    enum echi_select_by by; /* starts: elements that begin a run, by test[0].order, merged */
    const void *in;
    const uint8_t *flags;
    void *out;    /* NULL: elements are not written */
    void *starts; /* NULL, or receives positions, u64 */
    bool narrow;  /* ... of 32 bits */
    bool close;   /* ... and n after the last */
    const void *values;
    void *values_out;           /* NULL, or receives the values of selected elements */
    uint64_t *lengths;          /* NULL, or receives the length of each run */
    const uint64_t *lengths_in; /* [n], for ECHI_DECODE */
    uint64_t *count;            /* [1]; ECHI_DIVIDE: [2] */
    size_t n;     /* at least 1 for a call that runs; ECHI_DECODE: the number of runs */
    size_t out_n; /* ECHI_DECODE: the size of out, in elements */
    size_t element_bytes, value_bytes;
    bool invert;
    struct echi_predicate test[2];
};

#endif
