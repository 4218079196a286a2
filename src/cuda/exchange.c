/*
 * cuda/exchange.c - copies between host and device memory, both ways at once, at the speed of the
 * link, and work on the device between them.
 *
 *     pageable memory  --threads-->  slots, pinned  --link-->  device      (up)
 *     device  --link-->  slots, pinned  --threads-->  pageable memory      (down)
 *     pinned memory, or little  <--driver-->  device
 *
 * The driver moves pageable memory through a buffer of its own at a third of the link's speed or
 * less, and pinning it costs more than copying it does.  So each thread takes pieces as long as
 * there are some, up and down in turns, through two slots of its own for each way: while one is on
 * the link, it fills or drains another.  The calling thread opens a way's next step when the last
 * piece of the one before is on the link; the streams wait for each other, not the threads.  One
 * thread alone does it all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exchange.h"

#include "../cpu/cpu.h"
#include "tuning.h"

#include <limits.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* One way.  The step that is open has the pieces [first, limit), which threads take one after
 * another; what is no atomic changes only when all of them are on the link. */
struct way {
    bool up;
    CUstream stream;
    CUevent *done;           /* of the last steps, one for each buffer */
    struct echi_move *moves; /* those that are staged */
    int count;
    size_t piece_bytes, first, opened;
    atomic_size_t next, limit, issued; /* pieces: taken, of steps that are open, on the link */
    atomic_size_t steps;               /* that are on the link as a whole */
};

struct exchange {
    ech_ctx *ctx;
    const struct echi_exchange *x;
    const struct echi_driver *driver;
    struct way up, down;
    bool staged; /* or all is left to the driver */
    bool apart;  /* the streams are different ones */
    atomic_int threads;
    atomic_int error; /* the first CUresult that is none of success */
    atomic_bool over; /* no pieces will come any more */

    /* Of the calling thread: */
    struct echi_move *next; /* the next step's, up */
    int next_count;
    bool prepared, direct_down;
    size_t worked; /* steps */
    ech_status status;
};

/* ---- Pieces ---- */

struct piece {
    const struct echi_move *move; /* with those after it that follow on it in device memory */
    size_t skip;                  /* bytes of its beginning */
    char *host, *device;
    size_t bytes; /* 0: none */
};

/* Where the moves from i on end that are copied as if they were one. */
static int group_end(const struct way *way, int i)
{
    const struct echi_move *m = way->moves;
    int end = i + 1;
    while (way->up && end < way->count &&
           (char *)m[end].device == (char *)m[end - 1].device + m[end - 1].bytes)
        end++;
    return end;
}

/* The i-th piece of the open step; with i past them all, i less their number. */
static size_t find_piece(const struct way *way, size_t i, struct piece *piece)
{
    for (int from = 0, end; from < way->count; from = end) {
        size_t bytes = 0;
        end = group_end(way, from);
        for (int m = from; m < end; m++) bytes += way->moves[m].bytes;
        size_t pieces = (bytes + way->piece_bytes - 1) / way->piece_bytes;
        if (i >= pieces) {
            i -= pieces;
            continue;
        }
        size_t at = i * way->piece_bytes, skip = at, left = bytes - at;
        const struct echi_move *m = &way->moves[from];
        for (; skip >= m->bytes; m++) skip -= m->bytes;
        *piece = (struct piece){ .move = m,
                                 .skip = skip,
                                 .host = (char *)m->host + skip,
                                 .device = (char *)m->device + skip,
                                 .bytes = left < way->piece_bytes ? left : way->piece_bytes };
        return 0;
    }
    return i;
}

static bool any_left(const struct way *way)
{
    return atomic_load_explicit(&way->next, memory_order_relaxed) <
           atomic_load_explicit(&way->limit, memory_order_relaxed);
}

static struct piece take(struct way *way)
{
    struct piece piece = { .bytes = 0 };
    size_t i = atomic_load_explicit(&way->next, memory_order_relaxed);
    do {
        /* Acquire: what the calling thread wrote of the step. */
        if (i >= atomic_load_explicit(&way->limit, memory_order_acquire)) return piece;
    } while (!atomic_compare_exchange_weak_explicit(&way->next, &i, i + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    find_piece(way, i - way->first, &piece);
    return piece;
}

/* All of the open step is on the link. */
static CUresult finish_step(struct exchange *r, struct way *way)
{
    CUresult result = CUDA_SUCCESS;
    if (r->apart)
        result =
            r->driver->cuEventRecord(way->done[(way->opened - 1) % r->x->buffers], way->stream);
    if (result == CUDA_SUCCESS)
        atomic_store_explicit(&way->steps, way->opened, memory_order_release);
    return result;
}

static CUresult issued(struct exchange *r, struct way *way)
{
    /* Whoever is last sees what all others put on the stream. */
    size_t pieces = 1 + atomic_fetch_add_explicit(&way->issued, 1, memory_order_acq_rel);
    return pieces == atomic_load_explicit(&way->limit, memory_order_relaxed) ? finish_step(r, way)
                                                                             : CUDA_SUCCESS;
}

/* ---- Slots ---- */

static CUresult open_slot(const struct echi_driver *driver, struct echi_slot *slot)
{
    CUresult result = CUDA_SUCCESS;
    if (!slot->done) result = driver->cuEventCreate(&slot->done, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS && !slot->at)
        result = driver->cuMemHostAlloc(&slot->at, LINK_PIECE_BYTES, 0);
    return result;
}

/* Success when what the slot was last used for is over. */
static CUresult ready(const struct echi_driver *driver, struct echi_slot *slot)
{
    CUresult result = open_slot(driver, slot);
    return result == CUDA_SUCCESS ? driver->cuEventQuery(slot->done) : result;
}

void echi_cuda_close_slots(struct echi_cuda *cuda)
{
    for (int i = 0; i < ECHI_LINK_SLOTS; i++) {
        if (cuda->slots[i].at) cuda->driver->cuMemFreeHost(cuda->slots[i].at);
        if (cuda->slots[i].done) cuda->driver->cuEventDestroy(cuda->slots[i].done);
    }
    for (int i = 0; i < 3; i++)
        for (int b = 0; b < ECHI_LINK_BUFFERS; b++)
            if (cuda->link_events[i][b]) cuda->driver->cuEventDestroy(cuda->link_events[i][b]);
    for (int i = 0; i < 2; i++)
        if (cuda->link[i]) cuda->driver->cuStreamDestroy(cuda->link[i]);
}

/* Host memory that is not read again soon: written past the cache, which has room then for what
 * is on the link, and without reading it first. */
static void drain(char *to, const char *from, size_t bytes)
{
#ifdef __SSE2__
    size_t head = (size_t)(-(uintptr_t)to & 15);
    if (head > bytes) head = bytes;
    memcpy(to, from, head);
    size_t at = head;
    for (; at + 64 <= bytes; at += 64) {
        __m128i x[4];
        memcpy(x, from + at, sizeof x);
        for (int i = 0; i < 4; i++) _mm_stream_si128((__m128i *)(void *)(to + at) + i, x[i]);
    }
    memcpy(to + at, from + at, bytes - at);
    _mm_sfence();
#else
    memcpy(to, from, bytes);
#endif
}

static CUresult copy(const struct echi_driver *driver, void *to, const void *from, size_t bytes,
                     CUstream stream)
{
    return driver->cuMemcpyAsync((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes,
                                 stream);
}

/* ---- A thread ---- */

struct carrier {
    struct echi_slot *up, *down; /* two each */
    struct piece held[2];        /* in the slots of down */
    unsigned up_turn, down_turn; /* the slots that were used longest ago */
};

/* Fills a slot and puts it on the link. */
static CUresult send(struct exchange *r, const struct piece *piece, struct echi_slot *slot)
{
    const struct echi_move *m = piece->move;
    for (size_t at = 0, skip = piece->skip; at < piece->bytes; m++, skip = 0) {
        size_t part = echi_min(m->bytes - skip, piece->bytes - at);
        memcpy((char *)slot->at + at, (const char *)m->host + skip, part);
        at += part;
    }
    CUresult result = copy(r->driver, piece->device, slot->at, piece->bytes, r->up.stream);
    if (result == CUDA_SUCCESS) result = r->driver->cuEventRecord(slot->done, r->up.stream);
    return result == CUDA_SUCCESS ? issued(r, &r->up) : result;
}

/* Has a slot filled by the link. */
static CUresult receive(struct exchange *r, const struct piece *piece, struct echi_slot *slot)
{
    CUresult result = copy(r->driver, slot->at, piece->device, piece->bytes, r->down.stream);
    if (result == CUDA_SUCCESS) result = r->driver->cuEventRecord(slot->done, r->down.stream);
    return result == CUDA_SUCCESS ? issued(r, &r->down) : result;
}

static CUresult carry_up(struct exchange *r, struct carrier *c, bool *busy)
{
    struct echi_slot *slot = &c->up[c->up_turn];
    CUresult result = any_left(&r->up) ? ready(r->driver, slot) : CUDA_ERROR_NOT_READY;
    if (result != CUDA_SUCCESS) return result;
    struct piece piece = take(&r->up);
    if (!piece.bytes) return CUDA_SUCCESS;
    c->up_turn = !c->up_turn;
    *busy = true;
    return send(r, &piece, slot);
}

static CUresult carry_down(struct exchange *r, struct carrier *c, bool more, bool *busy)
{
    if (!c->held[c->down_turn].bytes && c->held[!c->down_turn].bytes && !any_left(&r->down))
        c->down_turn = !c->down_turn;
    struct echi_slot *slot = &c->down[c->down_turn];
    struct piece *held = &c->held[c->down_turn];
    bool any = held->bytes || (more && any_left(&r->down));
    CUresult result = any ? ready(r->driver, slot) : CUDA_ERROR_NOT_READY;
    if (result != CUDA_SUCCESS) return result;
    *busy |= held->bytes != 0;
    if (held->bytes) drain(held->host, slot->at, held->bytes);
    *held = more ? take(&r->down) : (struct piece){ .bytes = 0 };
    c->down_turn = !c->down_turn;
    if (!held->bytes) return CUDA_SUCCESS;
    *busy = true;
    return receive(r, held, slot);
}

/* Carries a piece each way, if slots are free and `more` are to be taken; what came down is drained
 * in any case.  *busy: there was something to do. */
static CUresult carry(struct exchange *r, struct carrier *c, bool more, bool *busy)
{
    CUresult up = more ? carry_up(r, c, busy) : CUDA_SUCCESS;
    if (up != CUDA_SUCCESS && up != CUDA_ERROR_NOT_READY) return up;
    CUresult down = carry_down(r, c, more, busy);
    return down == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : down;
}

static bool holds(const struct carrier *c)
{
    return c->held[0].bytes || c->held[1].bytes;
}

/* ---- The calling thread ---- */

static ech_status check(const struct exchange *r, CUresult result, const char *call)
{
    return echi_cuda_check(r->ctx, r->driver, result, call);
}

/* What a stream does from now on comes after the event. */
static ech_status follow(const struct exchange *r, CUstream stream, CUevent event)
{
    return r->apart ? check(r, r->driver->cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent")
                    : ECH_OK;
}

/* Puts what the driver copies by itself on the link, and has threads take the rest. */
static ech_status open_step(struct exchange *r, struct way *way, struct echi_move *moves, int count)
{
    ech_status status = ECH_OK;
    struct piece unused;
    way->moves = moves;
    way->count = 0;
    way->opened++;
    for (int i = 0; i < count; i++) {
        struct echi_move m = moves[i];
        if (!m.bytes) continue;
        if (r->staged && !m.pinned) {
            moves[way->count++] = m;
            continue;
        }
        TRY(check(r,
                  copy(r->driver, way->up ? m.device : m.host, way->up ? m.host : m.device, m.bytes,
                       way->stream),
                  "cuMemcpyAsync"));
        r->direct_down |= !way->up;
    }
    way->first = atomic_load_explicit(&way->limit, memory_order_relaxed);
    size_t pieces = SIZE_MAX - find_piece(way, SIZE_MAX, &unused);
    if (!pieces) TRY(check(r, finish_step(r, way), "cuEventRecord"));
    atomic_store_explicit(&way->limit, way->first + pieces, memory_order_release);
done:
    return status;
}

static ech_status open_up(struct exchange *r)
{
    const struct echi_exchange *x = r->x;
    ech_status status = ECH_OK;
    if (r->up.opened >= x->buffers)
        TRY(follow(r, r->up.stream, r->down.done[r->up.opened % x->buffers]));
    TRY(open_step(r, &r->up, r->next, r->next_count));
    r->prepared = false;
done:
    return status;
}

static ech_status open_down(struct exchange *r)
{
    const struct echi_exchange *x = r->x;
    const struct echi_cuda *cuda = r->ctx->state;
    ech_status status = ECH_OK;
    struct echi_move *moves = NULL;
    int count = x->down ? x->down(x->user, r->down.opened, &moves) : 0;
    TRY(follow(r, r->down.stream, cuda->link_events[2][r->down.opened % x->buffers]));
    TRY(open_step(r, &r->down, moves, count));
done:
    return status;
}

static ech_status work_on(struct exchange *r)
{
    const struct echi_exchange *x = r->x;
    const struct echi_cuda *cuda = r->ctx->state;
    CUstream stream = echi_cuda_stream(r->ctx);
    size_t buffer = r->worked % x->buffers;
    ech_status status = ECH_OK;
    TRY(follow(r, stream, r->up.done[buffer]));
    if (x->work) TRY(x->work(r->ctx, x->user, r->worked));
    if (r->apart)
        TRY(check(r, r->driver->cuEventRecord(cuda->link_events[2][buffer], stream),
                  "cuEventRecord"));
    r->worked++;
done:
    return status;
}

static size_t steps_of(struct way *way)
{
    return atomic_load_explicit(&way->steps, memory_order_acquire);
}

/* Does one of the things that can be done now; false when there is none. */
static bool conduct(struct exchange *r)
{
    const struct echi_exchange *x = r->x;
    size_t up = steps_of(&r->up), down = steps_of(&r->down);
    if (down == x->steps) {
        atomic_store(&r->over, true);
        return false;
    }
    if (down == r->down.opened && down < r->worked) {
        r->status = open_down(r);
    } else if (up == r->up.opened && up < x->steps && up < down + x->buffers && r->prepared) {
        r->status = open_up(r);
    } else if (r->worked < up) {
        r->status = work_on(r);
    } else if (r->up.opened < x->steps && !r->prepared) {
        r->next_count = x->up ? x->up(x->user, r->up.opened, &r->next) : 0;
        r->prepared = true;
    } else {
        return false;
    }
    if (r->status != ECH_OK) atomic_store(&r->over, true);
    return true;
}

/* Of many threads, the one that conducts several steps carries nothing. */
static void work(void *arg, size_t i, int thread)
{
    enum { FEW = 4 };
    struct exchange *r = arg;
    struct echi_cuda *cuda = r->ctx->state;
    struct echi_slot *slots = cuda->slots + 4 * i;
    struct carrier carrier = { .up = slots, .down = slots + 2 };
    CUcontext popped;
    int idle = 0;
    CUresult result = r->driver->cuCtxPushCurrent(cuda->context);
    atomic_fetch_add(&r->threads, 1);
    while (result == CUDA_SUCCESS && atomic_load(&r->error) == CUDA_SUCCESS) {
        bool over = atomic_load(&r->over), conducted = thread == 0 && !over && conduct(r);
        bool carried = false, alone = atomic_load(&r->threads) < FEW;
        result = carry(r, &carrier, thread || r->x->steps == 1 || alone, &carried);
        if (thread == 0 && r->status != ECH_OK) break;
        if (over && !holds(&carrier)) break;
        idle = conducted || carried ? 0 : idle < INT_MAX ? idle + 1 : idle;
        if (idle) echi_parallel_pause(idle);
    }
    int none = CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) atomic_compare_exchange_strong(&r->error, &none, result);
    r->driver->cuCtxPopCurrent(&popped);
}

/* ---- The whole ---- */

static ech_status open_events(ech_ctx *ctx, size_t buffers)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    for (int i = 0; i < 3; i++)
        for (size_t b = 0; b < buffers; b++)
            if (!cuda->link_events[i][b])
                CU(cuEventCreate, &cuda->link_events[i][b], CU_EVENT_DISABLE_TIMING);
done:
    return status;
}

/* How many threads are worth it, and how much each of them takes at once. */
static int choose_threads(struct exchange *r)
{
    size_t bytes = r->x->pageable_bytes;
    int most = r->ctx->threads ? r->ctx->threads : echi_parallel_threads();
    size_t threads = (size_t)(most < LINK_THREADS ? most : LINK_THREADS);
    size_t share = (bytes / threads + 4095) / 4096 * 4096;
    if (share < LINK_LEAST_BYTES) share = LINK_LEAST_BYTES;
    r->up.piece_bytes = r->down.piece_bytes = echi_min(share, LINK_PIECE_BYTES);
    size_t pieces = bytes / r->up.piece_bytes + 1;
    if (!r->staged || pieces == 1) return 1;
    if (threads > pieces) threads = pieces;
    if (r->x->steps > 1 && (size_t)most > threads) threads++; /* who conducts */
    return (int)threads;
}

ech_status echi_cuda_exchange(ech_ctx *ctx, const struct echi_exchange *x)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    CUstream stream = echi_cuda_stream(ctx);
    ech_status status = ECH_OK;
    struct exchange r = {
        .ctx = ctx,
        .x = x,
        .driver = driver,
        .up = { .up = true, .stream = x->up_stream, .done = cuda->link_events[0] },
        .down = { .stream = x->down_stream, .done = cuda->link_events[1] },
        .staged = x->steps > 1 || x->pageable_bytes / (x->up && x->down ? 2 : 1) > LINK_SMALL_BYTES,
        .apart = x->up_stream != stream || x->down_stream != stream
    };
    if (r.apart) TRY(open_events(ctx, x->buffers));
    int threads = choose_threads(&r);
    echi_parallel(threads, (size_t)threads, work, &r);
    status = r.status;
    if (status == ECH_OK) status = check(&r, atomic_load(&r.error), "a copy over the link");
    if (status != ECH_OK) {
        /* Nothing may be on the way to or from memory that is not ours once this returns. */
        driver->cuStreamSynchronize(x->up_stream);
        driver->cuStreamSynchronize(stream);
        driver->cuStreamSynchronize(x->down_stream);
    } else if (r.direct_down) {
        CU(cuStreamSynchronize, x->down_stream);
    }
done:
    return status;
}

static int one_move(void *user, size_t step, struct echi_move **moves)
{
    (void)step;
    *moves = user;
    return 1;
}

ech_status echi_cuda_move(ech_ctx *ctx, const struct echi_move *move, bool up)
{
    struct echi_move m = *move;
    const struct echi_exchange x = { .steps = 1,
                                     .buffers = 1,
                                     .pageable_bytes = m.pinned ? 0 : m.bytes,
                                     .up_stream = echi_cuda_stream(ctx),
                                     .down_stream = echi_cuda_stream(ctx),
                                     .up = up ? one_move : NULL,
                                     .down = up ? NULL : one_move,
                                     .user = &m };
    return echi_cuda_exchange(ctx, &x);
}
