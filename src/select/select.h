/*
 * select/select.h - the checked form of a call that keeps, divides, encodes or decodes elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_SELECT_H
#define ECHI_SELECT_SELECT_H

#include "core/internal.h"

enum echi_select_what {
    ECHI_KEEP,      /* what is kept to out, or its positions to starts */
    ECHI_PARTITION, /* ... then the rest */
    ECHI_DIVIDE,    /* by test[0], then by test[1], then the rest */
    ECHI_DECODE     /* elements as often as lengths_in says */
};

enum echi_select_by { ECHI_BY_BYTES, ECHI_BY_BITS, ECHI_BY_TEST, ECHI_BY_STARTS };

struct echi_select {
    enum echi_select_what what;
    enum echi_select_by by; /* starts: those that begin a run, by test[0].order, merged */
    const void *in;
    const uint8_t *flags;
    void *out;    /* NULL: elements are not written */
    void *starts; /* NULL, or receives positions, u64 */
    bool narrow;  /* ... of 32 bits */
    bool close;   /* ... and n after the last */
    const void *values;
    void *values_out;           /* NULL, or receives what of values is kept */
    uint64_t *lengths;          /* NULL, or receives the length of each run */
    const uint64_t *lengths_in; /* [n] of ECHI_DECODE */
    uint64_t *count;            /* [1]; ECHI_DIVIDE: [2] */
    size_t n;                   /* at least 1 for a call that runs; ECHI_DECODE: the runs */
    size_t out_n;               /* ECHI_DECODE: room in out */
    size_t element_bytes, value_bytes;
    bool invert;
    struct echi_predicate test[2];
};

#endif
