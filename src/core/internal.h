/*
 * core/internal.h - declarations that all files of the library share: the context, errors, types
 * and memory.
 *
 * Internal functions that cross files begin with echi_; they are hidden from the shared library's
 * users.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_INTERNAL_H
#define ECHI_CORE_INTERNAL_H

#include "echelon.h"
#include "core/index.h"
#include "core/order.h"
#include "core/predicate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    ECHI_ERROR_BYTES = 512, /* maximum length of a message, including the terminator */
    ECHI_ALIGN = 256        /* alignment of every workspace and each of its parts */
};

struct echi_backend;

struct echi_progress_state {
    ech_progress_function function; /* NULL: none */
    void *user;
    bool canceled; /* the function ended the call that is running */
};

struct ech_ctx {
    const struct echi_backend *backend;
    void *state;  /* of the backend */
    ech_ctx *cpu; /* "auto": for calls that are faster on the CPU; NULL: all calls use the device */
    ech_ctx *side; /* of the same device, for work that overlaps; NULL: not needed yet */
    int threads;   /* 0: all processors */
    int *processors, processors_state; /* of the call; 0: not known yet; as progress below */
    void *stream;                      /* the caller's; NULL: CUDA's legacy default stream */
    bool private_stream;               /* calls use the backend's own non-blocking stream instead */
    char name[32];                     /* "cpu", "cuda:0" */
    char algorithm[32]; /* the value of ECHELON_ALGORITHM when the context was opened, or "" */
    ech_allocator allocator;
    uint64_t held_bytes, peak_bytes;
    uint64_t limit_bytes; /* maximum of held_bytes; 0: no limit */
    void *spare;          /* a workspace kept for the next call; NULL: none */
    size_t spare_bytes;
    void *lent; /* the workspace in use by the outermost of nested calls */
    size_t lent_bytes;
    struct echi_arena *arena; /* serves allocations first; NULL: none */
    ech_log_level log_level;
    ech_log_function log;
    void *log_user;
    struct echi_progress_state *progress, progress_state; /* the first points to the second */
    char error[ECHI_ERROR_BYTES];
};

/* ---- Errors: error.c ---- */

/* Writes the message once, where the fault is first detected, and returns code. ctx may be NULL. */
ech_status echi_fail(ech_ctx *ctx, ech_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#ifdef __clang_analyzer__ /* clang-tidy reads one file at a time; this shows the returned value */
#define echi_fail(ctx, code, ...) ((void)echi_fail(ctx, code, __VA_ARGS__), (code))
#endif
void echi_log(ech_ctx *ctx, ech_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports the progress of the call that is running: left is what remains, in the unit of spent.
 * Returns true if the function of the caller cancels the call; the operation then returns as soon
 * as it can, and the call returns ECH_ERR_CANCELED.  ctx may be NULL. */
bool echi_progress(const ech_ctx *ctx, double spent, double left);
bool echi_canceled(const ech_ctx *ctx);

/* TRY jumps to the label done with status set; FAIL also writes a message. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != ECH_OK) goto done;                                                           \
    } while (0)
#define FAIL(ctx, code, ...)                                                                       \
    do {                                                                                           \
        status = echi_fail(ctx, code, __VA_ARGS__);                                                \
        goto done;                                                                                 \
    } while (0)

/* ---- Types: dtype.c ---- */

enum echi_dtype_kind { ECHI_UNSIGNED, ECHI_SIGNED, ECHI_FLOAT };
enum { ECHI_DTYPE_COUNT = 12 };
extern const struct echi_dtype_facts {
    const char *name;
    int bytes;
    enum echi_dtype_kind kind;
    int mantissa_bits;
} echi_dtypes[ECHI_DTYPE_COUNT];

static inline bool echi_dtype_known(ech_dtype dtype)
{
    return (size_t)dtype < ECHI_DTYPE_COUNT;
}

/* ech_dtype_bytes() and ech_dtype_name(). */
static inline size_t echi_dtype_bytes(ech_dtype dtype)
{
    return echi_dtype_known(dtype) ? (size_t)echi_dtypes[dtype].bytes : 0;
}

/* Reads an unsigned number of 1, 2, 4 or 8 bytes, which need not be aligned. */
static inline uint64_t echi_load_number(const void *from, size_t bytes)
{
    uint8_t u1;
    uint16_t u2;
    uint32_t u4;
    uint64_t u8;
    switch (bytes) {
    case 1:
        memcpy(&u1, from, sizeof u1);
        return u1;
    case 2:
        memcpy(&u2, from, sizeof u2);
        return u2;
    case 4:
        memcpy(&u4, from, sizeof u4);
        return u4;
    default:
        memcpy(&u8, from, sizeof u8);
        return u8;
    }
}

static inline const char *echi_dtype_name(ech_dtype dtype)
{
    return echi_dtype_known(dtype) ? echi_dtypes[dtype].name : "?";
}

/* The map of order.h for dtype. merged: equal keys (-0 and +0, all NaN) get one encoded key, for
 * stable sorts. */
struct echi_order echi_order_make(ech_dtype dtype, ech_order order, bool descending, bool merged);

/* The same for ascending keys with NaN last. */
extern const struct echi_order echi_orders[2][ECHI_DTYPE_COUNT]; /* not merged, merged */
static inline struct echi_order echi_order_ascending(ech_dtype dtype, bool merged)
{
    return echi_orders[merged][dtype];
}

/* The same for ascending keys only, with NaN first: for a minimum that is NaN if any element is. */
struct echi_order echi_order_nan_first(ech_dtype dtype);

/* The type that backends read indices of CSR matrices as.  Unsigned indices are limited to the
 * range of the signed type, so the bits are the same. */
ech_dtype echi_csr_index_dtype(ech_dtype dtype);

/* How an array of indices of this type is read. */
struct echi_index echi_index_of(ech_dtype dtype);

static inline bool echi_dtype_is_float(ech_dtype dtype)
{
    return echi_dtypes[dtype].kind == ECHI_FLOAT;
}

static inline bool echi_dtype_is_signed(ech_dtype dtype) /* signed integers */
{
    return echi_dtypes[dtype].kind == ECHI_SIGNED;
}

/* The bits of a float's positive infinity, of the canonical NaN, and of 1. */
uint64_t echi_dtype_infinity(ech_dtype dtype);
uint64_t echi_dtype_nan(ech_dtype dtype);
uint64_t echi_dtype_one(ech_dtype dtype);

/* The map of order.h for the bits of one key. */
uint64_t echi_order_encode(const struct echi_order *order, int bytes, uint64_t u);
/* The inverse, if order->merge is 0 and all NaN differ. */
uint64_t echi_order_decode(const struct echi_order *order, int bytes, uint64_t e);

/* ---- Tests of elements: predicate.c ---- */

/* Fails if compare is invalid, does not support dtype, or needs a value and has none. */
ech_status echi_predicate_make(ech_ctx *ctx, ech_dtype dtype, ech_compare compare,
                               const void *value, struct echi_predicate *predicate);

/* ---- Memory: memory.c ---- */

/* Device memory from the context's allocator, with accounting. bytes = 0 returns NULL. */
ech_status echi_allocate(ech_ctx *ctx, size_t bytes, const char *what, void **pointer);
/* The same for callers that can do with less: ECH_ERR_MEMORY has no message. */
ech_status echi_try_allocate(ech_ctx *ctx, size_t bytes, const char *what, void **pointer);
void echi_release(ech_ctx *ctx, void *pointer, size_t bytes);

/* The same for the workspace of a call, which the context keeps for the next call, because first
 * accesses to the pages of fresh memory cost more than many sorts. It is not kept if the caller or
 * the backend has a pool, or for nested calls. */
ech_status echi_borrow(ech_ctx *ctx, size_t bytes, const char *what, void **pointer);
void echi_give_back(ech_ctx *ctx, void *pointer, size_t bytes);
void echi_drop_spare(ech_ctx *ctx);

/* Lays out the parts of a workspace one after another, each aligned to ECHI_ALIGN. If base is NULL,
 * it only computes the size. */
struct echi_layout {
    char *base;
    size_t bytes;
    bool overflow; /* a size exceeds SIZE_MAX */
};
void *echi_part(struct echi_layout *layout, size_t count, size_t element_bytes);

/* Memory of the caller that serves the allocations of one call (ctx->arena): blocks in ascending
 * order, of which each is placed in the first gap that is large enough.  If none is, or there are
 * too many blocks, the context allocates as usual. */
enum { ECHI_ARENA_BLOCKS = 32 };
struct echi_arena {
    char *base;
    size_t bytes;
    int blocks;
    struct {
        size_t at, bytes;
    } block[ECHI_ARENA_BLOCKS];
};

/* Text that is appended until its capacity is reached. */
struct echi_text {
    char *at;
    size_t left;
    size_t lost; /* bytes that did not fit */
};
void echi_print(struct echi_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
