/*
 * sort_run.c - runs one case of test_sort on one device with one algorithm, in each way that
 * memory can be given, and compares the result with the oracle.
 *
 *     in place or not  x  workspace of the context or the caller  x  (GPU) device or host memory,
 *                                                the latter also out of core, with a memory limit
 *
 * Outputs and workspace lie between guard zones and start with a pattern. The workspace has
 * exactly the size that the query returned. Inputs that are not outputs must be unchanged
 * afterwards. Host memory is aligned only to the size of a key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>
#include <string.h>

enum {
    MANY = 20000, /* larger cases run only in some of the ways */
    PARTS = 4096  /* smaller cases do not run out of core */
};

struct way {
    bool in_place, own_work, host, parts;
};

struct buffers {
    struct buffer keys_in, keys_out, values_in, values_out, work;
};

static ech_sort_options options_of(const struct sort_case *c, const char *algorithm)
{
    return (ech_sort_options){ .size = sizeof(ech_sort_options),
                               .descending = c->descending,
                               .order = c->total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST,
                               .begin_bit = c->begin_bit,
                               .end_bit = c->end_bit,
                               .algorithm = algorithm };
}

static ech_dtype index_type_of(const struct sort_case *c)
{
    return index_sign(c->index_bytes == 4 ? ECH_U32 : ECH_U64, c->n);
}

static bool workspace(ech_ctx *ctx, const struct sort_case *c, const ech_sort_options *options,
                      size_t *bytes)
{
    const char *device = ech_device_name(ctx);
    if (c->index_bytes)
        return CHECK_STATUS(
            ech_argsort_workspace(device, c->n, c->dtype, index_type_of(c), options, bytes),
            ECH_OK);
    return CHECK_STATUS(ech_sort_workspace(device, c->n, c->dtype, c->value_bytes, options, bytes),
                        ECH_OK);
}

static bool call(ech_ctx *ctx, const struct sort_case *c, const ech_sort_options *options,
                 const struct buffers *b, bool in_place)
{
    void *keys_out = in_place ? b->keys_in.data : b->keys_out.data;
    void *values_out = in_place ? b->values_in.data : b->values_out.data;
    ech_status status = c->index_bytes ? ech_argsort(ctx, b->keys_in.data, b->values_out.data, c->n,
                                                     c->dtype, index_type_of(c), options)
                        : c->value_bytes
                            ? ech_sort_pairs(ctx, b->keys_in.data, b->values_in.data, keys_out,
                                             values_out, c->n, c->dtype, c->value_bytes, options)
                            : ech_sort(ctx, b->keys_in.data, keys_out, c->n, c->dtype, options);
    return test_check_status(__FILE__, __LINE__, "the sort", status, ECH_OK, ctx) &&
           CHECK_STATUS(ech_sync(ctx), ECH_OK);
}

/* Limits memory to a quarter of the arrays, but at least to the minimum of an out-of-core sort:
 * four chunks of 1024 elements, each array rounded up to 256 bytes, and their workspace. */
static bool limit_memory(ech_ctx *ctx, const struct sort_data *d, const ech_sort_options *options)
{
    enum { LEAST = 1024 };
    struct sort_case least = *d->c;
    size_t work_bytes, bytes = 4 * LEAST * (d->key_bytes + d->value_bytes);
    least.n = LEAST;
    least.value_bytes = d->value_bytes;
    least.index_bytes = 0;
    if (!workspace(ctx, &least, options, &work_bytes)) return false;
    bytes += work_bytes;
    size_t quarter = d->c->n * (d->key_bytes + d->value_bytes) / 4;
    return CHECK_STATUS(ech_set_memory_limit(ctx, quarter > bytes ? quarter : bytes), ECH_OK);
}

static void compare(const struct buffer *buffer, const struct sort_data *d, const char *name,
                    const char *wanted, size_t element_bytes)
{
    if (!buffer_check_guards(buffer, name) || !buffer_get(buffer, d->got)) return;
    size_t bytes = d->c->n * element_bytes;
    if (bytes == 0 || memcmp(d->got, wanted, bytes) == 0) return;
    for (size_t i = 0; i < d->c->n; i++) {
        const unsigned char *got = (const unsigned char *)d->got + i * element_bytes;
        const unsigned char *want = (const unsigned char *)wanted + i * element_bytes;
        if (memcmp(got, want, element_bytes) == 0) continue;
        char text[2][20] = { "", "" };
        for (size_t b = 0; b < element_bytes && b < 8; b++) { /* most significant byte first */
            snprintf(text[0] + 2 * b, 4, "%02X",
                     got[(element_bytes < 8 ? element_bytes : 8) - 1 - b]);
            snprintf(text[1] + 2 * b, 4, "%02X",
                     want[(element_bytes < 8 ? element_bytes : 8) - 1 - b]);
        }
        test_fail(__FILE__, __LINE__, "%s[%zu] is 0x%s instead of 0x%s", name, i, text[0], text[1]);
        return;
    }
}

static bool prepare(ech_ctx *memory, ech_ctx *ctx, const struct sort_data *d, struct way way,
                    const ech_sort_options *options, uint64_t seed, struct buffers *b)
{
    const struct sort_case *c = d->c;
    size_t keys_bytes = c->n * d->key_bytes, values_bytes = c->n * d->value_bytes, work_bytes = 0;
    size_t offset = memory ? 0 : d->key_bytes * (seed % 3);
    size_t odd = memory ? 0 : c->index_bytes ? (size_t)c->index_bytes : seed / 3 % 2;
    if (!buffer_make(&b->keys_in, memory, keys_bytes, offset) ||
        !buffer_set(&b->keys_in, d->keys) ||
        !buffer_make(&b->keys_out, memory, keys_bytes,
                     offset ? 0
                     : odd  ? d->key_bytes
                            : 0))
        return false;
    if (!buffer_make(&b->values_in, memory, d->values ? values_bytes : 0, odd) ||
        !buffer_set(&b->values_in, d->values) ||
        !buffer_make(&b->values_out, memory, values_bytes, odd))
        return false;
    if (!way.own_work) return true;
    if (!workspace(ctx, c, options, &work_bytes)) return false;
    return buffer_make(&b->work, memory, work_bytes, 0);
}

static void run_way(ech_ctx *ctx, const struct sort_data *d, const char *algorithm, struct way way,
                    uint64_t seed)
{
    const struct sort_case *c = d->c;
    ech_sort_options options = options_of(c, algorithm);
    ech_ctx *memory = way.host || test_is_cpu(ctx) ? NULL : ctx;
    struct buffers b;
    memset(&b, 0, sizeof b);
    bool failed_before = test_failed();
    if (!prepare(memory, ctx, d, way, &options, seed, &b)) goto done;
    if (way.own_work && b.work.bytes) {
        options.work = b.work.data;
        options.work_bytes = b.work.bytes;
    }
    if (way.parts && !limit_memory(ctx, d, &options)) goto done;
    bool called = call(ctx, c, &options, &b, way.in_place);
    if (way.parts) ech_set_memory_limit(ctx, 0);
    if (!called) goto done;

    bool keys_move = !c->index_bytes;
    compare(way.in_place && keys_move ? &b.keys_in : &b.keys_out, d,
            keys_move ? "keys_out" : "(unused)", keys_move ? d->keys_sorted : d->got, d->key_bytes);
    if (!way.in_place || !keys_move) compare(&b.keys_in, d, "keys_in", d->keys, d->key_bytes);
    if (d->value_bytes)
        compare(way.in_place && d->values ? &b.values_in : &b.values_out, d, "values_out",
                d->values_sorted, d->value_bytes);
    if (d->values && !way.in_place)
        compare(&b.values_in, d, "values_in", d->values, d->value_bytes);
    if (way.own_work) buffer_check_guards(&b.work, "work");
done:
    if (test_failed() && !failed_before)
        printf("    (%s, algorithm %s, %s, %s workspace, %s memory)\n", ech_device_name(ctx),
               algorithm ? algorithm : "chosen", way.in_place ? "in place" : "out of place",
               way.own_work ? "given" : "the context's",
               memory      ? "device"
               : way.parts ? "host, out of core,"
                           : "host");
    struct buffer *all[] = { &b.keys_in, &b.keys_out, &b.values_in, &b.values_out, &b.work };
    for (int i = 0; i < 5; i++)
        if (all[i]->base) buffer_free(all[i]);
}

/* Ways 0 to 3: in place or not, workspace of the context or the caller. Ways 4 and 5: host memory.
 * Way 6: out of core. */
static struct way way_of(int i, uint64_t seed)
{
    if (i == SORT_WAYS - 1)
        return (struct way){ .in_place = seed / 3 % 2, .host = true, .parts = true };
    return (struct way){ .in_place = i & 1, .own_work = i & 2 && i < 4, .host = i >= 4 };
}

unsigned sort_ways(ech_ctx *ctx, const struct sort_case *c, uint64_t seed)
{
    const bool gpu = !test_is_cpu(ctx);
    unsigned ways = 0;
    for (int i = 0; i < (gpu ? 6 : 4); i++) {
        /* large cases: one way with device memory, one with host memory */
        if (c->n > MANY && (i < 4 ? (size_t)i != seed % 4 : (size_t)i != 4 + seed % 2)) continue;
        ways |= 1u << i;
    }
    if (gpu && c->n >= PARTS && (seed % 3 == 0 || test_options.cover))
        ways |= 1u << (SORT_WAYS - 1);
    return ways;
}

void sort_run(ech_ctx *ctx, const struct sort_data *d, const char *algorithm, uint64_t seed,
              unsigned ways)
{
    if (d->c->kind == SORT_REPEAT) {
        for (int i = 0; i < 10; i++)
            run_way(ctx, d, algorithm, (struct way){ .in_place = i % 2, .own_work = i % 4 < 2 },
                    seed);
    } else if (d->c->kind == SORT_THREADS) {
        static const int threads[] = { 1, 2, 3, 7, 0 };
        for (int i = 0; i < 5; i++) {
            CHECK_STATUS(ech_set_threads(ctx, threads[i]), ECH_OK);
            run_way(ctx, d, algorithm, (struct way){ .in_place = i % 2 }, seed);
        }
    } else {
        for (int i = 0; i < SORT_WAYS; i++)
            if (ways >> i & 1) run_way(ctx, d, algorithm, way_of(i, seed), seed);
    }
}
