/*
 * sort_part_lines.c - what each rank of a distributed sort does with lines of text.
 *
 *     part_run_lines()  read | sort, samples | splitters | exchange | sort, write
 *
 * A rank reads the lines that begin in its part of the file.  It sorts them, so that the lines
 * between two splitters are adjacent.  The splitters come from samples of all ranks, so that the
 * shares are nearly equal; lines with equal keys are on one rank.  The lines of lower ranks precede
 * those of higher ones in what a rank receives, and the sort is stable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "sort_distributed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 32, MOST_SAMPLE = 256, STEP = 1 << 20 };

struct block {
    char *text;
    size_t bytes;
};

/* ---- Read ---- */

/* Reads on to the end of the line that began in the part. */
static void read_on(struct part *p, struct block *block, char terminator)
{
    const char *end = NULL;
    uint64_t from = p->plan.offset + p->first + p->n;
    while (!end && p->code == EXIT_DONE) {
        char *larger = realloc(block->text, block->bytes + STEP);
        if (!larger) {
            part_fail(p, EXIT_MEMORY, "%s: out of memory for a line on rank %d", p->input, p->rank);
            return;
        }
        block->text = larger;
        char *at = larger + block->bytes;
        const ssize_t got = pread(p->in, at, STEP, (off_t)from);
        if (got < 0) part_fail(p, EXIT_BAD, "%s: cannot read", p->input);
        if (got <= 0) return; /* the end of the file */
        from += (uint64_t)got;
        end = memchr(at, terminator, (size_t)got);
        block->bytes += end ? (size_t)(end + 1 - at) : (size_t)got;
    }
}

/* The lines that begin in the part of this rank. */
static void read_lines(struct part *p, struct block *block)
{
    const char terminator = lines_terminator(p->order);
    const uint64_t before = p->first ? 1 : 0; /* whether a line begins at the first byte */
    const uint64_t bytes = p->n + before;
    block->text = malloc((size_t)bytes + 1);
    if (!block->text) {
        part_fail(p, EXIT_MEMORY, "%s: out of memory: cannot allocate %llu bytes on rank %d",
                  p->input, (unsigned long long)bytes, p->rank);
        return;
    }
    part_read(p, (unsigned char *)block->text, bytes, p->plan.offset + p->first - before);
    if (p->code != EXIT_DONE) return;
    const char *begin = block->text;
    if (before) begin = memchr(begin, terminator, (size_t)bytes);
    const size_t skipped = begin ? (size_t)(begin - block->text) + before : (size_t)bytes;
    block->bytes = (size_t)bytes - skipped;
    memmove(block->text, block->text + skipped, block->bytes);
    const bool last = p->first + p->n == p->plan.n;
    if (block->bytes && !last && block->text[block->bytes - 1] != terminator)
        read_on(p, block, terminator);
}

/* ---- Sort ---- */

/* Whether the sort of the block, and a copy of it, fit in the memory. */
static bool fits(struct part *p, const struct block *block)
{
    const uint64_t n = lines_count(p->order, block->text, block->bytes, p->threads);
    const uint64_t need = lines_memory(p->order, block->bytes, n) + 2 * (uint64_t)block->bytes;
    if (need <= p->budget_bytes) return true;
    part_fail(p, EXIT_MEMORY,
              "%s: the sort needs %llu bytes of memory on rank %d, whose budget is %llu; use more "
              "ranks, give a larger --memory, or sort in one process, which uses temporary files",
              p->input, (unsigned long long)need, p->rank, (unsigned long long)p->budget_bytes);
    return false;
}

/* Sorts a block, and replaces its text by the sorted one.  visit: is called before the sort is
 * freed. */
static void sort_block(struct part *p, struct block *block,
                       void (*visit)(struct part *p, const struct lines_sorted *sorted, void *user),
                       void *user)
{
    struct lines_sorted sorted;
    struct lines_cursor cursor = { 0 };
    char message[LINES_ERROR];
    if (!fits(p, block)) return;
    const ech_status status =
        lines_sort(p->ctx, p->order, block->text, block->bytes, p->threads, &sorted, message);
    if (status != ECH_OK) {
        const bool own = status == ECH_ERR_MEMORY || status == ECH_ERR_ARG;
        part_fail(p, part_code(status), "%s: %s", p->input, own ? message : ech_error(p->ctx));
        return;
    }
    char *out = lines_allocate((size_t)sorted.out_bytes + 1);
    if (!out)
        part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
    else
        lines_gather(&sorted, &cursor, out, (size_t)sorted.out_bytes, p->threads);
    if (out && visit) visit(p, &sorted, user);
    p->lines = sorted.n_read;
    const size_t bytes = (size_t)sorted.out_bytes;
    lines_free(&sorted);
    free(block->text);
    *block = (struct block){ out, out ? bytes : 0 };
}

/* ---- Splitters ---- */

/* What a rank needs of its sorted lines. */
struct cuts {
    struct block samples;
    struct block splitters; /* each with its terminator */
    uint64_t *begins;       /* [ranks + 1] where the lines of each rank begin */
};

/* Copies lines at equal distances; long ones are cut. */
static void take_samples(struct part *p, const struct lines_sorted *sorted, struct block *samples)
{
    const uint64_t count = (uint64_t)SAMPLES * (uint64_t)p->ranks;
    samples->text = malloc((size_t)count * (MOST_SAMPLE + 1));
    if (!samples->text) part_fail(p, EXIT_MEMORY, "%s: out of memory", p->input);
    for (uint64_t i = 0; samples->text && sorted->n && i < count; i++) {
        size_t bytes;
        const double at = ((double)i + 0.5) / (double)count * (double)sorted->n;
        const char *record = lines_record(sorted, (uint64_t)at, &bytes);
        if (bytes > MOST_SAMPLE) bytes = MOST_SAMPLE;
        memcpy(samples->text + samples->bytes, record, bytes);
        samples->bytes += bytes;
        samples->text[samples->bytes++] = lines_terminator(p->order);
    }
}

/* Gathers the samples of all ranks: the "best" bytes in their order are all bytes. */
static int gather_samples(struct part *p, struct block *samples)
{
    const ech_topk_options options = { .size = sizeof options, .unsorted = 1 };
    ech_dist_layout layout = { .size = sizeof layout };
    int code = part_check_host(p, ech_dist_share(p->comm, samples->bytes, &layout));
    if (code != EXIT_DONE) return code;
    char *all = malloc((size_t)layout.total + 1);
    if (!all) part_fail(p, EXIT_MEMORY, "%s: out of memory for samples", p->input);
    code = part_agree(p);
    if (code == EXIT_DONE)
        code = part_check_host(p, ech_dist_topk(p->host, p->comm, samples->text, all, NULL,
                                                samples->bytes, (size_t)layout.total, ECH_U8,
                                                ECH_U64, &options));
    free(samples->text);
    *samples = (struct block){ all, (size_t)layout.total };
    return code;
}

/* Chooses a splitter before each rank except the first one. */
static void choose(struct part *p, const struct block *samples, struct block *splitters)
{
    struct lines_sorted sorted;
    char message[LINES_ERROR];
    splitters->text = malloc((size_t)p->ranks * (MOST_SAMPLE + 1));
    if (!splitters->text || lines_sort(p->host, p->order, samples->text, samples->bytes, 1, &sorted,
                                       message) != ECH_OK) {
        part_fail(p, EXIT_MEMORY, "%s: cannot sort samples on rank %d", p->input, p->rank);
        return;
    }
    for (int r = 1; r < p->ranks && sorted.n; r++) {
        size_t bytes;
        const char *record =
            lines_record(&sorted, sorted.n * (uint64_t)r / (uint64_t)p->ranks, &bytes);
        memcpy(splitters->text + splitters->bytes, record, bytes);
        splitters->bytes += bytes;
        splitters->text[splitters->bytes++] = lines_terminator(p->order);
    }
    lines_free(&sorted);
}

/* The number of bytes of the sorted lines before the first one that is not below a splitter. */
static void find_begins(struct part *p, const struct block *lines, const struct block *splitters,
                        uint64_t *begins)
{
    const char *splitter = splitters->text;
    begins[0] = 0;
    for (int r = 1; r < p->ranks; r++) {
        const size_t left = splitters->bytes - (size_t)(splitter - splitters->text);
        const size_t whole = left ? lines_next(p->order, splitter, left) : 0;
        const size_t bytes = lines_body(p->order, splitter, whole);
        size_t low = (size_t)begins[r - 1], high = lines->bytes;
        while (low < high) { /* low and high are where lines begin */
            size_t middle = low + (high - low) / 2;
            while (middle > low && lines->text[middle - 1] != lines_terminator(p->order)) middle--;
            const size_t next = lines_next(p->order, lines->text + middle, lines->bytes - middle);
            const size_t body = lines_body(p->order, lines->text + middle, next);
            if (lines_compare(p->order, lines->text + middle, body, splitter, bytes) < 0)
                low = middle + next;
            else
                high = middle;
        }
        begins[r] = low;
        splitter += whole;
    }
    begins[p->ranks] = lines->bytes;
}

/* ---- Exchange ---- */

/* Sends the lines between two splitters to their rank. */
static int exchange(struct part *p, struct block *lines, const uint64_t *begins)
{
    struct block received = { NULL, 0 };
    uint64_t totals[2] = { 0 };
    int code = EXIT_DONE;
    for (int pass = 0; pass < 2 && code == EXIT_DONE; pass++) {
        for (int r = 0; r < p->ranks && code == EXIT_DONE; r++) {
            uint64_t bytes = begins[r + 1] - begins[r];
            if (pass == 0) {
                code = part_check_host(p, ech_dist_reduce(p->host, p->comm, ECH_OP_SUM, &bytes,
                                                          &totals[1], 1, ECH_U64, NULL));
                if (r == p->rank) totals[0] = totals[1];
            } else {
                const size_t n_out = r == p->rank ? received.bytes : 0;
                code =
                    part_check_host(p, ech_dist_rebalance(p->host, p->comm, lines->text + begins[r],
                                                          received.text, (size_t)bytes, n_out, 1));
            }
        }
        if (pass || code != EXIT_DONE) break;
        received = (struct block){ lines_allocate((size_t)totals[0] + 1), (size_t)totals[0] };
        if (!received.text)
            part_fail(p, EXIT_MEMORY, "%s: out of memory: cannot allocate %llu bytes on rank %d",
                      p->input, (unsigned long long)totals[0], p->rank);
        code = part_agree(p);
    }
    free(lines->text);
    *lines = received;
    return code;
}

/* ---- The part ---- */

static void visit_sorted(struct part *p, const struct lines_sorted *sorted, void *user)
{
    take_samples(p, sorted, user);
}

/* Sorts the lines of this rank, and exchanges them for those of its share. */
static int distribute(struct part *p, struct block *lines)
{
    struct cuts cuts = { .begins = calloc((size_t)p->ranks + 1, sizeof *cuts.begins) };
    if (!cuts.begins) part_fail(p, EXIT_MEMORY, "%s: out of memory", p->input);
    if (p->code == EXIT_DONE) sort_block(p, lines, visit_sorted, &cuts.samples);
    int code = part_agree(p);
    if (code == EXIT_DONE) code = gather_samples(p, &cuts.samples);
    if (code == EXIT_DONE) {
        choose(p, &cuts.samples, &cuts.splitters);
        if (p->code == EXIT_DONE) find_begins(p, lines, &cuts.splitters, cuts.begins);
        code = part_agree(p);
    }
    if (code == EXIT_DONE) code = exchange(p, lines, cuts.begins);
    free(cuts.samples.text);
    free(cuts.splitters.text);
    free(cuts.begins);
    return code;
}

/* Writes the share of this rank behind those of lower ranks. */
static int write_share(struct part *p, const struct block *lines)
{
    ech_dist_layout layout = { .size = sizeof layout };
    int code = part_check_host(p, ech_dist_share(p->comm, p->lines, &layout));
    p->plan.lines = layout.total;
    if (code == EXIT_DONE)
        code = part_check_host(p, ech_dist_share(p->comm, lines->bytes, &layout));
    if (code != EXIT_DONE) return code;
    p->plan.text_bytes = layout.total;
    part_write(p, (unsigned char *)lines->text, lines->bytes, p->plan.head_bytes + layout.first);
    return part_agree(p);
}

int part_run_lines(struct part *p)
{
    struct block lines = { NULL, 0 };
    const double begin = cli_seconds();
    read_lines(p, &lines);
    int code = part_agree(p);
    const double read = cli_seconds();
    if (code == EXIT_DONE) code = distribute(p, &lines);
    if (code == EXIT_DONE) {
        sort_block(p, &lines, NULL, NULL);
        code = part_agree(p);
    }
    const double sorted = cli_seconds();
    if (code == EXIT_DONE) code = write_share(p, &lines);
    p->seconds[PART_READ] = read - begin;
    p->seconds[PART_SORT] = sorted - read;
    p->seconds[PART_WRITE] = cli_seconds() - sorted;
    free(lines.text);
    return code;
}
