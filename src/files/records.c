/*
 * files/records.c - records of a fixed size with keys, for the external sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"

#include <string.h>

static const struct files_records *records_of(const struct files_kind *kind)
{
    return kind->state;
}

static size_t key_bytes(const ech_record_key *key)
{
    return key->kind == ECH_KEY_DTYPE ? ech_dtype_bytes(key->dtype) : key->width_bytes;
}

/* Byte i of a key, such that the bytes are in the order of the keys; i = 0 is the first one. */
static unsigned char key_byte(const struct files_records *records, size_t k,
                              const unsigned char *record, size_t i)
{
    const ech_record_key *key = &records->keys[k];
    const unsigned char *at = record + key->offset_bytes;
    const size_t bytes = key_bytes(key);
    unsigned char byte;
    if (key->kind == ECH_KEY_DTYPE) {
        const uint64_t rank = files_rank_of(&records->ranks[k], io_load(at, bytes));
        return (unsigned char)(rank >> 8 * (bytes - 1 - i));
    }
    byte = key->kind == ECH_KEY_BYTES ? at[i] : at[bytes - 1 - i];
    if (key->kind == ECH_KEY_SIGNED && i == 0) byte ^= 0x80;
    return key->descending ? (unsigned char)~byte : byte;
}

static uint64_t prefix(const struct files_records *records, const unsigned char *record)
{
    uint64_t value = 0;
    size_t used = 0;
    for (size_t k = 0; k < records->key_count; k++) {
        const size_t bytes = key_bytes(&records->keys[k]);
        for (size_t i = 0; i < bytes; i++) {
            value = value << 8 | key_byte(records, k, record, i);
            if (++used == sizeof value) return value;
        }
    }
    return value << 8 * (sizeof value - used);
}

static size_t scan(const struct files_kind *kind, const unsigned char *bytes, size_t n, size_t most,
                   uint32_t *lengths, uint64_t *prefixes)
{
    const struct files_records *records = records_of(kind);
    const ech_record_key *key = &records->keys[0];
    const size_t each = kind->record_bytes, count = n / each < most ? n / each : most;
    (void)lengths;
    if (!prefixes) return count;
    if (key->kind == ECH_KEY_BYTES && key->width_bytes >= 8) {
        const uint64_t flip = key->descending ? ~(uint64_t)0 : 0;
        for (size_t i = 0; i < count; i++)
            prefixes[i] =
                __builtin_bswap64(io_load(bytes + each * i + key->offset_bytes, 8)) ^ flip;
    } else if (key->kind == ECH_KEY_DTYPE && ech_dtype_bytes(key->dtype) == 8) {
        for (size_t i = 0; i < count; i++)
            prefixes[i] =
                files_rank_of(&records->ranks[0], io_load(bytes + each * i + key->offset_bytes, 8));
    } else {
        for (size_t i = 0; i < count; i++) prefixes[i] = prefix(records, bytes + each * i);
    }
    return count;
}

static int compare(const struct files_kind *kind, const unsigned char *a, size_t a_bytes,
                   const unsigned char *b, size_t b_bytes)
{
    const struct files_records *records = records_of(kind);
    (void)a_bytes, (void)b_bytes;
    for (size_t k = 0; k < records->key_count; k++) {
        const size_t bytes = key_bytes(&records->keys[k]);
        for (size_t i = 0; i < bytes; i++) {
            const int x = key_byte(records, k, a, i), y = key_byte(records, k, b, i);
            if (x != y) return x - y;
        }
    }
    return 0;
}

static size_t work_bytes(const struct files_kind *kind, size_t bytes, size_t n)
{
    const struct files_records *records = records_of(kind);
    size_t work = 0;
    if (!records->on_cpu) return bytes + 16 * n + ((size_t)64 << 10);
    ech_sort_records_workspace("cpu", n, kind->record_bytes, records->keys, records->key_count, 0,
                               &records->options, &work);
    return work + 256;
}

static io_status sort(const struct files_kind *kind, ech_ctx *ctx, struct files_block *block,
                      struct io_error *error)
{
    const struct files_records *records = records_of(kind);
    ech_columns_options options = records->options;
    if (records->on_cpu) {
        options.work = block->work;
        options.work_bytes = block->work_bytes;
    }
    const ech_status status =
        ech_sort_records(ctx, block->in, block->out, block->records, kind->record_bytes,
                         records->keys, records->key_count, &options);
    block->status = status;
    if (status == ECH_OK) return IO_OK;
    return io_fail(error, status == ECH_ERR_MEMORY ? IO_MEMORY : IO_FAIL, block->name, "%s",
                   ech_error(ctx));
}

/* ---- Positions, and big-endian elements ---- */

/* From is not below to, so that each record is moved before it is overwritten. */
static void prepare(const struct files_kind *kind, const unsigned char *from, unsigned char *to,
                    size_t n, uint64_t first)
{
    const struct files_records *records = records_of(kind);
    const size_t bytes = kind->input_bytes, swap = records->swap_bytes;
    for (size_t i = 0; i < n; i++, from += bytes, to += kind->record_bytes) {
        const uint64_t position = first + i;
        if (to != from) memmove(to, from, bytes);
        if (swap) io_swap(to, bytes / swap, swap);
        if (records->argsort) memcpy(to + bytes, &position, sizeof position);
    }
}

static void keep_positions(const struct files_kind *kind, unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memmove(at + sizeof(uint64_t) * i, at + kind->record_bytes * i + kind->input_bytes,
                sizeof(uint64_t));
}

static void swap_back(const struct files_kind *kind, unsigned char *at, size_t n)
{
    const size_t swap = records_of(kind)->swap_bytes;
    io_swap(at, n * kind->record_bytes / swap, swap);
}

void files_records_positions(struct files_records *records)
{
    struct files_kind *kind = &records->kind;
    records->argsort = true;
    kind->record_bytes = kind->input_bytes + sizeof(uint64_t);
    kind->output_bytes = sizeof(uint64_t);
    kind->prepare = prepare;
    kind->finish = keep_positions;
}

void files_records_swap(struct files_records *records, size_t element_bytes, bool back)
{
    records->swap_bytes = element_bytes;
    records->kind.prepare = prepare;
    records->kind.finish = back ? swap_back : NULL;
}

void files_records_init(struct files_records *records, size_t record_bytes,
                        const ech_record_key *keys, size_t key_count,
                        const ech_columns_options *options, const char *device)
{
    size_t all = 0;
    *records = (struct files_records){ .key_count = key_count,
                                       .options = *options,
                                       .on_cpu = strcmp(device, "cpu") == 0 };
    for (size_t k = 0; k < key_count; k++) {
        records->keys[k] = keys[k];
        all += key_bytes(&keys[k]);
        if (keys[k].kind == ECH_KEY_DTYPE)
            records->ranks[k] =
                files_make_rank(keys[k].dtype, keys[k].order, keys[k].descending != 0, true, 0, 0);
    }
    records->kind = (struct files_kind){ .name = "records",
                                         .record_bytes = record_bytes,
                                         .input_bytes = record_bytes,
                                         .output_bytes = record_bytes,
                                         .terminator = -1,
                                         .whole_prefix = all <= sizeof(uint64_t),
                                         .state = records,
                                         .scan = scan,
                                         .compare = compare,
                                         .work_bytes = work_bytes,
                                         .sort = sort };
}
