/*
 * io/unpack.c - decompresses a source in a thread, a few blocks ahead of the reader.
 *
 *     read() --> decode() --> blocks[0 .. BLOCKS-1], a ring --> io_unpack_read()
 *
 * Memory is constant, apart from the window of the codec, so the memory of the reader grows only
 * with the bytes that were produced.  If no thread can be created, the reader decodes each block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pipe2() */
#include "io/packing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCKS = 4, BLOCK_BYTES = 256 << 10, IN_BYTES = 64 << 10 };

struct io_unpack {
    const struct io_codec *codec;
    void *decoder;
    int fd;
    const char *name;

    /* The thread that decodes. */
    const unsigned char *in;
    size_t in_bytes;
    atomic_uint_fast64_t taken; /* bytes of the file that were read */
    bool ended;                 /* there are no more */
    bool between;               /* the part ended, and no byte of another one was decoded */
    uint64_t parts, part_bytes; /* that ended; produced by the current one */

    /* The ring: blocks used .. made-1 are full. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t filled[BLOCKS], at; /* bytes of each; those that were read of the first */
    uint64_t made, used;
    bool done, stop;  /* no more blocks follow; io_unpack_close() was called */
    io_status status; /* after the last block */
    struct io_error error;

    pthread_t thread;
    bool threaded;
    int wake[2]; /* a pipe that interrupts poll(); -1: none */
    unsigned char own[IN_BYTES], blocks[BLOCKS][BLOCK_BYTES];
};

/* ---- Decode ---- */

/* Waits until fd has bytes; returns false if io_unpack_close() was called. */
static bool wait_for_input(const struct io_unpack *u)
{
    struct pollfd files[2] = { { .fd = u->fd, .events = POLLIN },
                               { .fd = u->wake[0], .events = POLLIN } };
    if (!u->threaded) return true;
    while (poll(files, 2, -1) < 0 && errno == EINTR) continue;
    return !files[1].revents;
}

static io_status read_input(struct io_unpack *u)
{
    if (u->fd < 0 || !wait_for_input(u)) {
        u->ended = true;
        return IO_OK;
    }
    ssize_t n;
    do n = read(u->fd, u->own, IN_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0) return io_fail(&u->error, IO_FAIL, u->name, "cannot read: %s", strerror(errno));
    u->in = u->own;
    u->in_bytes = (size_t)n;
    u->ended = n == 0;
    atomic_fetch_add(&u->taken, (uint64_t)n);
    return IO_OK;
}

static io_status bad_data(struct io_unpack *u, const char *fault)
{
    const char *format = u->codec->name, *advice = "";
    const unsigned long long taken = atomic_load(&u->taken);
    if (u->parts && !u->part_bytes)
        return io_fail(
            &u->error, IO_FAIL, u->name,
            "bytes that are not %s data follow its end, within the first %llu bytes (%s)", format,
            taken, fault);
    if (!u->part_bytes && !io_codec_from_extension(u->name))
        advice = "; if the file contains raw elements, give --format raw";
    return io_fail(&u->error, IO_FAIL, u->name,
                   "cannot decompress the %s data, within the first %llu bytes: %s%s", format,
                   taken, fault, advice);
}

static io_status truncated(struct io_unpack *u)
{
    if (u->parts && !u->part_bytes) return bad_data(u, "they are incomplete");
    return io_fail(&u->error, IO_FAIL, u->name,
                   "is truncated: the %s data does not end within its %llu bytes", u->codec->name,
                   (unsigned long long)atomic_load(&u->taken));
}

/* Decodes until a block is full, or the file ends.  *got: the bytes in the block. */
static io_status produce(struct io_unpack *u, unsigned char *block, size_t *got)
{
    struct io_flow flow = { .out = block, .out_bytes = BLOCK_BYTES };
    io_status status = IO_OK;
    while (flow.out_bytes && status == IO_OK) {
        if (!u->in_bytes && !u->ended) status = read_input(u);
        if (status != IO_OK || (u->ended && u->between)) break;
        const size_t before = flow.out_bytes;
        const char *fault = NULL;
        flow.in = u->in;
        flow.in_bytes = u->in_bytes;
        const io_step step = u->codec->decode(u->decoder, &flow, &fault);
        const bool still = flow.in_bytes == u->in_bytes && flow.out_bytes == before;
        u->in = flow.in;
        u->in_bytes = flow.in_bytes;
        u->part_bytes += before - flow.out_bytes;
        u->between = step == IO_STEP_END;
        if (step == IO_STEP_END) {
            u->parts++;
            u->part_bytes = 0;
        } else if (step == IO_STEP_BAD) {
            status = bad_data(u, fault);
        } else if (step == IO_STEP_MEMORY) {
            status = io_fail(&u->error, IO_MEMORY, u->name, "out of memory: cannot decompress it");
        } else if (still && u->ended) {
            status = truncated(u);
        }
    }
    *got = BLOCK_BYTES - flow.out_bytes;
    return status;
}

/* ---- The thread ---- */

/* Makes one block. */
static void make_block(struct io_unpack *u)
{
    const unsigned i = (unsigned)(u->made % BLOCKS);
    size_t got;
    const io_status status = produce(u, u->blocks[i], &got);
    pthread_mutex_lock(&u->mutex);
    u->filled[i] = got;
    if (got) u->made++;
    u->status = status;
    u->done = status != IO_OK || got < BLOCK_BYTES;
    pthread_cond_signal(&u->changed);
    pthread_mutex_unlock(&u->mutex);
}

static void *run(void *argument)
{
    struct io_unpack *u = argument;
    for (;;) {
        pthread_mutex_lock(&u->mutex);
        while (u->made - u->used == BLOCKS && !u->stop) /* until the reader has used a block */
            pthread_cond_wait(&u->changed, &u->mutex);
        const bool end = u->stop || u->done;
        pthread_mutex_unlock(&u->mutex);
        if (end) return NULL;
        make_block(u);
    }
}

static void start(struct io_unpack *u)
{
    if (u->fd < 0 || pipe2(u->wake, O_CLOEXEC) != 0) {
        u->wake[0] = u->wake[1] = -1;
        return;
    }
    u->threaded = true; /* the thread reads it */
    if (pthread_create(&u->thread, NULL, run, u) != 0) u->threaded = false;
}

io_status io_unpack_open(struct io_unpack **unpack, const struct io_codec *codec, int fd,
                         const char *name, const unsigned char *first, size_t first_bytes,
                         struct io_error *error)
{
    *unpack = NULL;
    if (!codec->decode)
        return io_fail(error, IO_FAIL, name,
                       "is compressed by %s, but this program was built without %s: decompress the "
                       "file with \"%s -dc\", or install the package %s and build again",
                       codec->name, codec->library, codec->program, codec->package);
    struct io_unpack *u = malloc(sizeof *u); /* not cleared: most of it is buffers */
    if (!u) return io_no_memory(error, name, sizeof *u, "its decompression");
    memset(u, 0, offsetof(struct io_unpack, own));
    u->codec = codec;
    u->fd = fd;
    u->name = name;
    u->in = first;
    u->in_bytes = first_bytes;
    atomic_init(&u->taken, first_bytes);
    u->decoder = codec->open_decoder();
    if (!u->decoder) {
        free(u);
        return io_fail(error, IO_MEMORY, name, "out of memory: cannot decompress it");
    }
    if (fd >= 0 && first_bytes) {
        memcpy(u->own, first, first_bytes);
        u->in = u->own;
    }
    pthread_mutex_init(&u->mutex, NULL);
    pthread_cond_init(&u->changed, NULL);
    start(u);
    *unpack = u;
    return IO_OK;
}

void io_unpack_close(struct io_unpack *u)
{
    if (!u) return;
    if (u->threaded) {
        pthread_mutex_lock(&u->mutex);
        u->stop = true;
        pthread_cond_signal(&u->changed);
        pthread_mutex_unlock(&u->mutex);
        close(u->wake[1]); /* poll() reports that the other end is closed */
        u->wake[1] = -1;
        pthread_join(u->thread, NULL);
    }
    for (int i = 0; i < 2; i++)
        if (u->wake[i] >= 0) close(u->wake[i]);
    pthread_mutex_destroy(&u->mutex);
    pthread_cond_destroy(&u->changed);
    u->codec->close_decoder(u->decoder);
    free(u);
}

/* ---- The reader ---- */

/* Waits for a block.  Returns its size, or 0 at the end. */
static size_t next_block(struct io_unpack *u)
{
    if (!u->threaded && u->made == u->used && !u->done) make_block(u);
    pthread_mutex_lock(&u->mutex);
    while (u->made == u->used && !u->done) /* until the thread has made a block */
        pthread_cond_wait(&u->changed, &u->mutex);
    const size_t bytes = u->made == u->used ? 0 : u->filled[u->used % BLOCKS];
    pthread_mutex_unlock(&u->mutex);
    return bytes;
}

io_status io_unpack_read(struct io_unpack *u, void *to, size_t want, size_t *got,
                         struct io_error *error)
{
    const size_t bytes = next_block(u);
    *got = 0;
    if (!bytes) {
        if (u->status != IO_OK) *error = u->error;
        return u->status;
    }
    *got = bytes - u->at < want ? bytes - u->at : want;
    memcpy(to, u->blocks[u->used % BLOCKS] + u->at, *got);
    u->at += *got;
    if (u->at < bytes) return IO_OK;
    pthread_mutex_lock(&u->mutex);
    u->at = 0;
    u->used++;
    pthread_cond_signal(&u->changed);
    pthread_mutex_unlock(&u->mutex);
    return IO_OK;
}

uint64_t io_unpack_taken(const struct io_unpack *u)
{
    return atomic_load(&u->taken);
}
