# echelon reduce --by: groups of numbers and of text, all operations, compared with awk.
printf '%s\n' city,price,year,'"the, qty"' Oslo,3,2020,1 '"Ber,gen",2.5,2020,2' Oslo,,2021,3 '"a ""q""",7,2020,9' \
    Bodø,1,2021,4 '"Ber,gen",4,2021,5' >t.csv
echo "keys of text and of numbers, one column and several; the header is kept"
code echelon reduce sum -k price --by city t.csv
code echelon reduce sum -k price --by city t.csv --nan ignore
code echelon reduce sum -k 'the, qty' --by year t.csv
code echelon reduce sum,size -k 4 --by 3 --by 1 t.csv
code echelon reduce size --by year t.csv
code echelon reduce size --by year --string t.csv --json
echo "every operation"
for op in sum product min max minmax argmin argmax count any all mean variance sd norm and or xor; do
    echo "$op: $(echelon reduce $op -k 4 --by year t.csv | tr '\n' ' ')"
done
code echelon reduce count,any,all --where '>=3' -k 4 --by year t.csv
code echelon reduce variance,sd,mean --ddof 1 -k 4 --by year t.csv
code echelon reduce mean,sum --type f32 --accumulate-wide -k price --by city --nan ignore t.csv
code echelon reduce min,argmin,mean --nan ignore -k price --by city --by year t.csv --json
echo "exact integers, also of keys"
printf '%s\n' 18446744073709551615,1 18446744073709551614,2 18446744073709551615,9223372036854775806 |
    code echelon reduce sum -k 2 --by 1
echo "-0 equals +0, and all NaN are one key, the last one"
printf '%s\n' 0,1 -0,2 nan,3 ,4 -1.50,5 inf,6 | code echelon reduce sum -k 2 --by 1
echo "blanks, tabs, CRLF, a byte order mark"
printf ' b  1\na 2\n b 3\n' | code echelon reduce sum -k 2 --by 1
printf 'k\tv\r\nb\t1\r\na\t2\r\nb\t3\r\n' | code echelon reduce sum -k v --by k
printf 'v,k\r\n1,b\r\n2,a\r\n' | code echelon reduce sum -k v --by k
printf '\357\273\277k;v\nx;1\nx;2\n' | code echelon reduce sum -k v --by k
echo "a header is guessed; --no-header"
printf 'k,v\nx,1\n' | code echelon reduce sum -k 2 --by 1
printf 'x,2\nx,1\n' | code echelon reduce sum -k 2 --by 1
printf 'k,v\nx,1\n' | code echelon reduce size --by 1 --format text
printf 'k,v\nx,1\n' | code echelon reduce size --by 1 --format text --no-header
echo "names and keys with quotes and newlines"
printf '%s\n' '"a ""b""","x' 'y"' '"k' '""1""",2' 'k,3' '"k' '""1""",4' | code echelon reduce sum -k 2 --by 1 --header
echo "empty input"
printf 'k,v\n' | code echelon reduce sum -k v --by k
printf 'k,v\n' | code echelon reduce sum -k v --by k --json
echo "a structured .npy array"
{
    npy_dict "{'descr': [('k', '|S3'), ('i', '>i2'), ('u', '<u4')], 'fortran_order': False, 'shape': (3,), }"
    printf 'ab\0\0\1\2\0\0\0a\0\0\0\2\3\0\0\0ab\0\1\0\4\0\0\0'
} >s.npy
code echelon reduce sum,size -k i --by k s.npy
code echelon reduce max -k u --by i s.npy
code echelon reduce max -k k --by i s.npy
code echelon reduce max -k x --by i s.npy
echo "compared with awk"
echelon gen few --values 50 -N 20000 --type i32 --format text >k.txt
echelon gen uniform -N 20000 --type i16 --seed 2 --format text >v.txt
paste -d, k.txt v.txt >kv.csv
echelon reduce sum,size,min,max -k 2 --by 1 kv.csv >got
awk -F, '{ if (!n[$1]++) min[$1] = max[$1] = $2; s[$1] += $2; if ($2 < min[$1]) min[$1] = $2
    if ($2 > max[$1]) max[$1] = $2 } END { for (k in s) print k "," s[k] "," n[k] "," min[k] "," max[k] }' kv.csv |
    sort -n | cmp - got && echo same
echelon reduce sum,size,min,max -k 2 --by 1 --string kv.csv | sort -n | cmp - got && echo same
echo "to a file; the report"
code echelon reduce sum -k price --by city t.csv -o t.csv
cat t.csv
echelon reduce size --by 1 t.csv --timing 2>&1 | sed -n 's/, at most.*//; 2,3p'
echo "errors"
printf '%s\n' k,v a,1 b,x >bad.csv
code echelon reduce sum -k v --by k bad.csv
code echelon reduce size --by v bad.csv
printf '%s\n' k,v a,1 b >short.csv
code echelon reduce size --by v --string short.csv
printf '%s\n' k,v a,1 '"b,2' >quote.csv
code echelon reduce size --by k --string quote.csv
code echelon reduce sum --by k bad.csv
code echelon reduce size -k v --by k bad.csv
code echelon reduce sum -k v --by none bad.csv
code echelon reduce sum -k v --by 0 bad.csv
code echelon reduce sum,sum -k v --by k bad.csv
code echelon reduce sum,sims -k v --by k bad.csv
code echelon reduce min,minmax -k 1 --by 1 kv.csv
code echelon reduce and -k price --by 1 --type f64 kv.csv
code echelon reduce and -k 2 --by 1 --type f64 kv.csv
code echelon reduce sum,size bad.csv
code echelon reduce sum --string bad.csv
code echelon reduce sum --rows 2 -k v --by k bad.csv
code echelon reduce sum,mean --where '>3' -k v --by k bad.csv
code echelon reduce sum,mean --ddof 1 -k v --by k bad.csv
code echelon reduce sum -k v --by k bad.csv -o x.npy
code echelon reduce sum -k v --by k bad.csv -o x.txt --json
code echelon reduce sum k.npy --by 1 -k 1
{ npy '<i4' '(1,)'; printf '\1\0\0\0'; } >one.npy
code echelon reduce size --by 1 one.npy
files
