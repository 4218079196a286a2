/*
 * core/call.h - the arrays of a call as a list, which one function checks, stages and runs.
 *
 *     static struct echi_call call_of(struct echi_x *x) { ... }      which pointers are what
 *     echi_call_run(ctx, &call)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_CALL_H
#define ECHI_CORE_CALL_H

#include "core/backend.h"

enum { ECHI_ARRAYS = 8 };

enum echi_use {
    ECHI_IN,
    ECHI_OUT, /* written whole; with counted_by, as far as that says */
    ECHI_KEPT /* written in part: what was there is kept */
};

struct echi_array {
    const char *name;    /* the argument's, for messages */
    void *pointer;       /* address of the pointer in the request; staging exchanges it */
    size_t bytes;        /* 0: not looked at */
    size_t align;        /* that elements need anywhere; 0: none */
    const char *element; /* what an element is called in messages; NULL: nothing */
    size_t device_align; /* that they need in GPU memory; 0: align */
    enum echi_use use;
    int may_be;     /* 1 + the number of the array that this output may equal; 0: none */
    int counted_by; /* 1 + the number of the array, u64, whose first element says how many elements
                       are written; 0: all */
    size_t element_bytes; /* with counted_by */
    size_t row_bytes,
        pitch_bytes; /* rows with gaps between them, which are somebody else's; 0: none */
};

struct echi_call {
    const char *what;      /* "a reduction", for messages */
    const char *workspace; /* what its workspace is called; NULL: as the call */
    const struct echi_operation *operation;
    void *request; /* the operation's struct, in which the arrays' pointers are */
    struct echi_array arrays[ECHI_ARRAYS];
    int count;
    void *work; /* of the caller's options */
    size_t work_bytes;
};

/* Adds an array; the fields after use are filled in by the caller where they matter. */
struct echi_array *echi_call_add(struct echi_call *call, const char *name, void *pointer,
                                 size_t bytes, size_t align, enum echi_use use);

/* The largest power of two that divides bytes, 16 at most: the alignment of opaque elements. */
size_t echi_opaque_align(size_t bytes);

/* Checks the pointers, stages what lies in host memory, gets the workspace, runs.  ctx may be NULL,
 * which is an error as any other. */
ech_status echi_call_run(ech_ctx *ctx, struct echi_call *call);

/* Checks only that there is a plan for the request: for calls on nothing. */
ech_status echi_call_check(ech_ctx *ctx, const struct echi_call *call);

/* The workspace that an operation plans for a request. */
ech_status echi_operation_workspace(const struct echi_operation *operation, const void *request,
                                    size_t *bytes);

/* Plans and executes an operation within a call: all arrays on the device, work large enough. */
ech_status echi_operation_run(ech_ctx *ctx, const struct echi_operation *operation,
                              const void *request, void *work);

/* Fills *bytes with the workspace of a request without pointers.  find chooses a backend's
 * operation. */
ech_status echi_call_workspace(const char *device,
                               const struct echi_operation *(*find)(const struct echi_backend *),
                               const void *request, size_t *bytes);

/* The backend that a device's name means, or that ech_open() would try first. */
ech_status echi_backend_ask(const char *device, const struct echi_backend **backend);

/* Reads a struct that begins with its size, as the caller's header has it: fields that this header
 * lacks are zero, and fields that only the caller's header has must be zero.  read, of `bytes`
 * bytes, is apart from given and gets every field and its own size; given NULL: all others are
 * zero. */
ech_status echi_read_struct(ech_ctx *ctx, const char *argument, const char *type, const void *given,
                            void *read, size_t bytes);

/* The same for a struct that the library fills in, of which the caller's header has maybe more or
 * fewer fields: the check of its size, and the copy, with zeros for what is not known. */
ech_status echi_check_size(ech_ctx *ctx, const char *argument, const char *type, size_t size,
                           size_t bytes);
void echi_write_struct(const void *from, size_t bytes, void *given);

/* The same for options, whose workspace is at this offset: a pointer, then its size. */
ech_status echi_read_options(ech_ctx *ctx, const char *type, const void *given, void *read,
                             size_t bytes, size_t work_offset);

/* Begins a public function: `options` points to a complete copy of what the caller gave. */
#define READ_OPTIONS(ctx, type, options)                                                           \
    type options##_read;                                                                           \
    do {                                                                                           \
        ech_status read_status = echi_read_options(ctx, #type, options, &options##_read,           \
                                                   sizeof(type), offsetof(type, work));            \
        if (read_status != ECH_OK) return read_status;                                             \
        options = &options##_read;                                                                 \
    } while (0)

/* Checks that count elements of bytes each are less than an address space. */
ech_status echi_check_count(ech_ctx *ctx, const char *name, size_t count, size_t bytes);
ech_status echi_check_dtype(ech_ctx *ctx, const char *name, ech_dtype dtype);

/* Checks that dtype is one of indices, and that it can represent positions below count. */
ech_status echi_check_index(ech_ctx *ctx, const char *name, ech_dtype dtype, const char *count_name,
                            uint64_t count);

/* Fails with the text of a data error (data_error.h). */
ech_status echi_report_error(ech_ctx *ctx, unsigned what, uint64_t where);

/* Threads note errors in a word that is 0 at first; the one with the least `where` stays.  A kernel
 * does the same (cuda/device/data_error.cuh).  What was noted becomes a failure. */
void echi_note_error(_Atomic uint64_t *word, unsigned what, uint64_t where);
ech_status echi_noted_error(ech_ctx *ctx, uint64_t word);

#endif
