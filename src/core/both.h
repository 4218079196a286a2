/*
 * core/both.h - functions compiled for the CPU and for kernels, so that both compute the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_BOTH_H
#define ECHI_CORE_BOTH_H

#ifdef __CUDACC__
#define ECHI_BOTH static __device__ inline
#else
#define ECHI_BOTH static inline
#endif

#endif
