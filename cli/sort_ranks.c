/*
 * sort_ranks.c - what the ranks of a distributed sort agree on: failures, the plan that rank 0
 * makes from the input, the output with its final size, and the report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* fallocate() */
#include "sort_distributed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- Agreements ---- */

void part_fail(struct part *p, int code, const char *format, ...)
{
    va_list arguments;
    if (p->code != EXIT_DONE) return;
    p->code = code;
    va_start(arguments, format);
    vsnprintf(p->text, sizeof p->text, format, arguments);
    va_end(arguments);
}

int part_code(ech_status status)
{
    if (status == ECH_ERR_MEMORY) return EXIT_MEMORY;
    return status == ECH_ERR_ARG || status == ECH_ERR_UNSUPPORTED ? EXIT_BAD : EXIT_DEVICE;
}

/* A call of the communicator has failed, on all ranks that are left. */
static int fail_call(struct part *p, ech_status status, const ech_ctx *ctx)
{
    static const char name[] = "options->time_limit_s"; /* of the option, in the library */
    const char *text = ech_error(ctx), *at = strstr(text, name);
    char message[1024];
    const bool lost = status == ECH_ERR_COMM;
    if (at)
        snprintf(message, sizeof message, "%.*s--time-limit%s", (int)(at - text), text,
                 at + strlen(name));
    else
        snprintf(message, sizeof message, "%s", text);
    p->code = part_code(status);
    if (lost && p->own_process) return cli_fail(p->code, "rank %d: %s", p->rank, message);
    if (p->rank == 0) cli_fail(p->code, "%s: %s", p->input, message);
    return p->code;
}

int part_check(struct part *p, ech_status status)
{
    return status == ECH_OK ? EXIT_DONE : fail_call(p, status, p->ctx);
}

int part_check_host(struct part *p, ech_status status)
{
    return status == ECH_OK ? EXIT_DONE : fail_call(p, status, p->host);
}

int part_agree(struct part *p)
{
    uint64_t mine = UINT64_MAX, first;
    if (p->code != EXIT_DONE) mine = (uint64_t)p->rank << 8 | (unsigned)p->code;
    const ech_status status =
        ech_dist_reduce(p->host, p->comm, ECH_OP_MIN, &mine, &first, 1, ECH_U64, NULL);
    if (status != ECH_OK) return fail_call(p, status, p->host);
    if (first == UINT64_MAX) return EXIT_DONE;
    if (p->code != EXIT_DONE && first >> 8 == (uint64_t)p->rank && p->text[0])
        cli_fail(p->code, "%s", p->text);
    return p->code = (int)(first & 0xff);
}

/* Copies the plan of rank 0 to all ranks: the "best" bytes in their order are all bytes. */
int part_broadcast_plan(struct part *p)
{
    const ech_topk_options options = { .size = sizeof options, .unsorted = 1 };
    const size_t bytes = sizeof p->plan;
    struct part_plan plan;
    const ech_status status =
        ech_dist_topk(p->host, p->comm, &p->plan, &plan, NULL, p->rank == 0 ? bytes : 0, bytes,
                      ECH_U8, ECH_U64, &options);
    if (status != ECH_OK) return fail_call(p, status, p->host);
    p->plan = plan;
    return plan.code;
}

/* ---- The plan ---- */

/* Fills the plan from what the external sort has found out. */
static int take_kind(const struct sort_files *files, struct part_plan *plan)
{
    const struct files_input *input = &files->inputs[0];
    const struct sort_set *set = files->set;
    const struct job *base = &files->job->base;
    const bool numbers = files->sort.kind == &files->numbers.kind;
    const bool text = files->sort.kind == &files->text_lines.kind;
    plan->blocks = !numbers || set->unique || set->words.bits;
    plan->argsort = files->job->argsort;
    plan->offset = input->offset;
    plan->head_bytes = files->head_bytes;
    if (numbers) {
        plan->dtype = files->numbers.dtype;
        plan->begin_bit = files->job->options.begin_bit;
        plan->end_bit = files->job->options.end_bit;
        plan->row_bytes = ech_dtype_bytes(plan->dtype);
        if (base->column.npy.big_endian) plan->swap_bytes = (size_t)plan->row_bytes;
    } else if (text) {
        plan->row_bytes = 1;
    } else {
        plan->row_bytes = base->record_bytes;
        plan->swap_bytes = files->records.swap_bytes;
        plan->key_count = files->records.key_count;
        memcpy(plan->keys, files->records.keys, sizeof plan->keys);
    }
    plan->swap_back = plan->swap_bytes && base->out_format == IO_NPY;
    plan->out_bytes = plan->argsort ? sizeof(uint64_t) : plan->row_bytes;
    plan->n = plan->row_bytes ? input->bytes / plan->row_bytes : 0;
    if (input->bytes == plan->n * plan->row_bytes) return EXIT_DONE;
    return cli_fail(
        EXIT_BAD, "%s: has %llu bytes, which is not a multiple of %llu, the size of a record",
        input->name, (unsigned long long)input->bytes, (unsigned long long)plan->row_bytes);
}

/* Whether an input of an unknown format begins as a .npy file. */
static bool is_npy(const char *name)
{
    char begin[6];
    const int fd = io_open_file(name, O_RDONLY);
    const bool found = fd >= 0 && pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
                       memcmp(begin, "\x93NUMPY", sizeof begin) == 0;
    if (fd >= 0) close(fd);
    return found;
}

/* Whether the options and the name mean numbers, or records; otherwise the input is text. */
static bool is_fixed(const struct sort_files *files)
{
    const struct job_words *words = &files->set->words.job;
    const char *name = files->text->names[0];
    const int said = io_format_from_extension(name);
    if (files->set->files.records) return true;
    if (words->format) return strcmp(words->format, "text") != 0;
    return said == IO_NPY || said == IO_RAW || (said < 0 && (words->type || is_npy(name)));
}

static bool append(int fd, const char *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t some = write(fd, bytes + done, n - done);
        if (some < 0 && errno != EINTR) return false;
        if (some > 0) done += (size_t)some;
    }
    return true;
}

/* Copies a stream to a temporary file in the folder of the output, which all ranks can read. */
static int copy_stream(struct sort_files *files, struct io_output *copy)
{
    struct files_input *input = &files->inputs[0];
    struct io_error error;
    size_t got = IO_BUFFER;
    uint64_t bytes = 0;
    char *block = malloc(IO_BUFFER);
    if (!block) return job_no_memory(&files->job->base, IO_BUFFER, "a block");
    io_status status = io_create(copy, files->set->words.job.output, &error);
    int code = status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    bool good = code == EXIT_DONE && append(copy->fd, files->head, files->head_bytes);
    while (code == EXIT_DONE && good && got == IO_BUFFER) {
        code = sort_files_read(files, 0, block, 0, IO_BUFFER, &got);
        if (code == EXIT_DONE) good = append(copy->fd, block, got);
        bytes += got;
    }
    if (code == EXIT_DONE && !good)
        code = cli_fail(EXIT_BAD, "%s: cannot write a copy of %s: %s", copy->name, input->name,
                        strerror(errno));
    free(block);
    if (code != EXIT_DONE) return code;
    if (input->expects && bytes != input->expected)
        return cli_fail(EXIT_BAD, "%s: %s, but %s follow", input->name, input->expects,
                        bytes < input->expected ? "fewer" : "more");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", copy->fd);
    const int fd = io_open_file(copy->temporary ? copy->temporary : path, O_RDONLY);
    if (fd < 0)
        return cli_fail(EXIT_BAD, "%s: cannot read a copy of %s: %s", copy->name, input->name,
                        strerror(errno));
    *input = (struct files_input){ input->name, fd, files->head_bytes, bytes, NULL, 0, NULL };
    return EXIT_DONE;
}

static int refuse_kind(const char *name, bool threads, const char *why, char *reason)
{
    if (threads)
        snprintf(reason, PART_REASON,
                 "several ones sort raw and .npy arrays of one dimension, to a file of that kind");
    else
        snprintf(reason, PART_REASON, "%s: %s", name, why);
    return PART_REFUSED;
}

int part_make_plan(struct sort_files *files, struct io_output *copy, struct part_plan *plan,
                   char *reason)
{
    const struct io_output output = { .fd = -1 }; /* not a terminal */
    bool usable;
    const char *name = files->text->names[0];
    struct stat about;
    if (access(name, R_OK) == 0 && !files->lines && !is_fixed(files)) {
        const bool folder = stat(name, &about) == 0 && S_ISDIR(about.st_mode);
        return refuse_kind(name, !copy,
                           folder ? "is a directory, not a file"
                                  : "is text: give an option for lines, such as --numeric-sort or "
                                    "--string; or --type, if it has raw numbers",
                           reason);
    }
    int code = sort_files_open(files, &output, &usable);
    if (code != EXIT_DONE) return code;
    const struct files_kind *kind = files->sort.kind;
    const bool fixed = kind == &files->numbers.kind || kind == &files->records.kind;
    const bool text = files->lines && kind == &files->text_lines.kind;
    if (!usable || !(text || fixed))
        return refuse_kind(name, !copy,
                           "several ranks sort raw and .npy arrays of one dimension, records, and "
                           "lines of text",
                           reason);
    if (text != (files->job->base.out_format == IO_TEXT))
        return refuse_kind(name, !copy,
                           text ? "has lines, so the output must be text: several ranks convert "
                                  "only between raw and .npy"
                                : "has no lines, so the output must be raw or .npy: several ranks "
                                  "do not write text",
                           reason);
    if (files->inputs[0].fd < 0 && !copy) {
        snprintf(reason, PART_REASON, "%s: is compressed, or not a file", name);
        return PART_REFUSED;
    }
    if (files->inputs[0].fd < 0) code = copy_stream(files, copy);
    return code == EXIT_DONE ? take_kind(files, plan) : code;
}

/* Reserves the space of the output, so that a full disk is reported before the sort; 0 or an errno.
 * A file in memory is not reserved: one thread would have to write zeros. */
static int reserve(int fd, uint64_t bytes)
{
    struct statfs about;
    const bool memory = fstatfs(fd, &about) == 0 && about.f_type == TMPFS_MAGIC;
    if (!bytes || (!memory && fallocate(fd, 0, 0, (off_t)bytes) == 0)) return 0;
    if (!memory && (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)) return errno;
    return ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
}

int part_prepare_output(struct io_output *output, struct part_plan *plan)
{
    const uint64_t bytes = plan->head_bytes + plan->n * plan->out_bytes;
    if (!output->temporary && !output->unnamed)
        return cli_fail(EXIT_BAD, "%s: must be a regular file, to which each rank writes a part",
                        output->name);
    plan->packed = output->codec != NULL;
    output->codec = NULL; /* each rank compresses its share */
    const int full = plan->packed ? 0 : reserve(output->fd, bytes);
    if (full)
        return cli_fail(EXIT_BAD, "%s: cannot write %llu bytes: %s", output->name,
                        (unsigned long long)bytes, strerror(full));
    return EXIT_DONE;
}

int part_trim(const struct part *p, const struct io_output *output)
{
    if (ftruncate(output->fd, (off_t)p->plan.file_bytes) == 0) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "%s: cannot write: %s", output->name, strerror(errno));
}

/* ---- The report ---- */

bool part_is_reported(const struct sort_set *set)
{
    return set->words.job.timing || set->words.job.json;
}

static const char *const stage_names[] = { "read", "sort", "write" };

/* What was sorted, and how many. */
static const char *kind_of(const struct part *p, uint64_t *n)
{
    *n = p->plan.lines;
    return p->order ? "lines" : p->plan.key_count ? "records" : ech_dtype_name(p->plan.dtype);
}

static void report_json(const struct part *p, const struct sort_job *job, const char *devices,
                        const uint64_t *bytes)
{
    struct json json = { .to = stdout };
    uint64_t n;
    const char *kind = kind_of(p, &n);
    json_open(&json, NULL, '{');
    json_text(&json, "command", job->base.command);
    json_text(&json, "version", ech_version());
    json_text(&json, "input", p->input);
    json_text(&json, "output", p->set->words.job.output);
    json_text(&json, "type", kind);
    if (p->plan.key_count) json_count(&json, "record_bytes", p->plan.row_bytes);
    json_count(&json, "n", n);
    json_count(&json, "n_out", p->plan.n_out);
    json_count(&json, "ranks", (uint64_t)p->ranks);
    json_text(&json, "device", devices);
    json_open(&json, "stages", '[');
    for (int i = 0; i < PART_STAGES; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", stage_names[i]);
        json_number(&json, "seconds", p->seconds[i]);
        json_count(&json, "bytes", bytes[i]);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_number(&json, "seconds", p->total_seconds);
    json_close(&json, '}');
    putchar('\n');
}

void part_report(const struct part *p, const struct sort_job *job, const char *devices)
{
    const struct part_plan *plan = &p->plan;
    const uint64_t in = plan->n * plan->row_bytes;
    const uint64_t bytes[] = { in, in, plan->out_total };
    uint64_t n;
    const char *kind = kind_of(p, &n);
    if (p->set->words.job.json) report_json(p, job, devices, bytes);
    if (!p->set->words.job.timing) return;
    cli_print_name(stderr, p->input);
    fprintf(stderr, ": %llu %s on %d ranks, %s\n", (unsigned long long)n, kind, p->ranks, devices);
    for (int i = 0; i < PART_STAGES; i++)
        fprintf(stderr, "  %-9s %10.3f ms %9.3f GB/s\n", stage_names[i], 1e3 * p->seconds[i],
                p->seconds[i] > 0 ? 1e-9 * (double)bytes[i] / p->seconds[i] : 0);
    fprintf(stderr, "  %-9s %10.3f ms\n", "total", 1e3 * p->total_seconds);
}

/* The maximum of all ranks for each stage. */
int part_gather_seconds(struct part *p)
{
    double longest;
    for (int i = 0; i < PART_STAGES; i++) {
        const ech_status status = ech_dist_reduce(p->host, p->comm, ECH_OP_MAX, &p->seconds[i],
                                                  &longest, 1, ECH_F64, NULL);
        if (status != ECH_OK) return fail_call(p, status, p->host);
        p->seconds[i] = longest;
    }
    return EXIT_DONE;
}

/* ---- The end ---- */

void part_end(struct part *p)
{
    part_close(p);
    ech_comm_close(p->comm);
    ech_close(p->ctx);
    ech_close(p->host);
}
