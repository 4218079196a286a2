/*
 * bench_cpu.c - measures the CPU sorts and their competitors, and writes CSV.
 *
 *     bench_cpu [--all] [--with FILE ...] [--without TEXT,...]
 *               [threads [largest_n [repeats [row ...]]]]      1, 10^7, 5, all
 *
 * A row is named dtype/n/value_bytes/distribution, such as "u32/10000000/0/zipf"; a part of the
 * name selects all rows that contain it.  The name of a sort of rows begins with "rows/", that of
 * an argsort with "argsort/".  --all measures the product of types, sizes and distributions
 * instead of a selection.  --with opens a shared library with further competitors (cpu_rivals.h);
 * --without omits the competitors whose names contain a text.
 *
 * In each row every contender sorts a copy of the same input in place, alternating, repeats times.
 * The result of the first round is checked, and its time is not used; the median of the others is
 * reported, of one thread as processor time of this process, otherwise as elapsed time.  A
 * contender that takes more than 3 times and 20 ms longer than Echelon in the first round is not
 * measured again.  Rows of small arrays sort a batch of different arrays.  The context keeps the
 * workspace, so only the first call includes its allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "bench_cpu_data.h"
#include "cpu_rivals.h"

#include <echelon.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct row {
    const char *dtype, *distribution;
    size_t n, batch, value_bytes;
    enum call call;
};

static const struct row selection[] = {
    { "u32", "uniform", 10, 20000, 0, 0 },         { "u32", "uniform", 100, 2000, 0, 0 },
    { "u32", "uniform", 1000, 200, 0, 0 },         { "u32", "uniform", 100000, 10, 0, 0 },
    { "u32", "uniform", 1000000, 1, 0, 0 },        { "u32", "uniform", 10000000, 1, 0, 0 },
    { "u32", "uniform", 100000000, 1, 0, 0 },      { "u32", "sorted", 10000000, 1, 0, 0 },
    { "u32", "reversed", 10000000, 1, 0, 0 },      { "u32", "equal", 10000000, 1, 0, 0 },
    { "u32", "few16", 10000000, 1, 0, 0 },         { "u32", "zipf", 10000000, 1, 0, 0 },
    { "u32", "almost_sorted", 10000000, 1, 0, 0 }, { "f32", "uniform", 1000, 200, 0, 0 },
    { "f32", "uniform", 100000, 10, 0, 0 },        { "f32", "uniform", 10000000, 1, 0, 0 },
    { "u64", "uniform", 10, 20000, 0, 0 },         { "u64", "uniform", 1000, 200, 0, 0 },
    { "u64", "uniform", 100000, 10, 0, 0 },        { "u64", "uniform", 10000000, 1, 0, 0 },
    { "f64", "uniform", 1000, 200, 0, 0 },         { "f64", "uniform", 100000, 10, 0, 0 },
    { "f64", "uniform", 10000000, 1, 0, 0 },       { "u8", "uniform", 10000000, 1, 0, 0 },
    { "u16", "uniform", 1000, 200, 0, 0 },         { "u16", "uniform", 10000000, 1, 0, 0 },
    { "u32", "uniform", 1000, 200, 4, 0 },         { "u32", "uniform", 100000, 10, 4, 0 },
    { "u32", "uniform", 10000000, 1, 4, 0 },       { "u32", "uniform", 100000000, 1, 4, 0 },
    { "u32", "zipf", 10000000, 1, 4, 0 },          { "u64", "uniform", 1000, 200, 8, 0 },
    { "u64", "uniform", 100000, 10, 8, 0 },        { "u64", "uniform", 10000000, 1, 8, 0 },
    { "u64", "uniform", 10000000, 1, 4, 0 },       { "u32", "uniform", 10000000, 1, 4, 1 },
    { "f64", "uniform", 10000000, 1, 8, 1 },       { "u32", "uniform", 32, 1000000, 0, ROWS },
    { "u32", "uniform", 1000, 10000, 0, ROWS },
};

/* --all: the product of these; 10^8 elements only of u32, uniform. */
static const struct row kinds[] = {
    { "u32", NULL, 0, 0, 0, SORT },    { "u64", NULL, 0, 0, 0, SORT },
    { "f32", NULL, 0, 0, 0, SORT },    { "f64", NULL, 0, 0, 0, SORT },
    { "u32", NULL, 0, 0, 4, SORT },    { "u64", NULL, 0, 0, 8, SORT },
    { "u32", NULL, 0, 0, 8, ARGSORT }, { "u64", NULL, 0, 0, 8, ARGSORT },
    { "f64", NULL, 0, 0, 8, ARGSORT },
};
static const char *const distributions[] = { "uniform",       "zipf",  "sorted", "reversed",
                                             "almost_sorted", "few16", "equal" };

enum { MOST_RIVALS = 64, MOST_REPEATS = 99, BATCH_KEYS = 100000 };

static const struct rival *rivals[MOST_RIVALS] = {
    NULL, /* Echelon */
#ifdef RIVAL_STD
    &rival_std,
    &rival_std_stable,
    &rival_std_records,
    &rival_std_records_stable,
    &rival_std_parallel,
#endif
#ifdef RIVAL_TBB
    &rival_tbb,
    &rival_tbb_records,
    &rival_tbb_records_stable,
#endif
#ifdef RIVAL_BOOST
    &rival_pdqsort,
    &rival_pdqsort_records,
    &rival_spreadsort,
    &rival_spreadsort_records,
#endif
#ifdef RIVAL_X86SIMDSORT_AVX512
    &rival_x86simdsort_avx512,
#endif
#ifdef RIVAL_X86SIMDSORT_AVX2
    &rival_x86simdsort_avx2,
#endif
#ifdef RIVAL_VQSORT
    &rival_vqsort,
#endif
};

static int rival_count;

/* The arrays of a row: work contains keys (and values), or records, of the contender's turn. */
struct arrays {
    char *input, *positions, *records, *keys, *values;
    size_t total, key_bytes, value_bytes;
};

static double now_ms(int threads)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int sort_echelon(ech_ctx *ctx, const struct job *job)
{
    const ech_dtype dtype = (ech_dtype)ech_dtype_from_name(job->dtype);
    const ech_dtype index_dtype = job->value_bytes == 4 ? ECH_U32 : ECH_U64;
    const size_t key_bytes = job->n * ech_dtype_bytes(dtype);
    const size_t value_bytes = job->n * job->value_bytes;
    char *keys = job->keys, *values = job->values;
    ech_status status = ECH_OK;
    if (job->call == ROWS)
        return ech_sort_rows(ctx, keys, keys, job->batch, job->n, dtype, NULL) == ECH_OK;
    for (size_t b = 0; b < job->batch && status == ECH_OK; b++, keys += key_bytes) {
        if (job->call == ARGSORT)
            status = ech_argsort(ctx, keys, values, job->n, dtype, index_dtype, NULL);
        else if (values)
            status = ech_sort_pairs(ctx, keys, values, keys, values, job->n, dtype,
                                    job->value_bytes, NULL);
        else
            status = ech_sort(ctx, keys, keys, job->n, dtype, NULL);
        if (values) values += value_bytes;
    }
    return status == ECH_OK;
}

static void from_records(const struct arrays *a)
{
    const size_t bytes = a->key_bytes;
    for (size_t i = 0; i < a->total; i++) {
        memcpy(a->keys + i * bytes, a->records + 2 * i * bytes, bytes);
        memcpy(a->values + i * bytes, a->records + (2 * i + 1) * bytes, bytes);
    }
}

static void to_records(const struct arrays *a)
{
    const size_t bytes = a->key_bytes;
    for (size_t i = 0; i < a->total; i++) {
        memcpy(a->records + 2 * i * bytes, a->input + i * bytes, bytes);
        memcpy(a->records + (2 * i + 1) * bytes, a->positions + i * bytes, bytes);
    }
}

static bool right(const struct row *row, const struct arrays *a, bool stable)
{
    for (size_t b = 0; b < row->batch; b++) {
        char *keys = a->keys + b * row->n * a->key_bytes;
        const char *input = a->input + b * row->n * a->key_bytes;
        const char *values = a->values + b * row->n * row->value_bytes;
        for (size_t i = 0; row->call == ARGSORT && i < row->n; i++) {
            uint64_t at;
            memcpy(&at, values + i * 8, 8);
            if (at >= row->n) return false;
            memcpy(keys + i * a->key_bytes, input + at * a->key_bytes, a->key_bytes);
        }
        if (!data_sorted(keys, row->n, row->dtype) ||
            data_sum(keys, row->n, a->key_bytes) != data_sum(input, row->n, a->key_bytes))
            return false;
        if (row->value_bytes &&
            !data_pairs(keys, values, row->value_bytes, input, row->n, a->key_bytes, stable))
            return false;
    }
    return true;
}

/* Copies the input to the arrays of the contender. */
static void copy_input(const struct row *row, const struct arrays *a, bool records)
{
    if (records) {
        to_records(a);
    } else {
        memcpy(a->keys, a->input, a->total * a->key_bytes);
        memcpy(a->values, a->positions, a->total * row->value_bytes);
    }
}

/* Milliseconds of one sort of the whole batch; negative if the contender does not support it.
 * Short sorts are done twice, because the code of the other contenders replaced the contender's in
 * the caches; the second one is timed. */
static double once(ech_ctx *ctx, const struct row *row, const struct arrays *a, int r, int threads)
{
    enum { SHORT = 1 << 17 };
    const bool records = rivals[r] && rivals[r]->records;
    if (records && (row->value_bytes != a->key_bytes || row->call == ARGSORT)) return -1;
    const struct job job = { row->dtype,
                             row->call,
                             records ? a->records : a->keys,
                             row->value_bytes ? a->values : NULL,
                             row->n,
                             row->batch,
                             row->value_bytes,
                             threads };
    if (threads > 1) { /* threads of the previous contender stop to wait actively */
        const struct timespec pause = { 0, 3000000 };
        nanosleep(&pause, NULL);
    }
    double ms = 0;
    for (int i = a->total > SHORT; i < 2; i++) {
        copy_input(row, a, records);
        const double start = now_ms(threads);
        if (!(rivals[r] ? rivals[r]->sort(&job) : sort_echelon(ctx, &job))) return -1;
        ms = now_ms(threads) - start;
    }
    if (records) from_records(a);
    return ms;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    if (!memory) exit(1);
    return memory;
}

static void measure(ech_ctx *ctx, const struct row *row, int threads, int repeats)
{
    const size_t total = row->n * row->batch;
    const size_t key_bytes = ech_dtype_bytes((ech_dtype)ech_dtype_from_name(row->dtype));
    static double times[MOST_RIVALS][MOST_REPEATS];
    double first[MOST_RIVALS];
    int rounds[MOST_RIVALS] = { 0 };
    bool verified[MOST_RIVALS];
    struct arrays a = { allocate(total * key_bytes),
                        allocate(total * row->value_bytes),
                        allocate(row->value_bytes ? 2 * total * key_bytes : 0),
                        allocate(total * key_bytes),
                        allocate(total * row->value_bytes),
                        total,
                        key_bytes,
                        row->value_bytes };
    for (size_t b = 0; b < row->batch; b++) {
        data_keys(a.input + b * row->n * key_bytes, row->n, row->dtype, row->distribution);
        if (row->value_bytes)
            data_positions(a.positions + b * row->n * row->value_bytes, row->n, row->value_bytes);
    }
    uint64_t peak = 0;
    for (int r = 0; r < rival_count; r++) {
        first[r] = once(ctx, row, &a, r, threads);
        verified[r] = first[r] >= 0 && right(row, &a, rivals[r] ? rivals[r]->stable : true);
    }
    for (int i = 0; i < repeats; i++)
        for (int j = 0; j < rival_count; j++) {
            const int r = (j + i) % rival_count;
            if (first[r] < 0 || first[r] > 3 * first[0] + 20) continue;
            times[r][rounds[r]++] = once(ctx, row, &a, r, threads);
        }
    ech_memory_usage(ctx, 1, NULL, &peak);
    for (int r = 0; r < rival_count; r++) {
        if (first[r] < 0) continue;
        if (!rounds[r]) times[r][rounds[r]++] = first[r];
        qsort(times[r], (size_t)rounds[r], sizeof **times, by_value);
        const double ms = times[r][rounds[r] / 2];
        printf("%s,%s,%zu,%zu,%s,%d,%s%s,%.5g,%.4g,%s,%d",
               row->call == ARGSORT ? "argsort"
               : row->call == ROWS  ? "rows"
               : row->value_bytes   ? "pairs"
                                    : "keys",
               row->dtype, row->n, row->value_bytes, row->distribution, threads,
               rivals[r] ? rivals[r]->name : "Echelon",
               rivals[r] && rivals[r]->records ? " (records)" : "", ms / (double)row->batch,
               (double)total / ms / 1e6, verified[r] ? "yes" : "no", rounds[r]);
        if (rivals[r])
            puts(",");
        else
            printf(",%.2f\n", (double)peak / (double)(row->call == ROWS ? total : row->n));
    }
    fflush(stdout);
    free(a.input);
    free(a.positions);
    free(a.records);
    free(a.keys);
    free(a.values);
}

static int wanted(const struct row *row, int names, char **name)
{
    char text[96];
    snprintf(text, sizeof text, "%s%s/%zu/%zu/%s",
             row->call == ROWS      ? "rows/"
             : row->call == ARGSORT ? "argsort/"
                                    : "",
             row->dtype, row->n, row->value_bytes, row->distribution);
    for (int i = 0; i < names; i++)
        if (strstr(text, name[i])) return 1;
    return names == 0;
}

static void measure_all(ech_ctx *ctx, double largest, int threads, int repeats, int names,
                        char **name)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t n = 10; (double)n <= largest; n *= 10)
            for (size_t d = 0; d < sizeof distributions / sizeof *distributions; d++) {
                struct row row = kinds[k];
                row.n = n;
                row.batch = n < BATCH_KEYS ? BATCH_KEYS / n : 1;
                row.distribution = distributions[d];
                if (n >= 100000000 && (d > 0 || row.call == ARGSORT || strcmp(row.dtype, "u32")))
                    continue;
                if (wanted(&row, names, name)) measure(ctx, &row, threads, repeats);
            }
}

/* Adds the competitors of a shared library. */
static void open_rivals(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct rival *const *more = library ? dlsym(library, "bench_rivals") : NULL;
    if (!more) {
        fprintf(stderr, "bench_cpu: %s: %s\n", path, dlerror());
        exit(1);
    }
    for (; *more && rival_count < MOST_RIVALS; more++) rivals[rival_count++] = *more;
}

/* Removes the competitors whose names contain one of the texts, separated by commas. */
static void omit_rivals(char *texts)
{
    for (char *text = strtok(texts, ","); text; text = strtok(NULL, ",")) {
        int kept = 1;
        for (int r = 1; r < rival_count; r++)
            if (!strstr(rivals[r]->name, text)) rivals[kept++] = rivals[r];
        rival_count = kept;
    }
}

static void print_head(bool all, int threads, double largest, int repeats)
{
    ech_device device = { .size = sizeof device };
    ech_device_get(ech_device_count() - 1, &device);
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("# machine: %s, %d threads, kernels for %s\n", device.description,
           device.multiprocessors, device.features);
    printf("# versions: Echelon %s, compiler %s", ech_version(), COMPILER);
    for (int r = 1; r < rival_count; r++) {
        bool named = false; /* with the same version */
        for (int b = 1; b < r; b++)
            named |= !strcmp(rivals[b]->version, rivals[r]->version) &&
                     !strcmp(rivals[b]->name, rivals[r]->name);
        if (!named) printf(", %s: %s", rivals[r]->name, rivals[r]->version);
    }
    printf("\n# date: %s\n# command: bench_cpu %s%d %.0e %d\n", date, all ? "--all " : "", threads,
           largest, repeats);
    printf("op,dtype,n,value_bytes,dist,threads,contender,ms,gkeys_per_s,verified,rounds,"
           "workspace_bytes_per_key\n");
}

int main(int argc, char **argv)
{
    const char *program = *argv++;
    bool all = false;
    for (rival_count = 1; rivals[rival_count];) rival_count++;
    for (argc--; argc && !strncmp(*argv, "--", 2); argc--, argv++) {
        all |= !strcmp(*argv, "--all");
        if (argc < 2 || !strcmp(*argv, "--all")) continue;
        if (!strcmp(*argv, "--with")) open_rivals(argv[1]);
        if (!strcmp(*argv, "--without")) omit_rivals(argv[1]);
        argc--, argv++;
    }
    int threads = argc > 0 ? atoi(argv[0]) : 1;
    double largest = argc > 1 ? atof(argv[1]) : 1e7;
    int repeats = argc > 2 ? atoi(argv[2]) : 5;
    if (repeats < 1 || repeats > MOST_REPEATS || threads < 1) {
        fprintf(stderr, "%s: threads and repeats (at most %d) are positive\n", program,
                MOST_REPEATS);
        return 2;
    }
    ech_ctx *ctx;
    if (ech_open(&ctx, "cpu") != ECH_OK || ech_set_threads(ctx, threads) != ECH_OK) {
        fprintf(stderr, "%s\n", ech_error(NULL));
        return 1;
    }
    print_head(all, threads, largest, repeats);
    const int names = argc > 3 ? argc - 3 : 0;
    if (all) measure_all(ctx, largest, threads, repeats, names, argv + 3);
    for (size_t i = 0; !all && i < sizeof selection / sizeof *selection; i++)
        if ((double)selection[i].n <= largest && wanted(&selection[i], names, argv + 3))
            measure(ctx, &selection[i], threads, repeats);
    ech_close(ctx);
    return 0;
}
