# echelon scan: the format of the input, and a comparison with awk.
seq 100 >n.txt
code echelon scan n.txt | cmp - <(awk '{ print s += $1 }' n.txt) && echo "awk agrees"
seq 6 | code echelon scan sum
seq 6 | code echelon scan product
printf '%s\n' 3 1 4 1 5 | code echelon scan max
printf '%s\n' 3 1 4 1 5 | code echelon scan min --reverse
printf '%s\n' 3 5 8 | code echelon scan xor -
printf '%s\n' 1 2 3 | code echelon scan --exclusive
printf '%s\n' 1 2 3 | code echelon scan --exclusive --init 10
printf '%s\n' 1 2 3 | code echelon scan -x -r product
printf '%s\n' 1 2 3 | code echelon scan --exclusive min --type u8
echo "NaN"
printf '1\nnan\n0.5\n' | code echelon scan
printf '1\nnan\n0.5\n' | code echelon scan --nan ignore
printf '1\nnan\n0.5\n' | code echelon scan max --nan ignore --init 0.75
echo "integers wrap, except with --accumulate-wide"
printf '\xc8\xc8' >a.u8
echelon scan a.u8 | od -An -t u1
echelon scan --accumulate-wide a.u8 -o b.u64
od -An -t u8 b.u64
{ npy '|b1' '(3,)'; printf '\1\0\1'; } >bool.npy
echelon scan bool.npy | tail -c 24 | od -An -t u8
echelon scan max bool.npy | cmp <(head -c 128 bool.npy; printf '\1\1\1') - && echo "still bool"
{ npy '>i2' '(2,)'; printf '\0\1\0\2'; } | echelon scan | tail -c 4 | od -An -t x1
printf '1\n2\n2\n' | echelon scan --type f32 --accumulate-wide product -o p.npy
head -c 64 p.npy | tail -c +11 | tr -s ' '
printf '\x80\x3f\x80\x3f' | echelon scan --type bf16 --format raw | od -An -t x2
echo "in place, from a pipe, one column, empty input"
cp n.txt m.txt
code echelon scan m.txt -o m.txt
tail -n 1 m.txt
printf 'x,y\n1,2\n3,4\n' | code echelon scan -k y
npy '<f4' '(0,)' >empty.npy
echelon scan empty.npy | cmp - empty.npy && echo "same file"
echo "a file with the name of an operation"
echo 7 >sum
code echelon scan ./sum
code echelon scan sum sum
echo "errors"
code echelon scan summ n.txt
code echelon scan summ
code echelon scan no/file.txt
code echelon scan and --type f32 n.txt
code echelon scan max --accumulate-wide n.txt
code echelon scan --init x n.txt
code echelon scan --init 2.5 n.txt
code echelon scan --nan no n.txt
npy '<f4' '(2, 3)' | code echelon scan
files
