# Echelon.jl - sorting and data-parallel operations on NVIDIA GPUs and on the CPU, by libechelon.
#
# A Context is an open device. Functions take contiguous vectors, which a GPU context copies to the GPU and back, and
# return when they have finished. Positions begin with 1. Every function throws an EchelonError if an argument is wrong,
# for example if vectors have different lengths. The headers in include/echelon describe the order of floats, the
# bit-identical results and all other guarantees.
#
# SPDX-License-Identifier: Apache-2.0

module Echelon

# The library: a path or a name in the search path of the system.
const library = get(ENV, "ECHELON_LIBRARY", "libechelon.so.0.2")

include("sys.jl")

"A failed call, with its status in echelon.h and the message of the library."
struct EchelonError <: Exception
    status::Cint
    message::String
end
Base.showerror(io::IO, e::EchelonError) = print(io, "EchelonError: ", e.message)

wrong(message) = throw(EchelonError(ECH_ERR_ARG, message))

"""
    Context(device = nothing)

Opens a device: `"cpu"`, `"cuda"`, `"cuda:1"`, `"auto"`; or the one that the environment variable ECHELON_DEVICE names,
otherwise the first GPU, otherwise the CPU. One task at a time may use a context. `close` closes it, or the garbage
collector.
"""
mutable struct Context
    raw::Ptr{Cvoid}
    function Context(device::Union{Nothing,AbstractString} = nothing)
        raw = Ref(C_NULL)
        status = device === nothing ? ech_open(raw, C_NULL) : ech_open(raw, String(device))
        status == ECH_OK || throw(EchelonError(status, unsafe_string(ech_error(C_NULL))))
        return finalizer(close, new(raw[]))
    end
end

function Base.close(ctx::Context)
    ech_close(ctx.raw)
    ctx.raw = C_NULL
    return nothing
end

# The context for a call.
function open_context(ctx::Context)
    ctx.raw == C_NULL && wrong("the context is closed")
    return ctx.raw
end

function check(ctx::Context, status)
    status == ECH_OK || throw(EchelonError(status, unsafe_string(ech_error(ctx.raw))))
    return nothing
end

device_name(ctx::Context) = unsafe_string(ech_device_name(open_context(ctx)))
set_threads(ctx::Context, threads) = check(ctx, ech_set_threads(open_context(ctx), threads))
version() = unsafe_string(ech_version())

const Element = Union{Int8,Int16,Int32,Int64,UInt8,UInt16,UInt32,UInt64,Float16,Float32,Float64}
const dtypes = Dict(Int8 => ECH_I8, Int16 => ECH_I16, Int32 => ECH_I32, Int64 => ECH_I64, UInt8 => ECH_U8,
                    UInt16 => ECH_U16, UInt32 => ECH_U32, UInt64 => ECH_U64, Float16 => ECH_F16,
                    Float32 => ECH_F32, Float64 => ECH_F64)
dtype(::AbstractVector{T}) where {T<:Element} = dtypes[T]
const ops = Dict(:sum => ECH_OP_SUM, :product => ECH_OP_PRODUCT, :min => ECH_OP_MIN, :max => ECH_OP_MAX,
                 :and => ECH_OP_AND, :or => ECH_OP_OR, :xor => ECH_OP_XOR)

# Vectors whose elements are adjacent in memory, of the same length as the first one.
function contiguous(first, others...)
    for (name, vector) in (first, others...)
        length(vector) == length(last(first)) ||
            wrong("$name has $(length(vector)) elements, but $(first[1]) has $(length(last(first))): " *
                  "they must be equally long")
        length(vector) < 2 || stride(vector, 1) == 1 || wrong("$name is not contiguous: copy it first")
    end
end

order(total) = total ? ECH_ORDER_TOTAL : ECH_ORDER_NAN_LAST
sort_options(descending, total) = init(ech_sort_options; descending = descending, order = order(total))

"Sorts keys. `total` orders floats as IEEE 754 totalOrder does; otherwise NaN is the largest."
function sort!(ctx::Context, keys::StridedVector{<:Element}; descending = false, total = false)
    contiguous(("keys", keys))
    check(ctx, ech_sort(open_context(ctx), keys, keys, length(keys), dtype(keys), sort_options(descending, total)))
    return keys
end

"Sorts keys, and moves a value with each key. It is stable."
function sort_pairs!(ctx::Context, keys::StridedVector{<:Element}, values::StridedVector; descending = false,
                     total = false)
    contiguous(("keys", keys), ("values", values))
    isbitstype(eltype(values)) || wrong("values are of type $(eltype(values)), which contains references: use sortperm")
    check(ctx, ech_sort_pairs(open_context(ctx), keys, values, keys, values, length(keys), dtype(keys),
                              sizeof(eltype(values)), sort_options(descending, total)))
    return keys, values
end

"The permutation that sorts the keys. It is stable."
function sortperm(ctx::Context, keys::StridedVector{<:Element}; descending = false, total = false)
    contiguous(("keys", keys))
    index = Vector{Int64}(undef, length(keys))
    check(ctx, ech_argsort(open_context(ctx), keys, index, length(keys), dtype(keys), ECH_I64,
                           sort_options(descending, total)))
    return index .+= 1
end

"A column of a table and its order."
struct Column
    data::StridedVector{<:Element}
    descending::Bool
    total::Bool
    Column(data; descending = false, total = false) = new(data, descending, total)
end

"The permutation that sorts the rows of a table: by the first column, equal elements of it by the second, and so on."
function sortperm(ctx::Context, columns::AbstractVector{Column})
    isempty(columns) && wrong("columns is empty")
    contiguous([("columns[$i]", column.data) for (i, column) in enumerate(columns)]...)
    n = length(columns[1].data)
    index = Vector{Int64}(undef, n)
    data = [column.data for column in columns]
    GC.@preserve data begin
        raw = [init(ech_sort_column; data = Ptr{Cvoid}(pointer(c.data)), dtype = dtype(c.data),
                    descending = c.descending, order = order(c.total)) for c in columns]
        check(ctx, ech_argsort_columns(open_context(ctx), raw, index, n, length(raw), ECH_I64, C_NULL))
    end
    return index .+= 1
end

"The k largest elements, the largest first, and their positions; or the smallest ones."
function topk(ctx::Context, in::StridedVector{T}, k::Integer; smallest = false) where {T<:Element}
    contiguous(("in", in))
    0 <= k <= length(in) || wrong("k is $k, but in has $(length(in)) elements")
    values, positions = Vector{T}(undef, k), Vector{Int64}(undef, k)
    check(ctx, ech_topk(open_context(ctx), in, values, positions, length(in), k, dtype(in), ECH_I64,
                        init(ech_topk_options; smallest = smallest)))
    return values, positions .+ 1
end

function reduce(ctx::Context, op, in)
    contiguous(("in", in))
    result_dtype = ech_reduce_dtype(op, dtype(in), 0)
    type = only(type for (type, value) in dtypes if value == result_dtype)
    out = Vector{type}(undef, 1)
    check(ctx, ech_reduce(open_context(ctx), op, in, out, length(in), dtype(in), C_NULL))
    return out[1]
end

"The sum: Int64 or UInt64 modulo 2^64, or floats."
sum(ctx::Context, in::StridedVector{<:Element}) = reduce(ctx, ECH_OP_SUM, in)
"The minimum. An empty vector yields the maximum value of the type."
minimum(ctx::Context, in::StridedVector{<:Element}) = reduce(ctx, ECH_OP_MIN, in)
"The maximum. An empty vector yields the minimum value of the type."
maximum(ctx::Context, in::StridedVector{<:Element}) = reduce(ctx, ECH_OP_MAX, in)
"The mean, computed in Float64. An empty vector yields NaN."
mean(ctx::Context, in::StridedVector{<:Element}) = reduce(ctx, ECH_OP_MEAN, in)

"Combines each element with all elements before it by :sum, :product, :min, :max, :and, :or or :xor."
function scan(ctx::Context, op::Symbol, in::StridedVector{T}; exclusive = false, reverse = false) where {T<:Element}
    contiguous(("in", in))
    haskey(ops, op) || wrong("op is :$op, which is not one of $(join(sort(collect(keys(ops))), ", "))")
    out = Vector{T}(undef, length(in))
    check(ctx, ech_scan(open_context(ctx), ops[op], in, out, length(in), dtype(in),
                        init(ech_scan_options; exclusive = exclusive, reverse = reverse)))
    return out
end

"Counts the elements in each of several bins of equal width, from lower to upper. Others are not counted."
function histogram(ctx::Context, in::StridedVector{<:Element}, bins::Integer, lower, upper)
    contiguous(("in", in))
    bins >= 1 || wrong("bins is $bins, but must be at least 1")
    counts = Vector{UInt64}(undef, bins)
    check(ctx, ech_histogram(open_context(ctx), in, counts, length(in), dtype(in), bins, lower, upper, C_NULL))
    return counts
end

end # module
