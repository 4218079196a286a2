/*
 * check_summary.h - the properties of a sequence of records that "echelon check" reports, and those
 * of several sequences together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_CHECK_SUMMARY_H
#define ECHELON_CLI_CHECK_SUMMARY_H

#include "cli.h"
#include "crc32.h"
#include "sort_benchmark.h"

/* The records and their key, which is compared as a string of bytes. */
struct record_layout {
    size_t bytes;
    size_t key_offset, key_bytes;
};

struct summary {
    u128 first_unordered; /* number of the first record whose key precedes that of the record before
                             it; 0: none */
    u128 unordered;       /* number of such records */
    u128 n;
    u128 duplicates;            /* records whose key equals that of the record before */
    u128 checksum;              /* sum of the CRC-32 of the records */
    const unsigned char *first; /* the first and the last record, of a part */
    const unsigned char *last;
};

/* Compares the keys of two records, as memcmp() does. */
int layout_compare(const struct record_layout *layout, const unsigned char *a,
                   const unsigned char *b);
/* The summary of n records; first and last point to them. */
void summary_of(const struct record_layout *layout, const struct crc32 *crc,
                const unsigned char *records, size_t n, struct summary *summary);
/* Adds the summary of the records that follow.  first and last are memory for a record each, in
 * which the first and the last record of all are kept. */
void summary_add(const struct record_layout *layout, struct summary *all, unsigned char *first,
                 unsigned char *last, const struct summary *next);

/* A summary as the program valsort stores it: five integers of 16 bytes and two records. */
enum { SUMMARY_HEAD = 80 };
void summary_store(const struct summary *summary, unsigned char head[SUMMARY_HEAD]);
void summary_load(struct summary *summary, const unsigned char head[SUMMARY_HEAD]);

/* Print the report. */
void summary_print(const struct summary *summary, FILE *to);
void summary_print_json(const struct summary *summary, FILE *to);

#endif
