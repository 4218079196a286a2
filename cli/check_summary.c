/*
 * check_summary.c - the properties of a sequence of records that "echelon check" reports, and those
 * of several sequences together.
 *
 * The definitions, the words of the report and the format of a stored summary are those of the
 * program valsort 1.5.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "check_summary.h"

#include <string.h>

int layout_compare(const struct record_layout *layout, const unsigned char *a,
                   const unsigned char *b)
{
    return memcmp(a + layout->key_offset, b + layout->key_offset, layout->key_bytes);
}

/* The first 8 bytes of the key as a number. */
static inline uint64_t head_of(const unsigned char *key)
{
    uint64_t x;
    memcpy(&x, key, sizeof x);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(x);
#else
    return x;
#endif
}

/* layout_compare() of two neighbours; most keys differ in their first bytes. */
static inline int compare_next(const struct record_layout *layout, const unsigned char *before,
                               const unsigned char *now)
{
    if (layout->key_bytes >= 8) {
        const uint64_t a = head_of(before + layout->key_offset);
        const uint64_t b = head_of(now + layout->key_offset);
        if (a != b) return a < b ? -1 : 1;
    }
    return layout_compare(layout, before, now);
}

void summary_of(const struct record_layout *layout, const struct crc32 *crc,
                const unsigned char *records, size_t n, struct summary *summary)
{
    const size_t bytes = layout->bytes;
    uint64_t unordered = 0, duplicates = 0, first_unordered = 0;
    u128 checksum = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *at = records + i * bytes;
        checksum += crc32_of(crc, at, bytes);
        if (i == 0) continue;
        const int order = compare_next(layout, at - bytes, at);
        duplicates += order == 0;
        if (order <= 0) continue;
        if (!unordered++) first_unordered = i;
    }
    *summary = (struct summary){ .first_unordered = first_unordered,
                                 .unordered = unordered,
                                 .n = n,
                                 .duplicates = duplicates,
                                 .checksum = checksum,
                                 .first = records,
                                 .last = n ? records + (n - 1) * bytes : records };
}

void summary_add(const struct record_layout *layout, struct summary *all, unsigned char *first,
                 unsigned char *last, const struct summary *next)
{
    if (next->n == 0) return;
    if (all->n == 0) {
        memcpy(first, next->first, layout->bytes);
    } else {
        const int order = layout_compare(layout, last, next->first);
        all->duplicates += order == 0;
        if (order > 0 && !all->unordered++) all->first_unordered = all->n;
    }
    if (!all->unordered && next->unordered) all->first_unordered = all->n + next->first_unordered;
    all->unordered += next->unordered;
    all->n += next->n;
    all->duplicates += next->duplicates;
    all->checksum += next->checksum;
    memcpy(last, next->last, layout->bytes);
}

/* ---- Stored summaries ---- */

/* An integer has its upper half first; each half is little-endian. */
static void store(unsigned char *to, u128 value)
{
    const uint64_t halves[2] = { (uint64_t)(value >> 64), (uint64_t)value };
    memcpy(to, halves, sizeof halves);
}

static u128 load(const unsigned char *from)
{
    uint64_t halves[2];
    memcpy(halves, from, sizeof halves);
    return (u128)halves[0] << 64 | halves[1];
}

void summary_store(const struct summary *summary, unsigned char head[SUMMARY_HEAD])
{
    store(head, summary->first_unordered);
    store(head + 16, summary->unordered);
    store(head + 32, summary->n);
    store(head + 48, summary->duplicates);
    store(head + 64, summary->checksum);
}

void summary_load(struct summary *summary, const unsigned char head[SUMMARY_HEAD])
{
    *summary = (struct summary){ .first_unordered = load(head),
                                 .unordered = load(head + 16),
                                 .n = load(head + 32),
                                 .duplicates = load(head + 48),
                                 .checksum = load(head + 64) };
}

/* ---- Report ---- */

void summary_print(const struct summary *s, FILE *to)
{
    char text[U128_TEXT];
    if (s->unordered)
        fprintf(to, "First unordered record is record %s\n",
                u128_text(s->first_unordered, 10, text));
    fprintf(to, "Records: %s\n", u128_text(s->n, 10, text));
    fprintf(to, "Checksum: %s\n", u128_text(s->checksum, 16, text));
    if (s->unordered)
        fprintf(to, "ERROR - there are %s unordered records\n", u128_text(s->unordered, 10, text));
    else
        fprintf(to, "Duplicate keys: %s\nSUCCESS - all records are in order\n",
                u128_text(s->duplicates, 10, text));
}

void summary_print_json(const struct summary *s, FILE *to)
{
    struct json json = { .to = to };
    char text[U128_TEXT];
    const bool sorted = !s->unordered;
    json_open(&json, NULL, '{');
    json_literal(&json, "sorted", sorted ? "true" : "false");
    json_literal(&json, "records", u128_text(s->n, 10, text));
    json_text(&json, "checksum", u128_text(s->checksum, 16, text));
    json_literal(&json, "duplicate_keys", sorted ? u128_text(s->duplicates, 10, text) : "null");
    json_literal(&json, "unordered_records", u128_text(s->unordered, 10, text));
    json_literal(&json, "first_unordered",
                 sorted ? "null" : u128_text(s->first_unordered, 10, text));
    json_close(&json, '}');
    putc('\n', to);
}
