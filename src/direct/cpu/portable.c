/*
 * direct/cpu/portable.c - the steps of direct solvers, compiled for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_direct_portable
#include "direct/cpu/kernels.h"
