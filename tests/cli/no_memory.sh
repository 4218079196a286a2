# Out of memory: exit status 4 and a message.
export ECHELON_DEVICE=cpu # whose words these are
needs_plain_build
echelon gen -N 30M --type u64 -o a.u64
ulimit -v 200000
# Two rows of a matrix must fit in the budget, here in the memory that is left.
npy '<u8' '(30000000, 2)' True >a.npy
truncate -s 480000128 a.npy
code echelon sort --argsort --threads 1 a.npy -o out.npy
echo "an array of one dimension needs less memory than it has"
code echelon sort -c a.u64
code echelon sort --threads 1 a.u64 -o out.u64
rm out.u64
code echelon shuf --threads 1 --permutation 100M -o out.u64
code echelon select --threads 1 '>0' a.u64 -o out.u64
code echelon unique --threads 1 a.u64 -o out.u64
code echelon scan --threads 1 a.u64 -o out.u64
code echelon stats --threads 1 a.u64
code echelon hist --threads 1 a.u64
code echelon reduce --threads 1 sum a.u64
code echelon hist --threads 1 --bins 2^32 --range 0:1e10 --type f64 /dev/null
echo "memory for the counts of the distinct numbers only"
head -c 50000000 /dev/zero | tr '\0' '\7' >a.u8
printf '\1\2' >>a.u8
code echelon unique --threads 1 --count a.u8
code echelon unique --threads 1 --runs --repeated a.u8 | od -An -c
rm a.u64 a.npy a.u8
files
