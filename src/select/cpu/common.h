/*
 * select/cpu/common.h - declarations that the files of the CPU's selections share: the kernels that
 * have instruction-set variants.
 *
 * A selection is one bit per element, for a block that fits in the cache: one kernel computes the
 * bits, another packs the selected elements. Bits past n are zero.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CPU_COMMON_H
#define ECHI_SELECT_CPU_COMMON_H

#include "core/call.h"
#include "cpu/cpu.h"
#include "select/select.h"

enum {
    ECHI_SELECT_BLOCK = 2048, /* elements whose bits are computed at a time */
    ECHI_SELECT_WORDS = ECHI_SELECT_BLOCK / 64,
    PREFETCH_BYTES = 4096
};

/* Kernels for elements of 1, 2, 4 or 8 bytes. */
struct echi_select_width {
    /* Which of n elements pass. */
    void (*test)(const struct echi_predicate *p, const void *in, size_t n, uint64_t *bits);

    /* Which elements differ from the previous one; in[0] does if it is the first of an array. */
    void (*starts)(const struct echi_order *o, const void *in, size_t n, bool first,
                   uint64_t *bits);

    /* Packs the selected elements, without writing past them; in and out need no alignment. */
    void (*keep)(void *out, const void *in, const uint64_t *bits, size_t n);

    /* A selection of at most 64 elements that keeps or partitions them, with or without lengths,
     * but without positions and values; not by packed flags. */
    void (*few)(const struct echi_select *s);

    /* Packs the elements whose byte is not 0, or with invert is 0, and returns their number.  out
     * has room for n elements, a multiple of 64; those after the packed ones may be overwritten. */
    size_t (*keep_flagged)(void *out, const void *in, const uint8_t *flags, size_t n, bool invert);

    /* Writes runs from `to` to `end`, which is not `to`: run r consists of lengths[r] copies of
     * in[r], and the first one of `first`.  The runs are at least as long as the output. */
    void (*decode)(char *to, const char *end, const void *in, const uint64_t *lengths, size_t runs,
                   uint64_t first);
};

struct echi_select_isa {
    const struct echi_select_width *widths[4];
    struct echi_select_calls calls[4];

    /* The number of bits that are set. */
    size_t (*count)(const uint64_t *bits, size_t n);

    /* Which of n bytes are not 0. */
    void (*flags)(const uint8_t *flags, size_t n, uint64_t *bits);

    /* Packs the positions of the selected elements, counted from `at`. */
    void (*keep_positions)(uint64_t *out, uint64_t at, const uint64_t *bits, size_t n);
    void (*keep_positions32)(uint32_t *out, uint64_t at, const uint64_t *bits, size_t n);

    /* Writes the distance of each of these positions from the one before; *before precedes the
     * first, and becomes the last.  Returns the end of the distances. */
    uint64_t *(*keep_lengths)(uint64_t *out, uint64_t *before, uint64_t at, const uint64_t *bits,
                              size_t n);
};

extern const struct echi_select_isa echi_select_portable, echi_select_avx2, echi_select_avx512,
    echi_select_vbmi2; /* the last one only for 8 and 16 bits */

/* operation.c: the kernels for this machine; the second function: for elements of this size, NULL
 * if there are none. */
const struct echi_select_isa *echi_select_isa_of_machine(void);
const struct echi_select_width *echi_select_width_of_machine(size_t bytes);

#endif
