# A disk that is full: an error, no file, and the old one as it was.
echelon gen -n 200k --type u64 -o a.u64
echo before >out.u64
code echelon sort a.u64 -o /dev/full
code echelon sort a.u64 >/dev/full
code echelon gen -n 10 >/dev/full
code echelon info >/dev/full
code echelon sort --help >/dev/full
echo "a limit on the size of files, in KiB"
(ulimit -f 1000; code echelon sort a.u64 -o out.u64)
(ulimit -f 1000; code echelon sort a.u64 -o a.u64)
(ulimit -f 1000; code echelon sort a.u64 -o new.u64)
(ulimit -f 1000; code echelon gen -n 1M -o new.npy)
cat out.u64
cmp a.u64 <(echelon gen -n 200k --type u64 --format raw) && echo "the input is whole"
files
