/*
 * io/gzip_encode.c - compresses a gzip file by several threads.
 *
 *     header | job 0 | job 1 | ... | last job | CRC and length
 *
 * A job is 256 KiB of the input.  Its result consists of complete deflate blocks and ends at a
 * byte, so the results can be joined; its dictionary is the end of the job before.  The file has a
 * single member, and does not depend on the number of threads.  pigz uses the same method.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/gzip.h"

#ifdef ECHELON_ZLIB
#define ZLIB_CONST
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    JOB_BYTES = 256 << 10,
    DICTIONARY = 32 << 10,
    OUT_BYTES = JOB_BYTES + 1024, /* more than deflateBound() and a flush */
    MOST_THREADS = 16,
    LEVEL = 6,
    MEMORY = 8,
    HEADER = 10,
    TRAILER = 8
};

struct job {
    bool done, last, bad;
    size_t in_bytes, dictionary_bytes, out_bytes;
    uLong crc;
    unsigned char dictionary[DICTIONARY], in[JOB_BYTES], out[OUT_BYTES];
};

struct encoder {
    /* The ring: jobs delivered .. made-1 wait for a thread, run, or are done; job made is filled.
     */
    struct job *jobs;
    unsigned count;
    uint64_t made, begun, delivered;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool stop;

    unsigned wanted, threads;
    pthread_t thread[MOST_THREADS];
    z_stream z[MOST_THREADS]; /* without threads, the first one is used */

    bool filling, complete; /* job made has begun; the last job was made */
    bool headed, ended;     /* the header, the trailer is in the output */
    bool bad;               /* a job failed */
    size_t at;              /* bytes of job delivered in the output */
    uLong crc;
    uint64_t length; /* of the delivered jobs */
};

struct worker {
    struct encoder *encoder;
    z_stream *z;
};

static struct job *job_at(const struct encoder *e, uint64_t i)
{
    return &e->jobs[i % e->count];
}

/* ---- Run jobs ---- */

static void run_job(z_stream *z, struct job *job)
{
    deflateReset(z);
    if (job->dictionary_bytes)
        deflateSetDictionary(z, job->dictionary, (uInt)job->dictionary_bytes);
    z->next_in = job->in;
    z->avail_in = (uInt)job->in_bytes;
    z->next_out = job->out;
    z->avail_out = OUT_BYTES;
    const int result = deflate(z, job->last ? Z_FINISH : Z_SYNC_FLUSH);
    job->bad = result != (job->last ? Z_STREAM_END : Z_OK) || z->avail_in || !z->avail_out;
    job->out_bytes = OUT_BYTES - z->avail_out;
    job->crc = crc32(crc32(0, NULL, 0), job->in, (uInt)job->in_bytes);
}

static void *run(void *argument)
{
    const struct worker worker = *(struct worker *)argument;
    struct encoder *e = worker.encoder;
    free(argument);
    for (;;) {
        pthread_mutex_lock(&e->mutex);
        while (e->begun == e->made && !e->stop) /* until encode() has made a job */
            pthread_cond_wait(&e->changed, &e->mutex);
        struct job *job = e->stop ? NULL : job_at(e, e->begun++);
        pthread_mutex_unlock(&e->mutex);
        if (!job) return NULL;
        run_job(worker.z, job);
        pthread_mutex_lock(&e->mutex);
        job->done = true;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->mutex);
    }
}

static bool is_done(struct encoder *e, const struct job *job)
{
    pthread_mutex_lock(&e->mutex);
    const bool done = job->done;
    pthread_mutex_unlock(&e->mutex);
    return done;
}

/* Waits for the first job that is not delivered, or runs it if there are no threads. */
static void finish_job(struct encoder *e)
{
    struct job *job = job_at(e, e->delivered);
    if (!e->threads) {
        run_job(e->z, job);
        job->done = true;
        return;
    }
    pthread_mutex_lock(&e->mutex);
    while (!job->done) /* until a thread has run it */
        pthread_cond_wait(&e->changed, &e->mutex);
    pthread_mutex_unlock(&e->mutex);
}

static bool open_deflate(z_stream *z)
{
    return deflateInit2(z, LEVEL, Z_DEFLATED, -MAX_WBITS, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
}

/* ---- Threads ---- */

/* Starts a thread; false if that is not possible. */
static bool start(struct encoder *e)
{
    struct worker *worker = malloc(sizeof *worker);
    if (!worker) return false;
    *worker = (struct worker){ e, &e->z[e->threads] };
    if (e->threads && !open_deflate(worker->z)) {
        free(worker);
        return false;
    }
    if (pthread_create(&e->thread[e->threads], NULL, run, worker) != 0) {
        if (e->threads) deflateEnd(worker->z);
        free(worker);
        return false;
    }
    e->threads++;
    return true;
}

/* A file of one job needs none. */
static void start_threads(struct encoder *e)
{
    while (e->threads < e->wanted && start(e)) continue;
}

/* ---- Input ---- */

/* Fills the next job, whose place in the ring is free; it is made when it is full, or the last. */
static void fill_job(struct encoder *e, struct io_flow *flow, bool last)
{
    struct job *job = job_at(e, e->made);
    if (!e->filling) {
        job->done = job->last = job->bad = false;
        job->in_bytes = job->dictionary_bytes = 0;
        if (e->made) {
            memcpy(job->dictionary, job_at(e, e->made - 1)->in + JOB_BYTES - DICTIONARY,
                   DICTIONARY);
            job->dictionary_bytes = DICTIONARY;
        }
        e->filling = true;
    }
    const size_t room = JOB_BYTES - job->in_bytes;
    const size_t some = flow->in_bytes < room ? flow->in_bytes : room;
    if (some) memcpy(job->in + job->in_bytes, flow->in, some);
    job->in_bytes += some;
    flow->in += some;
    flow->in_bytes -= some;
    job->last = e->complete = last && !flow->in_bytes;
    if (job->in_bytes < JOB_BYTES && !job->last) return;
    e->filling = false;
    if (!e->made && !job->last) start_threads(e);
    pthread_mutex_lock(&e->mutex);
    e->made++;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mutex);
}

/* ---- Output ---- */

/* Writes the n bytes from offset *at; returns whether all of them are in the output. */
static bool put(struct io_flow *flow, const unsigned char *bytes, size_t n, size_t *at)
{
    const size_t some = n - *at < flow->out_bytes ? n - *at : flow->out_bytes;
    memcpy(flow->out, bytes + *at, some);
    flow->out += some;
    flow->out_bytes -= some;
    *at += some;
    if (*at < n) return false;
    *at = 0;
    return true;
}

static bool put_trailer(struct encoder *e, struct io_flow *flow)
{
    unsigned char bytes[TRAILER];
    io_store(bytes, 4, (uint32_t)e->crc);
    io_store(bytes + 4, 4, (uint32_t)e->length);
    return put(flow, bytes, TRAILER, &e->at);
}

/* Writes what is ready; returns false if the output is full. */
static bool deliver(struct encoder *e, struct io_flow *flow)
{
    static const unsigned char header[HEADER] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 /* Unix */ };
    if (!e->headed && !put(flow, header, HEADER, &e->at)) return false;
    e->headed = true;
    while (e->delivered < e->made) {
        const struct job *job = job_at(e, e->delivered);
        if (!is_done(e, job)) return true;
        e->bad |= job->bad;
        if (!put(flow, job->out, job->out_bytes, &e->at)) return false;
        e->crc = crc32_combine(e->crc, job->crc, (z_off_t)job->in_bytes);
        e->length += job->in_bytes;
        e->delivered++;
    }
    if (e->complete) e->ended = e->ended || put_trailer(e, flow);
    return !e->complete || e->ended;
}

io_step io_gzip_encode(void *encoder, struct io_flow *flow, bool last, const char **fault)
{
    struct encoder *e = encoder;
    for (;;) {
        if (!deliver(e, flow)) return IO_STEP_MORE;
        if (e->bad) *fault = "an internal error";
        if (e->bad) return IO_STEP_BAD;
        if (e->ended) return IO_STEP_END;
        if (!flow->in_bytes && !last) return IO_STEP_MORE;
        if (e->complete || e->made - e->delivered == e->count)
            finish_job(e);
        else
            fill_job(e, flow, last);
    }
}

/* ---- Open and close ---- */

void *io_gzip_open_encoder(int threads)
{
    struct encoder *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->wanted = threads < 2              ? 0
                : threads < MOST_THREADS ? (unsigned)threads
                                         : (unsigned)MOST_THREADS;
    e->count = e->wanted ? 2 * e->wanted : 2;
    e->jobs = malloc(e->count * sizeof *e->jobs);
    e->crc = crc32(0, NULL, 0);
    if (!e->jobs || !open_deflate(e->z)) {
        free(e->jobs);
        free(e);
        return NULL;
    }
    pthread_mutex_init(&e->mutex, NULL);
    pthread_cond_init(&e->changed, NULL);
    return e;
}

void io_gzip_close_encoder(void *encoder)
{
    struct encoder *e = encoder;
    pthread_mutex_lock(&e->mutex);
    e->stop = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mutex);
    for (unsigned i = 0; i < e->threads; i++) pthread_join(e->thread[i], NULL);
    for (unsigned i = 0; i < e->threads || i < 1; i++) deflateEnd(&e->z[i]);
    pthread_mutex_destroy(&e->mutex);
    pthread_cond_destroy(&e->changed);
    free(e->jobs);
    free(e);
}
#endif
