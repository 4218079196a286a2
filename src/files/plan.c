/*
 * files/plan.c - the memory of each part of an external sort; README.md states the formula.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"

#include <stdio.h>
#include <string.h>

enum {
    FIXED = IO_BUFFER + (192 << 10), /* the buffer of the output, the queue, the stacks in use */
    SMALLEST = FILES_ALIGN,
    LARGE_PIECE = 1 << 20, /* larger pieces are not read faster */
    LARGE_BLOCK = 8 << 20,
    JOURNAL_BYTES = 256 /* per bin: hashes, and some records of blocks */
};

static uint64_t buffers(const struct files_kind *kind)
{
    return kind->in_place ? 3 : 4;
}

static uint64_t records_of(uint64_t bytes, double record_bytes)
{
    return (uint64_t)((double)bytes / record_bytes) + 1;
}

/* The maximum for this much or less: the algorithm for fewer records may need more. */
static uint64_t work_of(const struct files_kind *kind, uint64_t bytes, double record_bytes)
{
    uint64_t most = 0;
    for (; bytes >= 64; bytes /= 2) {
        const uint64_t work =
            kind->work_bytes(kind, (size_t)bytes, (size_t)records_of(bytes, record_bytes));
        if (work > most) most = work;
    }
    return most;
}

/* The largest multiple of the page size whose sort, with buffers for reading and writing, needs at
 * most limit bytes. */
static uint64_t largest_bin(const struct files_kind *kind, uint64_t limit, double record_bytes)
{
    uint64_t low = 0, high = limit / buffers(kind) / SMALLEST + 1;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2, bytes = middle * SMALLEST;
        if (buffers(kind) * bytes + work_of(kind, bytes, record_bytes) <= limit)
            low = middle;
        else
            high = middle;
    }
    return low * SMALLEST;
}

/* Bytes of ids per byte of a block.  If records differ in length, the ids of those beyond this
 * limit are determined twice. */
static double ids_share(const struct files_kind *kind)
{
    return kind->record_bytes ? 2.0 / (double)kind->record_bytes : 0.5;
}

static void plan_blocks(const struct files_sort *sort, struct files_plan *plan, uint64_t limit)
{
    const struct files_kind *kind = sort->kind;
    const double share = ids_share(kind);
    const uint64_t wanted = 2 * plan->input_bytes / (plan->bin_bytes + 1) + 1;
    uint64_t block = (uint64_t)((double)limit / (4 + share)) / SMALLEST * SMALLEST;
    uint64_t most = wanted * LARGE_PIECE;
    if (most < LARGE_BLOCK) most = LARGE_BLOCK;
    if (block > most) block = most;
    if (block > (uint64_t)1 << 30) block = (uint64_t)1 << 30;
    /* A unit of a large bin of equal records has whole pieces, each with some slack. */
    const uint64_t all = plan->bin_bytes / 8 * 7 / SMALLEST * SMALLEST;
    const uint64_t part = all > SMALLEST ? all - SMALLEST : 0;
    if (block > part) block = part;
    plan->block_bytes = block;
    plan->ids_bytes = (uint64_t)(share * (double)block) + 64;
    const uint64_t shift = block < FILES_LEAST_SHIFTED ? 0 : FILES_ALIGN;
    const uint64_t used = kind->record_bytes
                              ? (block - shift) / kind->record_bytes * kind->record_bytes
                              : block - shift - files_carry(kind, block);
    plan->blocks = used ? (plan->input_bytes + used - 1) / used : 0;
    /* What is kept of a bin: its begin in each block, its size, its cuts, and counts.  There may be
     * twice as many bins as wanted. */
    const uint64_t each = 8 * plan->blocks + 32 + 2 * (64 + (uint64_t)plan->record_bytes) +
                          8 * (uint64_t)FILES_MOST_THREADS + (sort->resume ? JOURNAL_BYTES : 0);
    uint64_t bins = wanted;
    if (bins > plan->index_bytes / each) bins = plan->index_bytes / each;
    if (bins > FILES_MOST_BINS) bins = FILES_MOST_BINS;
    if (bins > block / 64) bins = block / 64;
    plan->bins = (uint32_t)(bins < 2 ? 2 : bins);
}

static int count_levels(const struct files_sort *sort, const struct files_plan *plan)
{
    uint64_t bytes = plan->input_bytes;
    int levels = 0;
    while (bytes > plan->bin_bytes &&
           !files_fits(sort, plan->budget_bytes, bytes, records_of(bytes, plan->record_bytes))) {
        bytes = bytes / plan->bins + 1;
        levels++;
    }
    return levels;
}

uint64_t files_need(const struct files_sort *sort, uint64_t bytes, uint64_t records)
{
    const uint64_t buffers_used = sort->kind->in_place ? 1 : 2;
    return buffers_used * files_round_up(bytes + 1, 256) +
           sort->kind->work_bytes(sort->kind, (size_t)bytes, (size_t)records);
}

bool files_fits(const struct files_sort *sort, uint64_t budget_bytes, uint64_t bytes,
                uint64_t records)
{
    if (bytes >= budget_bytes || budget_bytes < FIXED + SMALLEST) return false;
    return files_need(sort, bytes, records) <= budget_bytes - FIXED;
}

/* Whether a block and a bin hold some records.  The first level leaves some memory for others. */
static bool is_possible(const struct files_plan *plan)
{
    const uint64_t least = plan->inner ? SMALLEST : 4 * (uint64_t)SMALLEST;
    return plan->block_bytes >= least && plan->bin_bytes >= least &&
           plan->block_bytes >= 4 * (uint64_t)plan->record_bytes;
}

static void fill(const struct files_sort *sort, uint64_t budget, struct files_plan *plan)
{
    const uint64_t all = budget > FIXED ? budget - FIXED : 0;
    plan->budget_bytes = budget;
    plan->fixed_bytes = FIXED;
    plan->index_bytes = all / 8;
    const uint64_t limit = all - plan->index_bytes;
    plan->bin_bytes = largest_bin(sort->kind, limit, plan->record_bytes);
    plan->work_bytes = work_of(sort->kind, plan->bin_bytes, plan->record_bytes);
    plan_blocks(sort, plan, limit);
    plan->first_bytes = 4 * plan->block_bytes + plan->ids_bytes;
    plan->second_bytes = buffers(sort->kind) * plan->bin_bytes + plan->work_bytes;
    plan->temporary_bytes = plan->blocks * plan->block_bytes;
}

io_status files_plan_level(const struct files_sort *sort, uint64_t budget_bytes,
                           uint64_t input_bytes, double record_bytes, bool stream, bool inner,
                           struct files_plan *plan, struct io_error *error)
{
    *plan = (struct files_plan){
        .input_bytes = input_bytes, .record_bytes = record_bytes, .stream = stream, .inner = inner
    };
    fill(sort, budget_bytes, plan);
    plan->fits = !stream &&
                 files_fits(sort, budget_bytes, input_bytes, records_of(input_bytes, record_bytes));
    plan->counted = !plan->fits && sort->kind->rank && budget_bytes >= FIXED + files_count_bytes();
    if (plan->counted) {
        plan->temporary_bytes = 0;
        return IO_OK;
    }
    if (plan->fits || is_possible(plan)) {
        plan->levels = stream || plan->fits ? 0 : count_levels(sort, plan);
        if (plan->fits) plan->temporary_bytes = 0;
        return IO_OK;
    }
    struct files_plan larger = *plan;
    uint64_t enough = FIXED + SMALLEST;
    while (!is_possible(&larger) && enough < (uint64_t)1 << 50) {
        enough += enough / 4;
        fill(sort, enough, &larger);
    }
    return io_fail(error, IO_FAIL, sort->inputs[0].name,
                   "a memory budget of %llu bytes is too small; it needs at least %llu bytes",
                   (unsigned long long)budget_bytes, (unsigned long long)enough);
}

/* ---- As text ---- */

static void add(char *text, size_t room, const char *name, uint64_t bytes, const char *what)
{
    const size_t used = strlen(text);
    snprintf(text + used, room - used, "%-12s %llu bytes%s%s\n", name, (unsigned long long)bytes,
             *what ? ": " : "", what);
}

static void add_directories(const struct files_sort *sort, char *text, size_t room)
{
    for (int i = 0; i < sort->directory_count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, room - used, "%-12s %s\n", i ? "" : "directories",
                 sort->directories[i]);
    }
}

void files_plan_text(const struct files_sort *sort, char *text, size_t bytes)
{
    const struct files_plan *plan = &sort->plan;
    char what[160];
    text[0] = 0;
    add(text, bytes, "memory", plan->budget_bytes, "the budget");
    if (!plan->stream)
        add(text, bytes, "input", plan->input_bytes, plan->fits ? "fits: one read, one write" : "");
    if (plan->counted) {
        const size_t end = strlen(text);
        snprintf(text + end, bytes - end, "%-12s the numbers are counted: one read, one write\n",
                 "passes");
    }
    if (plan->fits || plan->counted) return;
    const size_t used = strlen(text);
    if (plan->stream)
        snprintf(text + used, bytes - used,
                 "%-12s the input is a stream: sorted blocks, then bins of all blocks\n", "passes");
    else
        snprintf(text + used, bytes - used,
                 "%-12s %d that distribute%s, and one that sorts the bins\n", "passes",
                 plan->levels, plan->levels == 1 ? "s" : "");
    if (!plan->stream) {
        snprintf(what, sizeof what, "%llu blocks, 4 in memory and %llu bytes of ids",
                 (unsigned long long)plan->blocks, (unsigned long long)plan->ids_bytes);
        add(text, bytes, "block", plan->block_bytes, what);
        snprintf(what, sizeof what, "about %u, and the sort of this much needs %llu bytes",
                 plan->bins, (unsigned long long)plan->work_bytes);
    } else {
        snprintf(what, sizeof what, "and the sort of this much needs %llu bytes",
                 (unsigned long long)plan->work_bytes);
    }
    add(text, bytes, "bins", plan->bin_bytes, what);
    add(text, bytes, "index", plan->index_bytes, "at most");
    add(text, bytes, "fixed", plan->fixed_bytes, "buffer of the output, queues");
    if (!plan->stream) {
        add(text, bytes, "first pass", plan->first_bytes, "of memory");
        add(text, bytes, "temporary", plan->temporary_bytes,
            plan->direct ? "of files, past the page cache" : "of files");
    }
    add(text, bytes, "second pass", plan->second_bytes, "of memory");
    add_directories(sort, text, bytes);
}
