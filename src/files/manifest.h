/*
 * files/manifest.h - the manifest of a sort that can be continued: records in a file that only
 * grows.
 *
 *     record = type, bytes | contents | hash of these and of the record before
 *
 * What follows the first record that is incomplete or damaged does not count.  A record is written
 * when what it describes is on the disk.  The process that works on a manifest holds a lock on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_FILES_MANIFEST_H
#define ECHELON_FILES_MANIFEST_H

#include "io/io.h"

/* The hash of n bytes, which need not be aligned. */
uint64_t files_hash(const void *bytes, size_t n, uint64_t seed);

/* Bytes that grow. */
struct files_bytes {
    unsigned char *at;
    size_t n, room;
    bool failed; /* out of memory */
};
void files_bytes_add(struct files_bytes *to, const void *bytes, size_t n);
void files_bytes_free(struct files_bytes *bytes);

enum files_record {
    FILES_RECORD_ANY = 0,
    FILES_RECORD_SORT = 1,   /* which sort it is: resume.c */
    FILES_RECORD_CUTS = 2,   /* the others: journal.c */
    FILES_RECORD_BLOCK = 3,  /* a block of the first pass */
    FILES_RECORD_OUTPUT = 4, /* a part of the output */
    FILES_RECORD_END = 5,    /* the output is complete */
    FILES_RECORDS = 6
};

struct files_manifest {
    int fd;                         /* -1: there is none */
    char *path;                     /* owned */
    bool found;                     /* it existed before */
    uint64_t counts[FILES_RECORDS]; /* of valid records, and of those that were added */
    uint64_t bytes, chain;          /* of the valid records; the hash of the last one */
    uint64_t at, at_chain;          /* of files_manifest_next() */
    struct files_bytes record;      /* the contents of the record that was read */
    struct files_bytes pending;     /* records that were added */
    struct files_bytes writing;     /* records that files_manifest_write() writes */
};

/* A manifest that does not exist yet.  Returns false if out of memory. */
bool files_manifest_init(struct files_manifest *manifest, const char *path);
/* Opens and locks the manifest, if it exists, and counts its records.  The file must belong to the
 * user.  manifest->found without a record of the sort: it is damaged. */
io_status files_manifest_open(struct files_manifest *manifest, const char *path,
                              struct io_error *error);
/* Creates the manifest with the records that were added; fails if it exists. */
io_status files_manifest_create(struct files_manifest *manifest, struct io_error *error);
/* Reads the next record if it has this type; otherwise returns false.  *status: whether it can be
 * read. */
bool files_manifest_next(struct files_manifest *manifest, enum files_record type,
                         struct io_error *error, io_status *status);
/* Adds a record to those that are pending. */
void files_manifest_add(struct files_manifest *manifest, enum files_record type,
                        const struct files_bytes *contents);
/* Prepares to write all pending records; false if there is none. */
bool files_manifest_take(struct files_manifest *manifest);
/* Writes what was taken, and waits until it is on the disk.  Returns an errno, or 0. */
int files_manifest_write(struct files_manifest *manifest);
/* Frees the memory and the lock.  The file remains. */
void files_manifest_close(struct files_manifest *manifest);

/* Makes the names of files in the folder of path durable. */
void files_sync_folder(const char *path);
/* pwrite() of all bytes, and fdatasync(), again if interrupted.  Return an errno, or 0. */
int files_write_at(int fd, const void *bytes, size_t n, uint64_t offset);
int files_sync(int fd);

#endif
