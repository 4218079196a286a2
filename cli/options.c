/*
 * options.c - parses a command line with a table of options, prints the help, suggests corrections.
 *
 *     --name value   --name=value   -o value   -ovalue   -ru   -- (only operands follow)
 *     --name or --name=value, if the value is optional
 *
 * Options and operands may be in any order.  "-" is an operand.  A long option may be abbreviated,
 * as in GNU programs: to any prefix that no other option of the subcommand has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <string.h>

enum { MOST_OPTIONS = 80, WORD = 64 };

static struct {
    const char *color;
    bool help, version;
} common;

const struct option cli_common_options[] = {
    { 0, "color", "WHEN", &common.color,
      "colours in messages and in the help: auto (default), always\nor never" },
    { 0, "help", NULL, &common.help, "print the help" },
    { 0, "version", NULL, &common.version, "print the version" },
    { 0, NULL, NULL, NULL, NULL },
};

/* Option i of the command, followed by the common options; NULL after the last one. */
static const struct option *option_at(const struct command *command, int i)
{
    int n = 0;
    while (command->options[n].name) n++;
    const struct option *o = i < n ? &command->options[i] : &cli_common_options[i - n];
    return o->name ? o : NULL;
}

/* ---- Suggestions ---- */

/* The edit distance (insertions, deletions, replacements) of a and b, both truncated to WORD. */
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
    /* Up to a third of the letters may differ, and at least two. */
    int limit = (int)strnlen(word, WORD) / 3, best = limit > 2 ? limit + 1 : 3;
    const char *nearest = NULL;
    for (int i = 0; i < n; i++) {
        int edits = distance(word, candidates[i]);
        /* One is a prefix of the other, as hist and histogram. */
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
    return cli_fail(EXIT_BAD, "unknown %s \"%s\"; use one of: %s", what, word, all);
}

static int unknown_option(const struct command *command, const char *name, size_t length)
{
    const char *names[MOST_OPTIONS];
    int n = 0;
    for (const struct option *o; n < MOST_OPTIONS && (o = option_at(command, n)); n++)
        names[n] = o->name;
    char word[WORD];
    snprintf(word, sizeof word, "%.*s", (int)(length < WORD ? length : WORD - 1), name);
    const char *nearest = cli_nearest(word, names, n);
    if (nearest)
        return cli_fail(EXIT_BAD, "unknown option --%s; did you mean --%s?", word, nearest);
    return cli_fail(EXIT_BAD, "unknown option --%s; see echelon %s --help", word, command->name);
}

/* Suggests the long options that begin with the letter. */
static int unknown_letter(const struct command *command, char letter)
{
    char names[WORD * 4] = "";
    int n = 0;
    if (letter == 'h') return cli_fail(EXIT_BAD, "unknown option -h; did you mean --help?");
    for (const struct option *o = command->options; o->name; o++) {
        const size_t used = strlen(names);
        if (o->name[0] != letter) continue;
        snprintf(names + used, sizeof names - used, "%s--%s", n++ ? " or " : "", o->name);
    }
    if (n) return cli_fail(EXIT_BAD, "unknown option -%c; did you mean %s?", letter, names);
    return cli_fail(EXIT_BAD, "unknown option -%c; see echelon %s --help", letter, command->name);
}

/* ---- Parsing ---- */

static int ambiguous(const struct command *command, const char *name, size_t length)
{
    char names[WORD * 8] = "";
    const struct option *o;
    int n = 0;
    for (int i = 0; (o = option_at(command, i)); i++) {
        const size_t used = strlen(names);
        if (strncmp(o->name, name, length) != 0) continue;
        snprintf(names + used, sizeof names - used, "%s--%s", n++ ? ", " : "", o->name);
    }
    return cli_fail(EXIT_BAD, "--%.*s is ambiguous: it abbreviates %s", (int)length, name, names);
}

/* Finds the option of this name, or the only one whose name begins so. */
static int find_long(const struct command *command, const char *name, size_t length,
                     const struct option **found)
{
    const struct option *o;
    int n = 0;
    *found = NULL;
    for (int i = 0; length && (o = option_at(command, i)); i++) {
        if (strncmp(o->name, name, length) != 0) continue;
        *found = o;
        if (!o->name[length]) return EXIT_DONE;
        n++;
    }
    if (n == 1) return EXIT_DONE;
    return n ? ambiguous(command, name, length) : unknown_option(command, name, length);
}

static const struct option *find_letter(const struct command *command, char letter)
{
    for (const struct option *o = command->options; o->name; o++)
        if (o->letter == letter) return o;
    return NULL;
}

static bool is_repeated(const struct command *command, const struct option *option)
{
    const char *const *name = command->repeated;
    while (name && *name && strcmp(*name, option->name) != 0) name++;
    return name && *name;
}

static int add_word(const struct option *option, const char *value)
{
    struct cli_list *list = option->target;
    const int most = (int)(sizeof list->words / sizeof *list->words);
    if (list->count == most)
        return cli_fail(EXIT_BAD, "--%s is given more than %d times", option->name, most);
    list->words[list->count++] = value;
    return EXIT_DONE;
}

bool cli_is_optional(const struct option *option)
{
    return option->value && option->value[0] == '[';
}

static int set_optional(const struct option *option, const char *value)
{
    struct cli_optional *target = option->target;
    const char *before = target->value;
    if (value && !*value)
        return cli_fail(EXIT_BAD, "--%s has an empty value; give --%s%s", option->name,
                        option->name, option->value);
    if (target->given && (!value != !before || (value && strcmp(value, before) != 0)))
        return cli_fail(EXIT_BAD, "--%s is given twice, as \"--%s%s%s\" and \"--%s%s%s\"",
                        option->name, option->name, before ? "=" : "", before ? before : "",
                        option->name, value ? "=" : "", value ? value : "");
    *target = (struct cli_optional){ .given = true, .value = value };
    return EXIT_DONE;
}

/* Sets the option to value.  If value is NULL, takes the next argument and advances *i. */
static int set_option(const struct command *command, const struct option *option, const char *value,
                      int argc, char **argv, int *i)
{
    if (!option->value) {
        *(bool *)option->target = true;
        return EXIT_DONE;
    }
    if (cli_is_optional(option)) return set_optional(option, value);
    if (!value && *i + 1 >= argc)
        return cli_fail(EXIT_BAD, "--%s needs a value: --%s %s", option->name, option->name,
                        option->value);
    const char **target = option->target;
    if (!value) value = argv[++*i];
    if (!*value)
        return cli_fail(EXIT_BAD, "--%s has an empty value; give --%s %s", option->name,
                        option->name, option->value);
    if (is_repeated(command, option)) return add_word(option, value);
    if (*target)
        return cli_fail(EXIT_BAD, "--%s is given twice, as \"%s\" and \"%s\"; give it once",
                        option->name, *target, value);
    *target = value;
    return target == &common.color ? cli_set_color(value) : EXIT_DONE;
}

static int parse_long(const struct command *command, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    const struct option *option;
    const int code =
        find_long(command, name, equals ? (size_t)(equals - name) : strlen(name), &option);
    if (code != EXIT_DONE) return code;
    if (equals && !option->value)
        return cli_fail(EXIT_BAD, "--%s has the value \"%s\", but takes none", option->name,
                        equals + 1);
    return set_option(command, option, equals ? equals + 1 : NULL, argc, argv, i);
}

/* A word of short options.  If the last one takes a value, the rest of the word is its value. */
static int parse_letters(const struct command *command, int argc, char **argv, int *i)
{
    for (const char *at = argv[*i] + 1; *at; at++) {
        const struct option *option = find_letter(command, *at);
        if (!option) return unknown_letter(command, *at);
        const bool word = option->value && !cli_is_optional(option);
        if (word) return set_option(command, option, at[1] ? at + 1 : NULL, argc, argv, i);
        const int code = set_option(command, option, NULL, argc, argv, i);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

static int add_operand(const struct command *command, char *word, char **operands, int *count)
{
    /* Files, operations and conditions have a name. */
    if (!*word)
        return cli_fail(EXIT_BAD, "an operand is empty; see echelon %s --help", command->name);
    if (*count == command->most_operands && !*command->name)
        return cli_fail(EXIT_BAD,
                        "unexpected operand \"%s\": options follow the command: echelon COMMAND "
                        "[OPTION]...",
                        word);
    if (*count == command->most_operands)
        return cli_fail(EXIT_BAD, "unexpected operand \"%s\"; see echelon %s --help", word,
                        command->name);
    operands[(*count)++] = word;
    return EXIT_DONE;
}

/* Copies the operands of the command line. */
static int parse_words(const struct command *command, int argc, char **argv, char **operands,
                       int *count)
{
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        int code = EXIT_DONE;
        if (only_operands || word[0] != '-' || word[1] == 0) {
            code = add_operand(command, argv[i], operands, count);
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (word[1] == '-') {
            code = parse_long(command, argc, argv, &i);
        } else {
            code = parse_letters(command, argc, argv, &i);
        }
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

int cli_parse(const struct command *command, int argc, char **argv, char **operands, int *count,
              struct cli_common *found)
{
    *count = 0;
    const int code = parse_words(command, argc, argv, operands, count);
    *found = (struct cli_common){ .help = common.help, .version = common.version };
    return code;
}

/* ---- Help ---- */

/* A line of the help; the text begins at a fixed column, on the next line if the name is long. */
static void print_option(char letter, const char *name, const char *value, const char *help)
{
    enum { NAME = 24, TEXT = NAME + 3 };
    char left[WORD], mark[5] = "    ";
    if (letter) snprintf(mark, sizeof mark, "-%c, ", letter);
    int n = snprintf(left, sizeof left, "%s--%s", mark, name);
    printf("  %s%s%s", cli_style(stdout, CLI_OPTION), left, cli_style(stdout, CLI_PLAIN));
    if (value) n += printf("%s%s", value[0] == '[' ? "" : " ", value);
    printf("%*s", n <= NAME ? NAME + 1 - n : 0, "");
    if (n > NAME) printf("\n%*s", TEXT, "");
    for (const char *at = help; *at; at++) {
        putchar(*at);
        if (*at == '\n') printf("%*s", TEXT, "");
    }
    putchar('\n');
}

void cli_print_help(const struct command *command)
{
    printf("echelon %s - %s\n\n", command->name, command->summary);
    cli_print_heading(stdout, "Examples:");
    printf("%s\n", command->examples);
    cli_print_heading(stdout, "Usage:");
    printf("%s\n", command->usage);
    cli_print_heading(stdout, "Options:");
    for (const struct option *o = command->options; o->name; o++)
        print_option(o->letter, o->name, o->value, o->help);
    print_option(0, "help", NULL, "print this help");
    if (command->notes[0]) printf("\n%s", command->notes);
    printf("\nManual page: man echelon-%s; --color and --version: man echelon\n", command->name);
}
