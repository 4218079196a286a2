/*
 * ladder.h - what a ladder is: one problem, and its rungs, each a way to solve it on a GPU that
 * shows one idea.
 *
 *     ladder/reduce/1_interleaved.cu   the kernels of a rung
 *     ladder/reduce/reduce.c           the problem: data, oracle, what each rung launches, claims
 *     ladder/ladder.c                  the device: images, memory, launches
 *     ladder/measure.c                 a rung checked, counted on the executor, timed on a GPU
 *
 * All rungs of a ladder read trial->in, which they leave as it is, and write trial->out.  The
 * command "echelon ladder" runs them.  Nothing here is part of the library.
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

/* ---- What a ladder says of itself ---- */

struct rung {
    int number;                       /* of its file, NUMBER_IDEA.cu */
    const char *idea;                 /* "interleaved"; "production" has no file */
    const char *text;                 /* a line for the table */
    uint64_t parameter;               /* of rungs that are several by one file: k, a stride */
    uint64_t most;                    /* elements that it takes; 0: any number */
    bool own_data;                    /* make() has its own for it: not for the user's */
    bool on_host;                     /* to compare with: timed by the host's clock */
    void (*run)(struct trial *trial); /* queues its kernels; on_host: host_in to host_out */
};

/* Something that people say of the rungs, and what shows it. */
struct claim {
    const char *text;
    bool of_gpu; /* of times on a GPU, where it may turn out false; else of counts, and must hold */
    /* Writes the figures into because. */
    bool (*holds)(const struct results *results, char *because, size_t bytes);
};

enum roof {
    ROOF_MEMORY,     /* bytes() by what a copy moves */
    ROOF_ARITHMETIC, /* operations() by what the multipliers do */
    ROOF_NONE
};

struct ladder {
    const char *name, *summary;
    const char *types; /* "u32 i32 f32", as in ladders.txt; the first is the default */
    const char *unit;  /* what n counts: "keys" */
    bool takes_input;  /* a column of the user's own, and its out is one */
    int out_type;      /* of that column, an ech_dtype; LADDER_SAME: of the input's type */
    enum roof roof;
    const struct rung *rungs;
    int rung_count;
    const struct claim *claims;
    int claim_count;
    const uint64_t *checked; /* awkward sizes, 0 among them or not; LADDER_END ends each list */
    const uint64_t *counted; /* on the executor */
    const uint64_t *timed;   /* on a GPU */
    /* Bytes of the arrays for trial->n: in_bytes, out_bytes, scratch_bytes, and whatever else. */
    void (*shape)(struct trial *trial);
    /* Fills host_in from trial->seed; seeds below LADDER_SEEDS are all checked. */
    void (*make)(struct trial *trial);
    void (*expect)(struct trial *trial); /* fills expected */
    /* NULL: out must be expected, byte for byte.  Else whether host_out will do, or a message. */
    bool (*accept)(const struct trial *trial, char *message, size_t bytes);
    double (*bytes)(const struct trial *trial);      /* that must move; NULL: in and out once */
    double (*operations)(const struct trial *trial); /* NULL where the roof is another */
};

#define LADDER_END UINT64_MAX
enum { LADDER_SEEDS = 4, LADDER_SAME = -1 };

extern const struct ladder *const ladders[]; /* ladders.c, in the order of ladders.txt */
extern const int ladder_count;

/* ---- Device: ladder.c ---- */

struct ladder_device {
    ech_ctx *ctx;  /* of production rungs, on the same stream */
    ech_ctx *host; /* of rungs on the host, once one has asked for it */
    const struct echi_driver *driver;
    CUdevice device;
    CUcontext context; /* the device's primary one, which the library uses, too */
    bool entered;      /* it is current in this thread */
    CUstream stream;
    CUevent before, after;
    CUdeviceptr flush; /* larger than the second cache */
    CUlibrary *libraries;
    struct {
        char name[48];
        CUkernel kernel;
        int image;
    } * kernels;
    int kernel_count;
    bool simt;
    struct executor executor;
    int multiprocessors, architecture;
    double copy_bytes_per_s, operations_per_s, f64_operations_per_s; /* roofs */
    char message[1024];                                              /* of the last failure */
};

/* name: "cuda", "cuda:1", "simt"; NULL: the first GPU, else the executor.  False with a message. */
bool ladder_open(struct ladder_device *device, const char *name);
void ladder_close(struct ladder_device *device);

/* One rung on one array.  After the first failure every call on it does nothing. */
struct trial {
    struct ladder_device *device;
    const struct ladder *ladder;
    const struct rung *rung;
    ech_dtype type;
    size_t element_bytes; /* of type */
    uint64_t n, seed;
    uint64_t rows, cols, p[4]; /* whatever shape() makes of n */
    size_t in_bytes, out_bytes, scratch_bytes;
    CUdeviceptr in, out, scratch;
    void *host_in, *host_out, *expected;
    bool given; /* host_in is the user's */
    uint64_t launches;
    bool failed;
};

/* Queues a kernel of the ladder's image for the trial's type: blocks of threads.  No blocks:
 * nothing.  What follows shared_bytes are addresses of its arguments. */
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
/* What a call of the library on trial->device->ctx returned. */
void ladder_try(struct trial *trial, ech_status status);
/* Sorts host_in into host_out by the library on the host's processor. */
void ladder_sort_on_host(struct trial *trial);
/* Fails the trial; the text is the device's message. */
void ladder_fail(struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Of the device, as a pointer for calls of the library. */
static inline void *ladder_pointer(CUdeviceptr at)
{
    return (void *)(uintptr_t)at;
}

static inline uint64_t ladder_ceil(uint64_t n, uint64_t by)
{
    return n / by + (n % by != 0);
}

/* ---- Data: data.c ---- */

/* For ladders that sort: in, out of n elements; random, with few values, falling, all alike, with
 * what a float may be, by seed.  In order means by value, floats by IEEE 754's totalOrder. */
void ladder_shape_keys(struct trial *trial);
void ladder_make_keys(struct trial *trial);
void ladder_expect_sorted(struct trial *trial);
/* n numbers small enough for sums of them: integers to 255, floats in [-1, 1) in steps of 2^-10. */
void ladder_make_numbers(struct trial *trial);
/* bits.c: an n x n matrix of bits, laid out as ech_gf2 has it; p[0] is its stride in 32-bit words.
 * What is expected is its reduced echelon form. */
void ladder_shape_bits(struct trial *trial);
void ladder_make_bits(struct trial *trial);
void ladder_expect_reduced(struct trial *trial);
/* n bytes: random, with few values, rising by one, all alike, by seed; or alike in any case. */
void ladder_make_bytes(struct trial *trial, bool alike);
uint64_t ladder_random(uint64_t seed, uint64_t i);
/* Element i of host memory, of the trial's type, as a number. */
double ladder_number(ech_dtype type, const void *elements, uint64_t i);
/* The bits that it orders by, as unsigned numbers do: order_bits() of ladder.cuh. */
uint64_t ladder_order_bits(ech_dtype type, const void *elements, uint64_t i);

/* ---- Measuring: measure.c ---- */

struct result {
    const struct rung *rung;
    ech_dtype type;
    uint64_t n;
    bool right;
    char message[640]; /* what is wrong */
    double ms;         /* on a GPU: the median; else 0 */
    double bytes, operations;
    uint64_t launches, faults;
    struct simt_counts counts; /* on the executor */
};

struct results {
    const struct ladder *ladder;
    const struct ladder_device *device;
    struct result *rows;
    int count, room;
};

/* A user's array, of the trial's type. */
struct ladder_data {
    const void *in;
    void *out; /* of out_bytes(), filled; may be NULL */
    uint64_t n;
};

/* Runs a rung once on n elements made from seed, or on data, and compares with the oracle; on the
 * executor with counts.  True when there is a result, right or not. */
bool ladder_check(struct ladder_device *device, const struct ladder *ladder,
                  const struct rung *rung, ech_dtype type, uint64_t n, uint64_t seed,
                  const struct ladder_data *data, struct result *result);
/* The same, and on a GPU its time. */
bool ladder_measure(struct ladder_device *device, const struct ladder *ladder,
                    const struct rung *rung, ech_dtype type, uint64_t n,
                    const struct ladder_data *data, struct result *result);
/* What out of n elements takes. */
size_t ladder_out_bytes(const struct ladder *ladder, ech_dtype type, uint64_t n);
/* False when out of memory. */
bool ladder_keep(struct results *results, const struct result *result);

/* The row of a rung, by its number, its parameter and n (0: the first of any n); NULL: none. */
const struct result *ladder_row(const struct results *results, int number, uint64_t parameter,
                                uint64_t n);

/* For claims of times: whether a takes at least `least` and at most `most` times as long as b. */
bool ladder_ratio(const struct result *a, const struct result *b, double least, double most,
                  char *because, size_t bytes);

#endif
