/*
 * files/resume.h - a sort that can be continued after it was interrupted.
 *
 *     files_resume_open()      finds and locks the manifest of an output
 *     files_sort()             with sort->resume: records what is done, or continues
 *     files_resume_commit()    gives the output its name, removes all other files
 *     files_resume_discard()   removes all files
 *     files_resume_close()
 *
 * For the output DIR/NAME the manifest is DIR/.NAME.echelon-resume, and the output is written to
 * DIR/.NAME.echelon-part.  The temporary files are echelon-HASH.I in the folders for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_FILES_RESUME_H
#define ECHELON_FILES_RESUME_H

#include "files/files.h"
#include "files/manifest.h"

enum files_resume_state {
    FILES_RESUME_NEW,         /* there is no manifest */
    FILES_RESUME_INTERRUPTED, /* a sort was interrupted */
    FILES_RESUME_COMPLETE,    /* the output has its name, and only other files remain */
    FILES_RESUME_DAMAGED      /* there is a manifest, but it cannot be read */
};

struct files_resume {
    struct files_manifest manifest;
    enum files_resume_state state;
    char *target, *part; /* the output, and the name under which it is written */
    int count;
    char **temporary;          /* [count] names of temporary files */
    struct files_bytes fields; /* of the manifest: name, 0, value, 0 and so on */
    mode_t mode;               /* that the output will have */
    bool active;               /* files_sort() uses it */
    bool hopeless;             /* after an error: it would occur again */
    bool lost; /* the disk failed to store the output, and may not report it again */
    /* Results */
    uint64_t blocks_before, bytes_before; /* what was done before: blocks; bytes of the output */
};

/* path: the output, without symbolic links.  directories: for temporary files. */
io_status files_resume_open(struct files_resume *resume, const char *path,
                            const char *const *directories, int count, struct io_error *error);
/* The memory budget of an interrupted sort; 0: unknown. */
uint64_t files_resume_budget(const struct files_resume *resume);
/* Flushes the output, gives it its name, and removes all other files.  The caller closes it. */
io_status files_resume_commit(struct files_resume *resume, struct io_output *output,
                              struct io_error *error);
/* Removes all files of an interrupted sort, or of one that is complete.  The state is new then. */
io_status files_resume_discard(struct files_resume *resume, struct io_error *error);
/* Whether the files of an interrupted sort exist. */
bool files_resume_is_kept(const struct files_resume *resume);
void files_resume_close(struct files_resume *resume);

/* ---- For files_sort() ---- */

/* Begins a sort that was planned, or verifies that it is the one that was interrupted.  The output
 * becomes the file that is kept. */
io_status files_resume_begin(struct files_resume *resume, const struct files_sort *sort,
                             struct io_error *error);
/* Opens temporary file i, which must exist if blocks were recorded.  Returns -1 and sets errno. */
int files_resume_file(struct files_resume *resume, int i);
/* After an error: the output is not removed by io_discard(), or all files are, if nothing was
 * recorded. */
void files_resume_leave(struct files_resume *resume, struct io_output *output);

#endif
