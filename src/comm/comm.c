/*
 * comm/comm.c - communicators: creation from a table, checked calls, agreement on a status, and
 * staged exchanges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* clocks */
#include "comm/comm.h"
#include "core/call.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_LIMIT_S = 300 };

/* cudaStreamLegacy: to a communicator, NULL means that messages are in host memory. */
#define LEGACY_STREAM ((void *)1)

double echi_comm_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Creation ---- */

ech_status echi_comm_limit(const ech_comm_options *options, double *limit_s)
{
    ech_comm_options read;
    const ech_status status =
        echi_read_struct(NULL, "options", "ech_comm_options", options, &read, sizeof read);
    if (status != ECH_OK) return status;
    if (!(read.time_limit_s >= 0) || isinf(read.time_limit_s))
        return echi_fail(NULL, ECH_ERR_ARG,
                         "options->time_limit_s is %g, not a number of seconds; 0 is the default",
                         read.time_limit_s);
    *limit_s = read.time_limit_s > 0 ? read.time_limit_s : DEFAULT_LIMIT_S;
    return ECH_OK;
}

static ech_status check_table(const ech_comm_table *table)
{
    if (table->ranks < 1 || table->rank < 0 || table->rank >= table->ranks)
        return echi_fail(NULL, ECH_ERR_ARG, "table->rank is %d and table->ranks is %d", table->rank,
                         table->ranks);
    if (table->device_memory != 0 && table->device_memory != 1)
        return echi_fail(NULL, ECH_ERR_ARG, "table->device_memory is %d, not 0 or 1",
                         table->device_memory);
    if (table->reserved)
        return echi_fail(NULL, ECH_ERR_ARG, "table->reserved is %d, not 0", table->reserved);
    const char *missing = !table->allgather  ? "allgather"
                          : !table->exchange ? "exchange"
                          : !table->poll     ? "poll"
                          : !table->abort    ? "abort"
                          : !table->close    ? "close"
                                             : NULL;
    if (missing) return echi_fail(NULL, ECH_ERR_ARG, "table->%s is NULL", missing);
    return ECH_OK;
}

ech_status ech_comm_create(ech_comm **comm, const ech_comm_table *table,
                           const ech_comm_options *options)
{
    if (!comm) return echi_fail(NULL, ECH_ERR_ARG, "comm is NULL");
    *comm = NULL;
    if (!table) return echi_fail(NULL, ECH_ERR_ARG, "table is NULL");
    ech_status status;
    double limit_s = 0;
    ech_comm *made = NULL;
    ech_comm_table read;
    TRY(echi_read_struct(NULL, "table", "ech_comm_table", table, &read, sizeof read));
    TRY(check_table(&read));
    TRY(echi_comm_limit(options, &limit_s));
    made = calloc(1, sizeof *made);
    if (!made) FAIL(NULL, ECH_ERR_MEMORY, "out of memory for a communicator");
    made->table = read;
    made->limit_s = limit_s;
    made->calls = calloc((size_t)read.ranks, sizeof *made->calls);
    made->notes = calloc((size_t)read.ranks, sizeof *made->notes);
    if (!made->calls || !made->notes)
        FAIL(NULL, ECH_ERR_MEMORY, "out of memory for a communicator of %d ranks", read.ranks);
    *comm = made;
done:
    if (status != ECH_OK && made) {
        free(made->calls);
        free(made->notes);
        free(made);
    }
    return status;
}

void ech_comm_close(ech_comm *comm)
{
    if (!comm) return;
    comm->table.close(comm->table.state);
    if (comm->library) dlclose(comm->library);
    free(comm->tables);
    free(comm->calls);
    free(comm->notes);
    free(comm);
}

int ech_comm_rank(const ech_comm *comm)
{
    return comm ? comm->table.rank : 0;
}

int ech_comm_size(const ech_comm *comm)
{
    return comm ? comm->table.ranks : 0;
}

/* ---- Failures ---- */

static ech_status report_failed(ech_ctx *ctx, const ech_comm *comm)
{
    return echi_fail(ctx, ECH_ERR_COMM, "the communicator has failed: %s", comm->reason);
}

/* A step of the communicator failed, so that the ranks no longer make the same calls. */
static ech_status fail(ech_ctx *ctx, ech_comm *comm)
{
    char text[ECHI_COMM_TEXT] = "";
    comm->table.poll(comm->table.state, text, sizeof text);
    if (!comm->failed)
        snprintf(comm->reason, sizeof comm->reason, "%s", text[0] ? text : "it reports no reason");
    comm->failed = true;
    comm->table.abort(comm->table.state, comm->reason);
    return report_failed(ctx, comm);
}

ech_status ech_comm_poll(ech_comm *comm)
{
    if (!comm) return echi_fail(NULL, ECH_ERR_ARG, "comm is NULL");
    if (comm->failed) return report_failed(NULL, comm);
    char text[ECHI_COMM_TEXT] = "";
    if (comm->table.poll(comm->table.state, text, sizeof text) == ECH_OK) return ECH_OK;
    return fail(NULL, comm);
}

void ech_comm_abort(ech_comm *comm, const char *reason)
{
    if (!comm || comm->failed) return;
    snprintf(comm->reason, sizeof comm->reason, "rank %d has aborted it: %s", comm->table.rank,
             reason && *reason ? reason : "no reason given");
    comm->failed = true;
    comm->table.abort(comm->table.state, comm->reason);
}

/* ---- Steps ---- */

ech_status echi_comm_allgather(ech_ctx *ctx, ech_comm *comm, const void *in, void *out,
                               uint64_t bytes)
{
    if (comm->failed) return report_failed(ctx, comm);
    if (comm->table.ranks == 1) {
        if (bytes) memcpy(out, in, bytes);
        return ECH_OK;
    }
    if (bytes == 0 ||
        comm->table.allgather(comm->table.state, in, out, bytes, comm->limit_s) == ECH_OK)
        return ECH_OK;
    return fail(ctx, comm);
}

static void set_text(char *text, ech_ctx *ctx, ech_status status)
{
    snprintf(text, ECHI_COMM_TEXT, "%s", status == ECH_OK ? "" : ech_error(ctx));
}

/* The failure of the lowest rank that has one; the statuses are `stride` bytes apart. */
static ech_status lowest_failure(ech_ctx *ctx, const ech_comm *comm, const int64_t *status,
                                 const char *text, size_t stride)
{
    for (int r = 0; r < comm->table.ranks; r++) {
        const int64_t code = *(const int64_t *)((const char *)status + (size_t)r * stride);
        const char *own = text + (size_t)r * stride;
        if (code == ECH_OK) continue;
        /* after an agreed failure, the text of every rank begins with a rank */
        if (strncmp(own, "rank ", 5) == 0) return echi_fail(ctx, (ech_status)code, "%s", own);
        return echi_fail(ctx, (ech_status)code, "rank %d: %s", r, own);
    }
    return ECH_OK;
}

ech_status echi_comm_agree_all(ech_ctx *ctx, ech_comm *comm, ech_status status, const void *note,
                               size_t bytes)
{
    if (comm->failed) return report_failed(ctx, comm);
    struct echi_comm_note mine = { .status = status };
    set_text(mine.text, ctx, status);
    if (bytes) memcpy(mine.note, note, bytes);
    const ech_status step = echi_comm_allgather(ctx, comm, &mine, comm->notes, sizeof mine);
    if (step != ECH_OK) return step;
    return lowest_failure(ctx, comm, &comm->notes->status, comm->notes->text, sizeof mine);
}

/* ---- The begin of a call ---- */

/* An option of a call as text. */
static const char *option_text(const char *name, uint64_t value, char *text, size_t capacity)
{
    const size_t length = strlen(name);
    if (length >= 5 && strcmp(name + length - 5, "dtype") == 0)
        return ech_dtype_name((ech_dtype)value);
    snprintf(text, capacity, "%lld", (long long)value);
    return text;
}

static ech_status compare_calls(ech_ctx *ctx, const ech_comm *comm, const char *const *names)
{
    const struct echi_comm_call *calls = comm->calls, *first = calls;
    for (int r = 1; r < comm->table.ranks; r++) {
        if (calls[r].version != first->version)
            return echi_fail(
                ctx, ECH_ERR_ARG, "rank %d has version %llu of the library, but rank 0 has %llu", r,
                (unsigned long long)calls[r].version, (unsigned long long)first->version);
        if (calls[r].sequence != first->sequence || strcmp(calls[r].name, first->name) != 0)
            return echi_fail(ctx, ECH_ERR_ARG,
                             "the ranks make different calls: call %llu of rank %d is %s(), but "
                             "call %llu of rank 0 is %s()",
                             (unsigned long long)calls[r].sequence, r, calls[r].name,
                             (unsigned long long)first->sequence, first->name);
    }
    const ech_status status = lowest_failure(ctx, comm, &first->status, first->text, sizeof *calls);
    if (status != ECH_OK) return status;
    for (int r = 1; r < comm->table.ranks; r++)
        for (int i = 0; names && names[i]; i++) {
            char a[32], b[32];
            if (calls[r].option[i] == first->option[i]) continue;
            return echi_fail(ctx, ECH_ERR_ARG, "%s(): %s is %s on rank %d, but %s on rank 0",
                             first->name, names[i],
                             option_text(names[i], calls[r].option[i], a, sizeof a), r,
                             option_text(names[i], first->option[i], b, sizeof b));
        }
    return ECH_OK;
}

ech_status echi_comm_begin_all(ech_ctx *ctx, ech_comm *comm, struct echi_comm_call *call,
                               const char *const *names, ech_status status)
{
    call->version = (uint64_t)ech_version_number();
    call->sequence = ++comm->sequence;
    call->status = status;
    set_text(call->text, ctx, status);
    const ech_status step = echi_comm_allgather(ctx, comm, call, comm->calls, sizeof *call);
    return step == ECH_OK ? compare_calls(ctx, comm, names) : step;
}

ech_status ech_comm_barrier(ech_comm *comm)
{
    if (!comm) return echi_fail(NULL, ECH_ERR_ARG, "comm is NULL");
    struct echi_comm_call call = { .name = "ech_comm_barrier" };
    return echi_comm_begin(NULL, comm, &call, NULL, ECH_OK);
}

/* ---- Exchanges ---- */

/* Copies the messages that are in memory of the GPU to or from one host buffer. */
static ech_status stage(ech_ctx *ctx, const ech_comm_message *messages, ech_comm_message *staged,
                        size_t n, char *buffer, bool back)
{
    for (size_t i = 0; i < n; i++) {
        enum echi_side side = ECHI_HOST;
        if (!back) staged[i] = messages[i];
        if (messages[i].bytes == 0) continue;
        ech_status status = ctx->backend->side(ctx, messages[i].data, &side, NULL);
        if (status != ECH_OK) return status;
        if (side == ECHI_HOST) continue;
        if (back)
            status = ech_copy(ctx, messages[i].data, buffer, messages[i].bytes);
        else
            staged[i].data = buffer;
        if (status != ECH_OK) return status;
        buffer += messages[i].bytes;
    }
    return ECH_OK;
}

static uint64_t sum_bytes(const ech_comm_message *messages, size_t n)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) bytes += messages[i].bytes;
    return bytes;
}

/* An exchange of device memory by a communicator that accepts only host memory. */
static ech_status exchange_staged(ech_ctx *ctx, ech_comm *comm, const ech_comm_message *sends,
                                  size_t n_sends, const ech_comm_message *receives,
                                  size_t n_receives)
{
    ech_status status;
    const uint64_t out = sum_bytes(sends, n_sends), in = sum_bytes(receives, n_receives);
    char *buffer = malloc(out + in ? out + in : 1);
    ech_comm_message *staged = malloc((n_sends + n_receives + 1) * sizeof *staged);
    if (!buffer || !staged)
        FAIL(ctx, ECH_ERR_MEMORY, "out of memory: %llu bytes to stage an exchange",
             (unsigned long long)(out + in));
    TRY(stage(ctx, sends, staged, n_sends, buffer, false));
    for (size_t i = 0; i < n_sends; i++)
        if (staged[i].data != sends[i].data)
            TRY(ech_copy(ctx, staged[i].data, sends[i].data, sends[i].bytes));
    TRY(stage(ctx, receives, staged + n_sends, n_receives, buffer + out, false));
done:
    status = echi_comm_agree(ctx, comm, status, NULL, 0);
    if (status == ECH_OK &&
        comm->table.exchange(comm->table.state, staged, n_sends, staged + n_sends, n_receives, NULL,
                             comm->limit_s) != ECH_OK)
        status = fail(ctx, comm);
    if (status == ECH_OK)
        status = stage(ctx, receives, staged + n_sends, n_receives, buffer + out, true);
    free(buffer);
    free(staged);
    return status;
}

/* Allocates what NCCL needs for messages in host memory. */
static ech_status prepare(ech_ctx *ctx, ech_comm *comm, const ech_comm_message *sends,
                          size_t n_sends, const ech_comm_message *receives, size_t n_receives)
{
    const ech_ctx *own = echi_nccl_ctx(comm);
    if (!own) return ECH_OK;
    const ech_status status =
        echi_nccl_stage(comm->table.state, sends, n_sends, receives, n_receives);
    return status == ECH_OK || own == ctx ? status : echi_fail(ctx, status, "%s", ech_error(own));
}

ech_status echi_comm_exchange_device(ech_ctx *ctx, ech_comm *comm, const ech_comm_message *sends,
                                     size_t n_sends, const ech_comm_message *receives,
                                     size_t n_receives)
{
    if (comm->failed) return report_failed(ctx, comm);
    const bool device = ctx->backend != &echi_cpu;
    if (device && !comm->table.device_memory)
        return exchange_staged(ctx, comm, sends, n_sends, receives, n_receives);
    void *stream = device ? ctx->backend->stream(ctx) : NULL;
    if (device && !stream) stream = LEGACY_STREAM;
    const ech_ctx *threads = echi_threads_ctx(comm), *own = threads ? threads : echi_nccl_ctx(comm);
    if (own && own != ctx && ech_sync(ctx) != ECH_OK) { /* it waits only for the stream of own */
        ech_comm_abort(comm, ech_error(ctx));
        return report_failed(ctx, comm);
    }
    if (comm->table.exchange(comm->table.state, sends, n_sends, receives, n_receives, stream,
                             comm->limit_s) == ECH_OK)
        return ECH_OK;
    return fail(ctx, comm);
}

ech_status echi_comm_exchange(ech_ctx *ctx, ech_comm *comm, const ech_comm_message *sends,
                              size_t n_sends, const ech_comm_message *receives, size_t n_receives)
{
    if (comm->failed) return report_failed(ctx, comm);
    if (echi_nccl_is(comm)) {
        ech_status status = prepare(ctx, comm, sends, n_sends, receives, n_receives);
        status = echi_comm_agree(ctx, comm, status, NULL, 0);
        if (status != ECH_OK) {
            echi_nccl_unstage(comm->table.state);
            return status;
        }
    }
    return echi_comm_exchange_device(ctx, comm, sends, n_sends, receives, n_receives);
}

bool echi_comm_queues(const ech_comm *comm)
{
    return echi_nccl_is(comm);
}

ech_status echi_comm_queue(ech_ctx *ctx, ech_comm *comm, const ech_comm_message *sends,
                           size_t n_sends, const ech_comm_message *receives, size_t n_receives)
{
    if (comm->failed) return report_failed(ctx, comm);
    if (echi_nccl_queue(comm->table.state, sends, n_sends, receives, n_receives, comm->limit_s) ==
        ECH_OK)
        return ECH_OK;
    return fail(ctx, comm);
}

ech_status echi_comm_finish(ech_ctx *ctx, ech_comm *comm)
{
    if (comm->failed) return report_failed(ctx, comm);
    return echi_nccl_finish(comm->table.state, comm->limit_s) == ECH_OK ? ECH_OK : fail(ctx, comm);
}

/* ---- Sums ---- */

/* Up to this many bytes of all ranks together, every rank gathers everything. */
enum { GATHER_BYTES = 1 << 20 };

/* Rank r adds the counters [part(r), part(r + 1)) of all ranks, and all ranks gather the sums. */
static ech_status sum_parts(ech_ctx *ctx, ech_comm *comm, ech_status status, uint64_t *counts,
                            size_t n)
{
    const size_t ranks = (size_t)comm->table.ranks, rank = (size_t)comm->table.rank;
    const size_t part = (n + ranks - 1) / ranks;
    uint64_t *all = malloc(ranks * part * sizeof *all), *padded = calloc(ranks * part, 8);
    ech_comm_message *messages = calloc(2 * ranks, sizeof *messages);
    if (status == ECH_OK && (!all || !padded || !messages))
        status = echi_fail(ctx, ECH_ERR_MEMORY, "out of memory: sums of %zu counters", n);
    for (size_t r = 0; r < ranks && status == ECH_OK; r++) {
        messages[r] = (ech_comm_message){ padded + r * part, part * 8, (int64_t)r };
        messages[ranks + r] = (ech_comm_message){ all + r * part, part * 8, (int64_t)r };
    }
    if (status == ECH_OK) status = prepare(ctx, comm, messages, ranks, messages + ranks, ranks);
    status = echi_comm_agree(ctx, comm, status, NULL, 0);
    if (status != ECH_OK) {
        if (echi_nccl_is(comm)) echi_nccl_unstage(comm->table.state);
        goto done;
    }
    memcpy(padded, counts, n * sizeof *counts);
    if (comm->table.exchange(comm->table.state, messages, ranks, messages + ranks, ranks, NULL,
                             comm->limit_s) != ECH_OK) {
        status = fail(ctx, comm);
        goto done;
    }
    for (size_t i = 0; i < part; i++) {
        padded[rank * part + i] = 0;
        for (size_t r = 0; r < ranks; r++) padded[rank * part + i] += all[r * part + i];
    }
    TRY(echi_comm_allgather(ctx, comm, padded + rank * part, all, part * 8));
    memcpy(counts, all, n * sizeof *counts);
done:
    free(all);
    free(padded);
    free(messages);
    return status;
}

ech_status echi_comm_sum_all(ech_ctx *ctx, ech_comm *comm, ech_status status, uint64_t *counts,
                             size_t n)
{
    const size_t ranks = (size_t)comm->table.ranks;
    if (ranks == 1) return echi_comm_agree(ctx, comm, status, NULL, 0);
    if (n > GATHER_BYTES / 8 / ranks) return sum_parts(ctx, comm, status, counts, n);
    uint64_t *all = calloc(ranks * n + 1, sizeof *all);
    if (status == ECH_OK && !all)
        status = echi_fail(ctx, ECH_ERR_MEMORY, "out of memory: sums of %zu counters", n);
    TRY(echi_comm_agree(ctx, comm, status, NULL, 0));
    TRY(echi_comm_allgather(ctx, comm, counts, all, n * sizeof *counts));
    for (size_t i = 0; i < n; i++) {
        counts[i] = 0;
        for (size_t r = 0; r < ranks; r++) counts[i] += all[r * n + i];
    }
done:
    free(all);
    return status;
}
