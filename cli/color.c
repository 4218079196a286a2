/*
 * color.c - colours of messages and of the help: --color, NO_COLOR, CLICOLOR_FORCE.
 *
 * Data, tables and JSON are never coloured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AUTO, ALWAYS, NEVER, CHOICES };
static int chosen = AUTO;

int cli_set_color(const char *when)
{
    static const char *const names[] = { [AUTO] = "auto", [ALWAYS] = "always", [NEVER] = "never" };
    for (int i = 0; i < CHOICES; i++)
        if (strcmp(when, names[i]) == 0) {
            chosen = i;
            return EXIT_DONE;
        }
    return cli_fail(EXIT_BAD, "--color is \"%s\"; use auto, always or never", when);
}

/* https://no-color.org and https://bixense.com/clicolors */
static bool is_colored(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
    if (chosen != AUTO) return chosen == ALWAYS;
    if (no && *no) return false;
    if (force && *force && strcmp(force, "0") != 0) return true;
    return isatty(fileno(to)) && term && strcmp(term, "dumb") != 0;
}

const char *cli_style(FILE *to, enum cli_style style)
{
    static const char *const sequences[] = {
        [CLI_PLAIN] = "\033[0m",
        [CLI_ERROR] = "\033[1;31m", /* bold red */
        [CLI_HEADING] = "\033[1m",  /* bold */
        [CLI_OPTION] = "\033[36m",  /* cyan */
    };
    return is_colored(to) ? sequences[style] : "";
}

void cli_print_heading(FILE *to, const char *text)
{
    fprintf(to, "%s%s%s\n", cli_style(to, CLI_HEADING), text, cli_style(to, CLI_PLAIN));
}
