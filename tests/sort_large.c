/*
 * sort_large.c - sorts 2^31 - 1 to 2^32 + 1 keys, where 32-bit counts and offsets overflow.
 *
 * No oracle can sort so many keys in reasonable time. The expected result is a formula instead:
 * the i-th sorted key is a function of i. A bijection of positions, i -> (i * odd + add) mod 2^b
 * repeated until the result is less than n, permutes the keys. The output is compared with the
 * formula chunk by chunk. In sorts of pairs each value is the sorted position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 24 };

/* The i-th key of the sorted sequence of n. */
static uint64_t key_at(uint64_t i, uint64_t n, size_t key_bytes)
{
    if (key_bytes == 8) return i * 4; /* strictly ascending */
    uint64_t range = (uint64_t)1 << (8 * key_bytes);
    return range <= n ? i / (n / range + 1) : i * (range / n);
}

/* A bijection on [0, n): follows a cycle of a permutation of [0, 2^b) until the result is less than
 * n. */
static uint64_t shuffled(uint64_t i, uint64_t n, int bits)
{
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    do {
        i = (i * 0x9E3779B97F4A7C15u + 0x1234567u) & mask;
        i ^= i >> (bits / 2);
        i = (i * 0xD1B54A32D192ED03u) & mask;
    } while (i >= n);
    return i;
}

static int bits_for(uint64_t n)
{
    int bits = 1;
    while (((uint64_t)1 << bits) < n) bits++;
    return bits;
}

/* An array: keys or values, as input or as expected output. */
struct source {
    uint64_t n;
    size_t bytes;
    bool keys, sorted;
};

enum { FILL_THREADS = 8 };

/* Elements [from, from + count) of a source. */
struct piece {
    const struct source *s;
    char *to;
    uint64_t from, count;
};

static void *fill_piece(void *argument)
{
    const struct piece *p = argument;
    const struct source *s = p->s;
    int bits = bits_for(s->n);
    for (uint64_t i = 0; i < p->count; i++) {
        uint64_t rank = s->sorted ? p->from + i : shuffled(p->from + i, s->n, bits);
        uint64_t word = s->keys ? key_at(rank, s->n, s->bytes) : rank;
        memcpy(p->to + i * s->bytes, &word, s->bytes);
    }
    return NULL;
}

static void fill(const struct source *s, char *chunk, uint64_t from, uint64_t count)
{
    pthread_t threads[FILL_THREADS];
    struct piece pieces[FILL_THREADS];
    bool started[FILL_THREADS];
    const uint64_t each = count / FILL_THREADS + 1;
    for (int t = 0; t < FILL_THREADS; t++) {
        uint64_t begin = (uint64_t)t * each;
        if (begin > count) begin = count;
        uint64_t n = count - begin < each ? count - begin : each;
        pieces[t] = (struct piece){ s, chunk + begin * s->bytes, from + begin, n };
        started[t] = pthread_create(&threads[t], NULL, fill_piece, &pieces[t]) == 0;
        if (!started[t]) fill_piece(&pieces[t]);
    }
    for (int t = 0; t < FILL_THREADS; t++)
        if (started[t]) pthread_join(threads[t], NULL);
}

static bool upload(ech_ctx *ctx, char *device, const struct source *s, char *chunk)
{
    for (uint64_t from = 0; from < s->n; from += CHUNK) {
        uint64_t count = s->n - from < CHUNK ? s->n - from : CHUNK;
        fill(s, chunk, from, count);
        if (!CHECK_STATUS(ech_copy(ctx, device + from * s->bytes, chunk, count * s->bytes), ECH_OK))
            return false;
    }
    return true;
}

/* chunk has room for two chunks. */
static bool compare(ech_ctx *ctx, const char *device, const struct source *s, char *chunk)
{
    char *wanted = chunk + CHUNK * s->bytes;
    for (uint64_t from = 0; from < s->n; from += CHUNK) {
        uint64_t count = s->n - from < CHUNK ? s->n - from : CHUNK, i = 0;
        if (!CHECK_STATUS(ech_copy(ctx, chunk, device + from * s->bytes, count * s->bytes), ECH_OK))
            return false;
        fill(s, wanted, from, count);
        if (memcmp(chunk, wanted, count * s->bytes) == 0) continue;
        while (memcmp(chunk + i * s->bytes, wanted + i * s->bytes, s->bytes) == 0) i++;
        test_fail(__FILE__, __LINE__, "%s[%llu] is wrong", s->keys ? "keys" : "values",
                  (unsigned long long)(from + i));
        return false;
    }
    return true;
}

/* Sorts of pairs need distinct keys, so that the position of each value is known. */
static void run(ech_ctx *ctx, ech_dtype dtype, uint64_t n, size_t value_bytes)
{
    size_t key_bytes = ech_dtype_bytes(dtype), work_bytes = 0;
    size_t keys_bytes = (size_t)n * key_bytes, values_bytes = (size_t)n * value_bytes;
    void *keys = NULL, *values = NULL;
    char *chunk = malloc((size_t)CHUNK * 16);
    uint64_t free_bytes = 0;
    for (int i = 0; i < ech_device_count(); i++) {
        ech_device device = { .size = sizeof device };
        if (ech_device_get(i, &device) == ECH_OK && !strcmp(device.name, ech_device_name(ctx)))
            free_bytes = device.free_bytes;
    }
    CHECK_STATUS(ech_sort_workspace(ech_device_name(ctx), n, dtype, value_bytes, NULL, &work_bytes),
                 ECH_OK);
    uint64_t needed = keys_bytes + values_bytes + work_bytes;
    if (!chunk || needed + needed / 16 > free_bytes) {
        test_skip("needs %.1f GB; %.1f GB are free", (double)needed / 1e9,
                  (double)free_bytes / 1e9);
        goto done;
    }
    if (!CHECK_STATUS(ech_malloc(ctx, &keys, keys_bytes), ECH_OK) ||
        !CHECK_STATUS(ech_malloc(ctx, &values, values_bytes), ECH_OK))
        goto done;
    struct source key = { n, key_bytes, true, false }, value = { n, value_bytes, false, false };
    if (!upload(ctx, keys, &key, chunk) || (values && !upload(ctx, values, &value, chunk)))
        goto done;
    ech_status status =
        values ? ech_sort_pairs(ctx, keys, values, keys, values, n, dtype, value_bytes, NULL)
               : ech_sort(ctx, keys, keys, n, dtype, NULL);
    if (!test_check_status(__FILE__, __LINE__, "the sort", status, ECH_OK, ctx)) goto done;
    key.sorted = value.sorted = true;
    if (compare(ctx, keys, &key, chunk) && values) compare(ctx, values, &value, chunk);
done:
    ech_free(ctx, keys, keys_bytes);
    ech_free(ctx, values, values_bytes);
    free(chunk);
}

void sort_large(ech_ctx *ctx)
{
    static const struct {
        ech_dtype dtype;
        uint64_t n;
        size_t value_bytes;
    } cases[] = {
        { ECH_U8, ((uint64_t)1 << 31) - 1, 0 },  { ECH_U8, ((uint64_t)1 << 31) + 1, 0 },
        { ECH_U8, ((uint64_t)1 << 32) + 1, 0 },  { ECH_U32, ((uint64_t)1 << 31) - 1, 0 },
        { ECH_U32, ((uint64_t)1 << 31) + 1, 0 }, { ECH_U32, ((uint64_t)1 << 32) + 1, 0 },
        { ECH_U64, ((uint64_t)1 << 31) + 1, 8 }, { ECH_U64, ((uint64_t)1 << 32) + 1, 8 },
        { ECH_U16, ((uint64_t)1 << 32) + 1, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t n = cases[i].n;
        if (test_options.quick) n = n / 512 | 1; /* tests this file on small machines */
        if (!test_begin("large(%s,n=%llu,v=%zu) on %s", ech_dtype_name(cases[i].dtype),
                        (unsigned long long)n, cases[i].value_bytes, ech_device_name(ctx)))
            continue;
        run(ctx, cases[i].dtype, n, cases[i].value_bytes);
        test_end();
    }
}
