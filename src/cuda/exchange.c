/*
 * cuda/exchange.c - copies between host and device memory, both ways at once, at the speed of the
 * link, and work on the device between them.
 *
 *     pageable memory  --threads-->  slots, pinned  --link-->  device      (up)
 *     device  --link-->  slots, pinned  --threads-->  pageable memory      (down)
 *     pinned memory, or little  <--driver-->  device
 *
 * The driver moves pageable memory through a buffer of its own at a third of the link's speed or
 * less, and pinning it costs more than copying it does.  So what a step moves is cut into copies,
 * which have a slot each, and these into parts: copies are large, for each costs the link some
 * microseconds, and parts are small.  Threads take part after part, up and down in turns; whoever
 * fills the last of a slot puts it on the link.  The calling thread opens a way's next step when
 * the last copy of the one before is on the link; the streams wait for each other, not the
 * threads.  One thread alone does it all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/exchange.h"

#include "cpu/cpu.h"
#include "cuda/tuning.h"

#include <limits.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Pinned memory in use for one copy after another: of the i-th of n slots, copies i, i + n, ... */
struct slot {
    struct echi_slot *memory;
    atomic_size_t parts;   /* of the copy, that are filled or drained */
    atomic_size_t sent;    /* 1 + the last copy that was put on the link */
    atomic_size_t over;    /* 1 + what was sent and is known to have arrived; 0: nothing is known */
    atomic_size_t drained; /* 1 + the last copy that was, down */
    char *host;            /* where it goes, down */
    size_t bytes;
};

/* One way.  Copy k has the parts [k parts, (k + 1) parts), some of them empty if it is short.  The
 * step that is open has the copies [first, limit); what is no atomic changes only when all of them
 * are on the link. */
struct way {
    bool up;
    CUstream stream;
    CUevent *done;           /* of the last steps, one for each buffer */
    struct echi_move *moves; /* those that are staged */
    int count;
    size_t part_bytes, parts, first, opened;
    atomic_size_t limit, issued; /* copies: of steps that are open, on the link */
    atomic_size_t asked;         /* copies whose slots have been asked for, down */
    atomic_size_t next;          /* parts: filled or drained by someone */
    atomic_size_t steps;         /* that are on the link as a whole */
    atomic_bool asking;          /* a thread asks the driver about a slot */
    struct slot slots[ECHI_LINK_SLOTS];
};

struct exchange {
    ech_ctx *ctx;
    const struct echi_exchange *x;
    const struct echi_driver *driver;
    struct way up, down;
    bool staged; /* or all is left to the driver */
    bool apart;  /* the streams are different ones */
    atomic_int threads;
    atomic_int error;   /* the first CUresult that is none of success */
    atomic_bool over;   /* no copies will come any more */
    atomic_bool failed; /* what is on the way is not waited for */

    /* Of the calling thread: */
    struct echi_move *next; /* the next step's, up */
    int next_count;
    bool prepared, direct_down;
    size_t worked; /* steps */
    ech_status status;
};

/* ---- Copies ---- */

/* Of a copy. */
struct extent {
    const struct echi_move *move; /* with those after it that follow on it in device memory */
    size_t skip;                  /* bytes of its beginning */
    char *host, *device;
    size_t bytes;
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

/* The i-th copy of the open step; with i past them all, i less their number. */
static size_t find_copy(const struct way *way, size_t i, struct extent *extent)
{
    const size_t most = way->parts * way->part_bytes;
    for (int from = 0, end; from < way->count; from = end) {
        size_t bytes = 0;
        end = group_end(way, from);
        for (int m = from; m < end; m++) bytes += way->moves[m].bytes;
        size_t copies = (bytes + most - 1) / most;
        if (i >= copies) {
            i -= copies;
            continue;
        }
        size_t at = i * most, skip = at, left = bytes - at;
        const struct echi_move *m = &way->moves[from];
        for (; skip >= m->bytes; m++) skip -= m->bytes;
        *extent = (struct extent){ .move = m,
                                   .skip = skip,
                                   .host = (char *)m->host + skip,
                                   .device = (char *)m->device + skip,
                                   .bytes = left < most ? left : most };
        return 0;
    }
    return i;
}

/* Takes number i, if nobody has. */
static bool take(atomic_size_t *next, size_t i)
{
    return atomic_compare_exchange_strong_explicit(next, &i, i + 1, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* Acquire: what the calling thread wrote of the step. */
static bool is_open(const struct way *way, size_t k)
{
    return k < atomic_load_explicit(&way->limit, memory_order_acquire);
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
    size_t copies = 1 + atomic_fetch_add_explicit(&way->issued, 1, memory_order_acq_rel);
    return copies == atomic_load_explicit(&way->limit, memory_order_relaxed) ? finish_step(r, way)
                                                                             : CUDA_SUCCESS;
}

/* ---- Slots ---- */

/* Success when what the slot was last used for is over, and it has room for so many bytes. */
static CUresult open_slot(const struct echi_driver *driver, struct echi_slot *slot, size_t bytes)
{
    CUresult result = CUDA_SUCCESS;
    if (!slot->done) result = driver->cuEventCreate(&slot->done, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS) result = driver->cuEventQuery(slot->done);
    if (result != CUDA_SUCCESS || slot->bytes >= bytes) return result;
    size_t rounded = bytes <= LINK_SMALL_BYTES ? LINK_SMALL_BYTES : LINK_COPY_BYTES;
    if (slot->at) driver->cuMemFreeHost(slot->at);
    *slot = (struct echi_slot){ .done = slot->done };
    result = driver->cuMemHostAlloc(&slot->at, rounded, 0);
    if (result == CUDA_SUCCESS) slot->bytes = rounded;
    return result;
}

/* Success when the first `sent` copies are over, as far as they are the slot's.  One thread asks,
 * for all. */
static CUresult await_slot(const struct exchange *r, struct way *way, struct slot *slot,
                           size_t sent)
{
    if (atomic_load_explicit(&slot->over, memory_order_acquire) == sent + 1) return CUDA_SUCCESS;
    if (atomic_load_explicit(&way->asking, memory_order_relaxed) ||
        atomic_exchange_explicit(&way->asking, true, memory_order_acquire))
        return CUDA_ERROR_NOT_READY;
    CUresult result = CUDA_ERROR_NOT_READY;
    if (atomic_load_explicit(&slot->sent, memory_order_acquire) == sent)
        result = open_slot(r->driver, slot->memory, way->parts * way->part_bytes);
    if (result == CUDA_SUCCESS) atomic_store_explicit(&slot->over, sent + 1, memory_order_release);
    atomic_store_explicit(&way->asking, false, memory_order_release);
    return result;
}

/* 1 + the copy that copy k follows in its slot; 0: none. */
static size_t before(size_t k)
{
    return k < ECHI_LINK_SLOTS ? 0 : k - ECHI_LINK_SLOTS + 1;
}

void echi_cuda_close_slots(struct echi_cuda *cuda)
{
    for (int i = 0; i < 2 * ECHI_LINK_SLOTS; i++) {
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

/* Another part of the slot's copy is filled or drained; true: that was the last. */
static bool last_part(const struct way *way, struct slot *slot)
{
    if (1 + atomic_fetch_add_explicit(&slot->parts, 1, memory_order_acq_rel) < way->parts)
        return false;
    atomic_store_explicit(&slot->parts, 0, memory_order_relaxed);
    return true;
}

static CUresult put_on_link(struct exchange *r, struct way *way, size_t k, const struct extent *e)
{
    struct slot *slot = &way->slots[k % ECHI_LINK_SLOTS];
    void *pinned = slot->memory->at;
    CUresult result = copy(r->driver, way->up ? e->device : pinned, way->up ? pinned : e->device,
                           e->bytes, way->stream);
    if (result == CUDA_SUCCESS) result = r->driver->cuEventRecord(slot->memory->done, way->stream);
    if (result != CUDA_SUCCESS) return result;
    atomic_store_explicit(&slot->sent, k + 1, memory_order_release);
    return issued(r, way);
}

static void fill(char *slot, const struct extent *e, size_t from, size_t end)
{
    const struct echi_move *m = e->move;
    size_t skip = e->skip + from;
    if (from >= end) return;
    for (; skip >= m->bytes; m++) skip -= m->bytes;
    for (size_t at = from; at < end; m++, skip = 0) {
        size_t part = echi_min(m->bytes - skip, end - at);
        memcpy(slot + at, (const char *)m->host + skip, part);
        at += part;
    }
}

/* Fills a part of a slot, and puts the slot on the link if it was the last. */
static CUresult carry_up(struct exchange *r, bool *busy)
{
    struct way *way = &r->up;
    struct extent extent;
    size_t i = atomic_load_explicit(&way->next, memory_order_relaxed), k = i / way->parts;
    struct slot *slot = &way->slots[k % ECHI_LINK_SLOTS];
    CUresult result = is_open(way, k) ? await_slot(r, way, slot, before(k)) : CUDA_ERROR_NOT_READY;
    if (result != CUDA_SUCCESS) return result;
    *busy = true;
    if (!take(&way->next, i)) return CUDA_SUCCESS;
    find_copy(way, k - way->first, &extent);
    size_t from = i % way->parts * way->part_bytes;
    fill(slot->memory->at, &extent, from, echi_min(from + way->part_bytes, extent.bytes));
    return last_part(way, slot) ? put_on_link(r, way, k, &extent) : CUDA_SUCCESS;
}

/* Has the link fill a slot.  What that was last used for is over: it was drained. */
static CUresult ask_down(struct exchange *r, bool *busy)
{
    struct way *way = &r->down;
    struct extent extent = { .bytes = 0 };
    size_t k = atomic_load_explicit(&way->asked, memory_order_relaxed);
    struct slot *slot = &way->slots[k % ECHI_LINK_SLOTS];
    if (!is_open(way, k) || atomic_load_explicit(&slot->drained, memory_order_acquire) != before(k))
        return CUDA_ERROR_NOT_READY;
    *busy = true;
    if (!take(&way->asked, k)) return CUDA_SUCCESS;
    find_copy(way, k - way->first, &extent);
    slot->host = extent.host;
    slot->bytes = extent.bytes;
    CUresult result = open_slot(r->driver, slot->memory, way->parts * way->part_bytes);
    return result == CUDA_SUCCESS ? put_on_link(r, way, k, &extent) : result;
}

/* Drains a part of a slot. */
static CUresult carry_down(struct exchange *r, bool *busy)
{
    struct way *way = &r->down;
    size_t i = atomic_load_explicit(&way->next, memory_order_relaxed), k = i / way->parts;
    struct slot *slot = &way->slots[k % ECHI_LINK_SLOTS];
    CUresult result = is_open(way, k) ? await_slot(r, way, slot, k + 1) : CUDA_ERROR_NOT_READY;
    if (result != CUDA_SUCCESS) return result;
    *busy = true;
    if (!take(&way->next, i)) return CUDA_SUCCESS;
    size_t from = i % way->parts * way->part_bytes;
    if (from < slot->bytes)
        drain(slot->host + from, (const char *)slot->memory->at + from,
              echi_min(way->part_bytes, slot->bytes - from));
    if (last_part(way, slot)) atomic_store_explicit(&slot->drained, k + 1, memory_order_release);
    return CUDA_SUCCESS;
}

/* Does a bit of each, if it can be done now.  *busy: there was something to do. */
static CUresult carry(struct exchange *r, bool *busy)
{
    CUresult result = ask_down(r, busy);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) result = carry_down(r, busy);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) result = carry_up(r, busy);
    return result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : result;
}

/* All that came down is where it goes, or in the hands of a thread. */
static bool is_drained(struct way *way)
{
    return atomic_load_explicit(&way->next, memory_order_relaxed) ==
           way->parts * atomic_load_explicit(&way->limit, memory_order_acquire);
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
    struct extent unused;
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
    size_t copies = SIZE_MAX - find_copy(way, SIZE_MAX, &unused);
    if (!copies) TRY(check(r, finish_step(r, way), "cuEventRecord"));
    atomic_store_explicit(&way->limit, way->first + copies, memory_order_release);
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
    if (r->status != ECH_OK) atomic_store(&r->failed, true);
    return true;
}

/* Of many threads, the one that conducts several steps carries nothing. */
static void work(void *arg, size_t i, int thread)
{
    enum { FEW = 4 };
    struct exchange *r = arg;
    const struct echi_cuda *cuda = r->ctx->state;
    CUcontext popped;
    int idle = 0;
    (void)i;
    CUresult result = r->driver->cuCtxPushCurrent(cuda->context);
    atomic_fetch_add(&r->threads, 1);
    while (result == CUDA_SUCCESS && !atomic_load(&r->failed)) {
        bool over = atomic_load(&r->over), busy = thread == 0 && !over && conduct(r);
        if (thread || r->x->steps == 1 || atomic_load(&r->threads) < FEW) result = carry(r, &busy);
        if (over && is_drained(&r->down)) break;
        idle = busy ? 0 : idle < INT_MAX ? idle + 1 : idle;
        if (idle) echi_parallel_pause(idle);
    }
    int none = CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) {
        atomic_compare_exchange_strong(&r->error, &none, result);
        atomic_store(&r->failed, true);
    }
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

/* How many threads are worth it, how much is copied at once, and how much each takes of that. */
static int choose_threads(struct exchange *r)
{
    enum { COPIES = 8, PARTS = 4 }; /* so many at least, if they are not too small */
    size_t bytes = r->x->pageable_bytes;
    int most = r->ctx->threads ? r->ctx->threads : echi_parallel_threads();
    size_t threads = (size_t)(most < LINK_THREADS ? most : LINK_THREADS);
    size_t copy = echi_min(bytes / COPIES, LINK_COPY_BYTES), part = copy / PARTS / 4096 * 4096;
    if (part > LINK_PART_BYTES) part = LINK_PART_BYTES;
    if (part < LINK_LEAST_BYTES) part = LINK_LEAST_BYTES;
    r->up.part_bytes = r->down.part_bytes = part;
    r->up.parts = r->down.parts = copy > part ? copy / part : 1;
    if (!r->staged || bytes < part) return 1;
    if (threads > bytes / part + 1) threads = bytes / part + 1;
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
    for (int i = 0; i < ECHI_LINK_SLOTS; i++) {
        r.up.slots[i].memory = &cuda->slots[i];
        r.down.slots[i].memory = &cuda->slots[ECHI_LINK_SLOTS + i];
    }
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
