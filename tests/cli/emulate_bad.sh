# Code that cannot be compiled for the emulator, and wrong arguments of kernels.
needs_compiler
unset CXX

try() {
    printf '%s\n' "$1" >bad.cu
    code echelon emulate bad.cu:k "${@:2}" >out 2>err
    # The compiler's own text and the columns differ between compilers.
    sed -E 's/^(bad\.cu:[0-9]+):[0-9]+: (fatal )?error: .*/\1: error/
        s/^.*headers\/([a-z_0-9]*\.h):[0-9:]* error: (#error )?"?([^"]*)"?/\1: \3/; s/ (c|g|clang)\+\+ / CXX /' err |
        grep -E '^(bad\.cu:[0-9]+: |[a-z_0-9]+\.h: |echelon )' | uniq
}
echo "errors of the compiler, with the line of the file"
try '__global__ void k(int *a)
{
    a[0] = b;
}' --arg a:i32:1
try '#include "missing.cuh"
__global__ void k(int *a) { }' --arg a:i32:1
try '__global__ void k(int *a) { helper(a); }' --arg a:i32:1
try '#define from 1
#define bytes 2
#define name 3
#define line 4
#define N 5
__global__ void k(int *a) { a[0] = from + bytes + name + line + N; }' --arg a:i32:1 -o a=-
cat out

echo "code that the emulator does not support"
try '__global__ void k(int *a)
{
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(a[0]));
}' --arg a:i32:1
try '__global__ void k(int *a) { a[0] = 1; asm volatile("" ::: "memory"); }' --arg a:i32:1
try '__global__ void k(int *a) { }
int main(void) { k<<<1, 1>>>(0); }' --arg a:i32:1
try '__global__ void k(int *a) { a[0] = 1; }
#ifndef ECHELON_EMULATE
int main(void) { k<<<1, 1>>>(0); }
#endif' --arg a:i32:1
try '#include <cooperative_groups.h>
__global__ void k(int *a) { }' --arg a:i32:1
try '#include <cuda_fp16.h>
__global__ void k(int *a) { }' --arg a:i32:1
try '__global__ void k(cudaTextureObject_t a) { }' --arg a=1
try '__global__ void k(int *a) { cudaMalloc(&a, 1); }' --arg a:i32:1
try 'struct list { int n[4]; };
__global__ void k(list a) { }' --arg a=1

echo "kernels"
try '' --arg a=1
try '__global__ void j(int a) { }' --arg a=1
try '__global__ void k(int a);' --arg a=1
try '__global__ void k(int a) { }
__global__ void k(float a) { }' --arg a=1
try '// __global__ void k(int a) { }
/* __global__ void k(int a) { } */
#if 0
__global__ void k(int a) { }
#endif
const char *text = "__global__ void k(int a) { }";' --arg a=1
try '#define KERNEL(name, type) extern "C" __global__ void name(type *__restrict__ a, const unsigned (*b)[4], int)
KERNEL(k, int) { a[0] = b[0][3]; }' --arg a:i32:1 --arg b:u32:4=9 --arg 3=5 -o a=-
cat out
code echelon emulate bad.cu:j
code echelon emulate absent.cu:k
code echelon emulate .
code echelon emulate 'bad.cu:k"); int x[] = {'

echo "arguments"
cat >k.cu <<'END'
__global__ void k(const float *in, unsigned char c, int n, double scale, unsigned *out) { out[0] = n; }
__global__ void other(int n) { }
END
args() { code echelon emulate k.cu:k "$@" >/dev/null; }
good=(--arg in:f32:4=1.5 --arg c=7 --arg scale=0.5)
args "${good[@]}" --arg n=3 --arg out:u32:1
args "${good[@]}" --arg n=3
args "${good[@]}" --arg n=3 --arg out:u32:1 --arg m=4
args "${good[@]}" --arg n=3 --arg out:u32:1 --arg n=4
args "${good[@]}" --arg nn=3 --arg out:u32:1
args "${good[@]}" --arg n=3.5 --arg out:u32:1
args "${good[@]}" --arg n=x --arg out:u32:1
args "${good[@]}" --arg n=2^31 --arg out:u32:1
args "${good[@]}" --arg n=2^30 --arg out:u32:1
args "${good[@]}" --arg n:u32=3 --arg out:u32:1
args "${good[@]}" --arg n:i32=3 --arg out:u32:1
args "${good[@]}" --arg n:i32:5 --arg out:u32:1
args "${good[@]}" --arg n=3 --arg out:f32:1
args "${good[@]}" --arg n=3 --arg out=absent.npy
args "${good[@]}" --arg n=3 --arg out:u32:1=-1
args "${good[@]}" --arg n=3 --arg out:u32:2^61
args --arg in:f32:4 --arg c=256 --arg scale=1 --arg n=3 --arg out:u32:1
args "${good[@]}" --arg n=3 --arg out:u32:1 -o n=x.npy
args "${good[@]}" --arg n=3 --arg out:u32:1 -o nix=x.npy
args "${good[@]}" --arg n=3 --arg out:u32:1 -o out
args "${good[@]}" --arg n=3 --arg out:u32:1 -o out=a.npy -o out=b.npy
args "${good[@]}" --arg n=3 --arg out:u32:1 -o out=a.npy -o in=a.npy
printf '1\n2\n' >two.txt
args --arg c=1 --arg scale=1 --arg n=1 --arg out:u32:1 --arg in=two.txt -o in=two.txt
echelon gen -N 3 --type i32 -o three.npy
args --arg c=1 --arg scale=1 --arg n=1 --arg out:u32:1 --arg in=three.npy
printf 'abc' >three.raw
args --arg c=1 --arg scale=1 --arg n=1 --arg out:u32:1 --arg in=three.raw
{ npy '<f4' '(2, 2)' True; printf '0123456789abcdef'; } >fortran.npy
args --arg c=1 --arg scale=1 --arg n=1 --arg out:u32:1 --arg in=fortran.npy
{ npy '<f4' '(2, 2)'; printf '0123456789abcdef'; } >matrix.npy
args --arg c=1 --arg scale=1 --arg n=1 --arg out:u32:1 --arg in=matrix.npy -o in=copy.npy
cmp matrix.npy copy.npy && echo "the shape is kept"
args --arg c=1 --arg scale=1 --arg n=1 --arg out:u32:1 --arg in=-

echo "words that are no arguments"
while read -r word; do
    code echelon emulate k.cu:k --arg "$word"
done <<'END'
=
=1
:
:u32:1
a
a=
a:
a::
a:=1
a:u32
a:u32:
a:u32:=1
a:u32:x
a:u32:-1
a:u32:1:2
a:u32:1=
a:U32:1
a:int=1
a b=1
a+b=1
a-b:u32:1
a:u32:99999999999999999999
END
code echelon emulate k.cu:k --arg ""
code echelon emulate k.cu:k --arg "$(printf '%0200d' 0)=1" 2>&1 | cut -c1-60

echo "options"
code echelon emulate
code echelon emulate k.cu:k k.cu:k
for words in "--grid 0" "--grid 1x2x3x4" "--grid x" "--block 8x" "--block many" "--shared -1" "--seeds 0" "--sm 20" \
    "--threads 300" "--yield 2^30" "--define =1" "--define 2A" "--include=" "--html=" "--record 0" "--html x.html --record 1" "--arg" "--json=1"; do
    # shellcheck disable=SC2086
    code echelon emulate k.cu:other --arg n=1 $words
done
# The report is printed after the exit status, in an order that does not depend on the timing of a pipe.
code echelon emulate k.cu:other --arg n=1 --block 2048 >report
head -n 4 report
code echelon emulate k.cu:other --arg n=1 --block 64 --cluster 3 --grid 4 >report
head -n 4 report
code echelon emulate k.cu:other --arg n=1 --block 64 --cluster 2 --grid 4 >report
tail -n 1 report
code env CXX=nonesuch echelon emulate k.cu:other --arg n=1
code env CXX=" " echelon emulate k.cu:other --arg n=1 >report
tail -n 1 report
rm report
code env CXX=false echelon emulate k.cu:other --arg n=1
code env PATH=/nonexistent "$ECHELON" emulate k.cu:other --arg n=1
code env ECHELON_LIBSIMT="$PWD/absent.so" echelon emulate k.cu:other --arg n=1 2>&1 | sed "s|$PWD|DIR|"
files
