# Properties of matrices of numbers, and invalid files.
mtx() { # KIND SIZES LINES...
    printf '%%%%MatrixMarket matrix %s\n%% a comment\n\n%s\n' "$1" "$2"
    shift 2
    printf '%s\n' "$@"
}
mtx "coordinate real symmetric" "4 4 7" "1 1 2" "2 2 2" "3 3 2" "4 4 2" "2 1 -1" "3 2 -1" "4 3 -1" >chain.mtx
mtx "coordinate real general" "3 4 5" "1 1 1" "1 1 2.5" "2 4 -1e1" "3 2 0" "3 3 nan" >odd.mtx
mtx "coordinate pattern general" "3 3 2" "1 3" "3 2" >pattern.mtx
mtx "coordinate real skew-symmetric" "3 3 2" "2 1 5" "3 1 -4" >skew.mtx
mtx "array integer symmetric" "3 3" 1 2 3 4 5 6 >array.mtx
mtx "coordinate real general" "0 0 0" | sed '$d' >empty.mtx
npy '<f4' '(2, 3)' >a.npy
printf '\0\0\200?\0\0\0@\0\0@@\0\0\200@\0\0\240@\0\0\300@' >>a.npy
for file in chain odd pattern skew array empty; do code echelon matrix info $file.mtx; done
code echelon matrix info a.npy --no-picture
code echelon matrix info --json chain.mtx
code echelon matrix info <chain.mtx --spy chain.png --no-picture
od -An -t x1 chain.png
mtx "coordinate real general" "2 2 2" "1 1 1" >short.mtx
mtx "coordinate real general" "2 2 1" "1 1 1" "2 2 2" >long.mtx
mtx "coordinate real general" "2 2 1" "3 1 1" >outside.mtx
mtx "coordinate real general" "2 2 1" "0 1 1" >zero.mtx
mtx "coordinate real general" "2 2 1" "1 1" >no_value.mtx
mtx "coordinate real general" "2 2 1" "1 1 x" >word.mtx
mtx "coordinate real general" "2 2 1" "1 1 1 1" >four.mtx
mtx "coordinate integer general" "2 2 1" "1 1 1.5" >fraction.mtx
mtx "coordinate complex general" "2 2 1" "1 1 1 1" >complex.mtx
mtx "coordinate real symmetric" "2 3 1" "1 1 1" >oblong.mtx
mtx "coordinate real skew-symmetric" "2 2 1" "1 1 1" >diagonal.mtx
mtx "coordinate real general" "99999999999999999999 2 1" "1 1 1" >wide.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n%% no sizes\n' >no_sizes.mtx
for file in short long outside zero no_value word four fraction complex oblong diagonal wide no_sizes; do
    code echelon matrix info $file.mtx
done
printf '\001\377garbage' >garbage.mtx
code echelon matrix info garbage.mtx
: >nothing.mtx
code echelon matrix info nothing.mtx
code echelon matrix info not_there.mtx
code echelon matrix
code echelon matrix inf chain.mtx
code echelon matrix info chain.mtx --spy /not/there.png
# The same matrix as an array: the same output.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general"; print 40, 40, 400
    for (i = 0; i < 400; i++) print i * 7 % 40 + 1, int(i / 10) + 1, i % 9 - 3.5 }' >sparse.mtx
awk 'NR > 2 { a[$1, $2] += $3 } END { print "%%MatrixMarket matrix array real general"; print 40, 40
    for (j = 1; j <= 40; j++) for (i = 1; i <= 40; i++) print a[i, j] + 0 }' sparse.mtx >dense.mtx
for file in sparse dense; do echelon matrix info --no-picture - <$file.mtx | sed 's/ in [0-9]* lines//' >$file.txt; done
cmp sparse.txt dense.txt && wc -l <dense.txt
# The condition number of Hilbert's matrix, of chains with known spectra (cot^2(pi/2/(n + 1)) =
# 2.54e6), positive, singular and indefinite, and of matrices without one.
condition() { grep -E '^condition' | sed 's/by [0-9]* Lanczos/by N Lanczos/; s/condition  *//'; }
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 6, 6
    for (j = 1; j <= 6; j++) for (i = 1; i <= 6; i++) printf "%.17g\n", 1 / (i + j - 1) }' >hilbert.mtx
chain() { # ENDS SIGN: 2 and -1, but for the ends; below the diagonal times SIGN
    awk -v ends="$1" -v sign="$2" -v n="$3" 'BEGIN { print "%%MatrixMarket matrix coordinate real general"
        print n, n, 3 * n - 2
        for (i = 1; i <= n; i++) print i, i, i == 1 || i == n ? ends : 2
        for (i = 2; i <= n; i++) { print i, i - 1, -sign; print i - 1, i, -1 } }'
}
echelon matrix info hilbert.mtx | condition
chain 2 1 2500 | echelon matrix info | condition
chain 1 1 2500 | echelon matrix info | condition
chain 1 1 7000 | echelon matrix info | condition
chain 2 -1 7000 | echelon matrix info | condition
mtx "coordinate real general" "2 2 2" "1 1 1" "2 1 1" | echelon matrix info | condition
mtx "array real general" "2 2" 1 2 2 4 | echelon matrix info | condition
mtx "array real general" "2 2" 1 2 2 4.000000000000001 | echelon matrix info | condition
mtx "coordinate real general" "2 2 2" "1 1 1" "2 2 1e-300" | echelon matrix info | condition
mtx "coordinate real general" "1 1 1" "1 1 -3" | echelon matrix info --json | grep -o '"condition.*'
mtx "coordinate real general" "1 1 1" "1 1 nan" | echelon matrix info | condition
code echelon matrix info --no-condition chain.mtx | tail -n 4
files
