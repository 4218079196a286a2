/*
 * sort_part_blocks.c - what each rank of a distributed sort does with records, lines of text, and
 * numbers with --unique or --bits: it divides its part by the ranks, exchanges the records once,
 * and sorts what it receives.
 *
 *     part_run_blocks()  read | cuts | divide | exchange | sort | write
 *
 * With --unique, a rank keeps the first of equal records of its part, too, before the cuts.
 *
 * The kinds of records are those of the external sort (files/files.h): only a kind knows how its
 * records are compared and sorted.  The device sorts prefixes of keys, and the processor settles
 * ties.  The records of lower ranks precede those of higher ones in what a rank receives, and the
 * sort is stable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_distributed.h"

#include <stdlib.h>
#include <string.h>

/* ---- The kind ---- */

static void open_kind(struct part *p)
{
    const struct part_plan *plan = &p->plan;
    const char *device = ech_device_name(p->ctx);
    const ech_columns_options options = { .size = sizeof options,
                                          .algorithm = p->set->words.algorithm };
    if (p->order) {
        files_lines_init(&p->text_lines, p->order, p->set->text.csv, p->threads);
        p->kind = &p->text_lines.kind;
    } else if (plan->key_count) {
        files_records_init(&p->records, (size_t)plan->row_bytes, plan->keys, plan->key_count,
                           &options, device);
        if (plan->swap_bytes) files_records_swap(&p->records, plan->swap_bytes, plan->swap_back);
        if (plan->argsort) files_records_positions(&p->records);
        p->kind = &p->records.kind;
    } else {
        ech_sort_options numbers = p->job->options;
        numbers.begin_bit = plan->begin_bit;
        numbers.end_bit = plan->end_bit;
        files_numbers_init(&p->numbers, plan->dtype, &numbers, plan->argsort, plan->swap_bytes != 0,
                           device);
        if (!plan->swap_back && !plan->argsort) p->numbers.kind.finish = NULL;
        p->kind = &p->numbers.kind;
    }
}

/* ---- Memory ---- */

/* What the sort of a block needs in addition to it. */
static uint64_t sort_bytes(const struct part *p, const struct block *block)
{
    return p->kind->work_bytes(p->kind, (size_t)block->bytes, (size_t)block->records) +
           (p->kind->in_place ? 0 : block->bytes);
}

static bool fits(struct part *p, const struct block *block)
{
    const uint64_t need = sort_bytes(p, block) + block->bytes;
    if (p->code == EXIT_DONE && need > p->budget_bytes) part_no_room(p, need);
    return p->code == EXIT_DONE;
}

/* ---- Read ---- */

/* Records of a fixed size, of which a kind may extend each.  Their part of the file is at the end
 * of the block until then. */
static void read_records(struct part *p, struct block *block)
{
    const struct part_plan *plan = &p->plan;
    const size_t each = p->kind->record_bytes;
    const uint64_t bytes = p->n * plan->row_bytes;
    *block = (struct block){ .bytes = p->n * each, .records = p->n };
    if (fits(p, block)) block->at = part_allocate(p, block->bytes);
    if (!block->at) return;
    unsigned char *from = block->at + block->bytes - bytes;
    part_read(p, from, bytes, plan->offset + p->first * plan->row_bytes);
    if (p->kind->prepare && p->code == EXIT_DONE)
        p->kind->prepare(p->kind, from, block->at, (size_t)p->n, p->first);
}

/* ---- Sort ---- */

/* Moves the first of records with equal keys to the front; returns their number. */
static uint64_t keep_first(const struct part *p, struct block *block)
{
    const size_t each = p->kind->record_bytes;
    unsigned char keys[2][PART_KEY];
    size_t lengths[2] = { 0 };
    uint64_t kept = 0;
    for (uint64_t i = 0; i < block->records; i++) {
        const unsigned char *record = block->at + i * each;
        const int now = (int)(kept & 1), last = 1 - now;
        lengths[now] = part_key(p, record, each, keys[now]);
        if (kept && lengths[now] == lengths[last] &&
            memcmp(keys[now], keys[last], lengths[now]) == 0)
            continue;
        if (kept != i) memcpy(block->at + kept * each, record, each);
        kept++;
    }
    return kept;
}

/* Keeps the first of records with equal keys.  The sort of lines does that itself. */
static void drop_equal(struct part *p, struct block *block)
{
    if (!p->set->unique || p->order || !block->at) return;
    if (p->plan.key_count || p->plan.argsort) {
        block->records = keep_first(p, block);
    } else {
        const struct io_order order = part_order(p);
        block->records = io_unique(&order, block->at, NULL, block->records);
    }
    block->bytes = block->records * p->kind->record_bytes;
}

/* Sorts a block, whose memory is replaced unless the kind sorts in place. */
static void sort_block(struct part *p, struct block *block)
{
    const struct files_kind *kind = p->kind;
    const size_t work = p->order ? 0 : kind->work_bytes(kind, (size_t)block->bytes, block->records);
    struct io_error error;
    if (!block->bytes || !fits(p, block)) return;
    unsigned char *out = kind->in_place ? NULL : part_allocate(p, block->bytes + 1);
    unsigned char *extra = work ? part_allocate(p, work + 256) : NULL;
    struct files_block sorted = { .name = p->input,
                                  .in = block->at,
                                  .out = out,
                                  .bytes = (size_t)block->bytes,
                                  .records = (size_t)block->records,
                                  .work_bytes = work,
                                  .threads = p->threads,
                                  .out_bytes = (size_t)block->bytes };
    if (extra) sorted.work = extra + (256 - (uintptr_t)extra % 256) % 256;
    if (p->code == EXIT_DONE && kind->sort(kind, p->ctx, &sorted, &error) != IO_OK)
        part_fail(p, part_code(sorted.status), "%s", error.text);
    free(extra);
    if (out) {
        free(block->at);
        block->at = out;
    }
    block->bytes = sorted.out_bytes;
    if (p->code == EXIT_DONE) drop_equal(p, block);
}

/* ---- Exchange ---- */

/* How many bytes each rank receives from each other one: rank 0 transposes the matrix of all. */
static int share_counts(struct part *p, const uint64_t *mine, uint64_t *from)
{
    const size_t ranks = (size_t)p->ranks, all = p->rank == 0 ? ranks * ranks : 0;
    const size_t each = sizeof *mine;
    uint64_t *matrix = calloc(2 * all + 1, each), *columns = matrix ? matrix + all : NULL;
    if (!matrix) part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
    int code = part_agree(p);
    if (code == EXIT_DONE)
        code = part_check_host(
            p, ech_dist_rebalance(p->host, p->comm, mine, matrix, ranks, all, each));
    for (size_t i = 0; columns && i < all && code == EXIT_DONE; i++)
        columns[i] = matrix[i % ranks * ranks + i / ranks];
    if (code == EXIT_DONE)
        code = part_check_host(
            p, ech_dist_rebalance(p->host, p->comm, columns, from, all, ranks, each));
    free(matrix);
    return code;
}

/* The bytes of a block for, or from, another rank. */
struct span {
    unsigned char *at;
    uint64_t bytes;
};

/* Sends to the rank that is shift higher, modulo the number of ranks.  A rebalance keeps the order
 * of ranks, so that the ranks that wrap around follow in a second one. */
static int send_shifted(struct part *p, int shift, const struct span *to, const struct span *from)
{
    int code = EXIT_DONE;
    for (int wrapped = 0; wrapped < 2 && code == EXIT_DONE; wrapped++) {
        const bool sends = (p->rank + shift >= p->ranks) == (wrapped == 1);
        const bool receives = (p->rank - shift < 0) == (wrapped == 1);
        code = part_check_host(p, ech_dist_rebalance(p->host, p->comm, to->at, from->at,
                                                     sends ? to->bytes : 0,
                                                     receives ? from->bytes : 0, 1));
    }
    return code;
}

/* Sends the records of each rank to it. */
static int exchange(struct part *p, struct block *block, uint64_t *begins, uint64_t *from)
{
    struct block got = { NULL, 0, 0 };
    const int ranks = p->ranks;
    for (int r = 0; r < ranks; r++) from[r] = begins[r + 1] - begins[r];
    int code = share_counts(p, from, from + ranks);
    from += ranks;
    for (int r = 0; r < ranks; r++) got.bytes += from[r];
    if (code == EXIT_DONE) got.at = part_allocate(p, got.bytes + 1);
    if (code == EXIT_DONE) code = part_agree(p);
    for (int shift = 0; shift < ranks && code == EXIT_DONE; shift++) {
        const int to = (p->rank + shift) % ranks, other = (p->rank - shift + ranks) % ranks;
        struct span send = { block->at + begins[to], begins[to + 1] - begins[to] };
        struct span receive = { got.at, from[other] };
        for (int r = 0; r < other; r++) receive.at += from[r];
        if (shift)
            code = send_shifted(p, shift, &send, &receive);
        else if (send.bytes)
            memcpy(receive.at, send.at, send.bytes);
    }
    free(block->at);
    *block = got;
    return code;
}

/* Exchanges the records of this rank for those of its share. */
static int distribute(struct part *p, struct block *block)
{
    const size_t ranks = (size_t)p->ranks;
    uint64_t *begins = calloc(3 * ranks + 1, sizeof *begins);
    struct part_cut *cuts = calloc(ranks, sizeof *cuts);
    if (!begins || !cuts)
        part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->input, p->rank);
    int code = part_agree(p);
    if (code == EXIT_DONE) code = part_find_cuts(p, block, cuts);
    if (code == EXIT_DONE) {
        part_divide(p, block, cuts, begins);
        code = part_agree(p);
    }
    if (code == EXIT_DONE) code = exchange(p, block, begins, begins + ranks + 1);
    free(begins);
    free(cuts);
    if (code == EXIT_DONE && p->order)
        block->records = p->kind->count(p->kind, block->at, (size_t)block->bytes);
    else if (code == EXIT_DONE)
        block->records = block->bytes / p->kind->record_bytes;
    return code;
}

/* ---- The part ---- */

/* What the records become in the output. */
static void finish(struct part *p, struct block *block)
{
    const struct files_kind *kind = p->kind;
    if (p->order) {
        if (p->set->unique) block->records = kind->count(kind, block->at, (size_t)block->bytes);
        return;
    }
    if (kind->finish && block->records) kind->finish(kind, block->at, (size_t)block->records);
    block->bytes = block->records * kind->output_bytes;
}

int part_run_blocks(struct part *p)
{
    struct block block = { NULL, 0, 0 };
    const double begin = cli_seconds();
    open_kind(p);
    int code = EXIT_DONE;
    if (p->order)
        code = part_read_lines(p, &block);
    else
        read_records(p, &block);
    if (code == EXIT_DONE) code = part_agree(p);
    const double read = cli_seconds();
    p->plan.lines = block.records;
    if (code == EXIT_DONE && p->ranks > 1 && p->set->unique) {
        sort_block(p, &block); /* fewer records are exchanged: equal ones may be very many */
        code = part_agree(p);
    }
    if (code == EXIT_DONE && p->ranks > 1) code = distribute(p, &block);
    if (code == EXIT_DONE) {
        sort_block(p, &block);
        code = part_agree(p);
    }
    const double sorted = cli_seconds();
    if (code == EXIT_DONE) {
        finish(p, &block);
        code = part_write_share(p, &block);
    }
    p->seconds[PART_READ] = read - begin;
    p->seconds[PART_SORT] = sorted - read;
    p->seconds[PART_WRITE] = cli_seconds() - sorted;
    free(block.at);
    return code;
}
