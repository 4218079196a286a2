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

#include <stdatomic.h>
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

bool lines_has_avx2(void)
{
#if defined(__x86_64__)
    static atomic_int known; /* 1: no, 2: yes */
    int has = atomic_load_explicit(&known, memory_order_relaxed);
    if (has) return has == 2;
    const char *forced = getenv("ECHELON_CPU");
    const bool portable = forced && strcmp(forced, "portable") == 0;
    has = !portable && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") ? 2 : 1;
    atomic_store_explicit(&known, has, memory_order_relaxed);
    return has == 2;
#else
    return false;
#endif
}

bool lines_is_neighbour(const struct quoted_text *q, size_t quote, int step)
{
    if (step < 0 ? quote == 0 : quote + 1 >= q->bytes) return true;
    const char c = q->text[step < 0 ? quote - 1 : quote + 1];
    return c == q->delimiter || c == '\n' || c == '"';
}

bool lines_is_in_place(const struct quoted_text *q, size_t quote, bool opens)
{
    size_t i = quote;
    if (opens) {
        if (i && q->text[i - 1] == '"') return true;
        while (i && q->text[i - 1] == ' ' && q->text[i - 1] != q->delimiter) i--;
        return i == 0 || q->text[i - 1] == q->delimiter || q->text[i - 1] == '\n';
    }
    if (++i < q->bytes && q->text[i] == '"') return true;
    for (; i < q->bytes && q->text[i] != q->delimiter && q->text[i] != '\n'; i++)
        if (q->text[i] != ' ' && q->text[i] != '\t' && q->text[i] != '\r') return false;
    return true;
}

void lines_set_misplaced(const struct quoted_text *q, size_t quote)
{
    size_t first = atomic_load(q->misplaced);
    while (quote < first && !atomic_compare_exchange_weak(q->misplaced, &first, quote)) {
    }
}

#if HAVE_WIDE

#define QUICK(name) name##_portable
static void words_portable(const struct block *b, uint64_t from, uint64_t to);
static size_t ends_portable(const struct lines_order *order, const char *text, size_t bytes,
                            size_t most, uint32_t *lengths);
static void prefixes_portable(const struct lines_order *order, const char *text, size_t bytes,
                              const uint32_t *lengths, size_t n, uint64_t *prefixes);
static uint64_t quoted_portable(const struct quoted_text *q, size_t from, size_t *to, bool *between,
                                void *begins, uint64_t at);
#include "lines/quick_core.h"

uint64_t lines_quick_quoted(const struct quoted_text *q, size_t from, size_t *to, bool *between,
                            void *begins, uint64_t at)
{
#if defined(__x86_64__)
    if (lines_has_avx2()) return lines_quick_quoted_avx2(q, from, to, between, begins, at);
#endif
    return quoted_portable(q, from, to, between, begins, at);
}

void lines_quick_plan(struct lines_order *order)
{
    order->common = true;
    for (int i = 0; i < order->n_keys; i++) order->common &= is_common(order, &order->keys[i]);
}

void lines_quick_words(const struct block *b, uint64_t from, uint64_t to)
{
#if defined(__x86_64__)
    if (lines_has_avx2()) {
        lines_quick_words_avx2(b, from, to);
        return;
    }
#endif
    words_portable(b, from, to);
}

size_t lines_quick_ends(const struct lines_order *order, const char *text, size_t bytes,
                        size_t most, uint32_t *lengths)
{
#if defined(__x86_64__)
    if (lines_has_avx2()) return lines_quick_ends_avx2(order, text, bytes, most, lengths);
#endif
    return ends_portable(order, text, bytes, most, lengths);
}

void lines_quick_prefixes(const struct lines_order *order, const char *text, size_t bytes,
                          const uint32_t *lengths, size_t n, uint64_t *prefixes)
{
#if defined(__x86_64__)
    if (lines_has_avx2()) {
        lines_quick_prefixes_avx2(order, text, bytes, lengths, n, prefixes);
        return;
    }
#endif
    prefixes_portable(order, text, bytes, lengths, n, prefixes);
}

#else

uint64_t lines_quick_quoted(const struct quoted_text *q, size_t from, size_t *to, bool *between,
                            void *begins, uint64_t at)
{
    (void)q, (void)between, (void)begins, (void)at;
    *to = from;
    return 0;
}

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

size_t lines_quick_ends(const struct lines_order *order, const char *text, size_t bytes,
                        size_t most, uint32_t *lengths)
{
    size_t n = 0;
    for (size_t at = 0; at < bytes && n < most; at += lengths[n++])
        lengths[n] = (uint32_t)lines_next(order, text + at, bytes - at);
    return n;
}

void lines_quick_prefixes(const struct lines_order *order, const char *text, size_t bytes,
                          const uint32_t *lengths, size_t n, uint64_t *prefixes)
{
    (void)bytes;
    for (size_t i = 0; i < n; text += lengths[i++])
        prefixes[i] = lines_prefix(order, text, lines_body(order, text, lengths[i]));
}

#endif

size_t lines_scan(const struct lines_order *order, const char *text, size_t bytes, size_t most,
                  uint32_t *lengths, uint64_t *prefixes)
{
    const size_t n = lines_quick_ends(order, text, bytes, most, lengths);
    if (prefixes && order->common) {
        lines_quick_prefixes(order, text, bytes, lengths, n, prefixes);
        return n;
    }
    for (size_t i = 0; i < n && prefixes; text += lengths[i++])
        prefixes[i] = lines_prefix(order, text, lines_body(order, text, lengths[i]));
    return n;
}
