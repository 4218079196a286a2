/*
 * core/explain.h - the answers of ech_*_explain(), written as text or as JSON by the same calls.
 *
 *     echi_explain_begin(&e, format, text, capacity_bytes)
 *     echi_explain_call(&e, "sort", "cuda")
 *     echi_explain_algorithm(), _line(), _count(), _steps()       in the order of the output
 *     return echi_explain_end(&e, status)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_EXPLAIN_H
#define ECHI_CORE_EXPLAIN_H

#include "core/plan.h"

struct echi_explain {
    struct echi_text text;
    char *begin;
    size_t capacity;
    bool json;
    bool some;    /* JSON: the object has a member */
    bool listing; /* JSON: the list of alternatives is open */
};

/* Checks these arguments of the public function and begins the text. */
ech_status echi_explain_begin(struct echi_explain *e, ech_format format, char *text,
                              size_t capacity_bytes);

/* Writes the name of the operation (only JSON) and the device that would execute it. */
void echi_explain_call(struct echi_explain *e, const char *operation, const char *device);

/* Writes an algorithm: first the one that is chosen, then the others that the request permits. */
void echi_explain_algorithm(struct echi_explain *e, bool chosen, const char *name, const char *what,
                            ...) __attribute__((format(printf, 4, 5)));

/* Writes a property.  key is at most 11 characters long, with '_' for a blank. */
void echi_explain_line(struct echi_explain *e, const char *key, const char *value, ...)
    __attribute__((format(printf, 3, 4)));
void echi_explain_count(struct echi_explain *e, const char *key, uint64_t value);

void echi_explain_steps(struct echi_explain *e, const struct echi_steps *steps);
void echi_explain_workspace(struct echi_explain *e, size_t bytes);

/* Writes the end if status is ECH_OK, otherwise makes the text empty.  Text is truncated to fit;
 * JSON that does not fit is an error. */
ech_status echi_explain_end(struct echi_explain *e, ech_status status);

struct echi_operation;
struct echi_backend;

/* The whole answer for a request of an operation that has explain(). */
ech_status echi_explain(const char *device, const char *operation,
                        const struct echi_operation *(*find)(const struct echi_backend *),
                        const void *request, ech_format format, char *text, size_t capacity_bytes);

/* The part of it that depends on the operation: what explain() writes, and the workspace. */
ech_status echi_explain_operation(struct echi_explain *e, const struct echi_operation *operation,
                                  const void *request);

#endif
