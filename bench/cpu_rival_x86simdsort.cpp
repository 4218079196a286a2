// cpu_rival_x86simdsort.cpp - competitor: Intel's x86-simd-sort, for the instruction set for which
// this file is compiled.  hasnan = true, because all contenders must order NaN.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rivals.hpp"

#include "x86simdsort-static-incl.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace
{

template <class T> int keys(const job *j)
{
    return each<T>(j, [](T *a, size_t n) { x86simdsortStatic::qsort(a, n, true); });
}

template <class K, class V> int pairs(const job *j)
{
    V *values = static_cast<V *>(j->values);
    return each<K>(j, [&](K *a, size_t n) {
        x86simdsortStatic::keyvalue_qsort(a, values, n, true);
        values += n;
    });
}

template <class T> int order(const job *j)
{
    size_t *index = static_cast<size_t *>(j->values);
    return each<T>(j, [&](T *a, size_t n) {
        x86simdsortStatic::argsort(a, index, n, true);
        index += n;
    });
}

int sort(const job *j)
{
    static const struct {
        const char *dtype;
        bool argsort;
        size_t value_bytes;
        int (*run)(const job *);
    } rows[] = { { "u32", false, 0, keys<uint32_t> },
                 { "u64", false, 0, keys<uint64_t> },
                 { "f32", false, 0, keys<float> },
                 { "f64", false, 0, keys<double> },
                 { "u32", false, 4, pairs<uint32_t, uint32_t> },
                 { "u64", false, 8, pairs<uint64_t, uint64_t> },
                 { "u64", false, 4, pairs<uint64_t, uint32_t> },
                 { "u32", true, 8, order<uint32_t> },
                 { "u64", true, 8, order<uint64_t> },
                 { "f32", true, 8, order<float> },
                 { "f64", true, 8, order<double> } };
#ifdef _OPENMP
    omp_set_num_threads(j->threads);
#endif
    size_t value_bytes = j->values ? j->value_bytes : 0;
    for (const auto &row : rows)
        if (!std::strcmp(row.dtype, j->dtype) && row.argsort == (j->call == ARGSORT) &&
            row.value_bytes == value_bytes)
            return row.run(j);
    return 0;
}

} // namespace

#ifdef __AVX512F__
const rival rival_x86simdsort_avx512 = { "x86-simd-sort AVX-512", X86SIMDSORT_VERSION, 0, 0, sort };
#else
const rival rival_x86simdsort_avx2 = { "x86-simd-sort AVX2", X86SIMDSORT_VERSION, 0, 0, sort };
#endif
