/*
 * cpu/select_portable.c - the kernels of selections for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_select_portable
#include "select_kernels.h"
