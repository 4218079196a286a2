/*
 * fake_libcuda.c - a CUDA driver that can be opened but not used, for test_driver.
 *
 * The environment variable FAKE_LIBCUDA selects its behaviour:
 *   version=11040          a driver of that version, without other faults
 *   missing=cuLaunchKernel without that function
 *   init=100               cuInit() returns that error; 100 is "no device"
 *   devices=0              reports that number of GPUs; all other calls fail
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, UNKNOWN = 999, NOT_FOUND = 500 };

typedef int (*function)(void);

static int setting(const char *name, int otherwise)
{
    const char *text = getenv("FAKE_LIBCUDA");
    size_t length = strlen(name);
    if (!text || strncmp(text, name, length) != 0 || text[length] != '=') return otherwise;
    return atoi(text + length + 1);
}

static int init(unsigned flags)
{
    (void)flags;
    return setting("init", SUCCESS);
}

static int version(int *out)
{
    *out = setting("version", 13000);
    return SUCCESS;
}

static int devices(int *out)
{
    *out = setting("devices", 1);
    return SUCCESS;
}

static int name_error(int error, const char **text)
{
    static char message[32];
    snprintf(message, sizeof message, "fake error %d", error);
    *text = message;
    return SUCCESS;
}

static int fail(void)
{
    return UNKNOWN;
}

static const struct {
    const char *name;
    function run;
} functions[] = {
    { "cuInit", (function)(void (*)(void))init },
    { "cuDriverGetVersion", (function)(void (*)(void))version },
    { "cuDeviceGetCount", (function)(void (*)(void))devices },
    { "cuGetErrorName", (function)(void (*)(void))name_error },
    { "cuGetErrorString", (function)(void (*)(void))name_error },
};

EXPORT int cuGetProcAddress_v2(const char *name, function *out, int cuda_version, uint64_t flags,
                               int *symbol_status);

EXPORT int cuGetProcAddress_v2(const char *name, function *out, int cuda_version, uint64_t flags,
                               int *symbol_status)
{
    (void)cuda_version;
    (void)flags;
    const char *text = getenv("FAKE_LIBCUDA");
    int missing = text && strncmp(text, "missing=", 8) == 0 && strcmp(text + 8, name) == 0;
    *out = missing ? NULL : fail;
    for (size_t i = 0; !missing && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0) *out = functions[i].run;
    if (symbol_status) *symbol_status = missing;
    return missing ? NOT_FOUND : SUCCESS;
}
