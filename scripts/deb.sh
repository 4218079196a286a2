#!/bin/sh
# deb.sh [OUT_DIR] - builds the Debian packages libechelon0.2, libechelon-dev and echelon; the default is build/deb.
#
# It copies the tracked files to a temporary folder, adds packaging/debian as debian/, with a changelog for the version
# of the header, and runs dpkg-buildpackage and lintian there. The kernels are those of the preset "release".
#
#   ECHELON_CUDA_ARCHS="90"   kernels for these compute capabilities only; "none": for the CPU only
#   DEBFULLNAME, DEBEMAIL     the maintainer, instead of the entry of packaging/debian/control
#   SOURCE_DATE_EPOCH         the time of the changelog, instead of that of the last commit
#
# Needs: apt-get install build-essential debhelper devscripts lintian ninja-build cmake liblzma-dev libzstd-dev xz-utils zlib1g-dev
#
# SPDX-License-Identifier: Apache-2.0
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$source/build/deb}
case $out in /*) ;; *) out=$PWD/$out ;; esac
for tool in dpkg-buildpackage dh lintian; do
    command -v $tool >/dev/null || {
        echo "deb.sh: $tool is not installed: apt-get install build-essential debhelper devscripts lintian" >&2
        exit 1
    }
done

version=$("$source/scripts/version.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/echelon-$version
mkdir "$tree"
"$source/scripts/dist.sh" --copy "$tree"
cp -R "$source/packaging/debian" "$tree/debian"

if [ -n "${DEBFULLNAME:-}" ] && [ -n "${DEBEMAIL:-}" ]; then
    maintainer="$DEBFULLNAME <$DEBEMAIL>"
    sed -i "s|^Maintainer: .*|Maintainer: $maintainer|" "$tree/debian/control"
else
    maintainer=$(sed -n 's/^Maintainer: //p' "$tree/debian/control")
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
# A revision that begins with 0 is older than a package of Debian itself, whose first revision is 1.
cat >"$tree/debian/changelog" <<END
echelon ($version-0echelon1) unstable; urgency=medium

  * Version $version. CHANGELOG.md lists the changes.

 -- $maintainer  $(LC_ALL=C date -R -u -d "@$SOURCE_DATE_EPOCH")
END

cd "$tree"
mkdir -p "$out"
rm -f "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo
echo "Building in $tree; the output is in $out/build.log"
dpkg-buildpackage -b -us -uc >"$out/build.log" 2>&1 || { tail -n 30 "$out/build.log" >&2; exit 1; }
sed -n 's/^echelon: //p' "$out/build.log"
mv "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$out"
cd "$out"
lintian --allow-root --fail-on error,warning ./*.changes
ls -l ./*.deb
