// cpu_rival_std.cpp - competitors: the sorts of the C++ standard library.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rivals.hpp"

#include <algorithm>
#ifdef _OPENMP
#include <parallel/algorithm>
#endif
#ifdef WITH_TBB
#include <execution>
#include <memory>
#include <tbb/global_control.h>
#include <tbb/version.h>
#endif

namespace
{

constexpr auto plain = [](auto *a, size_t n) { std::sort(a, a + n); };
constexpr auto stable = [](auto *a, size_t n) { std::stable_sort(a, a + n); };

int sort(const job *j)
{
    return j->threads == 1 && sort_keys(j, plain);
}
int sort_stable(const job *j)
{
    return j->threads == 1 && sort_keys(j, stable);
}
int records(const job *j)
{
    return j->threads == 1 && sort_records(j, plain);
}
int records_stable(const job *j)
{
    return j->threads == 1 && sort_records(j, stable);
}

int parallel(const job *j)
{
#ifdef _OPENMP
    if (j->threads == 1) return 0;
    return sort_keys(j, [j](auto *a, size_t n) {
        __gnu_parallel::sort(a, a + n, __gnu_parallel::default_parallel_tag(unsigned(j->threads)));
    });
#else
    (void)j;
    return 0;
#endif
}

#ifdef WITH_TBB
template <bool RECORDS, bool STABLE> int tbb_sort(const job *j)
{
    if (j->threads == 1) return 0;
    static tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                     size_t(j->threads));
    auto run = [](auto *a, size_t n) {
        if constexpr (STABLE)
            std::stable_sort(std::execution::par, a, a + n);
        else
            std::sort(std::execution::par, a, a + n);
    };
    if constexpr (RECORDS)
        return sort_records(j, run);
    else
        return sort_keys(j, run);
}
#endif

} // namespace

#define TEXT(x)        #x
#define VERSION(major) "libstdc++ " TEXT(major)

const rival rival_std = { "std::sort", VERSION(__GNUC__), 0, 0, sort };
const rival rival_std_stable = { "std::stable_sort", VERSION(__GNUC__), 1, 0, sort_stable };
const rival rival_std_parallel = { "__gnu_parallel::sort", VERSION(__GNUC__), 0, 0, parallel };
const rival rival_std_records = { "std::sort", VERSION(__GNUC__), 0, 1, records };
const rival rival_std_records_stable = { "std::stable_sort", VERSION(__GNUC__), 1, 1,
                                         records_stable };
#ifdef WITH_TBB
#define TBB_VERSION "TBB " TBB_VERSION_STRING
const rival rival_tbb = { "std::sort(par)", TBB_VERSION, 0, 0, tbb_sort<false, false> };
const rival rival_tbb_records = { "std::sort(par)", TBB_VERSION, 0, 1, tbb_sort<true, false> };
const rival rival_tbb_records_stable = { "std::stable_sort(par)", TBB_VERSION, 1, 1,
                                         tbb_sort<true, true> };
#endif
