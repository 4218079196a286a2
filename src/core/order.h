/*
 * core/order.h - the order-preserving unsigned form of a key, as parameters.
 *
 * Sorting needs an order and no arithmetic, so twelve dtypes, two directions and two float orders
 * become four key widths and one struct.  A key's bits u of width w map to e, and a < b exactly
 * when e(a) < e(b):
 *
 *     e = u ^ (sign | (negative float ? ~0 : 0))   signed integers and floats become unsigned
 *     e = e - shift                                negative NaN, the least, wrap to the top
 *     e = e == zero ? e + merge : e                -0 becomes +0      } only when values or indices
 *     e = min(e, last)                             every NaN is one   } make it visible
 *     e = e ^ flip                                 descending
 *
 * all modulo 2^w.  Without the two lines in the brace the map is a bijection, and order_decode()
 * undoes it.  The struct is passed by value to kernels; src/cuda/device/order.cuh is the same map
 * there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_ORDER_H
#define ECHI_CORE_ORDER_H

#include <stdint.h>

struct echi_order {
    uint64_t sign;       /* the top bit for signed integers and floats, else 0 */
    uint64_t float_mask; /* all ones for floats, else 0 */
    uint64_t shift;      /* number of negative NaN patterns when NaN is last, else 0 */
    uint64_t zero;       /* e(-0) where -0 equals +0; unused when merge is 0 */
    uint64_t merge;      /* 1 where -0 equals +0, else 0 */
    uint64_t last;       /* e(NaN) where all NaN are equal, else all ones */
    uint64_t flip;       /* all ones for descending, else 0 */
};

#endif
