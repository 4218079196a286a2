/*
 * io/pack.c - compresses an output in a thread, while the program makes the next blocks.
 *
 *     io_pack_write() --> blocks[0 .. BLOCKS-1], a ring --> encode() --> write()
 *
 * If no thread can be created, the writer compresses each block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "io/packing.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCKS = 4, BLOCK_BYTES = 1 << 20, OUT_BYTES = 256 << 10 };

struct io_pack {
    const struct io_codec *codec;
    void *encoder;
    int fd;
    const char *name;

    /* The ring: blocks used .. made-1 are full. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t filled[BLOCKS];
    uint64_t made, used;
    bool end, stop;   /* no more blocks follow; give up */
    io_status status; /* of the encoder */
    struct io_error error;

    pthread_t thread;
    bool started, threaded;
    size_t fill; /* bytes in block made, which is not complete */
    unsigned char out[OUT_BYTES], blocks[BLOCKS][BLOCK_BYTES];
};

/* ---- Encode ---- */

static io_status write_all(struct io_pack *p, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t some = write(p->fd, p->out + done, n - done);
        if (some < 0 && errno == EINTR) continue;
        if (some < 0)
            return io_fail(&p->error, IO_FAIL, p->name, "cannot write: %s", strerror(errno));
        done += (size_t)some;
    }
    return IO_OK;
}

static io_status encode(struct io_pack *p, const unsigned char *bytes, size_t n, bool last)
{
    struct io_flow flow = { .in = bytes, .in_bytes = n };
    io_step step = IO_STEP_MORE;
    do {
        const char *fault = NULL;
        flow.out = p->out;
        flow.out_bytes = OUT_BYTES;
        step = p->codec->encode(p->encoder, &flow, last, &fault);
        if (step == IO_STEP_MEMORY)
            return io_fail(&p->error, IO_MEMORY, p->name, "out of memory: cannot compress it");
        if (step == IO_STEP_BAD)
            return io_fail(&p->error, IO_FAIL, p->name, "%s cannot compress it: %s",
                           p->codec->library, fault);
        const io_status status = write_all(p, OUT_BYTES - flow.out_bytes);
        if (status != IO_OK) return status;
    } while (last ? step != IO_STEP_END : flow.in_bytes || !flow.out_bytes);
    return IO_OK;
}

/* ---- The thread ---- */

static void *run(void *argument)
{
    struct io_pack *p = argument;
    for (;;) {
        pthread_mutex_lock(&p->mutex);
        while (p->made == p->used && !p->end && !p->stop) /* until the writer has made a block */
            pthread_cond_wait(&p->changed, &p->mutex);
        const bool last = p->made == p->used, end = p->stop || p->status != IO_OK;
        const unsigned i = (unsigned)(p->used % BLOCKS);
        pthread_mutex_unlock(&p->mutex);
        if (end) return NULL;
        const io_status status =
            last ? encode(p, p->blocks[0], 0, true) : encode(p, p->blocks[i], p->filled[i], false);
        pthread_mutex_lock(&p->mutex);
        p->status = status;
        if (!last) p->used++;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->mutex);
        if (last || status != IO_OK) return NULL;
    }
}

static void start(struct io_pack *p)
{
    p->threaded = pthread_create(&p->thread, NULL, run, p) == 0;
    p->started = true;
}

/* The current block is complete. */
static io_status hand_over(struct io_pack *p)
{
    const unsigned i = (unsigned)(p->made % BLOCKS);
    if (!p->fill) return IO_OK;
    if (!p->started) start(p);
    if (!p->threaded) {
        if (p->status == IO_OK) p->status = encode(p, p->blocks[i], p->fill, false);
        p->fill = 0;
        return p->status;
    }
    pthread_mutex_lock(&p->mutex);
    p->filled[i] = p->fill;
    p->made++;
    pthread_cond_signal(&p->changed);
    while (p->made - p->used == BLOCKS && p->status == IO_OK) /* until a block is free */
        pthread_cond_wait(&p->changed, &p->mutex);
    const io_status status = p->status;
    pthread_mutex_unlock(&p->mutex);
    p->fill = 0;
    return status;
}

/* ---- The writer ---- */

io_status io_pack_open(struct io_pack **pack, const struct io_codec *codec, int fd,
                       const char *name, int threads, struct io_error *error)
{
    *pack = NULL;
    struct io_pack *p = malloc(sizeof *p); /* not cleared: most of it is buffers */
    if (!p) return io_no_memory(error, name, sizeof *p, "its compression");
    memset(p, 0, offsetof(struct io_pack, out));
    p->codec = codec;
    p->fd = fd;
    p->name = name;
    p->encoder = codec->open_encoder(threads);
    if (!p->encoder) {
        free(p);
        return io_fail(error, IO_MEMORY, name, "out of memory: cannot compress it");
    }
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->changed, NULL);
    *pack = p;
    return IO_OK;
}

io_status io_pack_write(struct io_pack *p, const char *bytes, size_t n, struct io_error *error)
{
    io_status status = IO_OK;
    while (n && status == IO_OK) {
        const size_t room = BLOCK_BYTES - p->fill, some = n < room ? n : room;
        memcpy(p->blocks[p->made % BLOCKS] + p->fill, bytes, some);
        p->fill += some;
        bytes += some;
        n -= some;
        if (p->fill == BLOCK_BYTES) status = hand_over(p);
    }
    if (status != IO_OK) *error = p->error;
    return status;
}

/* Waits for the end of the thread. */
static void join(struct io_pack *p)
{
    if (!p->threaded) return;
    pthread_mutex_lock(&p->mutex);
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    pthread_join(p->thread, NULL);
    p->threaded = false;
}

io_status io_pack_finish(struct io_pack *p, struct io_error *error)
{
    io_status status = hand_over(p);
    if (status == IO_OK && !p->threaded) {
        status = encode(p, p->blocks[0], 0, true);
    } else if (status == IO_OK) {
        pthread_mutex_lock(&p->mutex);
        p->end = true;
        pthread_mutex_unlock(&p->mutex);
        join(p);
        status = p->status;
    }
    if (status != IO_OK) *error = p->error;
    return status;
}

void io_pack_close(struct io_pack *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->mutex);
    p->stop = true;
    pthread_mutex_unlock(&p->mutex);
    join(p);
    pthread_mutex_destroy(&p->mutex);
    pthread_cond_destroy(&p->changed);
    p->codec->close_encoder(p->encoder);
    free(p);
}
