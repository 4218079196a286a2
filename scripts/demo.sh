#!/bin/sh
# demo.sh BUILD_DIR - sorts an array with the command of the build, and checks the result with od, awk and sort.
#
#   N=4M       number of elements
#   DEVICE=    cpu or cuda; default: a GPU if there is one
#
# SPDX-License-Identifier: Apache-2.0
set -eu
PATH="$(cd "$1" && pwd)/cli:$PATH"
export LC_ALL=C
n=${N:-4M}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
heading() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || heading() { printf '\n%s\n' "$*"; }

heading "1. Create an array of $n 32-bit floats in the file format of NumPy"
echo "\$ echelon gen normal -N $n --type f32 -o data.npy"
cd "$work"
echelon gen normal -N "$n" --type f32 -o data.npy
ls -l data.npy | awk '{ printf "  data.npy, %.1f MB\n", $5 / 1e6 }'

heading "2. Sort"
echo "\$ echelon sort data.npy -o sorted.npy --timing"
echelon sort data.npy -o sorted.npy --timing ${DEVICE:+--device "$DEVICE"} 2>stats
sed 's/^/  /' stats

heading "3. Check without Echelon"
# A .npy file consists of a header, whose length is in its bytes 8 and 9, and the numbers.
numbers() { tail -c +$((11 + $(od -An -tu2 -j8 -N2 "$1"))) "$1"; }

echo "\$ od -t f4 sorted.npy | awk: is every number at least the one before?"
numbers sorted.npy | od -An -v -w4 -t f4 |
    awk 'NR > 1 && $1 + 0 < last { print "  NO: number " NR " is less than the one before"; bad = 1; exit 1 }
         { last = $1 + 0 }
         END { if (!bad) { printf "  yes, all %d are in order\n", NR; if (!NR) exit 1 } }'

echo "\$ od -t x4 FILE | sort | cksum: are they the same numbers, bit for bit?"
sum() { numbers "$1" | od -An -v -w4 -t x4 | sort -S 512M | cksum; }
before=$(sum data.npy)
after=$(sum sorted.npy)
if [ "$before" != "$after" ]; then
    echo "  NO: $before before, $after after"
    exit 1
fi
echo "  yes, the checksum of both is ${before%% *}"

heading "Done.  Next: echelon sort --help, examples/sort.c, README.md."
