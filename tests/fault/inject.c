/*
 * inject.c - a library for LD_PRELOAD that lets one call of the C library fail.
 *
 *     FAULT=KIND:N      the Nth call of this kind fails, counted from 0; N < 0: none does
 *     FAULT_COUNT=FILE  receives the number of calls of this kind when the process ends
 *     FAULT_MOST=BYTES  larger allocations by malloc() and calloc() do not fail and are not counted
 *
 *     memory   malloc, calloc, realloc, aligned_alloc, mmap: ENOMEM
 *     thread   pthread_create: EAGAIN
 *     open     open, fopen, mkstemp: EMFILE
 *     read     read, pread, fread: EIO
 *     write    write, pwrite, fallocate: ENOSPC
 *     file     close, fsync, fdatasync, flock, fstat, lseek, rename, linkat, fchmod, fchown,
 *              ftruncate, readlink: EIO
 *     eintr    read, pread, write, pwrite, fallocate, open: EINTR
 *     short    read, pread, write, pwrite: one byte is transferred
 *     exist    linkat: another program has created the file
 *     signal   the process sends itself the signal FAULT_SIGNAL before or after a call of open,
 *              mkstemp, write, close, fsync, fchmod, fchown, rename, linkat or unlink
 *
 * With FAULT_THREAD=1 there is a second thread, which blocks no signals, as threads of other
 * libraries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum kind { NONE, MEMORY, THREAD, OPEN, READ, WRITE, FILES, EINTR_ONCE, SHORT, EXIST, SIGNAL };

static const char *const names[] = { "",     "memory", "thread", "open",  "read",  "write",
                                     "file", "eintr",  "short",  "exist", "signal" };

static enum kind kind;
static long position;
static atomic_long count;
static size_t most = SIZE_MAX;
static const char *count_file;
static int signal_number;

static void *wait_for_signals(void *argument)
{
    for (;;) pause();
    return argument;
}

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("FAULT"), *colon = fault ? strchr(fault, ':') : NULL;
    count_file = getenv("FAULT_COUNT");
    if (getenv("FAULT_MOST")) most = strtoull(getenv("FAULT_MOST"), NULL, 10);
    if (getenv("FAULT_SIGNAL")) signal_number = atoi(getenv("FAULT_SIGNAL"));
    if (getenv("FAULT_THREAD")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_for_signals, NULL) != 0) abort();
    }
    if (!colon) return;
    position = strtol(colon + 1, NULL, 10);
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (strncmp(fault, names[i], (size_t)(colon - fault)) == 0 && names[i][colon - fault] == 0)
            kind = (enum kind)i;
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    kind = NONE;
    if (!count_file) return;
    const int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
    const long fd = syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return;
    if (syscall(SYS_write, fd, text, (size_t)length) != length) abort();
    syscall(SYS_close, fd);
}

/* Whether this call fails, if it is of the kind that is selected. */
static bool fails(enum kind of)
{
    return kind == of && atomic_fetch_add(&count, 1) == position;
}

/* Sends the signal. The signal may end the process in another thread a moment later. */
static void moment(void)
{
    if (!fails(SIGNAL)) return;
    const int error = errno;
    const struct timespec short_time = { .tv_nsec = 5000000 };
    syscall(SYS_kill, getpid(), signal_number);
    nanosleep(&short_time, NULL);
    errno = error;
}

static long after(long result)
{
    moment();
    return result;
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* ---- Memory ---- */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *pointer, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);

static bool no_memory(size_t bytes)
{
    if (bytes > most || !fails(MEMORY)) return false;
    errno = ENOMEM;
    return true;
}

EXPORT void *malloc(size_t bytes)
{
    return no_memory(bytes) ? NULL : __libc_malloc(bytes);
}

EXPORT void *calloc(size_t n, size_t bytes)
{
    return no_memory(n * bytes) ? NULL : __libc_calloc(n, bytes);
}

EXPORT void *realloc(void *pointer, size_t bytes)
{
    return no_memory(0) ? NULL : __libc_realloc(pointer, bytes);
}

EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    return no_memory(0) ? NULL : __libc_memalign(align, bytes);
}

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (no_memory(0)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

/* ---- Threads ---- */

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    if (fails(THREAD)) return EAGAIN;
    *(void **)&create = next("pthread_create");
    return create(thread, attributes, run, argument);
}

/* ---- Files ---- */

static bool with(enum kind of, int error)
{
    if (!fails(of)) return false;
    errno = error;
    return true;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (with(OPEN, EMFILE) || with(EINTR_ONCE, EINTR)) return -1;
    moment();
    return (int)after(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
    FILE *(*open_file)(const char *, const char *) = NULL;
    if (with(OPEN, EMFILE)) return NULL;
    *(void **)&open_file = next("fopen");
    return open_file(path, mode);
}

EXPORT int mkstemp(char *name)
{
    int (*make)(char *) = NULL;
    if (with(OPEN, EMFILE)) return -1;
    *(void **)&make = next("mkstemp");
    moment();
    return (int)after(make(name));
}

EXPORT ssize_t read(int fd, void *to, size_t bytes)
{
    if (with(READ, EIO) || with(EINTR_ONCE, EINTR)) return -1;
    if (bytes > 1 && fails(SHORT)) bytes = 1;
    return syscall(SYS_read, fd, to, bytes);
}

extern ssize_t __read_chk(int fd, void *to, size_t bytes, size_t size);
EXPORT ssize_t __read_chk(int fd, void *to, size_t bytes, size_t size)
{
    if (bytes > size) abort();
    return read(fd, to, bytes);
}

/* A direct transfer has whole pages. */
static size_t less(int fd, size_t bytes)
{
    const size_t page = 4096;
    const bool direct = (fcntl(fd, F_GETFL) & O_DIRECT) != 0;
    if (!direct) return 1;
    return bytes > page ? page : bytes;
}

EXPORT ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    if (with(READ, EIO) || with(EINTR_ONCE, EINTR)) return -1;
    if (bytes > 1 && fails(SHORT)) bytes = less(fd, bytes);
    return syscall(SYS_pread64, fd, to, bytes, offset);
}

EXPORT size_t fread(void *to, size_t size, size_t n, FILE *file)
{
    size_t (*read_file)(void *, size_t, size_t, FILE *) = NULL;
    if (with(READ, EIO)) return 0;
    *(void **)&read_file = next("fread");
    return read_file(to, size, n, file);
}

EXPORT ssize_t write(int fd, const void *from, size_t bytes)
{
    if (fd == STDERR_FILENO) return syscall(SYS_write, fd, from, bytes);
    if (with(WRITE, ENOSPC) || with(EINTR_ONCE, EINTR)) return -1;
    if (bytes > 1 && fails(SHORT)) bytes = 1;
    moment();
    return after(syscall(SYS_write, fd, from, bytes));
}

extern ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t size);
EXPORT ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t size)
{
    if (bytes > size) abort();
    return pread(fd, to, bytes, offset);
}

EXPORT ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    if (with(WRITE, ENOSPC) || with(EINTR_ONCE, EINTR)) return -1;
    if (bytes > 1 && fails(SHORT)) bytes = less(fd, bytes);
    moment();
    return after(syscall(SYS_pwrite64, fd, from, bytes, offset));
}

EXPORT int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    if (with(WRITE, ENOSPC) || with(EINTR_ONCE, EINTR)) return -1;
    moment();
    return (int)after(syscall(SYS_fallocate, fd, mode, offset, bytes));
}

EXPORT int ftruncate(int fd, off_t bytes)
{
    moment();
    return with(FILES, EIO) ? -1 : (int)after(syscall(SYS_ftruncate, fd, bytes));
}

EXPORT int close(int fd)
{
    moment();
    const int result = (int)after(syscall(SYS_close, fd));
    return with(FILES, EIO) ? -1 : result;
}

EXPORT int fsync(int fd)
{
    moment();
    return with(FILES, EIO) ? -1 : (int)after(syscall(SYS_fsync, fd));
}

EXPORT int fdatasync(int fd)
{
    return with(FILES, EIO) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

EXPORT int flock(int fd, int operation)
{
    return with(FILES, EIO) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

EXPORT int fstat(int fd, struct stat *status)
{
    int (*get)(int, struct stat *) = NULL;
    if (with(FILES, EIO)) return -1;
    *(void **)&get = next("fstat");
    return get(fd, status);
}

EXPORT off_t lseek(int fd, off_t offset, int whence)
{
    return with(FILES, EIO) ? -1 : syscall(SYS_lseek, fd, offset, whence);
}

EXPORT int rename(const char *from, const char *to)
{
    moment();
    return with(FILES, EIO) ? -1 : (int)after(syscall(SYS_rename, from, to));
}

EXPORT int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    if (with(FILES, EIO)) return -1;
    if (fails(EXIST)) {
        const long fd = syscall(SYS_openat, to_folder, to, O_WRONLY | O_CREAT, 0600);
        if (fd >= 0) syscall(SYS_close, fd);
    }
    moment();
    return (int)after(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

EXPORT int unlink(const char *path)
{
    moment();
    return (int)after(syscall(SYS_unlink, path));
}

EXPORT int fchmod(int fd, mode_t mode)
{
    moment();
    return with(FILES, EIO) ? -1 : (int)after(syscall(SYS_fchmod, fd, mode));
}

EXPORT int fchown(int fd, uid_t user, gid_t group)
{
    moment();
    return with(FILES, EIO) ? -1 : (int)after(syscall(SYS_fchown, fd, user, group));
}

EXPORT ssize_t readlink(const char *path, char *to, size_t bytes)
{
    return with(FILES, EIO) ? -1 : syscall(SYS_readlink, path, to, bytes);
}
