#!/bin/sh
# ladder_code.sh SOURCE - tests bench/ladder_code.py: what it writes between markers, and what --check and --complete
# report.
# SPDX-License-Identifier: Apache-2.0
set -u
. "$1/tests/lib.sh"
tool=$1/bench/ladder_code.py
command -v python3 >/dev/null || { skip "the code in the pages of the ladders: python3 is not installed"; finish; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# reports WHAT TEXT ARGUMENTS...: the tool fails, and its output contains the text.
reports() {
    what=$1 text=$2
    shift 2
    if output=$(python3 "$tool" "$@" 2>&1); then fail "$what: no failure"
    elif printf '%s\n' "$output" | grep -qF -e "$text"; then pass
    else fail "$what: the output does not contain \"$text\""; printf '%s\n' "$output" | sed 's/^/    /'; fi
}

# The page of a ladder has its name. copy has five rungs.
links() { for file in "$1"/ladder/copy/[0-9]*.cu; do echo "[code](../../ladder/copy/${file##*/})"; done; }
links "$1" >links
begin='<!-- code:begin copy/1_one_thread.cu -->' end='<!-- code:end -->'
diff='<!-- code:diff copy/1_one_thread.cu copy/2_one_block.cu -->'

{ cat links; printf '%s\n' "$begin" "$end" "$diff" "$end"; } >copy.md
cp copy.md empty.md
reports "a page without the code is stale" "differs from the code" --check copy.md
check "the tool writes the code" python3 "$tool" copy.md
check "a page with the code is up to date" python3 "$tool" --check copy.md
check "the kernel is in the page" grep -q '^extern "C" __global__ void copy_1(' copy.md
check "the difference is in the page" grep -q '^+extern "C" __global__ void copy_2(' copy.md
check "the blocks name their languages" test "$(grep -cE '^```(cuda|diff)$' copy.md)" -eq 2
check "the page has no head comment" sh -c '! grep -qE "SPDX|Idea:|#include" copy.md'
cp copy.md before.md
python3 "$tool" copy.md
check "a second run changes nothing" cmp copy.md before.md
sed -i 's/copy_1/copy_one/' copy.md
reports "an edited kernel is stale" "differs from the code" --check copy.md

reports "a rung without code" "does not show the code of copy/3_chunks.cu" --complete before.md copy.md
grep -v 3_chunks before.md >copy.md
reports "a rung without a link" "has no link to ../../ladder/copy/3_chunks.cu" --check copy.md
{ cat links; for file in "$1"/ladder/copy/[0-9]*.cu; do
    printf '%s\n' "<!-- code:begin copy/${file##*/} -->" "$end"
done; } >copy.md
python3 "$tool" copy.md
check "a page with the code of all rungs is complete" python3 "$tool" --complete copy.md

echo '| [warp](warp.md) | topic | rank |' >README.md
reports "an index with other pages to read before" 'names "rank" before warp, but warp.md names "copy"' \
    --complete README.md
echo '| [warp](warp.md) | topic | copy |' >README.md
check "an index with the pages to read before" python3 "$tool" --complete README.md

printf '%s\n' "<!-- code:from all -->" "$end" >sources.md
python3 "$tool" sources.md
check "every rung has a source" test "$(grep -c '^| \[' sources.md)" -eq "$(ls "$1"/ladder/*/[0-9]*.cu | wc -l)"
check "the source of a rung" grep -qF '| [copy 1](../../ladder/copy/1_one_thread.cu) | what a C' sources.md

printf '%s\n' "$begin" >copy.md
reports "a marker without an end" "has no counterpart" --check copy.md
printf '%s\n' "$begin" "$diff" "$end" "$end" >copy.md
reports "a marker within a marker" "has no counterpart" --check copy.md
printf '%s\n' "<!-- code:begin copy/9_none.cu -->" "$end" >copy.md
reports "a file that does not exist" "ladder/copy/9_none.cu does not exist" copy.md
printf '%s\n' "<!-- code:diff copy/1_one_thread.cu -->" "$end" >copy.md
reports "a difference of one file" "must name two files" copy.md
printf '%s\n' "<!-- code:diff copy/1_one_thread.cu copy/1_one_thread.cu -->" "$end" >copy.md
reports "a file compared with itself" "do not differ" copy.md
finish
