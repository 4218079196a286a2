// family_std.cpp - merges, set operations, searches and selections of the C++ standard library, for family_python.py.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

template <class T>
size_t run(const char *op, const T *a, size_t n_a, const T *b, size_t n_b, void *result)
{
    const auto is = [op](const char *name) { return !std::strcmp(op, name); };
    const T *a_end = a + n_a, *b_end = b + n_b;
    T *out = static_cast<T *>(result);
    if (is("merge")) return size_t(std::merge(a, a_end, b, b_end, out) - out);
    if (is("union")) return size_t(std::set_union(a, a_end, b, b_end, out) - out);
    if (is("intersection")) return size_t(std::set_intersection(a, a_end, b, b_end, out) - out);
    if (is("difference")) return size_t(std::set_difference(a, a_end, b, b_end, out) - out);
    if (is("symmetric"))
        return size_t(std::set_symmetric_difference(a, a_end, b, b_end, out) - out);
    if (is("search")) { // the positions of b in a
        int64_t *at = static_cast<int64_t *>(result);
        for (size_t i = 0; i < n_b; i++) at[i] = std::lower_bound(a, a_end, b[i]) - a;
        return n_b;
    }
    if (is("partition")) { // around the element of rank n_b
        std::copy(a, a_end, out);
        std::nth_element(out, out + n_b, out + n_a);
        return n_a;
    }
    return SIZE_MAX;
}

} // namespace

// The number of elements of the result, or SIZE_MAX.
extern "C" size_t family_std(const char *op, const char *dtype, const void *a, size_t n_a,
                             const void *b, size_t n_b, void *out)
{
    const auto call = [&](auto zero) {
        using T = decltype(zero);
        return run(op, static_cast<const T *>(a), n_a, static_cast<const T *>(b), n_b, out);
    };
    const auto is = [dtype](const char *name) { return !std::strcmp(dtype, name); };
    return is("u32")   ? call(uint32_t(0))
           : is("u64") ? call(uint64_t(0))
           : is("f32") ? call(float(0))
           : is("f64") ? call(double(0))
                       : SIZE_MAX;
}
