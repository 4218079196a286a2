/*
 * sort_need.c - whether "echelon sort" has to sort its inputs out of core.
 *
 * An input larger than a quarter of the budget is, and one of unknown size: a pipe, a compressed
 * file.  Records of text that are short need many times their size, so a smaller text is sampled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "io/packing.h"
#include "sort_files.h"

#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The arrays of a sort in memory need at most this much per record of text. */
enum { RECORD_BYTES = 64, PROBES = 16, PROBE = 4 << 10 };

struct need {
    uint64_t budget, bytes;
    double records; /* estimated */
    bool stream;    /* an input is not a plain regular file */
};

bool sort_text_fits(const struct sort_set *set, uint64_t bytes, uint64_t records)
{
    const uint64_t budget = sort_files_memory(set);
    return records < UINT64_MAX / RECORD_BYTES && bytes + records * RECORD_BYTES <= budget;
}

/* Whether the file is compressed, so that it may be much larger. */
static bool is_packed(int fd, off_t begin)
{
    unsigned char first[IO_MAGIC];
    const ssize_t n = pread(fd, first, sizeof first, begin);
    return n > 0 && io_codec_from_bytes(first, (size_t)n);
}

/* Estimates the records of a file, with some to spare. */
static double sample_records(int fd, uint64_t bytes, unsigned char terminator)
{
    char probe[PROBE];
    uint64_t read = 0, ends = 0;
    for (uint64_t i = 0; i < PROBES; i++) {
        const ssize_t n = pread(fd, probe, sizeof probe, (off_t)(bytes / PROBES * i));
        for (ssize_t k = 0; k < n; k++) ends += (unsigned char)probe[k] == terminator;
        if (n > 0) read += (uint64_t)n;
    }
    return read ? 1.1 * (double)bytes * (double)(ends + 1) / (double)read : 0;
}

/* A pipe with a name must not be opened twice, so only a regular file is. */
static void add(struct need *need, const struct sort_files *files, const char *name, bool text)
{
    struct stat about;
    const bool named = strcmp(name, "-") != 0;
    if ((named ? stat(name, &about) : fstat(STDIN_FILENO, &about)) != 0)
        return; /* an error follows */
    need->stream = !S_ISREG(about.st_mode);
    const int fd = need->stream ? -1 : named ? io_open_file(name, O_RDONLY) : dup(STDIN_FILENO);
    if (fd < 0) return;
    const uint64_t bytes = (uint64_t)about.st_size;
    const off_t at = lseek(fd, 0, SEEK_CUR);
    if (is_packed(fd, at < 0 ? 0 : at))
        need->stream = true;
    else if (text && bytes > need->budget / RECORD_BYTES / 2)
        need->records += sample_records(fd, bytes, files->set->text.zero ? 0 : (unsigned char)'\n');
    need->bytes += bytes;
    close(fd);
}

/* malloc() keeps what is freed, up to 32 MB per block and more than the budget in all, unless large
 * blocks come from the system and go back to it. */
static void return_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    enum { LARGE = 1 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

static bool is_needed(const struct sort_files *files)
{
    const struct sort_set *set = files->set;
    const char *format = set->words.job.format;
    struct need need = { .budget = sort_files_memory(set) };
    if (sort_files_option(set)) return true;
    if (set->text.merge) return false;
    if (files->text->n_names > 1 && !files->lines) return true; /* several arrays */
    for (int i = 0; i < files->text->n_names && !need.stream; i++) {
        const char *name = files->text->names[i];
        const int known = format ? io_format_from_name(format) : io_format_from_extension(name);
        add(&need, files, name, files->lines || known < 0 || known == IO_TEXT);
    }
    /* The positions of numbers of one byte need 16 times their size. */
    const uint64_t share = files->job->argsort ? 32 : 4;
    return need.stream || need.bytes > need.budget / share ||
           !sort_text_fits(set, need.bytes, (uint64_t)need.records);
}

bool sort_files_needed(const struct sort_files *files)
{
    const bool needed = is_needed(files);
    if (needed) return_memory();
    return needed;
}
