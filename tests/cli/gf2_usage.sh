# Usage errors of "echelon gf2"; nothing is read or written.
printf 'P1\n2 2\n1 0 1 1\n' >a.pbm
printf 'P1\n2 3\n1 0 1 1 0 0\n' >b.pbm
code echelon gf2
code echelon gf2 rerf a.pbm
code echelon gf2 frobnicate
code echelon gf2 rank a.pbm b.pbm
code echelon gf2 mul a.pbm
code echelon gf2 mul - -
code echelon gf2 mul a.pbm b.pbm b.pbm
code echelon gf2 mul a.pbm b.pbm
code echelon gf2 solve a.pbm b.pbm
code echelon gf2 rank a.pbm -o out
code echelon gf2 info a.pbm --check
code echelon gf2 convert a.pbm --device cpu
code echelon gf2 mul a.pbm a.pbm --order order.txt
code echelon gf2 nullspace a.pbm --transform t.pbm
code echelon gf2 rref a.pbm --form row
code echelon gf2 rref a.pbm --columns 0
code echelon gf2 rref a.pbm --max-rank -1
code echelon gf2 rref a.pbm --columns 3 -o out.pbm
code echelon gf2 rref a.pbm --format npz
code echelon gf2 rref a.pbm --format tiff
code echelon gf2 rref a.pbm --transform -
code echelon gf2 rref a.pbm --transform t.pbm -o t.pbm
code echelon gf2 rref a.pbm --transform missing/t.pbm
code echelon gf2 rref a.pbm -o missing/e.pbm
code echelon gf2 rref missing.pbm
code echelon gf2 rref . -o out.pbm
code echelon gf2 rank a.pbm --order missing.txt
order() {
    printf '%s\n' "$@" >order.txt
    code echelon gf2 rank a.pbm --order order.txt
}
order 2
order 0 -1
order 1 1
order 0 1 0
order 0.5
: >order.txt
code echelon gf2 rank a.pbm --order order.txt
echo 1 >order.txt
code echelon gf2 rank a.pbm --order order.txt --columns 2
code echelon gf2 nullspace a.pbm --order order.txt
code echelon gf2 rank a.pbm --threads many
code echelon gf2 rank a.pbm --device tpu
rm order.txt
files
