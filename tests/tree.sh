#!/bin/sh
# tree.sh SOURCE - checks the rules of CONVENTIONS.md that a program can check: one folder per operation, sizes of
# files, columns, head comments, format, words, links, the example in README.md, and the files and functions that pages for
# contributors name.
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
        check "no benchmark calls $call()" grep -rqw "$call" bench
        for program in $(echo "$benchmark" | tr + ' '); do
            needed="$needed bench/gpu_$program.cu"
            for results in bench/results/h200_*_"$program".csv; do
                [ ! -f "$results" ] || needed="$needed docs/performance/$folder.md"
            done
        done
    fi
    for file in $needed; do check "operation $1 lacks $file" test -f "$file"; done
    check "echelon.h lacks $call()" grep -q " $call(ech_ctx" -r include
done

for page in cli/echelon-*.1; do
    name=${page#cli/echelon-}
    check "mkdocs.yml lacks command/${name%.1}.md" grep -q ": command/${name%.1}.md$" mkdocs.yml
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

# These pages must name existing files and functions. A file is named by its path from the root, src or the page.
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
check "a page names a file or function that does not exist: $missing" test -z "$missing"

# ---- Every file ----

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    files=$(git ls-files --cached --others --exclude-standard)
else
    files=$(find . -name 'build*' -prune -o -name .git -prune -o -type f -print | sed 's|^\./||')
    for cache in $(find . -name CMakeCache.txt); do # a build directory of any name
        files=$(echo "$files" | grep -v "^$(dirname "${cache#./}")/")
    done
fi
# git also lists a file that is deleted without a commit.
files=$(for file in $files; do [ -f "$file" ] && echo "$file"; done)
sources=$(echo "$files" | grep -E '\.(c|h|cu|cuh|def)$')
texts=$(echo "$files" | grep -vE '\.(npy|bin|pbm|png|svg|gz)$|^LICENSE$|^bench/results/')

# none WHAT PATTERN FILES...: fails with the name WHAT if a line of the files matches PATTERN.
none() {
    what=$1 pattern=$2
    shift 2
    found=$(grep -nE "$pattern" "$@" /dev/null)
    if [ -z "$found" ]; then pass; else fail "$what"; echo "$found" | head -n 10 | sed 's/^/    /'; fi
}

# shellcheck disable=SC2086  # lists of names without blanks
{
    none "a path of a private machine" '(^|[^[:alnum:]._])/(home|Users)/[a-z]' \
        $(echo "$texts" | grep -v '^tests/tree.sh$')
    none "a TODO or FIXME without an issue number" '(TODO|FIXME)([^(]|$)' \
        $(echo "$texts" | grep -vE '^(tests/tree.sh|CONVENTIONS.md)$')
    none "code disabled by #if 0" '^#[[:space:]]*if 0' $sources
    none "a conflict marker of git" '^(<<<<<<<|>>>>>>>) ' $(git ls-files)
    none "a line of more than 100 columns" '^.{101}' $(echo "$sources" | grep -v '\.def$')
    none "a line of more than 120 columns in python/" '^.{121}' $(echo "$texts" | grep -E '^python/.*\.pyi?$')
    none "blanks at the end of a line" '[[:blank:]]$' $(echo "$texts" | grep -vE '\.(md|out|txt)$')
    none "a tab" "$(printf '\t')" $sources
    none "an include with ../ (the include roots are src/ and the project)" \
        '^#[[:space:]]*include "[^"]*\.\./' $sources
}
# The head and the length of each file, by one process for all files: a line of text is a failure.
# shellcheck disable=SC2086
faults=$(awk -v most=600 '
    function end_file() {
        if (name && !named) print "the head of " name " does not contain \047 " path " - \047"
        if (name && !head) print name " does not begin with a sentence that states what it is"
        if (name && lines > most) print name " has " lines " lines, more than " most
    }
    FNR == 1 {
        end_file()
        name = path = FILENAME
        named = !sub(/^src\//, "", path) # only these contain their path
        head = /^\/\*.* - /
    }
    FNR == 2 && / - / { head = 1 }
    FNR <= 3 && index($0, " " path " - ") { named = 1 }
    { lines = FNR }
    END { end_file() }' $sources)
if [ -z "$faults" ]; then
    passed=$((passed + $(echo "$sources" | wc -l)))
else
    echo "$faults" | sed 's/^/FAIL /'
    failed=$((failed + $(echo "$faults" | wc -l)))
fi

# ---- Format ----

# The output of clang-format depends on its version; Debian 12 has version 14.
if clang-format --version 2>/dev/null | grep -q 'version 14'; then
    formatted=$(echo "$sources" | grep -E '\.(c|h|cu|cuh)$')
    # shellcheck disable=SC2086
    check "clang-format would change a file (make format)" clang-format --dry-run --Werror $formatted
else
    skip "the format: clang-format 14 is not installed"
fi

# ---- Words ----

if command -v python3 >/dev/null; then
    # shellcheck disable=SC2046  # lists of names without blanks
    {
        check "tests/words.py misses an example of tests/words.txt, or finds more" python3 tests/words.py --test
        check "a text has a word that docs/glossary.md replaces" python3 tests/words.py $(echo "$files" |
            grep -vE '^(bench/results|tests/fuzz/corpus)/' |
            grep -E -e '\.(md|1|c|h|cuh?|cpp|hpp|def|rs|go|jl|f90|sh|py|cmake|in|svg)$|(^|/)(CMakeLists|instances|ladders)\.txt$' \
                -e '(^|/)(Makefile|CMakePresets\.json|CITATION\.cff|\.clang-tidy|\.editorconfig|run|pre-commit)$')
    }
else
    skip "the words: python3 is not installed"
fi

# ---- Texts that must agree ----

awk '/^```c$/ && !done { on = 1; next } /^```$/ { if (on) done = 1; on = 0 } on' README.md \
    >"${TMPDIR:-/tmp}/tree.$$.c"
check "the first program in README.md is examples/sort.c" \
    diff examples/sort.c "${TMPDIR:-/tmp}/tree.$$.c"
rm -f "${TMPDIR:-/tmp}/tree.$$.c"
check "the first program begins within the first 30 lines of README.md" \
    sh -c "awk '/^\`\`\`c/ { print NR; exit }' README.md | xargs -I{} test {} -le 30"
check "README.md has make demo and make check" grep -q 'make check' README.md
version=$(sed -n 's/^#define ECH_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' include/echelon/base.h | paste -sd.)
check "CHANGELOG.md has version $version" grep -q "^## $version" CHANGELOG.md
if command -v python3 >/dev/null; then
    # shellcheck disable=SC2086
    check "the tables are those of bench/results" \
        python3 bench/table.py --check $(echo "$files" | grep '\.md$')
    # shellcheck disable=SC2086
    for map in grid_cpu grid_gpu; do
        check "the heat maps of $map are those of bench/results" python3 bench/grid/picture.py "bench/results/$map.csv" \
            --check --svg "docs/performance/$map.svg" --detail "docs/performance/${map}_detail.svg" \
            --red "bench/results/${map}_red.csv"
    done
    check "the heat map of the H100 is that of bench/results" python3 bench/grid/picture.py \
        bench/results/h100_2026-11-28_grid.csv --check --svg docs/performance/grid_gpu_h100.svg \
        --red bench/results/h100_2026-11-28_grid_red.csv
    check "the charts are those of bench/results" python3 bench/chart.py --check \
        docs/performance/h200.svg docs/performance/gf2.svg docs/performance/sort.svg \
        docs/performance/family.svg docs/performance/scale.svg
    check "the tables of several GPUs are those of bench/results" \
        python3 bench/scale_tables.py --check docs/performance/scale.md
    # shellcheck disable=SC2046
    check "the tables of strategies are those of the source" python3 scripts/strategies.py --check \
        $(for operation in sort histogram select scan reduce matmul gf2 sparse quantile; do
            echo docs/$operation.md
        done)
    check "the tables on the emulator are those of bench/results" \
        python3 bench/truth_table.py --check $(echo "$files" | grep '\.md$')
    # shellcheck disable=SC2086
    check "the tables of the ladders are those of bench/results" \
        python3 bench/ladder_table.py --check $(echo "$files" | grep '\.md$')
    check "a page of the ladders differs from the code, or lacks a rung (bench/ladder_code.py)" \
        python3 bench/ladder_code.py --complete docs/ladder/*.md
    for name in $(sed -n 's/^\([a-z][a-z0-9_]*\) .*/\1/p' ladder/ladders.txt); do
        check "docs/ladder/$name.md is missing" test -f "docs/ladder/$name.md"
        check "docs/ladder/README.md does not list $name" grep -q "^| \[$name\]($name.md) |" docs/ladder/README.md
    done
    check "the pictures of the ladders are those that their script draws" \
        python3 docs/ladder/pictures/draw.py --check
    check "no headers include each other (scripts/include_cycles.py)" \
        python3 scripts/include_cycles.py
    # shellcheck disable=SC2046
    check "a link is dead, or mkdocs.yml lacks a page (tests/links.py)" \
        python3 tests/links.py $(echo "$files" | grep '\.md$')
else
    skip "the tables: python3 is not installed"
fi

finish
