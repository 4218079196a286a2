/*
 * core/call.h - the arrays of a call as a list, which one function checks, stages and runs.
 *
 *     static struct echi_call call_of(struct echi_x *x) { ... }      lists the arrays
 *     echi_call_run(ctx, &call)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_CALL_H
#define ECHI_CORE_CALL_H

#include "core/backend.h"

/* A call on few elements takes about as long as a few calls of functions.  Its checks are part of
 * the public function, and the path of all other calls is a function of its own, so that the first
 * needs neither its registers nor its arrays on the stack. */
#define INLINED  static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

enum {
    ECHI_ARRAYS = 33, /* a sort by 16 columns with bitmaps has this many */
    ECHI_FEW = 8      /* other calls have at most this many */
};

enum echi_use {
    ECHI_IN,
    ECHI_OUT, /* written completely; with counted_by, only the counted elements */
    ECHI_KEPT /* written in part: the other elements keep their values */
};

struct echi_array {
    const char *name;    /* of the argument, for messages */
    void *pointer;       /* address of the pointer in the request; staging replaces it */
    size_t bytes;        /* 0: not accessed */
    size_t align;        /* that elements need in any memory; 0: none */
    const char *element; /* the name of an element in messages; NULL: "element" */
    size_t device_align; /* that they need in GPU memory; 0: align */
    enum echi_use use;
    int may_be;           /* 1 + the number of the array that this output may equal; 0: none */
    int counted_by;       /* 1 + the number of the array, u64, whose first element is the number of
                       elements written; 0: all */
    size_t element_bytes; /* with counted_by, otherwise undefined */
    bool widened;         /* of u64, and the operation takes u32: staging converts it */
    size_t row_bytes,
        pitch_bytes; /* distance of rows with gaps, which are not accessed; 0: no gaps */
};

struct echi_call {
    const char *what;      /* "a reduction", for messages */
    const char *workspace; /* the name of its workspace; NULL: as the call */
    const struct echi_operation *operation;
    void *request; /* the operation's struct, which contains the arrays' pointers */
    struct echi_array few[ECHI_FEW]; /* the arrays */
    struct echi_array *many;         /* [ECHI_ARRAYS], to be used instead; or NULL */
    int count;
    void *work; /* from the caller's options */
    size_t work_bytes;
};

/* Initialises a call without arrays. It takes less time than an initialiser, which also clears the
 * array of arrays. */
static inline void echi_call_begin(struct echi_call *call, const char *what,
                                   const struct echi_operation *operation, void *request,
                                   void *work, size_t work_bytes)
{
    call->what = what;
    call->workspace = NULL;
    call->operation = operation;
    call->request = request;
    call->many = NULL;
    call->count = 0;
    call->work = work;
    call->work_bytes = work_bytes;
}

static inline bool echi_disjoint(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return (uintptr_t)a + a_bytes <= (uintptr_t)b || (uintptr_t)b + b_bytes <= (uintptr_t)a;
}

/* Whether a call with one input and one output needs no further checks, because it runs on the CPU
 * with arrays that are present, aligned to `align` bytes, a power of two, and equal or apart. */
static inline bool echi_call_is_plain(const ech_ctx *ctx, const void *in, size_t in_bytes,
                                      const void *out, size_t out_bytes, size_t align)
{
    const uintptr_t a = (uintptr_t)in, b = (uintptr_t)out;
    return ctx && ctx->backend == &echi_cpu && in && out && ((a | b) & (align - 1)) == 0 &&
           (a + in_bytes <= b || b + out_bytes <= a || (a == b && in_bytes == out_bytes));
}

/* Whether a call on few elements may be run at once: on the CPU, without a progress function. */
static inline bool echi_call_is_quick(const ech_ctx *ctx)
{
    return ctx && ctx->backend == &echi_cpu && !ctx->progress;
}

/* echi_disjoint() with one comparison, for arrays that are not empty. */
static inline bool echi_are_apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return (uintptr_t)a - (uintptr_t)b + (a_bytes - 1) >= a_bytes + b_bytes - 1;
}

/* An array of a call that may be simple. */
struct echi_span {
    const void *at;
    size_t bytes, align; /* a power of two */
};

/* Whether a call without options needs no further checks of its arrays, because it runs on the CPU,
 * and all arrays are present and aligned, and outputs are apart from all other arrays. If it
 * returns false, echi_call_run() finds what is wrong, if anything is. The numbers of arrays are
 * constants. */
static inline bool echi_call_is_simple(const ech_ctx *ctx, const struct echi_span *in, int ins,
                                       const struct echi_span *out, int outs)
{
    if (!echi_call_is_quick(ctx)) return false;
    for (int i = 0; i < ins; i++)
        if (!in[i].at || (uintptr_t)in[i].at & (in[i].align - 1)) return false;
    for (int o = 0; o < outs; o++) {
        if (!out[o].at || (uintptr_t)out[o].at & (out[o].align - 1)) return false;
        for (int i = 0; i < ins; i++)
            if (!echi_disjoint(out[o].at, out[o].bytes, in[i].at, in[i].bytes)) return false;
        for (int p = 0; p < o; p++)
            if (!echi_disjoint(out[o].at, out[o].bytes, out[p].at, out[p].bytes)) return false;
    }
    return true;
}

static inline struct echi_array *echi_call_array(const struct echi_call *call, int i)
{
    return call->many ? &call->many[i] : (struct echi_array *)(uintptr_t)&call->few[i];
}

/* Adds an array; the caller sets the fields after `use` if they are not 0. */
static inline struct echi_array *echi_call_add(struct echi_call *call, const char *name,
                                               void *pointer, size_t bytes, size_t align,
                                               enum echi_use use)
{
    struct echi_array *a = echi_call_array(call, call->count++);
    a->name = name;
    a->pointer = pointer;
    a->bytes = bytes;
    a->align = align;
    a->element = NULL;
    a->device_align = 0;
    a->use = use;
    a->may_be = a->counted_by = 0;
    a->widened = false;
    a->row_bytes = a->pitch_bytes = 0;
    return a;
}

/* The largest power of two, at most 16, that divides bytes: the alignment of opaque elements. */
static inline size_t echi_opaque_align(size_t bytes)
{
    const size_t align = bytes & (~bytes + 1);
    return align > 16 ? 16 : align;
}

/* Checks the pointers, stages arrays in host memory, gets the workspace, runs. ctx may be NULL,
 * which is reported as an error. */
ech_status echi_call_run(ech_ctx *ctx, struct echi_call *call);

/* Only checks that the request has a plan: for calls with no elements. */
ech_status echi_call_check(ech_ctx *ctx, const struct echi_call *call);

/* The workspace that an operation plans for a request. */
ech_status echi_operation_workspace(const struct echi_operation *operation, const void *request,
                                    size_t *bytes);

/* Plans and executes an operation within a call: all arrays on the device, work large enough. */
ech_status echi_operation_run(ech_ctx *ctx, const struct echi_operation *operation,
                              const void *request, void *work);

/* Fills *bytes with the workspace of a request without pointers. find returns the operation of a
 * backend. */
ech_status echi_call_workspace(const char *device,
                               const struct echi_operation *(*find)(const struct echi_backend *),
                               const void *request, size_t *bytes);

/* The backend of a device name, or the one that ech_open() would try first. */
ech_status echi_backend_ask(const char *device, const struct echi_backend **backend);

/* Reads a struct that begins with its size, as defined by the caller's header. Fields that this
 * header lacks must be zero; fields that the caller's header lacks are read as zero. read, of
 * `bytes` bytes, must not overlap given; it receives every field and its own size. If given is
 * NULL, all other fields are zero. */
ech_status echi_read_struct(ech_ctx *ctx, const char *argument, const char *type, const void *given,
                            void *read, size_t bytes);

/* For a struct that the library fills and whose definition in the caller's header may have more or
 * fewer fields: checks its size, and copies it, with zeros for fields that the library does not
 * have. */
ech_status echi_check_size(ech_ctx *ctx, const char *argument, const char *type, size_t size,
                           size_t bytes);
void echi_write_struct(const void *from, size_t bytes, void *given);

/* The same for options that contain a workspace at work_offset: a pointer, then its size. */
ech_status echi_read_options(ech_ctx *ctx, const char *type, const void *given, void *read,
                             size_t bytes, size_t work_offset);

/* Begins a public function: `options` points to a complete copy of the caller's options, or to
 * options that are all zero. */
#define READ_OPTIONS(ctx, type, options)                                                           \
    static const type options##_none = { .size = sizeof(type) };                                   \
    type options##_read;                                                                           \
    if (options) {                                                                                 \
        ech_status read_status = echi_read_options(ctx, #type, options, &options##_read,           \
                                                   sizeof(type), offsetof(type, work));            \
        if (read_status != ECH_OK) return read_status;                                             \
        options = &options##_read;                                                                 \
    } else {                                                                                       \
        options = &options##_none;                                                                 \
    }                                                                                              \
    (void)0

/* Fails if count * bytes overflows size_t. */
ech_status echi_check_large_count(ech_ctx *ctx, const char *name, size_t count, size_t bytes);
static inline ech_status echi_check_count(ech_ctx *ctx, const char *name, size_t count,
                                          size_t bytes)
{
    const bool small = (count | bytes) >> 31 == 0; /* needs no division */
    return small ? ECH_OK : echi_check_large_count(ctx, name, count, bytes);
}
ech_status echi_check_known(ech_ctx *ctx, const char *name, ech_dtype dtype);
static inline ech_status echi_check_dtype(ech_ctx *ctx, const char *name, ech_dtype dtype)
{
    return echi_dtype_known(dtype) ? ECH_OK : echi_check_known(ctx, name, dtype);
}

/* Converts n unsigned integers on the device from 4 to 8 bytes or from 8 to 4; values that do not
 * fit become the largest. */
ech_status echi_convert_index(ech_ctx *ctx, const void *from, size_t from_bytes, void *to,
                              size_t to_bytes, size_t n);

/* Checks that dtype is one of indices, and that it can represent positions below count. */
ech_status echi_check_any_index(ech_ctx *ctx, const char *name, ech_dtype dtype,
                                const char *count_name, uint64_t count);
static inline ech_status echi_check_index(ech_ctx *ctx, const char *name, ech_dtype dtype,
                                          const char *count_name, uint64_t count)
{
    const bool is_index =
        dtype == ECH_I32 || dtype == ECH_U32 || dtype == ECH_I64 || dtype == ECH_U64;
    if (is_index && count >> 31 == 0) return ECH_OK;
    return echi_check_any_index(ctx, name, dtype, count_name, count);
}

/* Fails with the message of a data error (data_error.h). */
ech_status echi_report_error(ech_ctx *ctx, unsigned what, uint64_t where);

/* Threads report errors in a word that is initially 0; it keeps the one with the lowest `where`.
 * Kernels do the same (cuda/device/data_error.cuh). echi_noted_error() converts the word to a
 * status. */
void echi_note_error(_Atomic uint64_t *word, unsigned what, uint64_t where);
ech_status echi_noted_error(ech_ctx *ctx, uint64_t word);

#endif
