# Matrices of bits that are truncated or inconsistent: every message has a position.
unset ECHELON_DEVICE # nothing is computed
try() {
    cat >"$1"
    code echelon gf2 convert "$1" -o out.npy
}
: | try empty.pbm
: | try empty
echo "hello" | try hello
head -c 300 "$ECHELON" | try program
echo "== PBM"
printf 'P2\n1 1\n1\n' | try p2.pbm
printf 'P1\n' | try size.pbm
printf 'P1\n3 x\n' | try height.pbm
printf 'P1\n-3 2\n' | try negative.pbm
printf 'P1\n4294967296 1\n' | try wide.pbm
printf 'P1\n99999999999999999999999 1\n' | try digits.pbm
printf 'P4\n4294967295 4294967295\n' | try huge.pbm 2>&1 | sed 's/has [0-9]*$/has N/'
printf 'P1\n3 2\n1 0 1 0' | try short.pbm
printf 'P1\n3 2\n1 0 1 0 0' | code echelon gf2 convert -o out.npy
printf 'P1\n3 2\n1 0 1\n0 2 1\n' | try two.pbm
printf 'P1\n3 2\n1 0 1\n0 1 1\n1\n' | try more.pbm
printf 'P4\n9 2\n123' | try short4.pbm
printf 'P4\n9 2\n12345' | try more4.pbm
printf 'P4\n9 2\n123' | cat | code echelon gf2 convert -o out.npy
printf 'P4\n9 2\n12345' | cat | code echelon gf2 convert -o out.npy
printf 'P4\n9 2x1234' | try blank.pbm
echo "== JCF"
printf '3 3 5\n3\n-1\n' | try modulus.jcf
printf '3 3 2\n3\n1 -2\n' | try before.jcf
printf '3 3 2\n3\n-1 2\n-4\n' | try column.jcf
printf '3 3 2\n3\n-1 0\n' | try zero.jcf
printf '3 3 2\n3\n-1 1\n' | try twice.jcf
printf '1 3 2\n3\n-1 2\n-3\n' | try rows.jcf
printf '3 3 2\n1\n-1 2\n' | try bound.jcf
printf '3 3 2\n3\n-1 two\n' | try word.jcf
printf 'P1\n2 2\n0 0 1 1\n' >gap.pbm
code echelon gf2 convert gap.pbm -o out.jcf
echo "== Matrix Market"
printf '%%%%MatrixMarket matrix array integer general\n' | try array.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 0\n' | try real.mtx
printf '%%%%MatrixMarket matrix coordinate pattern\n1 1 0\n' | try words.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 1\n' | try fewer.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1\n2 2\n' | try more.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 1\n4 1\n' | try row.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n%% c\n3 3 2\n2 1\n2 1\n' | try twice.mtx
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n3 4 0\n' | try oblong.mtx
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n1 2\n' | try halves.mtx
printf '%%%%MatrixMarket matrix coordinate integer general\n3 3 1\n2 1 1.5\n' | try fraction.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n4294967295 4294967295 0\n' |
    try huge.mtx 2>&1 | sed 's/has [0-9]*$/has N/'
echo "== alist"
printf '3 2\n2 2\n1 2 0\n2 1\n1\n1 2\n' | try short.alist
printf '3 2\n2 2\n1 2 3\n' | try weight.alist
printf '3 2\n2 2\n1 2 0\n2 1\n1 2\n1 2\n\n1 2\n2\n' | try announced.alist
printf '3 2\n2 2\n1 2 0\n2 1\n1\n1 1\n\n1 2\n2\n' | try twice.alist
printf '3 2\n2 2\n1 2 0\n2 1\n1\n1 2\n0\n1 2\n1 0\n' | try differ.alist
printf '3 2\n2 2\n1 2 0\n2 1\n1\n1 2\n0\n1 2\n2 0\n7\n' | try more.alist
echo "== .npy"
{ npy '<f8' '(1, 1)'; printf '12345678'; } | try f8.npy
{ npy '|u1' '(2, 2)'; printf '\0\1\1\3'; } | try three.npy
{ npy '<i4' '(2,)'; printf '\0\0\0\0\377\377\377\377'; } | try minus.npy
{ npy '|u1' '(1, 1, 1)'; printf '\1'; } | try three_dimensions.npy
{ npy '|u1' '(2, 2)'; printf '\0\1\1'; } | try short.npy
{ npy '|u1' '(2, 2)'; printf '\1\1\1\1'; } >packed.npy
code echelon gf2 convert --packed big:9 packed.npy -o out.npy
code echelon gf2 convert --packed little:9 packed.npy -o out.pbm --format pbm-text && cat out.pbm
code echelon gf2 convert --packed little:17 packed.npy -o out.npy
code echelon gf2 convert --packed little v.npy -o out.npy
code echelon gf2 convert --packed small packed.npy
code echelon gf2 convert --packed little:0 packed.npy
code echelon gf2 convert --packed little:1,2,3 packed.npy
rm -f ./*.pbm ./*.npy ./*.jcf ./*.mtx ./*.alist hello empty program
files
