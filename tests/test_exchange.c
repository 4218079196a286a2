/*
 * test_exchange.c - bidirectional copies that overlap with work, step by step, on a driver with
 * delayed streams: every operation waits for its inputs, and after a failure nothing is in flight.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/exchange.h"
#include "late_driver.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 5, ARRAYS = 2, GUARD = 64 };

/* ---- Replacements for other files of the library ---- */

ech_status echi_cuda_check(ech_ctx *ctx, const struct echi_driver *driver, CUresult result,
                           const char *call)
{
    (void)driver;
    return result == CUDA_SUCCESS ? ECH_OK : echi_fail(ctx, ECH_ERR_DEVICE, "%s failed", call);
}

CUstream echi_cuda_stream(const ech_ctx *ctx)
{
    return ((const struct echi_cuda *)ctx->state)->own_stream;
}

/* ---- An exchange: copies pieces of host arrays to the device and back ---- */

struct kind {
    size_t steps, buffers, bytes; /* approximate size of a step's array */
    int threads;
    bool up_pinned[ARRAYS], down_pinned[ARRAYS], one_stream;
};

struct job {
    const struct kind *kind;
    size_t bytes[ARRAYS];
    unsigned char *in, *out, *device;
    struct echi_move up[2][ARRAYS * PIECES], down[2][ARRAYS];
    ech_status fails; /* the result of the work function */
};

static size_t step_bytes(const struct job *j)
{
    return j->bytes[0] + j->bytes[1] + GUARD;
}

static unsigned char *device_of(const struct job *j, size_t step, int array)
{
    return j->device + step % j->kind->buffers * step_bytes(j) + (array ? j->bytes[0] : 0);
}

static unsigned char byte_at(size_t step, size_t i)
{
    return (unsigned char)(i * 131 + i / 251 + step * 17);
}

/* Writes byte_at() of n positions. */
static void fill(unsigned char *to, size_t step, size_t from, size_t n)
{
    enum { PERIOD = 256 * 251 };
    for (size_t b = 0; b < n; b++) to[b] = b < PERIOD ? byte_at(step, from + b) : to[b - PERIOD];
}

static unsigned char changed(size_t step, unsigned char byte)
{
    return (unsigned char)(byte * 3 + step);
}

/* The pieces are in reverse order in host memory. */
static int up(void *user, size_t step, struct echi_move **moves)
{
    struct job *j = user;
    struct echi_move *m = *moves = j->up[step % 2];
    unsigned char *host = j->in + (step + 1) * step_bytes(j);
    for (int a = 0; a < ARRAYS; a++)
        for (int p = 0; p < PIECES; p++, m++) {
            size_t from = j->bytes[a] * (size_t)p * (size_t)p / (PIECES * PIECES);
            size_t end = j->bytes[a] * (size_t)(p + 1) * (size_t)(p + 1) / (PIECES * PIECES);
            host -= end - from;
            *m = (struct echi_move){ host, device_of(j, step, a) + from, end - from,
                                     j->kind->up_pinned[a] };
        }
    return ARRAYS * PIECES;
}

static int down(void *user, size_t step, struct echi_move **moves)
{
    struct job *j = user;
    struct echi_move *m = *moves = j->down[step % 2];
    for (int a = 0; a < ARRAYS; a++)
        m[a] = (struct echi_move){ j->out + step * step_bytes(j) + (a ? j->bytes[0] : 0),
                                   device_of(j, step, a), j->bytes[a], j->kind->down_pinned[a] };
    return ARRAYS;
}

static void change(void *arg, size_t step)
{
    struct job *j = arg;
    unsigned char *bytes = device_of(j, step, 0);
    for (size_t i = 0; i < j->bytes[0] + j->bytes[1]; i++) bytes[i] = changed(step, bytes[i]);
}

static ech_status work(ech_ctx *ctx, void *user, size_t step)
{
    struct job *j = user;
    late_call(echi_cuda_stream(ctx), change, j, step);
    if (step + 1 < j->kind->steps || j->fails == ECH_OK) return ECH_OK;
    return echi_fail(ctx, j->fails, "work fails");
}

static bool make_job(struct job *j, const struct kind *kind)
{
    *j = (struct job){ .kind = kind, .bytes = { kind->bytes, kind->bytes / 2 + 13 } };
    size_t bytes = step_bytes(j);
    j->in = malloc(kind->steps * bytes);
    j->out = malloc(kind->steps * bytes);
    j->device = malloc(kind->buffers * bytes);
    if (!CHECK(j->in && j->out && j->device)) return false;
    memset(j->out, 0x5C, kind->steps * bytes);
    memset(j->in, 0, kind->steps * bytes);
    for (size_t s = 0; s < kind->steps; s++) {
        struct echi_move *m;
        int count = up(j, s, &m);
        for (int i = 0; i < count; i++)
            fill(m[i].host, s, (size_t)((unsigned char *)m[i].device - device_of(j, s, 0)),
                 m[i].bytes);
    }
    return true;
}

static void check_out(const struct job *j)
{
    for (size_t s = 0; s < j->kind->steps; s++)
        for (size_t i = 0; i < step_bytes(j); i++) {
            unsigned char wanted = i < j->bytes[0] + j->bytes[1] ? changed(s, byte_at(s, i)) : 0x5C;
            if (j->out[s * step_bytes(j) + i] == wanted) continue;
            test_fail(__FILE__, __LINE__, "step %zu, byte %zu is %d instead of %d", s, i,
                      j->out[s * step_bytes(j) + i], wanted);
            return;
        }
}

static ech_status exchange(ech_ctx *ctx, struct job *j)
{
    const struct kind *k = j->kind;
    const struct echi_cuda *cuda = ctx->state;
    struct echi_exchange x = { .steps = k->steps,
                               .buffers = k->buffers,
                               .up_stream = k->one_stream ? cuda->own_stream : cuda->link[0],
                               .down_stream = k->one_stream ? cuda->own_stream : cuda->link[1],
                               .up = up,
                               .down = down,
                               .work = work,
                               .user = j };
    for (int a = 0; a < ARRAYS; a++)
        x.pageable_bytes +=
            k->steps * j->bytes[a] * ((size_t)!k->up_pinned[a] + (size_t)!k->down_pinned[a]);
    ctx->threads = k->threads;
    return echi_cuda_exchange(ctx, &x);
}

static void free_job(struct job *j)
{
    free(j->in);
    free(j->out);
    free(j->device);
}

/* ---- Cases ---- */

static void make_context(ech_ctx *ctx, struct echi_cuda *cuda, struct echi_driver *driver)
{
    late_driver(driver);
    *cuda = (struct echi_cuda){ .driver = driver };
    *ctx = (ech_ctx){ .state = cuda, .processors = &ctx->processors_state };
    driver->cuStreamCreate(&cuda->own_stream, 0);
    for (int i = 0; i < 2; i++) driver->cuStreamCreate(&cuda->link[i], 0);
}

static void close_context(struct echi_cuda *cuda)
{
    echi_cuda_close_slots(cuda);
    cuda->driver->cuStreamDestroy(cuda->own_stream);
}

static const struct kind kinds[] = {
    { 1, 1, 3000, 1, { 0 }, { 0 }, true },
    { 1, 1, 3000000, 4, { 0 }, { 0 }, true },
    { 1, 1, 3000000, 4, { 1, 0 }, { 0, 1 }, true },
    { 1, 1, 5000000, 0, { 1, 1 }, { 0, 0 }, false },
    { 9, 4, 1000, 1, { 0 }, { 0 }, false },
    { 9, 4, 70000, 3, { 0 }, { 0 }, false },
    { 30, 4, 7, 6, { 0 }, { 0 }, false },
    { 12, 4, 300000, 13, { 0 }, { 0 }, false },
    { 12, 4, 300000, 6, { 1, 1 }, { 0 }, false },
    { 12, 3, 300000, 6, { 0 }, { 1, 1 }, false },
    { 12, 2, 300000, 5, { 0, 1 }, { 1, 0 }, false },
    { 12, 1, 300000, 5, { 1, 0 }, { 1, 0 }, false },
    { 12, 4, 300000, 5, { 1, 1 }, { 1, 1 }, false },
    { 3, 4, 3000000, 13, { 0 }, { 0 }, false },
    { 3, 2, 9000000, 7, { 0 }, { 0 }, false }, /* copies of the maximum size, and a remainder */
};

static bool begin(const char *what, const struct kind *k)
{
    return test_begin("%s(steps=%zu,buffers=%zu,bytes=%zu,threads=%d,pinned=%d%d%d%d,streams=%d)",
                      what, k->steps, k->buffers, k->bytes, k->threads, k->up_pinned[0],
                      k->up_pinned[1], k->down_pinned[0], k->down_pinned[1], k->one_stream ? 1 : 3);
}

static void succeeds(ech_ctx *ctx, const struct kind *kind)
{
    struct job j;
    if (!begin("exchange", kind)) return;
    for (int turn = 0; turn < 3 && !test_failed() && make_job(&j, kind); turn++) {
        CHECK_STATUS(exchange(ctx, &j), ECH_OK);
        check_out(&j);
        free_job(&j);
    }
    test_end();
}

static void fails(ech_ctx *ctx, const struct kind *kind)
{
    struct job j;
    ech_status status = ECH_ERR_DEVICE;
    const long part = kind->bytes > 100000 ? 1 : 4; /* fewer positions of calls that take long */
    if (!begin("failing exchange", kind)) return;
    for (long most = 0; status != ECH_OK && !test_failed() && make_job(&j, kind);
         most += most / part + 1) {
        late_fail_after(most);
        status = exchange(ctx, &j);
        late_fail_after(-1);
        if (status == ECH_OK)
            check_out(&j);
        else
            CHECK_INT(status, ECH_ERR_DEVICE);
        CHECK_INT(late_left(), 0);
        free_job(&j);
    }
    CHECK_INT(status, ECH_OK);
    if (make_job(&j, kind)) {
        j.fails = ECH_ERR_MEMORY;
        CHECK_STATUS(exchange(ctx, &j), ECH_ERR_MEMORY);
        CHECK_INT(late_left(), 0);
        free_job(&j);
    }
    test_end();
}

int main(int argc, char **argv)
{
    struct echi_driver driver;
    struct echi_cuda cuda;
    ech_ctx ctx;
    test_main(argc, argv);
    make_context(&ctx, &cuda, &driver);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        succeeds(&ctx, &kinds[k]);
        fails(&ctx, &kinds[k]);
    }
    close_context(&cuda);
    return test_finish();
}
