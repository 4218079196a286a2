/* cpu/dispatch.c - the only file that asks the processor what it can do.  SPDX-License-Identifier:
 * Apache-2.0 */
#include "cpu.h"
#include <stdio.h>
void echi_cpu_features(char *text, size_t capacity_bytes)
{
    snprintf(text, capacity_bytes, "portable C");
}
