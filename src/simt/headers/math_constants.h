/*
 * simt/headers/math_constants.h - the constants of CUDA's header that kernels use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_HEADERS_MATH_CONSTANTS_H
#define SIMT_HEADERS_MATH_CONSTANTS_H

#define CUDART_INF_F        __builtin_inff()
#define CUDART_NAN_F        __builtin_nanf("")
#define CUDART_MAX_NORMAL_F 3.402823466e38f
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define CUDART_PI_F         3.141592654f
#define CUDART_INF          __builtin_inf()
#define CUDART_NAN          __builtin_nan("")
#define CUDART_PI           3.1415926535897931e0

#endif
