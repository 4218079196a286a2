/*
 * 7_bytes.cu - bank conflicts: adjacent bytes conflict with 16 banks.
 *
 * Idea:   a word is stored as four bytes in four arrays of 32 bytes: four adjacent lanes access
 *         the same word of shared memory
 * Cost:   no conflict with 32 banks, because lanes that access one word share it; with 16 banks,
 *         four wavefronts per half warp instead of one
 * Wastes: 24 of the 32 banks
 * From:   the char array of the lecture
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_7(const element *in, uint64_t n, element *out)
{
    __shared__ unsigned char s[4][32];
    unsigned lane = threadIdx.x, other = 31 - lane;
    uint64_t first = (uint64_t)blockIdx.x * 32;
    if (first + lane < n) {
        element x = in[first + lane];
        for (unsigned k = 0; k < 4; k++) s[k][lane] = (unsigned char)(x >> 8 * k);
    }
    __syncwarp(); /* all lanes have stored their bytes */
    if (first + other < n) {
        element x = 0;
        for (unsigned k = 0; k < 4; k++) x |= (element)s[k][other] << 8 * k;
        out[first + other] = x;
    }
}
