/*
 * info.c - "echelon info": the version, the devices, the SIMT emulator, and the reason if there is
 * no GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"
#include "io/threads.h"

#include <stdlib.h>
#include <string.h>

static struct {
    bool json;
} set;

static const struct option options[] = {
    { 0, "json", NULL, &set.json, "print JSON" },
    { 0, NULL, NULL, NULL, NULL },
};

/* The reason why no GPU can be opened; NULL if one can be opened. */
static const char *why_no_gpu(void)
{
    ech_ctx *ctx;
    if (ech_open(&ctx, "cuda") != ECH_OK) return ech_error(NULL);
    ech_close(ctx);
    return NULL;
}

/* A description of the SIMT emulator; NULL if it is not available. */
static const char *find_emulator(void)
{
    ech_ctx *ctx;
    if (ech_open(&ctx, "simt") != ECH_OK) return NULL;
    ech_close(ctx);
    return "SIMT emulator: runs CUDA kernels on the CPU, for tests and \"echelon profile\"";
}

/* The number of threads that calls on the CPU use by default; for a GPU, its multiprocessors. */
static int units(const ech_device *d)
{
    return strcmp(d->name, "cpu") == 0 ? io_threads() : d->multiprocessors;
}

static void print_text(const ech_device *d)
{
    printf("%s: %s\n", d->name, d->description);
    printf("  %-15s %s\n", "features", d->features[0] ? d->features : "none");
    printf("  %-15s %.1f GB, %.1f GB free\n", "memory", 1e-9 * (double)d->memory_bytes,
           1e-9 * (double)d->free_bytes);
    printf("  %-15s %d\n", strcmp(d->name, "cpu") == 0 ? "threads" : "multiprocessors", units(d));
    if (d->driver)
        printf("  %-15s CUDA %d.%d\n", "driver", d->driver / 1000, d->driver % 1000 / 10);
}

static void print_json(struct json *json, const ech_device *d)
{
    json_open(json, NULL, '{');
    json_text(json, "name", d->name);
    json_text(json, "description", d->description);
    json_text(json, "features", d->features);
    json_count(json, "memory_bytes", d->memory_bytes);
    json_count(json, "free_bytes", d->free_bytes);
    json_count(json, "multiprocessors", (uint64_t)d->multiprocessors);
    if (strcmp(d->name, "cpu") == 0) json_count(json, "threads", (uint64_t)units(d));
    json_count(json, "driver", (uint64_t)d->driver);
    json_close(json, '}');
}

static int run(int count, char **operands)
{
    (void)count;
    (void)operands;
    struct json json = { .to = stdout };
    if (set.json) {
        json_open(&json, NULL, '{');
        json_text(&json, "version", ech_version());
        json_open(&json, "devices", '[');
    } else {
        printf("echelon %s\n", ech_version());
    }
    int devices = ech_device_count();
    for (int i = 0; i < devices; i++) {
        ech_device device = { .size = sizeof device };
        ech_status status = ech_device_get(i, &device);
        if (status != ECH_OK) return cli_fail_ech(status, NULL);
        if (set.json)
            print_json(&json, &device);
        else
            print_text(&device);
    }
    const char *emulator = find_emulator(), *why = why_no_gpu();
    if (set.json) {
        json_close(&json, ']');
        if (emulator) json_text(&json, "simt", emulator);
        if (why) json_text(&json, "no_gpu", why);
        json_close(&json, '}');
        putchar('\n');
    } else {
        if (emulator) printf("simt: %s\n", emulator);
        if (why) printf("cuda: %s\n", why);
    }
    return EXIT_DONE;
}

const struct command command_info = {
    .name = "info",
    .summary = "print the version and the devices",
    .usage = "  echelon info [--json]\n",
    .examples = "  echelon info\n",
    .notes = "",
    .options = options,
    .most_operands = 0,
    .run = run,
};
