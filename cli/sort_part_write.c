/*
 * sort_part_write.c - each rank of a distributed sort writes its share of the output at its place.
 *
 * In a compressed output, the share of a rank is a member (gzip) or a frame (zstd) of its own, with
 * the head of the file on rank 0.  Its length is known when it has been compressed, into memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* memfd_create() */
#include "io/packing.h"
#include "sort_distributed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The head of the output, on rank 0: that of a .npy array contains the number of elements. */
static void make_head(struct part *p)
{
    struct sort_files *files = p->files;
    if (!files || files->job->base.out_format != IO_NPY || !p->set->unique) return;
    const size_t room = files->head_bytes;
    unsigned char head[IO_NPY_HEADER];
    const size_t bytes = io_npy_header(files->descr, p->plan.n_out, head);
    if (bytes == room) memcpy(files->head, head, bytes);
}

/* A rank that is a process writes to the disk what rank 0 has not written. */
static int sync_share(struct part *p)
{
    const char *name = p->set->words.job.output;
    if (p->code == EXIT_DONE && p->own_process && fsync(p->out) != 0 && errno != EINVAL)
        part_fail(p, EXIT_BAD, "%s: rank %d cannot write it: %s", name, p->rank, strerror(errno));
    return part_agree(p);
}

/* ---- Compressed ---- */

/* Compresses the head, if this rank has it, and a share; returns the descriptor of the result. */
static int pack(struct part *p, const struct block *block)
{
    const char *name = p->set->words.job.output;
    struct io_error error = { "" };
    struct io_pack *pack = NULL;
    const int fd = memfd_create("echelon", MFD_CLOEXEC);
    io_status status =
        fd < 0 ? io_fail(&error, IO_MEMORY, name, "no memory for its part: %s", strerror(errno))
               : io_pack_open(&pack, io_codec_from_extension(name), fd, name, p->threads, &error);
    if (status == IO_OK && p->files)
        status = io_pack_write(pack, p->files->head, p->files->head_bytes, &error);
    if (status == IO_OK)
        status = io_pack_write(pack, (const char *)block->at, (size_t)block->bytes, &error);
    if (status == IO_OK) status = io_pack_finish(pack, &error);
    io_pack_close(pack);
    if (status != IO_OK)
        part_fail(p, status == IO_MEMORY ? EXIT_MEMORY : EXIT_BAD, "rank %d: %s", p->rank,
                  error.text);
    return fd;
}

/* Replaces the share by its compressed form. */
static void *map_packed(struct part *p, const struct block *block, struct block *packed)
{
    const int fd = pack(p, block);
    const off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    void *map = end > 0 ? mmap(NULL, (size_t)end, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0) close(fd);
    if (map == MAP_FAILED)
        part_fail(p, EXIT_MEMORY, "%s: out of memory on rank %d", p->set->words.job.output,
                  p->rank);
    *packed = (struct block){ map == MAP_FAILED ? NULL : map, (uint64_t)end, 0 };
    return map;
}

static int write_packed(struct part *p, const struct block *block)
{
    ech_dist_layout layout = { .size = sizeof layout };
    struct block packed;
    void *map = map_packed(p, block, &packed);
    int code = part_agree(p);
    if (code == EXIT_DONE)
        code = part_check_host(p, ech_dist_share(p->comm, packed.bytes, &layout));
    p->plan.file_bytes = layout.total;
    if (code == EXIT_DONE) {
        part_write(p, packed.at, packed.bytes, layout.first);
        code = sync_share(p);
    }
    if (map != MAP_FAILED) munmap(map, (size_t)packed.bytes);
    return code;
}

/* ---- The share ---- */

int part_write_share(struct part *p, const struct block *block)
{
    ech_dist_layout layout = { .size = sizeof layout };
    int code = part_check_host(p, ech_dist_share(p->comm, p->plan.lines, &layout));
    p->plan.lines = layout.total;
    if (code == EXIT_DONE)
        code = part_check_host(p, ech_dist_share(p->comm, block->records, &layout));
    p->plan.n_out = layout.total;
    if (code == EXIT_DONE)
        code = part_check_host(p, ech_dist_share(p->comm, block->bytes, &layout));
    if (code != EXIT_DONE) return code;
    p->plan.out_total = layout.total;
    make_head(p);
    if (p->plan.packed) return write_packed(p, block);
    const uint64_t head = p->plan.head_bytes;
    p->plan.file_bytes = head + layout.total;
    if (p->files) part_write(p, (const unsigned char *)p->files->head, head, 0);
    part_write(p, block->at, block->bytes, head + layout.first);
    return sync_share(p);
}
