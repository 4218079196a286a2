/*
 * files/cuts.c - chooses the bins from a sample, and finds the bin of each record.
 *
 * A key that is frequent in the sample gets a bin of its own: a cut before it and a cut after it.
 * The search of the bin begins with a table that is indexed by the leading bits of the prefix; then
 * it halves the cuts that the table leaves, with the same number of steps for all records.
 *
 *     prefix -> table -> steps -> number of the bounds below it -> ties by compare()
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    TABLE = 4096,
    LEAST_FREQUENT = 8 /* occurrences in the sample of a key that gets a bin of its own */
};

/* ---- The sort of the sample ---- */

static int order(const struct files_kind *kind, const struct files_sample_record *a,
                 const struct files_sample_record *b)
{
    if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
    return kind->whole_prefix ? 0 : kind->compare(kind, a->at, a->bytes, b->at, b->bytes);
}

static void merge(const struct files_kind *kind, const struct files_sample_record *from, size_t n,
                  size_t half, struct files_sample_record *to)
{
    size_t a = 0, b = half;
    for (size_t i = 0; i < n; i++) {
        const bool second = a == half || (b < n && order(kind, &from[b], &from[a]) < 0);
        to[i] = from[second ? b++ : a++];
    }
}

static void sort_sample(const struct files_kind *kind, struct files_sample *sample)
{
    const size_t n = sample->count;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t at = 0; at < n; at += 2 * width) {
            const size_t count = n - at < 2 * width ? n - at : 2 * width;
            merge(kind, sample->records + at, count, count < width ? count : width,
                  sample->other + at);
        }
        struct files_sample_record *sorted = sample->other;
        sample->other = sample->records;
        sample->records = sorted;
    }
}

/* ---- The cuts ---- */

struct choice {
    size_t record; /* of the sample */
    bool inclusive;
};

/* Chooses every step-th record of the sorted sample.  Returns the number of cuts. */
static size_t choose(const struct files_kind *kind, const struct files_sample *sample,
                     uint32_t bins, struct choice *choices)
{
    const struct files_sample_record *records = sample->records;
    const size_t n = sample->count;
    size_t count = 0, begin = 0, end = 0;
    for (uint32_t i = 1; i < bins && n; i++) {
        const size_t at = (size_t)((double)n * i / bins);
        if (at < end) continue; /* equal to the last cut */
        for (begin = at; begin > 0 && order(kind, &records[begin - 1], &records[at]) == 0;) begin--;
        for (end = at + 1; end < n && order(kind, &records[end], &records[at]) == 0;) end++;
        choices[count++] = (struct choice){ at, false };
        const size_t least = n < (size_t)bins * LEAST_FREQUENT ? 2 : LEAST_FREQUENT;
        const bool frequent = end - begin >= least && 2 * (end - begin) >= n / bins;
        if (frequent) choices[count++] = (struct choice){ at, true };
    }
    return count;
}

static io_status allocate(struct files_run *run, struct files_cuts *cuts, size_t count,
                          size_t record_bytes)
{
    const size_t each = sizeof *cuts->bounds + sizeof *cuts->at + sizeof *cuts->bytes + 2;
    const size_t bytes = count * each + (2 * count + 2) * sizeof *cuts->bounds +
                         (TABLE + 2) * sizeof *cuts->table + record_bytes + 64;
    char *at = cuts->memory = malloc(bytes);
    cuts->memory_bytes = bytes;
    if (!at) return io_no_memory(run->error, run->sort->inputs[0].name, bytes, "the bins");
    cuts->bounds = (uint64_t *)(void *)at, at += (3 * count + 2) * sizeof *cuts->bounds;
    cuts->at = (const unsigned char **)(void *)at, at += count * sizeof *cuts->at;
    cuts->bytes = (uint32_t *)(void *)at, at += count * sizeof *cuts->bytes;
    cuts->table = (uint16_t *)(void *)at, at += (TABLE + 2) * sizeof *cuts->table;
    cuts->inclusive = (uint8_t *)at, at += count;
    cuts->equal = (uint8_t *)at;
    return IO_OK;
}

/* The number of bounds below a prefix. */
static uint32_t below(const struct files_cuts *cuts, uint64_t prefix)
{
    uint32_t low = 0, high = cuts->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (cuts->bounds[middle] < prefix)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The table contains, for each range of prefixes, the number of bounds below its first prefix. */
static void make_table(struct files_cuts *cuts)
{
    uint32_t widest = 0;
    cuts->lowest = cuts->count ? cuts->bounds[0] : 0;
    const uint64_t span = cuts->count ? cuts->bounds[cuts->count - 1] - cuts->lowest : 0;
    cuts->shift = 0;
    while (span >> cuts->shift >= TABLE - 1) cuts->shift++;
    for (uint64_t i = 0; i < TABLE; i++) {
        const bool beyond = i > (UINT64_MAX - cuts->lowest) >> cuts->shift;
        cuts->table[i] =
            (uint16_t)(beyond ? cuts->count : below(cuts, cuts->lowest + (i << cuts->shift)));
    }
    cuts->table[0] = 0; /* also of all prefixes below the lowest bound */
    cuts->table[TABLE] = (uint16_t)cuts->count;
    for (int i = 0; i < TABLE; i++) {
        const uint32_t width = (uint32_t)cuts->table[i + 1] - cuts->table[i];
        if (width > widest) widest = width;
    }
    cuts->steps = 0;
    while (((uint32_t)1 << cuts->steps) <= widest) cuts->steps++;
    /* The search reads beyond the last cut. */
    for (uint32_t i = 0; i < (uint32_t)1 << cuts->steps; i++)
        cuts->bounds[cuts->count + i] = UINT64_MAX;
}

/* Adds a cut; with whole prefixes, the bound of an exclusive cut is one less, and a cut before all
 * records is left out. */
static void add_cut(const struct files_kind *kind, struct files_cuts *cuts,
                    const struct files_sample_record *record, bool inclusive, char **copy)
{
    const uint32_t i = cuts->count;
    if (kind->whole_prefix && !inclusive && record->prefix == 0) return;
    cuts->bounds[i] = record->prefix - (kind->whole_prefix && !inclusive);
    cuts->inclusive[i] = inclusive;
    cuts->bytes[i] = record->bytes;
    cuts->at[i] = NULL;
    if (!kind->whole_prefix) {
        memcpy(*copy, record->at, record->bytes);
        cuts->at[i] = (unsigned char *)*copy;
        *copy += record->bytes;
    }
    cuts->count++;
}

/* A bin before an inclusive cut has only equal records: an exclusive cut of the same record, or
 * the smallest possible record, precedes. */
static void fill(struct files_run *run, const struct files_sample *sample,
                 const struct choice *choices, size_t count, struct files_cuts *cuts)
{
    char *copy = (char *)cuts->equal + count + 1;
    cuts->count = 0;
    for (size_t i = 0; i < count; i++)
        add_cut(run->kind, cuts, &sample->records[choices[i].record], choices[i].inclusive, &copy);
    for (uint32_t i = 0; i < cuts->count; i++) cuts->equal[i] = cuts->inclusive[i];
    cuts->equal[cuts->count] = 0;
    make_table(cuts);
}

io_status files_make_cuts(struct files_run *run, struct files_sample *sample, uint32_t bins,
                          struct files_cuts *cuts)
{
    size_t bytes = 0;
    *cuts = (struct files_cuts){ 0 };
    const size_t most = 2 * (size_t)bins;
    struct choice *choices = malloc(most * sizeof *choices);
    if (!choices)
        return io_no_memory(run->error, run->sort->inputs[0].name, most * sizeof *choices,
                            "the bins");
    sort_sample(run->kind, sample);
    const size_t count = choose(run->kind, sample, bins, choices);
    for (size_t i = 0; i < count && !run->kind->whole_prefix; i++)
        bytes += sample->records[choices[i].record].bytes;
    const io_status status = allocate(run, cuts, count, bytes);
    if (status == IO_OK) fill(run, sample, choices, count, cuts);
    free(choices);
    return status;
}

void files_free_cuts(struct files_cuts *cuts)
{
    free(cuts->memory);
    *cuts = (struct files_cuts){ 0 };
}

/* ---- The search ---- */

/* The bin of a record whose prefix equals that of cut i, the first one with this prefix. */
static uint32_t break_tie(const struct files_kind *kind, const struct files_cuts *cuts, uint32_t i,
                          const unsigned char *record, uint32_t bytes, uint64_t prefix)
{
    uint32_t low = i, high = i;
    while (high < cuts->count && cuts->bounds[high] == prefix) high++;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const int c = kind->compare(kind, record, bytes, cuts->at[middle], cuts->bytes[middle]);
        if (c > 0 || (c == 0 && !cuts->inclusive[middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void search(const struct files_cuts *cuts, const uint64_t *prefixes, size_t n, uint16_t *ids)
{
    const uint64_t *bounds = cuts->bounds, lowest = cuts->lowest;
    for (size_t i = 0; i < n; i++) {
        const uint64_t range = prefixes[i] < lowest ? 0 : (prefixes[i] - lowest) >> cuts->shift;
        ids[i] = cuts->table[range < TABLE ? range : TABLE - 1];
    }
    for (int step = cuts->steps - 1; step >= 0; step--) {
        const uint64_t *middle = bounds + ((uint32_t)1 << step) - 1;
        /* A shift, not a choice: gcc makes a branch of that, which is often predicted wrongly. */
        for (size_t i = 0; i < n; i++)
            ids[i] = (uint16_t)(ids[i] + ((uint32_t)(middle[ids[i]] < prefixes[i]) << step));
    }
}

void files_classify(const struct files_kind *kind, const struct files_cuts *cuts,
                    const unsigned char *records, const uint32_t *lengths, const uint64_t *prefixes,
                    size_t n, uint16_t *ids)
{
    search(cuts, prefixes, n, ids);
    if (kind->whole_prefix) return;
    for (size_t i = 0; i < n; i++) {
        const uint32_t bytes = lengths ? lengths[i] : (uint32_t)kind->record_bytes, bin = ids[i];
        if (bin < cuts->count && cuts->bounds[bin] == prefixes[i])
            ids[i] = (uint16_t)break_tie(kind, cuts, bin, records, bytes, prefixes[i]);
        records += bytes;
    }
}
