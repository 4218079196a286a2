/*
 * sort/cuda/sample.c - the sample sort on the GPU, host half: how many buckets, how large a sample.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/sample.h"

/* Keys alone by all bits are not told apart when they are equal; by some, nothing is ready. */
bool echi_sort_sample_fits(const struct echi_sort *s, int moved_bytes)
{
    bool all_bits = s->begin_bit == 0 && s->end_bit == 8 * s->key_bytes;
    uint64_t most =
        moved_bytes ? SORT_SAMPLE_MOST_VALUES : SORT_SAMPLE_MOST_BYTES / (unsigned)s->key_bytes;
    return SORT_BY_BINS(s->key_bytes, moved_bytes) &&
           (moved_bytes ? s->begin_bit < s->end_bit : all_bits) && s->n <= most;
}

/* As many tiles as buckets: a multiple of what a large GPU runs at once, unless n is small. */
uint32_t echi_sort_sample_buckets(const struct echi_sort *s, int moved_bytes)
{
    uint32_t n = (uint32_t)s->n, wave = SORT_SAMPLE_WAVE;
    uint32_t most = SORT_SAMPLE_BUCKETS(moved_bytes);
    uint32_t wave_keys = wave * SORT_SAMPLE_KEYS((uint32_t)s->key_bytes);
    uint32_t few = n ? (n + SORT_SAMPLE_FEW - 1) / SORT_SAMPLE_FEW : 1;
    uint32_t many = (n + wave_keys - 1) / wave_keys * wave;
    return few < wave ? few : many < most ? many : most;
}

/* The more room a block has for an unlucky bucket, the smaller the sample may be. */
ech_status echi_cuda_sort_sample(ech_ctx *ctx, const char *image, unsigned key_bytes,
                                 unsigned moved_bytes, struct sort_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    ech_status status = ECH_OK;
    void *meet;
    bool narrow = !echi_cuda_has(ctx, image, "sort_sample");
    uint32_t room = SORT_SAMPLE_THREADS * SORT_SAMPLE_ITEMS(key_bytes, moved_bytes, narrow);
    uint32_t processors = (uint32_t)cuda->multiprocessors;
    args->tile = ((uint32_t)args->n + args->buckets - 1) / args->buckets;
    args->each_log = room >= 7 * args->tile / 2 ? 3 : 4;
    while (args->buckets << args->each_log > room) args->each_log--;
    args->samples = args->buckets << args->each_log;
    args->stride = (uint32_t)args->n / args->samples;
    TRY(echi_cuda_zeros(ctx, args->meet, 2 * sizeof *args->meet, &meet));
    args->meet = meet;
    TRY(echi_cuda_launch_together(ctx, image, narrow ? "sort_sample_narrow" : "sort_sample",
                                  args->buckets < processors ? args->buckets : processors,
                                  SORT_SAMPLE_THREADS,
                                  SORT_SAMPLE_SHARED_BYTES(key_bytes, moved_bytes, narrow), args));
done:
    return status;
}
