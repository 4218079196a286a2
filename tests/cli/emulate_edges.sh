# Null pointers, accesses next to arrays, signals, namespaces and unusual names of files.
needs_compiler
unset CXX
ulimit -c 0

cat >null.cu <<'END'
__global__ void always(int *p)
{
    int *q = nullptr;
    p[0] = *q;
}
__global__ void given(int *p)
{
    p[threadIdx.x + 2] = 1;
}
__global__ void trap(int *p)
{
    __trap();
}
__global__ void divide(int *p, int n)
{
    p[0] = 5 / n;
}
__global__ void flag(bool b, int *p)
{
    p[0] = b;
}
END

echo "null pointers"
code echelon emulate null.cu:always --arg p:i32:1 | sed -n '3,4p; $p'
code echelon emulate null.cu:given --arg p=null | sed -n '3,4p; $p'

echo "before and after arrays"
cat >near.cu <<'END'
__global__ void near(const int *a, int *b, int i)
{
    b[i] = a[0];
}
END
for i in -1 -4 4; do
    code echelon emulate near.cu --arg a:i32:4=1 --arg b:i32:4 --arg i=$i | sed -n '4,5s/0x[0-9a-f]*/0xN/p'
done

echo "traps and signals"
code echelon emulate null.cu:trap --arg p:i32:1 | sed -n '3,4p; $p'
if [ "$(uname -m)" = x86_64 ]; then # other processors have a quotient
    { code echelon emulate null.cu:divide --arg p:i32:1 --arg n=0; } 2>&1 | grep -v 'Floating point exception'
else
    echo "echelon emulate: a thread of the kernel divided an integer by 0, so a signal (SIGFPE) ends the command"
    echo "exit 136"
fi

echo "bool"
for value in true false 1 0; do code echelon emulate null.cu:flag --arg b=$value --arg p:i32:1 -o p=- 2>err; done
code echelon emulate null.cu:flag --arg b=yes --arg p:i32:1
code echelon emulate null.cu:flag --arg b=1 --arg p=true

echo "namespaces"
cat >spaces.cu <<'END'
namespace a::b {
struct pair { int n; int *p; };
__global__ void k(pair x)
{
    extern __shared__ int s[];
    s[threadIdx.x] = x.n;
    x.p[threadIdx.x] = s[threadIdx.x];
}
}
using namespace a::b;
namespace c { namespace { __global__ void k2(int *p) { p[0] = 2; } } }
END
code echelon emulate spaces.cu:k --shared 4 --arg x.n=5 --arg x.p:i32:1 -o x.p=- 2>err
code echelon emulate spaces.cu:a::b::k --shared 4 --arg x.n=6 --arg x.p:i32:1 -o x.p=- 2>err
code echelon emulate spaces.cu:k2 --arg p:i32:1 -o p=- 2>err

echo "names of files with a colon, and other operands"
cp null.cu a:b.cu
code echelon emulate a:b.cu:flag --arg b=1 --arg p:i32:1 | sed -n '1p; $p'
code echelon emulate a:b.cu --arg b=1 --arg p:i32:1
code echelon emulate null.cu: --arg p=1
code echelon emulate ''
code echelon emulate :
code echelon emulate null.cu:flag --arg b=1 --arg p:i32:1 --shared 300K | sed -n "3,4p"
code echelon emulate null.cu:flag --arg b=1 --arg p:i32:1 -o p=p.f32
code echelon emulate null.cu:flag --arg b=1 --arg p:i32:1 -o p=p.i32 >out
code echelon emulate null.cu:flag --arg b:u8=1 --arg p:i32:1=0 -o p=- -o b=-
files
