/*
 * test_driver.c - CUDA drivers that are missing, too old or faulty: ech_open("cuda") reports the
 * reason, and ech_open(NULL) uses the CPU.
 *
 * The library opens a driver once per process. Each case is therefore a child process in which
 * ECHELON_LIBCUDA names a fake library (fake_libcuda.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* fork, setenv */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_FAILED = 1, CHILD_SKIPPED = 77 };

struct driver {
    const char *library; /* NULL: fake_libcuda.c */
    const char *fake;    /* value of FAKE_LIBCUDA */
    const char *reason;  /* must be part of the message */
};

static void expect_cpu(void)
{
    ech_ctx *ctx = NULL;
    float keys[] = { 3, 1, 2 };
    unsetenv("ECHELON_DEVICE");
    CHECK_STATUS(ech_open(&ctx, NULL), ECH_OK);
    if (!ctx) return;
    CHECK_TEXT(ech_device_name(ctx), "cpu");
    CHECK_STATUS(ech_sort(ctx, keys, keys, 3, ECH_F32, NULL), ECH_OK);
    CHECK(keys[0] < 2 && keys[1] > 1 && keys[1] < 3 && keys[2] > 2);
    ech_close(ctx);
}

static int child(const struct driver *driver)
{
    ech_ctx *ctx = NULL;
    setenv("ECHELON_LIBCUDA", driver->library ? driver->library : FAKE_LIBCUDA_PATH, 1);
    setenv("FAKE_LIBCUDA", driver->fake, 1);
    ech_status status = ech_open(&ctx, "cuda");
    CHECK(ctx == NULL);
    bool without = strstr(ech_error(NULL), "no CUDA backend") != NULL;
    CHECK_INT(status, ECH_ERR_NO_DEVICE);
    if (!without) CHECK_TEXT(ech_error(NULL), driver->reason);
    if (!without && strncmp(driver->fake, "devices=1", 9) != 0) CHECK_INT(ech_device_count(), 1);
    expect_cpu();
    fflush(stdout);
    return test_failed() ? CHILD_FAILED : without ? CHILD_SKIPPED : 0;
}

int main(int argc, char **argv)
{
    static const struct driver drivers[] = {
        { "/nowhere/libcuda.so.1", "", "/nowhere/libcuda.so.1" },
        { "libm.so.6", "", "too old" }, /* a library without cuGetProcAddress_v2 */
        { NULL, "version=11040", "11.4" },
        { NULL, "version=10020", "10.2" },
        { NULL, "missing=cuLibraryLoadData", "cuLibraryLoadData" },
        { NULL, "missing=cuInit", "cuInit" },
        { NULL, "init=100", "no GPU" },
        { NULL, "init=999", "fake error 999" },
        { NULL, "init=803", "fake error 803" },
        { NULL, "devices=0", "no GPU" },
        { NULL, "devices=1", "999" }, /* all its other calls fail */
    };
    test_main(argc, argv);
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        const char *library = drivers[i].library ? drivers[i].library : "fake";
        if (!test_begin("driver(%s%s%s)", library, *drivers[i].fake ? "," : "", drivers[i].fake))
            continue;
        int status = -1;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) _exit(child(&drivers[i]));
        CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
        if (status >= 0 && WEXITSTATUS(status) == CHILD_SKIPPED)
            test_skip("this build has no CUDA backend");
        else
            CHECK_INT(status, 0);
        test_end();
    }
    return test_finish();
}
