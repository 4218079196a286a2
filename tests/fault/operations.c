/*
 * operations.c - runs one call of the library twice, for faults.py, which lets one call of the C
 * library fail meanwhile.
 *
 *     fault_operations DEVICE CALL    or --list
 *
 * Each attempt must succeed, or report a lack of memory with a message; the next attempt on the
 * same context must then succeed. Prints a checksum of the result. Exit status: 0 as described, 1
 * not, 3 if glibc cannot load a library a second time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 3, LOADER = 3 };

static int wrong(const char *what, ech_status status, const char *message)
{
    printf("%s: status %d, \"%s\"\n", what, (int)status, message);
    return 1;
}

static bool is_lack(ech_status status, const char *message)
{
    return (status == ECH_ERR_MEMORY || status == ECH_ERR_NO_DEVICE) && *message;
}

/* glibc can leave a library half loaded if it had no memory for the list of its dependencies; such
 * a library cannot be loaded later in this process. */
static bool is_half_loaded(const char *device, ech_status before, const char *message)
{
    return strcmp(device, "simt") == 0 && before == ECH_ERR_MEMORY &&
           strstr(message, "cuLibraryLoadData") && strstr(message, "_INVALID_IMAGE");
}

static int run(const char *device, ech_status (*call)(void))
{
    uint64_t first = 0;
    int good = 0;
    ech_status status = ech_open(&fault_ctx, device), before = ECH_OK;
    if (status != ECH_OK) {
        if (!is_lack(status, ech_error(NULL))) return wrong("open", status, ech_error(NULL));
        status = ech_open(&fault_ctx, device);
        if (status != ECH_OK) return wrong("open again", status, ech_error(NULL));
    }
    for (int i = 0; i < ATTEMPTS; i++) {
        fault_clear_outputs();
        status = call();
        if (status != ECH_OK) {
            if (i == 1 && is_half_loaded(device, before, ech_error(fault_ctx))) return LOADER;
            if (i > good || !is_lack(status, ech_error(fault_ctx)))
                return wrong("call", status, ech_error(fault_ctx));
            before = status;
            continue;
        }
        const uint64_t hash = fault_hash();
        if (good++ && hash != first) return wrong("another result", status, "");
        first = hash;
    }
    ech_close(fault_ctx);
    if (good < ATTEMPTS - 1) return wrong("attempts", status, "more than one has failed");
    printf("%llx\n", (unsigned long long)first);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < fault_call_count; i++) puts(fault_calls[i].name);
        return 0;
    }
    if (argc != 3) return 1;
    fault_make_inputs(argv[1]);
    for (int i = 0; i < fault_call_count; i++)
        if (strcmp(argv[2], fault_calls[i].name) == 0) return run(argv[1], fault_calls[i].run);
    printf("unknown call %s\n", argv[2]);
    return 1;
}
