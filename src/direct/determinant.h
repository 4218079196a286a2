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

struct echi_big {
    double mantissa;
    int64_t exponent;
};

static inline void echi_multiply_big(struct echi_big *big, double by)
{
    int first, second;
    const double mantissa = frexp(by, &first);
    big->mantissa = frexp(big->mantissa * mantissa, &second);
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
