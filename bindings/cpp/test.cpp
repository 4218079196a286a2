// test.cpp - tests of echelon.hpp: results, types, and wrong calls, which must throw.
//
// SPDX-License-Identifier: Apache-2.0
#include "echelon.hpp"
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

static int passed, failed;

static void check(bool ok, const char *what)
{
    ok ? passed++ : failed++;
    if (!ok) std::printf("FAIL %s\n", what);
}

// Succeeds if f throws an error with this status, and a message that contains text.
template <class F> static void throws(ech_status status, const char *text, F f)
{
    try {
        f();
        check(false, text);
    } catch (const echelon::error &e) {
        check(e.status == status && std::strstr(e.what(), text), e.what());
    }
}

static void test_types()
{
    using echelon::dtype_of;
    check(dtype_of<signed char>() == ECH_I8 && dtype_of<short>() == ECH_I16, "i8, i16");
    check(dtype_of<int>() == ECH_I32 && dtype_of<long>() == ECH_I64, "i32, i64");
    check(dtype_of<unsigned char>() == ECH_U8 && dtype_of<uint16_t>() == ECH_U16, "u8, u16");
    check(dtype_of<uint32_t>() == ECH_U32 && dtype_of<long long unsigned>() == ECH_U64, "u32, u64");
    check(dtype_of<float>() == ECH_F32 && dtype_of<double>() == ECH_F64, "f32, f64");
}

template <class T> static void test_sum_type(const char *what)
{
    using echelon::dtype_of;
    check(dtype_of<echelon::sum_of<T>>() == ech_reduce_dtype(ECH_OP_SUM, dtype_of<T>(), 0), what);
    check(dtype_of<T>() == ech_reduce_dtype(ECH_OP_MIN, dtype_of<T>(), 0), what);
}

static void test_results()
{
    test_sum_type<int8_t>("sum of i8");
    test_sum_type<int16_t>("sum of i16");
    test_sum_type<int32_t>("sum of i32");
    test_sum_type<int64_t>("sum of i64");
    test_sum_type<uint8_t>("sum of u8");
    test_sum_type<uint16_t>("sum of u16");
    test_sum_type<uint32_t>("sum of u32");
    test_sum_type<uint64_t>("sum of u64");
    test_sum_type<float>("sum of f32");
    test_sum_type<double>("sum of f64");
}

static void test_sorts(const echelon::context &ctx)
{
    std::array<float, 4> keys{ 2.5f, -1.0f, 7.0f, 0.0f };
    ctx.sort(keys);
    check(keys == std::array<float, 4>{ -1.0f, 0.0f, 2.5f, 7.0f }, "sort");
    ech_sort_options descending = ECH_INIT(ech_sort_options);
    descending.descending = 1;
    ctx.sort(std::span(keys).first(2), &descending);
    check(keys == std::array<float, 4>{ 0.0f, -1.0f, 2.5f, 7.0f }, "sort of a span, descending");

    struct place {
        char name[3];
    };
    std::vector<uint16_t> heights{ 9, 3, 5 };
    std::vector<place> places{ { "a" }, { "b" }, { "c" } };
    ctx.sort_pairs(heights, places);
    check(heights == std::vector<uint16_t>{ 3, 5, 9 }, "sort_pairs: keys");
    check(places[0].name[0] == 'b' && places[2].name[0] == 'a', "sort_pairs: values");

    const std::vector<int64_t> unsorted{ 30, 10, 20 };
    std::vector<uint32_t> index(3);
    ctx.argsort(unsorted, index);
    check(index == std::vector<uint32_t>{ 1, 2, 0 }, "argsort");

    const int first[]{ 1, 0, 1 };
    const std::vector<float> second{ 2, 3, 4 };
    std::vector<echelon::column> table{ echelon::column(first), echelon::column(second) };
    table[1].descending = 1;
    ctx.argsort_columns(table, index);
    check(index == std::vector<uint32_t>{ 1, 2, 0 }, "argsort_columns");
}

static void test_others(const echelon::context &ctx)
{
    const std::vector<int8_t> in{ 100, -3, 100, 7 };
    std::vector<int8_t> out(4), best(2);
    std::vector<int> positions(2);
    ctx.topk(in, best, positions);
    check(best == std::vector<int8_t>{ 100, 100 }, "topk: values");
    check(positions == std::vector<int>{ 0, 2 }, "topk: positions");
    check(ctx.sum(in) == 204 && ctx.min(in) == -3 && ctx.max(in) == 100, "sum, min, max");
    static_assert(std::same_as<decltype(ctx.sum(in)), int64_t>);
    check(std::isinf(ctx.max(std::vector<float>{})), "max of an empty array");

    ech_scan_options exclusive = ECH_INIT(ech_scan_options);
    exclusive.exclusive = 1;
    ctx.scan(ECH_OP_MIN, in, out, &exclusive);
    check(out == std::vector<int8_t>{ 127, 100, -3, -3 }, "scan");
}

static void test_errors(echelon::context &ctx)
{
    std::vector<int> keys{ 2, 1 };
    std::vector<int> three(3);
    throws(ECH_ERR_ARG, "values has 3 elements, but keys has 2",
           [&] { ctx.sort_pairs(keys, three); });
    throws(ECH_ERR_ARG, "index has 3 elements, but keys has 2", [&] { ctx.argsort(keys, three); });
    throws(ECH_ERR_ARG, "index has 3 elements, but a column has 2",
           [&] { ctx.argsort_columns({ echelon::column(keys) }, three); });
    throws(ECH_ERR_ARG, "out has 3 elements", [&] { ctx.scan(ECH_OP_SUM, keys, three); });
    throws(ECH_ERR_ARG, "k is 3", [&] { ctx.topk(keys, three, std::vector<int>(3)); });
    throws(ECH_ERR_ARG, "overlap", [&] { ctx.sort_pairs(keys, keys); });
    throws(ECH_ERR_ARG, "device is \"nosuch\"", [] { echelon::context("nosuch"); });
    throws(ECH_ERR_UNSUPPORTED, "stream",
           [&] { ctx.check(ech_set_stream(ctx.get(), &keys)); });

    echelon::context moved(std::move(ctx));
    check(!ctx.get() && moved.get(), "a moved context is empty");
    ctx = std::move(moved);
    moved = echelon::context("cpu");
    ctx.sort(keys);
    ctx.sync();
    check(keys[0] == 1, "a context that was moved back");
}

int main()
{
    echelon::context ctx("cpu");
    test_types();
    test_results();
    test_sorts(ctx);
    test_others(ctx);
    test_errors(ctx);
    std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
