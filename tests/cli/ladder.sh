# Rungs with user data, the output of a run, and errors.
needs_plain_build
echelon info | grep -q "^simt: " || skip "no emulator"
printf '5\n3\n250\n1\n' >in.txt
code echelon ladder reduce --device simt --rung 3 --type u32 --input in.txt -o sum.txt
cat sum.txt
code echelon ladder copy --device simt --rung 4 -N 1000 | sed 's/ [0-9.]*%/ N%/'
code echelon ladder copy --device simt --rung 4 -N 100,200 --json | sed 's/"branches": [0-9]*/"branches": N/g; s/"divergent": [0-9]*/"divergent": N/g'
code echelon ladder reduce --device simt --rung 2 --check --type f32
code echelon ladder copy --device simt --rung 5 -N 64 --plot rungs.svg >/dev/null
grep -c '<rect' rungs.svg
code echelon ladder redcue
code echelon ladder reduce --rung 10
code echelon ladder reduce --rung 0
code echelon ladder reduce --type u8
code echelon ladder reduce --device cpu
code echelon ladder reduce --check -N 5
code echelon ladder reduce --json --csv
code echelon ladder reduce -o out.txt
code echelon ladder all --input in.txt
code echelon ladder all --plot x.svg
code echelon ladder reduce --device simt -N 1,many
code echelon ladder copy --device simt --input absent.txt
: >empty.txt
code echelon ladder reduce --device simt --rung 1 --type u32 --input empty.txt -o - 2>/dev/null
code echelon ladder copy --device simt --rung 4 --type f64 --input in.txt
seq 2000 >many.txt
code echelon ladder rank --device simt --rung 4 --type u32 --input many.txt -o few.txt
[ -e few.txt ] || echo "no few.txt"
code echelon ladder warp --device simt --rung 3 --bits 3:14 --digit-bits 5 --check
code echelon ladder column_merge --device simt --rung 4 --columns 3 --check
code echelon ladder column_merge --device simt --rung 1 --columns 7 -N 100 | sed 's/ [0-9.]*%/ N%/'
code echelon ladder warp --bits 9
code echelon ladder warp --bits 9:3
code echelon ladder warp --bits 0:33
code echelon ladder warp --digit-bits 0
code echelon ladder column_merge --columns 1025
code echelon ladder reduce --columns 8
code echelon ladder all --bits 0:8
code echelon ladder warp --device simt --rung 4 --bits 0:10
code echelon ladder column_merge --device simt --rung 5 --columns 1000 --check
