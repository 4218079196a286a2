/*
 * lines/quick.c - the first 16 bytes of the keys of a record without a sink, for common orders.
 *
 *     bits of 64 bytes: where fields end -> begin and end of each key -> 16 bytes of it, masked
 *     and moved behind those before it
 *
 * An order is common if its keys are whole fields or the record, as bytes, with case folded or not,
 * or as numbers.  A record that needs more is left to encode.c: one with a key of which some bytes
 * must be changed, a field that does not end within 64 bytes, a number of another form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/quick.h"

#include "lines/wide.h"

#include <stdlib.h>

static bool is_common(const struct lines_order *order, const struct key *key)
{
    if (key->kind != KIND_BYTES && key->kind != KIND_NUMBER) return false;
    if (key->filtered && !(key->kind == KIND_BYTES && key->folds)) return false;
    if (key->all) return true;
    /* The number of a column is not known yet, and then it is one field. */
    const bool place = key->name || key->last_field >= key->first_field;
    return place && !key->first_char && !key->last_char && !(order->csv && key->skip_start);
}

#if HAVE_WIDE

#define QUICK(name) name##_portable
static void words_portable(const struct block *b, uint64_t from, uint64_t to);
static bool prefix_portable(const struct lines_order *order, const char *record, size_t bytes,
                            const char *limit, uint64_t *prefix);
#include "lines/quick_core.h"

static bool has_avx2(void)
{
#if defined(__x86_64__)
    const char *forced = getenv("ECHELON_CPU");
    if (forced && strcmp(forced, "portable") == 0) return false;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

void lines_quick_plan(struct lines_order *order)
{
    order->common = true;
    for (int i = 0; i < order->n_keys; i++) order->common &= is_common(order, &order->keys[i]);
    order->avx2 = has_avx2();
}

void lines_quick_words(const struct block *b, uint64_t from, uint64_t to)
{
#if defined(__x86_64__)
    if (b->order->avx2) {
        lines_quick_words_avx2(b, from, to);
        return;
    }
#endif
    words_portable(b, from, to);
}

bool lines_quick_prefix(const struct lines_order *order, const char *record, size_t bytes,
                        const char *limit, uint64_t *prefix)
{
#if defined(__x86_64__)
    if (order->avx2) return lines_quick_prefix_avx2(order, record, bytes, limit, prefix);
#endif
    return prefix_portable(order, record, bytes, limit, prefix);
}

#else

void lines_quick_plan(struct lines_order *order)
{
    (void)is_common;
    order->common = false;
}

void lines_quick_words(const struct block *b, uint64_t from, uint64_t to)
{
    for (; from < to; from++)
        if (b->next)
            b->words[from] = block_words(b, from, &b->next[from]);
        else
            b->words[from] = block_word(b, from, 0);
}

bool lines_quick_prefix(const struct lines_order *order, const char *record, size_t bytes,
                        const char *limit, uint64_t *prefix)
{
    (void)order, (void)record, (void)bytes, (void)limit, (void)prefix;
    return false;
}

#endif
