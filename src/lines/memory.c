/*
 * lines/memory.c - memory for arrays that are read in random order.
 *
 * Large arrays are aligned to huge pages, so that fewer addresses have to be translated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _DEFAULT_SOURCE
#include "lines/lines.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

void *lines_allocate(size_t bytes)
{
    void *memory;
    if (bytes < HUGE_PAGE || bytes > PTRDIFF_MAX) return malloc(bytes ? bytes : 1);
    const size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (posix_memalign(&memory, HUGE_PAGE, whole) != 0) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(memory, whole, MADV_HUGEPAGE);
#endif
    return memory;
}
