#!/bin/sh
# tree.sh SOURCE - the rules of CONVENTIONS.md that a machine can check: one folder an operation, sizes of
# files, columns, head comments, format, that README says what examples do, that pages for
# contributors name what exists, and that no link is dead.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$1" || exit 1
. tests/lib.sh

# ---- One operation, one folder ----

# name,folder,call,command,test+test,benchmark
rows=$(sed -n 's/^OPERATION(\(.*\))$/\1/p' src/operations.def | sed 's/"//g; s/, */,/g; s/ /+/g')
# shellcheck disable=SC2016,SC2086  # a program; words
check "src/operations.def has rows of six columns" \
    sh -c 'for row; do case $row in *,*,*,*,*,*,*) exit 1 ;; *,*,*,*,*,*) ;; *) exit 1 ;; esac; done' - $rows
for row in $rows; do
    # shellcheck disable=SC2046  # six words
    set -- $(echo "$row" | tr , ' ')
    folder=$2 call=$3 command=$4 tests=$5 benchmark=$6
    needed="src/$folder/CMakeLists.txt docs/$folder.md"
    [ -z "$(find "src/$folder" -name '*.cu' 2>/dev/null)" ] || needed="$needed src/$folder/instances.txt"
    [ "$command" = none ] || needed="$needed cli/$command.c"
    [ "$tests" = none ] || for test in $(echo "$tests" | tr + ' '); do needed="$needed tests/test_$test.c"; done
    if [ "$benchmark" != none ]; then
        needed="$needed bench/gpu_$benchmark.cu"
        check "no benchmark calls $call()" grep -rqw "$call" bench
        for results in bench/results/h200_*_"$benchmark".csv; do
            [ ! -f "$results" ] || needed="$needed docs/performance/$folder.md"
        done
    fi
    for file in $needed; do check "operation $1 lacks $file" test -f "$file"; done
    check "echelon.h lacks $call()" grep -q " $call(ech_ctx" -r include
done

# ---- For contributors ----

for folder in src/*/; do
    check "${folder}README.md is missing" test -f "${folder}README.md"
done
for file in CONTRIBUTING.md .clang-tidy .editorconfig docs/contributing/testing.md \
    docs/contributing/adding-a-backend.md docs/contributing/adding-an-operation.md \
    docs/decisions/README.md; do
    check "$file is missing" test -f "$file"
done
for page in docs/decisions/0*.md; do
    check "docs/decisions/README.md does not list ${page##*/}" \
        grep -qF "(${page##*/})" docs/decisions/README.md
done

# Files and functions that these pages name; a file by its path from the root, from src or from the page.
pages=$(ls CONTRIBUTING.md src/*/README.md src/*/*/README.md docs/contributing/*.md docs/decisions/*.md)
# shellcheck disable=SC2086  # lists of names without blanks
{
    missing=$(for page in $pages; do
        for name in $(grep -oE '[<>a-z0-9_]+/[<>a-z0-9_/]*\.(c|h|cuh?|def|txt|cmake|sh|py)\b' "$page" | sort -u); do
            case $name in *'<'*) continue ;; esac # src/<operation>/...
            [ -e "$name" ] || [ -e "src/$name" ] || [ -e "${page%/*}/$name" ] || echo "$page: $name"
        done
    done)
    functions=$(mktemp)
    grep -rohE '\bechi?_[a-z0-9_]+' src include | sort -u >"$functions"
    missing=$missing$(grep -ohE '\bechi?_[a-z0-9_]+\(' $pages | tr -d '(' | sort -u | comm -23 - "$functions")
    rm -f "$functions"
}
check "a page names what does not exist: $missing" test -z "$missing"

# ---- Every file ----

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    files=$(git ls-files --cached --others --exclude-standard)
else
    files=$(find . -name 'build*' -prune -o -name .git -prune -o -type f -print | sed 's|^\./||')
    for cache in $(find . -name CMakeCache.txt); do # a build directory of whatever name
        files=$(echo "$files" | grep -v "^$(dirname "${cache#./}")/")
    done
fi
# One that is deleted but not yet committed is still listed.
files=$(for file in $files; do [ -f "$file" ] && echo "$file"; done)
sources=$(echo "$files" | grep -E '\.(c|h|cu|cuh|def)$')
texts=$(echo "$files" | grep -vE '\.(npy|bin|pbm|png|svg|gz)$|^LICENSE$|^bench/results/')

# none "what it proves" PATTERN FILES...: no line of the files has the pattern.
none() {
    what=$1 pattern=$2
    shift 2
    found=$(grep -nE "$pattern" "$@" /dev/null)
    if [ -z "$found" ]; then pass; else fail "$what"; echo "$found" | head -n 10 | sed 's/^/    /'; fi
}

# shellcheck disable=SC2086  # lists of names without blanks
{
    none "a path of someone's own machine" '(^|[^[:alnum:]._])/(home|Users)/[a-z]' \
        $(echo "$texts" | grep -v '^tests/tree.sh$')
    none "a TODO or FIXME without the number of an issue" '(TODO|FIXME)([^(]|$)' \
        $(echo "$texts" | grep -vE '^(tests/tree.sh|CONVENTIONS.md)$')
    none "code that is switched off" '^#[[:space:]]*if 0' $sources
    none "a conflict marker of git" '^(<<<<<<<|>>>>>>>) ' $(git ls-files)
    none "a line of more than 100 columns" '^.{101}' $(echo "$sources" | grep -v '\.def$')
    none "blanks at the end of a line" '[[:blank:]]$' $(echo "$texts" | grep -vE '\.(md|out|txt)$')
    none "a tab" "$(printf '\t')" $sources
    none "an include that leaves its folder by ../ (the roots are src/ and the project)" \
        '^#[[:space:]]*include "[^"]*\.\./' $sources
}
for file in $sources; do
    case $file in src/*) # its first sentence names it by its path below src/
        check "$file is not called ${file#src/} in its head" \
            sh -c "head -n 3 '$file' | grep -qF ' ${file#src/} - '" ;;
    esac
    case $(head -n 1 "$file") in
    "/*"*" - "* | "/* "*" - "*) pass ;;
    *) if sed -n 2p "$file" | grep -q " - "; then pass
       else fail "$file does not open with a sentence on what it is"; fi ;;
    esac
    lines=$(wc -l <"$file")
    most=600
    if [ "$lines" -le $most ]; then pass; else fail "$file has $lines lines: more than one idea"; fi
done

# ---- Format ----

# Versions differ in what they write; the one of Debian 12 judges.
if clang-format --version 2>/dev/null | grep -q 'version 14'; then
    formatted=$(echo "$sources" | grep -E '\.(c|h|cu|cuh)$')
    # shellcheck disable=SC2086
    check "clang-format would change a file (make format)" clang-format --dry-run --Werror $formatted
else
    skip "the format: no clang-format 14 on this machine"
fi

# ---- Texts that must agree ----

awk '/^```c$/ && !done { on = 1; next } /^```$/ { if (on) done = 1; on = 0 } on' README.md \
    >"${TMPDIR:-/tmp}/tree.$$.c"
check "the first program in README.md is examples/sort.c" \
    diff examples/sort.c "${TMPDIR:-/tmp}/tree.$$.c"
rm -f "${TMPDIR:-/tmp}/tree.$$.c"
check "that program is within the first 30 lines" \
    sh -c "awk '/^\`\`\`c/ { print NR; exit }' README.md | xargs -I{} test {} -le 30"
check "README.md has make demo and make check" grep -q 'make check' README.md
version=$(sed -n 's/^#define ECH_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' include/echelon/base.h | paste -sd.)
check "CHANGELOG.md has version $version" grep -q "^## $version" CHANGELOG.md
if command -v python3 >/dev/null; then
    # shellcheck disable=SC2086
    check "the tables are those of bench/results" \
        python3 bench/table.py --check $(echo "$files" | grep '\.md$')
    # shellcheck disable=SC2086
    check "the charts are those of bench/results" python3 bench/chart.py --check \
        docs/performance/h200.svg docs/performance/gf2.svg docs/performance/sort.svg
    # shellcheck disable=SC2046
    check "the tables of strategies are those of the source" python3 scripts/strategies.py --check \
        $(for operation in sort histogram select scan reduce matmul gf2 sparse; do
            echo docs/$operation.md
        done)
    check "the tables about the SIMT emulator are those of bench/results" \
        python3 bench/truth_table.py --check $(echo "$files" | grep '\.md$')
    # shellcheck disable=SC2086
    check "the tables of the ladders are those of bench/results" \
        python3 bench/ladder_table.py --check $(echo "$files" | grep '\.md$')
    check "the pictures of the ladders are what their scripts draw" \
        python3 docs/ladder/pictures/draw.py --check
    check "no headers include each other (scripts/include_cycles.py)" \
        python3 scripts/include_cycles.py
    # shellcheck disable=SC2046
    check "a link is dead, or mkdocs.yml lacks a page (tests/links.py)" \
        python3 tests/links.py $(echo "$files" | grep '\.md$')
else
    skip "the tables: no python3 on this machine"
fi

finish
