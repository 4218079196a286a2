/*
 * grid.h - a row of the benchmark grid: its operation, its arrays, and the results that are
 * compared.
 *
 * The two modules of grid.py, grid_cpu and grid_gpu, export the functions at the end of this file.
 * echelon.c runs the library on either processor; cpu_*.c* and gpu_*.cu add memory, data and the
 * competitors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

#include <echelon.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The operations, in the order of design.py. */
enum grid_op {
    GRID_SORT,
    GRID_PAIRS,   /* param: bytes of a payload */
    GRID_ARGSORT, /* param: bytes of an index */
    GRID_TOPK,    /* param: k */
    GRID_SUM,
    GRID_MIN,
    GRID_VARIANCE,
    GRID_SCAN,
    GRID_BINCOUNT,  /* param: bins */
    GRID_HISTOGRAM, /* param: bins */
    GRID_SELECT,    /* the elements below in[n / 2] */
    GRID_COMPACT,   /* the elements whose flag is set */
    GRID_PARTITION,
    GRID_UNIQUE,
    GRID_DISTINCT,
    GRID_ENCODE,
    GRID_DECODE,
    GRID_MERGE,
    GRID_SEARCH,
    GRID_SORT_ROWS,       /* param: columns */
    GRID_SORT_SEGMENTS,   /* param: mean length */
    GRID_REDUCE_ROWS,     /* param: columns */
    GRID_REDUCE_SEGMENTS, /* param: mean length */
    GRID_GATHER,
    GRID_TRANSPOSE,
    GRID_MEDIAN,
    GRID_QUANTILE, /* of 9 probabilities */
    GRID_MATVEC,
    GRID_SPMV, /* param: mean length of a row */
    GRID_OPS
};

struct grid_row {
    int32_t op, dtype, dist, param; /* enum grid_op, ech_dtype, enum grid_dist */
    uint64_t n, seed;
};

/* How a result is compared with that of a competitor. */
enum grid_kind {
    GRID_EXACT,   /* equal bits; integers of different widths by value */
    GRID_CLOSE,   /* |a - b| <= tolerance * scale + 1e-9 */
    GRID_POSITION /* positions of elements of in, which must have equal bits */
};

struct grid_slot {
    void *ours, *other; /* of Echelon, and of a competitor of the module */
    int dtype;          /* of an element; of a position: ECH_U32 or ECH_U64 */
    enum grid_kind kind;
    size_t stride_bytes; /* between elements */
    uint64_t n;
    double tolerance;
};

enum { GRID_SLOTS = 2 };

/* The arrays of a row, in the memory of the processor.  Each out has an array for Echelon and one
 * for the competitors of the module. */
struct grid_case {
    struct grid_row row;
    ech_ctx *ctx;
    size_t bytes;   /* of an element */
    size_t copies;  /* of in, which the calls use in turn: see grid_input() */
    size_t copy;    /* the next */
    char *in;       /* [copies n] */
    char *aux;      /* payload, flags, needles, index, offsets, x of products, second input */
    char *aux2;     /* sparse: row offsets */
    uint64_t n_aux; /* rows, runs, segments */
    uint64_t cols;  /* of matrices and rows */
    char *out[2], *out2[2];
    uint64_t *count[2];
    size_t out_bytes, out2_bytes, aux_bytes, aux2_bytes;
    uint64_t value[2];    /* in host memory: the threshold of a selection */
    double range[2];      /* of a histogram */
    uint64_t kept;        /* of select and related operations, from Echelon's first call */
    double read, written; /* bytes that must be moved */
    struct grid_slot slots[GRID_SLOTS];
    int n_slots;
};

/* ---- echelon.c: the library, on either processor ---- */

/* Sets the sizes of the arrays.  Returns 0 if the operation does not support the row. */
int grid_plan(struct grid_case *c);
ech_status grid_echelon(struct grid_case *c);
/* After Echelon's first call, with kept set: the results to compare and the bytes moved. */
void grid_results(struct grid_case *c);

static inline const char *grid_input(struct grid_case *c)
{
    if (c->copies == 1) return c->in;
    size_t copy = c->copy;
    c->copy = copy + 1 == c->copies ? 0 : copy + 1;
    return c->in + copy * c->row.n * c->bytes;
}

/* ---- cpu.c, gpu.cu: memory, data, comparison, time; used by module.c ---- */

enum grid_what {
    FILL_KEYS,
    FILL_MODULO,    /* keys below param and not negative */
    FILL_POSITIONS, /* the position in the first 4 bytes (8 if param is at least 8), then 0 */
    FILL_FLAGS,     /* bytes, half of which are 1 */
    FILL_PLACES,    /* i64: positions below param */
    FILL_COLUMNS,   /* i32: positions below param */
    FILL_OFFSETS    /* i32: n - 1 segments of param elements, in groups of about param / (n - 1) */
};

struct grid_fill {
    void *to;
    int what, dtype, dist;
    uint64_t seed, n, param;
};

const char *grid_open_processor(ech_ctx **ctx, int threads, char *machine, size_t capacity);
void *grid_allocate(size_t bytes); /* NULL if there is no memory */
void grid_release(void *memory);
void grid_fill(const struct grid_fill *fill);
void grid_read(void *host, const void *from, size_t bytes);
/* The number of elements in which `other`, an array of a dtype, differs from Echelon's result. */
uint64_t grid_differences(const struct grid_slot *s, const void *other, int dtype, size_t stride,
                          const void *in, size_t in_bytes, uint64_t n_in);
/* The names of competitors, NULL after the last; 0 if the row is not supported. */
const char *grid_rival_name(int rival);
int grid_rival(struct grid_case *c, int rival);
/* One copy or read of the bytes that the row must move. */
void grid_move(struct grid_case *c);
/* What a row with positions must do if it keeps their order: reads them and the elements at them.
 * 0: the row has no positions, or this is not measured. */
int grid_reach(struct grid_case *c);
void grid_wait(void);

/* ---- What the modules export ---- */

#define GRID_API __attribute__((visibility("default")))

/* Opens the processor; threads: of the CPU.  Returns NULL or an error. */
GRID_API const char *grid_open(int threads);
GRID_API const char *grid_machine(void);
/* The names of the competitors of the module: "library|version"; number 0 is Echelon; NULL: none.
 * */
GRID_API const char *grid_contender(int contender);
/* Generates the data of a row and computes Echelon's result.  Returns NULL or an error;
 * "unsupported" if the operation has no such row. */
GRID_API const char *grid_begin(const struct grid_row *row);
GRID_API void grid_end(void);
/* The arrays for competitors in Python: 0 in, 1 aux, 2 aux2, 3 out of Echelon. */
GRID_API const struct grid_case *grid_arrays(void);
/* Calls before each batch that are not timed: 1 on a GPU, so that the time is that of calls which
 * wait in the stream, without the time of the processor before the first of them. */
GRID_API int grid_lead(void);
/* Nanoseconds per call; negative: the competitor does not support the row. */
GRID_API double grid_time(int contender, int calls);
/* On a GPU, the time between two marks of the stream in nanoseconds; on a CPU elapsed time. */
GRID_API void grid_mark(void);
GRID_API double grid_since_mark(void);
GRID_API void *grid_stream(void);
/* Compares a result with Echelon's: 1 if equal.  grid_check() runs and compares the competitor. */
GRID_API int grid_check(int contender);
GRID_API int grid_check_array(int slot, const void *array, int dtype, size_t stride_bytes,
                              uint64_t n);
/* Nanoseconds per call that copying (or, if nothing is written, reading) the same bytes takes. */
GRID_API double grid_limit(int calls);

#ifdef __cplusplus
}
#endif

#endif
