/*
 * simt/intrinsics.h - tests of CUDA's intrinsic functions: declarations that the kernels and their
 * oracle share.
 *
 * Each of n threads reads four words of input and writes one word to each slot: out[slot][thread].
 * The slots are listed here. intrinsics_<group>.cuh computes them with the intrinsic functions,
 * intrinsics_<group>.c in plain C. Threads are numbered through the grid, x fastest within the
 * block and then within the grid.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_INTRINSICS_H
#define SIMT_INTRINSICS_H

#include <stdint.h>

enum { INTRINSICS_INPUTS = 4, INTRINSICS_SCRATCH = 4 };

struct intrinsics_args {
    const uint64_t *in; /* [n][INTRINSICS_INPUTS], aligned to 32 bytes */
    uint64_t *out;      /* [slots][n], zero */
    uint64_t *scratch;  /* [n][INTRINSICS_SCRATCH], aligned to 32 bytes, zero */
    uint32_t n;
};

/* Each list becomes an enumeration and the slot names for messages. */
/* clang-format off */
#define INTEGER_SLOTS(SLOT)                                                                        \
    SLOT(POPC) SLOT(POPCLL) SLOT(CLZ) SLOT(CLZLL) SLOT(FFS) SLOT(FFSLL) SLOT(BREV) SLOT(BREVLL)    \
    SLOT(BYTE_PERM) SLOT(FUNNEL_L) SLOT(FUNNEL_R) SLOT(FUNNEL_LC) SLOT(FUNNEL_RC)                  \
    SLOT(MULHI) SLOT(UMULHI) SLOT(MUL64HI) SLOT(UMUL64HI) SLOT(MUL24) SLOT(UMUL24)                 \
    SLOT(DP4A) SLOT(UDP4A) SLOT(DP2A_LO) SLOT(DP2A_HI) SLOT(UDP2A_LO) SLOT(UDP2A_HI)               \
    SLOT(SAD) SLOT(USAD) SLOT(HADD) SLOT(RHADD) SLOT(UHADD) SLOT(URHADD)                           \
    SLOT(VADD4) SLOT(VSUB4) SLOT(VCMPEQ4) SLOT(VMINU4) SLOT(VMAXU4) SLOT(VMAXU2)                   \
    SLOT(MIN) SLOT(MAX) SLOT(MIN_U) SLOT(MAX_U) SLOT(MIN_IU) SLOT(MAX_IU) SLOT(MIN_UI)             \
    SLOT(MAX_UI) SLOT(MIN_LL) SLOT(MAX_LL) SLOT(MIN_ULL) SLOT(MAX_ULL) SLOT(MIN_LLULL)             \
    SLOT(MAX_ULLLL) SLOT(MIN_L) SLOT(MAX_UL) SLOT(UMIN) SLOT(UMAX) SLOT(LLMIN) SLOT(LLMAX)         \
    SLOT(ULLMIN) SLOT(ULLMAX) SLOT(ABS) SLOT(LLABS) SLOT(MIN_TYPE)

#define FLOAT_SLOTS(SLOT)                                                                          \
    SLOT(AS_INT) SLOT(AS_UINT) SLOT(INT_AS) SLOT(UINT_AS) SLOT(AS_LL) SLOT(LL_AS) SLOT(HIINT)      \
    SLOT(LOINT) SLOT(HILOINT)                                                                      \
    SLOT(FADD) SLOT(FSUB) SLOT(FMUL) SLOT(FDIV) SLOT(FMAF) SLOT(FMAF_RU) SLOT(FRCP) SLOT(FSQRT)    \
    SLOT(FRSQRT) SLOT(DADD) SLOT(DSUB) SLOT(DMUL) SLOT(DDIV) SLOT(DFMA) SLOT(DRCP) SLOT(DSQRT)     \
    SLOT(SATURATE) SLOT(MIN) SLOT(MAX) SLOT(MIN_D) SLOT(MAX_D) SLOT(MIN_FD) SLOT(MAX_DF)           \
    SLOT(FMINF) SLOT(FMAXF) SLOT(I_RN) SLOT(I_RZ) SLOT(I_RU) SLOT(I_RD) SLOT(U_RN) SLOT(U_RZ)      \
    SLOT(U_RU) SLOT(U_RD) SLOT(LL_RN) SLOT(LL_RZ) SLOT(LL_RU) SLOT(LL_RD) SLOT(ULL_RN)             \
    SLOT(ULL_RZ) SLOT(ULL_RU) SLOT(ULL_RD)                                                         \
    SLOT(DI_RN) SLOT(DI_RZ) SLOT(DI_RU) SLOT(DI_RD) SLOT(DU_RN) SLOT(DU_RZ) SLOT(DU_RU)            \
    SLOT(DU_RD) SLOT(DLL_RN) SLOT(DLL_RZ) SLOT(DLL_RU) SLOT(DLL_RD) SLOT(DULL_RN) SLOT(DULL_RZ)    \
    SLOT(DULL_RU) SLOT(DULL_RD)                                                                    \
    SLOT(FROM_INT) SLOT(FROM_UINT) SLOT(FROM_LL) SLOT(FROM_ULL) SLOT(D_FROM_INT)                   \
    SLOT(D_FROM_UINT) SLOT(D_FROM_LL) SLOT(D_FROM_ULL) SLOT(FROM_D)                                \
    SLOT(RSQRTF) SLOT(RSQRT) SLOT(RSQRT_D) SLOT(FDIVIDEF) SLOT(FAST_DIVIDE) SLOT(EXPF)             \
    SLOT(EXP10F) SLOT(LOGF) SLOT(LOG2F) SLOT(LOG10F) SLOT(POWF) SLOT(SINF) SLOT(COSF) SLOT(TANF)

#define WARP_SLOTS(SLOT)                                                                           \
    SLOT(IDX_INT) SLOT(IDX_UINT) SLOT(IDX_LONG) SLOT(IDX_ULONG) SLOT(IDX_LL) SLOT(IDX_ULL)         \
    SLOT(IDX_FLOAT) SLOT(IDX_DOUBLE)                                                               \
    SLOT(UP_INT) SLOT(UP_UINT) SLOT(UP_LONG) SLOT(UP_ULONG) SLOT(UP_LL) SLOT(UP_ULL)               \
    SLOT(UP_FLOAT) SLOT(UP_DOUBLE)                                                                 \
    SLOT(DOWN_INT) SLOT(DOWN_UINT) SLOT(DOWN_LONG) SLOT(DOWN_ULONG) SLOT(DOWN_LL) SLOT(DOWN_ULL)   \
    SLOT(DOWN_FLOAT) SLOT(DOWN_DOUBLE)                                                             \
    SLOT(XOR_INT) SLOT(XOR_UINT) SLOT(XOR_LONG) SLOT(XOR_ULONG) SLOT(XOR_LL) SLOT(XOR_ULL)         \
    SLOT(XOR_FLOAT) SLOT(XOR_DOUBLE)                                                               \
    SLOT(IDX_W16) SLOT(IDX_W8) SLOT(IDX_W4) SLOT(IDX_W2) SLOT(IDX_W1)                              \
    SLOT(UP_W16) SLOT(UP_W8) SLOT(UP_W4) SLOT(UP_W2) SLOT(UP_W1)                                   \
    SLOT(DOWN_W16) SLOT(DOWN_W8) SLOT(DOWN_W4) SLOT(DOWN_W2) SLOT(DOWN_W1)                         \
    SLOT(XOR_W16) SLOT(XOR_W8) SLOT(XOR_W4) SLOT(XOR_W2) SLOT(XOR_W1)                              \
    SLOT(HALVES) SLOT(SOME_BALLOT) SLOT(SOME_IDX) SLOT(SOME_ADD) SLOT(SOME_MATCH)                  \
    SLOT(BALLOT) SLOT(ANY) SLOT(ALL) SLOT(ALL_TRUE) SLOT(ANY_FALSE) SLOT(ACTIVE)                   \
    SLOT(ANY_UINT) SLOT(ANY_INT) SLOT(ANY_LONG) SLOT(ANY_ULONG) SLOT(ANY_LL) SLOT(ANY_ULL)         \
    SLOT(ANY_FLOAT) SLOT(ANY_DOUBLE)                                                               \
    SLOT(ALL_SAME) SLOT(ALL_SAME_PRED) SLOT(ALL_NOT) SLOT(ALL_NOT_PRED) SLOT(ALL_ULL)              \
    SLOT(ALL_FLOAT) SLOT(ALL_DOUBLE)                                                               \
    SLOT(ADD_U) SLOT(ADD_I) SLOT(MIN_U) SLOT(MIN_I) SLOT(MAX_U) SLOT(MAX_I) SLOT(AND) SLOT(OR)     \
    SLOT(XOR)

#define MEMORY_SLOTS(SLOT)                                                                         \
    SLOT(ADD_I) SLOT(ADD_U) SLOT(ADD_ULL) SLOT(ADD_F) SLOT(ADD_D) SLOT(SUB_I) SLOT(SUB_U)          \
    SLOT(EXCH_I) SLOT(EXCH_U) SLOT(EXCH_ULL) SLOT(EXCH_F)                                          \
    SLOT(MIN_I) SLOT(MIN_U) SLOT(MIN_LL) SLOT(MIN_ULL)                                             \
    SLOT(MAX_I) SLOT(MAX_U) SLOT(MAX_LL) SLOT(MAX_ULL)                                             \
    SLOT(AND_I) SLOT(AND_U) SLOT(AND_ULL) SLOT(OR_I) SLOT(OR_U) SLOT(OR_ULL)                       \
    SLOT(XOR_I) SLOT(XOR_U) SLOT(XOR_ULL) SLOT(INC) SLOT(DEC)                                      \
    SLOT(CAS_US) SLOT(CAS_I) SLOT(CAS_U) SLOT(CAS_ULL)                                             \
    SLOT(SHARED_ADD) SLOT(SHARED_CAS) SLOT(TOTAL_ADD) SLOT(TOTAL_ADD_ULL) SLOT(TOTAL_FLOAT)        \
    SLOT(TOTAL_INC) SLOT(TOTAL_DEC) SLOT(TOTAL_MIN) SLOT(TOTAL_MAX) SLOT(TOTAL_OR)                 \
    SLOT(TOTAL_XOR) SLOT(TOTAL_CAS)                                                                \
    SLOT(LDG) SLOT(LDCA) SLOT(LDCG) SLOT(LDCS) SLOT(LDLU) SLOT(LDCV)                               \
    SLOT(LDG_U8) SLOT(LDG_S16) SLOT(LDG_U64) SLOT(LDG_F) SLOT(LDG_D) SLOT(LDG_UINT2)               \
    SLOT(LDG_UINT4) SLOT(LDG_USHORT4) SLOT(LDG_UCHAR4) SLOT(LDG_ULL2) SLOT(LDG_DOUBLE2)            \
    SLOT(STWB) SLOT(STCG) SLOT(STCS) SLOT(STWT) SLOT(STCS_UINT4) SLOT(STCG_ULL2)

#define PLACE_SLOTS(SLOT)                                                                          \
    SLOT(THREAD) SLOT(BLOCK) SLOT(BLOCK_DIM) SLOT(GRID_DIM) SLOT(WARP_SIZE) SLOT(COPIES)           \
    SLOT(SIZES) SLOT(ALIGNMENTS) SLOT(MAKE_BYTES) SLOT(MAKE_WORDS) SLOT(MAKE_FLOATS) SLOT(DIM3)    \
    SLOT(COUNT) SLOT(AND) SLOT(OR) SLOT(STATIC) SLOT(DYNAMIC) SLOT(TEMPLATE) SLOT(CONSTANT)        \
    SLOT(CLOCK) SLOT(AND_LAST)
/* clang-format on */

#define SLOT(name) INTEGER_##name,
enum { INTEGER_SLOTS(SLOT) INTEGER_SLOT_COUNT };
#undef SLOT
#define SLOT(name) FLOAT_##name,
enum { FLOAT_SLOTS(SLOT) FLOAT_SLOT_COUNT };
#undef SLOT
#define SLOT(name) WARP_##name,
enum { WARP_SLOTS(SLOT) WARP_SLOT_COUNT };
#undef SLOT
#define SLOT(name) MEMORY_##name,
enum { MEMORY_SLOTS(SLOT) MEMORY_SLOT_COUNT };
#undef SLOT
#define SLOT(name) PLACE_##name,
enum { PLACE_SLOTS(SLOT) PLACE_SLOT_COUNT };
#undef SLOT

/* The lanes of the SOME_ slots; bit 0 is set. */
#define WARP_SOME 0x80f13355u

#endif
