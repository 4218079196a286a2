/*
 * sort_distributed.c - "echelon sort" on several ranks: --distributed, with processes of MPI, and
 * --device cuda:all, with a thread for each GPU.
 *
 *     processes  open the communicator | rank 0: plan | broadcast | part_run() | rank 0: commit
 *     threads    plan | a thread for each device: part_run() | commit
 *
 * The output has its final size before the ranks write their shares at their places.  Rank 0
 * renames it when all shares are on the disk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* dladdr() */
#include "io/threads.h"
#include "sort_distributed.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_DEVICES = 64 };

/* A rank may read for hours before the next step.  The launcher detects processes that end. */
static const ech_comm_options patient = { .size = sizeof patient, .time_limit_s = 86400 };

/* ---- Options ---- */

static const char *all_devices(const struct sort_set *set)
{
    const char *device = set->words.job.device;
    const bool all = device && (strcmp(device, "cuda:all") == 0 || strcmp(device, "simt:all") == 0);
    return all ? device : NULL;
}

bool sort_is_distributed(const struct sort_set *set)
{
    return set->distributed || all_devices(set);
}

/* The first option that has no meaning for several ranks; NULL: none. */
static const char *other_option(const struct sort_set *set)
{
    const struct sort_files_words *f = &set->files;
    const struct {
        bool given;
        const char *name;
    } list[] = {
        { set->text.merge, "merge" },
        { set->text.debug, "debug" },
        { set->check, "check" },
        { set->text.check_quiet, "check-quiet" },
        { set->words.job.column != NULL, "column" },
        { set->rows != NULL, "rows" },
        { set->axis != NULL, "axis" },
        { f->dry_run, "dry-run" },
        { f->verify, "verify" },
        { f->consume, "consume" },
        { f->resume.given, "resume" },
        { f->directories.count > 0, "temporary-directory" },
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].given) return list[i].name;
    return NULL;
}

/* Whether a key of lines is random: each process has another seed. */
static bool is_random(const struct lines_order *order)
{
    char text[1024];
    lines_describe(order, text, sizeof text);
    return strstr(text, "random order") != NULL;
}

/* Whether the options of --distributed are wrong; reason describes it. */
static bool is_refused(const struct sort_set *set, const struct sort_text *text, const char *line,
                       char *reason)
{
    const char *other = other_option(set), *output = set->words.job.output;
    reason[0] = 0;
    if (line && is_random(text->order) && !set->text.random_source)
        snprintf(reason, PART_REASON,
                 "--distributed needs --random-source FILE for a random order, which is that of "
                 "all ranks");
    else if (all_devices(set))
        snprintf(reason, PART_REASON,
                 "--distributed has one device for each rank, and cannot be combined with "
                 "--device %s",
                 all_devices(set));
    else if (other)
        snprintf(reason, PART_REASON, "--distributed cannot be combined with --%s", other);
    else if (text->n_names > 1)
        snprintf(reason, PART_REASON,
                 "--distributed sorts one INPUT, but there are \"%.150s\" and \"%.150s\"",
                 text->names[0], text->names[1]);
    else if (strcmp(text->names[0], "-") == 0)
        snprintf(reason, PART_REASON,
                 "--distributed needs a file: not all launchers pass standard input on");
    else if (!output || strcmp(output, "-") == 0)
        snprintf(reason, PART_REASON,
                 "--distributed needs --output FILE, to which each rank writes a part");
    return reason[0];
}

static bool is_file(const char *name)
{
    struct stat about;
    return strcmp(name, "-") != 0 && stat(name, &about) == 0 && S_ISREG(about.st_mode);
}

/* Why one device of "cuda:all" sorts the input; NULL: several can. */
static const char *one_device_reason(const struct sort_set *set, const struct sort_text *text,
                                     const char *line, char *reason)
{
    const char *other = other_option(set), *output = set->words.job.output;
    if (other) {
        snprintf(reason, PART_REASON, "--%s is given", other);
        return reason;
    }
    if (text->n_names > 1) return "there are several inputs";
    if (!is_file(text->names[0]) || !output || strcmp(output, "-") == 0)
        return "several ones need an input and an output that are files";
    /* Two ranks on the emulator test what processes do. */
    if (strcmp(all_devices(set), "simt:all") == 0) return NULL;
    return line || set->files.records ? "it is faster for records and lines" : NULL;
}

/* A number that the launcher passes in one of these variables; -1: none. */
static int launcher_number(const char *const *variables)
{
    for (; *variables; variables++) {
        const char *text = getenv(*variables);
        if (text && *text && strspn(text, "0123456789") == strlen(text)) return atoi(text);
    }
    return -1;
}

/* Without a communicator, rank 0 prints the message of all ranks. */
static bool is_silent(const struct sort_set *set)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                             "SLURM_PROCID", NULL };
    return set->distributed && launcher_number(variables) > 0;
}

/* ---- Threads ---- */

static bool is_reported(const struct sort_set *set)
{
    return set->words.job.timing || set->words.job.json;
}

static void *run_thread(void *argument)
{
    struct part *p = argument;
    const int code = part_run(p);
    if (code == EXIT_DONE && is_reported(p->set)) part_gather_seconds(p);
    if (p->code == EXIT_DONE) p->code = code;
    return NULL;
}

/* The names of the devices; returns their number. */
static int list_devices(const char *all, char names[MOST_DEVICES][16])
{
    int count = 0;
    if (strcmp(all, "simt:all") == 0) { /* the emulator has no number of devices */
        for (; count < 2; count++) snprintf(names[count], sizeof names[count], "simt");
        return count;
    }
    for (int i = 0; i < ech_device_count() && count < MOST_DEVICES; i++) {
        ech_device device = { .size = sizeof device };
        if (ech_device_get(i, &device) == ECH_OK && strncmp(device.name, "cuda:", 5) == 0)
            snprintf(names[count++], sizeof names[count], "%.15s", device.name);
    }
    return count;
}

/* Starts the threads, and waits for them. */
static int run_threads(struct part *parts, int ranks)
{
    pthread_t threads[MOST_DEVICES];
    int started = 0;
    while (started < ranks &&
           pthread_create(&threads[started], NULL, run_thread, &parts[started]) == 0)
        started++;
    if (started < ranks) ech_comm_abort(parts[started].comm, "a thread cannot be started");
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    if (started < ranks) return cli_fail(EXIT_MEMORY, "cannot start %d threads", ranks);
    return parts[0].code;
}

static void *open_device(void *argument)
{
    struct part *p = argument;
    const struct sort_set *set = p->set;
    p->code = cli_open(&p->ctx, p->device, p->threads);
    if (p->code == EXIT_DONE && !p->host) p->code = cli_open(&p->host, "cpu", p->threads);
    if (p->code == EXIT_DONE && set->words.job.memory)
        ech_set_memory_limit(p->ctx, set->files.budget);
    return NULL;
}

/* Opens the devices of parts at the same time: each takes some tenths of a second. */
static void open_others(struct part *parts, int n)
{
    pthread_t threads[MOST_DEVICES];
    int started = 0;
    while (started < n &&
           pthread_create(&threads[started], NULL, open_device, &parts[started]) == 0)
        started++;
    for (int i = started; i < n; i++) open_device(&parts[i]);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

/* Opens the devices of all ranks, and connects them. */
static int connect_threads(const struct sort_set *set, const char *all, struct part *parts,
                           int *ranks)
{
    char names[MOST_DEVICES][16];
    ech_ctx *contexts[MOST_DEVICES];
    ech_comm *comms[MOST_DEVICES];
    int threads, code = cli_parse_threads(set->words.job.threads, &threads);
    const int count = code == EXIT_DONE ? list_devices(all, names) : 0;
    if (code == EXIT_DONE && count == 0)
        code = cli_fail(EXIT_DEVICE, "--device is \"%s\", but no GPU can be used", all);
    if (code != EXIT_DONE) return code;
    for (int r = 0; r < count; r++) {
        parts[r] = (struct part){
            .set = set, .rank = r, .ranks = count, .host = r ? NULL : parts[0].host
        };
        parts[r].device = names[r];
        parts[r].threads = (threads ? threads : io_threads() + count - 1) / count;
        if (parts[r].threads < 1) parts[r].threads = 1;
    }
    *ranks = count;
    open_device(&parts[0]); /* a missing driver is reported once */
    if (parts[0].code == EXIT_DONE) open_others(&parts[1], count - 1);
    for (int r = 0; r < count; r++) {
        contexts[r] = parts[r].ctx;
        parts[r].device = NULL; /* names ends here */
        if (parts[r].code != EXIT_DONE) return parts[r].code;
    }
    const ech_status status = ech_comm_threads(comms, contexts, count, &patient);
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    for (int r = 0; r < count; r++) parts[r].comm = comms[r];
    return EXIT_DONE;
}

static void close_part(struct part *p)
{
    part_close(p);
    ech_comm_close(p->comm);
    ech_close(p->ctx);
    ech_close(p->host);
}

/* Sets the size of the output, which may not have been known before. */
static int trim(const struct part *p, const struct io_output *output)
{
    if (ftruncate(output->fd, (off_t)p->plan.file_bytes) == 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: cannot write: %s", output->name, strerror(errno));
}

static int sort_threads(struct sort_files *files, struct part *parts, int ranks, double started)
{
    struct io_error error;
    struct io_output output;
    io_status status = io_create(&output, files->set->words.job.output, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    int code = part_prepare_output(&output, &parts[0].plan, false);
    for (int r = 0; r < ranks; r++) {
        parts[r].plan.packed = parts[0].plan.packed;
        parts[r].out = output.fd;
    }
    if (code == EXIT_DONE) code = run_threads(parts, ranks);
    if (code == EXIT_DONE) code = trim(&parts[0], &output);
    if (code == EXIT_DONE) {
        status = io_commit(&output, &error);
        if (status != IO_OK) code = cli_fail_io(status, &error);
    } else {
        io_discard(&output);
    }
    parts[0].total_seconds = cli_seconds() - started;
    if (code == EXIT_DONE && is_reported(files->set))
        part_report(&parts[0], files->job, all_devices(files->set));
    return code;
}

/* Opens the devices, unless one is to be used. */
static int open_all_devices(struct sort_files *files, const struct part_plan *plan,
                            struct part *parts, int *ranks, char *reason)
{
    const char *all = all_devices(files->set);
    const int code = connect_threads(files->set, all, parts, ranks);
    for (int r = 0; r < *ranks; r++) {
        parts[r].job = files->job;
        parts[r].input = files->inputs[0].name;
        parts[r].order = files->lines ? files->text->order : NULL;
        parts[r].files = r ? NULL : files;
        parts[r].plan = *plan;
        parts[r].in = files->inputs[0].fd;
        parts[r].budget_bytes = sort_files_memory(files->set) / (uint64_t)*ranks;
    }
    const struct part *p = &parts[0];
    const uint64_t most = code == EXIT_DONE ? ech_dist_even_share(plan->n, 0, *ranks) : 0;
    if (code != EXIT_DONE || plan->blocks || part_needed_bytes(p, most) <= p->budget_bytes)
        return code;
    snprintf(reason, PART_REASON, "the memory is not sufficient for several ones");
    return PART_REFUSED;
}

/* PART_REFUSED: several devices cannot sort the input, or one is faster. */
static int run_all_devices(struct sort_files *files, double started, char *reason)
{
    static struct part parts[MOST_DEVICES];
    struct part_plan plan = { .code = EXIT_DONE };
    int ranks = 0, code = cli_open(&parts[0].host, "cpu", 0);
    files->job->base.ctx = parts[0].host;
    if (code == EXIT_DONE) code = part_make_plan(files, NULL, &plan, reason);
    if (code == EXIT_DONE && plan.blocks && strcmp(all_devices(files->set), "cuda:all") == 0) {
        snprintf(reason, PART_REASON, "several ones have no --unique and no --bits");
        code = PART_REFUSED;
    }
    if (code == EXIT_DONE) code = open_all_devices(files, &plan, parts, &ranks, reason);
    if (code == EXIT_DONE) code = sort_threads(files, parts, ranks, started);
    for (int r = 0; r < ranks || r == 0; r++) close_part(&parts[r]);
    return code;
}

/* ---- Processes ---- */

static int local_rank(void)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                             "SLURM_LOCALID", NULL };
    const int number = launcher_number(variables);
    return number < 0 ? 0 : number;
}

static int local_ranks(void)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                             NULL };
    const int number = launcher_number(variables);
    return number < 1 ? 1 : number;
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
    const ech_status status =
        ech_comm_open(&p->comm, given ? NULL : default_library(path), &patient);
    if (status == ECH_OK) return EXIT_DONE;
    if (is_silent(p->set)) return EXIT_BAD;
    if (given) return cli_fail(EXIT_BAD, "--distributed: %s", ech_error(NULL));
    return cli_fail(
        EXIT_BAD,
        "--distributed: %s; build libechelon_mpi.so with the mpicc of your MPI, and set "
        "ECHELON_COMM to its path (docs/guide/distributed.md)",
        ech_error(NULL));
}

/* Files of rank 0. */
struct process_files {
    struct io_output output, copy; /* copy: of an input that is a stream */
};

/* The GPU of this rank: ranks of one machine use different ones. */
static const char *device_of(const struct sort_set *set, char name[32])
{
    const char *device = set->words.job.device;
    const int gpus = ech_device_count() - 1; /* the last device is the CPU */
    const bool chosen = device && strcmp(device, "cuda") != 0;
    if (chosen || (!device && getenv("ECHELON_DEVICE")) || gpus < 1) return device;
    snprintf(name, 32, "cuda:%d", local_rank() % gpus);
    return name;
}

/* How many threads a rank uses: those of the machine, if the launcher has not bound the rank. */
static int threads_of(int given)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int usable = io_threads();
    if (given) return given;
    const int each = usable < online ? usable : usable / local_ranks();
    return each < 1 ? 1 : each;
}

/* Opens the device of this process, and that for agreements. */
static void open_devices(struct part *p)
{
    char name[32];
    int given = 0;
    const char *device = device_of(p->set, name);
    if (p->code == EXIT_DONE) p->code = cli_parse_threads(p->set->words.job.threads, &given);
    p->threads = threads_of(given);
    if (p->code != EXIT_DONE) return;
    ech_status status = ech_open(&p->ctx, device);
    if (status == ECH_OK) status = ech_set_threads(p->ctx, p->threads);
    if (status == ECH_OK && p->set->words.job.memory)
        status = ech_set_memory_limit(p->ctx, p->set->files.budget);
    if (status != ECH_OK) part_fail(p, EXIT_DEVICE, "rank %d: %s", p->rank, ech_error(p->ctx));
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

/* The plan and the output of rank 0, for all ranks. */
static int make_plan(struct part *p, struct sort_files *files, struct process_files *own)
{
    struct io_error error;
    char reason[PART_REASON];
    const io_status status = io_create(&own->output, files->set->words.job.output, &error);
    int code = status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    if (code == EXIT_DONE) code = part_make_plan(files, &own->copy, &p->plan, reason);
    if (code == PART_REFUSED) code = cli_fail(EXIT_BAD, "%s", reason);
    if (code == EXIT_DONE) code = part_prepare_output(&own->output, &p->plan, true);
    p->files = files;
    p->in = files->inputs ? files->inputs[0].fd : -1;
    p->out = own->output.fd;
    return code;
}

static int begin_process(struct part *p, struct sort_files *files, struct process_files *own)
{
    struct part_plan *plan = &p->plan;
    if (p->rank == 0) plan->code = make_plan(p, files, own);
    const int code = part_broadcast_plan(p);
    if (code != EXIT_DONE || p->rank == 0) return code;
    const char *input = plan->input[0] ? plan->input : p->input;
    p->in = io_open_file(input, O_RDONLY);
    if (p->in < 0)
        part_fail(p, EXIT_BAD, "%s: rank %d cannot open it: %s", input, p->rank, strerror(errno));
    else if (p->order)
        bind_names(p, files->text);
    p->out = io_open_file(plan->output, O_WRONLY);
    if (p->out < 0)
        part_fail(p, EXIT_BAD, "%s: rank %d cannot open it: %s", plan->output, p->rank,
                  strerror(errno));
    return EXIT_DONE;
}

static int end_process(struct part *p, struct io_output *output)
{
    struct io_error error;
    if (p->rank == 0) p->code = trim(p, output); /* it prints its message */
    if (p->rank == 0 && p->code == EXIT_DONE) {
        const io_status status = io_commit(output, &error);
        if (status != IO_OK) part_fail(p, EXIT_BAD, "%s", error.text);
    }
    int code = part_agree(p);
    if (code == EXIT_DONE && is_reported(p->set)) code = part_gather_seconds(p);
    return code;
}

static int sort_process(struct part *p, struct sort_files *files, double started)
{
    char devices[64];
    struct process_files own = { .output.fd = -1, .copy.fd = -1 };
    open_devices(p);
    int code = part_agree(p);
    if (code == EXIT_DONE) code = begin_process(p, files, &own);
    if (code == EXIT_DONE) code = part_agree(p);
    if (code == EXIT_DONE) code = part_run(p);
    if (code == EXIT_DONE) code = end_process(p, &own.output);
    p->total_seconds = cli_seconds() - started;
    snprintf(devices, sizeof devices, "%s", p->ctx ? ech_device_name(p->ctx) : "");
    if (code == EXIT_DONE && p->rank == 0 && is_reported(p->set))
        part_report(p, files->job, devices);
    if (p->rank == 0) {
        io_discard(&own.output);
        if (p->plan.input[0] && p->in >= 0) close(p->in);
        io_discard(&own.copy);
    } else {
        if (p->in >= 0) close(p->in);
        if (p->out >= 0) close(p->out);
    }
    return code;
}

static int run_process(struct sort_files *files, double started)
{
    static struct part part; /* the plan is large */
    struct part *p = &part;
    *p = (struct part){
        .set = files->set, .job = files->job, .own_process = true, .in = -1, .out = -1
    };
    p->input = files->text->names[0];
    p->order = files->lines ? files->text->order : NULL;
    p->budget_bytes = sort_files_memory(files->set);
    if (!files->set->words.job.memory) p->budget_bytes /= (uint64_t)local_ranks();
    int code = open_communicator(p);
    if (code != EXIT_DONE) return code;
    p->rank = ech_comm_rank(p->comm);
    p->ranks = ech_comm_size(p->comm);
    code = cli_open(&p->host, "cpu", 0);
    files->job->base.ctx = p->host;
    if (code == EXIT_DONE)
        code = sort_process(p, files, started);
    else
        ech_comm_abort(p->comm, "a rank cannot open the CPU");
    close_part(p);
    return code;
}

/* ---- The sort ---- */

static int sort_processes(struct sort_files *files, const char *line, double started)
{
    char reason[PART_REASON];
    if (!is_refused(files->set, files->text, line, reason)) return run_process(files, started);
    return is_silent(files->set) ? EXIT_BAD : cli_fail(EXIT_BAD, "%s", reason);
}

/* One device of "cuda:all" sorts the input. */
static void use_one_device(struct sort_set *set, struct sort_job *job, const char *reason)
{
    static char note[PART_REASON + 64];
    const char *all = all_devices(set);
    snprintf(note, sizeof note, "one device of %s is used: %s", all, reason);
    set->words.job.device = strcmp(all, "simt:all") == 0 ? "simt" : "cuda";
    job->base.device_note = note;
}

int sort_distributed(struct sort_set *set, struct sort_job *job, struct sort_text *text,
                     const char *line, bool *done)
{
    static struct sort_files files;
    static char reason[PART_REASON];
    const double started = cli_seconds();
    const struct sort_job before = *job;
    files = (struct sort_files){ .set = set,
                                 .job = job,
                                 .text = text,
                                 .is_file = true,
                                 .lines = line != NULL,
                                 .spool.fd = -1,
                                 .elements.fd = -1 };
    int code = PART_REFUSED;
    const char *why = set->distributed ? NULL : one_device_reason(set, text, line, reason);
    if (set->distributed)
        code = sort_processes(&files, line, started);
    else if (!why)
        code = run_all_devices(&files, started, reason);
    sort_files_close(&files);
    *done = code != PART_REFUSED;
    if (*done) return code;
    *job = before;
    use_one_device(set, job, why ? why : reason);
    return EXIT_DONE;
}
