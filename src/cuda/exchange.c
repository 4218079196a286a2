/*
 * cuda/exchange.c - copies between host and device memory, in both directions at once, at the speed
 * of the link, and work on the device in between.
 *
 *     pageable memory  --threads-->  slots, pinned  --link-->  device      (up)
 *     device  --link-->  slots, pinned  --threads-->  pageable memory      (down)
 *     pinned or small arrays  <--driver-->  device
 *
 * The driver copies pageable memory through its own buffer at a third of the link's speed or less,
 * and pinning memory costs more than copying it. So the data of a step is divided into copies,
 * which have a slot each, and copies into parts. Copies are large because each costs the link some
 * microseconds; parts are small. Threads take one part after another, in both directions
 * alternately; the thread that fills the last part of a slot issues the copy on the link. The
 * calling thread opens the next step of a direction when the last copy of the previous step has
 * been issued. Only the streams wait for each other, not the threads. A single thread does all of
 * this by itself.
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

/* Pinned memory that successive copies use: the i-th of n slots has copies i, i + n, ... */
struct slot {
    struct echi_slot *memory;
    atomic_size_t parts;   /* parts of the copy that are filled or drained */
    atomic_size_t sent;    /* 1 + the last copy that was issued */
    atomic_size_t over;    /* 1 + the last copy known to be complete; 0: none */
    atomic_size_t drained; /* 1 + the last copy that was drained, down */
    char *host;            /* destination, down */
    size_t bytes;
};

/* One direction. Copy k has the parts [k parts, (k + 1) parts), some of which are empty if it is
 * short. The open step has the copies [first, limit); fields that are not atomic change only when
 * all of these are issued. */
struct way {
    bool up;
    CUstream stream;
    CUevent *done;           /* events of the last steps, one per buffer */
    struct echi_move *moves; /* the staged moves */
    int count;
    size_t part_bytes, parts, first, opened;
    atomic_size_t limit, issued; /* copies: of open steps; issued */
    atomic_size_t asked;         /* copies whose slots were requested, down */
    atomic_size_t next;          /* parts: taken by a thread */
    atomic_size_t steps;         /* steps whose copies are all issued */
    atomic_bool asking;          /* a thread queries the driver about a slot */
    struct slot slots[ECHI_LINK_SLOTS];
};

struct exchange {
    ech_ctx *ctx;
    const struct echi_exchange *x;
    const struct echi_driver *driver;
    struct way up, down;
    bool staged; /* otherwise the driver makes all copies */
    bool apart;  /* the two streams are different */
    atomic_int threads;
    atomic_int error;   /* the first CUresult that is a failure */
    atomic_bool over;   /* no further copies will come */
    atomic_bool failed; /* copies in flight are not waited for */

    /* Only for the calling thread: */
    struct echi_move *next; /* the next step's, up */
    int next_count;
    bool prepared, direct_down;
    size_t worked; /* steps */
    ech_status status;
};

/* ---- Copies ---- */

/* A copy. */
struct extent {
    const struct echi_move *move; /* the first of the moves that are adjacent in device memory */
    size_t skip;                  /* bytes to skip at its beginning */
    char *host, *device;
    size_t bytes;
};

/* The end of the moves from i on that are copied as one. */
static int group_end(const struct way *way, int i)
{
    const struct echi_move *m = way->moves;
    int end = i + 1;
    while (way->up && end < way->count &&
           (char *)m[end].device == (char *)m[end - 1].device + m[end - 1].bytes)
        end++;
    return end;
}

/* The i-th copy of the open step; if i is past its copies, i minus their number. */
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

/* Takes number i, if no other thread has taken it. */
static bool take(atomic_size_t *next, size_t i)
{
    return atomic_compare_exchange_strong_explicit(next, &i, i + 1, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* Acquire: sees the calling thread's description of the step. */
static bool is_open(const struct way *way, size_t k)
{
    return k < atomic_load_explicit(&way->limit, memory_order_acquire);
}

/* All copies of the open step are issued. */
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
    /* The thread that issues the last copy sees all that other threads put on the stream. */
    size_t copies = 1 + atomic_fetch_add_explicit(&way->issued, 1, memory_order_acq_rel);
    return copies == atomic_load_explicit(&way->limit, memory_order_relaxed) ? finish_step(r, way)
                                                                             : CUDA_SUCCESS;
}

/* ---- Slots ---- */

/* Success if the last copy of the slot is complete and the slot has room for this many bytes. */
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

/* Success if those of the first `sent` copies that used this slot are complete. One thread queries
 * on behalf of all. */
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

/* 1 + the copy that precedes copy k in its slot; 0: none. */
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
    for (int i = 0; i < ECHI_LANES; i++) {
        if (cuda->lanes[i]) cuda->driver->cuStreamDestroy(cuda->lanes[i]);
        if (cuda->lane_events[i]) cuda->driver->cuEventDestroy(cuda->lane_events[i]);
    }
}

/* Writes host memory that is not read again soon, with non-temporal stores: the caches keep their
 * room for the slots, and the memory is not read first. */
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

/* One more part of the slot's copy is filled or drained; true: it was the last. */
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

/* Fills a part of a slot, and issues the copy if it was the last part. */
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

/* Issues a copy from the device to a slot, whose previous copy was drained. */
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

/* Does one part of each direction if possible. *busy: there was work. */
static CUresult carry(struct exchange *r, bool *busy)
{
    CUresult result = ask_down(r, busy);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) result = carry_down(r, busy);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) result = carry_up(r, busy);
    return result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : result;
}

/* All data from the device has been copied, or is being copied by a thread. */
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

/* Later work on the stream waits for the event. */
static ech_status follow(const struct exchange *r, CUstream stream, CUevent event)
{
    return r->apart ? check(r, r->driver->cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent")
                    : ECH_OK;
}

/* Issues the copies that the driver makes itself, and gives the others to the threads. */
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

/* Does one available piece of work; false if there is none. */
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

/* If there are many threads, the one that coordinates several steps copies nothing. */
static void work(void *arg, size_t i, int thread)
{
    enum { FEW = 4 };
    struct exchange *r = arg;
    const struct echi_cuda *cuda = r->ctx->state;
    CUcontext popped;
    int idle = 0;
    (void)i;
    CUresult result = r->driver->cuCtxPushCurrent(cuda->context);
    const bool pushed = result == CUDA_SUCCESS;
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
    if (pushed) r->driver->cuCtxPopCurrent(&popped);
}

/* ---- The exchange ---- */

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

/* How many threads are worth it, how many bytes are copied at once, and how many bytes a part
 * has. */
static int choose_threads(struct exchange *r)
{
    enum { COPIES = 8, PARTS = 4 }; /* at least this many, if they are not too small */
    size_t bytes = r->x->pageable_bytes;
    int most = echi_threads(r->ctx);
    size_t threads = (size_t)(most < LINK_THREADS ? most : LINK_THREADS);
    size_t copy = echi_min(bytes / COPIES, LINK_COPY_BYTES), part = copy / PARTS / 4096 * 4096;
    if (part > LINK_PART_BYTES) part = LINK_PART_BYTES;
    if (part < LINK_MIN_BYTES) part = LINK_MIN_BYTES;
    r->up.part_bytes = r->down.part_bytes = part;
    r->up.parts = r->down.parts = copy > part ? copy / part : 1;
    if (!r->staged || bytes < part) return 1;
    if (threads > bytes / part + 1) threads = bytes / part + 1;
    if (r->x->steps > 1 && (size_t)most > threads) threads++; /* the coordinating thread */
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
    echi_threads_end(ctx); /* ech_copy() is not run by echi_call_run() */
    status = r.status;
    if (status == ECH_OK) status = check(&r, atomic_load(&r.error), "a copy over the link");
    if (status != ECH_OK) {
        /* No copy may use the caller's memory after this function returns. */
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
