/*
 * sort_distributed.c - "echelon sort" on several ranks: --distributed, with processes of MPI, and
 * --device cuda:all, with a thread for each GPU.
 *
 *     processes  sort_processes.c
 *     threads    plan | a thread for each device: part_run() | commit
 *
 * The ranks write their shares at their places.  The output is renamed when all shares are on the
 * disk.  "cuda:all" uses one device where several ones are not faster or cannot do it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/threads.h"
#include "sort_distributed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_DEVICES = 64,
    /* Below this, to open the other devices takes longer than they save: two H200 of one host, u32
     * in a file in memory, 2026-11-27: 1.8 s on one and 2.3 s on both for 1 GiB, 5.0 and 4.5 s for
     * 4 GiB. */
    FEW_MIB = 2048
};

int part_comm_options(const struct sort_set *set, ech_comm_options *options)
{
    enum { DEFAULT_S = 14400, MOST_S = 100000000 };
    uint64_t seconds = DEFAULT_S;
    const int code =
        set->time_limit ? cli_parse_count("time-limit", set->time_limit, &seconds) : EXIT_DONE;
    *options = (ech_comm_options){ .size = sizeof *options, .time_limit_s = (double)seconds };
    if (code != EXIT_DONE || (seconds && seconds <= MOST_S)) return code;
    return cli_fail(EXIT_BAD, "--time-limit is \"%s\", not a number of seconds from 1 to %d",
                    set->time_limit, MOST_S);
}

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
    char names[MOST_DEVICES][16];
    if (other) {
        snprintf(reason, PART_REASON, "--%s is given", other);
        return reason;
    }
    if (text->n_names > 1) return "there are several inputs";
    if (!is_file(text->names[0]) || !output || strcmp(output, "-") == 0)
        return "several ones need an input and an output that are files";
    /* Two ranks on the emulator test what processes do. */
    if (strcmp(all_devices(set), "simt:all") == 0) return NULL;
    if (line || set->files.records) return "it is faster for records and lines";
    return list_devices("cuda:all", names) < 2 ? "there is no second one" : NULL;
}

/* ---- Threads ---- */

static void *run_thread(void *argument)
{
    struct part *p = argument;
    const int code = part_run(p);
    if (code == EXIT_DONE && part_is_reported(p->set)) part_gather_seconds(p);
    if (p->code == EXIT_DONE) p->code = code;
    return NULL;
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
    ech_comm_options options;
    int threads, code = cli_parse_threads(set->words.job.threads, &threads);
    if (code == EXIT_DONE) code = part_comm_options(set, &options);
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
    const ech_status status = ech_comm_threads(comms, contexts, count, &options);
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    for (int r = 0; r < count; r++) parts[r].comm = comms[r];
    return EXIT_DONE;
}

static int sort_threads(struct sort_files *files, struct part *parts, int ranks, double started)
{
    struct io_error error;
    struct io_output output;
    io_status status = io_create(&output, files->set->words.job.output, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    int code = part_prepare_output(&output, &parts[0].plan);
    for (int r = 0; r < ranks; r++) {
        parts[r].plan.packed = parts[0].plan.packed;
        parts[r].out = output.fd;
    }
    if (code == EXIT_DONE) code = run_threads(parts, ranks);
    if (code == EXIT_DONE) code = part_trim(&parts[0], &output);
    if (code == EXIT_DONE) {
        status = io_commit(&output, &error);
        if (status != IO_OK) code = cli_fail_io(status, &error);
    } else {
        io_discard(&output);
    }
    parts[0].total_seconds = cli_seconds() - started;
    if (code == EXIT_DONE && part_is_reported(files->set))
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
    const bool real = strcmp(all_devices(files->set), "cuda:all") == 0;
    int ranks = 0, code = cli_open(&parts[0].host, "cpu", 0);
    files->job->base.ctx = parts[0].host;
    if (code == EXIT_DONE) code = part_make_plan(files, NULL, &plan, reason);
    if (code == EXIT_DONE && plan.blocks && real) {
        snprintf(reason, PART_REASON, "several ones have no --unique and no --bits");
        code = PART_REFUSED;
    } else if (code == EXIT_DONE && real && plan.n * plan.row_bytes >> 20 < FEW_MIB) {
        snprintf(reason, PART_REASON, "it is faster for less than %d MiB", FEW_MIB);
        code = PART_REFUSED;
    }
    if (code == EXIT_DONE) code = open_all_devices(files, &plan, parts, &ranks, reason);
    if (code == EXIT_DONE) code = sort_threads(files, parts, ranks, started);
    for (int r = 0; r < ranks || r == 0; r++) part_end(&parts[r]);
    return code;
}

/* ---- The sort ---- */

static int sort_processes(struct sort_files *files, const char *line, double started)
{
    char reason[PART_REASON];
    if (!is_refused(files->set, files->text, line, reason)) return part_run_process(files, started);
    return cli_fail(EXIT_BAD, "%s", reason);
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
