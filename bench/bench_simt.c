/*
 * bench_simt.c - measures the speed of the SIMT emulator (src/simt) on this machine: sorts, and
 * kernels that repeat one operation.
 *
 *     bench_simt [LARGEST_N]     writes CSV, by default up to sorts of 10^6 elements
 *
 * Rows of the kinds "sort" and "kernel" are medians of 3 to 9 runs (fewer if they take more than
 * 10 s) in one process, after a warm-up.  A row of the kind "process" is one run of a new process
 * with its peak memory, for up to ten times as many elements.  Sorts are checked against the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _DEFAULT_SOURCE /* getloadavg, wait4 */
#include "simt/driver.h"
#include "simt/simt.h"
#include "echelon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_RUNS = 3, MOST_RUNS = 9, BLOCKS = 16, PLACES = 8 };
static const double enough_seconds = 2, most_seconds = 30;

/* The options of simt_set_options() for which each case is measured. */
static const char *const options[] = {
    "threads=1", "threads=1,nocheck", "threads=1,profile",
    "threads=2", "threads=2,nocheck", "threads=2,profile",
};
enum { OPTIONS = sizeof options / sizeof *options };

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
    fprintf(stderr, "bench_simt: %s: %s\n", what, why);
    exit(1);
}

static void set_options(const char *words)
{
    char message[200];
    if (!simt_set_options("check,noprofile", message, sizeof message) ||
        !simt_set_options(words, message, sizeof message))
        die(words, message);
    simt_forget();
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Repeats the run until enough time has passed, and prints the row.  `operations`: per run. */
static void measure(const char *kind, const char *name, double n, const char *with,
                    double operations, const char *unit, void (*run)(void *), void *argument)
{
    double seconds[MOST_RUNS], sum = 0;
    int runs = 0;
    set_options(with);
    while (runs < LEAST_RUNS ? sum < most_seconds : runs < MOST_RUNS && sum < enough_seconds) {
        double begin = now();
        run(argument);
        seconds[runs] = now() - begin;
        sum += seconds[runs++];
        simt_forget(); /* discards the counters, outside the measured time */
    }
    qsort(seconds, (size_t)runs, sizeof *seconds, compare);
    double median = seconds[runs / 2];
    printf("%s,%s,%.0f,\"%s\",%d,%.6f,%.6f,%.6g,%s,\n", kind, name, n, with, runs, median,
           seconds[0], operations / median, unit);
    fflush(stdout);
}

/* ---- Sorts ---- */

struct sort {
    ech_ctx *ctx;
    ech_dtype dtype;
    size_t n, key_bytes, value_bytes;
    char *keys, *values, *keys_out, *values_out;
};

static void sort(const struct sort *s, ech_ctx *ctx, char *keys, char *values)
{
    ech_status status = s->value_bytes ? ech_sort_pairs(ctx, s->keys, s->values, keys, values, s->n,
                                                        s->dtype, s->value_bytes, NULL)
                                       : ech_sort(ctx, s->keys, keys, s->n, s->dtype, NULL);
    if (status != ECH_OK) die("a sort", ech_error(ctx));
}

static void run_sort(void *argument)
{
    struct sort *s = argument;
    sort(s, s->ctx, s->keys_out, s->values_out);
}

static void fill(struct sort *s, ech_dtype dtype, size_t value_bytes, size_t n)
{
    s->dtype = dtype;
    s->n = n;
    s->key_bytes = ech_dtype_bytes(dtype);
    s->value_bytes = value_bytes;
    s->keys = malloc(n * s->key_bytes);
    s->keys_out = calloc(n, s->key_bytes);
    s->values = malloc(n * value_bytes + 1);
    s->values_out = calloc(n, value_bytes + 1);
    if (!s->keys || !s->keys_out || !s->values || !s->values_out) die("memory", "out of memory");
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        memcpy(s->keys + i * s->key_bytes, &x, s->key_bytes);
        if (value_bytes) memcpy(s->values + i * value_bytes, &i, value_bytes);
    }
}

static void drop(struct sort *s)
{
    free(s->keys);
    free(s->keys_out);
    free(s->values);
    free(s->values_out);
}

/* Compares the last result of the emulator with a sort on the CPU. */
static void check(const struct sort *s)
{
    char *keys = malloc(s->n * s->key_bytes), *values = malloc(s->n * s->value_bytes + 1);
    ech_ctx *cpu;
    if (!keys || !values || ech_open(&cpu, "cpu") != ECH_OK) die("the CPU", ech_error(NULL));
    sort(s, cpu, keys, values);
    if (memcmp(keys, s->keys_out, s->n * s->key_bytes) != 0 ||
        memcmp(values, s->values_out, s->n * s->value_bytes) != 0)
        die("a sort", "the result differs from the CPU's");
    ech_close(cpu);
    free(keys);
    free(values);
}

static void sorts(size_t largest)
{
    static const struct {
        const char *name;
        ech_dtype dtype;
        size_t value_bytes;
    } kinds[] = { { "u32", ECH_U32, 0 }, { "u64", ECH_U64, 0 }, { "u32 with u32", ECH_U32, 4 } };
    struct sort s;
    if (ech_open(&s.ctx, "simt") != ECH_OK) die("simt", ech_error(NULL));
    for (int k = 0; k < 3; k++)
        for (size_t n = 10000; n <= largest; n *= 10) {
            fill(&s, kinds[k].dtype, kinds[k].value_bytes, n);
            set_options("nocheck");
            run_sort(&s);
            for (int o = 0; o < OPTIONS; o++) {
                measure("sort", kinds[k].name, (double)n, options[o], (double)n, "elements",
                        run_sort, &s);
                check(&s);
            }
            drop(&s);
        }
    ech_close(s.ctx);
}

/* ---- New processes: total time and peak memory ---- */

static void process(size_t n, const char *with)
{
    double begin = now();
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) die("fork", "failed");
    if (child == 0) {
        struct sort s;
        if (ech_open(&s.ctx, "simt") != ECH_OK) die("simt", ech_error(NULL));
        set_options(with);
        fill(&s, ECH_U32, 0, n);
        run_sort(&s);
        _exit(0);
    }
    struct rusage used;
    int status;
    if (wait4(child, &status, 0, &used) != child || status != 0) die("a process", "failed");
    double seconds = now() - begin;
    printf("process,u32,%zu,\"%s\",1,%.6f,%.6f,%.6g,elements,%ld\n", n, with, seconds, seconds,
           (double)n / seconds, used.ru_maxrss * 1024);
    fflush(stdout);
}

/* ---- Kernels ---- */

static struct {
#define DRIVER(name, parameters) CUresult(*name) parameters;
#include "cuda/driver.def"
#undef DRIVER
} driver;

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                             int *symbol_status);

struct launch {
    CUkernel kernel;
    unsigned blocks, threads;
    CUdeviceptr data;
    uint32_t rounds;
};

static void run_launch(void *argument)
{
    struct launch *l = argument;
    void *parameters[] = { &l->data, &l->rounds };
    const char *text = "";
    CUresult result = driver.cuLaunchKernel(l->kernel, l->blocks, 1, 1, l->threads, 1, 1, 0, NULL,
                                            parameters, NULL);
    if (result != CUDA_SUCCESS) {
        driver.cuGetErrorString(result, &text);
        die("a kernel", text);
    }
}

static void open_driver(void)
{
    union {
        void **object;
        void *field;
    } slot;
    CUcontext context;
#define DRIVER(name, parameters)                                                                   \
    slot.field = &driver.name;                                                                     \
    if (cuGetProcAddress_v2(#name, slot.object, ECHI_DRIVER_VERSION, 0, NULL) != CUDA_SUCCESS)     \
        die("the SIMT emulator lacks", #name);
#include "cuda/driver.def"
#undef DRIVER
    if (driver.cuInit(0) != CUDA_SUCCESS ||
        driver.cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS)
        die("the SIMT emulator", "failed to start");
}

/* The operations of a thread per round, and the number of threads that share one operation. */
static const struct kernel {
    const char *name, *unit;
    double a_round, by;
    unsigned threads, rounds, blocks;
} kernels[] = {
    { "threads", "threads", 1, 1, 256, 1, 4096 },
    { "threads", "threads", 1, 1, 1024, 1, 1024 },
    { "barriers", "threads at a barrier", 1, 1, 32, 8000, BLOCKS },
    { "barriers", "threads at a barrier", 1, 1, 256, 2000, BLOCKS },
    { "barriers", "threads at a barrier", 1, 1, 1024, 500, BLOCKS },
    { "shuffles", "shuffles by a warp", 1, 32, 32, 8000, BLOCKS },
    { "shuffles", "shuffles by a warp", 1, 32, 256, 2000, BLOCKS },
    { "shared_accesses", "accesses by a thread", 2, 1, 256, 2000, BLOCKS },
    { "global_accesses", "accesses by a thread", 2, 1, 256, 2000, BLOCKS },
    { "global_atomics", "atomics by a thread", 1, 1, 256, 2000, BLOCKS },
};

static void run_kernels(void)
{
    CUlibrary library;
    open_driver();
    if (driver.cuLibraryLoadData(&library, BENCH_SIMT_MODULE, NULL, NULL, 0, NULL, NULL, 0) !=
        CUDA_SUCCESS)
        die("the module", "not found");
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        const struct kernel *c = &kernels[k];
        double threads = (double)c->blocks * c->threads;
        size_t bytes = PLACES * (size_t)c->blocks * c->threads * sizeof(uint32_t);
        struct launch l = { .blocks = c->blocks, .threads = c->threads, .rounds = c->rounds };
        if (driver.cuLibraryGetKernel(&l.kernel, library, c->name) != CUDA_SUCCESS ||
            driver.cuMemAlloc(&l.data, bytes) != CUDA_SUCCESS ||
            driver.cuMemsetD8Async(l.data, 0, bytes, NULL) != CUDA_SUCCESS)
            die(c->name, "no kernel, or no memory");
        run_launch(&l);
        for (int o = 0; o < OPTIONS; o++)
            measure("kernel", c->name, c->threads, options[o],
                    threads * c->rounds * c->a_round / c->by, c->unit, run_launch, &l);
        driver.cuMemFree(l.data);
    }
}

/* ---- The program ---- */

static void print_head(size_t largest)
{
    char date[32], model[100] = "unknown", line[200];
    time_t t = time(NULL);
    double load[1] = { 0 };
    FILE *cpu = fopen("/proc/cpuinfo", "r");
    while (cpu && fgets(line, sizeof line, cpu))
        if (sscanf(line, "model name : %99[^\n]", model) == 1) break;
    if (cpu) fclose(cpu);
    getloadavg(load, 1);
    strftime(date, sizeof date, "%Y-%m-%d", localtime(&t));
    printf("# machine: %s, %ld threads\n# versions: Echelon %s, compiler %s\n# date: %s\n"
           "# command: bench_simt %zu\n# load average at the start: %.2f\n"
           "kind,case,n,options,runs,seconds,seconds_best,per_second,unit,peak_bytes\n",
           model, sysconf(_SC_NPROCESSORS_ONLN), ech_version(), COMPILER, date, largest, load[0]);
}

int main(int argc, char **argv)
{
    size_t largest = argc > 1 ? (size_t)strtod(argv[1], NULL) : 1000000;
    print_head(largest);
    for (size_t n = 10000; n <= 10 * largest; n *= 10) {
        process(n, "threads=1");
        process(n, "threads=1,nocheck");
    }
    run_kernels();
    sorts(largest);
    return 0;
}
