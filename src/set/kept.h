/*
 * set/kept.h - which elements a set operation keeps; shared by host code and kernels.
 *
 * The elements of a and b that are equal are paired: the r-th one of a with the r-th one of b.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SET_KEPT_H
#define ECHI_SET_KEPT_H

enum {
    ECHI_SET_A = 1 << 1,   /* those of a without a partner */
    ECHI_SET_B = 1 << 2,   /* those of b without a partner */
    ECHI_SET_BOTH = 1 << 3 /* of a pair, the one of a */
};

#endif
