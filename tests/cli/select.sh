# echelon select: conditions compared with awk; lines are unchanged.
printf '%s\n' 3 -1 2.50 nan 0 -0 1e2 inf >f.txt
for test in '<3' '<=3' '==3' '=3' '!=3' '>=3' '>3' nan '!=nan' '==nan' zero nonzero ' >= 1e2 ' '<-inf'; do
    printf '%s: ' "$test"
    echelon select "$test" f.txt | tr '\n' ' '
    printf '| %s | ' "$(echelon select "$test" f.txt --count)"
    echelon select -v "$test" f.txt | tr '\n' ' '
    printf '| '
    echelon select --index "$test" f.txt | tr '\n' ' '
    echo
done
echo "integers by value, also with fractions and numbers out of range"
printf '%s\n' 0 1 7 128 255 >u8.txt
for test in '<2.5' '>2.5' '>=0.5' '==1.0' '==1.5' '!=1.5' '<300' '>300' '>=-1' '<-0.5' '<=1e30' '==256' \
    '!=256' '==0xff' '<99999999999999999999' '>-99999999999999999999' '==nan' '!=nan' '&0x81' '&=0x81' \
    '!&0x81' '&1'; do
    printf '%s: ' "$test"
    echelon select "$test" --type u8 u8.txt | tr '\n' ' '
    echo "| $(echelon select --type u8 --count "$test" u8.txt) $(echelon select -v --count "$test" u8.txt)"
done
printf -- '-2\n-1\n1\n' | code echelon select '>-1.5'
printf '18446744073709551615\n18446744073709551614\n' | code echelon select '>18446744073709551614'
printf -- '-9223372036854775808\n1\n' | code echelon select '==-9223372036854775808'
echo "the number of a condition is rounded to the type"
printf '0.1\n0.2\n' | code echelon select '<=0.1' --type f32
printf '0.1\n0.2\n' | code echelon select '<0.1' --type f16
echo "compared with awk"
echelon gen uniform -N 20000 --type i32 >i.txt
code echelon select '>=1000000000' i.txt | cmp - <(awk '$1 >= 1000000000' i.txt) && echo same
code echelon select -v '>=1000000000' i.txt | cmp - <(awk '$1 < 1000000000' i.txt) && echo same
echo ".npy and raw"
printf 'banana' >b.u8
echelon select '==0x61' b.u8 && echo
code echelon select --count '!=97' b.u8
echelon select -v '==97' b.u8 --index | od -An -v -t u8
{ npy '>i2' '(3,)'; printf '\x00\x02\xff\xff\x00\x01'; } >big.npy
code echelon select '>0' big.npy -o some.npy
head -c 128 some.npy | tail -c +11 | tr -s ' '
tail -c 4 some.npy | od -An -t x1
code echelon select '<100' big.npy -o all.npy
cmp big.npy all.npy && echo "same file"
code echelon select '>0' big.npy --index -o index.npy
head -c 128 index.npy | tail -c +11 | tr -s ' '
tail -c 16 index.npy | od -An -t u8
npy '<f4' '(0,)' >empty.npy
echelon select nan empty.npy | cmp - empty.npy && echo "same file"
echo "lines by a column, after the header"
printf 'name,price\r\n"a, b",9.5\r\nc,\r\nd,12\r\n' >t.csv
code echelon select '<10' -k price t.csv | od -An -c
code echelon select '!=nan' -k price t.csv --count
code echelon select '>9' -k price t.csv --index
echo "in place, and errors"
cp i.txt j.txt
code echelon select '<0' j.txt -o j.txt
cmp j.txt <(awk '$1 < 0' i.txt) && echo same
code echelon select
code echelon select f.txt
code echelon select '~3' f.txt
code echelon select '<three' f.txt
code echelon select '>nan' f.txt
code echelon select '&1' f.txt
code echelon select '&1.5' i.txt
code echelon select '&0x1ff' --type u8 u8.txt
code echelon select '&-1' u8.txt --count
code echelon select '<3' --count --index f.txt
code echelon select '<3' f.txt f.txt
code echelon select '<3' no.txt
printf 'x\n' | code echelon select '<3' --format text
files
