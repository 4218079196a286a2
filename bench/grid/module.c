/*
 * module.c - what a module of the benchmark grid exports to grid.py: rows, times and comparisons.
 *
 *     grid_begin(row) -> arrays, Echelon's result
 *     grid_check(c), grid_time(c, calls)      for each contender of the module
 *     grid_check_array(), grid_mark() ...     for each contender in Python
 *     grid_end()
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "grid.h"

#include <stdio.h>
#include <string.h>

enum { COPIES_MAX = 4096, COPIES_BYTES = 1 << 20 };

static ech_ctx *ctx;
static struct grid_case current;
static char machine[256], message[256];

const char *grid_open(int threads)
{
    return grid_open_processor(&ctx, threads, machine, sizeof machine);
}

const char *grid_machine(void)
{
    return machine;
}

const char *grid_contender(int contender)
{
    static char name[64];
    if (contender) return grid_rival_name(contender - 1);
    snprintf(name, sizeof name, "echelon|%s", ech_version());
    return name;
}

/* ---- Data ---- */

static void fill(void *to, int what, uint64_t n, uint64_t param)
{
    const struct grid_fill f = { to, what, current.row.dtype, current.row.dist, current.row.seed,
                                 n,  param };
    grid_fill(&f);
}

static const char *failed(const char *what)
{
    snprintf(message, sizeof message, "%s: %.200s", what, ech_error(ctx));
    return message;
}

static const char *allocate(struct grid_case *c)
{
    char **const arrays[] = { &c->in,     &c->aux,     &c->aux2,   &c->out[0],
                              &c->out[1], &c->out2[0], &c->out2[1] };
    const size_t bytes[] = { c->copies * c->row.n * c->bytes,
                             c->aux_bytes,
                             c->aux2_bytes,
                             c->out_bytes,
                             c->out_bytes,
                             c->out2_bytes,
                             c->out2_bytes };
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        if (bytes[i] && !(*arrays[i] = (char *)grid_allocate(bytes[i]))) return "no memory";
    for (int i = 0; i < 2; i++)
        if (!(c->count[i] = (uint64_t *)grid_allocate(64))) return "no memory";
    return NULL;
}

static const char *prepare_range(struct grid_case *c)
{
    char ends[16];
    if (ech_reduce(ctx, ECH_OP_MINMAX, c->in, c->out[0], c->row.n, (ech_dtype)c->row.dtype, NULL))
        return failed("ech_reduce");
    grid_wait();
    grid_read(ends, c->out[0], 2 * c->bytes);
    for (int i = 0; i < 2; i++) {
        float single;
        memcpy(&single, ends + 4 * i, 4);
        memcpy(&c->range[i], ends + (c->bytes == 8 ? 8 * i : 0), 8);
        if (c->bytes == 4) c->range[i] = (double)single;
    }
    /* Ends of bins that are not elements: libraries round them differently. */
    const double width = c->range[1] - c->range[0];
    c->range[0] -= 0.00137 * width + 0.1;
    c->range[1] += 0.00219 * width + 0.1;
    return NULL;
}

static const char *prepare_runs(struct grid_case *c)
{
    if (ech_rle_encode(ctx, c->in, c->aux, (uint64_t *)(void *)c->aux2, c->count[0], c->row.n,
                       (ech_dtype)c->row.dtype, NULL))
        return failed("ech_rle_encode");
    grid_wait();
    grid_read(&c->n_aux, c->count[0], 8);
    return NULL;
}

/* Sorts in[from] to in[from + n - 1]. */
static const char *prepare_sorted(struct grid_case *c, uint64_t from, uint64_t n)
{
    char *keys = c->in + from * c->bytes;
    return ech_sort(ctx, keys, keys, n, (ech_dtype)c->row.dtype, NULL) ? failed("ech_sort") : NULL;
}

static const char *prepare(struct grid_case *c)
{
    const uint64_t n = c->row.n, param = (uint64_t)c->row.param;
    const uint64_t seed = c->row.seed;
    for (size_t copy = 0; copy < c->copies; copy++) {
        c->row.seed = seed + 1000 * copy;
        fill(c->in + copy * n * c->bytes, c->row.op == GRID_BINCOUNT ? FILL_MODULO : FILL_KEYS, n,
             param);
    }
    c->row.seed = seed;
    switch (c->row.op) {
    case GRID_PAIRS:
        fill(c->aux, FILL_POSITIONS, n, param);
        return NULL;
    case GRID_HISTOGRAM:
        return prepare_range(c);
    case GRID_SELECT:
        grid_wait();
        grid_read(c->value, c->in + n / 2 * c->bytes, c->bytes);
        return NULL;
    case GRID_COMPACT:
    case GRID_PARTITION:
        fill(c->aux, FILL_FLAGS, n, 0);
        return NULL;
    case GRID_DECODE:
        return prepare_runs(c);
    case GRID_MERGE: {
        const char *error = NULL;
        for (size_t copy = 0; !error && copy < c->copies; copy++) {
            error = prepare_sorted(c, copy * n, n / 2);
            if (!error) error = prepare_sorted(c, copy * n + n / 2, n - n / 2);
        }
        return error;
    }
    case GRID_SEARCH:
        c->row.seed = seed + 5;
        fill(c->aux, FILL_KEYS, n, 0);
        c->row.seed = seed;
        return prepare_sorted(c, 0, n);
    case GRID_SORT_SEGMENTS:
    case GRID_REDUCE_SEGMENTS:
        fill(c->aux, FILL_OFFSETS, c->n_aux + 1, n);
        return NULL;
    case GRID_GATHER:
        fill(c->aux, FILL_PLACES, n, n);
        return NULL;
    case GRID_MATVEC:
        fill(c->aux, FILL_KEYS, c->cols, 0);
        return NULL;
    case GRID_SPMV:
        fill(c->aux, FILL_COLUMNS, n, c->cols);
        fill(c->aux + 4 * n, FILL_KEYS, c->cols, 0);
        fill(c->aux2, FILL_OFFSETS, c->n_aux + 1, n);
        return NULL;
    default:
        return NULL;
    }
}

const char *grid_begin(const struct grid_row *row)
{
    struct grid_case *c = &current;
    memset(c, 0, sizeof *c);
    c->row = *row;
    c->ctx = ctx;
    c->copies = 1;
    if (!grid_plan(c)) return "unsupported";
    /* On a CPU, calls with few elements use different inputs in turn, because branch predictors
     * learn one.  Zen 5 learns the branches of 16,000 elements: with five inputs of 4,096 u64,
     * std::merge takes a tenth of the time that it takes with 64. */
    switch (grid_stream() ? GRID_OPS : row->op) {
    case GRID_SORT:
    case GRID_PAIRS:
    case GRID_ARGSORT:
    case GRID_TOPK:
    case GRID_SELECT:
    case GRID_UNIQUE:
    case GRID_DISTINCT:
    case GRID_ENCODE:
    case GRID_MERGE:
    case GRID_MEDIAN:
    case GRID_QUANTILE:
        c->copies = COPIES_BYTES / (c->row.n * c->bytes) + 1;
        if (c->copies > COPIES_MAX) c->copies = COPIES_MAX;
        break;
    default:
        break;
    }
    const char *error = allocate(c);
    if (!error) error = prepare(c);
    if (!error && grid_echelon(c)) error = failed("echelon");
    if (error) return error;
    grid_wait();
    grid_read(&c->kept, c->count[0], 8);
    c->copy = 0;
    grid_results(c);
    return NULL;
}

void grid_end(void)
{
    struct grid_case *c = &current;
    char *const arrays[] = { c->in,
                             c->aux,
                             c->aux2,
                             c->out[0],
                             c->out[1],
                             c->out2[0],
                             c->out2[1],
                             (char *)c->count[0],
                             (char *)c->count[1] };
    grid_wait();
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) grid_release(arrays[i]);
    memset(c, 0, sizeof *c);
}

const struct grid_case *grid_arrays(void)
{
    return &current;
}

/* ---- Times and comparisons ---- */

double grid_time(int contender, int calls)
{
    for (int i = -grid_lead(); i < calls; i++) {
        if (i == 0) grid_mark();
        if (contender ? !grid_rival(&current, contender - 1) : grid_echelon(&current) != ECH_OK)
            return -1;
    }
    return grid_since_mark() / calls;
}

double grid_limit(int calls)
{
    grid_move(&current);
    grid_mark();
    for (int i = 0; i < calls; i++) grid_move(&current);
    const double moved = grid_since_mark() / calls;
    if (!grid_reach(&current)) return moved;
    grid_mark();
    for (int i = 0; i < calls; i++) grid_reach(&current);
    const double reached = grid_since_mark() / calls;
    return reached > moved ? reached : moved;
}

static int equal(int number, const void *other, int dtype, size_t stride, uint64_t n)
{
    const struct grid_slot *s = &current.slots[number];
    if (n != s->n) return 0;
    return grid_differences(s, other, dtype, stride, current.in, current.bytes, current.row.n) == 0;
}

int grid_check(int contender)
{
    struct grid_case *c = &current;
    uint64_t kept;
    c->copy = 0;
    if (!grid_rival(c, contender - 1)) return -1;
    grid_wait();
    c->copy = 0;
    grid_read(&kept, c->count[1], 8);
    switch (c->row.op) {
    case GRID_SELECT:
    case GRID_COMPACT:
    case GRID_PARTITION:
    case GRID_UNIQUE:
    case GRID_DISTINCT:
    case GRID_ENCODE:
        if (kept != c->kept) return 0;
        break;
    default:
        break;
    }
    for (int i = 0; i < c->n_slots; i++)
        if (c->slots[i].other && !equal(i, c->slots[i].other, c->slots[i].dtype,
                                        c->slots[i].stride_bytes, c->slots[i].n))
            return 0;
    return 1;
}

int grid_check_array(int slot, const void *array, int dtype, size_t stride_bytes, uint64_t n)
{
    if (slot >= current.n_slots) return 0;
    return equal(slot, array, dtype, stride_bytes, n);
}
