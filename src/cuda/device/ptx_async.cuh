/*
 * cuda/device/ptx_async.cuh - asynchronous copies to shared memory, barriers that signal their
 * completion, and clusters of blocks.
 *
 * Copies of single threads need sm_80, everything else sm_90.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_PTX_ASYNC_CUH
#define ECHI_CUDA_DEVICE_PTX_ASYNC_CUH

#include <stdint.h>

#ifdef __CUDACC__
/* An address in shared memory, as PTX instructions take it. */
static __device__ inline uint32_t shared_address(const void *at)
{
    return (uint32_t)__cvta_generic_to_shared(at);
}
#endif

/* ---- Copies of single threads ---- */

/* Copies 16, 8 or 4 bytes from global to shared memory, at multiples of their size. The bytes are
 * visible to this thread after its copy_wait(), and to other threads after a subsequent barrier. */
static __device__ inline void copy_async_16(void *to, const void *from)
{
#ifdef __CUDACC__
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(shared_address(to)), "l"(from)
                 : "memory");
#else
    simt_copy_async(to, from, 16);
#endif
}

static __device__ inline void copy_async_8(void *to, const void *from)
{
#ifdef __CUDACC__
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
                 :
                 : "r"(shared_address(to)), "l"(from)
                 : "memory");
#else
    simt_copy_async(to, from, 8);
#endif
}

static __device__ inline void copy_async_4(void *to, const void *from)
{
#ifdef __CUDACC__
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :
                 : "r"(shared_address(to)), "l"(from)
                 : "memory");
#else
    simt_copy_async(to, from, 4);
#endif
}

/* Makes the copies since the last call one group. */
static __device__ inline void copy_commit(void)
{
#ifdef __CUDACC__
    asm volatile("cp.async.commit_group;" : : : "memory");
#else
    simt_copy_commit();
#endif
}

/* Waits until at most the latest GROUPS groups are in flight. */
template <int GROUPS> static __device__ inline void copy_wait(void)
{
#ifdef __CUDACC__
    asm volatile("cp.async.wait_group %0;" : : "n"(GROUPS) : "memory");
#else
    simt_copy_wait(GROUPS);
#endif
}

/* ---- Barriers in shared memory ----
 *
 * A phase is complete when `count` threads have arrived and all expected bytes have been copied;
 * the next phase begins immediately.  Phases are distinguished by their parity. */

/* Called by one thread, before a barrier of all threads that use it. */
static __device__ inline void mbarrier_init(uint64_t *barrier, uint32_t count)
{
#ifdef __CUDACC__
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n"
                 "fence.mbarrier_init.release.cluster;"
                 :
                 : "r"(shared_address(barrier)), "r"(count)
                 : "memory");
#else
    simt_mbarrier_init(barrier, count);
#endif
}

static __device__ inline void mbarrier_arrive(uint64_t *barrier)
{
#ifdef __CUDACC__
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :
                 : "r"(shared_address(barrier))
                 : "memory");
#else
    simt_mbarrier_arrive(barrier, 0);
#endif
}

/* ... and expects `bytes` from copies in this phase. */
static __device__ inline void mbarrier_arrive_expect(uint64_t *barrier, uint32_t bytes)
{
#ifdef __CUDACC__
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
#else
    simt_mbarrier_arrive(barrier, bytes);
#endif
}

/* Whether the phase of this parity is complete. May wait for some time before it returns false. */
static __device__ inline bool mbarrier_try_wait(uint64_t *barrier, uint32_t parity)
{
#ifdef __CUDACC__
    uint32_t done;
    asm volatile("{\n"
                 "  .reg .pred done;\n"
                 "  mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                 "  selp.u32 %0, 1, 0, done;\n"
                 "}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return done;
#else
    if (simt_mbarrier_done(barrier, parity)) return true;
    simt_yield();
    return false;
#endif
}

/* Copies `bytes`, a multiple of 16, from global to shared memory, both at multiples of 16; their
 * arrival completes bytes of the barrier's phase. */
static __device__ inline void copy_bulk(void *to, const void *from, uint32_t bytes,
                                        uint64_t *barrier)
{
#ifdef __CUDACC__
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];"
                 :
                 : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
#else
    simt_copy_bulk(to, from, bytes, barrier);
#endif
}

/* The same for data that is not read again: it is evicted first from the L2 cache. */
static __device__ inline void copy_bulk_once(void *to, const void *from, uint32_t bytes,
                                             uint64_t *barrier)
{
#ifdef __CUDACC__
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;"
                 :
                 : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)),
                   "l"(policy)
                 : "memory");
#else
    copy_bulk(to, from, bytes, barrier);
#endif
}

/* Orders this thread's earlier stores to shared memory before bulk copies that overwrite it. */
static __device__ inline void copy_bulk_fence(void)
{
#ifdef __CUDACC__
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
#endif
}

/* ---- Clusters ---- */

static __device__ inline uint32_t cluster_rank(void)
{
#ifdef __CUDACC__
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
#else
    return simt_cluster_rank();
#endif
}

static __device__ inline uint32_t cluster_blocks(void)
{
#ifdef __CUDACC__
    uint32_t blocks;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
#else
    return simt_cluster_blocks();
#endif
}

/* The address in another block's shared memory that corresponds to `mine` in this block's. */
static __device__ inline void *cluster_map(void *mine, uint32_t rank)
{
#ifdef __CUDACC__
    void *theirs;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
    return theirs;
#else
    return simt_cluster_map(mine, rank);
#endif
}

/* The barrier of all threads of the cluster, in two halves: writes before the first are visible
 * after the second. */
static __device__ inline void cluster_arrive(void)
{
#ifdef __CUDACC__
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
#else
    simt_cluster_arrive();
#endif
}

static __device__ inline void cluster_wait(void)
{
#ifdef __CUDACC__
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
#else
    simt_cluster_wait();
#endif
}

#endif
