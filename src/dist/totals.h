/*
 * dist/totals.h - the totals of the groups of a scan of floats (docs/scan.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIST_TOTALS_H
#define ECHI_DIST_TOTALS_H

#include "dist/dist.h"
#include "scan/scan.h"

/* The number of elements of a group. */
uint64_t echi_scan_group(size_t element_bytes);

/* The totals of groups in host memory, as bits of the type of the computation. */
void echi_scan_totals(const ech_ctx *ctx, const struct echi_scan *s, const void *in,
                      uint64_t groups, uint64_t *totals);

/* P[g + 1] = P[g] + the total of group g, or the product. */
uint64_t echi_scan_add(const struct echi_scan *s, uint64_t p, uint64_t total);

#endif
