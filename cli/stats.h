/*
 * stats.h - shared by the files of "echelon stats".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_STATS_H
#define ECHELON_CLI_STATS_H

#include "table.h"

/* Prints the statistics of strings, whose ranks are the keys of job->column. */
int stats_of_strings(struct job *job, const struct table_column *column, bool json);

#endif
