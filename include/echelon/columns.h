/*
 * echelon/columns.h - sorts by several columns: the lexicographic order of the rows of a table;
 * sorts of records of a fixed size.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_COLUMNS_H
#define ECHELON_COLUMNS_H

#include <echelon/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the elements of a column, or of a key of records, are. */
typedef enum ech_key_kind {
    /* elements of dtype */
    ECH_KEY_DTYPE = 0,
    /* strings of width_bytes bytes, in the order of memcmp(): UUIDs, hashes, big-endian integers,
     * text of a fixed width */
    ECH_KEY_BYTES = 1,
    /* unsigned integers of width_bytes bytes, the least significant byte first: of 128 bits, ... */
    ECH_KEY_UNSIGNED = 2,
    /* the same in two's complement: decimals of Apache Arrow */
    ECH_KEY_SIGNED = 3
} ech_key_kind;

/* A column of a table and how its elements are compared.  Zero is the default of every field
 * except size, data and dtype. */
typedef struct ech_sort_column {
    size_t size;      /* sizeof(ech_sort_column) */
    const void *data; /* [n] of dtype */
    ech_dtype dtype;
    int descending;          /* 0: ascending; 1: descending */
    ech_order order;         /* the order of floats, as in sorts */
    int nulls_first;         /* 0: nulls are after all other elements; 1: before.  This does not
                                depend on descending */
    const uint8_t *validity; /* NULL: no nulls.  Otherwise a bitmap as in Apache Arrow: element i
                                is null if bit (validity_offset + i) % 8 of byte (validity_offset +
                                i) / 8 is 0 */
    size_t validity_offset;
    ech_key_kind kind;   /* other than ECH_KEY_DTYPE: dtype and order have no effect */
    size_t width_bytes;  /* of an element; with ECH_KEY_DTYPE, 0 or that of dtype */
    size_t stride_bytes; /* from one element to the next; 0: width_bytes */
} ech_sort_column;

/* Options of a sort by columns.  Zero is the default of every field except size. */
typedef struct ech_columns_options {
    size_t size;           /* sizeof(ech_columns_options) */
    const char *algorithm; /* one that ech_argsort_columns_explain() lists; NULL: the library
                              chooses */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_argsort_columns_workspace() returns */
} ech_columns_options;

/*
 * ech_argsort_columns() writes the permutation that sorts the rows of a table: by the first column,
 * equal elements of it by the second column, and so on.  It is stable: indices[i] is the position
 * of the i-th row of the sorted sequence, and equal rows are in the order of their positions.  The
 * result is therefore unique.
 *
 * Elements are compared as ech_argsort() compares them: -0 equals +0, all NaN are equal and the
 * largest, unless the order is ECH_ORDER_TOTAL.  Nulls of a column are equal, and their elements in
 * data have no effect.  NaN is not null.
 *
 *   columns  [column_count] in host memory, which need not be valid after the call.  Each has the
 *            same size.  Data and bitmaps are not modified, and may each be in host memory or in
 *            memory of the context's GPU.  Elements of dtype without stride_bytes are aligned;
 *            others need no alignment.  All elements of a row have at most 512 bytes together
 *   indices  [n] of index_dtype; must not overlap a column
 *   column_count  1 to 16
 *   index_dtype   ECH_I32, ECH_U32, ECH_I64 or ECH_U64, which must be able to represent n - 1
 *   options  NULL for the defaults
 *
 * If n is 0, the call does nothing, and indices, data and validity may be NULL.  ECH_ERR_ARG and
 * ECH_ERR_MEMORY are returned before anything is written.  After ECH_ERR_DEVICE the contents of
 * indices are undefined.
 */
ECH_API ech_status ech_argsort_columns(ech_ctx *ctx, const ech_sort_column *columns, void *indices,
                                       size_t n, size_t column_count, ech_dtype index_dtype,
                                       const ech_columns_options *options);

/*
 * ech_argsort_columns_workspace() returns how many bytes of workspace a sort by columns needs.
 * ech_argsort_columns_explain() describes, as ech_sort_explain() does, how it would be done.
 *
 *   device   as for ech_sort_workspace()
 *   columns  [column_count], as above.  The elements are not read: data may be NULL, and validity
 *            may be any pointer that is not NULL if the column has a bitmap
 *   bytes    [1] receives the size
 *   text     [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_argsort_columns_workspace(const char *device, const ech_sort_column *columns,
                                                 size_t n, size_t column_count,
                                                 ech_dtype index_dtype,
                                                 const ech_columns_options *options, size_t *bytes);
ECH_API ech_status ech_argsort_columns_explain(const char *device, const ech_sort_column *columns,
                                               size_t n, size_t column_count, ech_dtype index_dtype,
                                               const ech_columns_options *options,
                                               ech_format format, char *text,
                                               size_t capacity_bytes);

/* A key of records: where it is in a record, and how it is compared.  Zero is the default of every
 * field except size and dtype. */
typedef struct ech_record_key {
    size_t size;         /* sizeof(ech_record_key) */
    size_t offset_bytes; /* of its first byte in the record, which needs no alignment */
    ech_key_kind kind;
    ech_dtype dtype;    /* with ECH_KEY_DTYPE */
    size_t width_bytes; /* with other kinds */
    int descending;     /* 0: ascending; 1: descending */
    ech_order order;    /* the order of floats, as in sorts */
} ech_record_key;

/*
 * ech_sort_records() sorts records of record_bytes bytes, which may have any contents: by the first
 * key, records with equal first keys by the second one, and so on.  It is stable: records with
 * equal keys keep their order.  Keys are compared as ech_argsort_columns() compares elements.
 *
 *   records      [n] records, not modified unless records_out is records
 *   records_out  [n] records; may be records, but must not overlap it otherwise
 *   record_bytes 1 to 2^32 - 1.  Records in GPU memory are aligned to the largest power of two, at
 *                most 16, that divides record_bytes; records in host memory need no alignment
 *   keys         [key_count] in host memory, which need not be valid after the call.  Each has the
 *                same size.  Keys may overlap.  All keys have at most 512 bytes together
 *   key_count    1 to 16
 *   options      NULL for the defaults
 *
 * If n is 0, the call does nothing, and records and records_out may be NULL.  ECH_ERR_ARG and
 * ECH_ERR_MEMORY are returned before anything is written.  After ECH_ERR_DEVICE the contents of
 * records_out are undefined.
 */
ECH_API ech_status ech_sort_records(ech_ctx *ctx, const void *records, void *records_out, size_t n,
                                    size_t record_bytes, const ech_record_key *keys,
                                    size_t key_count, const ech_columns_options *options);

/*
 * ech_sort_records_workspace() returns how many bytes of workspace a sort of records needs.
 * ech_sort_records_explain() describes, as ech_sort_explain() does, how it would be done.
 *
 *   device    as for ech_sort_workspace()
 *   in_place  0, or 1 if records_out is records: the workspace then contains a copy of the records
 *   bytes     [1] receives the size
 *   text      [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_sort_records_workspace(const char *device, size_t n, size_t record_bytes,
                                              const ech_record_key *keys, size_t key_count,
                                              int in_place, const ech_columns_options *options,
                                              size_t *bytes);
ECH_API ech_status ech_sort_records_explain(const char *device, size_t n, size_t record_bytes,
                                            const ech_record_key *keys, size_t key_count,
                                            int in_place, const ech_columns_options *options,
                                            ech_format format, char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_COLUMNS_H */
