/*
 * simt/fault.c - findings in kernels, as text with kernel, line, block and thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FINDINGS = 128 };

static const char *const names[SIMT_FAULTS] = {
    [SIMT_RACE] = "race",
    [SIMT_UNWRITTEN] = "read of unwritten memory",
    [SIMT_BOUNDS] = "out of bounds",
    [SIMT_MISALIGNED] = "misaligned access",
    [SIMT_DIVERGENT_BARRIER] = "divergent barrier",
    [SIMT_MASK] = "wrong lanes",
    [SIMT_DEADLOCK] = "deadlock",
    [SIMT_LIMIT] = "too large a launch",
    [SIMT_TRAP] = "trap",
    [SIMT_STACK] = "stack overflow",
};

static struct simt_finding findings[MOST_FINDINGS];
static uintptr_t places[MOST_FINDINGS];
static size_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

SIMT_API const char *simt_fault_name(enum simt_fault fault)
{
    return (unsigned)fault < SIMT_FAULTS ? names[fault] : "unknown";
}

/* Index i of a block or a thread, with the dimensions that its grid uses. */
static void name_index(const char *what, const uint32_t index[3], const uint32_t size[3],
                       char *text, size_t bytes)
{
    if (size[2] > 1)
        snprintf(text, bytes, "%s (%u,%u,%u)", what, index[0], index[1], index[2]);
    else if (size[1] > 1)
        snprintf(text, bytes, "%s (%u,%u)", what, index[0], index[1]);
    else
        snprintf(text, bytes, "%s %u", what, index[0]);
}

void simt_thread_name(const struct simt_thread *t, char *text, size_t bytes)
{
    const struct simt_launch *launch = t->block->launch;
    char block[48], thread[48];
    name_index("block", t->block->index, launch->grid, block, sizeof block);
    name_index("thread", t->index, launch->block, thread, sizeof thread);
    snprintf(text, bytes, "%s of %s", thread, block);
}

void simt_other_name(const struct simt_thread *t, const struct simt_cell *other, char *text,
                     size_t bytes)
{
    const struct simt_launch *launch = t->block->launch;
    const uint32_t *grid = launch->grid, *block = launch->block;
    uint32_t number = launch->number_of[other->serial - launch->first_serial];
    uint32_t index[3] = { number % grid[0], number / grid[0] % grid[1],
                          number / grid[0] / grid[1] };
    uint32_t inside[3] = { other->thread % block[0], other->thread / block[0] % block[1],
                           other->thread / block[0] / block[1] };
    char of_block[48], thread[48];
    name_index("block", index, grid, of_block, sizeof of_block);
    name_index("thread", inside, block, thread, sizeof thread);
    snprintf(text, bytes, "%s of %s", thread, of_block);
}

void simt_found(enum simt_fault kind, struct simt_launch *launch, const struct simt_thread *thread,
                uintptr_t pc, const char *format, ...)
{
    char place[128] = "", who[120] = "", what[300];
    const char *kernel = launch->function->kernel->name;
    bool survivable = kind == SIMT_RACE || kind == SIMT_UNWRITTEN;
    if (atomic_load(&launch->no_memory)) return;
    if (!survivable || !simt_options.keep) atomic_store(&launch->faulted, true);
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < count && !(findings[i].fault == kind && places[i] == pc &&
                          strcmp(findings[i].kernel, kernel) == 0))
        i++;
    if (i < count) {
        findings[i].count++;
    } else if (count < MOST_FINDINGS) {
        struct simt_finding *f = &findings[count];
        va_list args;
        va_start(args, format);
        vsnprintf(what, sizeof what, format, args);
        va_end(args);
        if (pc) simt_place(pc, place, sizeof place);
        if (thread) simt_thread_name(thread, who, sizeof who);
        f->fault = kind;
        f->count = 1;
        snprintf(f->kernel, sizeof f->kernel, "%s", kernel);
        snprintf(f->place, sizeof f->place, "%s", place);
        snprintf(f->text, sizeof f->text, "%s in %s%s%s: %s%s%s", names[kind], kernel,
                 *place ? " at " : "", place, who, *who ? " " : "", what);
        places[count++] = pc;
    }
    if (!launch->first_finding && i < MOST_FINDINGS) launch->first_finding = &findings[i];
    pthread_mutex_unlock(&lock);
}

SIMT_API size_t simt_findings(const struct simt_finding **out)
{
    *out = findings;
    return count;
}

void simt_findings_clear(void)
{
    count = 0;
}
