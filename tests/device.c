/*
 * device.c - the devices that a test program runs on: the requested one, or all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

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

bool test_is_cpu(const ech_ctx *ctx)
{
    return strcmp(ech_device_name(ctx), "cpu") == 0;
}
