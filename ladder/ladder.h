/*
 * ladder.h - the declaration of a ladder: one problem and its rungs, each a GPU solution that shows
 * one idea.
 *
 *     ladder/reduce/1_interleaved.cu   the kernels of a rung
 *     ladder/reduce/reduce.c           the problem: data, oracle, what each rung launches, claims
 *     ladder/ladder.c                  the device: modules, memory, launches
 *     ladder/measure.c                 checks a rung, counts on the SIMT emulator, times on a GPU
 *
 * All rungs of a ladder read trial->in without changing it, and write trial->out.  The command
 * "echelon ladder" runs them.  Nothing here is part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_LADDER_H
#define LADDER_LADDER_H

#include "cuda/driver.h"
#include "simt/client.h"

struct trial;
struct rung;
struct results;

/* Options of "echelon ladder" that change a rung; 0: not given. */
struct ladder_settings {
    bool bits; /* begin_bit and end_bit are given */
    unsigned begin_bit, end_bit;
    unsigned digit_bits;
    unsigned columns;
};

/* Which of them a ladder accepts. */
enum { LADDER_BITS = 1, LADDER_DIGIT = 2, LADDER_COLUMNS = 4 };

/* ---- Declarations ---- */

struct rung {
    int number;                       /* as in the file name NUMBER_IDEA.cu */
    const char *idea;                 /* "interleaved"; "production" has no file */
    const char *text;                 /* a line for the table */
    uint64_t parameter;               /* if a file has several rungs: k, a stride */
    uint64_t most;                    /* maximum number of elements; 0: no limit */
    bool own_data;                    /* make() generates separate data; cannot run on the user's */
    bool on_host;                     /* for comparison; timed by the host clock */
    void (*run)(struct trial *trial); /* queues its kernels; on_host: host_in to host_out */
};

/* A common statement about the rungs, and its test. */
struct claim {
    const char *text;
    bool of_gpu; /* 1: about times on a GPU, may be false; 0: about counts, must hold */
    /* Writes the figures to because. */
    bool (*holds)(const struct results *results, char *because, size_t bytes);
};

enum ceiling {
    CEILING_MEMORY,     /* bytes() relative to the rate of a copy */
    CEILING_ARITHMETIC, /* operations() relative to the arithmetic peak */
    CEILING_NONE
};

struct ladder {
    const char *name, *summary;
    const char *types; /* "u32 i32 f32", as in ladders.txt; the first is the default */
    const char *unit;  /* unit of n: "keys" */
    bool takes_input;  /* accepts a column of the user's data, and returns one */
    int out_type;      /* dtype of the result column; LADDER_SAME: the input type */
    enum ceiling ceiling;
    const struct rung *rungs;
    int rung_count;
    const struct claim *claims;
    int claim_count;
    const uint64_t *checked; /* sizes that test boundaries; LADDER_END ends each list */
    const uint64_t *counted; /* on the SIMT emulator */
    const uint64_t *timed;   /* on a GPU */
    /* Sets in_bytes, out_bytes, scratch_bytes and other sizes for trial->n. */
    void (*shape)(struct trial *trial);
    /* Fills host_in from trial->seed; all seeds below LADDER_SEEDS are checked. */
    void (*make)(struct trial *trial);
    void (*expect)(struct trial *trial); /* fills expected */
    /* Returns whether host_out is acceptable, or a message.  NULL: out must be byte-identical. */
    bool (*accept)(const struct trial *trial, char *message, size_t bytes);
    /* A number for the claims, computed from host_in and host_out of an accepted result. */
    uint64_t (*observe)(const struct trial *trial);
    unsigned settings; /* LADDER_BITS ... */
    /* Changes the parameter of a rung, and writes its text, which is up to date before the call;
     * returns false if the rung does not support the settings.  NULL if `settings` is 0. */
    bool (*adapt)(const struct ladder_settings *settings, struct rung *rung, char *text,
                  size_t bytes);
    double (*bytes)(const struct trial *trial);      /* minimum traffic; NULL: in and out once */
    double (*operations)(const struct trial *trial); /* NULL if memory is the limit */
};

#define LADDER_END UINT64_MAX
enum { LADDER_SEEDS = 4, LADDER_SAME = -1 };

extern const struct ladder *const ladders[]; /* ladders.c, in the order of ladders.txt */
extern const int ladder_count;

/* ---- Device: ladder.c ---- */

struct ladder_device {
    ech_ctx *ctx;  /* for production rungs, on the same stream */
    ech_ctx *host; /* for rungs on the host; opened when needed */
    const struct echi_driver *driver;
    CUdevice device;
    CUcontext context; /* the device's primary context, which the library also uses */
    bool entered;      /* whether it is current in this thread */
    CUstream stream;
    CUevent before, after;
    CUdeviceptr flush; /* larger than the L2 cache */
    CUlibrary *libraries;
    struct {
        char name[48];
        CUkernel kernel;
        int image;
    } * kernels;
    int kernel_count;
    CUlibrary own;         /* the user's module: its kernels replace those of the ladder; or NULL */
    uint64_t own_launches; /* of its kernels */
    bool simt;
    struct emulator emulator;
    int multiprocessors, architecture;
    double copy_bytes_per_s, operations_per_s, f64_operations_per_s; /* ceilings */
    char message[1024];                                              /* the last failure */
};

/* name: "cuda", "cuda:1", "simt"; NULL: the first GPU, otherwise the SIMT emulator.  Returns false
 * and sets the message on failure. */
bool ladder_open(struct ladder_device *device, const char *name);
void ladder_close(struct ladder_device *device);

/* One run of a rung on an array.  After the first failure every call on it does nothing. */
struct trial {
    struct ladder_device *device;
    const struct ladder *ladder;
    const struct rung *rung;
    ech_dtype type;
    size_t element_bytes; /* of type */
    uint64_t n, seed;
    uint64_t rows, cols, p[4]; /* set by shape() */
    size_t in_bytes, out_bytes, scratch_bytes;
    CUdeviceptr in, out, scratch;
    void *host_in, *host_out, *expected;
    bool given; /* host_in is the user's data */
    uint64_t launches;
    uint64_t noted; /* a count that run() may set, for claims */
    bool failed;
};

/* Queues a kernel of the ladder's module for the trial's type.  Does nothing for 0 blocks.  The
 * addresses of the kernel arguments follow shared_bytes. */
#define LAUNCH(trial, kernel, blocks, threads, shared_bytes, ...)                                  \
    ladder_launch(trial, kernel, blocks, 1, threads, 1, shared_bytes, (void *[]){ __VA_ARGS__ })
/* The same in two dimensions. */
#define LAUNCH_2D(trial, kernel, blocks_x, blocks_y, threads_x, threads_y, shared_bytes, ...)      \
    ladder_launch(trial, kernel, blocks_x, blocks_y, threads_x, threads_y, shared_bytes,           \
                  (void *[]){ __VA_ARGS__ })
void ladder_launch(struct trial *trial, const char *kernel, uint64_t blocks_x, uint64_t blocks_y,
                   unsigned threads_x, unsigned threads_y, size_t shared_bytes, void **arguments);
void ladder_zero(struct trial *trial, CUdeviceptr at, size_t bytes);
void ladder_copy(struct trial *trial, CUdeviceptr to, CUdeviceptr from, size_t bytes);
/* Queues a copy from host memory to a __constant__ or __device__ array of the ladder's module for
 * the trial's type, as cudaMemcpyToSymbol() does.  Fails the trial if the array is smaller. */
void ladder_copy_to_symbol(struct trial *trial, const char *symbol, const void *from, size_t bytes);
/* Waits for the queued work and copies its result to host memory. */
void ladder_download(struct trial *trial, void *to, CUdeviceptr from, size_t bytes);
/* Fails the trial if a call of the library on trial->device->ctx failed. */
void ladder_try(struct trial *trial, ech_status status);
/* Sorts host_in into host_out by the library on the CPU. */
void ladder_sort_on_host(struct trial *trial);
/* Fails the trial with a message. */
void ladder_fail(struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A device address as a pointer, for calls of the library. */
static inline void *ladder_pointer(CUdeviceptr at)
{
    return (void *)(uintptr_t)at;
}

static inline uint64_t ladder_ceil(uint64_t n, uint64_t by)
{
    return n / by + (n % by != 0);
}

/* ---- Data: data.c ---- */

/* For ladders that sort: in and out have n elements.  By seed: random bits (floats including NaN),
 * few values, descending, all equal.  The order is by value, for floats IEEE 754's totalOrder. */
void ladder_shape_keys(struct trial *trial);
void ladder_make_keys(struct trial *trial);
void ladder_expect_sorted(struct trial *trial);
/* n small numbers for sums: integers up to 255, floats in [-1, 1) in steps of 2^-10. */
void ladder_make_numbers(struct trial *trial);
/* bits.c: an n x n matrix of bits in the layout of ech_gf2; p[0] is its stride in 32-bit words.
 * The expected result is its reduced echelon form. */
void ladder_shape_bits(struct trial *trial);
void ladder_make_bits(struct trial *trial);
void ladder_expect_reduced(struct trial *trial);
/* n bytes, by seed: random, few values, ascending by one, all equal; alike: always equal. */
void ladder_make_bytes(struct trial *trial, bool alike);
uint64_t ladder_random(uint64_t seed, uint64_t i);
/* Element i in host memory as a number. */
double ladder_number(ech_dtype type, const void *elements, uint64_t i);
/* The order-preserving form of element i: order_bits() of ladder.cuh. */
uint64_t ladder_order_bits(ech_dtype type, const void *elements, uint64_t i);

/* ---- Measuring: measure.c ---- */

struct result {
    const struct rung *rung;
    ech_dtype type;
    uint64_t n;
    bool right;
    char message[640]; /* if wrong: why */
    double ms;         /* on a GPU: the median; otherwise 0 */
    uint64_t observed; /* the result of observe() */
    double bytes, operations;
    uint64_t launches, faults, noted;
    uint64_t blocks;           /* of all launches, on the SIMT emulator */
    struct simt_counts counts; /* on the SIMT emulator */
};

struct results {
    const struct ladder *ladder;
    const struct ladder_device *device;
    struct result *rows;
    int count, room;
};

/* The user's array, of the trial's type. */
struct ladder_data {
    const void *in;
    void *out; /* receives the result; may be NULL */
    uint64_t n;
};

/* Runs a rung once on n elements generated from seed, or on data, and compares with the oracle; on
 * the SIMT emulator it also counts.  Returns true if there is a result, right or wrong. */
bool ladder_check(struct ladder_device *device, const struct ladder *ladder,
                  const struct rung *rung, ech_dtype type, uint64_t n, uint64_t seed,
                  const struct ladder_data *data, struct result *result);
/* The same, and measures the time on a GPU. */
bool ladder_measure(struct ladder_device *device, const struct ladder *ladder,
                    const struct rung *rung, ech_dtype type, uint64_t n,
                    const struct ladder_data *data, struct result *result);
/* The size of out for n elements. */
size_t ladder_out_bytes(const struct ladder *ladder, ech_dtype type, uint64_t n);
/* Returns false if out of memory. */
bool ladder_keep(struct results *results, const struct result *result);

/* The result of a rung by number, parameter and n (0: the first for any n), or NULL. */
const struct result *ladder_row(const struct results *results, int number, uint64_t parameter,
                                uint64_t n);

/* For claims about times: whether a takes `least` to `most` times as long as b. */
bool ladder_ratio(const struct result *a, const struct result *b, double least, double most,
                  char *because, size_t bytes);

#endif
