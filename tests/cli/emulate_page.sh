# The script of the page of "echelon emulate --html", in an imitation of a browser.
needs_compiler
unset CXX
command -v node >/dev/null || skip "no node"
cat >scan.cu <<'END'
__global__ void scan(const int *in, int *out)
{
    extern __shared__ int s[];
    int t = threadIdx.x, x = in[t];
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(0xffffffff, x, d);
        if ((t & 31) >= d) x += y;
    }
    if ((t & 31) == 31) s[t / 32] = x;
    __syncthreads();
    for (int i = 0; i < t / 32; i++) x += s[i];
    out[t] = x;
    atomicMax(out + 64, x);
}
END
code echelon emulate scan.cu --block 64 --shared 64 --arg in:i32:64=1 --arg out:i32:65=0 --html scan.html -o out=- 2>err | tail -n 2
tail -n 1 err
node "$TESTS/emulate_page.js" scan.html >out
grep -v 'Warp' out
grep -c 'Warp' out | grep -q '[1-9][0-9]' && echo "more than ten steps"
grep -o -E '(shuffle|has passed __syncthreads)' out | sort -u
cat >race.cu <<'END'
__global__ void race(int *out) { out[threadIdx.x % 16] = threadIdx.x; }
END
code echelon emulate race.cu --grid 2x2 --block 96 --arg out:i32:16 --html race.html --record 3 >/dev/null
node "$TESTS/emulate_page.js" race.html
