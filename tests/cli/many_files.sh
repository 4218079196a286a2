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
echo "the hard limit"
ulimit -n 200
code echelon sort -m f*
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
