/*
 * cuda/device/ptx.cuh - instructions that C cannot express, each with an equivalent in C.
 *
 * A host compiler uses the equivalents, for the SIMT emulator (src/simt); simt_*() are functions of
 * the emulator, which performs asynchronous copies when a thread waits for them. The effect of
 * other asynchronous instructions is immediate there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_PTX_CUH
#define ECHI_CUDA_DEVICE_PTX_CUH

#include <stdint.h>

/* Hides from the compiler how a value was computed, so that it keeps the value in a register. */
static __device__ inline void keep_u32(uint32_t &value)
{
#ifdef __CUDACC__
    asm volatile("" : "+r"(value));
#else
    (void)value;
#endif
}

/* ---- Memory that other blocks of the grid see (PTX ISA, "Memory Consistency Model") ---- */

/* A load or store that is one access and does not order other accesses: relaxed, gpu scope. */
static __device__ inline uint32_t load_relaxed(const uint32_t *at)
{
#ifdef __CUDACC__
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

static __device__ inline void store_relaxed(uint32_t *at, uint32_t value)
{
#ifdef __CUDACC__
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
#endif
}

static __device__ inline uint64_t load_relaxed_u64(const uint64_t *at)
{
#ifdef __CUDACC__
    uint64_t value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

static __device__ inline void store_relaxed_u64(uint64_t *at, uint64_t value)
{
#ifdef __CUDACC__
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(value) : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
#endif
}

/* The same for shared memory, cta scope. */
static __device__ inline uint64_t load_shared_u64(const uint64_t *at)
{
#ifdef __CUDACC__
    uint64_t value;
    asm volatile("ld.relaxed.cta.shared.u64 %0, [%1];"
                 : "=l"(value)
                 : "r"((uint32_t)__cvta_generic_to_shared(at))
                 : "memory");
    return value;
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

static __device__ inline void store_shared_u64(uint64_t *at, uint64_t value)
{
#ifdef __CUDACC__
    asm volatile("st.relaxed.cta.shared.u64 [%0], %1;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(at)), "l"(value)
                 : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
#endif
}

static __device__ inline uint32_t load_shared(const uint32_t *at)
{
#ifdef __CUDACC__
    uint32_t value;
    asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];"
                 : "=r"(value)
                 : "r"((uint32_t)__cvta_generic_to_shared(at))
                 : "memory");
    return value;
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

static __device__ inline void store_shared(uint32_t *at, uint32_t value)
{
#ifdef __CUDACC__
    asm volatile("st.relaxed.cta.shared.u32 [%0], %1;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(at)), "r"(value)
                 : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
#endif
}

static __device__ inline void store_shared_u8(uint8_t *at, uint8_t value)
{
#ifdef __CUDACC__
    asm volatile("st.relaxed.cta.shared.u8 [%0], %1;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(at)), "r"((uint32_t)value)
                 : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
#endif
}

/* ... ordered: an acquire load that reads a released value also sees all earlier writes of its
 * thread. */
static __device__ inline uint32_t load_acquire(const uint32_t *at)
{
#ifdef __CUDACC__
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

static __device__ inline void store_release(uint32_t *at, uint32_t value)
{
#ifdef __CUDACC__
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}

/* Loads a word that gives the thread memory to write to: its address, or its number.  What the
 * thread writes there follows earlier accesses of other threads that are ordered before the word,
 * because the address depends on it; but it must not read there, as no cache is invalidated. */
static __device__ inline uint32_t load_target(const uint32_t *at)
{
#ifdef __CUDACC__
    return load_relaxed(at);
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

/* Stores a word that gives other threads memory to write to, after the block has read this memory:
 * every thread has used what it loaded before a barrier that precedes the store.  So no load is in
 * flight, and the store need not wait for earlier stores, as a release would. */
static __device__ inline void store_after_loads(uint32_t *at, uint32_t value)
{
#ifdef __CUDACC__
    store_relaxed(at, value);
#else
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}

static __device__ inline uint64_t load_acquire_u64(const uint64_t *at)
{
#ifdef __CUDACC__
    uint64_t value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

static __device__ inline void store_release_u64(uint64_t *at, uint64_t value)
{
#ifdef __CUDACC__
    asm volatile("st.release.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(value) : "memory");
#else
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}

/* Adds, and returns the previous value; ordered with all earlier and later accesses of its
 * thread. */
static __device__ inline uint32_t add_acq_rel(uint32_t *at, uint32_t value)
{
#ifdef __CUDACC__
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(at), "r"(value)
                 : "memory");
    return before;
#else
    __threadfence();
    uint32_t before = atomicAdd(at, value);
    __threadfence();
    return before;
#endif
}

/* Adds, after all earlier accesses of its thread, and of threads that it has synchronised with;
 * returns the previous value. Later accesses do not wait for the result. */
static __device__ inline uint64_t add_release_u64(uint64_t *at, uint64_t value)
{
#ifdef __CUDACC__
    uint64_t before;
    asm volatile("atom.release.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(at), "l"(value)
                 : "memory");
    return before;
#else
    __threadfence();
    return atomicAdd((unsigned long long *)at, (unsigned long long)value);
#endif
}

/* Waits until a word to which other threads add is at least this value, then acts like
 * load_acquire(): writes that the other threads have made before they added with release semantics
 * can be read. */
static __device__ inline void wait_acquire(const uint32_t *at, uint32_t least)
{
    /* An acquire invalidates the L1 cache of the multiprocessor, which another block may be using
     * while this one waits, and is expensive in the emulator. So the polls are relaxed, and only
     * the last load acquires. */
    while (load_relaxed(at) < least) continue;
    load_acquire(at);
    /* The value has not decreased. */
}

/* ---- Earlier launches ---- */

/* Waits until earlier launches have ended and their writes are visible. Must be called first in
 * every thread of a kernel that is launched early (launch.c). Before sm_90 there are no early
 * launches. */
static __device__ inline void wait_for_earlier(void)
{
#ifndef __CUDACC__
    simt_wait_earlier();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}

/* ---- Addresses ---- */

/* Returns the same pointer, but the compiler keeps it in a register from here on. Otherwise it
 * computes the address again before each conditional load. */
template <typename type> static __device__ inline const type *keep_pointer(const type *at)
{
#ifdef __CUDACC__
    asm volatile("" : "+l"(at));
#endif
    return at;
}

/* ---- Bits ---- */

/* The bits of one where mask has ones, and of zero elsewhere: one instruction, where the compiler
 * generates two if it knows the mask. */
static __device__ inline uint32_t bits_select(uint32_t mask, uint32_t one, uint32_t zero)
{
#ifdef __CUDACC__
    uint32_t bits;
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(bits) : "r"(mask), "r"(one), "r"(zero));
    return bits;
#else
    return (mask & one) | (~mask & zero);
#endif
}

/* ---- Warps ---- */

/* The lanes of the warp that have the same bit of x as the caller. Four instructions; the compiler
 * generates seven from the equivalent, because it moves the bit through a register before the
 * ballot. */
static __device__ inline uint32_t warp_match_bit(uint32_t x, uint32_t bit)
{
#ifdef __CUDACC__
    uint32_t lanes;
    asm volatile("{\n"
                 "  .reg .pred one;\n"
                 "  .reg .b32 masked;\n"
                 "  and.b32 masked, %1, %2;\n"
                 "  setp.ne.u32 one, masked, 0;\n"
                 "  vote.sync.ballot.b32 %0, one, 0xffffffff;\n"
                 "  @!one not.b32 %0, %0;\n"
                 "}"
                 : "=r"(lanes)
                 : "r"(x), "r"(bit));
    return lanes;
#else
    uint32_t ones = __ballot_sync(0xffffffffu, (x & bit) != 0);
    return x & bit ? ones : ~ones;
#endif
}

#endif
