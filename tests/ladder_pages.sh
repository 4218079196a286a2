#!/bin/sh
# ladder_pages.sh SOURCE BUILD - runs the commands in the pages of the ladders. If a command needs a GPU, its output
# must be recorded in bench/results; tests/tree.sh compares it with the table of the page. Also checks that "make ladder"
# builds the modules of the emulator that the commands load.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 echelon=$2/cli/echelon
. "$source/tests/lib.sh"
[ -x "$echelon" ] || { skip "the pages of the ladders: this build has no command"; finish; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
PATH=$2/cli:$PATH
export ECHELON_SIMT_TALLY=$work/tally

for page in "$source"/docs/ladder/*.md; do
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >commands
    while read -r line; do
        case $line in
        "" | "#"*) ;;
        "echelon ladder "*" --try my_kernel.cu"*)
            # The reader's kernel: that of the rung, or of the first one.
            name=$(echo "$line" | awk '{ print $3 }')
            rung=$(echo "$line" | sed -n 's/.*--rung \([0-9]*\).*/\1/p')
            cp "$source/ladder/$name/${rung:-1}"_*.cu my_kernel.cu
            if command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null; then
                check "$(basename "$page"): $line" sh -c "$line"
            else
                skip "$(basename "$page"): $line: no C++ compiler"
            fi ;;
        "echelon ladder" | "echelon "*simt* | "echelon gen "* | cc\ * | ./*)
            check "$(basename "$page"): $line" sh -c "$line" ;;
        "echelon ladder "*)
            name=$(echo "$line" | awk '{ print $3 }')
            check "$(basename "$page"): the output of \"$line\" is not recorded" \
                grep -q "^$name," "$source/bench/results/ladder_gpu.csv" ;;
        *) fail "$(basename "$page"): cannot run \"$line\"" ;;
        esac
    done <commands
done

sed 's/\.so .*//' tally | grep -vx module | sort -u >loaded # "module": the reader's kernels
sort "$2/ladder/simt_modules.txt" >built
check "the pages load no module" test -s loaded
missing=$(comm -23 loaded built | tr '\n' ' ')
check "make ladder does not build $missing(ladder/CMakeLists.txt)" test -z "$missing"
finish
