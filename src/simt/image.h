/*
 * simt/image.h - builds the table of kernels that a compiled module exports.
 *
 * image.cc.in names every kernel that it finds in the source's text. A kernel that the preprocessor
 * removed has no function; its name then refers to an object of type simt_none, and the table omits
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_IMAGE_H
#define SIMT_IMAGE_H

#include "simt/runtime.h"

#include <type_traits>
#include <utility>

struct simt_none {
};

struct simt_maybe {
    bool there;
    struct simt_kernel kernel;
};

/* The table's row for the function or the simt_none that a name refers to. */
template <typename T, T &entity> struct simt_row {
    static constexpr struct simt_maybe kernel(const char *, uint32_t)
    {
        return {};
    }
};

template <typename... P, void (&function)(P...)> struct simt_row<void(P...), function> {
    static constexpr uint32_t bytes[sizeof...(P) + 1] = { sizeof(P)... };

    /* Reading the arguments must not be reported as an access of the kernel. */
    template <size_t... I>
    __attribute__((no_sanitize("thread"))) static void unpack(void *const *parameters,
                                                              std::index_sequence<I...>)
    {
        (void)parameters; /* for a kernel without arguments */
        function(*static_cast<std::remove_const_t<P> *>(parameters[I])...);
    }

    static void call(void *const *parameters)
    {
        unpack(parameters, std::index_sequence_for<P...>());
    }

    static constexpr struct simt_maybe kernel(const char *name, uint32_t most_threads)
    {
        return { true, { name, call, bytes, sizeof...(P), most_threads } };
    }
};

template <typename... P, void (&function)(P...)>
constexpr uint32_t simt_row<void(P...), function>::bytes[];

template <size_t N> struct simt_table {
    struct simt_kernel kernels[N];
    uint32_t count;
};

/* The rows that have a function. */
template <size_t N> constexpr simt_table<N> simt_compact(const struct simt_maybe (&rows)[N])
{
    simt_table<N> table = {};
    for (size_t i = 0; i < N; i++)
        if (rows[i].there) table.kernels[table.count++] = rows[i].kernel;
    return table;
}

/* The first argument of __launch_bounds__; 0 without any. */
constexpr uint32_t simt_bound(uint32_t most_threads = 0, uint32_t = 0, uint32_t = 0)
{
    return most_threads;
}

#endif
