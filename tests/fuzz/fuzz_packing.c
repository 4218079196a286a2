/*
 * fuzz_packing.c - decompresses arbitrary bytes, and compresses them: the result must be that of
 * the library of the format for the whole file, whatever the sizes of the reads and the threads
 * are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* memfd_create() */
#include "fuzz.h"
#include "io/packing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef ECHELON_ZLIB
#include <zlib.h>
#endif
#ifdef ECHELON_ZSTD
#include <zstd.h>
#endif

enum { MOST = 8 << 20 /* bytes of the result that are compared */ };

/* ---- The whole file by the libraries ---- */

/* Decompress all parts of a file into result, which has room for most bytes; set *n and return
 * whether the file is valid.  Without a library, *n is -1. */
static bool reference_gzip(const unsigned char *bytes, size_t size, unsigned char *result,
                           size_t most, size_t *n)
{
    *n = (size_t)-1;
#ifdef ECHELON_ZLIB
    z_stream z = { .next_in = (Bytef *)(uintptr_t)bytes,
                   .avail_in = (uInt)size,
                   .next_out = result,
                   .avail_out = (uInt)most };
    FUZZ_CHECK(inflateInit2(&z, 31) == Z_OK);
    int end;
    while ((end = inflate(&z, Z_FINISH)) == Z_STREAM_END && z.avail_in) {
        z_stream rest = z;
        inflateReset(&z);
        z.next_in = rest.next_in, z.avail_in = rest.avail_in;
    }
    *n = most - z.avail_out;
    inflateEnd(&z);
    return end == Z_STREAM_END;
#else
    (void)bytes, (void)size, (void)result, (void)most;
    return false;
#endif
}

static bool reference_zstd(const unsigned char *bytes, size_t size, unsigned char *result,
                           size_t most, size_t *n)
{
    *n = (size_t)-1;
#ifdef ECHELON_ZSTD
    const size_t got = ZSTD_decompress(result, most, bytes, size);
    *n = ZSTD_isError(got) ? 0 : got;
    return !ZSTD_isError(got);
#else
    (void)bytes, (void)size, (void)result, (void)most;
    return false;
#endif
}

/* ---- Read ---- */

/* Reads a source in pieces of piece bytes; returns the status, and *n bytes of the result. */
static io_status read_pieces(struct io_source *source, size_t piece, unsigned char *result,
                             size_t *n, struct io_error *error)
{
    io_status status = IO_OK;
    for (*n = 0; *n < MOST;) {
        const size_t want = MOST - *n < piece ? MOST - *n : piece;
        size_t got;
        status = io_read(source, result + *n, want, &got, error);
        *n += got;
        if (status != IO_OK || got < want) break;
    }
    return status;
}

/* The reader of a file has a thread, that of memory has none. */
static io_status read_file(const unsigned char *bytes, size_t size, unsigned char *result,
                           size_t *n, struct io_error *error)
{
    char path[64];
    const int fd = memfd_create("fuzz", 0);
    FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct io_source source;
    FUZZ_CHECK(io_open(&source, path, error) == IO_OK);
    const io_status status = read_pieces(&source, 100000, result, n, error);
    io_close(&source);
    close(fd);
    return status;
}

static void check_read(const unsigned char *bytes, size_t size, size_t piece, bool file)
{
    static unsigned char result[MOST], other[MOST];
    const struct io_codec *codec = io_codec_from_bytes(bytes, size);
    struct io_error error = { "" }, other_error = { "" };
    struct io_source source;
    size_t n, m;
    io_open_memory(&source, "fuzz", bytes, size);
    source.detect = true;
    const io_status status = read_pieces(&source, piece, result, &n, &error);
    FUZZ_CHECK(status == IO_OK || strncmp(error.text, "fuzz: ", 6) == 0);
    io_close(&source);
    if (file) {
        const io_status again = read_file(bytes, size, other, &m, &other_error);
        FUZZ_CHECK(again == status && m == n && memcmp(result, other, n) == 0);
    }
    if (!codec) {
        FUZZ_CHECK(status == IO_OK && n == size && memcmp(result, bytes, n) == 0);
        return;
    }
    if (n == MOST || strstr(error.text, "128 MiB")) return;
    const bool valid = codec == &io_gzip ? reference_gzip(bytes, size, other, MOST, &m)
                                         : reference_zstd(bytes, size, other, MOST, &m);
    if (!codec->decode) return;
    /* libzstd decodes some invalid frames if all is in memory: those with too large blocks. */
    FUZZ_CHECK(status == IO_OK ? valid : !valid || codec == &io_zstd);
    if (status == IO_OK) FUZZ_CHECK(m == n && memcmp(result, other, n) == 0);
}

/* ---- Write ---- */

/* Appends a part that contains the bytes to the file. */
static void pack(const struct io_codec *codec, int fd, const unsigned char *bytes, size_t size)
{
    struct io_pack *packed;
    struct io_error error;
    FUZZ_CHECK(io_pack_open(&packed, codec, fd, "fuzz", 0, &error) == IO_OK);
    FUZZ_CHECK(io_pack_write(packed, (const char *)bytes, size, &error) == IO_OK);
    FUZZ_CHECK(io_pack_finish(packed, &error) == IO_OK);
    io_pack_close(packed);
}

/* Compresses the bytes in several parts, and reads the file, of which `less` bytes at the end are
 * missing. */
static void check_write(const struct io_codec *codec, const unsigned char *bytes, size_t size,
                        size_t parts, size_t less)
{
    static unsigned char file[1 << 20];
    const int fd = memfd_create("fuzz", 0);
    if (!codec->encode || size > sizeof file / 2) {
        close(fd);
        return;
    }
    for (size_t i = 0; i < parts; i++)
        pack(codec, fd, bytes + size * i / parts, size * (i + 1) / parts - size * i / parts);
    const ssize_t length = pread(fd, file, sizeof file, 0);
    close(fd);
    FUZZ_CHECK(length > 0);
    check_read(file, (size_t)length - less, 1 + size / 3, false);
    unsigned char *result = malloc(size + 1);
    struct io_source source;
    struct io_error error;
    size_t got;
    io_open_memory(&source, "fuzz", file, (size_t)length - less);
    source.detect = true;
    const io_status status = result ? io_read(&source, result, size + 1, &got, &error) : IO_MEMORY;
    FUZZ_CHECK(status == (less ? IO_FAIL : IO_OK) && got <= size);
    FUZZ_CHECK((got == size || less) && (got == 0 || memcmp(result, bytes, got) == 0));
    io_close(&source);
    free(result);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    /* The first byte selects the direction, and the sizes of reads or the parts. */
    if (n == 0) return 0;
    const unsigned how = bytes[0];
    bytes++, n--;
    if (how & 1)
        check_write(how & 2 ? &io_gzip : &io_zstd, bytes, n, 1 + (how >> 2 & 3), how >> 5);
    else
        check_read(bytes, n, how & 2 ? 65536 : 1 + (how >> 2), (how & 0x82) == 0x82);
    return 0;
}
