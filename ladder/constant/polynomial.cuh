/*
 * polynomial.cuh - the coefficients of the polynomial, for all rungs and for the oracle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_POLYNOMIAL_CUH
#define LADDER_POLYNOMIAL_CUH

#define CONSTANT_TERMS 32

/* clang-format off */
#define CONSTANT_COEFFICIENTS                                                                      \
    {  0.75f,   -1.5f,     0.5f,    1.25f,  -0.375f,  0.8125f, -1.0f,    0.625f,                   \
      -0.125f,   0.9375f, -0.75f,   0.25f,   1.125f, -0.5f,     0.3125f, -0.875f,                  \
       0.4375f,  1.0f,    -0.25f,  -0.6875f, 0.5625f, 0.125f,  -1.25f,    0.875f,                  \
      -0.3125f,  0.6875f,  0.1875f, -0.8125f, 1.5f,  -0.4375f,  0.375f,  -0.5625f }
/* clang-format on */

/* Coefficients as a kernel parameter. */
struct constant_coefficients {
    float c[CONSTANT_TERMS];
};

#endif
