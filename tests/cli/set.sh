# echelon set: the multiplicities of each operation; lines are unchanged.
printf '%s\n' 1 2.50 2.5 3 3.0 nan >a.txt
printf '%s\n' -1 2.500 3.00 7 nan nan >b.txt
for operation in union intersection difference symmetric; do
    code echelon set $operation a.txt b.txt
    echelon set $operation a.txt - <b.txt | cmp - <(echelon set $operation a.txt b.txt) && echo same
done
: >empty.txt
code echelon set union empty.txt b.txt
code echelon set difference empty.txt b.txt
code echelon set intersection b.txt empty.txt
echo "compared with sort and uniq"
for type in u8 i16 u32; do
    for file in a b; do
        echelon gen uniform -N 3000 --type $type --seed $((${#type} + $(printf '%d' "'$file"))) -o $file.$type
        echelon sort $file.$type -o sorted_$file.$type
        echelon sort $file.$type -o sorted_$file.txt
        # The r-th one of several equal numbers is "number r": sets of such words have the same multiplicities.
        awk '{ print $1, seen[$1]++ }' sorted_$file.txt | LC_ALL=C sort >words_$file
    done
    LC_ALL=C sort -u words_a words_b >words_union
    LC_ALL=C comm -12 words_a words_b >words_intersection
    LC_ALL=C comm -23 words_a words_b >words_difference
    LC_ALL=C comm -3 words_a words_b | tr -d '\t' >words_symmetric
    for operation in union intersection difference symmetric; do
        echelon set $operation sorted_a.$type sorted_b.$type -o out.txt
        cut -d ' ' -f 1 words_$operation | LC_ALL=C sort -n | cmp - out.txt && echo "$type $operation: same"
    done
done
echo "descending"
printf '%s\n' 5 3 3 >x.txt
printf '%s\n' 4 3 >y.txt
code echelon set -r union x.txt y.txt
echo "several files"
printf '%s\n' 1 2 2 3 3 3 >p.txt
printf '%s\n' 2 3 3 4 >q.txt
printf '%s\n' 0 2 2 3 >r.txt
for operation in union intersection difference symmetric; do
    echo "$operation: $(echelon set $operation p.txt q.txt r.txt | tr '\n' ' ')"
done
echelon set union p.txt q.txt r.txt --algorithm balanced_path --timing 2>&1 | grep -o '^algorithm *[a-z_]*'
code echelon set union p.txt q.txt --algorithm quick
echo "lines of a table; the header is written once"
printf '%s\n' name,x p,1 q,1 r,5 >a.csv
printf '%s\n' name,x s,1 t,4 u,5 v,6 >b.csv
code echelon set -k x union a.csv b.csv
code echelon set -k 2 -o a.csv difference a.csv b.csv
cat a.csv
echo "errors"
printf '%s\n' 1 3 2 >c.txt
code echelon set union a.txt c.txt
code echelon set unite a.txt b.txt
code echelon set union a.txt
code echelon set
code echelon set union - - <a.txt
code echelon set union a.txt no.txt
printf '\x03\x01' >d.u8
code echelon set union a.txt d.u8
code echelon set --order up union a.txt b.txt
code echelon set -r -r union a.txt b.txt
