/*
 * comm_table.c - communicators from a table of functions of the caller, which accepts memory of the
 * device or not, and the arguments of constructors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "comm/comm.h"
#include "comm_case.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct board {
    pthread_barrier_t barrier;
    bool accepts; /* memory of the device */
    const void *in[RANKS];
    const ech_comm_message *sends[RANKS];
    size_t n_sends[RANKS];
    int closed, aborted;
};

struct seat {
    struct board *board;
    int rank;
    ech_ctx *ctx;
    void *stream;         /* of ctx, as exchanges receive it */
    int exchanges, wrong; /* with a stream, with another one */
};

static ech_status board_allgather(void *state, const void *in, void *out, uint64_t bytes,
                                  double limit_s)
{
    const struct seat *s = state;
    (void)limit_s;
    s->board->in[s->rank] = in;
    pthread_barrier_wait(&s->board->barrier);
    for (int r = 0; r < RANKS; r++) memcpy((char *)out + (size_t)r * bytes, s->board->in[r], bytes);
    pthread_barrier_wait(&s->board->barrier);
    return ECH_OK;
}

/* With a stream: waits for it, as the header requires, and copies by the context. */
static ech_status board_exchange(void *state, const ech_comm_message *sends, size_t n_sends,
                                 const ech_comm_message *receives, size_t n_receives, void *stream,
                                 double limit_s)
{
    struct seat *s = state;
    struct board *b = s->board;
    ech_status status = ECH_OK;
    (void)limit_s;
    if (stream) s->exchanges++;
    if (stream && stream != s->stream) s->wrong++;
    if (stream && status == ECH_OK) status = ech_sync(s->ctx);
    b->sends[s->rank] = sends;
    b->n_sends[s->rank] = n_sends;
    pthread_barrier_wait(&b->barrier);
    for (size_t i = 0; i < n_receives; i++)
        for (size_t j = 0; receives[i].bytes && j < b->n_sends[receives[i].rank]; j++) {
            const ech_comm_message *m = &b->sends[receives[i].rank][j];
            if (m->rank != s->rank) continue;
            if (m->bytes != receives[i].bytes) status = ECH_ERR_COMM;
            if (status == ECH_OK && stream)
                status = ech_copy(s->ctx, receives[i].data, m->data, m->bytes);
            else if (status == ECH_OK)
                memcpy(receives[i].data, m->data, m->bytes);
        }
    pthread_barrier_wait(&b->barrier);
    return status;
}

static ech_status board_poll(void *state, char *message, size_t capacity_bytes)
{
    (void)state;
    snprintf(message, capacity_bytes, "the board reports an error");
    return ECH_OK;
}

static void board_abort(void *state, const char *reason)
{
    (void)reason;
    ((struct seat *)state)->board->aborted++;
}

static void board_close(void *state)
{
    ((struct seat *)state)->board->closed++;
}

static const ech_comm_table board_table = { .size = sizeof board_table,
                                            .ranks = RANKS,
                                            .allgather = board_allgather,
                                            .exchange = board_exchange,
                                            .poll = board_poll,
                                            .abort = board_abort,
                                            .close = board_close };

/* What exchanges of a context receive: that of half of all ranks is the default stream. */
static ech_status choose_stream(struct seat *s)
{
    ech_status status = ECH_OK;
    if (!s->board->accepts || test_is_cpu(s->ctx)) return ECH_OK;
    if (s->rank % 2) status = ech_set_private_stream(s->ctx);
    if (status == ECH_OK) status = ech_get_stream(s->ctx, &s->stream);
    if (!s->stream) s->stream = (void *)1; /* cudaStreamLegacy */
    return status;
}

/* Sorts arrays in memory of the device, and moves arrays in host memory. */
static ech_status use_table(struct dist_rank *r)
{
    ech_comm *const *comms = r->task;
    struct seat *seat = comms[r->rank]->table.state;
    uint16_t keys[N], expected[N], moved[N] = { 0 };
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = (uint16_t)(i * RANKS + (uint32_t)r->rank);
        expected[i] = (uint16_t)((uint32_t)r->rank * N + i);
    }
    const void *in = dist_array(r, keys, sizeof keys);
    void *out = dist_array(r, NULL, sizeof expected);
    seat->ctx = r->ctx;
    ech_status status = choose_stream(seat);
    if (status == ECH_OK)
        status = ech_dist_sort(r->ctx, comms[r->rank], in, out, N, ECH_DIST_EVEN, ECH_U16, NULL);
    if (status == ECH_OK) dist_expect(r, "out", out, expected, sizeof expected);
    if (status == ECH_OK)
        status = ech_dist_rebalance(r->ctx, comms[r->rank], keys, moved, N, N, sizeof *keys);
    if (status == ECH_OK && memcmp(keys, moved, sizeof keys) != 0)
        snprintf(r->problem, sizeof r->problem, "elements have changed");
    if (seat->stream && !seat->exchanges)
        snprintf(r->problem, sizeof r->problem, "no exchange has received the stream");
    if (seat->wrong)
        snprintf(r->problem, sizeof r->problem, "%d exchanges have another stream", seat->wrong);
    if (seat->stream) ech_set_stream(r->ctx, NULL);
    return status;
}

/* accepts: the table accepts memory of the device; otherwise it is staged. */
static void table_of_caller(bool accepts)
{
    struct board board = { .accepts = accepts };
    struct seat seats[RANKS];
    ech_comm *comms[RANKS];
    if (!test_begin("a table of the caller%s", accepts ? ", memory of the device" : "")) return;
    pthread_barrier_init(&board.barrier, NULL, RANKS);
    for (int r = 0; r < RANKS; r++) {
        ech_comm_table table = board_table;
        seats[r] = (struct seat){ .board = &board, .rank = r };
        table.state = &seats[r];
        table.rank = r;
        table.device_memory = accepts;
        CHECK_STATUS(ech_comm_create(&comms[r], &table, NULL), ECH_OK);
        CHECK_INT(ech_comm_rank(comms[r]), r);
        CHECK_INT(ech_comm_size(comms[r]), RANKS);
    }
    if (!test_failed()) dist_run(RANKS, 0, use_table, comms, ECH_OK, NULL);
    for (int r = 0; r < RANKS; r++) ech_comm_close(comms[r]);
    CHECK_INT(board.closed, RANKS);
    CHECK_INT(board.aborted, 0);
    pthread_barrier_destroy(&board.barrier);
    test_end();
}

/* ---- Arguments ---- */

static void bad_tables(void)
{
    ech_comm *comm;
    struct board board = { .closed = 0 };
    struct seat seat = { .board = &board };
    ech_comm_table table = board_table;
    ech_comm_options options = { .size = sizeof options };
    if (!test_begin("arguments of constructors")) return;
    table.state = &seat;
    CHECK_FAILS(NULL, ech_comm_create(NULL, &table, NULL), ECH_ERR_ARG, "comm is NULL");
    CHECK_FAILS(NULL, ech_comm_create(&comm, NULL, NULL), ECH_ERR_ARG, "table is NULL");
    table.poll = NULL;
    CHECK_FAILS(NULL, ech_comm_create(&comm, &table, NULL), ECH_ERR_ARG, "table->poll is NULL");
    table = board_table;
    table.rank = RANKS;
    CHECK_FAILS(NULL, ech_comm_create(&comm, &table, NULL), ECH_ERR_ARG, "table->rank is 4");
    table = board_table;
    table.size = 3;
    CHECK_FAILS(NULL, ech_comm_create(&comm, &table, NULL), ECH_ERR_ARG, "size");
    options.time_limit_s = -1;
    CHECK_FAILS(NULL, ech_comm_create(&comm, &board_table, &options), ECH_ERR_ARG,
                "options->time_limit_s is -1");
    CHECK_FAILS(NULL, ech_comm_threads(&comm, NULL, 0, NULL), ECH_ERR_ARG, "ranks is 0");
    CHECK_FAILS(NULL, ech_comm_threads(NULL, NULL, 1, NULL), ECH_ERR_ARG, "comms is NULL");
    ech_ctx *missing[1] = { NULL };
    CHECK_FAILS(NULL, ech_comm_threads(&comm, missing, 1, NULL), ECH_ERR_ARG,
                "contexts[0] is NULL");
    CHECK_FAILS(NULL, ech_comm_threads(&comm, NULL, 1, &options), ECH_ERR_ARG, "time_limit_s");
    CHECK_FAILS(NULL, ech_comm_barrier(NULL), ECH_ERR_ARG, "comm is NULL");
    CHECK_FAILS(NULL, ech_comm_poll(NULL), ECH_ERR_ARG, "comm is NULL");
    ech_comm_close(NULL);
    ech_comm_abort(NULL, NULL);
    CHECK_INT(board.closed, 0);
    test_end();
}

void comm_tables(void)
{
    table_of_caller(false);
    table_of_caller(true);
    bad_tables();
}
