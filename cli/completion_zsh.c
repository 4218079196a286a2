/*
 * completion_zsh.c - prints the completion for zsh.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "completion.h"

#include <string.h>

/* The script is a file of fpath, or the argument of eval. */
static const char tail[] = "if [[ ${funcstack[1]} == _echelon ]]; then\n"
                           "    _echelon \"$@\"\n"
                           "else\n"
                           "    compdef _echelon echelon\n"
                           "fi\n";

static bool is_repeated(const struct command *command, const struct option *option)
{
    const char *const *name = command->repeated;
    while (name && *name && strcmp(*name, option->name) != 0) name++;
    return name && *name;
}

/* Text within single quotes, in which the colons of a specification are escaped. */
static void print_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    }
}

/* What the value of an option is, and what is offered for it. */
static void print_value(const struct command *command, const struct option *option)
{
    struct completion_value value;
    completion_value(command, option, &value);
    fputs(cli_is_optional(option) ? "::" : ":", stdout);
    for (const char *at = option->value; *at; at++)
        if (!strchr("[=]", *at)) printf(*at == ':' ? "\\%c" : "%c", *at);
    if (value.offer == OFFER_WORDS)
        printf(":(%s)", value.words);
    else
        fputs(value.offer == OFFER_FILES         ? ":_files"
              : value.offer == OFFER_DIRECTORIES ? ":_path_files -/"
                                                 : ": ",
              stdout);
}

/* A specification for _arguments, such as
 * '(-r --reverse)'{-r,--reverse}'[sort in descending order]'. */
static void print_option(const struct command *command, const struct option *option)
{
    char help[COMPLETION_TEXT];
    const bool optional = cli_is_optional(option);
    const char *const argument = optional ? "=-" : option->value ? "=" : "";
    const char *const joined = option->value && !optional ? "+" : "";
    completion_text(option->help, ":[]\\", help);
    if (optional && option->letter) { /* the letter takes no value */
        printf("            '(-%c --%s)-%c[", option->letter, option->name, option->letter);
        print_quoted(help);
        fputs("]' \\\n", stdout);
    }
    fputs("            ", stdout);
    if (is_repeated(command, option))
        fputs("'*'", stdout);
    else if (option->letter)
        printf("'(-%c --%s)'", option->letter, option->name);
    if (option->letter && !optional)
        printf("{-%c%s,--%s%s}", option->letter, joined, option->name, argument);
    else
        printf("--%s%s", option->name, argument);
    fputs("'[", stdout);
    print_quoted(help);
    putchar(']');
    if (option->value) print_value(command, option);
    fputs("' \\\n", stdout);
}

static void print_command(const struct command *command)
{
    char words[COMPLETION_WORDS];
    printf("    %s)\n        _arguments -s -S : \\\n", command->name);
    completion_each(command, print_option);
    completion_operand(command, words);
    if (words[0]) printf("            '1:operand:(%s)' \\\n", words);
    fputs("            '*:file:_files' ;;\n", stdout);
}

void completion_zsh(void)
{
    printf("#compdef echelon\n"
           "# _echelon - completes commands, options and their values of echelon %s in zsh.\n"
           "# Printed by \"echelon completion zsh\".\n\n"
           "_echelon()\n{\n    local -a commands=(\n",
           ech_version());
    for (int i = 0; cli_commands[i]; i++) {
        printf("        '%s:", cli_commands[i]->name);
        print_quoted(cli_commands[i]->summary);
        fputs("'\n", stdout);
    }
    fputs("        'help:print the help of a command'\n"
          "    )\n"
          "    if (( CURRENT == 2 )) && [[ $PREFIX == -* ]]; then\n"
          "        compadd -- --help --version\n"
          "        return\n"
          "    elif (( CURRENT == 2 )) || [[ $words[2] == help ]]; then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $words[1] in\n",
          stdout);
    for (int i = 0; cli_commands[i]; i++) print_command(cli_commands[i]);
    printf("    esac\n}\n\n%s", tail);
}
