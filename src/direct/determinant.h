/*
 * direct/determinant.h - the determinant as a product of many numbers, which would overflow:
 * separate mantissa and exponent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_DETERMINANT_H
#define ECHI_DIRECT_DETERMINANT_H

#include "core/internal.h"

#include <math.h>
#include <string.h>

struct echi_big {
    double mantissa;
    int64_t exponent;
};

/* frexp(), without a call for normal numbers. */
static inline double echi_split(double x, int64_t *exponent)
{
    uint64_t bits;
    int other;
    memcpy(&bits, &x, sizeof bits);
    const int64_t field = (int64_t)(bits >> 52 & 0x7ff);
    if (field == 0 || field == 0x7ff) {
        x = frexp(x, &other);
        *exponent = other;
        return x;
    }
    bits = (bits & ~((uint64_t)0x7ff << 52)) | (uint64_t)0x3fe << 52;
    memcpy(&x, &bits, sizeof x);
    *exponent = field - 0x3fe;
    return x;
}

static inline void echi_multiply_big(struct echi_big *big, double by)
{
    int64_t first, second;
    const double mantissa = echi_split(by, &first);
    big->mantissa = echi_split(big->mantissa * mantissa, &second);
    big->exponent += first + second;
}

static inline void echi_direct_determinant(ech_direct_report *report, ech_factor kind,
                                           const struct echi_big *big)
{
    const double log_abs =
        log(fabs(big->mantissa)) + (double)big->exponent * 0.69314718055994530942;
    report->log_abs = kind == ECH_FACTOR_CHOLESKY ? 2 * log_abs : log_abs;
    report->sign = big->mantissa < 0 ? -1 : big->mantissa > 0;
}

#endif
