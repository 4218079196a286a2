/*
 * dist/gather.c - the sort of few elements: each rank gathers all of them, sorts them, and keeps
 * its share.
 *
 * It has one exchange, and no rounds between ranks, which would take longer than the sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/sort.h"
#include "echelon/arrange.h"

#include <stdlib.h>

/* Elements on all ranks together, at most.  A GPU sorts more of them in the time of a round. */
enum {
    MOST_CPU = 1 << 14,
    MOST_GPU = 1 << 25,
    MOST_GPU_BYTES = 1 << 27, /* of keys and values.  H200, 2026-11-27 */
    SHARED_GPU = 1 << 18,     /* of shared bins; or an eighth of the elements, and at most: */
    SHARED_MOST = 1 << 23
};

size_t echi_gather_most(const struct echi_backend *backend, size_t n)
{
    if (backend == &echi_cpu) return MOST_CPU;
    return n / 8 < SHARED_GPU ? SHARED_GPU : n / 8 < SHARED_MOST ? n / 8 : SHARED_MOST;
}

uint64_t echi_gather_room(const struct echi_backend *backend, int ranks, size_t n, size_t n_out,
                          size_t element_bytes)
{
    const size_t bytes = element_bytes ? element_bytes : 1, by_bytes = MOST_GPU_BYTES / bytes;
    const size_t gpu = by_bytes < MOST_GPU ? by_bytes : MOST_GPU;
    const size_t most = backend == &echi_cpu ? MOST_CPU : gpu, each = n > n_out ? n : n_out;
    if (n > most || (n_out > most && n_out != ECH_DIST_EVEN)) return 0;
    if (each >= most / (size_t)ranks) return most; /* also if n_out is ECH_DIST_EVEN */
    return (each + 1) * (size_t)ranks;
}

/* An array that is exchanged is in memory of the device: otherwise it is copied there. */
static ech_status to_device(struct echi_dist *d, const void **array, void *copy, size_t bytes)
{
    enum echi_side side;
    ech_status status = ECH_OK;
    if (bytes == 0) return ECH_OK;
    TRY(d->ctx->backend->side(d->ctx, *array, &side, NULL));
    if (side == ECHI_DEVICE) return ECH_OK;
    TRY(ech_copy(d->ctx, copy, *array, bytes));
    *array = copy;
done:
    return status;
}

bool echi_dist_can_gather(const struct echi_dist *d)
{
    bool can = true;
    for (int r = 0; r < d->ranks; r++) can = can && d->total <= d->comm->calls[r].room;
    return can;
}

static ech_status exchange(struct echi_dist *d, const struct echi_dist_sort *s, ech_status status)
{
    const size_t ranks = (size_t)d->ranks, key_bytes = ech_dtype_bytes(s->dtype);
    const size_t value_bytes = s->positions ? 0 : s->value_bytes;
    const void *keys = s->keys_in, *values = s->values_in;
    size_t n = 0;
    ech_comm_message *sends = calloc(4 * ranks, sizeof *sends), *receives = sends + 2 * ranks;
    if (status == ECH_OK && !sends)
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory for %d ranks", d->ranks);
    if (status == ECH_OK) status = to_device(d, &keys, s->keys, s->n * key_bytes);
    if (status == ECH_OK) status = to_device(d, &values, s->values, s->n * value_bytes);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    for (int r = 0; r < d->ranks; r++)
        for (int array = 0; array <= (value_bytes > 0); array++) {
            const size_t bytes = array ? value_bytes : key_bytes;
            const void *from = array ? values : keys;
            const uint64_t first = d->in_first[r], count = d->in_first[r + 1] - first;
            sends[n] = (ech_comm_message){ (void *)(uintptr_t)from, s->n * bytes, r };
            receives[n++] =
                (ech_comm_message){ echi_after(array ? s->all_values : s->all_keys, first * bytes),
                                    count * bytes, r };
        }
    status = echi_comm_exchange_device(d->ctx, d->comm, sends, n, receives, n);
done:
    free(sends);
    return status;
}

/* Sorts all elements. */
static ech_status sort_all(struct echi_dist *d, const struct echi_dist_sort *s)
{
    const size_t n = (size_t)d->total;
    ech_sort_options options = { .size = sizeof options,
                                 .descending = s->descending,
                                 .order = s->order,
                                 .algorithm = s->algorithm };
    size_t need = 0;
    ech_status status;
    TRY(ech_sort_workspace(ech_device_name(d->ctx), n, s->dtype, s->value_bytes, &options, &need));
    if (need <= s->inner_bytes) {
        options.work = s->inner;
        options.work_bytes = s->inner_bytes;
    }
    if (s->value_bytes == 0)
        return ech_sort(d->ctx, s->all_keys, s->sorted_keys, n, s->dtype, &options);
    if (s->positions) TRY(ech_iota(d->ctx, s->all_values, n, s->index_dtype, NULL, NULL));
    status = ech_sort_pairs(d->ctx, s->all_keys, s->all_values, s->sorted_keys, s->sorted_values, n,
                            s->dtype, s->value_bytes, &options);
done:
    return status;
}

ech_status echi_dist_sort_gather(struct echi_dist *d, const struct echi_dist_sort *s,
                                 ech_status status)
{
    const size_t key_bytes = ech_dtype_bytes(s->dtype);
    const uint64_t first = d->out_first[d->rank];
    TRY(exchange(d, s, status));
    if (s->n_out == 0) goto done;
    TRY(sort_all(d, s));
    if (s->keys_out)
        TRY(ech_copy_async(d->ctx, s->keys_out, (char *)s->sorted_keys + first * key_bytes,
                           s->n_out * key_bytes));
    if (s->value_bytes)
        TRY(ech_copy_async(d->ctx, s->values_out, (char *)s->sorted_values + first * s->value_bytes,
                           s->n_out * s->value_bytes));
done:
    return status;
}
