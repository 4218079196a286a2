// cpu_rivals.hpp - calls a C++ sort for each array of a job, with the type of its keys or records.
// SPDX-License-Identifier: Apache-2.0
#ifndef BENCH_CPU_RIVALS_HPP
#define BENCH_CPU_RIVALS_HPP

#include "cpu_rivals.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

template <class K> struct record {
    using key_type = K;
    K key, value;
    friend bool operator<(const record &a, const record &b)
    {
        return a.key < b.key;
    }
};

template <class T> auto key_of(const T &x)
{
    if constexpr (std::is_arithmetic_v<T>)
        return x;
    else
        return x.key;
}

template <class T, class Sort> int each(const job *j, Sort sort)
{
    T *a = static_cast<T *>(j->keys);
    for (std::size_t i = 0; i < j->batch; i++) sort(a + i * j->n, j->n);
    return 1;
}

// sort(T *array, size_t n) for T = the type of the keys.
template <class Sort> int sort_keys(const job *j, Sort sort)
{
    if (j->values || j->call == ARGSORT) return 0;
    if (!std::strcmp(j->dtype, "u8")) return each<std::uint8_t>(j, sort);
    if (!std::strcmp(j->dtype, "u16")) return each<std::uint16_t>(j, sort);
    if (!std::strcmp(j->dtype, "u32")) return each<std::uint32_t>(j, sort);
    if (!std::strcmp(j->dtype, "u64")) return each<std::uint64_t>(j, sort);
    if (!std::strcmp(j->dtype, "f32")) return each<float>(j, sort);
    if (!std::strcmp(j->dtype, "f64")) return each<double>(j, sort);
    return 0;
}

// The same for T = a record of a key and a value.
template <class Sort> int sort_records(const job *j, Sort sort)
{
    if (!j->values || j->call == ARGSORT) return 0;
    if (!std::strcmp(j->dtype, "u32") && j->value_bytes == 4)
        return each<record<std::uint32_t>>(j, sort);
    if (!std::strcmp(j->dtype, "u64") && j->value_bytes == 8)
        return each<record<std::uint64_t>>(j, sort);
    return 0;
}

#endif
