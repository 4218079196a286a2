/*
 * sort_files.c - sorts files of any size for "echelon sort", by the external sort of src/files.
 *
 *     sort_files_budget()  --memory -> bytes
 *     sort_files()         inputs and kind (sort_kinds.c) -> plan -> sort -> commit
 *
 * Input that is small against the memory is sorted in memory, unless an option needs this sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "sort_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t least_budget = (uint64_t)16 << 20;

/* ---- The budget ---- */

/* The power of 1000 of a suffix of GNU sort that counts do not have: P, E, Z, Y, R, Q, each with an
 * optional i, for 1024; 0: another suffix. */
static int large_power(const char *suffix, uint64_t *base)
{
    static const char letters[] = "PEZYRQ";
    const char *letter = *suffix ? strchr(letters, *suffix) : NULL;
    *base = suffix[0] && suffix[1] == 'i' ? 1024 : 1000;
    return letter && !suffix[*base == 1024 ? 2 : 1] ? 5 + (int)(letter - letters) : 0;
}

/* A count, or digits with %, b for bytes, or a large suffix. */
static int parse_budget(const char *text, uint64_t *bytes)
{
    char number[32];
    const size_t digits = strspn(text, "0123456789");
    const char *suffix = text + digits;
    uint64_t base;
    const bool percent = strcmp(suffix, "%") == 0;
    int power = large_power(suffix, &base);
    if (!digits || digits >= sizeof number || !(percent || power || strcmp(suffix, "b") == 0))
        return cli_parse_count("memory", text, bytes);
    memcpy(number, text, digits);
    number[digits] = 0;
    const int code = cli_parse_count("memory", number, bytes);
    if (code != EXIT_DONE) return code;
    if (percent && *bytes > 100)
        return cli_fail(EXIT_BAD, "--memory is \"%s\"; the maximum is 100%%", text);
    if (percent) *bytes = (uint64_t)((double)io_machine_bytes() / 100 * (double)*bytes);
    for (; power; power--) {
        if (*bytes > UINT64_MAX / base)
            return cli_fail(EXIT_BAD, "--memory is \"%s\"; the maximum is 2^64 - 1", text);
        *bytes *= base;
    }
    return EXIT_DONE;
}

int sort_files_budget(struct sort_set *set)
{
    static char text[32];
    set->files.budget = 0;
    if (!set->words.job.memory) return EXIT_DONE;
    const int code = parse_budget(set->words.job.memory, &set->files.budget);
    snprintf(text, sizeof text, "%llu", (unsigned long long)set->files.budget);
    if (code == EXIT_DONE) set->words.job.memory = text; /* limits device memory, too */
    return code;
}

uint64_t sort_files_memory(const struct sort_set *set)
{
    const uint64_t bytes = set->words.job.memory ? set->files.budget : files_memory();
    return bytes < least_budget ? least_budget : bytes;
}

/* ---- Whether it is needed ---- */

const char *sort_files_option(const struct sort_set *set)
{
    const struct sort_files_words *w = &set->files;
    return w->record         ? "record"
           : w->records      ? "key"
           : w->dry_run      ? "dry-run"
           : w->verify       ? "verify"
           : w->consume      ? "consume"
           : w->resume.given ? "resume"
                             : NULL;
}

/* How temporary files are read and written: ECHELON_TRANSFERS. */
static int parse_transfers(struct files_sort *sort)
{
    static const char *const words[] = { "io_uring", "threads", "none", "direct", "buffered" };
    const int n = (int)(sizeof words / sizeof *words);
    const char *word = getenv("ECHELON_TRANSFERS");
    int i = 0;
    if (!word || !*word) return EXIT_DONE;
    while (i < n && strcmp(words[i], word) != 0) i++;
    if (i == n) return cli_unknown("value of ECHELON_TRANSFERS", word, words, n);
    sort->direct = strcmp(word, "direct") == 0;
    sort->buffered = strcmp(word, "buffered") == 0;
    if (!sort->direct && !sort->buffered) sort->transfers = words[i];
    return EXIT_DONE;
}

static int check_options(const struct sort_files *files, const struct io_output *output)
{
    const struct sort_set *set = files->set;
    const char *option = sort_files_option(set), *other = NULL;
    if (!option) return EXIT_DONE;
    if (set->text.merge) other = "merge";
    if (set->text.debug) other = "debug";
    if (other) return cli_fail(EXIT_BAD, "--%s cannot be combined with --%s", option, other);
    if (set->files.consume && !set->words.job.output)
        return cli_fail(EXIT_BAD, "--consume removes the inputs and needs --output FILE");
    if (set->files.consume && !output->temporary && !output->unnamed)
        return cli_fail(EXIT_BAD, "--consume removes the inputs, but the output %s is not a file",
                        output->name);
    return EXIT_DONE;
}

/* ---- The sort ---- */

static struct sort_files state; /* the report reads it */

static void patch(void *user, uint64_t records, unsigned char *head)
{
    const struct sort_files *files = user;
    unsigned char header[IO_NPY_HEADER];
    const size_t bytes = io_npy_header(files->descr, records, header);
    if (bytes == files->head_bytes) memcpy(head, header, bytes);
}

static void show_stage(void *user, const char *what)
{
    struct sort_files *files = user;
    files->stage = what;
    files->stage_began = cli_seconds();
    files->stage_bytes = files->done_bytes;
    cli_progress_stage(&files->job->base.progress, what);
}

/* Adds the rate to the name of the stage. */
static void show_rate(void *user, uint64_t done, uint64_t total)
{
    struct sort_files *files = user;
    struct cli_progress *progress = &files->job->base.progress;
    const double seconds = cli_seconds() - files->stage_began;
    files->done_bytes = done;
    if (seconds > 0 && files->stage)
        snprintf(files->shown, sizeof files->shown, "%s %.2f GB/s,", files->stage,
                 1e-9 * (double)(done - files->stage_bytes) / seconds);
    progress->what = files->stage ? files->shown : progress->what;
    progress->io.tick(progress->io.user, done, total);
}

static void choose_directories(struct sort_files *files)
{
    const struct cli_list *list = &files->set->files.directories;
    const char *temporary = getenv("TMPDIR");
    files->default_directory[0] = temporary && *temporary ? temporary : "/tmp";
    files->sort.directories = list->count ? list->words : files->default_directory;
    files->sort.directory_count = list->count ? list->count : 1;
}

static void prepare(struct sort_files *files, struct io_output *output)
{
    struct files_sort *sort = &files->sort;
    struct job *base = &files->job->base;
    bool stream = false;
    for (int i = 0; i < files->count; i++) stream |= files->inputs[i].fd < 0;
    sort->inputs = files->inputs;
    sort->input_count = files->count;
    sort->memory_bytes = sort_files_memory(files->set) - files->held_bytes;
    sort->threads = base->threads;
    sort->unique = files->set->unique;
    sort->verify = files->set->files.verify;
    sort->measure = files->set->words.job.timing || files->set->words.job.json;
    sort->ctx = base->ctx;
    sort->device = ech_device_name(base->ctx);
    sort->output = output;
    sort->output_is_file = files->is_file;
    sort->head = (const unsigned char *)files->head;
    sort->head_bytes = files->head_bytes;
    sort->user = files;
    sort->stage = show_stage;
    files->progress = (struct io_progress){ show_rate, files };
    sort->progress = &files->progress;
    output->progress = NULL;
    if (base->out_format != IO_NPY || files->fixed_head || files->after) return;
    if (!sort->unique && !stream) return;
    sort->patch = patch;
}

/* ---- The report ---- */

static void add_times(char *text, size_t bytes, const struct files_sort *sort)
{
    const struct files_times *t = &sort->times;
    const struct {
        const char *name;
        double seconds;
    } stages[] = { { "sample", t->sample },
                   { "wait for input", t->read },
                   { "partition", t->partition },
                   { "wait for bins", t->collect },
                   { "sort", t->sort },
                   { "check", t->check },
                   { "wait for writes", t->write } };
    double all = 0;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) all += stages[i].seconds;
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, bytes - used, "%-12s", "shares");
    for (size_t i = 0; i < sizeof stages / sizeof *stages && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s %s %.0f%%", i ? "," : "",
                                 stages[i].name, all > 0 ? 100 * stages[i].seconds / all : 0);
    if (used < bytes) used += (size_t)snprintf(text + used, bytes - used, "\n");
    if (t->disk_read <= 0 || t->disk_write <= 0 || used >= bytes) return;
    const double n = (double)sort->plan.input_bytes;
    const double first = t->disk_input > 0 ? t->disk_input : t->disk_read;
    snprintf(text + used, bytes - used,
             "%-12s %.3f GB/s read, %.3f GB/s read from temporary files, %.3f GB/s written: %.3f s "
             "for two reads and two writes (measured in %.3f s)\n",
             "disk", 1e-9 * first, 1e-9 * t->disk_read, 1e-9 * t->disk_write,
             n / first + n / t->disk_read + 2 * n / t->disk_write, t->measure);
}

static void report_plan(const struct job *job, char *text, size_t bytes)
{
    const struct files_sort *sort = &state.sort;
    const int n = snprintf(text, bytes, "%-12s %s\n%-12s %s\n", "sort", "of files", "transfers",
                           sort->used_transfers);
    (void)job;
    files_plan_text(sort, text + n, bytes - (size_t)n);
    size_t used = strlen(text);
    if (sort->bins)
        used += (size_t)snprintf(text + used, bytes - used, "%-12s %llu, %llu of them again\n",
                                 "sorted bins", (unsigned long long)sort->bins,
                                 (unsigned long long)sort->deep);
    if (sort->verify)
        snprintf(text + used, bytes - used, "%-12s %llu records, checksum %016llx\n", "verified",
                 (unsigned long long)sort->written, (unsigned long long)sort->checksum);
    used = strlen(text);
    sort_resume_report(&state, text + used, bytes - used);
    add_times(text, bytes, sort);
}

static void set_stage(struct job *base, enum stage stage, double seconds, uint64_t bytes)
{
    base->stages[stage].ran = true;
    base->stages[stage].seconds += seconds;
    base->stages[stage].bytes += bytes;
}

static void fill_report(struct sort_files *files)
{
    struct job *base = &files->job->base;
    const struct files_sort *sort = &files->sort;
    const struct files_times *t = &sort->times;
    base->column.n = sort->records;
    base->n_out = sort->written;
    base->plan = report_plan;
    base->note = files->what;
    set_stage(base, STAGE_READ, t->sample + t->read + t->collect, t->read_bytes);
    set_stage(base, STAGE_WORK, t->partition + t->sort + t->check, sort->plan.input_bytes);
    set_stage(base, STAGE_WRITE, t->write, 0); /* job_commit() adds the bytes */
}

/* ---- After the sort ---- */

/* Removes an input, if its name still refers to the file that was read. */
static int consume_input(const struct sort_files *files, int i)
{
    struct stat opened, named;
    const char *name = files->text->names[i];
    if (strcmp(name, "-") == 0 || fstat(files->sources[i].fd, &opened) != 0 ||
        !S_ISREG(opened.st_mode) || lstat(name, &named) != 0 || !S_ISREG(named.st_mode))
        return EXIT_DONE;
    if (opened.st_dev != named.st_dev || opened.st_ino != named.st_ino) return EXIT_DONE;
    if (unlink(name) == 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: is sorted into the output, but cannot be removed", name);
}

static int run_sort(struct sort_files *files, struct io_output *output)
{
    struct io_error error;
    struct job *base = &files->job->base;
    int code = base->out_format == IO_TEXT ? EXIT_DONE : job_refuse_terminal(output);
    if (code != EXIT_DONE) return code;
    io_status status =
        files->after ? sort_files_after(files, &error) : files_sort(&files->sort, &error);
    fill_report(files);
    if (status == IO_OK) cli_progress_stage(&base->progress, "writing to the disk");
    base->stages[STAGE_WRITE].seconds -= cli_seconds();
    if (status == IO_OK) status = sort_resume_commit(files, output, &error);
    code = job_commit(base, output, status, &error);
    if (code != EXIT_DONE) sort_resume_failed(files);
    const ech_status why = files->sort.library;
    if (why == ECH_ERR_DEVICE || why == ECH_ERR_NO_DEVICE) code = EXIT_DEVICE;
    for (int i = 0; i < files->count && files->set->files.consume && code == EXIT_DONE; i++)
        code = consume_input(files, i);
    return code;
}

static int plan_only(struct sort_files *files)
{
    char text[4096];
    struct io_error error;
    const io_status status = files_plan(&files->sort, &error);
    cli_progress_end(&files->job->base.progress);
    if (status != IO_OK) return cli_fail_io(status, &error);
    files_plan_text(&files->sort, text, sizeof text);
    printf("%-12s %s\n%s", "records", files->sort.kind->name, text);
    return EXIT_DONE;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t bytes = strlen(name), length = strlen(end);
    return bytes > length && strcmp(name + bytes - length, end) == 0;
}

/* Whether the bytes of the output are at the same places in a file. */
static bool is_plain_file(const struct io_output *output)
{
    return (output->temporary || output->unnamed) && !ends_with(output->name, ".gz") &&
           !ends_with(output->name, ".zst");
}

/* An unknown algorithm is an error also if all numbers are equal, so that nothing is sorted. */
static int check_algorithm(const struct sort_files *files)
{
    static const size_t sizes[] = { 64, 1 << 20 };
    const struct job *base = &files->job->base;
    const char *name = files->set->words.algorithm;
    ech_status status = ECH_ERR_ARG;
    char text[1024];
    if (!name || files->set->files.records) return EXIT_DONE;
    for (int i = 0; i < 2 && status != ECH_OK; i++)
        status = ech_sort_explain(ech_device_name(base->ctx), sizes[i], base->column.dtype, 0,
                                  &files->job->options, ECH_FORMAT_TEXT, text, sizeof text);
    if (status == ECH_OK) return EXIT_DONE;
    return cli_fail(EXIT_BAD,
                    "--algorithm is \"%s\", which cannot sort %s; \"echelon explain sort\" lists "
                    "the algorithms",
                    name, ech_dtype_name(base->column.dtype));
}

static int run_opened(struct sort_files *files, struct io_output *output, bool *done)
{
    bool usable;
    const char *option = sort_files_option(files->set);
    files->is_file = is_plain_file(output);
    choose_directories(files);
    int code = sort_resume_open(files, output, done);
    if (code != EXIT_DONE || *done) return code;
    code = sort_files_open(files, output, &usable);
    if (code != EXIT_DONE) return code;
    if (!usable && files->count > 1)
        return cli_fail(EXIT_BAD,
                        "%s and %s: several inputs of numbers must be raw or .npy arrays of one "
                        "dimension",
                        files->inputs[0].name, files->inputs[1].name);
    if (!usable && option)
        return cli_fail(EXIT_BAD, "%s: --%s needs lines, records, or arrays of one dimension",
                        files->inputs[0].name, option);
    *done = usable;
    if (!usable) {
        sort_files_hand_over(files);
        return EXIT_DONE;
    }
    code = check_algorithm(files);
    if (code != EXIT_DONE) return code;
    if (files->run) return files->run(files, output);
    prepare(files, output);
    code = sort_resume_prepare(files);
    if (code != EXIT_DONE) return code;
    return files->set->files.dry_run ? plan_only(files) : run_sort(files, output);
}

int sort_files(const struct sort_set *set, struct sort_job *job, struct sort_text *text, bool lines,
               struct io_output *output, bool *done)
{
    *done = false;
    state = (struct sort_files){ .set = set, .job = job, .text = text, .lines = lines };
    int code = check_options(&state, output);
    if (code != EXIT_DONE || !sort_files_needed(&state)) return code;
    code = parse_transfers(&state.sort);
    if (code != EXIT_DONE) return code;
    code = run_opened(&state, output, done);
    sort_resume_close(&state);
    sort_files_close(&state);
    return code;
}
