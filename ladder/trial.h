/*
 * trial.h - the interface between ladder.c (the device) and measure.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_TRIAL_H
#define LADDER_TRIAL_H

#include "ladder.h"

void ladder_allocate(struct trial *trial, CUdeviceptr *at, size_t bytes); /* 0 bytes: none */
void ladder_release(struct trial *trial, CUdeviceptr *at);
void ladder_upload(struct trial *trial, CUdeviceptr to, const void *from, size_t bytes);
void ladder_fill(struct trial *trial, CUdeviceptr at, unsigned char byte, size_t bytes);
void ladder_wait(struct trial *trial);
/* Runs the rung with cold caches; returns the milliseconds between two events. */
double ladder_time(struct trial *trial);

#endif
