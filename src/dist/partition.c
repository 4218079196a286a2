/*
 * dist/partition.c - the sort that divides elements among the ranks before the exchange.
 *
 *     range      of samples of all ranks
 *     (order)    if the sample is in order, the keys may be: then the elements are only moved
 *     count      elements in each bin of the range; every rank gathers the counts of all ranks, and
 *                chooses the same buckets (buckets.c)
 *     move       keys of this rank to their place in `got`, the others to `keys`, by buckets
 *     exchange   the buckets of this rank, in groups; where ranks read each other's memory, copies
 *                of a group overlap with the sort of the one before
 *     sort       the buckets of a group
 *
 *     keys   | shared bins | buckets of rank 0 | of rank 2 | ...      of this rank, rank 1
 *     got    | own, from 0, 1, 2 | own, from 0, 1, 2 | ...            its buckets
 *     out    | low | own buckets, sorted                     | high |
 *
 * Elements with values are moved to `keys` and counted by a stable sort by the bits of a few bins,
 * before buckets are chosen.  In a bucket they lie in the order of ranks, then of positions.
 *
 * A bin that has too many elements is divided, and its keys are counted again, until no bin has too
 * many or its keys are equal.  If several ranks share a bin of equal keys, each writes its own.
 * Elements of other bins that several ranks share are few.  They are sorted by the method for all
 * elements, which divides equal keys exactly: low and high.  If they are not few (elements with
 * values), all elements are sorted by that method.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/partition.h"
#include "core/call.h"
#include "echelon/arrange.h"

#include <stdlib.h>
#include <string.h>

enum {
    BINS = ECHI_DIVIDE_BINS,
    WINDOW_BITS = 8, /* elements with values: only every 2^(14 - 8)-th bin is used */
    WINDOWS = 1 << WINDOW_BITS,
    GROUP_BYTES = 1 << 26,
    OTHER_KEYS = 1 << 20, /* more than between `got` and `keys`, and between what is sent */
    COUNT_ALL = 1 << 24, /* elements of a rank that are counted before they are sorted by windows */
    COUNT_SHARE = 16,    /* of more elements, one in this many */
    NAMED_GATHERS = 100, /* if the method is named, for tests: more are not gathered */
    SHARED_LEAST = 1 << 14 /* elements of shared bins for which a rank has room, at least */
};

/* Buckets of this many keys or fewer are sorted in one level and leaves: sort/cuda/tuning.h. */
static uint64_t bucket_keys(size_t key_bytes)
{
    return (uint64_t)17280 * 256 * 4 / key_bytes;
}

size_t echi_partition_shared(size_t n)
{
    return n < SHARED_LEAST ? n : SHARED_LEAST + (n - SHARED_LEAST) / 8;
}

bool echi_partition_can(const struct echi_dist_sort *s, const struct echi_backend *backend)
{
    const size_t key_bytes = ech_dtype_bytes(s->dtype);
    if (s->n >= UINT32_MAX - s->n_out - OTHER_KEYS) return false;
    return s->value_bytes || (backend->divide && key_bytes >= 4);
}

/* ---- Range ---- */

struct range {
    uint64_t low, high;
    uint64_t near;       /* echi_divide.near */
    uint64_t gathers;    /* elements of shared bins on all ranks that this rank can gather */
    int32_t can, direct; /* direct: the other ranks can read this rank's memory */
    int32_t ordered;     /* the keys may be in order */
    int32_t counts;      /* elements with values can be counted before they are sorted */
};

static bool on_device(struct echi_partition_run *run, const void *array, size_t n)
{
    ech_ctx *ctx = run->d->ctx;
    enum echi_side side;
    if (n == 0 || !array) return true;
    return ctx->backend->side(ctx, array, &side, NULL) == ECH_OK && side == ECHI_DEVICE;
}

static bool can_run(struct echi_partition_run *run)
{
    const struct echi_dist_sort *s = run->s;
    ech_ctx *ctx = run->d->ctx;
    if (!echi_partition_can(s, ctx->backend)) return false;
    if (run->ops && (run->key_bytes < 4 || !run->ops->can(ctx))) run->ops = NULL;
    return (s->value_bytes || run->ops) && on_device(run, s->keys_in, s->n) &&
           on_device(run, s->values_in, s->n) && on_device(run, s->keys_out, s->n_out) &&
           on_device(run, s->values_out, s->n_out);
}

static uint64_t last_of(uint64_t low, uint32_t bits)
{
    return bits == 64 ? ~(uint64_t)0 : low + ((uint64_t)1 << bits) - 1;
}

/* The range of this rank's sample; without a kernel for samples, of all keys. */
static ech_status own_range(struct echi_partition_run *run, struct range *range)
{
    struct echi_dist_sort *s = run->s;
    ech_ctx *ctx = run->d->ctx;
    struct echi_divide *divide = &run->divide;
    ech_status status = ECH_OK;
    *range = (struct range){ .low = ~(uint64_t)0, .near = UINT64_MAX };
    run->ops = ctx->backend->divide;
    if (!can_run(run)) return ECH_OK;
    if (!s->divides) return ECH_OK; /* the workspace has no room */
    range->can = 1;
    range->counts = run->ops != NULL;
    range->gathers = echi_gather_most(ctx->backend, echi_partition_shared(s->n));
    if (s->method == ECHI_DIST_PARTITION) range->gathers = NAMED_GATHERS;
    range->direct = ctx->backend->copy_beside && echi_comm_direct(run->d->comm);
    *divide = (struct echi_divide){ .keys = s->keys_in,
                                    .n = s->n,
                                    .key_bytes = (int)run->key_bytes,
                                    .order = echi_order_make(s->dtype, s->order, s->descending,
                                                             s->value_bytes != 0),
                                    .bits = (uint32_t)(8 * run->key_bytes),
                                    .work = s->divide };
    /* Other bits of floats may be in order for ech_is_sorted(), but not for a sort. */
    divide->ordered = true;
    range->ordered = !echi_dtype_is_float(s->dtype);
    if (s->n == 0) return ECH_OK;
    if (run->ops) status = run->ops->range(ctx, divide);
    range->ordered = range->ordered && divide->ordered;
    range->near = divide->near;
    range->low = divide->low;
    range->high = last_of(divide->low, divide->bits);
    return status;
}

/* The range of all samples; false if a rank cannot divide its elements. */
static bool common_range(struct echi_partition_run *run)
{
    struct range all = { .low = ~(uint64_t)0,
                         .near = UINT64_MAX,
                         .gathers = UINT64_MAX,
                         .direct = 1,
                         .ordered = 1,
                         .counts = 1 };
    for (int r = 0; r < run->d->ranks; r++) {
        struct range of;
        memcpy(&of, run->d->comm->notes[r].note, sizeof of);
        if (!of.can) return false;
        if (of.low < all.low) all.low = of.low;
        if (of.high > all.high) all.high = of.high;
        if (of.near < all.near) all.near = of.near;
        all.direct = all.direct && of.direct;
        all.ordered = all.ordered && of.ordered;
        all.counts = all.counts && of.counts;
        if (of.gathers < all.gathers) all.gathers = of.gathers;
    }
    uint32_t bits = echi_partition_has_values(run) ? WINDOW_BITS : ECHI_DIVIDE_BIN_BITS;
    while (bits < 8 * run->key_bytes && all.low >> bits != all.high >> bits) bits++;
    run->divide.bits = bits;
    run->divide.low = bits == 64 ? 0 : all.low >> bits << bits;
    run->near = run->divide.low == 0 && !echi_partition_has_values(run) &&
                bits > ECHI_DIVIDE_BIN_BITS && all.near + ECHI_DIVIDE_BIN_BITS <= bits;
    run->direct = all.direct;
    run->queues = !all.direct && run->ops && !echi_partition_has_values(run) &&
                  echi_comm_queues(run->d->comm);
    run->ordered = all.ordered;
    run->tries = all.counts;
    run->gathers = all.gathers;
    return true;
}

/* ---- Keys that are in order ---- */

struct ends {
    uint64_t n, ordered, first, last; /* of this rank: encoded keys */
};

static ech_status own_ends(struct echi_partition_run *run, struct ends *ends)
{
    const struct echi_dist_sort *s = run->s;
    const ech_is_sorted_options options = { .size = sizeof options,
                                            .descending = s->descending,
                                            .order = s->order };
    ech_ctx *ctx = run->d->ctx;
    const size_t bytes = run->key_bytes;
    uint64_t position = 0, first = 0, last = 0;
    struct echi_lent lent;
    ech_status status;
    *ends = (struct ends){ .n = s->n, .ordered = 1 };
    if (s->n == 0) return ECH_OK;
    echi_lend(&lent, ctx, s->inner, s->inner_bytes);
    status = ech_is_sorted(ctx, s->keys_in, &position, s->n, s->dtype, &options);
    echi_lent_end(&lent);
    if (status == ECH_OK) status = ech_copy(ctx, &first, s->keys_in, bytes);
    if (status == ECH_OK)
        status = ech_copy(ctx, &last, (const char *)s->keys_in + (s->n - 1) * bytes, bytes);
    ends->ordered = position == s->n;
    ends->first = echi_order_encode(&run->divide.order, (int)bytes, first);
    ends->last = echi_order_encode(&run->divide.order, (int)bytes, last);
    return status;
}

/* Moves elements from their places in the input to the same places in the output. */
static ech_status move_all(struct echi_partition_run *run)
{
    struct echi_dist *d = run->d;
    const struct echi_dist_sort *s = run->s;
    const uint64_t first = d->out_first[d->rank];
    uint64_t start = 0;
    ech_status status = ECH_OK;
    if (s->positions) {
        memcpy(&start, &first, s->value_bytes); /* little-endian, modulo 2^bits */
        return ech_iota(d->ctx, s->values_out, s->n_out, s->index_dtype, &start, NULL);
    }
    TRY(echi_dist_move(d, s->keys_in, d->in_first, s->keys_out, d->out_first, run->key_bytes));
    if (s->value_bytes)
        TRY(echi_dist_move(d, s->values_in, d->in_first, s->values_out, d->out_first,
                           s->value_bytes));
done:
    return status;
}

/* Moves elements that are in order, as are equal keys with values; *done: whether they are, which
 * is the same on all ranks. */
static ech_status move_ordered(struct echi_partition_run *run, bool *done)
{
    struct echi_dist *d = run->d;
    struct ends ends, before = { 0 };
    ech_status status = own_ends(run, &ends);
    TRY(echi_comm_agree(d->ctx, d->comm, status, &ends, sizeof ends));
    *done = true;
    for (int r = 0; r < d->ranks; r++) {
        struct ends of;
        memcpy(&of, d->comm->notes[r].note, sizeof of);
        if (of.n == 0) continue;
        *done = *done && of.ordered && (before.n == 0 || before.last <= of.first);
        before = of;
    }
    if (*done) status = move_all(run);
done:
    return status;
}

/* ---- Elements with values: sorted by windows ---- */

static ech_status sort_windows(struct echi_partition_run *run)
{
    struct echi_dist_sort *s = run->s;
    const uint32_t shift = run->divide.bits - WINDOW_BITS;
    const ech_sort_options options = { .size = sizeof options,
                                       .descending = s->descending,
                                       .order = s->order,
                                       .begin_bit = (int)shift,
                                       .work = s->inner,
                                       .work_bytes = s->inner_bytes };
    const void *values = s->values_in;
    if (s->positions) {
        const ech_status status = echi_dist_sort_positions(run->d, s);
        if (status != ECH_OK) return status;
        values = s->numbers;
    }
    return ech_sort_pairs(run->d->ctx, s->keys_in, values, s->keys, s->values, s->n, s->dtype,
                          s->value_bytes, &options);
}

/* counts [BINS] */
static ech_status count_windows(struct echi_partition_run *run, uint32_t *counts)
{
    struct echi_dist_sort *s = run->s;
    const struct echi_sorted sorted = { .keys = s->keys,
                                        .n = s->n,
                                        .dtype = s->dtype,
                                        .order = s->order,
                                        .descending = s->descending,
                                        .work = s->inner,
                                        .work_bytes = s->inner_bytes };
    const uint32_t shift = run->divide.bits - WINDOW_BITS;
    uint64_t first[WINDOWS], below[WINDOWS + 1];
    for (uint32_t w = 0; w < WINDOWS; w++) first[w] = run->divide.low + ((uint64_t)w << shift);
    const ech_status status = echi_dist_count_below(run->d, &sorted, first, WINDOWS, below);
    below[0] = 0;
    below[WINDOWS] = s->n;
    for (uint32_t w = 0; w < WINDOWS && status == ECH_OK; w++)
        counts[w * (BINS / WINDOWS)] = (uint32_t)(below[w + 1] - below[w]);
    return status;
}

/* The window of the first key of a bin. */
static uint32_t window_of(const struct echi_divide *bins, const struct echi_divide *windows,
                          uint32_t bin)
{
    const uint64_t key = bins->low + ((uint64_t)bin << (bins->bits - ECHI_DIVIDE_BIN_BITS));
    const uint64_t offset = key > windows->low ? key - windows->low : 0;
    const uint64_t window = offset >> (windows->bits - WINDOW_BITS);
    return window < WINDOWS ? (uint32_t)window : WINDOWS - 1;
}

/* try_windows() counts one of this many elements if a rank has n. */
static uint64_t window_share(uint64_t n)
{
    return n > COUNT_ALL ? COUNT_SHARE : 1;
}

/* Counts the first keys, or all, in bins before they are sorted by windows; *few: whether each
 * window that several ranks share probably has few elements.  counts [BINS], zero before and
 * after. */
static ech_status try_windows(struct echi_partition_run *run, uint32_t *counts, bool *few)
{
    struct echi_dist *d = run->d;
    const uint64_t most = echi_partition_shared((size_t)(d->total / (uint64_t)d->ranks));
    struct echi_divide bins = run->divide;
    ech_status status = ECH_OK;
    uint64_t here[WINDOWS] = { 0 }, sum = 0;
    bool outside = false;
    int r = 1;
    if (bins.bits < ECHI_DIVIDE_BIN_BITS) { /* a bin has one key, and a window several bins */
        bins.bits = ECHI_DIVIDE_BIN_BITS;
        bins.low = bins.low >> bins.bits << bins.bits;
    }
    bins.n = (size_t)(bins.n / window_share(bins.n));
    status = run->ops->count(d->ctx, &bins, counts, &outside);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(echi_comm_allgather(d->ctx, d->comm, counts, run->p.counts, BINS * sizeof *counts));
    for (uint32_t i = 0; i < (uint32_t)d->ranks * BINS; i++)
        here[window_of(&bins, &run->divide, i % BINS)] +=
            run->p.counts[i] * window_share(d->in_first[i / BINS + 1] - d->in_first[i / BINS]);
    *few = true;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        while (r < d->ranks && d->out_first[r] <= sum) r++;
        if (r < d->ranks && d->out_first[r] < sum + here[w] && here[w] > most) *few = false;
        sum += here[w];
    }
    memset(counts, 0, BINS * sizeof *counts);
done:
    return status;
}

/* counts [BINS] */
static ech_status count(struct echi_partition_run *run, uint32_t *counts)
{
    ech_status status = ECH_OK;
    if (!echi_partition_has_values(run))
        return run->ops->count(run->d->ctx, &run->divide, counts, &run->p.outside);
    run->p.outside = run->divide.bits < 8 * run->key_bytes;
    if (run->s->n == 0) return ECH_OK;
    status = sort_windows(run);
    return status == ECH_OK ? count_windows(run, counts) : status;
}

/* ---- The sort ---- */

static uint64_t to_sort(const struct echi_end *end)
{
    return end->equal ? 0 : end->n;
}

/* Whether every rank has room for the elements of shared bins. */
static bool few_shared(const struct echi_partition_run *run)
{
    const struct echi_dist *d = run->d;
    for (int r = 0; r < d->ranks; r++) {
        const struct echi_share *share = &run->p.shares[r];
        const uint64_t n = d->in_first[r + 1] - d->in_first[r];
        const uint64_t n_out = d->out_first[r + 1] - d->out_first[r];
        if (share->shared > echi_partition_shared((size_t)n) ||
            to_sort(&share->low) + to_sort(&share->high) > echi_partition_shared((size_t)n_out))
            return false;
    }
    return true;
}

/* The maximum size of a bucket: each rank should have enough of them to fill a GPU. */
static uint64_t most_keys(const struct echi_partition_run *run)
{
    const uint64_t each = run->d->total / (uint64_t)run->d->ranks / 64 + 1;
    const uint64_t one_level = bucket_keys(run->key_bytes);
    return each < one_level ? each : one_level;
}

/* The minimum size of a group of buckets, in elements. */
static uint64_t group_least(const struct echi_partition_run *run)
{
    if (!run->direct && !run->queues) return UINT64_MAX; /* one group */
    if (run->s->method == ECHI_DIST_PARTITION) return 1; /* for tests */
    return GROUP_BYTES / (run->key_bytes + run->s->value_bytes);
}

/* Counts the last ECHI_DIVIDE_BINS entries of the table. */
static ech_status count_more(struct echi_partition_run *run, uint32_t node, uint32_t *counts)
{
    struct echi_dist *d = run->d;
    struct echi_partition *p = &run->p;
    ech_status status = run->ops->count_more(d->ctx, &run->divide, p->table, node,
                                             p->table->entries - BINS, counts);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(echi_comm_allgather(d->ctx, d->comm, counts, echi_partition_counts(p),
                            BINS * sizeof *counts));
done:
    return status;
}

/* Counts the elements of all ranks in bins, until no bin has too many.  counts [BINS] */
static ech_status count_all(struct echi_partition_run *run, uint32_t *counts)
{
    struct echi_dist *d = run->d;
    struct echi_partition *p = &run->p;
    ech_status status = ECH_OK;
    if (run->near) p->lengths = run->divide.lengths = echi_partition_lengths(run->divide.bits);
    status = count(run, counts);
    uint64_t outside = p->outside;
    uint32_t node = 0;
    TRY(echi_comm_agree(d->ctx, d->comm, status, &outside, sizeof outside));
    for (int r = 0; r < d->ranks; r++) p->outside |= d->comm->notes[r].note[0] != 0;
    p->shift = (int)run->divide.bits - ECHI_DIVIDE_BIN_BITS;
    p->table->entries = BINS;
    TRY(echi_comm_allgather(d->ctx, d->comm, counts, echi_partition_counts(p),
                            BINS * sizeof *counts));
    if (!echi_partition_has_values(run) && !p->lengths && echi_partition_near(p, most_keys(run))) {
        p->lengths = run->divide.lengths = echi_partition_lengths(run->divide.bits);
        TRY(count_more(run, 0, counts));
    }
    while (!echi_partition_has_values(run) && echi_partition_divide(p, most_keys(run), &node))
        TRY(count_more(run, node, counts));
    if (echi_partition_has_values(run)) echi_partition_divide(p, d->total, &node);
done:
    return status;
}

ech_status echi_dist_sort_partition(struct echi_dist *d, struct echi_dist_sort *s,
                                    ech_status status, bool *done)
{
    struct echi_partition_run run = { .d = d, .s = s, .key_bytes = ech_dtype_bytes(s->dtype) };
    struct range range = { 0 };
    uint32_t *counts = calloc(BINS, sizeof *counts);
    const void *const sent[] = { s->keys, s->values };
    bool few = true;
    run.sent = calloc((size_t)d->ranks, sizeof sent);
    run.copies = calloc(ECHI_DIVIDE_BUCKETS, sizeof *run.copies);
    *done = false;
    if ((!echi_partition_allocate(&run.p, d) || !counts || !run.sent || !run.copies) &&
        status == ECH_OK)
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory for %d ranks", d->ranks);
    run.p.in_order = s->value_bytes != 0;
    run.p.align = ECHI_PARTITION_ALIGN / (uint32_t)run.key_bytes;
    if (status == ECH_OK) status = own_range(&run, &range);
    TRY(echi_comm_agree(d->ctx, d->comm, status, &range, sizeof range));
    if (!common_range(&run)) goto done;
    if (run.ordered) TRY(move_ordered(&run, done));
    if (*done) goto done;
    if (echi_partition_has_values(&run) && run.tries) {
        TRY(try_windows(&run, counts, &few));
        if (!few) goto done;
    }
    TRY(count_all(&run, counts));
    run.p.group_least = group_least(&run);
    if (!echi_partition_plan(&run.p, most_keys(&run)) || !few_shared(&run)) goto done;
    *done = true;
    status = echi_partition_move(&run);
    if (status == ECH_OK) status = ech_sync(d->ctx); /* other ranks read what has been moved */
    for (int i = 0; i < 2 && status == ECH_OK && run.direct; i++)
        status = echi_share(d->ctx, sent[i]);
    TRY(echi_comm_agree(d->ctx, d->comm, status, sent, sizeof sent));
    for (int r = 0; r < d->ranks; r++)
        memcpy(run.sent + 2 * r, d->comm->notes[r].note, sizeof sent);
    status = echi_partition_finish(&run);
done:
    free(counts);
    free(run.sent);
    free(run.copies);
    return status;
}
