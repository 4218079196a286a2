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

/* ---- Short calls ----
 *
 * A public function without options jumps to the function of the same name for the size of an
 * element, which checks the arrays and, unless the call is one on few elements on the CPU without
 * an error, jumps to echi_..._any(). */

typedef ech_status echi_flags_function(ech_ctx *ctx, const void *in, const uint8_t *flags,
                                       void *out, uint64_t *count, size_t n, size_t element_bytes,
                                       const ech_select_options *options);
typedef ech_status echi_test_function(ech_ctx *ctx, ech_compare compare, const void *in, void *out,
                                      uint64_t *count, size_t n, ech_dtype dtype, const void *value,
                                      const ech_select_options *options);
typedef ech_status echi_unique_function(ech_ctx *ctx, const void *in, void *out, uint64_t *count,
                                        size_t n, ech_dtype dtype,
                                        const ech_select_options *options);
typedef ech_status echi_encode_function(ech_ctx *ctx, const void *in, void *out, uint64_t *lengths,
                                        uint64_t *count, size_t n, ech_dtype dtype,
                                        const ech_select_options *options);
typedef ech_status echi_decode_function(ech_ctx *ctx, const void *in, const uint64_t *lengths,
                                        void *out, size_t runs, size_t n, size_t element_bytes,
                                        const ech_select_options *options);

struct echi_select_calls {
    echi_flags_function *select_flags, *partition_flags;
    echi_test_function *select_if;
    echi_unique_function *unique;
    echi_encode_function *rle_encode;
    echi_decode_function *rle_decode;
};

enum {
    ECHI_SELECT_BYTES = 8, /* the largest element */
    ECHI_SELECT_FEW = 64   /* elements at most, except of a decoding */
};
/* cpu/operation.c: by echi_cpu_level() and the bytes of an element. */
extern const struct echi_select_calls *const echi_select_calls[][ECHI_SELECT_BYTES + 1];

echi_flags_function echi_select_flags_any, echi_partition_flags_any;
echi_test_function echi_select_if_any;
echi_unique_function echi_unique_any;
echi_encode_function echi_rle_encode_any;
echi_decode_function echi_rle_decode_any;

#endif
