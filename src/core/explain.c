/*
 * core/explain.c - writes the answers of ech_*_explain() as text or as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/explain.h"
#include "core/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 12, VALUE_BYTES = 512 };

/* ---- JSON ---- */

static void print_string(struct echi_text *text, const char *s)
{
    echi_print(text, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') echi_print(text, "\\");
        if (*s == '\n')
            echi_print(text, "\\n");
        else if ((unsigned char)*s >= ' ')
            echi_print(text, "%c", *s);
    }
    echi_print(text, "\"");
}

static void close_list(struct echi_explain *e)
{
    if (e->listing) echi_print(&e->text, "]");
    e->listing = false;
}

static void json_key(struct echi_explain *e, const char *key)
{
    close_list(e);
    echi_print(&e->text, "%s\n  \"%s\": ", e->some ? "," : "", key);
    e->some = true;
}

static void json_algorithm(struct echi_explain *e, bool chosen, const char *name, const char *what)
{
    if (chosen) {
        json_key(e, "algorithm");
    } else if (e->listing) {
        echi_print(&e->text, ", ");
    } else {
        json_key(e, "alternatives");
        echi_print(&e->text, "[");
        e->listing = true;
    }
    echi_print(&e->text, "{\"name\": \"%s\", \"description\": ", name);
    print_string(&e->text, what);
    echi_print(&e->text, "}");
}

/* ---- Text ---- */

static void label(struct echi_explain *e, const char *key)
{
    char blanks[LABEL + 1];
    int i = 0;
    for (; key[i] && i < LABEL - 1; i++) blanks[i] = key[i] == '_' ? ' ' : key[i];
    blanks[i] = 0;
    echi_print(&e->text, "%-*s ", LABEL, blanks);
}

/* ---- Either ---- */

void echi_explain_algorithm(struct echi_explain *e, bool chosen, const char *name, const char *what,
                            ...)
{
    char text[VALUE_BYTES];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    if (e->json) {
        json_algorithm(e, chosen, name, text);
        return;
    }
    label(e, chosen ? "algorithm" : "alternative");
    echi_print(&e->text, "%s: %s\n", name, text);
}

void echi_explain_line(struct echi_explain *e, const char *key, const char *value, ...)
{
    char text[VALUE_BYTES];
    va_list args;
    va_start(args, value);
    vsnprintf(text, sizeof text, value, args);
    va_end(args);
    if (e->json) {
        json_key(e, key);
        print_string(&e->text, text);
        return;
    }
    label(e, key);
    echi_print(&e->text, "%s\n", text);
}

void echi_explain_count(struct echi_explain *e, const char *key, uint64_t value)
{
    if (e->json) {
        json_key(e, key);
        echi_print(&e->text, "%llu", (unsigned long long)value);
        return;
    }
    label(e, key);
    echi_print(&e->text, "%llu\n", (unsigned long long)value);
}

void echi_explain_steps(struct echi_explain *e, const struct echi_steps *steps)
{
    if (!e->json) {
        echi_steps_print(steps, &e->text);
        return;
    }
    json_key(e, "steps");
    echi_steps_print_json(steps, &e->text);
}

void echi_explain_workspace(struct echi_explain *e, size_t bytes)
{
    if (e->json) {
        echi_explain_count(e, "workspace_bytes", bytes);
        return;
    }
    label(e, "workspace");
    echi_print(&e->text, "%zu bytes\n", bytes);
}

ech_status echi_explain_begin(struct echi_explain *e, ech_format format, char *text,
                              size_t capacity_bytes)
{
    if (!text) return echi_fail(NULL, ECH_ERR_ARG, "text is NULL");
    if (!capacity_bytes) return echi_fail(NULL, ECH_ERR_ARG, "capacity_bytes is 0");
    *text = 0;
    if (format != ECH_FORMAT_TEXT && format != ECH_FORMAT_JSON)
        return echi_fail(NULL, ECH_ERR_ARG, "format is %d, not an ech_format", (int)format);
    *e = (struct echi_explain){ .text = { .at = text, .left = capacity_bytes },
                                .begin = text,
                                .capacity = capacity_bytes,
                                .json = format == ECH_FORMAT_JSON };
    if (e->json) echi_print(&e->text, "{");
    return ECH_OK;
}

void echi_explain_call(struct echi_explain *e, const char *operation, const char *device)
{
    if (e->json) echi_explain_line(e, "operation", "%s", operation);
    echi_explain_line(e, "device", "%s", device);
}

ech_status echi_explain_end(struct echi_explain *e, ech_status status)
{
    if (status == ECH_OK && e->json) {
        close_list(e);
        echi_print(&e->text, "\n}\n");
        if (e->text.lost)
            status = echi_fail(NULL, ECH_ERR_ARG, "capacity_bytes is %zu: the JSON text needs %zu",
                               e->capacity, e->capacity + e->text.lost);
    }
    if (status != ECH_OK) *e->begin = 0;
    return status;
}

ech_status echi_explain_operation(struct echi_explain *e, const struct echi_operation *operation,
                                  const void *request)
{
    size_t bytes;
    ech_status status;
    TRY(operation->explain(request, e));
    TRY(echi_operation_workspace(operation, request, &bytes));
    echi_explain_workspace(e, bytes);
done:
    return status;
}

ech_status echi_explain(const char *device, const char *operation,
                        const struct echi_operation *(*find)(const struct echi_backend *),
                        const void *request, ech_format format, char *text, size_t capacity_bytes)
{
    struct echi_explain e;
    const struct echi_backend *backend;
    ech_status status = echi_explain_begin(&e, format, text, capacity_bytes);
    if (status != ECH_OK) return status;
    TRY(echi_backend_ask(device, &backend));
    echi_explain_call(&e, operation, backend->name);
    TRY(echi_explain_operation(&e, find(backend), request));
done:
    return echi_explain_end(&e, status);
}
