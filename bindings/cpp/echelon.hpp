// echelon.hpp - C++20: a context that closes itself, exceptions, and calls on ranges.
//
// Arrays are contiguous ranges of integers, float or double: std::vector, std::array, std::span.  A
// std::span may also describe memory of the context's GPU: if a call has only such arrays, it is
// queued, and sync() waits for it.  get() is the context for all other functions of echelon.h, and
// check() turns their status into an exception.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef ECHELON_HPP
#define ECHELON_HPP

#include <echelon.h>
#include <bit>
#include <concepts>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace echelon
{

// A failed call.  what() is the message of ech_error().
struct error : std::runtime_error {
    ech_status status;
    error(ech_status code, const std::string &message) : std::runtime_error(message), status(code)
    {
    }
};

template <class R> using value_of = std::remove_cv_t<std::ranges::range_value_t<R>>;
template <class T> concept element = (std::integral<T> && !std::same_as<T, bool> &&
                                      sizeof(T) <= 8) || std::same_as<T, float> ||
                                     std::same_as<T, double>;
template <class R> concept records = std::ranges::contiguous_range<R> &&
    std::ranges::sized_range<R> && std::is_trivially_copyable_v<value_of<R>>;
template <class R> concept array = records<R> && element<value_of<R>>;

template <element T> constexpr ech_dtype dtype_of()
{
    if constexpr (std::floating_point<T>) return sizeof(T) == 4 ? ECH_F32 : ECH_F64;
    constexpr int log2_bytes = std::countr_zero(sizeof(T));
    return static_cast<ech_dtype>((std::is_signed_v<T> ? ECH_I8 : ECH_U8) + log2_bytes);
}
template <array R> constexpr ech_dtype dtype = dtype_of<value_of<R>>();

// The type of a sum, as ech_reduce_dtype() states.
template <element T> using sum_of = std::conditional_t<std::floating_point<T>, T,
    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

// A column for argsort_columns(), which refers to the array.  Set further fields, such as descending,
// before the call.
struct column : ech_sort_column {
    size_t n;
    explicit column(const array auto &a)
        : ech_sort_column(ECH_INIT(ech_sort_column)), n(std::ranges::size(a))
    {
        data = std::ranges::data(a);
        dtype = echelon::dtype<decltype(a)>;
    }
};

class context
{
public:
    explicit context(const char *device = nullptr)
    {
        if (ech_status status = ech_open(&ctx, device)) throw error(status, ech_error(nullptr));
    }
    context(context &&other) noexcept : ctx(std::exchange(other.ctx, nullptr)) {}
    context &operator=(context &&other) noexcept { std::swap(ctx, other.ctx); return *this; }
    ~context() { ech_close(ctx); }

    ech_ctx *get() const { return ctx; }
    void check(ech_status status) const { if (status) throw error(status, ech_error(ctx)); }
    void sync() const { check(ech_sync(ctx)); }

    void sort(array auto &&keys, const ech_sort_options *options = nullptr) const
    {
        std::span k(keys);
        check(ech_sort(ctx, k.data(), k.data(), k.size(), dtype<decltype(k)>, options));
    }
    void sort_pairs(array auto &&keys, records auto &&values,
                    const ech_sort_options *options = nullptr) const
    {
        std::span k(keys);
        std::span v(values);
        same("values", v.size(), "keys", k.size());
        check(ech_sort_pairs(ctx, k.data(), v.data(), k.data(), v.data(), k.size(),
                             dtype<decltype(k)>, sizeof(value_of<decltype(v)>), options));
    }
    void argsort(const array auto &keys, array auto &&index,
                 const ech_sort_options *options = nullptr) const
    {
        std::span k(keys);
        std::span i(index);
        same("index", i.size(), "keys", k.size());
        check(ech_argsort(ctx, k.data(), i.data(), k.size(), dtype<decltype(k)>,
                          dtype<decltype(i)>, options));
    }
    void argsort_columns(const std::vector<column> &columns, array auto &&index) const
    {
        std::span i(index);
        for (const column &c : columns) same("index", i.size(), "a column", c.n);
        const std::vector<ech_sort_column> c(columns.begin(), columns.end());
        check(ech_argsort_columns(ctx, c.data(), i.data(), i.size(), c.size(), dtype<decltype(i)>,
                                  nullptr));
    }
    // Selects the values.size() largest elements, the largest first, and their positions.
    template <array A> void topk(const A &in, array auto &&values, array auto &&indices,
                                 const ech_topk_options *options = nullptr) const
    {
        std::span a(in);
        std::span v(values);
        std::span i(indices);
        static_assert(std::same_as<value_of<decltype(a)>, value_of<decltype(v)>>);
        same("indices", i.size(), "values", v.size());
        check(ech_topk(ctx, a.data(), v.data(), i.data(), a.size(), v.size(), dtype<decltype(a)>,
                       dtype<decltype(i)>, options));
    }
    template <array A> auto sum(const A &in) const
    {
        return reduce<sum_of<value_of<A>>>(ECH_OP_SUM, in);
    }
    template <array A> auto min(const A &in) const { return reduce<value_of<A>>(ECH_OP_MIN, in); }
    template <array A> auto max(const A &in) const { return reduce<value_of<A>>(ECH_OP_MAX, in); }
    // Inclusive, unless options->exclusive is 1.  out may be in.
    template <array A> void scan(ech_op op, const A &in, array auto &&out,
                                 const ech_scan_options *options = nullptr) const
    {
        std::span a(in);
        std::span o(out);
        if (options && options->accumulate_wide)
            throw error(ECH_ERR_ARG, "accumulate_wide is 1: call ech_scan()");
        static_assert(std::same_as<value_of<decltype(a)>, value_of<decltype(o)>>);
        same("out", o.size(), "in", a.size());
        check(ech_scan(ctx, op, a.data(), o.data(), a.size(), dtype<decltype(a)>, options));
    }

private:
    ech_ctx *ctx = nullptr;

    static void same(const std::string &a, size_t n, const std::string &b, size_t m)
    {
        if (n == m) return;
        throw error(ECH_ERR_ARG, a + " has " + std::to_string(n) + " elements, but " + b +
                                     " has " + std::to_string(m) + ": they must be equally long");
    }
    template <class Result, array A> Result reduce(ech_op op, const A &in) const
    {
        Result result{};
        check(ech_reduce(ctx, op, std::ranges::data(in), &result, std::ranges::size(in), dtype<A>,
                         nullptr));
        return result;
    }
};

} // namespace echelon

#endif // ECHELON_HPP
