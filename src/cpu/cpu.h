/*
 * cpu/cpu.h - what the files of the CPU backend share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_H
#define ECHI_CPU_H

#include "../internal.h"

struct echi_sort_isa;

/* ---- dispatch.c ---- */

/* Names the instruction sets that the dispatch uses on this machine. */
void echi_cpu_features(char *text, size_t capacity_bytes);

/* The best variant of the sort kernels that this machine can run, or the one that ECHELON_CPU
 * names. */
const struct echi_sort_isa *echi_cpu_sort_isa(void);

/* ---- sort.c ---- */

ech_status echi_cpu_sort_workspace(const struct echi_sort *sort, size_t *bytes);
ech_status echi_cpu_sort_explain(const struct echi_sort *sort, struct echi_text *text);
ech_status echi_cpu_sort(ech_ctx *ctx, const struct echi_sort *sort);

#endif
