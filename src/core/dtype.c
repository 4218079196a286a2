/*
 * core/dtype.c - the twelve element types: names, sizes, and the order of their bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/dtypes.h"
#include "core/internal.h"

#include <string.h>

const struct echi_dtype_facts echi_dtypes[] = {
#define ENTRY(with, constant, name, width, bytes, kind, mantissa_bits, numpy)                      \
    [constant] = { #name, bytes, ECHI_##kind, mantissa_bits },
    ECHI_DTYPES(ENTRY, )
#undef ENTRY
};

/* Constants, because a struct that has just been computed field by field delays the loads of
 * vectors that copy it. e(-0) is just below the top bit minus the shift; infinity is top -
 * fractions, with an exponent of ones. */
#define ONES(bytes)     (~(uint64_t)0 >> (64 - 8 * (bytes)))
#define TOP(bytes)      ((uint64_t)1 << (8 * (bytes)-1))
#define FRACTIONS(bits) ((uint64_t)1 << (bits))
#define IS(kind)        (uint64_t)(ECHI_##kind == ECHI_FLOAT)
#define APART(with, constant, name, width, bytes, kind, mantissa_bits, numpy)                      \
    [constant] = { .sign = ECHI_##kind == ECHI_UNSIGNED ? 0 : TOP(bytes),                          \
                   .float_mask = IS(kind) * ONES(bytes),                                           \
                   .shift = IS(kind) * (FRACTIONS(mantissa_bits) - 1),                             \
                   .last = ONES(bytes) },
#define MERGED(with, constant, name, width, bytes, kind, mantissa_bits, numpy)                     \
    [constant] = { .sign = ECHI_##kind == ECHI_UNSIGNED ? 0 : TOP(bytes),                          \
                   .float_mask = IS(kind) * ONES(bytes),                                           \
                   .shift = IS(kind) * (FRACTIONS(mantissa_bits) - 1),                             \
                   .zero = IS(kind) * (TOP(bytes) - FRACTIONS(mantissa_bits)),                     \
                   .merge = IS(kind),                                                              \
                   .last = ECHI_##kind == ECHI_FLOAT                                               \
                               ? 2 * (TOP(bytes) - FRACTIONS(mantissa_bits) + 1)                   \
                               : ONES(bytes) },

const struct echi_order echi_orders[2][ECHI_DTYPE_COUNT] = { { ECHI_DTYPES(APART, ) },
                                                             { ECHI_DTYPES(MERGED, ) } };

size_t ech_dtype_bytes(ech_dtype dtype)
{
    return echi_dtype_bytes(dtype);
}

const char *ech_dtype_name(ech_dtype dtype)
{
    return echi_dtype_name(dtype);
}

int ech_dtype_from_name(const char *name)
{
    for (int i = 0; name && i < ECHI_DTYPE_COUNT; i++)
        if (strcmp(name, echi_dtypes[i].name) == 0) return i;
    return -1;
}

struct echi_order echi_order_make(ech_dtype dtype, ech_order order, bool descending, bool merged)
{
    const uint64_t ones = ~(uint64_t)0 >> (64 - 8 * echi_dtypes[dtype].bytes);
    struct echi_order o = echi_order_ascending(dtype, merged);
    if (order == ECH_ORDER_TOTAL) {
        o.shift = o.zero = o.merge = 0;
        o.last = ones;
    }
    o.flip = descending ? ones : 0;
    return o;
}

struct echi_order echi_order_nan_first(ech_dtype dtype)
{
    struct echi_order o = echi_order_ascending(dtype, false);
    o.shift = -o.shift; /* negative NaN have the lowest bits; positive NaN wrap to them */
    return o;
}

uint64_t echi_dtype_infinity(ech_dtype dtype)
{
    const struct echi_dtype_facts *type = &echi_dtypes[dtype];
    return ((uint64_t)1 << (8 * type->bytes - 1)) - ((uint64_t)1 << type->mantissa_bits);
}

uint64_t echi_dtype_nan(ech_dtype dtype)
{
    return echi_dtype_infinity(dtype) | (uint64_t)1 << (echi_dtypes[dtype].mantissa_bits - 1);
}

uint64_t echi_dtype_one(ech_dtype dtype)
{
    const uint64_t fractions = (uint64_t)1 << echi_dtypes[dtype].mantissa_bits;
    return echi_dtypes[dtype].kind != ECHI_FLOAT
               ? 1
               : echi_dtype_infinity(dtype) / 2 / fractions * fractions;
}

struct echi_index echi_index_of(ech_dtype dtype)
{
    return (struct echi_index){ .bytes = (uint32_t)echi_dtype_bytes(dtype),
                                .sign = dtype == ECH_I32 ? (uint32_t)1 << 31 : 0 };
}

ech_dtype echi_csr_index_dtype(ech_dtype dtype)
{
    return dtype == ECH_U32 ? ECH_I32 : dtype == ECH_U64 ? ECH_I64 : dtype;
}
