/*
 * files/numbers.c - numbers of a dtype as records of the external sort.
 *
 * An argsort extends each number to a record: its rank as an unsigned integer of the same width,
 * and its position as u64.  If an algorithm is given, ranks and positions are sorted as keys and
 * values, because records have other algorithms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"
#include "files/sum.h"
#include "lines/lines.h"

#include <string.h>

/* ---- Ranks ---- */

struct files_rank files_make_rank(ech_dtype dtype, ech_order order, bool descending, bool merged,
                                  int begin_bit, int end_bit)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    const int width = 8 * (int)bytes, count = (end_bit ? end_bit : width) - begin_bit;
    const uint64_t top = (uint64_t)1 << (width - 1), ones = ~(uint64_t)0 >> (64 - width);
    struct files_rank r = { .bytes = bytes, .ones = ones, .begin_bit = begin_bit };
    r.sign = io_is_signed(dtype) ? top : 0;
    r.float_mask = io_is_float(dtype) ? ones : 0;
    if (io_is_float(dtype) && order == ECH_ORDER_NAN_LAST) {
        r.shift = ((uint64_t)1 << io_fraction_bits(dtype)) - 1;
        r.merged = merged;
        r.zero = top - 1 - r.shift;
        r.last = (ones - r.shift) - r.shift + 1; /* one past +inf */
    }
    r.flip = descending ? ones : 0;
    r.mask = count <= 0 ? 0 : ~(uint64_t)0 >> (64 - count);
    return r;
}

/* ---- Numbers ---- */

static const struct files_numbers *numbers_of(const struct files_kind *kind)
{
    return kind->state;
}

static size_t scan(const struct files_kind *kind, const unsigned char *bytes, size_t n, size_t most,
                   uint32_t *lengths, uint64_t *prefixes)
{
    const struct files_rank rank = numbers_of(kind)->rank;
    const size_t each = kind->record_bytes, count = n / each < most ? n / each : most;
    (void)lengths;
    if (!prefixes) return count;
#if defined(__x86_64__)
    if (each == 4 && lines_has_avx2()) {
        files_prefixes_4_avx2(&rank, bytes, count, prefixes);
        return count;
    }
#endif
    if (each == 4)
        for (size_t i = 0; i < count; i++)
            prefixes[i] = files_rank_of(&rank, io_load(bytes + 4 * i, 4));
    else if (each == 8)
        for (size_t i = 0; i < count; i++)
            prefixes[i] = files_rank_of(&rank, io_load(bytes + 8 * i, 8));
    else
        for (size_t i = 0; i < count; i++)
            prefixes[i] = files_rank_of(&rank, io_load(bytes + each * i, each));
    return count;
}

static bool same(const struct files_kind *kind, const unsigned char *a, size_t a_bytes,
                 const unsigned char *b, size_t b_bytes)
{
    const struct files_rank *rank = &numbers_of(kind)->same;
    return files_rank_of(rank, io_load(a, a_bytes)) == files_rank_of(rank, io_load(b, b_bytes));
}

static size_t work_bytes(const struct files_kind *kind, size_t bytes, size_t records)
{
    const struct files_numbers *numbers = numbers_of(kind);
    size_t work = 0;
    /* A sort on a GPU out of core needs as much host memory as the array has. */
    if (!numbers->on_cpu) return bytes + ((size_t)64 << 10);
    ech_sort_workspace("cpu", records, numbers->dtype, 0, &numbers->options, &work);
    return work + 256;
}

static io_status fail(ech_ctx *ctx, ech_status status, struct files_block *block,
                      struct io_error *error)
{
    block->status = status;
    const io_status why = status == ECH_ERR_MEMORY ? IO_MEMORY : IO_FAIL;
    return io_fail(error, why, block->name, "%s", ech_error(ctx));
}

static io_status sort(const struct files_kind *kind, ech_ctx *ctx, struct files_block *block,
                      struct io_error *error)
{
    const struct files_numbers *numbers = numbers_of(kind);
    ech_sort_options options = numbers->options;
    if (numbers->on_cpu) {
        options.work = block->work;
        options.work_bytes = block->work_bytes;
    }
    const ech_status status =
        ech_sort(ctx, block->in, block->in, block->records, numbers->dtype, &options);
    return status == ECH_OK ? IO_OK : fail(ctx, status, block, error);
}

static void swap_in(const struct files_kind *kind, const unsigned char *from, unsigned char *to,
                    size_t n, uint64_t first)
{
    (void)first;
    if (to != from) memmove(to, from, n * kind->record_bytes);
    io_swap(to, n, kind->record_bytes);
}

static void swap_out(const struct files_kind *kind, unsigned char *records, size_t n)
{
    io_swap(records, n, kind->record_bytes);
}

/* ---- Positions ---- */

static size_t scan_positions(const struct files_kind *kind, const unsigned char *bytes, size_t n,
                             size_t most, uint32_t *lengths, uint64_t *prefixes)
{
    const size_t each = kind->record_bytes, key = kind->input_bytes;
    const size_t count = n / each < most ? n / each : most;
    (void)lengths;
    for (size_t i = 0; i < count && prefixes; i++) prefixes[i] = io_load(bytes + each * i, key);
    return count;
}

static uint64_t load_swapped(const unsigned char *p, size_t bytes)
{
    return __builtin_bswap64(io_load(p, bytes)) >> (64 - 8 * bytes);
}

/* Also if from and to overlap. */
static void add_positions(const struct files_kind *kind, const unsigned char *from,
                          unsigned char *to, size_t n, uint64_t first, bool swap)
{
    const struct files_rank rank = numbers_of(kind)->rank;
    const size_t key = kind->input_bytes;
    for (size_t i = 0; i < n; i++, from += key, to += key + sizeof first) {
        const uint64_t number = swap ? load_swapped(from, key) : io_load(from, key);
        const uint64_t position = first + i;
        io_store(to, key, files_rank_of(&rank, number));
        memcpy(to + key, &position, sizeof position);
    }
}

static void prepare(const struct files_kind *kind, const unsigned char *from, unsigned char *to,
                    size_t n, uint64_t first)
{
    add_positions(kind, from, to, n, first, false);
}

static void prepare_swapped(const struct files_kind *kind, const unsigned char *from,
                            unsigned char *to, size_t n, uint64_t first)
{
    add_positions(kind, from, to, n, first, true);
}

static void keep_positions(const struct files_kind *kind, unsigned char *records, size_t n)
{
    const size_t key = kind->input_bytes;
    for (size_t i = 0; i < n; i++)
        memmove(records + sizeof(uint64_t) * i, records + kind->record_bytes * i + key,
                sizeof(uint64_t));
}

static const ech_record_key *rank_key(const struct files_numbers *numbers, ech_record_key *key)
{
    static const ech_dtype types[] = { [1] = ECH_U8, [2] = ECH_U16, [4] = ECH_U32, [8] = ECH_U64 };
    *key = (ech_record_key){ .size = sizeof *key, .dtype = types[numbers->kind.input_bytes] };
    return key;
}

static size_t positions_work(const struct files_kind *kind, size_t bytes, size_t records)
{
    ech_record_key key;
    size_t work = 0;
    rank_key(numbers_of(kind), &key);
    if (!numbers_of(kind)->on_cpu) return bytes + 16 * records + ((size_t)64 << 10);
    ech_sort_records_workspace("cpu", records, kind->record_bytes, &key, 1, 0, NULL, &work);
    return work + 256;
}

static io_status sort_positions(const struct files_kind *kind, ech_ctx *ctx,
                                struct files_block *block, struct io_error *error)
{
    ech_record_key key;
    ech_columns_options options = { .size = sizeof options };
    if (numbers_of(kind)->on_cpu) {
        options.work = block->work;
        options.work_bytes = block->work_bytes;
    }
    const ech_status status =
        ech_sort_records(ctx, block->in, block->out, block->records, kind->record_bytes,
                         rank_key(numbers_of(kind), &key), 1, &options);
    return status == ECH_OK ? IO_OK : fail(ctx, status, block, error);
}

/* Where the arrays of keys and values are in the workspace. */
static size_t values_at(const struct files_kind *kind, size_t records)
{
    return (size_t)files_round_up(records * kind->input_bytes, 256);
}

static size_t pairs_at(const struct files_kind *kind, size_t records)
{
    return values_at(kind, records) + (size_t)files_round_up(records * sizeof(uint64_t), 256);
}

static size_t pairs_work(const struct files_kind *kind, size_t bytes, size_t records)
{
    const struct files_numbers *numbers = numbers_of(kind);
    const ech_sort_options options = { .size = sizeof options,
                                       .algorithm = numbers->options.algorithm };
    ech_record_key key;
    size_t work = bytes + ((size_t)64 << 10); /* of a GPU */
    rank_key(numbers, &key);
    if (numbers->on_cpu)
        ech_sort_workspace("cpu", records, key.dtype, sizeof(uint64_t), &options, &work);
    return pairs_at(kind, records) + work + 256;
}

static io_status sort_pairs(const struct files_kind *kind, ech_ctx *ctx, struct files_block *block,
                            struct io_error *error)
{
    const struct files_numbers *numbers = numbers_of(kind);
    const size_t n = block->records, bytes = kind->input_bytes, each = kind->record_bytes;
    unsigned char *keys = block->work, *values = keys + values_at(kind, n);
    ech_sort_options options = { .size = sizeof options, .algorithm = numbers->options.algorithm };
    ech_record_key key;
    if (numbers->on_cpu) {
        options.work = keys + pairs_at(kind, n);
        options.work_bytes = block->work_bytes - pairs_at(kind, n);
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(keys + bytes * i, block->in + each * i, bytes);
        memcpy(values + sizeof(uint64_t) * i, block->in + each * i + bytes, sizeof(uint64_t));
    }
    const ech_status status =
        ech_sort_pairs(ctx, keys, values, keys, values, n, rank_key(numbers, &key)->dtype,
                       sizeof(uint64_t), &options);
    for (size_t i = 0; i < n; i++) {
        memcpy(block->out + each * i, keys + bytes * i, bytes);
        memcpy(block->out + each * i + bytes, values + sizeof(uint64_t) * i, sizeof(uint64_t));
    }
    return status == ECH_OK ? IO_OK : fail(ctx, status, block, error);
}

void files_numbers_init(struct files_numbers *numbers, ech_dtype dtype,
                        const ech_sort_options *options, bool argsort, bool swap,
                        const char *device)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    const ech_sort_options *o = options;
    const int width = o->end_bit - o->begin_bit;
    const bool part = o->end_bit && width < 8 * (int)bytes, down = o->descending != 0;
    *numbers = (struct files_numbers){ .dtype = dtype,
                                       .options = *options,
                                       .on_cpu = strcmp(device, "cpu") == 0 };
    numbers->rank = files_make_rank(dtype, o->order, down, argsort, o->begin_bit, o->end_bit);
    numbers->same =
        files_make_rank(dtype, o->order, down, argsort || !part, o->begin_bit, o->end_bit);
    numbers->kind = (struct files_kind){ .name = ech_dtype_name(dtype),
                                         .record_bytes = bytes,
                                         .input_bytes = bytes,
                                         .output_bytes = bytes,
                                         .terminator = -1,
                                         .whole_prefix = true,
                                         .in_place = true,
                                         .state = numbers,
                                         .scan = scan,
                                         .same = same,
                                         .work_bytes = work_bytes,
                                         .sort = sort,
                                         .prepare = swap ? swap_in : NULL,
                                         .finish = swap ? swap_out : NULL };
    if (bytes <= 2 && !part && !o->algorithm) numbers->kind.rank = &numbers->rank;
    if (!argsort) return;
    struct files_kind *kind = &numbers->kind;
    kind->record_bytes = bytes + sizeof(uint64_t);
    kind->output_bytes = sizeof(uint64_t);
    kind->in_place = false;
    kind->scan = scan_positions;
    kind->same = NULL;
    kind->rank = NULL;
    kind->work_bytes = o->algorithm ? pairs_work : positions_work;
    kind->sort = o->algorithm ? sort_pairs : sort_positions;
    kind->prepare = swap ? prepare_swapped : prepare;
    kind->finish = keep_positions;
}
