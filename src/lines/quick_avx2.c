/*
 * lines/quick_avx2.c - quick.c for processors with AVX2 and BMI2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if defined(__x86_64__)
#define QUICK(name) lines_quick_##name##_avx2
#include "lines/quick_core.h"
#endif
