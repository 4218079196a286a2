/*
 * search/cpu/few.h - searches in few elements, by vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SEARCH_CPU_FEW_H
#define ECHI_SEARCH_CPU_FEW_H

#include "search/search.h"

/* Writes all positions if there are elements, which fit in two vectors of lanes of 32 or 64 bits;
 * otherwise returns false. */
bool echi_search_few_avx512(const struct echi_search *s);

#endif
