/*
 * test_processors.c - the number of threads of a call: by the environment, by affinity, by quotas
 * of control groups, and of calls at the same time.
 *
 * The files under test are compiled into this program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "cpu/cpu.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The environment and affinity ---- */

/* Variables, whether the affinity mask has one processor, and the number; 0: that of the mask. */
static const struct environment {
    const char *echelon, *omp;
    bool one;
    int number;
    bool wrong;
} environments[] = {
    { "3", "5", true, 3, false },    { "5", NULL, true, 5, false },
    { NULL, "5", true, 5, false },   { NULL, "4,2", false, 4, false },
    { "", "4", false, 4, false },    { "7", "1", false, 7, false },
    { NULL, NULL, true, 1, false },  { NULL, "x", true, 1, false },
    { NULL, "0", true, 1, false },   { NULL, "-3", true, 1, false },
    { "x", "6", true, 6, true },     { "0", "6", true, 6, true },
    { "3,2", NULL, true, 1, true },  { "2 threads", "6", true, 6, true },
    { NULL, NULL, false, 0, false },
};

static void set_or_unset(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Runs in a process that has not called the functions under test before. */
static bool environment_is_right(const struct environment *e)
{
    cpu_set_t set, one;
    set_or_unset("ECHELON_THREADS", e->echelon);
    set_or_unset("OMP_NUM_THREADS", e->omp);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return false;
    int expected = e->number ? e->number : CPU_COUNT(&set);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &set)) CPU_SET(i, &one);
    if (e->one && sched_setaffinity(0, sizeof one, &one) != 0) return false;
    if (!e->number) { /* the group of this process may have a quota */
        const int quota = echi_processors_quota("/proc/self/cgroup", "/sys/fs/cgroup");
        if (quota && quota < expected) expected = quota;
    }
    const bool limited = e->echelon && *e->echelon && !e->wrong;
    return echi_processors() == expected && (echi_processors_wrong() != NULL) == e->wrong &&
           echi_processors_limit() == (limited ? e->number : 0) && echi_processors_team() == 1;
}

static void environment(void)
{
    if (!test_begin("ECHELON_THREADS, then OMP_NUM_THREADS, then affinity")) return;
    for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) {
        int status = -1;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) _exit(environment_is_right(&environments[i]) ? 0 : 1);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            test_fail(__FILE__, __LINE__, "environment %zu: status %d", i, status);
    }
    CHECK_INT(echi_processors_choose(64, 2), 2); /* a container limited to 2 of 64 processors */
    CHECK_INT(echi_processors_choose(64, 0), 64);
    CHECK_INT(echi_processors_choose(1, 2), 1);
    test_end();
}

/* ---- Calls at the same time ---- */

struct caller {
    ech_ctx ctx;
    int threads;
};

static void *ask_threads(void *argument)
{
    struct caller *c = argument;
    c->ctx.processors = &c->ctx.processors_state;
    c->threads = echi_threads(&c->ctx);
    return NULL;
}

static void *end_threads(void *argument)
{
    echi_threads_end(&((struct caller *)argument)->ctx);
    return NULL;
}

static struct caller second;
static pthread_barrier_t between;

static void *second_call(void *argument)
{
    ask_threads(argument);
    pthread_barrier_wait(&between);
    pthread_barrier_wait(&between);
    return end_threads(argument);
}

static void shares(void)
{
    static struct caller first, nested, limited, last;
    pthread_t thread;
    if (!test_begin("calls at the same time share the processors")) return;
    const int all = echi_processors(), half = all > 1 ? all / 2 : 1;
    ask_threads(&first);
    CHECK_INT(first.threads, all);
    CHECK_INT(echi_threads(&first.ctx), all);
    ask_threads(&nested); /* a call of a callback */
    CHECK_INT(nested.threads, all);
    end_threads(&nested);
    pthread_barrier_init(&between, NULL, 2);
    if (CHECK_INT(pthread_create(&thread, NULL, second_call, &second), 0)) {
        pthread_barrier_wait(&between);
        CHECK_INT(second.threads, half);
        CHECK_INT(echi_threads(&first.ctx), all); /* constant during the call */
        end_threads(&first);
        limited.ctx.threads = 5;
        ask_threads(&limited);
        CHECK_INT(limited.threads, 5); /* a limit of the program is not divided */
        end_threads(&limited);
        ask_threads(&first);
        CHECK_INT(first.threads, half);
        pthread_barrier_wait(&between);
        pthread_join(thread, NULL);
    }
    end_threads(&first);
    end_threads(&first); /* no effect */
    ask_threads(&last);
    CHECK_INT(last.threads, all);
    end_threads(&last);
    pthread_barrier_destroy(&between);
    test_end();
}

/* ---- Control groups ---- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL)) return;
    fputs(text, file);
    fclose(file);
}

static int quota_in(const char *folder)
{
    char groups[600], mount[600];
    snprintf(groups, sizeof groups, "%s/groups", folder);
    snprintf(mount, sizeof mount, "%s/mount", folder);
    return echi_processors_quota(groups, mount);
}

static void quotas(void)
{
    char folder[] = "/tmp/echelon-test-XXXXXX", command[64];
    if (!test_begin("quotas of control groups")) return;
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    CHECK_INT(quota_in(folder), 0); /* no file */
    write_file(folder, "groups", "0::/a/b\n");
    CHECK_INT(quota_in(folder), 0);
    write_file(folder, "mount/a/b/cpu.max", "max 100000\n");
    CHECK_INT(quota_in(folder), 0);
    write_file(folder, "mount/a/cpu.max", "250000 100000\n"); /* of the group around it */
    CHECK_INT(quota_in(folder), 3);
    write_file(folder, "mount/a/b/cpu.max", "100000 100000\n");
    CHECK_INT(quota_in(folder), 1);
    write_file(folder, "groups", "0::/\n"); /* the root of a container */
    CHECK_INT(quota_in(folder), 0);
    write_file(folder, "mount/cpu.max", "5000 100000\n");
    CHECK_INT(quota_in(folder), 1);
    write_file(folder, "groups", "12:cpuset:/x\n4:cpu,cpuacct:/docker/1\n0::/elsewhere\n");
    write_file(folder, "mount/cpu,cpuacct/cpu.cfs_quota_us", "400000\n"); /* of version 1 */
    write_file(folder, "mount/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    write_file(folder, "mount/cpu.max", "max 100000\n");
    CHECK_INT(quota_in(folder), 4);
    write_file(folder, "mount/cpu,cpuacct/docker/1/cpu.cfs_quota_us", "-1\n");
    write_file(folder, "mount/cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000\n");
    CHECK_INT(quota_in(folder), 4);
    write_file(folder, "groups", "4:cpuset,cpu:/\n");
    write_file(folder, "mount/cpuset,cpu/cpu.cfs_quota_us", "150000");
    write_file(folder, "mount/cpuset,cpu/cpu.cfs_period_us", "100000");
    CHECK_INT(quota_in(folder), 2);
    write_file(folder, "groups", "garbage\n::\n:\n4:cpu\n");
    CHECK_INT(quota_in(folder), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    environment(); /* before the number is known */
    shares();
    quotas();
    return test_finish();
}
