/*
 * simt/ptx.cu - kernels that use every function of src/cuda/device/ptx*.cuh.
 *
 * The oracle, ptx_oracle.c, was verified on a GPU (intrinsics_gpu.cu). The test therefore shows
 * that the C versions of the instructions are equivalent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ptx.h"
#include "cuda/device/ptx.cuh"
#include "cuda/device/ptx_async.cuh"
#include "cuda/device/ptx_mma.cuh"
#include "cuda/device/ptx_wgmma.cuh"

/* The grids of these kernels are one-dimensional. */
static __device__ inline uint32_t ptx_thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ inline void ptx_put(const struct intrinsics_args &a, int slot, uint64_t word)
{
    a.out[(uint64_t)slot * a.n + ptx_thread()] = word;
}

static __device__ inline const uint64_t *ptx_inputs(const struct intrinsics_args &a)
{
    return a.in + (uint64_t)ptx_thread() * INTRINSICS_INPUTS;
}

/* ---- Memory order: each block waits for the previous one, in the order of their starts ---- */

/* Messages between blocks, in a.scratch, which is zero. */
struct ptx_message {
    uint32_t flag, word; /* flag: value is valid; word: valid if not 0 */
    uint64_t flag64, word64;
    uint32_t value;
    uint64_t value64;
};

/* Each value is three times the value of the previous block plus an input. */
static __device__ inline void pass_on(struct ptx_message *m, uint32_t block, uint64_t input)
{
    struct ptx_message before = {};
    if (block > 0) {
        const struct ptx_message *last = m + block - 1;
        while (load_acquire(&last->flag) == 0) {
        }
        before.value = last->value;
        while (load_acquire_u64(&last->flag64) == 0) {
        }
        before.value64 = last->value64;
        while ((before.word = load_relaxed(&last->word)) == 0) {
        }
        while ((before.word64 = load_relaxed_u64(&last->word64)) == 0) {
        }
    }
    m += block;
    m->value = 3 * before.value + (uint32_t)input;
    store_release(&m->flag, 1);
    m->value64 = 3 * before.value64 + input;
    store_release_u64(&m->flag64, 1);
    store_relaxed(&m->word, (3 * before.word + (uint32_t)input) | 1);
    store_relaxed_u64(&m->word64, (3 * before.word64 + input) | 1);
}

extern "C" __global__ void __launch_bounds__(64)
    ptx_order(const __grid_constant__ struct intrinsics_args a)
{
    __shared__ uint32_t taken;
    struct ptx_message *m = (struct ptx_message *)(a.scratch + 1);
    if (threadIdx.x == 0) {
        taken = atomicAdd((unsigned *)a.scratch, 1);
        pass_on(m, taken, a.in[(uint64_t)taken * blockDim.x * INTRINSICS_INPUTS]);
    }
    __syncthreads(); /* thread 0 has read the values of the previous blocks */
    /* results in the order in which blocks began */
    uint64_t *out = a.out + taken * blockDim.x + threadIdx.x;
    out[(uint64_t)PTX_ORDER_CHAIN * a.n] = m[taken].value;
    out[(uint64_t)PTX_ORDER_CHAIN_U64 * a.n] = m[taken].value64;
    out[(uint64_t)PTX_ORDER_WORD * a.n] = load_relaxed(&m[taken].word);
    out[(uint64_t)PTX_ORDER_WORD_U64 * a.n] = load_relaxed_u64(&m[taken].word64);
    ptx_put(a, PTX_ORDER_MATCH_BIT, warp_match_bit((uint32_t)*ptx_inputs(a), 4));
}

/* ---- Asynchronous copies, read by a neighbour ---- */

extern "C" __global__ void __launch_bounds__(64)
    ptx_copy(const __grid_constant__ struct intrinsics_args a)
{
    __shared__ uint4 words16[64];
    __shared__ uint2 words8[64];
    __shared__ uint32_t words4[64];
    const uint64_t *in = ptx_inputs(a);
    const uint32_t me = threadIdx.x, other = me ^ 1;
    copy_async_16(&words16[me], in);
    copy_commit();
    copy_async_8(&words8[me], in + 2);
    copy_async_4(&words4[me], in + 3);
    copy_commit();
    copy_wait<1>();
    __syncthreads(); /* the first group of every thread is complete */
    ptx_put(a, PTX_COPY_BYTES_16,
            (uint64_t)(words16[other].x ^ words16[other].z) << 32 |
                (words16[other].y ^ words16[other].w));
    copy_wait<0>();
    __syncthreads(); /* the second group is complete */
    ptx_put(a, PTX_COPY_BYTES_8, (uint64_t)words8[other].y << 32 | words8[other].x);
    ptx_put(a, PTX_COPY_BYTES_4, words4[other]);
}

/* ---- Barriers in shared memory, and bulk copies ---- */

/* Words rotate between threads, with a barrier of all threads between two steps. */
static __device__ inline uint64_t rotate(uint64_t *barrier, uint64_t *words, uint64_t word)
{
    for (uint32_t phase = 0; phase < 2 * PTX_ROUNDS; phase++) {
        const bool writes = phase % 2 == 0;
        if (writes) words[threadIdx.x] = word;
        if (!writes) word = words[(threadIdx.x + 1) % PTX_BARRIER_THREADS] + 1;
        mbarrier_arrive(barrier);
        while (!mbarrier_try_wait(barrier, phase & 1)) {
        }
    }
    return word;
}

/* The block's inputs arrive in rounds; two rounds are in flight. */
static __device__ inline uint64_t add_rounds(uint64_t *barriers, uint64_t (*buffers)[128],
                                             const uint64_t *from)
{
    uint64_t sum = 0;
    for (uint32_t round = 0; round <= PTX_ROUNDS; round++) {
        if (round < PTX_ROUNDS && threadIdx.x == 0) {
            uint64_t *barrier = &barriers[round % 2];
            mbarrier_arrive_expect(barrier, PTX_ROUND_BYTES);
            copy_bulk(buffers[round % 2], from + round * (PTX_ROUND_BYTES / 8), PTX_ROUND_BYTES,
                      barrier);
        }
        if (round == 0) continue;
        const uint32_t last = round - 1;
        while (!mbarrier_try_wait(&barriers[last % 2], last / 2 & 1)) {
        }
        sum = 3 * sum + buffers[last % 2][threadIdx.x];
        __syncthreads(); /* all threads have read; the buffer may be filled again */
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(PTX_BARRIER_THREADS)
    ptx_barrier(const __grid_constant__ struct intrinsics_args a)
{
    __shared__ __align__(16) uint64_t buffers[2][PTX_ROUND_BYTES / 8];
    __shared__ uint64_t words[PTX_BARRIER_THREADS];
    __shared__ uint64_t barriers[2], all;
    if (threadIdx.x == 0) {
        mbarrier_init(&barriers[0], 1);
        mbarrier_init(&barriers[1], 1);
        mbarrier_init(&all, PTX_BARRIER_THREADS);
    }
    __syncthreads(); /* the barriers are initialised */
    /* The phase before the first counts as complete. */
    ptx_put(a, PTX_BARRIER_BEFORE, mbarrier_try_wait(&all, 1));
    __syncthreads(); /* no thread has completed the first phase */
    ptx_put(a, PTX_BARRIER_ROTATED, rotate(&all, words, *ptx_inputs(a)));
    const uint64_t *from = a.in + (uint64_t)blockIdx.x * PTX_BARRIER_THREADS * INTRINSICS_INPUTS;
    ptx_put(a, PTX_BARRIER_BULK, add_rounds(barriers, buffers, from));
}

/* ---- Clusters: reads of the next block's shared memory, sums in that of the first block ---- */

extern "C" __global__ void __launch_bounds__(64)
    ptx_cluster(const __grid_constant__ struct intrinsics_args a)
{
    __shared__ uint64_t words[64];
    __shared__ uint32_t sums[64];
    const uint32_t rank = cluster_rank(), blocks = cluster_blocks(), me = threadIdx.x;
    words[me] = *ptx_inputs(a);
    sums[me] = 0;
    cluster_arrive();
    ptx_put(a, PTX_CLUSTER_RANK, rank);
    ptx_put(a, PTX_CLUSTER_BLOCKS, blocks);
    cluster_wait(); /* the words of all blocks are written, and their sums are zero */
    const uint64_t *theirs = (const uint64_t *)cluster_map(words, (rank + 1) % blocks);
    ptx_put(a, PTX_CLUSTER_REMOTE, theirs[63 - me]);
    atomicAdd((uint32_t *)cluster_map(&sums[me], 0), (uint32_t)words[me]);
    cluster_arrive();
    cluster_wait(); /* all blocks have read and added; none has ended before */
    if (rank == 0) ptx_put(a, PTX_CLUSTER_REMOTE_ADD, sums[me]);
}

/* ---- Products of matrices ---- */

extern "C" __global__ void __launch_bounds__(96)
    ptx_mma(const __grid_constant__ struct intrinsics_args a)
{
    const uint64_t *in = ptx_inputs(a);
    const uint32_t x[4] = { (uint32_t)in[0], (uint32_t)(in[0] >> 32), (uint32_t)in[1],
                            (uint32_t)(in[1] >> 32) };
    const uint32_t y[2] = { (uint32_t)in[2], (uint32_t)(in[2] >> 32) };
    int32_t both[4], one[4];
    for (int i = 0; i < 4; i++) both[i] = one[i] = (int32_t)(in[3] >> 8 * i & 0xff) - 128;
    mma_and(both, x, y);
    mma_xor(one, x, y);
    for (int i = 0; i < 4; i++) {
        ptx_put(a, PTX_MMA_AND_0 + i, (uint32_t)both[i]);
        ptx_put(a, PTX_MMA_XOR_0 + i, (uint32_t)one[i]);
    }
}

template <int DEPTH>
static __device__ inline void ptx_tensor_product(const struct intrinsics_args &args, int slot)
{
    const uint64_t *in = ptx_inputs(args);
    double a[2 * DEPTH], b[DEPTH], c[4];
#pragma unroll
    for (int i = 0; i < 2 * DEPTH; i++) a[i] = PTX_TENSOR_VALUE(in, i);
#pragma unroll
    for (int i = 0; i < DEPTH; i++) b[i] = PTX_TENSOR_VALUE(in, 8 + i);
#pragma unroll
    for (int i = 0; i < 4; i++) c[i] = PTX_TENSOR_VALUE(in, 12 + i);
    mma_f64<DEPTH>(c, a, b);
    for (int i = 0; i < 4; i++) ptx_put(args, slot + i, (uint64_t)__double_as_longlong(c[i]));
}

extern "C" __global__ void __launch_bounds__(96)
    ptx_tensor(const __grid_constant__ struct intrinsics_args a)
{
    ptx_tensor_product<1>(a, PTX_TENSOR_4_0);
    ptx_tensor_product<2>(a, PTX_TENSOR_8_0);
    ptx_tensor_product<4>(a, PTX_TENSOR_16_0);
}

extern "C" __global__ void __launch_bounds__(64)
    ptx_matrix(const __grid_constant__ struct intrinsics_args a)
{
    __shared__ __align__(16) uint64_t rows[64][2];
    const uint32_t lane = threadIdx.x % 32;
    rows[threadIdx.x][0] = ptx_inputs(a)[0];
    rows[threadIdx.x][1] = ptx_inputs(a)[1];
    __syncwarp();
    uint32_t words[4];
    load_matrices(words, rows[threadIdx.x - lane + PTX_MATRIX_ROW(lane)]);
    for (int i = 0; i < 4; i++) ptx_put(a, i, words[i]);
}

static __device__ inline uint64_t ptx_sum(const int32_t (&count)[128])
{
    uint64_t sum = 0;
#pragma unroll
    for (int i = 0; i < 128; i++) sum = 31 * sum + (uint32_t)count[i];
    return sum;
}

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
extern "C" __global__ void __launch_bounds__(128)
    ptx_wgmma(const __grid_constant__ struct intrinsics_args a)
{
    __shared__ __align__(16) uint64_t left[128][2], right[512][2];
    const uint64_t *in = ptx_inputs(a);
    int32_t count[128];
    for (uint32_t i = threadIdx.x; i < 512; i += 128)
        for (int k = 0; k < 2; k++) {
            right[i][k] = PTX_WGMMA_TURN(in[2 + k], i);
            if (i < 128) left[i][k] = in[k];
        }
    copy_bulk_fence();
    __syncthreads();
    wgmma_fence();
    wgmma_and(count, wgmma_operand(left), wgmma_operand(right), 0);
    wgmma_commit();
    wgmma_wait<0>();
    ptx_put(a, PTX_WGMMA_FIRST, ptx_sum(count));
    wgmma_fence();
    wgmma_and(count, wgmma_operand(right[256]), wgmma_operand(right), 1);
    wgmma_commit();
    wgmma_wait<0>();
    ptx_put(a, PTX_WGMMA_BOTH, ptx_sum(count));
}
#endif
