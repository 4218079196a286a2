/*
 * sort_cover.c - selects the sorts of test_sort that run something new.
 *
 * A sort has features: its algorithm with its widths, with its distribution, with its size, and so
 * on. The cases are processed in order, and a sort is selected if one of its features is new. So
 * each algorithm runs with each width, distribution, tile boundary and memory location once, but
 * not with every combination of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>

enum { SLOTS = 1 << 16 };

static uint64_t seen[SLOTS]; /* hashes of features; 0: empty */

/* Records the feature; true if it is new. */
static bool is_new(const char *feature)
{
    uint64_t hash = hash_text(feature) | 1;
    size_t at = (size_t)(hash >> 32) % SLOTS;
    while (seen[at] && seen[at] != hash) at = (at + 1) % SLOTS;
    bool found = seen[at] == hash;
    seen[at] = hash;
    return !found;
}

/* "none", "index", or the width of values that kernels move themselves. */
static const char *payload_of(const struct sort_case *c)
{
    if (c->index_bytes) return c->index_bytes == 4 ? "i4" : "i8";
    return c->value_bytes == 0    ? "none"
           : c->value_bytes == 4  ? "v4"
           : c->value_bytes == 8  ? "v8"
           : c->value_bytes == 16 ? "v16"
           : c->value_bytes < 16  ? "narrow"
                                  : "wide";
}

/* Classes: up to a warp, one small block, one tile, two tiles, more. */
static int size_class(size_t n)
{
    static const size_t ends[] = { 1, 32, 1024, 4096, 8192 };
    int i = 0;
    while (i < (int)(sizeof ends / sizeof *ends) && n > ends[i]) i++;
    return i;
}

/* Features of the sort that do not depend on its memory. */
static bool has_new_feature(const struct sort_case *c, const char *algorithm)
{
    const int size = size_class(c->n);
    const size_t width = ech_dtype_bytes(c->dtype);
    const bool moves = c->value_bytes || c->index_bytes;
    char text[160];
    bool any = false;
    snprintf(text, sizeof text, "types %s %zu %s %d", algorithm, width, payload_of(c), size);
    any |= is_new(text);
    snprintf(text, sizeof text, "value %s %zu %d", algorithm, c->value_bytes, c->index_bytes);
    any |= is_new(text);
    snprintf(text, sizeof text, "order %s %d %d %d", algorithm, (int)c->dtype, c->descending,
             c->total);
    any |= is_new(text);
    snprintf(text, sizeof text, "keys %s %s %d %d", algorithm, c->dist, moves, size > 3);
    any |= is_new(text);
    snprintf(text, sizeof text, "size %s %zu", algorithm, c->n);
    any |= c->n > 2049 && !c->end_bit && is_new(text);
    snprintf(text, sizeof text, "bits %s %d %d %d", algorithm, c->begin_bit > 0,
             c->end_bit && c->end_bit < (int)(8 * width), c->begin_bit == c->end_bit);
    any |= is_new(text);
    snprintf(text, sizeof text, "bits %zu %d %d", width, c->begin_bit, c->end_bit);
    any |= is_new(text);
    return any;
}

/* With --cover, each way runs once per combination of algorithm, width and payload. Otherwise it
 * runs once per algorithm, once per width and once per payload. */
static bool is_new_way(const struct sort_case *c, const char *algorithm, int way)
{
    const size_t width = ech_dtype_bytes(c->dtype);
    const bool large = size_class(c->n) > 3;
    char text[160];
    bool any = false;
    if (test_options.cover) {
        snprintf(text, sizeof text, "way %d %d %s %zu %s", way, large, algorithm, width,
                 payload_of(c));
        return is_new(text);
    }
    snprintf(text, sizeof text, "way %d %d %s", way, large, algorithm);
    any |= is_new(text);
    snprintf(text, sizeof text, "way %d %d %zu", way, large, width);
    any |= is_new(text);
    snprintf(text, sizeof text, "way %d %d %s", way, large, payload_of(c));
    any |= is_new(text);
    return any;
}

unsigned sort_one_way(const struct sort_case *c, const char *algorithm, unsigned ways)
{
    const unsigned out_of_core = 1u << (SORT_WAYS - 1);
    unsigned chosen = 0, count = 0, turn;
    char id[256];
    for (int way = 0; way < SORT_WAYS; way++) {
        if (!(ways >> way & 1)) continue;
        count += 1u << way != out_of_core;
        if (is_new_way(c, algorithm, way)) chosen |= 1u << way;
    }
    if (chosen & ~out_of_core || !count) return chosen;
    sort_case_id(c, id, sizeof id);
    turn = (unsigned)(hash_text(id) % count);
    for (int way = 0;; way++)
        if (ways >> way & 1 && turn-- == 0) return chosen | 1u << way;
}

unsigned sort_cover(const struct sort_case *c, const char *algorithm, unsigned ways)
{
    return has_new_feature(c, algorithm) ? sort_one_way(c, algorithm, ways) : 0;
}
