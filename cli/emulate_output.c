/*
 * emulate_output.c - the arrays that "echelon emulate" writes to files: the words of --output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "emulate.h"
#include "job.h"

#include <string.h>

int emulate_outputs(struct emulate_arguments *a, const struct cli_list *words)
{
    const char *outputs[64], *inputs[64];
    int input_count = 0;
    for (int i = 0; i < a->word_count; i++)
        if (!a->words[i].sized && input_count < 64) inputs[input_count++] = a->words[i].value;
    for (int i = 0; i < words->count; i++) {
        const char *word = words->words[i], *equals = strchr(word, '=');
        int k = 0;
        if (!equals || !equals[1])
            return cli_fail(EXIT_BAD, "--output %s: use NAME=FILE, or NAME=- to print the array",
                            word);
        const int length = (int)(equals - word);
        while (k < a->count && ((int)strlen(a->list[k].name) != length ||
                                strncmp(a->list[k].name, word, (size_t)length) != 0))
            k++;
        if (k == a->count)
            return cli_fail(EXIT_BAD, "--output %s: the kernel has no parameter %.*s", word, length,
                            word);
        if (a->list[k].output)
            return cli_fail(EXIT_BAD, "--output is given twice for %s", a->list[k].name);
        a->list[k].output = outputs[i] = equals + 1;
        int code = cli_check_output("output", outputs[i], inputs, input_count);
        if (code == EXIT_DONE) code = cli_check_writable(outputs[i]);
        if (code != EXIT_DONE) return code;
    }
    return cli_check_outputs(outputs, words->count);
}

static int write_array(const struct emulate_argument *x)
{
    struct io_output output;
    struct io_error error;
    unsigned char header[IO_NPY_HEADER];
    int format = strcmp(x->output, "-") == 0 ? IO_TEXT : io_format_from_extension(x->output);
    if (format < 0) format = io_dtype_from_extension(x->output) >= 0 ? IO_RAW : IO_TEXT;
    io_status status = io_create(&output, x->output, &error);
    if (status == IO_OK && format == IO_NPY && x->columns && io_npy_descr(x->dtype)) {
        const size_t bytes =
            io_npy_header_matrix(io_npy_descr(x->dtype), x->n / x->columns, x->columns, header);
        status = io_write(&output, header, bytes, &error);
        format = IO_RAW;
    }
    if (status == IO_OK)
        status = write_values(&output, (io_format)format, x->dtype, x->result, x->n, &error);
    if (status == IO_OK) status = io_commit(&output, &error);
    io_discard(&output);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

int emulate_write(const struct emulate_arguments *a)
{
    int code = EXIT_DONE;
    for (int i = 0; i < a->count && code == EXIT_DONE; i++)
        if (a->list[i].output && a->list[i].result) code = write_array(&a->list[i]);
    return code;
}
