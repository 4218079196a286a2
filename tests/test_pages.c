/*
 * test_pages.c - pages of large blocks on the CPU: huge pages are requested, and no page exists
 * before its first access, so that it is placed on the NUMA node of the thread that writes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 64 << 20, NODES = 64, LINE = 512 };

/* The flags of the mapping that contains address, as /proc/self/smaps prints them; false: there is
 * no such mapping, or the kernel prints no flags. */
static bool flags_of(const void *address, char line[LINE])
{
    bool inside = false, found = false;
    FILE *file = fopen("/proc/self/smaps", "re");
    while (file && !found && fgets(line, LINE, file)) {
        uintptr_t first, last;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &last) == 2)
            inside = (uintptr_t)address >= first && (uintptr_t)address < last;
        found = inside && strncmp(line, "VmFlags:", 8) == 0;
    }
    if (file) fclose(file);
    return found;
}

/* The bytes of the mapping that contains address, per node; false: they are unknown. */
static bool nodes_of(const void *address, uint64_t bytes[NODES])
{
    char line[1024], best[1024] = "";
    uintptr_t start, nearest = 0;
    FILE *file = fopen("/proc/self/numa_maps", "re");
    memset(bytes, 0, NODES * sizeof *bytes);
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%" SCNxPTR, &start) == 1 && start <= (uintptr_t)address &&
            start >= nearest) {
            nearest = start;
            memcpy(best, line, sizeof best);
        }
    if (file) fclose(file);
    uint64_t page = 4096, pages;
    const char *size = strstr(best, "kernelpagesize_kB=");
    if (size) page = strtoull(size + strlen("kernelpagesize_kB="), NULL, 10) * 1024;
    for (const char *at = best; (at = strstr(at, " N")); at++) {
        unsigned node;
        if (sscanf(at, " N%u=%" SCNu64, &node, &pages) == 2 && node < NODES)
            bytes[node] += pages * page;
    }
    return *best != 0;
}

static int count_nodes(void)
{
    int nodes = 0;
    for (int i = 0; i < NODES; i++) {
        char path[64];
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d", i);
        nodes += access(path, F_OK) == 0;
    }
    return nodes;
}

static void huge_pages(ech_ctx *ctx)
{
    void *block = NULL;
    char flags[LINE];
    if (!test_begin("huge pages are requested for large blocks")) return;
    if (CHECK_STATUS(ech_malloc(ctx, &block, BYTES), ECH_OK)) {
        CHECK_INT((uintptr_t)block % (2 << 20), 0);
        if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0 ||
            !flags_of(block, flags))
            test_skip("the kernel has no transparent huge pages, or does not show them");
        else
            CHECK_TEXT(flags, " hg");
        ech_free(ctx, block, BYTES);
    }
    test_end();
}

static uint64_t sum(const uint64_t bytes[NODES], int *used)
{
    uint64_t total = 0;
    *used = 0;
    for (int i = 0; i < NODES; i++) total += bytes[i], *used += bytes[i] > 0;
    return total;
}

/* A block has no pages until it is written. */
static void first_access(ech_ctx *ctx)
{
    const uint32_t value = 7;
    uint64_t before[NODES], after[NODES];
    void *block = NULL;
    int used;
    if (!test_begin("pages of a large block are placed at the first access")) return;
    if (!CHECK_STATUS(ech_malloc(ctx, &block, BYTES), ECH_OK)) return;
    if (!nodes_of(block, before)) {
        test_skip("the kernel has no /proc/self/numa_maps");
    } else {
        CHECK(sum(before, &used) < BYTES / 8);
        CHECK_STATUS(ech_fill(ctx, block, BYTES / sizeof value, sizeof value, &value), ECH_OK);
        CHECK(nodes_of(block, after));
        CHECK(sum(after, &used) >= BYTES);
        CHECK(used >= 1 && used <= count_nodes());
    }
    ech_free(ctx, block, BYTES);
    test_end();
}

int main(int argc, char **argv)
{
    ech_ctx *ctx;
    test_main(argc, argv);
    if (!CHECK_STATUS(ech_open(&ctx, "cpu"), ECH_OK)) return test_finish();
    huge_pages(ctx);
    first_access(ctx);
    ech_close(ctx);
    return test_finish();
}
