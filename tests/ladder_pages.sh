#!/bin/sh
# ladder_pages.sh SOURCE BUILD - walks the ladder's pages: every command in them runs, where it needs no GPU;
# of the others the output is recorded, and the page's table is that (tests/tree.sh).
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 echelon=$2/cli/echelon
. "$source/tests/lib.sh"
[ -x "$echelon" ] || { skip "the ladder's pages: no command in this build"; finish; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
PATH=$2/cli:$PATH

for page in "$source"/docs/ladder/*.md; do
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >commands
    while read -r line; do
        case $line in
        "" | "#"*) ;;
        "echelon ladder" | "echelon "*simt* | "echelon gen "* | cc\ * | ./*)
            check "$(basename "$page"): $line" sh -c "$line" ;;
        "echelon ladder "*)
            name=$(echo "$line" | awk '{ print $3 }')
            check "$(basename "$page"): the output of \"$line\" is not recorded" \
                grep -q "^$name," "$source/bench/results/ladder_h200.csv" ;;
        *) fail "$(basename "$page"): cannot tell how to run \"$line\"" ;;
        esac
    done <commands
done
finish
