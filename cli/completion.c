/*
 * completion.c - "echelon completion": prints a script that completes command lines in a shell.
 *
 *     cli_commands -> options of each -> what their values can be -> bash, fish or zsh
 *
 * The tables of the options contain everything, so a new option or subcommand is completed without
 * a change of these files.  The placeholder of a value determines what is offered for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "completion.h"
#include "distributions.h"
#include "explain.h"

#include <string.h>

static const struct option options[] = { { 0, NULL, NULL, NULL, NULL } };

static const char *distribution_name(int i)
{
    return distributions[i].name;
}

const struct cli_value cli_values[] = {
    { "FILE", CLI_FILE, NULL, NULL },
    { "DIR", CLI_DIRECTORY, NULL, NULL },
    { "TYPE", CLI_WORDS, CLI_TYPES, NULL },
    { "FORMAT", CLI_WORDS, "npy raw text", NULL },
    { "DEVICE", CLI_WORDS, "auto cpu cuda simt", NULL },
    { "--algorithm", CLI_ALGORITHM, NULL, NULL },
    { "ORDER", CLI_WORDS, "nan-last total", NULL },
    { "MODE", CLI_WORDS, "propagate ignore", NULL },
    { "AXIS", CLI_WORDS, "0 1", NULL },
    { "OP", CLI_WORDS,
      "sum product min max minmax argmin argmax count any all mean variance sd norm and or xor",
      NULL },
    { "DISTRIBUTION", CLI_WORDS, NULL, distribution_name },
    { "--dist", CLI_WORDS, NULL, distribution_name },
    { "--distribution", CLI_WORDS, NULL, distribution_name },
    { "WHEN", CLI_WORDS, "auto always never", NULL },
    { NULL, CLI_WORDS, NULL, NULL },
};

/* ---- Values ---- */

/* Appends a word unless it is in the list. */
static void add_word(char words[COMPLETION_WORDS], const char *word, size_t length)
{
    const size_t used = strlen(words);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t other = strcspn(at, " ");
        if (other == length && memcmp(at, word, length) == 0) return;
        at += other;
    }
    if (used + length + 2 > COMPLETION_WORDS) return;
    snprintf(words + used, COMPLETION_WORDS - used, "%s%.*s", used ? " " : "", (int)length, word);
}

static void add_words(char words[COMPLETION_WORDS], const char *list, const char *separator)
{
    while (*list) {
        const size_t length = strcspn(list, separator);
        if (length) add_word(words, list, length);
        list += length + strspn(list + length, separator);
    }
}

/* A placeholder such as "DIR..." has the key "DIR", and "FILE.csv" has "FILE". */
static bool has_key(const struct cli_value *value, const char *key)
{
    const size_t length = strlen(value->key);
    if (strncmp(value->key, key, length) != 0) return false;
    return !key[length] || strcmp(key + length, "...") == 0 ||
           (value->kind == CLI_FILE && key[length] == '.');
}

static const struct cli_value *find_value(const struct command *command, const char *key)
{
    const struct cli_value *const tables[] = { command->values, cli_values };
    for (int i = 0; i < 2; i++)
        for (const struct cli_value *v = tables[i]; v && v->key; v++)
            if (has_key(v, key)) return v;
    return NULL;
}

static void list_words(const struct command *command, const struct cli_value *value,
                       char words[COMPLETION_WORDS])
{
    const char *word;
    words[0] = 0;
    if (value->words) add_words(words, value->words, " ");
    for (int i = 0; value->word && (word = value->word(i)); i++)
        add_word(words, word, strlen(word));
    if (value->kind == CLI_ALGORITHM) explain_algorithms(command->name, words, COMPLETION_WORDS);
}

void completion_value(const struct command *command, const struct option *option,
                      struct completion_value *value)
{
    char key[COMPLETION_TEXT];
    snprintf(key, sizeof key, "--%s", option->name);
    const struct cli_value *found = find_value(command, key);
    if (!found && option->value) found = find_value(command, option->value);
    value->offer = OFFER_NOTHING;
    value->words[0] = 0;
    if (!found) return;
    if (found->kind == CLI_FILE) {
        value->offer = OFFER_FILES;
    } else if (found->kind == CLI_DIRECTORY) {
        value->offer = OFFER_DIRECTORIES;
    } else {
        list_words(command, found, value->words);
        if (value->words[0]) value->offer = OFFER_WORDS;
    }
}

/* ---- Operands ---- */

/* Adds the words of the first operand in a line of the usage: "rref|rank", "[OP]", "OPERATION". */
static void add_operand(const struct command *command, const char *line,
                        char words[COMPLETION_WORDS])
{
    static const char option[] = "[OPTION]...";
    const size_t begin = strlen("  echelon ") + strlen(command->name);
    if (strcspn(line, "\n") <= begin) return;
    const char *at = line + begin + strspn(line + begin, " ");
    if (strncmp(at, option, strlen(option)) == 0) at += strlen(option);
    at += strspn(at, " [");
    char word[COMPLETION_TEXT], listed[COMPLETION_WORDS];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " ]\n"), at);
    if (word[0] >= 'a' && word[0] <= 'z') {
        add_words(words, word, "|");
        return;
    }
    const struct cli_value *value = find_value(command, word);
    if (!value || value->kind != CLI_WORDS) return;
    list_words(command, value, listed);
    add_words(words, listed, " ");
}

void completion_operand(const struct command *command, char words[COMPLETION_WORDS])
{
    words[0] = 0;
    for (const char *line = command->usage; line && *line;) {
        add_operand(command, line, words);
        line = strchr(line, '\n');
        if (line) line++;
    }
}

/* ---- Options ---- */

void completion_text(const char *help, const char *special, char text[COMPLETION_TEXT])
{
    size_t n = 0;
    for (const char *at = help; *at && *at != ';' && n + 2 < COMPLETION_TEXT; at++) {
        if (strchr(special, *at)) text[n++] = '\\';
        text[n++] = *at;
        if (*at == '\n') text[n - 1] = ' ';
    }
    text[n] = 0;
}

void completion_each(const struct command *command,
                     void (*print)(const struct command *command, const struct option *option))
{
    for (const struct option *o = command->options; o->name; o++) print(command, o);
    for (const struct option *o = cli_common_options; o->name; o++) print(command, o);
}

/* ---- The command ---- */

static int run(int count, char **operands)
{
    static const char *const names[] = { "bash", "zsh", "fish" };
    static void (*const print[])(void) = { completion_bash, completion_zsh, completion_fish };
    enum { NAMES = sizeof names / sizeof *names };
    if (!count)
        return cli_fail(EXIT_BAD, "no shell: give one, for example echelon completion bash");
    for (int i = 0; i < NAMES; i++)
        if (strcmp(operands[0], names[i]) == 0) {
            print[i]();
            return EXIT_DONE;
        }
    return cli_unknown("shell", operands[0], names, NAMES);
}

const struct command command_completion = {
    .name = "completion",
    .summary = "print a script that completes command lines in a shell",
    .usage = "  echelon completion bash|zsh|fish\n",
    .examples = "  eval \"$(echelon completion bash)\"        in ~/.bashrc\n"
                "  eval \"$(echelon completion zsh)\"         in ~/.zshrc, after compinit\n"
                "  echelon completion fish | source         in ~/.config/fish/config.fish\n",
    .notes =
        "An installed package includes these scripts.  They complete subcommands, options, and "
        "the\nvalues of options.\n",
    .options = options,
    .most_operands = 1,
    .run = run,
};
