/*
 * dist/host.c - distributed sorts of arrays in host memory on GPUs.
 *
 *     copy in    each rank copies its part to its GPU, over the link of this GPU
 *     sort       the GPUs exchange and sort, as for arrays in their memory
 *     copy out   each rank copies its share of the result to host memory
 *
 * Without room for the copies, the calls of the library that sort parts and merge runs copy the
 * arrays themselves.  Ranks decide this independently.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/sort.h"

enum { KEYS_IN, VALUES_IN, KEYS_OUT, VALUES_OUT, ARRAYS };

/* An array in host memory, and its copy on the GPU. */
struct staged {
    void *host, *device; /* NULL: not staged */
    size_t bytes;
};

static ech_status allocate(struct echi_dist *d, const void *array, size_t n, size_t element_bytes,
                           struct staged *staged)
{
    enum echi_side side = ECHI_DEVICE;
    ech_status status = ECH_OK;
    if (!array || n == 0 || element_bytes == 0) return ECH_OK;
    TRY(d->ctx->backend->side(d->ctx, array, &side, NULL));
    if (side == ECHI_DEVICE) return ECH_OK;
    staged->bytes = n * element_bytes;
    TRY(echi_try_allocate(d->ctx, staged->bytes, "a copy of an array in host memory",
                          &staged->device));
    staged->host = (void *)(uintptr_t)array;
done:
    return status;
}

static void release(struct echi_dist *d, struct staged *staged)
{
    for (int i = 0; i < ARRAYS; i++) {
        if (staged[i].device) echi_release(d->ctx, staged[i].device, staged[i].bytes);
        staged[i] = (struct staged){ NULL, NULL, 0 };
    }
}

/* Allocates copies of all arrays in host memory, or of none. */
static ech_status allocate_all(struct echi_dist *d, const struct echi_dist_sort *s,
                               struct staged *staged)
{
    const size_t key_bytes = ech_dtype_bytes(s->dtype);
    const void *values_in = s->positions ? NULL : s->values_in;
    ech_status status;
    TRY(allocate(d, s->keys_in, s->n, key_bytes, &staged[KEYS_IN]));
    TRY(allocate(d, values_in, s->n, s->value_bytes, &staged[VALUES_IN]));
    TRY(allocate(d, s->keys_out, s->n_out, key_bytes, &staged[KEYS_OUT]));
    TRY(allocate(d, s->values_out, s->n_out, s->value_bytes, &staged[VALUES_OUT]));
done:
    if (status != ECH_OK) release(d, staged);
    return status == ECH_ERR_MEMORY ? ECH_OK : status;
}

static ech_status copy_in(struct echi_dist *d, struct echi_dist_sort *s, struct staged *staged)
{
    ech_status status = ECH_OK;
    for (int i = KEYS_IN; i <= VALUES_IN; i++)
        if (staged[i].host)
            TRY(ech_copy(d->ctx, staged[i].device, staged[i].host, staged[i].bytes));
    if (staged[KEYS_IN].host) s->keys_in = staged[KEYS_IN].device;
    if (staged[VALUES_IN].host) s->values_in = staged[VALUES_IN].device;
    if (staged[KEYS_OUT].host) s->keys_out = staged[KEYS_OUT].device;
    if (staged[VALUES_OUT].host) s->values_out = staged[VALUES_OUT].device;
done:
    return status;
}

/* Few elements are copied by gather.c. */
static bool gathers(const struct echi_dist *d, const struct echi_dist_sort *s)
{
    return (s->method == ECHI_DIST_AUTO || s->method == ECHI_DIST_GATHER) &&
           echi_dist_can_gather(d);
}

ech_status echi_dist_sort_host(struct echi_dist *d, struct echi_dist_sort *s, ech_status status)
{
    struct staged staged[ARRAYS] = { { NULL, NULL, 0 } };
    if (d->ranks > 1 && status == ECH_OK && !gathers(d, s)) {
        status = allocate_all(d, s, staged);
        if (status == ECH_OK) status = copy_in(d, s, staged);
    }
    status = echi_dist_sort_run(d, s, status);
    for (int i = KEYS_OUT; i <= VALUES_OUT && status == ECH_OK; i++)
        if (staged[i].host)
            status = ech_copy(d->ctx, staged[i].host, staged[i].device, staged[i].bytes);
    release(d, staged);
    return status;
}
