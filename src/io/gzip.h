/*
 * io/gzip.h - the compression of gzip files; for gzip.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_GZIP_H
#define ECHELON_IO_GZIP_H

#include "io/packing.h"

/* See struct io_codec. */
void *io_gzip_open_encoder(int threads);
io_step io_gzip_encode(void *encoder, struct io_flow *flow, bool last, const char **fault);
void io_gzip_close_encoder(void *encoder);

#endif
