# echelon reduce: exact values, and a comparison with awk.
seq 100 >n.txt
printf '%s\n' 3 -1 4 1 -5 9 2 6 >pi.txt
for op in sum product min max minmax argmin argmax count any all mean variance sd norm and or xor; do
    printf '%-8s ' $op
    echelon reduce $op pi.txt
done
awk '{ s += $1; q += $1 * $1 } END { print "awk      " s, s / NR, q / NR - (s / NR) ^ 2 }' pi.txt
echo "conditions"
for test in '>=3' '<0' '==9' '!=9' zero nonzero nan '>2.5' '<=-5.5' '>1e30' '&1' '!&1' '&=6'; do
    printf '%s: %s %s %s\n' "$test" "$(echelon reduce count --where "$test" pi.txt)" \
        "$(echelon reduce any --where "$test" pi.txt)" "$(echelon reduce all --where "$test" pi.txt)"
done
echo "all digits of integers, and the shortest form of floats"
printf '18446744073709551615\n' | echelon reduce max
printf -- '-9223372036854775808\n1\n' | echelon reduce min
printf '9223372036854775807\n1\n' | echelon reduce sum
printf '0.1\n0.2\n' | echelon reduce sum
printf '0.1\n0.2\n' | echelon reduce sum --type f32
printf '1\n2\n2\n' | echelon reduce mean --type f32
printf '1\n2\n2\n' | echelon reduce mean --type f32 --accumulate-wide
printf '0.5\n' | echelon reduce product --type f16
echo "NaN, and empty input"
for op in sum min argmax mean count; do
    printf '1\nnan\n-2\n' | echelon reduce $op
    printf '1\nnan\n-2\n' | echelon reduce $op --nan ignore
    printf 'nan\n' | echelon reduce $op --nan ignore
done | tr '\n' ' '
echo
for op in sum product count any all mean variance norm and or xor; do
    echelon reduce $op --type i32 </dev/null
done | tr '\n' ' '
echo
for op in min max minmax argmin argmax; do
    code echelon reduce $op </dev/null
done
echo "ddof"
code echelon reduce variance --ddof 1 pi.txt
code echelon reduce sd --ddof 1 n.txt
echo "rows"
code echelon reduce sum --rows 10 n.txt
code echelon reduce minmax --rows 50 n.txt
code echelon reduce argmax --rows 100 n.txt
code echelon reduce sum --rows 7 n.txt
{ npy '<i4' '(2, 3)'; printf '\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6\0\0\0'; } >m.npy
{ npy '<i4' '(2, 3)' True; printf '\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6\0\0\0'; } >f.npy
code echelon reduce sum m.npy
code echelon reduce sum f.npy
code echelon reduce sum m.npy --rows 6
code echelon reduce minmax f.npy -o r.npy
head -c 128 r.npy | tail -c +11 | tr -s ' '
dump d4 r.npy 128
npy '<f4' '(3, 0)' | code echelon reduce sum
npy '<f4' '(0, 3)' | code echelon reduce max
npy '<f4' '(3, 0)' | code echelon reduce max
npy '<f4' '(1, 0, 3)' | code echelon reduce sum
echo "to a file, by its extension"
code echelon reduce sum n.txt -o s.npy
tail -c 8 s.npy | od -An -t d8
code echelon reduce sum n.txt -o s.txt
cat s.txt
echo "JSON"
code echelon reduce minmax m.npy --json
code echelon reduce sd n.txt --json
printf 'nan\n' | code echelon reduce argmin --nan ignore --json
code echelon reduce sum n.txt --json -o s.txt
echo "one column of a text"
printf 'a,b\n1,10\n2,20\n3,\n' >t.csv
code echelon reduce sum -k b t.csv
code echelon reduce sum -k b --nan ignore t.csv
code echelon reduce sum t.csv -k a
echo "standard deviations whose squares are out of range"
printf '1e25\n-1e25\n' | echelon reduce sd --type f32
printf '1e-25\n-1e-25\n' | echelon reduce sd --type f32
printf '1e200\n-1e200\n' | echelon reduce sd
printf '1e-200\n-1e-200\n' | echelon reduce sd
printf '1e200\n-1e200\n' | echelon stats | grep sd
printf '18446744073709551615\n18446744073709551613\n' | echelon reduce variance --type u64
echo "NaN that are ignored are not tested"
printf '0\nnan\n' >some.txt
for op in any all count; do echelon reduce $op some.txt; echelon reduce $op --nan ignore some.txt; done
echo "identical for every number of threads"
echelon gen normal -N 300k --type f32 -o f.f32
for threads in 1 2 7; do echelon reduce sum --threads $threads f.f32; done | uniq | wc -l
files
