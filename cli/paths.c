/*
 * paths.c - checks of the file names on a command line, before any work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "cli.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
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

int cli_permit_files(int n)
{
    enum { OTHERS = 32 }; /* standard streams, the output, temporary files */
    const rlim_t need = (rlim_t)n + OTHERS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return EXIT_DONE;
    if (limit.rlim_max < need)
        return cli_fail(EXIT_BAD,
                        "%d inputs are open at the same time, but the limit of open files is %llu "
                        "(ulimit -n); raise it to %llu, or give fewer inputs at once",
                        n, (unsigned long long)limit.rlim_max, (unsigned long long)need);
    limit.rlim_cur = limit.rlim_max < 2 * need ? limit.rlim_max : 2 * need;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "cannot raise the limit of open files to %llu for %d inputs",
                    (unsigned long long)limit.rlim_cur, n);
}

int cli_open_files(int n)
{
    enum { MOST_COUNTED = 4096, SPARE = 8 }; /* libraries, temporary files, directories */
    struct rlimit limit;
    int used = SPARE;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return n;
    for (int fd = 0; fd < MOST_COUNTED && (rlim_t)fd < limit.rlim_cur; fd++)
        used += fcntl(fd, F_GETFD) >= 0;
    const rlim_t need = (rlim_t)n + (rlim_t)used;
    if (limit.rlim_cur < need) {
        const rlim_t before = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
    }
    return limit.rlim_cur >= need          ? n
           : limit.rlim_cur > (rlim_t)used ? (int)(limit.rlim_cur - (rlim_t)used)
                                           : 0;
}
