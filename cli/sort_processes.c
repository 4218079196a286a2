/*
 * sort_processes.c - "echelon sort --distributed": each rank is a process, which MPI connects.
 *
 *     part_run_process()  communicator | device | rank 0: plan | broadcast | part_run() | commit
 *
 * Rank 0 creates the output, and renames it when all shares are on the disk.  Until then it has no
 * name, if the file system supports that and all ranks are on one machine: they open it as a file
 * of the process of rank 0.  So nothing is left if a launcher kills all ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* dladdr() */
#include "io/threads.h"
#include "sort_distributed.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A number that the launcher passes in one of these variables; 0: none. */
static int launcher_number(const char *const *variables)
{
    for (; *variables; variables++) {
        const char *text = getenv(*variables);
        if (text && *text && strspn(text, "0123456789") == strlen(text)) return atoi(text);
    }
    return 0;
}

bool sort_is_silent(void)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                             "SLURM_PROCID", NULL };
    return launcher_number(variables) > 0;
}

/* ---- The communicator ---- */

/* An MPI that does not know the launcher connects each process only with itself. */
static int check_ranks(const struct part *p)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                             "SLURM_STEP_NUM_TASKS", NULL };
    const int started = launcher_number(variables);
    if (p->ranks > UINT16_MAX) /* sort_part_divide.c */
        return cli_fail(EXIT_BAD, "--distributed: %d ranks; the maximum is %d", p->ranks,
                        UINT16_MAX);
    if (p->ranks > 1 || started < 2) return EXIT_DONE;
    return cli_fail(EXIT_BAD,
                    "--distributed: the launcher has started %d processes, but MPI has connected "
                    "none of them: set ECHELON_COMM to a libechelon_mpi.so that was built with the "
                    "mpicc of this launcher; with srun, see \"srun --mpi=list\"",
                    started);
}

/* libechelon_mpi.so in the folder of the library, if that folder has it. */
static const char *default_library(char path[4096])
{
    static const char name[] = "libechelon_mpi.so";
    Dl_info about;
    void *symbol = NULL;
    const char *(*const version)(void) = ech_version;
    memcpy(&symbol, &version, sizeof symbol);
    const char *slash = dladdr(symbol, &about) ? strrchr(about.dli_fname, '/') : NULL;
    if (!slash) return name;
    snprintf(path, 4096, "%.*s/%s", (int)(slash - about.dli_fname), about.dli_fname, name);
    return access(path, R_OK) == 0 ? path : name;
}

static int open_communicator(struct part *p)
{
    char path[4096];
    const char *named = getenv("ECHELON_COMM");
    const bool given = named && *named;
    ech_comm_options options;
    const int code = part_comm_options(p->set, &options);
    if (code != EXIT_DONE) return code;
    const ech_status status =
        ech_comm_open(&p->comm, given ? NULL : default_library(path), &options);
    if (status == ECH_OK) return EXIT_DONE;
    if (given) return cli_fail(EXIT_BAD, "--distributed: %s", ech_error(NULL));
    return cli_fail(
        EXIT_BAD,
        "--distributed: %s; build libechelon_mpi.so with the mpicc of your MPI, and set "
        "ECHELON_COMM to its path (docs/guide/distributed.md)",
        ech_error(NULL));
}

/* ---- Devices ---- */

/* Gathers bytes of each rank on all ranks: the "best" bytes in their order are all bytes. */
static int gather(struct part *p, const void *mine, void *all, size_t bytes)
{
    const ech_topk_options options = { .size = sizeof options, .unsorted = 1 };
    return part_check_host(p, ech_dist_topk(p->host, p->comm, mine, all, NULL, bytes,
                                            bytes * (size_t)p->ranks, ECH_U8, ECH_U64, &options));
}

enum { HOST = 64 };

/* What identifies this machine, for containers on it, too. */
static void find_host(char host[HOST])
{
    const int fd = io_open_file("/proc/sys/kernel/random/boot_id", O_RDONLY);
    memset(host, 0, HOST);
    if (fd < 0 || read(fd, host, HOST - 1) <= 0) gethostname(host, HOST - 1);
    if (fd >= 0) close(fd);
}

/* Counts the ranks of this machine, and those of them that are lower than this one. */
static int find_local_ranks(struct part *p)
{
    char host[HOST];
    char *hosts = malloc((size_t)p->ranks * HOST);
    find_host(host);
    if (!hosts) part_fail(p, EXIT_MEMORY, "out of memory on rank %d", p->rank);
    int code = part_agree(p);
    if (code == EXIT_DONE) code = gather(p, host, hosts, HOST);
    p->local_rank = 0;
    p->local_ranks = 0;
    for (int r = 0; hosts && r < p->ranks && code == EXIT_DONE; r++) {
        if (memcmp(hosts + (size_t)r * HOST, host, HOST) != 0) continue;
        if (r < p->rank) p->local_rank++;
        p->local_ranks++;
    }
    free(hosts);
    return code;
}

static int count_gpus(void)
{
    int count = 0;
    for (int i = 0; i < ech_device_count(); i++) {
        ech_device device = { .size = sizeof device };
        if (ech_device_get(i, &device) == ECH_OK && strncmp(device.name, "cuda:", 5) == 0) count++;
    }
    return count;
}

/* The GPU of this rank: ranks of one machine use different ones.  Records and lines are sorted
 * faster without one: only prefixes of their keys are sorted there (docs/performance/scale.md). */
static const char *device_of(const struct part *p, char name[32])
{
    const char *device = p->set->words.job.device, *word = device;
    if (!word) word = getenv("ECHELON_DEVICE");
    const bool automatic = !word || !*word || strcmp(word, "auto") == 0;
    if (automatic && (p->order || p->set->files.records)) return "cpu";
    const int gpus = automatic || strcmp(word, "cuda") == 0 ? count_gpus() : 0;
    if (gpus < 1) return device;
    snprintf(name, 32, "cuda:%d", p->local_rank % gpus);
    return name;
}

/* How many threads a rank uses: those of the machine, if the launcher has not bound the rank. */
static int threads_of(const struct part *p, int given)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int usable = io_threads();
    if (given) return given;
    const int ranks = p->local_ranks > 0 ? p->local_ranks : 1;
    const int each = usable < online ? usable : usable / ranks;
    return each < 1 ? 1 : each;
}

/* Opens the device of this process, and that for agreements. */
static void open_device(struct part *p)
{
    char name[32];
    int given = 0;
    const char *device = device_of(p, name);
    p->code = cli_parse_threads(p->set->words.job.threads, &given);
    p->threads = threads_of(p, given);
    if (!p->set->words.job.memory && p->local_ranks > 1)
        p->budget_bytes /= (uint64_t)p->local_ranks;
    if (p->code != EXIT_DONE) return;
    ech_status status = ech_open(&p->ctx, device);
    if (status == ECH_OK) status = ech_set_threads(p->ctx, p->threads);
    if (status == ECH_OK && p->set->words.job.memory)
        status = ech_set_memory_limit(p->ctx, p->set->files.budget);
    if (status != ECH_OK) part_fail(p, EXIT_DEVICE, "rank %d: %s", p->rank, ech_error(p->ctx));
}

/* The names of the devices of all ranks, each once. */
static int list_devices(struct part *p, char *list, size_t room)
{
    enum { NAME = 16 };
    char name[NAME] = "";
    char *names = malloc((size_t)p->ranks * NAME);
    snprintf(name, sizeof name, "%.15s", ech_device_name(p->ctx));
    if (!names) part_fail(p, EXIT_MEMORY, "out of memory on rank %d", p->rank);
    int code = part_agree(p);
    if (code == EXIT_DONE) code = gather(p, name, names, NAME);
    list[0] = 0;
    for (int r = 0; names && r < p->ranks && code == EXIT_DONE; r++) {
        int first = 0;
        while (memcmp(names + first * NAME, names + r * NAME, NAME) != 0) first++;
        const size_t used = strlen(list);
        if (first == r) snprintf(list + used, room - used, "%s%s", r ? ", " : "", names + r * NAME);
    }
    free(names);
    return code;
}

/* ---- Files ---- */

/* Files of rank 0. */
struct process_files {
    struct io_output output, copy; /* copy: of an input that is a stream */
};

/* How other ranks open a file of rank 0: by its temporary name, or, without one, as an open file of
 * this process. */
static void offer(const struct io_output *file, struct part_offer *offered)
{
    struct stat about;
    *offered = (struct part_offer){ .given = file->fd >= 0 };
    if (!offered->given || fstat(file->fd, &about) != 0) return;
    offered->device = about.st_dev;
    offered->inode = about.st_ino;
    if (file->temporary)
        snprintf(offered->path, sizeof offered->path, "%s", file->temporary);
    else
        snprintf(offered->path, sizeof offered->path, "/proc/%ld/fd/%d", (long)getpid(), file->fd);
}

/* Returns a descriptor, or -1 and sets errno. */
static int accept_offer(const struct part_offer *offered, int flags)
{
    struct stat about;
    const int fd = io_open_file(offered->path, flags);
    const bool other = strncmp(offered->path, "/proc/", 6) == 0; /* perhaps of another machine */
    if (fd < 0 || !other) return fd;
    if (fstat(fd, &about) == 0 && about.st_dev == offered->device && about.st_ino == offered->inode)
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

/* Finds the columns of keys by name in the header, as rank 0 has done. */
static void bind_names(struct part *p, struct sort_text *text)
{
    const size_t bytes = (size_t)p->plan.offset;
    char *head = malloc(bytes + 1);
    if (!head)
        part_fail(p, EXIT_MEMORY, "%s: out of memory for its header", p->input);
    else if (pread(p->in, head, bytes, 0) != (ssize_t)bytes)
        part_fail(p, EXIT_BAD, "%s: rank %d cannot read its header", p->input, p->rank);
    else
        p->code = sort_bind(text, head, bytes);
    free(head);
}

/* The plan and the output of rank 0. */
static int make_plan(struct part *p, struct sort_files *files, struct process_files *own)
{
    struct io_error error;
    char reason[PART_REASON];
    const io_status status = io_create(&own->output, files->set->words.job.output, &error);
    int code = status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    if (code == EXIT_DONE) code = part_make_plan(files, &own->copy, &p->plan, reason);
    if (code == PART_REFUSED) code = cli_fail(EXIT_BAD, "%s", reason);
    if (code == EXIT_DONE) code = part_prepare_output(&own->output, &p->plan);
    p->files = files;
    p->in = files->inputs ? files->inputs[0].fd : -1;
    p->out = own->output.fd;
    offer(&own->output, &p->plan.output);
    offer(&own->copy, &p->plan.input);
    return code;
}

/* Gives the files of rank 0 names, because a rank cannot open them otherwise. */
static int name_files(struct part *p, struct process_files *own)
{
    struct io_error error;
    io_status status = io_name_temporary(&own->output, &error);
    if (status == IO_OK && own->copy.fd >= 0) status = io_name_temporary(&own->copy, &error);
    if (status == IO_OK && strlen(own->output.temporary) >= sizeof p->plan.output.path)
        status = io_fail(&error, IO_FAIL, own->output.name, "its name is too long");
    offer(&own->output, &p->plan.output);
    offer(&own->copy, &p->plan.input);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

/* Opens the files of rank 0; returns whether that was possible. */
static bool open_offered(struct part *p)
{
    const struct part_plan *plan = &p->plan;
    if (p->rank == 0) return true;
    if (p->out < 0) p->out = accept_offer(&plan->output, O_WRONLY);
    if (p->out >= 0 && plan->input.given && p->in < 0) p->in = accept_offer(&plan->input, O_RDONLY);
    return p->out >= 0 && (p->in >= 0 || !plan->input.given);
}

static int begin_process(struct part *p, struct sort_files *files, struct process_files *own)
{
    struct part_plan *plan = &p->plan;
    if (p->rank == 0) plan->code = make_plan(p, files, own);
    int code = part_broadcast_plan(p);
    if (code != EXIT_DONE) return code;
    uint64_t opened = open_offered(p), all = 0;
    code = part_check_host(
        p, ech_dist_reduce(p->host, p->comm, ECH_OP_MIN, &opened, &all, 1, ECH_U64, NULL));
    if (code == EXIT_DONE && !all) {
        if (p->rank == 0) plan->code = name_files(p, own);
        code = part_broadcast_plan(p);
        if (code == EXIT_DONE && !open_offered(p))
            part_fail(p, EXIT_BAD, "%s: rank %d cannot open %s of rank 0: %s",
                      p->set->words.job.output, p->rank,
                      (p->out < 0 ? &plan->output : &plan->input)->path, strerror(errno));
    }
    if (code != EXIT_DONE || p->rank == 0) return code;
    if (p->in < 0) p->in = io_open_file(p->input, O_RDONLY);
    if (p->in < 0)
        part_fail(p, EXIT_BAD, "%s: rank %d cannot open it: %s", p->input, p->rank,
                  strerror(errno));
    else if (p->order)
        bind_names(p, files->text);
    return code;
}

static int end_process(struct part *p, struct io_output *output)
{
    struct io_error error;
    if (p->rank == 0) p->code = part_trim(p, output); /* it prints its message */
    if (p->rank == 0 && p->code == EXIT_DONE) {
        const io_status status = io_commit(output, &error);
        if (status != IO_OK) part_fail(p, EXIT_BAD, "%s", error.text);
    }
    int code = part_agree(p);
    if (code == EXIT_DONE && part_is_reported(p->set)) code = part_gather_seconds(p);
    return code;
}

static int sort_process(struct part *p, struct sort_files *files, double started)
{
    char devices[256] = "";
    struct process_files own = { .output.fd = -1, .copy.fd = -1 };
    int code = find_local_ranks(p);
    if (code == EXIT_DONE) {
        open_device(p);
        code = part_agree(p);
    }
    if (code == EXIT_DONE) code = begin_process(p, files, &own);
    if (code == EXIT_DONE) code = part_agree(p);
    if (code == EXIT_DONE) code = part_run(p);
    if (code == EXIT_DONE) code = end_process(p, &own.output);
    p->total_seconds = cli_seconds() - started;
    if (code == EXIT_DONE && part_is_reported(p->set))
        code = list_devices(p, devices, sizeof devices);
    if (code == EXIT_DONE && p->rank == 0 && part_is_reported(p->set))
        part_report(p, files->job, devices);
    if (p->rank == 0) {
        io_discard(&own.output);
        if (p->plan.input.given && p->in >= 0) close(p->in);
        io_discard(&own.copy);
    } else {
        if (p->in >= 0) close(p->in);
        if (p->out >= 0) close(p->out);
    }
    return code;
}

int part_run_process(struct sort_files *files, double started)
{
    static struct part part; /* the plan is large */
    struct part *p = &part;
    *p = (struct part){
        .set = files->set, .job = files->job, .own_process = true, .in = -1, .out = -1
    };
    p->input = files->text->names[0];
    p->order = files->lines ? files->text->order : NULL;
    p->budget_bytes = sort_files_memory(files->set);
    int code = open_communicator(p);
    if (code != EXIT_DONE) return code;
    p->rank = ech_comm_rank(p->comm);
    p->ranks = ech_comm_size(p->comm);
    code = check_ranks(p);
    if (code != EXIT_DONE) {
        part_end(p);
        return code;
    }
    cli_silent = false;
    code = cli_open(&p->host, "cpu", 0);
    files->job->base.ctx = p->host;
    if (code == EXIT_DONE)
        code = sort_process(p, files, started);
    else
        ech_comm_abort(p->comm, "a rank cannot open the CPU");
    part_end(p);
    return code;
}
