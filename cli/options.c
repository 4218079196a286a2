/*
 * options.c - parses a command line by a table, prints help from it, and guesses what was meant.
 *
 *     --name value   --name=value   -o value   -ovalue   -ru   -- (the rest are operands)
 *
 * Options and operands may stand in any order.  "-" is an operand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <string.h>

enum { MOST_OPTIONS = 40, WORD = 64 };

/* ---- Suggestions ---- */

/* Edits (insert, delete, replace) from a to b, both cut at WORD. */
static int distance(const char *a, const char *b)
{
    int row[WORD + 1];
    int n = (int)strnlen(b, WORD);
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; a[i - 1] && i <= WORD; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = replaced < least ? replaced : least;
        }
    }
    return row[n];
}

const char *cli_nearest(const char *word, const char *const *candidates, int n)
{
    /* Up to a third of the word may be wrong, and at least two letters. */
    int limit = (int)strnlen(word, WORD) / 3, best = limit > 2 ? limit + 1 : 3;
    const char *nearest = NULL;
    for (int i = 0; i < n; i++) {
        int edits = distance(word, candidates[i]);
        /* One is the other's beginning, as histogram and hist. */
        size_t shorter =
            strlen(word) < strlen(candidates[i]) ? strlen(word) : strlen(candidates[i]);
        if (shorter > 2 && strncmp(word, candidates[i], shorter) == 0) edits = 1;
        if (edits >= best || edits >= (int)strlen(candidates[i])) continue;
        best = edits;
        nearest = candidates[i];
    }
    return nearest;
}

int cli_unknown(const char *what, const char *word, const char *const *candidates, int n)
{
    char all[256] = "";
    const char *nearest = cli_nearest(word, candidates, n);
    if (nearest)
        return cli_fail(EXIT_BAD, "unknown %s \"%s\"; did you mean %s?", what, word, nearest);
    for (int i = 0; i < n; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? " " : "", candidates[i]);
    }
    return cli_fail(EXIT_BAD, "unknown %s \"%s\"; there are: %s", what, word, all);
}

static int unknown_option(const struct command *command, const char *name, size_t length)
{
    const char *names[MOST_OPTIONS] = { "help" };
    int n = 1;
    for (const struct option *o = command->options; o->name && n < MOST_OPTIONS; o++)
        names[n++] = o->name;
    char word[WORD];
    snprintf(word, sizeof word, "%.*s", (int)(length < WORD ? length : WORD - 1), name);
    const char *nearest = cli_nearest(word, names, n);
    if (nearest)
        return cli_fail(EXIT_BAD, "unknown option --%s; did you mean --%s?", word, nearest);
    return cli_fail(EXIT_BAD, "unknown option --%s; see echelon %s --help", word, command->name);
}

/* ---- Parsing ---- */

static const struct option *find_long(const struct command *command, const char *name,
                                      size_t length)
{
    for (const struct option *o = command->options; o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) return o;
    return NULL;
}

static const struct option *find_letter(const struct command *command, char letter)
{
    for (const struct option *o = command->options; o->name; o++)
        if (o->letter == letter) return o;
    return NULL;
}

/* Sets option from value, or from the next argument where value is NULL; *i moves past it. */
static int set_option(const struct option *option, const char *value, int argc, char **argv, int *i)
{
    if (!option->value) {
        *(bool *)option->target = true;
        return EXIT_DONE;
    }
    if (!value && *i + 1 >= argc)
        return cli_fail(EXIT_BAD, "--%s needs a value, %s", option->name, option->value);
    *(const char **)option->target = value ? value : argv[++*i];
    return EXIT_DONE;
}

static int parse_long(const struct command *command, int argc, char **argv, int *i, bool *help)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    if (strcmp(name, "help") == 0) {
        *help = true;
        return EXIT_DONE;
    }
    const struct option *option = find_long(command, name, length);
    if (!option) return unknown_option(command, name, length);
    if (equals && !option->value) return cli_fail(EXIT_BAD, "--%s takes no value", option->name);
    return set_option(option, equals ? equals + 1 : NULL, argc, argv, i);
}

/* A word of letters, the last of which may take the rest of the word as its value. */
static int parse_letters(const struct command *command, int argc, char **argv, int *i, bool *help)
{
    for (const char *at = argv[*i] + 1; *at; at++) {
        if (*at == 'h') {
            *help = true;
            continue;
        }
        const struct option *option = find_letter(command, *at);
        if (!option)
            return cli_fail(EXIT_BAD, "unknown option -%c; see echelon %s --help", *at,
                            command->name);
        if (option->value) return set_option(option, at[1] ? at + 1 : NULL, argc, argv, i);
        set_option(option, NULL, argc, argv, i);
    }
    return EXIT_DONE;
}

int cli_parse(const struct command *command, int argc, char **argv, char **operands, int *count,
              bool *help)
{
    bool only_operands = false;
    *count = 0;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        int code = EXIT_DONE;
        if (only_operands || word[0] != '-' || word[1] == 0) {
            if (*count == command->most_operands)
                return cli_fail(EXIT_BAD, "too many operands: \"%s\"", word);
            operands[(*count)++] = argv[i];
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (word[1] == '-') {
            code = parse_long(command, argc, argv, &i, help);
        } else {
            code = parse_letters(command, argc, argv, &i, help);
        }
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

/* ---- Help ---- */

void cli_print_help(const struct command *command)
{
    printf("echelon %s - %s\n\nExamples:\n%s\nUsage:\n%s\nOptions:\n", command->name,
           command->summary, command->examples, command->usage);
    for (const struct option *o = command->options; o->name; o++) {
        char left[WORD], letter[5] = "    ";
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-24s ", left);
        /* Further lines of a text stand below its first. */
        for (const char *at = o->help; *at; at++) {
            putchar(*at);
            if (*at == '\n') printf("%27s", "");
        }
        putchar('\n');
    }
    printf("  %-24s %s\n", "-h, --help", "this text");
    if (command->notes[0]) printf("\n%s", command->notes);
}
