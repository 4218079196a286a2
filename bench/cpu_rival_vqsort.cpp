// cpu_rival_vqsort.cpp - competitor: vqsort of the installed Highway.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rivals.hpp"

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>

#include <cstdlib>

namespace
{

int sort(const job *j)
{
    if (j->threads > 1 || !std::strcmp(j->dtype, "u8")) return 0;
    static const bool limited = [] {
        const char *kernels = std::getenv("ECHELON_CPU");
        if (!kernels || std::strcmp(kernels, "avx2") != 0) return false;
        hwy::DisableTargets((HWY_AVX2 - 1)); // lower bits are better targets
        return true;
    }();
    (void)limited;
    static hwy::Sorter sorter;
    return sort_keys(j, [](auto *a, size_t n) {
        if constexpr (sizeof *a > 1) sorter(a, n, hwy::SortAscending());
    });
}

} // namespace

const rival rival_vqsort = { "vqsort", VQSORT_VERSION, 0, 0, sort };
