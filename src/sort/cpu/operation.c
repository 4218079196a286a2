/*
 * sort/cpu/operation.c - the CPU's sort: chooses an algorithm, lays out the workspace, runs it.
 *
 *     merge   keys of 16 bits, no values         network.h
 *     count   keys of 8 and 16 bits, no values   count.c
 *     block   arrays that fit in the cache       block.c
 *     msd     all arrays                         msd.c, which ends in blocks
 *
 * Only the kernels (kernels.h) differ between machines.  Nothing here depends on them or on the
 * number of threads, so the workspace can be computed on any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "sort/cpu/common.h"
#include "sort/cpu/count.h"

#include <string.h>

enum {
    COUNT_16_KEYS =
        1 << 13,           /* fewer 16-bit keys are sorted in less time than it takes to read 65536
                           counters */
    NARROW_KEYS = 512,     /* of 8 bits: up to here they are sorted as wider keys */
    NARROW_16_KEYS = 1024, /* the same for keys of 16 bits */
    FEW_KEYS = 512,        /* at most, for echi_cpu_sort_few() */
    TINY_KEYS = 64,        /* are sorted in less time than a check for order takes */
    MERGE_KEYS = 1 << 19,  /* more keys of 16 bits are counted in less time */
    WAKE_KEYS = 1 << 16,   /* smaller arrays do not repay waking threads */
    PART_KEYS = 1 << 13,   /* per thread, up to ... */
    FEW_PARTS = 16         /* ... so many threads; more of them need larger parts */
};

/* ---- Algorithms ---- */

static bool keys_only(const struct echi_sort *s)
{
    return !s->stable;
}

static bool count_applicable(const struct echi_sort *s)
{
    return keys_only(s) && s->key_bytes <= 2;
}

/* 16-bit keys: vectors of them are not part of every instruction set. */
static bool merge_applicable(const struct echi_sort *s)
{
    return keys_only(s) && s->key_bytes == 2 && s->n <= MERGE_KEYS &&
           echi_cpu_sort_isa()->widths[1]->sort_keys;
}

static bool block_applicable(const struct echi_sort *s)
{
    return s->n <= ECHI_BLOCK_KEYS;
}

static bool msd_applicable(const struct echi_sort *s)
{
    (void)s;
    return true;
}

static bool count_chosen(const struct echi_sort *s)
{
    return count_applicable(s) && s->n > (s->key_bytes == 1 ? NARROW_KEYS : COUNT_16_KEYS - 1);
}

static void run_merge(const struct echi_sort_job *job)
{
    job->width->sort_keys(&job->window.order, job->in.keys, job->out.keys, NULL, job->sort->n);
}

static const struct algorithm {
    const char *name, *what;
    const char *when;                              /* when it is chosen, for the documentation */
    bool (*applicable)(const struct echi_sort *s); /* whether it can sort s */
    bool (*chosen)(const struct echi_sort *s);     /* whether it is the best for s, if no row above
                                                      is */
    void (*run)(const struct echi_sort_job *job);
} algorithms[] = {
    {
        .name = "merge",
        .what = "sorts blocks in vector registers and merges them, with one thread",
        .when = "keys of 16 bits without values, up to 524,288 elements, on x86 with AVX2",
        .applicable = merge_applicable,
        .chosen = merge_applicable,
        .run = run_merge,
    },
    {
        .name = "count",
        .what = "counting sort: counts each of 256 or 65536 values",
        .when = "keys without values: of 8 bits from 513 elements on, of 16 bits from 8,192 on",
        .applicable = count_applicable,
        .chosen = count_chosen,
        .run = echi_sort_count,
    },
    {
        .name = "block",
        .what = "sorts in the cache, with one thread",
        .when = "other arrays of up to 16,384 elements",
        .applicable = block_applicable,
        .chosen = block_applicable,
        .run = echi_sort_msd,
    },
    {
        .name = "msd",
        .what = "scatters into 256 buckets by the leading bits, then sorts in the cache",
        .when = "all other arrays",
        .applicable = msd_applicable,
        .chosen = msd_applicable,
        .run = echi_sort_msd,
    },
};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static void list_applicable(const struct echi_sort *s, struct echi_text *text)
{
    const char *before = "";
    for (int i = 0; i < ALGORITHMS; i++) {
        if (!algorithms[i].applicable(s)) continue;
        echi_print(text, "%s%s", before, algorithms[i].name);
        before = ", ";
    }
}

static ech_status choose(const struct echi_sort *s, const struct algorithm **algorithm)
{
    char names[128] = "";
    struct echi_text text = { .at = names, .left = sizeof names };
    for (int i = 0; i < ALGORITHMS; i++) {
        *algorithm = &algorithms[i];
        if (!s->algorithm && algorithms[i].chosen(s)) return ECH_OK;
        if (!s->algorithm || strcmp(s->algorithm, algorithms[i].name) != 0) continue;
        if (algorithms[i].applicable(s)) return ECH_OK;
        list_applicable(s, &text);
        return echi_fail(NULL, ECH_ERR_ARG,
                         "algorithm \"%s\" (%s) cannot run this sort; available: %s", s->algorithm,
                         algorithms[i].what, names);
    }
    list_applicable(s, &text);
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\" for this sort on the CPU; available: %s",
                     s->algorithm, names);
}

/* ---- Workspace ---- */

bool echi_sort_as_stable(const struct echi_sort *s)
{
    return s->stable || s->key_bytes < 4;
}

/* Used both to measure the workspace and to lay it out; to measure, job's pointers are not used. */
static void lay_out(const struct echi_sort *s, const struct algorithm *algorithm,
                    struct echi_layout *layout, struct echi_sort_job *job)
{
    size_t key_bytes = (size_t)s->key_bytes, n = s->n;
    /* A merge needs no workspace, but a machine without it would. */
    if (algorithm->run == echi_sort_count || (algorithm->run == run_merge && count_chosen(s))) {
        job->counts =
            echi_part(layout, echi_sort_count_counters(n, key_bytes), sizeof *job->counts);
        return;
    }
    bool one_block = n <= ECHI_BLOCK_KEYS;
    if (!(s->index_bytes && one_block)) {
        job->other.keys = echi_part(layout, n, key_bytes);
        job->other.values = s->value_bytes ? echi_part(layout, n, s->value_bytes) : NULL;
    }
    if (s->index_bytes && !one_block) job->out.keys = echi_part(layout, n, key_bytes);
    size_t parts = echi_sort_parts(n);
    if (!one_block) job->counts = echi_part(layout, parts * ECHI_BUCKETS, sizeof *job->counts);
    if (echi_sort_as_stable(s)) {
        job->scratch_bytes = ECHI_SCRATCH_BYTES * echi_min(n, ECHI_BLOCK_KEYS);
        job->scratch = echi_part(layout, parts, job->scratch_bytes);
    }
    if (!one_block) job->lines = echi_part(layout, ECHI_LINES_BYTES, 1);
}

static ech_status measure(const struct echi_sort *s, const struct algorithm *algorithm,
                          size_t *bytes)
{
    struct echi_layout layout = { 0 };
    struct echi_sort_job job = { 0 };
    lay_out(s, algorithm, &layout, &job);
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes",
                         s->n);
    *bytes = layout.bytes;
    return ECH_OK;
}

/* The plan: the algorithm and its workspace. */
struct plan {
    /* NULL: so few keys that the choice would take longer than the sort */
    const struct algorithm *algorithm;
    size_t bytes; /* on the stack if small enough */
};

/* A stable sort that is done at once, on the stack. */
static bool is_small(const struct echi_sort *s)
{
    const size_t bytes = ECHI_SCRATCH_BYTES + (size_t)s->key_bytes + s->value_bytes;
    return !s->algorithm && s->stable && s->n <= (ECHI_STACK_BYTES - 16) / bytes;
}

static bool is_tiny(const struct echi_sort *s)
{
    const size_t most = s->key_bytes == 1   ? NARROW_KEYS
                        : s->key_bytes == 2 ? NARROW_16_KEYS
                                            : ECHI_STACK_BYTES / (size_t)s->key_bytes;
    return !s->algorithm && keys_only(s) && s->n <= most;
}

static ech_status plan_sort(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_sort *s = request;
    struct plan *p = plan;
    ech_status status = ECH_OK;
    *p = (struct plan){ NULL, 0 };
    *work_bytes = 0;
    if (is_tiny(s) || is_small(s)) return ECH_OK;
    TRY(choose(s, &p->algorithm));
    TRY(measure(s, p->algorithm, &p->bytes));
    if (p->bytes > ECHI_STACK_BYTES) *work_bytes = p->bytes;
done:
    return status;
}

/* ---- Run ---- */

struct echi_window echi_sort_window(const struct echi_sort *s)
{
    int bits = s->end_bit - s->begin_bit;
    return (struct echi_window){ .order = s->order,
                                 .begin = bits ? s->begin_bit : 0,
                                 .mask = bits ? ~(uint64_t)0 >> (64 - bits) : 0 };
}

/* A sort takes more time per element than other operations, so more threads pay for themselves. */
size_t echi_sort_parts(size_t n)
{
    const size_t few = n < WAKE_KEYS ? 1 : echi_min(n / PART_KEYS, FEW_PARTS), many = echi_parts(n);
    return few > many ? few : many;
}

static int threads_of(const ech_ctx *ctx, const struct echi_sort *s)
{
    const size_t parts = echi_sort_parts(s->n);
    return parts == 1 ? 1 : (int)echi_min((size_t)echi_threads(ctx), parts); /* ctx may be NULL */
}

/* Keys of 8 bits as keys of 16 or 32 bits, or keys of 16 bits as keys of 32 bits. */
static void sort_narrow(const struct echi_sort_isa *isa, const struct echi_order *order,
                        const void *in, void *out, size_t n, size_t key_bytes)
{
    uint32_t wide[NARROW_16_KEYS], work[NARROW_16_KEYS];
    uint16_t *half = (uint16_t *)(void *)wide;
    const struct echi_sort_width *width = isa->widths[key_bytes - 1];
    const struct echi_window window = { .order = *order, .mask = ~(uint64_t)0 };
    const struct echi_order plain = { .last = UINT32_MAX };
    uint8_t *bytes = out;
    uint16_t *halves = out;
    width->encode(&window, in, out, n);
    if (isa->widths[1]->sort_keys) {
        for (size_t i = 0; i < n; i++) half[i] = bytes[i];
        isa->widths[1]->sort_keys(&plain, half, half, NULL, n);
        for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)half[i];
    } else {
        for (size_t i = 0; i < n; i++) wide[i] = key_bytes == 1 ? bytes[i] : halves[i];
        isa->widths[2]->sort_keys(&plain, wide, wide, work, n);
        if (key_bytes == 1)
            for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)wide[i];
        else
            for (size_t i = 0; i < n; i++) halves[i] = (uint16_t)wide[i];
    }
    width->decode(order, out, n);
}

/* A function of its own, because of the size of its stack frame. */
NOINLINE static void sort_with_work(const struct echi_sort_width *width,
                                    const struct echi_order *order, const void *in, void *out,
                                    size_t n)
{
    uint64_t work[FEW_KEYS];
    width->sort_keys(order, in, out, work, n);
}

bool echi_cpu_sort_few(const struct echi_order *order, const void *in, void *out, size_t n,
                       size_t key_bytes)
{
    const struct echi_sort_isa *isa = echi_cpu_sort_isa();
    const struct echi_sort_width *width = isa->widths[__builtin_ctz((unsigned)key_bytes)];
    if (n > FEW_KEYS || (width->sort_keys && n > isa->check_keys)) return false;
    if (width->sort_keys)
        sort_with_work(width, order, in, out, n);
    else
        sort_narrow(isa, order, in, out, n, key_bytes);
    return true;
}

bool echi_cpu_sort_pairs_few(const struct echi_order *order, const void *keys, const void *values,
                             size_t n, size_t key_bytes, size_t value_bytes, void *keys_out,
                             void *values_out)
{
    const struct echi_sort_isa *isa = echi_cpu_sort_isa();
    const struct echi_sort_width *width = isa->widths[__builtin_ctz((unsigned)key_bytes)];
    if (n > ECHI_RANKED_KEYS || !width->sort_ranks || (values && values == values_out))
        return false;
    const struct echi_window window = { .order = *order, .mask = ~(uint64_t)0 };
    width->sort_ranks(&window, keys, values, n, value_bytes, keys_out, values_out);
    return true;
}

static void sort_tiny(const struct echi_sort *s)
{
    const struct echi_sort_isa *isa = echi_cpu_sort_isa();
    const struct echi_sort_width *width = isa->widths[__builtin_ctz((unsigned)s->key_bytes)];
    uint64_t work[ECHI_STACK_BYTES / sizeof(uint64_t)];
    const struct echi_window window = { .order = s->order, .mask = ~(uint64_t)0 };
    if (!width->sort_keys)
        sort_narrow(isa, &s->order, s->keys_in, s->keys_out, s->n, (size_t)s->key_bytes);
    else if (s->n > isa->check_keys)
        echi_sort_keys(width, &window, s->keys_in, s->keys_out, work, s->n, (size_t)s->key_bytes);
    else
        width->sort_keys(&s->order, s->keys_in, s->keys_out, work, s->n);
}

/* Outputs that are inputs are copied first, because elements are gathered to them. */
static void sort_small(const struct echi_sort *s)
{
    _Alignas(ECHI_ALIGN) char stack[ECHI_STACK_BYTES];
    const size_t key_bytes = (size_t)s->key_bytes, n = s->n;
    const struct echi_sort_isa *isa = echi_cpu_sort_isa();
    const struct echi_sort_width *width = isa->widths[__builtin_ctz((unsigned)key_bytes)];
    const struct echi_window window = echi_sort_window(s);
    const void *keys = s->keys_in, *values = s->index_bytes ? NULL : s->values_in;
    if (values && values == s->values_out) values = memcpy(stack, values, n * s->value_bytes);
    if (n <= ECHI_RANKED_KEYS && width->sort_ranks) {
        width->sort_ranks(&window, keys, values, n, s->value_bytes, s->keys_out, s->values_out);
        return;
    }
    if (width->sort_packed) {
        width->sort_packed(&window, keys, values, n, s->value_bytes, s->keys_out, s->values_out);
        return;
    }
    char *at = stack + (n * s->value_bytes + 7) / 8 * 8;
    if (keys == s->keys_out) keys = memcpy(at, keys, n * key_bytes);
    struct echi_sort_job job = { .sort = s,
                                 .isa = isa,
                                 .width = width,
                                 .window = window,
                                 .key_bytes = key_bytes,
                                 .value_bytes = s->value_bytes,
                                 .out = { s->keys_out, s->values_out },
                                 .keep_keys = s->keys_out != NULL };
    memcpy(&job.in.keys, &keys, sizeof keys); /* only read */
    memcpy(&job.in.values, &values, sizeof values);
    at += (n * key_bytes + 7) / 8 * 8;
    echi_sort_block(&job, job.in, 0, n, at);
}

static ech_status run_sort(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct plan *p = plan;
    struct echi_sort s = *(const struct echi_sort *)request;
    _Alignas(ECHI_ALIGN) char stack[ECHI_STACK_BYTES];
    if (!p->algorithm) {
        if (s.stable)
            sort_small(&s);
        else
            sort_tiny(&s);
        return ECH_OK;
    }
    struct echi_layout layout = { .base = p->bytes <= sizeof stack ? stack : work };
    struct echi_sort_job job = {
        .sort = &s,
        .isa = echi_cpu_sort_isa(),
        .window = echi_sort_window(&s),
        .key_bytes = (size_t)s.key_bytes,
        .value_bytes = s.value_bytes,
        .keep_keys = s.keys_out != NULL,
        .threads = threads_of(ctx, &s),
    };
    lay_out(&s, p->algorithm, &layout, &job);
    job.width = job.isa->widths[echi_bit_length((uint64_t)s.key_bytes) - 1];
    /* Sources are only read; the struct is the same as for destinations. */
    memcpy(&job.in.keys, &s.keys_in, sizeof job.in.keys);
    memcpy(&job.in.values, &s.values_in, sizeof job.in.values);
    if (s.index_bytes) job.in.values = NULL;
    if (job.keep_keys) job.out.keys = s.keys_out;
    job.out.values = s.values_out;
    bool done_already =
        s.n > TINY_KEYS && (echi_sort_ordered(&job) || (!s.algorithm && echi_sort_distinct(&job)));
    if (!done_already) {
        s.stable = echi_sort_as_stable(&s);
        p->algorithm->run(&job);
    }
    return ECH_OK;
}

static bool sort_at_once(const void *request)
{
    enum { AT_ONCE = 1024 };
    const struct echi_sort *s = request;
    struct plan plan;
    size_t bytes;
    if (s->n > AT_ONCE || s->algorithm) return false;
    if (is_tiny(request)) {
        sort_tiny(request);
        return true;
    }
    if (is_small(request)) {
        sort_small(request);
        return true;
    }
    return plan_sort(request, &plan, &bytes) == ECH_OK && !bytes &&
           run_sort(NULL, request, &plan, NULL) ==
               ECH_OK; /* a context is needed for threads only */
}

/* ---- Explain ---- */

static ech_status explain_sort(const void *request, struct echi_explain *e)
{
    const struct echi_sort *s = request;
    const struct algorithm *algorithm;
    ech_status status = choose(s, &algorithm);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, algorithm->name, "%s", algorithm->what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (&algorithms[i] != algorithm && algorithms[i].applicable(s))
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    echi_explain_line(e, "isa", "%s", echi_cpu_sort_isa()->name);
    if (algorithm->run == echi_sort_msd && s->n > ECHI_BLOCK_KEYS)
        echi_explain_line(e, "threads",
                          "at most %zu; keys are scattered into %d buckets until each holds at "
                          "most %zu keys",
                          echi_min(echi_sort_parts(s->n), (size_t)echi_processors()), ECHI_BUCKETS,
                          echi_sort_as_stable(s)
                              ? (size_t)ECHI_BLOCK_KEYS
                              : echi_cpu_sort_isa()->widths[s->key_bytes == 8 ? 3 : 2]->leaf_keys);
    return ECH_OK;
}

const struct echi_operation echi_cpu_sort = { .plan = plan_sort,
                                              .plan_bytes = sizeof(struct plan),
                                              .explain = explain_sort,
                                              .run = run_sort,
                                              .quick = sort_at_once };
