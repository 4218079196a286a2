/*
 * select/cuda/runs.c - finds runs of equal keys on the GPU, for other operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/cuda/runs.h"

#include "core/call.h"
#include "select/select.h"

size_t echi_cuda_runs_workspace(size_t n)
{
    const struct echi_select s = { .n = n };
    size_t bytes;
    return echi_operation_workspace(&echi_cuda_select, &s, &bytes) == ECH_OK ? bytes : SIZE_MAX;
}

ech_status echi_cuda_runs(ech_ctx *ctx, const void *keys, ech_dtype key_dtype, size_t n,
                          void *keys_out, uint64_t *starts, uint64_t *count, void *work)
{
    struct echi_select s = { .what = ECHI_KEEP,
                             .by = ECHI_BY_STARTS,
                             .in = keys,
                             .out = keys_out,
                             .starts = starts,
                             .close = true,
                             .count = count,
                             .n = n,
                             .element_bytes = ech_dtype_bytes(key_dtype) };
    s.test[0].order = echi_order_make(key_dtype, ECH_ORDER_NAN_LAST, false, true);
    return echi_operation_run(ctx, &echi_cuda_select, &s, work);
}
