/*
 * io/temporary.c - temporary files, and a private folder in which another program writes files;
 * all are removed even if a signal ends the program.
 *
 *     io_temporary_make()    a file that output.c renames later
 *     io_folder_begin()      $TMPDIR/echelon.XXXXXX with mode 0700
 *     io_folder_run()        runs a program that writes files in it
 *     io_folder_end()        removes the files and the folder
 *
 * The signal handler first ends the program that is running, then it removes the files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* secure_getenv(), syscall() */
#include "io/temporary.h"
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Signals ---- */

/* All signals that end a program unless it handles them, except SIGKILL, SIGXFSZ and the real-time
 * signals. */
static const int deadly[] = {
    SIGHUP,    SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,  SIGSEGV,   SIGPIPE,
    SIGALRM,   SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGSYS,  SIGPROF, SIGPOLL, SIGVTALRM,
#ifdef SIGPWR
    SIGPWR,
#endif
#ifdef SIGSTKFLT
    SIGSTKFLT,
#endif
};
enum { DEADLY = sizeof deadly / sizeof *deadly };
enum { DOOMED = 4 }; /* maximum of open temporary files */
static char *_Atomic doomed[DOOMED];
static atomic_bool creating; /* a file or a process may exist that is not registered */
static atomic_bool dying;

static char *_Atomic folder;
static char *folder_files[IO_FOLDER_FILES];
static atomic_int child; /* that writes into the folder; 0: none */

/* Only functions that a signal handler may call, so there is no opendir(). */
static void remove_files(int directory)
{
    struct {
        uint64_t inode, offset;
        unsigned short bytes;
        unsigned char type;
        char name[];
    } const *entry;
    _Alignas(16) char buffer[4096];
    for (long n; (n = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < n; at += entry->bytes) {
            entry = (const void *)(buffer + at);
            if (entry->name[0] != '.') unlinkat(directory, entry->name, 0);
        }
}

/* A program that was killed may still end its last operation on a file. */
static void remove_folder(void)
{
    enum { TRIES = 200 };
    static const struct timespec wait = { 0, 5000000 };
    const char *path = atomic_load(&folder);
    for (int i = 0; path && i < TRIES; i++) {
        const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (directory < 0) return;
        remove_files(directory);
        close(directory);
        if (rmdir(path) == 0 || errno != ENOTEMPTY) return;
        nanosleep(&wait, NULL);
    }
}

/* This may be any thread that does not block the signal, for example one of a GPU's driver. */
static void remove_and_die(int number)
{
    atomic_store(&dying, true);
    while (atomic_load(&creating)) continue; /* in another thread, which blocks signals meanwhile */
    const pid_t writer = atomic_load(&child);
    if (writer > 0 && kill(-writer, SIGKILL) == 0)
        while (waitpid(writer, NULL, 0) < 0 && errno == EINTR) continue;
    for (int i = 0; i < DOOMED; i++) {
        const char *name = atomic_load(&doomed[i]);
        if (name) unlink(name);
    }
    remove_folder();
    /* The handler was reset, so the signal now ends the program. */
    raise(number);
}

static void watch_signal(int number, const struct sigaction *action)
{
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(number, action, NULL);
}

static void watch_signals(void)
{
    struct sigaction action = { .sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < DEADLY; i++) watch_signal(deadly[i], &action);
#ifdef SIGRTMIN
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++) watch_signal(i, &action);
#endif
}

void io_temporary_wait(void)
{
    while (atomic_load(&dying)) pause();
}

/* Until end_creating(), this thread blocks signals, and the handlers of other threads wait. */
static void begin_creating(sigset_t *before)
{
    sigset_t all;
    watch_signals();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, before);
    atomic_store(&creating, true);
    if (atomic_load(&dying)) {
        atomic_store(&creating, false);
        io_temporary_wait();
    }
}

/* Preserves errno. */
static void end_creating(const sigset_t *before)
{
    const int why = errno;
    atomic_store(&creating, false);
    sigprocmask(SIG_SETMASK, before, NULL);
    errno = why;
}

/* ---- Files ---- */

/* Replaces the entry from by to. */
static void replace_doomed(const char *from, char *to)
{
    int i = 0;
    while (i < DOOMED - 1 && atomic_load(&doomed[i]) != from) i++;
    atomic_store(&doomed[i], to);
}

/* A signal handler no longer reads the name afterwards. */
void io_temporary_forget(const char *name)
{
    replace_doomed(name, NULL);
    io_temporary_wait();
}

int io_temporary_make(char *pattern)
{
    sigset_t before;
    begin_creating(&before);
    int fd = mkstemp(pattern);
    if (fd >= 0) replace_doomed(NULL, pattern);
    end_creating(&before);
    return fd;
}

/* A signal between the two operations must not leave the new link. */
int io_temporary_link(int fd, const char *name)
{
    char from[32];
    sigset_t before;
    int result = -1;
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    begin_creating(&before);
    /* This program reserved the name, so what is there is not of another one. */
    for (int tries = 0; tries < 4; tries++) {
        unlink(name);
        result = linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
        if (result == 0 || errno != EEXIST) break;
    }
    end_creating(&before);
    return result;
}

/* ---- The folder ---- */

/* "a/b" for the folder a; NULL if out of memory. */
static char *join(const char *path, const char *name)
{
    const size_t room = strlen(path) + strlen(name) + 2;
    char *text = malloc(room);
    if (text) snprintf(text, room, "%s/%s", path, name);
    return text;
}

io_status io_folder_begin(const char *const *names, int n, struct io_error *error)
{
    const char *in = secure_getenv("TMPDIR");
    sigset_t before;
    if (!in || !*in) in = "/tmp";
    char *path = join(in, "echelon.XXXXXX");
    if (!path) return io_no_memory(error, in, strlen(in), "a folder's name");
    begin_creating(&before);
    const bool made = mkdtemp(path) != NULL;
    if (made) atomic_store(&folder, path);
    end_creating(&before);
    if (!made) {
        io_fail(error, IO_FAIL, in, "cannot create a temporary folder: %s; TMPDIR selects another",
                strerror(errno));
        free(path);
        return IO_FAIL;
    }
    for (int i = 0; i < n && i < IO_FOLDER_FILES; i++) {
        char *name = join(path, names[i]);
        folder_files[i] = name;
        if (name) continue;
        io_folder_end();
        return io_no_memory(error, in, strlen(names[i]), "a file's name");
    }
    return IO_OK;
}

const char *io_folder_path(void)
{
    return atomic_load(&folder);
}

const char *io_folder_file(unsigned i)
{
    return folder_files[i];
}

void io_folder_end(void)
{
    char *path = atomic_load(&folder);
    remove_folder();
    atomic_store(&folder, NULL);
    io_temporary_wait();
    for (int i = 0; i < IO_FOLDER_FILES; i++) {
        free(folder_files[i]);
        folder_files[i] = NULL;
    }
    free(path);
}

/* ---- Running a program ---- */

/* The environment with the folder as TMPDIR, so that the program's own temporary files are in it.
 * NULL if out of memory.  The last but one entry is from malloc(). */
static char **make_environment(const char *path)
{
    size_t n = 0, kept = 0;
    while (environ[n]) n++;
    char **list = malloc((n + 2) * sizeof *list);
    char *entry = malloc(strlen(path) + sizeof "TMPDIR=");
    if (!list || !entry) {
        free(list);
        free(entry);
        return NULL;
    }
    sprintf(entry, "TMPDIR=%s", path);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0) list[kept++] = environ[i];
    list[kept++] = entry;
    list[kept] = NULL;
    return list;
}

static void free_environment(char **list)
{
    size_t n = 0;
    while (list && list[n]) n++;
    if (n) free(list[n - 1]);
    free(list);
}

/* In a process group of its own, so that the handler can end the programs that it starts, too. */
static int spawn(char *const *argv, const char *output, const char *errors, const sigset_t *mask,
                 pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char **environment = make_environment(atomic_load(&folder));
    if (!environment) return ENOMEM;
    if (posix_spawn_file_actions_init(&files) != 0) {
        free_environment(environment);
        return ENOMEM;
    }
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        free_environment(environment);
        return ENOMEM;
    }
    const int write = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output ? output : "/dev/null", write,
                                     0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors, write, 0600);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, mask);
    const int why = posix_spawnp(pid, argv[0], &files, &attributes, argv, environment);
    free_environment(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return why;
}

int io_folder_run(char *const *argv, const char *output, const char *errors)
{
    sigset_t before;
    siginfo_t about;
    pid_t pid = 0;
    int status = 0;
    begin_creating(&before);
    const int why = spawn(argv, output, errors, &before, &pid);
    if (why == 0) atomic_store(&child, pid);
    end_creating(&before);
    errno = why;
    if (why != 0) return -1;
    /* The handler must not find the number of a process that no longer exists. */
    while (waitid(P_PID, (id_t)pid, &about, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
    atomic_store(&child, 0);
    io_temporary_wait();
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
