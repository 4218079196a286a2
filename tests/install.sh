#!/bin/sh
# install.sh SOURCE BUILD CC - installs into a temporary directory, moves it, and builds
# examples/sort.c with the installed library as a user would: with pkg-config, shared and static, and
# with find_package.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2 cc=$3
. "$source/tests/lib.sh"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
check "cmake --install works" cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$prefix" # no installed file may contain the prefix

libdir=$(dirname "$(find "$prefix" -name libechelon.so | head -n 1)")
sanitize=$(sed -n 's/^ECHELON_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
flags="-std=c11 -Wall -Wextra -Wpedantic -Werror ${sanitize:+-fsanitize=$sanitize}"
export ECHELON_DEVICE=cpu

# sorts PROGRAM: succeeds if it prints the four numbers of the example in order.
sorts() { [ "$("$@" 2>&1 | tr '\n' ' ')" = "-1 0 2.5 7 " ]; }

# ---- Installed files ----

version=$(sed -n 's/^#define ECH_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' "$source/include/echelon/base.h" | paste -sd.)
for file in include/echelon.h include/echelon/base.h "${libdir#"$prefix"/}/libechelon.so.$version"; do
    check "$file is installed" test -f "$prefix/$file"
done
soname=$(objdump -p "$libdir/libechelon.so" | awk '$1 == "SONAME" { print $2 }')
check "the soname has the minor version" test "$soname" = "libechelon.so.${version%.*}"
if [ -x "$prefix/bin/echelon" ]; then
    check "the installed command finds its library" "$prefix/bin/echelon" --version
else
    skip "the command echelon is not in this build"
fi

check "only headers are installed in include/" \
    sh -c "[ -z \"\$(find '$prefix/include' -type f ! -name '*.h')\" ]"
folder=$(sed -n 's/^ECHELON_PACK_FOLDER:STRING=//p' "$build/CMakeCache.txt")
if [ -f "$build/src/$folder/kernels.pack" ]; then
    check "the PTX of the kernels is installed" \
        cmp "$build/src/$folder/kernels.pack" "$libdir/$folder/kernels.pack"
fi
if [ -x "$prefix/bin/echelon" ]; then
    man=$(dirname "$(find "$prefix" -name echelon.1)")
    for page in echelon $("$prefix/bin/echelon" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/echelon-\1/p' |
        grep -v '^echelon-help$'); do
        check "the manual page $page.1 is installed" cmp "$source/cli/$page.1" "$man/$page.1"
    done
    [ -n "$sanitize" ] || check "the installed command does not contain the library" \
        test "$(wc -c <"$prefix/bin/echelon")" -lt 3000000
    mv "$libdir" "$libdir.away"
    check "it needs the library" sh -c "! '$prefix/bin/echelon' --version"
    mv "$libdir.away" "$libdir"
fi

# ---- Sizes ----

# With machine code for five architectures: 20 MB of library, 30 MB in total, without the static
# library and the SIMT emulator.
bytes=$(find "$prefix" -type f ! -name '*.a' ! -name '*simt*' ! -path '*/echelon/*.so' -exec cat {} + | wc -c)
if [ -z "$sanitize" ]; then
    check "the library has $(wc -c <"$libdir/libechelon.so") bytes: more than 20 MB" \
        test "$(wc -c <"$libdir/libechelon.so")" -le 20000000
    check "the installation has $bytes bytes: more than 30 MB" test "$bytes" -le 30000000
fi

if [ -f "$libdir/libechelon_simt.so" ] && [ -x "$prefix/bin/echelon" ] && [ -z "$sanitize" ]; then
    check "the installed command finds the SIMT emulator and its kernels" \
        sh -c "seq 300 -1 1 | '$prefix/bin/echelon' sort --device simt | '$prefix/bin/echelon' sort -c"
    printf '%s\n' '#include "ladder/ladder.cuh"' \
        '__global__ void k(element *out) { out[global_thread()] = 7; }' >"$work/k.cu"
    if command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null; then
        check "the installed command compiles and runs a kernel" \
            "$prefix/bin/echelon" emulate "$work/k.cu" --grid 2 --block 32 --arg out:u32:64
    else
        skip "echelon emulate: no C++ compiler"
    fi
else
    skip "the SIMT emulator is not in this build, or a sanitizer prevents its use"
fi

# ---- Exported symbols ----

exported=$(nm -D --defined-only "$libdir/libechelon.so" | awk '{ print $NF }')
others=$(echo "$exported" | grep -v '^ech_' | grep -vE '^(__asan|__odr_asan|__ubsan|__tsan|__msan)')
# mpi.h declares the function of libechelon_mpi.so.
declared=$(for header in "$source"/include/echelon/*.h; do [ "${header##*/}" = mpi.h ] || cat "$header"; done |
    sed -n 's/^ECH_API.*[ *]\(ech_[a-z0-9_]*\)(.*/\1/p' | sort -u)
check "only ech_ symbols are exported, not: $others" test -z "$others"
check "every declared function is exported, and nothing else" \
    test "$declared" = "$(echo "$exported" | grep '^ech_' | sort -u)"

# ---- pkg-config ----

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH="$libdir/pkgconfig"
    check "pkg-config knows the version" test "$(pkg-config --modversion echelon)" = "$version"
    # shellcheck disable=SC2046,SC2086  # lists of flags
    check "the example builds with the shared library" \
        $cc $flags "$source/examples/sort.c" -o "$work/shared" \
        $(pkg-config --cflags --libs echelon) "-Wl,-rpath,$libdir"
    check "the example sorts" sorts "$work/shared"
    if [ -f "$libdir/libechelon.a" ]; then
        private=$(pkg-config --static --libs echelon | sed 's/-lechelon//')
        # shellcheck disable=SC2046,SC2086
        check "the example builds with the static library" \
            $cc $flags "$source/examples/sort.c" -o "$work/static" \
            $(pkg-config --cflags echelon) "$libdir/libechelon.a" $private
        check "the static example sorts" sorts "$work/static"
        check "the static example does not need the shared library" sh -c "! ldd $work/static | grep echelon"
    else
        skip "the static library is not in this build (ECHELON_BUILD_STATIC)"
    fi
else
    skip "pkg-config: not installed on this machine"
fi

# ---- find_package ----

cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C)
add_compile_options(${sanitize:+-fsanitize=$sanitize})
add_link_options(${sanitize:+-fsanitize=$sanitize})
find_package(echelon 0.2 REQUIRED)
add_executable(by_shared $source/examples/sort.c)
target_link_libraries(by_shared PRIVATE echelon::echelon)
if(TARGET echelon::echelon_static)
  add_executable(by_static $source/examples/sort.c)
  target_link_libraries(by_static PRIVATE echelon::echelon_static)
endif()
END
check "find_package finds it" cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc"
check "the example builds with both targets" cmake --build "$work/build"
check "the example built with echelon::echelon sorts" sorts "$work/build/by_shared"
[ -f "$libdir/libechelon.a" ] &&
    check "the example built with echelon::echelon_static sorts" sorts "$work/build/by_static"

finish
