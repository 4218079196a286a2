# The user's kernels on the emulator: correct ones, and one of each kind of fault.  Counts of requests depend on the
# compiler, so the test compares only those that the kernel determines.
needs_compiler
unset CXX

# The report without the lines of braces, which some compilers count.
report() { grep -v -E '^ +[0-9]+ +([0-9]+ +)?[{}]$'; }

cat >sum.cu <<'END'
#include <cuda_runtime.h>
#include "device_launch_parameters.h"

/* The sum of each block. */
__global__ void sum(const float *in, int n, float *out)
{
    extern __shared__ float part[];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
END
seq 1000 >in.txt
run_sum() { code echelon emulate "$1" --grid 4 --block 256 --shared 1024 --arg in=in.txt --arg n=1000 --arg out:f32:4 "${@:2}"; }

echo "a correct kernel"
run_sum sum.cu:sum -o out=- 2>err
run_sum sum.cu >out
head -n 1 out
tail -n 1 out
run_sum sum.cu --seeds 3 --seed 5 --yield 3 --weak --sm 80 --threads 2 | grep -E '^sum|no findings'
run_sum sum.cu -o out=out.npy -o in=in.f32 >/dev/null
dump f4 out.npy 128
dump f4 in.f32 | tr -s ' ' | cut -d' ' -f 2-6

echo "a race: the barrier after loading is missing"
sed '10d' sum.cu >race.cu
run_sum race.cu:sum >out
grep -E -A 1 '^race at race.cu:9' out
tail -n 1 out

echo "a barrier that only some threads reach"
cat >barrier.cu <<'END'
__global__ void barrier(int *out)
{
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = 1;
    }
    out[threadIdx.x + 32] = 2;
}
END
code echelon emulate barrier.cu --block 64 --arg out:i32:96 | grep -v '^ '

echo "out of bounds"
code echelon emulate sum.cu --grid 4 --block 256 --shared 1024 --arg in=in.txt --arg n=1001 --arg out:f32:4 >out
grep -A 2 '^out of bounds' out | sed 's/0x[0-9a-f]*/0xN/'
code echelon emulate sum.cu --grid 4 --block 256 --shared 512 --arg in=in.txt --arg n=1000 --arg out:f32:4 >out
grep -A 2 '^out of bounds' out | sed 's/0x[0-9a-f]*/0xN/'

echo "an uninitialised read"
code echelon emulate sum.cu --grid 4 --block 256 --shared 1024 --arg in:f32:1000 --arg n=1000 --arg out:f32:4 >out
grep -A 1 '^read of unwritten' out

echo "a result that depends on the order of blocks"
cat >order.cu <<'END'
__global__ void order(unsigned *last) { atomicExch(last, blockIdx.x); }
END
code echelon emulate order.cu --grid 8 --block 1 --arg last:u32:1=0 --seeds 4 | grep -v '^ ' | report

echo "an assertion"
echo '__global__ void check(int n) { assert(n > 3); }' >check.cu
code echelon emulate check.cu --arg n=3 | grep -v '^ '

echo "bank conflicts, divergence and barriers, by line"
cat >banks.cu <<'END'
__global__ void transposed(float *out, int *odd)
{
    __shared__ float tile[32][32];
    tile[threadIdx.x][threadIdx.y] = 1;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
    if (threadIdx.x & 1) atomicAdd(odd, 1);
}
END
code echelon emulate banks.cu --block 32x32 --arg out:f32:1024 --arg odd:i32:1=0 -o odd=- 2>err
grep -E 'tile\[|sync|findings' err

echo "templates, namespaces, structs in memory, macros and headers"
mkdir -p "include dir"
echo 'static __device__ int twice(int x) { return 2 * x; }' >"include dir/twice.cuh"
cat >more.cu <<'END'
#include <cuda.h>
#include "twice.cuh"
__constant__ int table[2] = { 10, 20 };
namespace a { namespace b {
template <typename T, int N> __global__ void __launch_bounds__(64) k(const T *in, T *out, size_t n, float4 *v, bool flip)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    T *s = reinterpret_cast<T *>(bytes);
    if (threadIdx.x < n) s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n) out[threadIdx.x] = twice(s[flip ? n - 1 - threadIdx.x : threadIdx.x]) + table[1] + N + SCALE;
    if (threadIdx.x == 0) v[0] = make_float4(1, 2, 3, 4);
}
} }
END
more() {
    code echelon emulate "more.cu:$1" --block 64 --shared 256 --define SCALE=1000 -I "include dir" --arg in=few.txt \
        --arg out:"$2":5 --arg n=5 --arg v:f32:4 --arg "${3-flip=1}" -o out=- -o v=v.txt 2>err | tr '\n' ' '
    echo
}
seq 5 >few.txt
more 'a::b::k<int, 7>' i32
more 'k<double,7>' f64 flip=0
cat v.txt
more k i32
cat err
more 'k<int,7>' u32
cat err

echo "structs as parameters"
cat >args.cu <<'END'
typedef unsigned word;
namespace space {
struct __align__(16) args {
    const word *in, *out; /* two */
    static constexpr int many = 3;
    word n = 7;
    float factor;
    __device__ word twice() const { return 2 * n; }
    bool odd;
    double last;
};
}
template <typename T> struct box { T value; T *at; };
typedef struct { int x, y; } pair;
__global__ void k(const __grid_constant__ space::args a, pair p, box<long> b)
{
    const int i = threadIdx.x;
    if (i < a.n) const_cast<word *>(a.out)[i] = a.in[i] * a.factor + a.twice() + a.odd + a.last + p.x + p.y + b.value;
    if (i == 0) b.at[0] = sizeof a;
}
END
args() {
    code echelon emulate args.cu --block 32 --arg a.in=few.txt --arg a.out:u32:5 --arg a.n=5 --arg a.factor=10 \
        --arg a.odd=1 --arg a.last=1e3 --arg p.x=20000 --arg p.y=-10000 --arg b.value=100000 --arg b.at:i64:1 "$@"
}
args -o a.out=- -o b.at=at.npy 2>/dev/null | tr '\n' ' '
echo
dump d8 at.npy 128
args --json | python3 -c 'import json, sys; print([a["name"] + ":" + a["type"] for a in json.load(sys.stdin)["arguments"]])'
code echelon emulate args.cu --arg a.in=few.txt --arg p.x=1
code echelon emulate args.cu --arg a.im=few.txt
code echelon emulate args.cu --arg a.many=1

echo "odd names"
mkdir 'odd "dir" $HOME\x'
cp order.cu 'odd "dir" $HOME\x/a:b `c`.cu'
code echelon emulate 'odd "dir" $HOME\x/a:b `c`.cu:order' --grid 2 --arg last:u32:1=0 | grep -v '^ '
code echelon emulate "$PWD/order.cu" --grid 2 --arg last:u32:1=0 | grep -v '^ ' | sed "s|$PWD|DIR|"
TMPDIR="$PWD/odd \"dir\" \$HOME\\x" code echelon emulate order.cu --grid 2 --arg last:u32:1=0 | grep -v '^ '
TMPDIR=$PWD/absent code echelon emulate order.cu --grid 2 --arg last:u32:1=0 2>&1 | sed "s|$PWD|DIR|"

echo "no temporary files remain"
find 'odd "dir" $HOME\x' | sort

echo "the quick start of docs/emulate.md"
page=$TESTS/../../docs/emulate.md
sed -n '/^```c$/,/^```$/p' "$page" | sed '/^```c$/d; /^```$/q' | sed '$d' >quick.cu
echelon gen uniform -N 1000 --type f32 -o in.npy
sed -n '/^```sh$/,/^```$/p' "$page" | grep '^echelon emulate sum.cu:sum' | sed 's/sum.cu:sum/quick.cu:sum/' >quick.sh
code bash quick.sh >out
sed -n '1p; $p' out
grep -o -E '^total .* 420 ' out | tr -s ' '
sed '8d' quick.cu >without.cu && mv without.cu quick.cu
code bash quick.sh | grep -o -E '^(read of unwritten memory|race) at quick.cu:[68]' | sort -u
