/*
 * files/check.c - the number of records, the sum of their hashes, and whether they are in order.
 *
 * Each thread checks a part of the records; then the neighbours of different parts are compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"
#include "files/sum.h"
#include "io/threads.h"

enum { BATCH = 256 };

/* ---- Parts ---- */

struct part {
    size_t begin, end;
    struct files_sum sum;
    const unsigned char *first, *last;
    size_t first_bytes, last_bytes;
    uint64_t first_prefix, last_prefix;
    bool sorted;
};

struct checking {
    const struct files_kind *kind;
    const unsigned char *bytes;
    bool order;
    struct part parts[FILES_MOST_THREADS];
};

static bool precedes(const struct files_kind *kind, uint64_t a_prefix, const unsigned char *a,
                     size_t a_bytes, uint64_t b_prefix, const unsigned char *b, size_t b_bytes)
{
    if (a_prefix != b_prefix) return a_prefix < b_prefix;
    return kind->whole_prefix || kind->compare(kind, a, a_bytes, b, b_bytes) <= 0;
}

/* Checks the order of n records of a fixed size, which begin at at and which prefixes order. */
static void check_prefixes(const struct files_kind *kind, struct part *part,
                           const unsigned char *at, const uint64_t *prefixes, size_t n)
{
    if (!n) return;
    const size_t bytes = kind->record_bytes;
    bool descends = part->first && part->last_prefix > prefixes[0];
    for (size_t i = 1; i < n; i++) descends |= prefixes[i - 1] > prefixes[i];
    if (descends) part->sorted = false;
    if (!part->first) {
        part->first = at;
        part->first_bytes = bytes;
        part->first_prefix = prefixes[0];
    }
    part->last = at + (n - 1) * bytes;
    part->last_bytes = bytes;
    part->last_prefix = prefixes[n - 1];
}

/* The same for other records. */
static void check_order(const struct files_kind *kind, struct part *part, const unsigned char *at,
                        const uint32_t *lengths, const uint64_t *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t bytes = kind->record_bytes ? kind->record_bytes : lengths[i];
        if (!part->first) {
            part->first = at;
            part->first_bytes = bytes;
            part->first_prefix = prefixes[i];
        } else if (!precedes(kind, part->last_prefix, part->last, part->last_bytes, prefixes[i], at,
                             bytes)) {
            part->sorted = false;
        }
        part->last = at;
        part->last_bytes = bytes;
        part->last_prefix = prefixes[i];
        at += bytes;
    }
}

static void check_part(void *arg, int number)
{
    struct checking *work = arg;
    struct part *part = &work->parts[number];
    const struct files_kind *kind = work->kind;
    uint32_t lengths[BATCH];
    uint64_t prefixes[BATCH];
    part->sorted = true;
    for (size_t at = part->begin; at < part->end;) {
        const unsigned char *records = work->bytes + at;
        const size_t n = kind->scan(kind, records, part->end - at, BATCH, lengths,
                                    work->order ? prefixes : NULL);
        if (work->order && kind->whole_prefix && kind->record_bytes)
            check_prefixes(kind, part, records, prefixes, n);
        else if (work->order)
            check_order(kind, part, records, lengths, prefixes, n);
        part->sum.count += n;
        if (kind->record_bytes) {
            part->sum.sum += files_sum_fixed(records, n, kind->record_bytes);
            at += n * kind->record_bytes;
            continue;
        }
        part->sum.sum += files_sum_lines(records, lengths, n, work->bytes + part->end);
        for (size_t i = 0; i < n; i++) at += lengths[i];
    }
}

static int split(struct checking *work, int threads, size_t n)
{
    const struct files_kind *kind = work->kind;
    const int parts = n < (size_t)64 << 10 ? 1 : threads;
    size_t begin = 0;
    for (int i = 0; i < parts; i++) {
        size_t end = i == parts - 1 ? n : n / (size_t)parts * (size_t)(i + 1);
        if (kind->record_bytes)
            end -= end % kind->record_bytes;
        else if (end > begin && end < n)
            end = kind->boundary(kind, work->bytes, n, begin, end);
        if (end < begin) end = begin;
        work->parts[i] = (struct part){ .begin = begin, .end = end };
        begin = end;
    }
    return parts;
}

void files_check(struct files_run *run, const unsigned char *bytes, size_t n, bool order,
                 struct files_checked *checked)
{
    const struct files_kind *kind = run->kind;
    struct checking work = { .kind = kind, .bytes = bytes, .order = order };
    struct part before = { 0 };
    uint32_t length;
    const double start = files_seconds();
    const int parts = split(&work, run->threads, n);
    io_for_each(parts, check_part, &work);
    if (order && run->has_last) {
        before.last = run->last;
        before.last_bytes = run->last_bytes;
        kind->scan(kind, run->last, run->last_bytes, 1, &length, &before.last_prefix);
    }
    *checked = (struct files_checked){ .sorted = true };
    for (int i = 0; i < parts; i++) {
        const struct part *part = &work.parts[i];
        checked->sum.count += part->sum.count;
        checked->sum.sum += part->sum.sum;
        checked->sorted &= part->sorted;
        if (!part->first) continue;
        if (before.last)
            checked->sorted &= precedes(kind, before.last_prefix, before.last, before.last_bytes,
                                        part->first_prefix, part->first, part->first_bytes);
        before = *part;
    }
    checked->last = before.last;
    checked->last_bytes = before.last_bytes;
    run->sort->times.check += files_seconds() - start;
}

void files_add_sum(struct files_run *run, struct files_sum *sum, const unsigned char *bytes,
                   size_t n)
{
    struct files_checked checked;
    files_check(run, bytes, n, false, &checked);
    sum->count += checked.sum.count;
    sum->sum += checked.sum.sum;
}
