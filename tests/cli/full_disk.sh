# A full disk: an error, no new file, and the old file is unchanged.
echelon gen -N 200k --type u64 -o a.u64
echo before >out.u64
code echelon sort a.u64 -o /dev/full
code echelon sort a.u64 >/dev/full
code echelon gen -N 10 >/dev/full
code echelon info >/dev/full
code echelon sort --help >/dev/full
code echelon scan a.u64 -o /dev/full
code echelon unique --count a.u64 >/dev/full
code echelon select '>0' a.u64 >/dev/full
code echelon shuf a.u64 >/dev/full
code echelon reduce sum a.u64 >/dev/full
code echelon stats a.u64 >/dev/full
code echelon hist a.u64 >/dev/full
code echelon hist a.u64 --svg /dev/full
echo "a limit of the file size, in KiB"
(ulimit -f 1000; code echelon sort a.u64 -o out.u64)
(ulimit -f 1000; code echelon sort a.u64 -o a.u64)
(ulimit -f 1000; code echelon sort a.u64 -o new.u64)
(ulimit -f 1000; code echelon gen -N 1M -o new.npy)
(ulimit -f 1000; code echelon scan a.u64 -o a.u64)
(ulimit -f 1000; code echelon unique --count a.u64 -o new.txt)
(ulimit -f 1000; code echelon select '>0' a.u64 -o a.u64)
(ulimit -f 1000; code echelon shuf a.u64 -o a.u64)
cat out.u64
cmp a.u64 <(echelon gen -N 200k --type u64 --format raw) && echo "the input is unchanged"
files
