# Sparse direct solvers: with any library, without one, and a library that cannot be used.
n=300
awk -v n=$n 'BEGIN { # synthetic: a permutation with rows of very different size, and two more elements per row
    print "%%MatrixMarket matrix coordinate real general"
    print n, n, 3 * n
    for (i = 1; i <= n; i++) {
        scale = 10 ^ (i % 9 - 4)
        print i, (i + 6) % n + 1, 3 * scale
        print i, (7 * i) % n + 1, 0.5 * scale
        print i, (11 * i + 3) % n + 1, -0.25 * scale
        sum[i] = 3.25 * scale
    }
}' >a.mtx
awk -v n=$n 'BEGIN { for (i = 1; i <= n; i++) print 3.25 * 10 ^ (i % 9 - 4) }' >b.txt # x = 1, 1, ... 1
ones() { awk '/^%/ || NF != 1 { next } { n++; if (($1 - 1) ^ 2 > 1e-20) bad++ } END { print n, "numbers,", bad + 0, "wrong" }' "$1"; }
known='(klu|mumps|superlu|dense)'
code echelon solve --method direct a.mtx b.txt -o x.mtx 2>err
ones x.mtx
sed -E "s/: $known: solved; backward error [0-9.e-]+ after [1-9] steps of refinement, rcond [0-9.e-]+(, [0-9]+ entries in L and U)?/: LIBRARY: solved/" err
code echelon solve --method direct a.mtx b.txt -o x.mtx --json >json
grep -E -o '"(solved|status|failed_index|refinements)": [^,]*' json | sed 's/: [1-9]$/: N/'
grep -E -c "\"method\": \"$known\"" json
grep -E -c '"backward_error": [0-9.]+e-1[6-9]' json
# Without a library, and on request, the matrix is dense.
for way in none dense; do
    ECHELON_SPARSE_DIRECT=$way code echelon solve --method direct a.mtx b.txt -o x.mtx 2>err
    ones x.mtx
    cut -d ';' -f 1 err
done
code echelon solve --method dense a.mtx b.txt -o x.mtx 2>err
cut -d ';' -f 1 err
awk 'BEGIN { n = 5000; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, n
    for (i = 1; i <= n; i++) print i, i, 2 }' >large.mtx
awk 'BEGIN { for (i = 1; i <= 5000; i++) print 2 }' >large.txt
ECHELON_SPARSE_DIRECT=none code echelon solve --method direct large.mtx large.txt -o x.mtx
ECHELON_SPARSE_DIRECT=dense code echelon solve --method direct large.mtx large.txt -o x.mtx
ECHELON_SPARSE_DIRECT=/not/there.so code echelon solve --method direct a.mtx b.txt -o x.mtx 2>err
grep -c '"/not/there.so", which cannot be opened' err
echo text >text.so
ECHELON_SPARSE_DIRECT=./text.so code echelon solve --method direct a.mtx b.txt -o x.mtx 2>err
grep -c 'text.so", which cannot be opened' err
ECHELON_SPARSE_DIRECT=cudss code echelon solve --method direct a.mtx b.txt -o x.mtx --device cpu 2>err
grep -c cudss err
# Two right-hand sides, f32, standard output, other shapes.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 3\n2 2 2\n1 2 1\n1 1 1\n' >small.mtx
printf '6 1\n4 8\n' | awk '{ print $1 }' >one.txt
printf '%%%%MatrixMarket matrix array real general\n2 2\n6\n4\n12\n8\n' >two.mtx
code echelon solve --method direct --type f32 small.mtx two.mtx 2>err
printf '%%%%MatrixMarket matrix coordinate real general\n3 1 3\n1 1 1\n2 1 1\n3 1 1\n' >tall.mtx
printf '1\n2\n6\n' >three.txt
code echelon solve --method direct tall.mtx three.txt 2>err
cut -d ';' -f 1 err
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >empty.mtx
printf '%%%%MatrixMarket matrix array real general\n0 1\n' >nothing.mtx
code echelon solve --method direct empty.mtx nothing.mtx 2>err
# No solution: the column is named, and nothing is written.
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 1 2\n3 3 1\n1 3 1\n' >singular.mtx
code echelon solve --method direct singular.mtx three.txt -o none.mtx
code echelon solve --method direct singular.mtx three.txt -o none.mtx --json 2>/dev/null
code echelon solve --method direct a.mtx three.txt
code echelon solve --method direct a.mtx b.txt --precond ilu0
code echelon solve --method direct a.mtx b.txt --fill 3
# ILUT, as a preconditioner of an iterative method.
awk -v n=$n 'BEGIN { print "%%MatrixMarket matrix coordinate real general"; print n, n, 3 * n - 2
    for (i = 1; i <= n; i++) print i, i, 4
    for (i = 2; i <= n; i++) { print i, i - 1, -1; print i - 1, i, -2 } }' >band.mtx
awk -v n=$n 'BEGIN { for (i = 1; i <= n; i++) print 1 + 2 * (i == n) + (i == 1) }' >sides.txt
code echelon solve --method gmres --precond ilut --rtol 1e-14 band.mtx sides.txt -o x.mtx 2>err
ones x.mtx
grep -o 'preconditioner: ilut' err
code echelon solve --method gmres --precond ilut --drop-tolerance 0.2 --fill 1 band.mtx sides.txt -o x.mtx 2>err
grep -o -E 'gmres: converged' err
code echelon solve --method gmres --precond ilu0 --fill 1 band.mtx sides.txt
code echelon solve --method gmres --precond ilu0 --drop-tolerance 1e-3 band.mtx sides.txt
code echelon solve --method gmres --precond ilut --fill 0 band.mtx sides.txt
code echelon solve --method gmres --precond ilut --fill 1001 band.mtx sides.txt
code echelon solve --method gmres --precond ilut --drop-tolerance -1 band.mtx sides.txt
# Explanations.
ECHELON_SPARSE_DIRECT=none echelon explain solve --method direct --shape 100x100 --nnz 500 --device cpu
ECHELON_SPARSE_DIRECT=none echelon explain solve --method direct --shape 1Mx1M --nnz 5M --device cpu
echelon explain solve --method gmres --precond ilut --shape 100x100 --nnz 500 --device cpu | grep precond
code echelon explain solve --method direct --shape 10x20 --nnz 5
code echelon explain solve --method direct --shape 10x10 --nnz 5 --b-columns 3
code echelon explain solve --method lu --shape 10x10 --nnz 5
files
