// cpu_x86simdsort.cpp - competitor of the grid: x86-simd-sort, for the instruction set for which this
// file is compiled.  NumPy and PyTorch contain the same algorithms.  hasnan = true, because all
// contenders must order NaN.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rows.h"

#include "x86simdsort-static-incl.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace
{

template <class K, class V> int pairs(grid_case *c)
{
    const size_t n = c->row.n;
    K *keys = reinterpret_cast<K *>(c->out[1]);
    V *values = reinterpret_cast<V *>(c->out2[1]);
    std::memcpy(keys, grid_input(c), n * sizeof(K));
    std::memcpy(values, c->aux, n * sizeof(V));
    x86simdsortStatic::keyvalue_qsort(keys, values, n, true);
    return 1;
}

template <class T> int wide_keys(grid_case *c)
{
    const size_t n = c->row.n;
    if (c->row.op == GRID_PAIRS)
        return c->row.param == 4   ? pairs<T, uint32_t>(c)
               : c->row.param == 8 ? pairs<T, uint64_t>(c)
                                   : 0;
    if (c->row.op != GRID_ARGSORT || c->row.param != 8) return 0;
    size_t *index = reinterpret_cast<size_t *>(c->out[1]);
    for (size_t i = 0; i < n; i++) index[i] = i;
    x86simdsortStatic::argsort(reinterpret_cast<T *>(const_cast<char *>(grid_input(c))), index, n,
                               true);
    return 1;
}

template <class T> int keys(grid_case *c)
{
    const size_t n = c->row.n, k = size_t(c->row.param);
    T *out = reinterpret_cast<T *>(c->out[1]);
    static std::vector<T> copy;
    switch (c->row.op) {
    case GRID_SORT:
        std::memcpy(out, grid_input(c), n * sizeof(T));
        x86simdsortStatic::qsort(out, n, true);
        return 1;
    case GRID_DISTINCT:
        std::memcpy(out, grid_input(c), n * sizeof(T));
        x86simdsortStatic::qsort(out, n, true);
        *c->count[1] = uint64_t(std::unique(out, out + n) - out);
        return 1;
    case GRID_SORT_ROWS:
        std::memcpy(out, c->in, n * sizeof(T));
        for (size_t r = 0; r < c->n_aux; r++)
            x86simdsortStatic::qsort(out + r * c->cols, c->cols, true);
        return 1;
    case GRID_MEDIAN:
        copy.resize(n);
        std::memcpy(copy.data(), grid_input(c), n * sizeof(T));
        x86simdsortStatic::qselect(copy.data(), n / 2, n, true);
        *out = copy[n / 2];
        return 1;
    case GRID_TOPK: // the k largest are the last k in ascending order
        copy.resize(n);
        std::memcpy(copy.data(), grid_input(c), n * sizeof(T));
        x86simdsortStatic::qselect(copy.data(), n - k, n, true);
        x86simdsortStatic::qsort(copy.data() + n - k, k, true);
        std::reverse_copy(copy.end() - std::ptrdiff_t(k), copy.end(), out);
        return 1;
    default:
        if constexpr (sizeof(T) >= 4) return wide_keys<T>(c);
        return 0;
    }
}

} // namespace

#ifdef __AVX512F__
int row_x86simdsort_avx512(grid_case *c)
#else
int row_x86simdsort_avx2(grid_case *c)
#endif
{
    switch (c->row.dtype) {
#ifdef __AVX512VBMI2__
    case ECH_I16:
        return keys<int16_t>(c);
    case ECH_U16:
        return keys<uint16_t>(c);
#endif
    case ECH_I32:
        return keys<int32_t>(c);
    case ECH_I64:
        return keys<int64_t>(c);
    case ECH_U32:
        return keys<uint32_t>(c);
    case ECH_U64:
        return keys<uint64_t>(c);
    case ECH_F32:
        return keys<float>(c);
    case ECH_F64:
        return keys<double>(c);
    default:
        return 0;
    }
}
