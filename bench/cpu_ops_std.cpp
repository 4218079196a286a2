// cpu_ops_std.cpp - competitors: the C++ standard library, its parallel algorithms, OpenMP loops.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_ops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#include <parallel/algorithm>
#include <parallel/numeric>
#endif
#ifdef WITH_TBB
#include <execution>
#include <tbb/global_control.h>
#endif

namespace {

enum kind { STD, GNU, OPENMP, TBB };

template <class T> struct wide {
    using type = int64_t;
};
template <> struct wide<float> {
    using type = float;
};
template <> struct wide<double> {
    using type = double;
};
template <> struct wide<uint32_t> {
    using type = uint64_t;
};

template <class T> T half()
{
    return std::is_floating_point<T>::value ? T(0.5) : T(std::numeric_limits<T>::max() / 2 + 1);
}

template <class T> int run_std(call *c)
{
    using W = typename wide<T>::type;
    const T *in = static_cast<const T *>(c->in);
    T *out = static_cast<T *>(c->out);
    if (c->threads > 1) return 0;
    switch (c->op) {
    case CALL_SUM:
        c->result = double(std::reduce(in, in + c->n, W(0)));
        return 1;
    case CALL_MAX:
        c->result = double(*std::max_element(in, in + c->n));
        return 1;
    case CALL_SCAN:
        std::inclusive_scan(in, in + c->n, out);
        return 1;
    case CALL_SELECT:
        c->result = double(std::copy_if(in, in + c->n, out, [](T x) { return x < half<T>(); }) - out);
        return 1;
    case CALL_UNIQUE:
        c->result = double(std::unique_copy(in, in + c->n, out) - out);
        return 1;
    case CALL_REVERSE:
        std::reverse_copy(in, in + c->n, out);
        return 1;
    case CALL_SHUFFLE: {
        std::copy(in, in + c->n, out);
        std::mt19937_64 random(42);
        std::shuffle(out, out + c->n, random);
        return 1;
    }
    default:
        return 0;
    }
}

#ifdef _OPENMP
template <class T> int run_gnu(call *c)
{
    const T *in = static_cast<const T *>(c->in);
    T *out = static_cast<T *>(c->out);
    omp_set_num_threads(c->threads);
    switch (c->op) {
    case CALL_SCAN:
        __gnu_parallel::partial_sum(in, in + c->n, out);
        return 1;
    case CALL_UNIQUE:
        c->result = double(__gnu_parallel::unique_copy(in, in + c->n, out) - out);
        return 1;
    case CALL_MAX:
        c->result = double(*__gnu_parallel::max_element(in, in + c->n));
        return 1;
    default:
        return 0;
    }
}

template <class T> int run_openmp(call *c)
{
    using W = typename wide<T>::type;
    const T *in = static_cast<const T *>(c->in);
    const size_t n = c->n;
    switch (c->op) {
    case CALL_SUM: {
        W sum = 0;
#pragma omp parallel for simd reduction(+ : sum) num_threads(c->threads)
        for (size_t i = 0; i < n; i++) sum += in[i];
        c->result = double(sum);
        return 1;
    }
    case CALL_MAX: {
        T most = in[0];
#pragma omp parallel for simd reduction(max : most) num_threads(c->threads)
        for (size_t i = 0; i < n; i++) most = in[i] > most ? in[i] : most;
        c->result = double(most);
        return 1;
    }
    case CALL_VARIANCE: { // the usual two-pass form
        double sum = 0, squares = 0;
#pragma omp parallel for simd reduction(+ : sum) num_threads(c->threads)
        for (size_t i = 0; i < n; i++) sum += double(in[i]);
        const double mean = sum / double(n);
#pragma omp parallel for simd reduction(+ : squares) num_threads(c->threads)
        for (size_t i = 0; i < n; i++) squares += (double(in[i]) - mean) * (double(in[i]) - mean);
        c->result = squares / double(n);
        return 1;
    }
    case CALL_COUNT: {
        const size_t bins = sizeof(T) == 1 ? 256 : 65536;
        if (sizeof(T) > 2) return 0;
        uint64_t *counts = static_cast<uint64_t *>(c->out);
        std::fill(counts, counts + bins, 0);
#pragma omp parallel num_threads(c->threads)
        {
            std::vector<uint64_t> mine(4 * bins);
#pragma omp for
            for (size_t i = 0; i < n; i++) mine[(i & 3) * bins + size_t(in[i])]++;
#pragma omp critical
            for (size_t b = 0; b < 4 * bins; b++) counts[b % bins] += mine[b];
        }
        return 1;
    }
    case CALL_HISTOGRAM: {
        uint64_t *counts = static_cast<uint64_t *>(c->out);
        std::fill(counts, counts + 256, 0);
#pragma omp parallel num_threads(c->threads)
        {
            std::vector<uint64_t> mine(4 * 256);
#pragma omp for
            for (size_t i = 0; i < n; i++) {
                const T x = in[i];
                if (x >= T(0) && x < T(1)) mine[(i & 3) * 256 + size_t(x * T(256))]++;
            }
#pragma omp critical
            for (size_t b = 0; b < 4 * 256; b++) counts[b % 256] += mine[b];
        }
        return 1;
    }
    default:
        return 0;
    }
}
#endif

#ifdef WITH_TBB
template <class T> int run_tbb(call *c)
{
    using W = typename wide<T>::type;
    const T *in = static_cast<const T *>(c->in);
    T *out = static_cast<T *>(c->out);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, size_t(c->threads));
    const auto how = std::execution::par_unseq;
    switch (c->op) {
    case CALL_SUM:
        c->result = double(std::reduce(how, in, in + c->n, W(0)));
        return 1;
    case CALL_MAX:
        c->result = double(*std::max_element(how, in, in + c->n));
        return 1;
    case CALL_SCAN:
        std::inclusive_scan(how, in, in + c->n, out);
        return 1;
    case CALL_SELECT:
        c->result =
            double(std::copy_if(how, in, in + c->n, out, [](T x) { return x < half<T>(); }) - out);
        return 1;
    case CALL_UNIQUE:
        c->result = double(std::unique_copy(how, in, in + c->n, out) - out);
        return 1;
    case CALL_REVERSE:
        std::reverse_copy(how, in, in + c->n, out);
        return 1;
    default:
        return 0;
    }
}
#endif

template <kind how, class T> int one(call *c)
{
    if constexpr (how == STD) return run_std<T>(c);
#ifdef _OPENMP
    if constexpr (how == GNU) return run_gnu<T>(c);
    if constexpr (how == OPENMP) return run_openmp<T>(c);
#endif
#ifdef WITH_TBB
    if constexpr (how == TBB) return run_tbb<T>(c);
#endif
    return 0;
}

template <kind how> int run(call *c)
{
    const auto is = [c](const char *dtype) { return !std::strcmp(c->dtype, dtype); };
    return is("u8")    ? one<how, uint8_t>(c)
           : is("u16") ? one<how, uint16_t>(c)
           : is("i32") ? one<how, int32_t>(c)
           : is("u32") ? one<how, uint32_t>(c)
           : is("f32") ? one<how, float>(c)
           : is("f64") ? one<how, double>(c)
                       : 0;
}

} // namespace

#define TEXT(x)        #x
#define VERSION(major) "libstdc++ " TEXT(major)

const contender contender_std = { "std", VERSION(__GNUC__), run<STD> };
const contender contender_gnu_parallel = { "__gnu_parallel", VERSION(__GNUC__), run<GNU> };
const contender contender_openmp = { "OpenMP loops", VERSION(__GNUC__), run<OPENMP> };
const contender contender_tbb = { "std with TBB", VERSION(__GNUC__), run<TBB> };
