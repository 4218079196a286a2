# test.jl - every function, compared with plain Julia, and wrong calls. The last line has the numbers of checks.
#
# SPDX-License-Identifier: Apache-2.0

include("Echelon.jl")

const counts = Dict(true => 0, false => 0)

function check(ok, what)
    counts[ok] += 1
    ok || println("FAIL ", what)
end

function throws(f, text; status = Echelon.ECH_ERR_ARG)
    try
        f()
        check(false, "$text: no error")
    catch e
        e isa Echelon.EchelonError || rethrow()
        check(e.status == status && occursin(text, sprint(showerror, e)), e)
    end
end

ctx = Echelon.Context("cpu")
numbers = [(37i + 11) % 101 for i in 1:1000]

for T in (Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, Float32, Float64)
    check(Echelon.sort!(ctx, T.(numbers)) == sort(T.(numbers)), "sort of $T")
    check(Echelon.sort!(ctx, T.(numbers); descending = true) == reverse(sort(T.(numbers))), "descending $T")
    check(Echelon.sortperm(ctx, T.(numbers)) == sortperm(T.(numbers)), "sortperm of $T")
    check(Echelon.minimum(ctx, T.(numbers)) == T(0) && Echelon.maximum(ctx, T.(numbers)) == T(100), "min, max of $T")
end
check(Echelon.sort!(ctx, Float64[]) == [], "sort of nothing")
check(isnan(Echelon.sort!(ctx, [-NaN, 1.0])[2]) && isnan(Echelon.sort!(ctx, [1.0, -NaN]; total = true)[1]), "NaN")
check(Echelon.sort!(ctx, view([3, 2, 1], 1:2)) == [2, 3], "sort of a view")

keys, values = UInt16[9, 3, 5], [(0x09, 1.5), (0x03, 2.5), (0x05, 3.5)]
Echelon.sort_pairs!(ctx, keys, values)
check(keys == [3, 5, 9] && values == [(0x03, 2.5), (0x05, 3.5), (0x09, 1.5)], "sort_pairs!")
columns = [Echelon.Column(UInt8[1, 0, 1, 0]), Echelon.Column([0.5, NaN, 1.5, 2.5]; descending = true)]
check(Echelon.sortperm(ctx, columns) == [2, 4, 3, 1], "sortperm of columns")
check(Echelon.topk(ctx, Int8[5, 9, -1, 9], 2) == ([9, 9], [2, 4]), "topk")
check(Echelon.topk(ctx, Int8[5, 9, -1, 9], 1; smallest = true) == ([-1], [3]), "topk, smallest")

check(Echelon.sum(ctx, UInt8[200, 100]) === UInt64(300), "sum of UInt8")
check(Echelon.sum(ctx, Int16[-200, 100]) === Int64(-100), "sum of Int16")
check(Echelon.sum(ctx, Float32[0.5, 0.25]) === 0.75f0, "sum of Float32")
check(Echelon.mean(ctx, [1, 2]) === 1.5 && Echelon.mean(ctx, Float32[1, 2]) === 1.5f0, "mean")
check(Echelon.scan(ctx, :sum, numbers) == cumsum(numbers), "scan")
check(Echelon.scan(ctx, :max, Int8[1, 3, 2]; exclusive = true) == [-128, 1, 3], "scan, exclusive")
check(Echelon.scan(ctx, :min, Int8[1, 3, 2]; reverse = true) == [1, 2, 2], "scan, reverse")
check(Echelon.histogram(ctx, [0.5, 2.5, 0.25, 9], 3, 0, 3) == [2, 0, 1], "histogram")
Echelon.set_threads(ctx, 1)
check(Echelon.device_name(ctx) == "cpu" && startswith(Echelon.version(), "0."), "device_name, version")

throws(() -> Echelon.Context("nosuch"), "device is \"nosuch\"")
throws(() -> Echelon.Context("cuda:99"), ""; status = Echelon.ECH_ERR_NO_DEVICE)
throws(() -> Echelon.sort_pairs!(ctx, [1, 2], [1]), "values has 1 elements, but keys has 2")
throws(() -> Echelon.sort_pairs!(ctx, [1], ["a"]), "references")
throws(() -> Echelon.sort_pairs!(ctx, [1], [nothing]), "value_bytes is 0")
throws(() -> Echelon.sort!(ctx, view(numbers, 1:2:9)), "not contiguous")
throws(() -> Echelon.sortperm(ctx, [Echelon.Column([1, 2]), Echelon.Column([1])]), "columns[2] has 1")
throws(() -> Echelon.sortperm(ctx, Echelon.Column[]), "empty")
throws(() -> Echelon.topk(ctx, [1], 2), "k is 2")
throws(() -> Echelon.scan(ctx, :and, [1.0]), "")
throws(() -> Echelon.scan(ctx, :nosuch, [1.0]), "op is :nosuch")
throws(() -> Echelon.histogram(ctx, [1], 3, 1, 1), "lower")
throws(() -> Echelon.histogram(ctx, [1], 0, 0, 1), "bins is 0")
throws(() -> Echelon.set_threads(ctx, -1), "threads")
close(ctx)
throws(() -> Echelon.sort!(ctx, [1]), "the context is closed")

println("$(counts[true]) passed, $(counts[false]) failed, 0 skipped")
exit(counts[false] > 0 ? 1 : 0)
