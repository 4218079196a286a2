# sys.jl - the declarations of echelon.h that the module uses. The header documents them.
#
# bindings/check_abi.py compares this file with include/abi.txt: names, types and order of parameters, values, fields
# and their offsets. It ignores an underscore after a name.
#
# SPDX-License-Identifier: Apache-2.0

const ECH_OK = Cint(0)
const ECH_ERR_ARG = Cint(1)
const ECH_ERR_UNSUPPORTED = Cint(2)
const ECH_ERR_MEMORY = Cint(3)
const ECH_ERR_NO_DEVICE = Cint(4)
const ECH_ERR_DEVICE = Cint(5)
const ECH_ERR_CANCELED = Cint(6)
const ECH_ERR_COMM = Cint(7)

const ECH_I8 = Cint(0)
const ECH_I16 = Cint(1)
const ECH_I32 = Cint(2)
const ECH_I64 = Cint(3)
const ECH_U8 = Cint(4)
const ECH_U16 = Cint(5)
const ECH_U32 = Cint(6)
const ECH_U64 = Cint(7)
const ECH_F16 = Cint(8)
const ECH_F32 = Cint(10)
const ECH_F64 = Cint(11)

const ECH_ORDER_NAN_LAST = Cint(0)
const ECH_ORDER_TOTAL = Cint(1)

const ECH_OP_SUM = Cint(0)
const ECH_OP_PRODUCT = Cint(1)
const ECH_OP_MIN = Cint(2)
const ECH_OP_MAX = Cint(3)
const ECH_OP_AND = Cint(4)
const ECH_OP_OR = Cint(5)
const ECH_OP_XOR = Cint(6)
const ECH_OP_MEAN = Cint(13)

struct ech_sort_options
    size::Csize_t
    descending::Cint
    order::Cint
    begin_bit::Cint
    end_bit::Cint
    algorithm::Cstring
    work::Ptr{Cvoid}
    work_bytes::Csize_t
    row_stride::Csize_t
    element_stride::Csize_t
    out_row_stride::Csize_t
    out_element_stride::Csize_t
end

struct ech_topk_options
    size::Csize_t
    smallest::Cint
    unsorted::Cint
    order::Cint
    counts::Ptr{Cvoid}
    counts_dtype::Cint
    row_stride::Csize_t
    element_stride::Csize_t
    out_row_stride::Csize_t
    out_element_stride::Csize_t
    algorithm::Cstring
    work::Ptr{Cvoid}
    work_bytes::Csize_t
end

struct ech_scan_options
    size::Csize_t
    exclusive::Cint
    reverse::Cint
    accumulate_wide::Cint
    nan::Cint
    init::Ptr{Cvoid}
    work::Ptr{Cvoid}
    work_bytes::Csize_t
end

struct ech_sort_column
    size::Csize_t
    data::Ptr{Cvoid}
    dtype::Cint
    descending::Cint
    order::Cint
    nulls_first::Cint
    validity::Ptr{UInt8}
    validity_offset::Csize_t
    kind::Cint
    width_bytes::Csize_t
    stride_bytes::Csize_t
end

# A struct with its size set and zero in all other fields, except those that are given.
function init(::Type{T}; fields...) where {T}
    zero_of(type) = type === Cstring ? Cstring(C_NULL) : type <: Ptr ? type(C_NULL) : type(0)
    value(name) = name === :size ? sizeof(T) : get(fields, name, zero_of(fieldtype(T, name)))
    return T(map(value, fieldnames(T))...)
end

ech_open(ctx, device) = ccall((:ech_open, library), Cint, (Ptr{Ptr{Cvoid}}, Cstring), ctx, device)
ech_close(ctx) = ccall((:ech_close, library), Cvoid, (Ptr{Cvoid},), ctx)
ech_error(ctx) = ccall((:ech_error, library), Cstring, (Ptr{Cvoid},), ctx)
ech_device_name(ctx) = ccall((:ech_device_name, library), Cstring, (Ptr{Cvoid},), ctx)
ech_version() = ccall((:ech_version, library), Cstring, ())
ech_set_threads(ctx, threads) =
    ccall((:ech_set_threads, library), Cint, (Ptr{Cvoid}, Cint), ctx, threads)
ech_sort(ctx, in_, out, n, dtype, options) =
    ccall((:ech_sort, library), Cint,
          (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Cint, Ref{ech_sort_options}),
          ctx, in_, out, n, dtype, options)
ech_sort_pairs(ctx, keys_in, values_in, keys_out, values_out, n, dtype, value_bytes, options) =
    ccall((:ech_sort_pairs, library), Cint,
          (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Cint, Csize_t,
           Ref{ech_sort_options}),
          ctx, keys_in, values_in, keys_out, values_out, n, dtype, value_bytes, options)
ech_argsort(ctx, keys, index, n, dtype, index_dtype, options) =
    ccall((:ech_argsort, library), Cint,
          (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Cint, Cint, Ref{ech_sort_options}),
          ctx, keys, index, n, dtype, index_dtype, options)
ech_argsort_columns(ctx, columns, indices, n, column_count, index_dtype, options) =
    ccall((:ech_argsort_columns, library), Cint,
          (Ptr{Cvoid}, Ptr{ech_sort_column}, Ptr{Cvoid}, Csize_t, Csize_t, Cint, Ptr{Cvoid}),
          ctx, columns, indices, n, column_count, index_dtype, options)
ech_topk(ctx, in_, values, indices, n, k, dtype, index_dtype, options) =
    ccall((:ech_topk, library), Cint,
          (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Csize_t, Cint, Cint,
           Ref{ech_topk_options}),
          ctx, in_, values, indices, n, k, dtype, index_dtype, options)
ech_reduce_dtype(op, dtype, accumulate_wide) =
    ccall((:ech_reduce_dtype, library), Cint, (Cint, Cint, Cint), op, dtype, accumulate_wide)
ech_reduce(ctx, op, in_, out, n, dtype, options) =
    ccall((:ech_reduce, library), Cint,
          (Ptr{Cvoid}, Cint, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Cint, Ptr{Cvoid}),
          ctx, op, in_, out, n, dtype, options)
ech_scan(ctx, op, in_, out, n, dtype, options) =
    ccall((:ech_scan, library), Cint,
          (Ptr{Cvoid}, Cint, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Cint, Ref{ech_scan_options}),
          ctx, op, in_, out, n, dtype, options)
ech_histogram(ctx, in_, counts, n, dtype, bins, lower, upper, options) =
    ccall((:ech_histogram, library), Cint,
          (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{UInt64}, Csize_t, Cint, Csize_t, Cdouble, Cdouble, Ptr{Cvoid}),
          ctx, in_, counts, n, dtype, bins, lower, upper, options)
