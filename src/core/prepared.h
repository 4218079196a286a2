/*
 * core/prepared.h - requests that do not change from call to call, such as those of operations
 * without options: prepared by the first call, in a static table.
 *
 *     if (!echi_is_prepared(state)) {
 *         ... make the request ...
 *         if (!echi_prepare(state, request, &made, sizeof made)) return NULL;
 *     }
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_PREPARED_H
#define ECHI_CORE_PREPARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

typedef _Atomic unsigned char echi_prepared; /* initially 0 */

enum { ECHI_NOT_PREPARED, ECHI_BEING_PREPARED, ECHI_PREPARED };

static inline bool echi_is_prepared(echi_prepared *state)
{
    return atomic_load_explicit(state, memory_order_acquire) == ECHI_PREPARED;
}

/* Stores the request.  Several threads may do so at the same time; false: another thread is just
 * doing it. */
static inline bool echi_prepare(echi_prepared *state, void *to, const void *made, size_t bytes)
{
    unsigned char expected = ECHI_NOT_PREPARED;
    if (!atomic_compare_exchange_strong(state, &expected, ECHI_BEING_PREPARED)) return false;
    memcpy(to, made, bytes);
    atomic_store_explicit(state, ECHI_PREPARED, memory_order_release);
    return true;
}

#endif
