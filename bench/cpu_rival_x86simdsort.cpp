// cpu_rival_x86simdsort.cpp - competitor: Intel's x86-simd-sort, for the instruction set for which
// this file is compiled.  hasnan = true, because all contenders must order NaN.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rivals.h"

#include "x86simdsort-static-incl.h"

#include <cstdint>
#include <cstring>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

template <class T> int keys(const job *j)
{
    x86simdsortStatic::qsort(static_cast<T *>(j->keys), j->n, true);
    return 1;
}

template <class K, class V> int pairs(const job *j)
{
    x86simdsortStatic::keyvalue_qsort(static_cast<K *>(j->keys), static_cast<V *>(j->values), j->n,
                                      true);
    return 1;
}

int sort(const job *j)
{
    static const struct {
        const char *dtype;
        size_t value_bytes;
        int (*run)(const job *);
    } rows[] = { { "u32", 0, keys<uint32_t> },
                 { "u64", 0, keys<uint64_t> },
                 { "f32", 0, keys<float> },
                 { "f64", 0, keys<double> },
                 { "u32", 4, pairs<uint32_t, uint32_t> },
                 { "u64", 8, pairs<uint64_t, uint64_t> },
                 { "u64", 4, pairs<uint64_t, uint32_t> } };
#ifdef _OPENMP
    omp_set_num_threads(j->threads);
#endif
    size_t value_bytes = j->values ? j->value_bytes : 0;
    for (const auto &row : rows)
        if (!std::strcmp(row.dtype, j->dtype) && row.value_bytes == value_bytes)
            return row.run(j);
    return 0;
}

} // namespace

#ifdef __AVX512F__
const rival rival_x86simdsort_avx512 = { "x86-simd-sort AVX-512", X86SIMDSORT_VERSION, 0, sort };
#else
const rival rival_x86simdsort_avx2 = { "x86-simd-sort AVX2", X86SIMDSORT_VERSION, 0, sort };
#endif
