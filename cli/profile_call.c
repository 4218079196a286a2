/*
 * profile_call.c - the operations of "echelon profile" other than sorts: one library call on a
 * column, whose result is discarded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of a call.  out and more have room for at least 8 bytes per element. */
struct call {
    struct job *job;
    const struct profile_call_words *words;
    ech_op op;
    struct where where;
    double lower, upper; /* range of the data */
    uint64_t bins;
    void *out, *more;
    char *plan;
    size_t plan_bytes;
};

/* ---- Calls ---- */

static ech_status call_reduce(struct call *call)
{
    const struct io_column *c = &call->job->column;
    return ech_reduce(call->job->ctx, call->op, c->keys, call->out, (size_t)c->n, c->dtype, NULL);
}

static ech_status call_scan(struct call *call)
{
    const struct io_column *c = &call->job->column;
    return ech_scan(call->job->ctx, call->op, c->keys, call->out, (size_t)c->n, c->dtype, NULL);
}

static ech_status call_hist(struct call *call)
{
    const struct io_column *c = &call->job->column;
    ech_ctx *ctx = call->job->ctx;
    size_t n = (size_t)c->n, bins = (size_t)call->bins;
    ech_histogram_options o = { .size = sizeof o, .algorithm = call->words->algorithm };
    ech_histogram_explain(ech_device_name(ctx), n, c->dtype, bins, &o, ECH_FORMAT_TEXT, call->plan,
                          call->plan_bytes);
    return ech_histogram(ctx, c->keys, call->out, n, c->dtype, bins, call->lower, call->upper, &o);
}

static ech_status call_select(struct call *call)
{
    const struct io_column *c = &call->job->column;
    uint64_t count;
    return ech_select_if(call->job->ctx, call->where.compare, c->keys, call->out, &count,
                         (size_t)c->n, c->dtype, &call->where.value, NULL);
}

static ech_status call_unique(struct call *call)
{
    const struct io_column *c = &call->job->column;
    uint64_t count;
    return ech_rle_encode(call->job->ctx, c->keys, call->out, call->more, &count, (size_t)c->n,
                          c->dtype, NULL);
}

static ech_status call_shuf(struct call *call)
{
    const struct io_column *c = &call->job->column;
    return ech_shuffle(call->job->ctx, c->keys, call->out, (size_t)c->n, ech_dtype_bytes(c->dtype),
                       1);
}

static const struct {
    const char *name;
    ech_status (*run)(struct call *call);
    bool op, bins, where; /* whether the operation has these options */
} calls[] = {
    { "reduce", call_reduce, true, false, false },  { "scan", call_scan, true, false, false },
    { "hist", call_hist, false, true, false },      { "select", call_select, false, false, true },
    { "unique", call_unique, false, false, false }, { "shuf", call_shuf, false, false, false },
};
enum { CALLS = sizeof calls / sizeof *calls };

/* ---- Arguments ---- */

int profile_find_call(const char *name)
{
    for (int i = 0; i < CALLS; i++)
        if (strcmp(name, calls[i].name) == 0) return i;
    return -1;
}

int profile_check_call(int which, const struct profile_call_words *words)
{
    const char *other = words->op && !calls[which].op            ? "op"
                        : words->bins && !calls[which].bins      ? "bins"
                        : words->where && !calls[which].where    ? "where"
                        : words->algorithm && !calls[which].bins ? "algorithm"
                                                                 : NULL;
    if (other)
        return cli_fail(EXIT_BAD, "--%s cannot be combined with %s", other, calls[which].name);
    return words->where ? where_check("--where", words->where) : EXIT_DONE;
}

static void find_range(struct call *call)
{
    const struct io_column *c = &call->job->column;
    size_t bytes = ech_dtype_bytes(c->dtype);
    const char *key = c->keys;
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (uint64_t i = 0; i < c->n; i++, key += bytes) {
        double x = io_key_to_double(c->dtype, key);
        if (!isfinite(x)) continue;
        if (x < least) least = x;
        if (x > most) most = x;
    }
    if (least > most) least = most = 0;
    call->lower = least;
    call->upper = most;
}

/* The default condition selects half of uniformly distributed data. */
static int find_test(struct call *call)
{
    char middle[IO_NUMBER_TEXT + 2] = ">=";
    double half = call->lower / 2 + call->upper / 2;
    io_format_key(ECH_F64, &half, middle + 2);
    const char *test = call->words->where ? call->words->where : middle;
    return where_parse("--where", test, call->job->column.dtype, &call->where);
}

static int prepare(struct call *call)
{
    const struct profile_call_words *words = call->words;
    const struct io_column *c = &call->job->column;
    int code = cli_parse_op(words->op ? words->op : "sum", &call->op);
    if (code == EXIT_DONE && words->bins) code = cli_parse_count("bins", words->bins, &call->bins);
    if (code != EXIT_DONE) return code;
    find_range(call);
    if ((code = find_test(call)) != EXIT_DONE) return code;
    if (io_is_float(c->dtype))
        call->upper = call->upper > call->lower ? call->upper : call->lower + 1;
    else
        call->upper = fmax(call->upper + 1, nextafter(call->upper, (double)INFINITY));
    size_t room = (size_t)c->n + 16;
    call->out = malloc((room + (size_t)call->bins) * sizeof(uint64_t));
    call->more = malloc(room * sizeof(uint64_t));
    if (call->out && call->more) return EXIT_DONE;
    return job_no_memory(call->job, room * 16, "the results");
}

int profile_call(int which, const struct profile_call_words *words, struct job *job, char *plan,
                 size_t plan_bytes)
{
    struct call call = {
        .job = job, .words = words, .bins = 256, .plan = plan, .plan_bytes = plan_bytes
    };
    int code = prepare(&call);
    if (code == EXIT_DONE) {
        ech_status status = calls[which].run(&call);
        if (status == ECH_OK) status = ech_sync(job->ctx);
        if (status != ECH_OK) code = cli_fail_ech(status, job->ctx);
    }
    free(call.out);
    free(call.more);
    return code;
}
