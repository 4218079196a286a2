/*
 * executor.h - the functions of simt/simt.h, of the executor that the library has opened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_EXECUTOR_H
#define ECHELON_CLI_EXECUTOR_H

#include "simt/simt.h"

struct executor {
    bool (*set_options)(const char *text, char *message, size_t message_bytes);
    const char *(*fault_name)(enum simt_fault fault);
    size_t (*findings)(const struct simt_finding **findings);
    size_t (*profile)(const struct simt_kernel_counts **kernels);
    void (*forget)(void);
};

/* To be called while a context of the device "simt" is open.  EXIT_DONE, or an exit code after its
 * message. */
int cli_find_executor(struct executor *executor);

#endif
