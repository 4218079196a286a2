/*
 * arrange/cuda/operation.c - arranges elements on the GPU, host code: selects the kernel and
 * divides the work.
 *
 *     operation                              kernel
 *     gather                                 arrange_gather; elements of several words: _move_wide
 *     scatter, shuffle                       arrange_move; elements of several words: _wide
 *     transpose                              arrange_transpose; of 4 bytes in large matrices:
 *                                            _vectors; narrow elements or words: _narrow, _quads;
 *                                            large elements: arrange_move_wide
 *     reverse                                arrange_reverse; large: _move_wide, in place _swap
 *     rotate                                 arrange_copy, of two pieces
 *     fill                                   arrange_fill; large: _put once, then _move_wide
 *     iota, permutation                      arrange_iota, arrange_permutation
 *
 * The kernels of the first three rows are in the modules arrange_w<bytes of a word>, the others in
 * arrange_line_all. None needs a workspace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/cuda/common.h"
#include "arrange/arrange.h"
#include "core/half.h"
#include "cuda/cuda.h"
#include "cuda/steps.h"
#include "arrange/cuda/gather.h"

#include <stdio.h>
#include <string.h>

enum {
    BLOCKS = 1 << 30, /* maximum per launch */
    PERSISTENT = 8    /* blocks per multiprocessor of a kernel with a long setup */
};
#define LINE_MODULE "arrange_line_all"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number of parts of `each` elements that n elements make. */
static uint64_t parts_of(uint64_t n, uint64_t each)
{
    return n / each + (n % each != 0);
}

static unsigned blocks_of(uint64_t n, uint64_t each)
{
    return (unsigned)least(parts_of(n, each), BLOCKS);
}

/* 2^32 / d rounded up, for divide() of word.cuh. */
static uint32_t inverse_of(uint32_t d)
{
    return d > 1 ? (uint32_t)((((uint64_t)1 << 32) + d - 1) / d) : 0;
}

/* ---- Launches ---- */

/* Where a call goes: to a GPU, or into a list of steps, which only describe it. */
struct target {
    struct echi_gpu gpu;
    struct echi_steps *steps; /* NULL: kernels are launched */
};

static ech_status launch(const struct target *t, const char *module, const char *kernel,
                         unsigned blocks, unsigned shared_bytes, const void *args)
{
    if (!t->steps)
        return echi_cuda_launch_pdl(t->gpu.ctx, module, kernel, blocks, ARRANGE_THREADS,
                                    shared_bytes, args);
    echi_step_add(t->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                .kind = ECHI_LAUNCH_PDL,
                                                .name = kernel,
                                                .blocks = blocks,
                                                .threads = ARRANGE_THREADS,
                                                .shared_bytes = shared_bytes,
                                                .level = -1 });
    return ECH_OK;
}

/* ---- Words ---- */

/* Launches a kernel of the module for this word size. */
static ech_status launch_words(const struct target *t, size_t word_bytes, const char *kernel,
                               unsigned blocks, unsigned shared_bytes, const void *args)
{
    char module[32];
    snprintf(module, sizeof module, "arrange_w%zu", word_bytes);
    return launch(t, module, kernel, blocks, shared_bytes, args);
}

/* A block takes several small elements, fewer if multiprocessors would otherwise have no work; or a
 * part of a large one. */
static void divide_wide(const struct target *t, struct arrange_move_args *args)
{
    args->piece_words = (uint32_t)least(args->words, ARRANGE_PIECE_WORDS);
    const uint64_t enough = parts_of(ARRANGE_THREADS, args->piece_words);
    const uint64_t share = parts_of(args->n, PERSISTENT * (uint64_t)t->gpu.multiprocessors);
    uint64_t elements = least(ARRANGE_PIECE_WORDS / args->piece_words, ARRANGE_PIECE_ELEMENTS);
    elements = least(elements, share > enough ? share : enough);
    args->piece_elements = (uint32_t)elements;
    args->pieces = parts_of(args->words, args->piece_words);
    args->inverse = inverse_of(args->piece_words);
}

/* Moves args->n elements, whose positions args->from specifies. */
static ech_status move(const struct target *t, struct arrange_move_args *args, size_t element_bytes)
{
    const size_t word = echi_opaque_align(element_bytes);
    args->words = element_bytes / word;
    if (args->words == 1 && args->from < ARRANGE_MAP && !args->scatter)
        return launch_words(t, word, "arrange_gather",
                            blocks_of(args->n, ARRANGE_THREADS * ARRANGE_GATHER_WORDS), 0, args);
    if (args->words == 1 && args->from <= ARRANGE_MAP)
        return launch_words(t, word, "arrange_move",
                            blocks_of(args->n, ARRANGE_THREADS * ARRANGE_MOVE_WORDS(word)), 0,
                            args);
    divide_wide(t, args);
    const uint64_t units = parts_of(args->n, args->piece_elements) * args->pieces;
    return launch_words(t, word, "arrange_move_wide", blocks_of(units, 1), 0, args);
}

ech_status echi_cuda_gather(ech_ctx *ctx, const void *in, const void *index, int index_bytes,
                            void *out, uint64_t n, size_t element_bytes)
{
    struct arrange_move_args args = { .in = in,
                                      .out = out,
                                      .index = index,
                                      .n = n,
                                      .limit = UINT64_MAX,
                                      .from = index_bytes == 4 ? ARRANGE_INDEX_U32
                                                               : ARRANGE_INDEX_U64 };
    const struct target target = { .gpu = echi_gpu_of(ctx) };
    return move(&target, &args, element_bytes);
}

static ech_status by_index(const struct target *t, const struct echi_arrange *a)
{
    struct arrange_move_args args = {
        .in = a->in,
        .out = a->out,
        .index = a->index,
        .data_error = t->steps ? NULL : echi_cuda_error_word(t->gpu.ctx),
        .n = a->n,
        .limit = a->limit,
        .from = a->index_bytes == 4 ? ARRANGE_INDEX_U32 : ARRANGE_INDEX_U64,
        .scatter = a->what == ECHI_SCATTER
    };
    return move(t, &args, a->element_bytes);
}

static ech_status shuffle(const struct target *t, const struct echi_arrange *a)
{
    struct arrange_move_args args = {
        .in = a->in, .out = a->out, .n = a->n, .from = ARRANGE_MAP, .map = a->map
    };
    return move(t, &args, a->element_bytes);
}

/* ---- Tiles ---- */

/* Tiles are square, or consist of whole rows or columns if these are short; they are small if there
 * are too few tiles for all multiprocessors. room: elements of a tile. */
static void shape_tile(const struct target *t, struct arrange_transpose_args *args, uint64_t room)
{
    const uint64_t elements = args->rows * args->columns;
    uint64_t edge = 1;
    if (room >= 1024 && elements / room < 2 * (uint64_t)t->gpu.multiprocessors) room /= 4;
    while (4 * edge * edge <= room) edge *= 2;
    /* NOLINTBEGIN(clang-analyzer-core.DivideZero): a call that runs has rows and columns */
    uint64_t columns = least(args->columns, edge), rows = least(args->rows, room / columns);
    if (rows < edge) columns = least(args->columns, room / rows);
    /* NOLINTEND(clang-analyzer-core.DivideZero) */
    if (rows > 32 && rows < args->rows)
        rows -= rows % 32; /* each column of the tile then begins at a sector */
    args->tile_rows = (uint32_t)rows;
    args->tile_columns = (uint32_t)columns;
    args->inverse_words = inverse_of(args->words);
    args->tiles_across = parts_of(args->columns, columns);
    args->tiles = args->tiles_across * parts_of(args->rows, rows);
}

/* Tiles that are moved by words; returns their bytes of shared memory. */
static size_t tile_of_words(const struct target *t, struct arrange_transpose_args *args,
                            size_t word_bytes)
{
    const uint64_t words = ARRANGE_THREADS * (unsigned)ARRANGE_TILE_WORDS(word_bytes);
    shape_tile(t, args, words / args->words);
    args->pitch = args->tile_columns | 1;
    args->inverse_row = inverse_of(args->tile_columns * args->words);
    args->inverse_column = inverse_of(args->tile_rows * args->words);
    return (size_t)args->tile_rows * args->pitch * args->words * word_bytes;
}

/* Tiles that are moved by quads; returns their bytes of shared memory, or 0: rows or columns of the
 * tiles are too short, or moving words is faster (one word of two bytes). */
static size_t tile_of_quads(const struct target *t, struct arrange_transpose_args *args,
                            size_t word_bytes)
{
    const size_t element = args->words * word_bytes;
    if (word_bytes > 2 || (word_bytes == 2 && args->words == 1)) return 0;
    shape_tile(t, args, ARRANGE_QUADS_TILE / element);
    const uint64_t shorter = least(args->tile_rows, args->tile_columns);
    const uint32_t across = arrange_quads(args->tile_columns * args->words, (uint32_t)word_bytes);
    const uint32_t down = arrange_quads(args->tile_rows * args->words, (uint32_t)word_bytes);
    const uint32_t most = ARRANGE_QUADS * ARRANGE_THREADS;
    if (shorter * element < ARRANGE_QUADS_LEAST || args->tile_rows * across > most ||
        args->tile_columns * down > most)
        return 0;
    args->pitch = across | 1;
    args->inverse_row = inverse_of(across);
    args->inverse_column = inverse_of(down);
    return (size_t)args->tile_rows * args->pitch * 4;
}

/* Whether a matrix and its transpose do not fit the L2 cache, from the largest power of two on that
 * it holds.  Measured on an H200, whose bound is 32 MiB; not measured on other GPUs. */
static bool is_large(const struct target *t, const struct echi_arrange *a)
{
    uint64_t bound = 1;
    while (2 * bound <= t->gpu.l2_bytes) bound *= 2;
    return a->rows * a->columns * a->element_bytes >= bound;
}

/* Elements of 1 or 2 bytes whose rows begin at multiples of four in both matrices. With too few of
 * them per row or column most of a tile would be empty. */
static bool goes_narrow(const struct echi_arrange *a)
{
    const uint64_t places = (uintptr_t)a->in | (uintptr_t)a->out;
    const uint64_t row_bytes = a->columns * a->element_bytes;
    const uint64_t column_bytes = a->rows * a->element_bytes;
    return a->element_bytes <= 2 && (places | row_bytes | column_bytes) % 4 == 0 &&
           least(row_bytes, column_bytes) >= ARRANGE_NARROW_BYTES / 2;
}

/* Large matrices of elements of 4 bytes whose rows begin at multiples of 16 bytes in both. */
static bool goes_vectors(const struct target *t, const struct echi_arrange *a)
{
    const uint64_t places = (uintptr_t)a->in | (uintptr_t)a->out;
    return a->element_bytes == 4 && (places | 4 * a->columns | 4 * a->rows) % 16 == 0 &&
           least(a->rows, a->columns) >= ARRANGE_VECTOR_EDGE && is_large(t, a);
}

static ech_status transpose(const struct target *t, const struct echi_arrange *a)
{
    const size_t word = echi_opaque_align(a->element_bytes);
    if (a->element_bytes >= ARRANGE_TILE_BYTES) {
        struct arrange_move_args wide = { .in = a->in,
                                          .out = a->out,
                                          .n = a->n,
                                          .rows = a->rows,
                                          .columns = a->columns,
                                          .from = ARRANGE_TURN };
        return move(t, &wide, a->element_bytes);
    }
    struct arrange_transpose_args args = { .in = a->in,
                                           .out = a->out,
                                           .rows = a->rows,
                                           .columns = a->columns,
                                           .words = (uint32_t)(a->element_bytes / word),
                                           .streams = is_large(t, a) };
    if (goes_vectors(t, a)) {
        args.tiles_across = parts_of(a->columns, ARRANGE_VECTOR_EDGE);
        args.tiles = args.tiles_across * parts_of(a->rows, ARRANGE_VECTOR_EDGE);
        return launch_words(t, word, "arrange_transpose_vectors", blocks_of(args.tiles, 1), 0,
                            &args);
    }
    if (goes_narrow(a)) {
        const uint64_t edge = ARRANGE_NARROW_BYTES / a->element_bytes;
        args.tiles_across = parts_of(a->columns, edge);
        args.tiles = args.tiles_across * parts_of(a->rows, edge);
        return launch_words(t, word, "arrange_transpose_narrow", blocks_of(args.tiles, 1), 0,
                            &args);
    }
    const size_t quads = tile_of_quads(t, &args, word);
    const size_t bytes = quads ? quads : tile_of_words(t, &args, word);
    return launch_words(t, word, quads ? "arrange_transpose_quads" : "arrange_transpose",
                        blocks_of(args.tiles, 1), (unsigned)bytes, &args);
}

static ech_status reverse_large(const struct target *t, const struct echi_arrange *a)
{
    const size_t word = echi_opaque_align(a->element_bytes);
    struct arrange_move_args args = {
        .in = a->in, .out = a->out, .n = a->n, .limit = a->n, .from = ARRANGE_MIRROR
    };
    if (a->in != a->out) return move(t, &args, a->element_bytes);
    args.n = a->n / 2;
    args.words = a->element_bytes / word;
    divide_wide(t, &args);
    return launch_words(t, word, "arrange_swap", blocks_of(args.n * args.pieces, 1), 0, &args);
}

static ech_status reverse(const struct target *t, const struct echi_arrange *a)
{
    const size_t bytes = a->element_bytes, word = echi_opaque_align(bytes);
    const bool in_place = a->in == a->out;
    const uint64_t n = in_place ? a->n / 2 : a->n;
    if (n == 0) return ECH_OK;
    if (bytes > ARRANGE_SMALL_BYTES) return reverse_large(t, a);
    /* Tiles begin at multiples of 16 elements, so all have the same offset from words of 16
     * bytes. */
    const size_t room = in_place ? ARRANGE_REVERSE_BYTES / 2 : ARRANGE_REVERSE_BYTES;
    const uint32_t tile = (uint32_t)(room / bytes / 16 * 16);
    struct arrange_reverse_args args = { .in = a->in,
                                         .out = a->out,
                                         .n = a->n,
                                         .words = (uint32_t)(bytes / word),
                                         .tile = tile,
                                         .in_place = in_place };
    args.inverse = inverse_of(args.words);
    /* A span begins at most 15 bytes after a word of 16 bytes, and its end is rounded up to such a
     * word. */
    const size_t span = (tile * bytes + 31) / 16 * 16;
    return launch_words(t, word, "arrange_reverse", blocks_of(n, tile),
                        (unsigned)(in_place ? 2 * span : span), &args);
}

/* ---- Lines ---- */

static ech_status launch_line(const struct target *t, const char *kernel, uint64_t blocks,
                              const void *args)
{
    return launch(t, LINE_MODULE, kernel, (unsigned)least(blocks, BLOCKS), 0, args);
}

/* Blocks of a kernel whose threads loop over the work, 16 bytes at a time. */
static uint64_t persistent_blocks(const struct target *t, uint64_t bytes)
{
    return least(parts_of(bytes, 16 * ARRANGE_THREADS),
                 PERSISTENT * (uint64_t)t->gpu.multiprocessors);
}

static ech_status rotate(const struct target *t, const struct echi_arrange *a)
{
    const uint64_t bytes = (uint64_t)a->n * a->element_bytes;
    const uint64_t by = (uint64_t)a->by * a->element_bytes;
    const uint64_t each = 16 * ARRANGE_LINE_WORDS * ARRANGE_THREADS;
    const char *in = a->in;
    char *out = a->out;
    struct arrange_copy_args args = { .pieces = { { in + by, out, bytes - by },
                                                  { in, out + (bytes - by), by } } };
    for (int i = 0; i < 2; i++)
        args.blocks[i] = (uint32_t)least(parts_of(args.pieces[i].bytes, each), BLOCKS / 2);
    return launch_line(t, "arrange_copy", args.blocks[0] + args.blocks[1], &args);
}

/* The first element is passed as kernel arguments, in several launches; all others are copies of
 * it. */
static ech_status fill_large(const struct target *t, const struct echi_arrange *a)
{
    struct arrange_put_args put;
    ech_status status = ECH_OK;
    for (size_t at = 0; at < a->element_bytes; at += put.bytes) {
        put.out = (char *)a->out + at;
        put.bytes = (uint32_t)least(a->element_bytes - at, ARRANGE_PUT_BYTES);
        if (a->value) memcpy(put.from, (const char *)a->value + at, put.bytes);
        TRY(launch_line(t, "arrange_put", 1, &put));
    }
    struct arrange_move_args args = {
        .in = a->out, .out = (char *)a->out + a->element_bytes, .n = a->n - 1, .from = ARRANGE_FIRST
    };
    if (args.n) TRY(move(t, &args, a->element_bytes));
done:
    return status;
}

static ech_status fill(const struct target *t, const struct echi_arrange *a)
{
    const uint32_t bytes = (uint32_t)a->element_bytes;
    if (a->element_bytes > ARRANGE_SMALL_BYTES) return fill_large(t, a);
    struct arrange_fill_args args = { .out = a->out,
                                      .bytes = (uint64_t)a->n * bytes,
                                      .element_bytes = bytes,
                                      .period = bytes / (uint32_t)echi_opaque_align(bytes) };
    memcpy(args.element, a->value, bytes);
    /* At least as many threads are needed as a period has words. */
    const uint64_t enough = parts_of(args.period, ARRANGE_THREADS);
    const uint64_t blocks = persistent_blocks(t, args.bytes);
    return launch_line(t, "arrange_fill", blocks < enough ? enough : blocks, &args);
}

static ech_status iota(const struct target *t, const struct echi_arrange *a)
{
    static const uint32_t integers[] = {
        [1] = ARRANGE_U8, [2] = ARRANGE_U16, [4] = ARRANGE_U32, [8] = ARRANGE_U64
    };
    static const uint32_t floats[] = { [ECH_F16] = ARRANGE_F16,
                                       [ECH_BF16] = ARRANGE_BF16,
                                       [ECH_F32] = ARRANGE_F32,
                                       [ECH_F64] = ARRANGE_F64 };
    struct arrange_iota_args args = { .out = a->out,
                                      .n = a->n,
                                      .start = a->start,
                                      .step = a->step,
                                      .kind = echi_dtype_is_float(a->dtype)
                                                  ? floats[a->dtype]
                                                  : integers[a->element_bytes] };
    if (args.kind == ARRANGE_F16) {
        args.start = echi_bits_of_f32(echi_f32_of_f16((uint32_t)a->start));
        args.step = echi_bits_of_f32(echi_f32_of_f16((uint32_t)a->step));
    } else if (args.kind == ARRANGE_BF16) {
        args.start = a->start << 16;
        args.step = a->step << 16;
    }
    return launch_line(t, "arrange_iota",
                       parts_of((uint64_t)a->n * a->element_bytes, 16 * ARRANGE_THREADS), &args);
}

static ech_status permutation(const struct target *t, const struct echi_arrange *a)
{
    struct arrange_permutation_args args = { .out = a->out,
                                             .n = a->n,
                                             .first = a->first,
                                             .bytes = (uint32_t)a->element_bytes,
                                             .map = a->map };
    return launch_line(t, "arrange_permutation", parts_of(a->n, ARRANGE_THREADS), &args);
}

static ech_status convert_index(const struct target *t, const struct echi_arrange *a)
{
    struct arrange_convert_args args = {
        .in = a->in, .out = a->out, .n = a->n, .narrow = a->element_bytes == 4
    };
    return launch_line(t, "arrange_convert", parts_of(a->n, ARRANGE_THREADS), &args);
}

/* ---- The operation ---- */

static ech_status cuda_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    (void)request;
    *bytes = 0;
    return ECH_OK;
}

static ech_status arrange(const struct target *t, const struct echi_arrange *a)
{
    static ech_status (*const runs[])(const struct target *t, const struct echi_arrange *a) = {
        [ECHI_GATHER] = by_index,     [ECHI_SCATTER] = by_index,
        [ECHI_REVERSE] = reverse,     [ECHI_ROTATE] = rotate,
        [ECHI_TRANSPOSE] = transpose, [ECHI_FILL] = fill,
        [ECHI_IOTA] = iota,           [ECHI_PERMUTATION] = permutation,
        [ECHI_SHUFFLE] = shuffle,     [ECHI_CONVERT_INDEX] = convert_index,
    };
    return a->n ? runs[a->what](t, a) : ECH_OK;
}

static ech_status cuda_run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct target target = { .gpu = echi_gpu_of(ctx) };
    (void)plan;
    (void)work;
    return arrange(&target, request);
}

static ech_status cuda_explain(const void *request, struct echi_explain *e)
{
    static const char zeros[ARRANGE_SMALL_BYTES];
    struct echi_arrange a = *(const struct echi_arrange *)request;
    struct echi_steps steps = { 0 };
    const struct target target = { .gpu = echi_gpu_of(NULL), .steps = &steps };
    a.value = a.element_bytes <= sizeof zeros ? zeros : NULL;
    const ech_status status = arrange(&target, &a);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, a.n ? "kernels" : "empty",
                           a.n ? "elements are moved as words of 1 to 16 bytes"
                               : "there are no elements");
    echi_explain_steps(e, &steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_arrange = { .plan = cuda_workspace,
                                                  .explain = cuda_explain,
                                                  .run = cuda_run };
