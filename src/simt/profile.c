/*
 * simt/profile.c - counts the memory transactions of warps, as a profiler does.
 *
 * Lanes run one after another, so each keeps a trace of its actions since the warp's last
 * synchronisation. Then the k-th execution of an instruction in each lane is taken as one execution
 * by the warp: a request, with up to 32 addresses.
 *
 *     global     sectors: 32-byte units of memory that the request touches
 *     shared     wavefronts: turns of the 32 banks of 4 bytes
 *     branches   the k-th time that lanes entered a basic block, and their next blocks
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR_BYTES = 32, BANKS = 32, FIRST_BANKS = 16, MOST_TRACE = 1 << 20 };

/* 16 bytes, because traces may be larger than the caches.  where: pc, kind and bytes.  what: the
 * address, the offset in shared memory, or the target of a branch (0: unknown), and the space. */
struct entry {
    uint64_t where, what;
};

enum { PC_BITS = 48, KIND_AT = 48, BYTES_AT = 56, AT_BITS = 56, SPACE_AT = 56 };

static inline uintptr_t pc_of(const struct entry *e)
{
    return e->where & (((uint64_t)1 << PC_BITS) - 1);
}

static inline unsigned kind_of(const struct entry *e)
{
    return (uint8_t)(e->where >> KIND_AT);
}

static inline unsigned bytes_of(const struct entry *e)
{
    return (uint8_t)(e->where >> BYTES_AT);
}

static inline uintptr_t at_of(const struct entry *e)
{
    return e->what & (((uint64_t)1 << AT_BITS) - 1);
}

static inline enum simt_space space_of(const struct entry *e)
{
    return (enum simt_space)(e->what >> SPACE_AT);
}

struct simt_trace {
    struct entry *entries;
    uint32_t count, capacity;
    uint32_t branch; /* 1 + the last entry that is a branch; 0: none */
};

void simt_trace_free(struct simt_trace *trace)
{
    if (!trace) return;
    free(trace->entries);
    free(trace);
}

/* Makes room for an entry; false: the trace is full, or there is no memory. */
static bool __attribute__((noinline)) grow(struct simt_thread *t)
{
    struct simt_trace *trace = t->trace;
    if (!trace) trace = t->trace = calloc(1, sizeof *trace);
    if (!trace || trace->count == MOST_TRACE) return false;
    const uint32_t capacity = trace->capacity ? 2 * trace->capacity : 64;
    struct entry *more = realloc(trace->entries, capacity * sizeof *more);
    if (!more) return false;
    trace->entries = more;
    trace->capacity = capacity;
    return true;
}

void simt_trace_add(struct simt_thread *t, enum simt_space space, unsigned kind, uintptr_t at,
                    size_t bytes, uintptr_t pc)
{
    if ((!t->trace || t->trace->count == t->trace->capacity) && !grow(t)) return;
    struct simt_trace *trace = t->trace;
    if (space == SIMT_BRANCH) {
        if (trace->branch)
            trace->entries[trace->branch - 1].what = (uint64_t)SIMT_BRANCH << SPACE_AT | pc;
        trace->branch = trace->count + 1;
    }
    trace->entries[trace->count++] =
        (struct entry){ .where = (uint64_t)bytes << BYTES_AT | (uint64_t)kind << KIND_AT | pc,
                        .what = (uint64_t)space << SPACE_AT | at };
}

/* ---- One request ---- */

struct request {
    uint32_t lanes;
    const struct entry *of[SIMT_LANES];
};

/* Insertion sort: at most 128 values, which are mostly ascending already. */
static void sort(uintptr_t *values, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        uintptr_t value = values[i];
        unsigned to = i;
        for (; to && values[to - 1] > value; to--) values[to] = values[to - 1];
        values[to] = value;
    }
}

static unsigned distinct(uintptr_t *values, unsigned count)
{
    unsigned different = count > 0;
    sort(values, count);
    for (unsigned i = 1; i < count; i++) different += values[i] != values[i - 1];
    return different;
}

static unsigned sectors(const struct request *r)
{
    uintptr_t list[2 * SIMT_LANES];
    unsigned count = 0;
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++) {
        if (!(r->lanes >> lane & 1)) continue;
        const struct entry *e = r->of[lane];
        list[count++] = at_of(e) / SECTOR_BYTES;
        list[count++] = (at_of(e) + bytes_of(e) - 1) / SECTOR_BYTES;
    }
    return distinct(list, count);
}

/* Wavefronts of 32 banks for some of the lanes: the maximum number of words in one bank. Lanes that
 * access the same word share it, except if each modifies it. */
static unsigned passes(const struct request *r, uint32_t lanes, bool share)
{
    uintptr_t words[4 * SIMT_LANES];
    unsigned count = 0, most = 0, in_bank[BANKS] = { 0 };
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++) {
        if (!(r->lanes & lanes & 1u << lane)) continue;
        const struct entry *e = r->of[lane];
        for (uintptr_t w = at_of(e) / 4; w <= (at_of(e) + bytes_of(e) - 1) / 4; w++)
            words[count++] = w;
    }
    sort(words, count);
    for (unsigned i = 0; i < count; i++) {
        if (share && i && words[i] == words[i - 1]) continue;
        unsigned load = ++in_bank[words[i] % BANKS];
        if (load > most) most = load;
    }
    return most;
}

/* Whether, for all pairs of lanes that differ in bit 0, or for all that differ in bit 1, both
 * access the same address; inactive lanes match any address. */
static bool in_pairs(const struct request *r)
{
    for (uint32_t bit = 1; bit <= 2; bit++) {
        bool same = true;
        for (uint32_t lane = 0; lane < SIMT_LANES; lane++)
            if (r->lanes >> lane & 1 && r->lanes >> (lane ^ bit) & 1)
                same &= at_of(r->of[lane]) == at_of(r->of[lane ^ bit]);
        if (same) return true;
    }
    return false;
}

/* The sum of wavefronts over the groups of lanes that are served together; *fewest is the number of
 * groups. With up to 4 bytes per lane the warp is one group; with 8 bytes its halves are, with 16
 * its quarters, or groups of twice as many lanes if in_pairs() is true: measured on an H200. */
static unsigned wavefronts(const struct request *r, unsigned bytes, unsigned *fewest)
{
    unsigned size = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8, sum = 0;
    if (size < 32 && in_pairs(r)) size *= 2;
    *fewest = 0;
    for (unsigned first = 0; first < SIMT_LANES; first += size) {
        uint32_t lanes = (size == 32 ? 0xffffffffu : (1u << size) - 1) << first;
        unsigned count = passes(r, lanes, true);
        sum += count;
        *fewest += count > 0;
    }
    return sum;
}

/* Wavefronts beyond the first of each half warp on the first GPUs, with 16 banks. There lanes share
 * a word only if they access the same bytes of it, and longer elements are several requests. */
static unsigned first_conflicts(const struct request *r, unsigned bytes)
{
    unsigned sum = 0;
    for (unsigned part = 0; part < bytes; part += 4) {
        for (uint32_t first = 0; first < SIMT_LANES; first += 16) {
            uintptr_t list[16];
            unsigned count = 0, most = 1, in_bank[FIRST_BANKS] = { 0 };
            for (uint32_t lane = first; lane < first + 16; lane++)
                if (r->lanes >> lane & 1) list[count++] = at_of(r->of[lane]) + part;
            sort(list, count);
            for (unsigned i = 0; i < count; i++) {
                if (i && list[i] == list[i - 1]) continue;
                unsigned load = ++in_bank[list[i] / 4 % FIRST_BANKS];
                if (load > most) most = load;
            }
            sum += most - 1;
        }
    }
    return sum;
}

/* Returns the wavefronts. */
static unsigned count_shared(struct simt_counts *c, const struct request *r, const struct entry *e)
{
    unsigned fewest, waves = wavefronts(r, bytes_of(e), &fewest);
    if (kind_of(e) & SIMT_CHANGE) {
        waves = passes(r, 0xffffffff, false);
        c->shared_atomics++;
        c->shared_atomic_wavefronts += waves;
        return waves;
    }
    c->bank_conflicts += waves - fewest;
    c->bank16_conflicts += first_conflicts(r, bytes_of(e));
    if (kind_of(e) & SIMT_WRITE) {
        c->shared_stores++;
        c->shared_store_wavefronts += waves;
    } else {
        c->shared_loads++;
        c->shared_load_wavefronts += waves;
    }
    return waves;
}

/* For atomics, a sector counts as often as its most frequent word is accessed. */
static unsigned atomic_sectors(const struct request *r)
{
    uintptr_t words[SIMT_LANES];
    unsigned count = 0, sum = 0, most = 0, same = 0;
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++)
        if (r->lanes >> lane & 1) words[count++] = at_of(r->of[lane]);
    sort(words, count);
    for (unsigned i = 0; i < count; i++) {
        bool new_sector = i && words[i] / SECTOR_BYTES != words[i - 1] / SECTOR_BYTES;
        if (new_sector) sum += most;
        if (new_sector) most = 0;
        same = i && words[i] == words[i - 1] ? same + 1 : 1;
        if (same > most) most = same;
    }
    return sum + most;
}

/* Returns the sectors. */
static unsigned count_global(struct simt_counts *c, const struct request *r, const struct entry *e)
{
    const unsigned lanes = (unsigned)__builtin_popcount(r->lanes);
    const unsigned count = kind_of(e) & SIMT_CHANGE ? atomic_sectors(r) : sectors(r);
    if (kind_of(e) & SIMT_CHANGE) {
        c->atomic_requests++;
        c->atomic_sectors += count;
    } else if (kind_of(e) & SIMT_WRITE) {
        c->store_requests++;
        c->store_sectors += count;
        c->store_bytes += lanes * bytes_of(e);
    } else {
        c->load_requests++;
        c->load_sectors += count;
        c->load_bytes += lanes * bytes_of(e);
    }
    return count;
}

/* Returns whether the branch is divergent. */
static bool count_branch(struct simt_counts *c, const struct request *r)
{
    uintptr_t to = 0;
    bool diverges = false;
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++) {
        if (!(r->lanes >> lane & 1)) continue;
        uintptr_t next = at_of(r->of[lane]);
        if (to && next != to) diverges = true;
        to = next;
    }
    c->branches++;
    c->divergent += diverges;
    return diverges;
}

/* ---- The table of a worker: counts by instruction ---- */

struct row {
    uintptr_t pc;
    struct simt_counts counts;
    /* while a warp's traces are combined: */
    uint32_t first, cursor, lane; /* executions, as 1 + index in `executions` */
};
struct execution {
    struct row *row;
    struct request request;
    uint32_t next;
};
struct simt_profile_table {
    struct row *rows; /* open addressing, [size] */
    uint32_t size, used;
    struct execution *executions;
    uint32_t execution_count, execution_capacity;
};

static struct row *slot(struct row *rows, uint32_t size, uintptr_t pc)
{
    uint32_t at = (uint32_t)((pc * 0x9e3779b97f4a7c15) >> 40) & (size - 1);
    while (rows[at].pc && rows[at].pc != pc) at = (at + 1) & (size - 1);
    return &rows[at];
}

static struct simt_profile_table *table_of(struct simt_worker *w)
{
    struct simt_profile_table *p = w->profile;
    if (!p) {
        p = w->profile = calloc(1, sizeof *p);
        if (!p) return NULL;
        p->size = 1024;
        p->rows = calloc(p->size, sizeof *p->rows);
    }
    return p->rows ? p : NULL;
}

/* Reserves room for the row, so that rows do not move while executions point to them. */
static bool make_room(struct simt_profile_table *p, uint32_t more)
{
    if (p->used + more < p->size / 2) return true;
    uint32_t size = p->size;
    while (p->used + more >= size / 2) size *= 2;
    struct row *rows = calloc(size, sizeof *rows);
    if (!rows) return false;
    for (uint32_t i = 0; i < p->size; i++)
        if (p->rows[i].pc) *slot(rows, size, p->rows[i].pc) = p->rows[i];
    free(p->rows);
    p->rows = rows;
    p->size = size;
    return true;
}

static struct row *row_of(struct simt_profile_table *p, uintptr_t pc)
{
    struct row *row = slot(p->rows, p->size, pc);
    p->used += row->pc == 0;
    row->pc = pc;
    return row;
}

static struct execution *new_execution(struct simt_profile_table *p)
{
    if (p->execution_count == p->execution_capacity) {
        uint32_t capacity = p->execution_capacity ? 2 * p->execution_capacity : 256;
        struct execution *more = realloc(p->executions, capacity * sizeof *more);
        if (!more) return NULL;
        p->executions = more;
        p->execution_capacity = capacity;
    }
    struct execution *e = &p->executions[p->execution_count++];
    e->next = 0;
    e->request.lanes = 0; /* which of `of` are set */
    return e;
}

/* Adds the lane's entry to the execution with the same ordinal number. */
static void join(struct simt_profile_table *p, const struct entry *entry, uint32_t lane)
{
    struct row *row = row_of(p, pc_of(entry));
    const bool first = row->lane != lane + 1;
    row->lane = lane + 1;
    uint32_t turn = first ? row->first : p->executions[row->cursor - 1].next;
    if (!turn) {
        struct execution *e = new_execution(p); /* may move existing executions */
        if (!e) return;
        e->row = row;
        turn = p->execution_count;
        *(first ? &row->first : &p->executions[row->cursor - 1].next) = turn;
    }
    row->cursor = turn;
    struct request *r = &p->executions[row->cursor - 1].request;
    r->lanes |= 1u << lane;
    r->of[lane] = entry;
}

/* cost: sectors or wavefronts. */
static void record(const struct simt_warp *w, const struct execution *x, unsigned cost)
{
    const struct entry *entry = x->request.of[__builtin_ctz(x->request.lanes)];
    const enum simt_event_kind kind = space_of(entry) == SIMT_BRANCH ? SIMT_EVENT_DIVERGENT
                                      : kind_of(entry) & SIMT_CHANGE ? SIMT_EVENT_ATOMIC
                                      : kind_of(entry) & SIMT_WRITE  ? SIMT_EVENT_WRITE
                                                                     : SIMT_EVENT_READ;
    struct simt_event *e = simt_record_add(w, kind, x->request.lanes, pc_of(entry));
    if (!e) return;
    e->bytes = bytes_of(entry);
    e->cost = cost;
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++)
        if (x->request.lanes >> lane & 1) e->at[lane] = at_of(x->request.of[lane]);
    if (space_of(entry) == SIMT_SHARED) simt_record_shared(e, w->block, at_of(entry));
}

static void count_execution(const struct simt_warp *w, const struct execution *x)
{
    const struct request *r = &x->request;
    const struct entry *entry = r->of[__builtin_ctz(r->lanes)];
    unsigned cost = 0;
    bool recorded = simt_records(w->block);
    if (space_of(entry) == SIMT_GLOBAL)
        cost = count_global(&x->row->counts, r, entry);
    else if (space_of(entry) == SIMT_SHARED)
        cost = count_shared(&x->row->counts, r, entry);
    else
        recorded &= count_branch(&x->row->counts, r);
    if (recorded) record(w, x, cost);
}

/* Counts the entries at the beginning of the traces that all lanes have in common; returns how many
 * these are.  Most traces are equal, and these need no lists of executions. */
static uint32_t count_common(struct simt_profile_table *p, const struct simt_warp *w)
{
    struct execution x = { .request.lanes = 0 };
    const struct entry *traces[SIMT_LANES];
    uint32_t numbers[SIMT_LANES], lanes = 0, common = UINT32_MAX;
    for (uint32_t lane = 0; lane < w->lanes; lane++) {
        const struct simt_trace *trace = w->threads[lane].trace;
        if (!trace || trace->count == 0) continue;
        const bool open = trace->branch && w->threads[lane].waits != SIMT_ENDED;
        const uint32_t count = open ? trace->branch - 1 : trace->count;
        if (count < common) common = count;
        traces[lanes] = trace->entries;
        numbers[lanes++] = lane;
        x.request.lanes |= 1u << lane;
    }
    for (uint32_t i = 0; i < common; i++) {
        const uintptr_t pc = pc_of(&traces[0][i]);
        for (uint32_t l = 0; l < lanes; l++) {
            if (pc_of(&traces[l][i]) != pc) return i;
            x.request.of[numbers[l]] = &traces[l][i];
        }
        x.row = row_of(p, pc);
        count_execution(w, &x);
    }
    return common;
}

void simt_trace_flush(struct simt_warp *w)
{
    struct simt_profile_table *p = table_of(w->block->worker);
    uint32_t entries = 0;
    for (uint32_t lane = 0; lane < w->lanes; lane++)
        if (w->threads[lane].trace) entries += w->threads[lane].trace->count;
    if (!p || entries == 0 || !make_room(p, entries)) return;
    p->execution_count = 0;
    /* The k-th execution of an instruction is the same in all lanes without these entries. */
    const uint32_t common = count_common(p, w);
    for (uint32_t lane = 0; lane < w->lanes; lane++) {
        const struct simt_trace *trace = w->threads[lane].trace;
        for (uint32_t i = common; trace && i < trace->count; i++) {
            /* the target of the last branch is not known yet: it is kept for the next time */
            if (space_of(&trace->entries[i]) == SIMT_BRANCH && i + 1 == trace->branch &&
                w->threads[lane].waits != SIMT_ENDED)
                continue;
            join(p, &trace->entries[i], lane);
        }
    }
    for (uint32_t i = 0; i < p->execution_count; i++) count_execution(w, &p->executions[i]);
    for (uint32_t i = 0; i < p->execution_count; i++) {
        struct row *row = p->executions[i].row;
        row->first = row->cursor = row->lane = 0;
    }
    for (uint32_t lane = 0; lane < w->lanes; lane++) {
        struct simt_trace *trace = w->threads[lane].trace;
        if (!trace) continue;
        bool keep = trace->branch && w->threads[lane].waits != SIMT_ENDED;
        if (keep) trace->entries[0] = trace->entries[trace->branch - 1];
        trace->count = trace->branch = keep;
    }
}

void simt_trace_meeting(struct simt_warp *w, bool barrier, uintptr_t pc)
{
    struct simt_profile_table *p = table_of(w->block->worker);
    if (!p || !make_room(p, 1)) return;
    struct simt_counts *c = &row_of(p, pc)->counts;
    if (barrier)
        c->barriers++;
    else
        c->warp_operations++;
}

/* ---- All launches: counts by kernel and line ---- */

static struct simt_kernel_counts *kernels;
static size_t kernel_count;

static struct simt_kernel_counts *kernel_of(const char *name)
{
    for (size_t i = 0; i < kernel_count; i++)
        if (strcmp(kernels[i].kernel, name) == 0) return &kernels[i];
    struct simt_kernel_counts *more = realloc(kernels, (kernel_count + 1) * sizeof *kernels);
    if (!more) return NULL;
    kernels = more;
    struct simt_kernel_counts *k = &kernels[kernel_count++];
    memset(k, 0, sizeof *k);
    snprintf(k->kernel, sizeof k->kernel, "%s", name);
    return k;
}

static struct simt_line_counts *line_of(struct simt_kernel_counts *k, uintptr_t pc)
{
    char place[sizeof k->lines->place];
    simt_place(pc, place, sizeof place);
    for (size_t i = 0; i < k->line_count; i++)
        if (strcmp(k->lines[i].place, place) == 0) return &k->lines[i];
    struct simt_line_counts *more = realloc(k->lines, (k->line_count + 1) * sizeof *more);
    if (!more) return NULL;
    k->lines = more;
    struct simt_line_counts *line = &more[k->line_count++];
    memset(line, 0, sizeof *line);
    memcpy(line->place, place, sizeof place);
    return line;
}

/* struct simt_counts consists only of 64-bit numbers. */
static void add(struct simt_counts *to, const struct simt_counts *from)
{
    uint64_t sum[sizeof *to / sizeof(uint64_t)], more[sizeof *to / sizeof(uint64_t)];
    memcpy(sum, to, sizeof sum);
    memcpy(more, from, sizeof more);
    for (size_t i = 0; i < sizeof sum / sizeof *sum; i++) sum[i] += more[i];
    memcpy(to, sum, sizeof sum);
}

static void merge_table(struct simt_kernel_counts *k, const struct simt_profile_table *p)
{
    for (uint32_t i = 0; i < p->size; i++) {
        if (!p->rows[i].pc) continue;
        struct simt_line_counts *line = line_of(k, p->rows[i].pc);
        add(&k->counts, &p->rows[i].counts);
        if (line) add(&line->counts, &p->rows[i].counts);
    }
}

void simt_profile_merge(struct simt_launch *l, struct simt_worker *workers, int count)
{
    struct simt_kernel_counts *k =
        simt_options.profile ? kernel_of(l->function->kernel->name) : NULL;
    if (k) {
        k->launches++;
        k->blocks += l->block_count;
        k->threads += l->block_count * l->thread_count;
        k->nanoseconds += l->nanoseconds;
    }
    for (int i = 0; i < count; i++) {
        struct simt_profile_table *p = workers[i].profile;
        if (!p) continue;
        if (k && p->rows) merge_table(k, p);
        free(p->rows);
        free(p->executions);
        free(p);
    }
}

void simt_profile_clear(void)
{
    for (size_t i = 0; i < kernel_count; i++) free(kernels[i].lines);
    free(kernels);
    kernels = NULL;
    kernel_count = 0;
}

SIMT_API size_t simt_profile(const struct simt_kernel_counts **out)
{
    *out = kernels;
    return kernel_count;
}
