/*
 * sort/cuda/host.c - sorts of host memory on the GPU: copied in, sorted in place, copied out; in
 * chunks (out of core) if the arrays do not fit.
 *
 *     the array   | chunk 0 | chunk 1 | chunk 2 |    each is sorted on the GPU, and is a run
 *     the runs    | a b c d | e f g h | i j k l |    in temporary host memory
 *     the output  | range 0 = a e f i | range 1 = b g j k | ...    ranges of a chunk's size: pieces
 *                                 of the runs (sort/runs.c), sorted again, stably, in run order
 *
 * Both passes are the same pipeline over four chunks of device memory (exchange.c): while one is
 * sorted, the next are copied in and the previous are copied out.  No temporary host memory is
 * pinned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* madvise */
#include "arrange/arrange.h"
#include "core/call.h"
#include "cpu/cpu.h"
#include "cuda/exchange.h"
#include "sort/cuda/plan.h"
#include "sort/runs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { KEYS, VALUES, ARRAYS, CHUNKS = ECHI_LINK_BUFFERS };

struct host_sort {
    const struct echi_sort *sort;
    const void *in[ARRAYS]; /* in host memory; NULL: none, or generated on the device */
    void *out[ARRAYS];      /* NULL: not requested */
    bool in_pinned[ARRAYS], out_pinned[ARRAYS];
    size_t bytes[ARRAYS]; /* of an element; 0: none */
    struct whole *whole;  /* if sorted as a whole */

    /* Out of core: */
    size_t n;                  /* maximum size of a chunk */
    size_t chunks, each, more; /* plan_chunks() */
    size_t device_bytes, work_bytes;
    void *device, *work;
    void *chunk[CHUNKS][ARRAYS];
    char *runs[ARRAYS]; /* temporary host memory, mapped */
    bool merging;       /* the second pass */
    size_t *numbers;    /* allocation of the next four */
    size_t *cut[2];     /* [chunks]: start and end of the current range in each run */
    size_t *scratch;    /* [2 chunks] */
    size_t *starts;     /* [chunks + 1] */
    struct echi_move *up[2], down[ARRAYS]; /* of steps in turns */
};

static const struct echi_driver *driver_of(const ech_ctx *ctx)
{
    return ((const struct echi_cuda *)ctx->state)->driver;
}

static ech_status find_pinned(ech_ctx *ctx, const void *pointer, bool *pinned)
{
    bool on_device = false;
    *pinned = false;
    return pointer ? echi_cuda_side(ctx, pointer, &on_device, pinned) : ECH_OK;
}

static ech_status describe(ech_ctx *ctx, const struct echi_sort *s, struct host_sort *h)
{
    ech_status status = ECH_OK;
    *h = (struct host_sort){ .sort = s,
                             .in = { s->keys_in, s->index_bytes ? NULL : s->values_in },
                             .out = { s->keys_out, s->values_out },
                             .bytes = { (size_t)s->key_bytes, s->value_bytes } };
    for (int i = 0; i < ARRAYS; i++) {
        TRY(find_pinned(ctx, h->in[i], &h->in_pinned[i]));
        TRY(find_pinned(ctx, h->out[i], &h->out_pinned[i]));
    }
done:
    return status;
}

/* ---- Sizes and memory ---- */

struct whole {
    struct echi_sort on; /* the sort on the device */
    const void *plan;    /* its plan */
    void *work;
    struct echi_move up[ARRAYS], down[ARRAYS];
};

/* Lays out the device memory of a sort as a whole from base, or measures it if base is NULL. w->on
 * becomes that sort. */
static void lay_out_whole(const struct host_sort *h, void *base, struct whole *w, size_t *bytes)
{
    const struct echi_sort *s = h->sort;
    struct echi_layout layout = { .base = base };
    struct echi_sort *on = &w->on;
    *on = *s;
    void *keys = echi_part(&layout, s->n, h->bytes[KEYS]);
    void *values = echi_part(&layout, s->n, h->bytes[VALUES]);
    on->keys_in = keys;
    on->keys_out = s->index_bytes ? NULL : keys;
    on->values_in = s->index_bytes || !s->value_bytes ? NULL : values;
    on->values_out = s->value_bytes ? values : NULL;
    w->work = echi_part(&layout, h->work_bytes, 1);
    *bytes = layout.overflow ? SIZE_MAX : layout.bytes;
}

static int whole_up(void *user, size_t step, struct echi_move **moves)
{
    struct whole *w = user;
    (void)step;
    *moves = w->up;
    return ARRAYS;
}

static int whole_down(void *user, size_t step, struct echi_move **moves)
{
    struct whole *w = user;
    (void)step;
    *moves = w->down;
    return ARRAYS;
}

static ech_status whole_sort(ech_ctx *ctx, void *user, size_t step)
{
    const struct whole *w = user;
    (void)step;
    return echi_cuda_sort.run(ctx, &w->on, w->plan, w->work);
}

/* A step. */
static ech_status sort_whole(ech_ctx *ctx, void *user)
{
    const struct host_sort *h = user;
    struct whole *whole = h->whole;
    CUstream stream = echi_cuda_stream(ctx);
    void *const device[ARRAYS] = { (void *)(uintptr_t)whole->on.keys_in, whole->on.values_out };
    struct echi_exchange x = { .steps = 1,
                               .buffers = 1,
                               .up_stream = stream,
                               .down_stream = stream,
                               .up = whole_up,
                               .down = whole_down,
                               .work = whole_sort,
                               .user = whole };
    for (int i = 0; i < ARRAYS; i++) {
        size_t bytes = h->sort->n * h->bytes[i];
        whole->up[i] = (struct echi_move){ (void *)(uintptr_t)h->in[i], device[i],
                                           h->in[i] ? bytes : 0, h->in_pinned[i] };
        whole->down[i] =
            (struct echi_move){ h->out[i], device[i], h->out[i] ? bytes : 0, h->out_pinned[i] };
        if (!h->in_pinned[i]) x.pageable_bytes += whole->up[i].bytes;
        if (!h->out_pinned[i]) x.pageable_bytes += whole->down[i].bytes;
    }
    return echi_cuda_exchange(ctx, &x);
}

/* ---- Out of core: memory ---- */

/* The sort of a chunk of n elements, in place; indices are values by then. */
static struct echi_sort chunk_sort(const struct host_sort *h, size_t n)
{
    struct echi_sort s = *h->sort;
    s.n = n;
    s.index_bytes = 0;
    return s;
}

/* The minimum number of chunks of at most n elements, equal in size except that the first have one
 * more. */
static void plan_chunks(struct host_sort *h, size_t n)
{
    size_t all = h->sort->n;
    h->n = n;
    h->chunks = (all + n - 1) / n;
    h->each = all / h->chunks;
    h->more = all % h->chunks;
}

/* Lays out the chunks and the workspace, or measures them if base is NULL. For a chunk with one
 * element less, another algorithm with a larger workspace may be chosen. */
static ech_status lay_out_chunks(struct host_sort *h, size_t n, void *base)
{
    ech_status status = ECH_OK;
    struct echi_layout layout = { .base = base };
    plan_chunks(h, n);
    h->work_bytes = 0;
    for (size_t more = 0; more <= (h->more != 0); more++) {
        struct echi_sort s = chunk_sort(h, h->each + more);
        size_t bytes;
        TRY(echi_operation_workspace(&echi_cuda_sort, &s, &bytes));
        if (bytes > h->work_bytes) h->work_bytes = bytes;
    }
    for (int c = 0; c < CHUNKS; c++)
        for (int i = 0; i < ARRAYS; i++) h->chunk[c][i] = echi_part(&layout, n, h->bytes[i]);
    h->work = echi_part(&layout, h->work_bytes, 1);
    h->device_bytes = layout.overflow ? SIZE_MAX : layout.bytes;
done:
    return status;
}

/* The largest chunks that fit in `room` bytes; more than LINK_CHUNKS chunks are only used if they
 * are small. */
static ech_status choose_chunk(struct host_sort *h, size_t room)
{
    size_t n = h->sort->n, each = h->bytes[KEYS] + h->bytes[VALUES];
    size_t low = 0, high = n / LINK_CHUNKS + 1;
    if (high < LINK_CHUNK_BYTES / each) high = LINK_CHUNK_BYTES / each;
    if (high > n) high = n;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        ech_status status = lay_out_chunks(h, middle, NULL);
        if (status != ECH_OK) return status;
        if (h->device_bytes <= room)
            low = middle;
        else
            high = middle - 1;
    }
    h->n = low;
    return low ? lay_out_chunks(h, low, NULL) : ECH_OK;
}

/* Device memory that can be allocated now. */
static ech_status find_room(ech_ctx *ctx, size_t *room)
{
    const struct echi_driver *driver = driver_of(ctx);
    ech_status status = ECH_OK;
    size_t free_bytes = 0, total_bytes = 0;
    uint64_t left = UINT64_MAX; /* of the limit */
    if (ctx->limit_bytes)
        left = ctx->held_bytes < ctx->limit_bytes ? ctx->limit_bytes - ctx->held_bytes : 0;
    CU(cuMemGetInfo, &free_bytes, &total_bytes);
    if (left > free_bytes - free_bytes / 32) { /* then memory that the pool keeps counts too */
        echi_cuda_trim_pool(ctx);
        CU(cuMemGetInfo, &free_bytes, &total_bytes);
    }
    *room = free_bytes - free_bytes / 32;
    if (left < *room) *room = (size_t)left;
done:
    return status;
}

static ech_status find_chunks(ech_ctx *ctx, struct host_sort *h)
{
    ech_status status = ECH_OK;
    size_t room = 0;
    TRY(find_room(ctx, &room));
    for (;; room /= 2) {
        if (choose_chunk(h, room) != ECH_OK) FAIL(ctx, ECH_ERR_ARG, "%s", ech_error(NULL));
        if (h->n < LINK_MIN_CHUNK && h->n < h->sort->n) break;
        status =
            echi_try_allocate(ctx, h->device_bytes, "chunks of a sort of host memory", &h->device);
        if (status == ECH_OK) return lay_out_chunks(h, h->n, h->device);
        if (status != ECH_ERR_MEMORY) return status;
    }
    h->device_bytes = 0;
    TRY(lay_out_chunks(h, LINK_MIN_CHUNK, NULL));
    size_t least = h->device_bytes;
    h->device_bytes = 0;
    FAIL(ctx, ECH_ERR_MEMORY,
         "out of memory on %s: a sort of host memory needs at least %zu bytes there", ctx->name,
         least);
done:
    return status;
}

void echi_cuda_drop_runs(struct echi_cuda *cuda)
{
    if (cuda->runs) munmap(cuda->runs, cuda->runs_bytes);
    cuda->runs = NULL;
    cuda->runs_bytes = 0;
}

/* The context keeps the runs for the next call, because allocating new pages takes as long as
 * copying them; large pages are allocated many times faster. */
static void *map_runs(struct echi_cuda *cuda, size_t bytes)
{
    if (cuda->runs_bytes >= bytes) return cuda->runs;
    echi_cuda_drop_runs(cuda);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(at, bytes, MADV_HUGEPAGE);
#endif
    cuda->runs = at;
    cuda->runs_bytes = bytes;
    return at;
}

static ech_status find_runs(ech_ctx *ctx, struct host_sort *h)
{
    ech_status status = ECH_OK;
    struct echi_layout layout = { .base = NULL };
    h->numbers = calloc(5 * h->chunks + 1, sizeof *h->numbers);
    h->up[0] = calloc(2 * ARRAYS * h->chunks, sizeof *h->up[0]);
    if (!h->numbers || !h->up[0])
        FAIL(ctx, ECH_ERR_MEMORY, "out of memory for %zu runs", h->chunks);
    h->up[1] = h->up[0] + ARRAYS * h->chunks;
    h->cut[0] = h->numbers;
    h->cut[1] = h->cut[0] + h->chunks;
    h->scratch = h->cut[1] + h->chunks;
    h->starts = h->scratch + 2 * h->chunks;
    for (size_t c = 0; c <= h->chunks; c++)
        h->starts[c] = c * h->each + (c < h->more ? c : h->more);
    for (int i = 0; i < ARRAYS; i++) echi_part(&layout, h->sort->n, h->bytes[i]);
    layout.base = map_runs(ctx->state, layout.bytes);
    if (!layout.base)
        FAIL(ctx, ECH_ERR_MEMORY, "out of host memory: %zu bytes for sorted runs", layout.bytes);
    layout.bytes = 0;
    for (int i = 0; i < ARRAYS; i++) h->runs[i] = echi_part(&layout, h->sort->n, h->bytes[i]);
done:
    return status;
}

static void release(ech_ctx *ctx, struct host_sort *h)
{
    free(h->numbers);
    free(h->up[0]);
    if (h->device) echi_release(ctx, h->device, h->device_bytes);
}

/* ---- Out of core: the pipeline ---- */

static size_t size_of(const struct host_sort *h, size_t c)
{
    return h->starts[c + 1] - h->starts[c];
}

/* The next range ends after the first `rank` elements of all runs. */
static void cut_runs(struct host_sort *h, size_t rank)
{
    const struct echi_runs runs = { .keys = h->runs[KEYS],
                                    .starts = h->starts,
                                    .runs = h->chunks,
                                    .key_bytes = h->sort->key_bytes,
                                    .begin_bit = h->sort->begin_bit,
                                    .end_bit = h->sort->end_bit,
                                    .order = h->sort->order };
    size_t *before = h->cut[0];
    h->cut[0] = h->cut[1];
    h->cut[1] = before;
    memcpy(h->cut[1], h->cut[0], h->chunks * sizeof *before);
    echi_runs_split(&runs, rank, h->cut[1], h->scratch);
}

/* The parts of chunk c: a piece of the input, or a piece of each run. */
static int moves_up(void *user, size_t c, struct echi_move **moves)
{
    struct host_sort *h = user;
    struct echi_move *up = *moves = h->up[c % 2];
    int count = 0;
    if (h->merging) cut_runs(h, h->starts[c + 1]);
    for (int i = 0; i < ARRAYS; i++) {
        char *device = h->chunk[c % CHUNKS][i];
        size_t bytes = h->bytes[i], runs = h->merging ? h->chunks : 0;
        if (!h->merging && h->in[i])
            up[count++] = (struct echi_move){ (char *)(uintptr_t)h->in[i] + h->starts[c] * bytes,
                                              device, size_of(h, c) * bytes, h->in_pinned[i] };
        for (size_t r = 0; r < runs && bytes; r++) {
            size_t from = h->cut[0][r], n = h->cut[1][r] - from;
            up[count++] = (struct echi_move){ h->runs[i] + (h->starts[r] + from) * bytes, device,
                                              n * bytes, false };
            device += n * bytes;
        }
    }
    return count;
}

static int moves_down(void *user, size_t c, struct echi_move **moves)
{
    struct host_sort *h = user;
    int count = 0;
    *moves = h->down;
    for (int i = 0; i < ARRAYS; i++) {
        char *to = h->merging ? h->out[i] : h->runs[i];
        if (!to || !h->bytes[i]) continue;
        h->down[count++] =
            (struct echi_move){ to + h->starts[c] * h->bytes[i], h->chunk[c % CHUNKS][i],
                                size_of(h, c) * h->bytes[i], h->merging && h->out_pinned[i] };
    }
    return count;
}

static ech_status sort_chunk(ech_ctx *ctx, void *user, size_t c)
{
    const struct host_sort *h = user;
    ech_status status = ECH_OK;
    struct echi_sort s = chunk_sort(h, size_of(h, c));
    void *const *chunk = h->chunk[c % CHUNKS];
    if (h->sort->index_bytes && !h->merging) {
        struct echi_arrange iota = { .what = ECHI_IOTA,
                                     .out = chunk[VALUES],
                                     .n = s.n,
                                     .element_bytes = (size_t)h->sort->index_bytes,
                                     .dtype = h->sort->index_bytes == 4 ? ECH_U32 : ECH_U64,
                                     .start = h->starts[c],
                                     .step = 1 };
        TRY(echi_operation_run(ctx, &echi_cuda_arrange, &iota, NULL));
    }
    s.keys_in = s.keys_out = chunk[KEYS];
    s.values_in = s.values_out = h->bytes[VALUES] ? chunk[VALUES] : NULL;
    TRY(echi_operation_run(ctx, &echi_cuda_sort, &s, h->work));
done:
    return status;
}

/* From the input to the runs, or from the runs to the output. */
static ech_status pipeline(ech_ctx *ctx, struct host_sort *h, bool merging)
{
    const struct echi_cuda *cuda = ctx->state;
    struct echi_exchange x = { .steps = h->chunks,
                               .buffers = CHUNKS,
                               .up_stream = cuda->link[0],
                               .down_stream = cuda->link[1],
                               .up = moves_up,
                               .down = moves_down,
                               .work = sort_chunk,
                               .user = h };
    h->merging = merging;
    for (int i = 0; i < ARRAYS; i++) {
        bool up = merging || (h->in[i] && !h->in_pinned[i]);
        bool down = !merging || (h->out[i] && !h->out_pinned[i]);
        x.pageable_bytes += h->sort->n * h->bytes[i] * ((size_t)up + (size_t)down);
    }
    return echi_cuda_exchange(ctx, &x);
}

/* Copies the runs back to arrays that are sorted in place, so that no element is lost. */
static void put_back(const struct host_sort *h)
{
    for (int i = 0; i < ARRAYS; i++)
        if (h->out[i] && h->out[i] == h->in[i])
            memcpy(h->out[i], h->runs[i], h->sort->n * h->bytes[i]);
}

/* After a failure: waits until no copy to or from the caller's memory is in flight. */
static void settle(const ech_ctx *ctx)
{
    const struct echi_cuda *cuda = ctx->state;
    cuda->driver->cuStreamSynchronize(echi_cuda_stream(ctx));
    for (int i = 0; i < 2; i++)
        if (cuda->link[i]) cuda->driver->cuStreamSynchronize(cuda->link[i]);
}

/* Two steps. */
static ech_status make_runs(ech_ctx *ctx, void *user)
{
    return pipeline(ctx, user, false);
}

static ech_status merge_runs(ech_ctx *ctx, void *user)
{
    return pipeline(ctx, user, true);
}

static ech_status prepare_parts(ech_ctx *ctx, struct host_sort *h)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    TRY(find_chunks(ctx, h));
    TRY(find_runs(ctx, h));
    for (int i = 0; i < 2; i++)
        if (!cuda->link[i]) CU(cuStreamCreate, &cuda->link[i], CU_STREAM_NON_BLOCKING);
    echi_log(ctx, ECH_LOG_INFO, "the sort does not fit on %s: %zu chunks of %zu elements",
             ctx->name, h->chunks, h->n);
    CU(cuStreamSynchronize, echi_cuda_stream(ctx)); /* allocations are ordered by the stream */
    if (echi_parallel_for_bytes(ctx, SIZE_MAX) > LINK_THREADS) /* pinned input: see LINK_THREADS */
        h->in_pinned[KEYS] = h->in_pinned[VALUES] = false;
done:
    return status;
}

/* ---- Steps ---- */

static void add_step(struct echi_steps *steps, struct host_sort *h, enum echi_phase phase,
                     const char *name, ech_status (*call)(ech_ctx *ctx, void *user))
{
    echi_step_add(steps, (struct echi_step){ .phase = phase,
                                             .kind = ECHI_CALL,
                                             .level = -1,
                                             .name = name,
                                             .call = call,
                                             .user = h });
}

ech_status echi_sort_run_host(ech_ctx *ctx, const void *request, const void *plan,
                              size_t work_bytes)
{
    struct host_sort h;
    struct whole whole = { .plan = plan };
    struct echi_steps steps;
    void *base = NULL;
    size_t bytes = 0;
    ech_status status = ECH_OK;
    TRY(describe(ctx, request, &h));
    h.work_bytes = work_bytes;
    steps.count = 0;
    lay_out_whole(&h, NULL, &whole, &bytes);
    if (bytes < SIZE_MAX) status = echi_try_allocate(ctx, bytes, "a sort of host memory", &base);
    if (status != ECH_OK && status != ECH_ERR_MEMORY) goto done;
    if (base) {
        lay_out_whole(&h, base, &whole, &bytes);
        h.whole = &whole;
        add_step(&steps, &h, ECHI_MOVE, "copy in, sort, copy out", sort_whole);
    } else {
        TRY(prepare_parts(ctx, &h));
        add_step(&steps, &h, ECHI_MOVE, "sort chunks into runs in host memory", make_runs);
        add_step(&steps, &h, ECHI_FINISH, "sort ranges of all runs into the output", merge_runs);
    }
    TRY(echi_cuda_enqueue(ctx, &steps, NULL, NULL));
done:
    if (status != ECH_OK) settle(ctx);
    if (status != ECH_OK && h.merging) put_back(&h);
    if (base) echi_release(ctx, base, bytes);
    release(ctx, &h);
    return status;
}
