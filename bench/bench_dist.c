/*
 * bench_dist.c - measures distributed operations (echelon/dist.h): a thread per rank, each with a
 * GPU or with one thread of the CPU.
 *
 *     bench_dist [--device cuda|cpu|simt] [--ranks R] [--comm NAME] [--log2 N] ...
 *                [--repeat K] [--only OP,TYPE] ... [--data NAME] ... [--memory device|host]
 *                [--algorithm NAME] [--check 1]
 *
 * Every rank has 2^N elements.  --data: random bits; sorted: numbers that ascend over all ranks;
 * skewed: random numbers of random lengths; or equal ones.  The options
 * --log2, --only and --data may be repeated.  --memory host: arrays are in pageable host memory.
 * --algorithm names the method of sorts on several ranks.
 *
 * A CSV line has the operation, the type, the ranks, the elements of all ranks, the milliseconds of
 * the slowest rank (the median of K repetitions, 5), 10^9 elements per second, the data, the
 * communicator and the memory.  The first repetition is not counted.  Sorts are checked: all shares
 * together are in order, and the sums of the elements are those of the input.  With --check 1 every
 * result is compared bit by bit with that of one device for the concatenation, which must fit in
 * the memory of rank 0.  With 1 rank the same calls run on one device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_dist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 100, MOST_NAMES = 16 };

static const char *only[MOST_NAMES];   /* such as sort,u32; none: all */
static int sizes[MOST_NAMES], n_sizes; /* log2 */
static int n_only, repeats = 5, check;
static bool wanted_data[BENCH_DATA];
static bool on_host;

const char *bench_program = "bench_dist";

/* ---- Memory ---- */

/* Zeros, because a new page takes longer to write; by the threads of the CPU. */
static void *host_memory(size_t bytes)
{
    const unsigned char zero = 0;
    ech_ctx *cpu = NULL;
    void *p = malloc(bytes);
    if (!p) bench_stop("out of host memory");
    bench_must(ech_open(&cpu, "cpu"), NULL);
    bench_must(ech_fill(cpu, p, bytes, 1, &zero), cpu);
    ech_close(cpu);
    return p;
}

/* Whole words, as which equal() compares arrays. */
static size_t words(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static void *memory(const struct bench_rank *rank, size_t bytes)
{
    void *p = NULL;
    if (bytes == 0) return NULL;
    if (on_host) return host_memory(words(bytes));
    bench_must(ech_malloc(rank->ctx, &p, words(bytes)), rank->ctx);
    return p;
}

static void memory_free(const struct bench_rank *rank, void *p, size_t bytes)
{
    if (on_host)
        free(p);
    else if (p)
        ech_free(rank->ctx, p, words(bytes));
}

/* Whether --only names this row. */
static bool is_wanted(const struct bench_row *row)
{
    char name[64];
    snprintf(name, sizeof name, "%s,%s", row->name, ech_dtype_name(row->dtype));
    for (int i = 0; i < n_only; i++)
        if (strcmp(only[i], name) == 0) return true;
    return n_only == 0;
}

/* The bytes of an element of out. */
static size_t out_bytes(const struct bench_row *row)
{
    return row->out_bytes ? row->out_bytes : ech_dtype_bytes(row->dtype);
}

static struct bench_arrays allocate(const struct bench_rank *rank, size_t n)
{
    struct bench_arrays a = { .n = n };
    for (int i = 0; i < bench_n_rows; i++) {
        const struct bench_row *row = &bench_rows[i];
        const size_t bytes = ech_dtype_bytes(row->dtype) * a.n;
        if (!is_wanted(row)) continue;
        if (bytes > a.bytes) a.bytes = bytes;
        if (out_bytes(row) * a.n > a.out_bytes) a.out_bytes = out_bytes(row) * a.n;
        if (row->value_bytes * a.n > a.values_bytes) a.values_bytes = row->value_bytes * a.n;
    }
    a.in = memory(rank, a.bytes);
    a.out = memory(rank, a.out_bytes);
    a.values_in = memory(rank, a.values_bytes);
    a.values_out = memory(rank, a.values_bytes);
    return a;
}

static void release(const struct bench_rank *rank, struct bench_arrays *a)
{
    memory_free(rank, a->in, a->bytes);
    memory_free(rank, a->out, a->out_bytes);
    memory_free(rank, a->values_in, a->values_bytes);
    memory_free(rank, a->values_out, a->values_bytes);
}

/* ---- Checks of sorts ---- */

/* The sum of all elements on all ranks, modulo 2^32 or 2^64. */
static uint64_t checksum(const struct bench_rank *r, const void *array, size_t n, ech_dtype dtype)
{
    uint64_t sum = 0;
    bench_must(ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, array, &sum, n, dtype, NULL), r->ctx);
    return sum;
}

/* The last key of each rank is at most the first one of the next. */
static void check_ends(const struct bench_rank *r, const struct bench_arrays *a, ech_dtype dtype)
{
    static uint64_t all[2 * BENCH_MOST_RANKS]; /* of rank 0 */
    const size_t bytes = ech_dtype_bytes(dtype), n_out = r->number ? 0 : 2 * (size_t)bench_ranks;
    uint64_t ends[2] = { 0, 0 }; /* unsigned little-endian keys */
    bench_must(ech_copy(r->ctx, &ends[0], a->out, bytes), r->ctx);
    bench_must(ech_copy(r->ctx, &ends[1], (char *)a->out + (a->n - 1) * bytes, bytes), r->ctx);
    bench_must(ech_dist_rebalance(r->ctx, r->comm, ends, n_out ? all : NULL, 2, n_out, 8), r->ctx);
    for (size_t i = 1; i < n_out; i++)
        if (all[i - 1] > all[i]) bench_stop("shares overlap");
}

static void check_sorted(const struct bench_rank *r, const struct bench_arrays *a,
                         const struct bench_row *row)
{
    uint64_t where = 0;
    bench_must(ech_is_sorted(r->ctx, a->out, &where, a->n, row->dtype, NULL), r->ctx);
    if (where != a->n) bench_stop("a share is not in order");
    check_ends(r, a, row->dtype);
    if (checksum(r, a->in, a->n, row->dtype) != checksum(r, a->out, a->n, row->dtype))
        bench_stop("elements are missing");
    if (row->value_bytes &&
        checksum(r, a->values_in, a->n, ECH_U32) != checksum(r, a->values_out, a->n, ECH_U32))
        bench_stop("values are missing");
}

/* ---- Comparison with one device ---- */

/* Rank 0 receives the n elements of each rank. */
static void *collect(const struct bench_rank *r, const void *part, size_t n, size_t element_bytes,
                     uint64_t *total)
{
    ech_dist_layout layout = { .size = sizeof layout };
    bench_must(ech_dist_share(r->comm, n, &layout), r->ctx);
    const size_t n_out = r->number ? 0 : (size_t)layout.total;
    void *all = memory(r, n_out * element_bytes);
    bench_must(ech_dist_rebalance(r->ctx, r->comm, part, all, n, n_out, element_bytes), r->ctx);
    *total = layout.total;
    return all;
}

/* As matrices with rows of ROW_BYTES, and one row for the rest. */
static bool equal(const struct bench_rank *r, const void *a, const void *b, size_t bytes)
{
    enum { ROW_BYTES = 512 };
    const size_t whole = bytes / ROW_BYTES * ROW_BYTES;
    for (int rest = 0; rest < 2; rest++) {
        const size_t at = rest ? whole : 0, cols = rest ? (bytes - whole) * 8 : ROW_BYTES * 8;
        uint8_t same = 0;
        ech_gf2 x = { .size = sizeof x,
                      .rows = rest ? 1 : whole / ROW_BYTES,
                      .cols = cols,
                      .stride = ech_gf2_stride(cols) };
        ech_gf2 y = x;
        if (x.rows == 0 || cols == 0) continue;
        x.words = (uint64_t *)(uintptr_t)((const char *)a + at);
        y.words = (uint64_t *)(uintptr_t)((const char *)b + at);
        bench_must(ech_gf2_equal(r->ctx, &x, &y, &same), r->ctx);
        if (!same) return false;
    }
    return true;
}

static void compare(const struct bench_rank *r, const struct bench_arrays *a,
                    const struct bench_row *row)
{
    const size_t bytes = ech_dtype_bytes(row->dtype), v = row->value_bytes, w = out_bytes(row);
    struct bench_arrays all = { .n = 0 };
    uint64_t total = 0, total_out = 0;
    all.in = collect(r, a->in, a->n_in, bytes, &total);
    all.values_in = v ? collect(r, a->values_in, a->n, v, &total) : NULL;
    all.n = (size_t)total;
    void *out = a->out, *values = NULL;
    if (row->result_bytes) { /* every rank has the result */
        total_out = row->result_bytes;
    } else {
        out = collect(r, a->out, a->n_out, w, &total_out);
        if (v) values = collect(r, a->values_out, a->n_out, v, &total_out);
        total_out *= w;
    }
    if (r->number == 0) {
        all.out_bytes = row->result_bytes > all.n * w ? row->result_bytes : all.n * w;
        all.out = memory(r, all.out_bytes);
        all.values_out = memory(r, all.n * v);
        bench_must(row->one(r->ctx, &all), r->ctx);
        const size_t n_bytes = row->result_bytes ? row->result_bytes : all.n_out * w;
        if (n_bytes != total_out || !equal(r, all.out, out, n_bytes) ||
            (v && !equal(r, all.values_out, values, all.n * v)))
            bench_stop("the result differs from that of one device");
        memory_free(r, all.out, all.out_bytes);
        memory_free(r, all.values_out, all.n * v);
        memory_free(r, all.in, all.n * bytes);
        memory_free(r, all.values_in, all.n * v);
        if (!row->result_bytes) memory_free(r, out, total_out);
        if (v) memory_free(r, values, all.n * v);
    }
    bench_must(ech_comm_barrier(r->comm), r->ctx);
}

/* ---- Measurements ---- */

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct bench_rank *r, struct bench_arrays a, const struct bench_row *row,
                    enum bench_data data)
{
    double of[MOST_REPEATS];
    for (int i = 0; i <= repeats; i++) {
        bench_must(ech_sync(r->ctx), r->ctx);
        bench_must(ech_comm_barrier(r->comm), r->ctx);
        const double begin = bench_now();
        a.n_in = a.n;
        bench_must(row->run(r, &a), r->ctx);
        bench_must(ech_sync(r->ctx), r->ctx);
        const double slowest = bench_slowest(r, bench_now() - begin);
        if (i) of[i - 1] = slowest;
    }
    if (row->sorts) check_sorted(r, &a, row);
    if (check) compare(r, &a, row);
    if (r->number) return;
    qsort(of, (size_t)repeats, sizeof *of, compare_times);
    const double total = (double)a.n * bench_ranks, median = of[repeats / 2];
    printf("%s,%s,%d,%.0f,%.3f,%.2f,%s,%s,%s%s\n", row->name, ech_dtype_name(row->dtype),
           bench_ranks, total, median, total / median * 1e-6, bench_data_names[data],
           bench_comm_name(), on_host ? "host" : "device", check ? ",equal" : "");
    fflush(stdout);
}

static void measure_all(const struct bench_rank *rank, size_t n)
{
    struct bench_arrays a = allocate(rank, n);
    for (int data = 0; data < BENCH_DATA; data++) {
        if (!wanted_data[data]) continue;
        bench_fill(rank, &a, (enum bench_data)data);
        for (int i = 0; i < bench_n_rows; i++)
            if (is_wanted(&bench_rows[i])) measure(rank, a, &bench_rows[i], (enum bench_data)data);
    }
    release(rank, &a);
}

static void run_rank(const struct bench_rank *rank)
{
    for (int i = 0; i < n_sizes; i++) measure_all(rank, (size_t)1 << sizes[i]);
}

/* ---- Options ---- */

static int data_of(const char *name)
{
    for (int i = 0; i < BENCH_DATA; i++)
        if (strcmp(name, bench_data_names[i]) == 0) return i;
    bench_stop("--data needs random, sorted, skewed or equal");
}

static bool memory_of(const char *name)
{
    if (strcmp(name, "host") != 0 && strcmp(name, "device") != 0)
        bench_stop("--memory needs device or host");
    return strcmp(name, "host") == 0;
}

static void add_only(const char *name)
{
    if (n_only == MOST_NAMES) bench_stop("too many names");
    only[n_only++] = name;
    for (int i = 0; i < bench_n_rows; i++)
        if (is_wanted(&bench_rows[i])) return;
    bench_stop("--only needs an operation and its type, such as sort,u32");
}

static bool read_option(const char *option, const char *value)
{
    if (strcmp(option, "--data") == 0 && value)
        wanted_data[data_of(value)] = true;
    else if (strcmp(option, "--only") == 0 && value)
        add_only(value);
    else if (strcmp(option, "--algorithm") == 0 && value)
        bench_algorithm = value;
    else if (strcmp(option, "--memory") == 0 && value)
        on_host = memory_of(value);
    else if (strcmp(option, "--log2") == 0)
        sizes[n_sizes < MOST_NAMES ? n_sizes++ : 0] = bench_number(option, value, 10, 34);
    else if (strcmp(option, "--repeat") == 0)
        repeats = bench_number(option, value, 1, MOST_REPEATS);
    else if (strcmp(option, "--check") == 0)
        check = bench_number(option, value, 0, 1);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    bool any = false;
    for (int i = 1; i < argc; i += 2)
        if (!bench_rank_option(argv[i], argv[i + 1]) && !read_option(argv[i], argv[i + 1]))
            return fprintf(stderr, "usage: bench_dist [--device cuda|cpu|simt] [--ranks R] "
                                   "[--comm NAME] [--log2 N] [--repeat K] "
                                   "[--only OP,TYPE] [--data NAME] [--memory device|host] "
                                   "[--algorithm NAME] [--check 1]\n"),
                   2;
    for (int i = 0; i < BENCH_DATA; i++) any |= wanted_data[i];
    if (!any) wanted_data[BENCH_RANDOM] = true;
    if (n_sizes == 0) sizes[n_sizes++] = 28;
    if (bench_open_ranks())
        printf("# %s; %s; %d ranks\nop,dtype,ranks,elements,ms,g_per_s,data,comm,memory%s\n",
               ech_version(), bench_device_name(), bench_ranks, check ? ",check" : "");
    bench_run_ranks(run_rank);
    return 0;
}
