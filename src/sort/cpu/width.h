/*
 * sort/cpu/width.h - template: the kernels of one key width, for the instruction set of the
 * including file.  The compiler vectorises the loops over a chunk of encoded keys.
 *
 *   KEY      uint8_t ... uint64_t
 *   NAME(x)  x with the width as a suffix
 *   SORT     the sort of unsigned KEYs, or NULL
 *   SORT_KEYS  the sort of raw keys, or NULL; undefined: it is built from SORT
 *   LEAF_KEYS  see struct echi_sort_width
 *   DIVIDE, SORT_PART  divide() and sort_part(), or undefined
 *   RANKS    defined if there is sort_ranks()
 *
 * SPDX-License-Identifier: Apache-2.0
 */

static inline KEY NAME(encode_one)(KEY u, const struct echi_window *w)
{
    const struct echi_order *o = &w->order;
    KEY top = (KEY)(0 - (u >> (8 * sizeof(KEY) - 1)));
    KEY e = (KEY)((KEY)(u ^ (KEY)((top & (KEY)o->float_mask) | (KEY)o->sign)) - (KEY)o->shift);
    e = (KEY)(e + (e == (KEY)o->zero ? (KEY)o->merge : 0));
    e = e < (KEY)o->last ? e : (KEY)o->last;
    e = (KEY)(e ^ (KEY)o->flip);
    return (KEY)((KEY)(e >> w->begin) & (KEY)w->mask);
}

static void NAME(encode)(const struct echi_window *window, const void *keys, void *out, size_t n)
{
    const struct echi_window w = *window;
    const KEY *in = keys;
    KEY *x = out;
    for (size_t i = 0; i < n; i++) x[i] = NAME(encode_one)(in[i], &w);
}

static void NAME(decode)(const struct echi_order *order, void *keys, size_t n)
{
    const KEY sign = (KEY)order->sign, mask = (KEY)order->float_mask;
    const KEY shift = (KEY)order->shift, flip = (KEY)order->flip;
    KEY *x = keys;
    for (size_t i = 0; i < n; i++) {
        KEY e = (KEY)((KEY)(x[i] ^ flip) + shift);
        KEY negative = (KEY)((KEY)(e >> (8 * sizeof(KEY) - 1)) - 1);
        x[i] = (KEY)(e ^ (KEY)((negative & mask) | sign));
    }
}

/* Whether all bits of keys are compared, which are not merged: x(u) then has fewer steps, and for
 * integers it is u ^ sign ^ flip. */
static bool NAME(is_whole)(const struct echi_window *w)
{
    return !w->order.merge && !w->begin && (KEY)w->order.last == (KEY) ~(KEY)0 &&
           (KEY)w->mask == (KEY) ~(KEY)0;
}

/* The same as encode(), of whole keys. */
static void NAME(encode_whole)(const struct echi_order *order, const KEY *in, KEY *x, size_t n)
{
    const KEY sign = (KEY)order->sign, float_mask = (KEY)order->float_mask;
    const KEY shift = (KEY)order->shift, flip = (KEY)order->flip;
    for (size_t i = 0; i < n; i++) {
        const KEY top = (KEY)(0 - (in[i] >> (8 * sizeof(KEY) - 1)));
        x[i] = (KEY)((KEY)((KEY)(in[i] ^ (KEY)((top & float_mask) | sign)) - shift) ^ flip);
    }
}

/* Clears *up and *down if adjacent keys disprove them. */
static void NAME(compare_adjacent)(const KEY *x, size_t pairs, KEY c, bool strict, bool *up,
                                   bool *down)
{
    KEY falls = 0, rises = 0; /* or are equal, if strict */
    if (*up)
        for (size_t j = 0; j < pairs; j++) falls |= (KEY)((KEY)(x[j] ^ c) > (KEY)(x[j + 1] ^ c));
    if (*down && strict)
        for (size_t j = 0; j < pairs; j++) rises |= (KEY)((KEY)(x[j] ^ c) <= (KEY)(x[j + 1] ^ c));
    else if (*down)
        for (size_t j = 0; j < pairs; j++) rises |= (KEY)((KEY)(x[j] ^ c) < (KEY)(x[j + 1] ^ c));
    *up = *up && !falls;
    *down = *down && !rises;
}

static enum echi_run NAME(run)(const struct echi_window *window, const void *keys, size_t n,
                               bool strict)
{
    const KEY *in = keys;
    KEY x[CHUNK + 1];
    const struct echi_order *order = &window->order;
    const bool whole = NAME(is_whole)(window),
               integers = whole && !order->float_mask && !order->shift;
    const KEY c = (KEY)(order->sign ^ order->flip);
    bool up = true, down = true, same = true; /* of all keys so far; same: compared as bits */
    for (size_t i = 0, pairs; (up || down) && i + 1 < n; i += pairs) {
        pairs =
            echi_min(n - 1 - i, i ? CHUNK : FIRST_LOOK); /* most inputs fail at the first keys */
        KEY differ = 0;
        if (same)
            for (size_t j = 0; j < pairs; j++) differ |= (KEY)(in[i + j + 1] ^ in[i]);
        same = same && !differ;
        if (same) { /* this costs a read, and no encoding */
            down = down && !strict;
        } else if (integers) {
            NAME(compare_adjacent)(in + i, pairs, c, strict, &up, &down);
        } else {
            if (whole)
                NAME(encode_whole)(order, in + i, x, pairs + 1);
            else
                NAME(encode)(window, in + i, x, pairs + 1);
            NAME(compare_adjacent)(x, pairs, 0, strict, &up, &down);
        }
    }
    return up ? ECHI_ASCENDING : down ? ECHI_REVERSED : ECHI_UNORDERED;
}

static uint64_t NAME(differ)(const struct echi_window *window, const void *keys, size_t n)
{
    const struct echi_window w = *window;
    const KEY *in = keys;
    KEY first = n ? NAME(encode_one)(in[0], &w) : 0, differ = 0;
    for (size_t i = 0; i < n; i++) differ |= (KEY)(NAME(encode_one)(in[i], &w) ^ first);
    return differ;
}

static uint64_t NAME(range)(const struct echi_window *window, const void *keys, size_t n,
                            uint64_t *low)
{
    const struct echi_window w = *window;
    const KEY *in = keys;
    KEY least = (KEY) ~(KEY)0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const KEY x = NAME(encode_one)(in[i], &w);
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    *low = least;
    return (uint64_t)(KEY)(most - least);
}

static void NAME(sample)(const struct echi_window *window, const void *keys, size_t n,
                         uint64_t *out, size_t count)
{
    const KEY *in = keys;
    size_t stride = n / count;
    uint32_t random =
        12345; /* position in its stride: evenly spaced samples fail for periodic input */
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        size_t at = i * stride + (stride >> 16 ? random % stride : (random >> 16) * stride >> 16);
        out[i] = NAME(encode_one)(in[at], window);
    }
}

static void NAME(tally)(const struct echi_order *order, const void *keys, size_t n,
                        const uint64_t *x, int values, size_t *counts)
{
    enum { FEW = sizeof(KEY) == 1 ? 128 : 1024 }; /* not too many for a counter of type KEY */
    for (size_t i = 0, m; i < n; i += m) {
        const KEY *in = (const KEY *)keys + i;
        m = echi_min(n - i, FEW);
        for (int v = 0; v < values; v++) {
            KEY key = (KEY)x[v], count = 0;
            NAME(decode)(order, &key, 1);
            for (size_t j = 0; j < m; j++) count = (KEY)(count + (in[j] == key));
            counts[v] += count;
        }
    }
}

static void NAME(fill)(const struct echi_order *order, uint64_t x, void *keys, size_t n)
{
    KEY *out = keys, key = (KEY)x;
    NAME(decode)(order, &key, 1);
    for (size_t i = 0; i < n; i++) out[i] = key;
}

static void NAME(entries)(const struct echi_digits *d, const KEY *keys, size_t n, uint16_t *entry)
{
    const struct echi_window w = d->window;
    const KEY low = (KEY)d->low;
    const int shift = d->shift;
    KEY x[CHUNK];
    for (size_t i = 0; i < n; i++) {
        KEY e = NAME(encode_one)(keys[i], &w);
        e = (KEY)((KEY)(e > low ? (KEY)(e - low) : 0) >> shift);
        x[i] = e;
    }
    const KEY most = sizeof(KEY) == 1 ? (KEY)0xff : (KEY)(ECHI_ENTRIES - 1);
    for (size_t i = 0; i < n; i++) entry[i] = (uint16_t)(x[i] < most ? x[i] : most);
}

static void NAME(count)(const struct echi_digits *digits, const void *keys, size_t n,
                        size_t *counts)
{
    const KEY *in = keys;
    uint16_t entry[CHUNK];
    uint32_t table[2][ECHI_BUCKETS];
    const uint8_t *bucket = digits->bucket;
    for (size_t base = 0, some; base < n; base += some) {
        some = echi_min(n - base, (size_t)1 << 30);
        memset(table, 0, sizeof table);
        for (size_t i = 0, m; i < some; i += m) {
            m = echi_min(some - i, CHUNK);
            NAME(entries)(digits, in + base + i, m, entry);
            size_t j = 0;
            for (; j + 1 < m; j += 2) {
                table[0][bucket[entry[j]]]++;
                table[1][bucket[entry[j + 1]]]++;
            }
            if (j < m) table[0][bucket[entry[j]]]++;
        }
        for (int b = 0; b < ECHI_BUCKETS; b++) counts[b] += (size_t)table[0][b] + table[1][b];
    }
}

/* The entries of few distinct keys; check: returns false if there is another key. */
static inline __attribute__((always_inline)) bool NAME(value_entries)(const struct echi_values *v,
                                                                      const KEY *keys, size_t n,
                                                                      bool check, uint16_t *entry)
{
    const struct echi_window w = v->window;
    const KEY multiplier = (KEY)v->multiplier;
    KEY x[CHUNK], value[ECHI_VALUES], others = 0;
    uint8_t hash[CHUNK];
    for (size_t i = 0; i < n; i++) {
        x[i] = NAME(encode_one)(keys[i], &w);
        hash[i] = (uint8_t)((KEY)(x[i] * multiplier) >> (8 * sizeof(KEY) - ECHI_HASH_BITS));
    }
    for (size_t i = 0; i < n; i++) entry[i] = v->entry[hash[i]];
    if (!check) return true;
    for (int i = 0; i < v->count; i++) value[i] = (KEY)v->x[i];
    for (size_t i = 0; i < n; i++) others |= (KEY)(value[entry[i]] ^ x[i]);
    return others == 0;
}

static bool NAME(count_entries)(const struct echi_digits *digits, const struct echi_values *few,
                                const void *keys, size_t n, uint32_t *counts)
{
    const KEY *in = keys;
    uint16_t entry[CHUNK];
    for (size_t i = 0, m; i < n; i += m) {
        m = echi_min(n - i, CHUNK);
        if (few && !NAME(value_entries)(few, in + i, m, true, entry)) return false;
        if (!few) NAME(entries)(digits, in + i, m, entry);
        for (size_t j = 0; j < m; j++) counts[entry[j]]++;
    }
    return true;
}

static void NAME(place)(const struct echi_digits *digits, const struct echi_values *few,
                        const void *keys, size_t n, const char *values, size_t value_bytes,
                        uint32_t *at, char *out)
{
    const KEY *in = keys;
    uint16_t entry[CHUNK];
    uint64_t positions[CHUNK];
    for (size_t i = 0, m; i < n; i += m) {
        m = echi_min(n - i, CHUNK);
        if (few)
            (void)NAME(value_entries)(few, in + i, m, false, entry);
        else
            NAME(entries)(digits, in + i, m, entry);
        const char *from =
            values ? values + i * value_bytes : fill_positions(positions, i, m, value_bytes);
        if (value_bytes == 4)
            for (size_t j = 0; j < m; j++)
                memcpy(out + 4 * (size_t)at[entry[j]]++, from + 4 * j, 4);
        else
            for (size_t j = 0; j < m; j++)
                memcpy(out + 8 * (size_t)at[entry[j]]++, from + 8 * j, 8);
    }
}

static void NAME(pack)(const struct echi_window *window, const void *keys, size_t n, uint64_t keep,
                       int drop, int index_bits, uint64_t *out)
{
    const struct echi_window w = *window;
    const KEY *in = keys;
    for (size_t i = 0; i < n; i++)
        out[i] = ((uint64_t)(NAME(encode_one)(in[i], &w) & keep) >> drop) << index_bits | i;
}

static void NAME(pack_again)(const struct echi_window *window, const void *keys, size_t n,
                             uint64_t keep, int drop, int index_bits, uint64_t *packed)
{
    const struct echi_window w = *window;
    const KEY *in = keys;
    for (size_t i = 0; i < n; i++) {
        const uint64_t index = packed[i] & (((uint64_t)1 << index_bits) - 1);
        const uint64_t own = NAME(encode_one)(in[index], &w) & keep;
        packed[i] = own >> drop << index_bits | index;
    }
}

static void NAME(pack_narrow)(const struct echi_window *window, const void *keys, size_t n,
                              uint64_t keep, int drop, int index_bits, uint32_t *out)
{
    const struct echi_window w = *window;
    const KEY *in = keys;
    const KEY kept = (KEY)keep;
    for (size_t i = 0; i < n; i++)
        out[i] = (uint32_t)((KEY)(NAME(encode_one)(in[i], &w) & kept) >> drop) << index_bits |
                 (uint32_t)i;
}

/* Moves packed[i] to its place among its equals.  Returns the distance. */
static size_t NAME(fix_tie)(const struct echi_window *w, const KEY *keys, uint32_t *packed,
                            size_t i, int index_bits)
{
    uint32_t p = packed[i], mask = ((uint32_t)1 << index_bits) - 1;
    KEY x = NAME(encode_one)(keys[p & mask], w);
    size_t j = i;
    for (; j && packed[j - 1] >> index_bits == p >> index_bits; j--) {
        if (NAME(encode_one)(keys[packed[j - 1] & mask], w) <= x) break;
        packed[j] = packed[j - 1];
    }
    packed[j] = p;
    return i - j;
}

static bool NAME(fix_ties)(const struct echi_window *window, const void *keys, uint32_t *packed,
                           size_t n, int index_bits)
{
    enum { TOGETHER = 16, SHARE = 4 /* elements so far, and of the first, per move */, FIRST = 64 };
    const struct echi_window w = *window;
    size_t moves = 0;
    for (size_t i = 1; i < n; i += TOGETHER) {
        size_t end = echi_min(i + TOGETHER, n);
        if (end - i == TOGETHER) {
            uint32_t ties = 0;
            for (size_t j = 0; j < TOGETHER; j++)
                ties += (packed[i + j] ^ packed[i + j - 1]) >> index_bits == 0;
            if (!ties) continue;
        }
        for (size_t j = i; j < end; j++)
            if ((packed[j] ^ packed[j - 1]) >> index_bits == 0)
                moves += NAME(fix_tie)(&w, keys, packed, j, index_bits);
        if (SHARE * moves > i + FIRST) return false;
    }
    return true;
}

#ifdef SORT_PACKED
#define GATHER(bytes)                                                                              \
    if (size == bytes) {                                                                           \
        for (size_t i = 0; i < n; i++)                                                             \
            memcpy(to + i * bytes, from + (uint32_t)packed[i] * (size_t)bytes, bytes);             \
        return;                                                                                    \
    }

/* to[i] = the value of `size` bytes at position packed[i] of from, or if from is NULL, the
 * position. */
static void NAME(write_values)(const uint64_t *packed, size_t n, const char *from, size_t size,
                               void *values)
{
    char *to = values;
    uint32_t *narrow = values;
    uint64_t *wide = values;
    if (!from && size == 4) {
        for (size_t i = 0; i < n; i++) narrow[i] = (uint32_t)packed[i];
        return;
    }
    if (!from) {
        for (size_t i = 0; i < n; i++) wide[i] = (uint32_t)packed[i];
        return;
    }
    GATHER(4)
    GATHER(8)
    for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + (uint32_t)packed[i] * size, size);
}

#undef GATHER

/* Arrays are processed up to a multiple of a vector, so that no loop has a rest. */
static void NAME(sort_packed)(const struct echi_window *window, const void *keys,
                              const void *values, size_t n, size_t value_bytes, void *keys_out,
                              void *values_out)
{
    enum { VECTOR = 64 / sizeof(KEY) };
    _Alignas(64) uint64_t packed[ECHI_PACKED_KEYS + VECTOR];
    _Alignas(64) KEY copy[ECHI_PACKED_KEYS + VECTOR];
    const size_t whole = (n + VECTOR - 1) / VECTOR * VECTOR;
    copy_padded(copy, keys, n * sizeof(KEY));
    NAME(pack)(window, copy, whole, ~(uint64_t)0, 0, 32, packed);
    SORT_PACKED(packed, NULL, n, false, 0, 64);
    if (keys_out && !window->order.merge && window->mask >> (8 * sizeof(KEY) - 1)) {
        for (size_t i = 0; i < whole; i++) copy[i] = (KEY)(packed[i] >> 32);
        NAME(decode)(&window->order, copy, whole);
        memcpy(keys_out, copy, n * sizeof(KEY));
    } else if (keys_out) {
        KEY *out = keys_out;
        for (size_t i = 0; i < n; i++) out[i] = copy[(uint32_t)packed[i]];
    }
    if (value_bytes) NAME(write_values)(packed, n, values, value_bytes, values_out);
}
#endif

#ifdef RANKS
static void NAME(sort_ranks)(const struct echi_window *window, const void *keys, const void *values,
                             size_t n, size_t value_bytes, void *keys_out, void *values_out)
{
    const size_t lane_bytes = sizeof(KEY) < 4 ? 4 : sizeof(KEY);
    if (sizeof(KEY) <= 4 && n <= 16 && (value_bytes == 4 || value_bytes == 8)) {
        sort_with_positions(window, keys, values, n, sizeof(KEY), value_bytes, keys_out,
                            values_out);
        return;
    }
    _Alignas(64) char copy[64 * ((ECHI_RANKED_KEYS + 7) / 8)]; /* of 8 or 16 keys */
    _Alignas(64) uint32_t rank[ECHI_RANKED_KEYS];
    if (n <= 16)
        find_ranks(window, keys, n, sizeof(KEY), 16, copy, rank);
    else
        find_ranks(window, keys, n, sizeof(KEY), ECHI_RANKED_KEYS, copy, rank);
    if (keys_out) place(rank, n, copy, lane_bytes, sizeof(KEY), keys_out); /* little-endian */
    if (value_bytes) place_values(rank, n, values, value_bytes, values_out);
}
#endif

#define VALUE_BYTES      0
#define SCATTER          NAME(scatter_0)
#define SCATTER_DIRECTLY NAME(scatter_directly_0)
#include "sort/cpu/scatter.h"
#define VALUE_BYTES      4
#define SCATTER          NAME(scatter_4)
#define SCATTER_DIRECTLY NAME(scatter_directly_4)
#include "sort/cpu/scatter.h"
#define VALUE_BYTES      8
#define SCATTER          NAME(scatter_8)
#define SCATTER_DIRECTLY NAME(scatter_directly_8)
#include "sort/cpu/scatter.h"
#define VALUE_BYTES      16
#define SCATTER          NAME(scatter_16)
#define SCATTER_DIRECTLY NAME(scatter_directly_16)
#include "sort/cpu/scatter.h"

/* Values of any other size: copied directly to their positions. */
static void NAME(scatter_any)(const struct echi_scatter *s)
{
    const KEY *in = (const KEY *)(const void *)s->from.keys + s->first;
    const char *values = s->from.values + s->first * s->value_bytes;
    KEY *out = (KEY *)(void *)s->to.keys;
    uint16_t entry[CHUNK];
    for (size_t i = 0, m; i < s->n; i += m) {
        m = echi_min(s->n - i, CHUNK);
        NAME(entries)(s->digits, in + i, m, entry);
        for (size_t j = 0; j < m; j++) {
            size_t at = s->at[s->digits->bucket[entry[j]]]++;
            out[at] = in[i + j];
            memcpy(s->to.values + at * s->value_bytes, values + (i + j) * s->value_bytes,
                   s->value_bytes);
        }
    }
}

static void NAME(scatter_lines)(const struct echi_scatter *s)
{
    static const struct {
        size_t value_bytes;
        void (*run)(const struct echi_scatter *);
    } rows[] = {
        { 0, NAME(scatter_0) },
        { 4, NAME(scatter_4) },
        { 8, NAME(scatter_8) },
        { 16, NAME(scatter_16) },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value_bytes == s->value_bytes) {
            rows[i].run(s);
            return;
        }
    NAME(scatter_any)(s);
}

/* A function of its own, because its stack frame would be too large for a calling thread. */
static __attribute__((noinline)) void NAME(scatter_here)(struct echi_scatter s)
{
    _Alignas(64) char lines[ECHI_LINES_BYTES];
    s.lines = lines;
    NAME(scatter_lines)(&s);
}

static void NAME(scatter)(const struct echi_scatter *s)
{
    if (s->lines)
        NAME(scatter_lines)(s);
    else
        NAME(scatter_here)(*s);
}

#ifndef SORT_KEYS
#define SORT_KEYS NAME(sort_keys)
static void NAME(sort_keys)(const struct echi_order *order, const void *keys, void *out, void *work,
                            size_t n)
{
    const struct echi_window window = { .order = *order, .mask = ~(uint64_t)0 };
    bool in_work = keys == work;
    NAME(encode)(&window, keys, in_work ? work : out, n);
    SORT(out, work, n, in_work, 0, 8 * (int)sizeof(KEY));
    NAME(decode)(order, out, n);
}
#endif

#ifndef DIVIDE
#define DIVIDE    NULL
#define SORT_PART NULL
#endif

#ifndef SORT_MANY
#define SORT_MANY      NULL
#define SORT_MANY_KEYS 0
#endif

static const struct echi_sort_width NAME(width) = {
    .encode = NAME(encode),
    .decode = NAME(decode),
    .run = NAME(run),
    .differ = NAME(differ),
    .range = NAME(range),
    .sample = NAME(sample),
    .tally = NAME(tally),
    .fill = NAME(fill),
    .count = NAME(count),
    .scatter = NAME(scatter),
    .count_entries = NAME(count_entries),
    .place = NAME(place),
    .pack = NAME(pack),
    .pack_again = NAME(pack_again),
    .pack_narrow = NAME(pack_narrow),
    .fix_ties = NAME(fix_ties),
#ifdef SORT_PACKED
    .sort_packed = NAME(sort_packed),
#endif
#ifdef RANKS
    .sort_ranks = NAME(sort_ranks),
#endif
    .sort = SORT,
    .sort_keys = SORT_KEYS,
    .leaf_keys = LEAF_KEYS,
    .sort_many = SORT_MANY,
    .many = !SORT_MANY_KEYS                     ? 0
            : 64 / sizeof(KEY) < ECHI_SORT_MANY ? 64 / sizeof(KEY)
                                                : ECHI_SORT_MANY,
    .many_keys = SORT_MANY_KEYS,
    .divide = DIVIDE,
    .sort_part = SORT_PART,
};

#undef KEY
#undef NAME
#undef SORT
#undef SORT_KEYS
#undef LEAF_KEYS
#undef DIVIDE
#undef SORT_PART
#undef SORT_MANY
#undef SORT_MANY_KEYS
