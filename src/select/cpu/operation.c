/*
 * select/cpu/operation.c - selections on the CPU: the selected elements of each piece of the array
 * are counted; each piece is then written at the prefix sum of the counts.
 *
 *     bits     which elements of a block are selected, 2048 at a time (width.h)
 *     count    per piece; not needed if one thread selects elements in one go
 *     write    the selected elements of a block are packed while the block is in the cache
 *
 * Pieces do not depend on the number of threads. Runs are decoded in decode.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/cpu/common.h"
#include "core/backend.h"
#include "select/cpu/decode.h"

#include <string.h>

enum { PIECE = 16 * ECHI_SELECT_BLOCK, WAYS = 3 };

struct job {
    const struct echi_select *s;
    const struct echi_select_isa *isa;
    const struct echi_select_width *width; /* of the elements, NULL for other sizes */
    const struct echi_select_width *value_width;
    uint64_t *counts[2]; /* [pieces] counts of the first and of the second kind */
    uint64_t *first;     /* [pieces], with lengths: the start of each piece's first run */
    uint64_t total[2];
};

static size_t pieces_of(size_t n)
{
    return n / PIECE + (n % PIECE != 0);
}

const struct echi_select_isa *echi_select_isa_of_machine(void)
{
#ifdef ECHI_CPU_X86
    enum echi_isa isa = echi_cpu_isa();
    if (isa == ECHI_AVX512) return &echi_select_avx512;
    if (isa == ECHI_AVX2) return &echi_select_avx2;
#endif
    return &echi_select_portable;
}

const struct echi_select_width *echi_select_width_of_machine(size_t bytes)
{
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return NULL;
    const int width = echi_bit_length(bytes) - 1;
#ifdef ECHI_CPU_X86
    if (bytes < 4 && echi_cpu_isa() == ECHI_AVX512 && echi_cpu_has_vbmi2())
        return echi_select_vbmi2.widths[width];
#endif
    return echi_select_isa_of_machine()->widths[width];
}

/* ---- Bits ---- */

static void clear_past(uint64_t *bits, size_t n)
{
    if (n % 64) bits[n / 64] &= ((uint64_t)1 << n % 64) - 1;
}

/* Computes which of the n elements from `at` on, a multiple of 64, are selected. */
static void find_bits(const struct job *job, size_t at, size_t n, uint64_t *bits)
{
    const struct echi_select *s = job->s;
    const char *in = s->in;
    switch (s->by) {
    case ECHI_BY_BYTES:
        job->isa->flags(s->flags + at, n, bits);
        break;
    case ECHI_BY_BITS:
        bits[(n - 1) / 64] = 0;
        memcpy(bits, s->flags + at / 8, n / 8 + (n % 8 != 0));
        break;
    case ECHI_BY_TEST:
        job->width->test(&s->test[0], in + at * s->element_bytes, n, bits);
        break;
    default:
        job->width->starts(&s->test[0].order, in + at * s->element_bytes, n, at == 0, bits);
    }
}

static void find_kept(const struct job *job, size_t at, size_t n, uint64_t *bits)
{
    find_bits(job, at, n, bits);
    if (job->s->invert)
        for (size_t w = 0; w * 64 < n; w++) bits[w] = ~bits[w];
    clear_past(bits, n);
}

/* For a three-way partition: which of the rest are of the second kind; rest receives those of
 * neither. */
static void find_second(const struct job *job, size_t at, size_t n, const uint64_t *kept,
                        uint64_t *second)
{
    const struct echi_select *s = job->s;
    job->width->test(&s->test[1], (const char *)s->in + at * s->element_bytes, n, second);
    for (size_t w = 0; w * 64 < n; w++) second[w] &= ~kept[w];
    clear_past(second, n);
}

/* ---- Writing ---- */

/* Elements of a size without a kernel: copies runs of selected elements. */
static void keep_any(char *out, const char *in, const uint64_t *bits, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i += 64)
        for (uint64_t kept = bits[i / 64]; kept;) {
            size_t from = (size_t)__builtin_ctzll(kept);
            uint64_t gap = ~(kept >> from);
            size_t run = gap ? (size_t)__builtin_ctzll(gap) : 64;
            memcpy(out, in + (i + from) * bytes, run * bytes);
            out += run * bytes;
            if (from + run >= 64) break;
            kept = kept >> (from + run) << (from + run);
        }
}

static void keep(const struct echi_select_width *width, void *out, uint64_t to, const void *in,
                 size_t at, const uint64_t *bits, size_t n, size_t bytes)
{
    char *target = (char *)out + to * bytes;
    const char *source = (const char *)in + at * bytes;
    if (width)
        width->keep(target, source, bits, n);
    else
        keep_any(target, source, bits, n, bytes);
}

/* The lengths of runs of a piece.  That of the last run is known only when the next one begins. */
struct lengths {
    uint64_t *next; /* the length of the current run */
    uint64_t first; /* the start of the piece's first run, if there is one */
    uint64_t begin; /* the start of the current run */
    bool any;
};

/* Writes the lengths of the runs that end where the runs in bits begin, and changes bits. */
static void add_lengths(const struct job *job, struct lengths *l, size_t at, size_t n,
                        uint64_t *bits)
{
    if (!l->any) {
        size_t w = 0;
        while (w * 64 < n && !bits[w]) w++;
        if (w * 64 >= n) return;
        l->any = true;
        l->first = l->begin = at + w * 64 + (size_t)__builtin_ctzll(bits[w]);
        bits[w] &= bits[w] - 1;
    }
    l->next = job->isa->keep_lengths(l->next, &l->begin, at, bits, n);
}

/* Writes the n elements from i on; elements of each kind go to at[kind]. bits[0] are the selected
 * ones, bits[1] those of the second kind; bits[2] receives the others. */
static void write_block(const struct job *job, size_t i, size_t n,
                        uint64_t bits[WAYS][ECHI_SELECT_WORDS], const uint64_t at[WAYS])
{
    const struct echi_select *s = job->s;
    if (s->out) keep(job->width, s->out, at[0], s->in, i, bits[0], n, s->element_bytes);
    if (s->values_out)
        keep(job->value_width, s->values_out, at[0], s->values, i, bits[0], n, s->value_bytes);
    if (s->starts && s->narrow)
        job->isa->keep_positions32((uint32_t *)s->starts + at[0], i, bits[0], n);
    else if (s->starts)
        job->isa->keep_positions((uint64_t *)s->starts + at[0], i, bits[0], n);
    if (s->what == ECHI_KEEP) return;
    const bool divide = s->what == ECHI_DIVIDE;
    if (divide) keep(job->width, s->out, at[1], s->in, i, bits[1], n, s->element_bytes);
    for (size_t w = 0; w * 64 < n; w++) bits[2][w] = ~(bits[0][w] | (divide ? bits[1][w] : 0));
    clear_past(bits[2], n);
    keep(job->width, s->out, at[2], s->in, i, bits[2], n, s->element_bytes);
}

static size_t moved_bytes(const struct echi_select *s)
{
    return 1 + s->element_bytes + s->value_bytes + (s->starts || s->lengths ? 8 : 0);
}

static bool is_far(const struct echi_select *s)
{
    return s->n * moved_bytes(s) > ECHI_FAR_BYTES;
}

/* The elements whose bits are computed before the selected ones are written: few bytes of an array
 * in memory, so that it is read and written at the same time. */
static size_t block_of(const struct echi_select *s)
{
    enum { BYTES = 2048 };
    const size_t bytes = s->element_bytes ? s->element_bytes : 1; /* 0: positions by flags */
    const size_t few = BYTES / bytes / 64 * 64;
    return !is_far(s) ? ECHI_SELECT_BLOCK : few ? few : 64;
}

/* Writes a piece; elements of each kind go to to[kind]. Returns how many it selects. */
static size_t write_piece(const struct job *job, size_t piece, const uint64_t to[WAYS])
{
    const struct echi_select *s = job->s;
    const size_t begin = piece * PIECE, end = echi_min(s->n, begin + PIECE);
    uint64_t at[WAYS] = { to[0], to[1], to[2] }, bits[WAYS][ECHI_SELECT_WORDS];
    struct lengths lengths = { .any = false };
    if (s->lengths) lengths.next = s->lengths + to[0];
    const size_t block = block_of(s);
    for (size_t i = begin; i < end; i += block) {
        const size_t n = echi_min(block, end - i);
        size_t second = 0;
        find_kept(job, i, n, bits[0]);
        const size_t kept = job->isa->count(bits[0], n);
        if (s->what == ECHI_DIVIDE) {
            find_second(job, i, n, bits[0], bits[1]);
            second = job->isa->count(bits[1], n);
        }
        write_block(job, i, n, bits, at);
        if (s->lengths) add_lengths(job, &lengths, i, n, bits[0]);
        at[0] += kept;
        at[1] += second;
        at[2] += n - kept - second;
    }
    if (lengths.any) { /* end_runs() replaces the start of the last run */
        *lengths.next = lengths.begin;
        job->first[piece] = lengths.first;
    }
    return (size_t)(at[0] - to[0]);
}

/* The first `whole` elements of an array in memory. */
static size_t keep_flagged_far(const struct echi_select *s, const struct echi_select_width *width,
                               size_t whole)
{
    enum { HALF = ECHI_PAGE_BYTES / 2 };
    const size_t block = HALF / s->element_bytes;
    size_t count = 0;
    for (size_t i = 0; i < whole; i += block) {
        const char *in = (const char *)s->in + i * s->element_bytes;
        char *out = (char *)s->out + count * s->element_bytes;
        echi_prefetch_page(in);
        if (i % HALF == 0) echi_prefetch_page(s->flags + i);
        count += width->keep_flagged(out, in, s->flags + i, echi_min(block, whole - i), s->invert);
    }
    return count;
}

/* A selection of elements by bytes, in one go: returns how many it selects. */
static size_t keep_flagged(const struct job *job)
{
    const struct echi_select *s = job->s;
    const size_t whole = s->n / 64 * 64, rest = s->n - whole;
    uint64_t kept[1];
    size_t count = is_far(s) ? keep_flagged_far(s, job->width, whole)
                             : job->width->keep_flagged(s->out, s->in, s->flags, whole, s->invert);
    if (!rest) return count;
    find_kept(job, whole, rest, kept);
    keep(job->width, s->out, count, s->in, whole, kept, rest, s->element_bytes);
    return count + job->isa->count(kept, rest);
}

static bool only_flagged(const struct job *job)
{
    const struct echi_select *s = job->s;
    return s->what == ECHI_KEEP && s->by == ECHI_BY_BYTES && s->out && job->width &&
           !s->values_out && !s->starts && !s->lengths;
}

/* ---- Pieces ---- */

static void count_one(void *arg, size_t piece, int thread)
{
    (void)thread;
    struct job *job = arg;
    const struct echi_select *s = job->s;
    const size_t begin = piece * PIECE, end = echi_min(s->n, begin + PIECE);
    uint64_t kept[ECHI_SELECT_WORDS], second[ECHI_SELECT_WORDS];
    job->counts[0][piece] = job->counts[1][piece] = 0;
    for (size_t i = begin; i < end; i += ECHI_SELECT_BLOCK) {
        size_t n = echi_min(ECHI_SELECT_BLOCK, end - i);
        find_kept(job, i, n, kept);
        job->counts[0][piece] += job->isa->count(kept, n);
        if (s->what != ECHI_DIVIDE) continue;
        find_second(job, i, n, kept, second);
        job->counts[1][piece] += job->isa->count(second, n);
    }
}

/* Converts counts to exclusive prefix sums over the pieces. */
static void add_up(struct job *job)
{
    for (int w = 0; w < 2; w++) {
        uint64_t before = 0;
        for (size_t piece = 0; piece < pieces_of(job->s->n); piece++) {
            uint64_t own = job->counts[w][piece];
            job->counts[w][piece] = before;
            before += own;
        }
        job->total[w] = before;
    }
}

static void write_one(void *arg, size_t piece, int thread)
{
    (void)thread;
    const struct job *job = arg;
    uint64_t first = job->counts[0][piece], second = job->counts[1][piece];
    const uint64_t to[WAYS] = { first, job->total[0] + second,
                                job->total[0] + job->total[1] + piece * PIECE - first - second };
    write_piece(job, piece, to);
}

/* Lengths that cross pieces: the piece that begins the next run determines where the previous run
 * ends. */
static void end_runs(const struct job *job)
{
    const struct echi_select *s = job->s;
    for (size_t piece = 1; piece < pieces_of(s->n); piece++) {
        uint64_t before = job->counts[0][piece];
        uint64_t through = piece + 1 < pieces_of(s->n) ? job->counts[0][piece + 1] : job->total[0];
        if (through != before) s->lengths[before - 1] = job->first[piece] - s->lengths[before - 1];
    }
    s->lengths[job->total[0] - 1] = s->n - s->lengths[job->total[0] - 1];
}

static ech_status select_run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_select *s = request;
    if (s->what == ECHI_DECODE) return echi_cpu_decode(ctx, s, work);
    struct job job = { .s = s, .isa = echi_select_isa_of_machine() };
    const size_t pieces = pieces_of(s->n);
    int threads = echi_parallel_for_bytes(
        ctx, s->n > SIZE_MAX / moved_bytes(s) ? SIZE_MAX : s->n * moved_bytes(s));
    job.width = echi_select_width_of_machine(s->element_bytes);
    job.value_width = echi_select_width_of_machine(s->value_bytes);
    job.counts[0] = work;
    job.counts[1] = job.counts[0] + pieces;
    job.first = job.counts[1] + pieces;
    if (threads == 1 && only_flagged(&job)) {
        *s->count = keep_flagged(&job);
        return ECH_OK;
    }
    if (s->what == ECHI_KEEP && threads == 1) {
        uint64_t to[WAYS] = { 0, 0, 0 };
        for (size_t piece = 0; piece < pieces; piece++) {
            job.counts[0][piece] = to[0];
            to[0] += write_piece(&job, piece, to);
        }
        job.total[0] = to[0];
    } else {
        echi_parallel(threads, pieces, count_one, &job);
        add_up(&job);
        echi_parallel(threads, pieces, write_one, &job);
    }
    if (s->lengths && s->n) end_runs(&job);
    s->count[0] = job.total[0];
    if (s->what == ECHI_DIVIDE) s->count[1] = job.total[1];
    return ECH_OK;
}

/* A selection of one block: the places of the elements of each kind are known before they are
 * written. */
static __attribute__((noinline)) bool select_block(const struct echi_select *s)
{
    if (s->n > ECHI_SELECT_BLOCK || !s->n) return false;
    uint64_t bits[WAYS][ECHI_SELECT_WORDS];
    struct job job = { .s = s, .isa = echi_select_isa_of_machine() };
    job.width = echi_select_width_of_machine(s->element_bytes);
    if (only_flagged(&job)) {
        *s->count = keep_flagged(&job);
        return true;
    }
    if (s->values_out) job.value_width = echi_select_width_of_machine(s->value_bytes);
    find_kept(&job, 0, s->n, bits[0]);
    uint64_t at[WAYS] = { 0, job.isa->count(bits[0], s->n), 0 };
    s->count[0] = at[2] = at[1];
    if (s->what == ECHI_DIVIDE) {
        find_second(&job, 0, s->n, bits[0], bits[1]);
        s->count[1] = job.isa->count(bits[1], s->n);
        at[2] += s->count[1];
    }
    write_block(&job, 0, s->n, bits, at);
    if (s->lengths) {
        struct lengths lengths = { .next = s->lengths };
        add_lengths(&job, &lengths, 0, s->n, bits[0]);
        *lengths.next = s->n - lengths.begin;
    }
    return true;
}

static bool select_at_once(const void *request)
{
    const struct echi_select *s = request;
    if (s->what == ECHI_DECODE) return echi_cpu_decode_at_once(s);
    if (s->n - 1 >= 64 || s->what > ECHI_PARTITION || s->by == ECHI_BY_BITS || !s->out ||
        s->values_out || s->starts)
        return select_block(s);
    const struct echi_select_width *width = echi_select_width_of_machine(s->element_bytes);
    if (!width) return select_block(s);
    width->few(s);
    return true;
}

static ech_status select_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_select *s = request;
    struct echi_layout layout = { 0 };
    size_t words = 3 * pieces_of(s->n), sums = echi_cpu_decode_words(s->n);
    echi_part(&layout, words > sums ? words : sums, sizeof(uint64_t));
    *bytes = layout.bytes;
    return ECH_OK;
}

static ech_status select_explain(const void *request, struct echi_explain *e)
{
    const struct echi_select *s = request;
    if (s->what == ECHI_DECODE)
        echi_explain_algorithm(
            e, true, "decode",
            "prefix sums of the lengths; threads then write parts of the output");
    else
        echi_explain_algorithm(e, true, "pieces",
                               "pieces of %d elements: one pass with one thread or, with more, a "
                               "count and then a placement%s",
                               (int)PIECE, s->what == ECHI_KEEP ? "" : ", also with one thread");
    return ECH_OK;
}

const struct echi_operation echi_cpu_select = {
    .plan = select_workspace, .explain = select_explain, .run = select_run, .quick = select_at_once
};

/* ---- Short calls ---- */

static const struct echi_select_calls any = { echi_select_flags_any, echi_partition_flags_any,
                                              echi_select_if_any,    echi_unique_any,
                                              echi_rle_encode_any,   echi_rle_decode_any };

#define CALLS(narrow, wide)                                                                        \
    {                                                                                              \
        &any, &narrow.calls[0], &narrow.calls[1], &any, &wide.calls[2], &any, &any, &any,          \
            &wide.calls[3]                                                                         \
    }
const struct echi_select_calls *const echi_select_calls[ECHI_LEVELS][ECHI_SELECT_BYTES + 1] = {
    [ECHI_LEVEL_NONE] = { &any, &any, &any, &any, &any, &any, &any, &any, &any },
    [ECHI_LEVEL_PORTABLE] = CALLS(echi_select_portable, echi_select_portable),
#ifdef ECHI_CPU_X86
    [ECHI_LEVEL_AVX2] = CALLS(echi_select_avx2, echi_select_avx2),
    [ECHI_LEVEL_AVX512] = CALLS(echi_select_avx512, echi_select_avx512),
    [ECHI_LEVEL_VBMI2] = CALLS(echi_select_vbmi2, echi_select_avx512),
#endif
};
#undef CALLS
