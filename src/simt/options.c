/*
 * simt/options.c - options of the SIMT emulator, as words separated by commas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/driver.h"
#include "simt/emulator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct simt_options simt_options = {
    .threads = 1, .check = true, .resident = 16, .memory_mib = 4096, .sm = SIMT_CODE, .devices = 1
};

static const struct word {
    const char *name;
    bool *flag; /* or */
    uint64_t *number, least, most;
    bool value;
} words[] = {
    { "threads", NULL, &simt_options.threads, 0, 256, false },
    { "seed", NULL, &simt_options.seed, 0, UINT64_MAX, false },
    { "yield", NULL, &simt_options.yield, 0, 1 << 20, false },
    { "weak", NULL, &simt_options.weak, 0, 1, false },
    { "late", NULL, &simt_options.late, 0, 1, false },
    { "resident", NULL, &simt_options.resident, 1, 4096, false },
    { "memory", NULL, &simt_options.memory_mib, 1, 1 << 20, false },
    { "devices", NULL, &simt_options.devices, 1, SIMT_MOST_DEVICES, false },
    { "sm", NULL, &simt_options.sm, 75, 999, false },
    { "profile", &simt_options.profile, NULL, 0, 0, true },
    { "noprofile", &simt_options.profile, NULL, 0, 0, false },
    { "keep", &simt_options.keep, NULL, 0, 0, true },
    { "strict", &simt_options.keep, NULL, 0, 0, false },
    { "check", &simt_options.check, NULL, 0, 0, true },
    { "nocheck", &simt_options.check, NULL, 0, 0, false },
};

static bool set_number(const struct word *w, const char *text, size_t length)
{
    char digits[24], *end;
    if (length == 0 || length >= sizeof digits || text[0] < '0' || text[0] > '9') return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    errno = 0;
    unsigned long long value = strtoull(digits, &end, 10);
    if (*end || errno || value < w->least || value > w->most) return false;
    *w->number = value;
    return true;
}

static bool set_word(const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : length;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const struct word *w = &words[i];
        if (strlen(w->name) != name || memcmp(w->name, text, name) != 0) continue;
        if (w->number) return equals && set_number(w, equals + 1, length - name - 1);
        if (equals) return false;
        *w->flag = w->value;
        return true;
    }
    return false;
}

SIMT_API bool simt_set_options(const char *text, char *message, size_t message_bytes)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        if (length && !set_word(text, length)) {
            snprintf(
                message, message_bytes,
                "\"%.*s\" is not an option of the SIMT emulator: threads=N, seed=N, yield=N, "
                "weak=0 or 1, late=0 or 1, resident=N, memory=MiB, devices=N, sm=N, profile or "
                "noprofile, keep or strict, check or nocheck",
                (int)length, text);
            return false;
        }
        text += length;
        text += *text == ',';
    }
    return true;
}
