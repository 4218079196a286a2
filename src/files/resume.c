/*
 * files/resume.c - which sort a manifest belongs to, and the files that an interrupted sort leaves.
 *
 * The first record of the manifest has fields: names and values, as text.  A sort is continued only
 * if it has the same fields.  So the message can state what has changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "files/resume.h"
#include "files/internal.h"
#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char budget_field[] = "the memory budget (in bytes)";
static const char temporary_field[] = "a temporary file";

/* ---- Fields ---- */

static void add(struct files_bytes *fields, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(struct files_bytes *fields, const char *name, const char *format, ...)
{
    va_list arguments;
    char *value = NULL;
    va_start(arguments, format);
    const int n = vasprintf(&value, format, arguments);
    va_end(arguments);
    fields->failed |= n < 0;
    if (n < 0) return;
    files_bytes_add(fields, name, strlen(name) + 1);
    files_bytes_add(fields, value, (size_t)n + 1);
    free(value);
}

/* The next field at *at; false at the end. */
static bool next_field(const struct files_bytes *fields, size_t *at, const char **name,
                       const char **value)
{
    if (*at >= fields->n) return false;
    *name = (const char *)fields->at + *at;
    *at += strlen(*name) + 1;
    if (*at >= fields->n) return false;
    *value = (const char *)fields->at + *at;
    *at += strlen(*value) + 1;
    return true;
}

/* The name of an input is only for the message: it may be renamed. */
static void add_input(struct files_bytes *fields, const struct files_input *input)
{
    struct stat about;
    struct tm utc;
    char name[320], when[32] = "";
    if (fstat(input->fd, &about) != 0) about = (struct stat){ 0 };
    snprintf(name, sizeof name, "the size of the input %.256s (in bytes)", input->name);
    add(fields, name, "%lld", (long long)about.st_size);
    if (gmtime_r(&about.st_mtim.tv_sec, &utc)) strftime(when, sizeof when, "%F %T", &utc);
    snprintf(name, sizeof name, "the last change of the input %.256s", input->name);
    add(fields, name, "%s.%09ld", when, (long)about.st_mtim.tv_nsec);
    snprintf(name, sizeof name, "the inode of the input %.256s", input->name);
    add(fields, name, "%" PRIu64, (uint64_t)about.st_ino);
    snprintf(name, sizeof name, "the part of the input %.256s that is sorted", input->name);
    add(fields, name, "%" PRIu64 " bytes from %" PRIu64, input->bytes, input->offset);
}

static void add_fields(const struct files_resume *resume, const struct files_sort *sort,
                       struct files_bytes *fields)
{
    const struct files_kind *kind = sort->kind;
    const struct files_plan *plan = &sort->plan;
    add(fields, "the version of echelon", "%s", ech_version());
    add(fields, "the output", "%s", resume->target);
    add(fields, "the kind of records", "%s of %zu, %zu and %zu bytes", kind->name,
        kind->input_bytes, kind->record_bytes, kind->output_bytes);
    add(fields, "the order", "%s", sort->options ? sort->options : "");
    add(fields, "--unique", "%s", sort->unique ? "given" : "not given");
    add(fields, "--verify", "%s", sort->verify ? "given" : "not given");
    add(fields, "the device", "%s", sort->device);
    add(fields, "the number of inputs", "%d", sort->input_count);
    for (int i = 0; i < sort->input_count; i++) add_input(fields, &sort->inputs[i]);
    add(fields, "the header of the output", "%zu bytes, %016" PRIx64, sort->head_bytes,
        files_hash(sort->head, sort->head_bytes, 0));
    add(fields, budget_field, "%" PRIu64, sort->memory_bytes);
    add(fields, "the plan", "%s blocks of %" PRIu64 " bytes, %u bins of %" PRIu64 " bytes",
        plan->fits || plan->counted ? "no" : "with", plan->block_bytes, plan->bins,
        plan->bin_bytes);
    add(fields, "the number of temporary files", "%d", resume->count);
    for (int i = 0; i < resume->count; i++)
        add(fields, temporary_field, "%s", resume->temporary[i]);
}

static io_status differs(struct files_resume *resume, const char *what, const char *was,
                         const char *is, struct io_error *error)
{
    resume->hopeless = true;
    return io_fail(error, IO_FAIL, resume->target,
                   "the interrupted sort cannot be continued: %s was \"%.200s\", and is \"%.200s\" "
                   "now; run the same command, or begin again with --resume=restart",
                   what, was, is);
}

/* Fails for the first value that differs. */
static io_status compare(struct files_resume *resume, const struct files_bytes *now,
                         struct io_error *error)
{
    const struct files_bytes *before = &resume->fields;
    const char *name[2], *value[2];
    size_t at[2] = { 0, 0 };
    for (;;) {
        const bool was = next_field(before, &at[0], &name[0], &value[0]);
        const bool is = next_field(now, &at[1], &name[1], &value[1]);
        if (!was && !is) return IO_OK;
        if (!was || !is || strcmp(value[0], value[1]) != 0)
            return differs(resume, is ? name[1] : name[0], was ? value[0] : "", is ? value[1] : "",
                           error);
    }
}

static const char *find_field(const struct files_resume *resume, const char *wanted)
{
    const char *name, *value;
    for (size_t at = 0; next_field(&resume->fields, &at, &name, &value);)
        if (strcmp(name, wanted) == 0) return value;
    return NULL;
}

uint64_t files_resume_budget(const struct files_resume *resume)
{
    const char *value = find_field(resume, budget_field);
    return value ? strtoull(value, NULL, 10) : 0;
}

/* ---- Names ---- */

/* From malloc(); NULL if out of memory. */
static char *make_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *make_text(const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    const int n = vasprintf(&text, format, arguments);
    va_end(arguments);
    return n < 0 ? NULL : text;
}

/* The folder of path without symbolic links, and its last component; NULL if that fails. */
static char *absolute(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    char *all = real ? make_text("%s/%s", strcmp(real, "/") == 0 ? "" : real, name) : NULL;
    free(folder);
    free(real);
    return all;
}

/* "DIR/.NAME" and an extension for "DIR/NAME".  A long name is truncated. */
static char *hidden(const char *path, const char *extension)
{
    const char *slash = strrchr(path, '/');
    return make_text("%.*s/.%.200s.%s", (int)(slash - path), path, slash + 1, extension);
}

static char *temporary_name(const struct files_resume *resume, const char *directory, int i)
{
    char *real = realpath(directory, NULL);
    const uint64_t hash = files_hash(resume->target, strlen(resume->target), 0);
    char *all = make_text("%s/echelon-%016" PRIx64 ".%d", real ? real : directory, hash, i);
    free(real);
    return all;
}

static bool make_names(struct files_resume *resume, const char *path,
                       const char *const *directories, int count)
{
    resume->target = absolute(path);
    resume->part = resume->target ? hidden(resume->target, "echelon-part") : NULL;
    resume->temporary = calloc((size_t)count, sizeof *resume->temporary);
    if (!resume->part || !resume->temporary) return false;
    for (int i = 0; i < count && i < FILES_MOST_DIRECTORIES; i++) {
        resume->temporary[i] = temporary_name(resume, directories[i], i);
        if (!resume->temporary[i]) return false;
        resume->count++;
    }
    return true;
}

/* ---- Open ---- */

struct complete {
    uint64_t inode, bytes;
};

/* Whether the output has got its name, after which only files are removed.  The manifest is read
 * up to its last record. */
static io_status find_complete(struct files_resume *resume, struct io_error *error)
{
    struct files_manifest *m = &resume->manifest;
    const uint64_t at = m->at, chain = m->at_chain;
    struct complete end = { 0 };
    struct stat about;
    io_status status = IO_OK;
    if (!m->counts[FILES_RECORD_END] || lstat(resume->part, &about) == 0) return IO_OK;
    while (files_manifest_next(m, FILES_RECORD_ANY, error, &status)) continue;
    m->at = at;
    m->at_chain = chain;
    if (status != IO_OK || m->record.n != sizeof end) return status;
    memcpy(&end, m->record.at, sizeof end);
    resume->state = FILES_RESUME_COMPLETE;
    if (stat(resume->target, &about) == 0 && about.st_ino == end.inode &&
        (uint64_t)about.st_size == end.bytes)
        return IO_OK;
    /* It was complete, and something replaced it: nothing is left to be continued. */
    return files_resume_discard(resume, error);
}

static io_status load(struct files_resume *resume, struct io_error *error)
{
    struct files_manifest *m = &resume->manifest;
    io_status status;
    resume->state = FILES_RESUME_DAMAGED;
    if (!files_manifest_next(m, FILES_RECORD_SORT, error, &status)) return status;
    const unsigned char end = 0;
    files_bytes_add(&resume->fields, m->record.at, m->record.n);
    files_bytes_add(&resume->fields, &end, 1);
    if (resume->fields.failed) return io_no_memory(error, m->path, m->record.n, "its contents");
    resume->fields.n--; /* the last string has an end in any case */
    resume->state = FILES_RESUME_INTERRUPTED;
    resume->blocks_before = m->counts[FILES_RECORD_BLOCK];
    return find_complete(resume, error);
}

io_status files_resume_open(struct files_resume *resume, const char *path,
                            const char *const *directories, int count, struct io_error *error)
{
    *resume = (struct files_resume){ .manifest = { .fd = -1 } };
    io_status status = IO_OK;
    char *name = NULL;
    if (make_names(resume, path, directories, count))
        name = hidden(resume->target, "echelon-resume");
    if (!name)
        status = io_fail(error, IO_MEMORY, path, "cannot find its directory: %s", strerror(errno));
    else
        status = files_manifest_open(&resume->manifest, name, error);
    free(name);
    if (status == IO_OK && resume->manifest.found) status = load(resume, error);
    if (status != IO_OK) files_resume_close(resume);
    return status;
}

void files_resume_close(struct files_resume *resume)
{
    files_manifest_close(&resume->manifest);
    for (int i = 0; i < resume->count; i++) free(resume->temporary[i]);
    free(resume->temporary);
    free(resume->target);
    free(resume->part);
    files_bytes_free(&resume->fields);
    *resume = (struct files_resume){ .manifest = { .fd = -1 } };
}

/* ---- Begin ---- */

/* Opens a file that must exist, or that must not exist. */
static int open_file(const char *path, bool exists)
{
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (exists ? 0 : O_CREAT | O_EXCL);
    int fd;
    if (!exists) unlink(path);
    do {
        fd = open(path, flags, 0600);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* Replaces the file of the output by the one that is kept. */
static io_status take_output(struct files_resume *resume, struct io_output *output,
                             struct io_error *error)
{
    const bool started = resume->manifest.counts[FILES_RECORD_OUTPUT] > 0;
    struct stat about = { .st_mode = 0600 };
    const int fd = open_file(resume->part, started);
    const bool missing = fd < 0 && errno == ENOENT && started;
    if (missing) resume->hopeless = true;
    if (fd < 0)
        return io_fail(error, IO_FAIL, resume->part, "cannot open: %s%s", strerror(errno),
                       missing ? "; begin again with --resume=restart" : "");
    /* The mode and the owner that the output will have; so far, only the user may read it. */
    if (fstat(output->fd, &about) == 0 && fchown(fd, about.st_uid, about.st_gid) != 0) errno = 0;
    if (output->temporary) {
        unlink(output->temporary);
        io_temporary_forget(output->temporary);
        free(output->temporary);
        output->temporary = NULL;
    }
    resume->mode = about.st_mode & 07777;
    close(output->fd);
    output->fd = fd;
    output->unnamed = false;
    resume->active = true;
    return IO_OK;
}

static io_status create(struct files_resume *resume, const struct files_bytes *fields,
                        struct io_error *error)
{
    files_manifest_add(&resume->manifest, FILES_RECORD_SORT, fields);
    files_bytes_add(&resume->fields, fields->at, fields->n);
    resume->manifest.pending.failed |= resume->fields.failed;
    return files_manifest_create(&resume->manifest, error);
}

io_status files_resume_begin(struct files_resume *resume, const struct files_sort *sort,
                             struct io_error *error)
{
    struct files_bytes fields = { 0 };
    struct files_manifest *m = &resume->manifest;
    const bool whole = sort->plan.fits || sort->plan.counted;
    io_status status = IO_OK;
    if (resume->state == FILES_RESUME_DAMAGED) {
        resume->hopeless = true;
        return io_fail(error, IO_FAIL, m->path, "is damaged; begin again with --resume=restart");
    }
    add_fields(resume, sort, &fields);
    if (fields.failed)
        status = io_no_memory(error, resume->target, fields.n, "the manifest");
    else if (m->found)
        status = compare(resume, &fields, error);
    else if (!whole)
        status = create(resume, &fields, error);
    files_bytes_free(&fields);
    if (status != IO_OK || whole) return status;
    if (m->found && ftruncate(m->fd, (off_t)m->bytes) != 0)
        return io_fail(error, IO_FAIL, m->path, "cannot write: %s", strerror(errno));
    status = take_output(resume, sort->output, error);
    files_sync_folder(resume->part);
    struct io_error ignored;
    if (status != IO_OK && !m->found) files_resume_discard(resume, &ignored);
    return status;
}

int files_resume_file(struct files_resume *resume, int i)
{
    const char *name = resume->temporary[i];
    const bool started = resume->manifest.counts[FILES_RECORD_BLOCK] > 0;
    struct stat about;
    const int fd = open_file(name, started);
    if (fd < 0 && started && errno == ENOENT) resume->hopeless = true;
    if (fd < 0) return fd;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid()) {
        if (!started) files_sync_folder(name);
        return fd;
    }
    close(fd);
    errno = EPERM;
    return -1;
}

/* ---- End ---- */

/* Writes what is in the buffer, which io_commit() would write. */
static int flush(struct io_output *output)
{
    const off_t at = lseek(output->fd, 0, SEEK_CUR);
    if (at < 0) return errno;
    const int why = files_write_at(output->fd, output->buffer, output->used, (uint64_t)at);
    if (!why) output->written_bytes += output->used;
    if (!why) output->used = 0;
    return why;
}

io_status files_resume_commit(struct files_resume *resume, struct io_output *output,
                              struct io_error *error)
{
    struct files_manifest *m = &resume->manifest;
    struct files_bytes contents = { 0 };
    struct stat about = { 0 };
    if (!resume->active) return IO_OK;
    int why = flush(output);
    if (!why && fchmod(output->fd, resume->mode) != 0) why = errno;
    if (!why && fsync(output->fd) != 0) {
        why = errno;
        resume->lost = true;
    }
    if (!why && fstat(output->fd, &about) != 0) why = errno;
    const struct complete end = { about.st_ino, (uint64_t)about.st_size };
    files_bytes_add(&contents, &end, sizeof end);
    files_manifest_add(m, FILES_RECORD_END, &contents);
    files_bytes_free(&contents);
    files_manifest_take(m);
    if (!why) why = files_manifest_write(m);
    if (!why && rename(resume->part, resume->target) != 0) why = errno;
    if (why) {
        files_resume_leave(resume, output);
        return io_fail(error, IO_FAIL, output->name, "cannot write: %s", strerror(why));
    }
    files_sync_folder(resume->target);
    resume->active = false;
    resume->state = FILES_RESUME_COMPLETE;
    const uint64_t blocks = resume->blocks_before;
    const io_status status = files_resume_discard(resume, error);
    resume->blocks_before = blocks; /* for the report */
    return status;
}

/* The manifest last: it has the names of the others. */
io_status files_resume_discard(struct files_resume *resume, struct io_error *error)
{
    struct files_manifest *m = &resume->manifest;
    const struct files_bytes none = { 0 };
    const char *name, *value;
    const char *failed = NULL;
    if (m->fd < 0) { /* the lock, in case another process begins */
        files_manifest_add(m, FILES_RECORD_SORT, &none);
        const io_status status = files_manifest_create(m, error);
        if (status != IO_OK) return status;
    }
    for (size_t at = 0; next_field(&resume->fields, &at, &name, &value);)
        if (strcmp(name, temporary_field) == 0 && unlink(value) != 0 && errno != ENOENT)
            failed = value;
    for (int i = 0; i < resume->count; i++)
        if (unlink(resume->temporary[i]) != 0 && errno != ENOENT) failed = resume->temporary[i];
    if (unlink(resume->part) != 0 && errno != ENOENT) failed = resume->part;
    if (!failed && unlink(m->path) != 0 && errno != ENOENT) failed = m->path;
    if (failed) return io_fail(error, IO_FAIL, failed, "cannot remove: %s", strerror(errno));
    char *path = m->path;
    m->path = NULL;
    files_manifest_close(m);
    const bool good = files_manifest_init(m, path);
    if (!good) io_no_memory(error, path, strlen(path), "its name");
    free(path);
    files_bytes_free(&resume->fields);
    resume->state = FILES_RESUME_NEW;
    resume->blocks_before = 0;
    return good ? IO_OK : IO_MEMORY;
}

bool files_resume_is_kept(const struct files_resume *resume)
{
    return resume->manifest.fd >= 0;
}

void files_resume_leave(struct files_resume *resume, struct io_output *output)
{
    struct io_error ignored;
    if (!resume->active) return;
    if (output->fd > STDERR_FILENO) close(output->fd);
    output->fd = -1;
    resume->active = false;
    if (resume->lost || !resume->manifest.counts[FILES_RECORD_BLOCK])
        files_resume_discard(resume, &ignored);
}
