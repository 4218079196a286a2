/*
 * sort/cuda/divide.c - the division of keys among ranks (sort/divide.h) on a GPU.
 *
 * The counts are those of the strategy "buckets" (msd_buckets.cuh); divide.cu samples the keys and
 * moves them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/steps.h"
#include "sort/cuda/divide.h"
#include "sort/cuda/plan.h"
#include "sort/divide.h"

/* What the kernels of msd_buckets.cuh use, and the tables of divide.cu. */
struct parts {
    struct sort_msd msd;
    struct sort_buckets buckets;
    uint32_t counts[SORT_MSD_ROW];
    uint32_t bins[ECHI_DIVIDE_BINS];
    uint32_t next[ECHI_DIVIDE_BUCKETS];
    uint16_t table[ECHI_DIVIDE_SLOTS];
    struct echi_divide_node nodes[ECHI_DIVIDE_NODES];
    struct sort_divide_sample sample;
    uint8_t bin_bucket[ECHI_DIVIDE_BINS];
};

static const char *msd_module(int key_bytes)
{
    return key_bytes == 8 ? "sort_msd_k64" : "sort_msd_k32";
}

static const char *divide_module(int key_bytes)
{
    return key_bytes == 8 ? "sort_divide_k64" : "sort_divide_k32";
}

static bool can_divide(ech_ctx *ctx)
{
    const struct echi_gpu gpu = echi_gpu_of(ctx);
    return gpu.shared_bytes >= SORT_DIVIDE_SHARED_BYTES(8) + ECHI_BLOCK_RESERVED_BYTES;
}

static CUdeviceptr address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static struct sort_msd_args args_of(const struct echi_divide *d)
{
    struct parts *parts = d->work;
    struct sort_msd_args args = { .common = { .keys_in = d->keys, .n = d->n, .order = d->order },
                                  .lists = { .msd = &parts->msd },
                                  .buckets = &parts->buckets,
                                  .bins = parts->bins,
                                  .bin_bucket = parts->bin_bucket,
                                  .bin_bits = ECHI_DIVIDE_BIN_BITS };
    args.lists.counts[0] = parts->counts;
    return args;
}

enum { SAMPLES = SORT_DIVIDE_SAMPLE_BLOCKS * SORT_DIVIDE_SAMPLE_THREADS };

static uint32_t near_of(const struct sort_divide_sample *found)
{
    uint32_t near = 0, sum = found->lengths[0] + 1;
    while (sum < SAMPLES / ECHI_DIVIDE_NEAR) sum += found->lengths[++near] + 1;
    return near;
}

/* The highest bit below which most keys have zeros, while fewer have them below the next one: where
 * a number of random length begins.  Otherwise `bits`, if most keys have zeros below that; or 0. */
static uint32_t cut_of(const struct sort_divide_sample *found, uint32_t bits)
{
    uint32_t above = 0, cut = 0;
    for (uint32_t bit = bits; bit > 0 && (cut == 0 || cut == bits); bit--) {
        const uint32_t zeros = found->zeros[bit - 1] + 1;
        if (zeros >= SORT_ZEROS_MANY(SAMPLES) && zeros >= above + SORT_ZEROS_MORE(SAMPLES))
            cut = bit;
        above = zeros;
    }
    return cut;
}

static ech_status range_of(ech_ctx *ctx, struct echi_divide *d)
{
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    struct parts *parts = d->work;
    const struct sort_divide_args args = {
        .keys_in = d->keys, .n = d->n, .order = d->order, .sample = &parts->sample
    };
    struct sort_divide_sample found;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CU(cuMemsetD8Async, address(&parts->sample), 0xff, sizeof parts->sample, echi_cuda_stream(ctx));
    TRY(echi_cuda_launch(ctx, divide_module(d->key_bytes), "sort_divide_sample",
                         SORT_DIVIDE_SAMPLE_BLOCKS, SORT_DIVIDE_SAMPLE_THREADS, 0, &args));
    CU(cuMemcpyAsync, address(&found), address(&parts->sample), sizeof found,
       echi_cuda_stream(ctx));
    CU(cuStreamSynchronize, echi_cuda_stream(ctx));
    d->bits = ECHI_DIVIDE_BIN_BITS;
    while (d->bits < 64 && (found.least ^ ~found.rest) >> d->bits) d->bits++;
    d->low = d->bits == 64 ? 0 : found.least >> d->bits << d->bits;
    d->ordered = found.ordered != 0;
    d->near = near_of(&found);
    d->cut = cut_of(&found, d->bits);
done:
    echi_cuda_leave(ctx);
    return status;
}

static ech_status count_bins(ech_ctx *ctx, const struct echi_divide *d, uint32_t *counts,
                             bool *outside)
{
    const struct echi_gpu gpu = echi_gpu_of(ctx);
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    const struct sort_msd_args args = args_of(d);
    struct parts *parts = d->work;
    const struct sort_buckets range = { .low = d->low,
                                        .bits = d->bits,
                                        .shift = d->bits - ECHI_DIVIDE_BIN_BITS,
                                        .lengths = d->lengths,
                                        .least = ~(uint64_t)0 };
    struct sort_buckets found;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CU(cuMemsetD8Async, address(&parts->msd), 0, sizeof parts->msd, echi_cuda_stream(ctx));
    CU(cuMemsetD8Async, address(parts->bins), 0, sizeof parts->bins, echi_cuda_stream(ctx));
    CU(cuMemcpyAsync, address(&parts->buckets), address(&range), sizeof range,
       echi_cuda_stream(ctx));
    if (d->n)
        TRY(echi_cuda_launch(ctx, msd_module(d->key_bytes), "sort_buckets_count",
                             echi_gpu_blocks(&gpu, d->n, SORT_BUCKETS_THREADS * 64, 1),
                             SORT_BUCKETS_THREADS, sizeof parts->bins, &args));
    CU(cuMemcpyAsync, address(&found), address(&parts->buckets), sizeof found,
       echi_cuda_stream(ctx));
    CU(cuMemcpyAsync, address(counts), address(parts->bins), sizeof parts->bins,
       echi_cuda_stream(ctx));
    CU(cuStreamSynchronize, echi_cuda_stream(ctx));
    *outside = found.least != ~(uint64_t)0 || found.most != 0;
done:
    echi_cuda_leave(ctx);
    return status;
}

/* Arguments for the table, which is copied. */
static ech_status copy_table(ech_ctx *ctx, const struct echi_divide *d,
                             const struct echi_divide_table *table, struct sort_divide_args *args)
{
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    struct parts *parts = d->work;
    ech_status status = ECH_OK;
    *args = (struct sort_divide_args){ .keys_in = d->keys,
                                       .n = d->n,
                                       .order = d->order,
                                       .low = d->low,
                                       .span = d->bits == 64 ? ~(uint64_t)0
                                                             : ((uint64_t)1 << d->bits) - 1,
                                       .shift = d->bits - ECHI_DIVIDE_BIN_BITS,
                                       .lengths = d->lengths,
                                       .table = parts->table,
                                       .nodes = parts->nodes };
    CU(cuMemcpyAsync, address(parts->table), address(table->entry),
       table->entries * sizeof *table->entry, echi_cuda_stream(ctx));
    if (table->nodes)
        CU(cuMemcpyAsync, address(parts->nodes), address(table->node),
           table->nodes * sizeof *table->node, echi_cuda_stream(ctx));
done:
    return status;
}

static ech_status count_more(ech_ctx *ctx, const struct echi_divide *d,
                             const struct echi_divide_table *table, uint32_t nodes, uint32_t first,
                             uint32_t *counts)
{
    const struct echi_gpu gpu = echi_gpu_of(ctx);
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    struct parts *parts = d->work;
    struct sort_divide_args args;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    TRY(copy_table(ctx, d, table, &args));
    args.new_nodes = nodes;
    args.first = first;
    args.next = parts->bins;
    CU(cuMemsetD8Async, address(parts->bins), 0, sizeof parts->bins, echi_cuda_stream(ctx));
    if (d->n)
        TRY(echi_cuda_launch(ctx, divide_module(d->key_bytes), "sort_divide_count",
                             echi_gpu_blocks(&gpu, d->n, SORT_DIVIDE_COUNT_THREADS * 64, 2),
                             SORT_DIVIDE_COUNT_THREADS, SORT_DIVIDE_COUNT_BYTES, &args));
    CU(cuMemcpyAsync, address(counts), address(parts->bins), sizeof parts->bins,
       echi_cuda_stream(ctx));
    CU(cuStreamSynchronize, echi_cuda_stream(ctx));
done:
    echi_cuda_leave(ctx);
    return status;
}

static ech_status move_keys(ech_ctx *ctx, const struct echi_divide *d,
                            const struct echi_divide_table *table, bool outside,
                            const uint32_t *next, void *out)
{
    const struct echi_gpu gpu = echi_gpu_of(ctx);
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    const uint32_t tile = SORT_DIVIDE_TILE((unsigned)d->key_bytes);
    const unsigned shared_bytes = SORT_DIVIDE_SHARED_BYTES((unsigned)d->key_bytes);
    const uint64_t whole = outside || table->nodes ? 0 : d->n / tile * tile;
    const char *kernel = d->lengths ? "sort_divide_lengths" : "sort_divide";
    struct parts *parts = d->work;
    struct sort_divide_args args;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    if (d->n == 0) goto done;
    TRY(copy_table(ctx, d, table, &args));
    CU(cuMemcpyAsync, address(parts->next), address(next), sizeof parts->next,
       echi_cuda_stream(ctx));
    args.out = out;
    args.next = parts->next;
    args.buckets = (d->buckets + SORT_MSD_THREADS - 1) / SORT_MSD_THREADS * SORT_MSD_THREADS;
    args.n = whole;
    if (whole)
        TRY(echi_cuda_launch(ctx, divide_module(d->key_bytes), kernel,
                             echi_gpu_blocks(&gpu, whole, tile, SORT_DIVIDE_BLOCKS),
                             SORT_MSD_THREADS, shared_bytes, &args));
    args.keys_in = (const char *)d->keys + whole * (unsigned)d->key_bytes;
    args.n = d->n - whole;
    if (args.n)
        TRY(echi_cuda_launch(ctx, divide_module(d->key_bytes), "sort_divide_any",
                             echi_gpu_blocks(&gpu, args.n, tile, SORT_DIVIDE_BLOCKS),
                             SORT_MSD_THREADS, shared_bytes, &args));
done:
    echi_cuda_leave(ctx);
    return status;
}

/* The next copies of a launch, from copy *done on, and the number of their tiles. */
static uint64_t next_copies(const struct echi_copy *copies, size_t n, size_t *done, int key_bytes,
                            struct sort_divide_pull_args *args)
{
    const size_t tile = SORT_DIVIDE_PULL_THREADS * SORT_DIVIDE_PULL_BYTES;
    uint64_t tiles = 0;
    for (args->copies = 0; *done < n && args->copies < SORT_DIVIDE_PULLS; ++*done) {
        const struct echi_copy *copy = &copies[*done];
        args->copy[args->copies++] =
            (struct sort_divide_copy){ copy->from, copy->to, copy->bytes / (unsigned)key_bytes };
        tiles += copy->bytes / tile + 1;
    }
    return tiles;
}

static ech_status pull_keys(ech_ctx *ctx, int key_bytes, const struct echi_copy *copies, size_t n,
                            bool in_lane)
{
    const bool private_stream = ctx->private_stream;
    void *const stream = ctx->stream;
    const struct echi_gpu gpu = echi_gpu_of(ctx);
    const unsigned most = in_lane ? SORT_DIVIDE_PULL_BLOCKS : 2 * (unsigned)gpu.multiprocessors;
    CUstream lane = NULL;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    if (in_lane) {
        TRY(echi_cuda_lane(ctx, 0, &lane));
        ctx->private_stream = false;
        ctx->stream = lane;
    }
    for (size_t done = 0; done < n && status == ECH_OK;) {
        struct sort_divide_pull_args args;
        const uint64_t tiles = next_copies(copies, n, &done, key_bytes, &args);
        status = echi_cuda_launch(ctx, divide_module(key_bytes), "sort_divide_pull",
                                  echi_cuda_least(tiles, most), SORT_DIVIDE_PULL_THREADS, 0, &args);
    }
    ctx->private_stream = private_stream;
    ctx->stream = stream;
done:
    echi_cuda_leave(ctx);
    return status;
}

const struct echi_divide_ops echi_cuda_divide = { .work_bytes = sizeof(struct parts),
                                                  .can = can_divide,
                                                  .range = range_of,
                                                  .count = count_bins,
                                                  .count_more = count_more,
                                                  .move = move_keys,
                                                  .pull = pull_keys };
