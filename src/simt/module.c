/*
 * simt/module.c - loads compiled modules: shared objects that are found by their name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#include "simt/emulator.h"
#include "simt/elf.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUT_OF_MEMORY = 2, NO_BINARY = 209, INVALID_IMAGE = 200 };

static struct simt_loaded *loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* name may end with '?' and the layout that the module must have. */
static void path_of(const char *name, char *path, size_t bytes)
{
    Dl_info here;
    const int length = (int)strcspn(name, "?");
    if (strchr(name, '/') || !dladdr((void *)&loaded, &here)) {
        snprintf(path, bytes, "%.*s", length, name);
        return;
    }
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash - here.dli_fname) + 1 : 0;
    snprintf(path, bytes, "%.*sechelon/%.*s.so", folder, here.dli_fname, length, name);
}

/* Information of the dynamic linker about a module. */
struct found {
    struct simt_loaded *module;
    void *shared;
};

static int look(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    struct found *f = argument;
    struct simt_loaded *m = f->module;
    (void)bytes;
    if (info->dlpi_addr != m->base) return 0;
    m->begin = UINTPTR_MAX;
    m->end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = m->base + p->p_vaddr, end = begin + p->p_memsz;
        if (p->p_type == PT_LOAD && begin < m->begin) m->begin = begin;
        if (p->p_type == PT_LOAD && end > m->end) m->end = end;
        if (p->p_type == PT_TLS) m->shared_bytes = p->p_memsz;
    }
    f->shared = info->dlpi_tls_data;
    return 1;
}

/* Whether a library that can be read was not loaded for this reason. The loader has no other sign
 * of it than its message. */
static bool is_memory_missing(const char *reason)
{
    return !reason || strstr(reason, "cannot allocate") || strstr(reason, "cannot create") ||
           strstr(reason, "cannot open");
}

int simt_module_load(const char *name, struct simt_loaded **module)
{
    char path[4096];
    Dl_info file;
    path_of(name, path, sizeof path);
    if (access(path, R_OK) != 0) return NO_BINARY;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle && is_memory_missing(dlerror())) return OUT_OF_MEMORY;
    const struct simt_image *image = handle ? dlsym(handle, "simt_image") : NULL;
    const char *layout = handle ? dlsym(handle, "simt_layout") : NULL, *wanted = strchr(name, '?');
    if (wanted && (!layout || strcmp(layout, wanted + 1) != 0)) image = NULL;
    if (!image || image->version != SIMT_IMAGE_VERSION || !dladdr(image, &file)) {
        if (handle) dlclose(handle);
        return INVALID_IMAGE;
    }
    struct simt_loaded *m = calloc(1, sizeof *m + image->kernel_count * sizeof *m->functions);
    if (!m) {
        dlclose(handle);
        return OUT_OF_MEMORY;
    }
    m->handle = handle;
    m->image = image;
    m->base = (uintptr_t)file.dli_fbase;
    struct found found = { m, NULL };
    char *dynamic = image->shared(); /* a thread's copy is created at its first access */
    dl_iterate_phdr(look, &found);
    m->dynamic = (size_t)(dynamic - (char *)found.shared);
    m->symbols = simt_module_read(path);
    for (uint32_t i = 0; i < image->kernel_count; i++)
        m->functions[i] = (struct simt_function){ .kernel = &image->kernels[i],
                                                  .module = m,
                                                  .most_shared_bytes = SIMT_DEFAULT_SHARED_BYTES };
    pthread_mutex_lock(&lock);
    m->next = loaded;
    loaded = m;
    pthread_mutex_unlock(&lock);
    *module = m;
    return 0;
}

static void write_tally(const struct simt_loaded *module)
{
    Dl_info file;
    if (dladdr(module->image, &file)) simt_tally_write(module, file.dli_fname);
}

__attribute__((destructor)) static void write_tallies(void)
{
    for (const struct simt_loaded *m = loaded; m; m = m->next) write_tally(m);
}

void simt_module_unload(struct simt_loaded *module)
{
    write_tally(module);
    pthread_mutex_lock(&lock);
    struct simt_loaded **at = &loaded;
    while (*at && *at != module) at = &(*at)->next;
    if (*at) *at = module->next;
    pthread_mutex_unlock(&lock);
    simt_module_free(module->symbols);
    dlclose(module->handle);
    free(module);
}

struct simt_function *simt_module_find(struct simt_loaded *module, const char *name)
{
    for (uint32_t i = 0; i < module->image->kernel_count; i++)
        if (strcmp(module->image->kernels[i].name, name) == 0) return &module->functions[i];
    return NULL;
}

void *simt_module_symbol(struct simt_loaded *module, const char *name, size_t *bytes)
{
    uint64_t offset, size;
    *bytes = 0;
    if (!module->symbols || !simt_module_object(module->symbols, name, &offset, &size) ||
        offset > module->end - module->base || size > module->end - module->base - offset)
        return NULL;
    *bytes = (size_t)size;
    return (char *)module->base + offset;
}

void *simt_module_shared(const struct simt_loaded *module)
{
    return (char *)module->image->shared() - module->dynamic;
}

/* ---- Lines ---- */

static const struct simt_loaded *module_at(uintptr_t pc)
{
    const struct simt_loaded *m = loaded;
    while (m && pc - m->begin >= m->end - m->begin) m = m->next;
    return m;
}

/* The headers that define CUDA's functions: messages should show the line that calls one. */
static bool is_ours(const char *file)
{
    static const char *const names[] = { "device.h",         "device_warp.h",  "device_memory.h",
                                         "device_integer.h", "device_float.h", "image.h" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(file, names[i]) == 0) return true;
    const char *end = strrchr(file, '.');
    return strncmp(file, "ptx", 3) == 0 && end && strcmp(end, ".cuh") == 0;
}

static bool line_at(uintptr_t pc, const char **file, int *line)
{
    const struct simt_loaded *m = module_at(pc);
    return m && m->symbols &&
           simt_module_line_outside(m->symbols, pc - m->base, is_ours, file, line);
}

void simt_place(uintptr_t pc, char *text, size_t bytes)
{
    const char *file;
    int line;
    pthread_mutex_lock(&lock);
    const struct simt_loaded *m = module_at(pc);
    const char *function = m && m->symbols ? simt_module_function(m->symbols, pc - m->base) : NULL;
    if (line_at(pc, &file, &line))
        snprintf(text, bytes, "%s:%d", file, line);
    else
        snprintf(text, bytes, "%s", function ? function : "an unknown place");
    pthread_mutex_unlock(&lock);
}

bool simt_same_line(uintptr_t pc, uintptr_t other)
{
    const char *file, *other_file;
    int line, other_line;
    pthread_mutex_lock(&lock);
    bool known = line_at(pc, &file, &line) && line_at(other, &other_file, &other_line);
    bool same = !known || (line == other_line && strcmp(file, other_file) == 0);
    pthread_mutex_unlock(&lock);
    return same;
}

bool simt_later_line(uintptr_t pc, uintptr_t than)
{
    const char *file, *other_file;
    int line, other_line;
    pthread_mutex_lock(&lock);
    bool known = line_at(pc, &file, &line) && line_at(than, &other_file, &other_line);
    bool later = known && strcmp(file, other_file) == 0 && line > other_line;
    pthread_mutex_unlock(&lock);
    return later;
}

const char *simt_static_name(const struct simt_loaded *m, size_t offset, size_t *inside)
{
    const struct simt_variable *v;
    size_t count = m->symbols ? simt_module_variables(m->symbols, &v) : 0;
    *inside = offset;
    for (size_t i = 0; i < count; i++)
        if (offset - v[i].offset < v[i].bytes) {
            *inside = offset - v[i].offset;
            return v[i].name;
        }
    return NULL;
}
