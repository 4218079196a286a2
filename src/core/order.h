/*
 * core/order.h - the order-preserving unsigned form of a key, as parameters.
 *
 * Sorting needs an order but no arithmetic, so twelve dtypes, two directions and two float orders
 * are reduced to four key widths and one struct. The bits u of a key of width w map to e, so that a
 * < b if and only if e(a) < e(b):
 *
 *     e = u ^ (sign | (negative float ? ~0 : 0))   signed integers and floats become unsigned
 *     e = e - shift                                negative NaN, the lowest, wrap to the top
 *     e = e == zero ? e + merge : e                -0 becomes +0      } only if values or indices
 *     e = min(e, last)                             all NaN equal      } make it visible
 *     e = e ^ flip                                 descending
 *
 * all modulo 2^w. Without the two lines in the brace the map is a bijection, and order_decode()
 * inverts it. The struct is passed by value to kernels; src/cuda/device/order.cuh has the same map
 * for kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_ORDER_H
#define ECHI_CORE_ORDER_H

#include <stdint.h>

struct echi_order {
    uint64_t sign;       /* the top bit for signed integers and floats, otherwise 0 */
    uint64_t float_mask; /* all ones for floats, otherwise 0 */
    uint64_t shift;      /* number of negative NaN patterns if NaN is last, otherwise 0 */
    uint64_t zero;       /* e(-0) if -0 equals +0; unused if merge is 0 */
    uint64_t merge;      /* 1 if -0 equals +0, otherwise 0 */
    uint64_t last;       /* e(NaN) if all NaN are equal, otherwise all ones */
    uint64_t flip;       /* all ones for descending, otherwise 0 */
};

#endif
