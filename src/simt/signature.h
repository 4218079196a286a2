/*
 * simt/signature.h - the parameters of the kernels of a module, which "echelon emulate" compiled.
 *
 * The module exports simt_signatures; the compiler determines the types, so that typedefs and
 * template arguments need no parser.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_SIGNATURE_H
#define SIMT_SIGNATURE_H

#include <stdint.h>

enum simt_type {
    SIMT_TYPE_OTHER, /* a struct, a vector, void */
    SIMT_TYPE_SIGNED,
    SIMT_TYPE_UNSIGNED,
    SIMT_TYPE_FLOAT,
    SIMT_TYPE_BOOL
};

struct simt_parameter {
    enum simt_type type; /* of the parameter, or of what it points to */
    uint32_t bytes;      /* of this type; 0: void or an incomplete type */
    int pointer;         /* whether it is a pointer */
    int constant;        /* ... to const */
};

struct simt_member { /* of a parameter that is a struct */
    uint32_t parameter;
    const char *name;
    uint32_t offset;
    struct simt_parameter type;
};

struct simt_signature {
    const char *kernel;
    const struct simt_parameter *parameters;
    uint32_t count;
    const struct simt_member *members; /* of all parameters; a name NULL ends them */
};

#ifdef __cplusplus
#include <stddef.h>

#include <type_traits>

template <typename T, typename = void> struct simt_bytes {
    static constexpr uint32_t value = 0;
};

template <typename T> struct simt_bytes<T, decltype((void)sizeof(T))> {
    static constexpr uint32_t value = std::is_function<T>::value ? 0 : sizeof(T);
};

template <> struct simt_bytes<void, void> {
    static constexpr uint32_t value = 0;
};

template <typename P> constexpr struct simt_parameter simt_parameter_of()
{
    using pointed = typename std::remove_pointer<P>::type;
    using T = typename std::remove_cv<pointed>::type;
    return { std::is_same<T, bool>::value       ? SIMT_TYPE_BOOL
             : std::is_floating_point<T>::value ? SIMT_TYPE_FLOAT
             : !std::is_integral<T>::value      ? SIMT_TYPE_OTHER
             : std::is_signed<T>::value         ? SIMT_TYPE_SIGNED
                                                : SIMT_TYPE_UNSIGNED,
             simt_bytes<T>::value, std::is_pointer<P>::value, std::is_const<pointed>::value };
}

template <typename T> struct simt_parameters;

/* The type of parameter I of a function. */
template <size_t I, typename T> struct simt_parameter_type;
template <size_t I, typename P, typename... More>
struct simt_parameter_type<I, void(P, More...)> : simt_parameter_type<I - 1, void(More...)> {
};
template <typename P, typename... More> struct simt_parameter_type<0, void(P, More...)> {
    using type = typename std::remove_cv<P>::type;
};

template <typename... P> struct simt_parameters<void(P...)> {
    static constexpr struct simt_parameter of[sizeof...(P) + 1] = { simt_parameter_of<P>()... };
    static constexpr uint32_t count = sizeof...(P);
};

template <typename... P>
constexpr struct simt_parameter simt_parameters<void(P...)>::of[sizeof...(P) + 1];
#endif

#endif
