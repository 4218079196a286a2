/*
 * driver_calls.c - lets each call of the CUDA driver fail that an operation makes, on the emulator.
 *
 *     fault_driver LIBRARY [--every N] [--only TEXT] [--verbose]
 *
 * LIBRARY is failing_driver.c. For each operation and each position of a driver call, a context is
 * opened, the operation runs, and the context is closed, with three kinds of failure: this call
 * lacks memory; it reports a device error; all calls from there on do. Required:
 *
 *     - a failed call has a status and a message that fits the failure;
 *     - if the call succeeds, its result is right;
 *     - after ECH_ERR_MEMORY the same call succeeds in the same context;
 *     - when the context is closed, everything is released.
 *
 * The last line is "N passed, N failed, N skipped".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* setenv */
#include "calls.h"
#include "failing_driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT_OF_MEMORY = 2, ILLEGAL_ADDRESS = 700, TIME_LIMIT_S = 60, MOST_NAMES = 60 };

static const struct kind {
    const char *name;
    int error;
    bool sticky;
} kinds[] = {
    { "memory", OUT_OF_MEMORY, false },
    { "device", ILLEGAL_ADDRESS, false },
    { "all", ILLEGAL_ADDRESS, true },
};

static failing_driver_function begin, end;
static int (*event_create)(void **event, unsigned flags);
static int (*event_destroy)(void *event);
static long every = 1, passed, failures;
static bool verbose;

/* ---- Functions whose failures had no effect ---- */

static struct {
    const char *name;
    long times;
} harmless[MOST_NAMES];

static void note_harmless(const char *name)
{
    int i = 0;
    while (i < MOST_NAMES - 1 && harmless[i].name && strcmp(harmless[i].name, name) != 0) i++;
    harmless[i].name = name;
    harmless[i].times++;
}

/* ---- One run ---- */

struct run {
    const struct fault_call *call;
    const struct kind *kind;
    long position;
    uint64_t good;
    struct failing_driver state;
    char text[700]; /* what is wrong */
};

static void __attribute__((format(printf, 2, 3))) wrong(struct run *r, const char *format, ...)
{
    va_list list;
    if (*r->text) return;
    va_start(list, format);
    vsnprintf(r->text, sizeof r->text, format, list);
    va_end(list);
}

/* The message names the function or the copy, or reports that memory is missing. */
static void check_message(struct run *r, const char *what, ech_status status, const char *message)
{
    const bool memory = r->kind->error == OUT_OF_MEMORY;
    const ech_status expected = memory ? ECH_ERR_MEMORY : ECH_ERR_DEVICE;
    if (status != expected && !(strcmp(what, "open") == 0 && status == ECH_ERR_NO_DEVICE))
        wrong(r, "%s: status %s: \"%s\"", what, ech_status_name(status), message);
    if (!strstr(message, "failed with") && !(memory && strstr(message, "out of memory")))
        wrong(r, "%s: the message is \"%s\"", what, message);
}

static ech_status attempt(struct run *r, const char *what)
{
    fault_clear_outputs();
    const ech_status status = r->call->run();
    if (status == ECH_OK && fault_hash() != r->good) wrong(r, "%s: another result", what);
    return status;
}

static void run(struct run *r)
{
    r->state = (struct failing_driver){ .position = r->position,
                                        .error = r->kind->error,
                                        .sticky = r->kind->sticky };
    alarm(TIME_LIMIT_S);
    begin(&r->state);
    ech_status status = ech_open(&fault_ctx, "simt");
    if (status != ECH_OK) {
        check_message(r, "open", status, ech_error(NULL));
    } else {
        status = attempt(r, "call");
        if (status != ECH_OK) check_message(r, "call", status, ech_error(fault_ctx));
        for (int i = 0; i < 2 && status == ECH_ERR_MEMORY; i++) {
            const ech_status again = attempt(r, "call again");
            if (again != ECH_OK)
                wrong(r, "call again: status %s: \"%s\"", ech_status_name(again),
                      ech_error(fault_ctx));
        }
        uint64_t held = 0;
        ech_memory_usage(fault_ctx, 0, &held, NULL);
        if (held) wrong(r, "the context holds %llu bytes", (unsigned long long)held);
        ech_close(fault_ctx);
    }
    end(&r->state);
    if (status == ECH_OK && r->state.failed && !*r->text) note_harmless(r->state.failed);
    if (status != ECH_OK && !r->state.failed) wrong(r, "status %d without a failure", status);
    if (r->state.misused) wrong(r, "wrong use of %s", r->state.misused);
    if (r->state.live) wrong(r, "%ld objects are not released", r->state.live);
    if (r->state.depth) wrong(r, "%ld contexts are still current", r->state.depth);
}

static void report(const struct run *r)
{
    passed += !*r->text;
    failures += *r->text != 0;
    if (*r->text || verbose)
        printf("%s %s, %s at call %ld, %s: %s\n", *r->text ? "FAIL" : "pass", r->call->name,
               r->kind->name, r->position, r->state.failed ? r->state.failed : "none", r->text);
}

/* ---- An operation on an event of the driver, which the caller owns ---- */

static ech_status events(void)
{
    void *event = NULL;
    if (event_create(&event, 0)) return ECH_OK; /* the test made this call, not the library */
    ech_status status = ech_record_event(fault_ctx, event);
    if (status == ECH_OK) status = ech_wait_event(fault_ctx, event);
    event_destroy(event);
    return status;
}

static const struct fault_call events_call = { "events", events };

/* ---- All runs ---- */

static bool expected(const struct fault_call *call, uint64_t *good, long *calls)
{
    struct failing_driver state = { .position = -1 };
    begin(&state);
    bool done = ech_open(&fault_ctx, "simt") == ECH_OK;
    fault_clear_outputs();
    done = done && call->run() == ECH_OK;
    *good = fault_hash();
    if (!done) printf("FAIL %s: %s\n", call->name, ech_error(fault_ctx));
    ech_close(fault_ctx);
    end(&state);
    *calls = state.calls;
    failures += !done;
    return done;
}

static void try_call(const struct fault_call *call)
{
    uint64_t good;
    long calls, next = 0;
    if (!expected(call, &good, &calls)) return;
    for (const char *c = call->name; *c; c++) next += *c;
    for (long position = 0; position < calls; position++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            struct run r = { .call = call, .kind = &kinds[i], .position = position, .good = good };
            if (next++ % every) continue;
            run(&r);
            report(&r);
        }
}

/* The calls while the process opens the driver, each in a process of its own. */
static void try_first_open(void)
{
    enum { CALLS = 8 };
    static const struct fault_call open_only = { "first open", NULL };
    for (long position = 0; position < CALLS; position++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            fflush(stdout);
            const pid_t child = fork();
            if (child == 0) {
                struct run r = { .call = &open_only, .kind = &kinds[i], .position = position };
                r.state = (struct failing_driver){ .position = position,
                                                   .error = kinds[i].error,
                                                   .sticky = kinds[i].sticky };
                begin(&r.state);
                const ech_status status = ech_open(&fault_ctx, "simt");
                if (status == ECH_OK)
                    ech_close(fault_ctx);
                else
                    check_message(&r, "open", status, ech_error(NULL));
                end(&r.state);
                if (r.state.live) wrong(&r, "%ld objects are not released", r.state.live);
                report(&r);
                fflush(stdout);
                _exit(failures != 0);
            }
            int status = 0;
            if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
                printf("FAIL first open, %s at call %ld: status %d\n", kinds[i].name, position,
                       status);
                failures++;
            } else {
                passed++;
            }
        }
}

/* Sets *function, a pointer to a function, as the library finds it. */
static bool find(void *library, const char *name, void *function)
{
    int (*get)(const char *, void **, int, uint64_t, int *);
    void *symbol = dlsym(library, "cuGetProcAddress_v2"), *found = NULL;
    memcpy(&get, &symbol, sizeof get);
    if (!symbol || get(name, &found, 12000, 0, NULL) || !found) return false;
    memcpy(function, &found, sizeof found);
    return true;
}

static bool load(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *symbols[2] = { NULL, NULL };
    if (handle) {
        symbols[0] = dlsym(handle, "failing_driver_begin");
        symbols[1] = dlsym(handle, "failing_driver_end");
    }
    if (!handle || !find(handle, "cuEventCreate", &event_create) ||
        !find(handle, "cuEventDestroy", &event_destroy))
        return false;
    memcpy(&begin, &symbols[0], sizeof begin);
    memcpy(&end, &symbols[1], sizeof end);
    return begin && end && setenv("ECHELON_LIBSIMT", library, 1) == 0;
}

int main(int argc, char **argv)
{
    const char *only = "";
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--every") == 0 && i + 1 < argc)
            every = atol(argv[++i]);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--verbose") == 0)
            verbose = true;
        else
            argc = 0;
    }
    if (argc < 2 || every < 1 || !load(argv[1])) {
        fprintf(stderr, "usage: fault_driver LIBRARY [--every N] [--only TEXT] [--verbose]\n");
        return 1;
    }
    fault_make_inputs("simt");
    if (!*only) try_first_open();
    for (int i = 0; i < fault_call_count; i++)
        if (strstr(fault_calls[i].name, only)) try_call(&fault_calls[i]);
    if (strstr(events_call.name, only)) try_call(&events_call);
    for (int i = 0; i < MOST_NAMES && harmless[i].name; i++)
        printf("without effect: %s, %ld times\n", harmless[i].name, harmless[i].times);
    printf("%ld passed, %ld failed, 0 skipped\n", passed, failures);
    return failures || !passed;
}
