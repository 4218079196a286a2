/*
 * io/packing.h - compressed files: the formats, and threads that decompress and compress.
 *
 *     packing.c       the formats: names, extensions, first bytes
 *     gzip.c, zstd.c  one format each, through its library, which a build may lack
 *     unpack.c        decompresses ahead of the reader of a source
 *     pack.c          compresses what is written to an output
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_PACKING_H
#define ECHELON_IO_PACKING_H

#include "io/io.h"

/* Bytes that a call may consume and produce; it advances the pointers. */
struct io_flow {
    const unsigned char *in;
    size_t in_bytes;
    unsigned char *out;
    size_t out_bytes;
};

typedef enum io_step {
    IO_STEP_MORE, /* it needs more input, or more room for output */
    IO_STEP_END,  /* decode: a part ended, and another one may follow; encode: all is written */
    IO_STEP_BAD,  /* the data is invalid; *fault states why */
    IO_STEP_MEMORY
} io_step;

/* A format of compressed data.  A file consists of one or more parts (members, frames). */
struct io_codec {
    const char *name, *extension, *library, *package, *program;
    bool (*is)(const unsigned char *bytes, size_t n); /* whether a part begins with these bytes */
    /* NULL if the build lacks the library; the first two return NULL if out of memory. */
    void *(*open_decoder)(void);
    void *(*open_encoder)(int threads);
    io_step (*decode)(void *decoder, struct io_flow *flow, const char **fault);
    /* Consumes all input, or fills the output.  last: no more input follows. */
    io_step (*encode)(void *encoder, struct io_flow *flow, bool last, const char **fault);
    void (*close_decoder)(void *decoder);
    void (*close_encoder)(void *encoder);
};

extern const struct io_codec io_gzip, io_zstd;

/* NULL: not compressed. */
const struct io_codec *io_codec_from_extension(const char *path);
const struct io_codec *io_codec_from_bytes(const unsigned char *bytes, size_t n);
enum { IO_MAGIC = 4 }; /* bytes that io_codec_from_bytes() needs */

/* ---- A source: unpack.c ---- */

/* Decompresses first_bytes bytes at first, and then those that fd has, unless it is -1.  A thread
 * does this ahead of the reader; without fd, or if there is no thread, the reader does it, and the
 * first bytes must stay valid. */
io_status io_unpack_open(struct io_unpack **unpack, const struct io_codec *codec, int fd,
                         const char *name, const unsigned char *first, size_t first_bytes,
                         struct io_error *error);
/* Reads up to want bytes; 0 at the end. */
io_status io_unpack_read(struct io_unpack *unpack, void *to, size_t want, size_t *got,
                         struct io_error *error);
uint64_t io_unpack_taken(const struct io_unpack *unpack); /* compressed bytes that were read */
void io_unpack_close(struct io_unpack *unpack);           /* may be NULL */

/* ---- An output: pack.c ---- */

/* threads: for a format whose library has threads of its own. */
io_status io_pack_open(struct io_pack **pack, const struct io_codec *codec, int fd,
                       const char *name, int threads, struct io_error *error);
io_status io_pack_write(struct io_pack *pack, const char *bytes, size_t n, struct io_error *error);
/* Writes the end.  Call io_pack_close() in any case. */
io_status io_pack_finish(struct io_pack *pack, struct io_error *error);
void io_pack_close(struct io_pack *pack); /* may be NULL */

#endif
