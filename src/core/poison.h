/*
 * core/poison.h - ASAN_POISON_MEMORY_REGION() and its counterpart, which do nothing in builds
 * without the address sanitizer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_POISON_H
#define ECHI_CORE_POISON_H

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)   ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

#endif
