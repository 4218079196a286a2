/*
 * echelon.h - sorting, scans, reductions and linear algebra on NVIDIA GPUs and on the CPU.
 *
 * This header includes one header per domain.  A program may include only those that it uses.
 *
 * A first program:
 *
 *     ech_ctx *ctx;
 *     if (ech_open(&ctx, NULL)) { puts(ech_error(NULL)); return 1; }
 *     if (ech_sort(ctx, keys, keys, n, ECH_F32, NULL)) puts(ech_error(ctx));
 *     ech_close(ctx);
 *
 * These conventions hold for every function, unless its comment states otherwise:
 *   - Units.    n counts elements.  Sizes in bytes are named *_bytes, positions of bits *_bit.
 *   - Shapes.   [n] in the description of a parameter is an array of n elements; [rows][columns] is
 *               an array in row-major order; [1] is a single value.
 *   - Errors.   A function that can fail returns ech_status.  ech_error() then returns a message
 *               that names the argument or the driver call that failed.  The library never prints,
 *               exits or aborts.
 *   - Memory.   A data pointer may point to host memory or to memory of the context's GPU; the
 *               library determines which.  The caller owns every array.  The library does not use a
 *               pointer of the caller after the work of the call has finished.
 *   - Streams.  On a GPU context, calls whose arrays are all in GPU memory are queued on the
 *               context's stream and return at once; ech_sync() waits for them.  The stream is
 *               CUDA's legacy default stream unless ech_set_stream() or ech_set_private_stream()
 *               selects another one.  Calls with an array in host memory return when they have
 *               finished.
 *   - Structs.  A struct that begins with `size` must have size = sizeof of its type.  Set all
 *               fields that you do not use to zero.  The program and the library may then have
 *               different versions: fields that the program's header lacks count as zero, and
 *               fields that the library does not know must be zero.
 *   - Threads.  One thread at a time may use a context.  Different contexts are independent.
 *   - Results.  Results do not depend on the number of threads, on the device or on the run.
 *               Exceptions are the products and factorizations of other libraries
 *               (echelon/dense.h, echelon/sparse_direct.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_H
#define ECHELON_H

/* clang-format off: in the order of the documentation; each header follows those that it needs */
#include <echelon/base.h>
#include <echelon/sort.h>
#include <echelon/reduce.h>
#include <echelon/scan.h>
#include <echelon/histogram.h>
#include <echelon/select.h>
#include <echelon/topk.h>
#include <echelon/merge.h>
#include <echelon/set.h>
#include <echelon/search.h>
#include <echelon/columns.h>
#include <echelon/strings.h>
#include <echelon/unique.h>
#include <echelon/quantile.h>
#include <echelon/arrange.h>
#include <echelon/gf2.h>
#include <echelon/dense.h>
#include <echelon/sparse.h>
#include <echelon/sparse_direct.h>
#include <echelon/solve.h>
#include <echelon/comm.h>
#include <echelon/dist.h>
#include <echelon/dist_linear.h>
/* clang-format on */

#endif /* ECHELON_H */
