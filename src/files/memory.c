/*
 * files/memory.c - the memory that the machine, the cgroup and the limits of the process leave.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* MADV_HUGEPAGE, MAP_ANONYMOUS */
#include "files/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

/* ---- Files of numbers ---- */

static bool read_number(const char *path, uint64_t *value)
{
    unsigned long long number = 0;
    FILE *file = fopen(path, "re");
    if (!file) return false;
    const bool good = fscanf(file, "%llu", &number) == 1; /* "max" is no number */
    fclose(file);
    *value = number;
    return good;
}

/* The number after a word at the begin of a line; 0 if there is none. */
static uint64_t read_entry(const char *path, const char *word)
{
    char line[256];
    unsigned long long number = 0;
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, word, strlen(word)) == 0) {
            number = strtoull(line + strlen(word), NULL, 10);
            break;
        }
    fclose(file);
    return number;
}

/* ---- The cgroup ---- */

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What a group's limit leaves.  Pages of files that were not used lately count as free. */
static uint64_t group_leaves(const char *folder, bool second)
{
    char path[640];
    uint64_t limit, used;
    snprintf(path, sizeof path, "%s/%s", folder, second ? "memory.max" : "memory.limit_in_bytes");
    if (!read_number(path, &limit)) return UINT64_MAX;
    snprintf(path, sizeof path, "%s/%s", folder,
             second ? "memory.current" : "memory.usage_in_bytes");
    if (!read_number(path, &used)) used = 0;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    const uint64_t cached = read_entry(path, second ? "inactive_file " : "total_inactive_file ");
    used -= minimum(cached, used);
    return limit > used ? limit - used : 0;
}

/* The minimum of the group of this process and all groups that contain it. */
static uint64_t groups_leave(const char *root, char *group, bool second)
{
    char folder[576]; /* root and group */
    uint64_t left = UINT64_MAX;
    group[strcspn(group, "\n")] = 0;
    for (;;) {
        snprintf(folder, sizeof folder, "%s%s", root, group);
        left = minimum(left, group_leaves(folder, second));
        char *slash = strrchr(group, '/');
        if (!slash || !group[1]) return left;
        *slash = 0; /* the parent */
    }
}

static uint64_t cgroup_leaves(void)
{
    char line[512];
    uint64_t left = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return left;
    while (fgets(line, sizeof line, file)) {
        char *group = strstr(line, ":memory:");
        if (strncmp(line, "0::", 3) == 0)
            left = minimum(left, groups_leave("/sys/fs/cgroup", line + 3, true));
        else if (group)
            left = minimum(left, groups_leave("/sys/fs/cgroup/memory", group + 8, false));
    }
    fclose(file);
    return left;
}

uint64_t files_memory(void)
{
    struct rlimit limit;
    uint64_t left = 1024 * read_entry("/proc/meminfo", "MemAvailable:");
    if (!left) left = io_machine_bytes() / 2;
    left = minimum(left, cgroup_leaves());
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        const uint64_t used = 1024 * read_entry("/proc/self/status", "VmSize:");
        left = minimum(left, limit.rlim_cur > used ? limit.rlim_cur - used : 0);
    }
    return left / 4 * 3;
}

/* ---- Large allocations ---- */

void *files_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= (size_t)64 << 20) madvise(memory, bytes, MADV_HUGEPAGE); /* only a hint */
#endif
    return memory;
}

void files_unmap(void *memory, size_t bytes)
{
    if (memory) munmap(memory, bytes);
}

double files_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
