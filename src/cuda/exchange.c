/*
 * cuda/exchange.c - copies between host and device memory, both ways at once, at the speed of the
 * link.
 *
 *     pageable memory  --threads-->  slots, pinned  --link-->  device      (up)
 *     device  --link-->  slots, pinned  --threads-->  pageable memory      (down)
 *     pinned memory, or little  <--driver-->  device
 *
 * The driver moves pageable memory through a buffer of its own at a third of the link's speed or
 * less, and pinning it costs more than copying it does.  So each thread takes pieces as long as
 * there are some, up and down in turns, through two slots of its own for each way: while one is on
 * the link, it fills or drains another.  Nobody waits for other threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda.h"

#include "../cpu/cpu.h"
#include "tuning.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- Pieces ---- */

/* The staged moves of one way, as pieces that threads take one after another. */
struct way {
    const struct echi_move *moves;
    int count;
    bool staged; /* else its moves are the driver's */
    size_t piece_bytes, pieces;
    atomic_size_t next;
    CUstream stream;
};

struct piece {
    char *host, *device;
    size_t bytes; /* 0: none */
};

struct exchange {
    ech_ctx *ctx;
    struct way up, down;
    bool both;        /* ways have pieces: a thread has slots for each */
    atomic_int error; /* the first CUresult that is none of success */
};

static bool staged(const struct way *way, const struct echi_move *m)
{
    return way->staged && m->bytes && !m->pinned;
}

static size_t pageable_bytes(const struct way *way)
{
    size_t bytes = 0;
    for (int i = 0; i < way->count; i++)
        if (!way->moves[i].pinned) bytes += way->moves[i].bytes;
    return bytes;
}

static size_t count_pieces(const struct way *way, const struct echi_move *m)
{
    return staged(way, m) ? (m->bytes + way->piece_bytes - 1) / way->piece_bytes : 0;
}

static void cut(struct way *way)
{
    way->pieces = 0;
    for (int i = 0; i < way->count; i++) way->pieces += count_pieces(way, &way->moves[i]);
    atomic_init(&way->next, 0);
}

static struct piece take(struct way *way)
{
    struct piece piece = { NULL, NULL, 0 };
    if (atomic_load_explicit(&way->next, memory_order_relaxed) >= way->pieces) return piece;
    size_t i = atomic_fetch_add_explicit(&way->next, 1, memory_order_relaxed);
    if (i >= way->pieces) return piece;
    const struct echi_move *m = way->moves;
    for (size_t here; i >= (here = count_pieces(way, m)); m++) i -= here;
    size_t at = i * way->piece_bytes, left = m->bytes - at;
    piece.host = (char *)m->host + at;
    piece.device = (char *)m->device + at;
    piece.bytes = left < way->piece_bytes ? left : way->piece_bytes;
    return piece;
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

/* Waits until what the slot was last used for is over. */
static CUresult ready(const struct echi_driver *driver, struct echi_slot *slot)
{
    CUresult result = open_slot(driver, slot);
    return result == CUDA_SUCCESS ? driver->cuEventSynchronize(slot->done) : result;
}

void echi_cuda_close_slots(struct echi_cuda *cuda)
{
    for (int i = 0; i < ECHI_LINK_SLOTS; i++) {
        if (cuda->slots[i].at) cuda->driver->cuMemFreeHost(cuda->slots[i].at);
        if (cuda->slots[i].done) cuda->driver->cuEventDestroy(cuda->slots[i].done);
    }
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

/* Fills a slot and puts it on the link; *piece was taken of x->up. */
static CUresult send(struct exchange *x, const struct piece *piece, struct echi_slot *slot)
{
    const struct echi_driver *driver = ((const struct echi_cuda *)x->ctx->state)->driver;
    CUresult result = ready(driver, slot);
    if (result != CUDA_SUCCESS) return result;
    memcpy(slot->at, piece->host, piece->bytes);
    result = copy(driver, piece->device, slot->at, piece->bytes, x->up.stream);
    return result == CUDA_SUCCESS ? driver->cuEventRecord(slot->done, x->up.stream) : result;
}

/* Drains what the slot holds, *held, and has *next put into it; either may be none. */
static CUresult receive(struct exchange *x, struct piece *held, struct piece next,
                        struct echi_slot *slot)
{
    const struct echi_driver *driver = ((const struct echi_cuda *)x->ctx->state)->driver;
    if (!held->bytes && !next.bytes) return CUDA_SUCCESS;
    CUresult result = ready(driver, slot);
    if (result != CUDA_SUCCESS) return result;
    if (held->bytes) drain(held->host, slot->at, held->bytes);
    *held = next;
    if (!next.bytes) return CUDA_SUCCESS;
    result = copy(driver, slot->at, next.device, next.bytes, x->down.stream);
    return result == CUDA_SUCCESS ? driver->cuEventRecord(slot->done, x->down.stream) : result;
}

static void work(void *arg, size_t thread, int unused)
{
    struct exchange *x = arg;
    struct echi_cuda *cuda = x->ctx->state;
    const struct echi_driver *driver = cuda->driver;
    struct echi_slot *slots = cuda->slots + thread * 2 * (x->both ? 2 : 1);
    struct piece held[2] = { { NULL, NULL, 0 }, { NULL, NULL, 0 } };
    CUcontext popped;
    CUresult result = driver->cuCtxPushCurrent(cuda->context);
    bool busy = result == CUDA_SUCCESS;
    (void)unused;
    for (unsigned turn = 0; busy && atomic_load(&x->error) == CUDA_SUCCESS; turn = !turn) {
        struct piece up = take(&x->up), down = take(&x->down);
        if (up.bytes) result = send(x, &up, &slots[turn]);
        if (result == CUDA_SUCCESS)
            result = receive(x, &held[turn], down, &slots[turn + (x->both ? 2 : 0)]);
        busy = result == CUDA_SUCCESS && (up.bytes || down.bytes || held[!turn].bytes);
    }
    int none = CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) atomic_compare_exchange_strong(&x->error, &none, result);
    driver->cuCtxPopCurrent(&popped);
}

/* ---- For the others ---- */

static ech_status copy_direct(ech_ctx *ctx, const struct way *way, bool up)
{
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    ech_status status = ECH_OK;
    for (int i = 0; i < way->count; i++) {
        const struct echi_move *m = &way->moves[i];
        if (!m->bytes || staged(way, m)) continue;
        TRY(echi_cuda_check(
            ctx, driver,
            copy(driver, up ? m->device : m->host, up ? m->host : m->device, m->bytes, way->stream),
            "cuMemcpyAsync"));
    }
done:
    return status;
}

ech_status echi_cuda_exchange(ech_ctx *ctx, const struct echi_move *up, int ups, CUstream up_stream,
                              const struct echi_move *down, int downs, CUstream down_stream)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    struct exchange x = { .ctx = ctx,
                          .up = { .moves = up, .count = ups, .stream = up_stream },
                          .down = { .moves = down, .count = downs, .stream = down_stream } };
    size_t bytes = pageable_bytes(&x.up) + pageable_bytes(&x.down);
    x.up.staged = x.down.staged = bytes > LINK_SMALL_BYTES;
    TRY(copy_direct(ctx, &x.up, true));
    TRY(copy_direct(ctx, &x.down, false));
    int most = ctx->threads ? ctx->threads : echi_parallel_threads();
    size_t threads = (size_t)(most < LINK_THREADS ? most : LINK_THREADS);
    size_t share = (bytes / threads + 4095) / 4096 * 4096;
    if (share < LINK_LEAST_BYTES) share = LINK_LEAST_BYTES;
    x.up.piece_bytes = x.down.piece_bytes = share < LINK_PIECE_BYTES ? share : LINK_PIECE_BYTES;
    cut(&x.up);
    cut(&x.down);
    x.both = x.up.pieces && x.down.pieces;
    size_t pieces = x.up.pieces + x.down.pieces;
    if (threads > pieces) threads = pieces;
    atomic_init(&x.error, CUDA_SUCCESS);
    if (pieces) echi_parallel((int)threads, threads, work, &x);
    if (atomic_load(&x.error) != CUDA_SUCCESS) {
        /* Nothing may be on the way to or from memory that is not ours once this returns. */
        driver->cuStreamSynchronize(up_stream);
        driver->cuStreamSynchronize(down_stream);
    }
    TRY(echi_cuda_check(ctx, driver, atomic_load(&x.error), "a copy over the link"));
    for (int i = 0; i < downs; i++)
        if (down[i].bytes && !staged(&x.down, &down[i])) {
            CU(cuStreamSynchronize, down_stream);
            break;
        }
done:
    return status;
}
