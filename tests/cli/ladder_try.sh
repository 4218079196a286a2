# The reader's kernels next to the rungs of a ladder.
needs_compiler
unset CXX
echelon ladder copy --device simt --rung 4 -N 10 >/dev/null 2>&1 || skip "no ladders"

kernel() {
    cat <<END
/* my "own" kernel */
#include "ladder/ladder.cuh"

extern "C" __global__ void ${1-copy_4}(const element *in, uint64_t n, element *out)
{
    uint64_t i = global_thread();
    ${2-if (i < n) out[i] = in[i];}
}
END
}
try() { code echelon ladder copy --try "$@" 2>err | sed 's/ [0-9.]*%/ N%/'; sed 's/0x[0-9a-f]*/0xN/' err; }

echo "a correct kernel"
kernel >mine.cu
try mine.cu --rung 4 --device simt -N 1000
try mine.cu --rung 4 -N 1000 --json | grep -o -E '"(idea|text|result)": "[^"]*"'
try mine.cu --rung 4 --csv -N 1000,50 | grep '^copy' | cut -d, -f 1-9
try mine.cu --rung 4 --check
seq 100 >in.txt
try mine.cu --rung 4 --input in.txt --type u32
try mine.cu --rung 4 -N 100 --plot rungs.svg >/dev/null
grep -c 'mine.cu' rungs.svg

echo "wrong results and faults"
kernel copy_4 'if (i < n) out[i] = in[i] + (n == 1000);' >wrong.cu
try wrong.cu --rung 4 -N 1000
kernel copy_4 'out[i] = in[i];' >bounds.cu
try bounds.cu --rung 4 -N 1000
kernel copy_4 'if (i < n) out[i / 2 * 2] = in[i];' >race.cu
try race.cu --rung 4 -N 1000

echo "the rung"
kernel copy_40 >other.cu
try other.cu
kernel mine >other.cu
try other.cu
kernel mine >other.cu
try other.cu --rung 4
{ kernel; kernel copy_3; } >two.cu
try two.cu
try mine.cu --rung 5
try mine.cu --rung 99
sed 's/uint64_t n/uint32_t n/' mine.cu >narrow.cu
try narrow.cu --rung 4 --type u32
sed 's/, element \*out//; s/out\[i\] = //' mine.cu >fewer.cu
try fewer.cu --rung 4

echo "usage"
try mine.cu --device cuda
try mine.cu --device cpu
try absent.cu
code echelon ladder all --try mine.cu
code echelon ladder --try mine.cu
code echelon ladder --json
try mine.cu --input in.txt -o out.txt
sed 's/element \*out/elment *out/' mine.cu >typo.cu
try typo.cu 2>&1 | grep -o -E '^typo.cu:[0-9]*|^echelon.*' | uniq
files
