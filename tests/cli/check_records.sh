# "echelon check": the order of records, their number and checksum, parts and summaries.
check() { code echelon check "$@"; }
echelon gen records -N 30000 -o in.raw
echelon records --record 100 --keys 0:bytes10 in.raw -o sorted.raw
echo "sorted and not sorted"
check sorted.raw
check in.raw
check <sorted.raw
# shellcheck disable=SC2002  # a pipe
cat sorted.raw | check -
check --json sorted.raw
check --json in.raw --threads 1
echo "parts"
head -c 1000000 sorted.raw >0.raw
tail -c +1000001 sorted.raw | head -c 500000 >1.raw
tail -c +1500001 sorted.raw >2.raw
check 0.raw 1.raw 2.raw --threads 3
check 0.raw 2.raw 1.raw
cat 0.raw 2.raw 1.raw | check --json
tail -c +1500001 sorted.raw | check 0.raw 1.raw -
echo "summaries"
for part in 0 1 2; do echelon check $part.raw -o $part.sum; done
echelon check sorted.raw -o all.sum
check --summaries 0.sum 1.sum 2.sum
cat 0.sum 2.sum 1.sum | check --summaries - -o other.sum
check --summaries other.sum --json
check --summaries 0.sum 1.sum 2.sum -o whole.sum --json
cmp whole.sum all.sum && echo "same summary"
od -An -v -w16 -t x8 -N 80 all.sum
echo "summaries are the first and the last record, too"
tail -c +81 all.sum | cmp - <(head -c 100 sorted.raw; tail -c 100 sorted.raw) && echo same
echo "duplicate keys"
printf 'aaabbbccc' | check --record 3 --key 0:2
printf '1a1b1b2c2a' | check --record 2 --key 0:1
printf '1a1b1b2c2a' | check --record 2 --key 1:1
printf '1a1b1b2c2a' | check --record 1 --key 0:1
printf '\377\001' | check --record 1 --key 0:1
echo "long keys"
{ printf 'abcdefghijklmnopqrstuvwxyz01'; printf 'abcdefghijklmnopqrstuvwxyz00'; } | check --record 28 --key 0:28
{ printf 'abcdefghij'; printf 'abcdefghia'; } | check --record 10
echo "no records, one record"
check </dev/null
check 0.raw /dev/null 1.raw -o x.sum
: | check - -o empty.sum --json
cat empty.sum 0.sum | check --summaries
echo "not an error: record sizes with one block"
head -c 9000000 /dev/zero | check --record 3000000 --key 2999990:10 --json
echo "bad input"
head -c 150 sorted.raw >short.raw
check short.raw
check <short.raw
check 0.raw short.raw --json
check missing.raw
check .
{ npy '<i2' '(3,)'; printf '\x00\x00\xff\xff\x01\x00'; } >a.npy
check a.npy
head -c 200 all.sum | check --summaries
head -c 280 sorted.raw | check --summaries
echo "bad options"
check --record 0 sorted.raw
check --record 2^40 sorted.raw
check --record 5 sorted.raw
check --key 3 sorted.raw
check --key 3:0 sorted.raw
check --key 95:6 sorted.raw
check --key a:6 sorted.raw
check --threads x sorted.raw
check sorted.raw -o sorted.raw
check sorted.raw -o -
check sorted.raw -o x/y.sum
check sorted.raw -o x.sum >/dev/full
files
