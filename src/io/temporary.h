/*
 * io/temporary.h - temporary files that are removed even if a signal ends the program; for
 * output.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_TEMPORARY_H
#define ECHELON_IO_TEMPORARY_H

/* Creates a file, whose name replaces the last six characters of pattern, and registers it.
 * Returns its descriptor, or -1 and sets errno. */
int io_temporary_make(char *pattern);

/* Gives the open file fd, which has no name, the name of a file that io_temporary_make() created,
 * and removes that file.  Returns 0, or -1 and sets errno. */
int io_temporary_link(int fd, const char *name);

/* The file has another name or no longer exists.  The caller frees the name. */
void io_temporary_forget(const char *name);

/* Waits for the end of the program if another thread handles a deadly signal. */
void io_temporary_wait(void);

#endif
