/*
 * cuda/device/instance.cuh - the types of this instance, from the definitions of its row in
 * instances.txt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_INSTANCE_CUH
#define ECHI_CUDA_DEVICE_INSTANCE_CUH

#include <stdint.h>

/* So that editors and readers see one concrete instance. */
#ifndef KEY_BITS
#define KEY_BITS 32
#endif
#ifndef VAL_BYTES
#define VAL_BYTES 4
#endif
#define KEY_BYTES (KEY_BITS / 8)

#if KEY_BITS == 8
typedef uint8_t ukey;
typedef int8_t skey;
#elif KEY_BITS == 16
typedef uint16_t ukey;
typedef int16_t skey;
#elif KEY_BITS == 32
typedef uint32_t ukey;
typedef int32_t skey;
#elif KEY_BITS == 64
typedef uint64_t ukey;
typedef int64_t skey;
#endif

#if VAL_BYTES == 4
typedef uint32_t uval;
#elif VAL_BYTES == 8
typedef uint64_t uval;
#elif VAL_BYTES == 16
typedef ulonglong2 uval;
#endif

#endif
