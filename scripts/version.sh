#!/bin/sh
# version.sh - prints the version, which include/echelon/base.h defines.
# SPDX-License-Identifier: Apache-2.0
set -eu
sed -n 's/^#define ECH_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' "$(dirname "$0")/../include/echelon/base.h" | paste -sd.
