/*
 * simt/device_memory.h - memory operations that C does not have: atomic operations, and loads and
 * stores with cache hints.
 *
 * An atomic operation is one call of simt_atomic(), whatever its scope: the emulator checks block
 * scope as strictly as device scope.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_DEVICE_MEMORY_H
#define SIMT_DEVICE_MEMORY_H

/* ---- Atomic operations ---- */

template <typename T>
static __forceinline__ T simt_change(enum simt_atomic_op op, T *at, T value, T compare = T())
{
    return simt_value<T>(simt_atomic(op, at, sizeof(T), simt_bits(value), simt_bits(compare)));
}

/* clang-format off */
static __forceinline__ int atomicAdd(int *at, int value)
{ return simt_change(SIMT_ATOMIC_ADD, at, value); }
static __forceinline__ int atomicAdd_block(int *at, int value)
{ return simt_change(SIMT_ATOMIC_ADD, at, value); }
static __forceinline__ int atomicAdd_system(int *at, int value)
{ return simt_change(SIMT_ATOMIC_ADD, at, value); }
static __forceinline__ unsigned atomicAdd(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_ADD, at, value); }
static __forceinline__ unsigned atomicAdd_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_ADD, at, value); }
static __forceinline__ unsigned atomicAdd_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_ADD, at, value); }
static __forceinline__ unsigned long long atomicAdd(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_ADD, at, value); }
static __forceinline__ unsigned long long atomicAdd_block(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_ADD, at, value); }
static __forceinline__ unsigned long long atomicAdd_system(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_ADD, at, value); }
static __forceinline__ float atomicAdd(float *at, float value)
{ return simt_change(SIMT_ATOMIC_ADD_FLOAT, at, value); }
static __forceinline__ float atomicAdd_block(float *at, float value)
{ return simt_change(SIMT_ATOMIC_ADD_FLOAT, at, value); }
static __forceinline__ float atomicAdd_system(float *at, float value)
{ return simt_change(SIMT_ATOMIC_ADD_FLOAT, at, value); }
static __forceinline__ double atomicAdd(double *at, double value)
{ return simt_change(SIMT_ATOMIC_ADD_FLOAT, at, value); }
static __forceinline__ double atomicAdd_block(double *at, double value)
{ return simt_change(SIMT_ATOMIC_ADD_FLOAT, at, value); }
static __forceinline__ double atomicAdd_system(double *at, double value)
{ return simt_change(SIMT_ATOMIC_ADD_FLOAT, at, value); }
static __forceinline__ int atomicSub(int *at, int value)
{ return simt_change(SIMT_ATOMIC_ADD, at, (int)(0 - (unsigned)value)); }
static __forceinline__ int atomicSub_block(int *at, int value)
{ return simt_change(SIMT_ATOMIC_ADD, at, (int)(0 - (unsigned)value)); }
static __forceinline__ int atomicSub_system(int *at, int value)
{ return simt_change(SIMT_ATOMIC_ADD, at, (int)(0 - (unsigned)value)); }
static __forceinline__ unsigned atomicSub(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_ADD, at, 0 - value); }
static __forceinline__ unsigned atomicSub_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_ADD, at, 0 - value); }
static __forceinline__ unsigned atomicSub_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_ADD, at, 0 - value); }
static __forceinline__ int atomicExch(int *at, int value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ int atomicExch_block(int *at, int value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ int atomicExch_system(int *at, int value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ unsigned atomicExch(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ unsigned atomicExch_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ unsigned atomicExch_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ unsigned long long atomicExch(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ unsigned long long atomicExch_block(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ unsigned long long atomicExch_system(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ float atomicExch(float *at, float value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ float atomicExch_block(float *at, float value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ float atomicExch_system(float *at, float value)
{ return simt_change(SIMT_ATOMIC_EXCHANGE, at, value); }
static __forceinline__ int atomicMin(int *at, int value)
{ return simt_change(SIMT_ATOMIC_MIN_SIGNED, at, value); }
static __forceinline__ int atomicMin_block(int *at, int value)
{ return simt_change(SIMT_ATOMIC_MIN_SIGNED, at, value); }
static __forceinline__ int atomicMin_system(int *at, int value)
{ return simt_change(SIMT_ATOMIC_MIN_SIGNED, at, value); }
static __forceinline__ unsigned atomicMin(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_MIN_UNSIGNED, at, value); }
static __forceinline__ unsigned atomicMin_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_MIN_UNSIGNED, at, value); }
static __forceinline__ unsigned atomicMin_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_MIN_UNSIGNED, at, value); }
static __forceinline__ long long atomicMin(long long *at, long long value)
{ return simt_change(SIMT_ATOMIC_MIN_SIGNED, at, value); }
static __forceinline__ long long atomicMin_block(long long *at, long long value)
{ return simt_change(SIMT_ATOMIC_MIN_SIGNED, at, value); }
static __forceinline__ long long atomicMin_system(long long *at, long long value)
{ return simt_change(SIMT_ATOMIC_MIN_SIGNED, at, value); }
static __forceinline__ unsigned long long atomicMin(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_MIN_UNSIGNED, at, value); }
static __forceinline__ unsigned long long atomicMin_block(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_MIN_UNSIGNED, at, value); }
static __forceinline__ unsigned long long atomicMin_system(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_MIN_UNSIGNED, at, value); }
static __forceinline__ int atomicMax(int *at, int value)
{ return simt_change(SIMT_ATOMIC_MAX_SIGNED, at, value); }
static __forceinline__ int atomicMax_block(int *at, int value)
{ return simt_change(SIMT_ATOMIC_MAX_SIGNED, at, value); }
static __forceinline__ int atomicMax_system(int *at, int value)
{ return simt_change(SIMT_ATOMIC_MAX_SIGNED, at, value); }
static __forceinline__ unsigned atomicMax(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_MAX_UNSIGNED, at, value); }
static __forceinline__ unsigned atomicMax_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_MAX_UNSIGNED, at, value); }
static __forceinline__ unsigned atomicMax_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_MAX_UNSIGNED, at, value); }
static __forceinline__ long long atomicMax(long long *at, long long value)
{ return simt_change(SIMT_ATOMIC_MAX_SIGNED, at, value); }
static __forceinline__ long long atomicMax_block(long long *at, long long value)
{ return simt_change(SIMT_ATOMIC_MAX_SIGNED, at, value); }
static __forceinline__ long long atomicMax_system(long long *at, long long value)
{ return simt_change(SIMT_ATOMIC_MAX_SIGNED, at, value); }
static __forceinline__ unsigned long long atomicMax(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_MAX_UNSIGNED, at, value); }
static __forceinline__ unsigned long long atomicMax_block(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_MAX_UNSIGNED, at, value); }
static __forceinline__ unsigned long long atomicMax_system(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_MAX_UNSIGNED, at, value); }
static __forceinline__ int atomicAnd(int *at, int value)
{ return simt_change(SIMT_ATOMIC_AND, at, value); }
static __forceinline__ int atomicAnd_block(int *at, int value)
{ return simt_change(SIMT_ATOMIC_AND, at, value); }
static __forceinline__ int atomicAnd_system(int *at, int value)
{ return simt_change(SIMT_ATOMIC_AND, at, value); }
static __forceinline__ unsigned atomicAnd(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_AND, at, value); }
static __forceinline__ unsigned atomicAnd_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_AND, at, value); }
static __forceinline__ unsigned atomicAnd_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_AND, at, value); }
static __forceinline__ unsigned long long atomicAnd(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_AND, at, value); }
static __forceinline__ unsigned long long atomicAnd_block(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_AND, at, value); }
static __forceinline__ unsigned long long atomicAnd_system(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_AND, at, value); }
static __forceinline__ int atomicOr(int *at, int value)
{ return simt_change(SIMT_ATOMIC_OR, at, value); }
static __forceinline__ int atomicOr_block(int *at, int value)
{ return simt_change(SIMT_ATOMIC_OR, at, value); }
static __forceinline__ int atomicOr_system(int *at, int value)
{ return simt_change(SIMT_ATOMIC_OR, at, value); }
static __forceinline__ unsigned atomicOr(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_OR, at, value); }
static __forceinline__ unsigned atomicOr_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_OR, at, value); }
static __forceinline__ unsigned atomicOr_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_OR, at, value); }
static __forceinline__ unsigned long long atomicOr(unsigned long long *at, unsigned long long value)
{ return simt_change(SIMT_ATOMIC_OR, at, value); }
static __forceinline__ unsigned long long atomicOr_block(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_OR, at, value); }
static __forceinline__ unsigned long long atomicOr_system(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_OR, at, value); }
static __forceinline__ int atomicXor(int *at, int value)
{ return simt_change(SIMT_ATOMIC_XOR, at, value); }
static __forceinline__ int atomicXor_block(int *at, int value)
{ return simt_change(SIMT_ATOMIC_XOR, at, value); }
static __forceinline__ int atomicXor_system(int *at, int value)
{ return simt_change(SIMT_ATOMIC_XOR, at, value); }
static __forceinline__ unsigned atomicXor(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_XOR, at, value); }
static __forceinline__ unsigned atomicXor_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_XOR, at, value); }
static __forceinline__ unsigned atomicXor_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_XOR, at, value); }
static __forceinline__ unsigned long long atomicXor(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_XOR, at, value); }
static __forceinline__ unsigned long long atomicXor_block(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_XOR, at, value); }
static __forceinline__ unsigned long long atomicXor_system(unsigned long long *at,
    unsigned long long value)
{ return simt_change(SIMT_ATOMIC_XOR, at, value); }
static __forceinline__ unsigned atomicInc(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_INC, at, value); }
static __forceinline__ unsigned atomicInc_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_INC, at, value); }
static __forceinline__ unsigned atomicInc_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_INC, at, value); }
static __forceinline__ unsigned atomicDec(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_DEC, at, value); }
static __forceinline__ unsigned atomicDec_block(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_DEC, at, value); }
static __forceinline__ unsigned atomicDec_system(unsigned *at, unsigned value)
{ return simt_change(SIMT_ATOMIC_DEC, at, value); }
static __forceinline__ unsigned short atomicCAS(unsigned short *at, unsigned short compare,
    unsigned short value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
static __forceinline__ int atomicCAS(int *at, int compare, int value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
static __forceinline__ int atomicCAS_block(int *at, int compare, int value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
static __forceinline__ int atomicCAS_system(int *at, int compare, int value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
static __forceinline__ unsigned atomicCAS(unsigned *at, unsigned compare, unsigned value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
static __forceinline__ unsigned atomicCAS_block(unsigned *at, unsigned compare, unsigned value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
static __forceinline__ unsigned atomicCAS_system(unsigned *at, unsigned compare, unsigned value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
static __forceinline__ unsigned long long atomicCAS(unsigned long long *at,
    unsigned long long compare, unsigned long long value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
static __forceinline__ unsigned long long atomicCAS_block(unsigned long long *at,
    unsigned long long compare, unsigned long long value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
static __forceinline__ unsigned long long atomicCAS_system(unsigned long long *at,
    unsigned long long compare, unsigned long long value)
{ return simt_change(SIMT_ATOMIC_COMPARE, at, value, compare); }
/* clang-format on */

/* ---- Loads and stores with cache hints, which have no effect here ---- */

template <typename T> static __forceinline__ T simt_load(const T *at)
{
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                  "an access must have 1, 2, 4, 8 or 16 bytes");
    return *at;
}

template <typename T> static __forceinline__ void simt_store(T *at, T value)
{
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                  "an access must have 1, 2, 4, 8 or 16 bytes");
    *at = value;
}

/* clang-format off */
template <typename T> static __forceinline__ T __ldg(const T *at) { return simt_load(at); }
template <typename T> static __forceinline__ T __ldca(const T *at) { return simt_load(at); }
template <typename T> static __forceinline__ T __ldcg(const T *at) { return simt_load(at); }
template <typename T> static __forceinline__ T __ldcs(const T *at) { return simt_load(at); }
template <typename T> static __forceinline__ T __ldlu(const T *at) { return simt_load(at); }
template <typename T> static __forceinline__ T __ldcv(const T *at) { return simt_load(at); }
template <typename T> static __forceinline__ void __stwb(T *at, T value) { simt_store(at, value); }
template <typename T> static __forceinline__ void __stcg(T *at, T value) { simt_store(at, value); }
template <typename T> static __forceinline__ void __stcs(T *at, T value) { simt_store(at, value); }
template <typename T> static __forceinline__ void __stwt(T *at, T value) { simt_store(at, value); }
/* clang-format on */

/* An address in shared memory, as PTX's shared loads and stores take it. */
static __forceinline__ size_t __cvta_generic_to_shared(const void *at)
{
    return (size_t)at;
}

#endif
