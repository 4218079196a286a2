// cpu_rival_boost.cpp - competitors: pdqsort and spreadsort of the installed Boost.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rivals.hpp"

#include <boost/sort/pdqsort/pdqsort.hpp>
#include <boost/sort/spreadsort/spreadsort.hpp>
#include <boost/version.hpp>

namespace
{

constexpr auto pdq = [](auto *a, size_t n) { boost::sort::pdqsort(a, a + n); };

constexpr auto spread = [](auto *a, size_t n) {
    using T = std::remove_pointer_t<decltype(a)>;
    if constexpr (std::is_integral_v<T>)
        boost::sort::spreadsort::integer_sort(a, a + n);
    else if constexpr (std::is_floating_point_v<T>)
        boost::sort::spreadsort::float_sort(a, a + n);
    else
        boost::sort::spreadsort::integer_sort(
            a, a + n, [](const T &x, unsigned shift) { return x.key >> shift; });
};

int pdqsort(const job *j)
{
    return j->threads == 1 && sort_keys(j, pdq);
}
int pdqsort_records(const job *j)
{
    return j->threads == 1 && sort_records(j, pdq);
}
int spreadsort(const job *j)
{
    return j->threads == 1 && sort_keys(j, spread);
}
int spreadsort_records(const job *j)
{
    return j->threads == 1 && sort_records(j, spread);
}

} // namespace

#define VERSION "Boost " BOOST_LIB_VERSION

const rival rival_pdqsort = { "pdqsort", VERSION, 0, 0, pdqsort };
const rival rival_pdqsort_records = { "pdqsort", VERSION, 0, 1, pdqsort_records };
const rival rival_spreadsort = { "spreadsort", VERSION, 0, 0, spreadsort };
const rival rival_spreadsort_records = { "spreadsort", VERSION, 0, 1, spreadsort_records };
