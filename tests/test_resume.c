/*
 * test_resume.c - sorts of files that are killed and continued (src/files/resume.h).
 *
 * Each sort runs in a child process, which kills itself at a given step of the progress.  The
 * output must be that of a sort without interruption, and no other file may remain.  Then bytes of
 * the files that an interrupted sort leaves are changed: the next sort must fail, or write the
 * right output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "files/resume.h"
#include "files/transfer.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/dev/shm/test_resume.XXXXXX"; /* where fsync() costs nothing */
static char input_path[2][64], output_path[64], temporary[2][64];

enum what { NUMBERS, ARGSORT, RECORDS, LINES };
static const char *const names[] = { "numbers", "argsort", "records", "lines" };

/* A case: what is sorted, and how. */
struct setting {
    enum what what;
    int shape; /* 0: random, 1: one key, 2: few keys, 3: skewed */
    size_t n, head_bytes;
    bool unique, verify, direct;
    const char *transfers;
    size_t budget; /* beyond what is fixed */
    int inputs;
};

static const struct setting settings[] = {
    { NUMBERS, 0, 100003, 0, false, false, true, "none", 240 << 10, 1 },
    { NUMBERS, 1, 100003, 128, false, true, true, "threads", 240 << 10, 2 },
    { NUMBERS, 2, 100003, 5, true, false, false, "none", 240 << 10, 1 },
    { NUMBERS, 3, 100003, 0, false, true, false, NULL, 220 << 10, 1 },
    { NUMBERS, 2, 100003, 0, true, true, true, "none", 240 << 10, 2 },
    { ARGSORT, 0, 50003, 0, false, false, true, "none", 540 << 10, 2 },
    { RECORDS, 0, 20003, 0, false, true, true, "none", 240 << 10, 1 },
    { RECORDS, 2, 20003, 0, true, false, false, "threads", 240 << 10, 2 },
    { LINES, 0, 100003, 0, false, false, true, "none", 15600 << 10, 2 },
    { LINES, 2, 100003, 7, true, true, false, "none", 15600 << 10, 1 },
    { NUMBERS, 0, 600011, 0, false, false, false, "none", 240 << 10, 1 }, /* deep bins */
};
enum { SETTINGS = sizeof settings / sizeof *settings, RECORD = 24 };

/* What a child reports. */
struct report {
    io_status status;
    char text[1024];
    uint64_t read_bytes, blocks_before, bytes_before, steps, deep;
    bool hopeless;
};
static struct report *report; /* shared */

/* How many sorts were continued: in each pass, and with bins that are distributed again. */
static int continued, continued_output, continued_deep;
static int rejected; /* sorts whose files were damaged */

/* ---- Data ---- */

static uint64_t shape(int which, struct rng *rng)
{
    const uint64_t r = rng_next(rng);
    switch (which) {
    case 0:
        return r;
    case 1:
        return UINT64_C(0x4142434445464748);
    case 2:
        return rng_below(rng, 5) << 60 | 17;
    default:
        return r >> rng_below(rng, 64);
    }
}

static size_t make_record(const struct setting *s, struct rng *rng, size_t i, unsigned char *to)
{
    const uint64_t x = shape(s->shape, rng);
    if (s->what == LINES) return (size_t)sprintf((char *)to, "%llu\n", (unsigned long long)x);
    if (s->what != RECORDS) {
        io_store(to, 4, x >> 32);
        return 4;
    }
    memset(to, (int)(i % 251), RECORD);
    for (size_t j = 0; j < 8; j++) to[2 + j] = (unsigned char)(x >> 8 * (7 - j));
    return RECORD;
}

/* The second input, if there are two, has a third of the records. */
static bool make_inputs(const struct setting *s)
{
    struct rng rng = { s->n + (uint64_t)s->shape };
    unsigned char record[64];
    size_t i = 0;
    for (int file = 0; file < s->inputs; file++) {
        FILE *to = fopen(input_path[file], "wb");
        if (!to) return false;
        const size_t end = file + 1 == s->inputs ? s->n : s->n / 3 * 2;
        for (; i < end; i++) {
            size_t bytes = make_record(s, &rng, i, record);
            bytes -= s->what == LINES && i + 1 == end; /* the last newline is missing */
            fwrite(record, 1, bytes, to);
        }
        if (fclose(to) != 0) return false;
    }
    return true;
}

static unsigned char *read_file(const char *path, size_t *n)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    unsigned char *bytes =
        fstat(fileno(file), &about) == 0 ? malloc((size_t)about.st_size + 1) : NULL;
    *n = bytes ? fread(bytes, 1, (size_t)about.st_size, file) : 0;
    fclose(file);
    return bytes;
}

static bool is_output(const unsigned char *want, size_t n)
{
    size_t got_bytes = 0;
    unsigned char *got = read_file(output_path, &got_bytes);
    const bool same = got && got_bytes == n && memcmp(got, want, n) == 0;
    free(got);
    return same;
}

/* ---- A sort in a child ---- */

static union {
    struct files_numbers numbers;
    struct files_records records;
    struct files_lines lines;
} kinds;

static const struct files_kind *make_kind(const struct setting *s)
{
    const ech_sort_options options = { .size = sizeof options };
    const ech_columns_options columns = { .size = sizeof columns };
    const ech_record_key key = {
        .size = sizeof key, .kind = ECH_KEY_BYTES, .offset_bytes = 2, .width_bytes = 10
    };
    const struct lines_words words = { .delimiter = LINES_BLANKS, .unique = s->unique };
    char error[LINES_ERROR];
    if (s->what == RECORDS) {
        files_records_init(&kinds.records, RECORD, &key, 1, &columns, "cpu");
        return &kinds.records.kind;
    }
    if (s->what == LINES) {
        files_lines_init(&kinds.lines, lines_order_new(&words, error), false, 2);
        return &kinds.lines.kind;
    }
    files_numbers_init(&kinds.numbers, ECH_U32, &options, s->what == ARGSORT, false, "cpu");
    return &kinds.numbers.kind;
}

/* The step after which the child kills itself; 0: never. */
static uint64_t fatal_step;

static void tick(void *user, uint64_t done, uint64_t total)
{
    (void)user, (void)done, (void)total;
    report->steps++;
    if (report->steps == fatal_step) raise(SIGKILL);
}

static io_status run(struct files_sort *sort, struct files_resume *resume, struct io_error *error)
{
    struct io_output output;
    io_status status = IO_OK;
    if (resume)
        status =
            files_resume_open(resume, output_path, sort->directories, sort->directory_count, error);
    if (status == IO_OK && resume && resume->state == FILES_RESUME_COMPLETE)
        return files_resume_discard(resume, error);
    if (status == IO_OK) status = io_create(&output, output_path, error);
    if (status != IO_OK) return status;
    sort->output = &output;
    sort->output_is_file = true;
    sort->resume = resume;
    status = files_sort(sort, error);
    report->read_bytes = sort->times.read_bytes;
    report->deep = sort->deep;
    if (resume) {
        report->blocks_before = resume->blocks_before;
        report->bytes_before = resume->bytes_before;
        report->hopeless = resume->hopeless;
        if (status == IO_OK) status = files_resume_commit(resume, &output, error);
    }
    if (status == IO_OK) status = io_commit(&output, error);
    io_discard(&output);
    return status;
}

static void child(const struct setting *s, bool resumable)
{
    static const char *directories[2] = { temporary[0], temporary[1] };
    static const unsigned char head[128] = "head";
    static const struct io_progress progress = { tick, NULL };
    struct io_source sources[2];
    struct files_input inputs[2];
    struct files_resume resume;
    struct io_error error = { "" };
    struct files_sort sort = { .kind = make_kind(s),
                               .inputs = inputs,
                               .input_count = s->inputs,
                               .directories = directories,
                               .directory_count = 2,
                               .memory_bytes = (uint64_t)64 << 20,
                               .threads = 2,
                               .transfers = s->transfers,
                               .unique = s->unique,
                               .verify = s->verify,
                               .direct = s->direct,
                               .buffered = !s->direct,
                               .head = head,
                               .head_bytes = s->head_bytes,
                               .progress = &progress,
                               .device = "cpu" };
    io_status status = ech_open(&sort.ctx, "cpu") == ECH_OK ? IO_OK : IO_FAIL;
    for (int i = 0; i < s->inputs && status == IO_OK; i++) {
        status = io_open(&sources[i], input_path[i], &error);
        inputs[i] = (struct files_input){ .name = input_path[i],
                                          .fd = sources[i].fd,
                                          .bytes = sources[i].size };
    }
    if (status == IO_OK) status = files_plan(&sort, &error);
    sort.memory_bytes = sort.plan.fixed_bytes + s->budget;
    if (status == IO_OK) status = run(&sort, resumable ? &resume : NULL, &error);
    report->status = status;
    snprintf(report->text, sizeof report->text, "%s", error.text);
    _exit(0);
}

/* Whether it ended by itself; then the report has its status. */
static bool sort_once(const struct setting *s, bool resumable, uint64_t fatal)
{
    int status = 0;
    *report = (struct report){ .status = IO_FAIL };
    fatal_step = fatal;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) child(s, resumable);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return false;
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    continued += report->blocks_before > 0;
    continued_output += report->bytes_before > 0;
    continued_deep += report->bytes_before > 0 && report->deep > 0;
    CHECK(killed ? fatal != 0 : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return !killed;
}

/* ---- Files that remain ---- */

enum { MOST_FILES = 6 };
struct remains {
    int count;
    char path[MOST_FILES][400];
    unsigned char *bytes[MOST_FILES];
    size_t n[MOST_FILES];
};

static void list_folder(struct remains *r, const char *path)
{
    DIR *directory = opendir(path);
    if (!directory) return;
    for (const struct dirent *e; (e = readdir(directory)) && r->count < MOST_FILES;)
        if (strstr(e->d_name, "echelon"))
            snprintf(r->path[r->count++], sizeof *r->path, "%s/%s", path, e->d_name);
    closedir(directory);
}

static int count_remains(void)
{
    struct remains r = { 0 };
    list_folder(&r, folder);
    list_folder(&r, temporary[0]);
    list_folder(&r, temporary[1]);
    return r.count;
}

static void save(struct remains *r)
{
    *r = (struct remains){ 0 };
    list_folder(r, folder);
    list_folder(r, temporary[0]);
    list_folder(r, temporary[1]);
    for (int i = 0; i < r->count; i++) r->bytes[i] = read_file(r->path[i], &r->n[i]);
}

static void restore(const struct remains *r)
{
    for (int i = 0; i < r->count; i++) {
        const int fd = open(r->path[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (!CHECK(fd >= 0)) return;
        CHECK(files_write_at(fd, r->bytes[i], r->n[i], 0) == 0);
        close(fd);
    }
}

static void free_remains(struct remains *r)
{
    for (int i = 0; i < r->count; i++) free(r->bytes[i]);
}

static void discard(void)
{
    const char *directories[2] = { temporary[0], temporary[1] };
    struct files_resume resume;
    struct io_error error;
    if (!CHECK(files_resume_open(&resume, output_path, directories, 2, &error) == IO_OK)) return;
    CHECK(files_resume_discard(&resume, &error) == IO_OK);
    files_resume_close(&resume);
    CHECK_INT(count_remains(), 0);
}

/* ---- Cases ---- */

static uint64_t input_bytes(const struct setting *s)
{
    struct stat about;
    uint64_t all = 0;
    for (int i = 0; i < s->inputs; i++)
        if (stat(input_path[i], &about) == 0) all += (uint64_t)about.st_size;
    return all;
}

/* Sorts without interruption; returns the output, and the number of steps. */
static unsigned char *expect(const struct setting *s, size_t *n, uint64_t *steps)
{
    if (!CHECK(make_inputs(s)) || !CHECK(sort_once(s, false, 0))) return NULL;
    if (!CHECK_INT(report->status, IO_OK)) printf("    %s\n", report->text);
    unsigned char *want = read_file(output_path, n);
    CHECK(want != NULL && sort_once(s, true, 0) && report->status == IO_OK);
    CHECK(want && is_output(want, *n));
    CHECK_INT(count_remains(), 0);
    *steps = report->steps;
    CHECK(*steps > 4);
    remove(output_path);
    return want;
}

/* Kills the sort at up to three steps; then it must end with the right output. */
static void kill_case(const struct setting *s, int number, int kills)
{
    size_t n;
    uint64_t steps;
    if (!test_begin("kill(%s,%d,kills=%d)", names[s->what], number, kills)) return;
    struct rng rng = { (uint64_t)number * 100 + (uint64_t)kills };
    unsigned char *want = expect(s, &n, &steps);
    for (int i = 0; want && i < kills; i++) {
        const uint64_t step = 1 + rng_below(&rng, steps);
        for (int again = 0; again < 3; again++)
            if (sort_once(s, true, step)) break;
        if (!CHECK(sort_once(s, true, 0))) break;
        if (!CHECK_INT(report->status, IO_OK)) printf("    step %d: %s\n", (int)step, report->text);
        CHECK(is_output(want, n));
        CHECK_INT(count_remains(), 0);
        /* What was read before is not read again. */
        if (report->blocks_before && !report->deep) CHECK(report->read_bytes < input_bytes(s));
        if (test_failed()) discard();
    }
    free(want);
    test_end();
}

/* Kills at each step once, and continues the same sort each time: it must end. */
static void slow_case(const struct setting *s, int number)
{
    size_t n;
    uint64_t steps, runs = 0;
    if (!test_begin("slow(%s,%d)", names[s->what], number)) return;
    unsigned char *want = expect(s, &n, &steps);
    /* A step more in each run: the blocks that are in flight are lost each time. */
    while (want && !sort_once(s, true, 6 + runs) && runs < 4 * steps) runs++;
    CHECK_INT(report->status, IO_OK);
    if (want) CHECK(is_output(want, n));
    CHECK_INT(count_remains(), 0);
    free(want);
    test_end();
}

/* Changes a byte of one of the files, or truncates it. */
static void damage(const struct remains *r, struct rng *rng)
{
    const int i = (int)rng_below(rng, (uint64_t)r->count);
    if (!r->n[i]) return;
    const size_t at = (size_t)rng_below(rng, r->n[i]);
    if (rng_below(rng, 4) == 0) {
        CHECK(truncate(r->path[i], (off_t)at) == 0);
        return;
    }
    const unsigned char byte = (unsigned char)(r->bytes[i][at] ^ (1 + rng_below(rng, 255)));
    const int fd = open(r->path[i], O_RDWR);
    if (CHECK(fd >= 0)) CHECK(files_write_at(fd, &byte, 1, at) == 0);
    close(fd);
}

static void damage_case(const struct setting *s, int number, int trials)
{
    size_t n;
    uint64_t steps;
    struct remains r;
    int errors = 0;
    if (!test_begin("damage(%s,%d,trials=%d)", names[s->what], number, trials)) return;
    struct rng rng = { (uint64_t)number + 17 };
    unsigned char *want = expect(s, &n, &steps);
    if (want) sort_once(s, true, steps - steps / 5);
    save(&r);
    CHECK(r.count == 4);
    for (int i = 0; want && i < trials && !test_failed(); i++) {
        restore(&r);
        remove(output_path);
        damage(&r, &rng);
        if (!CHECK(sort_once(s, true, 0))) break;
        if (report->status == IO_OK) {
            CHECK(is_output(want, n));
            CHECK_INT(count_remains(), 0);
        } else {
            errors++;
            CHECK_TEXT(report->text, "--resume=restart");
            CHECK(access(output_path, F_OK) != 0);
            discard();
        }
    }
    rejected += errors;
    CHECK(errors > 0 || trials < 20); /* most damages are repaired */
    free_remains(&r);
    free(want);
    test_end();
}

/* A manifest counts up to the record with the byte that was changed, and not to its end. */
static void manifest_case(const struct setting *s, int trials)
{
    struct remains r;
    struct io_error error;
    size_t n;
    uint64_t steps;
    if (!test_begin("manifest(trials=%d)", trials)) return;
    struct rng rng = { (uint64_t)trials };
    unsigned char *want = expect(s, &n, &steps);
    if (want) sort_once(s, true, steps - steps / 5);
    save(&r);
    for (int i = 0; i < trials && CHECK(r.count == 4); i++) {
        struct files_manifest manifest;
        int file = 0;
        while (!strstr(r.path[file], "echelon-resume")) file++;
        const size_t at = (size_t)rng_below(&rng, r.n[file]);
        const unsigned char byte = (unsigned char)(r.bytes[file][at] ^ (1 + rng_below(&rng, 255)));
        restore(&r);
        const int fd = open(r.path[file], O_RDWR);
        CHECK(fd >= 0 && files_write_at(fd, &byte, 1, at) == 0);
        close(fd);
        if (!CHECK(files_manifest_open(&manifest, r.path[file], &error) == IO_OK)) break;
        CHECK(manifest.found && manifest.bytes <= at);
        files_manifest_close(&manifest);
    }
    restore(&r);
    CHECK(sort_once(s, true, 0) && report->status == IO_OK && report->bytes_before > 0);
    if (want) CHECK(is_output(want, n));
    free_remains(&r);
    free(want);
    test_end();
}

/* What is not the same in the next command is an error that names it. */
static void change_case(void)
{
    struct setting s = settings[6], other = s;
    size_t n;
    uint64_t steps;
    if (!test_begin("a changed command or input")) return;
    unsigned char *want = expect(&s, &n, &steps);
    if (want && CHECK(!sort_once(&s, true, steps - 2))) {
        other.budget += 64 << 10;
        CHECK(sort_once(&other, true, 0) && report->status == IO_FAIL);
        CHECK_TEXT(report->text, "memory budget");
        other = s, other.unique = true;
        CHECK(sort_once(&other, true, 0) && report->status == IO_FAIL);
        CHECK_TEXT(report->text, "--unique");
        other = s, other.what = NUMBERS;
        CHECK(sort_once(&other, true, 0) && report->status == IO_FAIL);
        CHECK_TEXT(report->text, "records");
        const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
        struct stat about;
        CHECK(stat(input_path[0], &about) == 0);
        CHECK(utimensat(AT_FDCWD, input_path[0], times, 0) == 0);
        CHECK(sort_once(&s, true, 0) && report->status == IO_FAIL && report->hopeless);
        CHECK_TEXT(report->text, "the last change of the input");
        const struct timespec back[2] = { about.st_mtim, about.st_mtim };
        CHECK(utimensat(AT_FDCWD, input_path[0], back, 0) == 0);
        CHECK(sort_once(&s, true, 0) && report->status == IO_OK && report->blocks_before > 0);
        CHECK(is_output(want, n));
        CHECK_INT(count_remains(), 0);
    }
    free(want);
    test_end();
}

static void lock_case(void)
{
    const struct setting *s = &settings[0];
    const char *directories[2] = { temporary[0], temporary[1] };
    struct files_resume resume;
    struct io_error error;
    size_t n;
    uint64_t steps;
    if (!test_begin("two processes")) return;
    unsigned char *want = expect(s, &n, &steps);
    if (want && CHECK(!sort_once(s, true, steps / 2)) &&
        CHECK(files_resume_open(&resume, output_path, directories, 2, &error) == IO_OK)) {
        CHECK(resume.state == FILES_RESUME_INTERRUPTED);
        CHECK(sort_once(s, true, 0) && report->status == IO_FAIL);
        CHECK_TEXT(report->text, "another process");
        files_resume_close(&resume);
        CHECK(sort_once(s, true, 0) && report->status == IO_OK);
        CHECK(is_output(want, n));
    }
    CHECK_INT(count_remains(), 0);
    free(want);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    const int every = test_options.every > 0 ? test_options.every : 1;
    if (access("/dev/shm", W_OK) != 0) memcpy(folder, "/tmp/./.", 8);
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED || !mkdtemp(folder)) return 1;
    snprintf(output_path, sizeof output_path, "%s/out", folder);
    for (int i = 0; i < 2; i++) {
        snprintf(input_path[i], sizeof *input_path, "%s/in%d", folder, i);
        snprintf(temporary[i], sizeof *temporary, "%s/t%d", folder, i);
        if (mkdir(temporary[i], 0700) != 0) return 1;
    }
    for (int i = 0; i < SETTINGS; i++) kill_case(&settings[i], i, 30 / every);
    for (int i = 0; i<SETTINGS; i += every> 1 ? 4 : 1) slow_case(&settings[i], i);
    for (int i = 0; i < SETTINGS; i++) damage_case(&settings[i], i, 60 / every);
    manifest_case(&settings[0], 300 / every);
    change_case();
    lock_case();
    if (test_begin("sorts were continued")) {
        printf("%d sorts were continued, %d of them in the second pass, %d with deep bins\n",
               continued, continued_output, continued_deep);
        CHECK(test_options.n_ids > 0 || (continued_deep > 0 && continued > continued_output));
        CHECK(test_options.n_ids > 0 || rejected > 0);
        test_end();
    }
    for (int i = 0; i < 2; i++) remove(input_path[i]);
    for (int i = 0; i < 2; i++) rmdir(temporary[i]);
    remove(output_path);
    rmdir(folder);
    return test_finish();
}
