/*
 * device.c - the devices that a test program runs on: the requested one, or all; and its threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool test_device(int i, char *name, size_t capacity_bytes)
{
    ech_device device = { .size = sizeof device };
    if (test_options.device) {
        snprintf(name, capacity_bytes, "%s", test_options.device);
        return i == 0;
    }
    if (i >= ech_device_count() || ech_device_get(i, &device) != ECH_OK) return false;
    snprintf(name, capacity_bytes, "%s", device.name);
    return true;
}

int test_contexts(ech_ctx **contexts, int most)
{
    char name[64];
    int count = 0;
    for (; count < most && test_device(count, name, sizeof name); count++) {
        if (ech_open(&contexts[count], name) == ECH_OK) continue;
        fprintf(stderr, "ech_open(\"%s\"): %s\n", name, ech_error(NULL));
        exit(1);
    }
    return count;
}

static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return -1;
    for (struct dirent *e = readdir(tasks); e; e = readdir(tasks)) count += e->d_name[0] != '.';
    closedir(tasks);
    return count;
}

int test_count_threads(int wanted)
{
    int count = count_threads();
    for (int i = 0; i < 1000 && wanted && count != wanted; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        count = count_threads();
    }
    return count;
}

bool test_is_cpu(const ech_ctx *ctx)
{
    return strcmp(ech_device_name(ctx), "cpu") == 0;
}
