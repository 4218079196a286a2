/*
 * reduce_run.c - runs one case of test_reduce on one device, in each way that memory can be given,
 * and compares the bits with the oracle.
 *
 *     workspace of the context or the caller  x  (GPU) device memory, host memory or mixed
 *     x (CPU) 1, 2 or 7 threads
 *
 * Outputs lie between guard zones and start with a pattern. The workspace has exactly the size
 * that the query returned. Memory is aligned to the size of an element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce_case.h"

#include <stdlib.h>
#include <string.h>

enum { IN, B, KEYS, OFFSETS, KEYS_OUT, OUT, COUNT, BUFFERS };

static const char *const names[] = { "in", "b", "keys", "offsets", "keys_out", "out", "count" };

static ech_reduce_options options_of(const struct reduce_data *d)
{
    const struct reduce_case *c = d->c;
    return (ech_reduce_options){ .size = sizeof(ech_reduce_options),
                                 .nan = c->ignore ? ECH_NAN_IGNORE : ECH_NAN_PROPAGATE,
                                 .accumulate_wide = c->wide,
                                 .compare = c->compare,
                                 .value = d->value,
                                 .ddof = c->ddof };
}

static ech_dtype offsets_dtype(const struct reduce_data *d)
{
    return index_dtype(d->n + d->parts, d->n);
}

static ech_status call(ech_ctx *ctx, const struct reduce_data *d, const struct buffer *b,
                       const ech_reduce_options *o)
{
    const struct reduce_case *c = d->c;
    switch (c->shape) {
    case WHOLE:
        return ech_reduce(ctx, c->op, b[IN].data, b[OUT].data, d->n, c->dtype, o);
    case ROWS:
        return ech_reduce_rows(ctx, c->op, b[IN].data, b[OUT].data, c->parts, c->n, c->dtype, o);
    case SEGMENTS:
        return ech_reduce_segments(ctx, c->op, b[IN].data, b[OFFSETS].data, b[OUT].data, d->n,
                                   c->parts, c->dtype, offsets_dtype(d), o);
    case BY_KEY:
        return ech_reduce_by_key(ctx, c->op, b[KEYS].data, b[IN].data, b[KEYS_OUT].data,
                                 b[OUT].data, (void *)b[COUNT].data, d->n, c->key_dtype, c->dtype,
                                 o);
    default:
        return ech_dot(ctx, b[IN].data, b[B].data, b[OUT].data, d->n, c->dtype, o);
    }
}

static void compare(const struct buffer *buffer, int which, const void *wanted, size_t bytes,
                    size_t element_bytes)
{
    char *got = malloc(buffer->bytes + 1);
    if (!buffer_check_guards(buffer, names[which]) || !CHECK(got) || !buffer_get(buffer, got))
        goto done;
    if (bytes == 0 || memcmp(got, wanted, bytes) == 0) goto done;
    for (size_t i = 0; i < bytes; i += element_bytes)
        if (memcmp(got + i, (const char *)wanted + i, element_bytes) != 0) {
            uint64_t g = 0, w = 0;
            memcpy(&g, got + i, element_bytes < 8 ? element_bytes : 8);
            memcpy(&w, (const char *)wanted + i, element_bytes < 8 ? element_bytes : 8);
            test_fail(__FILE__, __LINE__, "%s[%zu] is 0x%llX instead of 0x%llX", names[which],
                      i / element_bytes, (unsigned long long)g, (unsigned long long)w);
            break;
        }
done:
    free(got);
}

static bool prepare(ech_ctx *ctx, const struct reduce_data *d, uint64_t seed, struct buffer *b)
{
    const struct reduce_case *c = d->c;
    size_t parts = c->shape == BY_KEY ? d->n : d->parts, one = d->in_bytes;
    const size_t offset_bytes = ech_dtype_bytes(offsets_dtype(d));
    const struct {
        const void *from;
        size_t bytes, align;
    } what[BUFFERS] = {
        { d->in, d->n * one, one },
        { d->b, d->b ? d->n * one : 0, one },
        { d->keys, d->keys ? d->n * d->key_bytes : 0, d->key_bytes },
        { d->offsets, d->offsets ? (d->parts + 1) * offset_bytes : 0, offset_bytes },
        { NULL, d->keys ? d->n * d->key_bytes : 0, d->key_bytes },
        { NULL, parts * d->out_bytes, c->op == ECH_OP_MINMAX ? one : d->out_bytes },
        { NULL, d->keys ? 8 : 0, 8 },
    };
    uint64_t place = test_is_cpu(ctx) ? 0 : seed / 5 % 4; /* 0: device, 1: host, otherwise mixed */
    for (int i = 0; i < BUFFERS; i++) {
        bool host = place == 1 || (place > 1 && (seed >> i & 1));
        size_t offset = what[i].align * ((seed >> (2 * i)) % 4);
        if (!buffer_make(&b[i], host || test_is_cpu(ctx) ? NULL : ctx, what[i].bytes, offset))
            return false;
        if (!what[i].from) continue;
        void *narrow =
            i == OFFSETS ? index_array(d->offsets, d->parts + 1, offsets_dtype(d)) : NULL;
        const bool set = buffer_set(&b[i], narrow ? narrow : what[i].from);
        free(narrow);
        if (!set) return false;
    }
    return true;
}

/* Also checks that a workspace which is one byte too small is rejected. */
static bool give_workspace(ech_ctx *ctx, const struct reduce_data *d, const struct buffer *b,
                           ech_reduce_options *o, struct buffer *work)
{
    size_t bytes;
    static const ech_reduce_call calls[] = { [WHOLE] = ECH_REDUCE_CALL_ROWS,
                                             [ROWS] = ECH_REDUCE_CALL_ROWS,
                                             [SEGMENTS] = ECH_REDUCE_CALL_SEGMENTS,
                                             [BY_KEY] = ECH_REDUCE_CALL_BY_KEY,
                                             [DOT] = ECH_REDUCE_CALL_DOT };
    char text[8192];
    const ech_reduce_call call_kind = calls[d->c->shape];
    const size_t groups = d->c->shape == WHOLE ? 1 : d->parts;
    const ech_op op = d->c->shape == DOT ? ECH_OP_SUM : d->c->op;
    CHECK_STATUS(ech_reduce_explain(ech_device_name(ctx), call_kind, op, d->n, groups, d->c->dtype,
                                    o, ECH_FORMAT_JSON, text, sizeof text),
                 ECH_OK);
    if (!CHECK_STATUS(ech_reduce_workspace(ech_device_name(ctx), call_kind, op, d->n, groups,
                                           d->c->dtype, o, &bytes),
                      ECH_OK) ||
        !buffer_make(work, test_is_cpu(ctx) ? NULL : ctx, bytes, 0))
        return false;
    if (!bytes) return true;
    o->work = work->data;
    o->work_bytes = bytes - 1;
    if (!CHECK_STATUS(call(ctx, d, b, o), ECH_ERR_MEMORY)) return false;
    o->work_bytes = bytes;
    return true;
}

void reduce_run(ech_ctx *ctx, const struct reduce_data *d, uint64_t seed)
{
    static const int threads[] = { 1, 2, 7 };
    struct buffer b[BUFFERS], work;
    memset(b, 0, sizeof b);
    memset(&work, 0, sizeof work);
    ech_reduce_options o = options_of(d);
    bool cpu = test_is_cpu(ctx), many = cpu && d->n * d->in_bytes > (size_t)1 << 18;
    if (!prepare(ctx, d, seed, b)) goto done;
    if (seed % 3 == 0 && !give_workspace(ctx, d, b, &o, &work)) goto done;
    for (int i = 0; i < (many ? 3 : 1 + (int)(seed % 2)); i++) {
        uint64_t count = d->parts;
        if (cpu) ech_set_threads(ctx, threads[many ? (size_t)i : seed % 3]);
        if (!test_check_status(__FILE__, __LINE__, "the reduction", call(ctx, d, b, &o), ECH_OK,
                               ctx) ||
            !CHECK_STATUS(ech_sync(ctx), ECH_OK))
            break;
        if (d->keys) {
            compare(&b[COUNT], COUNT, &count, 8, 8);
            compare(&b[KEYS_OUT], KEYS_OUT, d->keys_out, d->parts * d->key_bytes, d->key_bytes);
            compare(&b[KEYS], KEYS, d->keys, d->n * d->key_bytes, d->key_bytes);
        }
        compare(&b[OUT], OUT, d->out, d->parts * d->out_bytes, d->out_bytes);
        compare(&b[IN], IN, d->in, d->n * d->in_bytes, d->in_bytes);
        if (d->offsets) {
            const size_t bytes = ech_dtype_bytes(offsets_dtype(d));
            void *offsets = index_array(d->offsets, d->parts + 1, offsets_dtype(d));
            compare(&b[OFFSETS], OFFSETS, offsets, (d->parts + 1) * bytes, bytes);
            free(offsets);
        }
        if (d->b) compare(&b[B], B, d->b, d->n * d->in_bytes, d->in_bytes);
    }
    if (work.base) buffer_check_guards(&work, "work");
done:
    ech_set_threads(ctx, 0);
    for (int i = 0; i < BUFFERS; i++)
        if (b[i].base) buffer_free(&b[i]);
    if (work.base) buffer_free(&work);
}
