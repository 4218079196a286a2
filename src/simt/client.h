/*
 * simt/client.h - the functions of simt.h, in the SIMT emulator that the library has opened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_CLIENT_H
#define SIMT_CLIENT_H

#include "simt/simt.h"

struct emulator {
    bool (*set_options)(const char *text, char *message, size_t message_bytes);
    const char *(*fault_name)(enum simt_fault fault);
    size_t (*findings)(const struct simt_finding **findings);
    size_t (*profile)(const struct simt_kernel_counts **kernels);
    void (*forget)(void);
    bool (*record)(uint64_t block, size_t most);
    size_t (*recorded)(const struct simt_event **events, bool *truncated);
};

/* Must be called while a context of the device "simt" is open. False, with a message. */
bool simt_find_emulator(struct emulator *emulator, char *message, size_t message_bytes);

#endif
