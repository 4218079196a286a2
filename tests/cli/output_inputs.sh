# An output that is the same file as an input is rejected, except where the output may be the input.
seq 9 >n.txt
printf '%%%%MatrixMarket matrix array real general\n2 2\n2\n1\n1\n2\n' >A.mtx
printf '1\n2\n' >b.txt
printf 'P1\n2 2\n1 0\n0 1\n' >m.pbm
cp n.txt keep.txt
ln -s n.txt soft.txt
ln n.txt hard.txt
code echelon hist n.txt --svg n.txt
code echelon hist n.txt --svg ./soft.txt
code echelon hist n.txt --svg hard.txt
code echelon hist --svg n.txt <n.txt
code echelon matrix info A.mtx --spy A.mtx
code echelon solve A.mtx b.txt --history b.txt -o x.mtx
code echelon solve A.mtx b.txt --plot A.mtx -o x.mtx
code echelon solve A.mtx b.txt --initial-guess n.txt --plot n.txt -o x.mtx
code echelon solve A.mtx b.txt --history hard.txt --plot n.txt -o x.mtx
code echelon gf2 rref m.pbm --transform m.pbm -o e.pbm
code echelon gf2 solve m.pbm m.pbm --certificate m.pbm -o e.pbm
code echelon gf2 rref m.pbm --order n.txt --transform n.txt
code echelon ladder reduce --input n.txt --plot soft.txt
cmp keep.txt n.txt
cat A.mtx b.txt m.pbm
echo "the output may be the input; devices may be both"
code echelon sort -r n.txt -o soft.txt
head -n 1 n.txt
code echelon hist --svg /dev/null </dev/null
echo "empty names"
code echelon sort missing.txt -o ''
code echelon gen -N 3 --output=
code echelon hist missing.txt --svg ''
code echelon solve missing.mtx b.txt --history ''
code echelon matrix info missing.mtx --spy ''
files
