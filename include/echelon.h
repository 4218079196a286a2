/*
 * echelon.h - sorting, scans, reductions and linear algebra on NVIDIA GPUs and on the CPU.
 *
 * This header includes one header per domain; a program may include only those that it uses.
 *
 * A first program:
 *
 *     ech_ctx *ctx;
 *     if (ech_open(&ctx, NULL)) { puts(ech_error(NULL)); return 1; }
 *     if (ech_sort(ctx, keys, keys, n, ECH_F32, NULL)) puts(ech_error(ctx));
 *     ech_close(ctx);
 *
 * Conventions that hold for every function below:
 *   - Units.    n counts elements; a size in bytes is named *_bytes, in bits *_bit.
 *   - Errors.   A function that can fail returns ech_status; ech_error() then says in a sentence
 *               which argument or which driver call was at fault.  The library never prints,
 *               never exits and never aborts.
 *   - Memory.   A data pointer is host memory or memory of the context's GPU; the library finds
 *               out.  Nothing the caller passes is kept after the call's work is done.
 *   - Streams.  On a GPU context, calls whose arrays are in GPU memory are queued on the context's
 *               stream and return at once; ech_sync() waits for them.  The stream is CUDA's legacy
 *               default stream unless ech_set_stream() or ech_set_private_stream() changes it.
 *               Calls with an array in host memory return when they have finished.
 *   - Structs.  A struct that begins with `size` must have size = sizeof of its type; set all
 *               fields that you do not use to zero.  A program and a library may then be of
 *               different versions: fields that the program's header lacks are zero, and fields
 *               that the library does not know must be zero.
 *   - Threads.  One context is used by one thread at a time; different contexts are independent.
 *   - Results.  They do not depend on the number of threads, on the device or on the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_H
#define ECHELON_H

/* clang-format off: in the order of the documentation, and each after those that it needs */
#include <echelon/base.h>
#include <echelon/sort.h>
#include <echelon/reduce.h>
#include <echelon/scan.h>
#include <echelon/histogram.h>
#include <echelon/select.h>
#include <echelon/arrange.h>
#include <echelon/gf2.h>
#include <echelon/dense.h>
#include <echelon/sparse.h>
#include <echelon/solve.h>
/* clang-format on */

#endif /* ECHELON_H */
