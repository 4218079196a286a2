# Linear systems: a chain of springs with a known solution.
awk 'BEGIN {
    n = 50
    print "%%MatrixMarket matrix coordinate real symmetric"
    print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) print i, i, 2
    for (i = 2; i <= n; i++) print i, i - 1, -1
}' >a.mtx
awk 'BEGIN { for (i = 1; i <= 50; i++) print i == 50 ? 51 : 0 }' >b.txt # x = 1, 2, ... 50
check() { awk '/^%/ || NF != 1 { next } { n++; if (($1 - n) ^ 2 > 1e-8) bad++ } END { print n, "numbers,", bad + 0, "wrong" }' "$1"; }
code echelon solve a.mtx b.txt -o x.mtx
check x.mtx
for method in cg minres gmres bicgstab chebyshev; do
    code echelon solve --method $method --precond jacobi --rtol 1e-10 a.mtx b.txt -o $method.mtx --restart 50 2>err
    grep -o -E 'b - A x.*e-1[0-9] \|b\|' err | grep -c .
    check $method.mtx
done
code echelon solve --method cg a.mtx b.txt --max-iterations 10 -o no.mtx
code echelon solve --method cg a.mtx b.txt --max-iterations 10 --write-unconverged -o part.mtx 2>err
code echelon solve --method cg a.mtx b.txt --initial-guess part.mtx --history h.csv --plot h.svg --json -o y.mtx >json
grep -o -E '"converged": true|"method": "cg"' json
check y.mtx
head -n 1 h.csv
awk -F, 'NR == 2 { first = $3 } { last = $3 } END { print last < first * 1e-3 }' h.csv
grep -c -E '<path fill="none"|</svg>' h.svg
# A graph.
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n' >graph.mtx
printf '1\n2\n3\n' >ones.txt
code echelon solve --laplacian --rtol 1e-14 graph.mtx ones.txt
# Two right-hand sides, dense, in f32.
printf '%%%%MatrixMarket matrix array real general\n2 2\n4\n1\n1\n3\n' >dense.mtx
printf '%%%%MatrixMarket matrix array real general\n2 2\n1\n2\n5\n4\n' >two.mtx
code echelon solve --type f32 dense.mtx two.mtx -o two.npy
dump f4 two.npy 128 | awk '{ printf "%.4f %.4f %.4f %.4f\n", $1, $2, $3, $4 }'
# Diagonal blocks; one of two columns does not converge, so nothing is written.
code echelon solve --method cg --precond block-jacobi --block 10 a.mtx b.txt -o blocks.mtx 2>err
grep -o -E 'cg: converged|preconditioner: block-jacobi' err
check blocks.mtx
awk 'BEGIN { print "%%MatrixMarket matrix array real general\n50 2"
    for (i = 1; i <= 50; i++) print 0
    for (i = 1; i <= 50; i++) print i % 7 }' >half.mtx
code echelon solve --method cg --max-iterations 5 a.mtx half.mtx -o half_x.mtx 2>err
grep -o -E 'column [01]: cg: (converged|not converged)' err
ls half_x.mtx 2>/dev/null
# Systems without a solution, and invalid systems.
printf '%%%%MatrixMarket matrix array real general\n1 2\n1\n2\n' >oblong.mtx
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 1 1\n' >singular.mtx
printf '1\n1\n' >one.txt
code echelon solve singular.mtx one.txt -o none.mtx 2>err
echo "$(wc -l <err) line"
code echelon solve --method jacobi singular.mtx one.txt -o none.mtx 2>err
grep -o 'row 2' err
# Direct methods: a system on which iterations fail, and least squares.
code echelon solve --method dense a.mtx b.txt -o d.mtx 2>err
check d.mtx
cut -d ';' -f 1 err
for method in lu cholesky qr; do code echelon solve --method $method dense.mtx two.mtx -o $method.mtx 2>err; done
tail -n 4 lu.mtx | awk '{ printf "%.6f\n", $1 }'
# The same with the GPU kernels, if the SIMT emulator is available.
if echelon info | grep -q '^simt: '; then
    for device in cpu simt; do
        ECHELON_LAPACK=none echelon solve --method lu --device $device dense.mtx two.mtx -o $device.mtx 2>err || cat err
    done
    cmp cpu.mtx simt.mtx
    rm -f cpu.mtx simt.mtx
fi
printf '%%%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n' >tall.mtx
printf '1\n2\n6\n' >three.txt
code echelon solve --method direct tall.mtx three.txt --json 2>json | tail -n 1 | awk '{ printf "%.6f\n", $1 }'
grep -o '"method": "qr"' json
code echelon solve --method dense singular.mtx one.txt -o none.mtx 2>err
grep -o 'column 2' err
printf '%%%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n' >swap.mtx
code echelon solve --method cholesky swap.mtx one.txt -o none.mtx 2>err
grep -o 'row 1' err
code echelon solve --method lu oblong.mtx one.txt
code echelon solve --method lu dense.mtx two.mtx --rtol 1
code echelon solve a.mtx one.txt
code echelon solve two.mtx
code echelon solve a.mtx b.txt --method newton
code echelon solve a.mtx b.txt --precond lu --method cg
code echelon solve a.mtx b.txt --precond jacobi
code echelon solve a.mtx b.txt --rtol x
code echelon solve a.mtx b.txt --method cg --precond block-jacobi --block 33
code echelon solve a.mtx b.txt --method cg --precond jacobi --block 4
code echelon solve oblong.mtx one.txt
code echelon solve --laplacian dense.mtx two.mtx
# Invalid numbers and options of other methods are reported before the computation.
printf '1\nnan\n' >nan.txt
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 1 -inf\n2 2 1\n' >infinite.mtx
printf '1 2\n3 4\n' >columns.txt
for method in auto lu; do
    code echelon solve dense.mtx nan.txt --method $method
    code echelon solve infinite.mtx one.txt --method $method
done
code echelon solve dense.mtx one.txt --initial-guess nan.txt
code echelon solve dense.mtx columns.txt
code echelon solve dense.mtx one.txt --rtol -1
code echelon solve dense.mtx one.txt --max-iterations 0
code echelon solve dense.mtx one.txt --restart 1001
code echelon solve dense.mtx one.txt --method chebyshev --lower 1
code echelon solve dense.mtx one.txt --method chebyshev --lower 2 --upper 1
code echelon solve dense.mtx one.txt --method jacobi --precond jacobi
code echelon solve dense.mtx one.txt --method cg --precond ic0
code echelon solve dense.mtx one.txt --method sor
code echelon solve not_there.mtx one.txt --history /not/there.csv
code echelon solve not_there.mtx one.txt --plot .
code echelon solve not_there.mtx one.txt --plot same -o same
files
