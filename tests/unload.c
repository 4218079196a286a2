/*
 * unload.c LIBRARY - opens a library, sorts, and closes it, ten times. The exit status is 0 if no
 * thread is left and the library is not unmapped, 1 otherwise. tests/loading.sh runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include <echelon.h>

#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 20 };

static uint32_t keys[N];

static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return -1;
    for (struct dirent *e = readdir(tasks); e; e = readdir(tasks)) count += e->d_name[0] != '.';
    closedir(tasks);
    return count;
}

#define FIND(library, name) memcpy(&name, &(void *){ dlsym(library, "ech_" #name) }, sizeof name)

static int sort_once(const char *path, int leave)
{
    ech_status (*open)(ech_ctx **, const char *);
    ech_status (*set_threads)(ech_ctx *, int);
    ech_status (*sort)(ech_ctx *, const void *, void *, size_t, ech_dtype,
                       const ech_sort_options *);
    void (*close)(ech_ctx *);
    ech_ctx *ctx;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    FIND(library, open);
    FIND(library, set_threads);
    FIND(library, sort);
    FIND(library, close);
    uint32_t state = 1;
    for (size_t i = 0; i < N; i++) keys[i] = state = state * 1664525 + 1013904223;
    if (!open || !set_threads || !sort || !close || open(&ctx, "cpu") != ECH_OK ||
        set_threads(ctx, 8) != ECH_OK || sort(ctx, keys, keys, N, ECH_U32, NULL) != ECH_OK)
        return 0;
    if (!leave) close(ctx); /* otherwise threads are running when the library is closed */
    dlclose(library);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    for (int i = 0; i < 10; i++)
        if (!sort_once(argv[1], 0)) return 1;
    for (int i = 0; i < 1000 && count_threads() > 1; i++)
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    if (count_threads() != 1) {
        fprintf(stderr, "%d threads are left\n", count_threads());
        return 1;
    }
    return sort_once(argv[1], 1) && nanosleep(&(struct timespec){ 0, 20000000 }, NULL) == 0 ? 0 : 1;
}
