/*
 * records.c - "echelon records": sorts records of a fixed size, or the rows of a matrix, by keys.
 *
 * It is "echelon sort" with --key of records (sort_records.c), whose keys are one list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "sort.h"

#include <stdlib.h>
#include <string.h>

static struct sort_set set;
static const char *keys;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.words.job),
    { 0, "keys", "KEY,...", &keys,
      "sort by the first key, then by the second, and so on; a KEY is\nthe name of a field, the "
      "number of a column from 0, or\nOFFSET:TYPE; KEY:desc is in descending order" },
    { 0, "record", "BYTES", &set.files.record,
      "INPUT is raw, and its records have this size; not for .npy" },
    { 'r', "reverse", NULL, &set.words.reverse, "reverse the direction of every key" },
    { 'u', "unique", NULL, &set.unique, "keep only the first of records with equal keys" },
    { 0, "argsort", NULL, &set.words.argsort,
      "write the position in INPUT of each sorted record, counted\nfrom 0" },
    { 0, "order", "ORDER", &set.words.order,
      "order of floats: nan-last, with -0 = +0 (default), or\ntotal: IEEE 754 totalOrder" },
    JOB_DEVICE_OPTIONS(set.words.job),
    { 'S', "memory", "BYTES", &set.words.job.memory,
      "use at most this memory: 500M, 8Gi, 50%; also limits device\nmemory; default: 3/4 of what "
      "is available" },
    { 'T', "temporary-directory", "DIR", &set.files.directories,
      "temporary files of sorts larger than memory are in DIR; may be\nrepeated; default: $TMPDIR, "
      "or /tmp" },
    { 0, "verify", NULL, &set.files.verify,
      "check the order and a checksum of the output before it\nreplaces a file" },
    { 0, "dry-run", NULL, &set.files.dry_run, "print the plan of memory and passes" },
    { 0, "algorithm", "NAME", &set.words.algorithm,
      "use this algorithm; \"echelon explain columns\" lists them" },
    JOB_REPORT_OPTIONS(set.words.job),
    { 0, NULL, NULL, NULL, NULL },
};

/* The job and what it reads; the first member, so that a pointer can be converted. */
struct run {
    struct sort_job job;
    struct sort_text text;
};

static int body(struct job *base, struct io_output *output)
{
    struct run *run = (struct run *)base;
    bool done;
    return sort_files(&set, &run->job, &run->text, false, output, &done);
}

/* Divides the list of keys, which it changes. */
static int split_keys(char *list)
{
    struct cli_list *words = &set.text.keys;
    const int most = (int)(sizeof words->words / sizeof *words->words);
    for (char *next = list; next;) {
        if (words->count == most)
            return cli_fail(EXIT_BAD, "--keys has more than %d keys; the maximum is 16", most);
        words->words[words->count++] = next;
        next = strchr(next, ',');
        if (next) *next++ = 0;
    }
    return EXIT_DONE;
}

/* Raw input has --record, whatever its extension is. */
static int check_input(const char *input)
{
    const int said = io_format_from_extension(input);
    if (set.files.record && said == IO_NPY)
        return cli_fail(EXIT_BAD, "%s: is a .npy file; --record is for raw input", input);
    if (!set.files.record && said >= 0 && said != IO_NPY)
        return cli_fail(EXIT_BAD, "%s: give --record, the size of a record", input);
    return EXIT_DONE;
}

static int run_keys(struct run *run, char *list)
{
    int code = split_keys(list);
    if (code == EXIT_DONE) code = sort_parse(&run->job, &set.words);
    if (code == EXIT_DONE) code = check_input(run->text.names[0]);
    if (code == EXIT_DONE) code = sort_files_budget(&set);
    run->job.base.command = "records";
    run->job.base.input = sort_name(&run->text, 0);
    run->job.base.plan = NULL;
    return code == EXIT_DONE ? job_run(&run->job.base, &set.words.job, body) : code;
}

static int run(int count, char **operands)
{
    struct run all = { .job.base.command = "records" };
    set.files.records = true;
    int code = sort_find_inputs(&set, &all.text, count, operands);
    if (code == EXIT_DONE && !keys)
        code = cli_fail(EXIT_BAD, "give --keys: the names of fields, or OFFSET:TYPE,...");
    char *list = code == EXIT_DONE ? strdup(keys) : NULL;
    if (code == EXIT_DONE)
        code = list ? run_keys(&all, list) : cli_fail(EXIT_MEMORY, "out of memory");
    free(list);
    sort_free_text(&all.text);
    return code;
}

static const char *const repeated[] = { "temporary-directory", NULL };

const struct command command_records = {
    .name = "records",
    .summary = "sort records, or the rows of a matrix, by keys",
    .usage = "  echelon records --keys KEY,... [OPTION]... [INPUT]\n",
    .examples =
        "  echelon records --keys price,id:desc goods.npy -o sorted.npy   a structured array\n"
        "  echelon records --keys 2,0 matrix.npy -o sorted.npy            rows, by columns 2 and "
        "0\n"
        "  echelon records --record 16 --keys 0:bytes16 uuids.raw -o s.raw\n"
        "  echelon records --record 24 --keys 8:f64:desc,0:u32 log.raw -o s.raw\n",
    .notes =
        "The same as \"echelon sort\" with a --key for each KEY, and --record for raw input.\n\n"
        "INPUT \"-\" is standard input, the default.  A .npy file has one dimension of a "
        "structured\n"
        "type, or two dimensions of numbers, whose rows are the records.  Other files need\n"
        "--record.  OFFSET counts the bytes from the begin of the record.  TYPE is one "
        "of\n" CLI_TYPES ", or bytesN, unsignedN or\n"
        "signedN: a string or a little-endian integer of N bytes; N means bytesN.\n\n"
        "Records with equal keys keep their order.  The output has the format of INPUT.\n"
        "--argsort writes u64.\n",
    .options = options,
    .repeated = repeated,
    .most_operands = 1,
    .run = run,
};
