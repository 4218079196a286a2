/*
 * cuda/pack.c - finds a pack of kernels and reads one module from it.
 *
 * The index is searched again for each module, because there are few and the driver takes longer to
 * load one. Nothing in a file is trusted: a length is checked against the file's size before it is
 * used.
 *
 * A stream contains several modules, which compress well together. To read one, those before it
 * must be decompressed, at 100 MB/s, which takes 2 to 70 ms once per context.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* dladdr, fmemopen */
#include "cuda/pack.h"
#include "core/environment.h"
#include "cuda/pack_code.h"
#include "cuda/pack_elf.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ECHELON_LZMA
#include <lzma.h>
#endif

#ifndef ECHELON_LIBDIR
#define ECHELON_LIBDIR "lib"
#endif
#ifndef ECHELON_PACK_FOLDER
#define ECHELON_PACK_FOLDER "echelon"
#endif

enum { LINE = 256, NAME = 128, SHOWN = 160 /* characters of a path in a message */ };
static const char first_words[] = "echelon-pack 1 ";

/* ---- Paths ---- */

/* Tries a path below the folder of `file`; that folder's name includes the last '/'. */
static bool try_path(const char *file, const char *below, const char *name,
                     char path[ECHI_PACK_PATH], bool first)
{
    char candidate[ECHI_PACK_PATH];
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) + 1 : 0;
    int length = snprintf(candidate, sizeof candidate, "%.*s%s" ECHELON_PACK_FOLDER "/%s", folder,
                          file, below, name);
    if (length < 0 || length >= (int)sizeof candidate) return false;
    if (first) memcpy(path, candidate, (size_t)length + 1);
    if (access(candidate, R_OK) != 0) return false;
    memcpy(path, candidate, (size_t)length + 1);
    return true;
}

void echi_pack_find(const char *name, const void *inside, char path[ECHI_PACK_PATH])
{
    const char *folder = echi_secure_getenv("ECHELON_PTX_DIR");
    char program[ECHI_PACK_PATH];
    Dl_info info;
    snprintf(path, ECHI_PACK_PATH, ECHELON_PACK_FOLDER "/%s", name);
    if (folder && *folder) {
        snprintf(path, ECHI_PACK_PATH, "%s/%s", folder, name);
        return;
    }
    bool known = dladdr(inside, &info) != 0 && info.dli_fname;
    if (known && try_path(info.dli_fname, "", name, path, true)) return;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return;
    program[length] = 0;
    if (try_path(program, "", name, path, !known)) return;
    try_path(program, "../" ECHELON_LIBDIR "/", name, path, false);
}

/* ---- Contents ---- */

static void __attribute__((format(printf, 2, 3)))
set_reason(char reason[ECHI_PACK_REASON], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason, ECHI_PACK_REASON, format, args);
    va_end(args);
}

/* Messages show the end of a long path. */
static const char *shown(const struct echi_pack *pack)
{
    if (pack->data) return "the library";
    size_t length = strlen(pack->path);
    return length > SHOWN ? pack->path + length - SHOWN : pack->path;
}

/* A whole line without its '\n'; false at the end of the file, or if the line is longer than any
 * line of a pack. */
static bool read_line(FILE *file, char line[LINE])
{
    if (!fgets(line, LINE, file)) return false;
    size_t length = strcspn(line, "\n");
    if (line[length] != '\n') return false;
    line[length] = 0;
    return true;
}

/* A part of a module in its stream, and the stream in the pack. */
struct part {
    uint64_t stream_offset, stream_bytes, offset, bytes;
};

/* A module: its code begins at code_at, between bytes of the rest. */
struct place {
    bool known; /* there is such a module, perhaps only for other GPUs */
    int fit;    /* 0: for other GPUs */
    bool ptx;
    struct part rest, code; /* code.bytes 0: all is in the rest */
    uint64_t code_at;
};

/* How well code fits a GPU; 0: it cannot run. */
static int fit_of(bool ptx, int arch, int gpu)
{
    if (arch < 1 || arch > gpu) return 0;
    if (ptx) return arch;
    return arch / 10 == gpu / 10 ? 10000 + arch : 0;
}

/* A line of the index: name, kind, and the parts; false if it is malformed. */
static bool read_row(const char *line, char name[NAME], char kind[16], struct place *p)
{
    int end = 0, end_of_code = 0;
    *p = (struct place){ .known = true };
    if (sscanf(line, "%127[a-z0-9_] %15[a-z0-9_] %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n",
               name, kind, &p->rest.stream_offset, &p->rest.stream_bytes, &p->rest.offset,
               &p->rest.bytes, &end) != 6)
        return false;
    if (line[end] == 0) return true;
    return sscanf(line + end, " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n",
                  &p->code.stream_offset, &p->code.stream_bytes, &p->code.offset, &p->code.bytes,
                  &p->code_at, &end_of_code) == 5 &&
           line[end + end_of_code] == 0;
}

/* Reads the index to its end; false if it is malformed. */
static bool read_index(FILE *file, const char *image, int gpu, struct place *place)
{
    char line[LINE], name[NAME], kind[16], variant;
    while (read_line(file, line)) {
        struct place p;
        int arch = 0;
        if (strcmp(line, "end") == 0) return true;
        if (!read_row(line, name, kind, &p)) return false;
        p.ptx = sscanf(kind, "compute_%d%c", &arch, &variant) >= 1;
        if (!p.ptx && sscanf(kind, "sm_%d%c", &arch, &variant) < 1) return false;
        if (strcmp(name, image) != 0) continue;
        p.fit = fit_of(p.ptx, arch, gpu);
        if (!place->known || p.fit > place->fit) *place = p;
    }
    return false;
}

#ifdef ECHELON_LZMA
/* Decompresses a stream and stores a part in data; decompresses to the end only if the checksum is
 * verified. */
static bool decompress(FILE *file, const struct part *part, bool check, unsigned char *data)
{
    enum { CHUNK = 1 << 16, MOST_MEMORY = 256 << 20 };
    struct {
        unsigned char in[CHUNK], out[CHUNK];
    } *buffer = malloc(sizeof *buffer);
    lzma_stream s = LZMA_STREAM_INIT;
    const uint64_t begin = part->offset, end = begin + part->bytes;
    uint64_t left = part->stream_bytes;
    lzma_ret result = LZMA_MEM_ERROR;
    if (buffer) result = lzma_stream_decoder(&s, MOST_MEMORY, 0);
    while (result == LZMA_OK && (check || s.total_out < end)) {
        if (s.avail_in == 0 && left > 0) {
            s.avail_in = fread(buffer->in, 1, left < CHUNK ? (size_t)left : CHUNK, file);
            s.next_in = buffer->in;
            left -= s.avail_in;
            if (s.avail_in == 0) break;
        }
        const uint64_t at = s.total_out;
        if (at >= begin && at < end) {
            s.next_out = data + (at - begin);
            s.avail_out = (size_t)(end - at);
        } else { /* part of another module */
            s.next_out = buffer->out;
            s.avail_out = at < begin && begin - at < CHUNK ? (size_t)(begin - at) : CHUNK;
        }
        result = lzma_code(&s, left ? LZMA_RUN : LZMA_FINISH);
    }
    const bool whole =
        s.total_out >= end && (result == LZMA_STREAM_END || (result == LZMA_OK && !check));
    lzma_end(&s);
    free(buffer);
    return whole;
}
#endif

/* Reads a part of the pack, which begins at `begin` in the file. */
static bool read_part(FILE *file, long begin, const struct part *part, bool check,
                      unsigned char *data)
{
    static const unsigned char xz[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
    unsigned char magic[sizeof xz];
    begin += (long)part->stream_offset;
    if (fseek(file, begin, SEEK_SET) != 0) return false;
    bool compressed = part->stream_bytes >= sizeof xz && fread(magic, sizeof xz, 1, file) == 1 &&
                      memcmp(magic, xz, sizeof xz) == 0;
    if (!compressed)
        return part->offset + part->bytes <= part->stream_bytes &&
               fseek(file, begin + (long)part->offset, SEEK_SET) == 0 &&
               fread(data, 1, (size_t)part->bytes, file) == part->bytes;
    if (fseek(file, begin, SEEK_SET) != 0) return false;
#ifdef ECHELON_LZMA
    return decompress(file, part, check, data);
#else
    (void)check;
    return false;
#endif
}

/* At least the first word has been checked before code is passed to the driver. */
static bool looks_right(const struct place *place, const unsigned char *data, uint64_t bytes)
{
    if (place->ptx) return bytes > 2 && memcmp(data, "//", 2) == 0;
    return bytes > 4 && memcmp(data, "\177ELF", 4) == 0;
}

/* `there`: the bytes of the streams of the pack. */
static bool part_fits(const struct part *part, uint64_t there)
{
    enum { MOST_BYTES = 1 << 28 }; /* of a module, and of those before it in a stream */
    return part->stream_offset <= there && part->stream_bytes <= there - part->stream_offset &&
           part->offset <= MOST_BYTES && part->bytes <= MOST_BYTES;
}

static void *read_place(FILE *file, const struct place *place, bool check)
{
    const struct part *rest = &place->rest, *code = &place->code;
    const uint64_t at = place->code_at;
    long begin = ftell(file);
    if (begin < 0 || fseek(file, 0, SEEK_END) != 0) return NULL;
    long end = ftell(file);
    if (end < begin) return NULL;
    const uint64_t there = (uint64_t)(end - begin);
    if (!part_fits(rest, there) || !part_fits(code, there) || at > rest->bytes ||
        code->bytes % PACK_INSTRUCTION_BYTES != 0)
        return NULL;
    const size_t bytes = (size_t)(rest->bytes + code->bytes);
    unsigned char *data = malloc(bytes + 1);
    if (!data) return NULL;
    data[bytes] = 0; /* terminates PTX */
    bool good = read_part(file, begin, rest, check, data);
    if (good && code->bytes) {
        memmove(data + at + code->bytes, data + at, (size_t)(rest->bytes - at));
        good = read_part(file, begin, code, check, data + at);
        pack_code_restore(data + at, good ? code->bytes : 0);
    }
    if (good && looks_right(place, data, bytes)) {
        pack_elf(data, bytes, true);
        return data;
    }
    free(data);
    return NULL;
}

static void *read_pack(FILE *file, const struct echi_pack *pack, const char *image, int gpu,
                       size_t *bytes, char reason[ECHI_PACK_REASON])
{
    struct place place = { 0 };
    char line[LINE];
    if (!read_line(file, line) || strncmp(line, first_words, strlen(first_words)) != 0) {
        set_reason(reason, "%s is not a file of Echelon's kernels", shown(pack));
        return NULL;
    }
    if (strcmp(line + strlen(first_words), pack->id) != 0) {
        set_reason(reason, "%s belongs to another build of Echelon", shown(pack));
        return NULL;
    }
    bool whole = read_index(file, image, gpu, &place);
    if (whole && !place.fit) {
        set_reason(reason, "%s has no kernels for %s%s", shown(pack), image,
                   place.known ? " on this GPU" : "");
        return NULL;
    }
    *bytes = (size_t)(place.rest.bytes + place.code.bytes);
    void *data = whole ? read_place(file, &place, !pack->data) : NULL;
    if (!data)
        set_reason(reason, "%s is damaged, or out of memory for its module %s", shown(pack), image);
    return data;
}

void *echi_pack_read(const struct echi_pack *pack, const char *image, int gpu, size_t *bytes,
                     char reason[ECHI_PACK_REASON])
{
    *bytes = 0;
    FILE *file = pack->data ? fmemopen((void *)(uintptr_t)pack->data, pack->bytes, "rb")
                            : fopen(pack->path, "rbe");
    if (!file) {
        set_reason(reason, "cannot open %s: %s", shown(pack), strerror(errno));
        return NULL;
    }
    void *data = read_pack(file, pack, image, gpu, bytes, reason);
    fclose(file);
    return data;
}
