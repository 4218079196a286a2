# Echelon forms, solutions and so on, each verified; small enough to be computed by hand.
pbm() { # pbm ROW...
    printf 'P1\n%d %d\n' "${#1}" $#
    printf '%s\n' "$@"
}
pbm 0110 1100 1010 0001 >a.pbm   # row 2 is the sum of rows 0 and 1
pbm 0110 1100 1001 0001 >full.pbm
pbm 11100 01111 11100 00000 10011 >wide.pbm
echo "== rref"
code echelon gf2 rref a.pbm --check
code echelon gf2 rref a.pbm --form echelon --check --transform t.pbm
cat t.pbm
code echelon gf2 rref a.pbm -o e.jcf --transform t.jcf --pivots
cat e.jcf t.jcf
echelon gf2 mul t.jcf a.pbm -o ta.pbm --format pbm-text && cmp ta.pbm <(echelon gf2 rref a.pbm) && echo "T A = E"
code echelon gf2 rref a.pbm --pivots
echo "== part of the columns"
code echelon gf2 rref wide.pbm --columns 2 --check
code echelon gf2 rref wide.pbm --max-rank 1 --check
printf '4\n2\n0\n3\n1\n' >order.txt
code echelon gf2 rref wide.pbm --order order.txt --pivots --check
code echelon gf2 rref wide.pbm --order order.txt --columns 2 --check --form echelon
printf '3\n' >third.txt
code echelon gf2 rref wide.pbm --order third.txt --check
echo "== rank"
code echelon gf2 rank a.pbm
code echelon gf2 rank - <full.pbm
code echelon gf2 rank wide.pbm --pivots --check
code echelon gf2 rank wide.pbm --pivots --json
code echelon gf2 rank wide.pbm --columns 3 --json
code echelon gf2 rank wide.pbm --max-rank 2
echo "== solve"
pbm 10 01 11 10 >b.pbm
code echelon gf2 solve a.pbm b.pbm --check
pbm 1001 0100 0101 0001 >some.pbm
code echelon gf2 solve a.pbm some.pbm --check --certificate y.pbm
cat y.pbm
code echelon gf2 solve full.pbm some.pbm -o x.npy --check
code echelon gf2 info x.npy
pbm 1 0 1 0 1 >column.pbm
code echelon gf2 solve wide.pbm column.pbm --order order.txt --columns 2 --check
echo "== nullspace"
code echelon gf2 nullspace wide.pbm --check
code echelon gf2 nullspace wide.pbm --left --check
code echelon gf2 nullspace full.pbm --check
echo "== inverse"
code echelon gf2 inverse full.pbm --check -o i.pbm
code echelon gf2 mul full.pbm i.pbm --check
code echelon gf2 inverse a.pbm -o none.pbm
code echelon gf2 inverse wide.pbm -o none.pbm
pbm 01 10 11 >tall.pbm
code echelon gf2 inverse tall.pbm -o none.pbm
echo "== transpose"
code echelon gf2 transpose wide.pbm
echelon gf2 transpose tall.pbm | echelon gf2 transpose | cmp - <(echelon gf2 convert tall.pbm) && echo "twice is the identity"
echo "== info"
code echelon gf2 info wide.pbm --rank
code echelon gf2 info wide.pbm --rank --json
code echelon gf2 info <wide.pbm
echo "== empty matrices"
printf 'P1\n0 3\n' >columns.pbm
printf 'P1\n3 0\n' >rows.pbm
for file in columns.pbm rows.pbm; do
    code echelon gf2 rref $file --check --transform t.pbm
    code echelon gf2 rank $file --check --pivots
    code echelon gf2 nullspace $file --check
    code echelon gf2 nullspace $file --left --check
    code echelon gf2 info $file --rank
done
code echelon gf2 mul columns.pbm rows.pbm --check
code echelon gf2 mul rows.pbm columns.pbm --check
pbm 00 10 00 >tall.pbm
code echelon gf2 solve columns.pbm tall.pbm --check
files
