/*
 * select_run.c - runs one case of test_select on one device, in each way that memory can be given,
 * and compares the result with the oracle.
 *
 *     workspace of the context or the caller  x  (GPU) device memory, host memory or mixed
 *
 * Outputs and workspace lie between guard zones and start with a pattern. The workspace has
 * exactly the size that the query returned. Inputs must be unchanged afterwards. Memory has only
 * the alignment that the call requires.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum way { DEVICE, HOST, MIXED };

static ech_status call(ech_ctx *ctx, const struct select_data *d, void *const p[ARRAYS],
                       const ech_select_options *o)
{
    const struct select_case *c = d->c;
    uint64_t *count = p[ARRAY_COUNT];
    switch (c->call) {
    case CALL_SELECT_FLAGS:
        return ech_select_flags(ctx, c->index ? NULL : p[ARRAY_IN], p[ARRAY_FLAGS], p[ARRAY_OUT],
                                count, c->n, c->element_bytes, o);
    case CALL_PARTITION_FLAGS:
        return ech_partition_flags(ctx, p[ARRAY_IN], p[ARRAY_FLAGS], p[ARRAY_OUT], count, c->n,
                                   c->element_bytes, o);
    case CALL_SELECT_IF:
        return ech_select_if(ctx, c->compare, p[ARRAY_IN], p[ARRAY_OUT], count, c->n, c->dtype,
                             d->value, o);
    case CALL_PARTITION_IF:
        return ech_partition_if(ctx, c->compare, p[ARRAY_IN], p[ARRAY_OUT], count, c->n, c->dtype,
                                d->value, o);
    case CALL_THREE:
        return ech_partition_3way(ctx, p[ARRAY_IN], p[ARRAY_OUT], count, c->n, c->dtype, d->value,
                                  d->high, o);
    case CALL_UNIQUE:
        return ech_unique(ctx, p[ARRAY_IN], p[ARRAY_OUT], count, c->n, c->dtype, o);
    case CALL_UNIQUE_BY_KEY:
        return ech_unique_by_key(ctx, p[ARRAY_IN], p[ARRAY_VALUES], p[ARRAY_OUT],
                                 p[ARRAY_VALUES_OUT], count, c->n, c->dtype, c->value_bytes, o);
    case CALL_ENCODE:
        return ech_rle_encode(ctx, p[ARRAY_IN], p[ARRAY_OUT], p[ARRAY_LENGTHS_OUT], count, c->n,
                              c->dtype, o);
    default:
        return ech_rle_decode(ctx, p[ARRAY_IN], p[ARRAY_LENGTHS], p[ARRAY_OUT], c->n, d->out_n,
                              c->element_bytes, o);
    }
}

static void compare(const struct buffer *b, const char *name, const char *want, size_t bytes)
{
    char *got = malloc(b->bytes + 1);
    if (CHECK(got != NULL) && buffer_check_guards(b, name) && buffer_get(b, got))
        for (size_t i = 0; i < bytes; i++)
            if (got[i] != want[i]) {
                test_fail(__FILE__, __LINE__, "byte %zu of %s is 0x%02X instead of 0x%02X", i, name,
                          (unsigned char)got[i], (unsigned char)want[i]);
                break;
            }
    free(got);
}

static bool prepare(ech_ctx *ctx, const struct select_data *d, enum way way, uint64_t seed,
                    struct buffer buffers[ARRAYS])
{
    for (int i = 0; i < ARRAYS; i++) {
        const struct select_array *a = &d->arrays[i];
        bool host = test_is_cpu(ctx) || way == HOST || (way == MIXED && (seed >> i) % 2);
        size_t align = host ? a->align : a->gpu_align,
               steps = seed / 4 % 3 ? (seed + 3 * (uint64_t)i) % 4 : 0;
        if (!buffer_make(&buffers[i], host ? NULL : ctx, a->bytes, align * steps)) return false;
        if (a->input && !buffer_set(&buffers[i], a->input)) return false;
    }
    return true;
}

static const ech_select_call select_calls[] = {
    [CALL_SELECT_FLAGS] = ECH_SELECT_CALL_FLAGS,
    [CALL_SELECT_IF] = ECH_SELECT_CALL_IF,
    [CALL_PARTITION_FLAGS] = ECH_SELECT_CALL_PARTITION_FLAGS,
    [CALL_PARTITION_IF] = ECH_SELECT_CALL_PARTITION_IF,
    [CALL_THREE] = ECH_SELECT_CALL_PARTITION_3WAY,
    [CALL_UNIQUE] = ECH_SELECT_CALL_UNIQUE,
    [CALL_UNIQUE_BY_KEY] = ECH_SELECT_CALL_UNIQUE_BY_KEY,
    [CALL_ENCODE] = ECH_SELECT_CALL_RLE_ENCODE,
    [CALL_DECODE] = ECH_SELECT_CALL_RLE_DECODE,
};

static bool give_workspace(ech_ctx *ctx, const struct select_data *d, struct buffer *work,
                           ech_select_options *o)
{
    char text[8192];
    size_t bytes = 0;
    CHECK_STATUS(ech_select_explain(ech_device_name(ctx), select_calls[d->c->call], d->c->n,
                                    d->element_bytes, d->c->value_bytes, o, ECH_FORMAT_JSON, text,
                                    sizeof text),
                 ECH_OK);
    if (!CHECK_STATUS(ech_select_workspace(ech_device_name(ctx), select_calls[d->c->call], d->c->n,
                                           d->element_bytes, d->c->value_bytes, o, &bytes),
                      ECH_OK) ||
        !buffer_make(work, test_is_cpu(ctx) ? NULL : ctx, bytes, 0))
        return false;
    if (!bytes) return true;
    o->work = work->data;
    o->work_bytes = bytes;
    return true;
}

static void run_way(ech_ctx *ctx, const struct select_data *d, enum way way, bool own_work,
                    uint64_t seed)
{
    const struct select_case *c = d->c;
    ech_select_options o = { .size = sizeof o,
                             .invert = c->invert,
                             .positions = c->index ? select_positions(c) : (ech_dtype)0,
                             .packed = c->packed };
    struct buffer buffers[ARRAYS], work = { .bytes = 0 };
    void *p[ARRAYS];
    bool failed_before = test_failed();
    memset(buffers, 0, sizeof buffers);
    if (!prepare(ctx, d, way, seed, buffers)) goto done;
    if (own_work && !give_workspace(ctx, d, &work, &o)) goto done;
    for (int i = 0; i < ARRAYS; i++) p[i] = d->arrays[i].bytes ? buffers[i].data : NULL;

    if (o.work_bytes) { /* one byte less: the call must fail without effects */
        o.work_bytes--;
        CHECK_FAILS(ctx, call(ctx, d, p, &o), ECH_ERR_MEMORY, "work_bytes");
        o.work_bytes++;
    }
    if (!test_check_status(__FILE__, __LINE__, "the call", call(ctx, d, p, &o), ECH_OK, ctx) ||
        !CHECK_STATUS(ech_sync(ctx), ECH_OK))
        goto done;
    for (int i = 0; i < ARRAYS; i++) {
        const struct select_array *a = &d->arrays[i];
        if (a->name)
            compare(&buffers[i], a->name, a->input ? a->input : a->want,
                    a->input ? a->bytes : a->want_bytes);
    }
    if (own_work) buffer_check_guards(&work, "work");
done:
    if (test_failed() && !failed_before)
        printf("    (%s, %s workspace, %s memory)\n", ech_device_name(ctx),
               own_work ? "given" : "the context's",
               way == DEVICE ? "the device's"
               : way == HOST ? "host"
                             : "some of each");
    for (int i = 0; i < ARRAYS; i++)
        if (buffers[i].base) buffer_free(&buffers[i]);
    if (work.base) buffer_free(&work);
}

void select_run(ech_ctx *ctx, const struct select_data *d, uint64_t seed)
{
    static const int threads[] = { 1, 2, 7 };
    switch (d->c->kind) {
    case SELECT_REPEAT:
        for (int i = 0; i < 5; i++) run_way(ctx, d, DEVICE, i % 2, seed);
        return;
    case SELECT_THREADS:
        for (int i = 0; i < 3; i++) {
            CHECK_STATUS(ech_set_threads(ctx, threads[i]), ECH_OK);
            run_way(ctx, d, DEVICE, false, seed);
        }
        CHECK_STATUS(ech_set_threads(ctx, 0), ECH_OK);
        return;
    default:
        run_way(ctx, d, DEVICE, false, seed);
        run_way(ctx, d, DEVICE, true, seed + 1);
        if (test_is_cpu(ctx) || d->c->n > 20000) return;
        run_way(ctx, d, seed % 2 ? HOST : MIXED, seed / 2 % 2, seed + 2);
    }
}
