/*
 * sort/cuda/sample.c - strategy "samplesort": one launch, in buckets between splitters from a
 * sample.
 *
 *     workspace   [ keys by tile | payload by tile | starts of buckets | two counters ]
 *                 [ words by tile | copies of keys and payload | starts of buckets | two counters ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/plan.h"

#include <stdio.h>

/* Keys without values are sorted by all bits only: equal keys are then indistinguishable.  For some
 * of their bits the sort must be stable, and no kernel is compiled for that. */
static bool can_sample(const struct echi_sort *s)
{
    enum sort_end end;
    bool all_bits = s->begin_bit == 0 && s->end_bit == 8 * s->key_bytes;
    int payload = echi_sort_payload(s, &end);
    uint64_t most =
        payload ? SORT_SAMPLE_MOST_VALUES : SORT_SAMPLE_MOST_BYTES / (unsigned)s->key_bytes;
    if (echi_sort_as_words(s)) return s->begin_bit < s->end_bit;
    return SORT_BY_BINS(s->key_bytes, payload) &&
           (payload ? s->begin_bit < s->end_bit : all_bits) && s->n <= most;
}

static bool best_sample(const struct echi_sort *s)
{
    enum sort_end end;
    if (echi_sort_as_words(s)) return s->n <= SORT_WORDS_MOST(echi_sort_payload(s, &end));
    return s->n < SORT_MSD_MIN(s->key_bytes, s->order.float_mask != 0);
}

/* Equally many tiles and buckets: a multiple of the blocks that a large GPU runs at once, unless n
 * is small. */
static ech_status size_sample(const struct echi_sort *s, struct sort_plan *plan)
{
    uint32_t n = (uint32_t)s->n, wave = SORT_SAMPLE_WAVE;
    const bool words = echi_sort_as_words(s);
    uint32_t most = SORT_SAMPLE_BUCKETS(words ? 0 : plan->payload_bytes);
    uint32_t wave_keys = wave * SORT_SAMPLE_KEYS(words ? 4u : (uint32_t)s->key_bytes);
    uint32_t few = n ? (n + SORT_SAMPLE_MIN_KEYS - 1) / SORT_SAMPLE_MIN_KEYS : 1;
    uint32_t many = (n + wave_keys - 1) / wave_keys * wave;
    plan->buckets = few < wave ? few : many < most ? many : most;
    if (words) snprintf(plan->module, sizeof plan->module, "sort_sample_words");
    return ECH_OK;
}

static void lay_out_sample(const struct echi_sort *s, const struct sort_plan *plan,
                           struct echi_layout *layout, struct sort_args *args)
{
    const size_t payload = (size_t)plan->payload_bytes, buckets = plan->buckets;
    const bool words = echi_sort_as_words(s);
    if (words) args->sample.words = echi_sort_words(s, plan);
    args->common.keys_tmp = echi_part(layout, s->n, words ? 4u : (size_t)s->key_bytes);
    if (words) args->sample.words.keys = echi_part(layout, s->n, (size_t)s->key_bytes);
    if (words) args->sample.words.values = echi_part(layout, s->n, payload);
    if (payload && !words) args->common.values_tmp = echi_part(layout, s->n, payload);
    args->sample.starts = echi_part(layout, buckets + 1, buckets * sizeof *args->sample.starts);
    args->sample.arrived = echi_part(layout, 2, sizeof *args->sample.arrived);
}

/* The more space a block has for a bucket larger than expected, the smaller the sample may be. */
static ech_status steps_of_sample(const struct sort_build *b)
{
    const bool words = echi_sort_as_words(b->sort);
    const unsigned key = words ? 4u : (unsigned)b->sort->key_bytes;
    const unsigned payload = words ? 0 : (unsigned)b->plan->payload_bytes;
    struct sort_sample_args *args = &b->args->sample;
    bool narrow = !echi_gpu_has(&b->gpu, b->plan->module, "sort_sample");
    uint32_t room = SORT_SAMPLE_THREADS * (words ? (uint32_t)SORT_WORDS_SAMPLE_ITEMS
                                                 : SORT_SAMPLE_ITEMS(key, payload, narrow));
    uint32_t processors = (uint32_t)b->gpu.multiprocessors, n = (uint32_t)args->common.n;
    args->buckets = b->plan->buckets;
    args->tile = (n + args->buckets - 1) / args->buckets;
    /* Words of a sample must differ, so that it has no element several times. */
    args->each_log = words ? (n < 4 ? 0 : 2) : room >= 7 * args->tile / 2 ? 3 : 4;
    while (args->buckets << args->each_log > room) args->each_log--;
    args->samples = args->buckets << args->each_log;
    args->stride = n / args->samples;
    echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                .kind = ECHI_ZEROS,
                                                .level = -1,
                                                .to = args->arrived,
                                                .slot = &args->arrived,
                                                .bytes = 2 * sizeof *args->arrived });
    echi_sort_launch(
        b, ECHI_MOVE, ECHI_LAUNCH_COOPERATIVE, narrow ? "sort_sample_narrow" : "sort_sample",
        args->buckets < processors ? args->buckets : processors, SORT_SAMPLE_THREADS,
        words ? SORT_WORDS_SAMPLE_BYTES : SORT_SAMPLE_SHARED_BYTES(key, payload, narrow), -1, NULL);
    return ECH_OK;
}

const struct sort_strategy echi_sort_by_sample = {
    .name = "samplesort",
    .what = "one launch, with buckets between splitters from a sample",
    .when = "keys of 32 or 64 bits, more than fit in a block and fewer than the minimum of msd; up "
            "to 24,576 keys of 16 bits with values of 4 bytes, others to 16,384",
    .family = "sort_sample",
    .can = can_sample,
    .best = best_sample,
    .size = size_sample,
    .lay_out = lay_out_sample,
    .steps = steps_of_sample,
};
