/*
 * cpu/processors.c - how many processors this process may use: by the environment, by its affinity
 * mask, and by the quotas of its control groups; and whether a team of OpenMP shares them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* sched_getaffinity, RTLD_DEFAULT */
#include "cpu/processors.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 16, NO_QUOTA = INT_MAX };

/* ---- Control groups ---- */

/* Reads a file of the kernel as a string; false: it cannot be read. */
static bool read_file(const char *path, char *text, size_t capacity)
{
    size_t n = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    while (n + 1 < capacity) {
        ssize_t some = read(file, text + n, capacity - 1 - n);
        if (some <= 0) break;
        n += (size_t)some;
    }
    close(file);
    text[n] = 0;
    return true;
}

static int processors_for(double quota, double period)
{
    if (!(quota > 0) || !(period > 0) || quota / period >= (double)MOST) return NO_QUOTA;
    const int whole = (int)(quota / period);
    return whole + (whole < quota / period);
}

/* The quota of one group; version 2 has it in one file, version 1 in two. */
static int quota_of(const char *folder)
{
    char path[PATH_MAX + 32], text[64];
    double quota = -1, period = -1;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_file(path, text, sizeof text)) {
        char *end;
        quota = strtod(text, &end); /* "max" is not a number */
        period = end > text ? strtod(end, NULL) : -1;
        return processors_for(quota, period);
    }
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (read_file(path, text, sizeof text)) quota = strtod(text, NULL);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (read_file(path, text, sizeof text)) period = strtod(text, NULL);
    return processors_for(quota, period);
}

/* The smallest quota of the group at mount/path and of those that contain it. */
static int quota_above(const char *mount, const char *path)
{
    char folder[PATH_MAX];
    int smallest = NO_QUOTA;
    const size_t root = strlen(mount);
    if (snprintf(folder, sizeof folder, "%s%s", mount, path) >= (int)sizeof folder) return smallest;
    for (;;) {
        const int quota = quota_of(folder);
        if (quota < smallest) smallest = quota;
        char *slash = strrchr(folder, '/');
        if (!slash || slash < folder + root) return smallest;
        *slash = 0;
    }
}

/* Whether a list such as "cpu,cpuacct" contains cpu. */
static bool has_cpu(const char *list)
{
    for (; list; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, "cpu", 3) == 0 && (list[3] == ',' || list[3] == 0)) return true;
    }
    return false;
}

int echi_processors_quota(const char *groups, const char *mount)
{
    char text[8192], *rest = text, folder[PATH_MAX];
    int smallest = NO_QUOTA;
    if (!read_file(groups, text, sizeof text)) return 0;
    while (rest && *rest) { /* lines "1:cpu,cpuacct:/path" of version 1, "0::/path" of version 2 */
        char *line = rest, *list = strchr(line, ':');
        rest = strchr(line, '\n');
        if (rest) *rest++ = 0;
        char *path = list && (!rest || list < rest) ? strchr(list + 1, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        list++;
        if (*list && !has_cpu(list)) continue;
        if (snprintf(folder, sizeof folder, "%s%s%s", mount, *list ? "/" : "", list) >=
            (int)sizeof folder)
            continue;
        const int quota = quota_above(folder, strcmp(path, "/") == 0 ? "" : path);
        if (quota < smallest) smallest = quota;
    }
    return smallest == NO_QUOTA ? 0 : smallest;
}

/* ---- The affinity mask ---- */

/* The mask that echi_processors() has found last, and how many different ones it has found. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cpu_set_t mask;
static atomic_uint masks;

static void note_mask(const cpu_set_t *found)
{
    pthread_mutex_lock(&lock);
    if (!CPU_EQUAL(found, &mask)) {
        mask = *found;
        atomic_fetch_add(&masks, 1);
    }
    pthread_mutex_unlock(&lock);
}

void echi_processors_follow(unsigned *number)
{
    const unsigned newest = atomic_load(&masks);
    if (*number == newest) return;
    pthread_mutex_lock(&lock);
    const cpu_set_t set = mask;
    *number = atomic_load(&masks);
    pthread_mutex_unlock(&lock);
    sched_setaffinity(0, sizeof set, &set);
}

/* ---- OpenMP ---- */

/* Functions of the OpenMP runtime that the process had loaded at the first call, or NULL. */
static int (*omp_get_level)(void), (*omp_get_team_size)(int level);

static bool find_omp_in(void *library)
{
    void *level = dlsym(library, "omp_get_level"), *size = dlsym(library, "omp_get_team_size");
    if (!level || !size) return false;
    memcpy(&omp_get_level, &level, sizeof level); /* C has no cast of void * to a function */
    memcpy(&omp_get_team_size, &size, sizeof size);
    return true;
}

static void find_omp(void)
{
    static const char *const names[] = { "libgomp.so.1", "libiomp5.so", "libomp.so.5",
                                         "libomp.so" };
    if (find_omp_in(RTLD_DEFAULT)) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library && find_omp_in(library)) return; /* the handle keeps the runtime loaded */
        if (library) dlclose(library);
    }
}

static int team(void)
{
    int product = 1;
    const int levels = omp_get_level ? omp_get_level() : 0;
    for (int level = 1; level <= levels && product < MOST; level++) {
        const int size = omp_get_team_size(level);
        if (size > 1) product *= size < MOST ? size : MOST;
    }
    return product;
}

/* ---- The number of threads ---- */

/* A variable with a number of threads. OMP_NUM_THREADS may be a list, for nested levels; 0: it is
 * not set, or not valid. */
static int from_environment(const char *name, bool may_be_list)
{
    const char *text = getenv(name);
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : 0;
    if (value < 1 || end == text) return 0;
    while (*end == ' ') end++;
    if (*end && !(may_be_list && *end == ',')) return 0;
    return value < MOST ? (int)value : MOST;
}

static int limit, wanted, quota, at_start;
static pthread_once_t once = PTHREAD_ONCE_INIT;

int echi_processors_choose(int affinity, int allowed)
{
    return allowed && allowed < affinity ? allowed : affinity;
}

static int available_to(pid_t thread)
{
    cpu_set_t few;
    int count = 1;
    if (wanted) return wanted;
    if (sched_getaffinity(thread, sizeof few, &few) == 0) {
        if (!thread) note_mask(&few);
        count = CPU_COUNT(&few);
    } else { /* there are more processors than cpu_set_t has */
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online < 1 ? 1 : online < MOST ? (int)online : MOST;
    }
    return echi_processors_choose(count, quota);
}

static void look(void)
{
    limit = from_environment("ECHELON_THREADS", false);
    wanted = limit ? limit : from_environment("OMP_NUM_THREADS", true);
    quota = echi_processors_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    at_start = available_to(getpid());
    find_omp();
}

int echi_processors(void)
{
    pthread_once(&once, look);
    return available_to(0);
}

int echi_processors_at_start(void)
{
    pthread_once(&once, look);
    return at_start;
}

int echi_processors_limit(void)
{
    pthread_once(&once, look);
    return limit;
}

int echi_processors_team(void)
{
    pthread_once(&once, look);
    return team();
}

const char *echi_processors_wrong(void)
{
    const char *text = getenv("ECHELON_THREADS");
    return text && *text && !from_environment("ECHELON_THREADS", false) ? text : NULL;
}
