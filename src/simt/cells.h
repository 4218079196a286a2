/*
 * simt/cells.h - cells as two words, and the test whether an earlier access is ordered before this
 * one in a simple way.
 *
 * A cell that is written by fields and copied as a whole would stall each access: the copy waits
 * until the fields have left the store buffer. Words avoid that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_CELLS_H
#define SIMT_CELLS_H

#include "simt/emulator.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the words of a cell have this order");

#define SIMT_IN_KIND(kind)   ((uint64_t)(kind) << 56)
#define SIMT_IN_BYTES(bytes) ((uint64_t)(bytes) << 48)

enum { SIMT_SEVERAL = SIMT_WARP_READ | SIMT_BLOCK_READ | SIMT_GRID_READ };

struct simt_words {
    uint64_t who;  /* serial, thread, bytes, kind */
    uint64_t when; /* time, pc */
};

static inline struct simt_words simt_cell_words(const struct simt_cell *c)
{
    struct simt_words w;
    memcpy(&w.who, c, 8);
    memcpy(&w.when, (const char *)c + 8, 8);
    return w;
}

static inline void simt_cell_set(struct simt_cell *c, struct simt_words w)
{
    memcpy(c, &w.who, 8);
    memcpy((char *)c + 8, &w.when, 8);
}

/* The access that t does now, without the bytes. */
static inline struct simt_words simt_words_now(const struct simt_thread *t, unsigned kind,
                                               uintptr_t pc)
{
    const struct simt_block *b = t->block;
    return (struct simt_words){ b->serial | (uint64_t)t->number << 32 |
                                    SIMT_IN_KIND(kind & (SIMT_WRITE | SIMT_STRONG)),
                                b->clock | (uint64_t)(uint32_t)(pc - b->module->begin) << 32 };
}

static inline bool simt_same_thread(struct simt_words a, struct simt_words b)
{
    return (a.who ^ b.who) << 16 == 0;
}

/* The same thread, kind and time; they may differ in the bytes. */
static inline bool simt_same_access(struct simt_words a, struct simt_words b)
{
    return ((a.who ^ b.who) & ~SIMT_IN_BYTES(0xff)) == 0 && (uint32_t)a.when == (uint32_t)b.when;
}

/* The most frequent cases: no earlier access, one before a barrier, or one by the same thread. */
static inline bool simt_plainly_ordered(struct simt_words was, struct simt_words mine,
                                        uint32_t oldest, simt_time met)
{
    if ((uint32_t)was.who < oldest) return true;
    if ((uint32_t)was.who != (uint32_t)mine.who) return false;
    return (uint32_t)was.when < met ||
           (simt_same_thread(was, mine) && !(was.who & SIMT_IN_KIND(SIMT_SEVERAL)));
}

/* simt_race_ordered() with a record of the last answer, which remains true: many cells have the
 * same words, such as those of a bulk copy. */
static inline bool simt_ordered(const struct simt_cell *c, struct simt_thread *t)
{
    const struct simt_words w = simt_cell_words(c);
    if (w.who == t->known[0] && w.when == t->known[1]) return true;
    if (!simt_race_ordered(c, t)) return false;
    t->known[0] = w.who;
    t->known[1] = w.when;
    return true;
}

/* Whether the clocks of t contain nothing: it is ordered after other threads only by barriers. */
static inline bool simt_no_clock(const struct simt_thread *t)
{
    const struct simt_vector_clock *a = &t->acquired, *b = &t->warp->acquired,
                                   *c = &t->block->acquired;
    return !(a->count | b->count | c->count | a->all | b->all | c->all);
}

/* Records a read. The last read stands for earlier reads that are ordered before it. Otherwise it
 * becomes one of several readers, for the bytes that all of them read: races with other bytes of
 * earlier reads are not reported. */
static inline void simt_note_read(struct simt_cell *r, struct simt_words mine, uint32_t oldest,
                                  struct simt_thread *t)
{
    const struct simt_words was = simt_cell_words(r);
    const uint64_t differs = was.who ^ mine.who;
    if (simt_plainly_ordered(was, mine, oldest, t->block->met)) {
        if (simt_same_access(was, mine)) mine.who |= was.who & SIMT_IN_BYTES(0xff);
    } else if (was.who & mine.who & SIMT_IN_BYTES(0xff) &&
               (was.who & SIMT_IN_KIND(SIMT_GRID_READ) ||
                (was.who & SIMT_IN_KIND(SIMT_BLOCK_READ) && simt_no_clock(t)) ||
                !simt_ordered(r, t))) {
        if (differs & SIMT_IN_KIND(SIMT_STRONG)) {
            /* a plain read is more informative: it races with all writes */
            if (mine.who & SIMT_IN_KIND(SIMT_STRONG)) return;
        } else {
            const uint32_t thread = (uint32_t)(differs >> 32 & 0xffff);
            unsigned several = (uint32_t)differs      ? SIMT_GRID_READ
                               : thread >= SIMT_LANES ? SIMT_BLOCK_READ
                               : thread               ? SIMT_WARP_READ
                                                      : 0;
            mine.who &= was.who | ~SIMT_IN_BYTES(0xff);
            mine.who |= (was.who & SIMT_IN_KIND(SIMT_SEVERAL)) | SIMT_IN_KIND(several);
        }
    }
    simt_cell_set(r, mine);
}

static inline void simt_note_write(struct simt_cell *w, struct simt_words mine)
{
    const struct simt_words was = simt_cell_words(w);
    if (simt_same_access(was, mine)) mine.who |= was.who & SIMT_IN_BYTES(0xff);
    simt_cell_set(w, mine);
}

/* If the last accesses to all of the cells that could conflict are ordered before this one, records
 * it and returns true. bytes: 1, 2, or whole cells. */
static inline bool simt_race_passes(struct simt_thread *t, struct simt_cells *cells, uintptr_t at,
                                    size_t bytes, unsigned kind, uintptr_t pc, uint32_t oldest)
{
    const simt_time met = t->block->met;
    struct simt_words mine = simt_words_now(t, kind, pc);
    for (size_t i = 0; i < (bytes + 3) / 4; i++)
        if ((!simt_plainly_ordered(simt_cell_words(&cells[i].write), mine, oldest, met) &&
             !simt_ordered(&cells[i].write, t)) ||
            (kind & SIMT_WRITE &&
             !simt_plainly_ordered(simt_cell_words(&cells[i].read), mine, oldest, met) &&
             !simt_ordered(&cells[i].read, t)))
            return false;
    mine.who |= SIMT_IN_BYTES(bytes < 4 ? ((1u << bytes) - 1) << at % 4 : 0xf);
    for (size_t i = 0; i < (bytes + 3) / 4; i++)
        if (!(kind & SIMT_WRITE))
            simt_note_read(&cells[i].read, mine, oldest, t);
        else if (bytes < 4)
            simt_note_write(&cells[i].write, mine);
        else
            simt_cell_set(&cells[i].write, mine);
    return true;
}

#endif
