/*
 * simt/tally.c - how often each kernel of each module was launched, and with how many blocks at
 * most, for tests/simt_tiles.py: ECHELON_SIMT_TALLY=FILE.
 *
 * A line "module kernel launches blocks" is appended to the file for each kernel of a module, when
 * the module is unloaded or the process ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "core/environment.h"
#include "simt/emulator.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void simt_tally_launch(struct simt_function *f, uint64_t blocks)
{
    f->launches++;
    if (f->most_blocks < blocks) f->most_blocks = blocks;
}

void simt_tally_write(const struct simt_loaded *m, const char *path)
{
    char line[256];
    const char *file = echi_secure_getenv("ECHELON_SIMT_TALLY"), *name = strrchr(path, '/');
    if (!file || !*file) return;
    const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (uint32_t i = 0; fd >= 0 && i < m->image->kernel_count; i++) {
        const struct simt_function *f = &m->functions[i];
        const int length = snprintf(line, sizeof line, "%s %s %llu %llu\n", name ? name + 1 : path,
                                    f->kernel->name, (unsigned long long)f->launches,
                                    (unsigned long long)f->most_blocks);
        if (write(fd, line, (size_t)length) != length) break;
    }
    if (fd >= 0) close(fd);
}
