/*
 * io/gzip.c - gzip files (RFC 1952) through zlib; gzip_encode.c writes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/gzip.h"

#include <stdlib.h>

/* The reserved flags are 0, and the method is deflate. */
static bool is_gzip(const unsigned char *bytes, size_t n)
{
    return n >= 4 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8 && bytes[3] < 32;
}

#ifdef ECHELON_ZLIB
#define ZLIB_CONST
#include <zlib.h>

enum { WINDOW = 15 + 16 /* the largest one, with the header of gzip */ };

static void *open_decoder(void)
{
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, WINDOW) == Z_OK) return z;
    free(z);
    return NULL;
}

static void close_decoder(void *decoder)
{
    inflateEnd(decoder);
    free(decoder);
}

static void begin(z_stream *z, const struct io_flow *flow)
{
    const size_t most = 1 << 30;
    z->next_in = flow->in;
    z->avail_in = (uInt)(flow->in_bytes < most ? flow->in_bytes : most);
    z->next_out = flow->out;
    z->avail_out = (uInt)(flow->out_bytes < most ? flow->out_bytes : most);
}

static void end(const z_stream *z, struct io_flow *flow)
{
    flow->in_bytes -= (size_t)(z->next_in - flow->in);
    flow->out_bytes -= (size_t)(z->next_out - flow->out);
    flow->in = z->next_in;
    flow->out = z->next_out;
}

static io_step decode(void *decoder, struct io_flow *flow, const char **fault)
{
    z_stream *z = decoder;
    begin(z, flow);
    const int result = inflate(z, Z_NO_FLUSH);
    end(z, flow);
    if (result == Z_OK || result == Z_BUF_ERROR) return IO_STEP_MORE;
    if (result == Z_STREAM_END) return inflateReset(z) == Z_OK ? IO_STEP_END : IO_STEP_MEMORY;
    if (result == Z_MEM_ERROR) return IO_STEP_MEMORY;
    *fault = z->msg ? z->msg : "invalid data";
    return IO_STEP_BAD;
}
#endif

const struct io_codec io_gzip = {
    .name = "gzip",
    .extension = "gz",
    .library = "zlib",
    .package = "zlib1g-dev",
    .program = "gzip",
    .is = is_gzip,
#ifdef ECHELON_ZLIB
    .open_decoder = open_decoder,
    .open_encoder = io_gzip_open_encoder,
    .decode = decode,
    .encode = io_gzip_encode,
    .close_decoder = close_decoder,
    .close_encoder = io_gzip_close_encoder,
#endif
};
