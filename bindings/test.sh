#!/bin/sh
# test.sh SOURCE BUILD LANGUAGE - builds and tests the binding of one language with the library of a build directory:
# its tests, and the example, which prints bindings/example.out and reports an error for a device that does not exist.
#
# What it builds, and caches of compilers, are in BUILD/bindings/LANGUAGE. A missing compiler is a skip. The examples run
# on the device that ECHELON_DEVICE names, by default the CPU.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) language=$3
. "$source/tests/lib.sh"

folder=$source/bindings/$language
work=$build/bindings/$language
mkdir -p "$work" || exit 1
libraries=$build/src
export ECHELON_DEVICE="${ECHELON_DEVICE:-cpu}" LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# needs TOOL: fails, and counts a skip, if the tool is not installed.
needs() { command -v "$1" >/dev/null || { skip "bindings/$language: $1 is not installed"; return 1; }; }

# numbers PASSED FAILED SKIPPED WHAT STATUS: adds the results of a test program that ended with this status.
numbers() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    if [ "$1" -eq 0 ]; then fail "$4 has no results"; fi
    if [ "$5" -ne 0 ] && [ "$2" -eq 0 ]; then fail "$4 ended with status $5"; fi
}

# program WHAT COMMAND...: runs a test whose last line is "N passed, N failed, N skipped".
program() {
    name=$1
    shift
    output=$("$@" 2>&1)
    status=$?
    counts=$(printf '%s\n' "$output" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
    # shellcheck disable=SC2086  # three numbers
    numbers ${counts:-0 0 0} "$name" $status
    [ $status -eq 0 ] || printf '%s\n' "$output"
}

# example COMMAND...: it prints the expected text, and the library's message if there is no such device.
example() {
    # shellcheck disable=SC2016  # a program
    check "the example of $language prints other text than bindings/example.out" \
        sh -c '"$@" | diff - "$0"' "$source/bindings/example.out" "$@"
    message=$("$@" nosuch 2>&1)
    status=$?
    check "the example of $language ends with status $status for a device that does not exist" test $status -eq 1
    case $message in
    *'device is "nosuch", which is not'*) pass ;;
    *) fail "the message of the library is missing: $message" ;;
    esac
}

# first_program LANGUAGE FILE: writes the first block of code in this language of README.md to a file.
first_program() {
    awk -v begin="\`\`\`$1" '$0 == begin && !done { on = 1; next } /^```$/ { if (on) done = 1; on = 0 } on' \
        "$folder/README.md" >"$2"
    check "bindings/$language/README.md has a program" test -s "$2"
}

# With the cache of compilations that the build uses, if any.
launch=$(sed -n 's/^CMAKE_C_COMPILER_LAUNCHER:[A-Z]*=//p' "$build/CMakeCache.txt")

test_cpp() {
    warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror" one=
    for compiler in g++ clang++; do
        needs $compiler || continue
        echo 'int main() {}' >"$work/empty.cpp"
        if ! $compiler -std=c++20 "$work/empty.cpp" -o "$work/empty" 2>/dev/null; then
            skip "bindings/cpp: $compiler does not support -std=c++20"
            continue
        fi
        for name in example test; do
            # shellcheck disable=SC2086  # lists of flags, and a command with arguments
            check "$compiler compiles $name.cpp without warnings" $launch $compiler -std=c++20 $warnings \
                -I"$source/include" -c "$folder/$name.cpp" -o "$work/$name.o"
            check "$name.o links" $compiler "$work/$name.o" -L"$libraries" -lechelon -o "$work/$name"
        done
        program "cpp/test.cpp with $compiler" "$work/test"
        example "$work/example"
        one=$compiler
    done
    [ -n "$one" ] || return
    first_program cpp "$work/readme.cpp"
    # shellcheck disable=SC2086
    check "the program in README.md compiles" $launch $one -std=c++20 $warnings -I"$folder" -I"$source/include" \
        -c "$work/readme.cpp" -o "$work/readme.o"
    check "it links" "$one" "$work/readme.o" -L"$libraries" -lechelon -o "$work/readme"
    check "it prints other numbers" test "$("$work/readme")" = "-1 1 8.5"
}

test_fortran() {
    needs gfortran || return
    # Sums and sorted values are compared exactly.
    flags="-std=f2018 -Wall -Wextra -Wpedantic -Wno-compare-reals -Werror"
    for name in example test; do
        # shellcheck disable=SC2086  # a list of flags
        check "gfortran compiles $name.f90 without warnings" gfortran $flags -J"$work" "$folder/echelon_c.f90" \
            "$folder/echelon.f90" "$folder/$name.f90" -L"$libraries" -lechelon -o "$work/$name"
    done
    program "fortran/test.f90" "$work/test"
    example "$work/example"
    first_program fortran "$work/readme.f90"
    check "the program in README.md compiles" gfortran -std=f2018 -J"$work" "$folder/echelon_c.f90" \
        "$folder/echelon.f90" "$work/readme.f90" -L"$libraries" -lechelon -o "$work/readme"
    # shellcheck disable=SC2016
    check "it prints the sorted numbers" sh -c '"$0" | grep -q "^ *-1\.0* *2\.50* *7\.0* *2 *1 *3 *$"' "$work/readme"
}

test_go() {
    needs go && needs pkg-config && needs gcc || return
    if ! go version | awk '{ split(substr($3, 3), v, "."); exit !(v[1] > 1 || v[2] >= 19) }'; then
        skip "bindings/go: $(go version) is older than 1.19"
        return
    fi
    printf '%s\n' "Name: echelon" "Description: the library of a build directory" "Version: 0" \
        "Cflags: -I$source/include" "Libs: -L$libraries -lechelon" >"$work/echelon.pc"
    export PKG_CONFIG_PATH="$work" GOCACHE="$work/cache" GOPATH="$work/path" GOPROXY=off GOTOOLCHAIN=local
    export GOFLAGS="-mod=readonly -buildvcs=false" CGO_ENABLED=1
    cd "$folder" || exit 1
    if command -v gofmt >/dev/null; then
        # shellcheck disable=SC2016
        check "gofmt would change a file" sh -c 'test -z "$(gofmt -l .)"'
    else
        skip "bindings/go: gofmt is not installed"
    fi
    check "go vet reports a problem" go vet ./...
    output=$(go test -count=1 -v . 2>&1)
    status=$?
    numbers "$(printf '%s\n' "$output" | grep -c '^--- PASS')" "$(printf '%s\n' "$output" | grep -c '^--- FAIL')" 0 \
        "go test" $status
    [ $status -eq 0 ] || printf '%s\n' "$output"
    check "the example of go builds" go build -o "$work/example" ./example
    example "$work/example"
}

test_julia() {
    needs julia || return
    export ECHELON_LIBRARY="$libraries/libechelon.so"
    # Without optimisation the tests need half the time.
    program "julia/test.jl" julia --startup-file=no -O0 "$folder/test.jl"
    example julia --startup-file=no -O0 "$folder/example.jl"
    first_program julia "$work/readme.jl"
    echo 'keys == [-1, 2.5, 7] && values == [2, 1, 3] || error("not sorted")' >>"$work/readme.jl"
    check "the program in README.md fails" julia --startup-file=no -O0 -e \
        'cd(ARGS[1]); include_string(Main, read(ARGS[2], String))' "$folder" "$work/readme.jl"
}

test_rust() {
    needs cargo && needs rustc || return
    export CARGO_TARGET_DIR="$work/target" ECHELON_LIB_DIR="$libraries" CARGO_INCREMENTAL=0 RUSTFLAGS=-Dwarnings
    # cargo writes Cargo.lock into the crate. Times of files are kept: cargo compiles only what changed.
    rm -rf "$work/crate"
    cp -Rp "$folder" "$work/crate" && cd "$work/crate" || exit 1
    output=$(cargo test --offline -- --nocapture 2>&1)
    status=$?
    counts=$(printf '%s\n' "$output" |
        awk '/^test result:/ { passed += $4; failed += $6 } END { print passed + 0, failed + 0 }')
    missing=$(printf '%s\n' "$output" | sed -n 's/^SKIPPED \([a-z]*\): .*/\1/p')
    # shellcheck disable=SC2086  # two numbers, names of devices
    {
        set -- $counts
        numbers $(($1 - $(echo $missing | wc -w))) "$2" 0 "cargo test" $status
        for device in $missing; do skip "bindings/rust: device memory: the device $device is not available"; done
    }
    [ $status -eq 0 ] || printf '%s\n' "$output"
    check "the example of rust builds" cargo build --offline --example orders
    example "$work/target/debug/examples/orders"
    if cargo fmt --version >/dev/null 2>&1; then
        check "cargo fmt would change a file" cargo fmt --check
    else
        skip "bindings/rust: rustfmt is not installed"
    fi
}

case $language in
cpp | fortran | go | julia | rust) "test_$language" ;;
*) echo "test.sh: no binding for $language" >&2; exit 2 ;;
esac
finish
