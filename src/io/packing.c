/*
 * io/packing.c - the formats of compressed files, and extensions such as csv of x.csv.gz.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* strcasecmp */
#include "io/packing.h"

#include <string.h>
#include <strings.h>

static const struct io_codec *const codecs[] = { &io_gzip, &io_zstd };
enum { CODECS = sizeof codecs / sizeof *codecs };

/* The last point of the file name in [path, end), without its directory; end if there is none. */
static const char *find_point(const char *path, const char *end)
{
    for (const char *c = end; c > path && c[-1] != '/'; c--)
        if (c[-1] == '.') return c - 1;
    return end;
}

const struct io_codec *io_codec_from_extension(const char *path)
{
    const char *end = path + strlen(path), *point = find_point(path, end);
    for (int i = 0; point < end && i < CODECS; i++)
        if (strcasecmp(point + 1, codecs[i]->extension) == 0) return codecs[i];
    return NULL;
}

const struct io_codec *io_codec_from_bytes(const unsigned char *bytes, size_t n)
{
    for (int i = 0; i < CODECS; i++)
        if (codecs[i]->is(bytes, n)) return codecs[i];
    return NULL;
}

void io_extension(const char *path, char text[IO_EXTENSION])
{
    const char *end = path + strlen(path);
    if (io_codec_from_extension(path)) end = find_point(path, end);
    const char *point = find_point(path, end);
    const size_t n = point < end ? (size_t)(end - point) - 1 : 0;
    text[0] = 0;
    if (n >= IO_EXTENSION) return;
    memcpy(text, end - n, n);
    text[n] = 0;
}
