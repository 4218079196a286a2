// cpu_std.cpp - competitors of the grid on the CPU: algorithms of the C++ standard library, and loops
// that the compiler vectorises, for one thread.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace
{

template <class T> const T *input(grid_case *c)
{
    return reinterpret_cast<const T *>(grid_input(c));
}
template <class T> T *as(void *array)
{
    return static_cast<T *>(array);
}

template <class T>
using sum_type = std::conditional_t<std::is_floating_point_v<T>, T,
                                    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class I, class T> void argsort(grid_case *c)
{
    const T *keys = input<T>(c);
    I *index = as<I>(c->out[1]);
    std::iota(index, index + c->row.n, I(0));
    std::stable_sort(index, index + c->row.n, [keys](I a, I b) { return keys[a] < keys[b]; });
}

// Keys and payloads in an array of structs, as a program without a library sorts them.
template <class T, class V> void pairs(grid_case *c)
{
    struct pair {
        T key;
        V value;
    };
    static std::vector<pair> all;
    const T *keys = input<T>(c);
    const V *values = as<const V>(c->aux);
    all.resize(c->row.n);
    for (size_t i = 0; i < c->row.n; i++) all[i] = { keys[i], values[i] };
    std::stable_sort(all.begin(), all.end(),
                     [](const pair &a, const pair &b) { return a.key < b.key; });
    for (size_t i = 0; i < c->row.n; i++) {
        as<T>(c->out[1])[i] = all[i].key;
        as<V>(c->out2[1])[i] = all[i].value;
    }
}

struct words {
    uint64_t word[2];
};

template <class T> bool sorts(grid_case *c)
{
    const size_t n = c->row.n, k = size_t(c->row.param);
    T *out = as<T>(c->out[1]);
    switch (c->row.op) {
    case GRID_SORT: {
        const T *in = input<T>(c);
        std::copy(in, in + n, out);
        std::sort(out, out + n);
        return true;
    }
    case GRID_PAIRS:
        return (k == 4   ? pairs<T, uint32_t>
                : k == 8 ? pairs<T, uint64_t>
                         : pairs<T, words>)(c),
               true;
    case GRID_ARGSORT:
        return (k == 4 ? argsort<uint32_t, T> : argsort<uint64_t, T>)(c), true;
    case GRID_TOPK: {
        const T *in = input<T>(c);
        std::partial_sort_copy(in, in + n, out, out + k, std::greater<T>());
        return true;
    }
    case GRID_MEDIAN: {
        static std::vector<T> copy;
        const T *in = input<T>(c);
        copy.assign(in, in + n);
        std::nth_element(copy.begin(), copy.begin() + n / 2, copy.end());
        *out = copy[n / 2];
        return true;
    }
    case GRID_DISTINCT: {
        const T *in = input<T>(c);
        std::copy(in, in + n, out);
        std::sort(out, out + n);
        *c->count[1] = uint64_t(std::unique(out, out + n) - out);
        return true;
    }
    case GRID_MERGE: {
        const T *in = input<T>(c);
        std::merge(in, in + n / 2, in + n / 2, in + n, out);
        return true;
    }
    case GRID_SORT_ROWS:
    case GRID_SORT_SEGMENTS: {
        const int32_t *offsets = as<const int32_t>(c->aux);
        const bool rows = c->row.op == GRID_SORT_ROWS;
        std::copy(as<const T>(c->in), as<const T>(c->in) + n, out);
        for (uint64_t s = 0; s < c->n_aux; s++)
            if (rows)
                std::sort(out + s * c->cols, out + (s + 1) * c->cols);
            else
                std::sort(out + offsets[s], out + offsets[s + 1]);
        return true;
    }
    default:
        return false;
    }
}

template <class T> bool selections(grid_case *c)
{
    const size_t n = c->row.n;
    const bool turns =
        c->row.op == GRID_SELECT || c->row.op == GRID_UNIQUE || c->row.op == GRID_ENCODE;
    const T *in = turns ? input<T>(c) : as<const T>(c->in);
    T *out = as<T>(c->out[1]), value;
    const char *flags = c->aux;
    std::memcpy(&value, c->value, sizeof value);
    switch (c->row.op) {
    case GRID_SELECT:
        *c->count[1] =
            uint64_t(std::copy_if(in, in + n, out, [value](T x) { return x < value; }) - out);
        return true;
    case GRID_COMPACT: { // without branches
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
            out[kept] = in[i];
            kept += flags[i] != 0;
        }
        *c->count[1] = kept;
        return true;
    }
    case GRID_PARTITION: {
        static std::vector<T> others;
        size_t kept = 0, rest = 0;
        others.resize(n + 1);
        for (size_t i = 0; i < n; i++) {
            out[kept] = others[rest] = in[i];
            kept += flags[i] != 0;
            rest += flags[i] == 0;
        }
        std::copy(others.begin(), others.begin() + rest, out + kept);
        *c->count[1] = kept;
        return true;
    }
    case GRID_UNIQUE:
        *c->count[1] = uint64_t(std::unique_copy(in, in + n, out) - out);
        return true;
    case GRID_ENCODE: {
        uint64_t *lengths = as<uint64_t>(c->out2[1]);
        size_t runs = 0;
        for (size_t i = 0; i < n;) {
            size_t j = i + 1;
            while (j < n && in[j] == in[i]) j++;
            out[runs] = in[i];
            lengths[runs++] = j - i;
            i = j;
        }
        *c->count[1] = runs;
        return true;
    }
    case GRID_DECODE: {
        const uint64_t *lengths = as<const uint64_t>(c->aux2);
        for (size_t r = 0; r < c->n_aux; r++)
            out = std::fill_n(out, lengths[r], as<const T>(c->aux)[r]);
        return true;
    }
    default:
        return false;
    }
}

template <class T> bool arrangements(grid_case *c)
{
    const size_t n = c->row.n;
    const T *in = as<const T>(c->in);
    T *out = as<T>(c->out[1]);
    switch (c->row.op) {
    case GRID_SEARCH: {
        const T *needles = as<const T>(c->aux);
        int64_t *places = as<int64_t>(c->out[1]);
        for (size_t i = 0; i < n; i++) places[i] = std::lower_bound(in, in + n, needles[i]) - in;
        return true;
    }
    case GRID_GATHER: {
        const int64_t *places = as<const int64_t>(c->aux);
        for (size_t i = 0; i < n; i++) out[i] = in[places[i]];
        return true;
    }
    case GRID_TRANSPOSE: { // in blocks that the L1 cache holds
        const size_t rows = c->n_aux, cols = c->cols, block = 32;
        for (size_t r = 0; r < rows; r += block)
            for (size_t k = 0; k < cols; k += block)
                for (size_t j = k; j < std::min(k + block, cols); j++)
                    for (size_t i = r; i < std::min(r + block, rows); i++)
                        out[j * rows + i] = in[i * cols + j];
        return true;
    }
    case GRID_BINCOUNT: {
        const size_t bins = size_t(c->row.param);
        static std::vector<uint64_t>
            counts; // four, so that equal neighbours do not wait for each other
        counts.assign(4 * bins, 0);
        for (size_t i = 0; i < n; i++) counts[(i & 3) * bins + size_t(in[i])]++;
        for (size_t b = 0; b < bins; b++)
            as<uint64_t>(c->out[1])[b] =
                counts[b] + counts[bins + b] + counts[2 * bins + b] + counts[3 * bins + b];
        return true;
    }
    case GRID_HISTOGRAM: {
        const size_t bins = size_t(c->row.param);
        const double lower = c->range[0], scale = double(bins) / (c->range[1] - lower);
        uint64_t *counts = as<uint64_t>(c->out[1]);
        std::fill(counts, counts + bins, 0);
        for (size_t i = 0; i < n; i++)
            counts[std::min(bins - 1, size_t((double(in[i]) - lower) * scale))]++;
        return true;
    }
    default:
        return false;
    }
}

template <class T, class S> S sum_of(const T *in, size_t n)
{
    S sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) sum += S(in[i]);
    return sum;
}

template <class T> bool products(grid_case *c)
{
    const T *in = as<const T>(c->in);
    T *out = as<T>(c->out[1]);
    if (c->row.op == GRID_MATVEC) {
        const T *x = as<const T>(c->aux);
        for (size_t r = 0; r < c->n_aux; r++) {
            T sum = 0;
#pragma omp simd reduction(+ : sum)
            for (size_t k = 0; k < c->cols; k++) sum += in[r * c->cols + k] * x[k];
            out[r] = sum;
        }
        return true;
    }
    if (c->row.op != GRID_SPMV) return false;
    const int32_t *columns = as<const int32_t>(c->aux), *offsets = as<const int32_t>(c->aux2);
    const T *x = as<const T>(c->aux + 4 * c->row.n);
    for (size_t r = 0; r < c->n_aux; r++) {
        T sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int32_t i = offsets[r]; i < offsets[r + 1]; i++) sum += in[i] * x[columns[i]];
        out[r] = sum;
    }
    return true;
}

template <class T> bool reductions(grid_case *c)
{
    using S = sum_type<T>;
    const size_t n = c->row.n;
    const T *in = as<const T>(c->in);
    S *sums = as<S>(c->out[1]);
    const int32_t *offsets = as<const int32_t>(c->aux);
    switch (c->row.op) {
    case GRID_SUM:
        *sums = sum_of<T, S>(in, n);
        return true;
    case GRID_MIN: {
        T smallest = in[0];
#pragma omp simd reduction(min : smallest)
        for (size_t i = 0; i < n; i++) smallest = in[i] < smallest ? in[i] : smallest;
        *as<T>(c->out[1]) = smallest;
        return true;
    }
    case GRID_VARIANCE: {
        double squares = 0;
        const double mean = sum_of<T, double>(in, n) / double(n);
#pragma omp simd reduction(+ : squares)
        for (size_t i = 0; i < n; i++) squares += (double(in[i]) - mean) * (double(in[i]) - mean);
        *as<T>(c->out[1]) = T(squares / double(n));
        return true;
    }
    case GRID_SCAN: // integers wrap
        if constexpr (std::is_integral_v<T>) {
            using U = std::make_unsigned_t<T>;
            const U *from = as<const U>(c->in);
            std::inclusive_scan(from, from + n, as<U>(c->out[1]),
                                [](U a, U b) { return U(a + b); });
        } else {
            std::inclusive_scan(in, in + n, as<T>(c->out[1]));
        }
        return true;
    case GRID_REDUCE_ROWS:
        for (size_t s = 0; s < c->n_aux; s++) sums[s] = sum_of<T, S>(in + s * c->cols, c->cols);
        return true;
    case GRID_REDUCE_SEGMENTS:
        for (size_t s = 0; s < c->n_aux; s++)
            sums[s] = sum_of<T, S>(in + offsets[s], size_t(offsets[s + 1] - offsets[s]));
        return true;
    default:
        return false;
    }
}

template <class T> bool run(grid_case *c)
{
    if (sorts<T>(c) || selections<T>(c) || arrangements<T>(c) || reductions<T>(c)) return true;
    if constexpr (std::is_floating_point_v<T>) return products<T>(c);
    return false;
}

} // namespace

int row_std(grid_case *c)
{
    switch (c->row.dtype) {
    case ECH_I8:
        return run<int8_t>(c);
    case ECH_I16:
        return run<int16_t>(c);
    case ECH_I32:
        return run<int32_t>(c);
    case ECH_I64:
        return run<int64_t>(c);
    case ECH_U8:
        return run<uint8_t>(c);
    case ECH_U16:
        return run<uint16_t>(c);
    case ECH_U32:
        return run<uint32_t>(c);
    case ECH_U64:
        return run<uint64_t>(c);
    case ECH_F32:
        return run<float>(c);
    case ECH_F64:
        return run<double>(c);
    default:
        return 0; // std has no 16-bit floats
    }
}
