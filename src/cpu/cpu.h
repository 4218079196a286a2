/*
 * cpu/cpu.h - declarations that the files of the CPU backend share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_H
#define ECHI_CPU_H

#include "core/internal.h"
#include "cpu/processors.h"

#include <stdatomic.h>

struct echi_sort_isa;

static inline size_t echi_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline int echi_bit_length(uint64_t v)
{
    return v ? 64 - __builtin_clzll(v) : 0;
}

/* ---- dispatch.c ---- */

/* Fails if ECHELON_CPU has no valid value. */
ech_status echi_cpu_check_isa(ech_ctx *ctx);

/* Names the instruction sets that the dispatch uses on this machine. */
void echi_cpu_features(char *text, size_t capacity_bytes);

/* Whether the processor can multiply bytes by bit matrices (GFNI) and permute the bytes of 512-bit
 * registers (AVX-512 VBMI). */
bool echi_cpu_has_gfni(void);

/* Whether bytes and words can be compressed in registers (AVX-512 VBMI2). */
bool echi_cpu_has_vbmi2(void);

/* The best variant of the sort kernels that this machine can run, or the one that ECHELON_CPU
 * names.  It is chosen once per process: reading the environment takes longer than a sort of ten
 * keys. */
extern _Atomic(const struct echi_sort_isa *) echi_cpu_chosen; /* NULL: none yet */
const struct echi_sort_isa *echi_cpu_choose(void);
static inline const struct echi_sort_isa *echi_cpu_sort_isa(void)
{
    const struct echi_sort_isa *isa = atomic_load_explicit(&echi_cpu_chosen, memory_order_relaxed);
    return isa ? isa : echi_cpu_choose();
}

/* The best instruction set that this machine has, or the one that ECHELON_CPU names. An operation
 * with variants keeps them in a table with this index. */
enum echi_isa { ECHI_PORTABLE, ECHI_AVX2, ECHI_AVX512 };
extern const struct echi_sort_isa echi_sort_portable, echi_sort_avx2, echi_sort_avx512;
static inline enum echi_isa echi_cpu_isa(void)
{
    const struct echi_sort_isa *isa = echi_cpu_sort_isa();
#ifdef ECHI_CPU_X86
    if (isa == &echi_sort_avx512) return ECHI_AVX512;
    if (isa == &echi_sort_avx2) return ECHI_AVX2;
#endif
    (void)isa;
    return ECHI_PORTABLE;
}

/* The index of tables of functions for short calls; 0 until the instruction set is chosen, which
 * the complete functions do. */
enum echi_level {
    ECHI_LEVEL_NONE,
    ECHI_LEVEL_PORTABLE,
    ECHI_LEVEL_AVX2,
    ECHI_LEVEL_AVX512,
    ECHI_LEVEL_VBMI2, /* AVX-512 with VBMI2 */
    ECHI_LEVELS
};
extern _Atomic(unsigned char) echi_cpu_chosen_level;
static inline unsigned echi_cpu_level(void)
{
    return atomic_load_explicit(&echi_cpu_chosen_level, memory_order_relaxed);
}

/* Whether it is faster to prefetch arrays that are read in blocks, in turn; set by
 * echi_cpu_choose(). */
extern atomic_bool echi_cpu_prefetches;

/* ---- parallel.c ---- */

/* Called when a context has been opened and when it is closed: the last one ends all threads. */
void echi_parallel_open(void);
void echi_parallel_close(void);

/* Calls run(arg, i, thread) for every i < count on at most `threads` threads, numbered from 0. The
 * calling thread is number 0. There may be fewer threads, and only this one; i is taken in
 * ascending order. */
void echi_parallel_team(int threads, size_t count, void (*run)(void *arg, size_t i, int thread),
                        void *arg); /* threads and count are more than 1 */
static inline void echi_parallel(int threads, size_t count,
                                 void (*run)(void *arg, size_t i, int thread), void *arg)
{
    if (threads > 1 && count > 1)
        echi_parallel_team(threads, count, run, arg);
    else
        for (size_t i = 0; i < count; i++) run(arg, i, 0);
}

/* Called between reads of a variable that another running thread will write; times counts the
 * reads. */
void echi_parallel_pause(int times);

/* Waits until another running thread has set the counter to value. */
void echi_parallel_await(const atomic_size_t *counter, size_t value);

/* The maximum number of threads of the call that runs, constant until its end: echi_call_run()
 * calls the second function. */
int echi_threads(const ech_ctx *ctx);
void echi_threads_end(const ech_ctx *ctx);

/* The number of threads that a vendor's library may use in the call that runs; 0: its default. */
int echi_vendor_threads(const ech_ctx *ctx);

/* How many threads are worth waking to process this many bytes of memory. */
int echi_parallel_for_bytes(const ech_ctx *ctx, size_t bytes);

/* ---- Arrays in memory ---- */

enum {
    ECHI_FAR_BYTES = 12 << 20, /* larger arrays are probably not in the L3 cache */
    ECHI_PAGE_BYTES = 4096
};

/* Prefetches the first lines of the pages that begin in the second of the half pages from `at` on.
 * Prefetchers stop at the end of a page, and a processor that waits there reads up to a third less
 * per second.  An address past the array has no effect. */
static inline void echi_prefetch_page(const void *at)
{
    enum { HALF = ECHI_PAGE_BYTES / 2 };
    const uintptr_t from = (uintptr_t)at + HALF;
    const uintptr_t page = (from + ECHI_PAGE_BYTES - 1) & ~(uintptr_t)(ECHI_PAGE_BYTES - 1);
    if (page - from >= HALF) return;
    for (uintptr_t line = 0; line < 256; line += 64)
        __builtin_prefetch((const void *)(page + line));
}

/* direct/cpu/operation.c */
extern const struct echi_operation echi_cpu_direct_vendor, echi_cpu_direct_small;

#endif
