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

const struct command *const cli_commands[] = {
    &command_sort,    &command_records, &command_topk,       &command_merge,
    &command_set,     &command_search,  &command_unique,     &command_select,
    &command_shuf,    &command_stats,   &command_quantile,   &command_hist,
    &command_reduce,  &command_scan,    &command_gen,        &command_check,
    &command_gf2,     &command_matrix,  &command_matmul,     &command_solve,
    &command_explain, &command_bench,   &command_profile,    &command_emulate,
    &command_ladder,  &command_info,    &command_completion, NULL
};

enum { MOST_COMMANDS = 32 };

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
          "or\nthe CPU\n\n",
          to);
    cli_print_heading(to, "Usage:");
    fputs("  echelon COMMAND [OPTION]... [OPERAND]...\n\n", to);
    cli_print_heading(to, "Examples:");
    fputs("  echelon sort data.npy -o sorted.npy     sort a NumPy array\n"
          "  echelon sort column.txt                 sort lines by the number on each line\n"
          "  echelon stats -k price goods.csv        statistics of one column of a table\n"
          "  echelon hist data.npy                   a histogram\n"
          "  echelon select '>=0' data.npy -o positive.npy\n"
          "  echelon gen uniform -N 100M --type f32 -o data.npy\n"
          "  echelon gf2 info --rank H.alist         properties of a matrix over GF(2)\n"
          "  echelon solve A.mtx b.mtx -o x.mtx      solve A x = b\n\n",
          to);
    cli_print_heading(to, "Commands:");
    for (int i = 0; cli_commands[i]; i++)
        fprintf(to, "  %s%-10s%s %s\n", cli_style(to, CLI_OPTION), cli_commands[i]->name,
                cli_style(to, CLI_PLAIN), cli_commands[i]->summary);
    fprintf(to, "  %s%-10s%s %s\n\n", cli_style(to, CLI_OPTION), "help", cli_style(to, CLI_PLAIN),
            "print the help of a command");
    fputs("echelon COMMAND --help and echelon help COMMAND print the help of a command.\n"
          "echelon --version prints the version.  Manual pages: man echelon, man echelon-sort, and "
          "so\non.\n",
          to);
}

static void print_version(void)
{
    printf("echelon %s\n"
           "License Apache-2.0: <https://www.apache.org/licenses/LICENSE-2.0>\n"
           "This is free software: you are free to change and redistribute it.\n"
           "There is NO WARRANTY, to the extent permitted by law.\n",
           ech_version());
}

static int run_command(const struct command *command, int argc, char **argv)
{
    int count;
    struct cli_common common;
    cli_command = command->name;
    /* No more operands than arguments. */
    char **operands = malloc(((size_t)argc + 1) * sizeof *operands);
    if (!operands) return cli_fail(EXIT_MEMORY, "out of memory for %d arguments", argc);
    int code = cli_parse(command, argc, argv, operands, &count, &common);
    if (code != EXIT_DONE) {
        free(operands);
        return code;
    }
    if (common.help)
        cli_print_help(command);
    else if (common.version)
        print_version();
    else
        code = command->run(count, operands);
    free(operands);
    return code;
}

/* "echelon" without a subcommand and "echelon help" have only the common options. */
static const struct option no_options[] = { { 0, NULL, NULL, NULL, NULL } };

/* echelon --version, echelon --color=never --help and so on. */
static int run_without_command(int argc, char **argv)
{
    static const struct command command = { .name = "", .options = no_options };
    const char *const word = argv[0];
    char *operands[1];
    int count;
    struct cli_common common;
    if (strcmp(word, "--help") != 0 && strcmp(word, "--version") != 0 &&
        strncmp(word, "--color", strlen("--color")) != 0)
        return cli_fail(EXIT_BAD,
                        "unknown option %s before the command; options follow the command: echelon "
                        "COMMAND [OPTION]...; see echelon --help",
                        word);
    const int code = cli_parse(&command, argc, argv, operands, &count, &common);
    if (code != EXIT_DONE) return code;
    if (common.version && !common.help)
        print_version();
    else
        print_overview(common.help ? stdout : stderr);
    return common.help || common.version ? EXIT_DONE : EXIT_BAD;
}

static int run_help(int argc, char **argv)
{
    static const struct command command = { .name = "help",
                                            .options = no_options,
                                            .most_operands = 1 };
    char *operands[1];
    int count;
    struct cli_common common;
    const int code = cli_parse(&command, argc, argv, operands, &count, &common);
    if (code != EXIT_DONE) return code;
    if (!count || strcmp(operands[0], "help") == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    const struct command *of = find_command(operands[0]);
    if (!of) return EXIT_BAD;
    cli_print_help(of);
    return EXIT_DONE;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_BAD;
    }
    if (strcmp(argv[1], "help") == 0) return run_help(argc - 2, argv + 2);
    if (argv[1][0] == '-') return run_without_command(argc - 1, argv + 1);
    const struct command *command = find_command(argv[1]);
    return command ? run_command(command, argc - 2, argv + 2) : EXIT_BAD;
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
    /* Output may still be buffered, and writing it fails on a full disk.  An earlier write may have
     * failed; then errno is still that of this write. */
    const bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (failed && code == EXIT_DONE)
        code = cli_fail(EXIT_BAD, "standard output: cannot write: %s", strerror(errno));
    return code;
}
