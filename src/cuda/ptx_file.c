/*
 * cuda/ptx_file.c - finds and reads a file of PTX.
 *
 * The file is searched again for each image, as there are few and the driver takes longer to
 * compile one.  Nothing in it is trusted: a length is used only after it was compared with the
 * file's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* dladdr */
#include "cuda/ptx_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ECHELON_LIBDIR
#define ECHELON_LIBDIR "lib"
#endif

enum { LINE = 256, NAME = 128, SHOWN = 160 /* of a path, in a message */ };
static const uint32_t fatbin_magic = 0xba55ed50;

/* ---- Where ---- */

/* Appends to the folder of `file`, whose length includes the last '/'. */
static bool try_path(const char *file, const char *below, const char *name,
                     char path[ECHI_PTX_PATH], bool first)
{
    char candidate[ECHI_PTX_PATH];
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) + 1 : 0;
    int length =
        snprintf(candidate, sizeof candidate, "%.*s%sechelon/%s", folder, file, below, name);
    if (length < 0 || length >= (int)sizeof candidate) return false;
    if (first) memcpy(path, candidate, (size_t)length + 1);
    if (access(candidate, R_OK) != 0) return false;
    memcpy(path, candidate, (size_t)length + 1);
    return true;
}

void echi_ptx_find(const char *name, const void *inside, char path[ECHI_PTX_PATH])
{
    const char *folder = getenv("ECHELON_PTX_DIR");
    char program[ECHI_PTX_PATH];
    Dl_info info;
    snprintf(path, ECHI_PTX_PATH, "echelon/%s", name);
    if (folder && *folder) {
        snprintf(path, ECHI_PTX_PATH, "%s/%s", folder, name);
        return;
    }
    bool known = dladdr(inside, &info) != 0 && info.dli_fname;
    if (known && try_path(info.dli_fname, "", name, path, true)) return;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return;
    program[length] = 0;
    if (try_path(program, "", name, path, !known)) return;
    try_path(program, "../" ECHELON_LIBDIR "/", name, path, false);
}

/* ---- What ---- */

static void __attribute__((format(printf, 2, 3)))
say(char reason[ECHI_PTX_REASON], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason, ECHI_PTX_REASON, format, args);
    va_end(args);
}

/* The end of a long path says more than its beginning. */
static const char *shown(const char *path)
{
    size_t length = strlen(path);
    return length > SHOWN ? path + length - SHOWN : path;
}

/* A whole line without its '\n'; false at the end of the file or when it is longer than any of
 * ours. */
static bool read_line(FILE *file, char line[LINE])
{
    if (!fgets(line, LINE, file)) return false;
    size_t length = strcspn(line, "\n");
    if (line[length] != '\n') return false;
    line[length] = 0;
    return true;
}

struct place {
    uint64_t offset, bytes;
    bool found;
};

/* Reads the text up to its end; false when it is not as it is written. */
static bool read_index(FILE *file, const char *image, struct place *place)
{
    char line[LINE], name[NAME];
    while (read_line(file, line)) {
        uint64_t offset, bytes;
        int end = 0;
        if (strcmp(line, "end") == 0) return true;
        if (sscanf(line, "%127[a-z0-9_] %" SCNu64 " %" SCNu64 "%n", name, &offset, &bytes, &end) !=
                3 ||
            line[end] != 0)
            return false;
        if (strcmp(name, image) == 0)
            *place = (struct place){ .offset = offset, .bytes = bytes, .found = true };
    }
    return false;
}

static void *read_place(FILE *file, const struct place *place)
{
    uint32_t magic;
    long begin = ftell(file);
    if (begin < 0 || fseek(file, 0, SEEK_END) != 0) return NULL;
    long end = ftell(file);
    if (end < begin) return NULL;
    uint64_t there = (uint64_t)(end - begin);
    if (place->offset > there || place->bytes > there - place->offset ||
        place->bytes < sizeof magic)
        return NULL;
    if (fseek(file, begin + (long)place->offset, SEEK_SET) != 0) return NULL;
    void *data = malloc((size_t)place->bytes);
    if (!data) return NULL;
    bool whole = fread(data, 1, (size_t)place->bytes, file) == place->bytes;
    memcpy(&magic, data, sizeof magic);
    if (whole && magic == fatbin_magic) return data;
    free(data);
    return NULL;
}

static void *read_file(FILE *file, const char *path, const char *id, const char *image,
                       size_t *bytes, char reason[ECHI_PTX_REASON])
{
    static const char first[] = "echelon-ptx 1 ";
    struct place place = { 0 };
    char line[LINE];
    if (!read_line(file, line) || strncmp(line, first, strlen(first)) != 0) {
        say(reason, "%s is not a file of Echelon's PTX", shown(path));
        return NULL;
    }
    if (strcmp(line + strlen(first), id) != 0) {
        say(reason, "%s belongs to another build of Echelon", shown(path));
        return NULL;
    }
    bool whole = read_index(file, image, &place);
    if (whole && !place.found) {
        say(reason, "%s has no kernels for %s", shown(path), image);
        return NULL;
    }
    void *data = whole ? read_place(file, &place) : NULL;
    if (!data)
        say(reason, "%s is damaged, or there is no memory for its part %s", shown(path), image);
    *bytes = (size_t)place.bytes;
    return data;
}

void *echi_ptx_read(const char *path, const char *id, const char *image, size_t *bytes,
                    char reason[ECHI_PTX_REASON])
{
    *bytes = 0;
    FILE *file = fopen(path, "rbe");
    if (!file) {
        say(reason, "cannot open %s: %s", shown(path), strerror(errno));
        return NULL;
    }
    void *data = read_file(file, path, id, image, bytes, reason);
    fclose(file);
    return data;
}
