/*
 * emulate_html.c - the page that "echelon emulate --html" writes: emulate.html with the report as
 * JSON in it, without any other file or network access.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "emulate.h"

#include <stdlib.h>
#include <string.h>

/* emulate.html, which the build converts (CMakeLists.txt). */
static const char page[] = {
#include "emulate_page.inc"
};

/* In a script element, "<" could end the element; in JSON it occurs only in strings. */
static io_status put_json(struct io_output *output, const char *json, struct io_error *error)
{
    io_status status = IO_OK;
    while (*json && status == IO_OK) {
        const size_t n = strcspn(json, "<");
        status = io_write(output, json, n, error);
        json += n;
        if (*json != '<' || status != IO_OK) continue;
        status = io_write(output, "\\u003c", 6, error);
        json++;
    }
    return status;
}

int emulate_html(const struct emulate_report *report, const char *path)
{
    static const char marker[] = "@DATA@";
    struct io_output output;
    struct io_error error;
    char *json = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&json, &bytes);
    if (to) emulate_json(report, true, to);
    if (!to || fclose(to) != 0) {
        free(json);
        return cli_fail(EXIT_MEMORY, "out of memory for %s", path);
    }
    const char *here = strstr(page, marker);
    io_status status = io_create(&output, path, &error);
    if (status == IO_OK) status = io_write(&output, page, (size_t)(here - page), &error);
    if (status == IO_OK) status = put_json(&output, json, &error);
    here += sizeof marker - 1;
    if (status == IO_OK) status = io_write(&output, here, strlen(here), &error);
    if (status == IO_OK) status = io_commit(&output, &error);
    io_discard(&output);
    free(json);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}
