/*
 * main.c - the command echelon: finds the subcommand in a table and runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

const struct command *const cli_commands[] = { &command_sort,   &command_records,  &command_topk,
                                               &command_merge,  &command_set,      &command_search,
                                               &command_unique, &command_select,   &command_shuf,
                                               &command_stats,  &command_quantile, &command_hist,
                                               &command_reduce, &command_scan,     &command_gen,
                                               &command_check,  &command_gf2,      &command_matrix,
                                               &command_matmul, &command_solve,    &command_explain,
                                               &command_bench,  &command_profile,  &command_emulate,
                                               &command_ladder, &command_info,     NULL };

enum { MOST_OPERANDS = 64, MOST_COMMANDS = 32 };

/* ---- Subcommands ---- */

static const struct command *find_command(const char *name)
{
    const char *names[MOST_COMMANDS];
    int n = 0;
    for (; cli_commands[n]; n++) {
        if (strcmp(cli_commands[n]->name, name) == 0) return cli_commands[n];
        names[n] = cli_commands[n]->name;
    }
    const char *nearest = cli_nearest(name, names, n);
    if (nearest)
        cli_fail(EXIT_BAD, "unknown command \"%s\"; did you mean %s?", name, nearest);
    else
        cli_fail(EXIT_BAD, "unknown command \"%s\"; see echelon --help", name);
    return NULL;
}

static void print_overview(FILE *to)
{
    fputs("echelon - sorts, scans, reductions and linear algebra on files of numbers, on the GPU "
          "or\nthe CPU\n\n"
          "Usage:\n"
          "  echelon COMMAND [OPTION]... [OPERAND]...\n\n"
          "Examples:\n"
          "  echelon sort data.npy -o sorted.npy     sort a NumPy array\n"
          "  echelon sort column.txt                 sort lines by the number on each line\n"
          "  echelon stats -k price goods.csv        statistics of one column of a table\n"
          "  echelon hist data.npy                   a histogram\n"
          "  echelon select '>=0' data.npy -o positive.npy\n"
          "  echelon gen uniform -N 100M --type f32 -o data.npy\n"
          "  echelon gf2 info --rank H.alist         properties of a matrix over GF(2)\n"
          "  echelon solve A.mtx b.mtx -o x.mtx      solve A x = b\n\n"
          "Commands:\n",
          to);
    for (int i = 0; cli_commands[i]; i++)
        fprintf(to, "  %-9s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("  help      print the help of a command\n\n"
          "echelon COMMAND --help and echelon help COMMAND print the help of a command.\n"
          "echelon --version prints the version.  Manual pages: man echelon, man echelon-sort, and "
          "so\non.\n",
          to);
}

static int run_command(const struct command *command, int argc, char **argv)
{
    char *operands[MOST_OPERANDS];
    int count;
    bool help = false;
    cli_command = command->name;
    int code = cli_parse(command, argc, argv, operands, &count, &help);
    if (code != EXIT_DONE) return code;
    if (help) {
        cli_print_help(command);
        return EXIT_DONE;
    }
    code = cli_check_names(command);
    return code == EXIT_DONE ? command->run(count, operands) : code;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_BAD;
    }
    const char *word = argv[1];
    bool help = strcmp(word, "help") == 0;
    if (strcmp(word, "--version") == 0) {
        printf("echelon %s\n", ech_version());
        return EXIT_DONE;
    }
    if (strcmp(word, "--help") == 0 || (help && (argc == 2 || argv[2][0] == '-'))) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    if (!help && word[0] == '-')
        return cli_fail(EXIT_BAD,
                        "unknown option %s before the command; options follow the command: echelon "
                        "COMMAND [OPTION]...; see echelon --help",
                        word);
    const struct command *command = find_command(help ? argv[2] : word);
    if (!command) return EXIT_BAD;
    if (help) {
        cli_print_help(command);
        return EXIT_DONE;
    }
    return run_command(command, argc - 2, argv + 2);
}

/* If a standard stream is closed, the next file that is opened gets its descriptor, and messages
 * would be written to data.  So the descriptor is opened in the wrong direction: reading or writing
 * still fails. */
static void hold_closed_streams(void)
{
    static const int ways[] = { O_WRONLY, O_RDONLY, O_RDONLY };
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", ways[fd]) != fd) exit(EXIT_BAD);
}

int main(int argc, char **argv)
{
    hold_closed_streams();
    int code = dispatch(argc, argv);
    /* Output may still be buffered, and writing it fails on a full disk. */
    if (fflush(stdout) != 0 && code == EXIT_DONE)
        code = cli_fail(EXIT_BAD, "standard output: cannot write: %s", strerror(errno));
    return code;
}
