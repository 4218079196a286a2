/*
 * topk/cpu/candidates.c - finds the k selected elements of a group.
 *
 *     bound    for a short group or a large k from all keys, exactly; otherwise a guess from a
 *              sample, which some more than k elements pass
 *     filter   elements that pass the bound become candidates, in one pass; each thread has a
 *              piece of the group
 *     prune    if a thread has no room for more candidates, only the first k in the order remain,
 *              and later elements must be less than these
 *     merge    the exact bound of all candidates, which k of them pass
 *
 * If fewer than k elements pass the guess, the filter runs again without a bound.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk/cpu/common.h"

#include <string.h>

enum {
    SHARE = 8,        /* for k greater than n / 8 every key is stored */
    PIECE_SHARE = 16, /* a piece has at least this many times k elements */
    PIECE_MIN = 1 << 16,
    GUESS_MOST = 20,  /* k up to which a bound is guessed ... */
    GUESS_MIN = 128,  /* ... and from how many elements on */
    FILTER_MIN = 1536 /* elements of a short group that is filtered, if k is larger */
};

struct filter {
    const struct echi_topk_group *group;
    struct echi_bound bound;
    size_t pieces, piece;      /* their number; elements of one */
    size_t room;               /* capacity of the candidates of a piece */
    size_t counts[ECHI_PARTS]; /* candidates of each piece */
};

size_t echi_topk_room(size_t k)
{
    size_t room;
    if (__builtin_mul_overflow(k, 2, &room) ||
        __builtin_add_overflow(room, 2 * ECHI_TOPK_BLOCK + 63, &room))
        return SIZE_MAX;
    return room / 64 * 64;
}

size_t echi_topk_pieces(size_t n, size_t k, size_t threads)
{
    const size_t share = k > n / PIECE_SHARE ? n : PIECE_SHARE * k;
    const size_t pieces = echi_min(threads, n / (share > PIECE_MIN ? share : PIECE_MIN));
    return pieces ? pieces : 1;
}

static void divide(struct filter *f, size_t pieces)
{
    f->pieces = pieces;
    f->piece = f->group->n / pieces + (f->group->n % pieces != 0);
    f->room = f->group->room / pieces / 64 * 64;
}

static char *keys_at(const struct echi_topk_group *group, char *e, size_t i)
{
    return e + i * (size_t)group->job->request->key_bytes;
}

/* Encodes elements [begin, end); returns the minimum. */
static uint64_t encode(const struct echi_topk_group *group, size_t begin, size_t end, void *e)
{
    const struct echi_topk *t = group->job->request;
    const size_t stride = t->in_strides.element;
    return group->job->width->encode(&t->order, group->in + begin * stride * (size_t)t->key_bytes,
                                     stride, end - begin, e);
}

/* ---- Filter ---- */

/* Keeps the first k of n candidates; returns the bound of the next ones. */
static struct echi_bound prune(const struct echi_topk_group *group, char *e, uint64_t *positions,
                               char *scratch, size_t n)
{
    const struct echi_topk_width *width = group->job->width;
    memcpy(scratch, e, n * (size_t)group->job->request->key_bytes);
    struct echi_bound bound = echi_topk_bound(width, scratch, n, group->k);
    width->collect(&bound, e, positions, 0, n, e, positions);
    return (struct echi_bound){ bound.limit, 0 };
}

static void filter_piece(void *arg, size_t i, int thread)
{
    struct filter *f = arg;
    const struct echi_topk_group *group = f->group;
    const struct echi_topk_width *width = group->job->width;
    const size_t begin = i * f->piece, end = echi_min(group->n, begin + f->piece);
    const size_t capacity = echi_min(f->room, echi_topk_room(group->k));
    char *keys = keys_at(group, group->e, i * f->room);
    uint64_t *positions = group->positions + i * f->room, e[ECHI_TOPK_BLOCK];
    struct echi_bound bound = f->bound;
    size_t count = 0;
    (void)thread;
    for (size_t at = begin; at < end; at += ECHI_TOPK_BLOCK) {
        const size_t here = echi_min(ECHI_TOPK_BLOCK, end - at);
        const uint64_t least = encode(group, at, at + here, e);
        if (least > bound.limit || (least == bound.limit && bound.ties == 0)) continue;
        if (count + here > capacity) {
            bound =
                prune(group, keys, positions, keys_at(group, group->scratch, i * f->room), count);
            count = group->k;
        }
        count += width->collect(&bound, e, NULL, at, here, keys_at(group, keys, count),
                                positions + count);
    }
    f->counts[i] = count;
}

/* Finds the candidates that pass the bound; returns how many. */
static size_t filter(struct filter *f)
{
    size_t total = 0;
    echi_parallel((int)f->pieces, f->pieces, filter_piece, f);
    for (size_t i = 0; i < f->pieces; i++) total += f->counts[i];
    return total;
}

/* Keeps the k elements among the candidates of all pieces, one after another. */
static void merge(struct filter *f)
{
    const struct echi_topk_group *group = f->group;
    const struct echi_topk_width *width = group->job->width;
    size_t total = 0, kept = 0;
    for (size_t i = 0; i < f->pieces; i++) {
        memcpy(keys_at(group, group->scratch, total), keys_at(group, group->e, i * f->room),
               f->counts[i] * (size_t)group->job->request->key_bytes);
        total += f->counts[i];
    }
    f->bound = echi_topk_bound(width, group->scratch, total, group->k);
    for (size_t i = 0; i < f->pieces; i++)
        kept += width->collect(&f->bound, keys_at(group, group->e, i * f->room),
                               group->positions + i * f->room, 0, f->counts[i],
                               keys_at(group, group->e, kept), group->positions + kept);
}

static void find_few(const struct echi_topk_group *group)
{
    const size_t room = echi_topk_room(group->k);
    struct filter f = { .group = group };
    divide(&f, echi_topk_pieces(
                   group->n, group->k,
                   room > group->room ? 1 : echi_min(group->room / room, (size_t)group->threads)));
    f.bound = echi_topk_guess(group);
    if (filter(&f) < group->k) {
        f.bound = ECHI_BOUND_NONE;
        filter(&f);
    }
    merge(&f);
}

/* ---- All keys ---- */

static void encode_piece(void *arg, size_t i, int thread)
{
    const struct filter *f = arg;
    const size_t begin = i * f->piece, end = echi_min(f->group->n, begin + f->piece);
    (void)thread;
    if (begin < end) encode(f->group, begin, end, keys_at(f->group, f->group->scratch, begin));
}

static void find_many(const struct echi_topk_group *group)
{
    const struct echi_topk_width *width = group->job->width;
    struct filter f = { .group = group, .bound = ECHI_BOUND_NONE };
    if (group->k < group->n) {
        divide(&f, echi_topk_pieces(group->n, 0, (size_t)group->threads));
        echi_parallel((int)f.pieces, f.pieces, encode_piece, &f);
        size_t room = group->room;
        f.bound = echi_topk_bound_apart(width, group->scratch, group->n, group->k, group->e, &room);
        if (room && f.pieces == 1) {
            width->collect(&f.bound, group->scratch, NULL, 0, group->n, group->e, group->positions);
            return;
        }
    }
    divide(&f, 1);
    filter(&f); /* k elements pass the bound */
}

/* The exact bound of wide keys, which remain in scratch. */
static struct echi_bound find_bound(const struct echi_topk_group *group)
{
    size_t room = group->room;
    const struct echi_bound bound = echi_topk_bound_apart(group->job->width, group->scratch,
                                                          group->n, group->k, group->e, &room);
    if (!room) encode(group, 0, group->n, group->scratch);
    return bound;
}

static size_t find_short(const struct echi_topk_group *group)
{
    const struct echi_topk_width *width = group->job->width;
    const size_t n = group->n, k = group->k;
    if (echi_topk_sorts(group)) { /* all are sorted */
        encode(group, 0, n, group->e);
        return n;
    }
    struct echi_bound bound = ECHI_BOUND_NONE;
    size_t most = k; /* it takes less time to sort some more than to find the exact bound */
    if (group->job->request->sorted && k <= ECHI_TOPK_FEW)
        most = echi_min(k + k / 2 + 2, ECHI_TOPK_FEW);
    encode(group, 0, n, group->scratch);
    if (most < n && !(most > k && k <= GUESS_MOST && n >= GUESS_MIN &&
                      width->guess(group->scratch, n, k, 2 * most, &bound)))
        bound = most == k && group->job->request->key_bytes == 8
                    ? find_bound(group)
                    : width->bisect(group->scratch, n, k, most);
    return width->collect(&bound, group->scratch, NULL, 0, n, group->e, group->positions);
}

/* A bisection of all keys of a short group takes less time than a filter if k is small or large,
 * and for narrow keys. */
static bool is_filtered(const struct echi_topk_group *group)
{
    return group->k <= group->n / SHARE && group->k > GUESS_MOST && group->n > FILTER_MIN &&
           group->job->request->key_bytes >= 4;
}

size_t echi_topk_find(const struct echi_topk_group *group)
{
    if (group->n <= ECHI_TOPK_WHOLE && !is_filtered(group)) return find_short(group);
    if (group->k > group->n / SHARE)
        find_many(group);
    else
        find_few(group);
    return group->k;
}
