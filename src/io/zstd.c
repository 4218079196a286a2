/*
 * io/zstd.c - Zstandard files (RFC 8878) through libzstd.
 *
 * A frame may require a window of at most 128 MiB, the default limit of libzstd: "zstd --long=28"
 * and more exceed it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/packing.h"

#include <stdlib.h>

/* A frame, or one that decoders skip. */
static bool is_zstd(const unsigned char *bytes, size_t n)
{
    if (n < 4) return false;
    const uint32_t magic =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    return magic == 0xFD2FB528u || (magic & 0xFFFFFFF0u) == 0x184D2A50u;
}

#ifdef ECHELON_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

enum { LEVEL = 3, MOST_WORKERS = 4 };

struct encoder {
    ZSTD_CCtx *z;
    bool begun;
};

static void *open_decoder(void)
{
    return ZSTD_createDCtx();
}

static void close_decoder(void *decoder)
{
    ZSTD_freeDCtx(decoder);
}

static void *open_encoder(int threads)
{
    struct encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->z = ZSTD_createCCtx();
    if (!encoder->z) {
        free(encoder);
        return NULL;
    }
    ZSTD_CCtx_setParameter(encoder->z, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(encoder->z, ZSTD_c_checksumFlag, 1);
    /* Fails, without a consequence, if libzstd was built without threads. */
    ZSTD_CCtx_setParameter(encoder->z, ZSTD_c_nbWorkers,
                           threads < MOST_WORKERS ? threads : MOST_WORKERS);
    return encoder;
}

static void close_encoder(void *state)
{
    struct encoder *encoder = state;
    ZSTD_freeCCtx(encoder->z);
    free(encoder);
}

static io_step fail(size_t result, const char **fault)
{
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
    if (code == ZSTD_error_memory_allocation) return IO_STEP_MEMORY;
    *fault = ZSTD_getErrorString(code);
    if (code == ZSTD_error_frameParameter_windowTooLarge)
        *fault = "a frame requires a window of more than 128 MiB; decompress the file with \"zstd "
                 "-dc --long=31\"";
    return IO_STEP_BAD;
}

static io_step decode(void *decoder, struct io_flow *flow, const char **fault)
{
    ZSTD_inBuffer in = { flow->in, flow->in_bytes, 0 };
    ZSTD_outBuffer out = { flow->out, flow->out_bytes, 0 };
    const size_t result = ZSTD_decompressStream(decoder, &out, &in);
    flow->in += in.pos;
    flow->in_bytes -= in.pos;
    flow->out += out.pos;
    flow->out_bytes -= out.pos;
    if (ZSTD_isError(result)) return fail(result, fault);
    return result ? IO_STEP_MORE : IO_STEP_END;
}

static io_step encode(void *state, struct io_flow *flow, bool last, const char **fault)
{
    struct encoder *encoder = state;
    ZSTD_inBuffer in = { flow->in, flow->in_bytes, 0 };
    ZSTD_outBuffer out = { flow->out, flow->out_bytes, 0 };
    const ZSTD_EndDirective end = last ? ZSTD_e_end : ZSTD_e_continue;
    size_t result = ZSTD_compressStream2(encoder->z, &out, &in, end);
    if (ZSTD_isError(result) && !encoder->begun) { /* libzstd may have failed to create threads */
        in.pos = out.pos = 0;
        ZSTD_CCtx_reset(encoder->z, ZSTD_reset_session_only);
        ZSTD_CCtx_setParameter(encoder->z, ZSTD_c_nbWorkers, 0);
        result = ZSTD_compressStream2(encoder->z, &out, &in, end);
    }
    encoder->begun = true;
    flow->in += in.pos;
    flow->in_bytes -= in.pos;
    flow->out += out.pos;
    flow->out_bytes -= out.pos;
    if (ZSTD_isError(result)) return fail(result, fault);
    return last && !result ? IO_STEP_END : IO_STEP_MORE;
}
#endif

const struct io_codec io_zstd = {
    .name = "zstd",
    .extension = "zst",
    .library = "libzstd",
    .package = "libzstd-dev",
    .program = "zstd",
    .is = is_zstd,
#ifdef ECHELON_ZSTD
    .open_decoder = open_decoder,
    .open_encoder = open_encoder,
    .decode = decode,
    .encode = encode,
    .close_decoder = close_decoder,
    .close_encoder = close_encoder,
#endif
};
