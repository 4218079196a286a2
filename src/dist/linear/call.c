/*
 * dist/linear/call.c - steps that calls with distributed matrices share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/linear/linear.h"

#include <string.h>

ech_status echi_linear_check(ech_ctx *ctx, const ech_comm *comm, const ech_dist_csr *a)
{
    if (!a) return echi_fail(ctx, ECH_ERR_ARG, "a is NULL");
    if (ctx && a->ctx != ctx)
        return echi_fail(ctx, ECH_ERR_ARG, "a was made with another context than ctx");
    if (comm && a->comm != comm)
        return echi_fail(ctx, ECH_ERR_ARG, "a was made with another communicator than comm");
    return ECH_OK;
}

ech_status echi_linear_same(ech_ctx *ctx, ech_comm *comm, const char *call,
                            const struct echi_linear_number *numbers, size_t n)
{
    double mine[ECHI_COMM_NOTE / sizeof(double)], first, other;
    for (size_t i = 0; i < n; i++) mine[i] = numbers[i].value;
    const ech_status status = echi_comm_agree(ctx, comm, ECH_OK, mine, n * sizeof *mine);
    if (status != ECH_OK) return status;
    for (int r = 1; r < comm->table.ranks; r++)
        for (size_t i = 0; i < n; i++) {
            const char *a = comm->notes[0].note + i * sizeof first;
            const char *b = comm->notes[r].note + i * sizeof first;
            if (memcmp(a, b, sizeof first) == 0) continue;
            memcpy(&first, a, sizeof first);
            memcpy(&other, b, sizeof other);
            return echi_fail(ctx, ECH_ERR_ARG, "%s(): %s is %.17g on rank %d, but %.17g on rank 0",
                             call, numbers[i].name, other, r, first);
        }
    return ECH_OK;
}

static uint64_t latest(uint64_t x, uint64_t y)
{
    return x > y ? x : y;
}

static uint64_t earliest(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

ech_status echi_linear_move(ech_dist_csr *a, const void *in, const uint64_t *in_first, void *out,
                            const uint64_t *out_first, size_t element_bytes, ech_status *status)
{
    const int me = a->rank;
    size_t sends = 0, receives = 0;
    ech_comm_message *to = a->messages, *from = to + a->ranks;
    for (int r = 0; r < a->ranks; r++) {
        const uint64_t begin = latest(in_first[me], out_first[r]);
        const uint64_t end = earliest(in_first[me + 1], out_first[r + 1]);
        const uint64_t out_begin = latest(out_first[me], in_first[r]);
        const uint64_t out_end = earliest(out_first[me + 1], in_first[r + 1]);
        if (r == me) {
            if (begin < end && *status == ECH_OK)
                *status = ech_copy(a->ctx, echi_after(out, (begin - out_first[me]) * element_bytes),
                                   echi_after(in, (begin - in_first[me]) * element_bytes),
                                   (size_t)(end - begin) * element_bytes);
            continue;
        }
        if (begin < end)
            to[sends++] =
                (ech_comm_message){ echi_after(in, (begin - in_first[me]) * element_bytes),
                                    (end - begin) * element_bytes, r };
        if (out_begin < out_end)
            from[receives++] =
                (ech_comm_message){ echi_after(out, (out_begin - out_first[me]) * element_bytes),
                                    (out_end - out_begin) * element_bytes, r };
    }
    if (!a->moved) return ECH_OK; /* on all ranks: nothing moves */
    return echi_comm_exchange(a->ctx, a->comm, to, sends, from, receives);
}
