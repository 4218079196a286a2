/*
 * sort/cpu/scatter.h - template: one stable 256-way scatter of keys and values, with one line of
 * buffer per bucket.
 *
 *     keys -> bucket -> line[bucket] -(full)-> to[at - LINE, at)
 *
 * Without the lines, 256 write streams miss the TLB and every store first reads its cache line from
 * memory.  Full lines, of a multiple of 64 bytes, can be written by non-temporal stores if their
 * alignment in the output is that of the buffer.
 *
 *   KEY, NAME(x)  as in width.h
 *   VALUE_BYTES   0, 4, 8 or 16
 *   SCATTER, SCATTER_DIRECTLY   the functions' names
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Arrays that fit in the cache: without lines. */
static void SCATTER_DIRECTLY(const struct echi_scatter *s)
{
    enum { BYTES = VALUE_BYTES ? VALUE_BYTES : 1 };
    const uint8_t *bucket = s->digits->bucket;
    const KEY *in = (const KEY *)(const void *)s->from.keys + s->first;
    KEY *out = (KEY *)(void *)s->to.keys;
    char *out_values = s->to.values;
    size_t at[ECHI_BUCKETS];
    memcpy(at, s->at, sizeof at);
    for (size_t i = 0, m; i < s->n; i += m) {
        uint16_t entry[CHUNK];
        uint64_t positions[VALUE_BYTES ? CHUNK : 1];
        char *source = s->from.values + (s->first + i) * BYTES;
        m = echi_min(s->n - i, CHUNK);
        NAME(entries)(s->digits, in + i, m, entry);
        if (VALUE_BYTES && s->index) source = fill_positions(positions, s->first + i, m, BYTES);
        for (size_t j = 0; j < m; j++) {
            const size_t position = at[bucket[entry[j]]]++;
            out[position] = in[i + j];
            if (VALUE_BYTES) memcpy(out_values + position * BYTES, source + j * BYTES, BYTES);
        }
    }
    memcpy(s->at, at, sizeof at);
}

static void SCATTER(const struct echi_scatter *s)
{
    enum {
        BYTES = VALUE_BYTES ? VALUE_BYTES : 1,
        WIDER = VALUE_BYTES > sizeof(KEY) ? VALUE_BYTES : sizeof(KEY),
        LINE = ECHI_LINE_BYTES / (WIDER < 4 ? 4 : WIDER)
    };
    typedef struct {
        char bytes[BYTES];
    } value;
    struct lines {
        _Alignas(64) KEY keys[ECHI_BUCKETS][LINE];
        _Alignas(64) value values[VALUE_BYTES ? ECHI_BUCKETS : 1][LINE];
    } *lines = (struct lines *)(void *)s->lines;
    if (!s->stream) {
        SCATTER_DIRECTLY(s);
        return;
    }
    size_t at[ECHI_BUCKETS];
    const uint8_t *bucket = s->digits->bucket;
    const KEY *in = (const KEY *)(const void *)s->from.keys + s->first;
    /* Positions are relative to the start of a cache line, bias elements before to. */
    size_t bias = ((uintptr_t)s->to.keys / sizeof(KEY)) % (64 / sizeof(KEY)) % LINE;
    KEY *out = (KEY *)(void *)(s->to.keys - bias * sizeof(KEY));
    char *out_values = VALUE_BYTES ? s->to.values - bias * BYTES : NULL;
    bool stream = !VALUE_BYTES || (uintptr_t)out_values % 64 == 0;
    bool stream_keys = (uintptr_t)out % 64 == 0;
    for (int b = 0; b < ECHI_BUCKETS; b++) at[b] = s->at[b] + bias;

    for (size_t i = 0, m; i < s->n; i += m) {
        uint16_t entry[CHUNK];
        uint64_t positions[VALUE_BYTES ? CHUNK : 1];
        char *source = s->from.values + (s->first + i) * BYTES;
        m = echi_min(s->n - i, CHUNK);
        NAME(entries)(s->digits, in + i, m, entry);
        if (VALUE_BYTES && s->index) source = fill_positions(positions, s->first + i, m, BYTES);
        for (size_t j = 0; j < m; j++) {
            size_t b = bucket[entry[j]], position = at[b]++, slot = position % LINE;
            lines->keys[b][slot] = in[i + j];
            if (VALUE_BYTES) memcpy(&lines->values[b][slot], source + j * BYTES, BYTES);
            if (slot != LINE - 1) continue;
            size_t first = position - slot, start = s->at[b] + bias;
            if (first < start) { /* the line began before this part's elements */
                size_t skip = start - first;
                memcpy(out + start, lines->keys[b] + skip, (LINE - skip) * sizeof(KEY));
                if (VALUE_BYTES)
                    memcpy(out_values + start * BYTES, lines->values[b] + skip,
                           (LINE - skip) * BYTES);
                continue;
            }
            stream_lines(out + first, lines->keys[b], sizeof lines->keys[b], stream_keys);
            if (VALUE_BYTES)
                stream_lines(out_values + first * BYTES, lines->values[b], sizeof lines->values[b],
                             stream);
        }
    }

    for (int b = 0; b < ECHI_BUCKETS; b++) {
        size_t start = s->at[b] + bias, first = at[b] - at[b] % LINE;
        if (first < start) first = start;
        size_t slot = first % LINE, rest = at[b] - first;
        memcpy(out + first, lines->keys[b] + slot, rest * sizeof(KEY));
        if (VALUE_BYTES) memcpy(out_values + first * BYTES, lines->values[b] + slot, rest * BYTES);
        s->at[b] = at[b] - bias;
    }
    stream_end();
}

#undef VALUE_BYTES
#undef SCATTER
#undef SCATTER_DIRECTLY
