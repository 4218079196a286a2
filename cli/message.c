/*
 * message.c - error messages on standard error, and their exit codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>

const char *cli_command;
bool cli_silent;

void cli_print_name(FILE *to, const char *text)
{
    while (*text) {
        const unsigned char *at = (const unsigned char *)text;
        size_t bytes = cli_utf8(text);
        /* U+0080 to U+009F are control characters, too. */
        if (bytes == 0 || *at < ' ' || *at == 127 || (*at == 0xc2 && at[1] < 0xa0)) {
            fprintf(to, "\\x%02x", *at);
            bytes = 1;
        } else {
            fwrite(text, 1, bytes, to);
        }
        text += bytes;
    }
}

#undef cli_fail /* cli.h */
int cli_fail(int code, const char *format, ...)
{
    if (cli_silent) return code;
    fprintf(stderr, "%sechelon%s%s:%s ", cli_style(stderr, CLI_ERROR), cli_command ? " " : "",
            cli_command ? cli_command : "", cli_style(stderr, CLI_PLAIN));
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    char *text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (text) vsnprintf(text, (size_t)n + 1, format, again);
    if (text) cli_print_name(stderr, text);
    free(text);
    va_end(again);
    va_end(arguments);
    putc('\n', stderr);
    return code;
}

int cli_fail_io(io_status status, const struct io_error *error)
{
    return cli_fail(status == IO_MEMORY ? EXIT_MEMORY : EXIT_BAD, "%s", error->text);
}

#undef cli_fail_ech
int cli_fail_ech(ech_status status, const ech_ctx *ctx)
{
    static const int codes[] = {
        [ECH_OK] = EXIT_DONE,
        [ECH_ERR_ARG] = EXIT_BAD,
        [ECH_ERR_UNSUPPORTED] = EXIT_BAD,
        [ECH_ERR_MEMORY] = EXIT_MEMORY,
        [ECH_ERR_NO_DEVICE] = EXIT_DEVICE,
        [ECH_ERR_DEVICE] = EXIT_DEVICE,
    };
    size_t known = sizeof codes / sizeof *codes;
    return cli_fail((size_t)status < known ? codes[status] : EXIT_DEVICE, "%s", ech_error(ctx));
}
