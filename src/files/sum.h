/*
 * files/sum.h - the sum of the hashes of records, for --verify.
 *
 * The sum does not depend on the order of the records.  A hash depends on all bits of a record, and
 * not on each byte by itself, so that the sum also differs if bytes of two records are exchanged.
 * A change that is not made on purpose leaves the sum the same with a probability of about 2^-64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FILES_SUM_H
#define FILES_SUM_H

#include <stddef.h>
#include <stdint.h>

/* The sum of n records of bytes bytes each. */
uint64_t files_sum_fixed(const unsigned char *at, size_t n, size_t bytes);
/* The sum of n records of these lengths.  Bytes before limit can be read. */
uint64_t files_sum_lines(const unsigned char *at, const uint32_t *lengths, size_t n,
                         const unsigned char *limit);

/* Records of 4 bytes, by AVX2. */
uint64_t files_sum_4_avx2(const unsigned char *at, size_t n);
/* Their prefixes, if they are numbers. */
struct files_rank;
void files_prefixes_4_avx2(const struct files_rank *rank, const unsigned char *at, size_t n,
                           uint64_t *prefixes);

#endif
