/*
 * core/predicate.h - a test of elements, ech_compare and its value, as parameters for every dtype.
 *
 * As in order.h, a test needs no arithmetic. For the bits u of an element and e = encode(u) & mask,
 *
 *     passes = (e - low <= span) != invert          all modulo 2^w
 *
 * where encode() is the map of order.h with equal keys merged. The struct is passed by value to
 * kernels; src/cuda/device/predicate.cuh has the same test for kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_PREDICATE_H
#define ECHI_CORE_PREDICATE_H

#include "core/order.h"

struct echi_predicate {
    struct echi_order order;
    uint64_t mask, low, span;
    uint32_t invert; /* 0 or 1 */
};

#endif
