/*
 * dist_run.c - runs the ranks of a distributed test; divisions and data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "dist_case.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ech_ctx *contexts[DIST_MAX_RANKS];
static ech_comm *process; /* of this process; NULL: ranks are threads */
static bool on_cpu;

/* ---- Ranks ---- */

static void must(ech_status status, const char *what)
{
    if (status == ECH_OK) return;
    fprintf(stderr, "%s: %s\n", what, ech_error(NULL));
    exit(1);
}

/* Four devices, unless ECHELON_SIMT has another number. */
static void emulate_devices(void)
{
    const char *given = getenv("ECHELON_SIMT");
    char options[128];
    if (given && strstr(given, "devices=")) return;
    snprintf(options, sizeof options, "devices=4%s%s", given && *given ? "," : "",
             given ? given : "");
    setenv("ECHELON_SIMT", options, 1);
}

const char *dist_open(void)
{
    const char *library = getenv("ECHELON_COMM");
    const char *device = test_options.device ? test_options.device : "cpu";
    if (library && *library) must(ech_comm_open(&process, NULL, NULL), library);
    const size_t kind = strcspn(device, ":");
    const bool all = strcmp(device + kind, ":all") == 0; /* a device for each rank, if there are
                                                            as many */
    const bool emulated = all && strncmp(device, "simt", kind) == 0;
    if (emulated) emulate_devices();
    const int gpus = emulated ? 4 : ech_device_count() - 1;
    for (int r = 0; r < (process ? 1 : DIST_MAX_RANKS); r++) {
        const int rank = process ? ech_comm_rank(process) : r;
        char name[32];
        snprintf(name, sizeof name, "%s", device);
        if (all)
            snprintf(name, sizeof name, "%.*s:%d", (int)kind, device, rank % (gpus ? gpus : 1));
        must(ech_open(&contexts[r], name), name);
        must(ech_set_threads(contexts[r], 1 + r % 2), device);
    }
    on_cpu = test_is_cpu(contexts[0]);
    return ech_device_name(contexts[0]);
}

void dist_close(void)
{
    ech_comm_close(process);
    for (int r = 0; r < DIST_MAX_RANKS; r++) ech_close(contexts[r]);
}

bool dist_can_run(int ranks)
{
    return process ? ech_comm_size(process) == ranks : ranks <= DIST_MAX_RANKS;
}

static void run_rank(struct dist_rank *rank, dist_function *run)
{
    rank->status = run(rank);
    if (rank->status != ECH_OK)
        snprintf(rank->message, sizeof rank->message, "%s", ech_error(rank->ctx));
    for (int i = 0; i < rank->n_arrays; i++) {
        buffer_check_guards(&rank->arrays[i], "an array");
        buffer_free(&rank->arrays[i]);
    }
}

struct start {
    struct dist_rank *rank;
    dist_function *run;
};

static void *run_thread(void *arg)
{
    const struct start *start = arg;
    run_rank(start->rank, start->run);
    return NULL;
}

static void report(const struct dist_rank *rank, ech_status wanted, const char *part)
{
    if (rank->status != wanted)
        test_fail(__FILE__, __LINE__, "rank %d of %d: %s, not %s: %s", rank->rank, rank->ranks,
                  ech_status_name(rank->status), ech_status_name(wanted), rank->message);
    else if (part && !strstr(rank->message, part))
        test_fail(__FILE__, __LINE__, "rank %d of %d: the message \"%s\" lacks \"%s\"", rank->rank,
                  rank->ranks, rank->message, part);
    if (rank->problem[0])
        test_fail(__FILE__, __LINE__, "rank %d of %d: %s", rank->rank, rank->ranks, rank->problem);
}

static void run_threads(int ranks, double limit_s, dist_function *run, void *task,
                        ech_status wanted, const char *part)
{
    static struct dist_rank members[DIST_MAX_RANKS];
    struct start starts[DIST_MAX_RANKS];
    pthread_t threads[DIST_MAX_RANKS];
    ech_comm *comms[DIST_MAX_RANKS];
    const ech_comm_options options = { .size = sizeof options, .time_limit_s = limit_s };
    must(ech_comm_threads(comms, on_cpu ? NULL : contexts, ranks, &options), "threads");
    for (int r = 0; r < ranks; r++) {
        members[r] = (struct dist_rank){
            .rank = r, .ranks = ranks, .comm = comms[r], .ctx = contexts[r], .task = task
        };
        starts[r] = (struct start){ &members[r], run };
        if (pthread_create(&threads[r], NULL, run_thread, &starts[r]) != 0) abort();
    }
    for (int r = 0; r < ranks; r++) pthread_join(threads[r], NULL);
    for (int r = 0; r < ranks; r++) {
        report(&members[r], wanted, part);
        ech_comm_close(comms[r]);
    }
}

void dist_run(int ranks, double limit_s, dist_function *run, void *task, ech_status wanted,
              const char *part)
{
    if (!process) {
        run_threads(ranks, limit_s, run, task, wanted, part);
        return;
    }
    struct dist_rank rank = { .rank = ech_comm_rank(process),
                              .ranks = ranks,
                              .comm = process,
                              .ctx = contexts[0],
                              .task = task };
    run_rank(&rank, run);
    report(&rank, wanted, part);
}

/* ---- Selection of cases ---- */

enum { MOST_OPERATIONS = 32 };
static const int rank_counts[] = { 1, 2, 3, 4, 7, 8, 16 };

/* The cases of an operation, [1] with several ranks and elements: how many there are, and how many
 * of them have been considered and drawn so far. */
static struct operation {
    const char *name;
    uint64_t all[2], number[2], drawn[2];
} operations[MOST_OPERATIONS];

static bool counting;

static struct operation *find_operation(const char *name)
{
    for (int i = 0; i < MOST_OPERATIONS; i++) {
        if (!operations[i].name) operations[i].name = name;
        if (strcmp(operations[i].name, name) == 0) return &operations[i];
    }
    fprintf(stderr, "%s: more than %d operations\n", name, MOST_OPERATIONS);
    exit(1);
}

static bool is_several(int ranks, size_t elements)
{
    return ranks > 1 && elements >= DIST_SEVERAL;
}

bool dist_always(const char *operation, int ranks, size_t elements)
{
    if (!dist_can_run(ranks) || counting) return false;
    find_operation(operation)->drawn[is_several(ranks, elements)]++;
    return true;
}

bool dist_drawn(const char *operation, int ranks, size_t elements, bool is_small)
{
    const struct test_options *o = &test_options;
    if (!dist_can_run(ranks) || o->always) return false;
    if (o->quick && (!is_small || ranks > DIST_QUICK_RANKS)) return false;
    struct operation *op = find_operation(operation);
    const int part = is_several(ranks, elements);
    if (counting) {
        op->all[part]++;
        return false;
    }
    const uint64_t number = op->number[part]++, half = (op->all[part] + 1) / 2;
    const uint64_t every = (uint64_t)o->every, of = part == 1 && half < every ? half : every;
    struct rng rng = { hash_text(operation) + number / of };
    const bool drawn = number % of == (rng_below(&rng, of) + (uint64_t)o->offset) % of;
    op->drawn[part] += drawn;
    return drawn;
}

void dist_cases(void (*cases)(int ranks), const char *const *names)
{
    const size_t counts = sizeof rank_counts / sizeof *rank_counts;
    for (int pass = 0; pass < 2; pass++) {
        counting = pass == 0;
        for (size_t i = 0; i < counts; i++) cases(rank_counts[i]);
    }
    if (test_options.n_ids || test_options.always) return;
    if (process && ech_comm_size(process) == 1) return;
    if (!test_begin("operations that run")) return;
    for (; *names; names++)
        if (find_operation(*names)->drawn[1] == 0)
            test_fail(__FILE__, __LINE__, "no case of %s with several ranks and elements", *names);
    test_end();
}

/* ---- Arrays ---- */

void *dist_array(struct dist_rank *rank, const void *contents, size_t bytes)
{
    struct buffer *buffer = &rank->arrays[rank->n_arrays];
    if (!buffer_make(buffer, on_cpu || rank->host ? NULL : rank->ctx, bytes, 0)) return NULL;
    rank->n_arrays++;
    if (contents && bytes) buffer_set(buffer, contents);
    return buffer->data;
}

void dist_work_begin(struct dist_rank *rank, size_t bytes, void **work, size_t *work_bytes)
{
    rank->allowed = bytes;
    if (bytes && (rank->rank + rank->ranks) % 2) {
        *work = dist_array(rank, NULL, bytes);
        *work_bytes = *work ? bytes : 0;
        if (*work) rank->allowed = 0;
    }
    ech_memory_usage(rank->ctx, 1, &rank->held, NULL);
}

void dist_work_end(struct dist_rank *rank)
{
    uint64_t peak = 0;
    ech_memory_usage(rank->ctx, 0, NULL, &peak);
    if (peak - rank->held > rank->allowed && !rank->problem[0])
        snprintf(rank->problem, sizeof rank->problem, "allocates %llu bytes, not at most %llu",
                 (unsigned long long)(peak - rank->held), (unsigned long long)rank->allowed);
}

void dist_expect(struct dist_rank *rank, const char *name, const void *array, const void *expected,
                 size_t bytes)
{
    char *got = malloc(bytes + 1);
    if (rank->problem[0] || bytes == 0 || !got) {
        free(got);
        return;
    }
    if (ech_copy(rank->ctx, got, array, bytes) != ECH_OK)
        snprintf(rank->problem, sizeof rank->problem, "%s cannot be copied", name);
    else
        for (size_t i = 0; i < bytes; i++)
            if (got[i] != ((const char *)expected)[i]) {
                snprintf(rank->problem, sizeof rank->problem,
                         "%s differs from that of one device in byte %zu of %zu: %02x, not %02x",
                         name, i, bytes, (unsigned char)got[i],
                         ((const unsigned char *)expected)[i]);
                break;
            }
    free(got);
}

/* ---- Divisions ---- */

const char *const dist_division_names[] = { "even", "random", "sparse", "last" };

void dist_divide(uint64_t *first, uint64_t total, int ranks, enum dist_division division,
                 struct rng *rng)
{
    uint64_t left = total;
    first[0] = 0;
    for (int r = 0; r < ranks; r++) {
        uint64_t n = left / (uint64_t)(ranks - r);
        const bool last = r == ranks - 1;
        if (division == DIST_RANDOM) n = last ? left : rng_below(rng, 2 * n + 1);
        if (division == DIST_SPARSE && !last)
            n = r % 2 ? 0 : r % 4 ? rng_below(rng, 3) : rng_below(rng, left + 1);
        if (division == DIST_LAST) n = 0;
        if (n > left || last) n = left;
        first[r + 1] = first[r] + n;
        left -= n;
    }
}

/* ---- Data ---- */

const char *const dist_data_names[] = { "bits", "few", "equal", "skewed", "sorted", "numbers" };

static int mantissa_bits(ech_dtype dtype)
{
    return dtype == ECH_F16 ? 10 : dtype == ECH_BF16 ? 7 : dtype == ECH_F32 ? 23 : 52;
}

/* A float from about 1/8 to 8, or a small integer. */
static uint64_t number(ech_dtype dtype, uint64_t random)
{
    const size_t bits = 8 * ech_dtype_bytes(dtype);
    if (dtype < ECH_F16) return random % 100;
    const int mantissa = mantissa_bits(dtype);
    const uint64_t one = (((uint64_t)1 << (bits - 2)) - ((uint64_t)1 << mantissa)) >> mantissa;
    const uint64_t sign = (random >> 20 & 1) << (bits - 1);
    return (random & (((uint64_t)1 << mantissa) - 1)) | (one - 3 + random % 7) << mantissa | sign;
}

/* One of eight patterns, with both zeros and four NaN if the type is a float. */
static uint64_t one_of_few(ech_dtype dtype, uint64_t random)
{
    const size_t bits = 8 * ech_dtype_bytes(dtype);
    const uint64_t top = (uint64_t)1 << (bits - 1), nan = dtype < ECH_F16 ? 77 : top - 2;
    const uint64_t of[] = {
        0, top, nan, nan | top, nan - 1, (nan - 1) | top, number(dtype, 5), number(dtype, 1 << 20)
    };
    return of[random % 8];
}

static uint64_t element(ech_dtype dtype, enum dist_data data, size_t i, size_t n, uint64_t random)
{
    switch (data) {
    case DIST_FEW:
        return one_of_few(dtype, random);
    case DIST_EQUAL:
        return number(dtype, 6);
    case DIST_SKEWED:
        return random % 10 ? number(dtype, 6) : random >> 8;
    case DIST_SORTED:
        return dtype < ECH_F16 ? i * 100 / n : number(dtype, 3);
    case DIST_NUMBERS:
        return number(dtype, random);
    default:
        return random;
    }
}

void dist_fill(void *out, size_t n, ech_dtype dtype, enum dist_data data, struct rng *rng)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = element(dtype, data, i, n, rng_next(rng));
        memcpy((char *)out + i * bytes, &bits, bytes);
    }
}

/* ---- Cases ---- */

void *dist_allocate(size_t bytes)
{
    void *memory = calloc(bytes + 1, 1);
    if (!memory) exit(1);
    return memory;
}

void dist_task_free(struct dist_task *t)
{
    free(t->in);
    free(t->values);
    free(t->out);
    free(t->out_values);
    free(t->more);
    free(t->q);
}

size_t dist_part(const uint64_t *first, const struct dist_rank *r)
{
    return (size_t)(first[r->rank + 1] - first[r->rank]);
}

struct rng dist_seed(const char *what, ech_dtype dtype, int data, int ranks)
{
    return (struct rng){ hash_text(what) + (uint64_t)dtype * 1000003 + (uint64_t)data * 10007 +
                         (uint64_t)ranks };
}

/* An array of `total` elements, which ranks divide. */
struct dist_task dist_task_make(ech_dtype dtype, size_t total, enum dist_data data, int ranks,
                                enum dist_division division, struct rng *rng)
{
    struct dist_task t = { .dtype = dtype, .bytes = ech_dtype_bytes(dtype), .total = total };
    t.in = dist_allocate(total * t.bytes);
    dist_fill(t.in, total, dtype, data, rng);
    dist_divide(t.first, total, ranks, division, rng);
    t.even = rng_below(rng, 2);
    for (int r = 0; r < ranks; r++)
        t.out_first[r + 1] = t.out_first[r] + ech_dist_even_share(total, r, ranks);
    if (!t.even) dist_divide(t.out_first, total, ranks, DIST_RANDOM, rng);
    return t;
}
