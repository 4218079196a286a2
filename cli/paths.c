/*
 * paths.c - checks of the file names on a command line, before any work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Only of regular files: several names of a device or a pipe are harmless. */
static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int cli_check_output(const char *option, const char *output, const char *const *inputs, int n)
{
    struct stat out, in;
    if (!output || is_standard(output) || stat(output, &out) != 0) return EXIT_DONE;
    for (int i = 0; i < n; i++) {
        if (!inputs[i]) continue;
        const bool standard = is_standard(inputs[i]);
        if ((standard ? fstat(STDIN_FILENO, &in) : stat(inputs[i], &in)) != 0) continue;
        if (is_same_file(&out, &in))
            return cli_fail(EXIT_BAD, "--%s is %s, which is the same file as the input %s", option,
                            output, standard ? "standard input" : inputs[i]);
    }
    return EXIT_DONE;
}

int cli_check_outputs(const char *const *outputs, int n)
{
    struct stat a, b;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            if (!outputs[i] || !outputs[j]) continue;
            if (strcmp(outputs[i], outputs[j]) == 0 ||
                (!is_standard(outputs[i]) && !is_standard(outputs[j]) &&
                 stat(outputs[i], &a) == 0 && stat(outputs[j], &b) == 0 && is_same_file(&a, &b)))
                return cli_fail(EXIT_BAD, "%s: is given as two different outputs",
                                is_standard(outputs[i]) ? "standard output" : outputs[i]);
        }
    return EXIT_DONE;
}

int cli_check_writable(const char *path)
{
    struct io_output output;
    struct io_error error;
    if (!path) return EXIT_DONE;
    const io_status status = io_create(&output, path, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    io_discard(&output);
    return EXIT_DONE;
}
