#!/bin/sh
# packaging.sh SOURCE BUILD - checks the descriptions of packages in packaging/ against the project: versions, options of
# CMake, GPU architectures, the archive of the sources, and that each installed file belongs to one Debian package.
#
# It builds no package: packaging/README.md lists the tests that do.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2
. "$source/tests/lib.sh"
cd "$source" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
debian=packaging/debian

# ---- Versions ----

version=$(scripts/version.sh)
minor=${version%.*}
check "CITATION.cff has version $version" grep -qxF "version: \"$version\"" CITATION.cff
check "recipe.yaml has version $version" grep -qxF "  version: \"$version\"" packaging/conda/recipe.yaml
check "vcpkg.json has version $version" grep -qF "\"version\": \"$version\"" packaging/vcpkg/vcpkg.json
check "package.py has version $version" grep -qxF "    version(\"$version\")" packaging/spack/package.py
check "package.py names the archive of $version" grep -qF "/echelon-$version.tar.gz" packaging/spack/package.py
for file in control rules tests/control; do
    others=$(grep -noE '(libechelon|echelon-|libechelon\.so\.)[0-9]+\.[0-9]+' $debian/$file | grep -v "[^0-9]$minor\$")
    check "debian/$file names another version than $minor: $others" test -z "$others"
done
check "debian/control has the package libechelon$minor" grep -qxF "Package: libechelon$minor" $debian/control

# ---- Formats ----

if command -v python3 >/dev/null; then
    check "vcpkg.json is JSON" python3 -m json.tool packaging/vcpkg/vcpkg.json
    check "package.py is Python" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' packaging/spack/package.py
    if python3 -c 'import yaml' 2>/dev/null; then
        check "recipe.yaml is YAML" python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' \
            packaging/conda/recipe.yaml
    else
        skip "the format of recipe.yaml: Python has no yaml"
    fi
else
    skip "the formats of the recipes: python3 is not installed"
fi

# ---- Options and architectures ----

# ECHELON_DEVICE is a variable of the environment.
# shellcheck disable=SC2013  # words
for option in $(grep -rhoE 'ECHELON_[A-Z_]+' packaging --include=rules --include='*.cmake' --include='package.py' \
    --include='recipe.yaml' | grep -vx ECHELON_DEVICE | sort -u); do
    check "packaging/ uses $option, which CMake does not have" \
        sh -c "cat CMakeLists.txt cmake/*.cmake | tr '\n' ' ' | grep -qE '(option|set|find_program)\($option '"
done
archs=$(sed -n 's/.*"ECHELON_CUDA_ARCHS": "\(.*\)".*/\1/p' CMakePresets.json)
check "portfile.cmake has the architectures of the preset release: $archs" \
    grep -qF "ECHELON_CUDA_ARCHS=$(echo "$archs" | sed 's/;/\\;/g')\"" packaging/vcpkg/portfile.cmake
check "package.py has the architectures of the preset release: $archs" \
    grep -qF "release_archs = (\"$(echo "$archs" | sed 's/;/", "/g')\")" packaging/spack/package.py

# ---- Files ----

# Patterns of the Debian packages, one per line: PACKAGE PATTERN.
for list in "$debian"/*.install; do
    package=${list##*/}
    package=${package%.install}
    check "debian/control lacks the package $package" grep -qx "Package: $package" $debian/control
    sed -n "s/^\(usr[^ ]*\).*/$package \1/p" "$list"
done >"$work/patterns"
check "the build is installed" cmake --install "$build" --prefix "$work/usr"
libdir=$(dirname "$(cd "$work" && find usr -name libechelon.so)")
folder=$(sed -n 's/^ECHELON_PACK_FOLDER:STRING=//p' "$build/CMakeCache.txt")
(cd "$work" && find usr ! -type d) | sort >"$work/files"

# owners FILE: the packages that contain it. rules adds the packs; the preset release builds no emulator.
owners() {
    case $1 in
    "$libdir/$folder/kernels.pack") echo "libechelon$minor" && return ;;
    "$libdir/$folder/ladder.pack") echo echelon && return ;;
    "$libdir/libechelon_simt.so" | "$libdir"/echelon/*.so | "$libdir"/echelon/include/*) echo emulator && return ;;
    "$libdir"/*) set -- "usr/lib/triplet/${1#"$libdir"/}" ;;
    esac
    while read -r package pattern; do
        # shellcheck disable=SC2254  # patterns of the shell
        case $1 in $pattern | $pattern/*) echo "$package $pattern" ;; esac
    done <"$work/patterns"
}
while read -r file; do
    owners "$file" >"$work/owners"
    cat "$work/owners" >>"$work/used"
    if [ -f "$build/cli/echelon" ] || ! grep -q '^echelon ' "$work/owners"; then
        check "$file belongs to one Debian package, not to: $(tr '\n' ' ' <"$work/owners")" \
            test "$(wc -l <"$work/owners")" -eq 1
    fi
done <"$work/files"
while read -r package pattern; do
    case $pattern in
    */libechelon.a) [ -f "$work/$libdir/libechelon.a" ] || { skip "libechelon.a is not in this build"; continue; } ;;
    esac
    [ -f "$build/cli/echelon" ] || [ "$package" != echelon ] || { skip "no command in this build: $pattern"; continue; }
    check "$package: no installed file matches $pattern" grep -qxF "$package $pattern" "$work/used"
done <"$work/patterns"

# ---- Symbols ----

# The command of rules that writes the symbols file.
sed -n '/^# Exported symbols/,/^$/s/^ech_.*/ &@Base/p' include/abi.txt >"$work/symbols"
check "rules finds all symbols of include/abi.txt, not $(wc -l <"$work/symbols")" \
    test "$(wc -l <"$work/symbols")" -eq "$(nm -D --defined-only "$work/$libdir/libechelon.so" | grep -c ' ech_')"

# ---- The archive of the sources ----

export SOURCE_DATE_EPOCH=1700000000
mkdir "$work/again" "$work/copy"
check "dist.sh writes an archive" scripts/dist.sh "$work/one.tar.gz"
check "an archive of the same files has the same bytes" \
    sh -c "scripts/dist.sh '$work/two.tar.gz' && cmp '$work/one.tar.gz' '$work/two.tar.gz'"
check "the archive is unpacked to echelon-$version" \
    sh -c "tar -xzf '$work/one.tar.gz' -C '$work/again' && test -f '$work/again/echelon-$version/CMakePresets.json'"
check "dist.sh copies the same files" \
    sh -c "scripts/dist.sh --copy '$work/copy' && diff -r '$work/copy' '$work/again/echelon-$version'"
check "an archive that is made from the unpacked archive has the same files" \
    sh -c "'$work/again/echelon-$version/scripts/dist.sh' '$work/two.tar.gz' &&
           tar -tzf '$work/one.tar.gz' | grep -v '/\$' | sort >'$work/list1' &&
           tar -tzf '$work/two.tar.gz' | sort | diff '$work/list1' -"
check "the archive has no build folder" sh -c "! tar -tzf '$work/one.tar.gz' | grep -E '^[^/]*/build'"

finish
