// cpu_rival_std.cpp - competitors: the sorts of the C++ standard library.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rivals.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>
#ifdef _OPENMP
#include <parallel/algorithm>
#endif

namespace {

enum kind { PLAIN, STABLE, PARALLEL };

template <class T, kind how> int keys(const job *j)
{
    T *a = static_cast<T *>(j->keys);
    if (how == STABLE) std::stable_sort(a, a + j->n);
#ifdef _OPENMP
    else if (how == PARALLEL)
        __gnu_parallel::sort(a, a + j->n,
                             __gnu_parallel::default_parallel_tag(unsigned(j->threads)));
#endif
    else std::sort(a, a + j->n);
    return 1;
}

template <kind how> int sort(const job *j)
{
    if (j->values || (how != PARALLEL && j->threads > 1)) return 0;
    if (how == PARALLEL && j->threads == 1) return 0;
    static const struct {
        const char *dtype;
        int (*run)(const job *);
    } rows[] = { { "u8", keys<uint8_t, how> },   { "u16", keys<uint16_t, how> },
                 { "u32", keys<uint32_t, how> }, { "u64", keys<uint64_t, how> },
                 { "f32", keys<float, how> },    { "f64", keys<double, how> } };
    for (const auto &row : rows)
        if (!std::strcmp(row.dtype, j->dtype)) return row.run(j);
    return 0;
}

} // namespace

#define TEXT(x) #x
#define VERSION(major) "libstdc++ " TEXT(major)

const rival rival_std = { "std::sort", VERSION(__GNUC__), 0, sort<PLAIN> };
const rival rival_std_stable = { "std::stable_sort", VERSION(__GNUC__), 1, sort<STABLE> };
const rival rival_std_parallel = { "__gnu_parallel::sort", VERSION(__GNUC__), 0, sort<PARALLEL> };
