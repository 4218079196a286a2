/*
 * dist/linear/gf2_exchange.c - blocks of an elimination over GF(2) on several ranks: how they share
 * panels.
 *
 *     publish   one agreement, and, unless ranks can read each other's memory, one exchange
 *     receive   copies from the memory of the owner
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/linear/gf2.h"

#include <stdlib.h>
#include <string.h>

static struct echi_gf2_dist *exchange_of(struct echi_gf2_blocks *g)
{
    return (struct echi_gf2_dist *)(void *)((char *)g - offsetof(struct echi_gf2_dist, g));
}

static size_t list_bytes(const struct echi_gf2_blocks *g)
{
    return (4 * g->block + 1) * sizeof(uint32_t);
}

static size_t factor_bytes(const struct echi_gf2_blocks *g, const struct echi_gf2_panel *p)
{
    const size_t rows = g->reduced ? g->rows : g->rows - g->rank + p->r;
    return rows * echi_gf2_words(p->r) * sizeof *p->factor;
}

static ech_status send_all(struct echi_gf2_blocks *g, size_t j, struct echi_gf2_panel *p)
{
    const struct echi_dist *d = &exchange_of(g)->d;
    const int owner = echi_gf2_blocks_owner(g, j);
    const ech_comm_message parts[] = { { p->pivots, list_bytes(g), owner },
                                       { p->factor, factor_bytes(g, p), owner } };
    ech_ctx *ctx = g->ahead.ctx;
    if (d->rank != owner) return echi_comm_exchange_device(ctx, d->comm, NULL, 0, parts, 2);
    ech_comm_message *sends = calloc(2 * (size_t)d->ranks, sizeof *sends);
    size_t n = 0;
    if (!sends) {
        ech_comm_abort(d->comm, "out of memory for messages");
        return echi_fail(d->ctx, ECH_ERR_COMM, "out of memory for messages");
    }
    for (int r = 0; r < d->ranks; r++)
        for (int i = 0; i < 2 && r != owner; i++) {
            sends[n] = parts[i];
            sends[n++].rank = r;
        }
    const ech_status status = echi_comm_exchange_device(ctx, d->comm, sends, n, NULL, 0);
    free(sends);
    return status;
}

static ech_status publish(struct echi_gf2_blocks *g, ech_status status, size_t j)
{
    struct echi_gf2_dist *e = exchange_of(g);
    const struct echi_dist *d = &e->d;
    const int owner = echi_gf2_blocks_owner(g, j);
    struct echi_gf2_panel *p = echi_gf2_blocks_panel(g, j);
    struct echi_gf2_note *note = &e->note;
    *note = (struct echi_gf2_note){ p->r, p->moves, (uintptr_t)p->factor, (uintptr_t)p->pivots };
    TRY(echi_comm_agree(d->ctx, d->comm, status, note, sizeof *note));
    memcpy(note, d->comm->notes[owner].note, sizeof *note);
    p->r = note->r;
    p->moves = note->moves;
    if (p->r == 0 || d->ranks == 1 || e->direct) return ECH_OK;
    if (g->side && d->rank != owner) {
        const ech_status free_status = echi_gf2_blocks_await(g, j);
        if (free_status != ECH_OK) {
            ech_comm_abort(d->comm, "a stream has failed");
            return echi_fail(d->ctx, ECH_ERR_COMM, "%s", ech_error(g->side));
        }
    }
    TRY(send_all(g, j, p));
done:
    return status;
}

static ech_status receive(struct echi_gf2_blocks *g, size_t j)
{
    const struct echi_gf2_dist *e = exchange_of(g);
    const struct echi_gf2_panel *p = echi_gf2_blocks_panel(g, j);
    const void *factor = (const void *)(uintptr_t)e->note.factor;
    const void *pivots = (const void *)(uintptr_t)e->note.pivots;
    ech_status status = ECH_OK;
    if (!e->direct || echi_gf2_blocks_owner(g, j) == g->number) return ECH_OK;
    TRY(echi_gf2_blocks_await(g, j));
    TRY(ech_copy_async(g->ahead.ctx, p->pivots, pivots, list_bytes(g)));
    TRY(ech_copy_async(g->ahead.ctx, p->factor, factor, factor_bytes(g, p)));
done:
    return status;
}

static ech_status agree(struct echi_gf2_blocks *g, ech_status status)
{
    const struct echi_dist *d = &exchange_of(g)->d;
    return echi_comm_agree(d->ctx, d->comm, status, NULL, 0);
}

static const struct echi_gf2_exchange exchange = { publish, receive, agree };

/* ---- Begin ---- */

ech_status echi_gf2_dist_begin(struct echi_gf2_dist *e, const ech_gf2 *a, const ech_gf2 *b)
{
    struct echi_gf2_blocks *g = &e->g;
    ech_ctx *ctx = e->d.ctx;
    const bool overlaps = ctx->backend->make_event != NULL;
    ech_gf2 to;
    ech_status status;
    g->ctx = ctx;
    g->number = e->d.rank;
    g->ranks = e->d.ranks;
    g->exchange = &exchange;
    g->limit = g->rows;
    g->own_words = echi_gf2_words(e->own);
    g->words = g->stride = g->own_words + echi_gf2_words(e->more);
    g->bits = g->words * 64;
    TRY(echi_gf2_blocks_allocate(g, g->rows * g->words, 8, &g->m));
    TRY(echi_gf2_blocks_begin(g, overlaps));
    e->direct = overlaps && echi_comm_direct(e->d.comm);
    for (int i = 0; i < ECHI_GF2_PANELS && e->direct; i++) {
        TRY(echi_share(ctx, g->panel[i].factor));
        TRY(echi_share(ctx, g->panel[i].pivots));
    }
    if (g->rows == 0 || g->words == 0) return ECH_OK;
    to = echi_gf2_blocks_view(g, 0, 0, g->rows, g->words * 64);
    TRY(ech_gf2_copy(ctx, a, 0, 0, &to, 0, 0, g->rows, e->own));
    if (b) TRY(ech_gf2_copy(ctx, b, 0, 0, &to, 0, g->own_words * 64, g->rows, e->more));
done:
    return status;
}
