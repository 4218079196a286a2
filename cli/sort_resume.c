/*
 * sort_resume.c - "echelon sort --resume": finds an interrupted sort, and reports what is kept.
 *
 *     sort_resume_open()     before the inputs are opened: the manifest; restart, discard
 *     sort_resume_prepare()  what must be the same when the sort is continued
 *     sort_resume_commit()   the output gets its name
 *     sort_resume_failed()   after an error: what is kept
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "sort_files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Signals ---- */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];
static const struct files_resume *running;
static char notice[256];

/* Prints the notice, and leaves the signal to its former action. */
static void interrupted(int number)
{
    const int why = errno;
    const ssize_t written =
        running && running->active ? write(STDERR_FILENO, notice, strlen(notice)) : 0;
    (void)written; /* there is no other place for a message */
    for (int i = 0; i < SIGNALS; i++)
        if (signals[i] == number) sigaction(number, &before[i], NULL);
    errno = why;
    raise(number);
}

static void watch_signals(const struct files_resume *resume)
{
    struct sigaction action = { .sa_handler = interrupted };
    sigemptyset(&action.sa_mask);
    running = resume;
    snprintf(notice, sizeof notice,
             "%sechelon sort: interrupted; run the same command again to continue, or with "
             "--resume=discard to remove what is kept\n",
             isatty(STDERR_FILENO) ? "\n" : "");
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

/* ---- Open ---- */

/* --resume=WORD, which may be abbreviated. */
static int parse_word(const char *word, bool *restart, bool *discard)
{
    static const char *const words[] = { "restart", "discard" };
    const size_t n = word ? strlen(word) : 0;
    *restart = n && strncmp(words[0], word, n) == 0;
    *discard = n && strncmp(words[1], word, n) == 0;
    if (!word || *restart || *discard) return EXIT_DONE;
    return cli_unknown("word of --resume", word, words, 2);
}

static int check(const struct sort_files *files, const struct io_output *output)
{
    char order[1 << 14] = "";
    if (files->set->files.dry_run)
        return cli_fail(EXIT_BAD, "--resume cannot be combined with --dry-run");
    if (!files->is_file)
        return cli_fail(EXIT_BAD,
                        "--resume needs --output FILE, and a file that is not compressed; %s is "
                        "not one",
                        output->name);
    if (files->text->order) lines_describe(files->text->order, order, sizeof order);
    if (strstr(order, "random order") && !files->set->text.random_source)
        return cli_fail(EXIT_BAD,
                        "--resume with a random order needs --random-source FILE, so that the "
                        "order is the same when the sort is continued");
    return EXIT_DONE;
}

/* The output has its name already: the sort ended before it removed its other files. */
static int end_complete(struct sort_files *files)
{
    struct io_error error;
    const io_status status = files_resume_discard(&files->resume, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    if (files->set->files.consume)
        fprintf(stderr, "echelon sort: the output is complete; the inputs are not removed\n");
    return EXIT_DONE;
}

int sort_resume_open(struct sort_files *files, const struct io_output *output, bool *ended)
{
    const struct sort_set *set = files->set;
    struct io_error error;
    bool restart, discard;
    *ended = false;
    if (!set->files.resume.given) return EXIT_DONE;
    int code = parse_word(set->files.resume.value, &restart, &discard);
    if (code == EXIT_DONE) code = check(files, output);
    if (code != EXIT_DONE) return code;
    io_status status = files_resume_open(&files->resume, output->path, files->sort.directories,
                                         files->sort.directory_count, &error);
    if (status == IO_OK) files->sort.resume = &files->resume;
    if (status == IO_OK && (restart || discard))
        status = files_resume_discard(&files->resume, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    *ended = discard || files->resume.state == FILES_RESUME_COMPLETE;
    if (*ended) files->job->base.plan = NULL; /* for the report */
    if (*ended) files->job->base.note = discard ? "discarded" : "the output was complete already";
    return *ended && !discard ? end_complete(files) : EXIT_DONE;
}

/* ---- What must be the same ---- */

static void add_flags(FILE *to, const struct sort_set *set)
{
    const struct sort_lines_words *t = &set->text;
    const struct {
        bool given;
        const char *text;
    } flags[] = {
        { set->words.reverse, "--reverse" },
        { set->words.argsort, "--argsort" },
        { t->numeric, "--numeric-sort" },
        { t->general, "--general-numeric-sort" },
        { t->human, "--human-numeric-sort" },
        { t->month, "--month-sort" },
        { t->random, "--random-sort" },
        { t->version, "--version-sort" },
        { t->string, "--string" },
        { t->blanks, "--ignore-leading-blanks" },
        { t->dictionary, "--dictionary-order" },
        { t->fold, "--ignore-case" },
        { t->nonprinting, "--ignore-nonprinting" },
        { t->stable, "--stable" },
        { t->zero, "--zero-terminated" },
        { t->csv, "--csv" },
        { set->words.job.header, "--header" },
        { set->words.job.no_header, "--no-header" },
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].given) fprintf(to, "%s ", flags[i].text);
}

static void add_values(FILE *to, const struct sort_set *set)
{
    const struct job_words *job = &set->words.job;
    const struct {
        const char *name, *value;
    } values[] = {
        { "--sort", set->text.sort },      { "--delimiter", job->delimiter },
        { "--bits", set->words.bits },     { "--field-separator", set->text.separator },
        { "--order", set->words.order },   { "--random-source", set->text.random_source },
        { "--type", job->type },           { "--format", job->format },
        { "--record", set->files.record }, { "--column", job->column },
    };
    for (int i = 0; i < set->text.keys.count; i++)
        fprintf(to, "--key %s ", set->text.keys.words[i]);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i].value) fprintf(to, "%s %s ", values[i].name, values[i].value);
}

/* The bytes that determine a random order. */
static void add_random(FILE *to, const char *path)
{
    unsigned char bytes[16];
    FILE *file = path ? fopen(path, "re") : NULL;
    if (!file) return;
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t i = 0; i < n; i++) fprintf(to, "%02x", bytes[i]);
}

/* The options that determine the order, as text. */
static char *describe(const struct sort_files *files)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    if (!to) return NULL;
    add_flags(to, files->set);
    add_values(to, files->set);
    add_random(to, files->set->text.random_source);
    fprintf(to, "%s", files->what ? files->what : "");
    if (fflush(to) == 0 && bytes == 0) fprintf(to, "the default");
    return fclose(to) == 0 ? text : NULL;
}

/* Without --memory, the budget of the interrupted sort is used, not what is available now. */
static int keep_budget(struct sort_files *files)
{
    const uint64_t recorded = files_resume_budget(&files->resume);
    const uint64_t available = files_memory() / 3 * 4;
    if (!recorded || files->set->words.job.memory) return EXIT_DONE;
    if (recorded > available)
        return cli_fail(EXIT_BAD,
                        "%s: the interrupted sort needs %llu bytes of memory, and %llu are "
                        "available; begin again with --resume=restart",
                        files->resume.target, (unsigned long long)recorded,
                        (unsigned long long)available);
    files->sort.memory_bytes = recorded;
    return EXIT_DONE;
}

int sort_resume_prepare(struct sort_files *files)
{
    if (!files->sort.resume) return EXIT_DONE;
    const int code = keep_budget(files);
    if (code != EXIT_DONE) return code;
    files->options = describe(files);
    if (!files->options) return job_no_memory(&files->job->base, 4096, "the options");
    files->sort.options = files->options;
    watch_signals(&files->resume);
    return EXIT_DONE;
}

/* ---- The end ---- */

io_status sort_resume_commit(struct sort_files *files, struct io_output *output,
                             struct io_error *error)
{
    return files->sort.resume ? files_resume_commit(&files->resume, output, error) : IO_OK;
}

void sort_resume_failed(const struct sort_files *files)
{
    if (!files->sort.resume || files->resume.hopeless || !files_resume_is_kept(&files->resume))
        return;
    cli_fail(EXIT_BAD, "run the same command again to continue, or with --resume=discard to remove "
                       "what is kept");
}

void sort_resume_report(const struct sort_files *files, char *text, size_t bytes)
{
    if (!files->continued_blocks || !bytes) return;
    snprintf(text, bytes, "%-12s after %llu blocks and %llu bytes of the output\n", "continued",
             (unsigned long long)files->continued_blocks,
             (unsigned long long)files->continued_bytes);
}

void sort_resume_close(struct sort_files *files)
{
    running = NULL;
    files->continued_blocks = files->resume.blocks_before;
    files->continued_bytes = files->resume.bytes_before;
    if (files->sort.resume) files_resume_close(&files->resume);
    files->sort.resume = NULL;
    free(files->options);
    files->options = NULL;
}
