/*
 * completion_bash.c - prints the completion for bash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "completion.h"

/* Sets, for the command $1: options, and operands, the words of the first operand.  For its option
 * $2, followed by $3, which is "" or "=", if this takes a value: offer, which is "words", "files",
 * "directories" or "nothing", and words. */
static const char table_head[] = "_echelon_table()\n"
                                 "{\n"
                                 "    options='' operands='' offer='' words=''\n"
                                 "    case $1 in\n";

static const char function[] =
    "_echelon()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command=${COMP_WORDS[1]} options operands offer words i first=1 only_operands=''\n"
    "    local equals=''\n"
    "    COMPREPLY=()\n"
    "    # bash splits --name=value at the equals sign.\n"
    "    if [ \"$word\" = = ]; then\n"
    "        word='' equals==\n"
    "    elif [ \"$previous\" = = ]; then\n"
    "        previous=${COMP_WORDS[COMP_CWORD-2]} equals==\n"
    "    fi\n"
    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$_echelon_commands --help --version\" -- "
    "\"$word\")\n"
    "        return\n"
    "    elif [ \"$command\" = help ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$_echelon_commands\" -- \"$word\")\n"
    "        return\n"
    "    fi\n"
    "    # Is the word the first operand?\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        --) only_operands=1 ;;\n"
    "        -*)\n"
    "            _echelon_table \"$command\" \"${COMP_WORDS[i]}\" \"${COMP_WORDS[i+1]}\"\n"
    "            [ \"${COMP_WORDS[i+1]}\" != = ] || ((i++))\n"
    "            [ -z \"$offer\" ] || ((i++)) ;;\n"
    "        *) first='' ;;\n"
    "        esac\n"
    "    done\n"
    "    [ -z \"$only_operands\" ] || previous=''\n"
    "    _echelon_table \"$command\" \"$previous\" \"$equals\"\n"
    "    if [ -z \"$offer\" ]; then\n"
    "        case $only_operands$word in\n"
    "        -*) offer=words words=$options ;;\n"
    "        *) [ -z \"$first\" ] || words=$operands ;;\n"
    "        esac\n"
    "    fi\n"
    "    # Without a reply, bash completes names of files.\n"
    "    case $offer in\n"
    "    directories) compopt -o dirnames +o default 2>/dev/null ;;\n"
    "    nothing) compopt +o default 2>/dev/null ;;\n"
    "    *) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\") ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "complete -o default -F _echelon echelon\n";

static void print_name(const struct command *command, const struct option *option)
{
    (void)command;
    printf(" --%s", option->name);
    if (option->letter) printf(" -%c", option->letter);
}

static void print_value(const struct command *command, const struct option *option)
{
    struct completion_value value;
    static const char *const offers[] = { [OFFER_NOTHING] = "nothing",
                                          [OFFER_WORDS] = "words",
                                          [OFFER_FILES] = "files",
                                          [OFFER_DIRECTORIES] = "directories" };
    if (!option->value) return;
    completion_value(command, option, &value);
    printf("        --%s", option->name);
    if (option->letter) printf(" | -%c", option->letter);
    fputs(") ", stdout);
    if (cli_is_optional(option)) fputs("[ \"$3\" != = ] || ", stdout);
    printf("offer=%s", offers[value.offer]);
    if (value.offer == OFFER_WORDS) printf(" words='%s'", value.words);
    fputs(" ;;\n", stdout);
}

void completion_bash(void)
{
    char words[COMPLETION_WORDS];
    printf("# echelon.bash - completes commands, options and their values of echelon %s in bash.\n"
           "# Printed by \"echelon completion bash\".\n\n_echelon_commands='",
           ech_version());
    for (int i = 0; cli_commands[i]; i++) printf("%s ", cli_commands[i]->name);
    printf("help'\n\n%s", table_head);
    for (int i = 0; cli_commands[i]; i++) {
        const struct command *command = cli_commands[i];
        completion_operand(command, words);
        printf("    %s)\n        operands='%s' options='", command->name, words);
        completion_each(command, print_name);
        fputs("'\n        case $2 in\n", stdout);
        completion_each(command, print_value);
        fputs("        esac ;;\n", stdout);
    }
    printf("    esac\n}\n\n%s", function);
}
