/*
 * calls_sets.c - a set operation on two sorted arrays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

/* The inputs are sorted, or in any order; then only the limits of the memory are checked. */
void call_set(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in);
    const size_t n[2] = { take_size(in), take_size(in) };
    const size_t bytes = dtype <= ECH_F64 ? ech_dtype_bytes(dtype) : 1;
    const size_t wide = take(in) % 2 ? 1 + take(in) % 20 : 0, least = n[0] < n[1] ? n[0] : n[1];
    const bool sorted = take(in) < 200 && dtype <= ECH_F64;
    const ech_set operation = (ech_set)(take(in) % 5);
    const size_t rooms[] = { n[0] + n[1], least, n[0], n[0] + n[1], n[0] + n[1] };
    ech_set_options o = { .size = sizeof o, .descending = take(in) % 2 };
    const void *keys[2], *values[2] = { NULL, NULL };
    for (int i = 0; i < 2; i++) {
        keys[i] = array_in(&c, n[i], bytes, bytes);
        if (sorted && n[i]) sort_array(array_last(&c), n[i], dtype, o.descending), array_keep(&c);
        if (wide && (i == 0 || operation % 3 == 0)) values[i] = array_in(&c, n[i], wide, 1);
    }
    void *out = array_out(&c, rooms[operation], bytes, bytes);
    void *values_out = wide ? array_out(&c, rooms[operation], wide, 1) : NULL;
    uint64_t *count = array_out(&c, 1, sizeof *count, sizeof *count);
    const uint64_t *written = array_last(&c);
    size_t needed = 0;
    if (ech_set_operation_workspace("cpu", n[0], n[1], operation, dtype, wide, &o, &needed) !=
        ECH_OK)
        needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    c.spoiled |= operation > ECH_SET_SYMMETRIC;
    const ech_status s =
        wide ? ech_set_operation_pairs(ctx, keys[0], values[0], keys[1], values[1], out, values_out,
                                       count, n[0], n[1], operation, dtype, wide, &o)
             : ech_set_operation(ctx, keys[0], keys[1], out, count, n[0], n[1], operation, dtype,
                                 &o);
    if (call_check(&c, s)) FUZZ_CHECK(*written <= rooms[operation]);
    if (s == ECH_OK && sorted && operation == ECH_SET_UNION) FUZZ_CHECK(*written >= n[0]);
    call_end(&c);
}
