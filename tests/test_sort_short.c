/*
 * test_sort_short.c - sorts of every length from 0 to 600 on the CPU, compared with the oracle of
 * test_sort: each length selects other networks, merges and masks.
 *
 *     test_sort_short                        every type, direction and call
 *     test_sort_short 'short(f32'            cases with this prefix
 *
 * The arrays end at a page that cannot be accessed, so that a read or write behind them ends the
 * program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _DEFAULT_SOURCE
#include "sort_case.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST = 600, PAGE = 1 << 16, ROOM = 1 << 16 /* bytes of an array */ };
enum call { KEYS, PAIRS, ARGSORT, CALLS };
static const char *const call_names[] = { "keys", "pairs", "argsort" };
static const char *const dists[] = { "random", "few", "special" };
enum { DISTS = sizeof dists / sizeof *dists };

/* Four arrays with the page behind each of them. */
struct arrays {
    char *memory;
    char *keys, *values, *keys_out, *values_out;
};

static bool map(struct arrays *a)
{
    a->memory =
        mmap(NULL, 4 * (ROOM + PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a->memory == MAP_FAILED) return false;
    for (size_t i = 0; i < 4; i++)
        if (mprotect(a->memory + i * (ROOM + PAGE) + ROOM, PAGE, PROT_NONE)) return false;
    return true;
}

/* The i-th array, of this size. */
static char *place(const struct arrays *a, size_t i, size_t bytes)
{
    return a->memory + i * (ROOM + PAGE) + ROOM - bytes;
}

static void set_arrays(struct arrays *a, const struct sort_case *c, size_t key, size_t value)
{
    const size_t n = c->n;
    a->keys = place(a, 0, n * key);
    a->values = place(a, 1, n * value);
    a->keys_out = place(a, 2, n * key);
    a->values_out = place(a, 3, n * value);
    keys_fill(c, n, a->keys);
    for (size_t i = 0; i < n && value; i++) {
        const uint64_t number = 3 * i + 7;
        memcpy(a->values + i * value, &number, value);
    }
    memset(a->keys_out - 64, 0xA5, n * key + 64);
    memset(a->values_out - 64, 0xA5, n * value + 64);
}

static ech_status run(ech_ctx *ctx, const struct sort_case *c, const struct arrays *a,
                      char *keys_out, char *values_out)
{
    const ech_sort_options descending = { .size = sizeof descending, .descending = 1 };
    const ech_sort_options *options = c->descending ? &descending : NULL;
    if (c->index_bytes)
        return ech_argsort(ctx, a->keys, values_out, c->n, c->dtype,
                           c->index_bytes == 4 ? ECH_U32 : ECH_U64, options);
    if (c->value_bytes)
        return ech_sort_pairs(ctx, a->keys, a->values, keys_out, values_out, c->n, c->dtype,
                              c->value_bytes, options);
    return ech_sort(ctx, a->keys, keys_out, c->n, c->dtype, options);
}

static bool keeps_guard(const char *array)
{
    for (int i = 1; i <= 64; i++)
        if ((unsigned char)array[-i] != 0xA5) return false;
    return true;
}

/* Compares the outputs with the order of the oracle. */
static bool right(const struct sort_case *c, const struct arrays *a, size_t key, size_t value,
                  const uint32_t *order)
{
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t position = order[i];
        if (!c->index_bytes && memcmp(a->keys_out + i * key, a->keys + position * key, key) != 0)
            return false;
        if (c->index_bytes && memcmp(a->values_out + i * value, &position, value) != 0)
            return false;
        if (c->value_bytes &&
            memcmp(a->values_out + i * value, a->values + position * value, value) != 0)
            return false;
    }
    return keeps_guard(a->keys_out) && keeps_guard(a->values_out);
}

static void sort_length(ech_ctx *ctx, const struct sort_case *c, struct arrays *a)
{
    uint32_t order[MOST];
    const size_t key = ech_dtype_bytes(c->dtype), n = c->n;
    const size_t value = c->index_bytes ? (size_t)c->index_bytes : c->value_bytes;
    set_arrays(a, c, key, value);
    if (!CHECK(oracle_order(c, a->keys, order))) return;
    if (!CHECK_STATUS(run(ctx, c, a, a->keys_out, a->values_out), ECH_OK)) return;
    if (!right(c, a, key, value, order))
        test_fail(__FILE__, __LINE__, "n = %zu, dist %s, values of %zu bytes: wrong", n, c->dist,
                  value);
    if (c->index_bytes) return;
    CHECK_STATUS(run(ctx, c, a, a->keys, a->values), ECH_OK);
    if (memcmp(a->keys, a->keys_out, n * key) != 0 ||
        memcmp(a->values, a->values_out, n * value) != 0)
        test_fail(__FILE__, __LINE__, "n = %zu, dist %s, in place: other result", n, c->dist);
}

static void sort_lengths(ech_ctx *ctx, ech_dtype dtype, bool descending, enum call call,
                         struct arrays *a)
{
    if (!test_begin("short(%s,%s%s)", ech_dtype_name(dtype), call_names[call],
                    descending ? ",desc" : ""))
        return;
    for (size_t n = 0; n <= MOST && !test_failed(); n++) {
        const size_t value = n / DISTS % 2 ? 4 : 8;
        sort_length(ctx,
                    &(struct sort_case){ .dtype = dtype,
                                         .n = n,
                                         .descending = descending,
                                         .value_bytes = call == PAIRS ? value : 0,
                                         .index_bytes = call == ARGSORT ? (int)value : 0,
                                         .dist = dists[n % DISTS] },
                    a);
    }
    test_end();
}

int main(int argc, char **argv)
{
    struct arrays arrays;
    ech_ctx *ctx;
    test_main(argc, argv);
    if (!map(&arrays) || ech_open(&ctx, "cpu") != ECH_OK) return 1;
    for (int t = ECH_I8; t <= ECH_F64; t++)
        for (int descending = 0; descending < 2; descending++)
            for (int call = 0; call < CALLS; call++)
                sort_lengths(ctx, (ech_dtype)t, descending, (enum call)call, &arrays);
    ech_close(ctx);
    return test_finish();
}
