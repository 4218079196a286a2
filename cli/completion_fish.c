/*
 * completion_fish.c - prints the completion for fish.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "completion.h"

static const char functions[] =
    "# Is no command given yet?\n"
    "function __echelon_no_command\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "\n"
    "# Is the command one of the arguments?\n"
    "function __echelon_is\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -ge 2; and contains -- $words[2] $argv\n"
    "end\n"
    "\n"
    "# Is the command the first argument, and no word after it an operand?  The other arguments "
    "are\n"
    "# the options that take a value.\n"
    "function __echelon_first\n"
    "    set -l words (commandline -opc)\n"
    "    __echelon_is $argv[1]; or return\n"
    "    set -l value no\n"
    "    for word in $words[3..-1]\n"
    "        if test $value = yes\n"
    "            set value no\n"
    "        else if test $word = --; or not string match -q -- '-*' $word\n"
    "            return 1\n"
    "        else if contains -- $word $argv[2..-1]\n"
    "            set value yes\n"
    "        end\n"
    "    end\n"
    "end\n"
    "\n";

static void print_option(const struct command *command, const struct option *option)
{
    char help[COMPLETION_TEXT];
    struct completion_value value = { .offer = OFFER_NOTHING };
    completion_text(option->help, "'\\", help);
    printf("complete -c echelon -n '__echelon_is %s' -l %s", command->name, option->name);
    if (option->letter) printf(" -s %c", option->letter);
    if (option->value) {
        completion_value(command, option, &value);
        if (value.offer == OFFER_WORDS)
            printf(" %s -a '%s'", cli_is_optional(option) ? "-f" : "-x", value.words);
        else if (value.offer == OFFER_DIRECTORIES)
            fputs(" -x -a '(__fish_complete_directories)'", stdout);
        else
            fputs(value.offer == OFFER_FILES ? " -r -F" : " -x", stdout);
    }
    printf(" -d '%s'\n", help);
}

static void print_name(const struct command *command, const struct option *option)
{
    (void)command;
    if (!option->value || cli_is_optional(option)) return;
    printf(" --%s", option->name);
    if (option->letter) printf(" -%c", option->letter);
}

static void print_command(const struct command *command)
{
    char words[COMPLETION_WORDS], text[COMPLETION_TEXT];
    completion_text(command->summary, "'\\", text);
    printf("complete -c echelon -n __echelon_no_command -f -a %s -d '%s'\n"
           "complete -c echelon -n '__echelon_is help' -f -a %s -d '%s'\n",
           command->name, text, command->name, text);
    completion_operand(command, words);
    if (words[0]) {
        printf("complete -c echelon -n '__echelon_first %s", command->name);
        completion_each(command, print_name);
        printf("' -f -a '%s'\n", words);
    }
    completion_each(command, print_option);
}

void completion_fish(void)
{
    printf("# echelon.fish - completes commands, options and their values of echelon %s in fish.\n"
           "# Printed by \"echelon completion fish\".\n\n%s",
           ech_version(), functions);
    fputs(
        "complete -c echelon -n __echelon_no_command -f -a help -d 'print the help of a command'\n"
        "complete -c echelon -n __echelon_no_command -f -l help -d 'print the help'\n"
        "complete -c echelon -n __echelon_no_command -f -l version -d 'print the version'\n",
        stdout);
    for (int i = 0; cli_commands[i]; i++) print_command(cli_commands[i]);
}
