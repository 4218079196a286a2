/*
 * completion.h - shared by the files of "echelon completion".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_COMPLETION_H
#define ECHELON_CLI_COMPLETION_H

#include "cli.h"

enum { COMPLETION_WORDS = 1024, COMPLETION_TEXT = 128 };

/* What a shell can offer for a value. */
struct completion_value {
    enum { OFFER_NOTHING, OFFER_WORDS, OFFER_FILES, OFFER_DIRECTORIES } offer;
    char words[COMPLETION_WORDS]; /* of OFFER_WORDS, separated by blanks */
};
void completion_value(const struct command *command, const struct option *option,
                      struct completion_value *value);
/* The words that the first operand can be, separated by blanks; "" if it can be any file. */
void completion_operand(const struct command *command, char words[COMPLETION_WORDS]);
/* The beginning of a help text, as one line.  Characters of special are preceded by \. */
void completion_text(const char *help, const char *special, char text[COMPLETION_TEXT]);

/* Calls print for each option of the command and for each common one. */
void completion_each(const struct command *command,
                     void (*print)(const struct command *command, const struct option *option));

void completion_bash(void); /* completion_bash.c */
void completion_fish(void); /* completion_fish.c */
void completion_zsh(void);  /* completion_zsh.c */

#endif
