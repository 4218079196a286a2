#!/bin/sh
# command_json.sh SOURCE BUILD - runs command_json.py, which checks the JSON of all subcommands.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2
. "$source/tests/lib.sh"

[ -x "$build/cli/echelon" ] || { skip "the command echelon is not in this build"; finish; }
command -v python3 >/dev/null || { skip "no python3"; finish; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
ECHELON_DEVICE=cpu LC_ALL=C python3 "$source/tests/command_json.py" "$build/cli/echelon"
