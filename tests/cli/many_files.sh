# Many inputs: more than 64 operands, and more than the soft limit of open files, which is raised.
for i in $(seq 1000); do echo $((1001 - i)) >"f$i"; done
seq 1000 >want
printf '%s\0' f* >names
echo "sort"
code echelon sort -n f* | cmp - want
code echelon sort -n --verify f* | cmp - want
code echelon sort -n --files0-from=names | cmp - want
echo "sort --merge"
(ulimit -S -n 64; code echelon sort -m -n f* | cmp - want)
(ulimit -S -n 64; code echelon sort -m -n --files0-from=names | cmp - want)
echo "groups of inputs: the order of equal keys is that of the inputs"
for i in $(seq 3000); do printf '%s %s\n' a "$i" b "$i" >"m$((10000 + i))"; done
{ seq -f 'a %.0f' 3000; seq -f 'b %.0f' 3000; } >stable
find . -name 'm1*' | sort | tr '\n' '\0' >pairs
for size in 2 100; do
    code echelon sort -m -s -k1,1 --batch-size=$size --files0-from=pairs | cmp - stable
done
(ulimit -n 64; code echelon sort -m -s -k1,1 --files0-from=pairs | cmp - stable)
(ulimit -n 64; code echelon sort -m -u -k1,1 --files0-from=pairs)
(ulimit -n 64; code echelon sort -m -k1,1 --files0-from=pairs -o all && sort -c all && wc -l <all)
(ulimit -n 64; code echelon sort -m --batch-size=64 --files0-from=pairs)
code echelon sort -m --batch-size=1 f1
code echelon sort --batch-size=4 f1
code echelon sort -m --batch-size=2 -T none f1 f2 f3
rm m1* all stable
echo "merge, set"
for i in $(seq 1000 1299); do echo $((i + 1)) >"g$i"; done
code echelon merge f* g* | cmp - <(seq 1300)
(ulimit -n 64; code echelon merge f* g* -o b.u16 --type u16)
dump u2 b.u16 | head -c 30
echo
code echelon set union f* g* f1 | cmp - <(seq 1300)
# shellcheck disable=SC2046  # several words
code echelon set intersection $(printf 'f7 %.0s' $(seq 100))
code echelon set difference want f* g*
printf '%s\n' 1,a 2,a >one.csv
printf '%s\n' 1,b 3,b >two.csv
# shellcheck disable=SC2046
code echelon merge -k 1 $(printf 'one.csv %.0s' $(seq 200)) two.csv | uniq -c
rm g*
echo "the hard limit"
ulimit -n 200
code echelon sort -m -n f* | cmp - want
code echelon sort --verify f*
code echelon sort -n f* | cmp - want
code echelon sort -m -n f1 f2
echo "arrays and records"
for i in $(seq 100); do { npy '<u2' '(1,)'; printf "\\x$(printf %x "$i")\\x01"; } >"a$i.npy"; done
code echelon sort a*.npy -o sorted.npy
dump u2 sorted.npy 128 | head -c 30
echo
for i in $(seq 100); do echo "$((100 + i))" >"r$i"; done
seq -f r%.0f 100 | xargs echelon check --record 4 --key 0:3 | tail -n 1
