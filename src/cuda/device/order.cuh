/*
 * cuda/device/order.cuh - the map of core/order.h on the device, in two steps.
 *
 * Between the first and the last pass keys are stored as order_encode() returns them, which is a
 * bijection. The digit is taken from order_merge() of such a key, which gives -0 and +0, and all
 * NaN, the same encoded key if values make the difference visible.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_ORDER_CUH
#define ECHI_CUDA_DEVICE_ORDER_CUH

#include "core/order.h"
#include "cuda/device/instance.cuh"

static __device__ inline ukey order_encode(const struct echi_order &o, ukey u)
{
    ukey negative = (ukey)((skey)u >> (KEY_BITS - 1)) & (ukey)o.float_mask;
    return (ukey)((ukey)(u ^ (negative | (ukey)o.sign)) - (ukey)o.shift) ^ (ukey)o.flip;
}

/* The map is the identity: unsigned keys, ascending. */
static __device__ inline bool order_plain(const struct echi_order &o)
{
    return !((ukey)o.sign | (ukey)o.float_mask | (ukey)o.shift | (ukey)o.flip);
}

static __device__ inline ukey order_decode(const struct echi_order &o, ukey e)
{
    ukey u = (ukey)(e ^ (ukey)o.flip) + (ukey)o.shift;
    ukey negative =
        ~(ukey)((skey)u >> (KEY_BITS - 1)) & (ukey)o.float_mask; /* its top bit was flipped off */
    return u ^ (negative | (ukey)o.sign);
}

static __device__ inline ukey order_merge(const struct echi_order &o, ukey e)
{
    e ^= (ukey)o.flip;
    if (e == (ukey)o.zero) e += (ukey)o.merge;
    if (e > (ukey)o.last) e = (ukey)o.last;
    return e ^ (ukey)o.flip;
}

/* The keys that order_merge() maps to the same key as e: -0 and +0, or all NaN.  With these, keys
 * can be compared with e before they are merged. */
struct order_equals {
    ukey low, high;
};

static __device__ inline struct order_equals order_equals_of(const struct echi_order &o, ukey e)
{
    const ukey d = e ^ (ukey)o.flip;
    struct order_equals equals = { d, d };
    if (o.merge && (d == (ukey)o.zero || d == (ukey)(o.zero + 1))) {
        equals.low = (ukey)o.zero;
        equals.high = (ukey)(o.zero + 1);
    }
    if (d >= (ukey)o.last) {
        equals.low = (ukey)o.last;
        equals.high = (ukey)(o.last | o.float_mask);
    }
    if (!o.flip) return equals;
    return { (ukey)(equals.high ^ (ukey)o.flip), (ukey)(equals.low ^ (ukey)o.flip) };
}

#endif
